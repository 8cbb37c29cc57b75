/* SPDX-License-Identifier: MIT */
/* One instant: what ends, what arrives, the moves, the limits, in this order and no other. */
#include "scene.h"

static const int64_t at_once[32];

static qs_port_spec port(const qs_class_spec *classes, size_t count, const qs_spec *scheduler)
{
    return (qs_port_spec){
        .name = "x", .rate = QS_INT(8), .scheduler = scheduler, .classes = classes, .class_count = count};
}

LAW(a_burst_into_an_idle_port_loses_only_what_wire_and_queue_cannot_hold)
{
    static const int64_t sizes[6] = {1, 1, 1, 1, 1, 1};
    const qs_class_spec klass = {.name = "k", .queue = SPEC("drop-tail", NUMBER("packets", 3))};
    const qs_port_spec spec = port(&klass, 1, BARE("fifo"));
    scene s = scene_new(SECONDS(1));
    scene_port(&s, &spec);
    scene_flow(&s, "f", 0, SPEC("trace", ARRAY("times", at_once, 6), ARRAY("sizes", sizes, 6)));
    scene_run(&s);
    TEXT(scene_fates(&s), "rrrrqq");
    EQUAL(qs_sim_class_counts(s.sim, 0, 0)->largest_queue, 3);
    scene_check_identities(&s);
    scene_end(&s);
}

LAW(a_burst_into_an_idle_port_loses_only_what_ring_wire_and_queue_cannot_hold)
{
    static const int64_t sizes[9] = {1, 1, 1, 1, 1, 1, 1, 1, 1};
    const qs_class_spec klass = {.name = "k", .queue = SPEC("drop-tail", NUMBER("packets", 3))};
    qs_port_spec spec = port(&klass, 1, BARE("fifo"));
    spec.ring = SPEC("tx-ring", NUMBER("limit", 2));
    scene s = scene_new(SECONDS(1));
    scene_port(&s, &spec);
    scene_flow(&s, "f", 0, SPEC("trace", ARRAY("times", at_once, 9), ARRAY("sizes", sizes, 9)));
    scene_run(&s);
    TEXT(scene_fates(&s), "rrrrrrqqq");
    scene_end(&s);
}

LAW(a_queue_without_places_passes_what_an_idle_wire_takes_at_once)
{
    static const int64_t times[] = {0, 0, SECONDS(1), SECONDS(4), SECONDS(6)}, sizes[] = {2, 2, 2, 2, 2};
    const qs_class_spec klass = {.name = "k", .queue = SPEC("drop-tail", NUMBER("packets", 0))};
    const qs_port_spec spec = port(&klass, 1, BARE("fifo"));
    scene s = scene_new(SECONDS(10));
    scene_port(&s, &spec);
    scene_flow(&s, "f", 0, ARRIVALS(times, sizes));
    scene_run(&s);
    TEXT(scene_fates(&s), "rqqrr"); /* the one at 6 s comes as the one before it ends */
    scene_end(&s);
}

LAW(the_newest_go_until_what_is_left_fits)
{
    static const int64_t sizes[] = {1, 1500, 40};
    const qs_class_spec klass = {.name = "k", .queue = SPEC("drop-tail", NUMBER("bytes", 1000))};
    const qs_port_spec spec = port(&klass, 1, BARE("fifo"));
    scene s = scene_new(SECONDS(1));
    scene_port(&s, &spec);
    scene_flow(&s, "f", 0, SPEC("trace", ARRAY("times", at_once, 3), ARRAY("sizes", sizes, 3)));
    scene_run(&s);
    TEXT(scene_fates(&s), "rqq");
    scene_end(&s);
}

LAW(of_two_arrivals_at_once_the_scheduler_takes_the_right_one)
{
    static const int64_t sizes[] = {1};
    static const qs_class_spec classes[] = {{.name = "high", .match = 2}, {.name = "low"}};
    const qs_port_spec spec = port(classes, 2, BARE("pq"));
    scene s = scene_new(SECONDS(1));
    scene_port(&s, &spec);
    scene_flow(&s, "low", 0, SPEC("trace", ARRAY("times", at_once, 1), ARRAY("sizes", sizes, 1)));
    scene_flow(&s, "high", 1, SPEC("trace", ARRAY("times", at_once, 1), ARRAY("sizes", sizes, 1)));
    scene_run(&s);
    TEXT(scene_column(&s, s.rows.hops[0].start, QS_SECOND), "1 0");
    scene_end(&s);
}

LAW(what_comes_as_a_transmission_ends_is_there_when_the_next_is_chosen)
{
    static const int64_t twice[] = {0, 0}, later[] = {SECONDS(3)}, sizes[] = {3, 3};
    static const qs_class_spec classes[] = {{.name = "high", .match = 2}, {.name = "low"}};
    const qs_port_spec spec = port(classes, 2, BARE("pq"));
    scene s = scene_new(SECONDS(9));
    scene_port(&s, &spec);
    scene_flow(&s, "low", 0, ARRIVALS(twice, sizes));
    scene_flow(&s, "high", 1, SPEC("trace", ARRAY("times", later, 1), ARRAY("sizes", sizes, 1)));
    scene_run(&s);
    TEXT(scene_column(&s, s.rows.hops[0].start, QS_SECOND), "0 6 3");
    scene_end(&s);
}

LAW(arrivals_at_once_enter_in_order_of_flow_and_then_of_number)
{
    static const int64_t sizes[] = {1, 1};
    const qs_port_spec spec = port(NULL, 0, BARE("fifo"));
    scene s = scene_new(SECONDS(1));
    scene_port(&s, &spec);
    for (int f = 0; f < 3; f++)
        scene_flow(&s, (const char *[]){"a", "b", "c"}[f], 0,
                   SPEC("trace", ARRAY("times", at_once, 2), ARRAY("sizes", sizes, 2)));
    scene_run(&s);
    TEXT(scene_column(&s, s.rows.hops[0].start, QS_SECOND), "0 1 2 3 4 5");
    scene_end(&s);
}

/*
 * At 2 s port "join" gets a packet of flow 1 from port "first" and packets of flows 0 and 2 from their sources. The
 * order is that of the flows, wherever the packets come from.
 */
LAW(arrivals_from_a_port_and_from_sources_at_once_enter_in_order_of_flow)
{
    static const int64_t zero[] = {0}, two[] = {SECONDS(2)}, sizes[] = {2};
    static const uint32_t join[] = {1};
    const qs_port_spec first = {.name = "first", .rate = QS_INT(8), .scheduler = BARE("fifo")};
    const qs_port_spec second = {.name = "join", .rate = QS_INT(8), .scheduler = BARE("fifo")};
    for (size_t propagation = 0; propagation < 2; propagation++) {
        scene s = scene_new(SECONDS(5));
        qs_port_spec begin = first;
        begin.propagation = propagation ? SECONDS(1) : 0;
        begin.rate = propagation ? QS_INT(16) : QS_INT(8);
        scene_port(&s, &begin);
        scene_port(&s, &second);
        for (int f = 0; f < 3; f++) {
            qs_flow_spec spec = scene_flow_spec(&s, (const char *[]){"a", "b", "c"}[f], NULL);
            spec.source = f == 1 ? ARRIVALS(zero, sizes) : ARRIVALS(two, sizes);
            spec.route = f == 1 ? spec.route : join;
            spec.hops = f == 1 ? 2 : 1;
            scene_require(&s, qs_sim_add_flow(s.sim, &spec));
        }
        scene_run(&s);
        TEXT(scene_column(&s, s.rows.hops[1].queued, QS_SECOND), "2 2 2");
        TEXT(scene_column(&s, s.rows.hops[1].start, QS_SECOND), "2 4 6");
        scene_end(&s);
    }
}

/* Ports "left" and "right" each send one packet to "join", which has them both at 2 s. */
LAW(arrivals_from_several_ports_at_once_enter_in_order_of_flow)
{
    static const int64_t zero[] = {0}, sizes[] = {2};
    static const uint32_t routes[][2] = {{1, 2}, {0, 2}};
    for (size_t swapped = 0; swapped < 2; swapped++) {
        scene s = scene_new(SECONDS(5));
        for (size_t i = 0; i < 3; i++)
            scene_port(&s, &(qs_port_spec){.name = (const char *[]){"left", "right", "join"}[i],
                                           .rate = QS_INT(16),
                                           .scheduler = BARE("fifo"),
                                           .propagation = SECONDS(1)});
        for (size_t f = 0; f < 2; f++) {
            qs_flow_spec spec = scene_flow_spec(&s, (const char *[]){"a", "b"}[f], ARRIVALS(zero, sizes));
            spec.route = routes[f ^ swapped];
            spec.hops = 2;
            scene_require(&s, qs_sim_add_flow(s.sim, &spec));
        }
        scene_run(&s);
        TEXT(scene_column(&s, s.rows.hops[2].queued, QS_SECOND), "2 2");
        TEXT(scene_column(&s, s.rows.hops[2].start, QS_SECOND), "2 3");
        scene_end(&s);
    }
}

LAW(a_policer_decides_as_packets_arrive_before_any_of_them_moves)
{
    static const int64_t sizes[] = {2, 2, 1};
    const qs_class_spec klass = {.name = "k",
                                 .queue = SPEC("drop-tail", NUMBER("packets", 0)),
                                 .policer = SPEC("token-bucket", NUMBER("rate", 0), NUMBER("burst", 4))};
    const qs_port_spec spec = port(&klass, 1, BARE("fifo"));
    scene s = scene_new(SECONDS(1));
    scene_port(&s, &spec);
    scene_flow(&s, "f", 0, SPEC("trace", ARRAY("times", at_once, 3), ARRAY("sizes", sizes, 3)));
    scene_run(&s);
    TEXT(scene_fates(&s), "rqp"); /* the second has used its tokens, though its queue drops it */
    scene_end(&s);
}

/* A dropped packet's tag counts for nothing: class "a" is served as if its second packet had never come. */
LAW(a_packet_dropped_from_a_queue_gives_its_tag_back)
{
    static const int64_t a_times[] = {0, 0, SECONDS(1)}, a_sizes[] = {1, 100, 1};
    static const int64_t b_times[] = {0, 0}, b_sizes[] = {1, 8};
    const qs_class_spec classes[] = {
        {.name = "b", .match = 2, .share = {.bandwidth = QS_INT(1)}},
        {.name = "a", .share = {.bandwidth = QS_INT(1)}, .queue = SPEC("drop-tail", NUMBER("packets", 1))}};
    static const char *const tagged[] = {"wfq", "scfq"};
    for (size_t i = 0; i < COUNT(tagged); i++) {
        const qs_port_spec spec = port(classes, 2, &(qs_spec){tagged[i], NULL, 0});
        scene s = scene_new(SECONDS(9));
        scene_port(&s, &spec);
        scene_flow(&s, "a", 0, ARRIVALS(a_times, a_sizes));
        scene_flow(&s, "b", 1, ARRIVALS(b_times, b_sizes));
        scene_run(&s);
        TEXT(scene_fates(&s), "rqrrr");
        TEXT(scene_column(&s, s.rows.hops[0].start, QS_SECOND), "1 - 2 0 3");
        scene_end(&s);
    }
}

LAW(classes_are_limited_each_by_itself)
{
    static const int64_t sizes[] = {1, 1, 1, 1};
    const qs_class_spec classes[] = {
        {.name = "a", .match = 2, .queue = SPEC("drop-tail", NUMBER("packets", 1))},
        {.name = "b", .match = 4, .queue = SPEC("drop-tail", NUMBER("bytes", 2))},
        {.name = "c"},
    };
    const qs_port_spec spec = port(classes, 3, BARE("fifo"));
    scene s = scene_new(SECONDS(1));
    scene_port(&s, &spec);
    for (unsigned dscp = 1; dscp <= 3; dscp++)
        scene_flow(&s, (const char *[]){"", "a", "b", "c"}[dscp], dscp,
                   SPEC("trace", ARRAY("times", at_once, 4), ARRAY("sizes", sizes, 4)));
    scene_run(&s);
    TEXT(scene_fates(&s), "rrqqrrqqrrrr"); /* one of class "a" is on the wire */
    scene_check_identities(&s);
    scene_end(&s);
}
