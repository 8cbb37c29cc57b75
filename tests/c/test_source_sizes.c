/* SPDX-License-Identifier: MIT */
/* Packet sizes: one, or several drawn by whole-number weights, one 64-bit draw each. */
#include "check.h"

static qs_error why;

static uint64_t told_next(void *state)
{
    ++*(uint64_t *)state;
    return *(const uint64_t *)state - 1;
}

static qs_value number(uint64_t n)
{
    return (qs_value){.given = true, .value = QS_INT(n)};
}

static qs_value array(const int64_t *values, size_t count)
{
    return (qs_value){.given = true, .array = values, .count = count};
}

static qs_status make(qs_sizes *sizes, qs_value one, qs_value several, qs_value weights)
{
    static const qs_rng rng = {.next_uint64 = told_next};
    const qs_value values[3] = {one, several, weights};
    const qs_source_setup setup = {.rng = &rng, .flow = "f", .why = &why};
    why.text[0] = '\0';
    return qs_sizes_init(sizes, values, &setup);
}

static const qs_value none;

LAW(one_size_is_not_drawn)
{
    qs_sizes sizes;
    STATUS(make(&sizes, number(1006), none, none), QS_OK);
    EQUAL(qs_sizes_draw(&sizes, NULL), 1006);
}

/* floor(raw * 12 / 2^64) is 0 to 11; the first seven are the first size, the next four the second, the last the third.
 */
LAW(a_size_is_the_first_whose_cumulative_weight_is_above_the_draw)
{
    static const int64_t values[] = {40, 576, 1500}, cumulative[] = {7, 11, 12};
    qs_sizes sizes;
    STATUS(make(&sizes, none, array(values, 3), array(cumulative, 3)), QS_OK);
    for (uint64_t x = 0; x < 12; x++) {
        const uint64_t twelfth = (UINT64_MAX / 12 + 1) * x; /* at or just above x / 12 of 2^64 */
        uint64_t raw = twelfth;
        const qs_rng rng = {.state = &raw, .next_uint64 = told_next};
        EQUAL(qs_sizes_draw(&sizes, &rng), x < 7 ? 40 : x < 11 ? 576 : 1500);
        EQUAL(raw, twelfth + 1); /* one draw */
    }
}

LAW(a_size_without_weight_is_never_drawn)
{
    static const int64_t values[] = {1, 2, 3, 4}, cumulative[] = {0, 5, 5, 6};
    qs_sizes sizes;
    qs_pcg64 pcg;
    const qs_rng rng = qs_pcg64_init(&pcg, 1, 1);
    unsigned counts[5] = {0};
    STATUS(make(&sizes, none, array(values, 4), array(cumulative, 4)), QS_OK);
    for (int i = 0; i < 60000; i++)
        counts[qs_sizes_draw(&sizes, &rng)]++;
    EQUAL(counts[1], 0);
    EQUAL(counts[3], 0);
    CLOSE(counts[2], 50000, 4 * sqrt(60000 * 5.0 / 36));
}

LAW(weights_may_fill_63_bits)
{
    static const int64_t values[] = {1, 2}, cumulative[] = {1, INT64_MAX};
    qs_sizes sizes;
    uint64_t raw = UINT64_MAX;
    const qs_rng rng = {.state = &raw, .next_uint64 = told_next};
    STATUS(make(&sizes, none, array(values, 2), array(cumulative, 2)), QS_OK);
    EQUAL(qs_sizes_draw(&sizes, &rng), 2);
    raw = 1;
    EQUAL(qs_sizes_draw(&sizes, &rng), 1);
}

LAW(sizes_are_refused_that_cannot_be)
{
    static const int64_t values[] = {40, 1500}, wrong[] = {40, 65536}, cumulative[] = {1, 2}, falling[] = {2, 1};
    static const int64_t nothing[] = {0, 0};
    qs_sizes sizes;
    STATUS(make(&sizes, none, none, none), QS_EINVAL);
    CONTAINS(why.text, "size");
    STATUS(make(&sizes, number(1), array(values, 2), array(cumulative, 2)), QS_EINVAL);
    STATUS(make(&sizes, none, array(wrong, 2), array(cumulative, 2)), QS_EINVAL);
    CONTAINS(why.text, "65536");
    STATUS(make(&sizes, none, array(values, 2), array(falling, 2)), QS_EINVAL);
    CONTAINS(why.text, "weights");
    STATUS(make(&sizes, none, array(values, 2), array(nothing, 2)), QS_EINVAL);
    CONTAINS(why.text, "weights");
    STATUS(make(&sizes, none, array(values, 2), array(cumulative, 1)), QS_EINVAL);
    STATUS(make(&sizes, none, array(values, 2), none), QS_EINVAL);
    STATUS(make(&sizes, none, array(values, 0), array(cumulative, 0)), QS_EINVAL);
}
