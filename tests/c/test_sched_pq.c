/* SPDX-License-Identifier: MIT */
/* PQ: strict priority in order of declaration. */
#include "rig.h"

static const qs_share nothing[RIG_CLASSES];

LAW(pq_serves_the_class_declared_first)
{
    rig r;
    rig_init(&r, BARE("pq"), nothing, 3, QS_INT(8));
    rig_offer(&r, 2, 1, 0);
    rig_offer(&r, 1, 1, 0);
    rig_offer(&r, 0, 1500, 0);
    rig_offer(&r, 0, 1500, 0);
    TEXT(rig_drain(&r), "1.1 1.2 2.1 3.1");
    rig_fini(&r);
}

LAW(pq_lets_a_late_packet_of_a_higher_class_go_before_all_that_wait)
{
    rig r;
    rig_init(&r, BARE("pq"), nothing, 2, QS_INT(8));
    rig_offer(&r, 1, 100, 0);
    rig_offer(&r, 1, 100, 0);
    rig_offer(&r, 1, 100, 0);
    TEXT(rig_order(&r, 1), "2.1");
    rig_offer(&r, 0, 100, 1);
    TEXT(rig_drain(&r), "1.1 2.2 2.3");
    rig_fini(&r);
}

LAW(pq_forgets_a_class_whose_only_packet_is_dropped)
{
    rig r;
    rig_init(&r, BARE("pq"), nothing, 3, QS_INT(8));
    rig_offer(&r, 0, 100, 0);
    rig_offer(&r, 2, 100, 0);
    rig_drop(&r, 0);
    TEXT(rig_order(&r, 1), "3.1");
    EQUAL(qs_sched_select(&r.sched), QS_NO_CLASS);
    rig_fini(&r);
}

LAW(pq_keeps_a_class_whose_newest_packet_is_dropped)
{
    rig r;
    rig_init(&r, BARE("pq"), nothing, 2, QS_INT(8));
    rig_offer(&r, 0, 100, 0);
    rig_offer(&r, 0, 100, 0);
    rig_offer(&r, 1, 100, 0);
    rig_drop(&r, 0);
    TEXT(rig_drain(&r), "1.1 2.1");
    rig_fini(&r);
}

/* More classes than a machine word has bits: what is next must not depend on where the word ends. */
LAW(pq_finds_the_first_of_very_many_classes)
{
    enum { MANY = QS_CLASSES_MAX };
    static const qs_share many[MANY];
    qs_error why;
    qs_sched sched;
    const qs_sched_setup setup = {
        .shares = many, .classes = MANY, .rate = QS_INT(8), .owner = "port \"many\"", .why = &why};
    STATUS(qs_sched_init(&sched, BARE("pq"), &setup), QS_OK);
    static qs_packet *p[MANY];
    for (size_t c = MANY; c-- > 0;) {
        p[c] = packet_new(0);
        qs_sched_enqueue(&sched, c, p[c], 0);
        EQUAL(qs_sched_select(&sched), c);
    }
    for (size_t c = 0; c < MANY; c++) {
        EQUAL(qs_sched_select(&sched), c);
        if (c % 3)
            qs_sched_dequeue(&sched, c, p[c], NULL);
        else
            qs_sched_retract(&sched, c, p[c], NULL);
        free(p[c]);
    }
    EQUAL(qs_sched_select(&sched), QS_NO_CLASS);
    qs_sched_fini(&sched);
}
