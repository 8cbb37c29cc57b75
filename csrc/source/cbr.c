/* SPDX-License-Identifier: MIT */
/*
 * Constant bit rate: packet k leaves at start + phase + floor(k * interval), and later by a jitter of its own. The
 * fraction of a picosecond is carried as an integer, so that no packet of the longest run is off by one. A packet's
 * jitter is drawn, then its size.
 */
#include <qossim/source.h>

#include <inttypes.h>

typedef struct cbr_state {
    qs_time at;
    qs_ratio interval;
    uint64_t carry; /* fraction of a picosecond by which the exact time is later than `at`, in 1 / interval.per */
    uint64_t jitter;
    qs_sizes sizes;
    qs_rng rng;
} cbr_state;

enum { CBR_INTERVAL, CBR_PHASE, CBR_RANDOM, CBR_JITTER, CBR_SIZE, CBR_SIZES, CBR_WEIGHTS };

static const qs_param cbr_params[] = {
    {"interval", "ps", 1, 9.2e18, QS_REQUIRED, "time from one packet to the next", true},
    {"phase", "ps", 0, 9.2e18, 0, "from the flow's start to its first packet"},
    {"random", "", 0, 1, 0, "1: the phase is drawn, uniformly over one interval in whole picoseconds"},
    {"jitter", "ps", 0, 9.2e18, 0, "a packet is late by less, uniformly in whole picoseconds; at most one interval"},
    {"size", "byte", 1, 65535, QS_NONE, "IP datagram, if all are of one size"},
    {"sizes", "array", 0, 0, QS_NONE, "sizes to draw from"},
    {"weights", "array", 0, 0, QS_NONE, "their cumulative weights"},
    {0},
};

/* Uniform over 0 .. span - 1. */
static uint64_t draw(const qs_rng *rng, uint64_t span)
{
    return (uint64_t)((qs_u128)(rng->next_uint64(rng->state) >> 11) * span >> 53);
}

static qs_status cbr_init(void *state, const qs_source_setup *setup)
{
    cbr_state *cbr = state;
    const qs_value *v = setup->values;
    const qs_status status = qs_sizes_init(&cbr->sizes, &v[CBR_SIZE], setup);
    if (status)
        return status;
    const bool random = v[CBR_RANDOM].value.whole;
    cbr->interval = v[CBR_INTERVAL].value;
    cbr->jitter = v[CBR_JITTER].value.whole;
    if (cbr->jitter > cbr->interval.whole) /* or packets would overtake each other */
        return qs_error_set(setup->why, QS_EINVAL,
                            "flow \"%s\": jitter is %" PRIu64 " ps, must be at most the interval, %" PRIu64 " ps",
                            setup->flow, cbr->jitter, cbr->interval.whole);
    if (setup->rng)
        cbr->rng = *setup->rng;
    else if (random || cbr->jitter)
        return qs_error_set(setup->why, QS_EINVAL, "flow \"%s\": a random %s needs a random stream", setup->flow,
                            random ? "phase" : "jitter");
    const uint64_t phase = random ? draw(&cbr->rng, cbr->interval.whole) : v[CBR_PHASE].value.whole;
    cbr->at = phase < (uint64_t)(QS_NEVER - setup->start) ? setup->start + (qs_time)phase : QS_NEVER;
    return QS_OK;
}

static inline qs_departure depart(cbr_state *cbr, uint32_t size)
{
    const qs_departure departure = {cbr->at, size};
    qs_time step = (qs_time)cbr->interval.whole;
    if (cbr->interval.part) {
        cbr->carry += cbr->interval.part;
        if (cbr->carry >= cbr->interval.per) {
            cbr->carry -= cbr->interval.per;
            step++;
        }
    }
    if (QS_UNLIKELY(__builtin_add_overflow(cbr->at, step, &cbr->at)))
        cbr->at = QS_NEVER;
    return departure;
}

static qs_departure depart_at_random(cbr_state *cbr)
{
    qs_departure departure = depart(cbr, 0);
    const qs_time late = cbr->jitter ? (qs_time)draw(&cbr->rng, cbr->jitter) : 0;
    if (__builtin_add_overflow(departure.at, late, &departure.at))
        departure.at = QS_NEVER;
    departure.size = qs_sizes_draw(&cbr->sizes, &cbr->rng);
    return departure;
}

static qs_departure cbr_next(void *state)
{
    cbr_state *cbr = state;
    if (QS_UNLIKELY(cbr->at == QS_NEVER))
        return (qs_departure){QS_NEVER, 0};
    return cbr->sizes.one && !cbr->jitter ? depart(cbr, cbr->sizes.one) : depart_at_random(cbr);
}

/* Packets k with floor(k * interval) < span: as many as span / interval, rounded up; the last of them may be late. */
static qs_expectation cbr_expect(const void *state, qs_time until)
{
    const cbr_state *cbr = state;
    if (cbr->at >= until)
        return (qs_expectation){0, true};
    const qs_u128 interval = (qs_u128)cbr->interval.whole * cbr->interval.per + cbr->interval.part;
    const qs_u128 span = (qs_u128)(until - cbr->at) * cbr->interval.per;
    return (qs_expectation){(uint64_t)((span + interval - 1) / interval), !cbr->jitter};
}

const qs_source_ops qs_source_cbr = {
    .name = "cbr",
    .summary = "Constant bit rate",
    .params = cbr_params,
    .state_size = sizeof(cbr_state),
    .init = cbr_init,
    .next = cbr_next,
    .expect = cbr_expect,
};
