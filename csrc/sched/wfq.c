/* SPDX-License-Identifier: MIT */
/*
 * Weighted fair queueing, packet by packet GPS (Parekh and Gallager, "A generalized processor sharing approach to flow
 * control in integrated services networks", IEEE/ACM ToN 1, 1993): the packet that would finish first in the fluid
 * system goes first. The fluid system serves all its backlogged classes at once, in proportion to their weights, at
 * the link's rate; it follows the arrivals only and knows nothing of the ring. Virtual time V grows by C / (sum of the
 * backlogged weights); a class is backlogged until V reaches the finish tag of its newest packet.
 */
#include "tags.h"

#include <stdlib.h>

typedef struct wfq_state {
    qs_tags tags;
    qs_tag *finish;  /* in the fluid system: virtual time at which each class leaves it, or not_in_fluid */
    qs_tag *mins;    /* the smallest of each BLOCK of them */
    qs_tag first;    /* the smallest of all */
    uint64_t weight; /* sum over the classes in the fluid system */
    qs_tag now;      /* virtual time at `at` */
    qs_time at;
    uint64_t bits_per_ps[3]; /* the link's rate in 2^-184 bit, the lowest digit first */
} wfq_state;

static const qs_tag not_in_fluid = {~(qs_u128)0, UINT64_MAX};

enum { BLOCK = 8 };

/* rate / 10^12, by long division; the rate is at most 8 * 10^12. */
static qs_status scale_rate(wfq_state *wfq, const qs_sched_setup *setup)
{
    uint64_t n;
    const qs_u128 per = (qs_u128)(uint64_t)QS_SECOND * setup->rate.per;
    if (!qs__ratio_numerator(setup->rate, &n))
        return qs_error_set(setup->why, QS_ERANGE, "%s: rate %.17g bit/s has too many digits", setup->owner,
                            qs_ratio_double(setup->rate));
    uint64_t *digits = wfq->bits_per_ps;
    qs_u128 rest = n % per;
    digits[0] = (uint64_t)(n / per);
    for (int bit = 0; bit < 184; bit++) {
        const bool one = (rest <<= 1) >= per;
        rest -= one ? per : 0;
        digits[2] = digits[2] << 1 | digits[1] >> 63;
        digits[1] = digits[1] << 1 | digits[0] >> 63;
        digits[0] = digits[0] << 1 | one;
    }
    return QS_OK;
}

static void wfq_fini(void *state)
{
    wfq_state *wfq = state;
    free(wfq->finish);
    qs__tags_fini(&wfq->tags);
}

static size_t block_count(size_t classes)
{
    return (classes + BLOCK - 1) / BLOCK;
}

static qs_status init_fluid(wfq_state *wfq, const qs_sched_setup *setup)
{
    const size_t blocks = block_count(setup->classes);
    qs_u128 all = 0;
    for (size_t c = 0; c < setup->classes; c++)
        all += wfq->tags.classes[c].weight;
    if (all >> 63)
        return qs_error_set(setup->why, QS_ERANGE, "%s: the bandwidths add up to more than 63 bits", setup->owner);
    wfq->finish = malloc((setup->classes + blocks) * sizeof *wfq->finish);
    if (!wfq->finish)
        return QS_ENOMEM;
    wfq->mins = wfq->finish + setup->classes;
    for (size_t i = 0; i < setup->classes + blocks; i++)
        wfq->finish[i] = not_in_fluid;
    wfq->first = not_in_fluid;
    return QS_OK;
}

static qs_status wfq_init(void *state, const qs_sched_setup *setup)
{
    wfq_state *wfq = state;
    qs_status status = scale_rate(wfq, setup);
    if (status)
        return status;
    status = qs__tags_init(&wfq->tags, setup);
    if (status)
        return status;
    status = init_fluid(wfq, setup);
    if (status)
        qs__tags_fini(&wfq->tags);
    return status;
}

/* Bits that the link sends in `took`: a product with 184 binary digits behind the point, of which a tag has 124. */
static qs_tag bits_in(const wfq_state *wfq, uint64_t took)
{
    const qs_u128 p0 = (qs_u128)wfq->bits_per_ps[0] * took;
    const qs_u128 p1 = (qs_u128)wfq->bits_per_ps[1] * took + (p0 >> 64);
    const qs_u128 p2 = (qs_u128)wfq->bits_per_ps[2] * took + (p1 >> 64);
    return (qs_tag){p2 << 4 | (uint64_t)p1 >> 60, (uint64_t)p1 << 4 | (uint64_t)p0 >> 60};
}

static qs_tag smallest(const qs_tag *of, size_t count)
{
    qs_tag least = of[0];
    for (size_t i = 1; i < count; i++)
        least = qs__tag_less(of[i], least) ? of[i] : least;
    return least;
}

static void set_finish(wfq_state *wfq, size_t c, qs_tag finish)
{
    const size_t begin = c / BLOCK * BLOCK, left = wfq->tags.count - begin;
    wfq->finish[c] = finish;
    wfq->mins[c / BLOCK] = smallest(&wfq->finish[begin], left < BLOCK ? left : BLOCK);
    wfq->first = smallest(wfq->mins, block_count(wfq->tags.count));
}

static void leave(wfq_state *wfq, size_t c)
{
    wfq->weight -= wfq->tags.classes[c].weight;
    set_finish(wfq, c, not_in_fluid);
}

/* Virtual time has come to `first`: those leave whose newest packet is finished. */
static void let_leave(wfq_state *wfq)
{
    for (size_t c = 0; !qs__tag_less(wfq->now, wfq->first) && c < wfq->tags.count; c++) {
        if (c % BLOCK == 0 && qs__tag_less(wfq->now, wfq->mins[c / BLOCK]))
            c += BLOCK - 1;
        else if (!qs__tag_less(wfq->now, wfq->finish[c]))
            leave(wfq, c);
    }
}

/* Serves the fluid system until `at`. */
static void serve(wfq_state *wfq, qs_time at)
{
    qs_tag bits = bits_in(wfq, (uint64_t)(at - wfq->at));
    wfq->at = at;
    while (wfq->weight) {
        const qs_tag left = qs__tag_difference(wfq->first, wfq->now);
        const qs_tag needed = qs__tag_ratio(left, wfq->weight, wfq->tags.smallest);
        if (qs__tag_less(bits, needed)) {
            wfq->now = qs__tag_sum(wfq->now, qs__tag_ratio(bits, wfq->tags.smallest, wfq->weight));
            return;
        }
        bits = qs__tag_difference(bits, needed);
        wfq->now = wfq->first;
        let_leave(wfq);
    }
}

static void wfq_enqueue(void *state, size_t c, qs_packet *p, bool first, qs_time now)
{
    wfq_state *wfq = state;
    if (now != wfq->at)
        serve(wfq, now);
    qs__tags_enqueue(&wfq->tags, c, p, first, p->wire_bits, wfq->now);
    if (!qs__tag_less(wfq->finish[c], not_in_fluid))
        wfq->weight += wfq->tags.classes[c].weight;
    set_finish(wfq, c, p->tag);
}

static size_t wfq_select(const void *state, const qs_backlog *backlog)
{
    return qs__tags_select(&((const wfq_state *)state)->tags, backlog);
}

static void wfq_dequeue(void *state, size_t c, qs_packet *p, qs_packet *rest)
{
    qs__tags_dequeue(&((wfq_state *)state)->tags, c, p, rest);
}

/* No time has passed since `p` came, so that the fluid system has not served it yet: it is as if it never had come. */
static void wfq_retract(void *state, size_t c, qs_packet *p, qs_packet *rest)
{
    wfq_state *wfq = state;
    (void)p;
    qs__tags_retract(&wfq->tags, c, rest);
    if (qs__tag_less(wfq->now, wfq->tags.classes[c].newest))
        set_finish(wfq, c, wfq->tags.classes[c].newest);
    else
        leave(wfq, c);
}

static const qs_param no_params[] = {{0}};

const qs_sched_ops qs_sched_wfq = {
    .name = "wfq",
    .summary = "Weighted fair queueing, packet by packet GPS (Parekh and Gallager, 1993)",
    .params = no_params,
    .state_size = sizeof(wfq_state),
    .init = wfq_init,
    .fini = wfq_fini,
    .enqueue = wfq_enqueue,
    .select = wfq_select,
    .dequeue = wfq_dequeue,
    .retract = wfq_retract,
};
