/* SPDX-License-Identifier: MIT */
/* What every scheduler does, whatever its discipline, and the weights that some of them share. */
#include "rig.h"

static const qs_share both[] = {
    {.bandwidth = {400, 0, 1}, .quantum = {300, 0, 1}},    {.bandwidth = {1600, 0, 1}, .quantum = {1, 1, 3}},
    {.bandwidth = {0, 2, 3}, .quantum = {65535, 0, 1}},    {.bandwidth = {7, 0, 1}, .quantum = {1500, 0, 1}},
    {.bandwidth = {1000000, 0, 1}, .quantum = {40, 0, 1}}, {.bandwidth = {1, 1, 2}, .quantum = {700, 0, 1}},
    {.bandwidth = {123456, 0, 1}, .quantum = {800, 0, 1}},
};

/* Asks the same question twice and looks at the state in between. */
static void check_that_asking_changes_nothing(const rig *r)
{
    unsigned char before[512];
    const size_t size = r->sched.ops->state_size;
    REQUIRE(size <= sizeof before);
    memcpy(before, r->sched.state, size);
    const size_t c = qs_sched_select(&r->sched);
    CHECK(memcmp(before, r->sched.state, size) == 0);
    EQUAL(qs_sched_select(&r->sched), c);
}

static void run_at_random(const qs_sched_ops *ops, uint64_t seed)
{
    rig r;
    uint64_t d = seed, taken[COUNT(both)] = {0}, last[COUNT(both)] = {0}, here[COUNT(both)] = {0};
    const size_t classes = dice_within(&d, 1, COUNT(both));
    qs_time now = 0;
    rig_init(&r, &(qs_spec){ops->name, NULL, 0}, both, classes, QS_INT(2000000));
    for (int step = 0; step < 500 || r.sched.waiting; step++) {
        const size_t c = dice_below(&d, classes);
        const uint64_t what = dice_below(&d, 16);
        if (step < 500 && what < 6) {
            rig_offer(&r, c, (uint32_t)dice_within(&d, 1, 1500), now);
            here[c]++;
        } else if (what < 8 && here[c] && r.queues[c].packets) {
            rig_drop(&r, c);
            here[c]--;
        } else if (what < 10) {
            now += (qs_time)dice_below(&d, QS_SECOND / 100);
            memset(here, 0, sizeof here);
        } else if (r.sched.waiting) {
            check_that_asking_changes_nothing(&r);
            qs_packet *p = rig_take(&r);
            CHECK(p->seq > last[p->klass]); /* in order within its class */
            last[p->klass] = p->seq;
            taken[p->klass]++;
            free(p);
        }
        uint64_t waiting = 0;
        for (size_t k = 0; k < classes; k++)
            waiting += r.queues[k].packets;
        EQUAL(r.sched.waiting, waiting);
        CHECK((qs_sched_select(&r.sched) == QS_NO_CLASS) == !waiting);
    }
    rig_fini(&r);
}

LAW(every_scheduler_names_a_class_that_waits_keeps_order_within_it_and_changes_nothing_when_asked)
{
    for (size_t i = 0; qs_scheds[i]; i++)
        for (uint64_t seed = 0; seed < 20 && !checks.failures; seed++)
            run_at_random(qs_scheds[i], seed);
}

LAW(every_scheduler_serves_a_single_class_in_order)
{
    for (size_t i = 0; qs_scheds[i]; i++) {
        rig r;
        rig_init(&r, &(qs_spec){qs_scheds[i]->name, NULL, 0}, both, 1, QS_INT(2000000));
        rig_offer(&r, 0, 1500, 0);
        rig_offer(&r, 0, 1, 0);
        rig_offer(&r, 0, 65535, 1);
        TEXT(rig_drain(&r), "1.1 1.2 1.3");
        rig_fini(&r);
    }
}

LAW(a_scheduler_is_found_by_its_name)
{
    static const char *const names[] = {"fifo", "pq", "wfq", "scfq", "drr"};
    size_t count = 0;
    while (qs_scheds[count])
        count++;
    EQUAL(count, COUNT(names));
    for (size_t i = 0; i < COUNT(names); i++) {
        rig r;
        rig_init(&r, &(qs_spec){names[i], NULL, 0}, both, 2, QS_INT(8));
        TEXT(r.sched.ops->name, names[i]);
        CHECK(*r.sched.ops->summary);
        rig_fini(&r);
    }
}

LAW(a_scheduler_that_is_not_there_is_refused_by_name)
{
    rig r;
    STATUS(rig_try(&r, BARE("lottery"), both, 2, QS_INT(8)), QS_EINVAL);
    CONTAINS(r.why.text, "lottery");
    CONTAINS(r.why.text, "port \"rig\"");
}

LAW(a_refusal_needs_no_place_for_its_sentence)
{
    qs_sched s;
    const qs_sched_setup setup = {.shares = both, .classes = 2, .rate = QS_INT(8), .owner = "port \"rig\""};
    STATUS(qs_sched_init(&s, BARE("lottery"), &setup), QS_EINVAL);
}

/* ---- Weights --------------------------------------------------------------------------------------------------- */

static qs_status weigh(const qs_share *shares, size_t classes, uint64_t *weights, qs_error *why)
{
    const qs_sched_setup setup = {
        .shares = shares, .classes = classes, .rate = QS_INT(8), .owner = "port \"rig\"", .why = why};
    return qs_shares_weights(&setup, weights);
}

LAW(weights_are_bandwidths_without_their_common_factor)
{
    const qs_share shares[] = {rig_bandwidth(400000), rig_bandwidth(1600000), rig_bandwidth(600000)};
    uint64_t weights[3];
    STATUS(weigh(shares, 3, weights, NULL), QS_OK);
    EQUAL(weights[0], 2);
    EQUAL(weights[1], 8);
    EQUAL(weights[2], 3);
}

LAW(weights_of_fractions_are_whole)
{
    const qs_share shares[] = {{.bandwidth = {0, 1, 3}}, {.bandwidth = {2, 1, 4}}, {.bandwidth = {1, 0, 1}}};
    uint64_t weights[3];
    STATUS(weigh(shares, 3, weights, NULL), QS_OK);
    EQUAL(weights[0], 4);
    EQUAL(weights[1], 27);
    EQUAL(weights[2], 12);
}

LAW(weights_that_would_need_too_many_digits_are_refused)
{
    const uint64_t large = UINT64_C(1) << 61;
    const qs_share primes[] = {{.bandwidth = {0, 1, large - 1}}, {.bandwidth = {0, 1, large - 31}}};
    uint64_t weights[2] = {0, 0};
    qs_error why = {""};
    STATUS(weigh(primes, 2, weights, &why), QS_ERANGE);
    CONTAINS(why.text, "port \"rig\"");
    const qs_share wide[] = {rig_bandwidth(UINT64_C(1) << 62), {.bandwidth = {0, 1, 3}}};
    STATUS(weigh(wide, 2, weights, &why), QS_ERANGE);
}

LAW(weights_are_refused_where_a_bandwidth_is_missing_or_zero)
{
    const qs_share missing[] = {rig_bandwidth(1), rig_quantum(1)};
    const qs_share zero[] = {rig_bandwidth(1), rig_bandwidth(0)};
    uint64_t weights[2];
    STATUS(weigh(missing, 2, weights, NULL), QS_EINVAL);
    STATUS(weigh(zero, 2, weights, NULL), QS_EINVAL);
}
