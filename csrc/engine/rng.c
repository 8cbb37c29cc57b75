/* SPDX-License-Identifier: MIT */
/*
 * Random streams. The generator is whoever fills in qs_rng; the laws built on it use only operations that IEEE 754
 * defines exactly, so that a seed gives the same packets on every machine.
 */
#include <qossim/engine.h>

/* ---- PCG64: O'Neill, "PCG: A family of simple fast space-efficient ... generators", HMC-CS-2014-0905 --------- */

#define PCG_MULTIPLIER (((qs_u128)UINT64_C(2549297995355413924) << 64) + UINT64_C(4865540595714422341))

static uint64_t pcg64_next(void *state)
{
    qs_pcg64 *pcg = state;
    pcg->state = pcg->state * PCG_MULTIPLIER + pcg->increment;
    const uint64_t folded = (uint64_t)(pcg->state >> 64) ^ (uint64_t)pcg->state;
    const unsigned turn = (unsigned)(pcg->state >> 122);
    return folded >> turn | folded << (-turn & 63);
}

static uint32_t pcg64_next32(void *state)
{
    return (uint32_t)(pcg64_next(state) >> 32);
}

static double pcg64_double(void *state)
{
    return (double)(pcg64_next(state) >> 11) * 0x1p-53;
}

/* SplitMix64 (Steele, Lea and Flood 2014) spreads a small seed over the whole state. */
static uint64_t split_mix(uint64_t *x)
{
    uint64_t z = *x += UINT64_C(0x9E3779B97F4A7C15);
    z = (z ^ z >> 30) * UINT64_C(0xBF58476D1CE4E5B9);
    z = (z ^ z >> 27) * UINT64_C(0x94D049BB133111EB);
    return z ^ z >> 31;
}

qs_rng qs_pcg64_init(qs_pcg64 *pcg, uint64_t seed, uint64_t stream)
{
    const uint64_t high = split_mix(&seed);
    const uint64_t low = split_mix(&seed);
    const uint64_t stream_high = split_mix(&stream);
    const uint64_t stream_low = split_mix(&stream);
    pcg->increment = ((qs_u128)stream_high << 64 | stream_low) << 1 | 1;
    pcg->state = pcg->increment + ((qs_u128)high << 64 | low);
    pcg->state = pcg->state * PCG_MULTIPLIER + pcg->increment;
    return (qs_rng){pcg, pcg64_next, pcg64_next32, pcg64_double, pcg64_next};
}

/* ---- Laws --------------------------------------------------------------------------------------------------- */

/*
 * ln x = e ln 2 + 2 artanh s with s = (m - 1) / (m + 1), m in [sqrt 1/2, sqrt 2): s^2 < 0.0295, so that the series
 * s + s^3/3 + ... + s^23/23 leaves less than 1e-19. No fused multiply-add: the build says -ffp-contract=off.
 */
double qs_log(double x)
{
    static const double inverse_odd[] = {1.0 / 23, 1.0 / 21, 1.0 / 19, 1.0 / 17, 1.0 / 15, 1.0 / 13,
                                         1.0 / 11, 1.0 / 9,  1.0 / 7,  1.0 / 5,  1.0 / 3,  1.0};
    int e;
    double m = frexp(x, &e);
    if (m < 0.7071067811865476) {
        m *= 2;
        e -= 1;
    }
    const double s = (m - 1) / (m + 1);
    const double z = s * s;
    double p = inverse_odd[0];
    for (size_t i = 1; i < sizeof inverse_odd / sizeof *inverse_odd; i++)
        p = p * z + inverse_odd[i];
    return e * 0.6931471805599453 + 2.0 * s * p;
}

double qs_rng_exponential(const qs_rng *rng)
{
    const double u = (double)(rng->next_uint64(rng->state) >> 11) * 0x1p-53;
    return -qs_log(1.0 - u);
}
