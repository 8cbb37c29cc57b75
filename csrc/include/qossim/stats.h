/* SPDX-License-Identifier: MIT */
/*
 * Statistics in constant memory: exact count, minimum, maximum and mean, the variance, and a log-linear histogram
 * from which any quantile comes with a relative error of at most QS_HISTOGRAM_ERROR; and exact ones, of times at hand.
 */
#ifndef QOSSIM_STATS_H
#define QOSSIM_STATS_H

#include <qossim/engine.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Histogram --------------------------------------------------------------------------------------------- */

#define QS_HISTOGRAM_BITS 6                                   /* 64 buckets an octave */
#define QS_HISTOGRAM_ERROR (1.0 / (2 << QS_HISTOGRAM_BITS))   /* of a bucket's midpoint: 0.78 % */

/* Counts of non-negative integers: those below 64 each have a bucket, an octave above has 64. Octaves come at need. */
typedef struct qs_histogram {
    uint64_t *octaves[64 - QS_HISTOGRAM_BITS + 1];
    uint64_t count;
} qs_histogram;

typedef struct qs_bucket {
    uint64_t low, high; /* the values that fall into it, both included */
    uint64_t count;
} qs_bucket;

void qs_histogram_init(qs_histogram *h);
void qs_histogram_fini(qs_histogram *h);

/* Makes the buckets of an octave, all empty. */
qs_status qs_histogram_open(qs_histogram *h, unsigned octave) QS_NODISCARD;

/* Octave 0 holds 0 .. 63; octave i holds 64 * 2^(i-1) .. 128 * 2^(i-1) - 1. */
QS_INLINE unsigned qs_histogram_octave(uint64_t value)
{
    const unsigned first = 1 << QS_HISTOGRAM_BITS;
    return 64 - QS_HISTOGRAM_BITS - (unsigned)__builtin_clzll(value | (first >> 1));
}

/* Counts one value. QS_ENOMEM when its octave is new and cannot be had. */
QS_INLINE QS_NODISCARD qs_status qs_histogram_add(qs_histogram *h, uint64_t value)
{
    const unsigned octave = qs_histogram_octave(value);
    if (QS_UNLIKELY(!h->octaves[octave]) && qs_histogram_open(h, octave))
        return QS_ENOMEM;
    const uint64_t bucket = value >> (octave - (octave > 0)) & ((1 << QS_HISTOGRAM_BITS) - 1);
    h->octaves[octave][bucket]++;
    h->count++;
    return QS_OK;
}

/* The bucket of rank `rank` (1 is the smallest value), which must be within 1 .. count. */
qs_bucket qs_histogram_rank(const qs_histogram *h, uint64_t rank);

/* Buckets with something in them; writes up to `room` of them in ascending order and returns how many there are. */
size_t qs_histogram_buckets(const qs_histogram *h, qs_bucket *out, size_t room);

/* ---- Sums ---------------------------------------------------------------------------------------------------- */

/* The sum of any number of times, exact: 64 bits on the path of every packet, 128 when they overflow. */
typedef struct qs_sum {
    qs_time latest;
    qs_i128 earlier;
} qs_sum;

/* Where 64 bits overflow. */
void qs_sum_add_rare(qs_sum *sum, qs_time value);

QS_INLINE void qs_sum_add(qs_sum *sum, qs_time value)
{
    qs_time latest;
    if (QS_UNLIKELY(__builtin_add_overflow(sum->latest, value, &latest)))
        qs_sum_add_rare(sum, value);
    else
        sum->latest = latest;
}

QS_INLINE qs_i128 qs_sum_total(const qs_sum *sum)
{
    return sum->earlier + sum->latest;
}

/* ---- Moments and quantiles of one signed quantity ---------------------------------------------------------- */

typedef struct qs_stats {
    uint64_t count;
    qs_time min, max;
    qs_time first;        /* the value that deviations are taken from */
    qs_sum sum;           /* of deviations from `first`: exact */
    qs_u128 squares;      /* of deviations from `first` below 2^47 ps, 140 s: exact */
    double large_squares; /* of the others */
    qs_histogram above;   /* values >= 0 */
    qs_histogram below;   /* magnitudes of values < 0 */
} qs_stats;

void qs_stats_init(qs_stats *s);
void qs_stats_fini(qs_stats *s);

/* The first value, or one whose deviation from it is large: the rarer half of qs_stats_add. */
void qs_stats_add_rare(qs_stats *s, qs_time value);

/* QS_ENOMEM as in qs_histogram_add. */
QS_INLINE QS_NODISCARD qs_status qs_stats_add(qs_stats *s, qs_time value)
{
    const uint64_t large = UINT64_C(1) << 47;
    const qs_status status =
        value < 0 ? qs_histogram_add(&s->below, -(uint64_t)value) : qs_histogram_add(&s->above, (uint64_t)value);
    if (QS_UNLIKELY(status != QS_OK))
        return status;
    if (QS_UNLIKELY(value < s->min))
        s->min = value;
    if (QS_UNLIKELY(value > s->max))
        s->max = value;
    qs_time deviation;
    const bool wide = __builtin_sub_overflow(value, s->first, &deviation);
    if (QS_UNLIKELY(s->count++ == 0 || wide || (uint64_t)deviation + large >= 2 * large)) {
        qs_stats_add_rare(s, value);
        return QS_OK;
    }
    qs_sum_add(&s->sum, deviation);
    s->squares += (qs_u128)((qs_i128)deviation * deviation);
    return QS_OK;
}

/*
 * NaN where there are too few values: none for the mean, fewer than two for the (unbiased) variance. The variance comes
 * from exact sums while values are within 2^47 ps, 140 s, of the first one.
 */
double qs_stats_mean(const qs_stats *s);
double qs_stats_variance(const qs_stats *s);

/* The exact sum of all values, and the sum of squared deviations from their mean. */
qs_i128 qs_stats_sum(const qs_stats *s);
double qs_stats_deviations(const qs_stats *s);

/* Nearest-rank quantile, 0 <= q <= 1: within QS_HISTOGRAM_ERROR of the exact one; NaN without values. */
double qs_stats_quantile(const qs_stats *s, double q);

/* ---- Exact statistics of times that are at hand ------------------------------------------------------------ */

/*
 * Rows are a flow's packets in order of sending; received is -1 for those that never were. Each writes its values, in
 * order, to `out`, which has room for one more than there are rows, and returns how many there are: delays of received
 * packets, and delay variations of consecutive packets that were both received (RFC 3393).
 */
size_t qs_exact_delays(const qs_time *sent, const qs_time *received, size_t rows, qs_time *out);
size_t qs_exact_variations(const qs_time *sent, const qs_time *received, size_t rows, qs_time *out);

typedef struct qs_exact {
    size_t count;
    qs_time min, max; /* 0 without values */
    qs_i128 sum;
    qs_i128 magnitudes; /* the sum of absolute values */
} qs_exact;

/* Of values above INT64_MIN, as all differences of times are. */
qs_exact qs_exact_moments(const qs_time *values, size_t n);

/* The double nearest to sum / (count * per), with |sum| and count * per below 2^127; NaN if count is 0. */
double qs_exact_mean(qs_i128 sum, uint64_t count, uint64_t per);

/* A level of a quantile, from 0 to 1, as an exact ratio. */
typedef struct qs_level {
    uint64_t numerator, denominator;
} qs_level;

/* The nearest rank, 1 to n: the least r >= 1 with r >= level * n. */
size_t qs_exact_rank(qs_level level, size_t n);

/*
 * The values of `count` ranks, which ascend and are within 1 .. of.count, in time proportional to that. `of` are the
 * moments of `values`, which is left in disorder; both it and `scratch` have room for one value more than there are.
 */
void qs_exact_select(qs_time *values, qs_exact of, const size_t *ranks, size_t count, qs_time *scratch, qs_time *out);

/*
 * Interarrival jitter in seconds (RFC 3550, 6.4.1) after the last of n delays in order of arrival; NaN without any. The
 * packets of a flow arrive in order of sending: at each port they wait in one FIFO.
 */
double qs_exact_jitter(const qs_time *delays, size_t n);

/* ---- The digest of a flow: what is asked of thousands of runs ----------------------------------------------- */

/* Its numbers, in seconds. Quantiles follow them: of delay, ipdv (signed) and pdv (RFC 5481), at each level. */
enum {
    QS_DIGEST_DELAY_MIN,
    QS_DIGEST_DELAY_MEAN,
    QS_DIGEST_DELAY_MAX,
    QS_DIGEST_IPDV_MEAN_ABS,
    QS_DIGEST_JITTER,
    QS_DIGEST_SCALARS,
};

/* What it works with: times for one row more than there are, and one rank and one time for each level. */
typedef struct qs_digest_work {
    qs_time *values, *scratch;
    size_t *ranks;
    qs_time *found;
} qs_digest_work;

/* Of rows as above, with levels that ascend: QS_DIGEST_SCALARS + 3 * count numbers; NaN where there are no values. */
void qs_digest(const qs_time *sent, const qs_time *received, size_t rows, const qs_level *levels, size_t count,
               qs_digest_work *work, double *out);

/* ---- One flow ---------------------------------------------------------------------------------------------- */

/* Where the delay comes from: sums over received packets, picoseconds. */
typedef struct qs_stages {
    qs_i128 queue, ring, serialisation, propagation;
} qs_stages;

typedef struct qs_hop_sums {
    qs_sum queue, ring, serialisation;
} qs_hop_sums;

/* One-way delay and ipdv of a flow's received packets, and its stages by hop. */
typedef struct qs_summary {
    qs_stats delay;
    qs_stats ipdv;
    qs_hop_sums *sums; /* one per hop of the route; the first one's serialisation is what is left of the delay */
    const qs_time *propagation;
    size_t hops;
    uint64_t last_seq; /* of the latest packet received, + 1; 0: none */
    qs_time last_delay;
} qs_summary;

/* `propagation` has one entry per hop, at least one, and is not copied. */
qs_status qs_summary_init(qs_summary *s, size_t hops, const qs_time *propagation) QS_NODISCARD;
void qs_summary_fini(qs_summary *s);

/* Takes in `p`, received; the packets of a flow come in order. */
qs_status qs_summary_add(qs_summary *s, const qs_packet *p) QS_NODISCARD;

/* The stages at one hop of the route. */
qs_stages qs_summary_stages(const qs_summary *s, size_t hop);

#ifdef __cplusplus
}
#endif

#endif
