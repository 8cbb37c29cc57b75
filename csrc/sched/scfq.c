/* SPDX-License-Identifier: MIT */
/*
 * Self-clocked fair queueing (Golestani, "A self-clocked fair queueing scheme for broadband applications", INFOCOM
 * 1994): virtual time is the finish tag of the packet handed over last. No fluid system needs to be followed, and the
 * price is a delay that grows with the number of classes.
 */
#include "tags.h"

typedef struct scfq_state {
    qs_tags tags;
    qs_tag now; /* virtual time */
    bool wire;   /* lengths in wire bits */
} scfq_state;

static const qs_param scfq_params[] = {
    {"lengths", "ip|wire", 0, 0, 0, "bits of the IP datagram, or those on the wire"},
    {0},
};

static qs_status scfq_init(void *state, const qs_sched_setup *setup)
{
    scfq_state *scfq = state;
    scfq->wire = setup->values[0].value.whole == 1;
    return qs__tags_init(&scfq->tags, setup);
}

static void scfq_fini(void *state)
{
    qs__tags_fini(&((scfq_state *)state)->tags);
}

static void scfq_enqueue(void *state, size_t c, qs_packet *p, bool first, qs_time now)
{
    scfq_state *scfq = state;
    (void)now;
    qs__tags_enqueue(&scfq->tags, c, p, first, scfq->wire ? p->wire_bits : (uint64_t)p->size * 8, scfq->now);
}

static size_t scfq_select(const void *state, const qs_backlog *backlog)
{
    return qs__tags_select(&((const scfq_state *)state)->tags, backlog);
}

static void scfq_dequeue(void *state, size_t c, qs_packet *p, qs_packet *rest)
{
    scfq_state *scfq = state;
    if (qs__tag_less(scfq->now, p->tag))
        scfq->now = p->tag;
    qs__tags_dequeue(&scfq->tags, c, p, rest);
}

static void scfq_retract(void *state, size_t c, qs_packet *p, qs_packet *rest)
{
    (void)p;
    qs__tags_retract(&((scfq_state *)state)->tags, c, rest);
}

const qs_sched_ops qs_sched_scfq = {
    .name = "scfq",
    .summary = "Self-clocked fair queueing (Golestani, 1994)",
    .params = scfq_params,
    .state_size = sizeof(scfq_state),
    .init = scfq_init,
    .fini = scfq_fini,
    .enqueue = scfq_enqueue,
    .select = scfq_select,
    .dequeue = scfq_dequeue,
    .retract = scfq_retract,
};
