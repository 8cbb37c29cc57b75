/* SPDX-License-Identifier: MIT */
/*
 * Windows: a port that runs for a while by itself does what it does when all ports go through time together. A trace
 * makes them do so; a budget makes the windows as small as one instant.
 */
#include "chance.h"

enum { SEEDS = 1500 };

static void ignore(void *context, qs_time now, const qs_packet *p)
{
    (void)now, (void)p;
    ++*(uint64_t *)context;
}

/* Two runs of one seed, the second traced or in pieces. */
static void compare(uint64_t seed, qs_record record, bool forward, bool trace, uint64_t budget)
{
    chance plain, other;
    uint64_t told = 0;
    chance_build(&plain, seed, record, forward);
    chance_build(&other, seed, record, forward);
    if (trace)
        STATUS(qs_sim_trace(other.sim, seed % other.ports, (qs_trace_kind)(seed % QS_TRACE_KINDS), ignore, &told),
               QS_OK);
    chance_run(&plain, 0);
    chance_run(&other, budget);
    chance_check(&plain);
    chance_same_counts(&plain, &other);
    chance_same_rows(&plain, &other);
    if (checks.failures)
        printf("    seed %" PRIu64 "\n", seed);
    chance_end(&plain);
    chance_end(&other);
}

LAW(ports_that_run_by_themselves_do_what_they_do_together)
{
    for (uint64_t seed = 0; seed < SEEDS && !checks.failures; seed++)
        compare(seed, QS_RECORD_PACKETS, true, true, 0);
}

LAW(windows_may_be_of_any_size)
{
    for (uint64_t seed = 0; seed < SEEDS && !checks.failures; seed++)
        compare(seed, QS_RECORD_PACKETS, true, false, 1 + seed % 40);
}

LAW(windows_of_any_size_leave_the_counts_alone)
{
    for (uint64_t seed = 0; seed < SEEDS && !checks.failures; seed++)
        compare(seed, QS_RECORD_NONE, true, seed % 2, seed % 7);
}

LAW(ports_whose_routes_go_in_circles_run_together_in_pieces_of_any_size)
{
    for (uint64_t seed = 0; seed < SEEDS && !checks.failures; seed++)
        compare(seed, QS_RECORD_PACKETS, false, seed % 2, seed % 30);
}

static void same_stats(const qs_stats *a, const qs_stats *b)
{
    EQUAL(a->count, b->count);
    EQUAL(a->min, b->min);
    EQUAL(a->max, b->max);
    CHECK(qs_stats_sum(a) == qs_stats_sum(b));
    CHECK(qs_stats_deviations(a) == qs_stats_deviations(b));
}

LAW(summaries_are_the_same_by_windows_and_together)
{
    for (uint64_t seed = 0; seed < SEEDS && !checks.failures; seed++) {
        chance plain, traced;
        uint64_t told = 0;
        chance_build(&plain, seed, QS_RECORD_SUMMARY, true);
        chance_build(&traced, seed, QS_RECORD_SUMMARY, true);
        STATUS(qs_sim_trace(traced.sim, 0, QS_TRACE_RECEIVED, ignore, &told), QS_OK);
        chance_run(&plain, 0);
        chance_run(&traced, 0);
        for (size_t f = 0; f < plain.flows; f++) {
            const qs_summary *a = qs_sim_summary(plain.sim, f), *b = qs_sim_summary(traced.sim, f);
            same_stats(&a->delay, &b->delay);
            same_stats(&a->ipdv, &b->ipdv);
        }
        if (checks.failures)
            printf("    seed %" PRIu64 "\n", seed);
        chance_end(&plain);
        chance_end(&traced);
    }
}

/* A port that has been idle has a wide window; one that becomes busy in it must still come back to its caller. */
LAW(a_budget_is_kept_to_when_an_idle_port_becomes_busy)
{
    scene s = scene_with((qs_sim_config){.duration = SECONDS(1001000), .record = QS_RECORD_NONE});
    scene_port(&s, &(qs_port_spec){.name = "x", .rate = QS_INT(8000000), .scheduler = BARE("fifo")});
    scene_flow(&s, "sparse", 0, SPEC("cbr", NUMBER("interval", SECONDS(1000)), NUMBER("size", 1)));
    const qs_spec *source = SPEC("cbr", NUMBER("interval", MILLISECONDS(1)), NUMBER("size", 1));
    qs_flow_spec dense = scene_flow_spec(&s, "dense", source);
    dense.start = SECONDS(1000000);
    scene_require(&s, qs_sim_add_flow(s.sim, &dense));
    uint64_t before = 0, most = 0;
    for (bool done = false; !done;) {
        scene_require(&s, qs_sim_advance(s.sim, 1000, &done));
        const uint64_t sent = qs_sim_flow_counts(s.sim, 0)->sent + qs_sim_flow_counts(s.sim, 1)->sent;
        most = sent - before > most ? sent - before : most;
        before = sent;
    }
    EQUAL(before, 1000000 + 1001);
    CHECK(most <= 100000); /* a hundred times what was asked for */
    scene_end(&s);
}
