/* SPDX-License-Identifier: MIT */
/*
 * Generator: NumPy's bit generators feed the core directly. A BitGenerator gives a capsule around its bitgen_t, which
 * qs_rng repeats field for field, so that neither NumPy nor Python is asked again while the simulation runs.
 *
 * Each flow has a generator of its own, and seeding it through NumPy's SeedSequence would take as long as simulating
 * some hundreds of packets. So the words that a SeedSequence makes of its entropy are worked out here. NumPy promises
 * that they stay as they are, and the tests hold it to that.
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

/* ---- Seeds: NumPy's SeedSequence, after O'Neill's seed_seq_fe (2015) ----------------------------------------- */

enum { POOL = 4 };

static uint32_t hash_mix(uint32_t word, uint32_t *constant, uint32_t multiplier)
{
    word ^= *constant;
    *constant *= multiplier;
    word *= *constant;
    return word ^ word >> 16;
}

static void mix_into(uint32_t *word, uint32_t hashed)
{
    const uint32_t mixed = *word * UINT32_C(0xca01f9dd) - hashed * UINT32_C(0x4973f715);
    *word = mixed ^ mixed >> 16;
}

/* Mixes `count` words of entropy, in little-endian order, into the pool. */
static void fill_pool(uint32_t pool[POOL], const unsigned char *entropy, size_t count)
{
    const uint32_t multiplier = UINT32_C(0x931e8875);
    uint32_t constant = UINT32_C(0x43b0d7e5);
    for (size_t i = 0; i < (count > POOL ? count : POOL); i++, entropy += sizeof(uint32_t)) {
        uint32_t word = 0;
        if (i < count)
            word = (uint32_t)entropy[3] << 24 | (uint32_t)entropy[2] << 16 | (uint32_t)entropy[1] << 8 | entropy[0];
        if (i < POOL)
            pool[i] = hash_mix(word, &constant, multiplier);
        for (size_t from = 0; i == POOL - 1 && from < POOL; from++)
            for (size_t to = 0; to < POOL; to++)
                if (from != to)
                    mix_into(&pool[to], hash_mix(pool[from], &constant, multiplier));
        for (size_t to = 0; i >= POOL && to < POOL; to++)
            mix_into(&pool[to], hash_mix(word, &constant, multiplier));
    }
}

PyObject *qs__generator_seed_words(const unsigned char *entropy, size_t entropy_words, size_t words, bool wide)
{
    PyObject *bytes =
        PyBytes_FromStringAndSize(NULL, (Py_ssize_t)(words * (wide ? sizeof(uint64_t) : sizeof(uint32_t))));
    if (!bytes)
        return NULL;
    uint32_t pool[POOL], constant = UINT32_C(0x8b51f9dd);
    fill_pool(pool, entropy, entropy_words);
    char *out = PyBytes_AS_STRING(bytes);
    size_t next = 0;
    for (size_t i = 0; i < words; i++) {
        uint64_t word = hash_mix(pool[next++ % POOL], &constant, UINT32_C(0x58f38ded));
        if (wide)
            word |= (uint64_t)hash_mix(pool[next++ % POOL], &constant, UINT32_C(0x58f38ded)) << 32;
        const uint32_t narrow = (uint32_t)word;
        memcpy(out, wide ? (const void *)&word : &narrow, wide ? sizeof word : sizeof narrow);
        out += wide ? sizeof word : sizeof narrow;
    }
    return bytes;
}
