/* SPDX-License-Identifier: MIT */
/*
 * A test rig for schedulers: class queues with a scheduler beside them and nothing else, and a plain server that
 * hands packets from it to a link without a ring. Packets are named class.number, both from 1.
 */
#ifndef QOSSIM_TESTS_RIG_H
#define QOSSIM_TESTS_RIG_H

#include "check.h"

enum { RIG_CLASSES = 64, RIG_TEXT = 4096 };

typedef struct rig {
    qs_sched sched;
    size_t classes;
    qs_queue queues[RIG_CLASSES];
    uint64_t numbers[RIG_CLASSES]; /* packets ever offered */
    qs_error why;
    char text[RIG_TEXT];
} rig;

static inline qs_status rig_try(rig *r, const qs_spec *spec, const qs_share *shares, size_t classes, qs_ratio rate)
{
    memset(r, 0, sizeof *r);
    r->classes = classes;
    const qs_sched_setup setup = {
        .shares = shares, .classes = classes, .rate = rate, .owner = "port \"rig\"", .why = &r->why};
    return qs_sched_init(&r->sched, spec, &setup);
}

static inline void rig_init(rig *r, const qs_spec *spec, const qs_share *shares, size_t classes, qs_ratio rate)
{
    if (!STATUS(rig_try(r, spec, shares, classes, rate), QS_OK)) {
        printf("    %s\n", r->why.text);
        longjmp(checks.give_up, 1);
    }
}

static inline void rig_fini(rig *r)
{
    for (size_t c = 0; c < r->classes; c++)
        while (r->queues[c].packets)
            free(qs_queue_pop(&r->queues[c]));
    qs_sched_fini(&r->sched);
}

/* Weights in small integers, as bandwidths and as quanta. */
static inline qs_share rig_bandwidth(uint64_t bits)
{
    return (qs_share){.bandwidth = QS_INT(bits)};
}

static inline qs_share rig_quantum(uint64_t bytes)
{
    return (qs_share){.quantum = QS_INT(bytes)};
}

/* A packet enters class `c`, counted from 0; on the wire it is as long as its datagram, or `wire_bits`. */
static inline qs_packet *rig_offer_bits(rig *r, size_t c, uint32_t size, uint32_t wire_bits, qs_time now)
{
    qs_packet *p = packet_new(0);
    p->flow = (uint32_t)c + 1;
    p->seq = ++r->numbers[c];
    p->size = size;
    p->wire_bits = wire_bits;
    p->klass = (uint16_t)c;
    p->sent = now;
    qs_queue_push(&r->queues[c], p);
    qs_sched_enqueue(&r->sched, c, p, now);
    return p;
}

static inline qs_packet *rig_offer(rig *r, size_t c, uint32_t size, qs_time now)
{
    return rig_offer_bits(r, c, size, size * 8, now);
}

/* Takes the next packet; the caller frees it. NULL when nothing waits. */
static inline qs_packet *rig_take(rig *r)
{
    const size_t c = qs_sched_select(&r->sched);
    if (c == QS_NO_CLASS)
        return NULL;
    REQUIRE(c < r->classes && r->queues[c].packets > 0);
    EQUAL(qs_sched_select(&r->sched), c);
    qs_packet *p = qs_queue_pop(&r->queues[c]);
    qs_sched_dequeue(&r->sched, c, p, r->queues[c].head);
    return p;
}

/* Drops the newest packet of class `c`. */
static inline void rig_drop(rig *r, size_t c)
{
    qs_queue *q = &r->queues[c];
    REQUIRE(q->packets > 0);
    qs_packet *p = qs_queue_pop_newest(q);
    qs_sched_retract(&r->sched, c, p, q->tail);
    free(p);
}

static inline void rig_say(rig *r, const char *format, uint64_t a, uint64_t b)
{
    const size_t used = strlen(r->text);
    snprintf(r->text + used, sizeof r->text - used, format, a, b);
}

/* Takes `count` packets, or fewer if fewer wait, and says which: "1.1 2.1 1.2". */
static inline const char *rig_order(rig *r, size_t count)
{
    r->text[0] = '\0';
    for (size_t i = 0; i < count; i++) {
        qs_packet *p = rig_take(r);
        if (!p)
            break;
        rig_say(r, i ? " %" PRIu64 ".%" PRIu64 : "%" PRIu64 ".%" PRIu64, p->flow, p->seq);
        free(p);
    }
    return r->text;
}

static inline const char *rig_drain(rig *r)
{
    return rig_order(r, SIZE_MAX);
}

/* ---- A server ---------------------------------------------------------------------------------------------- */

/* Textbook schedules: a link of 8 bit/s, so that a byte lasts a second. Class from 1, time in seconds. */
typedef struct rig_arrival {
    size_t klass;
    unsigned second;
    unsigned bytes;
} rig_arrival;

/* Serves arrivals, which are in order of time, on an idle link and says when each ends: "2.1@3 1.1@4". */
static inline const char *rig_serve(rig *r, const rig_arrival *arrivals, size_t count)
{
    uint64_t now = 0, free_at = 0;
    size_t i = 0;
    r->text[0] = '\0';
    while (i < count || r->sched.waiting) {
        now = r->sched.waiting && (i == count || free_at < arrivals[i].second) ? free_at : arrivals[i].second;
        while (i < count && arrivals[i].second <= now) {
            rig_offer(r, arrivals[i].klass - 1, arrivals[i].bytes, arrivals[i].second * QS_SECOND);
            i++;
        }
        if (now < free_at)
            continue;
        qs_packet *p = rig_take(r);
        free_at = now + p->size;
        rig_say(r, *r->text ? " %" PRIu64 ".%" PRIu64 : "%" PRIu64 ".%" PRIu64, p->flow, p->seq);
        rig_say(r, "@%" PRIu64, free_at, 0);
        free(p);
    }
    return r->text;
}

#endif
