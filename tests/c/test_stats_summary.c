/* SPDX-License-Identifier: MIT */
/* A flow's summary: delay, ipdv over consecutive packets that were both received, stages by hop. */
#include "check.h"

static const qs_time propagation[] = {7, 9};

static void receive(qs_summary *s, uint64_t seq, qs_time sent, qs_time delay)
{
    qs_packet *p = packet_new(2);
    p->seq = seq;
    p->sent = sent;
    p->hops[0] = (qs_hop){sent, sent + 1, sent + 3, sent + 6};
    p->hops[1] = (qs_hop){sent + 13, sent + delay - 19, sent + delay - 19, sent + delay - 9};
    p->received = sent + delay;
    p->fate = QS_RECEIVED;
    STATUS(qs_summary_add(s, p), QS_OK);
    free(p);
}

LAW(summary_counts_no_variation_across_a_loss)
{
    qs_summary s;
    STATUS(qs_summary_init(&s, 2, propagation), QS_OK);
    receive(&s, 5, 0, 100); /* the first after warm-up need not be number 0 */
    receive(&s, 6, 10, 140);
    receive(&s, 8, 20, 90); /* 7 is lost: two values are missing */
    receive(&s, 9, 30, 85);
    EQUAL(s.delay.count, 4);
    EQUAL(s.delay.min, 85);
    EQUAL(s.delay.max, 140);
    EQUAL(qs_stats_sum(&s.delay), 415);
    EQUAL(s.ipdv.count, 2);
    EQUAL(s.ipdv.min, -5);
    EQUAL(s.ipdv.max, 40);
    qs_summary_fini(&s);
}

LAW(summary_adds_up_the_stages_of_the_delay)
{
    qs_summary s;
    STATUS(qs_summary_init(&s, 2, propagation), QS_OK);
    receive(&s, 0, 0, 100);
    receive(&s, 1, 1000, 150);
    EQUAL(qs_summary_stages(&s, 0).queue, 2);
    EQUAL(qs_summary_stages(&s, 0).ring, 4);
    EQUAL(qs_summary_stages(&s, 0).serialisation, 6);
    EQUAL(qs_summary_stages(&s, 0).propagation, 14);
    EQUAL(qs_summary_stages(&s, 1).queue, 68 + 118);
    EQUAL(qs_summary_stages(&s, 1).ring, 0);
    EQUAL(qs_summary_stages(&s, 1).serialisation, 20);
    EQUAL(qs_summary_stages(&s, 1).propagation, 18);
    qs_summary_fini(&s);
}

LAW(summary_can_be_ended_twice)
{
    qs_summary s;
    STATUS(qs_summary_init(&s, 1, propagation), QS_OK);
    qs_summary_fini(&s);
    qs_summary_fini(&s);
}
