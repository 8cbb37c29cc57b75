/* SPDX-License-Identifier: MIT */
/*
 * Moments: integer sums of deviations from the first value and of their squares, so that a delay of many milliseconds
 * with microseconds of spread keeps its variance.
 */
#include <qossim/stats.h>

void qs_sum_add_rare(qs_sum *sum, qs_time value)
{
    sum->earlier += sum->latest;
    sum->latest = value;
}

void qs_stats_init(qs_stats *s)
{
    *s = (qs_stats){0};
    qs_histogram_init(&s->above);
    qs_histogram_init(&s->below);
}

void qs_stats_fini(qs_stats *s)
{
    qs_histogram_fini(&s->above);
    qs_histogram_fini(&s->below);
}

void qs_stats_add_rare(qs_stats *s, qs_time value)
{
    if (s->count == 1) {
        s->first = s->min = s->max = value;
        return;
    }
    const qs_i128 deviation = (qs_i128)value - s->first;
    s->sum.earlier += deviation;
    s->large_squares += (double)deviation * (double)deviation;
}

qs_i128 qs_stats_sum(const qs_stats *s)
{
    return (qs_i128)s->first * (qs_i128)s->count + qs_sum_total(&s->sum);
}

double qs_stats_mean(const qs_stats *s)
{
    if (!s->count)
        return (double)NAN;
    const qs_i128 total = qs_stats_sum(s), n = (qs_i128)s->count;
    return (double)(total / n) + (double)(total % n) / (double)n;
}

double qs_stats_deviations(const qs_stats *s)
{
    if (!s->count)
        return 0;
    const qs_i128 n = (qs_i128)s->count, sum = qs_sum_total(&s->sum), mean = sum / n, rest = sum % n;
    const double fraction = (double)rest * ((double)rest / (double)n);
    double m2;
    if (s->large_squares > 0)
        m2 = (double)s->squares + s->large_squares - (double)sum * ((double)sum / (double)n);
    else /* integers that nearly cancel, exactly: sum d^2 - (sum d)^2 / n with sum d = n mean + rest */
        m2 = (double)((qs_i128)s->squares - n * mean * mean - 2 * mean * rest) - fraction;
    return m2 > 0 ? m2 : 0;
}

double qs_stats_variance(const qs_stats *s)
{
    return s->count < 2 ? (double)NAN : qs_stats_deviations(s) / (double)(s->count - 1);
}

static double within(double x, qs_time min, qs_time max)
{
    if (x < (double)min)
        return (double)min;
    return x > (double)max ? (double)max : x;
}

static double midpoint(qs_bucket bucket)
{
    return (double)bucket.low + (double)(bucket.high - bucket.low) / 2;
}

double qs_stats_quantile(const qs_stats *s, double q)
{
    if (!s->count || !(q >= 0 && q <= 1))
        return (double)NAN;
    uint64_t rank = (uint64_t)ceil(q * (double)s->count);
    if (rank < 1)
        rank = 1;
    if (rank > s->count)
        rank = s->count;
    if (rank > 1 && (double)(rank - 1) / (double)s->count >= q) /* q is a rounded decimal: 0.07 of 100 is 7 */
        rank--;
    if (rank <= s->below.count) /* the most negative value has the largest magnitude */
        return within(-midpoint(qs_histogram_rank(&s->below, s->below.count - rank + 1)), s->min, s->max);
    return within(midpoint(qs_histogram_rank(&s->above, rank - s->below.count)), s->min, s->max);
}
