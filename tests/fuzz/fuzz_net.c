/* SPDX-License-Identifier: MIT */
/*
 * Random scenarios: ports, classes, schedulers, rings, framings, sources and routes of every kind, with times on a
 * coarse grid, so that much happens at once. What must hold in any run is checked on every row: timestamps, the
 * link's law, order within a class, work conservation, limits, and that counts, summaries, callbacks, and a run in
 * pieces agree with the rows.
 *
 *     fuzz_net RUNS SEED      runs scenarios SEED, SEED + 1, ...; stops at the first that fails and says which
 *
 * (A number stands for one scenario as long as the compiler is the same: it chooses in which order arguments are
 * drawn.)
 */
#define CHECK_NO_MAIN
#include "scene.h"

enum { MAX_PORTS = 4, MAX_CLASSES = 6, MAX_FLOWS = 6, MAX_TRACE = 24, MAX_SETTINGS = 8 };

/* ---- A random scenario ---------------------------------------------------------------------------------------------
 */

typedef struct part {
    qs_setting settings[MAX_SETTINGS];
    qs_spec spec;
    bool there;
} part;

typedef struct random_class {
    char name[24];
    const char *flows[1];
    part queue, policer;
} random_class;

typedef struct random_port {
    char name[24];
    part framing, scheduler, ring;
    random_class parts[MAX_CLASSES];
    qs_class_spec classes[MAX_CLASSES];
    qs_port_spec spec;
} random_port;

typedef struct random_flow {
    char name[24];
    part source;
    int64_t times[MAX_TRACE], sizes[MAX_TRACE], cumulative[3];
    uint32_t route[MAX_PORTS];
    uint64_t seed;
    qs_flow_spec spec;
} random_flow;

typedef struct scenario {
    uint64_t dice;
    qs_time grid;
    qs_time epoch; /* where the flows begin: 0, or shortly before the end of the clock */
    qs_sim_config config;
    size_t port_count, flow_count;
    random_port ports[MAX_PORTS];
    random_flow flows[MAX_FLOWS];
} scenario;

static uint64_t below(scenario *x, uint64_t n)
{
    return dice_below(&x->dice, n);
}

static bool one_in(scenario *x, uint64_t n)
{
    return below(x, n) == 0;
}

/* So many steps, or fewer, after the flows may begin; within the clock. */
static qs_time later(scenario *x, uint64_t steps)
{
    const qs_time after = (qs_time)below(x, steps) * x->grid;
    return after < QS_NEVER - 1 - x->epoch ? x->epoch + after : QS_NEVER - 1;
}

static void set_kind(part *p, const char *kind)
{
    *p = (part){.there = true};
    p->spec = (qs_spec){kind, NULL, 0};
}

static void set_ratio(part *p, const char *name, uint64_t n, uint64_t per)
{
    p->settings[p->spec.count++] = (qs_setting){.name = name, .value = QS_OVER(n, per)};
}

static void set_word(part *p, const char *name, const char *word)
{
    p->settings[p->spec.count++] = (qs_setting){.name = name, .value = QS_INT(0), .word = word};
}

static void set_array(part *p, const char *name, const int64_t *values, size_t count)
{
    p->settings[p->spec.count++] = (qs_setting){.name = name, .value = QS_INT(0), .array = values, .count = count};
}

static const qs_spec *spec_of(part *p)
{
    p->spec.settings = p->settings;
    return p->there ? &p->spec : NULL;
}

/* A ratio from 1 / d to n. */
static qs_ratio ratio_to(scenario *x, uint64_t n, uint64_t d)
{
    const uint64_t per = 1 + below(x, d), numerator = 1 + below(x, n * per);
    return QS_OVER(numerator, per);
}

static void draw_framing(scenario *x, part *p)
{
    static const char *const kinds[] = {"aal5", "ethernet", "ppp", "hdlc", "frame-relay", "overhead"};
    if (one_in(x, 3))
        return;
    const size_t k = below(x, COUNT(kinds));
    set_kind(p, kinds[k]);
    if (k == 0 && one_in(x, 2))
        set_word(p, "encapsulation", "vc-mux");
    if (k == 1)
        set_ratio(p, "tags", below(x, 3), 1);
    if (k == 5) {
        set_ratio(p, "bytes", below(x, 30), 1);
        set_ratio(p, "minimum", below(x, 100), 1);
    }
}

static void draw_ring(scenario *x, part *p)
{
    static const char *const admits[] = {"overshoot", "strict"}, *const frees[] = {"start", "end", "particle"};
    if (one_in(x, 3))
        return;
    set_kind(p, "tx-ring");
    set_ratio(p, "limit", 1 + below(x, 8), 1);
    set_ratio(p, "particle", one_in(x, 3) ? 1 + below(x, 40) : 512, 1);
    if (one_in(x, 3))
        set_ratio(p, "header", below(x, 20), 1);
    set_word(p, "admit", admits[below(x, 2)]);
    set_word(p, "free", frees[below(x, 3)]);
}

static void draw_queue(scenario *x, part *p)
{
    if (one_in(x, 3))
        return;
    set_kind(p, "drop-tail");
    if (one_in(x, 2))
        set_ratio(p, "packets", below(x, 6), 1);
    if (one_in(x, 3))
        set_ratio(p, "bytes", below(x, 3000), 1);
    if (one_in(x, 4))
        set_ratio(p, "time", below(x, 100) * (uint64_t)x->grid, 1);
}

static void draw_policer(scenario *x, part *p)
{
    if (!one_in(x, 4))
        return;
    set_kind(p, "token-bucket");
    set_ratio(p, "rate", below(x, 8000000), 1 + below(x, 3));
    set_ratio(p, "burst", below(x, 4000), 1);
    if (one_in(x, 2))
        set_word(p, "when", "congestion");
    if (one_in(x, 3))
        set_word(p, "counts", "wire");
}

static void draw_class(scenario *x, random_port *port, size_t c, bool rest)
{
    random_class *parts = &port->parts[c];
    qs_class_spec *spec = &port->classes[c];
    snprintf(parts->name, sizeof parts->name, "c%zu", c);
    draw_queue(x, &parts->queue);
    draw_policer(x, &parts->policer);
    *spec = (qs_class_spec){.name = parts->name,
                            .match = rest ? 0 : 1 + below(x, 255),
                            .share = {.bandwidth = ratio_to(x, 5000, 3), .quantum = ratio_to(x, 3000, 4)},
                            .queue = spec_of(&parts->queue),
                            .policer = spec_of(&parts->policer)};
    spec->share.quantum.whole += 1;
    if (!rest && one_in(x, 3)) {
        parts->flows[0] = x->flows[below(x, x->flow_count)].name;
        spec->flows = parts->flows;
        spec->flow_count = 1;
    }
}

static void draw_port(scenario *x, size_t i)
{
    size_t schedulers = 0;
    while (qs_scheds[schedulers])
        schedulers++;
    random_port *port = &x->ports[i];
    snprintf(port->name, sizeof port->name, "p%zu", i);
    draw_framing(x, &port->framing);
    draw_ring(x, &port->ring);
    set_kind(&port->scheduler, qs_scheds[below(x, schedulers)]->name);
    const size_t classes = below(x, MAX_CLASSES + 1), rest = classes ? below(x, classes) : 0;
    for (size_t c = 0; c < classes; c++)
        draw_class(x, port, c, c == rest);
    const uint64_t bits = 8 * (uint64_t)QS_SECOND / (uint64_t)x->grid; /* a byte a step */
    const uint64_t rate = bits * (1 + below(x, 40));
    port->spec = (qs_port_spec){.name = port->name,
                                .rate = one_in(x, 3) ? QS_OVER(bits * 3 + 1, 3)
                                                     : QS_INT(rate < 8000000000000 ? rate : 8000000000000),
                                .framing = spec_of(&port->framing),
                                .scheduler = spec_of(&port->scheduler),
                                .ring = spec_of(&port->ring),
                                .propagation = one_in(x, 2) ? 0 : (qs_time)below(x, 500) * x->grid,
                                .classes = port->classes,
                                .class_count = classes};
}

static void draw_sizes(scenario *x, random_flow *flow)
{
    if (one_in(x, 2)) {
        set_ratio(&flow->source, "size", 1 + below(x, 300), 1);
        return;
    }
    for (size_t i = 0; i < COUNT(flow->cumulative); i++) {
        flow->sizes[i] = (int64_t)(1 + below(x, 1500));
        flow->cumulative[i] = (i ? flow->cumulative[i - 1] : 0) + (int64_t)(1 + below(x, 9));
    }
    set_array(&flow->source, "sizes", flow->sizes, 3);
    set_array(&flow->source, "weights", flow->cumulative, 3);
}

static void draw_trace(scenario *x, random_flow *flow)
{
    const size_t count = below(x, MAX_TRACE + 1);
    int64_t at = 0;
    set_kind(&flow->source, "trace");
    for (size_t i = 0; i < count; i++) {
        at += one_in(x, 2) ? 0 : (int64_t)below(x, 200) * x->grid;
        flow->times[i] = at;
        flow->sizes[i] = (int64_t)(1 + below(x, one_in(x, 3) ? 1500 : 60));
    }
    set_array(&flow->source, "times", flow->times, count);
    set_array(&flow->source, "sizes", flow->sizes, count);
}

static void draw_source(scenario *x, random_flow *flow)
{
    const uint64_t interval = (20 + below(x, 200)) * (uint64_t)x->grid;
    if (one_in(x, 3)) {
        draw_trace(x, flow);
    } else if (one_in(x, 2)) {
        set_kind(&flow->source, "cbr");
        set_ratio(&flow->source, "interval", one_in(x, 2) ? interval : interval * 3 + 1, one_in(x, 2) ? 1 : 3);
        if (one_in(x, 3))
            set_ratio(&flow->source, "random", 1, 1);
        draw_sizes(x, flow);
    } else {
        set_kind(&flow->source, "poisson");
        set_ratio(&flow->source, "interval", interval, 1);
        draw_sizes(x, flow);
    }
}

static size_t draw_route(scenario *x, uint32_t *route)
{
    uint32_t ports[MAX_PORTS] = {0, 1, 2, 3};
    const size_t hops = 1 + below(x, x->port_count);
    for (size_t i = 0; i < hops; i++) {
        const size_t chosen = i + below(x, x->port_count - i);
        route[i] = ports[chosen];
        ports[chosen] = ports[i];
    }
    return hops;
}

/* ---- A source that listens: a window of packets, each loss or delivery allows another
 * -------------------------------- */

typedef struct window {
    uint64_t ready, left;
    qs_time at, news;
} window;

static const qs_param window_params[] = {{"window", "", 1, 100, QS_REQUIRED, "packets under way"}, {0}};

static qs_status window_init(void *state, const qs_source_setup *setup)
{
    *(window *)state = (window){setup->values[0].value.whole, 15, setup->start, 0};
    return QS_OK;
}

static qs_departure window_next(void *state)
{
    window *w = state;
    if (!w->ready || !w->left)
        return (qs_departure){QS_NEVER, 0};
    w->ready--;
    return (qs_departure){w->at, 100 + (uint32_t)w->left--};
}

static qs_expectation window_expect(const void *state, qs_time until)
{
    (void)state, (void)until;
    return (qs_expectation){15, false};
}

static void window_told(void *state, const qs_packet *p, qs_fate fate, qs_time now)
{
    window *w = state;
    CHECK(fate == p->fate && now >= w->news && now >= p->sent);
    w->news = now;
    w->at = now + (fate != QS_RECEIVED); /* news of a loss may come when the instant's arrivals are over */
    w->ready++;
}

static const qs_source_ops window_ops = {.name = "window",
                                         .summary = "A window of packets",
                                         .params = window_params,
                                         .state_size = sizeof(window),
                                         .init = window_init,
                                         .next = window_next,
                                         .expect = window_expect,
                                         .told = window_told};

static void draw_flow(scenario *x, size_t f)
{
    random_flow *flow = &x->flows[f];
    flow->seed = dice(&x->dice);
    const bool listens = one_in(x, 8) && !x->epoch;
    if (listens) {
        set_kind(&flow->source, "window");
        set_ratio(&flow->source, "window", 1 + below(x, 4), 1);
    } else {
        draw_source(x, flow);
    }
    flow->spec = (qs_flow_spec){.name = flow->name,
                                .source = spec_of(&flow->source),
                                .ops = listens ? &window_ops : NULL,
                                .dscp = (unsigned)below(x, 8),
                                .route = flow->route,
                                .hops = draw_route(x, flow->route),
                                .start = one_in(x, 2) ? x->epoch : later(x, 500),
                                .stop = one_in(x, 4) ? later(x, 2000) : QS_NEVER};
}

static void draw_scenario(scenario *x, uint64_t seed)
{
    static const qs_time grids[] = {1, 1000, 7919, 1000000, INT64_C(1000000000)};
    *x = (scenario){.dice = seed};
    x->grid = grids[below(x, COUNT(grids))];
    if (x->grid == 1)
        x->grid = 2; /* a byte in a picosecond is the fastest there is; leave room for odd rates */
    const qs_time duration = (qs_time)(1 + below(x, 2000)) * x->grid;
    x->epoch = one_in(x, 12) ? QS_NEVER - 1 - (qs_time)(1 + below(x, 3000)) * x->grid : 0;
    x->config = (qs_sim_config){
        .duration = x->epoch < QS_NEVER - 1 - duration ? x->epoch + duration : QS_NEVER - 1,
        .warmup = one_in(x, 2) ? 0 : later(x, 1000),
        .cut = one_in(x, 3),
        .record = QS_RECORD_PACKETS,
    };
    if (x->config.warmup >= x->config.duration)
        x->config.warmup = x->config.duration - 1;
    x->port_count = 1 + below(x, MAX_PORTS);
    x->flow_count = 1 + below(x, MAX_FLOWS);
    for (size_t f = 0; f < x->flow_count; f++)
        snprintf(x->flows[f].name, sizeof x->flows[f].name, "f%zu", f);
    for (size_t i = 0; i < x->port_count; i++)
        draw_port(x, i);
    for (size_t f = 0; f < x->flow_count; f++)
        draw_flow(x, f);
}

/* ---- Building it
 * ------------------------------------------------------------------------------------------------------ */

static scene build(const scenario *x, qs_record record, qs_pcg64 *pcg)
{
    qs_sim_config config = x->config;
    config.record = record;
    scene s = scene_with(config);
    for (size_t i = 0; i < x->port_count; i++)
        scene_port(&s, &x->ports[i].spec);
    for (size_t f = 0; f < x->flow_count; f++) {
        qs_flow_spec spec = x->flows[f].spec;
        const qs_rng rng = qs_pcg64_init(&pcg[f], x->flows[f].seed, 1);
        spec.rng = &rng;
        scene_require(&s, qs_sim_add_flow(s.sim, &spec));
    }
    return s;
}

/* ---- What must hold, by rows
 * ------------------------------------------------------------------------------------------- */

/* One packet at one port. */
typedef struct stay {
    size_t row;
    size_t klass;
    qs_time came;
    qs_time queued, ring, start, end;
    uint32_t size, bits;
} stay;

typedef struct visits {
    stay *stays;
    size_t count;
} visits;

static size_t class_of(const random_port *port, const random_flow *flow)
{
    size_t rest = 0;
    for (size_t c = 0; c < port->spec.class_count; c++) {
        const qs_class_spec *k = &port->classes[c];
        if (k->match >> flow->spec.dscp & 1 || (k->flow_count && k->flows[0] == flow->name))
            return c;
        if (!k->match && !k->flow_count)
            rest = c;
    }
    return rest;
}

/* Checks a row's timestamps hop by hop, and collects where it was. */
static void check_row(const scenario *x, const scene *s, size_t row, visits *ports)
{
    const qs_columns *c = &s->rows;
    const random_flow *flow = &x->flows[c->flow[row]];
    const qs_fate fate = (qs_fate)c->fate[row];
    qs_time at = c->sent[row];
    size_t hop = 0;
    bool on = true; /* it has come to this hop */
    CHECK(at >= flow->spec.start && at < flow->spec.stop && at < x->config.duration);
    for (; hop < flow->spec.hops; hop++) {
        const size_t i = flow->route[hop];
        const random_port *port = &x->ports[i];
        qs_framing f = {0};
        REQUIRE(qs_framing_init(&f, port->spec.framing, "x", NULL) == QS_OK);
        const stay here = {.row = row,
                           .klass = class_of(port, flow),
                           .came = at,
                           .queued = c->hops[i].queued[row],
                           .ring = c->hops[i].ring[row],
                           .start = c->hops[i].start[row],
                           .end = c->hops[i].end[row],
                           .size = (uint32_t)c->size[row],
                           .bits = qs_framing_bits(&f, (uint32_t)c->size[row])};
        if (on)
            ports[i].stays[ports[i].count++] = here;
        if (!on || here.queued < 0) {
            CHECK(here.queued < 0 && here.ring < 0 && here.start < 0 && here.end < 0);
            CHECK(!on || (fate != QS_RECEIVED && c->where[row] == (int)i && fate != QS_INSIDE));
            on = false;
            continue;
        }
        EQUAL(here.queued, at);
        CHECK(here.ring < 0 || here.ring >= here.queued);
        CHECK(here.start < 0 || (here.ring >= 0 && here.start >= here.ring));
        CHECK(here.end < 0 || (here.start >= 0 && here.end > here.start));
        CHECK(port->ring.there || here.ring == here.start);
        if (here.end >= 0 && port->spec.propagation < QS_NEVER - here.end)
            at = here.end + port->spec.propagation;
        else
            on = false;
        if (on && at >= (x->config.cut ? x->config.duration : QS_NEVER))
            on = false; /* still on its line when the run is over */
        if (!on)
            CHECK(fate == QS_INSIDE && c->where[row] == (int)i);
    }
    if (on)
        CHECK(fate == QS_RECEIVED && c->received[row] == at && c->where[row] == -1);
    else
        CHECK(fate != QS_RECEIVED && c->received[row] == -1);
}

static int by_start(const void *a, const void *b)
{
    const qs_time x = ((const stay *)a)->start, y = ((const stay *)b)->start;
    return (x > y) - (x < y);
}

/* Order of arrival: time, flow, number (rows are in order of flow and number). */
static int by_arrival(const void *a, const void *b)
{
    const stay *x = a, *y = b;
    return x->came != y->came ? (x->came > y->came) - (x->came < y->came) : (x->row > y->row) - (x->row < y->row);
}

/* Transmissions by order of start: they do not overlap, end where the link's law says, and leave no gap with work. */
static void check_wire(const random_port *port, const visits *v)
{
    const qs_ratio rate = port->spec.rate;
    const qs_u128 n = (qs_u128)rate.whole * rate.per + rate.part;
    const stay *last = NULL;
    qs_time begin = 0, bits = 0;
    for (size_t i = 0; i < v->count; i++) {
        const stay *p = &v->stays[i];
        if (p->start < 0)
            continue;
        if (!last || last->end != p->start) {
            begin = p->start;
            bits = 0;
            EQUAL(p->queued, p->start); /* the wire was idle: nobody waited */
        }
        bits += p->bits;
        const qs_u128 took = (qs_u128)(uint64_t)bits * (uint64_t)QS_SECOND * rate.per / n;
        if (p->end >= 0)
            EQUAL(p->end, begin + (qs_time)took);
        if (last)
            CHECK(last->end >= 0 && p->start >= last->end && p->ring >= last->ring);
        last = p;
        for (size_t j = 0; j < v->count; j++) /* whoever came before and starts later finds the wire busy */
            if (v->stays[j].queued >= 0 && (v->stays[j].start < 0 || v->stays[j].start > p->start))
                CHECK(v->stays[j].queued >= begin);
    }
}

/*
 * Sorted by arrival: packets of one class leave in order, and of a FIFO all. PQ passes nobody of a higher class by; but
 * what a source sends on news of an instant comes when the instant's moves are over.
 */
static void check_order(const scenario *x, const random_port *port, const visits *v)
{
    bool listens = false;
    for (size_t f = 0; f < x->flow_count; f++)
        listens |= x->flows[f].spec.ops != NULL;
    const bool fifo = strcmp(port->scheduler.spec.kind, "fifo") == 0;
    const bool pq = strcmp(port->scheduler.spec.kind, "pq") == 0;
    for (size_t i = 0; i < v->count; i++)
        for (size_t j = 0; j < v->count; j++) {
            const stay *p = &v->stays[i], *q = &v->stays[j];
            if (p->queued < 0 || q->queued < 0 || q->ring < 0)
                continue;
            if (i < j && (fifo || p->klass == q->klass) && p->came <= q->came - listens)
                CHECK(p->ring >= 0 && p->ring <= q->ring && p->start <= (q->start < 0 ? QS_NEVER : q->start));
            if (pq && p->klass < q->klass) /* p waits while q of a lower class is taken */
                CHECK(!(p->queued <= q->ring - listens && (p->ring < 0 || p->ring > q->ring)));
        }
}

/* What stands in class `c` when the instant `at` is over. */
static void queue_at(const visits *v, size_t c, qs_time at, uint64_t *packets, uint64_t *bytes)
{
    *packets = *bytes = 0;
    for (size_t i = 0; i < v->count; i++) {
        const stay *p = &v->stays[i];
        if (p->klass != c || p->queued < 0 || p->queued > at || (p->ring >= 0 && p->ring <= at))
            continue;
        ++*packets;
        *bytes += p->size;
    }
}

/* No queue is above its limit, and nothing is dropped that would have fitted. */
static void check_limits(const scene *s, const random_port *port, const visits *v)
{
    for (size_t i = 0; i < v->count; i++) {
        const stay *p = &v->stays[i];
        if (!port->spec.class_count)
            continue;
        const qs_class_spec *k = &port->classes[p->klass];
        qs_queue q = {.limit = {UINT64_MAX, UINT64_MAX}};
        if (k->queue)
            REQUIRE(qs_queue_init(&q, k->queue, k->share.bandwidth, "x", NULL) == QS_OK);
        uint64_t packets, bytes;
        queue_at(v, p->klass, p->came, &packets, &bytes);
        CHECK(packets <= q.limit.packets && bytes <= q.limit.bytes);
        if (p->queued >= 0)
            continue;
        const qs_fate fate = (qs_fate)s->rows.fate[p->row];
        if (fate == QS_DROPPED_QUEUE) {
            uint64_t gone =
                0; /* of the same instant and class, dropped as well, and older: they went for a reason too */
            for (size_t j = 0; j < i; j++)
                if (v->stays[j].klass == p->klass && v->stays[j].came == p->came && v->stays[j].queued < 0 &&
                    s->rows.fate[v->stays[j].row] == QS_DROPPED_QUEUE)
                    gone++;
            CHECK(gone || packets + 1 > q.limit.packets || bytes + p->size > q.limit.bytes);
        } else {
            CHECK(fate == QS_DROPPED_POLICER && k->policer);
        }
    }
}

/* Picoseconds of [warmup, duration] in [from, to); `to` is -1 where it has not come. */
static qs_i128 measured(const scenario *x, qs_time from, qs_time to)
{
    from = from > x->config.warmup ? from : x->config.warmup;
    to = to >= 0 && to < x->config.duration ? to : x->config.duration;
    return from < to ? to - from : 0;
}

static void check_areas(const scenario *x, const scene *s, size_t index, const visits *v)
{
    const qs_port_spec *spec = &x->ports[index].spec;
    const size_t classes = spec->class_count ? spec->class_count : 1;
    qs_u128 want[MAX_CLASSES + 1] = {0};
    qs_ring ring = {0};
    if (spec->ring)
        REQUIRE(qs_ring_init(&ring, spec->ring, "x", NULL) == QS_OK);
    qs_i128 held = 0;
    for (size_t i = 0; i < v->count; i++) {
        const stay *p = &v->stays[i];
        if (p->queued >= 0)
            want[p->klass] += (qs_u128)measured(x, p->queued, p->ring);
        if (p->ring >= 0 && spec->ring)
            held += measured(x, p->ring, ring.free == QS_FREE_START ? p->start : p->end) *
                    qs_ring_particles(&ring, p->size);
    }
    for (size_t c = 0; c < classes; c++)
        CHECK(qs_sim_class_counts(s->sim, index, c)->queue_area == want[c]);
    const qs_i128 got = (qs_i128)qs_sim_port_counts(s->sim, index)->ring_area;
    CHECK(ring.free == QS_FREE_PARTICLE ? got >= 0 && got <= held : got == held);
}

static void check_loss_periods(const scenario *x, const scene *s)
{
    for (size_t f = 0; f < x->flow_count; f++) {
        uint64_t periods = 0, longest = 0, run = 0;
        for (size_t row = 0; row < s->rows.rows; row++) {
            if (s->rows.flow[row] != (int32_t)f || s->rows.sent[row] < x->config.warmup)
                continue;
            const qs_fate fate = (qs_fate)s->rows.fate[row];
            run = fate == QS_DROPPED_QUEUE || fate == QS_DROPPED_POLICER ? run + 1 : 0;
            periods += run == 1;
            longest = run > longest ? run : longest;
        }
        EQUAL(qs_sim_flow_counts(s->sim, f)->loss_periods, periods);
        EQUAL(qs_sim_flow_counts(s->sim, f)->longest_loss, longest);
    }
}

static void check_delivered(const scenario *x, const scene *s)
{
    uint64_t want[MAX_FLOWS] = {0};
    for (size_t row = 0; row < s->rows.rows; row++)
        if (s->rows.sent[row] >= x->config.warmup && s->rows.received[row] >= 0 &&
            s->rows.received[row] < x->config.duration)
            want[s->rows.flow[row]] += (uint64_t)s->rows.size[row];
    for (size_t f = 0; f < x->flow_count; f++)
        EQUAL(qs_sim_flow_counts(s->sim, f)->delivered_bytes, want[f]);
}

static void check_counts(const scenario *x, const scene *s, size_t index, const visits *v)
{
    const random_port *port = &x->ports[index];
    const size_t classes = port->spec.class_count ? port->spec.class_count : 1;
    for (size_t c = 0; c < classes; c++) {
        qs_class_counts want = {0};
        for (size_t i = 0; i < v->count; i++) {
            const stay *p = &v->stays[i];
            if (p->klass != c || s->rows.sent[p->row] < x->config.warmup)
                continue;
            want.offered++;
            want.offered_bytes += p->size;
            want.sent += p->end >= 0;
            want.sent_bytes += p->end >= 0 ? p->size : 0;
            want.dropped_queue += p->queued < 0 && s->rows.fate[p->row] == QS_DROPPED_QUEUE;
            want.dropped_policer += p->queued < 0 && s->rows.fate[p->row] == QS_DROPPED_POLICER;
            want.inside += p->queued >= 0 && p->end < 0;
        }
        const qs_class_counts *got = qs_sim_class_counts(s->sim, index, c);
        EQUAL(got->offered, want.offered);
        EQUAL(got->offered_bytes, want.offered_bytes);
        EQUAL(got->sent, want.sent);
        EQUAL(got->sent_bytes, want.sent_bytes);
        EQUAL(got->dropped_queue, want.dropped_queue);
        EQUAL(got->dropped_policer, want.dropped_policer);
        EQUAL(got->inside, want.inside);
        uint64_t largest = 0, largest_bytes = 0;
        for (size_t i = 0; i <= v->count; i++) {
            const qs_time at = i < v->count ? v->stays[i].came : x->config.warmup;
            uint64_t packets, bytes;
            if (at < x->config.warmup || (x->config.cut && at >= x->config.duration))
                continue;
            queue_at(v, c, at, &packets, &bytes);
            largest = packets > largest ? packets : largest;
            largest_bytes = bytes > largest_bytes ? bytes : largest_bytes;
        }
        EQUAL(got->largest_queue, largest);
        EQUAL(got->largest_queue_bytes, largest_bytes);
    }
    qs_time busy = 0;
    for (size_t i = 0; i < v->count; i++) {
        const stay *p = &v->stays[i];
        const qs_time from = p->start > x->config.warmup ? p->start : x->config.warmup;
        const qs_time to = p->end >= 0 && p->end < x->config.duration ? p->end : x->config.duration;
        busy += p->start >= 0 && to > from ? to - from : 0;
    }
    EQUAL(qs_sim_port_counts(s->sim, index)->busy, busy);
}

static void check_scene(const scenario *x, const scene *s)
{
    visits ports[MAX_PORTS];
    for (size_t i = 0; i < x->port_count; i++)
        ports[i] = (visits){malloc((s->rows.rows + 1) * sizeof(stay)), 0};
    for (size_t row = 0; row < s->rows.rows; row++)
        check_row(x, s, row, ports);
    for (size_t i = 0; i < x->port_count; i++) {
        qsort(ports[i].stays, ports[i].count, sizeof(stay), by_start);
        check_wire(&x->ports[i], &ports[i]);
        qsort(ports[i].stays, ports[i].count, sizeof(stay), by_arrival);
        check_order(x, &x->ports[i], &ports[i]);
        check_limits(s, &x->ports[i], &ports[i]);
        check_counts(x, s, i, &ports[i]);
        check_areas(x, s, i, &ports[i]);
        free(ports[i].stays);
    }
    check_loss_periods(x, s);
    check_delivered(x, s);
    scene_check_identities(s);
}

/* ---- The same run in other ways
 * ------------------------------------------------------------------------------------------ */

typedef struct told {
    qs_time last;
    uint64_t counts[QS_TRACE_KINDS];
    qs_trace_kind kind;
    struct told *all;
} told;

static void listen(void *context, qs_time now, const qs_packet *p)
{
    told *t = context;
    CHECK(now >= t->all->last && now >= p->sent);
    CHECK((t->kind == QS_TRACE_RECEIVED) == (p->fate == QS_RECEIVED));
    t->all->last = now;
    t->all->counts[t->kind]++;
}

static void check_same_rows(const qs_columns *a, const qs_columns *b)
{
    REQUIRE(a->rows == b->rows);
    const size_t wide = a->rows * sizeof(int64_t);
    CHECK(memcmp(a->fate, b->fate, a->rows) == 0 && memcmp(a->sent, b->sent, wide) == 0);
    CHECK(memcmp(a->size, b->size, a->rows * sizeof *a->size) == 0);
    CHECK(memcmp(a->where, b->where, a->rows * sizeof *a->where) == 0);
    CHECK(memcmp(a->received, b->received, wide) == 0);
    for (size_t i = 0; i < a->ports; i++) {
        CHECK(memcmp(a->hops[i].queued, b->hops[i].queued, wide) == 0);
        CHECK(memcmp(a->hops[i].ring, b->hops[i].ring, wide) == 0);
        CHECK(memcmp(a->hops[i].start, b->hops[i].start, wide) == 0);
        CHECK(memcmp(a->hops[i].end, b->hops[i].end, wide) == 0);
    }
}

static void check_same_counts(const scenario *x, const scene *a, const scene *b)
{
    for (size_t f = 0; f < x->flow_count; f++) {
        const qs_flow_counts *p = qs_sim_flow_counts(a->sim, f), *q = qs_sim_flow_counts(b->sim, f);
        CHECK(memcmp(p, q, sizeof *p) == 0);
    }
    for (size_t i = 0; i < x->port_count; i++) {
        const qs_port_counts *p = qs_sim_port_counts(a->sim, i), *q = qs_sim_port_counts(b->sim, i);
        CHECK(memcmp(p, q, sizeof *p) == 0);
        for (size_t c = 0; c < p->class_count; c++) {
            const qs_class_counts *k = qs_sim_class_counts(a->sim, i, c), *l = qs_sim_class_counts(b->sim, i, c);
            CHECK(memcmp(k, l, sizeof *k) == 0);
        }
    }
}

/* In pieces, and with a callback of every kind at every port. */
static void check_traced(scenario *x, const scene *whole)
{
    qs_pcg64 pcg[MAX_FLOWS];
    told told_at[MAX_PORTS][QS_TRACE_KINDS];
    scene s = build(x, QS_RECORD_PACKETS, pcg);
    for (size_t i = 0; i < x->port_count; i++)
        for (unsigned kind = 0; kind < QS_TRACE_KINDS; kind++) {
            told_at[i][kind] = (told){.kind = (qs_trace_kind)kind, .all = told_at[i]};
            scene_require(&s, qs_sim_trace(s.sim, i, (qs_trace_kind)kind, listen, &told_at[i][kind]));
        }
    for (bool done = false; !done;)
        scene_require(&s, qs_sim_advance(s.sim, 1 + below(x, 20), &done));
    scene_require(&s, qs_sim_take(s.sim, &s.rows));
    check_same_rows(&whole->rows, &s.rows);
    check_same_counts(x, whole, &s);
    uint64_t received = 0, dropped = 0, told_received = 0, told_dropped = 0;
    for (size_t row = 0; row < s.rows.rows; row++) {
        received += s.rows.fate[row] == QS_RECEIVED;
        dropped += s.rows.fate[row] == QS_DROPPED_QUEUE || s.rows.fate[row] == QS_DROPPED_POLICER;
    }
    for (size_t i = 0; i < x->port_count; i++) {
        uint64_t started = 0, ended = 0, handed = 0;
        for (size_t row = 0; row < s.rows.rows; row++) {
            handed += s.rows.hops[i].ring[row] >= 0;
            started += s.rows.hops[i].start[row] >= 0;
            ended += s.rows.hops[i].end[row] >= 0;
        }
        EQUAL(told_at[i]->counts[QS_TRACE_RING], handed);
        EQUAL(told_at[i]->counts[QS_TRACE_START], started);
        EQUAL(told_at[i]->counts[QS_TRACE_END], ended);
        told_received += told_at[i]->counts[QS_TRACE_RECEIVED];
        told_dropped += told_at[i]->counts[QS_TRACE_DROPPED];
    }
    EQUAL(told_received, received);
    EQUAL(told_dropped, dropped);
    scene_end(&s);
}

/* With summaries: the same counts, and the sums that the rows give. */
static void check_summary(const scenario *x, const scene *whole)
{
    qs_pcg64 pcg[MAX_FLOWS];
    scene s = build(x, QS_RECORD_SUMMARY, pcg);
    scene_run(&s);
    check_same_counts(x, whole, &s);
    for (size_t f = 0; f < x->flow_count; f++) {
        const qs_columns *c = &whole->rows;
        const qs_summary *summary = qs_sim_summary(s.sim, f);
        qs_i128 delay = 0, ipdv = 0, stages = 0;
        uint64_t received = 0, pairs = 0;
        for (size_t i = 0; i < c->rows; i++) {
            if ((size_t)c->flow[i] != f || c->sent[i] < x->config.warmup || c->received[i] < 0)
                continue;
            received++;
            delay += c->received[i] - c->sent[i];
            if (i && c->flow[i - 1] == c->flow[i] && c->sent[i - 1] >= x->config.warmup && c->received[i - 1] >= 0) {
                pairs++;
                ipdv += (c->received[i] - c->sent[i]) - (c->received[i - 1] - c->sent[i - 1]);
            }
        }
        for (size_t hop = 0; hop < summary->hops; hop++) {
            const qs_stages stage = qs_summary_stages(summary, hop);
            stages += stage.queue + stage.ring + stage.serialisation + stage.propagation;
        }
        EQUAL(summary->delay.count, received);
        EQUAL(summary->ipdv.count, pairs);
        if (received)
            EQUAL(qs_stats_sum(&summary->delay), delay);
        if (pairs)
            EQUAL(qs_stats_sum(&summary->ipdv), ipdv);
        EQUAL(stages, delay);
    }
    scene_end(&s);
}

static void check_scenario(uint64_t seed)
{
    static scenario x;
    qs_pcg64 pcg[MAX_FLOWS];
    draw_scenario(&x, seed);
    scene s = build(&x, QS_RECORD_PACKETS, pcg);
    scene_run(&s);
    check_scene(&x, &s);
    check_traced(&x, &s);
    check_summary(&x, &s);
    scene_end(&s);
}

static bool holds(uint64_t seed)
{
    char name[32];
    snprintf(name, sizeof name, "scenario %" PRIu64, seed);
    checks.running = name;
    if (!setjmp(checks.give_up))
        check_scenario(seed);
    return checks.failures == 0;
}

int main(int argc, char **argv)
{
    const uint64_t runs = argc > 1 ? strtoull(argv[1], NULL, 10) : 1000;
    const uint64_t seed = argc > 2 ? strtoull(argv[2], NULL, 10) : 1;
    uint64_t passed = 0;
    while (passed < runs && holds(seed + passed))
        passed++;
    printf("%" PRIu64 " passed, %d failed\n", passed, passed < runs);
    return passed < runs;
}
