/* SPDX-License-Identifier: MIT */
/* Building a simulation: ports and flows are added, and then connected before the first event. */
#include "sim.h"

#include <stdlib.h>
#include <string.h>

/* The first window that a port runs ahead; it is doubled until it holds enough. */
enum { WINDOW_FIRST = 1000000 };

/* ---- Create and destroy ------------------------------------------------------------------------------------- */

qs_status qs_sim_create(qs_sim **out, const qs_sim_config *config)
{
    if (config->duration <= 0 || config->duration == QS_NEVER || config->warmup < 0)
        return QS_EINVAL;
    qs_sim *sim = calloc(1, sizeof *sim);
    if (!sim)
        return QS_ENOMEM;
    sim->config = *config;
    sim->until = config->cut ? config->duration : QS_NEVER;
    sim->window = WINDOW_FIRST;
    *out = sim;
    return QS_OK;
}

static void flow_fini(qs_flow *flow)
{
    qs_source_fini(&flow->source);
    free(flow->route);
    free(flow->lines);
    free(flow->propagation);
    free(flow->name);
}

void qs_sim_destroy(qs_sim *sim)
{
    if (!sim)
        return;
    for (size_t f = 0; f < sim->flow_count; f++) {
        if (sim->summaries)
            qs_summary_fini(&sim->summaries[f]);
        flow_fini(&sim->flows[f]);
    }
    free(sim->summaries);
    for (size_t i = 0; i < sim->port_count; i++)
        qs__port_fini(&sim->ports[i]);
    qs__names_fini(&sim->flow_names);
    free(sim->flows);
    free(sim->ports);
    free(sim->order);
    free(sim->scribes);
    free(sim->leaving);
    qs_recorder_destroy(sim->recorder);
    qs__pool_fini(&sim->pool);
    free(sim);
}

/* ---- Add ----------------------------------------------------------------------------------------------------- */

/* Room for one more of `width` bytes; the array may move. */
static qs_status make_room(void **array, size_t count, size_t *room, size_t width)
{
    if (count < *room)
        return QS_OK;
    const size_t more = *room ? *room * 2 : 4;
    void *grown = realloc(*array, more * width);
    if (!grown)
        return QS_ENOMEM;
    *array = grown;
    *room = more;
    return QS_OK;
}

/* For functions that may be called only before the run. */
static qs_status check_unbuilt(qs_sim *sim, const char *what)
{
    if (sim->built || sim->status)
        return qs_error_set(&sim->why, QS_ESTATE, "%s must come before the run", what);
    return QS_OK;
}

static qs_status out_of_memory(qs_sim *sim)
{
    return qs_error_set(&sim->why, QS_ENOMEM, "%s", qs_status_text(QS_ENOMEM));
}

/* A status that came without a sentence of its own is given one. */
static qs_status with_sentence(qs_sim *sim, qs_status status)
{
    return status == QS_ENOMEM ? out_of_memory(sim) : status;
}

qs_status qs_sim_add_port(qs_sim *sim, const qs_port_spec *spec)
{
    qs_status status = check_unbuilt(sim, "a port");
    if (status)
        return status;
    if (sim->flow_count)
        return qs_error_set(&sim->why, QS_ESTATE, "ports must be added before flows");
    if (sim->port_count == INT16_MAX)
        return qs_error_set(&sim->why, QS_ERANGE, "there can be at most %d ports", INT16_MAX);
    for (size_t i = 0; i < sim->port_count; i++)
        if (strcmp(sim->ports[i].name, spec->name) == 0)
            return qs_error_set(&sim->why, QS_EINVAL, "two ports are called \"%s\"", spec->name);
    void *ports = sim->ports;
    status = make_room(&ports, sim->port_count, &sim->port_room, sizeof *sim->ports);
    sim->ports = ports;
    if (!status)
        status = qs__port_init(&sim->ports[sim->port_count], spec, &sim->config, &sim->why);
    if (!status) {
        sim->ports[sim->port_count].index = (uint32_t)sim->port_count;
        sim->port_count++;
    }
    return with_sentence(sim, status);
}

static qs_status check_route(qs_sim *sim, const qs_flow_spec *spec)
{
    if (spec->hops < 1)
        return qs_error_set(&sim->why, QS_EINVAL, "flow \"%s\": a route has at least one port", spec->name);
    for (size_t i = 0; i < spec->hops; i++) {
        if (spec->route[i] >= sim->port_count)
            return qs_error_set(&sim->why, QS_EINVAL, "flow \"%s\": route has port %u, but there are %zu", spec->name,
                                (unsigned)spec->route[i], sim->port_count);
        for (size_t j = 0; j < i; j++)
            if (spec->route[i] == spec->route[j])
                return qs_error_set(&sim->why, QS_EINVAL, "flow \"%s\": port %u is on the route twice", spec->name,
                                    (unsigned)spec->route[i]);
    }
    return QS_OK;
}

static qs_status check_flow(qs_sim *sim, const qs_flow_spec *spec)
{
    if (qs__names_find(&sim->flow_names, spec->name) != SIZE_MAX)
        return qs_error_set(&sim->why, QS_EINVAL, "two flows are called \"%s\"", spec->name);
    if (sim->flow_count == INT32_MAX)
        return qs_error_set(&sim->why, QS_ERANGE, "there can be at most %d flows", INT32_MAX);
    if (spec->dscp > 63)
        return qs_error_set(&sim->why, QS_EINVAL, "flow \"%s\": dscp must be 0 to 63, got %u", spec->name, spec->dscp);
    if (spec->start < 0 || spec->stop < 0)
        return qs_error_set(&sim->why, QS_EINVAL,
                            "flow \"%s\": start and stop must be at least 0 ps, got %lld and %lld", spec->name,
                            (long long)spec->start, (long long)spec->stop);
    return check_route(sim, spec);
}

static qs_status copy_flow(const qs_sim *sim, qs_flow *flow, const qs_flow_spec *spec)
{
    const size_t size = strlen(spec->name) + 1;
    flow->name = malloc(size);
    flow->route = malloc(spec->hops * sizeof *flow->route);
    flow->lines = malloc(spec->hops * sizeof *flow->lines);
    flow->propagation = malloc(spec->hops * sizeof *flow->propagation);
    if (!flow->name || !flow->route || !flow->lines || !flow->propagation)
        return QS_ENOMEM;
    memcpy(flow->name, spec->name, size);
    memcpy(flow->route, spec->route, spec->hops * sizeof *flow->route);
    for (size_t i = 0; i < spec->hops; i++)
        flow->propagation[i] = sim->ports[spec->route[i]].propagation;
    flow->hops = spec->hops;
    flow->dscp = spec->dscp;
    flow->stop = spec->stop < sim->config.duration ? spec->stop : sim->config.duration;
    return QS_OK;
}

qs_status qs_sim_add_flow(qs_sim *sim, const qs_flow_spec *spec)
{
    qs_status status = check_unbuilt(sim, "a flow");
    if (!status)
        status = check_flow(sim, spec);
    if (status)
        return status;
    void *flows = sim->flows;
    status = make_room(&flows, sim->flow_count, &sim->flow_room, sizeof *sim->flows);
    sim->flows = flows;
    if (status)
        return with_sentence(sim, status);
    qs_flow *flow = &sim->flows[sim->flow_count];
    *flow = (qs_flow){0};
    const qs_source_setup setup = {.rng = spec->rng, .start = spec->start, .flow = spec->name, .why = &sim->why};
    static const qs_spec no_settings = {"a source of your own", NULL, 0};
    status = copy_flow(sim, flow, spec);
    if (!status)
        status = spec->ops
                     ? qs_source_init_ops(&flow->source, spec->ops, spec->source ? spec->source : &no_settings, &setup)
                     : qs_source_init(&flow->source, spec->source, &setup);
    if (!status)
        status = qs__names_add(&sim->flow_names, flow->name);
    if (status) {
        flow_fini(flow);
        return with_sentence(sim, status);
    }
    flow->listens = flow->source.ops->told != NULL;
    flow->own = spec->ops != NULL;
    sim->flow_count++;
    return QS_OK;
}

qs_status qs_sim_trace(qs_sim *sim, size_t port, qs_trace_kind kind, qs_trace_fn fn, void *context)
{
    const qs_status status = check_unbuilt(sim, "a trace");
    if (status)
        return status;
    if (port >= sim->port_count || (unsigned)kind >= QS_TRACE_KINDS || !fn)
        return qs_error_set(&sim->why, QS_EINVAL, "a trace needs a port below %zu, a kind below %d and a function",
                            sim->port_count, QS_TRACE_KINDS);
    if (qs__port_attach(&sim->ports[port], kind, fn, context))
        return out_of_memory(sim);
    sim->by_instants = true;
    if (kind == QS_TRACE_RECEIVED)
        sim->ports[port].in_order = true;
    return QS_OK;
}

/* ---- Connect ------------------------------------------------------------------------------------------------- */

#define UNCLASSIFIED UINT16_MAX

/* A class takes the flows that it names, unless one before it has them. */
static qs_status take_named(qs_sim *sim, qs_port *port, size_t c)
{
    const qs_class *k = &port->classes[c];
    for (size_t i = 0; i < k->flow_count; i++) {
        const size_t f = qs__names_find(&sim->flow_names, k->flows[i]);
        if (f == SIZE_MAX)
            return qs_error_set(&sim->why, QS_EINVAL, "port \"%s\", class \"%s\": there is no flow \"%s\"", port->name,
                                k->name, k->flows[i]);
        if (port->class_of[f] == UNCLASSIFIED)
            port->class_of[f] = (uint16_t)c;
    }
    return QS_OK;
}

/* And those whose code point it matches. */
static void take_matching(const qs_sim *sim, qs_port *port, size_t c)
{
    const uint64_t match = port->classes[c].match;
    for (size_t f = 0; match && f < sim->flow_count; f++)
        if (port->class_of[f] == UNCLASSIFIED && match >> sim->flows[f].dscp & 1)
            port->class_of[f] = (uint16_t)c;
}

static size_t class_of_the_rest(const qs_port *port)
{
    size_t c = 0;
    while (c + 1 < port->class_count && (port->classes[c].match || port->classes[c].flow_count))
        c++;
    return c;
}

/* Each flow's class is the first that fits, else the one that takes the rest. */
static qs_status classify_at(qs_sim *sim, qs_port *port)
{
    port->class_of = malloc((sim->flow_count + 1) * sizeof *port->class_of);
    if (!port->class_of)
        return QS_ENOMEM;
    memset(port->class_of, UNCLASSIFIED & 0xFF, (sim->flow_count + 1) * sizeof *port->class_of);
    for (size_t c = 0; c < port->class_count; c++) {
        const qs_status status = take_named(sim, port, c);
        if (status)
            return status;
        take_matching(sim, port, c);
    }
    const uint16_t rest = (uint16_t)class_of_the_rest(port);
    for (size_t f = 0; f < sim->flow_count; f++)
        if (port->class_of[f] == UNCLASSIFIED)
            port->class_of[f] = rest;
    return QS_OK;
}

static qs_status classify(qs_sim *sim)
{
    qs_status status = QS_OK;
    for (size_t i = 0; i < sim->port_count && !status; i++)
        status = classify_at(sim, &sim->ports[i]);
    return status;
}

static size_t longest_route(const qs_sim *sim)
{
    size_t hops = 1;
    for (size_t f = 0; f < sim->flow_count; f++)
        hops = sim->flows[f].hops > hops ? sim->flows[f].hops : hops;
    return hops;
}

/* ---- Who writes down: the recorder and the summaries are users of the traces like any other ------------------- */

static void record(void *context, qs_time now, const qs_packet *p)
{
    const qs_scribe *scribe = context;
    (void)now;
    const qs_status status = qs_recorder_write(scribe->recorder, p, scribe->port);
    if (QS_UNLIKELY(status != QS_OK))
        qs__sim_fail(scribe->sim, status);
}

static void summarise(void *context, qs_time now, const qs_packet *p)
{
    qs_sim *sim = ((const qs_scribe *)context)->sim;
    (void)now;
    if (p->sent < sim->config.warmup)
        return;
    const qs_status status = qs_summary_add(&sim->summaries[p->flow], p);
    if (QS_UNLIKELY(status != QS_OK))
        qs__sim_fail(sim, status);
}

static qs_status attach_scribes(qs_sim *sim)
{
    const size_t ports = sim->port_count;
    sim->scribes = malloc((ports + 1) * sizeof *sim->scribes);
    if (!sim->scribes)
        return QS_ENOMEM;
    const bool packets = sim->config.record == QS_RECORD_PACKETS;
    qs_status status = QS_OK;
    for (size_t i = 0; i <= ports; i++)
        sim->scribes[i] = (qs_scribe){sim, sim->recorder, i < ports ? (int)i : -1};
    for (size_t i = 0; i < ports && !status; i++) {
        status = qs__port_attach(&sim->ports[i], QS_TRACE_RECEIVED, packets ? record : summarise, &sim->scribes[ports]);
        if (!status && packets)
            status = qs__port_attach(&sim->ports[i], QS_TRACE_DROPPED, record, &sim->scribes[i]);
    }
    return status;
}

static qs_status connect_recorder(qs_sim *sim)
{
    qs_status status = qs_recorder_create(&sim->recorder, sim->flow_count, sim->port_count, sim->config.depot);
    for (size_t f = 0; f < sim->flow_count && !status; f++) {
        const qs_flow *flow = &sim->flows[f];
        const qs_expectation expected = flow->source.ops->expect(flow->source.state, flow->stop);
        status = qs_recorder_expect(sim->recorder, f, flow->route, flow->hops, expected.packets, expected.exact);
    }
    return status;
}

static qs_status connect_summaries(qs_sim *sim)
{
    qs_status status = QS_OK;
    sim->summaries = calloc(sim->flow_count + 1, sizeof *sim->summaries);
    if (!sim->summaries)
        return QS_ENOMEM;
    for (size_t f = 0; f < sim->flow_count && !status; f++)
        status = qs_summary_init(&sim->summaries[f], sim->flows[f].hops, sim->flows[f].propagation);
    return status;
}

static qs_status connect_scribes(qs_sim *sim)
{
    if (sim->config.record == QS_RECORD_NONE)
        return QS_OK;
    const qs_status status = sim->config.record == QS_RECORD_PACKETS ? connect_recorder(sim) : connect_summaries(sim);
    return status ? status : attach_scribes(sim);
}

/* ---- Lines between ports ------------------------------------------------------------------------------------- */

/* The line from port `from` to `port`, among the inbound lines of `port`; made if there is none yet. */
static qs_status find_line(qs_sim *sim, qs_port *port, uint32_t from, uint32_t *line)
{
    for (*line = 0; *line < port->inbound_count; ++*line)
        if (port->inbound[*line].from == from)
            return QS_OK;
    qs_line *more = realloc(port->inbound, (port->inbound_count + 1) * sizeof *more);
    if (!more)
        return QS_ENOMEM;
    more[port->inbound_count++] = (qs_line){.propagation = sim->ports[from].propagation, .from = from};
    port->inbound = more;
    return QS_OK;
}

static qs_status connect_lines(qs_sim *sim)
{
    for (size_t f = 0; f < sim->flow_count; f++) {
        qs_flow *flow = &sim->flows[f];
        sim->ports[flow->route[0]].entering_count++;
        for (size_t hop = 0; hop + 1 < flow->hops; hop++) {
            qs_port *next = &sim->ports[flow->route[hop + 1]];
            if (find_line(sim, next, flow->route[hop], &flow->lines[hop]))
                return QS_ENOMEM;
        }
    }
    return QS_OK;
}

static qs_status connect_arrivals(qs_sim *sim)
{
    for (size_t i = 0; i < sim->port_count; i++) {
        qs_port *port = &sim->ports[i];
        port->entering = malloc((port->entering_count + 1) * sizeof *port->entering);
        port->landed = malloc((port->inbound_count + 1) * sizeof(qs_packet *));
        if (!port->entering || !port->landed ||
            qs__events_init(&port->arrivals, port->inbound_count + port->entering_count))
            return QS_ENOMEM;
        port->entering_count = 0;
    }
    for (size_t f = 0; f < sim->flow_count; f++) {
        qs_port *first = &sim->ports[sim->flows[f].route[0]];
        sim->flows[f].slot = first->inbound_count + first->entering_count;
        first->entering[first->entering_count++] = (uint32_t)f;
    }
    return QS_OK;
}

static bool comes_after_all(const qs_port *port, const bool *placed)
{
    for (size_t line = 0; line < port->inbound_count; line++)
        if (!placed[port->inbound[line].from])
            return false;
    return true;
}

/* Ports in an order in which none leads to one before it; without such an order they go through time together. */
static qs_status order_ports(qs_sim *sim)
{
    bool *placed = calloc(sim->port_count + 1, sizeof *placed);
    sim->order = malloc((sim->port_count + 1) * sizeof(qs_port *));
    if (!placed || !sim->order) {
        free(placed);
        return QS_ENOMEM;
    }
    size_t count = 0, before;
    do {
        before = count;
        for (size_t i = 0; i < sim->port_count; i++) {
            if (placed[i] || !comes_after_all(&sim->ports[i], placed))
                continue;
            placed[i] = true;
            sim->order[count++] = &sim->ports[i];
        }
    } while (count > before);
    if (count < sim->port_count)
        sim->by_instants = true;
    free(placed);
    return QS_OK;
}

/* ---- Sources ------------------------------------------------------------------------------------------------- */

static void first_departures(qs_sim *sim)
{
    for (size_t f = 0; f < sim->flow_count; f++) {
        qs_flow *flow = &sim->flows[f];
        if (flow->listens)
            sim->by_instants = sim->ports[flow->route[flow->hops - 1]].in_order = true;
        flow->pending = qs_source_next(&flow->source);
        if (flow->own && flow->pending.at != QS_NEVER && (flow->pending.size < 1 || flow->pending.size > QS_SIZE_MAX))
            qs__sim_fail(sim, QS_EINVAL);
        if (flow->pending.at < flow->stop)
            qs__events_set(&sim->ports[flow->route[0]].arrivals, flow->slot, flow->pending.at);
    }
}

qs_status qs__sim_build(qs_sim *sim)
{
    sim->longest = longest_route(sim);
    sim->leaving = calloc(sim->longest, sizeof *sim->leaving);
    if (!sim->leaving)
        return out_of_memory(sim);
    qs__pool_init(&sim->pool, sim->longest);
    qs_status status = classify(sim);
    if (!status)
        status = connect_lines(sim);
    if (!status)
        status = connect_arrivals(sim);
    if (!status)
        status = order_ports(sim);
    if (!status)
        status = connect_scribes(sim);
    if (status)
        return with_sentence(sim, status);
    first_departures(sim);
    for (size_t i = 0; i < sim->port_count; i++)
        sim->ports[i].full = sim->by_instants || sim->ports[i].ring.free == QS_FREE_PARTICLE;
    sim->built = true;
    return QS_OK;
}
