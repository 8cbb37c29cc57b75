/* SPDX-License-Identifier: MIT */
/*
 * Engine: what every station stands on. The clock and exact ratios, status codes, the tables by which components
 * describe their parameters, random streams, and the packet.
 */
#ifndef QOSSIM_ENGINE_H
#define QOSSIM_ENGINE_H

#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define QS_VERSION "0.1.0"

#if defined(__GNUC__)
#define QS_NODISCARD __attribute__((warn_unused_result))
#define QS_PRINTF(text, first) __attribute__((format(printf, text, first)))
#define QS_INLINE static inline __attribute__((always_inline)) /* on the path of every packet */
#define QS_NOINLINE __attribute__((noinline)) /* beside that path, so that it need not save registers */
#define QS_LIKELY(x) __builtin_expect(!!(x), 1)
#define QS_UNLIKELY(x) __builtin_expect(!!(x), 0)
#else
#error "qossim needs GCC or Clang (it uses 128-bit integers)"
#endif

__extension__ typedef unsigned __int128 qs_u128;
__extension__ typedef __int128 qs_i128;

/* ---- Clock ------------------------------------------------------------------------------------------------- */

/* Picoseconds since the run began. The last instant of the clock is QS_NEVER - 1, 106.75 days in. */
typedef int64_t qs_time;

#define QS_NEVER INT64_MAX
#define QS_SECOND INT64_C(1000000000000)

/* An exact non-negative number: whole + part / per, with part < per. */
typedef struct qs_ratio {
    uint64_t whole;
    uint64_t part;
    uint64_t per;
} qs_ratio;

#define QS_INT(n) ((qs_ratio){(n), 0, 1})
#define QS_OVER(n, d) ((qs_ratio){(n) / (d), (n) % (d), (d)})

/* The nearest double; for messages and bounds, never for time. */
double qs_ratio_double(qs_ratio r);

/* ---- Status ------------------------------------------------------------------------------------------------ */

#define QS_STATUSES(X)                                                                                                 \
    X(QS_OK, 0, "no error")                                                                                            \
    X(QS_ENOMEM, -1, "out of memory")                                                                                  \
    X(QS_EINVAL, -2, "a parameter is unknown, missing or out of its bounds")                                           \
    X(QS_ERANGE, -3, "a number is too large, or has too many digits, for the clock")                                   \
    X(QS_ESTATE, -4, "called at a moment when it cannot be")

typedef enum qs_status {
#define QS__ENUM(code, number, text) code = (number),
    QS_STATUSES(QS__ENUM)
#undef QS__ENUM
} qs_status;

/* The code's name ("QS_ENOMEM") and a phrase for it; both static, never NULL. */
const char *qs_status_name(qs_status status);
const char *qs_status_text(qs_status status);

/* The sentence that goes with a build error: which thing, which value, which bounds. */
typedef struct qs_error {
    char text[320];
} qs_error;

/* Writes the sentence into `why` (may be NULL) and returns `status`, so that it can end a function. */
qs_status qs_error_set(qs_error *why, qs_status status, const char *format, ...) QS_PRINTF(3, 4);

/* ---- Components and their parameters ----------------------------------------------------------------------- */

/* A parameter that has no default: it may be left out (QS_NONE), or may not (QS_REQUIRED). */
#define QS_NONE ((double)NAN)
#define QS_REQUIRED ((double)-INFINITY)

/*
 * One row of a component's table. `unit` is a unit ("bit/s", "byte", "ps", ""), the allowed words of a choice with
 * bars between them ("overshoot|strict"; the default is then the word's index), or "array" (64-bit integers).
 * A table ends with a row without a name.
 */
typedef struct qs_param {
    const char *name;
    const char *unit;
    double min, max;
    double fallback;
    const char *meaning;
    bool fraction; /* need not be a whole number */
} qs_param;

/* What a user says about one parameter: a number, a word, or an array that outlives the simulation. */
typedef struct qs_setting {
    const char *name;
    qs_ratio value;
    const char *word;
    const int64_t *array;
    size_t count;
} qs_setting;

/* A component by name, with its settings: {"scfq", settings, 1}. */
typedef struct qs_spec {
    const char *kind;
    const qs_setting *settings;
    size_t count;
} qs_spec;

/* A parameter as a component's init sees it: checked, in the order of its table. A choice has its index in `value`. */
typedef struct qs_value {
    bool given; /* said by the user, or filled in from the default */
    qs_ratio value;
    const int64_t *array;
    size_t count;
} qs_value;

#define QS_PARAMS_MAX 8 /* rows in any table, so that values live on the stack */

/*
 * Checks the settings of `spec` against `params` and fills `values`, one per row. `owner` begins the error's
 * sentence. QS_EINVAL for an unknown name or word, a missing required one, a value outside its bounds.
 */
qs_status qs_params_read(const qs_param *params, const qs_spec *spec, qs_value values[QS_PARAMS_MAX], const char *owner,
                         qs_error *why) QS_NODISCARD;

/* ---- Random streams ---------------------------------------------------------------------------------------- */

/* A bit generator by its functions; laid out as NumPy's bitgen_t, so that one can be passed as it is. */
typedef struct qs_rng {
    void *state;
    uint64_t (*next_uint64)(void *state);
    uint32_t (*next_uint32)(void *state);
    double (*next_double)(void *state);
    uint64_t (*next_raw)(void *state);
} qs_rng;

/* PCG64 (O'Neill 2014, XSL-RR 128/64), for programs without a generator of their own. */
typedef struct qs_pcg64 {
    qs_u128 state;
    qs_u128 increment;
} qs_pcg64;

/* Seeds `pcg`; streams of different `stream` are independent for the same `seed`. Returns its interface. */
qs_rng qs_pcg64_init(qs_pcg64 *pcg, uint64_t seed, uint64_t stream);

/* Uniform on 0 .. n-1 by one 64-bit draw: floor(raw * n / 2^64). n of 0 gives 0. */
static inline uint64_t qs_rng_below(const qs_rng *rng, uint64_t n)
{
    return (uint64_t)(((qs_u128)rng->next_uint64(rng->state) * n) >> 64);
}

/* Natural logarithm of x in (0, 1], from +, -, *, / alone: the same bits on every IEEE 754 machine, within 2 ulp. */
double qs_log(double x);

/* Exponential with mean 1, by inversion of one 64-bit draw. */
double qs_rng_exponential(const qs_rng *rng);

/* ---- Blocks of memory ---------------------------------------------------------------------------------------- */

/*
 * Blocks are for columns. The first touch of fresh memory, which the system clears, can cost as much as what is
 * written there; so a depot keeps blocks that have been freed, up to a number of bytes, for those that come next. It
 * may be shared by simulations on any threads.
 */
typedef struct qs_depot qs_depot;

qs_status qs_depot_create(qs_depot **out, size_t keep_bytes) QS_NODISCARD;

/* Lets go of the depot and what it keeps. Blocks that are still out stay valid, and are freed for good when they are.
 */
void qs_depot_destroy(qs_depot *depot);

/* A block of at least `bytes`, with undefined contents, aligned for any column; NULL when memory is out. */
void *qs_block_alloc(qs_depot *depot, size_t bytes); /* depot may be NULL */
void qs_block_free(void *memory);                    /* NULL is allowed */

/* ---- Packet ------------------------------------------------------------------------------------------------ */

/* Where a packet ended. The order is part of the interface (the fate column). */
typedef enum qs_fate {
    QS_INSIDE,
    QS_RECEIVED,
    QS_DROPPED_QUEUE,
    QS_DROPPED_POLICER,
    QS_FATES,
} qs_fate;

/* The timestamps of one packet at one port; -1 where it has not come so far. */
typedef struct qs_hop {
    qs_time queued;
    qs_time ring;
    qs_time start;
    qs_time end;
} qs_hop;

/* A scheduler's tag: high + low / 2^64. */
typedef struct qs_tag {
    qs_u128 high;
    uint64_t low;
} qs_tag;

/*
 * A packet on its way, and its whole history. It stands in one list at a time (class queue, ring or propagation
 * line), whose link is `next`; `tag` and `newer`/`older` are the scheduler's while it stands in a class queue.
 */
typedef struct qs_packet {
    union {
        qs_tag tag;
        struct {
            struct qs_packet *newer, *older;
        };
    };
    struct qs_packet *next;
    struct qs_packet *before; /* the one ahead of it in its class queue */
    qs_time sent;
    qs_time received; /* -1 until it is known */
    uint64_t seq;
    uint32_t flow;
    uint32_t size;      /* bytes of the IP datagram */
    uint32_t wire_bits; /* at the port where it is */
    uint32_t particles; /* at the port where it is, once in the ring */
    uint16_t klass;     /* class at the port where it is */
    uint16_t hop;       /* index into its flow's route */
    uint8_t fate;       /* a qs_fate */
    qs_hop hops[];      /* one per port of the longest route */
} qs_packet;

#ifdef __cplusplus
}
#endif

#endif
