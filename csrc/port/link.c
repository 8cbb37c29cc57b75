/* SPDX-License-Identifier: MIT */
/* The link's time per bit as an exact number, and the time of a fraction of a transmission. */
#include <qossim/port.h>

#include "../engine/wide.h"

/* 10^12 / rate, rate = n / d: whole + part / per picoseconds a bit. False: `whole` would not fit. */
static bool time_per_bit(qs_link *l, uint64_t n, uint64_t d)
{
    const qs_u128 ps = (qs_u128)(uint64_t)QS_SECOND * d;
    if (ps / n > UINT64_MAX)
        return false;
    l->whole = (uint64_t)(ps / n);
    l->part = (uint64_t)(ps % n);
    l->per = n;
    const uint64_t common = qs__gcd(l->part, n);
    l->part /= common;
    l->per /= common;
    return true;
}

qs_status qs_link_init(qs_link *l, qs_ratio rate, uint64_t most, const char *owner, qs_error *why)
{
    const double bits_per_second = rate.per ? qs_ratio_double(rate) : 0;
    uint64_t n;
    if (!(bits_per_second > 0 && bits_per_second <= QS_RATE_MAX))
        return qs_error_set(why, QS_EINVAL, "%s: rate must be above 0 and at most %.16g bit/s, got %.16g", owner,
                            QS_RATE_MAX, bits_per_second);
    if (!qs__ratio_numerator(rate, &n) || n >> 63)
        return qs_error_set(why, QS_ERANGE, "%s: rate %.17g bit/s has too many digits", owner, bits_per_second);
    if (n > (qs_u128)(uint64_t)QS_RATE_MAX * rate.per) /* by less than a double can tell */
        return qs_error_set(why, QS_EINVAL, "%s: rate must be at most %.16g bit/s, got a little more", owner,
                            QS_RATE_MAX);
    qs_link link = {.end = -1};
    if (!time_per_bit(&link, n, rate.per) || (qs_u128)most * ((qs_u128)link.whole + 1) >> 62)
        return qs_error_set(why, QS_ERANGE,
                            "%s: rate %.16g bit/s overflows the clock: the largest packet, %llu bits, must be sent "
                            "within 4.6e6 s",
                            owner, bits_per_second, (unsigned long long)most);
    link.narrow = !(((qs_u128)most * link.part + link.per) >> 64);
    *l = link;
    return QS_OK;
}

/*
 * With bits = q per + r, the time is
 *     q whole + floor(((q part + carry) * per + r part + (r whole mod per) * link.per) / (link.per * per))
 *     + floor(r whole / per)
 * where `carry` is the fraction of a picosecond at the start. No term needs more than 128 bits.
 */
qs_time qs_link_when(const qs_link *l, qs_time start, uint64_t bits, uint64_t per)
{
    const uint64_t q = bits / per, r = bits % per;
    const qs_u128 r_whole = (qs_u128)r * l->whole;
    qs_u128 fraction = ((qs_u128)q * l->part + l->before) * per + (qs_u128)r * l->part;
    fraction += (r_whole % per) * l->per;
    const qs_u128 took = (qs_u128)q * l->whole + r_whole / per + fraction / ((qs_u128)l->per * per);
    return took < (qs_u128)(QS_NEVER - start) ? start + (qs_time)took : QS_NEVER;
}
