/* SPDX-License-Identifier: MIT */
/* Link: in an unbroken run that began at b, the transmission that completes n bits ends at b + floor(n 10^12 / rate).
 */
#include "check.h"

enum { MOST = 65535 * 9 };

static qs_link link_of(uint64_t numerator, uint64_t denominator)
{
    qs_link l;
    qs_error why = {""};
    if (!STATUS(qs_link_init(&l, QS_OVER(numerator, denominator), MOST, "port \"x\"", &why), QS_OK))
        printf("    %s\n", why.text);
    return l;
}

/* b + floor(bits 10^12 / rate). */
static qs_time ends(qs_time b, uint64_t bits, uint64_t numerator, uint64_t denominator)
{
    return b + (qs_time)((qs_u128)bits * (uint64_t)QS_SECOND * denominator / numerator);
}

LAW(link_sends_a_cell_packet_of_the_experiment_in_4664_microseconds)
{
    qs_link l = link_of(2000000, 1);
    EQUAL(qs_link_send(&l, 0, 9328), INT64_C(4664000000));
}

LAW(link_sends_a_bit_in_the_time_its_rate_says)
{
    qs_link slow = link_of(1, 3), fast = link_of(8000000000000, 1);
    EQUAL(qs_link_send(&slow, 5, 1), 5 + 3 * QS_SECOND);
    EQUAL(qs_link_send(&fast, 7, 8), 8);
    EQUAL(qs_link_send(&fast, 8, 12000), 1508);
}

/* At 3 bit/s bits end after 1/3, 2/3 and 3/3 s: the parts lost to whole picoseconds come back. */
LAW(link_carries_the_fraction_of_a_picosecond_through_a_run)
{
    qs_link l = link_of(3, 1);
    EQUAL(qs_link_send(&l, 0, 1), INT64_C(333333333333));
    EQUAL(qs_link_send(&l, INT64_C(333333333333), 1), INT64_C(666666666666));
    EQUAL(qs_link_send(&l, INT64_C(666666666666), 1), QS_SECOND);
}

LAW(link_forgets_the_fraction_when_it_has_been_idle_for_a_picosecond)
{
    qs_link l = link_of(3, 1);
    EQUAL(qs_link_send(&l, 0, 2), INT64_C(666666666666));
    EQUAL(qs_link_send(&l, INT64_C(666666666667), 1), INT64_C(666666666667) + INT64_C(333333333333));
}

LAW(link_may_begin_its_first_run_at_any_instant)
{
    qs_link l = link_of(7, 1);
    EQUAL(qs_link_send(&l, 0, 1), ends(0, 1, 7, 1));
    qs_link late = link_of(7, 1);
    EQUAL(qs_link_send(&late, 12345, 3), ends(12345, 3, 7, 1));
}

static const uint64_t odd_rates[][2] = {
    {2000000, 1},
    {2000810, 1},
    {30, 1},
    {700, 3},
    {1000000007, 1},
    {149760000, 1},
    {999999, 1000},
    {7999999999999, 1},
    {64000, 12345},
    {1000, 1},
    {INT64_MAX, 1 << 21},
    {INT64_MAX - 24, 5000000},
    {4611686018427387847, 999999999989},
};

LAW(link_ends_every_transmission_of_a_run_at_the_floor_of_the_runs_bits)
{
    uint64_t d = 1;
    for (size_t i = 0; i < COUNT(odd_rates); i++) {
        const uint64_t n = odd_rates[i][0], per = odd_rates[i][1];
        qs_link l = link_of(n, per);
        for (int run = 0; run < 20 && l.end < QS_NEVER / 4; run++) {
            const qs_time b = l.end + 1 + (qs_time)dice_below(&d, 1000000);
            uint64_t bits = 0;
            for (int k = 0; k < 300; k++) {
                const uint32_t more = (uint32_t)dice_within(&d, 1, run % 2 ? 12 : 12000);
                const qs_time start = k ? l.end : b;
                bits += more;
                if (!EQUAL(qs_link_send(&l, start, more), ends(b, bits, n, per)))
                    return;
            }
        }
    }
}

LAW(link_knows_when_a_fraction_of_a_transmission_has_been_sent)
{
    uint64_t d = 2;
    for (size_t i = 0; i < COUNT(odd_rates); i++) {
        const uint64_t n = odd_rates[i][0], per = odd_rates[i][1];
        qs_link l = link_of(n, per);
        uint64_t sent = 0;
        for (int k = 0; k < 300; k++) {
            const uint32_t bits = (uint32_t)dice_within(&d, 8, 12000);
            const uint64_t pieces = dice_within(&d, 1, 1500), piece = dice_within(&d, 1, bits * pieces);
            const qs_time start = k ? l.end : 0;
            qs_link_send(&l, start, bits);
            /* (sent + piece / pieces) 10^12 per / n, from the run's begin at 0 */
            const qs_u128 numerator = ((qs_u128)sent * pieces + piece) * per;
            const qs_u128 whole = numerator / n, rest = numerator % n;
            const qs_u128 ps = whole * (uint64_t)QS_SECOND + rest * (uint64_t)QS_SECOND / n;
            if (!EQUAL(qs_link_when(&l, start, piece, pieces), ps / pieces))
                return;
            sent += bits;
        }
    }
}

LAW(link_that_would_end_after_the_clock_never_ends)
{
    qs_link l = link_of(1, 1);
    EQUAL(qs_link_send(&l, QS_NEVER - 1 - QS_SECOND, 1), QS_NEVER - 1);
    l = link_of(1, 1);
    EQUAL(qs_link_send(&l, QS_NEVER - QS_SECOND, 1), QS_NEVER);
    l = link_of(1, 1);
    EQUAL(qs_link_send(&l, QS_NEVER - 1, MOST), QS_NEVER);
    EQUAL(qs_link_when(&l, QS_NEVER - 1, 1, 2), QS_NEVER);
}

LAW(link_refuses_a_rate_of_zero_and_one_above_the_bound)
{
    qs_link l;
    qs_error why = {""};
    STATUS(qs_link_init(&l, QS_INT(0), MOST, "port \"x\"", &why), QS_EINVAL);
    CONTAINS(why.text, "port \"x\"");
    CONTAINS(why.text, "rate");
    STATUS(qs_link_init(&l, QS_INT(8000000000001), MOST, "port \"x\"", &why), QS_EINVAL);
    CONTAINS(why.text, "8000000000001");
    CONTAINS(why.text, "8000000000000");
    STATUS(qs_link_init(&l, (qs_ratio){8000000000000, 1, 2}, MOST, "port \"x\"", &why), QS_EINVAL);
    STATUS(qs_link_init(&l, (qs_ratio){0}, MOST, "port \"x\"", NULL), QS_EINVAL);
}

LAW(link_tells_the_bound_from_what_a_double_cannot)
{
    qs_link l;
    qs_error why = {""};
    STATUS(qs_link_init(&l, QS_INT(8000000000000), MOST, "port \"x\"", &why), QS_OK);
    STATUS(qs_link_init(&l, (qs_ratio){8000000000000, 1, 1000000}, MOST, "port \"x\"", &why), QS_EINVAL);
    CONTAINS(why.text, "rate must be at most 8000000000000");
}

LAW(link_refuses_a_rate_at_which_one_packet_outlasts_the_clock)
{
    qs_link l;
    qs_error why = {""};
    STATUS(qs_link_init(&l, QS_OVER(1, 1000000), MOST, "port \"x\"", &why), QS_ERANGE);
    CONTAINS(why.text, "rate");
    CONTAINS(why.text, "clock");
}

LAW(link_refuses_a_rate_of_too_many_digits)
{
    qs_link l;
    qs_error why = {""};
    STATUS(qs_link_init(&l, (qs_ratio){1000, 1, INT64_MAX}, MOST, "port \"x\"", &why), QS_ERANGE);
    CONTAINS(why.text, "digits");
}
