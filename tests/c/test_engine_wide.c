/* SPDX-License-Identifier: MIT */
/* Wide arithmetic against numbers that are wider still. */
#include "check.h"
#include "engine/wide.h"
#include "exact.h"

static exact widen(qs_tag a)
{
    return (exact){{a.low, (uint64_t)a.high, (uint64_t)(a.high >> 64)}};
}

static bool same(qs_tag got, exact want)
{
    return exact_order(widen(got), want) == 0;
}

/* Of at most so many bits, and often of far fewer. */
static qs_tag draw(uint64_t *d, unsigned bits)
{
    exact a = {{dice(d), dice(d), dice(d)}};
    for (uint64_t shift = 192 - dice_below(d, bits + 1); shift > 0;) {
        const uint64_t step = shift < 63 ? shift : 63;
        a = exact_over(a, UINT64_C(1) << step);
        shift -= step;
    }
    return (qs_tag){(qs_u128)a.limb[2] << 64 | a.limb[1], a.limb[0]};
}

LAW(tags_are_added_and_subtracted_exactly)
{
    uint64_t d = 9;
    for (int i = 0; i < 20000; i++) {
        const qs_tag a = draw(&d, 191), b = draw(&d, 191);
        if (!CHECK(same(qs__tag_sum(a, b), exact_sum(widen(a), widen(b)))))
            return;
        CHECK(qs__tag_less(a, b) == (exact_order(widen(a), widen(b)) < 0));
        CHECK(!qs__tag_less(a, a));
        const qs_tag large = qs__tag_less(a, b) ? b : a, small = qs__tag_less(a, b) ? a : b;
        CHECK(same(qs__tag_difference(large, small), exact_difference(widen(large), widen(small))));
    }
}

LAW(a_tag_times_a_number_is_exact)
{
    uint64_t d = 10;
    for (int i = 0; i < 20000; i++) {
        const unsigned bits = (unsigned)dice_below(&d, 64);
        const uint64_t n = bits ? dice(&d) >> (64 - bits) : 0;
        const qs_tag a = draw(&d, 192 - bits);
        if (!CHECK(same(qs__tag_times(a, n), exact_times(widen(a), n))))
            return;
    }
}

LAW(a_tag_times_a_ratio_is_the_floor_of_the_whole_product)
{
    uint64_t d = 11;
    for (int i = 0; i < 20000; i++) {
        const uint64_t n = dice(&d) >> dice_below(&d, 64), divisor = (dice(&d) >> dice_below(&d, 63)) | 1;
        qs_tag a = draw(&d, 192);
        const exact want = exact_over(exact_times(widen(a), n), divisor);
        if (want.limb[3] || want.limb[4])
            continue; /* does not fit */
        if (!CHECK(same(qs__tag_ratio(a, n, divisor), want)))
            return;
    }
    const qs_tag all = {~(qs_u128)0, UINT64_MAX};
    CHECK(same(qs__tag_ratio(all, UINT64_MAX, UINT64_MAX), widen(all)));
}

LAW(the_greatest_common_divisor_divides_both)
{
    EQUAL(qs__gcd(400000, 1600000), 400000);
    EQUAL(qs__gcd(17, 5), 1);
    EQUAL(qs__gcd(0, 5), 5);
    EQUAL(qs__gcd(5, 0), 5);
    EQUAL(qs__gcd(UINT64_MAX, UINT64_MAX - 1), 1);
}

LAW(a_ratio_has_a_numerator_if_it_fits)
{
    uint64_t n = 0;
    CHECK(qs__ratio_numerator((qs_ratio){3, 1, 7}, &n));
    EQUAL(n, 22);
    CHECK(qs__ratio_numerator(QS_INT(INT64_MAX), &n));
    EQUAL(n, INT64_MAX);
    CHECK(!qs__ratio_numerator((qs_ratio){4, 1, INT64_MAX}, &n));
}
