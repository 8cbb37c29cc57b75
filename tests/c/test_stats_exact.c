/* SPDX-License-Identifier: MIT */
/* Exact statistics: against sorting, against sums by hand, and the digest of a flow with losses. */
#include "check.h"

static int by_value(const void *a, const void *b)
{
    const qs_time x = *(const qs_time *)a, y = *(const qs_time *)b;
    return (x > y) - (x < y);
}

/* Values of one of several shapes: all over the clock, few, equal, with one far away, or in order. */
static qs_time value(uint64_t *d, unsigned shape, size_t i)
{
    switch (shape) {
    case 0:
        return (qs_time)(dice(d) >> 1) - (qs_time)(dice(d) >> 1);
    case 1:
        return (qs_time)dice_below(d, 3);
    case 2:
        return INT64_C(10710000000);
    case 3:
        return i ? (qs_time)dice_below(d, 1000) : INT64_MAX;
    default:
        return (qs_time)i * INT64_C(4664000000);
    }
}

LAW(select_finds_what_sorting_finds)
{
    enum { MOST = 5000 };
    static qs_time values[MOST + 1], scratch[MOST + 1], sorted[MOST];
    uint64_t d = 1;
    for (unsigned round = 0; round < 500; round++) {
        const size_t n = dice_within(&d, 1, round % 2 ? MOST : 60);
        for (size_t i = 0; i < n; i++)
            sorted[i] = values[i] = value(&d, round % 5, i);
        qsort(sorted, n, sizeof *sorted, by_value);
        size_t ranks[8], count = 0;
        for (size_t rank = 1; rank <= n && count < COUNT(ranks); rank += dice_below(&d, n / 3 + 1))
            ranks[count++] = rank; /* some of them twice */
        qs_time found[COUNT(ranks)];
        qs_exact_select(values, qs_exact_moments(values, n), ranks, count, scratch, found);
        for (size_t i = 0; i < count; i++)
            EQUAL(found[i], sorted[ranks[i] - 1]);
    }
}

LAW(exact_moments_add_up_what_outgrows_64_bits)
{
    const qs_time values[] = {INT64_MAX, -3, INT64_MAX, -INT64_MAX, -INT64_MAX, -INT64_MAX, 0};
    const qs_exact e = qs_exact_moments(values, COUNT(values));
    EQUAL(e.count, 7);
    EQUAL(e.min, -INT64_MAX);
    EQUAL(e.max, INT64_MAX);
    CHECK(e.sum == -(qs_i128)INT64_MAX - 3);
    CHECK(e.magnitudes == 5 * (qs_i128)INT64_MAX + 3);
    EQUAL(qs_exact_moments(values, 0).count, 0);
}

LAW(exact_mean_is_the_nearest_double)
{
    CLOSE(qs_exact_mean(1, 3, 1), 1.0 / 3, 0);
    CLOSE(qs_exact_mean(-2, 3, 1), -2.0 / 3, 0);
    CLOSE(qs_exact_mean(0, 5, QS_SECOND), 0, 0);
    CHECK(isnan(qs_exact_mean(0, 0, 1)));
    uint64_t d = 2;
    for (unsigned i = 0; i < 100000; i++) { /* where both numbers are doubles, their quotient is rounded once */
        const qs_time sum = (qs_time)(dice(&d) >> dice_within(&d, 11, 60));
        const uint64_t count = dice_within(&d, 1, 9000);
        CLOSE(qs_exact_mean(sum, count, QS_SECOND), (double)sum / ((double)count * 1e12), 0);
    }
    /* Halfway between two doubles, and a little beside. */
    const qs_i128 half = ((qs_i128)1 << 53) + 1;
    CLOSE(qs_exact_mean(half, 1, 1), 0x1p53, 0);
    CLOSE(qs_exact_mean(half + 2, 1, 1), 0x1p53 + 4, 0);
    CLOSE(qs_exact_mean(half * 3 + 1, 3, 1), 0x1p53 + 2, 0);
    CLOSE(qs_exact_mean(half * 3 - 1, 3, 1), 0x1p53, 0);
}

LAW(exact_ranks_are_nearest_ranks)
{
    EQUAL(qs_exact_rank((qs_level){7, 100}, 100), 7);
    EQUAL(qs_exact_rank((qs_level){1, 2}, 4), 2);
    EQUAL(qs_exact_rank((qs_level){1, 2}, 5), 3);
    EQUAL(qs_exact_rank((qs_level){0, 1}, 5), 1);
    EQUAL(qs_exact_rank((qs_level){1, 1}, 5), 5);
    EQUAL(qs_exact_rank((qs_level){INT64_MAX - 1, INT64_MAX}, INT32_MAX), INT32_MAX);
}

LAW(jitter_after_many_packets_is_that_of_the_recurrence)
{
    enum { MOST = 4000 };
    static qs_time delays[MOST];
    uint64_t d = 3;
    double jitter = 0;
    for (size_t i = 0; i < MOST; i++) {
        delays[i] = (qs_time)dice_below(&d, 1 << 30);
        if (i)
            jitter += (fabs((double)(delays[i] - delays[i - 1])) / 1e12 - jitter) / 16;
        CLOSE(qs_exact_jitter(delays, i + 1), jitter, 1e-14 * jitter);
    }
    CHECK(isnan(qs_exact_jitter(delays, 0)));
    CLOSE(qs_exact_jitter(delays, 1), 0, 0);
}

LAW(digest_bridges_no_loss_and_leaves_lost_packets_out)
{
    const qs_time sent[] = {0, 10, 20, 30, 40}, received[] = {100, 150, -1, 115, 120};
    const qs_level levels[] = {{0, 1}, {1, 2}, {1, 1}};
    qs_time values[6], scratch[6], found[3];
    size_t ranks[3];
    double out[QS_DIGEST_SCALARS + 9];
    qs_digest_work work = {values, scratch, ranks, found};
    qs_digest(sent, received, 5, levels, 3, &work, out);
    CLOSE(out[QS_DIGEST_DELAY_MIN], 80e-12, 0);
    CLOSE(out[QS_DIGEST_DELAY_MAX], 140e-12, 0);
    CLOSE(out[QS_DIGEST_DELAY_MEAN], 101.25e-12, 1e-25);
    CLOSE(out[QS_DIGEST_IPDV_MEAN_ABS], 22.5e-12, 1e-25);
    const double quantiles[] = {80, 85, 140, -5, -5, 40, 0, 5, 60};
    for (size_t i = 0; i < COUNT(quantiles); i++)
        CLOSE(out[QS_DIGEST_SCALARS + i], quantiles[i] / 1e12, 0);
    qs_digest(sent, received, 1, levels, 3, &work, out);
    CLOSE(out[QS_DIGEST_JITTER], 0, 0);
    CHECK(isnan(out[QS_DIGEST_IPDV_MEAN_ABS]) && isnan(out[QS_DIGEST_SCALARS + 3]));
    qs_digest(sent, received, 0, levels, 3, &work, out);
    for (size_t i = 0; i < COUNT(out); i++)
        CHECK(isnan(out[i]));
}
