/* SPDX-License-Identifier: MIT */
/*
 * Columns: the recorder's buffers become NumPy arrays, without a copy. An array's base is a capsule that owns the
 * buffer and frees it with the last array that looks into it.
 */
#include "binding.h"

#include <stdlib.h>

#define NPY_NO_DEPRECATED_API NPY_2_0_API_VERSION
#include <numpy/arrayobject.h>

#define CAPSULE_NAME "qossim.column"

bool qs__columns_import(void)
{
    import_array1(false);
    return true;
}

static void free_column(PyObject *capsule)
{
    qs_block_free(PyCapsule_GetPointer(capsule, CAPSULE_NAME));
}

/* Gives `data`, of `rows` items, to a new array. It is freed if that fails. */
static PyObject *array_from(void *data, size_t rows, int type)
{
    PyObject *capsule = PyCapsule_New(data, CAPSULE_NAME, free_column);
    if (!capsule) {
        qs_block_free(data);
        return NULL;
    }
    npy_intp shape[1] = {(npy_intp)rows};
    PyObject *array = PyArray_SimpleNewFromData(1, shape, type, data);
    if (!array) {
        Py_DECREF(capsule);
        return NULL;
    }
    if (PyArray_SetBaseObject((PyArrayObject *)array, capsule) < 0) /* steals the capsule, failing or not */
        Py_CLEAR(array);
    return array;
}

/* Puts an array into `dict`, under `name`, to which it gives `data`. */
static bool put_array(PyObject *dict, const char *name, void *data, size_t rows, int type)
{
    PyObject *array = array_from(data, rows, type);
    const bool put = array && PyDict_SetItemString(dict, name, array) == 0;
    Py_XDECREF(array);
    return put;
}

/* ---- Rows of packets --------------------------------------------------------------------------------------- */

typedef struct column {
    const char *name;
    int type;
    void *data;
} column;

/* Takes every column's data, whether it succeeds or not. */
static PyObject *give(const column *columns, size_t count, size_t rows)
{
    if (!columns[0].data) {
        PyErr_SetString(PyExc_RuntimeError, "these columns have been given away: they can be had once");
        return NULL;
    }
    PyObject *dict = PyDict_New();
    for (size_t i = 0; i < count; i++) {
        if (!dict)
            qs_block_free(columns[i].data);
        else if (!put_array(dict, columns[i].name, columns[i].data, rows, columns[i].type))
            Py_CLEAR(dict);
    }
    return dict;
}

PyObject *qs__columns_packets(qs_columns *c)
{
    const column columns[] = {
        {"flow", NPY_INT32, c->flow},         {"seq", NPY_INT32, c->seq},     {"size", NPY_INT32, c->size},
        {"fate", NPY_INT8, c->fate},          {"where", NPY_INT16, c->where}, {"sent", NPY_INT64, c->sent},
        {"received", NPY_INT64, c->received},
    };
    c->flow = c->seq = c->size = NULL;
    c->fate = NULL;
    c->where = NULL;
    c->sent = c->received = NULL;
    return give(columns, sizeof columns / sizeof *columns, c->rows);
}

PyObject *qs__columns_hop(qs_columns *c, size_t port)
{
    const qs_hop_columns hop = c->hops[port];
    const column columns[] = {
        {"queued", NPY_INT64, hop.queued},
        {"ring", NPY_INT64, hop.ring},
        {"start", NPY_INT64, hop.start},
        {"end", NPY_INT64, hop.end},
    };
    c->hops[port] = (qs_hop_columns){0};
    return give(columns, sizeof columns / sizeof *columns, c->rows);
}

/* ---- Histograms -------------------------------------------------------------------------------------------- */

/* The buckets of both signs: the magnitudes below zero first, then the values above, `below` of them in all. */
static qs_bucket *list_buckets(const qs_stats *stats, size_t *below, size_t *rows)
{
    *below = qs_histogram_buckets(&stats->below, NULL, 0);
    *rows = *below + qs_histogram_buckets(&stats->above, NULL, 0);
    qs_bucket *buckets = malloc((*rows + 1) * sizeof *buckets); /* one to spare: never of no bytes */
    if (!buckets) {
        PyErr_NoMemory();
        return NULL;
    }
    qs_histogram_buckets(&stats->below, buckets, *below);
    qs_histogram_buckets(&stats->above, buckets + *below, *rows - *below);
    return buckets;
}

/* Puts a new array into `dict`, under `name`, and returns its memory; NULL with an exception set. */
static void *add_array(PyObject *dict, const char *name, size_t rows, int type)
{
    npy_intp shape[1] = {(npy_intp)rows};
    PyObject *array = PyArray_SimpleNew(1, shape, type);
    const bool put = array && PyDict_SetItemString(dict, name, array) == 0;
    Py_XDECREF(array); /* the dict holds it */
    return put ? PyArray_DATA((PyArrayObject *)array) : NULL;
}

bool qs__columns_buckets(PyObject *dict, const qs_stats *stats)
{
    size_t below, rows;
    qs_bucket *buckets = list_buckets(stats, &below, &rows);
    int64_t *low = buckets ? add_array(dict, "low", rows, NPY_INT64) : NULL;
    int64_t *high = low ? add_array(dict, "high", rows, NPY_INT64) : NULL;
    uint64_t *counts = high ? add_array(dict, "counts", rows, NPY_UINT64) : NULL;
    for (size_t i = 0; counts && i < rows; i++) {
        const bool negative = i < below;
        const qs_bucket *b = &buckets[negative ? below - 1 - i : i];
        low[i] = negative ? -(int64_t)b->high : (int64_t)b->low;
        high[i] = negative ? -(int64_t)b->low : (int64_t)b->high;
        counts[i] = b->count;
    }
    free(buckets);
    return counts != NULL;
}
