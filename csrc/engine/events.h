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

/* The earlier; of two at one time the one that stands first. */
QS_INLINE qs_event qs__earlier_event(qs_event a, qs_event b)
{
    const bool later = b.at < a.at;
    a.at = later ? b.at : a.at;
    a.slot = later ? b.slot : a.slot;
    return a;
}

QS_INLINE qs_event qs__earliest_of_node(const qs_event *node)
{
    return qs__earlier_event(qs__earlier_event(node[0], node[1]), qs__earlier_event(node[2], node[3]));
}

QS_INLINE void qs__events_set(qs_events *events, size_t slot, qs_time at)
{
    const unsigned top = events->depth - 1;
    size_t i = slot;
    events->levels[0][i].at = at;
    for (unsigned level = 0; level < top; level++) {
        i /= QS_EVENTS_FAN;
        events->levels[level + 1][i] = qs__earliest_of_node(events->levels[level] + i * QS_EVENTS_FAN);
    }
    const qs_event first = qs__earliest_of_node(events->levels[top]);
    events->earliest = first.at;
    events->first = first.slot;
}

/* The first slot of the earliest time, which must not be QS_NEVER. */
QS_INLINE size_t qs__events_slot(const qs_events *events)
{
    return (size_t)events->first;
}

#endif
