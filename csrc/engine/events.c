/* SPDX-License-Identifier: MIT */
/* Event queue: building the tree. */
#include "events.h"

#include <stdlib.h>

static size_t whole_nodes(size_t children)
{
    return (children + QS_EVENTS_FAN - 1) / QS_EVENTS_FAN * QS_EVENTS_FAN;
}

qs_status qs__events_init(qs_events *events, size_t slots)
{
    size_t widths[QS_EVENTS_DEPTH_MAX], total = 0;
    unsigned depth = 0;
    do {
        widths[depth] = whole_nodes(slots ? slots : 1);
        total += widths[depth];
        slots = widths[depth++] / QS_EVENTS_FAN;
    } while (slots > 1);
    qs_event *memory = aligned_alloc(QS_EVENTS_FAN * sizeof *memory, total * sizeof *memory);
    if (!memory)
        return QS_ENOMEM;
    for (size_t i = 0; i < total; i++)
        memory[i] = (qs_event){QS_NEVER, i < widths[0] ? i : 0};
    *events = (qs_events){.earliest = QS_NEVER, .depth = depth, .memory = memory};
    for (unsigned level = 0; level < depth; memory += widths[level++])
        events->levels[level] = memory;
    return QS_OK;
}

void qs__events_fini(qs_events *events)
{
    free(events->memory);
    *events = (qs_events){0};
}
