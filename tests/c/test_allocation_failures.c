/* SPDX-License-Identifier: MIT */
/*
 * Memory runs out at every place where it can: each scenario is built and run with its first allocation failing, then
 * its second, and so on until none fails. Every failure must be QS_ENOMEM, and leave nothing behind. Twice over: with
 * that one allocation failing, and with all that follow as well.
 */
#include "fault.h"
#include "scene.h"

/* ---- An allocator that fails when told to ------------------------------------------------------------------------ */

#undef malloc
#undef calloc
#undef realloc
#undef aligned_alloc
#undef mmap
#undef munmap

static struct {
    unsigned long until; /* allocations that succeed before one fails; 0: none fails */
    bool stay;           /* all later ones fail as well */
    bool failed;
    long live; /* blocks that are out */
} fault;

static bool refuses(void)
{
    if (fault.failed)
        return fault.stay;
    if (!fault.until || --fault.until)
        return false;
    fault.failed = true;
    return true;
}

static void *counted(void *block)
{
    fault.live += block != NULL;
    return block;
}

void *fault_malloc(size_t size)
{
    return refuses() ? NULL : counted(malloc(size));
}

void *fault_calloc(size_t count, size_t size)
{
    return refuses() ? NULL : counted(calloc(count, size));
}

void *fault_realloc(void *block, size_t size)
{
    if (refuses())
        return NULL;
    return block ? realloc(block, size) : counted(realloc(NULL, size));
}

void *fault_aligned_alloc(size_t alignment, size_t size)
{
    return refuses() ? NULL : counted(aligned_alloc(alignment, size));
}

void fault_free(void *block)
{
    fault.live -= block != NULL;
#undef free
    free(block);
}

#if defined(__linux__)
void *fault_mmap(void *address, size_t length, int protection, int flags, int file, off_t offset)
{
    if (refuses())
        return MAP_FAILED;
    fault.live++;
    return mmap(address, length, protection, flags, file, offset);
}

int fault_munmap(void *address, size_t length)
{
    fault.live--;
    return munmap(address, length);
}
#endif

/* Tries until no allocation fails any more. An attempt cleans up after itself, whatever becomes of it. */
static void try_everything(qs_status (*attempt)(void))
{
    for (int stay = 0; stay < 2; stay++) {
        for (unsigned long n = 1;; n++) {
            REQUIRE(n < 100000);
            const long before = fault.live;
            fault.until = n;
            fault.stay = stay;
            fault.failed = false;
            const qs_status status = attempt();
            const bool failed = fault.failed;
            fault.until = 0;
            fault.failed = fault.stay = false;
            STATUS(status, failed ? QS_ENOMEM : QS_OK);
            if (!EQUAL(fault.live, before) || checks.failures)
                printf("    allocation %lu%s\n", n, stay ? " and all later ones" : "");
            if (!failed || checks.failures)
                break;
        }
    }
}

/* ---- Whole scenarios --------------------------------------------------------------------------------------------- */

static uint64_t received_of_all(const qs_sim *sim)
{
    uint64_t received = 0;
    for (size_t f = 0; f < qs_sim_flow_count(sim); f++)
        received += qs_sim_flow_counts(sim, f)->fates[QS_RECEIVED];
    return received;
}

static void ignore(void *context, qs_time now, const qs_packet *p)
{
    (void)context, (void)now, (void)p;
}

static const uint32_t route[] = {0, 1};

/* Runs, and takes the packets if there are any. After a failure everything must still be in one piece. */
static qs_status finish(qs_sim *sim, qs_status status, bool packets)
{
    if (!status)
        status = qs_sim_run(sim);
    if (status) {
        CHECK(*qs_sim_error(sim));
        qs_columns none;
        CHECK(qs_sim_take(sim, &none) != QS_OK);
    } else {
        CHECK(received_of_all(sim) > 0);
    }
    if (!status && packets) {
        qs_columns columns;
        status = qs_sim_take(sim, &columns);
        if (status) { /* nothing is lost: memory may be there again */
            const bool stay = fault.stay;
            fault.stay = false;
            STATUS(qs_sim_take(sim, &columns), QS_OK);
            fault.stay = stay;
        }
        EQUAL(columns.fate[columns.rows - 1], QS_RECEIVED);
        qs_columns_fini(&columns);
    }
    qs_sim_destroy(sim);
    return status;
}

static qs_status add_ports(qs_sim *sim, const qs_spec *scheduler, const qs_spec *ring)
{
    static const char *const named[] = {"b", "c"};
    const qs_class_spec classes[] = {
        {.name = "first",
         .match = 2,
         .share = {.bandwidth = QS_INT(3)},
         .queue = SPEC("drop-tail", NUMBER("packets", 5), NUMBER("time", SECONDS(40))),
         .policer = SPEC("token-bucket", NUMBER("rate", 8), NUMBER("burst", 20), WORD("when", "congestion"))},
        {.name = "second", .flows = named, .flow_count = 2, .share = {.bandwidth = QS_INT(2)}},
        {.name = "rest", .share = {.bandwidth = QS_INT(1)}, .queue = SPEC("drop-tail", NUMBER("bytes", 60))},
    };
    qs_port_spec port = {.name = "x",
                         .rate = QS_INT(24),
                         .framing = BARE("ppp"),
                         .scheduler = scheduler,
                         .ring = ring,
                         .propagation = SECONDS(2),
                         .classes = classes,
                         .class_count = 3};
    const qs_status status = qs_sim_add_port(sim, &port);
    if (status)
        return status;
    port.name = "y";
    return qs_sim_add_port(sim, &port);
}

static qs_status add_flow(qs_sim *sim, const char *name, const qs_spec *source, size_t hops, const qs_rng *rng)
{
    const qs_flow_spec spec = {.name = name,
                               .source = source,
                               .dscp = name[0] == 'a',
                               .route = route,
                               .hops = hops,
                               .stop = QS_NEVER,
                               .rng = rng};
    return qs_sim_add_flow(sim, &spec);
}

/* Three flows of known numbers of packets, a trace callback of every kind. */
static qs_status run_known(const qs_spec *scheduler, const qs_spec *ring, qs_record record, bool trace)
{
    static const int64_t times[] = {0, 1, 2}, sizes[] = {1, 2, 3};
    qs_sim *sim = NULL;
    qs_status status = qs_sim_create(&sim, &(qs_sim_config){.duration = SECONDS(200), .record = record});
    if (status)
        return status;
    status = add_ports(sim, scheduler, ring);
    if (!status)
        status = add_flow(sim, "a", SPEC("cbr", NUMBER("interval", SECONDS(3)), NUMBER("size", 3)), 2, NULL);
    if (!status)
        status = add_flow(sim, "b", SPEC("cbr", NUMBER("interval", SECONDS(4)), NUMBER("size", 4)), 1, NULL);
    if (!status)
        status = add_flow(sim, "c", ARRIVALS(times, sizes), 2, NULL);
    for (unsigned kind = 0; trace && kind < QS_TRACE_KINDS && !status; kind++)
        status = qs_sim_trace(sim, kind % 2, (qs_trace_kind)kind, ignore, NULL);
    return finish(sim, status, record == QS_RECORD_PACKETS);
}

/* Random flows that overload the ports: the pool grows, and rows come in chunks. */
static qs_status run_random(const qs_spec *scheduler, const qs_spec *ring, qs_record record)
{
    static const int64_t sizes[] = {1, 5}, cumulative[] = {2, 3};
    qs_pcg64 pcg[3];
    qs_sim *sim = NULL;
    qs_status status = qs_sim_create(&sim, &(qs_sim_config){.duration = SECONDS(1000), .record = record});
    if (status)
        return status;
    status = add_ports(sim, scheduler, ring);
    for (uint64_t f = 0; f < 3 && !status; f++) {
        const qs_rng rng = qs_pcg64_init(&pcg[f], 1, f);
        status = add_flow(
            sim, (const char *[]){"a", "b", "c"}[f],
            SPEC("poisson", NUMBER("interval", SECONDS(1)), ARRAY("sizes", sizes, 2), ARRAY("weights", cumulative, 2)),
            2, &rng);
    }
    return finish(sim, status, record == QS_RECORD_PACKETS);
}

static qs_status known_with_everything(void)
{
    return run_known(BARE("pq"), SPEC("tx-ring", NUMBER("limit", 3), NUMBER("particle", 2), WORD("free", "particle")),
                     QS_RECORD_PACKETS, true);
}

static qs_status known_with_summaries(void)
{
    return run_known(BARE("wfq"), NULL, QS_RECORD_SUMMARY, false);
}

static qs_status known_with_counters(void)
{
    return run_known(BARE("fifo"), NULL, QS_RECORD_NONE, true);
}

static qs_status random_with_packets(void)
{
    return run_random(BARE("scfq"), NULL, QS_RECORD_PACKETS);
}

static qs_status random_with_summaries(void)
{
    return run_random(BARE("drr"), SPEC("tx-ring", NUMBER("limit", 2)), QS_RECORD_SUMMARY);
}

static qs_status random_with_counters(void)
{
    return run_random(BARE("wfq"), NULL, QS_RECORD_NONE);
}

LAW(a_simulation_survives_any_allocation_that_fails)
{
    try_everything(known_with_everything);
    try_everything(known_with_summaries);
    try_everything(known_with_counters);
}

LAW(a_simulation_that_grows_survives_any_allocation_that_fails)
{
    try_everything(random_with_packets);
    try_everything(random_with_summaries);
    try_everything(random_with_counters);
}

/* A thousand flows and ports with many classes: arrays that are moved as they grow. */
static qs_status run_wide(void)
{
    static char names[150][8];
    qs_class_spec classes[100] = {{.name = "rest", .share = {.quantum = QS_INT(10)}}};
    for (size_t i = 0; i < COUNT(names); i++)
        snprintf(names[i], sizeof names[i], "n%zu", i);
    for (size_t c = 1; c < COUNT(classes); c++)
        classes[c] = (qs_class_spec){.name = names[c], .match = 2, .share = {.quantum = QS_INT(10 + c)}};
    qs_sim *sim = NULL;
    qs_status status = qs_sim_create(&sim, &(qs_sim_config){.duration = SECONDS(2), .record = QS_RECORD_PACKETS});
    if (status)
        return status;
    for (size_t i = 0; i < 10 && !status; i++)
        status = qs_sim_add_port(sim, &(qs_port_spec){.name = names[i],
                                                      .rate = QS_INT(8),
                                                      .scheduler = BARE("drr"),
                                                      .classes = classes,
                                                      .class_count = i ? 0 : COUNT(classes)});
    for (size_t f = 0; f < COUNT(names) && !status; f++)
        status = add_flow(sim, names[f], SPEC("cbr", NUMBER("interval", SECONDS(1)), NUMBER("size", 1)), 2, NULL);
    return finish(sim, status, true);
}

LAW(a_simulation_of_many_ports_classes_and_flows_survives_any_allocation_that_fails)
{
    try_everything(run_wide);
}

/* ---- Parts by themselves ----------------------------------------------------------------------------------------- */

static const qs_sched_ops *const *each_sched;
static bool by_quantum;

static qs_status build_sched(void)
{
    const qs_share bandwidths[] = {{.bandwidth = QS_INT(3)}, {.bandwidth = QS_OVER(1, 7)}};
    const qs_share quanta[] = {{.bandwidth = QS_INT(3), .quantum = QS_INT(5)},
                               {.bandwidth = QS_INT(3), .quantum = QS_INT(6)}};
    qs_error why;
    const qs_sched_setup setup = {.shares = by_quantum ? quanta : bandwidths,
                                  .classes = 2,
                                  .rate = QS_INT(8),
                                  .owner = "port \"x\"",
                                  .why = &why};
    qs_sched sched;
    const qs_status status = qs_sched_init(&sched, &(qs_spec){(*each_sched)->name, NULL, 0}, &setup);
    if (!status)
        qs_sched_fini(&sched);
    return status;
}

LAW(a_scheduler_survives_any_allocation_that_fails)
{
    for (int i = 0; i < 2; i++) {
        by_quantum = i;
        for (each_sched = qs_scheds; *each_sched; each_sched++)
            try_everything(build_sched);
    }
}

static qs_status build_parts(void)
{
    qs_meter meter;
    qs_source source;
    qs_summary summary;
    const qs_source_setup setup = {.flow = "f"};
    qs_status status = qs_meter_init(&meter, SPEC("token-bucket", NUMBER("rate", 8), NUMBER("burst", 9)), "x", NULL);
    if (status)
        return status;
    status = qs_source_init(&source, SPEC("cbr", NUMBER("interval", 8), NUMBER("size", 9)), &setup);
    if (status)
        goto end_meter;
    status = qs_summary_init(&summary, 3, (const qs_time[]){1, 2, 3});
    if (!status)
        qs_summary_fini(&summary);
    qs_source_fini(&source);
end_meter:
    qs_meter_fini(&meter);
    return status;
}

LAW(meters_sources_and_summaries_survive_any_allocation_that_fails)
{
    try_everything(build_parts);
}

/* A failure leaves the statistics as they were, but for that value. */
static qs_status fill_stats(void)
{
    qs_stats s;
    qs_status status = QS_OK;
    uint64_t added = 0;
    qs_stats_init(&s);
    for (qs_time value = 1; value < QS_NEVER / 4 && !status; value *= 3) {
        status = qs_stats_add(&s, added % 2 ? value : -value);
        added += !status;
    }
    EQUAL(s.count, added);
    EQUAL(s.above.count + s.below.count, added);
    qs_stats_fini(&s);
    return status;
}

LAW(statistics_survive_any_allocation_that_fails)
{
    try_everything(fill_stats);
}

/* So many rows that a column is more than a megabyte, as one flow's and then another's. */
static qs_packet *row;

static qs_status write_rows(qs_recorder *r, uint64_t rows)
{
    qs_packet *p = row;
    qs_status status = QS_OK;
    for (p->flow = 0; p->flow < 2 && !status; p->flow++)
        for (p->seq = 0; p->seq < rows && !status; p->seq++)
            status = qs_recorder_write(r, p, 0);
    return status;
}

/* Columns from a depot that has a block to give. */
static qs_status take_columns(bool exact)
{
    const uint64_t rows = 80000;
    qs_depot *depot = NULL;
    qs_recorder *r = NULL;
    qs_columns columns = {0};
    qs_status status = qs_depot_create(&depot, (size_t)1 << 24);
    if (status)
        return status;
    qs_block_free(qs_block_alloc(depot, (size_t)1 << 21));
    status = fault.failed ? QS_ENOMEM : qs_recorder_create(&r, 2, 2, depot);
    for (size_t f = 0; f < 2 && !status; f++)
        status = qs_recorder_expect(r, f, route, 2, rows, exact);
    if (!status)
        status = write_rows(r, rows);
    if (!status)
        status = qs_recorder_take(r, &columns);
    if (!status)
        EQUAL(columns.rows, 2 * rows);
    qs_columns_fini(&columns);
    qs_recorder_destroy(r);
    qs_depot_destroy(depot);
    return status;
}

static qs_status take_columns_in_place(void)
{
    return take_columns(true);
}

static qs_status take_columns_of_chunks(void)
{
    return take_columns(false);
}

LAW(large_columns_survive_any_allocation_that_fails)
{
    row = packet_new(2);
    try_everything(take_columns_in_place);
    try_everything(take_columns_of_chunks);
    fault_free(row);
}
