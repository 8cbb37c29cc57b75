/* SPDX-License-Identifier: MIT */
/* DRR: textbook rounds, the rules for joining and leaving the round, and a plain model beside it. */
#include "rig.h"

#include <time.h>

static const qs_share quanta_500[] = {
    {.quantum = {500, 0, 1}}, {.quantum = {500, 0, 1}}, {.quantum = {500, 0, 1}}, {.quantum = {500, 0, 1}}};

static void offer_all(rig *r, size_t c, const uint32_t *sizes, size_t count)
{
    for (size_t i = 0; i < count; i++)
        rig_offer(r, c, sizes[i], 0);
}

LAW(drr_serves_three_teaching_queues_as_the_textbook_says)
{
    rig r;
    rig_init(&r, BARE("drr"), quanta_500, 3, QS_INT(8));
    offer_all(&r, 0, (const uint32_t[]){200, 400}, 2);
    offer_all(&r, 1, (const uint32_t[]){100, 200, 300}, 3);
    offer_all(&r, 2, (const uint32_t[]){200, 200, 200}, 3);
    TEXT(rig_drain(&r), "1.1 2.1 2.2 3.1 3.2 1.2 2.3 3.3");
    rig_fini(&r);
}

/* Shreedhar and Varghese 1996, figures 2 and 3; bytes sent: 200 500 100 180 | 750 20 500 600 200 700 50. */
LAW(drr_serves_the_queues_of_its_paper_as_the_paper_says)
{
    rig r;
    rig_init(&r, BARE("drr"), quanta_500, 4, QS_INT(8));
    offer_all(&r, 0, (const uint32_t[]){200, 750, 20}, 3);
    offer_all(&r, 1, (const uint32_t[]){500, 500}, 2);
    offer_all(&r, 2, (const uint32_t[]){100, 600, 200}, 3);
    offer_all(&r, 3, (const uint32_t[]){180, 700, 50}, 3);
    TEXT(rig_drain(&r), "1.1 2.1 3.1 4.1 1.2 1.3 2.2 3.2 3.3 4.2 4.3");
    rig_fini(&r);
}

LAW(drr_adds_the_quantum_once_per_visit)
{
    rig r;
    rig_init(&r, BARE("drr"), quanta_500, 2, QS_INT(8));
    offer_all(&r, 0, (const uint32_t[]){300, 300, 300}, 3);
    offer_all(&r, 1, (const uint32_t[]){500, 500}, 2);
    for (int i = 0; i < 100; i++) /* as often as a full ring makes its port ask */
        EQUAL(qs_sched_select(&r.sched), 0);
    TEXT(rig_drain(&r), "1.1 2.1 1.2 1.3 2.2"); /* class 1 has 500, then 200 + 500 */
    rig_fini(&r);
}

LAW(drr_visits_classes_in_the_order_in_which_they_joined)
{
    rig r;
    rig_init(&r, BARE("drr"), quanta_500, 4, QS_INT(8));
    rig_offer(&r, 3, 500, 0);
    rig_offer(&r, 0, 500, 0);
    rig_offer(&r, 2, 500, 0);
    rig_offer(&r, 3, 500, 0);
    rig_offer(&r, 1, 500, 0);
    TEXT(rig_drain(&r), "4.1 1.1 3.1 2.1 4.2");
    rig_fini(&r);
}

LAW(drr_takes_the_deficit_from_a_class_that_leaves_the_round)
{
    rig r;
    rig_init(&r, BARE("drr"), quanta_500, 2, QS_INT(8));
    offer_all(&r, 0, (const uint32_t[]){100}, 1);
    offer_all(&r, 1, (const uint32_t[]){500, 500}, 2);
    TEXT(rig_order(&r, 1), "1.1");
    rig_offer(&r, 0, 900, 1); /* behind class 2, with nothing left of the 400 */
    TEXT(rig_drain(&r), "2.1 2.2 1.2");
    rig_fini(&r);
}

/*
 * Class 1 has 300 of 500 left and a head of 400: it keeps the front until the next taking. Class 3 joins before
 * that, so it stands before class 1 when class 2 is taken.
 */
LAW(drr_puts_a_class_that_no_longer_fits_behind_all_that_joined_before_the_next_taking)
{
    rig r;
    rig_init(&r, BARE("drr"), quanta_500, 3, QS_INT(8));
    offer_all(&r, 0, (const uint32_t[]){200, 400}, 2);
    offer_all(&r, 1, (const uint32_t[]){500}, 1);
    TEXT(rig_order(&r, 1), "1.1");
    EQUAL(qs_sched_select(&r.sched), 1);
    rig_offer(&r, 2, 500, 1);
    TEXT(rig_order(&r, 2), "2.1 3.1");
    TEXT(rig_drain(&r), "1.2");
    rig_fini(&r);
}

/* The same without a packet in between: after 2.1 class 1 has gone behind, and class 3 joins behind it. */
LAW(drr_lets_a_class_that_joins_after_the_next_taking_stand_behind_one_that_no_longer_fitted)
{
    rig r;
    rig_init(&r, BARE("drr"), quanta_500, 3, QS_INT(8));
    offer_all(&r, 0, (const uint32_t[]){200, 400}, 2);
    offer_all(&r, 1, (const uint32_t[]){500}, 1);
    TEXT(rig_order(&r, 2), "1.1 2.1");
    rig_offer(&r, 2, 500, 1);
    TEXT(rig_drain(&r), "1.2 3.1");
    rig_fini(&r);
}

LAW(drr_lets_a_class_whose_only_packet_is_dropped_leave_the_round)
{
    rig r;
    rig_init(&r, BARE("drr"), quanta_500, 3, QS_INT(8));
    rig_offer(&r, 0, 500, 0);
    rig_offer(&r, 1, 500, 0);
    rig_offer(&r, 2, 500, 0);
    rig_drop(&r, 0);
    rig_offer(&r, 0, 500, 0);
    TEXT(rig_drain(&r), "2.1 3.1 1.2");
    rig_fini(&r);
}

LAW(drr_keeps_the_place_of_a_class_whose_newest_packet_is_dropped)
{
    rig r;
    rig_init(&r, BARE("drr"), quanta_500, 2, QS_INT(8));
    offer_all(&r, 0, (const uint32_t[]){500, 400}, 2);
    rig_offer(&r, 1, 500, 0);
    rig_drop(&r, 0);
    rig_offer(&r, 0, 300, 0);
    TEXT(rig_drain(&r), "1.1 2.1 1.3");
    rig_fini(&r);
}

LAW(drr_forgets_the_deficit_of_a_class_emptied_by_a_drop)
{
    rig r;
    rig_init(&r, BARE("drr"), quanta_500, 2, QS_INT(8));
    offer_all(&r, 0, (const uint32_t[]){100, 400}, 2);
    offer_all(&r, 1, (const uint32_t[]){500, 500}, 2);
    TEXT(rig_order(&r, 1), "1.1");
    rig_drop(&r, 0); /* class 1 had 400 left */
    rig_offer(&r, 0, 900, 0);
    TEXT(rig_drain(&r), "2.1 2.2 1.3");
    rig_fini(&r);
}

/* Quanta 400 : 1600 are 1500 : 6000 bytes. */
LAW(drr_makes_quanta_in_proportion_to_bandwidths_the_smallest_1500)
{
    const qs_share shares[] = {rig_bandwidth(400000), rig_bandwidth(1600000)};
    rig r;
    rig_init(&r, BARE("drr"), shares, 2, QS_INT(2000000));
    for (int i = 0; i < 4; i++)
        rig_offer(&r, 0, 1500, 0);
    for (int i = 0; i < 9; i++)
        rig_offer(&r, 1, 1500, 0);
    TEXT(rig_drain(&r), "1.1 2.1 2.2 2.3 2.4 1.2 2.5 2.6 2.7 2.8 1.3 2.9 1.4");
    rig_fini(&r);
}

/* 3 : 7 makes 1500 : 3500 bytes; 3499 fit at the first visit and 1 is left, 3501 would not. */
LAW(drr_keeps_quanta_exact)
{
    const qs_share shares[] = {{.bandwidth = QS_OVER(1, 7)}, {.bandwidth = QS_OVER(1, 3)}};
    rig r;
    rig_init(&r, BARE("drr"), shares, 2, QS_INT(8));
    offer_all(&r, 0, (const uint32_t[]){1501, 1499}, 2);
    offer_all(&r, 1, (const uint32_t[]){3500, 3501, 3499, 1}, 4);
    /* Visits: 1 lacks a byte, 2.1; 1.1 and 1.2 by 3000, then 2 lacks a byte and gets it: 2.2, 2.3 by 7000. */
    TEXT(rig_drain(&r), "2.1 1.1 1.2 2.2 2.3 2.4");
    rig_fini(&r);
}

/* 1000 / 3 bytes thrice are 1000 to the byte, a visit before 500 bytes have made 2000; for 1001 it takes a fourth. */
LAW(drr_takes_fractions_of_a_byte_as_quanta)
{
    const qs_share shares[] = {rig_quantum(500), {.quantum = QS_OVER(1000, 3)}};
    rig r;
    rig_init(&r, BARE("drr"), shares, 2, QS_INT(8));
    rig_offer(&r, 0, 2000, 0);
    rig_offer(&r, 1, 1000, 0);
    TEXT(rig_drain(&r), "2.1 1.1");
    rig_offer(&r, 0, 2000, 0);
    rig_offer(&r, 1, 1001, 0);
    TEXT(rig_drain(&r), "1.2 2.2");
    rig_fini(&r);
}

LAW(drr_needs_a_quantum_or_a_bandwidth_of_every_class)
{
    rig r;
    const qs_share none[] = {rig_quantum(500), {.quantum = {0}}};
    STATUS(rig_try(&r, BARE("drr"), none, 2, QS_INT(8)), QS_EINVAL);
    CHECK(*r.why.text);
    const qs_share mixed[] = {rig_quantum(500), rig_bandwidth(500)};
    STATUS(rig_try(&r, BARE("drr"), mixed, 2, QS_INT(8)), QS_EINVAL);
    CHECK(*r.why.text);
}

LAW(drr_goes_by_quanta_when_every_class_has_both)
{
    const qs_share shares[] = {{.bandwidth = QS_INT(1), .quantum = QS_INT(500)},
                               {.bandwidth = QS_INT(100), .quantum = QS_INT(500)}};
    rig r;
    rig_init(&r, BARE("drr"), shares, 2, QS_INT(8));
    offer_all(&r, 0, (const uint32_t[]){500, 500}, 2);
    offer_all(&r, 1, (const uint32_t[]){500, 500}, 2);
    TEXT(rig_drain(&r), "1.1 2.1 1.2 2.2");
    rig_fini(&r);
}

/* ---- A plain model: it walks the round step by step ---------------------------------------------------------- */

typedef struct model {
    size_t classes;
    uint64_t quantum[RIG_CLASSES], deficit[RIG_CLASSES]; /* in units of 1 / `per` byte */
    uint64_t per;
    size_t round[RIG_CLASSES];
    size_t length;
    bool visited; /* the front has had its quantum */
} model;

static void model_join(model *m, size_t c)
{
    m->round[m->length++] = c;
    m->deficit[c] = 0;
    if (m->length == 1)
        m->visited = false;
}

static void model_leave(model *m, size_t c)
{
    size_t at = 0;
    while (m->round[at] != c)
        at++;
    memmove(&m->round[at], &m->round[at + 1], (m->length - at - 1) * sizeof *m->round);
    m->length--;
    m->deficit[c] = 0;
    if (at == 0)
        m->visited = false;
}

static size_t model_next(model *m, const rig *r)
{
    for (;;) {
        const size_t c = m->round[0];
        if (!m->visited)
            m->deficit[c] += m->quantum[c];
        m->visited = true;
        if (m->deficit[c] >= r->queues[c].head->size * m->per)
            return c;
        memmove(&m->round[0], &m->round[1], (m->length - 1) * sizeof *m->round);
        m->round[m->length - 1] = c;
        m->visited = false;
    }
}

static void model_take(model *m, rig *r)
{
    const size_t c = model_next(m, r);
    EQUAL(qs_sched_select(&r->sched), c);
    qs_packet *p = rig_take(r);
    REQUIRE(p->klass == c);
    m->deficit[c] -= p->size * m->per;
    if (!r->queues[c].packets)
        model_leave(m, c);
    free(p);
}

static void model_offer(model *m, rig *r, size_t c, uint32_t size)
{
    if (!r->queues[c].packets)
        model_join(m, c);
    rig_offer(r, c, size, 0);
}

static void model_drop(model *m, rig *r, size_t c)
{
    rig_drop(r, c);
    if (!r->queues[c].packets)
        model_leave(m, c);
}

static void run_beside_model(uint64_t seed, uint64_t largest_quantum, uint32_t largest_packet)
{
    uint64_t d = seed;
    model m = {.classes = dice_within(&d, 1, 8), .per = dice_within(&d, 1, 7)};
    qs_share shares[RIG_CLASSES];
    for (size_t c = 0; c < m.classes; c++) {
        m.quantum[c] = dice_within(&d, m.per, largest_quantum * m.per);
        shares[c] = (qs_share){.quantum = QS_OVER(m.quantum[c], m.per)};
    }
    rig r;
    rig_init(&r, BARE("drr"), shares, m.classes, QS_INT(8));
    for (int step = 0; step < 300; step++) {
        const size_t c = dice_below(&d, m.classes);
        const uint64_t what = dice_below(&d, 8);
        if (what < 4)
            model_offer(&m, &r, c, (uint32_t)dice_within(&d, 1, largest_packet));
        else if (what < 5 && r.queues[c].packets)
            model_drop(&m, &r, c);
        else if (r.sched.waiting)
            model_take(&m, &r);
    }
    while (r.sched.waiting)
        model_take(&m, &r);
    rig_fini(&r);
}

LAW(drr_agrees_with_a_plain_walk_through_the_round)
{
    for (uint64_t seed = 0; seed < 400 && !checks.failures; seed++)
        run_beside_model(seed, 2000, 1500);
}

LAW(drr_agrees_with_a_plain_walk_when_quanta_are_small)
{
    for (uint64_t seed = 1000; seed < 1200 && !checks.failures; seed++)
        run_beside_model(seed, 20, 1500);
}

/* ---- Speed --------------------------------------------------------------------------------------------------- */

static double seconds_to_take(uint64_t quantum, int packets)
{
    qs_share shares[RIG_CLASSES];
    for (size_t c = 0; c < RIG_CLASSES; c++)
        shares[c] = rig_quantum(quantum);
    rig r;
    rig_init(&r, BARE("drr"), shares, RIG_CLASSES, QS_INT(8));
    const clock_t begin = clock();
    for (int i = 0; i < packets; i++) {
        rig_offer(&r, (size_t)i % RIG_CLASSES, 65535 - (uint32_t)i % 97, 0);
        if (i >= 4 * RIG_CLASSES)
            free(rig_take(&r));
    }
    const clock_t end = clock();
    rig_fini(&r);
    return (double)(end - begin) / CLOCKS_PER_SEC;
}

/* A walk would make up to 65535 rounds of 64 visits a packet. */
LAW(drr_is_no_slower_by_orders_of_magnitude_when_a_quantum_is_a_byte)
{
    const double large = seconds_to_take(65535, 20000);
    const double small = seconds_to_take(1, 20000);
    CHECK(small < 100 * large + 0.5);
}
