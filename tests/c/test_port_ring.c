/* SPDX-License-Identifier: MIT */
/* Transmit ring: particles, admission, and when particles come back. */
#include "check.h"

static qs_ring ring(const qs_spec *spec)
{
    qs_ring r = {0};
    qs_error why = {""};
    if (!STATUS(qs_ring_init(&r, spec, "port \"x\"", &why), QS_OK))
        printf("    %s\n", why.text);
    return r;
}

static qs_packet *packet(const qs_ring *r, uint32_t size)
{
    qs_packet *p = packet_new(0);
    p->size = size;
    p->wire_bits = size * 8;
    p->particles = qs_ring_particles(r, size);
    return p;
}

LAW(ring_takes_a_particle_for_every_512_bytes_begun)
{
    static const uint32_t particles[][2] = {{1, 1},    {512, 1},  {513, 2},  {1006, 2}, {1012, 2},
                                            {1024, 2}, {1025, 3}, {1028, 3}, {1500, 3}, {65535, 128}};
    const qs_ring r = ring(SPEC("tx-ring", NUMBER("limit", 5)));
    for (size_t i = 0; i < COUNT(particles); i++)
        EQUAL(qs_ring_particles(&r, particles[i][0]), particles[i][1]);
}

LAW(ring_stores_a_header_with_each_packet)
{
    static const uint32_t particles[][2] = {{500, 1}, {501, 2}, {1012, 2}, {1013, 3}, {1028, 3}, {1500, 3}, {1525, 4}};
    const qs_ring r = ring(SPEC("tx-ring", NUMBER("limit", 5), NUMBER("header", 12)));
    for (size_t i = 0; i < COUNT(particles); i++)
        EQUAL(qs_ring_particles(&r, particles[i][0]), particles[i][1]);
    const qs_ring adapter = ring(SPEC("tx-ring", NUMBER("limit", 5), NUMBER("header", 12), NUMBER("particle", 576)));
    EQUAL(qs_ring_particles(&adapter, 1052), 2);
    EQUAL(qs_ring_particles(&adapter, 1200), 3);
}

LAW(ring_rounds_the_number_of_particles_up_whatever_their_size)
{
    static const uint32_t particles[] = {1, 2, 3, 7, 48, 255, 256, 511, 512, 576, 65535, 65536, 999983, 1000000};
    uint64_t d = 8;
    for (size_t i = 0; i < 60; i++) {
        const uint32_t particle = i < COUNT(particles) ? particles[i] : (uint32_t)dice_within(&d, 1, 1000000);
        for (uint32_t header = 0; header <= 65535; header += 21845) {
            const qs_ring r =
                ring(SPEC("tx-ring", NUMBER("limit", 5), NUMBER("particle", particle), NUMBER("header", header)));
            for (uint32_t size = 1; size <= 65535; size++)
                if (qs_ring_particles(&r, size) != (size + header + particle - 1) / particle)
                    EQUAL(qs_ring_particles(&r, size), (size + header + particle - 1) / particle);
        }
    }
}

/* Packets that a ring holds when no particle ever comes back. */
static unsigned fill(uint64_t limit, uint32_t particles, const char *admit)
{
    qs_ring r = ring(SPEC("tx-ring", NUMBER("limit", limit), NUMBER("particle", 1), WORD("admit", admit)));
    unsigned held = 0;
    while (held < 100 && qs_ring_admits(&r, particles)) {
        qs_ring_push(&r, packet(&r, particles));
        held++;
    }
    EQUAL(r.in_use, held * particles);
    while (r.head)
        free(qs_ring_pop(&r));
    return held;
}

LAW(ring_holds_as_many_packets_as_the_table_of_its_rules_says)
{
    static const struct {
        uint64_t limit;
        uint32_t particles;
        unsigned overshoot, strict;
    } rows[] = {{1, 1, 1, 1},    {1, 2, 1, 1},  {1, 3, 1, 1},  {3, 1, 3, 3}, {3, 2, 2, 1}, {3, 3, 1, 1},
                {5, 1, 5, 5},    {5, 2, 3, 2},  {5, 3, 2, 1},  {6, 1, 6, 6}, {6, 2, 3, 3}, {6, 3, 2, 2},
                {10, 1, 10, 10}, {10, 2, 5, 5}, {10, 3, 4, 3}, {5, 9, 1, 1}};
    for (size_t i = 0; i < COUNT(rows); i++) {
        EQUAL(fill(rows[i].limit, rows[i].particles, "overshoot"), rows[i].overshoot);
        EQUAL(fill(rows[i].limit, rows[i].particles, "strict"), rows[i].strict);
    }
}

LAW(ring_is_a_fifo)
{
    qs_ring r = ring(SPEC("tx-ring", NUMBER("limit", 100)));
    qs_packet *p[3];
    for (size_t i = 0; i < 3; i++)
        qs_ring_push(&r, p[i] = packet(&r, 1500));
    EQUAL(r.in_use, 9);
    for (size_t i = 0; i < 3; i++) {
        CHECK(qs_ring_pop(&r) == p[i]);
        EQUAL(r.in_use, 9 - 3 * (i + 1));
    }
    CHECK(!r.head && !r.tail);
    qs_ring_push(&r, p[0]);
    CHECK(r.head == p[0] && r.tail == p[0]);
    for (size_t i = 0; i < 3; i++)
        free(p[i]);
}

LAW(ring_gives_particles_back_with_the_first_bit_by_default)
{
    qs_ring r = ring(SPEC("tx-ring", NUMBER("limit", 5)));
    EQUAL(r.free, QS_FREE_START);
    EQUAL(r.admit, QS_ADMIT_OVERSHOOT);
    qs_packet *p = packet(&r, 1500);
    qs_ring_push(&r, p);
    qs_ring_pop(&r);
    EQUAL(r.in_use, 0);
    qs_ring_sent(&r, p);
    EQUAL(r.in_use, 0);
    free(p);
}

LAW(ring_gives_particles_back_with_the_last_bit_if_told_to)
{
    qs_ring r = ring(SPEC("tx-ring", NUMBER("limit", 5), WORD("free", "end")));
    qs_packet *p = packet(&r, 1500);
    qs_ring_push(&r, p);
    qs_ring_pop(&r);
    EQUAL(r.in_use, 3);
    qs_ring_sent(&r, p);
    EQUAL(r.in_use, 0);
    free(p);
}

/* Returns the instants of all particles but the last of a packet that starts at `start`. */
static size_t returns(qs_ring *r, qs_packet *p, qs_time start, const qs_link *l, const qs_framing *f, qs_time *out)
{
    size_t count = 0;
    qs_ring_push(r, p);
    qs_ring_pop(r);
    EQUAL(r->in_use, p->particles);
    for (qs_time t; (t = qs_ring_next_return(r, p, start, l, f)) < l->end; count++) {
        out[count] = t;
        qs_ring_return(r);
        EQUAL(r->in_use, p->particles - count - 1);
    }
    qs_ring_sent(r, p);
    EQUAL(r->in_use, 0);
    return count;
}

LAW(ring_gives_particles_back_one_by_one_as_their_bytes_are_sent)
{
    const qs_framing f = {0};
    qs_ring r = ring(SPEC("tx-ring", NUMBER("limit", 5), NUMBER("particle", 500), WORD("free", "particle")));
    qs_link l;
    qs_time at[8];
    STATUS(qs_link_init(&l, QS_INT(8), 600000, "port \"x\"", NULL), QS_OK);
    qs_packet *p = packet(&r, 1500);
    EQUAL(qs_link_send(&l, 10 * QS_SECOND, p->wire_bits), 1510 * QS_SECOND);
    EQUAL(returns(&r, p, 10 * QS_SECOND, &l, &f, at), 2);
    EQUAL(at[0], 510 * QS_SECOND);
    EQUAL(at[1], 1010 * QS_SECOND);
    free(p);
}

/* 1028 bytes in 22 cells: 512 of them need 10.96, 1024 need 21.91, so that the second returns with the last bit. */
LAW(ring_gives_particles_back_after_whole_cells_on_atm)
{
    const qs_framing f = {.overhead = 16, .cells = true};
    qs_ring r = ring(SPEC("tx-ring", NUMBER("limit", 5), WORD("free", "particle")));
    qs_link l;
    qs_time at[8];
    STATUS(qs_link_init(&l, QS_INT(2000000), 600000, "port \"x\"", NULL), QS_OK);
    qs_packet *p = packet(&r, 1028), *q = packet(&r, 1006);
    p->wire_bits = q->wire_bits = 9328;
    qs_link_send(&l, 0, 9328);
    EQUAL(returns(&r, p, 0, &l, &f, at), 1);
    EQUAL(at[0], 11 * INT64_C(212000000));
    qs_link_send(&l, l.end, 9328);
    EQUAL(returns(&r, q, INT64_C(4664000000), &l, &f, at), 1);
    EQUAL(at[0], INT64_C(4664000000) + 12 * INT64_C(212000000)); /* 11.2 cells */
    free(p);
    free(q);
}

LAW(ring_counts_the_header_in_the_share_of_a_particle)
{
    const qs_framing f = {0};
    qs_ring r = ring(
        SPEC("tx-ring", NUMBER("limit", 5), NUMBER("particle", 500), NUMBER("header", 500), WORD("free", "particle")));
    qs_link l;
    qs_time at[8];
    STATUS(qs_link_init(&l, QS_INT(8), 600000, "port \"x\"", NULL), QS_OK);
    qs_packet *p = packet(&r, 1000);
    qs_link_send(&l, 0, p->wire_bits);
    EQUAL(returns(&r, p, 0, &l, &f, at), 2);
    EQUAL(at[0], INT64_C(333333333333333)); /* a third of 1000 s */
    EQUAL(at[1], INT64_C(666666666666666));
    free(p);
}

/* Fractions of bits and of picoseconds, in a run that does not begin with this packet. */
LAW(ring_gives_particles_back_at_the_floor_of_the_runs_own_bits)
{
    uint64_t d = 5;
    for (int i = 0; i < 2000; i++) {
        const bool cells = dice_below(&d, 2);
        const uint64_t rate = dice_within(&d, 1, 5000000000), particle = dice_within(&d, 1, 900);
        const uint64_t header = dice_below(&d, 40);
        const qs_framing f = {.overhead = 16, .cells = cells};
        qs_ring r = ring(SPEC("tx-ring", NUMBER("limit", 5), NUMBER("particle", particle), NUMBER("header", header),
                              WORD("free", "particle")));
        qs_link l;
        qs_time at[4096];
        STATUS(qs_link_init(&l, QS_INT(rate), 600000, "port \"x\"", NULL), QS_OK);
        const uint32_t before = (uint32_t)dice_within(&d, 1, 100000);
        const qs_time start = qs_link_send(&l, 77, before);
        qs_packet *p = packet(&r, (uint32_t)dice_within(&d, 1, 3000));
        p->wire_bits = qs_framing_bits(&f, p->size);
        const qs_time end = qs_link_send(&l, start, p->wire_bits);
        const size_t count = returns(&r, p, start, &l, &f, at);
        const uint64_t stored = p->size + header;
        for (uint64_t k = 1; k <= p->particles; k++) {
            qs_u128 bits = (qs_u128)k * particle * p->wire_bits, per = stored;
            if (cells) {
                bits = (bits + stored * 424 - 1) / (stored * 424) * 424;
                per = 1;
            }
            const qs_u128 ps = (before * per + bits) * (uint64_t)QS_SECOND / (per * rate);
            const qs_time want = 77 + (qs_time)ps;
            if (k <= count)
                EQUAL(at[k - 1], want);
            else
                CHECK(want >= end);
        }
        free(p);
        if (checks.failures)
            return;
    }
}

LAW(ring_refuses_what_it_does_not_know)
{
    qs_ring r;
    qs_error why = {""};
    STATUS(qs_ring_init(&r, BARE("tx-ring"), "port \"x\"", &why), QS_EINVAL);
    CONTAINS(why.text, "limit");
    STATUS(qs_ring_init(&r, SPEC("tx-ring", NUMBER("limit", 0)), "port \"x\"", &why), QS_EINVAL);
    CONTAINS(why.text, "limit");
    STATUS(qs_ring_init(&r, SPEC("tx-ring", NUMBER("limit", 1), WORD("free", "never")), "port \"x\"", &why), QS_EINVAL);
    CONTAINS(why.text, "never");
    STATUS(qs_ring_init(&r, SPEC("tx-ring", NUMBER("limit", 1), NUMBER("particle", 0)), "port \"x\"", &why), QS_EINVAL);
    CONTAINS(why.text, "particle");
    STATUS(qs_ring_init(&r, SPEC("tx-rung", NUMBER("limit", 1)), "port \"x\"", &why), QS_EINVAL);
    CONTAINS(why.text, "tx-rung");
}
