/* SPDX-License-Identifier: MIT */
/* Packet pool: slabs grow with the population, so that a large backlog costs few allocations. */
#include "pool.h"

#include <stdlib.h>

struct qs_pool_slab {
    qs_pool_slab *older;
    /* Packets follow, at the first multiple of their alignment. */
};

enum { SLAB_FIRST = 32, SLAB_LARGEST = 4096, SLAB_HEAD = sizeof(qs_u128) };

_Static_assert(sizeof(qs_pool_slab) <= SLAB_HEAD, "a slab's head fits before its packets");

void qs__pool_init(qs_pool *pool, size_t hops)
{
    const size_t align = _Alignof(qs_packet);
    const size_t size = offsetof(qs_packet, hops) + hops * sizeof(qs_hop);
    *pool = (qs_pool){.packet_size = (size + align - 1) / align * align, .slab_packets = SLAB_FIRST};
}

void qs__pool_fini(qs_pool *pool)
{
    while (pool->slabs) {
        qs_pool_slab *older = pool->slabs->older;
        free(pool->slabs);
        pool->slabs = older;
    }
    pool->free = NULL;
}

qs_status qs__pool_grow(qs_pool *pool)
{
    qs_pool_slab *slab = malloc(SLAB_HEAD + pool->slab_packets * pool->packet_size);
    if (!slab)
        return QS_ENOMEM;
    slab->older = pool->slabs;
    pool->slabs = slab;
    char *first = (char *)slab + SLAB_HEAD;
    for (size_t i = pool->slab_packets; i-- > 0;)
        qs__pool_put(pool, (qs_packet *)(void *)(first + i * pool->packet_size));
    if (pool->slab_packets < SLAB_LARGEST)
        pool->slab_packets *= 2;
    return QS_OK;
}
