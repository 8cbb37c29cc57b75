/* SPDX-License-Identifier: MIT */
/*
 * Recorder: every packet, written down when it is done with, in columns whose rows are in order of (flow, seq) and
 * which are then given away. Where it is known in advance how many packets each flow sends, rows are written where
 * they stay; else they stand in chunks by flow while the run goes on and are gathered once.
 */
#ifndef QOSSIM_RECORD_H
#define QOSSIM_RECORD_H

#include <qossim/engine.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct qs_recorder qs_recorder;

/* One port's timestamps of every row; -1 where a packet never got there. */
typedef struct qs_hop_columns {
    int64_t *queued;
    int64_t *ring;
    int64_t *start;
    int64_t *end;
} qs_hop_columns;

/* All rows. Each column is a block of its own: free it with qs_block_free. */
typedef struct qs_columns {
    size_t rows;
    size_t ports;
    int32_t *flow;
    int32_t *seq;
    int32_t *size;
    int8_t *fate;
    int16_t *where; /* the port where the packet was dropped or is inside; -1 if it was received */
    int64_t *sent;
    int64_t *received;
    qs_hop_columns *hops; /* one per port */
} qs_columns;

/* A recorder of `flows` flows over `ports` ports. The depot, which may be NULL, outlives it. */
qs_status qs_recorder_create(qs_recorder **out, size_t flows, size_t ports, qs_depot *depot) QS_NODISCARD;
void qs_recorder_destroy(qs_recorder *r);

/* Before the run, for every flow: it takes `route`, and will send about, or exactly, `packets` packets. */
qs_status qs_recorder_expect(qs_recorder *r, size_t flow, const uint32_t *route, size_t hops, uint64_t packets,
                             bool exact) QS_NODISCARD;

/*
 * Writes down `p`, which is done with; `where` is its port, or -1 if received. Each packet once, in any order.
 * QS_ENOMEM when a chunk cannot be had, QS_ERANGE past 2^31 - 1 packets of a flow, QS_ESTATE past an exact number.
 */
qs_status qs_recorder_write(qs_recorder *r, const qs_packet *p, int where) QS_NODISCARD;

/*
 * Gathers all rows into `out`, and empties the recorder. On failure `out` is untouched and nothing is lost: QS_ENOMEM,
 * or QS_ESTATE when exact numbers of packets were expected and fewer were written.
 */
qs_status qs_recorder_take(qs_recorder *r, qs_columns *out) QS_NODISCARD;

/* Frees what is left in `columns` (pointers that were given away are to be set to NULL before). */
void qs_columns_fini(qs_columns *columns);

#ifdef __cplusplus
}
#endif

#endif
