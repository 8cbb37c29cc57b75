/* SPDX-License-Identifier: MIT */
/* WFQ, which is packet-by-packet GPS: textbook schedules, the fluid system's clock, and an exact model beside it. */
#include "tags.h"

LAW(wfq_serves_bennett_and_zhangs_example_as_they_say)
{
    const char *order = "1.1@1 1.2@2 1.3@3 1.4@4 1.5@5 1.6@6 1.7@7 1.8@8 1.9@9 1.10@10 2.1@11 3.1@12 4.1@13 5.1@14 "
                        "6.1@15 7.1@16 8.1@17 9.1@18 10.1@19 11.1@20 1.11@21";
    rig r;
    TEXT(serve_bennett_zhang(&r, BARE("wfq"), 0), order);
    rig_fini(&r);
    TEXT(serve_bennett_zhang(&r, BARE("wfq"), 1), order);
    rig_fini(&r);
}

LAW(wfq_serves_parekh_and_gallagers_example_as_they_say)
{
    const qs_share equal[] = {rig_bandwidth(1), rig_bandwidth(1)};
    const qs_share twice[] = {rig_bandwidth(1), rig_bandwidth(2)};
    rig r;
    rig_init(&r, BARE("wfq"), equal, 2, QS_INT(8));
    TEXT(rig_serve(&r, parekh_gallager, COUNT(parekh_gallager)), "2.1@3 1.1@4 1.2@5 1.3@7 2.2@9 2.3@11 1.4@13");
    rig_fini(&r);
    rig_init(&r, BARE("wfq"), twice, 2, QS_INT(8));
    TEXT(rig_serve(&r, parekh_gallager, COUNT(parekh_gallager)), "2.1@3 1.1@4 1.2@5 2.2@7 1.3@9 2.3@11 1.4@13");
    rig_fini(&r);
}

LAW(wfq_serves_a_late_arrival_of_a_large_weight_at_once)
{
    rig r;
    CONTAINS(serve_late_arrival(&r, BARE("wfq")), "2.1@1 1.1@2 ");
    rig_fini(&r);
}

LAW(wfq_gives_a_tie_to_the_class_declared_first)
{
    const qs_share shares[] = {rig_bandwidth(3), rig_bandwidth(1), rig_bandwidth(2)};
    rig r;
    rig_init(&r, BARE("wfq"), shares, 3, QS_INT(8));
    rig_offer(&r, 2, 200, 0);
    rig_offer(&r, 1, 100, 0);
    rig_offer(&r, 0, 300, 0);
    TEXT(rig_drain(&r), "1.1 2.1 3.1");
    rig_fini(&r);
}

/* One that is smaller by exactly a millionth of a bit is smaller: see test_sched_scfq.c for the numbers. */
LAW(wfq_tells_tags_apart_that_differ_by_a_millionth_of_a_bit)
{
    const qs_share apart[] = {rig_bandwidth(5333333), rig_bandwidth(8000000)};
    const qs_share equal[] = {rig_bandwidth(1600000), rig_bandwidth(8000001)};
    rig r;
    rig_init(&r, BARE("wfq"), apart, 2, QS_INT(8));
    rig_offer(&r, 0, 2, 0);
    rig_offer(&r, 1, 3, 0);
    TEXT(rig_drain(&r), "2.1 1.1");
    rig_fini(&r);
    rig_init(&r, BARE("wfq"), equal, 2, QS_INT(8));
    rig_offer(&r, 0, 1, 0);
    rig_offer(&r, 1, 5, 0);
    TEXT(rig_drain(&r), "1.1 2.1");
    rig_fini(&r);
}

LAW(wfq_counts_bits_on_the_wire)
{
    const qs_share shares[] = {rig_bandwidth(1), rig_bandwidth(1)};
    rig r;
    rig_init(&r, BARE("wfq"), shares, 2, QS_INT(8));
    rig_offer_bits(&r, 0, 1000, 9328, 0);
    rig_offer_bits(&r, 1, 1006, 8904, 0);
    TEXT(rig_drain(&r), "2.1 1.1");
    rig_fini(&r);
}

/* The fluid system serves on while the packets stand still: class 1 is empty in it long before it is served. */
LAW(wfq_lets_the_fluid_system_run_on_whatever_is_taken)
{
    const qs_share shares[] = {rig_bandwidth(1), rig_bandwidth(1)};
    rig r;
    rig_init(&r, BARE("wfq"), shares, 2, QS_INT(8));
    rig_offer(&r, 0, 1, 0);                   /* tag 8 */
    rig_offer(&r, 1, 10, 0);                  /* tag 80; the fluid is done with class 1 at 2 s, with all at 11 s */
    rig_offer(&r, 0, 1, 4 * QS_SECOND);       /* virtual time 8 + 16: tag 32 */
    rig_offer(&r, 1, 1, 5 * QS_SECOND);       /* tag 88 */
    rig_offer(&r, 0, 8, 100 * QS_SECOND);     /* idle since 13 s, virtual time 88: tag 152 */
    rig_offer(&r, 1, 7, 100 * QS_SECOND);     /* tag 144 */
    TEXT(rig_drain(&r), "1.1 1.2 2.1 2.2 2.3 1.3");
    rig_fini(&r);
}

LAW(wfq_withdraws_a_dropped_packet_from_the_fluid_system)
{
    const qs_share shares[] = {rig_bandwidth(1), rig_bandwidth(1)};
    rig r;
    rig_init(&r, BARE("wfq"), shares, 2, QS_INT(8));
    rig_offer(&r, 0, 60000, 0);
    rig_offer(&r, 1, 10, 0); /* tag 80 */
    rig_drop(&r, 0);         /* class 2 is alone now: at 5 s virtual time is 40, not 20 */
    rig_offer(&r, 0, 3, 5 * QS_SECOND); /* tag 64 */
    TEXT(rig_order(&r, 1), "1.2");
    rig_offer(&r, 0, 60000, 5 * QS_SECOND);
    rig_drop(&r, 0);
    rig_offer(&r, 0, 3, 5 * QS_SECOND); /* tag 88 */
    TEXT(rig_drain(&r), "2.1 1.4");
    rig_fini(&r);
}

LAW(wfq_can_withdraw_the_only_packet_it_has)
{
    const qs_share shares[] = {rig_bandwidth(1), rig_bandwidth(1)};
    rig r;
    rig_init(&r, BARE("wfq"), shares, 2, QS_INT(8));
    rig_offer(&r, 0, 60000, 0);
    rig_drop(&r, 0);
    EQUAL(qs_sched_select(&r.sched), QS_NO_CLASS);
    rig_offer(&r, 0, 2, 1);
    rig_offer(&r, 1, 1, 1);
    TEXT(rig_drain(&r), "2.1 1.2");
    rig_fini(&r);
}

LAW(wfq_needs_a_bandwidth_of_every_class)
{
    const qs_share shares[] = {rig_bandwidth(1), rig_quantum(1500)};
    rig r;
    STATUS(rig_try(&r, BARE("wfq"), shares, 2, QS_INT(8)), QS_EINVAL);
    CONTAINS(r.why.text, "bandwidth");
}

/* ---- The model: the fluid system by its definition ------------------------------------------------------------- */

typedef struct fluid {
    tags_model m;
    uint64_t rate, per; /* bit/s: rate / per */
    qs_time now;
} fluid;

/* The sum of the weights of the classes that the fluid system serves, and the tag at which the first is done. */
static uint64_t fluid_busy(const fluid *f, exact *done)
{
    uint64_t sum = 0;
    for (size_t c = 0; c < f->m.classes; c++) {
        const exact tag = tags_latest(&f->m, c);
        if (exact_order(tag, f->m.virtual_time) <= 0)
            continue;
        if (!sum || exact_order(tag, *done) < 0)
            *done = tag;
        sum += f->m.weights[c];
    }
    return sum;
}

static void fluid_advance(fluid *f, qs_time now)
{
    exact left = exact_of((uint64_t)(now - f->now)), done;
    f->now = now;
    for (uint64_t sum; (sum = fluid_busy(f, &done)) > 0;) {
        const exact gain = exact_over(exact_over(exact_over(exact_times(left, f->rate), f->per), QS_SECOND), sum);
        const exact need = exact_difference(done, f->m.virtual_time);
        if (exact_order(gain, need) < 0) {
            f->m.virtual_time = exact_sum(f->m.virtual_time, gain);
            return;
        }
        const exact took = exact_over(exact_times(exact_times(exact_times(need, sum), QS_SECOND), f->per), f->rate);
        left = exact_order(took, left) < 0 ? exact_difference(left, took) : exact_of(0);
        f->m.virtual_time = done;
    }
}

typedef struct load {
    uint64_t largest_weight;
    uint64_t largest_size;
    uint64_t step;   /* times are multiples of so many picoseconds */
    uint64_t gap;    /* steps from one instant to the next, at most */
    uint64_t steps;
} load;

static void run_beside_model(uint64_t seed, load l)
{
    uint64_t d = seed;
    fluid f = {.rate = dice_within(&d, 1, 20) * 100000000};
    f.rate += dice_below(&d, 2);
    f.per = dice_within(&d, 1, 3);
    qs_share shares[RIG_CLASSES];
    f.m.classes = tags_classes(&d);
    for (size_t c = 0; c < f.m.classes; c++) {
        f.m.weights[c] = tags_weight(&d, l.largest_weight);
        shares[c] = rig_bandwidth(f.m.weights[c]);
    }
    rig r;
    rig_init(&r, BARE("wfq"), shares, f.m.classes, QS_OVER(f.rate, f.per));
    size_t came[RIG_CLASSES] = {0}; /* of the queue's packets, those that came in this instant: they may be dropped */
    for (uint64_t step = 0; step < l.steps || r.sched.waiting; step++) {
        const size_t c = dice_below(&d, f.m.classes);
        const uint64_t what = dice_below(&d, 20);
        if (what < 3) {
            fluid_advance(&f, f.now + (qs_time)(dice_within(&d, 1, l.gap) * l.step));
            memset(came, 0, sizeof came);
        } else if (step < l.steps && what < 11 && r.sched.waiting < 1000) {
            const uint32_t size = (uint32_t)dice_within(&d, 1, l.largest_size);
            rig_offer(&r, c, size, f.now);
            tags_offer(&f.m, c, 8 * size);
            came[c]++;
        } else if (what < 13 && r.queues[c].packets && came[c]) {
            tags_drop(&f.m, &r, c);
            came[c]--;
        } else if (r.sched.waiting) {
            tags_take(&f.m, &r);
        }
        if (checks.failures)
            break;
    }
    rig_fini(&r);
    tags_fini(&f.m);
}

LAW(wfq_agrees_with_an_exact_fluid_system)
{
    for (uint64_t seed = 0; seed < 300 && !checks.failures; seed++)
        run_beside_model(seed, (load){seed % 2 ? 2000000 : 2000, 1500, 1, 20000000, 400});
}

/* Small weights and times that the rate divides make tags that are equal, or differ by little, most of the time. */
LAW(wfq_agrees_with_an_exact_fluid_system_when_tags_tie)
{
    for (uint64_t seed = 1000; seed < 1300 && !checks.failures; seed++)
        run_beside_model(seed, (load){seed % 3 ? 4 : 0, 4, 10000, 10, 400});
}

LAW(wfq_agrees_with_an_exact_fluid_system_over_a_long_run)
{
    run_beside_model(1, (load){97, 1500, 1000000, 100, 100000});
    run_beside_model(10, (load){6, 4, 10000, 10, 100000});
}
