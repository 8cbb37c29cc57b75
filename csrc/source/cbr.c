/* SPDX-License-Identifier: MIT */
/*
 * Constant bit rate: packet k leaves at start + phase + floor(k * interval). The fraction of a picosecond is carried
 * as an integer, so that no packet of the longest run is off by one.
 */
#include <qossim/source.h>

typedef struct cbr_state {
    qs_time at;
    qs_ratio interval;
    uint64_t carry; /* fraction of a picosecond by which the exact time is later than `at`, in 1 / interval.per */
    qs_sizes sizes;
    qs_rng rng;
} cbr_state;

enum { CBR_INTERVAL, CBR_PHASE, CBR_RANDOM, CBR_SIZE, CBR_SIZES, CBR_WEIGHTS };

static const qs_param cbr_params[] = {
    {"interval", "ps", 1, 9.2e18, QS_REQUIRED, "time from one packet to the next", true},
    {"phase", "ps", 0, 9.2e18, 0, "from the flow's start to its first packet"},
    {"random", "", 0, 1, 0, "1: the phase is drawn, uniformly over one interval in whole picoseconds"},
    {"size", "byte", 1, 65535, QS_NONE, "IP datagram, if all are of one size"},
    {"sizes", "array", 0, 0, QS_NONE, "sizes to draw from"},
    {"weights", "array", 0, 0, QS_NONE, "their cumulative weights"},
    {0},
};

static qs_status cbr_init(void *state, const qs_source_setup *setup)
{
    cbr_state *cbr = state;
    const qs_value *v = setup->values;
    const qs_status status = qs_sizes_init(&cbr->sizes, &v[CBR_SIZE], setup);
    if (status)
        return status;
    if (setup->rng)
        cbr->rng = *setup->rng;
    uint64_t phase = v[CBR_PHASE].value.whole;
    if (v[CBR_RANDOM].value.whole) {
        if (!setup->rng)
            return qs_error_set(setup->why, QS_EINVAL, "flow \"%s\": a random phase needs a random stream",
                                setup->flow);
        const uint64_t u = setup->rng->next_uint64(setup->rng->state) >> 11;
        phase = (uint64_t)((qs_u128)u * v[CBR_INTERVAL].value.whole >> 53);
    }
    cbr->interval = v[CBR_INTERVAL].value;
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

static qs_departure depart_with_drawn_size(cbr_state *cbr)
{
    return depart(cbr, qs_sizes_draw(&cbr->sizes, &cbr->rng));
}

static qs_departure cbr_next(void *state)
{
    cbr_state *cbr = state;
    if (QS_UNLIKELY(cbr->at == QS_NEVER))
        return (qs_departure){QS_NEVER, 0};
    return cbr->sizes.one ? depart(cbr, cbr->sizes.one) : depart_with_drawn_size(cbr);
}

/* Packets k with floor(k * interval) < span: as many as span / interval, rounded up. */
static qs_expectation cbr_expect(const void *state, qs_time until)
{
    const cbr_state *cbr = state;
    if (cbr->at >= until)
        return (qs_expectation){0, true};
    const qs_u128 interval = (qs_u128)cbr->interval.whole * cbr->interval.per + cbr->interval.part;
    const qs_u128 span = (qs_u128)(until - cbr->at) * cbr->interval.per;
    return (qs_expectation){(uint64_t)((span + interval - 1) / interval), true};
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
