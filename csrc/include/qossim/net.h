/* SPDX-License-Identifier: MIT */
/*
 * Net: flows, ports and routes as one simulation, and the loop that runs it.
 *
 *     qs_sim_create, qs_sim_add_port ..., qs_sim_add_flow ..., [qs_sim_trace ...], qs_sim_run, ask, qs_sim_destroy
 *
 * One simulation, one thread; any number of simulations side by side.
 */
#ifndef QOSSIM_NET_H
#define QOSSIM_NET_H

#include <qossim/engine.h>
#include <qossim/record.h>
#include <qossim/sched.h>
#include <qossim/source.h>
#include <qossim/stats.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct qs_sim qs_sim;

typedef enum qs_record {
    QS_RECORD_NONE,    /* counters only */
    QS_RECORD_SUMMARY, /* and streaming statistics by flow */
    QS_RECORD_PACKETS, /* and every timestamp of every packet; statistics come from those */
} qs_record;

typedef struct qs_sim_config {
    qs_time duration; /* sources send packets with sent < duration */
    qs_time warmup;   /* packets sent before it are in no statistic and no count */
    bool cut;         /* stop at `duration` instead of letting the run drain */
    qs_record record;
    qs_depot *depot; /* where columns come from and go back to; may be NULL; outlives the simulation */
} qs_sim_config;

/* A traffic class. Names and arrays are copied; arrays inside specs are borrowed until qs_sim_destroy. */
typedef struct qs_class_spec {
    const char *name;
    uint64_t match;           /* bit d set: packets of DSCP d */
    const char *const *flows; /* or packets of these flows, by name */
    size_t flow_count;
    qs_share share;
    const qs_spec *queue;   /* NULL: unlimited */
    const qs_spec *policer; /* NULL: none */
} qs_class_spec;

typedef struct qs_port_spec {
    const char *name;
    qs_ratio rate;          /* bit/s */
    const qs_spec *framing; /* NULL: the IP bytes alone */
    const qs_spec *scheduler;
    const qs_spec *ring; /* NULL: none */
    qs_time propagation;
    const qs_class_spec *classes; /* none: one unlimited FIFO class */
    size_t class_count;
} qs_port_spec;

typedef struct qs_flow_spec {
    const char *name;
    const qs_spec *source;    /* with `ops`, settings for its parameters, or NULL */
    const qs_source_ops *ops; /* a source of your own, or NULL: the one that `source` names */
    unsigned dscp;            /* 0 .. 63 */
    const uint32_t *route;    /* indices of ports, in order; each once */
    size_t hops;
    qs_time start;
    qs_time stop;      /* packets with sent < stop; QS_NEVER: no stop */
    const qs_rng *rng; /* the flow's random stream; copied; NULL if the source draws nothing */
} qs_flow_spec;

/* Counts over packets sent at or after warm-up. sent = received + dropped by reason + inside. */
typedef struct qs_flow_counts {
    uint64_t sent;
    uint64_t fates[QS_FATES];
    uint64_t sent_bytes;
    uint64_t received_bytes;
    uint64_t delivered_bytes; /* of those received before `duration`: the throughput */
    uint64_t loss_periods; /* longest possible runs of packets that were lost one after the other (RFC 3357) */
    uint64_t longest_loss; /* packets in the longest of them */
} qs_flow_counts;

typedef struct qs_class_counts {
    /* Under the length of the queue over [warmup, duration], in picoseconds times packets: divided by that time it is
     * the mean queue. It counts what stands when an instant is over, of any age. */
    qs_u128 queue_area;
    uint64_t offered;
    uint64_t offered_bytes;
    uint64_t sent; /* last bit on the wire */
    uint64_t sent_bytes;
    uint64_t dropped_queue;
    uint64_t dropped_policer;
    uint64_t inside;        /* offered, and neither sent nor dropped when the run ended */
    uint64_t largest_queue; /* packets waiting when an instant was over, from warm-up on (of any age) */
    uint64_t largest_queue_bytes;
} qs_class_counts;

typedef struct qs_port_counts {
    qs_u128 ring_area;     /* under the particles in use, as queue_area */
    uint64_t largest_ring; /* particles in use when an instant was over, from warm-up on; 0 without a ring */
    qs_time busy;          /* picoseconds of [warmup, duration) in which the wire was sending */
    uint64_t sent;
    uint64_t sent_bytes;
    uint64_t wire_bits; /* of those sent, with framing */
    size_t class_count;
} qs_port_counts;

/* ---- Build ------------------------------------------------------------------------------------------------- */

qs_status qs_sim_create(qs_sim **out, const qs_sim_config *config) QS_NODISCARD;
void qs_sim_destroy(qs_sim *sim);

/* Ports first, then flows. Each gets the next index. */
qs_status qs_sim_add_port(qs_sim *sim, const qs_port_spec *spec) QS_NODISCARD;
qs_status qs_sim_add_flow(qs_sim *sim, const qs_flow_spec *spec) QS_NODISCARD;

/* The sentence that belongs to the latest failure of a function above or below. */
const char *qs_sim_error(const qs_sim *sim);

/* ---- Trace sources ----------------------------------------------------------------------------------------- */

typedef enum qs_trace_kind {
    QS_TRACE_QUEUED,   /* entered a class queue (it may yet be dropped in the same instant) */
    QS_TRACE_DROPPED,  /* by policer or queue: see p->fate */
    QS_TRACE_RING,     /* handed to the ring */
    QS_TRACE_START,    /* first bit on the wire */
    QS_TRACE_END,      /* last bit on the wire */
    QS_TRACE_RECEIVED, /* at the far end of the last port of its route */
    QS_TRACE_KINDS,
} qs_trace_kind;

/* Told of a packet at `now`, in order of time. The packet is the simulation's; read it, keep no pointer to it. */
typedef void (*qs_trace_fn)(void *context, qs_time now, const qs_packet *p);

/* Attaches a callback, before the run. Any number of them; they are called in order of attachment. */
qs_status qs_sim_trace(qs_sim *sim, size_t port, qs_trace_kind kind, qs_trace_fn fn, void *context) QS_NODISCARD;

/* ---- Run --------------------------------------------------------------------------------------------------- */

/*
 * Simulates about `budget` events (0: all) and says in `done` (may be NULL) whether the run is over. The first call
 * builds what is left to build; QS_EINVAL and QS_ERANGE come only from that, QS_ENOMEM at any time; after a failure
 * the simulation can only be asked for its error and destroyed.
 */
qs_status qs_sim_advance(qs_sim *sim, uint64_t budget, bool *done) QS_NODISCARD;

/* All of it. */
qs_status qs_sim_run(qs_sim *sim) QS_NODISCARD;

/* The last instant at a port that was simulated; receptions ahead of time do not count. */
qs_time qs_sim_now(const qs_sim *sim);

/* ---- Ask, when the run is over ----------------------------------------------------------------------------- */

size_t qs_sim_flow_count(const qs_sim *sim);
size_t qs_sim_port_count(const qs_sim *sim);
const qs_flow_counts *qs_sim_flow_counts(const qs_sim *sim, size_t flow);
const qs_port_counts *qs_sim_port_counts(const qs_sim *sim, size_t port);
const qs_class_counts *qs_sim_class_counts(const qs_sim *sim, size_t port, size_t c);

/* With QS_RECORD_SUMMARY, else NULL. */
const qs_summary *qs_sim_summary(const qs_sim *sim, size_t flow);

/* The ports of a flow's route. */
const uint32_t *qs_sim_route(const qs_sim *sim, size_t flow, size_t *hops);

/* With QS_RECORD_PACKETS, once, else QS_ESTATE: every packet. See qs_recorder_take. */
qs_status qs_sim_take(qs_sim *sim, qs_columns *out) QS_NODISCARD;

#ifdef __cplusplus
}
#endif

#endif
