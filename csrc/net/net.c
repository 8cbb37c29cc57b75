/* SPDX-License-Identifier: MIT */
/* Running a simulation and asking it what came of it. */
#include "sim.h"

/* ---- Run ----------------------------------------------------------------------------------------------------- */

/* Warm-up is over, with the instant that ends it: what stands now counts, unless the run does not come so far. */
static void begin_measuring(qs_sim *sim)
{
    const qs_time warmup = sim->config.warmup;
    sim->measuring = true;
    for (size_t i = 0; i < sim->port_count; i++) {
        qs_port *port = &sim->ports[i];
        if (warmup < sim->until)
            qs__port_note_largest(port);
        else
            qs__port_forget_largest(port);
        if (warmup < sim->config.duration)
            qs__port_begin_measuring(port, warmup);
    }
}

/* The instants before the end of sending are over. */
static void end_measuring(qs_sim *sim)
{
    sim->measured = true;
    for (size_t i = 0; sim->config.warmup < sim->config.duration && i < sim->port_count; i++)
        qs__port_end_measuring(&sim->ports[i], sim->config.duration);
}

/* A port's counts are those of its classes. */
static void add_up_ports(qs_sim *sim)
{
    for (size_t i = 0; i < sim->port_count; i++) {
        qs_port *port = &sim->ports[i];
        port->counts.class_count = port->class_count;
        for (size_t c = 0; c < port->class_count; c++) {
            port->counts.sent += port->classes[c].counts.sent;
            port->counts.sent_bytes += port->classes[c].counts.sent_bytes;
            port->counts.wire_bits += port->classes[c].wire_bits;
        }
    }
}

static void run_some(qs_sim *sim, uint64_t budget)
{
    if (!sim->measuring) {
        const qs_time warmup = sim->config.warmup < sim->until ? sim->config.warmup + 1 : sim->until;
        if (qs__sim_loop(sim, warmup, budget))
            return;
        begin_measuring(sim);
    }
    if (!sim->measured) {
        if (qs__sim_loop(sim, sim->config.duration, budget))
            return;
        end_measuring(sim);
    }
    if (qs__sim_loop(sim, sim->until, budget))
        return;
    if (sim->status)
        return;
    qs__sim_leave(sim);
    add_up_ports(sim);
    sim->done = !sim->status;
}

qs_status qs_sim_advance(qs_sim *sim, uint64_t budget, bool *done)
{
    if (!sim->status && !sim->built)
        sim->status = qs__sim_build(sim);
    if (!sim->status && !sim->done)
        run_some(sim, budget ? budget : UINT64_MAX);
    if (done && !sim->status)
        *done = sim->done;
    return sim->status;
}

qs_status qs_sim_run(qs_sim *sim)
{
    return qs_sim_advance(sim, 0, NULL);
}

/* ---- Ask ----------------------------------------------------------------------------------------------------- */

const char *qs_sim_error(const qs_sim *sim)
{
    return sim->why.text;
}

qs_time qs_sim_now(const qs_sim *sim)
{
    return sim->now;
}

size_t qs_sim_flow_count(const qs_sim *sim)
{
    return sim->flow_count;
}

size_t qs_sim_port_count(const qs_sim *sim)
{
    return sim->port_count;
}

const qs_flow_counts *qs_sim_flow_counts(const qs_sim *sim, size_t flow)
{
    return &sim->flows[flow].counts;
}

const qs_port_counts *qs_sim_port_counts(const qs_sim *sim, size_t port)
{
    return &sim->ports[port].counts;
}

const qs_class_counts *qs_sim_class_counts(const qs_sim *sim, size_t port, size_t c)
{
    return &sim->ports[port].classes[c].counts;
}

const qs_summary *qs_sim_summary(const qs_sim *sim, size_t flow)
{
    return sim->summaries ? &sim->summaries[flow] : NULL;
}

const uint32_t *qs_sim_route(const qs_sim *sim, size_t flow, size_t *hops)
{
    *hops = sim->flows[flow].hops;
    return sim->flows[flow].route;
}

qs_status qs_sim_take(qs_sim *sim, qs_columns *out)
{
    if (sim->status || !sim->done || !sim->recorder || sim->taken)
        return qs_error_set(&sim->why, QS_ESTATE, "packets can be taken once, after a run that recorded them");
    const qs_status status = qs_recorder_take(sim->recorder, out);
    sim->taken = !status;
    if (status == QS_ESTATE)
        return qs_error_set(&sim->why, status, "a source sent fewer packets than it had announced");
    return status ? qs_error_set(&sim->why, status, "%s", qs_status_text(status)) : QS_OK;
}
