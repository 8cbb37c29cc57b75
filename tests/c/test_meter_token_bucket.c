/* SPDX-License-Identifier: MIT */
/* Token bucket: the worked example, and whole-number arithmetic beside it. */
#include "check.h"

static qs_meter meter(const qs_spec *spec)
{
    qs_meter m = {0};
    qs_error why = {""};
    if (!STATUS(qs_meter_init(&m, spec, "class \"x\"", &why), QS_OK)) {
        printf("    %s\n", why.text);
        longjmp(checks.give_up, 1);
    }
    return m;
}

static qs_colour colour(qs_meter *m, qs_time now, uint32_t size)
{
    qs_packet *p = packet_new(0);
    p->size = size;
    p->wire_bits = (size + 100) * 8;
    const qs_colour c = qs_meter_colour(m, now, p);
    free(p);
    return c;
}

/* One byte a second, ten bytes deep. */
LAW(bucket_answers_the_worked_example)
{
    qs_meter m = meter(SPEC("token-bucket", NUMBER("rate", 8), NUMBER("burst", 10)));
    EQUAL(colour(&m, 0, 10), QS_GREEN);
    EQUAL(colour(&m, 0, 1), QS_RED);
    EQUAL(colour(&m, 4 * QS_SECOND, 5), QS_RED);
    EQUAL(colour(&m, 5 * QS_SECOND, 5), QS_GREEN);
    EQUAL(colour(&m, 5 * QS_SECOND, 1), QS_RED);
    qs_meter_fini(&m);
}

LAW(bucket_lets_a_packet_conform_that_finds_precisely_its_size)
{
    qs_meter m = meter(SPEC("token-bucket", NUMBER("rate", 8), NUMBER("burst", 1500)));
    EQUAL(colour(&m, 0, 1500), QS_GREEN);
    EQUAL(colour(&m, 100 * QS_SECOND - 1, 100), QS_RED);
    EQUAL(colour(&m, 100 * QS_SECOND, 100), QS_GREEN);
    qs_meter_fini(&m);
}

LAW(bucket_takes_nothing_for_a_packet_that_does_not_conform)
{
    qs_meter m = meter(SPEC("token-bucket", NUMBER("rate", 8), NUMBER("burst", 100)));
    for (int i = 0; i < 50; i++)
        EQUAL(colour(&m, 0, 101), QS_RED);
    EQUAL(colour(&m, 0, 100), QS_GREEN);
    qs_meter_fini(&m);
}

LAW(bucket_never_holds_more_than_its_depth)
{
    qs_meter m = meter(SPEC("token-bucket", NUMBER("rate", 8000000000000), NUMBER("burst", 100)));
    EQUAL(colour(&m, QS_NEVER - 2, 101), QS_RED);
    EQUAL(colour(&m, QS_NEVER - 2, 60), QS_GREEN);
    EQUAL(colour(&m, QS_NEVER - 2, 60), QS_RED);
    EQUAL(colour(&m, QS_NEVER - 1, 41), QS_GREEN); /* a byte a picosecond */
    EQUAL(colour(&m, QS_NEVER - 1, 1), QS_RED);
    qs_meter_fini(&m);
}

LAW(bucket_of_no_depth_lets_nothing_pass)
{
    qs_meter m = meter(SPEC("token-bucket", NUMBER("rate", 8000000), NUMBER("burst", 0)));
    EQUAL(colour(&m, 0, 1), QS_RED);
    EQUAL(colour(&m, QS_SECOND, 1), QS_RED);
    qs_meter_fini(&m);
}

LAW(bucket_without_a_rate_is_filled_once)
{
    qs_meter m = meter(SPEC("token-bucket", NUMBER("rate", 0), NUMBER("burst", 3)));
    EQUAL(colour(&m, 0, 2), QS_GREEN);
    EQUAL(colour(&m, QS_NEVER - 1, 2), QS_RED);
    EQUAL(colour(&m, QS_NEVER - 1, 1), QS_GREEN);
    qs_meter_fini(&m);
}

/* Packets of 1024 bytes at 400 kbit/s: all pass at 400, and at 300 what the bucket held and 768 bytes for each. */
LAW(bucket_passes_all_of_a_flow_within_its_rate_and_a_share_of_one_above_it)
{
    qs_meter wide = meter(SPEC("token-bucket", NUMBER("rate", 400000), NUMBER("burst", 1024)));
    qs_meter tight = meter(SPEC("token-bucket", NUMBER("rate", 300000), NUMBER("burst", 8000)));
    uint64_t passed = 0;
    for (qs_time k = 0; k < 40000; k++) {
        EQUAL(colour(&wide, k * INT64_C(20480000000), 1024), QS_GREEN);
        passed += colour(&tight, k * INT64_C(20480000000), 1024) == QS_GREEN;
    }
    EQUAL(passed, (8000 + 768 * 39999) / 1024);
    qs_meter_fini(&wide);
    qs_meter_fini(&tight);
}

LAW(bucket_counts_the_wire_or_an_overhead_if_told_to)
{
    qs_meter ip = meter(SPEC("token-bucket", NUMBER("rate", 8), NUMBER("burst", 200)));
    qs_meter wire = meter(SPEC("token-bucket", NUMBER("rate", 8), NUMBER("burst", 200), WORD("counts", "wire")));
    qs_meter more = meter(SPEC("token-bucket", NUMBER("rate", 8), NUMBER("burst", 200), NUMBER("overhead", 20)));
    EQUAL(colour(&ip, 0, 200), QS_GREEN);
    EQUAL(colour(&wire, 0, 101), QS_RED); /* the wire adds 100 bytes here */
    EQUAL(colour(&wire, 0, 100), QS_GREEN);
    EQUAL(colour(&more, 0, 181), QS_RED);
    EQUAL(colour(&more, 0, 180), QS_GREEN);
    CHECK(!ip.only_in_congestion && !wire.only_in_congestion);
    qs_meter_fini(&ip);
    qs_meter_fini(&wire);
    qs_meter_fini(&more);
}

LAW(bucket_can_be_told_to_act_in_congestion_only)
{
    qs_meter m = meter(SPEC("token-bucket", NUMBER("rate", 8), NUMBER("burst", 200), WORD("when", "congestion")));
    CHECK(m.only_in_congestion);
    EQUAL(colour(&m, 0, 201), QS_RED); /* what is done about it is the port's business */
    qs_meter_fini(&m);
}

LAW(bucket_agrees_with_whole_number_arithmetic)
{
    uint64_t d = 17;
    for (int i = 0; i < 200; i++) {
        const uint64_t rate = dice_within(&d, 1, 20000000), per = dice_within(&d, 1, 97);
        const uint64_t burst = dice_within(&d, 0, 5000);
        qs_meter m = meter(SPEC("token-bucket", RATIO("rate", rate, per), NUMBER("burst", burst)));
        const qs_u128 byte = (qs_u128)8 * (uint64_t)QS_SECOND * per; /* tokens in a byte; a picosecond brings `rate` */
        qs_u128 tokens = burst * byte;
        qs_time now = 0;
        for (int k = 0; k < 300; k++) {
            const qs_time gap = (qs_time)dice_below(&d, k % 50 ? (uint64_t)QS_SECOND / 500 : (uint64_t)QS_SECOND * 10);
            const uint32_t size = (uint32_t)dice_within(&d, 1, 1500);
            now += gap;
            tokens += (qs_u128)(uint64_t)gap * rate;
            tokens = tokens < burst * byte ? tokens : burst * byte;
            const bool fits = size * byte <= tokens;
            tokens -= fits ? size * byte : 0;
            EQUAL(colour(&m, now, size), fits ? QS_GREEN : QS_RED);
        }
        qs_meter_fini(&m);
        if (checks.failures)
            return;
    }
}

LAW(bucket_refuses_what_it_cannot_do)
{
    qs_meter m;
    qs_error why = {""};
    STATUS(qs_meter_init(&m, SPEC("token-bucket", NUMBER("burst", 1)), "class \"x\"", &why), QS_EINVAL);
    CONTAINS(why.text, "rate");
    CONTAINS(why.text, "class \"x\"");
    STATUS(qs_meter_init(&m, SPEC("token-bucket", NUMBER("rate", 1)), "class \"x\"", &why), QS_EINVAL);
    CONTAINS(why.text, "burst");
    STATUS(qs_meter_init(&m, SPEC("token-bucket", NUMBER("rate", 1), NUMBER("burst", 1), WORD("counts", "cells")),
                         "class \"x\"", &why),
           QS_EINVAL);
    CONTAINS(why.text, "cells");
    STATUS(qs_meter_init(&m, SPEC("leaky-bucket", NUMBER("rate", 1)), "class \"x\"", &why), QS_EINVAL);
    CONTAINS(why.text, "leaky-bucket");
    const qs_setting digits[] = {{.name = "rate", .value = {1, 1, INT64_MAX}}, NUMBER("burst", 1000000)};
    STATUS(qs_meter_init(&m, &(qs_spec){"token-bucket", digits, 2}, "class \"x\"", &why), QS_ERANGE);
    CONTAINS(why.text, "digits");
}
