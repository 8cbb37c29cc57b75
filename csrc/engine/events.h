/* SPDX-License-Identifier: MIT */
/*
 * Event queue: a fixed set of slots, each with the time of its one pending event, under a tree of the earliest, four
 * to a node. The first event is the earliest slot, and of several at one time the one with the lowest number. Setting
 * a slot takes the earliest on its path anew, without a branch that could be mispredicted.
 */
#ifndef QOSSIM_ENGINE_EVENTS_H
#define QOSSIM_ENGINE_EVENTS_H

#include <qossim/engine.h>

enum { QS_EVENTS_FAN = 4, QS_EVENTS_DEPTH_MAX = 16 };

typedef struct qs_event {
    qs_time at;
    uint64_t slot;
} qs_event;

typedef struct qs_events {
    qs_time earliest;
    uint64_t first; /* its slot */
    unsigned depth; /* levels[0] has the slots, levels[depth - 1] is one node */
    qs_event *levels[QS_EVENTS_DEPTH_MAX];
    qs_event *memory;
} qs_events;

/* `slots` of them, all at QS_NEVER. */
qs_status qs__events_init(qs_events *events, size_t slots) QS_NODISCARD;
void qs__events_fini(qs_events *events);

QS_INLINE qs_time qs__earlier(qs_time a, qs_time b)
{
    return a < b ? a : b;
}

/* Events in order of time, and of slot at one time, as numbers. */
QS_INLINE qs_u128 qs__event_rank(qs_event e)
{
    return (qs_u128)(uint64_t)e.at << 64 | e.slot;
}

/* Of two events the first. By a mask: a compiler would see a choice that can be predicted, which it is not. */
QS_INLINE qs_event qs__earlier_event(qs_event a, qs_event b)
{
    const uint64_t all_if_b = -(uint64_t)(qs__event_rank(b) < qs__event_rank(a));
    a.at ^= (a.at ^ b.at) & (qs_time)all_if_b;
    a.slot ^= (a.slot ^ b.slot) & all_if_b;
    return a;
}

/* The event is carried up: what it is compared with does not wait for the level below. */
QS_INLINE void qs__events_set(qs_events *events, size_t slot, qs_time at)
{
    qs_event e = {at, slot};
    size_t i = slot;
    for (unsigned level = 0; level < events->depth; level++, i /= QS_EVENTS_FAN) {
        qs_event *all = events->levels[level];
        const qs_event others = qs__earlier_event(qs__earlier_event(all[i ^ 1], all[i ^ 2]), all[i ^ 3]);
        all[i] = e;
        e = qs__earlier_event(e, others);
    }
    events->earliest = e.at;
    events->first = e.slot;
}

/* The first slot of the earliest time, which must not be QS_NEVER. */
QS_INLINE size_t qs__events_slot(const qs_events *events)
{
    return (size_t)events->first;
}

#endif
