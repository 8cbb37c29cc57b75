/* SPDX-License-Identifier: MIT */
/*
 * The experiment the project began with: EF beside best effort on a 2 Mbit/s ATM PVC, two passes, ring of five
 * particles. T = 4.664 ms is one packet on the wire. Phases are fixed: both flows start at 0.
 */
#include "scene.h"

enum { BEAT = 1749, PLOTTED = 250 };

static const qs_time T = INT64_C(4664000000), base = INT64_C(10710000000);

typedef struct variant {
    const qs_spec *scheduler;
    const char *admit, *free;
    bool no_ring;
    bool unloaded;
    unsigned be_rate; /* packets a second; 0: 200 */
} variant;

static void add_pvc(scene *s, const char *name, const variant *v)
{
    const qs_class_spec classes[] = {
        {.name = "EF",
         .match = UINT64_C(1) << 46,
         .share = {.bandwidth = QS_INT(400000)},
         .queue = SPEC("drop-tail", NUMBER("packets", 10)),
         .policer = SPEC("token-bucket", NUMBER("rate", 400000), NUMBER("burst", 8000))},
        {.name = "BE", .share = {.bandwidth = QS_INT(1600000)}, .queue = SPEC("drop-tail", NUMBER("packets", 64))},
    };
    const qs_spec *ring = SPEC("tx-ring", NUMBER("limit", 5), WORD("admit", v->admit ? v->admit : "overshoot"),
                               WORD("free", v->free ? v->free : "start"));
    scene_port(s, &(qs_port_spec){.name = name,
                                  .rate = QS_INT(2000000),
                                  .framing = BARE("aal5"),
                                  .scheduler = v->scheduler,
                                  .ring = v->no_ring ? NULL : ring,
                                  .propagation = INT64_C(691000000),
                                  .classes = classes,
                                  .class_count = 2});
}

static scene run_seed(const variant *v)
{
    scene s = scene_new(SECONDS(60));
    add_pvc(&s, "near", v);
    add_pvc(&s, "far", v);
    scene_flow(&s, "EF", 46,
               SPEC("cbr", RATIO("interval", 8192 * UINT64_C(1000000000000), 300000), NUMBER("size", 1006)));
    if (!v->unloaded) {
        qs_flow_spec be = scene_flow_spec(
            &s, "BE",
            SPEC("cbr", NUMBER("interval", QS_SECOND / (v->be_rate ? v->be_rate : 200)), NUMBER("size", 1028)));
        be.hops = 1;
        scene_require(&s, qs_sim_add_flow(s.sim, &be));
    }
    scene_run(&s);
    scene_check_identities(&s);
    EQUAL(qs_sim_flow_counts(s.sim, 0)->fates[QS_RECEIVED], qs_sim_flow_counts(s.sim, 0)->sent);
    return s;
}

/* The first EF packet sent at or after 5 s. */
static size_t first_row(const scene *s)
{
    size_t i = 0;
    while (s->rows.sent[i] < SECONDS(5))
        i++;
    REQUIRE(s->rows.flow[i + BEAT - 1] == 0);
    return i;
}

static qs_time delay(const scene *s, size_t row)
{
    return s->rows.received[row] - s->rows.sent[row];
}

typedef struct spread {
    double min, mean, max; /* milliseconds above the base delay */
} spread;

static spread waits(const variant *v, size_t count)
{
    scene s = run_seed(v);
    const size_t first = first_row(&s);
    qs_time min = QS_NEVER, max = 0, sum = 0;
    for (size_t i = first; i < first + count; i++) {
        const qs_time wait = delay(&s, i) - base;
        min = wait < min ? wait : min;
        max = wait > max ? wait : max;
        sum += wait;
    }
    scene_end(&s);
    return (spread){(double)min / 1e9, (double)sum / 1e9 / (double)count, (double)max / 1e9};
}

static void check_waits(const variant *v, size_t count, spread want, double tolerance)
{
    const spread got = waits(v, count);
    CLOSE(got.min, want.min, tolerance);
    CLOSE(got.mean, want.mean, tolerance);
    CLOSE(got.max, want.max, tolerance);
}

LAW(without_best_effort_every_packet_takes_the_minimum)
{
    for (int i = 0; i < 2; i++) {
        scene s = run_seed(&(variant){.scheduler = i ? BARE("scfq") : BARE("pq"), .unloaded = true});
        for (size_t row = 0; row < s.rows.rows; row++)
            EQUAL(delay(&s, row), base);
        EQUAL(s.rows.rows, 2198);
        scene_end(&s);
    }
}

LAW(priority_waits_for_two_packets_in_the_ring_and_the_rest_of_one_on_the_wire)
{
    check_waits(&(variant){.scheduler = BARE("pq")}, BEAT, (spread){9.328, 11.658667, 13.989333}, 5.1e-7);
}

LAW(fair_queueing_waits_longer_than_priority_by_a_constant)
{
    scene pq = run_seed(&(variant){.scheduler = BARE("pq")});
    scene scfq = run_seed(&(variant){.scheduler = BARE("scfq")});
    scene wfq = run_seed(&(variant){.scheduler = BARE("wfq")});
    const size_t first = first_row(&pq);
    for (size_t i = first; i < first + BEAT && !checks.failures; i++) {
        EQUAL(delay(&scfq, i) - delay(&pq, i), 3 * T);
        EQUAL(delay(&wfq, i) - delay(&pq, i), T);
    }
    scene_end(&pq);
    scene_end(&scfq);
    scene_end(&wfq);
}

/* P - 5T with a share of 254 in 1748, and 6T - P, to the picosecond that the period is rounded to. */
LAW(delay_variation_has_two_heights)
{
    static const char *const schedulers[] = {"pq", "scfq", "wfq"};
    for (size_t k = 0; k < COUNT(schedulers); k++) {
        scene s = run_seed(&(variant){.scheduler = &(qs_spec){schedulers[k], NULL, 0}});
        const size_t first = first_row(&s);
        unsigned large = 0;
        for (size_t i = first + 1; i < first + BEAT; i++) {
            const qs_time ipdv = delay(&s, i) - delay(&s, i - 1), height = ipdv < 0 ? -ipdv : ipdv;
            large += height > T / 2;
            CLOSE((double)height, height > T / 2 ? 3986666666.667 : 677333333.333, 1.0);
        }
        EQUAL(large, 254);
        scene_end(&s);
    }
}

LAW(every_ring_rule_makes_the_wait_that_was_computed_for_it)
{
    static const struct {
        variant v;
        spread want;
    } rows[] = {
        {{.admit = "overshoot", .free = "start"}, {9.344, 11.670, 13.989}},
        {{.admit = "overshoot", .free = "end"}, {4.680, 7.006, 9.325}},
        {{.admit = "overshoot", .free = "particle"}, {4.680, 7.006, 9.325}},
        {{.admit = "strict", .free = "start"}, {4.680, 7.006, 9.325}},
        {{.admit = "strict", .free = "end"}, {0.016, 2.342, 4.661}},
        {{.admit = "strict", .free = "particle"}, {2.339, 4.655, 6.984}},
        {{.no_ring = true}, {0.016, 2.342, 4.661}},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        variant v = rows[i].v;
        v.scheduler = BARE("pq");
        check_waits(&v, PLOTTED, rows[i].want, 5.1e-4);
    }
}

LAW(the_rate_of_a_best_effort_flow_that_overloads_the_link_is_of_no_account)
{
    const spread slow = waits(&(variant){.scheduler = BARE("scfq")}, PLOTTED);
    const spread fast = waits(&(variant){.scheduler = BARE("scfq"), .be_rate = 250}, PLOTTED);
    CLOSE(slow.min, fast.min, 0.01);
    CLOSE(slow.mean, fast.mean, 0.01);
    CLOSE(slow.max, fast.max, 0.01);
    CLOSE(slow.min, 23.32, 0.02);
    CLOSE(slow.max, 27.98, 0.02);
}
