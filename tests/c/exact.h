/* SPDX-License-Identifier: MIT */
/* Numbers wide enough to be called exact: 256 bits before the point and 512 behind it, not negative, truncated. */
#ifndef QOSSIM_TESTS_EXACT_H
#define QOSSIM_TESTS_EXACT_H

#include <qossim/engine.h>

enum { EXACT_LIMBS = 12, EXACT_POINT = 8 };

typedef struct exact {
    uint64_t limb[EXACT_LIMBS]; /* the lowest first; limb[EXACT_POINT] has the units */
} exact;

static inline exact exact_of(uint64_t n)
{
    exact a = {{0}};
    a.limb[EXACT_POINT] = n;
    return a;
}

static inline int exact_order(exact a, exact b)
{
    for (int i = EXACT_LIMBS; i-- > 0;)
        if (a.limb[i] != b.limb[i])
            return a.limb[i] < b.limb[i] ? -1 : 1;
    return 0;
}

static inline exact exact_sum(exact a, exact b)
{
    qs_u128 carry = 0;
    for (int i = 0; i < EXACT_LIMBS; i++) {
        carry += (qs_u128)a.limb[i] + b.limb[i];
        a.limb[i] = (uint64_t)carry;
        carry >>= 64;
    }
    return a;
}

/* a - b, where a >= b. */
static inline exact exact_difference(exact a, exact b)
{
    uint64_t borrow = 0;
    for (int i = 0; i < EXACT_LIMBS; i++) {
        const qs_u128 d = (qs_u128)a.limb[i] - b.limb[i] - borrow;
        a.limb[i] = (uint64_t)d;
        borrow = (uint64_t)(d >> 64) & 1;
    }
    return a;
}

static inline exact exact_times(exact a, uint64_t n)
{
    qs_u128 carry = 0;
    for (int i = 0; i < EXACT_LIMBS; i++) {
        carry += (qs_u128)a.limb[i] * n;
        a.limb[i] = (uint64_t)carry;
        carry >>= 64;
    }
    return a;
}

static inline exact exact_over(exact a, uint64_t n)
{
    qs_u128 rest = 0;
    for (int i = EXACT_LIMBS; i-- > 0;) {
        rest = rest << 64 | a.limb[i];
        a.limb[i] = (uint64_t)(rest / n);
        rest %= n;
    }
    return a;
}

#endif
