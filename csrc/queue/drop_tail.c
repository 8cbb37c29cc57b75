/* SPDX-License-Identifier: MIT */
/*
 * Drop tail: at most so many packets, so many bytes of IP datagrams, or so many bytes as a time is worth at the
 * class's rate. What is not given does not limit; 0 lets only pass what the ring takes at once.
 */
#include <qossim/queue.h>

#include "../engine/wide.h"

enum { DROP_TAIL_PACKETS, DROP_TAIL_BYTES, DROP_TAIL_TIME };

static const qs_param drop_tail_params[] = {
    {"packets", "", 0, 9e18, QS_NONE, "packets that may wait"},
    {"bytes", "byte", 0, 9e18, QS_NONE, "bytes of IP datagrams that may wait"},
    {"time", "ps", 0, 9.2e18, QS_NONE, "the same as a time at the class's bandwidth, else the port's rate"},
    {0},
};

/* floor(time * rate / 8): time in picoseconds, rate = n / d bit/s. */
static uint64_t bytes_in_time(uint64_t time, uint64_t n, uint64_t d)
{
    const qs_u128 bytes = (qs_u128)time * n / ((qs_u128)(8 * (uint64_t)QS_SECOND) * d);
    return bytes < UINT64_MAX ? (uint64_t)bytes : UINT64_MAX;
}

static qs_status drop_tail_limit(qs_queue_limit *out, const qs_queue_setup *setup)
{
    const qs_value *v = setup->values;
    qs_queue_limit limit = {UINT64_MAX, UINT64_MAX};
    if (v[DROP_TAIL_PACKETS].given)
        limit.packets = v[DROP_TAIL_PACKETS].value.whole;
    if (v[DROP_TAIL_BYTES].given)
        limit.bytes = v[DROP_TAIL_BYTES].value.whole;
    if (v[DROP_TAIL_TIME].given) {
        uint64_t n;
        if (!qs__ratio_numerator(setup->rate, &n))
            return qs_error_set(setup->why, QS_ERANGE, "%s: rate %.17g bit/s has too many digits for a limit in time",
                                setup->owner, qs_ratio_double(setup->rate));
        const uint64_t bytes = bytes_in_time(v[DROP_TAIL_TIME].value.whole, n, setup->rate.per);
        limit.bytes = bytes < limit.bytes ? bytes : limit.bytes;
    }
    *out = limit;
    return QS_OK;
}

const qs_queue_ops qs_queue_drop_tail = {
    .name = "drop-tail",
    .summary = "Drops the newest packets above a limit in packets, bytes or time",
    .params = drop_tail_params,
    .limit = drop_tail_limit,
};
