/* SPDX-License-Identifier: MIT */
/* CBR: the k-th packet leaves at start + phase + floor(k interval) + its jitter, whatever k is. */
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

LAW(cbr_leaves_at_the_floor_of_k_intervals)
{
    static const uint64_t intervals[][2] = {{5000000000, 1},
                                            {8192000000000000, 300000},
                                            {10, 3},
                                            {4, 3},
                                            {1, 1},
                                            {INT64_MAX, 1000003},
                                            {7999999999999999999, 7777777777777777777}};
    for (size_t i = 0; i < COUNT(intervals); i++) {
        const uint64_t n = intervals[i][0], per = intervals[i][1];
        qs_source s = source(SPEC("cbr", RATIO("interval", n, per), NUMBER("size", 40)), 77, NULL);
        for (uint64_t k = 0; k < 3000; k++) {
            const qs_departure d = qs_source_next(&s);
            if (!EQUAL(d.at, 77 + (qs_time)((qs_u128)k * n / per)))
                break;
            EQUAL(d.size, 40);
        }
        qs_source_fini(&s);
    }
}

/* The experiment's period of 27.30666... ms: 300 000 periods are 8192 s. */
LAW(cbr_does_not_drift_in_millions_of_packets)
{
    qs_source s =
        source(SPEC("cbr", RATIO("interval", 8192 * UINT64_C(1000000000000), 300000), NUMBER("size", 1006)), 0, NULL);
    qs_departure d = {0, 0};
    for (uint64_t k = 0; k <= 3000000; k++)
        d = qs_source_next(&s);
    EQUAL(d.at, 81920 * QS_SECOND);
    qs_source_fini(&s);
}

LAW(cbr_begins_after_start_and_phase)
{
    qs_source s = source(SPEC("cbr", NUMBER("interval", QS_SECOND), NUMBER("phase", 5), NUMBER("size", 1)), 3, NULL);
    EQUAL(qs_source_next(&s).at, 8);
    EQUAL(qs_source_next(&s).at, QS_SECOND + 8);
    qs_source_fini(&s);
}

LAW(cbr_draws_its_phase_uniformly_over_one_interval)
{
    static const uint64_t raws[] = {0, UINT64_MAX, UINT64_C(1) << 63, UINT64_C(0x123456789abcdef0)};
    for (size_t i = 0; i < COUNT(raws); i++) {
        const uint64_t *script = &raws[i];
        const qs_rng rng = {.state = &script, .next_uint64 = told_next};
        qs_source s =
            source(SPEC("cbr", RATIO("interval", 1000000000001, 2), NUMBER("random", 1), NUMBER("size", 1)), 10, &rng);
        CHECK(script == &raws[i] + 1); /* one draw, when the source is made */
        const qs_time phase = (qs_time)((qs_u128)(raws[i] >> 11) * UINT64_C(500000000000) >> 53);
        EQUAL(qs_source_next(&s).at, 10 + phase);
        EQUAL(qs_source_next(&s).at, 10 + phase + INT64_C(500000000000));
        EQUAL(qs_source_next(&s).at, 10 + phase + INT64_C(1000000000001));
        qs_source_fini(&s);
    }
}

LAW(cbr_draws_a_size_for_every_packet_after_its_phase)
{
    static const uint64_t raws[] = {UINT64_C(1) << 63, 0, UINT64_MAX, UINT64_C(1) << 63};
    static const int64_t sizes[] = {40, 576, 1500}, cumulative[] = {7, 11, 12};
    const uint64_t *script = raws;
    const qs_rng rng = {.state = &script, .next_uint64 = told_next};
    qs_source s = source(SPEC("cbr", NUMBER("interval", 100), NUMBER("random", 1), ARRAY("sizes", sizes, 3),
                              ARRAY("weights", cumulative, 3)),
                         0, &rng);
    qs_departure d = qs_source_next(&s);
    EQUAL(d.at, 50);
    EQUAL(d.size, 40);
    EQUAL(qs_source_next(&s).size, 1500);
    EQUAL(qs_source_next(&s).size, 40); /* 6 of 12 */
    qs_source_fini(&s);
}

LAW(cbr_draws_a_jitter_for_every_packet_before_its_size)
{
    static const uint64_t raws[] = {UINT64_C(1) << 63, 0, 0, UINT64_MAX, UINT64_MAX, UINT64_C(1) << 62, 0};
    static const int64_t sizes[] = {40, 1500}, cumulative[] = {1, 2};
    const uint64_t *script = raws;
    const qs_rng rng = {.state = &script, .next_uint64 = told_next};
    qs_source s = source(SPEC("cbr", RATIO("interval", 201, 2), NUMBER("random", 1), NUMBER("jitter", 100),
                              ARRAY("sizes", sizes, 2), ARRAY("weights", cumulative, 2)),
                         0, &rng);
    CHECK(script == raws + 1); /* the phase, 50 */
    static const qs_departure expected[] = {{50 + 0, 40}, {50 + 100 + 99, 1500}, {50 + 201 + 25, 40}};
    for (size_t k = 0; k < COUNT(expected); k++) {
        const qs_departure d = qs_source_next(&s);
        EQUAL(d.at, expected[k].at);
        EQUAL(d.size, expected[k].size);
    }
    qs_source_fini(&s);
}

LAW(cbr_packets_never_overtake_each_other_whatever_the_jitter)
{
    static const uint64_t raws[] = {UINT64_MAX, 0, UINT64_MAX, 0, UINT64_MAX, 0};
    for (uint64_t per = 1; per < 5; per++) {
        const uint64_t *script = raws;
        const qs_rng rng = {.state = &script, .next_uint64 = told_next};
        qs_source s =
            source(SPEC("cbr", RATIO("interval", 10, per), NUMBER("jitter", 10 / per), NUMBER("size", 1)), 0, &rng);
        qs_time before = -1;
        for (size_t k = 0; k < COUNT(raws); k++) {
            const qs_time at = qs_source_next(&s).at;
            CHECK(at > before);
            before = at;
        }
        CHECK(script == raws + COUNT(raws));
        qs_source_fini(&s);
    }
}

LAW(cbr_ends_with_the_clock)
{
    qs_source s = source(SPEC("cbr", NUMBER("interval", 10), NUMBER("size", 1)), QS_NEVER - 15, NULL);
    EQUAL(qs_source_next(&s).at, QS_NEVER - 15);
    EQUAL(qs_source_next(&s).at, QS_NEVER - 5);
    EQUAL(qs_source_next(&s).at, QS_NEVER);
    EQUAL(qs_source_next(&s).at, QS_NEVER);
    qs_source_fini(&s);

    const uint64_t late = UINT64_MAX, *script = &late;
    const qs_rng rng = {.state = &script, .next_uint64 = told_next};
    s = source(SPEC("cbr", NUMBER("interval", 10), NUMBER("jitter", 10), NUMBER("size", 1)), QS_NEVER - 5, &rng);
    EQUAL(qs_source_next(&s).at, QS_NEVER);
    EQUAL(qs_source_next(&s).at, QS_NEVER);
    qs_source_fini(&s);
}

static void check_expectation(const qs_spec *spec, qs_time start, qs_time until)
{
    qs_source s = source(spec, start, NULL);
    const qs_expectation expectation = s.ops->expect(s.state, until);
    uint64_t count = 0;
    while (qs_source_next(&s).at < until)
        count++;
    CHECK(expectation.exact);
    EQUAL(expectation.packets, count);
    qs_source_fini(&s);
}

LAW(cbr_knows_how_many_packets_it_will_send)
{
    uint64_t d = 6;
    for (qs_time until = 0; until < 40; until++) {
        check_expectation(SPEC("cbr", NUMBER("interval", 10), NUMBER("size", 1)), 5, until);
        check_expectation(SPEC("cbr", RATIO("interval", 10, 3), NUMBER("size", 1)), 7, until);
        check_expectation(SPEC("cbr", NUMBER("interval", 1), NUMBER("phase", 3), NUMBER("size", 1)), 0, until);
    }
    for (int i = 0; i < 2000; i++) {
        const uint64_t per = dice_within(&d, 1, 1000000), n = per + dice_below(&d, per * 100);
        const qs_time start = (qs_time)dice_below(&d, 1000), until = (qs_time)dice_below(&d, 5000);
        check_expectation(SPEC("cbr", RATIO("interval", n, per), NUMBER("size", 1)), start, until);
    }
    check_expectation(SPEC("cbr", NUMBER("interval", 1000), NUMBER("size", 1)), QS_NEVER - 10000, QS_NEVER - 1);
    check_expectation(SPEC("cbr", RATIO("interval", 3000, 7), NUMBER("size", 1)), QS_NEVER - 10000, QS_NEVER - 1);
}

/* The last packet may be late for it. */
LAW(cbr_with_jitter_expects_at_most_one_packet_more_than_it_sends)
{
    for (qs_time until = 1; until < 60; until++) {
        uint64_t raws[16];
        for (size_t i = 0; i < COUNT(raws); i++)
            raws[i] = (i + (uint64_t)until) % 3 ? UINT64_MAX : 0;
        const uint64_t *script = raws;
        const qs_rng rng = {.state = &script, .next_uint64 = told_next};
        qs_source s = source(SPEC("cbr", NUMBER("interval", 5), NUMBER("jitter", 5), NUMBER("size", 1)), 0, &rng);
        const qs_expectation expectation = s.ops->expect(s.state, until);
        uint64_t count = 0;
        while (qs_source_next(&s).at < until)
            count++;
        CHECK(!expectation.exact);
        CHECK(expectation.packets == count || expectation.packets == count + 1);
        qs_source_fini(&s);
    }
}

LAW(cbr_refuses_what_it_cannot_do)
{
    qs_source s;
    qs_error why = {""};
    const qs_source_setup setup = {.flow = "f", .why = &why};
    STATUS(qs_source_init(&s, SPEC("cbr", NUMBER("size", 1)), &setup), QS_EINVAL);
    CONTAINS(why.text, "interval");
    CONTAINS(why.text, "flow \"f\"");
    STATUS(qs_source_init(&s, SPEC("cbr", RATIO("interval", 1, 2), NUMBER("size", 1)), &setup), QS_EINVAL);
    CONTAINS(why.text, "0.5");
    STATUS(qs_source_init(&s, SPEC("cbr", NUMBER("interval", 1), NUMBER("size", 1), NUMBER("random", 1)), &setup),
           QS_EINVAL);
    CONTAINS(why.text, "random");
    STATUS(qs_source_init(&s, SPEC("cbr", NUMBER("interval", 9), NUMBER("size", 1), NUMBER("jitter", 3)), &setup),
           QS_EINVAL);
    CONTAINS(why.text, "jitter needs a random stream");
    STATUS(qs_source_init(&s, SPEC("cbr", RATIO("interval", 19, 2), NUMBER("size", 1), NUMBER("jitter", 10)), &setup),
           QS_EINVAL);
    CONTAINS(why.text, "jitter is 10 ps, must be at most the interval, 9 ps");
}
