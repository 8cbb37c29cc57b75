/* SPDX-License-Identifier: MIT */
/* Routes: store and forward over several ports, propagation, and the timestamps of every hop. */
#include "scene.h"

static const int64_t zero[1], three[] = {3};

static void add_ports(scene *s, size_t count, qs_time propagation)
{
    static const char *const names[] = {"p0", "p1", "p2", "p3", "p4", "p5", "p6", "p7"};
    for (size_t i = 0; i < count; i++)
        scene_port(s, &(qs_port_spec){
                          .name = names[i], .rate = QS_INT(8), .scheduler = BARE("fifo"), .propagation = propagation});
}

LAW(a_packet_arrives_at_the_next_port_when_its_last_bit_does)
{
    scene s = scene_new(SECONDS(1));
    add_ports(&s, 3, SECONDS(10));
    scene_flow(&s, "f", 0, ARRIVALS(zero, three));
    scene_run(&s);
    for (size_t i = 0; i < 3; i++) {
        const qs_time at = (qs_time)i * SECONDS(13);
        EQUAL(s.rows.hops[i].queued[0], at);
        EQUAL(s.rows.hops[i].ring[0], at);
        EQUAL(s.rows.hops[i].start[0], at);
        EQUAL(s.rows.hops[i].end[0], at + SECONDS(3));
    }
    EQUAL(s.rows.received[0], SECONDS(39));
    EQUAL(s.rows.where[0], -1);
    scene_end(&s);
}

LAW(a_route_without_propagation_takes_a_transmission_a_port)
{
    scene s = scene_new(SECONDS(1));
    add_ports(&s, 8, 0);
    scene_flow(&s, "f", 0, ARRIVALS(zero, three));
    scene_run(&s);
    EQUAL(s.rows.received[0], SECONDS(24));
    scene_end(&s);
}

LAW(a_route_is_taken_in_its_own_order)
{
    scene s = scene_new(SECONDS(1));
    add_ports(&s, 3, 0);
    qs_flow_spec spec = scene_flow_spec(&s, "f", ARRIVALS(zero, three));
    spec.route = (const uint32_t[]){2, 0};
    spec.hops = 2;
    scene_require(&s, qs_sim_add_flow(s.sim, &spec));
    scene_run(&s);
    EQUAL(s.rows.hops[2].queued[0], 0);
    EQUAL(s.rows.hops[0].queued[0], SECONDS(3));
    EQUAL(s.rows.hops[1].queued[0], -1);
    EQUAL(s.rows.hops[1].end[0], -1);
    EQUAL(s.rows.received[0], SECONDS(6));
    size_t hops = 0;
    const uint32_t *route = qs_sim_route(s.sim, 0, &hops);
    EQUAL(hops, 2);
    CHECK(route[0] == 2 && route[1] == 0);
    scene_end(&s);
}

/* Two flows over the same ports in opposite directions, a third at one of them. */
LAW(routes_may_cross_in_opposite_directions)
{
    scene s = scene_new(SECONDS(1));
    add_ports(&s, 2, SECONDS(1));
    static const uint32_t there[] = {0, 1}, back[] = {1, 0};
    qs_flow_spec spec = scene_flow_spec(&s, "there", ARRIVALS(zero, three));
    spec.route = there;
    scene_require(&s, qs_sim_add_flow(s.sim, &spec));
    spec.name = "back";
    spec.route = back;
    scene_require(&s, qs_sim_add_flow(s.sim, &spec));
    scene_run(&s);
    TEXT(scene_column(&s, s.rows.hops[0].start, QS_SECOND), "0 4");
    TEXT(scene_column(&s, s.rows.hops[1].start, QS_SECOND), "4 0");
    TEXT(scene_column(&s, s.rows.received, QS_SECOND), "8 8");
    scene_end(&s);
}

LAW(a_packet_lost_at_its_second_port_keeps_the_timestamps_of_its_first)
{
    static const int64_t zeros[] = {0, 0, 0}, sizes[] = {1, 1, 1};
    const qs_class_spec none = {.name = "k", .queue = SPEC("drop-tail", NUMBER("packets", 0))};
    scene s = scene_new(SECONDS(1));
    add_ports(&s, 1, 0);
    scene_port(&s,
               &(qs_port_spec){
                   .name = "slow", .rate = QS_INT(4), .scheduler = BARE("fifo"), .classes = &none, .class_count = 1});
    scene_flow(&s, "f", 0, ARRIVALS(zeros, sizes));
    scene_run(&s);
    TEXT(scene_fates(&s), "rqr");
    TEXT(scene_column(&s, s.rows.hops[0].end, QS_SECOND), "1 2 3");
    TEXT(scene_column(&s, s.rows.hops[1].queued, QS_SECOND), "1 - 3");
    TEXT(scene_column(&s, s.rows.hops[1].start, QS_SECOND), "1 - 3");
    TEXT(scene_column(&s, s.rows.received, QS_SECOND), "3 - 5");
    EQUAL(s.rows.where[0], -1);
    EQUAL(s.rows.where[1], 1);
    scene_check_identities(&s);
    scene_end(&s);
}

LAW(rows_stand_in_order_of_flow_and_number_whatever_the_order_of_their_ends)
{
    static const int64_t times[] = {0, SECONDS(1), SECONDS(2)}, sizes[] = {1, 1, 1};
    scene s = scene_new(SECONDS(5));
    add_ports(&s, 3, SECONDS(2));
    const char *names[] = {"long", "short", "middle"};
    for (size_t f = 0; f < 3; f++) {
        qs_flow_spec spec = scene_flow_spec(&s, names[f], ARRIVALS(times, sizes));
        spec.hops = (const size_t[]){3, 1, 2}[f];
        scene_require(&s, qs_sim_add_flow(s.sim, &spec));
    }
    scene_run(&s);
    EQUAL(s.rows.rows, 9);
    for (size_t i = 0; i < s.rows.rows; i++) {
        EQUAL(s.rows.flow[i], i / 3);
        EQUAL(s.rows.seq[i], i % 3);
        EQUAL(s.rows.sent[i], times[i % 3]);
        EQUAL(s.rows.size[i], 1);
        EQUAL(s.rows.hops[2].end[i] >= 0, i / 3 == 0);
        EQUAL(s.rows.hops[1].end[i] >= 0, i / 3 != 1);
    }
    scene_end(&s);
}

LAW(many_packets_are_on_a_long_line_at_once)
{
    scene s = scene_new(SECONDS(1000));
    add_ports(&s, 2, SECONDS(500));
    scene_flow(&s, "f", 0, SPEC("cbr", NUMBER("interval", SECONDS(1)), NUMBER("size", 1)));
    scene_run(&s);
    EQUAL(s.rows.rows, 1000);
    for (size_t i = 0; i < s.rows.rows; i++) {
        EQUAL(s.rows.hops[1].queued[i], SECONDS((qs_time)i + 501));
        EQUAL(s.rows.received[i], SECONDS((qs_time)i + 1002));
    }
    scene_end(&s);
}

/* An unbroken run of 1000 packets on a link of 7 bit/s: the k-th ends at floor(k 8 10^12 / 7). */
LAW(an_unbroken_run_loses_no_fraction_of_a_picosecond)
{
    static int64_t zeros[1000], ones[1000];
    for (size_t i = 0; i < 1000; i++)
        ones[i] = 1;
    scene s = scene_new(SECONDS(1));
    scene_port(&s, &(qs_port_spec){.name = "odd", .rate = QS_INT(7), .scheduler = BARE("fifo")});
    scene_flow(&s, "f", 0, ARRIVALS(zeros, ones));
    scene_run(&s);
    for (qs_time k = 0; k < 1000; k++) {
        EQUAL(s.rows.hops[0].end[k], (k + 1) * 8 * QS_SECOND / 7);
        EQUAL(s.rows.hops[0].start[k], k * 8 * QS_SECOND / 7);
    }
    scene_end(&s);
}

/* One that starts at the very instant the previous ended continues its run, whether it had waited or not. */
LAW(a_packet_that_comes_as_the_wire_falls_idle_continues_its_run)
{
    const int64_t end = 8 * QS_SECOND / 7;
    const int64_t times[] = {0, end, 2 * 8 * QS_SECOND / 7 + 1}, sizes[] = {1, 1, 1};
    scene s = scene_new(SECONDS(10));
    scene_port(&s, &(qs_port_spec){.name = "odd", .rate = QS_INT(7), .scheduler = BARE("fifo")});
    scene_flow(&s, "f", 0, ARRIVALS(times, sizes));
    scene_run(&s);
    EQUAL(s.rows.hops[0].end[1], 2 * 8 * QS_SECOND / 7);
    EQUAL(s.rows.hops[0].end[2], times[2] + end); /* a picosecond too late: a run of its own */
    scene_end(&s);
}
