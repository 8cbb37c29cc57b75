/* SPDX-License-Identifier: MIT */
/*
 * Exact statistics of times that are at hand. Order statistics are found by counting: values fall into buckets of equal
 * width between the least and the greatest, and only those in the buckets of wanted ranks are looked at again. Each
 * turn divides the range by 2^SMALL_BITS at least, so that there are at most ten, whatever the values.
 */
#include <qossim/stats.h>

#include <string.h>

enum { BITS = 10, BUCKETS = 1 << BITS, SMALL = 2048, SMALL_BITS = 7, FEW = 24, MANY = 1000, SAMPLE = 63, OFTEN = 3 };

/* ---- Values -------------------------------------------------------------------------------------------------- */

size_t qs_exact_delays(const qs_time *sent, const qs_time *received, size_t rows, qs_time *out)
{
    size_t n = 0;
    for (size_t i = 0; i < rows; i++) {
        out[n] = received[i] - sent[i];
        n += received[i] >= 0;
    }
    return n;
}

size_t qs_exact_variations(const qs_time *sent, const qs_time *received, size_t rows, qs_time *out)
{
    size_t n = 0;
    for (size_t i = 1; i < rows; i++) {
        const uint64_t later = (uint64_t)received[i] - (uint64_t)sent[i]; /* of a lost packet, anything */
        const uint64_t earlier = (uint64_t)received[i - 1] - (uint64_t)sent[i - 1];
        out[n] = (qs_time)(later - earlier);
        n += (received[i] >= 0) & (received[i - 1] >= 0);
    }
    return n;
}

/* ---- Moments ------------------------------------------------------------------------------------------------- */

static qs_i128 wide_sum(const qs_time *values, size_t n, bool magnitudes)
{
    qs_i128 sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += magnitudes && values[i] < 0 ? -values[i] : values[i];
    return sum;
}

qs_exact qs_exact_moments(const qs_time *values, size_t n)
{
    if (!n)
        return (qs_exact){0};
    qs_time min = values[0], max = min;
    uint64_t sum = 0, magnitudes = 0; /* modulo 2^64 */
    for (size_t i = 0; i < n; i++) {
        const qs_time v = values[i];
        min = v < min ? v : min;
        max = v > max ? v : max;
        sum += (uint64_t)v;
        magnitudes += (uint64_t)(v < 0 ? -v : v);
    }
    const qs_time largest = max > -min ? max : -min;
    if ((uint64_t)largest <= (uint64_t)INT64_MAX / n) /* so many of that size do not overflow */
        return (qs_exact){n, min, max, (qs_time)sum, (qs_time)magnitudes};
    return (qs_exact){n, min, max, wide_sum(values, n, false), wide_sum(values, n, true)};
}

/* The double nearest to n / d, ties to even, as Python divides integers; d < 2^127. */
static double quotient(qs_u128 n, qs_u128 d)
{
    qs_u128 whole = n / d, rest = n % d;
    int shift = 0;
    while (rest && whole >> 55 == 0) {
        rest <<= 1;
        whole <<= 1;
        if (rest >= d) {
            rest -= d;
            whole |= 1;
        }
        shift++;
    }
    return ldexp((double)(whole | (rest != 0)), -shift); /* the last bit says that there is more: 55 bits are enough */
}

double qs_exact_mean(qs_i128 sum, uint64_t count, uint64_t per)
{
    if (!count)
        return (double)NAN;
    const qs_u128 divisor = (qs_u128)count * per;
    return sum < 0 ? -quotient(-(qs_u128)sum, divisor) : quotient((qs_u128)sum, divisor);
}

/* ---- Ranks --------------------------------------------------------------------------------------------------- */

size_t qs_exact_rank(qs_level level, size_t n)
{
    const size_t rank = (size_t)(((qs_u128)level.numerator * n + level.denominator - 1) / level.denominator);
    return rank ? rank : 1;
}

/* Ranks wanted of an array that has `before` values before it: out[i] becomes that of rank ranks[i] - before. */
typedef struct wanted {
    const size_t *ranks;
    size_t count;
    size_t before;
    qs_time *out;
} wanted;

static void sort_few(qs_time *values, size_t n)
{
    for (size_t i = 1; i < n; i++) {
        const qs_time v = values[i];
        size_t k = i;
        for (; k > 0 && values[k - 1] > v; k--)
            values[k] = values[k - 1];
        values[k] = v;
    }
}

typedef struct buckets {
    qs_time min;
    unsigned shift;
    size_t size; /* as many are in use */
    size_t counts[BUCKETS];
    size_t ends[BUCKETS]; /* of a wanted bucket's values in the scratch; of all others, one place for nothing */
    uint8_t steps[BUCKETS]; /* 1: wanted */
} buckets;

static void count_values(buckets *b, const qs_time *values, size_t n, qs_time min, qs_time max)
{
    const uint64_t range = (uint64_t)max - (uint64_t)min;
    const unsigned length = range ? 64 - (unsigned)__builtin_clzll(range) : 0;
    const unsigned bits = n < SMALL ? SMALL_BITS : BITS;
    const unsigned shift = length > bits ? length - bits : 0;
    b->size = (size_t)1 << bits;
    memset(b->counts, 0, b->size * sizeof *b->counts);
    for (size_t i = 0; i < n; i++)
        b->counts[((uint64_t)values[i] - (uint64_t)min) >> shift]++;
    b->min = min;
    b->shift = shift;
}

/* Takes from `w` the ranks of the next bucket that has any, which is at or after `*bucket`. */
static wanted next_bucket(const buckets *b, wanted *w, size_t *bucket)
{
    while (w->before + b->counts[*bucket] < w->ranks[0])
        w->before += b->counts[(*bucket)++];
    wanted those = *w;
    const size_t last = w->before + b->counts[*bucket];
    for (those.count = 1; those.count < w->count && those.ranks[those.count] <= last; those.count++)
        ;
    w->ranks += those.count;
    w->out += those.count;
    w->count -= those.count;
    return those;
}

/* Copies the values of wanted buckets to `scratch`, bucket by bucket. */
static void gather(buckets *b, wanted w, const qs_time *values, size_t n, qs_time *scratch)
{
    size_t used = 0;
    memset(b->steps, 0, b->size * sizeof *b->steps);
    for (size_t bucket = 0; w.count;) {
        next_bucket(b, &w, &bucket);
        b->ends[bucket] = used;
        b->steps[bucket] = 1;
        used += b->counts[bucket];
    }
    for (size_t bucket = 0; bucket < b->size; bucket++)
        if (!b->steps[bucket])
            b->ends[bucket] = used;
    const uint64_t min = (uint64_t)b->min;
    const unsigned shift = b->shift;
    for (size_t i = 0; i < n; i++) {
        const uint64_t bucket = ((uint64_t)values[i] - min) >> shift;
        scratch[b->ends[bucket]] = values[i];
        b->ends[bucket] += b->steps[bucket];
    }
}

static void find_in(wanted w, qs_time *values, size_t n, qs_time *scratch);

/* Values lie within min .. max; both arrays have room for one value more than n. */
static void find(wanted w, qs_time *values, size_t n, qs_time min, qs_time max, qs_time *scratch)
{
    buckets b;
    count_values(&b, values, n, min, max);
    if (b.shift)
        gather(&b, w, values, n, scratch);
    for (size_t bucket = 0; w.count;) {
        const wanted those = next_bucket(&b, &w, &bucket);
        if (b.shift) {
            const size_t begin = b.ends[bucket] - b.counts[bucket];
            find_in(those, scratch + begin, b.counts[bucket], values + begin);
        }
        for (size_t i = 0; !b.shift && i < those.count; i++)
            those.out[i] = b.min + (qs_time)bucket;
    }
}

/* The same of the values of one bucket, which are often few or all equal. */
static void find_in(wanted w, qs_time *values, size_t n, qs_time *scratch)
{
    if (n <= FEW) {
        sort_few(values, n);
        for (size_t i = 0; i < w.count; i++)
            w.out[i] = values[w.ranks[i] - w.before - 1];
        return;
    }
    qs_time min = values[0], max = values[0];
    for (size_t i = 1; i < n; i++) {
        min = values[i] < min ? values[i] : min;
        max = values[i] > max ? values[i] : max;
    }
    if (min < max)
        find(w, values, n, min, max, scratch);
    for (size_t i = 0; min == max && i < w.count; i++)
        w.out[i] = min;
}

/*
 * Where a few values make up most, as in the ipdv of regular streams, they crowd in a few buckets. There the value of
 * a rank is guessed from a sample, and proved by counting what is below it. Returns how many ranks were.
 */
static size_t find_by_guess(wanted w, const qs_time *values, size_t n)
{
    qs_time sample[SAMPLE];
    for (size_t i = 0; i < SAMPLE; i++)
        sample[i] = values[i * (n / SAMPLE)];
    sort_few(sample, SAMPLE);
    size_t below = 0, equal = 0;
    for (size_t i = 0; i < w.count; i++) {
        const size_t place = (w.ranks[i] - 1) * SAMPLE / n;
        const qs_time guess = sample[place];
        if (i == 0 || guess != w.out[i - 1]) {
            if (sample[place < OFTEN ? OFTEN : place - OFTEN] != guess) /* one beside it */
                return i;
            below = equal = 0;
            for (size_t k = 0; k < n; k++) {
                below += values[k] < guess;
                equal += values[k] == guess;
            }
        }
        if (w.ranks[i] <= below || w.ranks[i] > below + equal)
            return i;
        w.out[i] = guess;
    }
    return w.count;
}

void qs_exact_select(qs_time *values, qs_exact of, const size_t *ranks, size_t count, qs_time *scratch, qs_time *out)
{
    wanted w = {ranks, count, 0, out};
    if (of.count >= MANY) {
        const size_t found = find_by_guess(w, values, of.count);
        w = (wanted){ranks + found, count - found, 0, out + found};
    }
    if (w.count)
        find(w, values, of.count, of.min, of.max, scratch);
}

/* ---- Jitter -------------------------------------------------------------------------------------------------- */

/*
 * J is the sum of (15/16)^k |D[n-k]| / 16. Pairs are added, then pairs of pairs and so on, 1024 terms in all: what is
 * left of an older one is under 10^-28 of it.
 */
double qs_exact_jitter(const qs_time *delays, size_t n)
{
    double terms[1024];
    const size_t most = sizeof terms / sizeof *terms, kept = n < most ? n : most;
    if (!n)
        return (double)NAN;
    for (size_t i = 0; i < kept; i++) { /* the latest first */
        const size_t k = n - 1 - i;
        const qs_time d = k > 0 ? delays[k] - delays[k - 1] : 0;
        terms[i] = (double)(d < 0 ? -d : d) / 1e12 * 0.0625;
    }
    for (size_t window = 1; window < kept; window *= 2) {
        const double weight = pow(0.9375, (double)window);
        for (size_t i = 0; i + window < kept; i += 2 * window)
            terms[i] += terms[i + window] * weight;
    }
    return terms[0];
}

/* ---- A flow's digest ----------------------------------------------------------------------------------------- */

static double seconds(qs_time ps)
{
    return (double)ps / 1e12;
}

/* The nearest-rank values at all levels, in seconds; NaN without values. */
static void quantiles(qs_digest_work *work, qs_exact of, const qs_level *levels, size_t count, double *out)
{
    for (size_t i = 0; i < count; i++)
        out[i] = (double)NAN;
    if (!of.count)
        return;
    for (size_t i = 0; i < count; i++)
        work->ranks[i] = qs_exact_rank(levels[i], of.count);
    qs_exact_select(work->values, of, work->ranks, count, work->scratch, work->found);
    for (size_t i = 0; i < count; i++)
        out[i] = seconds(work->found[i]);
}

void qs_digest(const qs_time *sent, const qs_time *received, size_t rows, const qs_level *levels, size_t count,
               qs_digest_work *work, double *out)
{
    const double none = (double)NAN;
    double *delay = out + QS_DIGEST_SCALARS, *ipdv = delay + count, *pdv = ipdv + count;
    const size_t n = qs_exact_delays(sent, received, rows, work->values);
    const qs_exact delays = qs_exact_moments(work->values, n);
    out[QS_DIGEST_DELAY_MIN] = n ? seconds(delays.min) : none;
    out[QS_DIGEST_DELAY_MEAN] = qs_exact_mean(delays.sum, n, QS_SECOND);
    out[QS_DIGEST_DELAY_MAX] = n ? seconds(delays.max) : none;
    out[QS_DIGEST_JITTER] = qs_exact_jitter(work->values, n);
    quantiles(work, delays, levels, count, delay);
    for (size_t i = 0; i < count; i++)
        pdv[i] = n ? seconds(work->found[i] - delays.min) : none;
    const size_t pairs = qs_exact_variations(sent, received, rows, work->values);
    const qs_exact ipdvs = qs_exact_moments(work->values, pairs);
    out[QS_DIGEST_IPDV_MEAN_ABS] = qs_exact_mean(ipdvs.magnitudes, pairs, QS_SECOND);
    quantiles(work, ipdvs, levels, count, ipdv);
}
