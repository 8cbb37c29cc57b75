/* SPDX-License-Identifier: MIT */
/* FIFO: order of arrival over all classes. */
#include "rig.h"

static const qs_share nothing[4];

LAW(fifo_serves_in_order_of_arrival_over_all_classes)
{
    rig r;
    rig_init(&r, BARE("fifo"), nothing, 3, QS_INT(8));
    rig_offer(&r, 2, 100, 0);
    rig_offer(&r, 0, 1500, 0);
    rig_offer(&r, 2, 40, 0);
    rig_offer(&r, 1, 1, 7);
    rig_offer(&r, 0, 65535, 7);
    TEXT(rig_drain(&r), "3.1 1.1 3.2 2.1 1.2");
    rig_fini(&r);
}

LAW(fifo_goes_on_after_it_has_run_empty)
{
    rig r;
    rig_init(&r, BARE("fifo"), nothing, 2, QS_INT(8));
    rig_offer(&r, 1, 100, 0);
    TEXT(rig_drain(&r), "2.1");
    EQUAL(qs_sched_select(&r.sched), QS_NO_CLASS);
    rig_offer(&r, 0, 100, 1);
    rig_offer(&r, 1, 100, 1);
    TEXT(rig_drain(&r), "1.1 2.2");
    rig_fini(&r);
}

LAW(fifo_forgets_a_packet_that_is_dropped_from_a_tail_in_the_middle_of_its_order)
{
    rig r;
    rig_init(&r, BARE("fifo"), nothing, 3, QS_INT(8));
    rig_offer(&r, 0, 100, 0);
    rig_offer(&r, 1, 100, 0);
    rig_offer(&r, 0, 100, 0);
    rig_offer(&r, 2, 100, 0);
    rig_offer(&r, 1, 100, 0);
    rig_drop(&r, 0); /* 1.2, between 2.1 and 3.1 */
    rig_drop(&r, 2); /* 3.1 */
    rig_drop(&r, 1); /* 2.2, the newest of all */
    rig_offer(&r, 2, 100, 5);
    TEXT(rig_drain(&r), "1.1 2.1 3.2");
    rig_fini(&r);
}

LAW(fifo_can_drop_its_only_packet)
{
    rig r;
    rig_init(&r, BARE("fifo"), nothing, 2, QS_INT(8));
    rig_offer(&r, 1, 100, 0);
    rig_drop(&r, 1);
    EQUAL(qs_sched_select(&r.sched), QS_NO_CLASS);
    rig_offer(&r, 0, 100, 0);
    rig_offer(&r, 1, 100, 0);
    TEXT(rig_drain(&r), "1.1 2.2");
    rig_fini(&r);
}

LAW(fifo_can_drop_its_oldest_packet)
{
    rig r;
    rig_init(&r, BARE("fifo"), nothing, 2, QS_INT(8));
    rig_offer(&r, 0, 100, 0);
    rig_offer(&r, 1, 100, 0);
    rig_offer(&r, 1, 100, 0);
    rig_drop(&r, 0);
    TEXT(rig_drain(&r), "2.1 2.2");
    rig_fini(&r);
}

LAW(fifo_needs_no_share_and_takes_no_parameter)
{
    rig r;
    STATUS(rig_try(&r, SPEC("fifo", NUMBER("weight", 1)), nothing, 1, QS_INT(8)), QS_EINVAL);
    CONTAINS(r.why.text, "weight");
}
