/* SPDX-License-Identifier: MIT */
/*
 * Log-linear histogram: 64 equal buckets in each octave, so that a bucket's midpoint is within 1/128 of any value in
 * it. The idea is that of HdrHistogram (Tene); an octave is allocated when the first value falls into it.
 */
#include <qossim/stats.h>

#include <stdlib.h>
#include <string.h>

enum { BUCKETS = 1 << QS_HISTOGRAM_BITS, OCTAVES = 64 - QS_HISTOGRAM_BITS + 1 };

void qs_histogram_init(qs_histogram *h)
{
    memset(h, 0, sizeof *h);
}

void qs_histogram_fini(qs_histogram *h)
{
    for (size_t i = 0; i < OCTAVES; i++)
        free(h->octaves[i]);
    memset(h, 0, sizeof *h);
}

qs_status qs_histogram_open(qs_histogram *h, unsigned octave)
{
    h->octaves[octave] = calloc(BUCKETS, sizeof *h->octaves[octave]);
    return h->octaves[octave] ? QS_OK : QS_ENOMEM;
}

static qs_bucket bucket_at(const qs_histogram *h, unsigned octave, unsigned i)
{
    const uint64_t count = h->octaves[octave][i];
    if (octave == 0)
        return (qs_bucket){i, i, count};
    const uint64_t width = UINT64_C(1) << (octave - 1);
    const uint64_t low = (BUCKETS + (uint64_t)i) * width;
    return (qs_bucket){low, low + (width - 1), count};
}

qs_bucket qs_histogram_rank(const qs_histogram *h, uint64_t rank)
{
    qs_bucket bucket = {0, 0, 0};
    uint64_t passed = 0;
    for (unsigned octave = 0; octave < OCTAVES; octave++)
        for (unsigned i = 0; h->octaves[octave] && i < BUCKETS; i++) {
            if (!h->octaves[octave][i])
                continue;
            bucket = bucket_at(h, octave, i);
            passed += bucket.count;
            if (passed >= rank)
                return bucket;
        }
    return bucket;
}

size_t qs_histogram_buckets(const qs_histogram *h, qs_bucket *out, size_t room)
{
    size_t n = 0;
    for (unsigned octave = 0; octave < OCTAVES; octave++)
        for (unsigned i = 0; h->octaves[octave] && i < BUCKETS; i++) {
            if (!h->octaves[octave][i])
                continue;
            if (n < room)
                out[n] = bucket_at(h, octave, i);
            n++;
        }
    return n;
}
