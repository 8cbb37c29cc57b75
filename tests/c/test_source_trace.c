/* SPDX-License-Identifier: MIT */
/* Trace: arrays of times and sizes, as they stand. */
#include "check.h"

static qs_error why;

static qs_status make(qs_source *s, const qs_spec *spec, qs_time start)
{
    const qs_source_setup setup = {.start = start, .flow = "f", .why = &why};
    why.text[0] = '\0';
    return qs_source_init(s, spec, &setup);
}

LAW(trace_sends_what_its_arrays_say_from_the_flows_start_on)
{
    static const int64_t times[] = {0, 7, 7, 100}, sizes[] = {1, 65535, 40, 1500};
    qs_source s;
    STATUS(make(&s, SPEC("trace", ARRAY("times", times, 4), ARRAY("sizes", sizes, 4)), 1000), QS_OK);
    for (size_t i = 0; i < 4; i++) {
        const qs_departure d = qs_source_next(&s);
        EQUAL(d.at, 1000 + times[i]);
        EQUAL(d.size, sizes[i]);
    }
    EQUAL(qs_source_next(&s).at, QS_NEVER);
    EQUAL(qs_source_next(&s).at, QS_NEVER);
    qs_source_fini(&s);
}

LAW(trace_may_be_empty)
{
    static const int64_t none[1];
    qs_source s;
    STATUS(make(&s, SPEC("trace", ARRAY("times", none, 0), ARRAY("sizes", none, 0)), 0), QS_OK);
    EQUAL(qs_source_next(&s).at, QS_NEVER);
    qs_source_fini(&s);
}

LAW(trace_ends_with_the_clock)
{
    static const int64_t times[] = {0, 5, QS_NEVER - 1}, sizes[] = {1, 1, 1};
    qs_source s;
    STATUS(make(&s, SPEC("trace", ARRAY("times", times, 3), ARRAY("sizes", sizes, 3)), QS_NEVER - 3), QS_OK);
    EQUAL(qs_source_next(&s).at, QS_NEVER - 3);
    EQUAL(qs_source_next(&s).at, QS_NEVER);
    qs_source_fini(&s);
}

LAW(trace_knows_how_many_packets_it_will_send)
{
    static const int64_t times[] = {0, 7, 7, 7, 100, 101}, sizes[] = {1, 1, 1, 1, 1, 1};
    for (qs_time until = 0; until < 160; until++) {
        qs_source s;
        STATUS(make(&s, SPEC("trace", ARRAY("times", times, 6), ARRAY("sizes", sizes, 6)), 50), QS_OK);
        const qs_expectation expectation = s.ops->expect(s.state, until);
        uint64_t count = 0;
        while (qs_source_next(&s).at < until)
            count++;
        CHECK(expectation.exact);
        EQUAL(expectation.packets, count);
        qs_source_fini(&s);
    }
}

LAW(trace_refuses_arrays_that_cannot_be)
{
    static const int64_t rising[] = {0, 5}, falling[] = {5, 0}, negative[] = {-1, 0};
    static const int64_t sizes[] = {1, 1}, zero[] = {1, 0}, large[] = {65536, 1};
    qs_source s;
    STATUS(make(&s, SPEC("trace", ARRAY("times", falling, 2), ARRAY("sizes", sizes, 2)), 0), QS_EINVAL);
    CONTAINS(why.text, "times");
    STATUS(make(&s, SPEC("trace", ARRAY("times", negative, 2), ARRAY("sizes", sizes, 2)), 0), QS_EINVAL);
    CONTAINS(why.text, "times");
    CONTAINS(why.text, "-1");
    STATUS(make(&s, SPEC("trace", ARRAY("times", rising, 2), ARRAY("sizes", zero, 2)), 0), QS_EINVAL);
    CONTAINS(why.text, "sizes");
    STATUS(make(&s, SPEC("trace", ARRAY("times", rising, 2), ARRAY("sizes", large, 2)), 0), QS_EINVAL);
    CONTAINS(why.text, "65536");
    STATUS(make(&s, SPEC("trace", ARRAY("times", rising, 2), ARRAY("sizes", sizes, 1)), 0), QS_EINVAL);
    CONTAINS(why.text, "length");
    STATUS(make(&s, SPEC("trace", ARRAY("times", rising, 2)), 0), QS_EINVAL);
    CONTAINS(why.text, "sizes");
}
