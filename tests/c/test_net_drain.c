/* SPDX-License-Identifier: MIT */
/* How a run ends: sources stop, the run drains or is cut, the clock ends. What is left is inside. */
#include "scene.h"

static const qs_port_spec plain = {.name = "x", .rate = {8, 0, 1}, .propagation = SECONDS(3)};

static scene build(qs_time duration, bool cut)
{
    scene s = scene_with((qs_sim_config){.duration = duration, .cut = cut, .record = QS_RECORD_PACKETS});
    scene_port(&s, &plain);
    return s;
}

LAW(sources_send_before_the_duration_is_over_and_not_at_its_end)
{
    static const int64_t times[] = {0, SECONDS(5) - 1, SECONDS(5)}, sizes[] = {1, 1, 1};
    scene s = build(SECONDS(5), false);
    scene_flow(&s, "f", 0, ARRIVALS(times, sizes));
    scene_run(&s);
    EQUAL(s.rows.rows, 2);
    TEXT(scene_fates(&s), "rr");
    scene_end(&s);
}

LAW(a_flow_starts_and_stops_when_it_is_told_to)
{
    static const int64_t times[] = {0, SECONDS(1), SECONDS(2)}, sizes[] = {1, 1, 1};
    scene s = build(SECONDS(10), false);
    qs_flow_spec spec = scene_flow_spec(&s, "f", ARRIVALS(times, sizes));
    spec.start = SECONDS(4);
    spec.stop = SECONDS(6);
    scene_require(&s, qs_sim_add_flow(s.sim, &spec));
    spec.name = "none";
    spec.stop = SECONDS(4);
    scene_require(&s, qs_sim_add_flow(s.sim, &spec));
    spec.name = "early";
    spec.stop = 0;
    scene_require(&s, qs_sim_add_flow(s.sim, &spec));
    scene_run(&s);
    TEXT(scene_column(&s, s.rows.sent, QS_SECOND), "4 5");
    scene_end(&s);
}

LAW(a_run_drains_until_nothing_is_left)
{
    static const int64_t zeros[4], sizes[] = {2, 2, 2, 2};
    scene s = build(SECONDS(1), false);
    scene_flow(&s, "f", 0, ARRIVALS(zeros, sizes));
    scene_run(&s);
    TEXT(scene_column(&s, s.rows.received, QS_SECOND), "5 7 9 11");
    EQUAL(qs_sim_flow_counts(s.sim, 0)->fates[QS_INSIDE], 0);
    scene_end(&s);
}

/* Transmissions end at 2, 4, 6 s, receptions follow 3 s later. */
LAW(a_run_that_is_cut_knows_nothing_of_what_would_come_at_its_end_or_later)
{
    static const int64_t zeros[4], sizes[] = {2, 2, 2, 2};
    scene s = build(SECONDS(5), true);
    scene_flow(&s, "f", 0, ARRIVALS(zeros, sizes));
    scene_run(&s);
    TEXT(scene_column(&s, s.rows.received, QS_SECOND), "- - - -");
    TEXT(scene_column(&s, s.rows.hops[0].end, QS_SECOND), "2 4 - -");
    TEXT(scene_column(&s, s.rows.hops[0].start, QS_SECOND), "0 2 4 -");
    TEXT(scene_column(&s, s.rows.hops[0].ring, QS_SECOND), "0 2 4 -");
    TEXT(scene_column(&s, s.rows.hops[0].queued, QS_SECOND), "0 0 0 0");
    TEXT(scene_fates(&s), "iiii");
    EQUAL(s.rows.where[0], 0);
    EQUAL(s.rows.where[3], 0);
    EQUAL(qs_sim_flow_counts(s.sim, 0)->fates[QS_INSIDE], 4);
    EQUAL(qs_sim_class_counts(s.sim, 0, 0)->sent, 2);
    EQUAL(qs_sim_class_counts(s.sim, 0, 0)->inside, 2);
    scene_check_identities(&s);
    CHECK(qs_sim_now(s.sim) < SECONDS(5));
    scene_end(&s);
}

LAW(a_run_that_is_cut_a_picosecond_later_knows_that_too)
{
    static const int64_t zeros[4], sizes[] = {2, 2, 2, 2};
    scene s = build(SECONDS(5) + 1, true);
    scene_flow(&s, "f", 0, ARRIVALS(zeros, sizes));
    scene_run(&s);
    TEXT(scene_fates(&s), "riii");
    EQUAL(s.rows.received[0], SECONDS(5));
    scene_end(&s);
}

LAW(a_run_that_is_cut_leaves_packets_in_ring_line_and_second_port_inside)
{
    static const int64_t zeros[6], sizes[] = {1, 1, 1, 1, 1, 1};
    scene s = scene_with((qs_sim_config){.duration = SECONDS(5) + 1, .cut = true, .record = QS_RECORD_PACKETS});
    qs_port_spec first = plain, second = plain;
    first.ring = SPEC("tx-ring", NUMBER("limit", 1));
    first.propagation = SECONDS(2);
    second.name = "y";
    second.rate = QS_INT(4);
    scene_port(&s, &first);
    scene_port(&s, &second);
    scene_flow(&s, "f", 0, ARRIVALS(zeros, sizes));
    scene_run(&s);
    TEXT(scene_column(&s, s.rows.hops[0].end, QS_SECOND), "1 2 3 4 5 -");
    TEXT(scene_column(&s, s.rows.hops[1].queued, QS_SECOND), "3 4 5 - - -");
    TEXT(scene_column(&s, s.rows.hops[1].start, QS_SECOND), "3 5 - - - -");
    TEXT(scene_fates(&s), "iiiiii");
    for (size_t i = 0; i < 6; i++)
        EQUAL(s.rows.where[i], i < 3 ? 1 : 0);
    scene_check_identities(&s);
    scene_end(&s);
}

/* ---- The end of the clock, 2^63 - 2 ps ------------------------------------------------------------------------------
 */

static const qs_time last_instant = QS_NEVER - 1;

LAW(a_transmission_that_would_pass_the_end_of_the_clock_stays_inside)
{
    const int64_t times[] = {last_instant - SECONDS(2), last_instant - SECONDS(1)}, sizes[] = {1, 1};
    scene s = scene_new(last_instant);
    qs_port_spec port = plain;
    port.propagation = 0;
    scene_port(&s, &port);
    scene_flow(&s, "f", 0, ARRIVALS(times, sizes));
    scene_run(&s);
    TEXT(scene_fates(&s), "rr");
    EQUAL(s.rows.received[1], last_instant);
    scene_end(&s);
}

LAW(a_transmission_that_ends_a_picosecond_after_the_clock_is_not_seen_to_end)
{
    const int64_t times[] = {last_instant - SECONDS(2), last_instant - SECONDS(1) + 1}, sizes[] = {1, 1};
    scene s = scene_new(last_instant);
    qs_port_spec port = plain;
    port.propagation = 0;
    scene_port(&s, &port);
    scene_flow(&s, "f", 0, ARRIVALS(times, sizes));
    scene_run(&s);
    TEXT(scene_fates(&s), "ri");
    EQUAL(s.rows.hops[0].start[1], times[1]);
    EQUAL(s.rows.hops[0].end[1], -1);
    EQUAL(s.rows.received[1], -1);
    scene_check_identities(&s);
    scene_end(&s);
}

LAW(a_reception_after_the_end_of_the_clock_is_not_seen)
{
    const int64_t times[] = {last_instant - SECONDS(4), last_instant - SECONDS(4) + 1, last_instant - 1};
    const int64_t sizes[] = {1, 1, 1};
    scene s = scene_new(last_instant);
    scene_port(&s, &plain);
    scene_flow(&s, "f", 0, ARRIVALS(times, sizes));
    scene_run(&s);
    TEXT(scene_fates(&s), "rii");
    EQUAL(s.rows.received[0], last_instant);
    EQUAL(s.rows.hops[0].end[1], last_instant - SECONDS(2));
    EQUAL(s.rows.where[1], 0);
    scene_check_identities(&s);
    scene_end(&s);
}

LAW(a_line_that_is_longer_than_the_clock_lets_nothing_arrive)
{
    static const int64_t zeros[2], sizes[] = {1, 1};
    scene s = scene_new(SECONDS(1));
    qs_port_spec port = plain;
    port.propagation = QS_NEVER - 1;
    scene_port(&s, &port);
    scene_flow(&s, "f", 0, ARRIVALS(zeros, sizes));
    scene_run(&s);
    TEXT(scene_fates(&s), "ii");
    TEXT(scene_column(&s, s.rows.hops[0].end, QS_SECOND), "1 2");
    scene_end(&s);
}

LAW(a_source_may_send_in_the_last_instants_of_the_clock)
{
    scene s = scene_new(last_instant);
    qs_port_spec port = plain;
    port.rate = QS_INT(8000000000000);
    port.propagation = 0;
    scene_port(&s, &port);
    qs_flow_spec spec = scene_flow_spec(&s, "f", SPEC("cbr", NUMBER("interval", 3), NUMBER("size", 1)));
    spec.start = last_instant - 10;
    scene_require(&s, qs_sim_add_flow(s.sim, &spec));
    scene_run(&s);
    EQUAL(s.rows.rows, 4); /* 10, 7, 4 and 1 before the last */
    TEXT(scene_fates(&s), "rrrr");
    scene_end(&s);
}

/* ---- In pieces ------------------------------------------------------------------------------------------------------
 */

LAW(a_run_in_pieces_is_the_run_in_one)
{
    scene whole = build(SECONDS(200), false), pieces = build(SECONDS(200), false);
    for (int i = 0; i < 2; i++) {
        scene *s = i ? &pieces : &whole;
        scene_flow(s, "f", 0, SPEC("cbr", RATIO("interval", 7 * QS_SECOND, 3), NUMBER("size", 2)));
        scene_flow(s, "g", 0, SPEC("cbr", RATIO("interval", 5 * QS_SECOND, 4), NUMBER("size", 1)));
    }
    scene_run(&whole);
    bool done = false;
    unsigned calls = 0;
    for (; !done; calls++)
        scene_require(&pieces, qs_sim_advance(pieces.sim, 3, &done));
    CHECK(calls > 50);
    scene_require(&pieces, qs_sim_advance(pieces.sim, 3, &done)); /* nothing left to do */
    CHECK(done);
    scene_require(&pieces, qs_sim_take(pieces.sim, &pieces.rows));
    EQUAL(whole.rows.rows, pieces.rows.rows);
    CHECK(memcmp(whole.rows.received, pieces.rows.received, whole.rows.rows * sizeof(int64_t)) == 0);
    scene_end(&whole);
    scene_end(&pieces);
}

LAW(simulations_run_side_by_side_without_knowing_of_each_other)
{
    scene s[3];
    bool done[3] = {false, false, false};
    for (int i = 0; i < 3; i++) {
        s[i] = build(SECONDS(100), false);
        scene_flow(&s[i], "f", 0, SPEC("cbr", NUMBER("interval", SECONDS(1)), NUMBER("size", i < 2 ? 1 : 2)));
    }
    while (!done[0] || !done[1] || !done[2])
        for (unsigned i = 0; i < 3; i++)
            scene_require(&s[i], qs_sim_advance(s[i].sim, i + 1, &done[i]));
    for (int i = 0; i < 3; i++)
        scene_require(&s[i], qs_sim_take(s[i].sim, &s[i].rows));
    CHECK(memcmp(s[0].rows.received, s[1].rows.received, 100 * sizeof(int64_t)) == 0);
    EQUAL(s[0].rows.received[99], SECONDS(103));
    EQUAL(s[2].rows.received[99], SECONDS(203));
    for (int i = 0; i < 3; i++)
        scene_end(&s[i]);
}

LAW(packets_are_taken_once_and_after_the_run)
{
    scene s = build(SECONDS(3), false);
    scene_flow(&s, "f", 0, SPEC("cbr", NUMBER("interval", SECONDS(1)), NUMBER("size", 1)));
    STATUS(qs_sim_take(s.sim, &s.rows), QS_ESTATE);
    scene_run(&s);
    EQUAL(s.rows.rows, 3);
    qs_columns again;
    STATUS(qs_sim_take(s.sim, &again), QS_ESTATE);
    scene_end(&s);
}

LAW(a_run_without_flows_is_over_at_once)
{
    scene s = build(SECONDS(3), false);
    scene_run(&s);
    EQUAL(s.rows.rows, 0);
    EQUAL(qs_sim_now(s.sim), 0);
    scene_end(&s);
}

LAW(a_simulation_can_be_destroyed_before_it_has_run_and_in_the_middle)
{
    scene fresh = build(SECONDS(3), false), begun = build(SECONDS(3000), false);
    scene_flow(&fresh, "f", 0, SPEC("cbr", NUMBER("interval", SECONDS(1)), NUMBER("size", 1)));
    scene_flow(&begun, "f", 0, SPEC("cbr", NUMBER("interval", SECONDS(1)), NUMBER("size", 2)));
    bool done = false;
    scene_require(&begun, qs_sim_advance(begun.sim, 1000, &done));
    CHECK(!done);
    scene_end(&fresh);
    scene_end(&begun);
    qs_sim_destroy(NULL);
}
