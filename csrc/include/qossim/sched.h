/* SPDX-License-Identifier: MIT */
/*
 * Scheduler: which class is next. It is told of packets that enter and leave the class queues and answers with the
 * index of a class; it owns no packet and never sees the event loop. While a packet stands in a class queue, its
 * scheduler may use the packet's `tag` or its `newer` and `older` links.
 */
#ifndef QOSSIM_SCHED_H
#define QOSSIM_SCHED_H

#include <qossim/engine.h>

#ifdef __cplusplus
extern "C" {
#endif

#define QS_CLASSES_MAX 4096
#define QS_NO_CLASS SIZE_MAX

/* What a class asks of its scheduler. `per` is 0 where a number is not given. */
typedef struct qs_share {
    qs_ratio bandwidth; /* bit/s */
    qs_ratio quantum;   /* bytes */
} qs_share;

/* What a scheduler's init is given. */
typedef struct qs_sched_setup {
    const qs_value *values;
    const qs_share *shares; /* one per class, in order of declaration */
    size_t classes;
    qs_ratio rate; /* of the link, bit/s */
    const char *owner;
    qs_error *why;
} qs_sched_setup;

/* Which classes have something waiting: a bit each, searched a word at a time. */
typedef struct qs_backlog {
    uint64_t *words;
    size_t count;
} qs_backlog;

typedef struct qs_sched_ops {
    const char *name;
    const char *summary;
    const qs_param *params;
    size_t state_size;

    /* init may allocate; fini undoes it and is called only after an init that succeeded. Either may be NULL. */
    qs_status (*init)(void *state, const qs_sched_setup *setup);
    void (*fini)(void *state);

    /*
     * `p` has entered the queue of class `c`, at its tail; `first` says that nothing waited there. Several in one
     * instant: in order of arrival. This and the two below may be NULL.
     */
    void (*enqueue)(void *state, size_t c, qs_packet *p, bool first, qs_time now);

    /* The class whose head is next. Asked only while something waits; asking changes nothing. */
    size_t (*select)(const void *state, const qs_backlog *backlog);

    /* `p` leaves the head of class `c`, the class that select named; `rest` is the new head or NULL. */
    void (*dequeue)(void *state, size_t c, qs_packet *p, qs_packet *rest);

    /* `p` is dropped from the tail of class `c`, in the instant it came; `rest` is the new tail or NULL. */
    void (*retract)(void *state, size_t c, qs_packet *p, qs_packet *rest);
} qs_sched_ops;

/* A scheduler at a port. The base keeps account of what waits. */
typedef struct qs_sched {
    const qs_sched_ops *ops;
    void *state;
    uint64_t waiting; /* packets in all classes */
    qs_backlog backlog;
} qs_sched;

QS_INLINE bool qs_backlog_has(const qs_backlog *b, size_t c)
{
    return b->words[c / 64] >> (c % 64) & 1;
}

QS_INLINE void qs_backlog_set(qs_backlog *b, size_t c)
{
    b->words[c / 64] |= UINT64_C(1) << (c % 64);
}

QS_INLINE void qs_backlog_clear(qs_backlog *b, size_t c)
{
    b->words[c / 64] &= ~(UINT64_C(1) << (c % 64));
}

/* The first class with something waiting; there must be one. */
QS_INLINE size_t qs_backlog_first(const qs_backlog *b)
{
    size_t w = 0;
    while (!b->words[w])
        w++;
    return w * 64 + (size_t)__builtin_ctzll(b->words[w]);
}

/* The first class after `c` with something waiting, or QS_NO_CLASS. */
QS_INLINE size_t qs_backlog_after(const qs_backlog *b, size_t c)
{
    size_t w = ++c / 64;
    if (w >= b->count)
        return QS_NO_CLASS;
    uint64_t word = b->words[w] & (UINT64_MAX << (c % 64));
    while (!word) {
        if (++w == b->count)
            return QS_NO_CLASS;
        word = b->words[w];
    }
    return w * 64 + (size_t)__builtin_ctzll(word);
}

/* Builds the scheduler that `spec` names: "fifo", "pq", "wfq", "scfq", "drr". */
qs_status qs_sched_init(qs_sched *s, const qs_spec *spec, const qs_sched_setup *setup) QS_NODISCARD;
void qs_sched_fini(qs_sched *s);

QS_INLINE void qs_sched_enqueue(qs_sched *s, size_t c, qs_packet *p, qs_time now)
{
    s->waiting++;
    if (s->ops->enqueue)
        s->ops->enqueue(s->state, c, p, !qs_backlog_has(&s->backlog, c), now);
    qs_backlog_set(&s->backlog, c);
}

/* The class whose head is next, or QS_NO_CLASS. */
QS_INLINE size_t qs_sched_select(const qs_sched *s)
{
    return s->waiting ? s->ops->select(s->state, &s->backlog) : QS_NO_CLASS;
}

QS_INLINE void qs_sched_dequeue(qs_sched *s, size_t c, qs_packet *p, qs_packet *rest)
{
    s->waiting--;
    if (!rest)
        qs_backlog_clear(&s->backlog, c);
    if (s->ops->dequeue)
        s->ops->dequeue(s->state, c, p, rest);
}

QS_INLINE void qs_sched_retract(qs_sched *s, size_t c, qs_packet *p, qs_packet *rest)
{
    s->waiting--;
    if (!rest)
        qs_backlog_clear(&s->backlog, c);
    if (s->ops->retract)
        s->ops->retract(s->state, c, p, rest);
}

/*
 * The bandwidths of the classes as integers in the same proportion, by their common denominator and without a common
 * factor. QS_EINVAL if one is missing or zero, QS_ERANGE if an integer would need more than 62 bits.
 */
qs_status qs_shares_weights(const qs_sched_setup *setup, uint64_t *weights) QS_NODISCARD;

/* Registry, ended by NULL. */
extern const qs_sched_ops *const qs_scheds[];
extern const qs_sched_ops qs_sched_fifo, qs_sched_pq, qs_sched_wfq, qs_sched_scfq, qs_sched_drr;

#ifdef __cplusplus
}
#endif

#endif
