/* SPDX-License-Identifier: MIT */
/*
 * Chance: random simulations, the same one for the same seed, and what must hold of each. Times and sizes are small
 * and whole, so that much happens at once.
 */
#ifndef QOSSIM_TESTS_CHANCE_H
#define QOSSIM_TESTS_CHANCE_H

#include "scene.h"

enum { CHANCE_PORTS = 5, CHANCE_CLASSES = 4, CHANCE_FLOWS = 6, CHANCE_TRACE = 40 };

typedef struct chance {
    uint64_t dice;
    qs_sim_config config;
    qs_sim *sim;
    bool forward; /* all routes lead from ports to later ones */
    size_t ports, flows;
    qs_time propagation[CHANCE_PORTS];
    uint32_t routes[CHANCE_FLOWS][CHANCE_PORTS];
    size_t hops[CHANCE_FLOWS];
    int64_t times[CHANCE_FLOWS][CHANCE_TRACE];
    int64_t sizes[CHANCE_FLOWS][CHANCE_TRACE];
    qs_pcg64 pcg[CHANCE_FLOWS];
    qs_columns rows;
} chance;

static const char *const chance_names[] = {"a", "b", "c", "d", "e", "f"};

static inline uint64_t chance_below(chance *s, uint64_t n)
{
    return dice_below(&s->dice, n);
}

static inline bool chance_one_in(chance *s, uint64_t n)
{
    return chance_below(s, n) == 0;
}

static inline const char *chance_word(chance *s, const char *const *words, size_t count)
{
    return words[chance_below(s, count)];
}

#define CHANCE_WORD(s, ...)                                                                                            \
    chance_word((s), (const char *const[]){__VA_ARGS__}, sizeof((const char *const[]){__VA_ARGS__}) / sizeof(char *))

/* ---- Specs that are written setting by setting ------------------------------------------------------------------ */

typedef struct draft {
    qs_spec spec;
    qs_setting settings[QS_PARAMS_MAX];
} draft;

static inline void draft_begin(draft *d, const char *kind)
{
    memset(d, 0, sizeof *d);
    d->spec = (qs_spec){kind, d->settings, 0};
}

static inline void draft_number(draft *d, const char *name, uint64_t n)
{
    d->settings[d->spec.count++] = (qs_setting)NUMBER(name, n);
}

static inline void draft_word(draft *d, const char *name, const char *word)
{
    d->settings[d->spec.count++] = (qs_setting)WORD(name, word);
}

static inline void draft_array(draft *d, const char *name, const int64_t *array, size_t count)
{
    d->settings[d->spec.count++] = (qs_setting)ARRAY(name, array, count);
}

/* ---- Ports ------------------------------------------------------------------------------------------------------ */

static inline const qs_spec *chance_framing(chance *s, draft *d)
{
    draft_begin(d, CHANCE_WORD(s, "aal5", "ethernet", "ppp", "hdlc", "frame-relay", "overhead"));
    if (strcmp(d->spec.kind, "overhead") == 0)
        draft_number(d, "bytes", chance_below(s, 4));
    return chance_one_in(s, 3) ? &d->spec : NULL;
}

static inline const qs_spec *chance_ring(chance *s, draft *d)
{
    draft_begin(d, "tx-ring");
    draft_number(d, "limit", 1 + chance_below(s, 6));
    draft_number(d, "particle", 1 + chance_below(s, 4));
    draft_number(d, "header", chance_below(s, 3));
    draft_word(d, "admit", CHANCE_WORD(s, "overshoot", "strict"));
    draft_word(d, "free", CHANCE_WORD(s, "start", "end", "particle"));
    return chance_one_in(s, 2) ? &d->spec : NULL;
}

static inline const qs_spec *chance_queue(chance *s, draft *d)
{
    draft_begin(d, "drop-tail");
    if (chance_one_in(s, 2))
        draft_number(d, "packets", chance_below(s, 6));
    if (chance_one_in(s, 3))
        draft_number(d, "bytes", chance_below(s, 20));
    if (chance_one_in(s, 4))
        draft_number(d, "time", (uint64_t)SECONDS((qs_time)chance_below(s, 10)));
    return chance_one_in(s, 3) ? NULL : &d->spec;
}

static inline const qs_spec *chance_policer(chance *s, draft *d)
{
    draft_begin(d, "token-bucket");
    draft_number(d, "rate", chance_below(s, 12));
    draft_number(d, "burst", chance_below(s, 12));
    draft_word(d, "counts", CHANCE_WORD(s, "ip", "wire"));
    draft_word(d, "when", CHANCE_WORD(s, "always", "congestion"));
    return chance_one_in(s, 4) ? &d->spec : NULL;
}

/* n / d with n of 1 .. most and d of 1 .. 3. */
static inline qs_ratio chance_ratio(chance *s, uint64_t most)
{
    const uint64_t n = 1 + chance_below(s, most), d = 1 + chance_below(s, 3);
    return QS_OVER(n, d);
}

/* The class at `rest` takes what no other does. */
static inline void chance_class(chance *s, qs_class_spec *k, size_t c, bool rest, draft *queue, draft *policer)
{
    *k = (qs_class_spec){.name = chance_names[c]};
    k->match = rest ? 0 : 1 + chance_below(s, 63);
    k->share.bandwidth = chance_ratio(s, 9);
    k->share.quantum = QS_INT(1 + chance_below(s, 9));
    k->queue = chance_queue(s, queue);
    k->policer = chance_policer(s, policer);
}

static inline qs_status chance_port(chance *s)
{
    draft framing, ring, queues[CHANCE_CLASSES], policers[CHANCE_CLASSES];
    qs_class_spec classes[CHANCE_CLASSES];
    const size_t count = chance_below(s, CHANCE_CLASSES + 1);
    const size_t rest = chance_below(s, count);
    for (size_t c = 0; c < count; c++)
        chance_class(s, &classes[c], c, c == rest, &queues[c], &policers[c]);
    qs_port_spec spec = {.name = chance_names[s->ports], .classes = classes, .class_count = count};
    const uint64_t bytes_per_second = 1 + chance_below(s, 4), seconds = chance_one_in(s, 4) ? 7 : 1;
    spec.rate = QS_OVER(8 * bytes_per_second, seconds);
    spec.propagation = SECONDS((qs_time)chance_below(s, 4));
    spec.propagation += (qs_time)chance_below(s, 2);
    spec.framing = chance_framing(s, &framing);
    spec.scheduler = BARE(CHANCE_WORD(s, "fifo", "pq", "wfq", "scfq", "drr"));
    spec.ring = chance_ring(s, &ring);
    s->propagation[s->ports] = spec.propagation;
    const qs_status status = qs_sim_add_port(s->sim, &spec);
    s->ports += !status;
    return status;
}

/* ---- Flows ------------------------------------------------------------------------------------------------------ */

static inline void chance_sizes(chance *s, draft *d)
{
    static const int64_t sizes[] = {1, 2, 5}, cumulative[] = {3, 5, 6};
    if (chance_one_in(s, 2)) {
        draft_number(d, "size", 1 + chance_below(s, 4));
        return;
    }
    draft_array(d, "sizes", sizes, COUNT(sizes));
    draft_array(d, "weights", cumulative, COUNT(cumulative));
}

static inline const qs_spec *chance_source(chance *s, draft *d)
{
    int64_t *times = s->times[s->flows], *sizes = s->sizes[s->flows], at = 0;
    draft_begin(d, CHANCE_WORD(s, "cbr", "poisson", "trace"));
    if (strcmp(d->spec.kind, "trace") != 0) {
        draft_number(d, "interval", (uint64_t)SECONDS(1 + (qs_time)chance_below(s, 4)));
        chance_sizes(s, d);
        return &d->spec;
    }
    const size_t count = chance_below(s, CHANCE_TRACE + 1);
    for (size_t i = 0; i < count; i++) {
        times[i] = at += SECONDS((qs_time)chance_below(s, 3));
        sizes[i] = 1 + (int64_t)chance_below(s, 5);
    }
    draft_array(d, "times", times, count);
    draft_array(d, "sizes", sizes, count);
    return &d->spec;
}

/* Some of the ports, in order; where routes may go in circles, in any order. */
static inline void chance_route(chance *s)
{
    uint32_t *route = s->routes[s->flows];
    size_t hops = 0;
    for (uint32_t port = 0; port < s->ports; port++)
        if (chance_one_in(s, 2) || (!hops && port + 1 == s->ports))
            route[hops++] = port;
    for (size_t i = hops; !s->forward && i-- > 1;) {
        const size_t j = chance_below(s, i + 1);
        const uint32_t kept = route[i];
        route[i] = route[j];
        route[j] = kept;
    }
    s->hops[s->flows] = hops;
}

static inline qs_status chance_flow(chance *s, uint64_t seed)
{
    draft source;
    chance_route(s);
    const qs_rng rng = qs_pcg64_init(&s->pcg[s->flows], seed, s->flows);
    qs_flow_spec spec = {.name = chance_names[s->flows], .route = s->routes[s->flows], .rng = &rng};
    spec.hops = s->hops[s->flows];
    spec.source = chance_source(s, &source);
    spec.dscp = (unsigned)chance_below(s, 6);
    spec.start = SECONDS((qs_time)chance_below(s, 5));
    spec.stop = chance_one_in(s, 3) ? SECONDS((qs_time)chance_below(s, 60)) : QS_NEVER;
    const qs_status status = qs_sim_add_flow(s->sim, &spec);
    s->flows += !status;
    return status;
}

/* Builds the simulation of a seed. */
static inline void chance_build(chance *s, uint64_t seed, qs_record record, bool forward)
{
    memset(s, 0, sizeof *s);
    s->dice = seed;
    s->forward = forward;
    s->config = (qs_sim_config){.duration = SECONDS(1 + (qs_time)chance_below(s, 60)), .record = record};
    s->config.warmup = chance_one_in(s, 2) ? SECONDS((qs_time)chance_below(s, 20)) : 0;
    s->config.warmup = s->config.warmup < s->config.duration ? s->config.warmup : 0;
    s->config.cut = chance_one_in(s, 4);
    STATUS(qs_sim_create(&s->sim, &s->config), QS_OK);
    const size_t ports = 1 + chance_below(s, CHANCE_PORTS);
    const size_t flows = chance_below(s, CHANCE_FLOWS + 1);
    qs_status status = QS_OK;
    while (s->ports < ports && !status)
        status = chance_port(s);
    while (s->flows < flows && !status)
        status = chance_flow(s, seed);
    if (!STATUS(status, QS_OK))
        printf("    %s\n", qs_sim_error(s->sim));
    REQUIRE(!status);
}

static inline void chance_take(chance *s)
{
    if (s->config.record == QS_RECORD_PACKETS)
        STATUS(qs_sim_take(s->sim, &s->rows), QS_OK);
}

/* Runs it so many events at a time, or at once with 0. */
static inline void chance_run(chance *s, uint64_t budget)
{
    for (bool done = false; !done && !checks.failures;)
        STATUS(qs_sim_advance(s->sim, budget, &done), QS_OK);
    chance_take(s);
}

static inline void chance_end(chance *s)
{
    qs_columns_fini(&s->rows);
    qs_sim_destroy(s->sim);
}

/* ---- What must hold --------------------------------------------------------------------------------------------- */

static inline bool chance_same(const void *a, const void *b, size_t bytes)
{
    return bytes == 0 || memcmp(a, b, bytes) == 0;
}

static inline void chance_same_counts(const chance *a, const chance *b)
{
    for (size_t f = 0; f < a->flows; f++)
        CHECK(chance_same(qs_sim_flow_counts(a->sim, f), qs_sim_flow_counts(b->sim, f), sizeof(qs_flow_counts)));
    for (size_t i = 0; i < a->ports; i++) {
        const qs_port_counts *port = qs_sim_port_counts(a->sim, i);
        CHECK(chance_same(port, qs_sim_port_counts(b->sim, i), sizeof *port));
        for (size_t c = 0; c < port->class_count; c++)
            CHECK(chance_same(qs_sim_class_counts(a->sim, i, c), qs_sim_class_counts(b->sim, i, c),
                              sizeof(qs_class_counts)));
    }
}

static inline void chance_same_rows(const chance *a, const chance *b)
{
    const qs_columns *x = &a->rows, *y = &b->rows;
    EQUAL(x->rows, y->rows);
    if (x->rows != y->rows || !x->rows)
        return;
    const size_t wide = x->rows * sizeof(int64_t);
    CHECK(chance_same(x->flow, y->flow, x->rows * sizeof *x->flow));
    CHECK(chance_same(x->seq, y->seq, x->rows * sizeof *x->seq));
    CHECK(chance_same(x->size, y->size, x->rows * sizeof *x->size));
    CHECK(chance_same(x->fate, y->fate, x->rows));
    CHECK(chance_same(x->where, y->where, x->rows * sizeof *x->where));
    CHECK(chance_same(x->sent, y->sent, wide));
    CHECK(chance_same(x->received, y->received, wide));
    for (size_t i = 0; i < a->ports; i++) {
        CHECK(chance_same(x->hops[i].queued, y->hops[i].queued, wide));
        CHECK(chance_same(x->hops[i].ring, y->hops[i].ring, wide));
        CHECK(chance_same(x->hops[i].start, y->hops[i].start, wide));
        CHECK(chance_same(x->hops[i].end, y->hops[i].end, wide));
    }
}

/* The way of one packet: in order, from port to port; returns when it has left the last that it left, or -1. */
static inline qs_time chance_follow(const chance *s, size_t row)
{
    const size_t f = (size_t)s->rows.flow[row];
    qs_time arrival = s->rows.sent[row];
    for (size_t hop = 0; hop < s->hops[f]; hop++) {
        const qs_hop_columns *at = &s->rows.hops[s->routes[f][hop]];
        const qs_time queued = at->queued[row], ring = at->ring[row], start = at->start[row], end = at->end[row];
        if (queued >= 0)
            EQUAL(queued, arrival);
        CHECK(ring < 0 || (queued >= 0 && ring >= queued));
        CHECK(start < 0 || (ring >= 0 && start >= ring));
        CHECK(end < 0 || (start >= 0 && end > start));
        if (end < 0)
            return -1;
        arrival = end + s->propagation[s->routes[f][hop]];
    }
    return arrival;
}

typedef struct chance_span {
    qs_time start, end;
} chance_span;

static inline int chance_by_start(const void *a, const void *b)
{
    const chance_span *x = a, *y = b;
    return (x->start > y->start) - (x->start < y->start);
}

static inline void chance_check_wire(const chance *s, size_t port)
{
    chance_span *spans = calloc(s->rows.rows + 1, sizeof *spans);
    REQUIRE(spans);
    size_t count = 0;
    for (size_t i = 0; i < s->rows.rows; i++)
        if (s->rows.hops[port].end[i] >= 0)
            spans[count++] = (chance_span){s->rows.hops[port].start[i], s->rows.hops[port].end[i]};
    qsort(spans, count, sizeof *spans, chance_by_start);
    for (size_t i = 1; i < count; i++)
        CHECK(spans[i].start >= spans[i - 1].end);
    free(spans);
}

static inline void chance_check_delivered(const chance *s)
{
    uint64_t bytes[CHANCE_FLOWS] = {0};
    for (size_t i = 0; i < s->rows.rows; i++)
        if (s->rows.sent[i] >= s->config.warmup && s->rows.received[i] >= 0 && s->rows.received[i] < s->config.duration)
            bytes[s->rows.flow[i]] += (uint64_t)s->rows.size[i];
    for (size_t f = 0; f < s->flows && s->config.record == QS_RECORD_PACKETS; f++)
        EQUAL(qs_sim_flow_counts(s->sim, f)->delivered_bytes, bytes[f]);
}

/* Nothing is lost or made, no packet overtakes itself, and no wire sends two packets at once. */
static inline void chance_check(const chance *s)
{
    scene_check_identities(&(scene){.sim = s->sim});
    for (size_t i = 0; i < s->rows.rows; i++) {
        const qs_time arrival = chance_follow(s, i);
        const bool received = s->rows.fate[i] == QS_RECEIVED;
        EQUAL(s->rows.received[i], received ? arrival : -1);
        EQUAL(s->rows.where[i] == -1, received);
    }
    for (size_t i = 0; i < s->ports && s->rows.rows; i++)
        chance_check_wire(s, i);
    chance_check_delivered(s);
}

#endif
