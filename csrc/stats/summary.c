/* SPDX-License-Identifier: MIT */
/*
 * A flow's streaming summary: one-way delay (RFC 7679), ipdv over pairs of consecutive packets that were both received
 * (RFC 3393), and the stages of the delay by hop.
 */
#include <qossim/stats.h>

#include <stdlib.h>

qs_status qs_summary_init(qs_summary *s, size_t hops, const qs_time *propagation)
{
    qs_hop_sums *sums = calloc(hops, sizeof *sums);
    if (!sums)
        return QS_ENOMEM;
    *s = (qs_summary){.sums = sums, .propagation = propagation, .hops = hops};
    qs_stats_init(&s->delay);
    qs_stats_init(&s->ipdv);
    return QS_OK;
}

void qs_summary_fini(qs_summary *s)
{
    if (!s->sums)
        return;
    qs_stats_fini(&s->delay);
    qs_stats_fini(&s->ipdv);
    free(s->sums);
    *s = (qs_summary){0};
}

static void add_stages(qs_summary *s, const qs_packet *p)
{
    const qs_hop *hop = p->hops;
    qs_hop_sums *sums = s->sums, *end = sums + s->hops;
    qs_sum_add(&sums->queue, hop->ring - hop->queued);
    qs_sum_add(&sums->ring, hop->start - hop->ring);
    while (++sums != end) {
        hop++;
        qs_sum_add(&sums->queue, hop->ring - hop->queued);
        qs_sum_add(&sums->ring, hop->start - hop->ring);
        qs_sum_add(&sums->serialisation, hop->end - hop->start);
    }
}

qs_status qs_summary_add(qs_summary *s, const qs_packet *p)
{
    const qs_time delay = p->received - p->sent;
    qs_status status = qs_stats_add(&s->delay, delay);
    if (!status && s->last_seq && p->seq == s->last_seq)
        status = qs_stats_add(&s->ipdv, delay - s->last_delay);
    s->last_seq = p->seq + 1;
    s->last_delay = delay;
    add_stages(s, p);
    return status;
}

static qs_stages stages_but_for_the_first_serialisation(const qs_summary *s, size_t hop)
{
    const qs_hop_sums *sums = &s->sums[hop];
    return (qs_stages){
        .queue = qs_sum_total(&sums->queue),
        .ring = qs_sum_total(&sums->ring),
        .serialisation = qs_sum_total(&sums->serialisation),
        .propagation = (qs_i128)s->delay.count * s->propagation[hop],
    };
}

qs_stages qs_summary_stages(const qs_summary *s, size_t hop)
{
    qs_stages stages = stages_but_for_the_first_serialisation(s, hop);
    if (hop > 0)
        return stages;
    stages.serialisation = qs_stats_sum(&s->delay);
    for (size_t i = 0; i < s->hops; i++) {
        const qs_stages other = stages_but_for_the_first_serialisation(s, i);
        stages.serialisation -= other.queue + other.ring + other.serialisation + other.propagation;
    }
    return stages;
}
