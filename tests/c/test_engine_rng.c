/* SPDX-License-Identifier: MIT */
/* Random streams: PCG64 by its published output, and the laws that are drawn from any generator. */
#include "check.h"

/* A generator that says what it is told to. */
static uint64_t told_next(void *state)
{
    return *(*(const uint64_t **)state)++;
}

static qs_rng told(const uint64_t **script)
{
    return (qs_rng){.state = script, .next_uint64 = told_next, .next_raw = told_next};
}

/* The state that pcg64_srandom(42, 54) of the reference implementation makes, and the output of its demonstration. */
LAW(pcg64_gives_the_output_of_the_reference_implementation)
{
    static const uint64_t want[] = {UINT64_C(0x86b1da1d72062b68), UINT64_C(0x1304aa46c9853d39),
                                    UINT64_C(0xa3670e9e0dd50358), UINT64_C(0xf9090e529a7dae00),
                                    UINT64_C(0xc85b9fd837996f2c), UINT64_C(0x606121f8e3919196)};
    const qs_u128 multiplier = (qs_u128)UINT64_C(0x2360ED051FC65DA4) << 64 | UINT64_C(0x4385DF649FCCF645);
    qs_pcg64 pcg;
    const qs_rng rng = qs_pcg64_init(&pcg, 1, 1);
    pcg.increment = 54 << 1 | 1;
    pcg.state = pcg.increment; /* one step from 0 */
    pcg.state = (pcg.state + 42) * multiplier + pcg.increment;
    for (size_t i = 0; i < COUNT(want); i++)
        EQUAL(rng.next_uint64(rng.state), want[i]);
}

LAW(pcg64_repeats_a_seed_and_tells_seeds_and_streams_apart)
{
    qs_pcg64 a, b, c, e;
    const qs_rng ra = qs_pcg64_init(&a, 7, 1), rb = qs_pcg64_init(&b, 7, 1);
    const qs_rng rc = qs_pcg64_init(&c, 8, 1), re = qs_pcg64_init(&e, 7, 2);
    unsigned same_seed = 0, same_stream = 0;
    for (int i = 0; i < 1000; i++) {
        const uint64_t x = ra.next_uint64(ra.state);
        EQUAL(x, rb.next_uint64(rb.state));
        same_seed += x == rc.next_uint64(rc.state);
        same_stream += x == re.next_uint64(re.state);
    }
    EQUAL(same_seed, 0);
    EQUAL(same_stream, 0);
}

LAW(pcg64_doubles_fill_the_unit_interval_evenly)
{
    qs_pcg64 pcg;
    const qs_rng rng = qs_pcg64_init(&pcg, 3, 0);
    unsigned counts[10] = {0};
    for (int i = 0; i < 100000; i++) {
        const double u = rng.next_double(rng.state);
        REQUIRE(u >= 0 && u < 1);
        counts[(int)(u * 10)]++;
    }
    for (int i = 0; i < 10; i++)
        CLOSE(counts[i], 10000, 400); /* 4 standard deviations */
}

LAW(a_draw_below_n_is_the_floor_of_its_share)
{
    static const uint64_t raws[] = {0, UINT64_MAX, UINT64_C(1) << 63, (UINT64_C(1) << 63) - 1, UINT64_MAX, 5};
    const uint64_t *script = raws;
    const qs_rng rng = told(&script);
    EQUAL(qs_rng_below(&rng, 10), 0);
    EQUAL(qs_rng_below(&rng, 10), 9);
    EQUAL(qs_rng_below(&rng, 10), 5);
    EQUAL(qs_rng_below(&rng, 10), 4);
    EQUAL(qs_rng_below(&rng, UINT64_MAX), UINT64_MAX - 1);
    EQUAL(qs_rng_below(&rng, 0), 0);
}

LAW(the_logarithm_is_within_two_units_in_the_last_place)
{
    uint64_t d = 4;
    double worst = 0;
    for (int i = 0; i < 200000; i++) {
        const double u = (double)((dice(&d) >> 11) + 1) * 0x1p-53;
        const double x = i % 3   ? u
                         : i % 2 ? ldexp(u, -(int)dice_below(&d, 900))
                                 : 1 - ldexp(u, -(int)dice_below(&d, 40));
        if (!(x > 0))
            continue;
        const double want = log(x), unit = nextafter(fabs(want), INFINITY) - fabs(want);
        const double off = fabs(qs_log(x) - want) / unit;
        worst = off > worst ? off : worst;
    }
    CHECK(worst <= 2.5); /* log itself may be half a unit off */
    CLOSE(qs_log(1.0), 0, 0);
    CLOSE(qs_log(0.5), -0.6931471805599453, 0);
}

/* Bits worked out in whole-number and decimal arithmetic of 60 digits, correctly rounded where the law is. */
LAW(an_exponential_is_minus_the_logarithm_of_one_minus_a_uniform)
{
    static const uint64_t raws[] = {0, UINT64_C(1) << 63, UINT64_MAX, UINT64_C(1) << 62, 2047};
    const uint64_t *script = raws;
    const qs_rng rng = told(&script);
    CLOSE(qs_rng_exponential(&rng), 0, 0);
    CLOSE(qs_rng_exponential(&rng), 0.6931471805599453, 0);
    CLOSE(qs_rng_exponential(&rng), 36.7368005696771, 1e-13); /* 53 ln 2: the largest there is */
    CLOSE(qs_rng_exponential(&rng), 0.2876820724517809, 1e-16);
    CLOSE(qs_rng_exponential(&rng), 0, 0); /* the lowest eleven bits are not used */
}

LAW(exponentials_have_the_moments_of_their_law)
{
    qs_pcg64 pcg;
    const qs_rng rng = qs_pcg64_init(&pcg, 11, 0);
    const int n = 200000;
    double sum = 0, squares = 0;
    for (int i = 0; i < n; i++) {
        const double x = qs_rng_exponential(&rng);
        REQUIRE(x >= 0);
        sum += x;
        squares += x * x;
    }
    CLOSE(sum / n, 1, 4 / sqrt(n));
    CLOSE(squares / n, 2, 4 * sqrt(20.0 / n));
}
