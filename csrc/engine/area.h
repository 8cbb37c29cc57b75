/* SPDX-License-Identifier: MIT */
/* The area under a count over time, exact: 64 bits on the path of every packet, 128 when they overflow. */
#ifndef QOSSIM_ENGINE_AREA_H
#define QOSSIM_ENGINE_AREA_H

#include <qossim/engine.h>

typedef struct qs_area {
    uint64_t low;
    uint64_t high;
} qs_area;

QS_INLINE qs_u128 qs__area_total(const qs_area *area)
{
    return (qs_u128)area->high << 64 | area->low;
}

static QS_NOINLINE void qs__area_add_rare(qs_area *area, qs_u128 more)
{
    const qs_u128 total = qs__area_total(area) + more;
    *area = (qs_area){(uint64_t)total, (uint64_t)(total >> 64)};
}

QS_INLINE void qs__area_add(qs_area *area, uint64_t more)
{
    uint64_t low;
    if (QS_UNLIKELY(__builtin_add_overflow(area->low, more, &low)))
        qs__area_add_rare(area, more);
    else
        area->low = low;
}

/* time * n more. */
QS_INLINE void qs__area_add_times(qs_area *area, uint64_t time, uint32_t n)
{
    uint64_t more;
    if (QS_UNLIKELY(__builtin_mul_overflow(time, n, &more)))
        qs__area_add_rare(area, (qs_u128)time * n);
    else
        qs__area_add(area, more);
}

#endif
