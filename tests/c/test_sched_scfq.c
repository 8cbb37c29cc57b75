/* SPDX-License-Identifier: MIT */
/* SCFQ: textbook schedules, tags and ties, and an exact model beside it. */
#include "tags.h"

LAW(scfq_serves_bennett_and_zhangs_example_as_they_say)
{
    const char *order = "1.1@1 1.2@2 1.3@3 1.4@4 1.5@5 1.6@6 1.7@7 1.8@8 1.9@9 1.10@10 2.1@11 3.1@12 4.1@13 5.1@14 "
                        "6.1@15 7.1@16 8.1@17 9.1@18 10.1@19 11.1@20 1.11@21";
    rig r;
    TEXT(serve_bennett_zhang(&r, BARE("scfq"), 0), order);
    rig_fini(&r);
    TEXT(serve_bennett_zhang(&r, BARE("scfq"), 1), order);
    rig_fini(&r);
}

LAW(scfq_serves_parekh_and_gallagers_example_as_pgps_does)
{
    const qs_share equal[] = {rig_bandwidth(1), rig_bandwidth(1)};
    rig r;
    rig_init(&r, BARE("scfq"), equal, 2, QS_INT(8));
    TEXT(rig_serve(&r, parekh_gallager, COUNT(parekh_gallager)), "2.1@3 1.1@4 1.2@5 1.3@7 2.2@9 2.3@11 1.4@13");
    rig_fini(&r);
}

LAW(scfq_makes_a_late_arrival_wait_for_a_packet_of_every_other_session)
{
    rig r;
    CONTAINS(serve_late_arrival(&r, BARE("scfq")), " 11.1@10 1.1@11 ");
    rig_fini(&r);
}

/* k = ceil(rho e / b) - 1 packets of b bytes pass one of e bytes that finds its queue empty; rho is 4. */
static size_t overtakers(uint32_t e, uint32_t b)
{
    const qs_share shares[] = {rig_bandwidth(400), rig_bandwidth(1600)};
    rig r;
    rig_init(&r, BARE("scfq"), shares, 2, QS_INT(2000000));
    for (int i = 0; i < 4100; i++)
        rig_offer(&r, 1, b, 0);
    rig_order(&r, 5);
    rig_offer(&r, 0, e, 1);
    size_t passed = 0;
    qs_packet *p = rig_take(&r);
    for (; p->klass != 0; p = rig_take(&r), passed++)
        free(p);
    free(p);
    rig_fini(&r);
    return passed;
}

LAW(scfq_lets_as_many_packets_pass_as_the_k_law_says)
{
    EQUAL(overtakers(1000, 1000), 3); /* the tie goes to the class declared first */
    EQUAL(overtakers(1006, 1028), 3);
    EQUAL(overtakers(1023, 1000), 4);
    EQUAL(overtakers(1000, 4000), 0);
    EQUAL(overtakers(1000, 1), 3999);
}

LAW(scfq_gives_a_tie_to_the_class_declared_first)
{
    const qs_share shares[] = {rig_bandwidth(3), rig_bandwidth(1), rig_bandwidth(2)};
    rig r;
    rig_init(&r, BARE("scfq"), shares, 3, QS_INT(8));
    rig_offer(&r, 2, 200, 0);
    rig_offer(&r, 1, 100, 0);
    rig_offer(&r, 0, 300, 0);
    TEXT(rig_drain(&r), "1.1 2.1 3.1");
    rig_fini(&r);
}

/* Tags of 16/5333333 and 24/8000000: the difference, times the smaller weight, is 10^-6 bit exactly. */
LAW(scfq_tells_tags_apart_that_differ_by_a_millionth_of_a_bit)
{
    const qs_share shares[] = {rig_bandwidth(5333333), rig_bandwidth(8000000)};
    rig r;
    rig_init(&r, BARE("scfq"), shares, 2, QS_INT(8));
    rig_offer(&r, 0, 2, 0);
    rig_offer(&r, 1, 3, 0);
    TEXT(rig_drain(&r), "2.1 1.1");
    rig_fini(&r);
}

/* Tags of 8/1600000 and 40/8000001: 0.999999875 millionths of a bit. */
LAW(scfq_calls_tags_equal_that_differ_by_less_than_a_millionth_of_a_bit)
{
    const qs_share shares[] = {rig_bandwidth(1600000), rig_bandwidth(8000001)};
    rig r;
    rig_init(&r, BARE("scfq"), shares, 2, QS_INT(8));
    rig_offer(&r, 0, 1, 0);
    rig_offer(&r, 1, 5, 0);
    TEXT(rig_drain(&r), "1.1 2.1");
    rig_fini(&r);
}

/*
 * Near-equality is not transitive: with weights of 10^7 and more the tags fall from class 1 to class 3 in two steps
 * that are each too small to be seen. The scan compares with the best so far, which stays class 1 until the gap to it
 * is large enough: class 3.
 */
LAW(scfq_compares_with_the_best_so_far_and_not_with_the_neighbour)
{
    const qs_share shares[] = {rig_bandwidth(10000000), rig_bandwidth(10000001), rig_bandwidth(10000002)};
    rig r;
    rig_init(&r, BARE("scfq"), shares, 3, QS_INT(8));
    for (size_t c = 0; c < 3; c++)
        rig_offer(&r, c, 1, 0); /* gaps of 0.8 and 1.6 millionths of a bit */
    TEXT(rig_drain(&r), "3.1 1.1 2.1");
    rig_fini(&r);
}

LAW(scfq_keeps_no_credit_for_an_idle_class)
{
    const qs_share shares[] = {rig_bandwidth(1), rig_bandwidth(1)};
    rig r;
    rig_init(&r, BARE("scfq"), shares, 2, QS_INT(8));
    for (int i = 0; i < 8; i++)
        rig_offer(&r, 1, 100, 0);
    TEXT(rig_order(&r, 4), "2.1 2.2 2.3 2.4");
    for (int i = 0; i < 3; i++)
        rig_offer(&r, 0, 100, 1); /* from the tag of 2.4 on, not from 0 */
    TEXT(rig_drain(&r), "1.1 2.5 1.2 2.6 1.3 2.7 2.8");
    rig_fini(&r);
}

LAW(scfq_gives_back_the_tag_of_a_dropped_packet)
{
    const qs_share shares[] = {rig_bandwidth(1), rig_bandwidth(1)};
    rig r;
    rig_init(&r, BARE("scfq"), shares, 2, QS_INT(8));
    rig_offer(&r, 0, 100, 0);
    rig_offer(&r, 0, 60000, 0);
    rig_offer(&r, 1, 300, 0);
    rig_drop(&r, 0);
    rig_offer(&r, 0, 100, 0); /* 200 where it would have been 60200 */
    TEXT(rig_drain(&r), "1.1 1.3 2.1");
    rig_offer(&r, 1, 60000, 1);
    rig_drop(&r, 1);
    rig_offer(&r, 1, 100, 1);
    rig_offer(&r, 0, 100, 1);
    TEXT(rig_drain(&r), "1.4 2.3");
    rig_fini(&r);
}

/* The same two packets are 1006 : 1028 as datagrams and 22 : 22 cells on the wire. */
LAW(scfq_counts_datagrams_unless_told_to_count_the_wire)
{
    const qs_share shares[] = {rig_bandwidth(1), rig_bandwidth(1)};
    rig r;
    rig_init(&r, BARE("scfq"), shares, 2, QS_INT(8));
    rig_offer_bits(&r, 0, 1028, 9328, 0);
    rig_offer_bits(&r, 1, 1006, 9328, 0);
    TEXT(rig_drain(&r), "2.1 1.1");
    rig_fini(&r);
    rig_init(&r, SPEC("scfq", WORD("lengths", "wire")), shares, 2, QS_INT(8));
    rig_offer_bits(&r, 0, 1028, 9328, 0);
    rig_offer_bits(&r, 1, 1006, 9328, 0);
    TEXT(rig_drain(&r), "1.1 2.1");
    rig_fini(&r);
    STATUS(rig_try(&r, SPEC("scfq", WORD("lengths", "cells")), shares, 2, QS_INT(8)), QS_EINVAL);
    CONTAINS(r.why.text, "lengths");
    CONTAINS(r.why.text, "cells");
}

LAW(scfq_needs_a_bandwidth_of_every_class)
{
    const qs_share shares[] = {rig_bandwidth(1), rig_quantum(1500)};
    rig r;
    STATUS(rig_try(&r, BARE("scfq"), shares, 2, QS_INT(8)), QS_EINVAL);
    CONTAINS(r.why.text, "bandwidth");
}

/*
 * 1 kbit/s beside twice 1 Gbit/s: three packets of 100 bytes and one of 300 end with the same tag, period after period,
 * and the class declared first goes first, however often the tags have been added up.
 */
LAW(scfq_refuses_bandwidths_too_far_apart_for_its_tags)
{
    const qs_share apart[] = {rig_bandwidth(1), rig_bandwidth(2000000000)};
    const qs_share near[] = {rig_bandwidth(1), rig_bandwidth(1000000000)};
    qs_sched s;
    qs_error why = {""};
    qs_sched_setup setup = {.shares = apart, .classes = 2, .rate = QS_INT(8), .owner = "port \"x\"", .why = &why};
    STATUS(qs_sched_init(&s, BARE("scfq"), &setup), QS_ERANGE);
    CONTAINS(why.text, "1000000000");
    setup.shares = near;
    if (STATUS(qs_sched_init(&s, BARE("scfq"), &setup), QS_OK))
        qs_sched_fini(&s);
}

LAW(scfq_keeps_ties_over_millions_of_packets_and_six_orders_of_magnitude)
{
    const qs_share shares[] = {rig_bandwidth(999999999), rig_bandwidth(999999999), rig_bandwidth(1000)};
    static const size_t order[] = {1, 1, 0, 1};
    rig r;
    rig_init(&r, BARE("scfq"), shares, 3, QS_INT(1000000000));
    rig_offer(&r, 2, 65535, 0);
    for (size_t i = 0; i < 4; i++) {
        rig_offer(&r, 0, 300, 0);
        rig_offer(&r, 1, 100, 0);
    }
    for (size_t i = 0; i < 5000000 && !checks.failures; i++) {
        qs_packet *p = rig_take(&r);
        if (!EQUAL(p->klass, order[i % 4]))
            printf("    of packet %zu\n", i);
        rig_offer(&r, p->klass, p->size, 0);
        free(p);
    }
    rig_fini(&r);
}

/* ---- The model ----------------------------------------------------------------------------------------------- */

static void run_beside_model(uint64_t seed, uint64_t largest_weight, uint64_t steps)
{
    uint64_t d = seed;
    tags_model m = {.classes = tags_classes(&d)};
    qs_share shares[RIG_CLASSES];
    for (size_t c = 0; c < m.classes; c++) {
        m.weights[c] = tags_weight(&d, largest_weight);
        shares[c] = rig_bandwidth(m.weights[c]);
    }
    const bool wire = dice_below(&d, 2);
    const uint64_t sizes = (const uint64_t[]){1, 4, 1500, 65535}[dice_below(&d, 4)];
    rig r;
    rig_init(&r, SPEC("scfq", WORD("lengths", wire ? "wire" : "ip")), shares, m.classes, QS_INT(8));
    for (uint64_t step = 0; step < steps || r.sched.waiting; step++) {
        const size_t c = dice_below(&d, m.classes);
        const uint64_t what = dice_below(&d, 16);
        if (step < steps && what < 8 && r.sched.waiting < 1000) {
            const uint32_t size = (uint32_t)dice_within(&d, 1, sizes);
            rig_offer_bits(&r, c, size, 9 * size, 0);
            tags_offer(&m, c, (wire ? 9 : 8) * size);
        } else if (what < 9 && r.queues[c].packets) {
            tags_drop(&m, &r, c);
        } else if (r.sched.waiting) {
            const exact tag = tags_take(&m, &r);
            m.virtual_time = exact_order(tag, m.virtual_time) > 0 ? tag : m.virtual_time;
        }
    }
    rig_fini(&r);
    tags_fini(&m);
}

LAW(scfq_agrees_with_exact_tags)
{
    for (uint64_t seed = 0; seed < 300 && !checks.failures; seed++)
        run_beside_model(seed, (const uint64_t[]){6, 2000, 2000000, 0}[seed % 4], 600);
}

LAW(scfq_agrees_with_exact_tags_over_a_long_run)
{
    run_beside_model(3, 97, 100000); /* many classes */
    run_beside_model(2, 12, 100000); /* few */
}
