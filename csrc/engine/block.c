/* SPDX-License-Identifier: MIT */
/* Blocks of memory for columns, and the depot of those that are free. */
#if defined(__linux__)
#define _DEFAULT_SOURCE
#endif

#include <qossim/engine.h>

#include <stdatomic.h>
#include <stdlib.h>

#if defined(__linux__)
#include <sys/mman.h>
#endif

enum { LARGE = 1 << 20, HUGE_PAGE = 1 << 21 };

typedef struct block {
    _Alignas(64) size_t bytes; /* in all, with this head */
    qs_depot *depot;
    struct block *next; /* in the depot */
    bool mapped;
} block;

struct qs_depot {
    atomic_flag busy;
    size_t users; /* the owner and the blocks that are out */
    size_t keep;
    size_t kept;
    block *free;
};

/* ---- From the system ----------------------------------------------------------------------------------------- */

/*
 * Large blocks are mapped, in huge pages where the system has them: malloc would hand back a freed block's pages to
 * the system and take them again in small ones.
 */
static block *block_new(size_t bytes)
{
#if defined(__linux__)
    if (bytes >= LARGE) {
        bytes = (bytes + HUGE_PAGE - 1) / HUGE_PAGE * HUGE_PAGE;
        block *b = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (b == MAP_FAILED)
            return NULL;
        (void)madvise(b, bytes, MADV_HUGEPAGE);
        *b = (block){.bytes = bytes, .mapped = true};
        return b;
    }
#endif
    bytes = (bytes + _Alignof(block) - 1) / _Alignof(block) * _Alignof(block);
    block *b = aligned_alloc(_Alignof(block), bytes);
    if (b)
        *b = (block){.bytes = bytes};
    return b;
}

static void block_delete(block *b)
{
#if defined(__linux__)
    if (b->mapped) {
        (void)munmap(b, b->bytes);
        return;
    }
#endif
    free(b);
}

static void blocks_delete(block *b)
{
    while (b) {
        block *next = b->next;
        block_delete(b);
        b = next;
    }
}

/* ---- The depot ------------------------------------------------------------------------------------------------ */

static void lock(qs_depot *depot)
{
    while (atomic_flag_test_and_set_explicit(&depot->busy, memory_order_acquire))
        ;
}

static void unlock(qs_depot *depot)
{
    atomic_flag_clear_explicit(&depot->busy, memory_order_release);
}

qs_status qs_depot_create(qs_depot **out, size_t keep_bytes)
{
    qs_depot *depot = calloc(1, sizeof *depot);
    if (!depot)
        return QS_ENOMEM;
    atomic_flag_clear(&depot->busy);
    depot->users = 1;
    depot->keep = keep_bytes;
    *out = depot;
    return QS_OK;
}

/* One user less; the last one takes the depot away. */
static void leave(qs_depot *depot)
{
    lock(depot);
    const bool last = --depot->users == 0;
    unlock(depot);
    if (!last)
        return;
    blocks_delete(depot->free);
    free(depot);
}

void qs_depot_destroy(qs_depot *depot)
{
    if (!depot)
        return;
    lock(depot);
    block *unused = depot->free;
    depot->free = NULL;
    depot->keep = depot->kept = 0;
    unlock(depot);
    blocks_delete(unused);
    leave(depot);
}

/* A kept block of at least `bytes`, and not of more than twice as many. */
static block *take_kept(qs_depot *depot, size_t bytes)
{
    for (block **at = &depot->free; *at; at = &(*at)->next) {
        block *b = *at;
        if (b->bytes < bytes || b->bytes / 2 > bytes)
            continue;
        *at = b->next;
        depot->kept -= b->bytes;
        return b;
    }
    return NULL;
}

void *qs_block_alloc(qs_depot *depot, size_t bytes)
{
    if (bytes > SIZE_MAX / 2)
        return NULL;
    bytes += sizeof(block);
    if (bytes < LARGE)
        depot = NULL; /* malloc keeps small ones well */
    block *b = NULL;
    if (depot) {
        lock(depot);
        b = take_kept(depot, bytes);
        depot->users++;
        unlock(depot);
    }
    if (!b)
        b = block_new(bytes);
    if (b)
        b->depot = depot;
    else if (depot)
        leave(depot);
    return b ? b + 1 : NULL;
}

void qs_block_free(void *memory)
{
    if (!memory)
        return;
    block *b = (block *)memory - 1;
    qs_depot *depot = b->depot;
    if (depot) {
        lock(depot);
        if (b->bytes <= depot->keep - depot->kept) {
            depot->kept += b->bytes;
            b->next = depot->free;
            depot->free = b;
            b = NULL;
        }
        unlock(depot);
        leave(depot);
    }
    if (b)
        block_delete(b);
}
