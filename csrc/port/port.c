/* SPDX-License-Identifier: MIT */
/* The egress port: what happens once a run. */
#include "port.h"

#include <stdlib.h>

void qs__port_measure(qs_port *port)
{
    for (size_t c = 0; c < port->class_count; c++)
        qs__class_note_largest(&port->classes[c]);
}

void qs__port_count_busy(qs_port *port, qs_time start, qs_time end)
{
    const qs_time from = start > port->warmup ? start : port->warmup;
    const qs_time to = end < port->duration ? end : port->duration;
    if (to > from)
        port->busy += to - from;
}

static qs_packet *leftover(qs_port *port)
{
    for (size_t c = 0; c < port->class_count; c++)
        if (port->classes[c].queue.head)
            return qs_queue_pop(&port->classes[c].queue);
    if (port->ring.head)
        return qs_ring_pop(&port->ring);
    qs_packet *p = port->wire;
    port->wire = NULL;
    if (p)
        p->hops[p->hop].end = -1;
    return p;
}

qs_packet *qs__port_take_leftover(qs_port *port)
{
    qs_packet *p = leftover(port);
    if (p)
        port->classes[p->klass].counts.inside += qs__port_counts(port, p);
    return p;
}

qs_status qs__port_attach(qs_port *port, qs_trace_kind kind, qs_trace_fn fn, void *context)
{
    qs_trace *trace = malloc(sizeof *trace);
    if (!trace)
        return QS_ENOMEM;
    *trace = (qs_trace){fn, context, NULL};
    qs_trace **end = &port->traces[kind];
    while (*end)
        end = &(*end)->next;
    *end = trace;
    return QS_OK;
}
