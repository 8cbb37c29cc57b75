/* SPDX-License-Identifier: MIT */
/*
 * Recorder. Each flow has a view: pointers to the columns of a run of its rows. With all counts known in advance the
 * views are the final columns, and taking them costs nothing. Else a view is a chunk of 2^shift rows, column by
 * column, and taking is made of long copies.
 *
 * The columns of many flows are more places in memory than a cache holds, and each row would fetch its own. So the
 * packets of many flows are copied to a log first, which is one place; when it is full they are sorted by flow, so that
 * a flow's rows, which are neighbours, are written together.
 */
#include <qossim/record.h>

#include <stdlib.h>
#include <string.h>

enum { HOP_COLUMNS = sizeof(qs_hop) / sizeof(int64_t), SHIFT_LEAST = 6, SHIFT_MOST = 11 };

/* The log is for so many flows, and stays within a second-level cache. */
enum { LOG_FLOWS_LEAST = 16, LOG_FLOWS_MOST = 8192, LOG_BYTES = 640 << 10, LOGGED_FROM = offsetof(qs_packet, sent) };

/* Rows first .. first + rows - 1 of a flow. */
typedef struct view {
    uint64_t first;
    uint64_t rows;
    int64_t *sent;
    int64_t *received;
    int32_t *size;
    int16_t *where;
    int8_t *fate;
    qs_hop_columns *hops; /* by hop of the flow's route */
} view;

typedef struct flow_rows {
    view view;
    uint64_t count; /* rows so far */
    uint64_t expected;
    bool exact;
    char **chunks;
    size_t chunk_room;
    unsigned shift;
    uint32_t *route;
    size_t hops;
} flow_rows;

/* Packets, without what comes before LOGGED_FROM: that overlaps the packet before. */
typedef struct packet_log {
    char *packets;   /* NULL: not in use */
    int16_t *where;  /* by packet */
    uint32_t *order; /* of the packets by flow, made when they are written */
    uint32_t *next;  /* by flow, its next place in `order` */
    size_t stride;
    size_t count, room;
} packet_log;

struct qs_recorder {
    flow_rows *flows;
    packet_log log;
    size_t flow_count;
    size_t port_count;
    qs_depot *depot;
    size_t described; /* flows of which something has been expected */
    bool in_place;    /* the views are those of `columns` */
    qs_columns columns;
};

/* ---- Columns ------------------------------------------------------------------------------------------------- */

void qs_columns_fini(qs_columns *columns)
{
    qs_block_free(columns->flow);
    qs_block_free(columns->seq);
    qs_block_free(columns->size);
    qs_block_free(columns->fate);
    qs_block_free(columns->where);
    qs_block_free(columns->sent);
    qs_block_free(columns->received);
    for (size_t port = 0; columns->hops && port < columns->ports; port++) {
        qs_block_free(columns->hops[port].queued);
        qs_block_free(columns->hops[port].ring);
        qs_block_free(columns->hops[port].start);
        qs_block_free(columns->hops[port].end);
    }
    free(columns->hops);
    *columns = (qs_columns){0};
}

static qs_status hop_columns_alloc(qs_hop_columns *hop, size_t rows, qs_depot *depot)
{
    const size_t bytes = rows * sizeof(int64_t);
    hop->queued = qs_block_alloc(depot, bytes);
    hop->ring = qs_block_alloc(depot, bytes);
    hop->start = qs_block_alloc(depot, bytes);
    hop->end = qs_block_alloc(depot, bytes);
    return hop->queued && hop->ring && hop->start && hop->end ? QS_OK : QS_ENOMEM;
}

static qs_status columns_fill(qs_columns *columns, qs_depot *depot)
{
    const size_t rows = columns->rows;
    columns->flow = qs_block_alloc(depot, rows * sizeof *columns->flow);
    columns->seq = qs_block_alloc(depot, rows * sizeof *columns->seq);
    columns->size = qs_block_alloc(depot, rows * sizeof *columns->size);
    columns->fate = qs_block_alloc(depot, rows * sizeof *columns->fate);
    columns->where = qs_block_alloc(depot, rows * sizeof *columns->where);
    columns->sent = qs_block_alloc(depot, rows * sizeof *columns->sent);
    columns->received = qs_block_alloc(depot, rows * sizeof *columns->received);
    columns->hops = calloc(columns->ports ? columns->ports : 1, sizeof *columns->hops);
    if (!(columns->flow && columns->seq && columns->size && columns->fate && columns->where && columns->sent &&
          columns->received && columns->hops))
        return QS_ENOMEM;
    for (size_t port = 0; port < columns->ports; port++)
        if (hop_columns_alloc(&columns->hops[port], rows, depot))
            return QS_ENOMEM;
    return QS_OK;
}

static qs_status columns_alloc(qs_columns *out, uint64_t rows, size_t ports, qs_depot *depot)
{
    if (rows > SIZE_MAX / 2 / sizeof(int64_t))
        return QS_ENOMEM;
    qs_columns columns = {.rows = (size_t)rows, .ports = ports};
    if (columns_fill(&columns, depot)) {
        qs_columns_fini(&columns);
        return QS_ENOMEM;
    }
    *out = columns;
    return QS_OK;
}

/* ---- Create and destroy -------------------------------------------------------------------------------------- */

qs_status qs_recorder_create(qs_recorder **out, size_t flows, size_t ports, qs_depot *depot)
{
    qs_recorder *r = calloc(1, sizeof *r);
    if (!r)
        return QS_ENOMEM;
    r->flows = calloc(flows ? flows : 1, sizeof *r->flows);
    if (!r->flows)
        goto free_recorder;
    r->flow_count = flows;
    r->port_count = ports;
    r->depot = depot;
    *out = r;
    return QS_OK;

free_recorder:
    free(r);
    return QS_ENOMEM;
}

static void empty_flow(flow_rows *flow)
{
    for (size_t i = 0; i < flow->chunk_room; i++)
        free(flow->chunks[i]);
    free(flow->chunks);
    flow->chunks = NULL;
    flow->chunk_room = 0;
    flow->count = flow->view.rows = 0;
}

void qs_recorder_destroy(qs_recorder *r)
{
    if (!r)
        return;
    for (size_t f = 0; f < r->flow_count; f++) {
        empty_flow(&r->flows[f]);
        free(r->flows[f].view.hops);
        free(r->flows[f].route);
    }
    qs_columns_fini(&r->columns);
    free(r->log.next);
    free(r->log.order);
    free(r->log.where);
    free(r->log.packets);
    free(r->flows);
    free(r);
}

/* ---- Before the run ------------------------------------------------------------------------------------------ */

/* The view of all rows of a flow in the final columns, which begin at row `at`. */
static void view_in_place(const qs_columns *columns, flow_rows *flow, size_t at)
{
    view *v = &flow->view;
    v->first = 0;
    v->rows = flow->expected;
    v->sent = columns->sent + at;
    v->received = columns->received + at;
    v->size = columns->size + at;
    v->where = columns->where + at;
    v->fate = columns->fate + at;
    for (size_t hop = 0; hop < flow->hops; hop++) {
        const qs_hop_columns *from = &columns->hops[flow->route[hop]];
        v->hops[hop] = (qs_hop_columns){from->queued + at, from->ring + at, from->start + at, from->end + at};
    }
}

/* When the last flow is described: if all counts are exact, rows can go where they will stay. */
static qs_status try_in_place(qs_recorder *r)
{
    uint64_t rows = 0;
    for (size_t f = 0; f < r->flow_count; f++) {
        if (!r->flows[f].exact || r->flows[f].expected > INT32_MAX)
            return QS_OK;
        rows += r->flows[f].expected;
    }
    const qs_status status = columns_alloc(&r->columns, rows, r->port_count, r->depot);
    if (status)
        return status;
    r->in_place = true;
    size_t at = 0;
    for (size_t f = 0; f < r->flow_count; f++) {
        view_in_place(&r->columns, &r->flows[f], at);
        at += (size_t)r->flows[f].expected;
    }
    return QS_OK;
}

static size_t logged_bytes(size_t hops)
{
    return offsetof(qs_packet, hops) - LOGGED_FROM + hops * sizeof(qs_hop);
}

/* When the last flow is described: a log, if there are many, for no more packets than will come. */
static qs_status try_log(qs_recorder *r)
{
    if (r->flow_count < LOG_FLOWS_LEAST || r->flow_count > LOG_FLOWS_MOST)
        return QS_OK;
    size_t hops = 1;
    uint64_t packets = 1;
    for (size_t f = 0; f < r->flow_count; f++) {
        hops = r->flows[f].hops > hops ? r->flows[f].hops : hops;
        packets += r->flows[f].expected < LOG_BYTES ? r->flows[f].expected : LOG_BYTES;
    }
    const size_t align = _Alignof(qs_packet), stride = (logged_bytes(hops) + align - 1) / align * align;
    const size_t room = LOG_BYTES / stride;
    if (room < r->flow_count)
        return QS_OK;
    packet_log *log = &r->log;
    log->stride = stride;
    log->room = packets < room ? (size_t)packets : room;
    log->where = malloc(log->room * sizeof *log->where);
    log->order = malloc(log->room * sizeof *log->order);
    log->next = malloc((r->flow_count + 1) * sizeof *log->next);
    log->packets = malloc(LOGGED_FROM + log->room * stride);
    return log->where && log->order && log->next && log->packets ? QS_OK : QS_ENOMEM;
}

qs_status qs_recorder_expect(qs_recorder *r, size_t f, const uint32_t *route, size_t hops, uint64_t packets, bool exact)
{
    flow_rows *flow = &r->flows[f];
    flow->route = malloc((hops ? hops : 1) * sizeof *route);
    flow->view.hops = malloc((hops ? hops : 1) * sizeof *flow->view.hops);
    if (!flow->route || !flow->view.hops)
        return QS_ENOMEM;
    memcpy(flow->route, route, hops * sizeof *route);
    flow->hops = hops;
    flow->expected = packets;
    flow->exact = exact;
    flow->shift = SHIFT_LEAST;
    while (flow->shift < SHIFT_MOST && (UINT64_C(1) << flow->shift) < packets)
        flow->shift++;
    if (++r->described < r->flow_count)
        return QS_OK;
    const qs_status status = try_log(r);
    return status ? status : try_in_place(r);
}

/* ---- Writing ------------------------------------------------------------------------------------------------- */

static size_t chunk_bytes(const flow_rows *flow)
{
    const size_t row = (2 + flow->hops * HOP_COLUMNS) * sizeof(int64_t) + sizeof(int32_t) + sizeof(int16_t) + 1;
    return row << flow->shift;
}

/* The view of chunk `index`. */
static void view_chunk(flow_rows *flow, size_t index)
{
    const size_t n = (size_t)1 << flow->shift;
    view *v = &flow->view;
    v->first = (uint64_t)index << flow->shift;
    v->rows = n;
    v->sent = (int64_t *)(void *)flow->chunks[index];
    v->received = v->sent + n;
    int64_t *next = v->received + n;
    for (size_t hop = 0; hop < flow->hops; hop++, next += HOP_COLUMNS * n)
        v->hops[hop] = (qs_hop_columns){next, next + n, next + 2 * n, next + 3 * n};
    v->size = (int32_t *)(void *)next;
    v->where = (int16_t *)(void *)(v->size + n);
    v->fate = (int8_t *)(v->where + n);
}

static qs_status make_room(flow_rows *flow, size_t index)
{
    size_t room = flow->chunk_room ? flow->chunk_room : 8;
    while (room <= index)
        room *= 2;
    char **chunks = realloc(flow->chunks, room * sizeof *chunks);
    if (!chunks)
        return QS_ENOMEM;
    memset(chunks + flow->chunk_room, 0, (room - flow->chunk_room) * sizeof *chunks);
    flow->chunks = chunks;
    flow->chunk_room = room;
    return QS_OK;
}

/* Another chunk than the one that was written to last. */
static qs_status change_view(flow_rows *flow, uint64_t seq)
{
    if (seq >= INT32_MAX)
        return QS_ERANGE;
    const size_t index = (size_t)(seq >> flow->shift);
    if (index >= flow->chunk_room && make_room(flow, index))
        return QS_ENOMEM;
    if (!flow->chunks[index])
        flow->chunks[index] = malloc(chunk_bytes(flow));
    if (!flow->chunks[index])
        return QS_ENOMEM;
    view_chunk(flow, index);
    return QS_OK;
}

static inline void write_hop(const qs_hop_columns *to, size_t i, const qs_hop *hop)
{
    to->queued[i] = hop->queued;
    to->ring[i] = hop->ring;
    to->start[i] = hop->start;
    to->end[i] = hop->end;
}

/* The hops of a packet that has not been received. One that was dropped has none of that port's timestamps. */
static void write_some_hops(const flow_rows *flow, size_t i, const qs_packet *p)
{
    static const qs_hop nowhere = {-1, -1, -1, -1};
    const size_t reached = (size_t)p->hop + (p->fate == QS_INSIDE);
    for (size_t hop = 0; hop < flow->hops; hop++)
        write_hop(&flow->view.hops[hop], i, hop < reached ? &p->hops[hop] : &nowhere);
}

static inline void write_head(flow_rows *flow, size_t i, const qs_packet *p, int where)
{
    const view *v = &flow->view;
    v->sent[i] = p->sent;
    v->received[i] = p->received;
    v->size[i] = (int32_t)p->size;
    v->where[i] = (int16_t)where;
    v->fate[i] = (int8_t)p->fate;
    if (p->seq >= flow->count)
        flow->count = p->seq + 1;
}

/* The row of a received packet, to the flow's view, which has it. */
QS_INLINE void write_received(flow_rows *flow, const qs_packet *p)
{
    const size_t i = (size_t)(p->seq - flow->view.first);
    write_head(flow, i, p, -1);
    const qs_hop *hop = p->hops, *last = hop + p->hop;
    const qs_hop_columns *to = flow->view.hops;
    do
        write_hop(to++, i, hop);
    while (hop++ != last);
}

static QS_NOINLINE qs_status write_other_row(const qs_recorder *r, const qs_packet *p, int where)
{
    flow_rows *flow = &r->flows[p->flow];
    if (p->seq - flow->view.first >= flow->view.rows) {
        if (r->in_place)
            return QS_ESTATE; /* more packets than exactly so many */
        const qs_status status = change_view(flow, p->seq);
        if (status)
            return status;
    }
    if (p->fate == QS_RECEIVED) {
        write_received(flow, p);
        return QS_OK;
    }
    const size_t i = (size_t)(p->seq - flow->view.first);
    write_head(flow, i, p, where);
    write_some_hops(flow, i, p);
    return QS_OK;
}

/* Nearly all packets are received, and then nothing has to be called. */
QS_INLINE qs_status write_row(const qs_recorder *r, const qs_packet *p, int where)
{
    flow_rows *flow = &r->flows[p->flow];
    if (QS_UNLIKELY(p->fate != QS_RECEIVED || p->seq - flow->view.first >= flow->view.rows))
        return write_other_row(r, p, where);
    write_received(flow, p);
    return QS_OK;
}

static qs_packet *logged_packet(const packet_log *log, size_t i)
{
    return (qs_packet *)(void *)(log->packets + i * log->stride);
}

/* Puts the packets in order of flow, and those of a flow as they came. */
static void sort_log(const packet_log *log, size_t flows)
{
    memset(log->next, 0, (flows + 1) * sizeof *log->next);
    for (size_t i = 0; i < log->count; i++)
        log->next[logged_packet(log, i)->flow + 1]++;
    for (size_t f = 0; f < flows; f++)
        log->next[f + 1] += log->next[f];
    for (size_t i = 0; i < log->count; i++)
        log->order[log->next[logged_packet(log, i)->flow]++] = (uint32_t)i;
}

/* Writes all packets of the log where they belong. After a failure they are still in it. */
static qs_status empty_log(qs_recorder *r)
{
    packet_log *log = &r->log;
    sort_log(log, r->flow_count);
    for (size_t i = 0; i < log->count; i++) {
        const size_t next = log->order[i];
        const qs_status status = write_row(r, logged_packet(log, next), log->where[next]);
        if (status)
            return status;
    }
    log->count = 0;
    return QS_OK;
}

static QS_NOINLINE qs_status write_to_log(qs_recorder *r, const qs_packet *p, int where)
{
    packet_log *log = &r->log;
    if (QS_UNLIKELY(log->count == log->room)) {
        const qs_status status = empty_log(r);
        if (status)
            return status;
    }
    const size_t i = log->count++;
    qs_packet *copy = logged_packet(log, i); /* field by field: some have only just been stored to */
    copy->sent = p->sent;
    copy->received = p->received;
    copy->seq = p->seq;
    copy->flow = p->flow;
    copy->size = p->size;
    copy->hop = p->hop;
    copy->fate = p->fate;
    for (size_t hop = 0; hop <= p->hop; hop++)
        copy->hops[hop] = p->hops[hop];
    log->where[i] = (int16_t)where;
    return QS_OK;
}

qs_status qs_recorder_write(qs_recorder *r, const qs_packet *p, int where)
{
    return r->log.packets ? write_to_log(r, p, where) : write_row(r, p, where);
}

/* ---- Taking -------------------------------------------------------------------------------------------------- */

static bool on_route(const flow_rows *flow, size_t port)
{
    for (size_t hop = 0; hop < flow->hops; hop++)
        if (flow->route[hop] == port)
            return true;
    return false;
}

/* What is the same for all rows of a flow, which begin at row `at`. */
static void fill_flow(const qs_columns *out, const flow_rows *flow, size_t f, size_t at)
{
    const size_t rows = (size_t)flow->count;
    for (size_t i = 0; i < rows; i++)
        out->flow[at + i] = (int32_t)f;
    for (size_t i = 0; i < rows; i++)
        out->seq[at + i] = (int32_t)i;
    for (size_t port = 0; port < out->ports; port++) {
        if (on_route(flow, port))
            continue;
        memset(out->hops[port].queued + at, 0xFF, rows * sizeof(int64_t));
        memset(out->hops[port].ring + at, 0xFF, rows * sizeof(int64_t));
        memset(out->hops[port].start + at, 0xFF, rows * sizeof(int64_t));
        memset(out->hops[port].end + at, 0xFF, rows * sizeof(int64_t));
    }
}

/* Copies `rows` rows of the flow's view to row `at` of the columns. */
static void copy_view(const qs_columns *out, const flow_rows *flow, size_t at, size_t rows)
{
    const view *v = &flow->view;
    memcpy(out->sent + at, v->sent, rows * sizeof *v->sent);
    memcpy(out->received + at, v->received, rows * sizeof *v->received);
    memcpy(out->size + at, v->size, rows * sizeof *v->size);
    memcpy(out->where + at, v->where, rows * sizeof *v->where);
    memcpy(out->fate + at, v->fate, rows * sizeof *v->fate);
    for (size_t hop = 0; hop < flow->hops; hop++) {
        const qs_hop_columns *to = &out->hops[flow->route[hop]], *from = &v->hops[hop];
        memcpy(to->queued + at, from->queued, rows * sizeof *from->queued);
        memcpy(to->ring + at, from->ring, rows * sizeof *from->ring);
        memcpy(to->start + at, from->start, rows * sizeof *from->start);
        memcpy(to->end + at, from->end, rows * sizeof *from->end);
    }
}

/* A chunk is freed as soon as it has been copied. */
static void gather_flow(const qs_columns *out, flow_rows *flow, size_t at)
{
    const uint64_t n = UINT64_C(1) << flow->shift;
    for (uint64_t done = 0; done < flow->count; done += n) {
        const size_t index = (size_t)(done >> flow->shift);
        view_chunk(flow, index);
        copy_view(out, flow, at + (size_t)done, (size_t)(flow->count - done < n ? flow->count - done : n));
        free(flow->chunks[index]);
        flow->chunks[index] = NULL;
    }
}

qs_status qs_recorder_take(qs_recorder *r, qs_columns *out)
{
    qs_status status = r->log.packets ? empty_log(r) : QS_OK;
    if (status)
        return status;
    uint64_t rows = 0;
    for (size_t f = 0; f < r->flow_count; f++)
        rows += r->flows[f].count;
    if (r->in_place && rows != r->columns.rows)
        return QS_ESTATE; /* fewer packets than exactly so many */
    if (!r->in_place) {
        status = columns_alloc(&r->columns, rows, r->port_count, r->depot);
        if (status)
            return status;
    }
    size_t at = 0;
    for (size_t f = 0; f < r->flow_count; f++) {
        flow_rows *flow = &r->flows[f];
        fill_flow(&r->columns, flow, f, at);
        if (!r->in_place)
            gather_flow(&r->columns, flow, at);
        at += (size_t)flow->count;
        empty_flow(flow);
    }
    *out = r->columns;
    r->columns = (qs_columns){0};
    r->in_place = false;
    return QS_OK;
}
