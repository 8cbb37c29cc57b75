/* SPDX-License-Identifier: MIT */
/* Histogram: every value in a bucket that is narrow enough, and ranks that find it again. */
#include "check.h"

static int by_size(const void *a, const void *b)
{
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

LAW(every_value_falls_into_a_bucket_whose_middle_is_within_the_stated_error)
{
    uint64_t d = 1;
    for (int i = 0; i < 20000; i++) {
        const uint64_t value = i < 5000 ? (uint64_t)i : dice(&d) >> dice_below(&d, 64);
        qs_histogram h;
        qs_histogram_init(&h);
        STATUS(qs_histogram_add(&h, value), QS_OK);
        const qs_bucket bucket = qs_histogram_rank(&h, 1);
        CHECK(bucket.low <= value && value <= bucket.high);
        EQUAL(bucket.count, 1);
        const double middle = (double)bucket.low + (double)(bucket.high - bucket.low) / 2;
        CHECK(fabs(middle - (double)value) <= QS_HISTOGRAM_ERROR * (double)value);
        qs_histogram_fini(&h);
    }
    CHECK(QS_HISTOGRAM_ERROR <= 0.01);
}

LAW(the_largest_and_the_smallest_values_have_their_buckets)
{
    qs_histogram h;
    qs_histogram_init(&h);
    STATUS(qs_histogram_add(&h, UINT64_MAX), QS_OK);
    STATUS(qs_histogram_add(&h, 0), QS_OK);
    EQUAL(qs_histogram_rank(&h, 1).low, 0);
    EQUAL(qs_histogram_rank(&h, 1).high, 0);
    CHECK(qs_histogram_rank(&h, 2).high == UINT64_MAX);
    EQUAL(h.count, 2);
    qs_histogram_fini(&h);
}

LAW(buckets_follow_each_other_without_a_gap)
{
    qs_histogram h;
    static qs_bucket buckets[8192];
    qs_histogram_init(&h);
    for (uint64_t value = 0; value < 200000; value++)
        STATUS(qs_histogram_add(&h, value), QS_OK);
    const size_t count = qs_histogram_buckets(&h, buckets, COUNT(buckets));
    REQUIRE(count < COUNT(buckets));
    EQUAL(buckets[0].low, 0);
    for (size_t i = 0; i + 1 < count; i++) {
        EQUAL(buckets[i].high + 1, buckets[i + 1].low);
        EQUAL(buckets[i].count, buckets[i].high - buckets[i].low + 1);
    }
    EQUAL(qs_histogram_buckets(&h, NULL, 0), count);
    EQUAL(qs_histogram_buckets(&h, buckets, 3), count);
    qs_histogram_fini(&h);
}

LAW(a_rank_is_in_the_bucket_of_the_value_of_that_rank)
{
    enum { VALUES = 20000 };
    static uint64_t values[VALUES];
    uint64_t d = 3;
    qs_histogram h;
    qs_histogram_init(&h);
    for (size_t i = 0; i < VALUES; i++) {
        values[i] = dice(&d) >> dice_within(&d, 1, 63);
        STATUS(qs_histogram_add(&h, values[i]), QS_OK);
    }
    qsort(values, VALUES, sizeof *values, by_size);
    for (size_t rank = 1; rank <= VALUES; rank += 37) {
        const qs_bucket bucket = qs_histogram_rank(&h, rank);
        CHECK(bucket.low <= values[rank - 1] && values[rank - 1] <= bucket.high);
    }
    qs_histogram_fini(&h);
}
