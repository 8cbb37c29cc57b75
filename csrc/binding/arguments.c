/* SPDX-License-Identifier: MIT */
/*
 * Arguments: what Python says, read into the core's structures. Components come as plain tuples, so that a whole port
 * is one call, and are read strictly: tuples only, since nothing else keeps its items while other code runs.
 */
#include "binding.h"

#include <string.h>

/* ---- Memory for the length of a call ----------------------------------------------------------------------- */

typedef struct qs__block {
    struct qs__block *next;
    _Alignas(16) unsigned char bytes[];
} qs__block;

void qs__arguments_init(qs__arguments *a, const qs__module *module, PyObject *keep)
{
    a->module = module;
    a->keep = keep;
    a->blocks = NULL;
    a->used = 0;
}

void qs__arguments_fini(qs__arguments *a)
{
    while (a->blocks) {
        qs__block *next = a->blocks->next;
        PyMem_Free(a->blocks);
        a->blocks = next;
    }
}

/* Zeroed memory for `count` things of `size`, which a tuple of as many items shows to be a number that fits. */
static void *reserve(qs__arguments *a, size_t count, size_t size)
{
    const size_t bytes = (count * size + 15) & ~(size_t)15;
    unsigned char *place;
    if (bytes <= sizeof a->first - a->used) {
        place = a->first + a->used;
        a->used += bytes;
    } else {
        qs__block *block = PyMem_Malloc(sizeof *block + bytes);
        if (!block) {
            PyErr_NoMemory();
            return NULL;
        }
        block->next = a->blocks;
        a->blocks = block;
        place = block->bytes;
    }
    return memset(place, 0, bytes);
}

/* ---- Tuples ------------------------------------------------------------------------------------------------ */

static bool refuse_type(PyObject *object, const char *field, const char *wanted)
{
    PyErr_Format(PyExc_TypeError, "%s must be %s, not %.100s", field, wanted, Py_TYPE(object)->tp_name);
    return false;
}

static bool check_tuple(PyObject *object, const char *field)
{
    return PyTuple_Check(object) || refuse_type(object, field, "a tuple");
}

static bool check_items(PyObject *object, const char *field, Py_ssize_t count, const char *wanted)
{
    if (!PyTuple_Check(object))
        return refuse_type(object, field, wanted);
    if (PyTuple_GET_SIZE(object) == count)
        return true;
    PyErr_Format(PyExc_TypeError, "%s must be %s, got %zd items", field, wanted, PyTuple_GET_SIZE(object));
    return false;
}

/* ---- Text and numbers -------------------------------------------------------------------------------------- */

bool qs__arguments_text(qs__arguments *a, PyObject *object, const char *field, const char **out)
{
    if (!PyUnicode_Check(object))
        return refuse_type(object, field, "a string");
    Py_ssize_t length;
    const char *text = PyUnicode_AsUTF8AndSize(object, &length);
    if (!text)
        return false;
    if (strlen(text) != (size_t)length) {
        PyErr_Format(a->module->scenario_error, "%s must not contain a null character, got %R", field, object);
        return false;
    }
    *out = text;
    return true;
}

bool qs__arguments_integer(qs__arguments *a, PyObject *object, const char *field, uint64_t min, uint64_t max,
                           uint64_t *out)
{
    if (!PyLong_Check(object))
        return refuse_type(object, field, "an int");
    const unsigned long long value = PyLong_AsUnsignedLongLong(object);
    if (value == (unsigned long long)-1 && PyErr_Occurred()) {
        if (!PyErr_ExceptionMatches(PyExc_OverflowError))
            return false;
        PyErr_Clear();
    } else if (value >= min && value <= max) {
        *out = value;
        return true;
    }
    PyErr_Format(a->module->scenario_error, "%s must be %llu to %llu, got %R", field, (unsigned long long)min,
                 (unsigned long long)max, object);
    return false;
}

bool qs__arguments_time(qs__arguments *a, PyObject *object, const char *field, qs_time min, qs_time max, qs_time *out)
{
    uint64_t value;
    if (!qs__arguments_integer(a, object, field, (uint64_t)min, (uint64_t)max, &value))
        return false;
    *out = (qs_time)value;
    return true;
}

bool qs__arguments_ratio(qs__arguments *a, PyObject *object, const char *field, qs_ratio *out)
{
    qs_ratio r = {0, 0, 1};
    if (PyLong_Check(object)) {
        if (!qs__arguments_integer(a, object, field, 0, INT64_MAX, &r.whole))
            return false;
    } else if (!check_items(object, field, 3, "an int or (whole, part, per)") ||
               !qs__arguments_integer(a, PyTuple_GET_ITEM(object, 0), field, 0, INT64_MAX, &r.whole) ||
               !qs__arguments_integer(a, PyTuple_GET_ITEM(object, 2), field, 1, INT64_MAX, &r.per) ||
               !qs__arguments_integer(a, PyTuple_GET_ITEM(object, 1), field, 0, r.per - 1, &r.part)) {
        return false;
    }
    *out = r;
    return true;
}

/* None gives the ratio of which `per` is 0. */
static bool read_optional_ratio(qs__arguments *a, PyObject *object, const char *field, qs_ratio *out)
{
    *out = (qs_ratio){0, 0, 0};
    return Py_IsNone(object) || qs__arguments_ratio(a, object, field, out);
}

/* ---- Specs ------------------------------------------------------------------------------------------------- */

/* Native 64-bit integers: struct's "q", or "l" where that is as wide. */
static bool is_int64(const Py_buffer *view)
{
    const char *format = view->format ? view->format : "B";
    if (*format == '@' || *format == '=')
        format++;
    return view->itemsize == 8 && (strcmp(format, "q") == 0 || strcmp(format, "l") == 0);
}

static bool read_array(qs__arguments *a, PyObject *object, const char *field, qs_setting *out)
{
    PyObject *memory = PyMemoryView_FromObject(object);
    if (!memory)
        return false;
    const Py_buffer *view = PyMemoryView_GET_BUFFER(memory);
    const bool fits = view->ndim == 1 && is_int64(view) && PyBuffer_IsContiguous(view, 'C');
    if (fits) {
        static const int64_t none[1];
        out->array = view->len ? view->buf : none;
        out->count = (size_t)view->len / sizeof *out->array;
    } else {
        PyErr_Format(PyExc_TypeError, "%s must be a contiguous array of int64 in one dimension, got format '%s' in %d",
                     field, view->format ? view->format : "B", view->ndim);
    }
    const bool kept = fits && PyList_Append(a->keep, memory) == 0;
    Py_DECREF(memory);
    return kept;
}

static bool read_setting(qs__arguments *a, PyObject *object, qs_setting *out)
{
    if (!check_items(object, "a setting", 2, "(name, value)") ||
        !qs__arguments_text(a, PyTuple_GET_ITEM(object, 0), "a setting's name", &out->name))
        return false;
    PyObject *value = PyTuple_GET_ITEM(object, 1);
    if (PyLong_Check(value) || PyTuple_Check(value))
        return qs__arguments_ratio(a, value, out->name, &out->value);
    if (PyUnicode_Check(value))
        return qs__arguments_text(a, value, out->name, &out->word);
    if (PyObject_CheckBuffer(value))
        return read_array(a, value, out->name, out);
    return refuse_type(value, out->name, "an int, (whole, part, per), a string or an array");
}

bool qs__arguments_spec(qs__arguments *a, PyObject *object, const char *field, const qs_spec **out)
{
    qs_spec *spec = reserve(a, 1, sizeof *spec);
    if (!spec || !check_items(object, field, 2, "(kind, settings)") ||
        !qs__arguments_text(a, PyTuple_GET_ITEM(object, 0), field, &spec->kind) ||
        !check_tuple(PyTuple_GET_ITEM(object, 1), field))
        return false;
    PyObject *items = PyTuple_GET_ITEM(object, 1);
    spec->count = (size_t)PyTuple_GET_SIZE(items);
    qs_setting *settings = reserve(a, spec->count, sizeof *settings);
    if (!settings)
        return false;
    for (size_t i = 0; i < spec->count; i++)
        if (!read_setting(a, PyTuple_GET_ITEM(items, i), &settings[i]))
            return false;
    spec->settings = settings;
    *out = spec;
    return true;
}

bool qs__arguments_optional_spec(qs__arguments *a, PyObject *object, const char *field, const qs_spec **out)
{
    *out = NULL;
    return Py_IsNone(object) || qs__arguments_spec(a, object, field, out);
}

/* ---- Lists ------------------------------------------------------------------------------------------------- */

bool qs__arguments_route(qs__arguments *a, PyObject *object, const uint32_t **out, size_t *count)
{
    if (!check_tuple(object, "route"))
        return false;
    *count = (size_t)PyTuple_GET_SIZE(object);
    uint32_t *route = reserve(a, *count, sizeof *route);
    if (!route)
        return false;
    for (size_t i = 0; i < *count; i++) {
        uint64_t port;
        if (!qs__arguments_integer(a, PyTuple_GET_ITEM(object, i), "route", 0, UINT32_MAX, &port))
            return false;
        route[i] = (uint32_t)port;
    }
    *out = route;
    return true;
}

static bool read_names(qs__arguments *a, PyObject *object, const char *const **out, size_t *count)
{
    if (!check_tuple(object, "flows"))
        return false;
    *count = (size_t)PyTuple_GET_SIZE(object);
    const char **names = reserve(a, *count, sizeof *names);
    if (!names)
        return false;
    for (size_t i = 0; i < *count; i++)
        if (!qs__arguments_text(a, PyTuple_GET_ITEM(object, i), "flows", &names[i]))
            return false;
    *out = names;
    return true;
}

/* (name, match, flows, bandwidth, quantum, queue, policer) */
static bool read_class(qs__arguments *a, PyObject *object, qs_class_spec *out)
{
    return check_items(object, "a class", 7, "(name, match, flows, bandwidth, quantum, queue, policer)") &&
           qs__arguments_text(a, PyTuple_GET_ITEM(object, 0), "a class's name", &out->name) &&
           qs__arguments_integer(a, PyTuple_GET_ITEM(object, 1), "match", 0, UINT64_MAX, &out->match) &&
           read_names(a, PyTuple_GET_ITEM(object, 2), &out->flows, &out->flow_count) &&
           read_optional_ratio(a, PyTuple_GET_ITEM(object, 3), "bandwidth", &out->share.bandwidth) &&
           read_optional_ratio(a, PyTuple_GET_ITEM(object, 4), "quantum", &out->share.quantum) &&
           qs__arguments_optional_spec(a, PyTuple_GET_ITEM(object, 5), "queue", &out->queue) &&
           qs__arguments_optional_spec(a, PyTuple_GET_ITEM(object, 6), "policer", &out->policer);
}

bool qs__arguments_classes(qs__arguments *a, PyObject *object, const qs_class_spec **out, size_t *count)
{
    if (!check_tuple(object, "classes"))
        return false;
    *count = (size_t)PyTuple_GET_SIZE(object);
    qs_class_spec *classes = reserve(a, *count, sizeof *classes);
    if (!classes)
        return false;
    for (size_t i = 0; i < *count; i++)
        if (!read_class(a, PyTuple_GET_ITEM(object, i), &classes[i]))
            return false;
    *out = classes;
    return true;
}
