/* SPDX-License-Identifier: MIT */
/* Event queue: the earliest slot, and of several at one time the one with the lowest number. */
#include "check.h"
#include "engine/events.h"

/* The first slot of the earliest time by looking at all of them. */
static size_t first_by_scan(const qs_time *at, size_t slots)
{
    size_t first = 0;
    for (size_t i = 1; i < slots; i++)
        if (at[i] < at[first])
            first = i;
    return first;
}

LAW(events_come_in_order_of_time_and_then_of_slot)
{
    static const size_t widths[] = {1, 2, 3, 7, 8, 9, 63, 64, 65, 511, 513, 3001, 5000};
    static qs_time at[5000];
    uint64_t d = 1;
    for (size_t i = 0; i < COUNT(widths); i++) {
        qs_events events;
        STATUS(qs__events_init(&events, widths[i]), QS_OK);
        EQUAL(events.earliest, QS_NEVER);
        for (size_t slot = 0; slot < widths[i]; slot++)
            at[slot] = QS_NEVER;
        for (int step = 0; step < 2000; step++) {
            const size_t slot = dice_below(&d, widths[i]);
            at[slot] = dice_below(&d, 5) ? (qs_time)dice_below(&d, 50) : QS_NEVER;
            qs__events_set(&events, slot, at[slot]);
            const size_t first = first_by_scan(at, widths[i]);
            EQUAL(events.earliest, at[first]);
            if (at[first] != QS_NEVER)
                EQUAL(qs__events_slot(&events), first);
        }
        qs__events_fini(&events);
    }
}

LAW(events_may_stand_at_the_last_instant_of_the_clock)
{
    qs_events events;
    STATUS(qs__events_init(&events, 100), QS_OK);
    qs__events_set(&events, 70, QS_NEVER - 1);
    EQUAL(events.earliest, QS_NEVER - 1);
    EQUAL(qs__events_slot(&events), 70);
    qs__events_set(&events, 70, QS_NEVER);
    EQUAL(events.earliest, QS_NEVER);
    qs__events_fini(&events);
}
