/* SPDX-License-Identifier: MIT */
/*
 * Generator: NumPy's bit generators feed the core directly. A BitGenerator gives a capsule around its bitgen_t, which
 * qs_rng repeats field for field, so that neither NumPy nor Python is asked again while the simulation runs.
 */
#include "binding.h"

#include <assert.h>
#include <string.h>

#include <numpy/random/bitgen.h>

#define SAME_PLACE(field) static_assert(offsetof(qs_rng, field) == offsetof(bitgen_t, field), "qs_rng is not bitgen_t")

static_assert(sizeof(qs_rng) == sizeof(bitgen_t), "qs_rng is not bitgen_t");
SAME_PLACE(state);
SAME_PLACE(next_uint64);
SAME_PLACE(next_uint32);
SAME_PLACE(next_double);
SAME_PLACE(next_raw);

bool qs__generator_rng(PyObject *generator, qs_rng *out)
{
    PyObject *capsule = PyObject_GetAttrString(generator, "capsule");
    const bool valid = capsule && PyCapsule_IsValid(capsule, "BitGenerator");
    if (valid)
        memcpy(out, PyCapsule_GetPointer(capsule, "BitGenerator"), sizeof *out);
    else if (capsule || PyErr_ExceptionMatches(PyExc_AttributeError))
        PyErr_Format(PyExc_TypeError, "bitgen must be a NumPy BitGenerator or None, not %.100s",
                     Py_TYPE(generator)->tp_name);
    Py_XDECREF(capsule);
    return valid;
}
