/* SPDX-License-Identifier: MIT */
/* The ring in its port: hand-over times by rule, back pressure, and the policer that acts in congestion only. */
#include "scene.h"

/* Packets of so many one-byte particles, all at 0, on a link of a byte a second; says when each is handed over. */
static void run_ring(scene *s, const char *admit, const char *free_rule, const int64_t *sizes, size_t count)
{
    static const int64_t zeros[16];
    *s = scene_new(SECONDS(1));
    scene_port(s, &(qs_port_spec){.name = "x",
                                  .rate = QS_INT(8),
                                  .scheduler = BARE("fifo"),
                                  .ring = SPEC("tx-ring", NUMBER("limit", 5), NUMBER("particle", 1),
                                               WORD("admit", admit), WORD("free", free_rule))});
    scene_flow(s, "f", 0, SPEC("trace", ARRAY("times", zeros, count), ARRAY("sizes", sizes, count)));
    scene_run(s);
    scene_check_identities(s);
}

static void check_ring(const char *admit, const char *free_rule, const char *handed)
{
    static const int64_t sizes[] = {3, 3, 3};
    scene s;
    run_ring(&s, admit, free_rule, sizes, 3);
    TEXT(scene_column(&s, s.rows.hops[0].ring, QS_SECOND), handed);
    TEXT(scene_column(&s, s.rows.hops[0].start, QS_SECOND), "0 3 6");
    TEXT(scene_column(&s, s.rows.hops[0].end, QS_SECOND), "3 6 9");
    scene_end(&s);
}

LAW(three_packets_of_three_particles_enter_a_ring_of_five_as_its_rules_say)
{
    check_ring("overshoot", "start", "0 0 0");
    check_ring("overshoot", "end", "0 0 3");
    check_ring("strict", "start", "0 0 3");
    check_ring("strict", "end", "0 3 6");
    check_ring("strict", "particle", "0 1 4");
    check_ring("overshoot", "particle", "0 0 2"); /* 6 in use, 4 at 2 s */
}

LAW(a_packet_larger_than_a_strict_ring_enters_it_only_when_it_is_empty)
{
    static const int64_t sizes[] = {2, 9, 2};
    scene s;
    run_ring(&s, "strict", "end", sizes, 3);
    TEXT(scene_column(&s, s.rows.hops[0].ring, QS_SECOND), "0 2 11");
    scene_end(&s);
    run_ring(&s, "strict", "particle", sizes, 3);
    TEXT(scene_column(&s, s.rows.hops[0].ring, QS_SECOND), "0 2 8"); /* 3 of 9 are left at 8 s */
    scene_end(&s);
    run_ring(&s, "overshoot", "end", sizes, 3);
    TEXT(scene_column(&s, s.rows.hops[0].ring, QS_SECOND), "0 0 11");
    scene_end(&s);
}

/*
 * On ATM the second of the three particles of 1028 bytes returns with the last cell, as the third does: at one
 * instant, and each once. The ring takes one packet at a time and a bit more, however long it runs.
 */
LAW(a_particle_that_returns_with_the_last_cell_returns_once)
{
    scene s = scene_new(SECONDS(2));
    scene_port(&s, &(qs_port_spec){
                       .name = "x",
                       .rate = QS_INT(2000000),
                       .framing = BARE("aal5"),
                       .scheduler = BARE("fifo"),
                       .ring = SPEC("tx-ring", NUMBER("limit", 5), WORD("admit", "strict"), WORD("free", "particle"))});
    scene_flow(&s, "f", 0, SPEC("cbr", NUMBER("interval", MILLISECONDS(4)), NUMBER("size", 1028)));
    scene_run(&s);
    const qs_hop_columns *hop = &s.rows.hops[0];
    /* 3 + 3 particles are more than 5: the next goes in when the first particle is back, after 11 of 22 cells. */
    for (size_t i = 100; i < s.rows.rows && !checks.failures; i++)
        EQUAL(hop->ring[i], hop->start[i - 1] + 11 * INT64_C(212000000));
    scene_end(&s);
}

/* At 1 Gbit/s and more a particle's share can be a fraction of a picosecond: it returns with the first bit. */
LAW(a_particle_whose_share_is_less_than_a_picosecond_returns_at_once)
{
    static const int64_t zeros[2], sizes[] = {4, 4};
    scene s = scene_new(SECONDS(1));
    scene_port(&s,
               &(qs_port_spec){.name = "x",
                               .rate = QS_INT(8000000000000),
                               .scheduler = BARE("fifo"),
                               .ring = SPEC("tx-ring", NUMBER("limit", 100), NUMBER("particle", 1),
                                            NUMBER("header", 60), WORD("admit", "strict"), WORD("free", "particle"))});
    scene_flow(&s, "f", 0, ARRIVALS(zeros, sizes));
    scene_run(&s);
    EQUAL(s.rows.hops[0].end[0], 4);
    /* 64 + 64 particles into 100: 28 are back when 28/64 of 4 ps have passed, in picosecond 1. */
    EQUAL(s.rows.hops[0].ring[1], 1);
    scene_end(&s);
}

LAW(without_a_ring_a_packet_is_handed_over_when_it_starts)
{
    static const int64_t zeros[3], sizes[] = {3, 3, 3};
    scene s = scene_new(SECONDS(1));
    scene_port(&s, &(qs_port_spec){.name = "x", .rate = QS_INT(8), .scheduler = BARE("fifo")});
    scene_flow(&s, "f", 0, ARRIVALS(zeros, sizes));
    scene_run(&s);
    TEXT(scene_column(&s, s.rows.hops[0].ring, QS_SECOND), "0 3 6");
    TEXT(scene_column(&s, s.rows.hops[0].start, QS_SECOND), "0 3 6");
    scene_end(&s);
}

LAW(priority_does_not_help_behind_a_ring_that_is_full)
{
    static const int64_t zeros[4], low[] = {3, 3, 3, 3}, one[] = {QS_SECOND}, high[] = {3};
    static const qs_class_spec classes[] = {{.name = "high", .match = 2}, {.name = "low"}};
    scene s = scene_new(SECONDS(2));
    scene_port(&s, &(qs_port_spec){.name = "x",
                                   .rate = QS_INT(8),
                                   .scheduler = BARE("pq"),
                                   .ring = SPEC("tx-ring", NUMBER("limit", 5), NUMBER("particle", 1)),
                                   .classes = classes,
                                   .class_count = 2});
    scene_flow(&s, "low", 0, ARRIVALS(zeros, low));
    scene_flow(&s, "high", 1, ARRIVALS(one, high));
    scene_run(&s);
    /* One on the wire, two in the ring, one in its queue: the ring takes the high packet at 3 s, to start at 9 s. */
    TEXT(scene_column(&s, s.rows.hops[0].ring, QS_SECOND), "0 0 0 6 3");
    TEXT(scene_column(&s, s.rows.hops[0].start, QS_SECOND), "0 3 6 12 9");
    scene_end(&s);
}

/* ---- The policer that drops only what the ring would not admit ----------------------------------------------------
 */

/* Six packets of two bytes, a second apart, and a bucket that lets one of them pass. */
static const char *police(scene *s, const qs_spec *ring, const char *when)
{
    static const int64_t times[] = {0, SECONDS(1), SECONDS(2), SECONDS(3), SECONDS(4), SECONDS(5)};
    static const int64_t sizes[] = {2, 2, 2, 2, 2, 2};
    const qs_class_spec klass = {
        .name = "k", .policer = SPEC("token-bucket", NUMBER("rate", 0), NUMBER("burst", 2), WORD("when", when))};
    *s = scene_new(SECONDS(10));
    scene_port(s, &(qs_port_spec){.name = "x",
                                  .rate = QS_INT(8),
                                  .scheduler = BARE("pq"),
                                  .ring = ring,
                                  .classes = &klass,
                                  .class_count = 1});
    scene_flow(s, "f", 0, ARRIVALS(times, sizes));
    scene_run(s);
    scene_check_identities(s);
    return scene_fates(s);
}

LAW(a_policer_always_drops_what_does_not_conform)
{
    scene s;
    TEXT(police(&s, NULL, "always"), "rppppp");
    EQUAL(qs_sim_class_counts(s.sim, 0, 0)->dropped_policer, 5);
    EQUAL(qs_sim_flow_counts(s.sim, 0)->fates[QS_DROPPED_POLICER], 5);
    scene_end(&s);
}

LAW(a_policer_in_congestion_drops_what_finds_the_wire_busy)
{
    scene s;
    /* The wire is busy in [0, 2), [2, 4), [4, 6): what comes as a transmission ends finds it idle. */
    TEXT(police(&s, NULL, "congestion"), "rprprp");
    scene_end(&s);
}

LAW(a_policer_in_congestion_drops_what_finds_the_ring_full)
{
    scene s;
    const qs_spec *ring = SPEC("tx-ring", NUMBER("limit", 2), NUMBER("particle", 1));
    /* 0 is on the wire and 1 fills the ring. At 2 s the wire will take 1, but only after 2 has been judged. */
    TEXT(police(&s, ring, "congestion"), "rrprpr");
    scene_end(&s);
}
