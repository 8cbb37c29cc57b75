/* SPDX-License-Identifier: MIT */
/* Recorder: every packet written once, in any order, and gathered in order of flow and number. */
#include "check.h"

enum { ROWS = 10000, MANY = 600000 };

static const uint32_t both[] = {0, 1}, back[] = {1};

static qs_recorder *recorder(size_t flows, size_t ports)
{
    qs_recorder *r = NULL;
    STATUS(qs_recorder_create(&r, flows, ports, NULL), QS_OK);
    REQUIRE(r);
    return r;
}

/* A packet whose every field can be told from flow and number. */
static void write(qs_recorder *r, uint32_t flow, uint64_t seq, size_t hops, qs_fate fate)
{
    qs_packet *p = packet_new(2);
    const qs_time t = (qs_time)flow * 1000000 + (qs_time)seq * 10;
    p->flow = flow;
    p->seq = seq;
    p->size = 1 + (uint32_t)seq % 1500;
    p->fate = (uint8_t)fate;
    p->sent = t;
    p->received = fate == QS_RECEIVED ? t + 9 : -1;
    p->hop = (uint16_t)(hops - 1);
    for (size_t i = 0; i < hops; i++)
        p->hops[i] =
            (qs_hop){t + 1 + (qs_time)i * 4, t + 2 + (qs_time)i * 4, t + 3 + (qs_time)i * 4, t + 4 + (qs_time)i * 4};
    STATUS(qs_recorder_write(r, p, fate == QS_RECEIVED ? -1 : (int)hops - 1), QS_OK);
    free(p);
}

/* What is expected of two flows: exactly so many rows, or about so many. */
static void check_order(uint64_t first, uint64_t second, bool exact)
{
    static uint32_t order[ROWS];
    uint64_t d = 1;
    for (uint32_t i = 0; i < ROWS; i++)
        order[i] = i;
    for (uint32_t i = ROWS - 1; i > 0; i--) {
        const uint64_t j = dice_below(&d, i + 1);
        const uint32_t kept = order[i];
        order[i] = order[j];
        order[j] = kept;
    }
    qs_recorder *r = recorder(2, 2);
    STATUS(qs_recorder_expect(r, 0, both, 2, first, exact), QS_OK);
    STATUS(qs_recorder_expect(r, 1, back, 1, second, exact), QS_OK);
    for (uint32_t i = 0; i < ROWS; i++)
        write(r, order[i] % 2, order[i] / 2, order[i] % 2 ? 1 : 2, QS_RECEIVED);
    qs_columns c;
    STATUS(qs_recorder_take(r, &c), QS_OK);
    EQUAL(c.rows, ROWS);
    EQUAL(c.ports, 2);
    for (size_t i = 0; i < ROWS && !checks.failures; i++) {
        const qs_time seq = (qs_time)i % (ROWS / 2), t = c.flow[i] * 1000000 + seq * 10;
        EQUAL(c.flow[i], i / (ROWS / 2));
        EQUAL(c.seq[i], seq);
        EQUAL(c.size[i], 1 + seq % 1500);
        EQUAL(c.sent[i], t);
        EQUAL(c.received[i], t + 9);
        EQUAL(c.fate[i], QS_RECEIVED);
        EQUAL(c.where[i], -1);
        if (c.flow[i] == 0) {
            EQUAL(c.hops[0].queued[i], t + 1);
            EQUAL(c.hops[0].ring[i], t + 2);
            EQUAL(c.hops[0].start[i], t + 3);
            EQUAL(c.hops[0].end[i], t + 4);
            EQUAL(c.hops[1].end[i], t + 8);
        } else {
            EQUAL(c.hops[0].queued[i], -1);
            EQUAL(c.hops[0].end[i], -1);
            EQUAL(c.hops[1].queued[i], t + 1);
            EQUAL(c.hops[1].end[i], t + 4);
        }
    }
    qs_columns_fini(&c);
    qs_recorder_destroy(r);
}

LAW(recorder_gathers_rows_in_order_of_flow_and_number)
{
    check_order(3, 1000000, false); /* far fewer than expected, and far more */
}

LAW(recorder_writes_rows_where_they_stay_when_it_knows_their_number)
{
    check_order(ROWS / 2, ROWS / 2, true);
}

static void check_dashes(bool exact)
{
    qs_recorder *r = recorder(1, 2);
    STATUS(qs_recorder_expect(r, 0, both, 2, 3, exact), QS_OK);
    write(r, 0, 0, 1, QS_DROPPED_QUEUE); /* none of the timestamps of the port where it is lost */
    write(r, 0, 1, 2, QS_DROPPED_POLICER);
    write(r, 0, 2, 1, QS_INSIDE);
    qs_columns c;
    STATUS(qs_recorder_take(r, &c), QS_OK);
    EQUAL(c.hops[0].queued[0], -1);
    EQUAL(c.where[0], 0);
    EQUAL(c.fate[0], QS_DROPPED_QUEUE);
    EQUAL(c.hops[0].end[1], 14);
    EQUAL(c.hops[1].queued[1], -1);
    EQUAL(c.where[1], 1);
    EQUAL(c.hops[0].queued[2], 21);
    EQUAL(c.hops[0].end[2], 24);
    EQUAL(c.hops[1].queued[2], -1);
    EQUAL(c.received[2], -1);
    qs_columns_fini(&c);
    qs_recorder_destroy(r);
}

LAW(recorder_leaves_a_dash_where_a_packet_never_came)
{
    check_dashes(false);
    check_dashes(true);
}

/* Of many flows, which go by a log: every third packet is lost at its last port or has come no further. */
static void check_many_flows(size_t flows, bool exact)
{
    enum { EACH = 500 };
    static const qs_fate fates[] = {QS_RECEIVED, QS_RECEIVED, QS_DROPPED_QUEUE, QS_RECEIVED, QS_RECEIVED, QS_INSIDE};
    uint64_t d = flows;
    uint32_t *next = calloc(flows, sizeof *next);
    qs_recorder *r = recorder(flows, 2);
    for (size_t f = 0; f < flows; f++)
        STATUS(qs_recorder_expect(r, f, f % 2 ? back : both, f % 2 ? 1 : 2, exact ? EACH : dice_below(&d, 1000), exact),
               QS_OK);
    for (size_t left = flows * EACH; left > 0;) {
        const uint32_t f = (uint32_t)dice_below(&d, flows);
        if (next[f] == EACH)
            continue;
        write(r, f, next[f], f % 2 ? 1 : 2, fates[next[f] % COUNT(fates)]);
        next[f]++;
        left--;
    }
    qs_columns c = {0};
    STATUS(qs_recorder_take(r, &c), QS_OK);
    EQUAL(c.rows, flows * EACH);
    for (size_t i = 0; i < c.rows && !checks.failures; i++) {
        const size_t f = i / EACH, seq = i % EACH, hops = f % 2 ? 1 : 2, last = f % 2 ? 1 : hops - 1;
        const qs_fate fate = fates[seq % COUNT(fates)];
        const qs_time t = (qs_time)f * 1000000 + (qs_time)seq * 10, there = t + (qs_time)(hops - 1) * 4;
        const bool lost = fate == QS_DROPPED_QUEUE;
        EQUAL(c.flow[i], f);
        EQUAL(c.seq[i], seq);
        EQUAL(c.size[i], 1 + seq % 1500);
        EQUAL(c.fate[i], fate);
        EQUAL(c.where[i], fate == QS_RECEIVED ? -1 : (int)hops - 1);
        EQUAL(c.sent[i], t);
        EQUAL(c.received[i], fate == QS_RECEIVED ? t + 9 : -1);
        EQUAL(c.hops[last].queued[i], lost ? -1 : there + 1);
        EQUAL(c.hops[last].ring[i], lost ? -1 : there + 2);
        EQUAL(c.hops[last].start[i], lost ? -1 : there + 3);
        EQUAL(c.hops[last].end[i], lost ? -1 : there + 4);
        EQUAL(c.hops[0].queued[i], f % 2 ? -1 : t + 1);
        EQUAL(c.hops[0].end[i], f % 2 ? -1 : t + 4);
    }
    qs_columns_fini(&c);
    qs_recorder_destroy(r);
    free(next);
}

LAW(recorder_of_many_flows_gathers_their_rows)
{
    static const size_t flows[] = {15, 16, 17, 100, 9000}; /* 9000 are too many for a log */
    for (size_t i = 0; i < COUNT(flows); i++) {
        check_many_flows(flows[i], true);
        check_many_flows(flows[i], false);
    }
}

static void check_refusal_of_many(bool exact, uint64_t seq, qs_status expected)
{
    qs_recorder *r = recorder(20, 1);
    for (size_t f = 0; f < 20; f++)
        STATUS(qs_recorder_expect(r, f, both, 1, 3, exact), QS_OK);
    write(r, 7, seq, 1, QS_RECEIVED); /* to the log */
    qs_columns c = {0};
    for (int again = 0; again < 2; again++)
        EQUAL(qs_recorder_take(r, &c), expected);
    EQUAL(c.rows, 0);
    qs_recorder_destroy(r);
}

LAW(recorder_of_many_flows_refuses_what_that_of_few_does)
{
    check_refusal_of_many(true, 3, QS_ESTATE);
    check_refusal_of_many(false, INT32_MAX, QS_ERANGE);
}

LAW(recorder_is_empty_after_taking_and_can_go_on)
{
    qs_recorder *r = recorder(1, 1);
    STATUS(qs_recorder_expect(r, 0, both, 1, 4, false), QS_OK);
    write(r, 0, 0, 1, QS_RECEIVED);
    qs_columns c;
    STATUS(qs_recorder_take(r, &c), QS_OK);
    EQUAL(c.rows, 1);
    qs_columns_fini(&c);
    STATUS(qs_recorder_take(r, &c), QS_OK);
    EQUAL(c.rows, 0);
    qs_columns_fini(&c);
    qs_recorder_destroy(r);
}

LAW(recorder_of_nothing_gives_columns_of_nothing)
{
    qs_recorder *r = recorder(0, 0);
    qs_columns c;
    STATUS(qs_recorder_take(r, &c), QS_OK);
    EQUAL(c.rows, 0);
    qs_columns_fini(&c);
    qs_recorder_destroy(r);
    qs_recorder_destroy(NULL);
}

LAW(recorder_refuses_a_number_that_its_column_cannot_hold)
{
    qs_recorder *r = recorder(1, 1);
    STATUS(qs_recorder_expect(r, 0, both, 1, 4, false), QS_OK);
    qs_packet *p = packet_new(1);
    p->seq = UINT64_C(1) << 31;
    STATUS(qs_recorder_write(r, p, -1), QS_ERANGE);
    free(p);
    qs_recorder_destroy(r);
}

LAW(columns_that_were_given_away_are_not_freed)
{
    qs_recorder *r = recorder(1, 1);
    STATUS(qs_recorder_expect(r, 0, both, 1, 4, false), QS_OK);
    write(r, 0, 0, 1, QS_RECEIVED);
    qs_columns c;
    STATUS(qs_recorder_take(r, &c), QS_OK);
    int64_t *sent = c.sent, *end = c.hops[0].end;
    c.sent = NULL;
    c.hops[0].end = NULL;
    qs_columns_fini(&c);
    EQUAL(sent[0], 0);
    EQUAL(end[0], 4);
    qs_block_free(sent);
    qs_block_free(end);
    qs_recorder_destroy(r);
}

LAW(large_columns_are_freed_as_small_ones_are)
{
    qs_recorder *r = recorder(1, 1);
    STATUS(qs_recorder_expect(r, 0, both, 1, MANY, false), QS_OK);
    qs_packet *p = packet_new(1);
    for (uint64_t seq = 0; seq < MANY; seq++) {
        p->seq = seq;
        p->sent = (qs_time)seq;
        STATUS(qs_recorder_write(r, p, 0), QS_OK);
    }
    free(p);
    qs_columns c;
    STATUS(qs_recorder_take(r, &c), QS_OK);
    EQUAL(c.rows, MANY);
    EQUAL(c.sent[MANY - 1], MANY - 1);
    qs_block_free(c.sent);
    c.sent = NULL;
    qs_columns_fini(&c);
    qs_recorder_destroy(r);
}
