/* SPDX-License-Identifier: MIT */
/* Blocks of memory, and the depot that keeps the free ones for those that come next. */
#include "scene.h"

#include <pthread.h>

enum { MIB = 1 << 20, THREADS = 4 };

static qs_depot *depot(size_t keep)
{
    qs_depot *d = NULL;
    STATUS(qs_depot_create(&d, keep), QS_OK);
    REQUIRE(d);
    return d;
}

static void *filled(qs_depot *d, size_t bytes)
{
    unsigned char *block = qs_block_alloc(d, bytes);
    REQUIRE(block);
    CHECK((uintptr_t)block % 64 == 0);
    memset(block, 0xA5, bytes);
    return block;
}

LAW(blocks_of_any_size_are_aligned_and_can_be_written)
{
    static const size_t sizes[] = {0, 1, 63, 64, 4096, MIB - 1, MIB, 3 * MIB, 5 * MIB + 1};
    qs_depot *d = depot(64 * MIB);
    for (size_t i = 0; i < COUNT(sizes); i++) {
        qs_block_free(filled(d, sizes[i]));
        qs_block_free(filled(NULL, sizes[i]));
    }
    qs_depot_destroy(d);
    qs_block_free(NULL);
}

LAW(a_depot_gives_a_freed_block_out_again)
{
    qs_depot *d = depot(64 * MIB);
    void *first = filled(d, 8 * MIB);
    qs_block_free(first);
    void *again = filled(d, 7 * MIB);
    CHECK(again == first);
    void *other = filled(d, 7 * MIB);
    CHECK(other != first);
    qs_block_free(again);
    qs_block_free(other);
    qs_depot_destroy(d);
}

LAW(a_depot_does_not_give_out_a_block_that_is_far_too_large)
{
    qs_depot *d = depot(64 * MIB);
    void *large = filled(d, 32 * MIB);
    qs_block_free(large);
    void *small = filled(d, 3 * MIB);
    CHECK(small != large);
    qs_block_free(small);
    qs_depot_destroy(d);
}

LAW(a_depot_that_may_keep_nothing_keeps_nothing)
{
    qs_depot *d = depot(0);
    qs_block_free(filled(d, 8 * MIB));
    qs_block_free(filled(d, 8 * MIB));
    qs_depot_destroy(d);
}

LAW(a_block_outlives_its_depot)
{
    qs_depot *d = depot(64 * MIB);
    unsigned char *a = filled(d, 8 * MIB), *b = filled(d, 8 * MIB);
    qs_block_free(filled(d, 8 * MIB));
    qs_depot_destroy(d);
    CHECK(a[8 * MIB - 1] == 0xA5);
    qs_block_free(a);
    qs_block_free(b);
    qs_depot_destroy(NULL);
}

LAW(a_block_larger_than_memory_can_be_is_not_to_be_had)
{
    qs_depot *d = depot(64 * MIB);
    CHECK(!qs_block_alloc(d, SIZE_MAX));
    CHECK(!qs_block_alloc(NULL, SIZE_MAX - 8));
    qs_block_free(filled(d, 2 * MIB));
    qs_depot_destroy(d);
}

/* ---- Shared ---------------------------------------------------------------------------------------------------- */

typedef struct worker {
    pthread_t thread;
    qs_depot *depot;
    uint64_t seed;
    bool alone; /* nobody else wrote into its blocks */
} worker;

/* Holds some blocks at any time, each with a mark of its own at both ends. */
static void *work(void *context)
{
    enum { HELD = 4 };
    worker *w = context;
    uint64_t d = w->seed, *held[HELD] = {NULL};
    size_t words[HELD] = {0};
    for (uint64_t step = 0; step < 2000; step++) {
        const size_t i = dice_below(&d, HELD);
        if (held[i])
            w->alone &= held[i][0] == w->seed + i && held[i][words[i] - 1] == w->seed + i;
        qs_block_free(held[i]);
        words[i] = dice_within(&d, 2, 6) * MIB / 4 / sizeof **held;
        held[i] = qs_block_alloc(w->depot, words[i] * sizeof **held);
        if (held[i])
            held[i][0] = held[i][words[i] - 1] = w->seed + i;
    }
    for (size_t i = 0; i < HELD; i++)
        qs_block_free(held[i]);
    return NULL;
}

LAW(threads_that_share_a_depot_have_their_blocks_to_themselves)
{
    qs_depot *d = depot(6 * MIB); /* some are kept, some are not */
    worker workers[THREADS];
    for (size_t i = 0; i < THREADS; i++) {
        workers[i] = (worker){.depot = d, .seed = 1000 * (i + 1), .alone = true};
        REQUIRE(!pthread_create(&workers[i].thread, NULL, work, &workers[i]));
    }
    for (size_t i = 0; i < THREADS; i++) {
        EQUAL(pthread_join(workers[i].thread, NULL), 0);
        CHECK(workers[i].alone);
    }
    qs_depot_destroy(d);
}

static void *free_block(void *block)
{
    qs_block_free(block);
    return NULL;
}

LAW(the_last_block_may_be_freed_by_another_thread_when_the_depot_is_gone)
{
    qs_depot *d = depot(64 * MIB);
    void *block = filled(d, 8 * MIB);
    qs_depot_destroy(d);
    pthread_t thread;
    REQUIRE(!pthread_create(&thread, NULL, free_block, block));
    EQUAL(pthread_join(thread, NULL), 0);
}

/* Blocks come back with the contents of the run before, of which nothing may shine through. */
LAW(a_simulation_with_used_blocks_gives_the_columns_of_one_with_fresh_ones)
{
    qs_depot *d = depot(256 * MIB);
    qs_columns first = {0};
    for (int run = 0; run < 3; run++) {
        scene s = scene_with((qs_sim_config){
            .duration = SECONDS(200000), .cut = true, .record = QS_RECORD_PACKETS, .depot = run ? d : NULL});
        scene_port(&s, &(qs_port_spec){.name = "x", .rate = QS_INT(8), .scheduler = BARE("fifo")});
        scene_port(&s, &(qs_port_spec){.name = "y", .rate = QS_INT(8), .scheduler = BARE("fifo")});
        scene_flow(&s, "f", 0, SPEC("cbr", NUMBER("interval", SECONDS(2)), NUMBER("size", 2)));
        qs_flow_spec there = scene_flow_spec(&s, "g", SPEC("cbr", NUMBER("interval", SECONDS(3)), NUMBER("size", 1)));
        there.hops = 1;
        scene_require(&s, qs_sim_add_flow(s.sim, &there));
        scene_run(&s);
        if (run) {
            const size_t wide = first.rows * sizeof(int64_t);
            EQUAL(s.rows.rows, first.rows);
            CHECK(memcmp(s.rows.fate, first.fate, first.rows) == 0);
            CHECK(memcmp(s.rows.received, first.received, wide) == 0);
            for (size_t port = 0; port < 2; port++) {
                CHECK(memcmp(s.rows.hops[port].queued, first.hops[port].queued, wide) == 0);
                CHECK(memcmp(s.rows.hops[port].end, first.hops[port].end, wide) == 0);
            }
        } else {
            first = s.rows;
            s.rows = (qs_columns){0};
        }
        scene_end(&s);
    }
    qs_columns_fini(&first);
    qs_depot_destroy(d);
}
