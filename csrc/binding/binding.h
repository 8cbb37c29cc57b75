/* SPDX-License-Identifier: MIT */
/*
 * Binding: the core as the Python module qossim._core. module.c makes the module, simulation.c its one type,
 * arguments.c reads what Python says, answers.c tells what the core counted, digest.c what it recorded, generator.c
 * knows NumPy's bit generators and columns.c its arrays.
 *
 * A function that returns bool has set a Python exception when it returns false.
 */
#ifndef QOSSIM_BINDING_H
#define QOSSIM_BINDING_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include <qossim/qossim.h>

/* What the module owns; all of it lives as long as the module does. */
typedef struct qs__module {
    PyObject *simulation_type;
    PyObject *scenario_error; /* qossim.errors.ScenarioError */
    qs_depot *depot;          /* memory of arrays that are gone, for the next ones */
} qs__module;

extern PyType_Spec qs__simulation_spec;

/* ---- module.c ---------------------------------------------------------------------------------------------- */

/* True for QS_OK, else raises what belongs to the status: ScenarioError, MemoryError or RuntimeError. */
bool qs__status_check(const qs__module *module, qs_status status, const char *sentence);

/* ---- arguments.c ------------------------------------------------------------------------------------------- */

/*
 * The arguments of one call, read into the core's structures. What those point to lives until fini; the buffers of
 * arrays are kept longer, as memoryviews in the list `keep`.
 */
typedef struct qs__arguments {
    const qs__module *module;
    PyObject *keep;
    struct qs__block *blocks; /* once `first` is full */
    size_t used;              /* of `first` */
    _Alignas(16) unsigned char first[2048];
} qs__arguments;

void qs__arguments_init(qs__arguments *a, const qs__module *module, PyObject *keep);
void qs__arguments_fini(qs__arguments *a);

/*
 * Each reads `object`, called `field` in messages: TypeError if it is something else, ScenarioError if it is out of
 * bounds. For what is optional, None gives NULL.
 */
bool qs__arguments_text(qs__arguments *a, PyObject *object, const char *field, const char **out);
bool qs__arguments_integer(qs__arguments *a, PyObject *object, const char *field, uint64_t min, uint64_t max,
                           uint64_t *out);
bool qs__arguments_time(qs__arguments *a, PyObject *object, const char *field, qs_time min, qs_time max, qs_time *out);
bool qs__arguments_ratio(qs__arguments *a, PyObject *object, const char *field, qs_ratio *out);
bool qs__arguments_spec(qs__arguments *a, PyObject *object, const char *field, const qs_spec **out);
bool qs__arguments_optional_spec(qs__arguments *a, PyObject *object, const char *field, const qs_spec **out);
bool qs__arguments_route(qs__arguments *a, PyObject *object, const uint32_t **out, size_t *count);
bool qs__arguments_classes(qs__arguments *a, PyObject *object, const qs_class_spec **out, size_t *count);

/* ---- generator.c ------------------------------------------------------------------------------------------- */

/* The functions of a NumPy BitGenerator, which must be kept alive as long as they are used. */
bool qs__generator_rng(PyObject *generator, qs_rng *out);

/* Bytes: the words of 32 or (wide) 64 bits that NumPy's SeedSequence makes of so many words of entropy, which stand in
 * little-endian order. */
PyObject *qs__generator_seed_words(const unsigned char *entropy, size_t entropy_words, size_t words, bool wide);

/* ---- columns.c --------------------------------------------------------------------------------------------- */

/* To be called once, before the others. */
bool qs__columns_import(void);

/* Dicts of arrays to which the buffers in `columns` are given away, once; RuntimeError when they are gone. */
PyObject *qs__columns_packets(qs_columns *columns);
PyObject *qs__columns_hop(qs_columns *columns, size_t port);

/* Puts the buckets of `stats` into `dict`, as the arrays low, high and counts, in ascending order. */
bool qs__columns_buckets(PyObject *dict, const qs_stats *stats);

/* ---- digest.c ---------------------------------------------------------------------------------------------- */

/* A tuple of (numerator, denominator), ascending; free the levels with PyMem_Free. */
bool qs__digest_levels(const qs__module *module, PyObject *object, qs_level **out, size_t *count);

/*
 * The digest of each flow (see qs_digest), one after the other, of rows sent at or after `warmup`. Needs no GIL and
 * sets no exception; false when there is no memory.
 */
bool qs__digest_rows(const qs_columns *columns, size_t flows, qs_time warmup, const qs_level *levels, size_t count,
                     qs_depot *depot, double *out);

/* ---- answers.c --------------------------------------------------------------------------------------------- */

/* Dicts of what the core says about one thing, by its index, which must be in range. */
PyObject *qs__answers_flow(const qs_sim *sim, size_t flow);
PyObject *qs__answers_port(const qs_sim *sim, size_t port);
PyObject *qs__answers_statistics(const qs_sim *sim, size_t flow);

#endif
