/* SPDX-License-Identifier: MIT */
/* Building a port: everything it needs is checked and allocated here, before the first event. */
#include "port.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char *copy_name(const char *name)
{
    const size_t size = strlen(name) + 1;
    char *copy = malloc(size);
    if (copy)
        memcpy(copy, name, size);
    return copy;
}

static qs_status copy_flows(qs_class *k, const qs_class_spec *spec)
{
    if (!spec->flow_count)
        return QS_OK;
    k->flows = calloc(spec->flow_count, sizeof *k->flows);
    if (!k->flows)
        return QS_ENOMEM;
    k->flow_count = spec->flow_count;
    for (size_t i = 0; i < spec->flow_count; i++) {
        k->flows[i] = copy_name(spec->flows[i]);
        if (!k->flows[i])
            return QS_ENOMEM;
    }
    return QS_OK;
}

/* On failure the class is left for class_fini. */
static qs_status class_init(qs_class *k, const qs_class_spec *spec, const qs_port_spec *port, qs_error *why)
{
    char owner[160];
    snprintf(owner, sizeof owner, "port \"%s\", class \"%s\"", port->name, spec->name);
    k->match = spec->match;
    k->name = copy_name(spec->name);
    if (!k->name)
        return QS_ENOMEM;
    qs_status status = copy_flows(k, spec);
    if (status)
        return status;
    static const qs_spec unlimited = {"drop-tail", NULL, 0};
    const qs_ratio rate = spec->share.bandwidth.per ? spec->share.bandwidth : port->rate;
    status = qs_queue_init(&k->queue, spec->queue ? spec->queue : &unlimited, rate, owner, why);
    if (status || !spec->policer)
        return status;
    return qs_meter_init(&k->policer, spec->policer, owner, why);
}

static void class_fini(qs_class *k)
{
    for (size_t i = 0; i < k->flow_count; i++)
        free(k->flows[i]);
    free(k->flows);
    free(k->name);
    qs_meter_fini(&k->policer);
}

/* A port without classes has one, which takes everything. */
static const qs_class_spec the_only_class = {
    .name = "all",
    .share = {.bandwidth = {1, 0, 1}, .quantum = {1500, 0, 1}},
};

static bool takes_all(const qs_class_spec *spec)
{
    return !spec->match && !spec->flow_count;
}

static qs_status check_classes(const qs_port_spec *spec, const char *owner, qs_error *why)
{
    size_t rest = 0;
    for (size_t c = 0; c < spec->class_count; c++) {
        rest += takes_all(&spec->classes[c]);
        for (size_t d = 0; d < c; d++)
            if (strcmp(spec->classes[c].name, spec->classes[d].name) == 0)
                return qs_error_set(why, QS_EINVAL, "%s: two classes are called \"%s\"", owner, spec->classes[c].name);
    }
    if (spec->class_count && rest != 1)
        return qs_error_set(why, QS_EINVAL,
                            "%s: exactly one class must have neither match nor flows, to take the rest; got %zu", owner,
                            rest);
    return QS_OK;
}

static qs_status init_classes(qs_port *port, const qs_port_spec *spec, qs_error *why)
{
    const size_t count = spec->class_count ? spec->class_count : 1;
    port->classes = calloc(count, sizeof *port->classes);
    port->also_touched.count = (count + 63) / 64;
    port->also_touched.words = calloc(port->also_touched.count, sizeof *port->also_touched.words);
    if (!port->classes || !port->also_touched.words)
        return QS_ENOMEM;
    port->class_count = count;
    for (size_t c = 0; c < count; c++) {
        const qs_class_spec *klass = spec->class_count ? &spec->classes[c] : &the_only_class;
        const qs_status status = class_init(&port->classes[c], klass, spec, why);
        if (status)
            return status;
    }
    return QS_OK;
}

static qs_status init_sched(qs_port *port, const qs_port_spec *spec, const char *owner, qs_error *why)
{
    qs_share *shares = calloc(port->class_count, sizeof *shares);
    if (!shares)
        return QS_ENOMEM;
    for (size_t c = 0; c < port->class_count; c++)
        shares[c] = spec->class_count ? spec->classes[c].share : the_only_class.share;
    static const qs_spec fifo = {"fifo", NULL, 0};
    const qs_sched_setup setup = {
        .shares = shares, .classes = port->class_count, .rate = spec->rate, .owner = owner, .why = why};
    const qs_status status = qs_sched_init(&port->sched, spec->scheduler ? spec->scheduler : &fifo, &setup);
    free(shares);
    return status;
}

static qs_status init_parts(qs_port *port, const qs_port_spec *spec, const char *owner, qs_error *why)
{
    qs_status status = check_classes(spec, owner, why);
    if (!status)
        status = qs_framing_init(&port->framing, spec->framing, owner, why);
    if (!status)
        status = qs_link_init(&port->link, spec->rate, qs_framing_bits(&port->framing, QS_SIZE_MAX), owner, why);
    if (!status && spec->propagation < 0)
        status = qs_error_set(why, QS_EINVAL, "%s: propagation must be at least 0 ps, got %lld", owner,
                              (long long)spec->propagation);
    if (!status && spec->ring) {
        port->has_ring = true;
        status = qs_ring_init(&port->ring, spec->ring, owner, why);
    }
    if (!status)
        status = init_classes(port, spec, why);
    return status ? status : init_sched(port, spec, owner, why);
}

qs_status qs__port_init(qs_port *port, const qs_port_spec *spec, const qs_sim_config *config, qs_error *why)
{
    char owner[128];
    snprintf(owner, sizeof owner, "port \"%s\"", spec->name);
    *port = (qs_port){
        .first_touched = NO_CLASS_TOUCHED,
        .end = QS_NEVER,
        .back = QS_NEVER,
        .due = QS_NEVER,
        .propagation = spec->propagation,
        .outbound = {.propagation = spec->propagation},
        .warmup = config->warmup,
    };
    port->name = copy_name(spec->name);
    const qs_status status = port->name ? init_parts(port, spec, owner, why) : QS_ENOMEM;
    if (status)
        qs__port_fini(port);
    return status;
}

void qs__port_fini(qs_port *port)
{
    for (size_t c = 0; c < port->class_count; c++)
        class_fini(&port->classes[c]);
    free(port->classes);
    free(port->also_touched.words);
    free(port->class_of);
    free(port->entering);
    free(port->inbound);
    free(port->landed);
    qs__events_fini(&port->arrivals);
    qs_sched_fini(&port->sched);
    for (size_t kind = 0; kind < QS_TRACE_KINDS; kind++) {
        while (port->traces[kind]) {
            qs_trace *next = port->traces[kind]->next;
            free(port->traces[kind]);
            port->traces[kind] = next;
        }
    }
    free(port->name);
    *port = (qs_port){0};
}
