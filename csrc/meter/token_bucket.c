/* SPDX-License-Identifier: MIT */
/*
 * Token bucket: green if the packet's bytes are in the bucket, else red; red takes nothing. It starts full.
 * Tokens are counted in 1 / scale byte, scale = 8 * 10^12 * denominator of the rate, so that a picosecond brings a
 * whole number of them and "precisely its size" is decided exactly.
 */
#include <qossim/meter.h>

#include "../engine/wide.h"

typedef struct bucket_state {
    qs_u128 tokens;
    qs_u128 depth;
    qs_u128 scale;   /* tokens in a byte */
    uint64_t per_ps; /* tokens that come in a picosecond */
    qs_time filled;  /* when `tokens` was true */
} bucket_state;

enum { BUCKET_RATE = 3, BUCKET_BURST };

static const qs_param bucket_params[] = {
    {"counts", "ip|wire", 0, 0, 0, "bytes of the IP datagram, or those on the wire"},
    {"overhead", "byte", 0, 65535, 0, "added to each packet's bytes"},
    {"when", "always|congestion", 0, 0, 0, "red packets are dropped always, or when the ring would not take them now"},
    {"rate", "bit/s", 0, 8e12, QS_REQUIRED, "of the tokens", true},
    {"burst", "byte", 0, 1e12, QS_REQUIRED, "depth of the bucket"},
    {0},
};

static qs_status too_many_digits(qs_ratio rate, const char *owner, qs_error *why)
{
    return qs_error_set(why, QS_ERANGE, "%s: rate %.17g bit/s has too many digits for this burst", owner,
                        qs_ratio_double(rate));
}

/* rate = n / d bit/s brings n / (8 * 10^12 * d) byte a picosecond; the common factors go. */
static qs_status bucket_init(void *state, const qs_value *values, const char *owner, qs_error *why)
{
    bucket_state *bucket = state;
    const qs_ratio rate = values[BUCKET_RATE].value;
    uint64_t n, d = rate.per, eight_seconds = 8 * (uint64_t)QS_SECOND;
    if (!qs__ratio_numerator(rate, &n) || n >> 63)
        return too_many_digits(rate, owner, why);
    const uint64_t common = qs__gcd(n, eight_seconds);
    n /= common;
    eight_seconds /= common;
    const uint64_t more = qs__gcd(n, d);
    n /= more;
    d /= more;
    const qs_u128 scale = (qs_u128)eight_seconds * d;
    const uint64_t burst = values[BUCKET_BURST].value.whole;
    /* Packets of up to 2^19 bytes, and a depth that leaves room for what comes in one gap: n * 2^63 < 2^126. */
    if (scale >> 108 || (burst && scale > ((qs_u128)1 << 126) / burst))
        return too_many_digits(rate, owner, why);
    *bucket = (bucket_state){.tokens = burst * scale, .depth = burst * scale, .scale = scale, .per_ps = n};
    return QS_OK;
}

static void bucket_fill(bucket_state *bucket, qs_time now)
{
    const qs_u128 tokens = bucket->tokens + (qs_u128)(uint64_t)(now - bucket->filled) * bucket->per_ps;
    bucket->tokens = tokens < bucket->depth ? tokens : bucket->depth;
    bucket->filled = now;
}

static qs_colour bucket_colour(void *state, qs_time now, uint32_t bytes)
{
    bucket_state *bucket = state;
    bucket_fill(bucket, now);
    const qs_u128 cost = bytes * bucket->scale;
    if (cost > bucket->tokens)
        return QS_RED;
    bucket->tokens -= cost;
    return QS_GREEN;
}

const qs_meter_ops qs_meter_token_bucket = {
    .name = "token-bucket",
    .summary = "Single token bucket; conforming packets take their size",
    .params = bucket_params,
    .state_size = sizeof(bucket_state),
    .init = bucket_init,
    .colour = bucket_colour,
};
