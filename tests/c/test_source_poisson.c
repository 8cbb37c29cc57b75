/* SPDX-License-Identifier: MIT */
/* Poisson: exponential gaps, each rounded to the picosecond, and a size for each; the gap is drawn first. */
#include "check.h"

static qs_source source(const qs_spec *spec, qs_time start, const qs_rng *rng)
{
    qs_source s = {0};
    qs_error why = {""};
    const qs_source_setup setup = {.rng = rng, .start = start, .flow = "f", .why = &why};
    if (!STATUS(qs_source_init(&s, spec, &setup), QS_OK)) {
        printf("    %s\n", why.text);
        longjmp(checks.give_up, 1);
    }
    return s;
}

static uint64_t told_next(void *state)
{
    return *(*(const uint64_t **)state)++;
}

LAW(poisson_draws_a_gap_and_then_a_size_for_each_packet)
{
    static const uint64_t raws[] = {UINT64_C(1) << 63, UINT64_MAX, UINT64_C(1) << 63, 0, 0, 0};
    static const int64_t sizes[] = {40, 1500}, cumulative[] = {1, 2};
    const uint64_t *script = raws;
    const qs_rng rng = {.state = &script, .next_uint64 = told_next};
    qs_source s = source(
        SPEC("poisson", NUMBER("interval", QS_SECOND), ARRAY("sizes", sizes, 2), ARRAY("weights", cumulative, 2)), 5,
        &rng);
    CHECK(script == raws); /* nothing is drawn before it is needed */
    qs_departure d = qs_source_next(&s);
    EQUAL(d.at, 5 + INT64_C(693147180560)); /* ln 2 */
    EQUAL(d.size, 1500);
    d = qs_source_next(&s);
    EQUAL(d.at, 5 + 2 * INT64_C(693147180560));
    EQUAL(d.size, 40);
    d = qs_source_next(&s);
    EQUAL(d.at, 5 + 2 * INT64_C(693147180560)); /* a gap of 0 is one */
    CHECK(script == raws + 6);
    qs_source_fini(&s);
}

LAW(poisson_draws_nothing_for_a_size_that_is_given)
{
    static const uint64_t raws[] = {UINT64_C(1) << 63, UINT64_C(1) << 63};
    const uint64_t *script = raws;
    const qs_rng rng = {.state = &script, .next_uint64 = told_next};
    qs_source s = source(SPEC("poisson", NUMBER("interval", 1000), NUMBER("size", 7)), 0, &rng);
    EQUAL(qs_source_next(&s).at, 693);
    EQUAL(qs_source_next(&s).at, 1386); /* each gap is rounded, not their sum */
    CHECK(script == raws + 2);
    qs_source_fini(&s);
}

LAW(poisson_takes_the_nearest_double_of_its_mean)
{
    static const uint64_t raws[] = {UINT64_C(1) << 63};
    const uint64_t *script = raws;
    const qs_rng rng = {.state = &script, .next_uint64 = told_next};
    qs_source s =
        source(SPEC("poisson", RATIO("interval", 8192 * UINT64_C(1000000000000), 300000), NUMBER("size", 7)), 0, &rng);
    EQUAL(qs_source_next(&s).at, INT64_C(18927539010)); /* ln 2 * 27306666666.67 = 18927539010.6... */
    qs_source_fini(&s);
}

LAW(poisson_arrivals_are_as_many_and_as_scattered_as_they_should_be)
{
    const int windows = 20000;
    qs_pcg64 pcg;
    const qs_rng rng = qs_pcg64_init(&pcg, 5, 5);
    qs_source s = source(SPEC("poisson", NUMBER("interval", QS_SECOND / 10), NUMBER("size", 100)), 0, &rng);
    double sum = 0, squares = 0;
    qs_departure d = qs_source_next(&s);
    for (qs_time w = 1; w <= windows; w++) {
        unsigned count = 0;
        for (; d.at < w * QS_SECOND; d = qs_source_next(&s))
            count++;
        sum += count;
        squares += (double)count * count;
    }
    const double mean = sum / windows, variance = squares / windows - mean * mean;
    CLOSE(mean, 10, 4 * sqrt(10.0 / windows));
    CLOSE(variance / mean, 1, 4 * sqrt(2.0 / windows));
    qs_source_fini(&s);
}

LAW(poisson_knows_only_about_how_many_packets_it_will_send)
{
    qs_pcg64 pcg;
    const qs_rng rng = qs_pcg64_init(&pcg, 5, 5);
    qs_source s = source(SPEC("poisson", NUMBER("interval", QS_SECOND / 10), NUMBER("size", 100)), 0, &rng);
    const qs_expectation expectation = s.ops->expect(s.state, 1000 * QS_SECOND);
    CHECK(!expectation.exact);
    CLOSE((double)expectation.packets, 10000, 1000);
    qs_source_fini(&s);
}

LAW(poisson_ends_with_the_clock)
{
    static const uint64_t raws[] = {UINT64_MAX, UINT64_MAX, UINT64_MAX, UINT64_MAX};
    const uint64_t *script = raws;
    const qs_rng rng = {.state = &script, .next_uint64 = told_next};
    qs_source s = source(SPEC("poisson", NUMBER("interval", QS_NEVER / 64), NUMBER("size", 7)), 0, &rng);
    CHECK(qs_source_next(&s).at < QS_NEVER);
    EQUAL(qs_source_next(&s).at, QS_NEVER);
    EQUAL(qs_source_next(&s).at, QS_NEVER);
    qs_source_fini(&s);
}

LAW(poisson_needs_a_random_stream)
{
    qs_source s;
    qs_error why = {""};
    const qs_source_setup setup = {.flow = "f", .why = &why};
    STATUS(qs_source_init(&s, SPEC("poisson", NUMBER("interval", 1), NUMBER("size", 1)), &setup), QS_EINVAL);
    CONTAINS(why.text, "random");
    CONTAINS(why.text, "flow \"f\"");
}
