/* SPDX-License-Identifier: MIT */
/* Blocks of memory for columns, and the depot of those that are free. */
#if defined(__linux__)
#define _DEFAULT_SOURCE
#endif

#include <qossim/engine.h>

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#if defined(__linux__)
#include <sys/mman.h>
#endif

/* From LARGE bytes on blocks are kept in the depot, in a list for each power of two. */
enum { LARGE = 1 << 15, PAGE = 1 << 12, HUGE_PAGE = 1 << 21, LISTS = 64 };

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
    block *free[LISTS]; /* of 2^i to 2^(i + 1) - 1 bytes */
};

/* ---- From the system ----------------------------------------------------------------------------------------- */

/*
 * Large blocks are mapped: malloc would give a freed block's pages back to the system and take them again, cleared.
 * Where the system has huge pages, a block has as many as it fills; they are had faster than small ones.
 */
static block *block_new(size_t bytes)
{
#if defined(__linux__)
    if (bytes >= LARGE) {
        bytes = (bytes + PAGE - 1) / PAGE * PAGE;
        block *b = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (b == MAP_FAILED)
            return NULL;
        if (bytes >= HUGE_PAGE)
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
    if (last)
        free(depot);
}

void qs_depot_destroy(qs_depot *depot)
{
    if (!depot)
        return;
    block *unused[LISTS];
    lock(depot);
    memcpy(unused, depot->free, sizeof unused);
    memset(depot->free, 0, sizeof depot->free);
    depot->keep = depot->kept = 0;
    unlock(depot);
    for (size_t i = 0; i < LISTS; i++)
        blocks_delete(unused[i]);
    leave(depot);
}

static size_t list_of(size_t bytes)
{
    return LISTS - 1 - (size_t)__builtin_clzll(bytes);
}

/* A kept block of at least `bytes`, and not of more than twice as many. */
static block *take_kept(qs_depot *depot, size_t bytes)
{
    const size_t list = list_of(bytes);
    for (size_t i = list; i <= list + 1; i++) {
        for (block **at = &depot->free[i]; *at; at = &(*at)->next) {
            block *b = *at;
            if (b->bytes < bytes || b->bytes / 2 > bytes)
                continue;
            *at = b->next;
            depot->kept -= b->bytes;
            return b;
        }
    }
    return NULL;
}

static void keep(qs_depot *depot, block *b)
{
    block **list = &depot->free[list_of(b->bytes)];
    b->next = *list;
    *list = b;
    depot->kept += b->bytes;
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
            keep(depot, b);
            b = NULL;
        }
        unlock(depot);
        leave(depot);
    }
    if (b)
        block_delete(b);
}
