/* SPDX-License-Identifier: MIT */
/*
 * Packet pool: packets of one size in slabs, handed out and taken back through a free list. It grows only when more
 * packets are under way than ever before.
 */
#ifndef QOSSIM_ENGINE_POOL_H
#define QOSSIM_ENGINE_POOL_H

#include <qossim/engine.h>

typedef struct qs_pool_slab qs_pool_slab;

typedef struct qs_pool {
    qs_packet *free;
    qs_pool_slab *slabs;
    size_t packet_size;
    size_t slab_packets;
} qs_pool;

/* Packets will have room for `hops` hops. Allocates nothing yet. */
void qs__pool_init(qs_pool *pool, size_t hops);
void qs__pool_fini(qs_pool *pool);

/* Makes the free list longer by one slab. */
qs_status qs__pool_grow(qs_pool *pool) QS_NODISCARD;

/* A packet with undefined contents, or NULL when memory is out. */
QS_INLINE qs_packet *qs__pool_get(qs_pool *pool)
{
    if (QS_UNLIKELY(!pool->free) && qs__pool_grow(pool))
        return NULL;
    qs_packet *p = pool->free;
    pool->free = p->next;
    return p;
}

QS_INLINE void qs__pool_put(qs_pool *pool, qs_packet *p)
{
    p->next = pool->free;
    pool->free = p;
}

#endif
