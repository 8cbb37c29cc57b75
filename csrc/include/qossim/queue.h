/* SPDX-License-Identifier: MIT */
/*
 * Queue: where the packets of one class wait. The base is a FIFO that counts; a discipline says when there is too
 * much in it. A queue owns the packets that stand in it.
 */
#ifndef QOSSIM_QUEUE_H
#define QOSSIM_QUEUE_H

#include <qossim/engine.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What a queue's limit is made from: `rate`, in bit/s, is the class's bandwidth or the port's, for limits in time. */
typedef struct qs_queue_setup {
    const qs_value *values;
    qs_ratio rate;
    const char *owner;
    qs_error *why;
} qs_queue_setup;

/* The most that may stand in a queue when an instant is over. */
typedef struct qs_queue_limit {
    uint64_t packets;
    uint64_t bytes;
} qs_queue_limit;

typedef struct qs_queue_ops {
    const char *name;
    const char *summary;
    const qs_param *params;
    qs_status (*limit)(qs_queue_limit *out, const qs_queue_setup *setup);
} qs_queue_ops;

typedef struct qs_queue {
    qs_packet *head;
    qs_packet *tail;
    uint64_t packets;
    uint64_t bytes; /* of IP datagrams */
    qs_queue_limit limit;
} qs_queue;

/* Builds the queue that `spec` names, empty: "drop-tail". */
qs_status qs_queue_init(qs_queue *q, const qs_spec *spec, qs_ratio rate, const char *owner, qs_error *why) QS_NODISCARD;

/* Takes `p` in at the tail, whatever the limit: that is looked at when the instant is over. */
QS_INLINE void qs_queue_push(qs_queue *q, qs_packet *p)
{
    p->next = NULL;
    p->before = q->tail;
    if (q->tail)
        q->tail->next = p;
    else
        q->head = p;
    q->tail = p;
    q->packets++;
    q->bytes += p->size;
}

/* Gives the oldest packet out. The queue must not be empty. */
QS_INLINE qs_packet *qs_queue_pop(qs_queue *q)
{
    qs_packet *p = q->head;
    q->head = p->next;
    if (q->head)
        q->head->before = NULL;
    else
        q->tail = NULL;
    q->packets--;
    q->bytes -= p->size;
    return p;
}

/* Gives the newest packet back out. The queue must not be empty. */
QS_INLINE qs_packet *qs_queue_pop_newest(qs_queue *q)
{
    qs_packet *p = q->tail;
    q->tail = p->before;
    if (q->tail)
        q->tail->next = NULL;
    else
        q->head = NULL;
    q->packets--;
    q->bytes -= p->size;
    return p;
}

/* Is there more in it than may stay? Then the newest packets go, one by one, until there is not. */
QS_INLINE bool qs_queue_over(const qs_queue *q)
{
    return q->packets > q->limit.packets || q->bytes > q->limit.bytes;
}

/* Registry, ended by NULL. */
extern const qs_queue_ops *const qs_queues[];
extern const qs_queue_ops qs_queue_drop_tail;

#ifdef __cplusplus
}
#endif

#endif
