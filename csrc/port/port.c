/* SPDX-License-Identifier: MIT */
/* The egress port: what happens once a run. */
#include "port.h"

#include <stdlib.h>

void qs__port_note_largest(qs_port *port)
{
    qs__port_forget_largest(port);
    for (size_t c = 0; c < port->class_count; c++)
        qs__class_note_largest(&port->classes[c]);
    port->counts.largest_ring = port->ring.in_use;
}

void qs__port_forget_largest(qs_port *port)
{
    for (size_t c = 0; c < port->class_count; c++)
        port->classes[c].counts.largest_queue = port->classes[c].counts.largest_queue_bytes = 0;
    port->counts.largest_ring = 0;
}

/* ---- Read off ---------------------------------------------------------------------------------------------------- */

/* The area under a queue from the beginning to `at`: of those that have left it and of those that stand in it. */
static qs_u128 queue_area(const qs_class *k, qs_time at)
{
    qs_area area = k->waited;
    for (const qs_packet *p = k->queue.head; p; p = p->next)
        qs__area_add(&area, qs__port_waited(p, at));
    return qs__area_total(&area);
}

static qs_u128 ring_area(const qs_port *port, qs_time at)
{
    qs_area area = port->held;
    for (const qs_packet *p = port->ring.head; p; p = p->next)
        qs__port_hold(&area, p, p->particles, at);
    if (port->wire && port->has_ring && port->ring.free != QS_FREE_START)
        qs__port_hold(&area, port->wire, port->wire->particles - port->ring.returned, at);
    return qs__area_total(&area);
}

static qs_time busy_until(const qs_port *port, qs_time at)
{
    return port->wire ? port->busy - (port->end - at) : port->busy;
}

/* The counts hold the readings with the sign turned, and the others are added to them. */
void qs__port_begin_measuring(qs_port *port, qs_time at)
{
    for (size_t c = 0; c < port->class_count; c++)
        port->classes[c].counts.queue_area = -queue_area(&port->classes[c], at);
    port->counts.ring_area = -ring_area(port, at);
    port->counts.busy = -busy_until(port, at);
}

void qs__port_end_measuring(qs_port *port, qs_time at)
{
    for (size_t c = 0; c < port->class_count; c++)
        port->classes[c].counts.queue_area += queue_area(&port->classes[c], at);
    port->counts.ring_area += ring_area(port, at);
    port->counts.busy += busy_until(port, at);
}

/* ---- When the run is over ---------------------------------------------------------------------------------------- */

static qs_packet *leftover(qs_port *port)
{
    qs_packet *p = port->wire;
    port->wire = NULL;
    if (p) {
        p->hops[p->hop].end = -1;
        return p;
    }
    if (port->ring.head)
        return qs_ring_pop(&port->ring);
    for (size_t c = 0; c < port->class_count; c++)
        if (port->classes[c].queue.head)
            return qs_queue_pop(&port->classes[c].queue);
    return NULL;
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
