/* SPDX-License-Identifier: MIT */
/*
 * Digest: the exact statistics of every flow as one block of numbers, for whoever asks the same of thousands of runs.
 */
#include "binding.h"

#include <stdlib.h>

/* ---- Levels -------------------------------------------------------------------------------------------------- */

static bool read_level(qs__arguments *a, PyObject *object, qs_level *out)
{
    if (!PyTuple_Check(object) || PyTuple_GET_SIZE(object) != 2) {
        PyErr_SetString(PyExc_TypeError, "a level must be a tuple (numerator, denominator)");
        return false;
    }
    return qs__arguments_integer(a, PyTuple_GET_ITEM(object, 1), "a level's denominator", 1, INT64_MAX,
                                 &out->denominator) &&
           qs__arguments_integer(a, PyTuple_GET_ITEM(object, 0), "a level's numerator", 0, out->denominator,
                                 &out->numerator);
}

static bool ascends(qs_level below, qs_level above)
{
    return (qs_u128)below.numerator * above.denominator <= (qs_u128)above.numerator * below.denominator;
}

bool qs__digest_levels(const qs__module *module, PyObject *object, qs_level **out, size_t *count)
{
    if (!PyTuple_Check(object)) {
        PyErr_Format(PyExc_TypeError, "levels must be a tuple, not %.100s", Py_TYPE(object)->tp_name);
        return false;
    }
    *count = (size_t)PyTuple_GET_SIZE(object);
    qs_level *levels = PyMem_Calloc(*count + 1, sizeof *levels);
    if (!levels) {
        PyErr_NoMemory();
        return false;
    }
    qs__arguments a;
    qs__arguments_init(&a, module, NULL);
    bool read = true;
    for (size_t i = 0; read && i < *count; i++) {
        read = read_level(&a, PyTuple_GET_ITEM(object, i), &levels[i]);
        if (read && i > 0 && !ascends(levels[i - 1], levels[i])) {
            PyErr_SetString(PyExc_ValueError, "levels must ascend");
            read = false;
        }
    }
    qs__arguments_fini(&a);
    if (read)
        *out = levels;
    else
        PyMem_Free(levels);
    return read;
}

/* ---- Flows --------------------------------------------------------------------------------------------------- */

/* The first row from `begin` on whose flow is at least `flow`. */
static size_t rows_below(const int32_t *flows, size_t begin, size_t end, size_t flow)
{
    while (begin < end) {
        const size_t middle = begin + (end - begin) / 2;
        if ((size_t)flows[middle] < flow)
            begin = middle + 1;
        else
            end = middle;
    }
    return begin;
}

/* The first row from `begin` on that was sent at or after `warmup`. */
static size_t rows_before(const int64_t *sent, size_t begin, size_t end, qs_time warmup)
{
    while (begin < end) {
        const size_t middle = begin + (end - begin) / 2;
        if (sent[middle] < warmup)
            begin = middle + 1;
        else
            end = middle;
    }
    return begin;
}

static size_t most_rows(const qs_columns *columns, size_t flows)
{
    size_t most = 0;
    for (size_t flow = 0, begin = 0; flow < flows; flow++) {
        const size_t end = rows_below(columns->flow, begin, columns->rows, flow + 1);
        most = end - begin > most ? end - begin : most;
        begin = end;
    }
    return most;
}

static void digest_flows(const qs_columns *c, size_t flows, qs_time warmup, const qs_level *levels, size_t count,
                         qs_digest_work *work, double *out)
{
    for (size_t flow = 0, begin = 0; flow < flows; flow++) {
        const size_t end = rows_below(c->flow, begin, c->rows, flow + 1);
        const size_t first = rows_before(c->sent, begin, end, warmup);
        qs_digest(c->sent + first, c->received + first, end - first, levels, count, work, out);
        out += QS_DIGEST_SCALARS + 3 * count;
        begin = end;
    }
}

bool qs__digest_rows(const qs_columns *columns, size_t flows, qs_time warmup, const qs_level *levels, size_t count,
                     qs_depot *depot, double *out)
{
    const size_t room = most_rows(columns, flows) + 1;
    qs_time *times = qs_block_alloc(depot, (2 * room + count) * sizeof *times);
    size_t *ranks = malloc((count + 1) * sizeof *ranks);
    const bool enough = times && ranks;
    if (enough) {
        qs_digest_work work = {times, times + room, ranks, times + 2 * room};
        digest_flows(columns, flows, warmup, levels, count, &work, out);
    }
    free(ranks);
    qs_block_free(times);
    return enough;
}
