/* SPDX-License-Identifier: MIT */
/* Answers: what the core counted, as Python's dicts and lists. */
#include "binding.h"

/* ---- Counts ------------------------------------------------------------------------------------------------ */

typedef struct counter {
    const char *name;
    uint64_t value;
} counter;

/* Puts `value`, which it takes, into `dict`. */
static bool put(PyObject *dict, const char *name, PyObject *value)
{
    const bool stored = value && PyDict_SetItemString(dict, name, value) == 0;
    Py_XDECREF(value);
    return stored;
}

/* A new dict of `counts`, which one without a name ends. */
static PyObject *dict_of(const counter *counts)
{
    PyObject *dict = PyDict_New();
    for (; dict && counts->name; counts++)
        if (!put(dict, counts->name, PyLong_FromUnsignedLongLong(counts->value)))
            Py_CLEAR(dict);
    return dict;
}

/* Any 128-bit integer, as high * 2^64 + low. */
static PyObject *long_from(qs_i128 value)
{
    if (value >= INT64_MIN && value <= INT64_MAX)
        return PyLong_FromLongLong((long long)value);
    PyObject *high = PyLong_FromLongLong((long long)(value >> 64));
    PyObject *low = PyLong_FromUnsignedLongLong((unsigned long long)value);
    PyObject *width = PyLong_FromLong(64);
    PyObject *shifted = high && low && width ? PyNumber_Lshift(high, width) : NULL;
    PyObject *whole = shifted ? PyNumber_Or(shifted, low) : NULL;
    Py_XDECREF(shifted);
    Py_XDECREF(width);
    Py_XDECREF(low);
    Py_XDECREF(high);
    return whole;
}

PyObject *qs__answers_flow(const qs_sim *sim, size_t flow)
{
    const qs_flow_counts *c = qs_sim_flow_counts(sim, flow);
    return dict_of((const counter[]){
        {"sent", c->sent},
        {"received", c->fates[QS_RECEIVED]},
        {"inside", c->fates[QS_INSIDE]},
        {"dropped_queue", c->fates[QS_DROPPED_QUEUE]},
        {"dropped_policer", c->fates[QS_DROPPED_POLICER]},
        {"sent_bytes", c->sent_bytes},
        {"received_bytes", c->received_bytes},
        {"delivered_bytes", c->delivered_bytes},
        {"loss_periods", c->loss_periods},
        {"longest_loss", c->longest_loss},
        {0},
    });
}

static PyObject *class_counts(const qs_sim *sim, size_t port, size_t k)
{
    const qs_class_counts *c = qs_sim_class_counts(sim, port, k);
    PyObject *dict = dict_of((const counter[]){
        {"offered", c->offered},
        {"offered_bytes", c->offered_bytes},
        {"sent", c->sent},
        {"sent_bytes", c->sent_bytes},
        {"dropped_queue", c->dropped_queue},
        {"dropped_policer", c->dropped_policer},
        {"inside", c->inside},
        {"largest_queue", c->largest_queue},
        {"largest_queue_bytes", c->largest_queue_bytes},
        {0},
    });
    if (dict && !put(dict, "queue_area", long_from((qs_i128)c->queue_area)))
        Py_CLEAR(dict);
    return dict;
}

static PyObject *classes_of(const qs_sim *sim, size_t port, size_t count)
{
    PyObject *list = PyList_New((Py_ssize_t)count);
    for (size_t k = 0; list && k < count; k++) {
        PyObject *counts = class_counts(sim, port, k);
        if (counts)
            PyList_SET_ITEM(list, (Py_ssize_t)k, counts);
        else
            Py_CLEAR(list);
    }
    return list;
}

PyObject *qs__answers_port(const qs_sim *sim, size_t port)
{
    const qs_port_counts *c = qs_sim_port_counts(sim, port);
    PyObject *dict = dict_of((const counter[]){
        {"busy", (uint64_t)c->busy},
        {"sent", c->sent},
        {"sent_bytes", c->sent_bytes},
        {"wire_bits", c->wire_bits},
        {"largest_ring", c->largest_ring},
        {0},
    });
    if (dict && !(put(dict, "ring_area", long_from((qs_i128)c->ring_area)) &&
                  put(dict, "classes", classes_of(sim, port, c->class_count))))
        Py_CLEAR(dict);
    return dict;
}

/* ---- Statistics -------------------------------------------------------------------------------------------- */

static PyObject *moments(const qs_stats *stats)
{
    const bool any = stats->count > 0;
    PyObject *dict = dict_of((const counter[]){{"count", stats->count}, {0}});
    if (dict && !(put(dict, "min", PyLong_FromLongLong(any ? stats->min : 0)) &&
                  put(dict, "max", PyLong_FromLongLong(any ? stats->max : 0)) &&
                  put(dict, "sum", long_from(any ? qs_stats_sum(stats) : 0)) &&
                  put(dict, "m2", PyFloat_FromDouble(any ? qs_stats_deviations(stats) : 0.0)) &&
                  qs__columns_buckets(dict, stats)))
        Py_CLEAR(dict);
    return dict;
}

/* (port, queue, ring, serialisation, propagation) of one hop */
static PyObject *stage_sums(uint32_t port, qs_stages s)
{
    return Py_BuildValue("(INNNN)", (unsigned)port, long_from(s.queue), long_from(s.ring), long_from(s.serialisation),
                         long_from(s.propagation));
}

static PyObject *stages_of(const qs_sim *sim, size_t flow, const qs_summary *summary)
{
    size_t hops;
    const uint32_t *route = qs_sim_route(sim, flow, &hops);
    PyObject *list = PyList_New((Py_ssize_t)hops);
    for (size_t i = 0; list && i < hops; i++) {
        PyObject *sums = stage_sums(route[i], qs_summary_stages(summary, i));
        if (sums)
            PyList_SET_ITEM(list, (Py_ssize_t)i, sums);
        else
            Py_CLEAR(list);
    }
    return list;
}

PyObject *qs__answers_statistics(const qs_sim *sim, size_t flow)
{
    const qs_summary *summary = qs_sim_summary(sim, flow);
    if (!summary) {
        PyErr_SetString(PyExc_RuntimeError, "no statistics were kept: that takes record=\"summary\"");
        return NULL;
    }
    PyObject *dict = PyDict_New();
    if (dict && !(put(dict, "delay", moments(&summary->delay)) && put(dict, "ipdv", moments(&summary->ipdv)) &&
                  put(dict, "stages", stages_of(sim, flow, summary))))
        Py_CLEAR(dict);
    return dict;
}
