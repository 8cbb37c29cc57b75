/* SPDX-License-Identifier: MIT */
/*
 * The loop. Everything at one picosecond is simultaneous, and its order is: (1) particles come back and
 * transmissions end; (2) all arrivals of the instant enter their queues, by flow and sequence number; (3) each port
 * touched makes its moves; (4) queues above their limits drop their newest. A transmission lasts at least a
 * picosecond, so that no instant feeds itself.
 *
 * Ports meet only in the packets that one sends to the next. So each port is run for a window of time by itself, those
 * that lead to others first: what reaches it in the window is then known, and its few pending times are compared
 * without a queue of all events. Where the order over several ports matters (routes that go in circles, callbacks,
 * sources that listen) all ports go through time together, one instant after the other.
 */
#include "sim.h"

enum { WINDOW_INSTANTS = 16384 };

void qs__sim_fail(qs_sim *sim, qs_status status)
{
    if (sim->status)
        return;
    sim->status = qs_error_set(&sim->why, status, "%s",
                               status == QS_ERANGE   ? "a flow has more than 2147483647 packets to record"
                               : status == QS_ESTATE ? "a source sends more packets than it has announced"
                               : status == QS_EINVAL ? "a source's departure is of 0 or over 65535 byte, or in the past"
                                                     : qs_status_text(status));
}

/* ---- The end of a packet ------------------------------------------------------------------------------------ */

/* `port` is the first on the flow's route. */
QS_INLINE void schedule_source(qs_port *port, const qs_flow *flow)
{
    const qs_time at = flow->pending.at;
    qs__events_set(&port->arrivals, flow->slot, at < flow->stop ? at : QS_NEVER);
}

/* A source that listens hears of its packet. It is asked for a departure when the instant is over. */
static void tell_source(qs_sim *sim, const qs_packet *p, qs_time now)
{
    qs_flow *flow = &sim->flows[p->flow];
    flow->source.ops->told(flow->source.state, p, (qs_fate)p->fate, now);
    flow->told = sim->told = true;
}

/* The next departure. A source of somebody's own is not trusted to keep to sizes and to the order of time. */
QS_INLINE void ask_source(qs_sim *sim, qs_flow *flow, qs_time now)
{
    flow->pending = qs_source_next(&flow->source);
    if (QS_UNLIKELY(flow->own) && flow->pending.at != QS_NEVER &&
        (flow->pending.at < now || flow->pending.size < 1 || flow->pending.size > QS_SIZE_MAX))
        qs__sim_fail(sim, QS_EINVAL);
}

/* Those that have heard something, and have nothing pending, may have something to send now. */
static void ask_listeners(qs_sim *sim, qs_time now)
{
    sim->told = false;
    for (size_t f = 0; f < sim->flow_count; f++) {
        qs_flow *flow = &sim->flows[f];
        if (!flow->told)
            continue;
        flow->told = false;
        if (flow->pending.at != QS_NEVER)
            continue;
        ask_source(sim, flow, now);
        schedule_source(&sim->ports[flow->route[0]], flow);
    }
}

/*
 * The packets of a flow never overtake each other, so that those between two that were received one after the other
 * were lost: a loss period (RFC 3357) is a gap in the sequence numbers of what is received, whichever ports dropped
 * what is missing, and in whatever order. The first packet that counts may be missing too.
 */
static QS_NOINLINE void lose_up_to(qs_flow *flow, uint64_t seq)
{
    const uint64_t from = flow->awaited ? flow->awaited : flow->seq - flow->counts.sent;
    if (seq == from)
        return;
    flow->counts.loss_periods++;
    if (seq - from > flow->counts.longest_loss)
        flow->counts.longest_loss = seq - from;
}

/* A packet that counts, `seq`, is not lost. */
QS_INLINE void keep(qs_flow *flow, uint64_t seq)
{
    if (QS_UNLIKELY(seq != flow->awaited))
        lose_up_to(flow, seq);
    flow->awaited = seq + 1;
}

/* `p` is received or dropped: counted, told, given back. */
QS_INLINE void retire(qs_sim *sim, qs_port *port, qs_trace_kind kind, qs_packet *p, qs_time now, const bool full)
{
    qs_flow *flow = &sim->flows[p->flow];
    if (p->sent >= sim->config.warmup) {
        flow->counts.fates[p->fate]++;
        if (p->fate == QS_RECEIVED) {
            flow->counts.received_bytes += p->size;
            if (now < sim->config.duration)
                flow->counts.delivered_bytes += p->size;
            keep(flow, p->seq);
        }
    }
    qs__port_trace(port, kind, now, p);
    if (full && flow->listens)
        tell_source(sim, p, now);
    qs__pool_put(&sim->pool, p);
}

QS_INLINE void receive(qs_sim *sim, qs_port *port, qs_packet *p, qs_time at, const bool full)
{
    p->received = at;
    p->fate = QS_RECEIVED;
    retire(sim, port, QS_TRACE_RECEIVED, p, at, full);
}

/* ---- (1) Particles and transmissions ------------------------------------------------------------------------- */

QS_INLINE void send_on(qs_sim *sim, const qs_flow *flow, qs_packet *p)
{
    qs_port *next = &sim->ports[flow->route[p->hop + 1]];
    const uint32_t slot = flow->lines[p->hop];
    qs_line *line = &next->inbound[slot];
    const bool first = !line->head;
    qs__line_push(line, p);
    if (first)
        qs__events_set(&next->arrivals, slot, qs__line_due(line));
}

QS_INLINE void transmission_ends(qs_sim *sim, qs_port *port, qs_time now, const bool full)
{
    qs_packet *p = qs__port_sent(port, now, full);
    const qs_flow *flow = &sim->flows[p->flow];
    port->touched = true;
    if ((size_t)p->hop + 1 != flow->hops) {
        send_on(sim, flow, p);
        return;
    }
    const qs_time due = qs__later(now, port->propagation);
    if (due < sim->until && !(full && port->in_order && due > now)) {
        receive(sim, port, p, due, full);
        return;
    }
    qs__line_push(&port->outbound, p);
    if (full && port->in_order)
        port->due = qs__line_due(&port->outbound);
}

static void reception_is_due(qs_sim *sim, qs_port *port, qs_time now)
{
    qs_packet *p = qs__line_pop(&port->outbound);
    port->due = qs__line_due(&port->outbound);
    receive(sim, port, p, now, true);
}

QS_INLINE void end_what_ends(qs_sim *sim, qs_port *port, qs_time now, const bool full)
{
    while (full && port->back == now) {
        qs__port_return_particle(port, now);
        port->touched = true;
    }
    if (port->end == now)
        transmission_ends(sim, port, now, full);
    if (full && port->due == now)
        reception_is_due(sim, port, now);
}

/* ---- (2) Arrivals -------------------------------------------------------------------------------------------- */

QS_INLINE void offer(qs_sim *sim, qs_port *port, qs_packet *p, qs_time now, const bool full)
{
    if (!qs__port_offer(port, p, now, full))
        retire(sim, port, QS_TRACE_DROPPED, p, now, full);
}

/* From another port: kept until its turn among the arrivals of the instant, in order of flow. */
static void land(qs_port *port, size_t slot)
{
    qs_line *line = &port->inbound[slot];
    qs_packet *p = qs__line_pop(line);
    qs__events_set(&port->arrivals, slot, qs__line_due(line));
    p->hop++;
    size_t i = port->landed_count++;
    for (; i > 0 && port->landed[i - 1]->flow > p->flow; i--)
        port->landed[i] = port->landed[i - 1];
    port->landed[i] = p;
}

/* What has landed, of flows up to `last`. Not on the path of every packet, it looks at everything. */
static void offer_landed(qs_sim *sim, qs_port *port, size_t last, qs_time now)
{
    size_t done = 0;
    while (done < port->landed_count && port->landed[done]->flow <= last)
        offer(sim, port, port->landed[done++], now, true);
    for (size_t i = done; i < port->landed_count; i++)
        port->landed[i - done] = port->landed[i];
    port->landed_count -= done;
}

QS_INLINE qs_packet *new_packet(qs_sim *sim, qs_flow *flow, uint32_t f, qs_time now)
{
    qs_packet *p = qs__pool_get(&sim->pool);
    if (QS_UNLIKELY(!p)) {
        qs__sim_fail(sim, QS_ENOMEM);
        return NULL;
    }
    p->sent = now;
    p->received = -1;
    p->seq = flow->seq++;
    p->flow = f;
    p->size = flow->pending.size;
    p->hop = 0;
    p->fate = QS_INSIDE;
    if (now >= sim->config.warmup) {
        flow->counts.sent++;
        flow->counts.sent_bytes += p->size;
    }
    return p;
}

QS_INLINE bool source_sends(qs_sim *sim, qs_port *port, uint32_t f, qs_time now, const bool full)
{
    qs_flow *flow = &sim->flows[f];
    do {
        qs_packet *p = new_packet(sim, flow, f, now);
        if (QS_UNLIKELY(!p))
            return false;
        ask_source(sim, flow, now);
        offer(sim, port, p, now, full);
    } while (flow->pending.at == now && !(full && sim->status));
    schedule_source(port, flow);
    return true;
}

QS_INLINE void let_arrive(qs_sim *sim, qs_port *port, qs_time now, const bool full)
{
    while (port->arrivals.earliest == now) {
        const size_t slot = qs__events_slot(&port->arrivals);
        if (slot < port->inbound_count) {
            land(port, slot);
            continue;
        }
        const uint32_t f = port->entering[slot - port->inbound_count];
        if (port->landed_count)
            offer_landed(sim, port, f, now);
        if (QS_UNLIKELY(!source_sends(sim, port, f, now, full)))
            return;
    }
    if (port->landed_count)
        offer_landed(sim, port, SIZE_MAX, now);
}

/* ---- (3) Moves, (4) limits ------------------------------------------------------------------------------------ */

/* A class that packets came to in this instant: what its queue has too much goes. */
QS_INLINE void limit_class(qs_sim *sim, qs_port *port, size_t c, qs_time now, const bool full)
{
    qs_class *k = &port->classes[c];
    while (QS_UNLIKELY(qs_queue_over(&k->queue)))
        retire(sim, port, QS_TRACE_DROPPED, qs__port_drop_newest(port, c), now, full);
    qs__class_note_largest(k);
}

static void limit_other_classes(qs_sim *sim, qs_port *port, qs_time now)
{
    port->more_touched = false;
    for (size_t w = 0; w < port->also_touched.count; w++) {
        uint64_t touched = port->also_touched.words[w];
        port->also_touched.words[w] = 0;
        for (; touched; touched &= touched - 1)
            limit_class(sim, port, w * 64 + (size_t)__builtin_ctzll(touched), now, true);
    }
}

QS_INLINE void settle(qs_sim *sim, qs_port *port, qs_time now, const bool full)
{
    port->touched = false;
    qs__port_move(port, now, full);
    if (port->first_touched == NO_CLASS_TOUCHED)
        return;
    limit_class(sim, port, port->first_touched, now, full);
    port->first_touched = NO_CLASS_TOUCHED;
    if (QS_UNLIKELY(port->more_touched))
        limit_other_classes(sim, port, now);
}

/* ---- Time ---------------------------------------------------------------------------------------------------- */

QS_INLINE qs_time next_instant(const qs_port *port)
{
    const qs_time arrival = qs__earlier(port->arrivals.earliest, port->due);
    return qs__earlier(arrival, qs__earlier(port->end, port->back));
}

/* All that may happen at one port in one instant. */
QS_INLINE void run_port_instant(qs_sim *sim, qs_port *port, qs_time now, const bool full)
{
    end_what_ends(sim, port, now, full);
    let_arrive(sim, port, now, full);
    if (port->touched)
        settle(sim, port, now, full);
}

static uint64_t run_full_port(qs_sim *sim, qs_port *port, qs_time until, uint64_t most)
{
    uint64_t instants = 0;
    qs_time now;
    for (; instants < most && (now = next_instant(port)) < until && !sim->status; instants++) {
        run_port_instant(sim, port, now, true);
        sim->now = now > sim->now ? now : sim->now;
    }
    return instants;
}

/* In nearly all instants of a plain port either a transmission ends or a packet arrives, and nothing else. */
static uint64_t run_plain_port(qs_sim *sim, qs_port *port, qs_time until, uint64_t most)
{
    uint64_t instants = 0;
    qs_time now = 0;
    for (; instants < most; instants++) {
        const qs_time end = port->end, arrival = port->arrivals.earliest;
        if (qs__earlier(end, arrival) >= until)
            break;
        if (end < arrival) {
            now = end;
            transmission_ends(sim, port, now, false);
            qs__port_move(port, now, false);
        } else if (arrival < end) {
            now = arrival;
            let_arrive(sim, port, now, false);
            settle(sim, port, now, false);
            if (QS_UNLIKELY(sim->status != QS_OK))
                break;
        } else {
            now = end;
            run_port_instant(sim, port, now, false);
            if (QS_UNLIKELY(sim->status != QS_OK))
                break;
        }
    }
    sim->now = now > sim->now ? now : sim->now;
    return instants;
}

/* Runs one port through at most so many of its instants before `until`; returns how many there were. */
static uint64_t run_port(qs_sim *sim, qs_port *port, qs_time until, uint64_t most)
{
    return port->full ? run_full_port(sim, port, until, most) : run_plain_port(sim, port, until, most);
}

static qs_time first_instant(const qs_sim *sim)
{
    qs_time first = QS_NEVER;
    for (size_t i = 0; i < sim->port_count; i++)
        first = qs__earlier(first, next_instant(&sim->ports[i]));
    return first;
}

/* A window grows or shrinks until it holds about as many instants as are wanted. */
static void adapt_window(qs_sim *sim, uint64_t instants, uint64_t wanted)
{
    if (instants < wanted / 2 && sim->window < QS_NEVER / 4)
        sim->window *= 2;
    else if (instants > wanted && sim->window > 1)
        sim->window /= 2;
}

static uint64_t run_window(qs_sim *sim, qs_time from, qs_time until, uint64_t wanted)
{
    qs_time to = sim->window < until - from ? from + sim->window : until;
    uint64_t instants = 0;
    for (size_t i = 0; i < sim->port_count; i++) {
        qs_port *port = sim->order[i];
        const uint64_t most = 2 * wanted, ran = run_port(sim, port, to, most);
        instants += ran;
        if (ran == most) /* stopped short of the window's end: the ports behind it must not pass it */
            to = qs__earlier(to, next_instant(port));
    }
    adapt_window(sim, instants, wanted);
    return instants;
}

/* One instant of all ports: step by step, each step at all of them. */
static uint64_t run_instant(qs_sim *sim, qs_time now)
{
    sim->now = now;
    for (size_t i = 0; i < sim->port_count; i++)
        end_what_ends(sim, &sim->ports[i], now, true);
    for (size_t i = 0; i < sim->port_count; i++)
        let_arrive(sim, &sim->ports[i], now, true);
    for (size_t i = 0; i < sim->port_count; i++)
        if (sim->ports[i].touched)
            settle(sim, &sim->ports[i], now, true);
    if (sim->told)
        ask_listeners(sim, now);
    return 1;
}

bool qs__sim_loop(qs_sim *sim, qs_time until, uint64_t budget)
{
    const uint64_t wanted = budget < WINDOW_INSTANTS ? budget : WINDOW_INSTANTS;
    while (!sim->status) {
        const qs_time now = first_instant(sim);
        if (now >= until)
            return false;
        const uint64_t instants = sim->by_instants ? run_instant(sim, now) : run_window(sim, now, until, wanted);
        if (instants >= budget)
            return true;
        budget -= instants;
    }
    return false;
}

/* ---- What is left -------------------------------------------------------------------------------------------- */

static void leave_inside(qs_sim *sim, qs_packet *p)
{
    qs_flow *flow = &sim->flows[p->flow];
    if (p->sent >= sim->config.warmup) {
        flow->counts.fates[QS_INSIDE]++;
        keep(flow, p->seq);
    }
    if (sim->recorder && !sim->status) {
        const qs_status status = qs_recorder_write(sim->recorder, p, (int)flow->route[p->hop]);
        if (status)
            qs__sim_fail(sim, status);
    }
    qs__pool_put(&sim->pool, p);
}

static void leave_by_hop(qs_sim *sim, qs_packet *p)
{
    qs__line_push(&sim->leaving[p->hop], p);
}

/* Those that left a port are ahead of those that stand in it, and those of a flow who have come a hop farther are ahead
 * of both: by hop they are in order of sequence number. */
static void gather_by_hop(qs_sim *sim)
{
    for (size_t i = 0; i < sim->port_count; i++) {
        qs_port *port = &sim->ports[i];
        while (port->outbound.head)
            leave_by_hop(sim, qs__line_pop(&port->outbound));
        for (size_t line = 0; line < port->inbound_count; line++)
            while (port->inbound[line].head)
                leave_by_hop(sim, qs__line_pop(&port->inbound[line]));
    }
    for (size_t i = 0; i < sim->port_count; i++) {
        qs_packet *p;
        while ((p = qs__port_take_leftover(&sim->ports[i])))
            leave_by_hop(sim, p);
    }
}

void qs__sim_leave(qs_sim *sim)
{
    gather_by_hop(sim);
    for (size_t hop = sim->longest; hop-- > 0;)
        while (sim->leaving[hop].head)
            leave_inside(sim, qs__line_pop(&sim->leaving[hop]));
    for (size_t f = 0; f < sim->flow_count; f++)
        lose_up_to(&sim->flows[f], sim->flows[f].seq);
}
