/* SPDX-License-Identifier: MIT */
/* Module: what qossim._core is besides its type, and how the core's statuses become Python's exceptions. */
#include "binding.h"

#include <string.h>

bool qs__status_check(const qs__module *module, qs_status status, const char *sentence)
{
    if (status == QS_OK)
        return true;
    if (status == QS_ENOMEM) {
        PyErr_NoMemory();
        return false;
    }
    if (!sentence || !*sentence)
        sentence = qs_status_text(status);
    PyObject *text = PyUnicode_DecodeUTF8(sentence, (Py_ssize_t)strlen(sentence), "replace"); /* it may be cut short */
    if (text)
        PyErr_SetObject(status == QS_ESTATE ? PyExc_RuntimeError : module->scenario_error, text);
    Py_XDECREF(text);
    return false;
}

/* ---- parameters() ------------------------------------------------------------------------------------------ */

/* The word of a choice by its index; the whole if there is no choice. */
static PyObject *choice_word(const char *words, size_t index)
{
    for (; index && strchr(words, '|'); index--)
        words = strchr(words, '|') + 1;
    return PyUnicode_FromStringAndSize(words, (Py_ssize_t)strcspn(words, "|"));
}

/* A number or a word; None where there is none, and Ellipsis where the user must say. */
static PyObject *default_of(const qs_param *param)
{
    if (isnan(param->fallback))
        return Py_NewRef(Py_None);
    if (isinf(param->fallback))
        return Py_NewRef(Py_Ellipsis);
    if (strchr(param->unit, '|'))
        return choice_word(param->unit, (size_t)param->fallback);
    return PyFloat_FromDouble(param->fallback);
}

static PyObject *table_of(const qs_param *params)
{
    PyObject *rows = PyList_New(0);
    for (const qs_param *p = params; rows && p && p->name; p++) {
        PyObject *row = Py_BuildValue("(ssddNs)", p->name, p->unit, p->min, p->max, default_of(p), p->meaning);
        if (!row || PyList_Append(rows, row) < 0)
            Py_CLEAR(rows);
        Py_XDECREF(row);
    }
    return rows;
}

static bool add_kind(PyObject *station, const char *name, const qs_param *params)
{
    PyObject *table = table_of(params);
    const bool added = table && PyDict_SetItemString(station, name, table) == 0;
    Py_XDECREF(table);
    return added;
}

/* Defines a function that adds the kinds of a registry; they differ only in the type of their descriptors. */
#define DEFINE_ADD_KINDS(add, registry)                                                                                \
    static bool add(PyObject *station)                                                                                 \
    {                                                                                                                  \
        for (size_t i = 0; (registry)[i]; i++)                                                                         \
            if (!add_kind(station, (registry)[i]->name, (registry)[i]->params))                                        \
                return false;                                                                                          \
        return true;                                                                                                   \
    }

DEFINE_ADD_KINDS(add_sources, qs_sources)
DEFINE_ADD_KINDS(add_meters, qs_meters)
DEFINE_ADD_KINDS(add_queues, qs_queues)
DEFINE_ADD_KINDS(add_scheds, qs_scheds)
DEFINE_ADD_KINDS(add_framings, qs_framings)

static bool add_port_kinds(PyObject *station)
{
    return add_framings(station) && add_kind(station, "tx-ring", qs_ring_params);
}

static bool add_station(PyObject *stations, const char *name, bool (*add_kinds)(PyObject *))
{
    PyObject *station = PyDict_New();
    const bool added = station && add_kinds(station) && PyDict_SetItemString(stations, name, station) == 0;
    Py_XDECREF(station);
    return added;
}

PyDoc_STRVAR(parameters_doc,
             "parameters()\n"
             "--\n"
             "\n"
             "The core's own tables: station -> kind -> rows of (name, unit, min, max, default, meaning).\n"
             "\n"
             "The unit of a choice is its words with bars between them. A default of None may be left out, one of\n"
             "Ellipsis must be given.");

static PyObject *parameters(PyObject *Py_UNUSED(module), PyObject *Py_UNUSED(none))
{
    PyObject *stations = PyDict_New();
    const bool added = stations && add_station(stations, "source", add_sources) &&
                       add_station(stations, "meter", add_meters) && add_station(stations, "queue", add_queues) &&
                       add_station(stations, "sched", add_scheds) && add_station(stations, "port", add_port_kinds);
    if (!added)
        Py_CLEAR(stations);
    return stations;
}

PyDoc_STRVAR(
    seed_words_doc,
    "seed_words(entropy, words, wide, /)\n"
    "--\n"
    "\n"
    "The state that numpy.random.SeedSequence, of the usual pool, generates from its assembled entropy: 32-bit\n"
    "words in little-endian bytes. Answers in bytes, for an array of uint32 or, if wide, uint64.");

static PyObject *seed_words(PyObject *Py_UNUSED(module), PyObject *args)
{
    const char *entropy;
    Py_ssize_t bytes, words;
    int wide;
    if (!PyArg_ParseTuple(args, "y#np:seed_words", &entropy, &bytes, &words, &wide))
        return NULL;
    if (bytes % (Py_ssize_t)sizeof(uint32_t) != 0 || words < 0 || words > 4096) {
        PyErr_SetString(PyExc_ValueError, "entropy must be whole words of 32 bits, and words from 0 to 4096");
        return NULL;
    }
    return qs__generator_seed_words((const unsigned char *)entropy, (size_t)bytes / sizeof(uint32_t), (size_t)words,
                                    wide);
}

/* ---- The module -------------------------------------------------------------------------------------------- */

static bool import_scenario_error(qs__module *module)
{
    PyObject *errors = PyImport_ImportModule("qossim.errors");
    module->scenario_error = errors ? PyObject_GetAttrString(errors, "ScenarioError") : NULL;
    Py_XDECREF(errors);
    return module->scenario_error != NULL;
}

/* How much freed memory waits for the next arrays: as much as a run of some four million packets over one port needs.
 */
enum { DEPOT_BYTES = 256 << 20 };

static int module_exec(PyObject *m)
{
    qs__module *module = PyModule_GetState(m);
    if (!qs__columns_import() || !import_scenario_error(module))
        return -1;
    if (!qs__status_check(module, qs_depot_create(&module->depot, DEPOT_BYTES), NULL))
        return -1;
    module->simulation_type = PyType_FromModuleAndSpec(m, &qs__simulation_spec, NULL);
    if (!module->simulation_type || PyModule_AddObjectRef(m, "Simulation", module->simulation_type) < 0)
        return -1;
    return PyModule_AddStringConstant(m, "__version__", QS_VERSION);
}

static int module_traverse(PyObject *m, visitproc visit, void *arg)
{
    const qs__module *module = PyModule_GetState(m);
    Py_VISIT(module->simulation_type);
    Py_VISIT(module->scenario_error);
    return 0;
}

static int module_clear(PyObject *m)
{
    qs__module *module = PyModule_GetState(m);
    Py_CLEAR(module->simulation_type);
    Py_CLEAR(module->scenario_error);
    return 0;
}

static void module_free(void *m)
{
    qs__module *module = PyModule_GetState(m);
    module_clear(m);
    qs_depot_destroy(module->depot);
    module->depot = NULL;
}

static PyMethodDef module_methods[] = {
    {"parameters", parameters, METH_NOARGS, parameters_doc},
    {"seed_words", seed_words, METH_VARARGS, seed_words_doc},
    {0},
};

/* NumPy keeps its C interface in one place for the whole process, so that this module cannot be had twice in it. */
static PyModuleDef_Slot module_slots[] = {
    {Py_mod_exec, module_exec},
#ifdef Py_mod_multiple_interpreters
    {Py_mod_multiple_interpreters, Py_MOD_MULTIPLE_INTERPRETERS_NOT_SUPPORTED},
#endif
#ifdef Py_mod_gil
    {Py_mod_gil, Py_MOD_GIL_NOT_USED},
#endif
    {0},
};

PyDoc_STRVAR(module_doc, "The simulator's core, in C. Its interface is private; qossim.run is the public one.");

static PyModuleDef module_def = {
    PyModuleDef_HEAD_INIT,         .m_name = "qossim._core",    .m_doc = module_doc,
    .m_size = sizeof(qs__module),  .m_methods = module_methods, .m_slots = module_slots,
    .m_traverse = module_traverse, .m_clear = module_clear,     .m_free = module_free,
};

PyMODINIT_FUNC PyInit__core(void)
{
    return PyModuleDef_Init(&module_def);
}
