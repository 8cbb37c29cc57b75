/* SPDX-License-Identifier: MIT */
/* Drop-tail: a FIFO that counts, and the limits above which its newest packets go. */
#include "check.h"

static qs_queue queue(const qs_spec *spec, qs_ratio rate)
{
    qs_queue q = {0};
    qs_error why = {""};
    if (!STATUS(qs_queue_init(&q, spec, rate, "class \"x\"", &why), QS_OK))
        printf("    %s\n", why.text);
    return q;
}

static void push(qs_queue *q, uint32_t size)
{
    qs_packet *p = packet_new(0);
    p->size = size;
    qs_queue_push(q, p);
}

/* Drops the newest until the queue is within its limit; returns how many went. */
static unsigned trim(qs_queue *q)
{
    unsigned dropped = 0;
    for (; qs_queue_over(q); dropped++)
        free(qs_queue_pop_newest(q));
    return dropped;
}

static void drain(qs_queue *q)
{
    while (q->packets)
        free(qs_queue_pop(q));
}

LAW(queue_counts_what_stands_in_it_and_gives_the_oldest_first)
{
    qs_queue q = queue(BARE("drop-tail"), QS_INT(8));
    for (uint32_t size = 1; size <= 5; size++)
        push(&q, size);
    EQUAL(q.packets, 5);
    EQUAL(q.bytes, 15);
    for (uint32_t size = 1; size <= 5; size++) {
        qs_packet *p = qs_queue_pop(&q);
        EQUAL(p->size, size);
        free(p);
    }
    EQUAL(q.packets, 0);
    EQUAL(q.bytes, 0);
    CHECK(!q.head && !q.tail);
}

LAW(queue_gives_the_newest_back_when_asked_to)
{
    qs_queue q = queue(BARE("drop-tail"), QS_INT(8));
    uint64_t d = 3, model[1000], first = 0, count = 0;
    for (int step = 0; step < 5000; step++) {
        const uint64_t what = dice_below(&d, 3);
        if ((what == 0 || !(count - first)) && count < COUNT(model)) {
            model[count++] = dice_within(&d, 1, 65535);
            push(&q, (uint32_t)model[count - 1]);
        } else if (count > first) {
            qs_packet *p = what == 1 ? qs_queue_pop(&q) : qs_queue_pop_newest(&q);
            EQUAL(p->size, what == 1 ? model[first++] : model[--count]);
            free(p);
        }
        EQUAL(q.packets, count - first);
        CHECK(!q.head == !(count - first) && !q.tail == !(count - first));
    }
    drain(&q);
}

LAW(queue_without_a_limit_is_never_over_it)
{
    qs_queue q = queue(BARE("drop-tail"), QS_INT(8));
    for (int i = 0; i < 1000; i++)
        push(&q, 65535);
    EQUAL(trim(&q), 0);
    drain(&q);
}

LAW(queue_keeps_as_many_packets_as_its_limit)
{
    qs_queue q = queue(SPEC("drop-tail", NUMBER("packets", 3)), QS_INT(8));
    for (int i = 0; i < 3; i++)
        push(&q, 65535);
    EQUAL(trim(&q), 0);
    push(&q, 1);
    push(&q, 2);
    EQUAL(trim(&q), 2);
    EQUAL(q.packets, 3);
    EQUAL(q.bytes, 3 * 65535);
    drain(&q);
}

LAW(queue_of_no_places_keeps_nothing)
{
    qs_queue packets = queue(SPEC("drop-tail", NUMBER("packets", 0)), QS_INT(8));
    qs_queue bytes = queue(SPEC("drop-tail", NUMBER("bytes", 0)), QS_INT(8));
    qs_queue time = queue(SPEC("drop-tail", NUMBER("time", 0)), QS_INT(8));
    push(&packets, 1);
    push(&bytes, 1);
    push(&time, 1);
    EQUAL(trim(&packets), 1);
    EQUAL(trim(&bytes), 1);
    EQUAL(trim(&time), 1);
}

LAW(queue_drops_the_newest_first_even_if_dropping_an_older_one_would_do)
{
    qs_queue q = queue(SPEC("drop-tail", NUMBER("bytes", 1000)), QS_INT(8));
    push(&q, 1500);
    push(&q, 40);
    EQUAL(trim(&q), 2);
    push(&q, 960);
    push(&q, 40);
    EQUAL(trim(&q), 0);
    push(&q, 1);
    EQUAL(trim(&q), 1);
    EQUAL(q.bytes, 1000);
    drain(&q);
}

LAW(queue_heeds_every_limit_it_is_given)
{
    qs_queue q =
        queue(SPEC("drop-tail", NUMBER("packets", 2), NUMBER("bytes", 100), NUMBER("time", 60 * QS_SECOND)), QS_INT(8));
    push(&q, 60);
    EQUAL(trim(&q), 0);
    push(&q, 1);
    EQUAL(trim(&q), 1); /* 61 byte are 61 s */
    free(qs_queue_pop(&q));
    for (int i = 0; i < 3; i++)
        push(&q, 1);
    EQUAL(trim(&q), 1);
    drain(&q);
}

LAW(queue_limit_in_time_is_the_floor_of_its_bytes)
{
    EQUAL(queue(SPEC("drop-tail", NUMBER("time", 20 * QS_SECOND / 1000)), QS_INT(400000)).limit.bytes, 1000);
    EQUAL(queue(SPEC("drop-tail", NUMBER("time", QS_SECOND)), QS_INT(7999)).limit.bytes, 999);
    EQUAL(queue(SPEC("drop-tail", NUMBER("time", QS_SECOND)), QS_INT(8000)).limit.bytes, 1000);
    EQUAL(queue(SPEC("drop-tail", NUMBER("time", QS_SECOND - 1)), QS_INT(8000)).limit.bytes, 999);
    EQUAL(queue(SPEC("drop-tail", NUMBER("time", 3 * QS_SECOND)), QS_OVER(8000, 3)).limit.bytes, 1000);
    EQUAL(queue(SPEC("drop-tail", NUMBER("time", 3 * QS_SECOND)), QS_OVER(7999, 3)).limit.bytes, 999);
    EQUAL(queue(SPEC("drop-tail", NUMBER("time", 1)), QS_INT(8000000000000)).limit.bytes, 1);
}

LAW(queue_limit_in_time_is_exact_however_long_the_time_and_odd_the_rate)
{
    uint64_t d = 11;
    for (int i = 0; i < 3000; i++) {
        const uint64_t time = dice(&d) >> dice_within(&d, 2, 60), rate = dice_within(&d, 1, 1000000000);
        const uint64_t per = dice_within(&d, 1, 1000);
        const qs_queue q = queue(SPEC("drop-tail", NUMBER("time", time)), QS_OVER(rate, per));
        EQUAL(q.limit.bytes, (qs_u128)time * rate / ((qs_u128)8 * (uint64_t)QS_SECOND * per));
    }
}

LAW(queue_refuses_what_it_does_not_know)
{
    qs_queue q;
    qs_error why = {""};
    STATUS(qs_queue_init(&q, BARE("red"), QS_INT(8), "class \"x\"", &why), QS_EINVAL);
    CONTAINS(why.text, "red");
    CONTAINS(why.text, "class \"x\"");
    STATUS(qs_queue_init(&q, SPEC("drop-tail", NUMBER("cells", 1)), QS_INT(8), "class \"x\"", &why), QS_EINVAL);
    CONTAINS(why.text, "cells");
    STATUS(qs_queue_init(&q, SPEC("drop-tail", NUMBER("packets", UINT64_MAX)), QS_INT(8), "class \"x\"", &why),
           QS_EINVAL);
    CONTAINS(why.text, "packets");
}

LAW(queue_refuses_a_limit_in_time_at_a_rate_of_too_many_digits)
{
    qs_queue q;
    qs_error why = {""};
    const qs_spec *spec = SPEC("drop-tail", NUMBER("time", 1));
    STATUS(qs_queue_init(&q, spec, (qs_ratio){1000, 1, INT64_MAX}, "class \"x\"", &why), QS_ERANGE);
    CONTAINS(why.text, "class \"x\"");
    CONTAINS(why.text, "digits");
}

LAW(every_queue_is_found_by_its_name)
{
    TEXT(qs_queues[0]->name, "drop-tail");
    CHECK(!qs_queues[1]);
}
