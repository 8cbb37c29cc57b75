/* SPDX-License-Identifier: MIT */
/*
 * Simulation: one qs_sim as a Python object, in three phases: ports and flows are added, it runs once, it is asked.
 * One caller at a time: a method takes the object for as long as it lasts, and whoever comes meanwhile (another thread
 * while the GIL is released, or a callback of its own) gets a RuntimeError.
 */
#include "binding.h"

#include <string.h>
#include <time.h>

typedef enum phase {
    BUILDING,
    DONE,
    BROKEN, /* the run failed or was interrupted: there is nothing to ask */
} phase;

typedef struct simulation {
    PyObject_HEAD qs_sim *sim;        /* NULL only once the garbage collector has cleared the object */
    PyObject *keep;     /* list of what the core points into: memoryviews and bit generators */
    qs_columns columns; /* once gathered, what has not been given away */
    qs_time duration;
    qs_time warmup;
    qs_record record;
    phase phase;
    bool gathered;
    bool busy;
} simulation;

/* ---- One caller at a time ---------------------------------------------------------------------------------- */

#ifndef Py_BEGIN_CRITICAL_SECTION /* before Python 3.13 the GIL is section enough */
#define Py_BEGIN_CRITICAL_SECTION(object) {
#define Py_END_CRITICAL_SECTION() }
#endif

static const char *refusal(const simulation *self, phase needed)
{
    if (!self->sim)
        return "the simulation is being destroyed";
    if (self->busy)
        return "the simulation is in use: it runs once, and is asked by one caller at a time";
    if (self->phase == needed)
        return NULL;
    if (self->phase == BROKEN)
        return "the run did not come to its end: there are no results";
    return needed == DONE ? "the simulation has not run yet" : "the simulation has run already";
}

/* Takes the object for a method that needs it in phase `needed`. */
static bool enter(simulation *self, phase needed)
{
    const char *why;
    Py_BEGIN_CRITICAL_SECTION(self);
    why = refusal(self, needed);
    if (!why)
        self->busy = true;
    Py_END_CRITICAL_SECTION();
    if (why)
        PyErr_SetString(PyExc_RuntimeError, why);
    return !why;
}

static void leave(simulation *self, phase next)
{
    Py_BEGIN_CRITICAL_SECTION(self);
    self->phase = next;
    self->busy = false;
    Py_END_CRITICAL_SECTION();
}

static const qs__module *module_of(simulation *self)
{
    return PyType_GetModuleState(Py_TYPE(self));
}

static bool succeeded(simulation *self, qs_status status)
{
    return status == QS_OK || qs__status_check(module_of(self), status, qs_sim_error(self->sim));
}

static PyObject *none_if(bool ok)
{
    return ok ? Py_NewRef(Py_None) : NULL;
}

/* ---- Build ------------------------------------------------------------------------------------------------- */

static bool read_record(PyObject *object, qs_record *out)
{
    static const char *const names[] = {"none", "summary", "packets"}; /* in the order of qs_record */
    for (size_t i = 0; PyUnicode_Check(object) && i < sizeof names / sizeof *names; i++)
        if (PyUnicode_CompareWithASCIIString(object, names[i]) == 0) {
            *out = (qs_record)i;
            return true;
        }
    PyErr_Format(PyExc_ValueError, "record must be \"packets\", \"summary\" or \"none\", got %R", object);
    return false;
}

static bool read_config(PyTypeObject *type, PyObject *args, PyObject *kwargs, qs_sim_config *config)
{
    static char *names[] = {"record", "duration", "warmup", "drain", NULL};
    PyObject *record = NULL, *duration = NULL, *warmup = NULL;
    int drain = true;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "|$OOOp:Simulation", names, &record, &duration, &warmup, &drain))
        return false;
    if (!record || !duration) { /* keyword-only and required: the format has no word for it */
        PyErr_Format(PyExc_TypeError, "Simulation() needs the argument '%s'", record ? "duration" : "record");
        return false;
    }
    qs__arguments a;
    qs__arguments_init(&a, PyType_GetModuleState(type), NULL);
    config->cut = !drain;
    const bool read = read_record(record, &config->record) &&
                      qs__arguments_time(&a, duration, "duration", 1, QS_NEVER - 1, &config->duration) &&
                      (!warmup || qs__arguments_time(&a, warmup, "warmup", 0, QS_NEVER - 1, &config->warmup));
    qs__arguments_fini(&a);
    return read;
}

static PyObject *simulation_new(PyTypeObject *type, PyObject *args, PyObject *kwargs)
{
    qs_sim_config config = {0};
    if (!read_config(type, args, kwargs, &config))
        return NULL;
    config.depot = ((const qs__module *)PyType_GetModuleState(type))->depot;
    simulation *self = (simulation *)type->tp_alloc(type, 0);
    if (!self)
        return NULL;
    self->duration = config.duration;
    self->warmup = config.warmup;
    self->record = config.record;
    self->keep = PyList_New(0);
    if (!self->keep || !qs__status_check(module_of(self), qs_sim_create(&self->sim, &config), NULL))
        Py_CLEAR(self);
    return (PyObject *)self;
}

static bool check_count(const char *method, Py_ssize_t given, Py_ssize_t wanted)
{
    if (given == wanted)
        return true;
    PyErr_Format(PyExc_TypeError, "%s() takes %zd arguments, got %zd", method, wanted, given);
    return false;
}

static bool read_port(qs__arguments *a, PyObject *const *args, qs_port_spec *out)
{
    return qs__arguments_text(a, args[0], "name", &out->name) && qs__arguments_ratio(a, args[1], "rate", &out->rate) &&
           qs__arguments_optional_spec(a, args[2], "framing", &out->framing) &&
           qs__arguments_optional_spec(a, args[3], "scheduler", &out->scheduler) &&
           qs__arguments_optional_spec(a, args[4], "ring", &out->ring) &&
           qs__arguments_time(a, args[5], "propagation", 0, QS_NEVER - 1, &out->propagation) &&
           qs__arguments_classes(a, args[6], &out->classes, &out->class_count);
}

PyDoc_STRVAR(add_port_doc,
             "add_port($self, name, rate, framing, scheduler, ring, propagation, classes, /)\n"
             "--\n"
             "\n"
             "Add the next port.\n"
             "\n"
             "`rate` is a ratio in bit/s: an int, or (whole, part, per) for whole + part / per. `framing`,\n"
             "`scheduler` and `ring` are specs, (kind, ((setting, value), ...)), or None. `propagation` is in\n"
             "picoseconds. A class is (name, match, flows, bandwidth, quantum, queue, policer): a 64-bit mask of\n"
             "DSCPs, a tuple of names, two ratios or None, two specs or None.");

static PyObject *add_port(PyObject *object, PyObject *const *args, Py_ssize_t count)
{
    simulation *self = (simulation *)object;
    if (!check_count("add_port", count, 7) || !enter(self, BUILDING))
        return NULL;
    qs_port_spec spec = {0};
    qs__arguments a;
    qs__arguments_init(&a, module_of(self), self->keep);
    const bool added = read_port(&a, args, &spec) && succeeded(self, qs_sim_add_port(self->sim, &spec));
    qs__arguments_fini(&a);
    leave(self, BUILDING);
    return none_if(added);
}

/* Takes the stream of `generator`, and keeps it alive; NULL for None. */
static bool read_rng(simulation *self, PyObject *generator, qs_rng *place, const qs_rng **out)
{
    *out = NULL;
    if (Py_IsNone(generator))
        return true;
    *out = place;
    return qs__generator_rng(generator, place) && PyList_Append(self->keep, generator) == 0;
}

static bool read_flow(qs__arguments *a, PyObject *const *args, qs_flow_spec *out)
{
    uint64_t dscp = 0;
    const bool read = qs__arguments_text(a, args[0], "name", &out->name) &&
                      qs__arguments_spec(a, args[1], "source", &out->source) &&
                      qs__arguments_integer(a, args[2], "dscp", 0, 63, &dscp) &&
                      qs__arguments_route(a, args[3], &out->route, &out->hops) &&
                      qs__arguments_time(a, args[4], "start", 0, QS_NEVER - 1, &out->start) &&
                      qs__arguments_time(a, args[5], "stop", 0, QS_NEVER, &out->stop);
    out->dscp = (unsigned)dscp;
    return read;
}

PyDoc_STRVAR(add_flow_doc,
             "add_flow($self, name, source, dscp, route, start, stop, bitgen, /)\n"
             "--\n"
             "\n"
             "Add the next flow, after the ports.\n"
             "\n"
             "`source` is a spec, whose arrays must not change until the run is over. `route` is a tuple of indices\n"
             "of ports, `start` and `stop` are picoseconds (2**63 - 1: no stop). `bitgen` is the NumPy BitGenerator\n"
             "that the source draws from, nobody else's while the simulation runs, or None.");

static PyObject *add_flow(PyObject *object, PyObject *const *args, Py_ssize_t count)
{
    simulation *self = (simulation *)object;
    if (!check_count("add_flow", count, 7) || !enter(self, BUILDING))
        return NULL;
    qs_flow_spec spec = {0};
    qs_rng rng;
    qs__arguments a;
    qs__arguments_init(&a, module_of(self), self->keep);
    const bool added = read_flow(&a, args, &spec) && read_rng(self, args[6], &rng, &spec.rng) &&
                       succeeded(self, qs_sim_add_flow(self->sim, &spec));
    qs__arguments_fini(&a);
    leave(self, BUILDING);
    return none_if(added);
}

/* ---- Run --------------------------------------------------------------------------------------------------- */

#define MILLISECOND INT64_C(1000000)

#define FIRST_BUDGET 1024
#define CHUNK (5 * MILLISECOND) /* a tenth of what Ctrl-C may take: the next chunk's events may cost more */
#define PROGRESS_EVERY (100 * MILLISECOND)

static int64_t clock_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 * MILLISECOND + now.tv_nsec;
}

/* Events for the next chunk, when the latest took `took` nanoseconds for `budget` of them. */
static uint64_t next_budget(uint64_t budget, int64_t took)
{
    if (took < CHUNK / 2)
        return budget < UINT64_C(1) << 32 ? budget * 2 : budget;
    if (took > CHUNK * 2)
        return budget > 16 ? budget / 2 : budget;
    return budget;
}

/*
 * Chunks for a while, without the GIL; adapts `budget`. Taking the GIL costs far more than a chunk's look at the clock
 * where another thread holds it, so that a short run takes it once.
 */
static bool run_chunks(simulation *self, uint64_t *budget, bool *done)
{
    qs_status status;
    Py_BEGIN_ALLOW_THREADS;
    const int64_t first = clock_ns();
    int64_t began = first, now;
    do {
        status = qs_sim_advance(self->sim, *budget, done);
        now = clock_ns();
        *budget = next_budget(*budget, now - began);
        began = now;
    } while (status == QS_OK && !*done && now - first < CHUNK);
    Py_END_ALLOW_THREADS;
    return succeeded(self, status);
}

static bool report(simulation *self, PyObject *progress)
{
    const double fraction = (double)qs_sim_now(self->sim) / (double)self->duration;
    PyObject *answer = PyObject_CallFunction(progress, "d", fraction < 1 ? fraction : 1.0);
    Py_XDECREF(answer);
    return answer != NULL;
}

static bool run_all(simulation *self, PyObject *progress)
{
    uint64_t budget = FIRST_BUDGET;
    int64_t reported = clock_ns();
    for (bool done = false; !done;) {
        if (!run_chunks(self, &budget, &done) || PyErr_CheckSignals() < 0)
            return false;
        if (Py_IsNone(progress) || clock_ns() - reported < PROGRESS_EVERY)
            continue;
        if (!report(self, progress))
            return false;
        reported = clock_ns();
    }
    return true;
}

PyDoc_STRVAR(run_doc,
             "run($self, /, progress=None)\n"
             "--\n"
             "\n"
             "Simulate, once, to the end; other threads run meanwhile.\n"
             "\n"
             "`progress` is called with the share of the duration that is done, 0 to 1, about ten times a second.\n"
             "What it raises, and KeyboardInterrupt, ends the run, which then has no results.");

static PyObject *run(PyObject *object, PyObject *args, PyObject *kwargs)
{
    simulation *self = (simulation *)object;
    static char *names[] = {"progress", NULL};
    PyObject *progress = Py_None;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "|O:run", names, &progress) || !enter(self, BUILDING))
        return NULL;
    const bool ran = run_all(self, progress);
    leave(self, ran ? DONE : BROKEN);
    return none_if(ran);
}

/* ---- Ask: rows --------------------------------------------------------------------------------------------- */

static bool has_rows(const simulation *self)
{
    if (self->record == QS_RECORD_PACKETS)
        return true;
    PyErr_SetString(PyExc_RuntimeError, "no packets were recorded: that takes record=\"packets\"");
    return false;
}

/* Brings the rows into their final order, the first time they are asked for. Needs no GIL. */
static qs_status gather_rows(simulation *self)
{
    const qs_status status = self->gathered ? QS_OK : qs_sim_take(self->sim, &self->columns);
    self->gathered = status == QS_OK;
    return status;
}

static bool gather(simulation *self)
{
    if (!has_rows(self))
        return false;
    qs_status status;
    Py_BEGIN_ALLOW_THREADS;
    status = gather_rows(self);
    Py_END_ALLOW_THREADS;
    return succeeded(self, status);
}

PyDoc_STRVAR(packets_doc,
             "packets($self, /)\n"
             "--\n"
             "\n"
             "Give away the columns flow, seq, size, fate, where, sent and received: a dict of arrays, once.\n"
             "\n"
             "Rows are in order of (flow, seq). Times are picoseconds, -1 where there is none; `where` is the port at\n"
             "which the packet was dropped or is inside, -1 if it was received.");

static PyObject *packets(PyObject *object, PyObject *Py_UNUSED(none))
{
    simulation *self = (simulation *)object;
    if (!enter(self, DONE))
        return NULL;
    PyObject *columns = gather(self) ? qs__columns_packets(&self->columns) : NULL;
    leave(self, DONE);
    return columns;
}

/* An index below `count`; the message calls the thing `what`. */
static bool read_index(PyObject *object, size_t count, const char *what, size_t *out)
{
    const Py_ssize_t index = PyNumber_AsSsize_t(object, PyExc_IndexError);
    if (index == -1 && PyErr_Occurred())
        return false;
    if (index < 0 || (size_t)index >= count) {
        PyErr_Format(PyExc_IndexError, "%s must be below %zu, got %zd", what, count, index);
        return false;
    }
    *out = (size_t)index;
    return true;
}

PyDoc_STRVAR(hop_doc, "hop($self, port, /)\n"
                      "--\n"
                      "\n"
                      "Give away the columns queued, ring, start and end of one port: a dict of arrays, once.\n"
                      "\n"
                      "The rows are those of packets(). Times are picoseconds, -1 where a packet has not come so far.");

static PyObject *hop(PyObject *object, PyObject *port)
{
    simulation *self = (simulation *)object;
    if (!enter(self, DONE))
        return NULL;
    size_t index;
    PyObject *columns = NULL;
    if (read_index(port, qs_sim_port_count(self->sim), "port", &index) && gather(self))
        columns = qs__columns_hop(&self->columns, index);
    leave(self, DONE);
    return columns;
}

PyDoc_STRVAR(
    digest_doc,
    "digest($self, levels, /)\n"
    "--\n"
    "\n"
    "Exact statistics of every flow, over packets sent at or after warm-up: the bytes of doubles, in seconds.\n"
    "\n"
    "`levels` are those of quantiles, a tuple of (numerator, denominator) in ascending order. For each flow\n"
    "there are: delay's minimum, mean and maximum, the mean of absolute ipdv, jitter at the end, and at each\n"
    "level the quantiles of delay, then of ipdv, then of pdv. NaN where there is no value. To be asked before\n"
    "packets().");

/* The numbers of all flows, worked out without the GIL. */
static PyObject *digest_of(simulation *self, const qs_level *levels, size_t count)
{
    const size_t flows = qs_sim_flow_count(self->sim), numbers = flows * (QS_DIGEST_SCALARS + 3 * count);
    PyObject *block = PyBytes_FromStringAndSize(NULL, (Py_ssize_t)(numbers * sizeof(double)));
    if (!block)
        return NULL;
    double *out = (double *)(void *)PyBytes_AS_STRING(block);
    qs_depot *depot = module_of(self)->depot;
    qs_status status;
    Py_BEGIN_ALLOW_THREADS;
    status = gather_rows(self);
    if (status == QS_OK && !qs__digest_rows(&self->columns, flows, self->warmup, levels, count, depot, out))
        status = QS_ENOMEM;
    Py_END_ALLOW_THREADS;
    if (!succeeded(self, status))
        Py_CLEAR(block);
    return block;
}

static PyObject *digest(PyObject *object, PyObject *argument)
{
    simulation *self = (simulation *)object;
    qs_level *levels;
    size_t count;
    if (!qs__digest_levels(module_of(self), argument, &levels, &count))
        return NULL;
    PyObject *block = NULL;
    if (enter(self, DONE)) {
        const bool has = has_rows(self);
        if (has && self->gathered && !self->columns.sent)
            PyErr_SetString(PyExc_RuntimeError, "the columns have been given away: ask for the digest before");
        else if (has)
            block = digest_of(self, levels, count);
        leave(self, DONE);
    }
    PyMem_Free(levels);
    return block;
}

/* ---- Ask: counts and statistics ----------------------------------------------------------------------------- */

/* A list of what `item` says about each of `count` things. */
static PyObject *list_of(PyObject *object, size_t (*count)(const qs_sim *), PyObject *(*item)(const qs_sim *, size_t))
{
    simulation *self = (simulation *)object;
    if (!enter(self, DONE))
        return NULL;
    PyObject *list = PyList_New((Py_ssize_t)count(self->sim));
    for (Py_ssize_t i = 0; list && i < PyList_GET_SIZE(list); i++) {
        PyObject *counts = item(self->sim, (size_t)i);
        if (counts)
            PyList_SET_ITEM(list, i, counts);
        else
            Py_CLEAR(list);
    }
    leave(self, DONE);
    return list;
}

PyDoc_STRVAR(flows_doc, "flows($self, /)\n"
                        "--\n"
                        "\n"
                        "The counts of each flow, over packets sent at or after warm-up: a list of dicts.");

static PyObject *flows(PyObject *object, PyObject *Py_UNUSED(none))
{
    return list_of(object, qs_sim_flow_count, qs__answers_flow);
}

PyDoc_STRVAR(ports_doc, "ports($self, /)\n"
                        "--\n"
                        "\n"
                        "The counts of each port and, under \"classes\", of each of its classes: a list of dicts.\n"
                        "\n"
                        "`busy` is picoseconds between warm-up and duration in which the wire was sending.");

static PyObject *ports(PyObject *object, PyObject *Py_UNUSED(none))
{
    return list_of(object, qs_sim_port_count, qs__answers_port);
}

PyDoc_STRVAR(statistics_doc,
             "statistics($self, flow, /)\n"
             "--\n"
             "\n"
             "Delay, ipdv and stages of one flow, over received packets sent at or after warm-up.\n"
             "\n"
             "Delay and ipdv are dicts: count, min, max and sum (0 without values), m2 (the sum of squared deviations\n"
             "from the mean), and the buckets of a histogram as arrays low, high (both included) and counts.\n"
             "`stages` lists (port, queue, ring, serialisation, propagation) by hop: sums. All in picoseconds.");

static PyObject *statistics(PyObject *object, PyObject *flow)
{
    simulation *self = (simulation *)object;
    if (!enter(self, DONE))
        return NULL;
    size_t index;
    const bool read = read_index(flow, qs_sim_flow_count(self->sim), "flow", &index);
    PyObject *dict = read ? qs__answers_statistics(self->sim, index) : NULL;
    leave(self, DONE);
    return dict;
}

static PyObject *get_now(PyObject *object, void *Py_UNUSED(closure))
{
    simulation *self = (simulation *)object;
    if (!enter(self, DONE))
        return NULL;
    const qs_time now = qs_sim_now(self->sim);
    leave(self, DONE);
    return PyLong_FromLongLong(now);
}

/* ---- The type ---------------------------------------------------------------------------------------------- */

static int simulation_traverse(PyObject *object, visitproc visit, void *arg)
{
    simulation *self = (simulation *)object;
    Py_VISIT(Py_TYPE(self));
    Py_VISIT(self->keep);
    return 0;
}

/* The simulation goes first: it points into what is kept. */
static int simulation_clear(PyObject *object)
{
    simulation *self = (simulation *)object;
    qs_sim_destroy(self->sim);
    self->sim = NULL;
    Py_CLEAR(self->keep);
    return 0;
}

static void simulation_dealloc(PyObject *object)
{
    PyTypeObject *type = Py_TYPE(object);
    PyObject_GC_UnTrack(object);
    simulation_clear(object);
    qs_columns_fini(&((simulation *)object)->columns);
    type->tp_free(object);
    Py_DECREF(type);
}

static PyMethodDef simulation_methods[] = {
    {"add_port", (PyCFunction)(void (*)(void))add_port, METH_FASTCALL, add_port_doc},
    {"add_flow", (PyCFunction)(void (*)(void))add_flow, METH_FASTCALL, add_flow_doc},
    {"run", (PyCFunction)(void (*)(void))run, METH_VARARGS | METH_KEYWORDS, run_doc},
    {"packets", packets, METH_NOARGS, packets_doc},
    {"hop", hop, METH_O, hop_doc},
    {"digest", digest, METH_O, digest_doc},
    {"flows", flows, METH_NOARGS, flows_doc},
    {"ports", ports, METH_NOARGS, ports_doc},
    {"statistics", statistics, METH_O, statistics_doc},
    {0},
};

static PyGetSetDef simulation_getset[] = {
    {"now", get_now, NULL, "The instant that was simulated last, in picoseconds.", NULL},
    {0},
};

PyDoc_STRVAR(simulation_doc,
             "Simulation(*, record, duration, warmup=0, drain=True)\n"
             "--\n"
             "\n"
             "One simulation: add ports, then flows, run it once, and ask.\n"
             "\n"
             "`record` is \"packets\", \"summary\" or \"none\"; `duration` and `warmup` are picoseconds.");

static PyType_Slot simulation_slots[] = {
    {Py_tp_doc, (void *)simulation_doc}, {Py_tp_new, simulation_new},
    {Py_tp_dealloc, simulation_dealloc}, {Py_tp_traverse, simulation_traverse},
    {Py_tp_clear, simulation_clear},     {Py_tp_methods, simulation_methods},
    {Py_tp_getset, simulation_getset},   {0},
};

PyType_Spec qs__simulation_spec = {
    .name = "qossim._core.Simulation",
    .basicsize = sizeof(simulation),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_IMMUTABLETYPE,
    .slots = simulation_slots,
};
