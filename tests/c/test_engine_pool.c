/* SPDX-License-Identifier: MIT */
/* Packet pool: packets of one size that do not overlap, and come back to be used again. */
#include "check.h"
#include "engine/pool.h"

enum { MANY = 20000 };

LAW(pool_hands_out_packets_that_are_aligned_and_do_not_overlap)
{
    static qs_packet *packets[MANY];
    qs_pool pool;
    qs__pool_init(&pool, 3);
    for (size_t i = 0; i < MANY; i++) {
        packets[i] = qs__pool_get(&pool);
        REQUIRE(packets[i]);
        CHECK((uintptr_t)packets[i] % _Alignof(qs_packet) == 0);
        memset(packets[i], (int)(i % 251), sizeof(qs_packet));
        for (int hop = 0; hop < 3; hop++)
            packets[i]->hops[hop] = (qs_hop){(qs_time)i, (qs_time)i, (qs_time)i, (qs_time)i};
    }
    for (size_t i = 0; i < MANY; i++) {
        EQUAL(packets[i]->seq & 0xFF, i % 251);
        EQUAL(packets[i]->hops[2].end, i);
    }
    qs__pool_fini(&pool);
}

LAW(pool_uses_a_packet_again_before_it_grows)
{
    qs_pool pool;
    qs__pool_init(&pool, 1);
    qs_packet *p = qs__pool_get(&pool);
    for (int i = 0; i < MANY; i++) {
        qs__pool_put(&pool, p);
        CHECK(qs__pool_get(&pool) == p);
    }
    qs__pool_fini(&pool);
}

LAW(pool_that_was_never_used_holds_nothing)
{
    qs_pool pool;
    qs__pool_init(&pool, 8);
    CHECK(!pool.free);
    qs__pool_fini(&pool);
}
