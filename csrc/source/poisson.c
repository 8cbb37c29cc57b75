/* SPDX-License-Identifier: MIT */
/* Poisson arrivals: independent exponential gaps, each rounded to the picosecond. A packet's gap is drawn, then its
 * size. */
#include <qossim/source.h>

typedef struct poisson_state {
    qs_time at;
    double mean; /* picoseconds */
    qs_sizes sizes;
    qs_rng rng;
} poisson_state;

enum { POISSON_INTERVAL, POISSON_SIZE, POISSON_SIZES, POISSON_WEIGHTS };

static const qs_param poisson_params[] = {
    {"interval", "ps", 1, 9.2e18, QS_REQUIRED, "mean time from one packet to the next", true},
    {"size", "byte", 1, 65535, QS_NONE, "IP datagram, if all are of one size"},
    {"sizes", "array", 0, 0, QS_NONE, "sizes to draw from"},
    {"weights", "array", 0, 0, QS_NONE, "their cumulative weights"},
    {0},
};

static qs_status poisson_init(void *state, const qs_source_setup *setup)
{
    poisson_state *poisson = state;
    if (!setup->rng)
        return qs_error_set(setup->why, QS_EINVAL, "flow \"%s\": Poisson arrivals need a random stream", setup->flow);
    poisson->rng = *setup->rng;
    poisson->mean = qs_ratio_double(setup->values[POISSON_INTERVAL].value);
    poisson->at = setup->start;
    return qs_sizes_init(&poisson->sizes, &setup->values[POISSON_SIZE], setup);
}

static qs_departure poisson_next(void *state)
{
    poisson_state *poisson = state;
    const double gap = floor(qs_rng_exponential(&poisson->rng) * poisson->mean + 0.5);
    if (!(gap < (double)(QS_NEVER - poisson->at)))
        return (qs_departure){QS_NEVER, 0};
    poisson->at += (qs_time)gap;
    return (qs_departure){poisson->at, qs_sizes_draw(&poisson->sizes, &poisson->rng)};
}

static qs_expectation poisson_expect(const void *state, qs_time until)
{
    const poisson_state *poisson = state;
    if (poisson->at >= until)
        return (qs_expectation){0, true};
    return (qs_expectation){(uint64_t)((double)(until - poisson->at) / poisson->mean) + 1, false};
}

const qs_source_ops qs_source_poisson = {
    .name = "poisson",
    .summary = "Poisson arrivals",
    .params = poisson_params,
    .state_size = sizeof(poisson_state),
    .init = poisson_init,
    .next = poisson_next,
    .expect = poisson_expect,
};
