/* SPDX-License-Identifier: MIT */
/* Wide arithmetic: products that need more than 128 bits, and what goes with exact ratios. */
#ifndef QOSSIM_ENGINE_WIDE_H
#define QOSSIM_ENGINE_WIDE_H

#include <qossim/engine.h>

static inline uint64_t qs__gcd(uint64_t a, uint64_t b)
{
    while (b) {
        const uint64_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

/* ---- Numbers of 192 bits --------------------------------------------------------------------------------------- */

static inline bool qs__tag_less(qs_tag a, qs_tag b)
{
    return a.high < b.high || (a.high == b.high && a.low < b.low);
}

static inline qs_tag qs__tag_sum(qs_tag a, qs_tag b)
{
    const uint64_t low = a.low + b.low;
    return (qs_tag){a.high + b.high + (low < a.low), low};
}

/* a - b; b must not be larger. */
static inline qs_tag qs__tag_difference(qs_tag a, qs_tag b)
{
    return (qs_tag){a.high - b.high - (a.low < b.low), a.low - b.low};
}

/* a * n, where the product fits. */
static inline qs_tag qs__tag_times(qs_tag a, uint64_t n)
{
    const qs_u128 low = (qs_u128)a.low * n;
    return (qs_tag){a.high * n + (low >> 64), (uint64_t)low};
}

/* floor(a * n / d), where the quotient fits; d is not 0. */
static inline qs_tag qs__tag_ratio(qs_tag a, uint64_t n, uint64_t d)
{
    const qs_u128 p0 = (qs_u128)a.low * n;
    const qs_u128 p1 = (qs_u128)(uint64_t)a.high * n + (p0 >> 64);
    const qs_u128 p2 = (a.high >> 64) * n + (p1 >> 64);
    const qs_u128 q2 = p2 / d; /* schoolbook division, a digit of 64 bits after the other */
    const qs_u128 r1 = (p2 % d) << 64 | (uint64_t)p1;
    const qs_u128 r0 = (r1 % d) << 64 | (uint64_t)p0;
    return (qs_tag){(q2 << 64) + r1 / d, (uint64_t)(r0 / d)};
}

/*
 * The ratio as one fraction with a 64-bit numerator (its denominator is r.per); false if it does not fit.
 */
static inline bool qs__ratio_numerator(qs_ratio r, uint64_t *numerator)
{
    const qs_u128 n = (qs_u128)r.whole * r.per + r.part;
    *numerator = (uint64_t)n;
    return n <= UINT64_MAX;
}

#endif
