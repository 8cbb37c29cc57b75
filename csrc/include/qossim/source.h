/* SPDX-License-Identifier: MIT */
/*
 * Source: where packets are born. A source is a state machine that answers one question: when does the next packet
 * leave, and how large is it? It never sees the event loop.
 */
#ifndef QOSSIM_SOURCE_H
#define QOSSIM_SOURCE_H

#include <qossim/engine.h>

#ifdef __cplusplus
extern "C" {
#endif

/* One departure, of 1 to QS_SIZE_MAX bytes, not in the past. `at` is QS_NEVER when the source has no more to say (a
 * source that listens may have later). */
typedef struct qs_departure {
    qs_time at;
    uint32_t size;
} qs_departure;

typedef struct qs_expectation {
    uint64_t packets;
    bool exact;
} qs_expectation;

/* What a source's init is given besides its parameters. */
typedef struct qs_source_setup {
    const qs_value *values;
    const qs_rng *rng; /* the flow's stream, or NULL; to be copied */
    qs_time start;     /* when the flow is switched on */
    const char *flow;
    qs_error *why;
} qs_source_setup;

typedef struct qs_source_ops {
    const char *name;
    const char *summary;
    const qs_param *params;
    size_t state_size;

    qs_status (*init)(void *state, const qs_source_setup *setup);
    void (*fini)(void *state); /* or NULL */

    /* The next departure; times never run backward. */
    qs_departure (*next)(void *state);

    /* Before the first departure: how many packets will leave before `until`, and whether it will be just so many. */
    qs_expectation (*expect)(const void *state, qs_time until);

    /*
     * For sources that listen (closed loops), else NULL: the fate of one of its packets, told at `now`, in order of
     * time. When the instant is over, a source with nothing pending is asked for a departure; one at `now` itself makes
     * an instant of its own, as if it came a little later.
     */
    void (*told)(void *state, const qs_packet *p, qs_fate fate, qs_time now);
} qs_source_ops;

typedef struct qs_source {
    const qs_source_ops *ops;
    void *state;
} qs_source;

/* Builds the source that `spec` names. Open-loop kinds: "cbr", "poisson", "trace". */
qs_status qs_source_init(qs_source *source, const qs_spec *spec, const qs_source_setup *setup) QS_NODISCARD;

/* The same from a source of your own; `state` is allocated, of the size that ops gives. */
qs_status qs_source_init_ops(qs_source *source, const qs_source_ops *ops, const qs_spec *spec,
                             const qs_source_setup *setup) QS_NODISCARD;
void qs_source_fini(qs_source *source);

QS_INLINE qs_departure qs_source_next(qs_source *source)
{
    return source->ops->next(source->state);
}

/* Registry, ended by NULL. */
extern const qs_source_ops *const qs_sources[];
extern const qs_source_ops qs_source_cbr, qs_source_poisson, qs_source_trace;

/* ---- Packet sizes, shared by sources ----------------------------------------------------------------------- */

/* One size, or several with cumulative integer weights (borrowed arrays). */
typedef struct qs_sizes {
    uint32_t one; /* 0: draw from the arrays */
    const int64_t *sizes;
    const int64_t *cumulative;
    size_t count;
} qs_sizes;

/* Reads the parameters "size" | "sizes" and "weights", in that order from `values`. */
qs_status qs_sizes_init(qs_sizes *sizes, const qs_value values[3], const qs_source_setup *setup) QS_NODISCARD;

/* One of several sizes, by one 64-bit draw. */
uint32_t qs_sizes_choose(const qs_sizes *sizes, const qs_rng *rng);

/* The next size. */
QS_INLINE uint32_t qs_sizes_draw(const qs_sizes *sizes, const qs_rng *rng)
{
    return sizes->one ? sizes->one : qs_sizes_choose(sizes, rng);
}

#ifdef __cplusplus
}
#endif

#endif
