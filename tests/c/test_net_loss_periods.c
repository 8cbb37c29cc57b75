/* SPDX-License-Identifier: MIT */
/* Loss periods (RFC 3357): runs of packets of a flow that were lost one after the other. */
#include "scene.h"

/* Two ports at a byte a second; the first may hold one packet back, the second so many. */
static scene build(qs_sim_config config, uint64_t second_queue)
{
    config.record = QS_RECORD_PACKETS;
    const qs_class_spec one = {.name = "k", .queue = SPEC("drop-tail", NUMBER("packets", 1))};
    const qs_class_spec other = {.name = "k", .queue = SPEC("drop-tail", NUMBER("packets", second_queue))};
    scene s = scene_with(config);
    const qs_port_spec spec = {.rate = QS_INT(8), .scheduler = BARE("fifo"), .class_count = 1};
    qs_port_spec first = spec, second = spec;
    first.name = "x", first.classes = &one;
    second.name = "y", second.classes = &other;
    scene_port(&s, &first);
    scene_port(&s, &second);
    return s;
}

static void check_periods(const scene *s, uint64_t periods, uint64_t longest)
{
    EQUAL(qs_sim_flow_counts(s->sim, 0)->loss_periods, periods);
    EQUAL(qs_sim_flow_counts(s->sim, 0)->longest_loss, longest);
}

static const int64_t bursts[] = {0, 0, 0, 0, SECONDS(10), SECONDS(20), SECONDS(20), SECONDS(20)};
static const int64_t ones[] = {1, 1, 1, 1, 1, 1, 1, 1};

LAW(a_loss_period_is_a_run_of_lost_packets)
{
    scene s = build((qs_sim_config){.duration = SECONDS(30)}, 9);
    scene_flow(&s, "f", 0, ARRIVALS(bursts, ones));
    scene_run(&s);
    TEXT(scene_fates(&s), "rrqqrrrq");
    check_periods(&s, 2, 2);
    scene_end(&s);
}

LAW(packets_before_warm_up_are_in_no_loss_period)
{
    scene s = build((qs_sim_config){.duration = SECONDS(30), .warmup = 1}, 9);
    scene_flow(&s, "f", 0, ARRIVALS(bursts, ones));
    scene_run(&s);
    check_periods(&s, 1, 1);
    scene_end(&s);
}

/* From 5 s on: a packet of 9 bytes is on the wire, one waits, the first that count are lost. */
LAW(the_first_packet_that_counts_may_be_lost)
{
    static const int64_t times[] = {0, 0, SECONDS(4), SECONDS(5), SECONDS(6), SECONDS(30)},
                         sizes[] = {9, 1, 1, 1, 1, 1};
    scene s = build((qs_sim_config){.duration = SECONDS(60), .warmup = SECONDS(5)}, 9);
    scene_flow(&s, "f", 0, ARRIVALS(times, sizes));
    scene_run(&s);
    TEXT(scene_fates(&s), "rrqqqr");
    check_periods(&s, 1, 2);
    scene_end(&s);
}

LAW(a_flow_of_which_nothing_is_received_is_one_loss_period)
{
    scene s = build((qs_sim_config){.duration = SECONDS(30)}, 9);
    const qs_class_spec none = {.name = "k", .queue = SPEC("drop-tail", NUMBER("packets", 0))};
    scene_port(&s, &(qs_port_spec){
                       .name = "z", .rate = QS_INT(8), .scheduler = BARE("fifo"), .classes = &none, .class_count = 1});
    static const int64_t zeros[7], sizes[] = {1, 1, 1, 1, 1, 1, 1};
    static const uint32_t z[] = {2};
    qs_flow_spec blocker =
        scene_flow_spec(&s, "b", SPEC("trace", ARRAY("times", zeros, 1), ARRAY("sizes", (const int64_t[]){99}, 1)));
    blocker.route = z;
    blocker.hops = 1;
    scene_require(&s, qs_sim_add_flow(s.sim, &blocker));
    qs_flow_spec flow = scene_flow_spec(&s, "f", ARRIVALS(zeros, sizes));
    flow.route = z;
    flow.hops = 1;
    scene_require(&s, qs_sim_add_flow(s.sim, &flow));
    scene_run(&s);
    check_periods(&s, 0, 0);
    EQUAL(qs_sim_flow_counts(s.sim, 1)->loss_periods, 1);
    EQUAL(qs_sim_flow_counts(s.sim, 1)->longest_loss, 7);
    scene_end(&s);
}

/* The second port is kept busy: what the first lets through is lost there, later than what follows was at the first. */
LAW(losses_at_two_ports_can_be_one_loss_period)
{
    static const int64_t times[] = {0, SECONDS(20), SECONDS(20), SECONDS(20), SECONDS(90)}, sizes[] = {1, 1, 1, 1, 1};
    static const int64_t busy_times[] = {SECONDS(15)}, busy_sizes[] = {60};
    static const uint32_t y[] = {1};
    scene s = build((qs_sim_config){.duration = SECONDS(100)}, 0);
    scene_flow(&s, "f", 0, ARRIVALS(times, sizes));
    qs_flow_spec blocker = scene_flow_spec(&s, "b", ARRIVALS(busy_times, busy_sizes));
    blocker.route = y;
    blocker.hops = 1;
    scene_require(&s, qs_sim_add_flow(s.sim, &blocker));
    scene_run(&s);
    TEXT(scene_fates(&s), "rqqqrr");
    EQUAL(s.rows.where[1], 1);
    EQUAL(s.rows.where[3], 0);
    check_periods(&s, 1, 3);
    scene_end(&s);
}

/* Cut at 21 s: 2 is on the second wire, 3 on the first, 5 waits behind it; 4 and 6 found no room. */
LAW(a_packet_that_is_inside_ends_a_loss_period)
{
    static const int64_t times[] = {0, SECONDS(16), SECONDS(17), SECONDS(17), SECONDS(17), SECONDS(20), SECONDS(20)};
    static const int64_t sizes[] = {1, 1, 3, 1, 1, 9, 1};
    scene s = build((qs_sim_config){.duration = SECONDS(21), .cut = true}, 9);
    scene_flow(&s, "f", 0, ARRIVALS(times, sizes));
    scene_run(&s);
    TEXT(scene_fates(&s), "rriiqiq");
    check_periods(&s, 2, 1);
    scene_end(&s);
}
