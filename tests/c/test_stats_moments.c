/* SPDX-License-Identifier: MIT */
/* Moments and quantiles of one quantity, against two passes over all of its values. */
#include "check.h"

enum { VALUES = 20000 };

static qs_time values[VALUES];

static int by_size(const void *a, const void *b)
{
    const qs_time x = *(const qs_time *)a, y = *(const qs_time *)b;
    return (x > y) - (x < y);
}

static void check_stats(size_t count)
{
    qs_stats s;
    qs_stats_init(&s);
    qs_i128 sum = 0;
    for (size_t i = 0; i < count; i++) {
        STATUS(qs_stats_add(&s, values[i]), QS_OK);
        sum += values[i];
    }
    const long double mean = (long double)sum / (long double)count;
    long double squares = 0;
    for (size_t i = 0; i < count; i++)
        squares += ((long double)values[i] - mean) * ((long double)values[i] - mean);
    qsort(values, count, sizeof *values, by_size);
    EQUAL(s.count, count);
    EQUAL(s.min, values[0]);
    EQUAL(s.max, values[count - 1]);
    CHECK(qs_stats_sum(&s) == sum);
    CLOSE(qs_stats_mean(&s), (double)mean, 1e-15 * fabs((double)mean) + 1e-9);
    CLOSE(qs_stats_deviations(&s), (double)squares, 1e-9 * (double)squares);
    if (count > 1)
        CLOSE(qs_stats_variance(&s), (double)(squares / (long double)(count - 1)), 1e-9 * (double)squares);
    static const double quantiles[] = {0, 0.001, 0.01, 0.25, 0.5, 0.75, 0.99, 0.999, 1};
    for (size_t i = 0; i < COUNT(quantiles); i++) {
        const size_t rank = (size_t)ceil(quantiles[i] * (double)count);
        const double want = (double)values[rank ? rank - 1 : 0];
        CLOSE(qs_stats_quantile(&s, quantiles[i]), want, QS_HISTOGRAM_ERROR * fabs(want));
    }
    qs_stats_fini(&s);
}

LAW(stats_of_delays_are_those_of_two_passes)
{
    uint64_t d = 1;
    for (size_t i = 0; i < VALUES; i++)
        values[i] = INT64_C(20000000000) + (qs_time)dice_below(&d, 4664000000);
    check_stats(VALUES);
}

/* A delay of a day with a microsecond of spread keeps its variance. */
LAW(stats_of_a_small_spread_on_a_large_value_keep_their_variance)
{
    uint64_t d = 2;
    for (size_t i = 0; i < VALUES; i++)
        values[i] = 86400 * QS_SECOND + (qs_time)dice_below(&d, 1000000);
    check_stats(VALUES);
}

LAW(stats_take_negative_values)
{
    uint64_t d = 3;
    for (size_t i = 0; i < VALUES; i++)
        values[i] = (qs_time)dice_below(&d, 2000000001) - 1000000000;
    check_stats(VALUES);
    for (size_t i = 0; i < VALUES; i++)
        values[i] = -(qs_time)(dice(&d) >> dice_within(&d, 2, 63)) - 1;
    check_stats(VALUES);
}

LAW(stats_take_the_largest_values_of_the_clock)
{
    values[0] = QS_NEVER - 1;
    values[1] = -(QS_NEVER - 1);
    values[2] = QS_NEVER - 2;
    check_stats(3);
}

LAW(stats_of_few_values_say_what_they_can)
{
    qs_stats s;
    qs_stats_init(&s);
    EQUAL(s.count, 0);
    CHECK(isnan(qs_stats_mean(&s)) && isnan(qs_stats_variance(&s)) && isnan(qs_stats_quantile(&s, 0.5)));
    STATUS(qs_stats_add(&s, -5), QS_OK);
    CLOSE(qs_stats_mean(&s), -5, 0);
    CHECK(isnan(qs_stats_variance(&s)));
    CLOSE(qs_stats_quantile(&s, 0), -5, 0);
    CLOSE(qs_stats_quantile(&s, 1), -5, 0);
    STATUS(qs_stats_add(&s, 3), QS_OK);
    CLOSE(qs_stats_mean(&s), -1, 0);
    CLOSE(qs_stats_variance(&s), 32, 1e-12);
    CHECK(isnan(qs_stats_quantile(&s, -0.1)) && isnan(qs_stats_quantile(&s, 1.1)) && isnan(qs_stats_quantile(&s, NAN)));
    qs_stats_fini(&s);
}

/* 0.07 * 100 is a little more than 7 in binary; the rank is 7 all the same. */
LAW(a_quantile_has_the_rank_of_the_decimal_it_is_written_as)
{
    for (unsigned count = 100; count <= 10000; count *= 10) {
        qs_stats s;
        qs_stats_init(&s);
        for (unsigned rank = 1; rank <= count; rank++)
            STATUS(qs_stats_add(&s, rank * 100 <= count * 7 ? 1 : 1000), QS_OK);
        CLOSE(qs_stats_quantile(&s, 0.07), 1, 0);
        CHECK(qs_stats_quantile(&s, 0.0701) > 900);
        qs_stats_fini(&s);
    }
    for (unsigned percent = 1; percent < 100; percent++) {
        qs_stats s;
        qs_stats_init(&s);
        for (unsigned rank = 1; rank <= 100; rank++)
            STATUS(qs_stats_add(&s, rank <= percent ? 1 : 1000), QS_OK);
        CLOSE(qs_stats_quantile(&s, percent / 100.0), 1, 0);
        qs_stats_fini(&s);
    }
}

LAW(a_constant_has_no_variance)
{
    qs_stats s;
    qs_stats_init(&s);
    for (int i = 0; i < 100000; i++)
        STATUS(qs_stats_add(&s, INT64_C(10710000000)), QS_OK);
    CLOSE(qs_stats_mean(&s), 10710000000.0, 0);
    CLOSE(qs_stats_variance(&s), 0, 0);
    CLOSE(qs_stats_quantile(&s, 0.5), 10710000000.0, 0);
    qs_stats_fini(&s);
}

/* An odd value in a hundred million must not be lost in the sum of squares. */
LAW(the_sum_of_squares_keeps_what_is_small_beside_it)
{
    qs_stats s;
    qs_stats_init(&s);
    STATUS(qs_stats_add(&s, 0), QS_OK);
    for (int i = 0; i < 3000000; i++)
        STATUS(qs_stats_add(&s, i % 2 ? 1000000007 : -1000000007), QS_OK);
    const double square = 1000000007.0 * 1000000007.0;
    CLOSE(qs_stats_deviations(&s) / square, 3000000, 1e-6);
    qs_stats_fini(&s);
}

/* A sum of times outgrows 64 bits after some weeks' worth of delays, in either direction. */
LAW(a_sum_outgrows_64_bits)
{
    qs_sum sum = {0};
    qs_i128 expected = 0;
    uint64_t d = 3;
    for (int i = 0; i < 1000; i++) {
        const qs_time value = (qs_time)(i % 200 < 100 ? dice(&d) >> 1 : -(dice(&d) >> 1));
        qs_sum_add(&sum, value);
        expected += value;
        CHECK(qs_sum_total(&sum) == expected);
    }
    qs_sum_add(&sum, INT64_MIN);
    qs_sum_add(&sum, INT64_MIN);
    CHECK(qs_sum_total(&sum) == expected + 2 * (qs_i128)INT64_MIN);
}
