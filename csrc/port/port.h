/* SPDX-License-Identifier: MIT */
/*
 * An egress port put together: classes with their policers and queues, a scheduler, the ring, the wire. The port is
 * a state machine as well: it is offered packets, told to make its moves, told that a transmission has ended; the
 * loop in net keeps the times.
 *
 * What happens to every packet is inline here, in the order in which it happens; building is in build.c. Functions
 * that look at what most ports never have (callbacks, particles that come back one by one) are told by `full`, a
 * constant, whether to look.
 */
#ifndef QOSSIM_PORT_PORT_H
#define QOSSIM_PORT_PORT_H

#include "../engine/area.h"
#include "../engine/events.h"

#include <qossim/meter.h>
#include <qossim/net.h>
#include <qossim/port.h>
#include <qossim/queue.h>
#include <qossim/sched.h>

typedef struct qs_trace {
    qs_trace_fn fn;
    void *context;
    struct qs_trace *next;
} qs_trace;

typedef struct qs_class {
    qs_queue queue;
    qs_area waited; /* of the packets that have been handed over, since the run began; in picoseconds */
    qs_meter policer;
    qs_class_counts counts;
    uint64_t wire_bits; /* of the packets in counts.sent */
    uint64_t match;
    char **flows; /* names */
    size_t flow_count;
    char *name;
} qs_class;

/* Packets in flight, in order of the time at which they are due at the far end. */
typedef struct qs_line {
    qs_packet *head;
    qs_packet *tail;
    qs_time propagation;
    uint32_t from; /* the port that they have left */
} qs_line;

#define NO_CLASS_TOUCHED UINT32_MAX

typedef struct qs_port {
    /* The times of what comes next; QS_NEVER: nothing. */
    qs_events arrivals; /* a slot for each port that leads here, then one for each flow that enters the net here */
    qs_time end;        /* of the transmission */
    qs_time back;       /* return of a particle before it */
    qs_time due;        /* reception at the far end, where receptions are told in order of time */

    qs_packet *wire; /* being sent */
    qs_link link;
    qs_ring ring;
    bool has_ring;
    bool touched;  /* has moves to make in this instant */
    bool in_order; /* receptions are told in order of time, not ahead of it */
    bool full;     /* there are callbacks, or `back` or `due` may be other than QS_NEVER */
    uint32_t index;
    qs_framing framing;
    qs_sched sched;
    qs_class *classes;
    uint16_t *class_of; /* by flow */
    uint32_t first_touched;  /* the class that the first packet of this instant came to, or NO_CLASS_TOUCHED */
    bool more_touched;       /* others did so as well: */
    qs_backlog also_touched;
    qs_time propagation;
    qs_time warmup;
    qs_trace *traces[QS_TRACE_KINDS];

    uint32_t *entering; /* flows that enter the net here, in order */
    size_t entering_count;
    qs_line *inbound; /* what comes from other ports */
    size_t inbound_count;
    qs_line outbound;   /* what is in flight to the receivers, when receptions are told in order of time */
    qs_packet **landed; /* arrivals of this instant from other ports, in order of flow */
    size_t landed_count;

    /* Of the whole run; what is measured of it stands in the counts. */
    qs_area held; /* picoseconds, by the particles that have come back */
    qs_time busy; /* up to the end of what is on the wire */

    size_t class_count;
    qs_port_counts counts; /* in part made up from the rest when the run is over */
    char *name;
} qs_port;

qs_status qs__port_init(qs_port *port, const qs_port_spec *spec, const qs_sim_config *config,
                        qs_error *why) QS_NODISCARD;
void qs__port_fini(qs_port *port);

/*
 * What is measured over a time is summed up over the whole run, without a look at the clock, and read off at both ends
 * of the time. To be called when every instant before `at`, and none after it, is over.
 */
void qs__port_begin_measuring(qs_port *port, qs_time at);
void qs__port_end_measuring(qs_port *port, qs_time at);

/* The largest queues and the largest ring are what stands now. */
void qs__port_note_largest(qs_port *port);

/* Nothing has been measured. */
void qs__port_forget_largest(qs_port *port);

/* The next packet that is still on the wire, in the ring or in the queues, in that order, or NULL; for when the run is
 * over. */
qs_packet *qs__port_take_leftover(qs_port *port);

/* Attaches a callback behind those that are there. */
qs_status qs__port_attach(qs_port *port, qs_trace_kind kind, qs_trace_fn fn, void *context) QS_NODISCARD;

QS_INLINE void qs__port_trace(const qs_port *port, qs_trace_kind kind, qs_time now, const qs_packet *p)
{
    for (const qs_trace *t = port->traces[kind]; t != NULL; t = t->next)
        t->fn(t->context, now, p);
}

QS_INLINE bool qs__port_counts(const qs_port *port, const qs_packet *p)
{
    return p->sent >= port->warmup;
}

/* How long `p`, in its class queue, has waited at `now`. */
QS_INLINE uint64_t qs__port_waited(const qs_packet *p, qs_time now)
{
    return (uint64_t)(now - p->hops[p->hop].queued);
}

/* So many particles have been held by `p` until `now`. */
QS_INLINE void qs__port_hold(qs_area *area, const qs_packet *p, uint32_t particles, qs_time now)
{
    qs__area_add_times(area, (uint64_t)(now - p->hops[p->hop].ring), particles);
}

QS_INLINE void qs__line_push(qs_line *line, qs_packet *p)
{
    p->next = NULL;
    if (line->tail)
        line->tail->next = p;
    else
        line->head = p;
    line->tail = p;
}

/* `by` after `at`, or QS_NEVER. */
QS_INLINE qs_time qs__later(qs_time at, qs_time by)
{
    qs_time then;
    return QS_UNLIKELY(__builtin_add_overflow(at, by, &then)) ? QS_NEVER : then;
}

/* When the first packet is due, or QS_NEVER. */
QS_INLINE qs_time qs__line_due(const qs_line *line)
{
    if (!line->head)
        return QS_NEVER;
    return qs__later(line->head->hops[line->head->hop].end, line->propagation);
}

QS_INLINE qs_packet *qs__line_pop(qs_line *line)
{
    qs_packet *p = line->head;
    line->head = p->next;
    if (!line->head)
        line->tail = NULL;
    return p;
}

/* ---- (1) A transmission ends, a particle comes back ----------------------------------------------------------- */

/* The packet that has been sent, which is now the caller's. */
QS_INLINE qs_packet *qs__port_sent(qs_port *port, qs_time now, const bool full)
{
    qs_packet *p = port->wire;
    port->wire = NULL;
    port->end = QS_NEVER;
    if (full)
        port->back = QS_NEVER;
    if (port->has_ring) {
        if (port->ring.free != QS_FREE_START)
            qs__port_hold(&port->held, p, p->particles - port->ring.returned, now);
        qs_ring_sent(&port->ring, p);
    }
    if (qs__port_counts(port, p)) {
        qs_class *k = &port->classes[p->klass];
        k->counts.sent++;
        k->counts.sent_bytes += p->size;
        k->wire_bits += p->wire_bits;
    }
    if (full)
        qs__port_trace(port, QS_TRACE_END, now, p);
    return p;
}

/* When the next particle of the packet on the wire returns ahead of its end, under that rule. */
QS_INLINE qs_time qs__port_next_return(const qs_port *port)
{
    return qs_ring_next_return(&port->ring, port->wire, port->wire->hops[port->wire->hop].start, &port->link,
                               &port->framing);
}

QS_INLINE void qs__port_return_particle(qs_port *port, qs_time now)
{
    qs__port_hold(&port->held, port->wire, 1, now);
    qs_ring_return(&port->ring);
    port->back = qs__port_next_return(port);
}

/* ---- (2) A packet arrives: it is classified, policed, queued ---------------------------------------------------- */

/* Would the ring (without one: the wire) take `p` now, before the instant's moves? */
QS_INLINE bool qs__port_would_admit(const qs_port *port, const qs_packet *p)
{
    return port->has_ring ? qs_ring_admits(&port->ring, qs_ring_particles(&port->ring, p->size)) : !port->wire;
}

QS_INLINE bool qs__port_polices(qs_port *port, qs_class *k, const qs_packet *p, qs_time now)
{
    if (qs_meter_colour(&k->policer, now, p) != QS_RED)
        return false;
    return !k->policer.only_in_congestion || !qs__port_would_admit(port, p);
}

QS_INLINE void qs__port_touch_class(qs_port *port, uint32_t c)
{
    if (port->first_touched == NO_CLASS_TOUCHED) {
        port->first_touched = c;
    } else if (port->first_touched != c) {
        port->more_touched = true;
        qs_backlog_set(&port->also_touched, c);
    }
}

/* False: the policer drops it, and it is still the caller's. */
QS_INLINE bool qs__port_offer(qs_port *port, qs_packet *p, qs_time now, const bool full)
{
    const uint16_t c = port->class_of[p->flow];
    qs_class *k = &port->classes[c];
    p->klass = c;
    p->wire_bits = qs_framing_bits(&port->framing, p->size);
    if (qs__port_counts(port, p)) {
        k->counts.offered++;
        k->counts.offered_bytes += p->size;
    }
    port->touched = true;
    if (k->policer.ops && qs__port_polices(port, k, p, now)) {
        p->fate = QS_DROPPED_POLICER;
        k->counts.dropped_policer += qs__port_counts(port, p);
        return false;
    }
    qs_hop *hop = &p->hops[p->hop];
    hop->queued = now;
    hop->ring = hop->start = hop->end = -1;
    qs_queue_push(&k->queue, p);
    qs_sched_enqueue(&port->sched, c, p, now);
    qs__port_touch_class(port, c);
    if (full)
        qs__port_trace(port, QS_TRACE_QUEUED, now, p);
    return true;
}

/* ---- (3) Moves: the scheduler fills the ring, the ring feeds an idle wire, until nothing moves ------------------ */

QS_INLINE void qs__port_begin(qs_port *port, qs_packet *p, qs_time now, const bool full)
{
    const qs_time end = qs_link_send(&port->link, now, p->wire_bits);
    qs_hop *hop = &p->hops[p->hop];
    hop->start = now;
    hop->end = end;
    port->wire = p;
    port->end = end;
    port->busy += end - now;
    if (full)
        qs__port_trace(port, QS_TRACE_START, now, p);
}

/* The packet that the scheduler names, out of its queue. */
QS_INLINE qs_packet *qs__port_take(qs_port *port, size_t c, qs_time now)
{
    qs_class *k = &port->classes[c];
    qs_packet *p = qs_queue_pop(&k->queue);
    qs_sched_dequeue(&port->sched, c, p, k->queue.head);
    qs__area_add(&k->waited, qs__port_waited(p, now));
    p->hops[p->hop].ring = now;
    return p;
}

/* The ring takes what it admits. */
QS_INLINE void qs__port_fill_ring(qs_port *port, qs_time now, const bool full)
{
    qs_ring *ring = &port->ring;
    while (ring->in_use < ring->limit) {
        const size_t c = qs_sched_select(&port->sched);
        if (c == QS_NO_CLASS)
            break;
        const uint32_t particles = qs_ring_particles(ring, port->classes[c].queue.head->size);
        if (!qs_ring_admits(ring, particles))
            break;
        qs_packet *p = qs__port_take(port, c, now);
        p->particles = particles;
        qs_ring_push(ring, p);
        if (full)
            qs__port_trace(port, QS_TRACE_RING, now, p);
    }
}

QS_INLINE bool qs__port_feed_wire(qs_port *port, qs_time now, const bool full)
{
    if (port->wire || !port->ring.head)
        return false;
    qs_packet *p = qs_ring_pop(&port->ring);
    if (port->ring.free == QS_FREE_START)
        qs__port_hold(&port->held, p, p->particles, now);
    qs__port_begin(port, p, now, full);
    if (full && port->ring.free == QS_FREE_PARTICLE) {
        port->back = qs__port_next_return(port);
        while (port->back <= now) /* a particle's share may be less than a picosecond */
            qs__port_return_particle(port, now);
    }
    return true;
}

QS_INLINE void qs__port_move_without_ring(qs_port *port, qs_time now, const bool full)
{
    const size_t c = port->wire ? QS_NO_CLASS : qs_sched_select(&port->sched);
    if (c == QS_NO_CLASS)
        return;
    qs_packet *p = qs__port_take(port, c, now);
    if (full)
        qs__port_trace(port, QS_TRACE_RING, now, p);
    qs__port_begin(port, p, now, full);
}

QS_INLINE void qs__port_move(qs_port *port, qs_time now, const bool full)
{
    if (QS_UNLIKELY(!port->has_ring)) {
        qs__port_move_without_ring(port, now, full);
        return;
    }
    do
        qs__port_fill_ring(port, now, full);
    while (qs__port_feed_wire(port, now, full));
    if (port->ring.in_use > port->counts.largest_ring)
        port->counts.largest_ring = port->ring.in_use;
}

/* ---- (4) A queue above its limit drops its newest --------------------------------------------------------------- */

QS_INLINE void qs__class_note_largest(qs_class *k)
{
    if (k->queue.packets > k->counts.largest_queue)
        k->counts.largest_queue = k->queue.packets;
    if (k->queue.bytes > k->counts.largest_queue_bytes)
        k->counts.largest_queue_bytes = k->queue.bytes;
}

/* The newest packet of class `c`, which has too many, now the caller's. */
QS_INLINE qs_packet *qs__port_drop_newest(qs_port *port, size_t c)
{
    qs_class *k = &port->classes[c];
    qs_packet *p = qs_queue_pop_newest(&k->queue);
    qs_sched_retract(&port->sched, c, p, k->queue.tail);
    p->fate = QS_DROPPED_QUEUE;
    k->counts.dropped_queue += qs__port_counts(port, p);
    return p;
}

#endif
