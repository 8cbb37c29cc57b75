/* SPDX-License-Identifier: MIT */
/*
 * The transmit ring. What the sources leave open about the real one (when a packet is admitted, when its particles
 * come back) are parameters; the defaults are those that reproduce the measured experiment.
 */
#include <qossim/port.h>

#include <string.h>

enum { RING_LIMIT, RING_PARTICLE, RING_HEADER, RING_ADMIT, RING_FREE };

const qs_param qs_ring_params[] = {
    {"limit", "", 1, 9e18, QS_REQUIRED, "particles"},
    {"particle", "byte", 1, 1e6, 512, "bytes a particle holds"},
    {"header", "byte", 0, 65535, 0, "bytes stored with each datagram"},
    {"admit", "overshoot|strict", 0, 0, 0, "a packet is taken while in_use < limit, or only if it fits"},
    {"free", "start|end|particle", 0, 0, 0, "particles return with the first bit, the last, or one by one"},
    {0},
};

qs_status qs_ring_init(qs_ring *r, const qs_spec *spec, const char *owner, qs_error *why)
{
    qs_value v[QS_PARAMS_MAX];
    if (strcmp(spec->kind, "tx-ring"))
        return qs_error_set(why, QS_EINVAL, "%s: there is no ring %s", owner, spec->kind);
    const qs_status status = qs_params_read(qs_ring_params, spec, v, owner, why);
    if (status)
        return status;
    const uint64_t particle = v[RING_PARTICLE].value.whole;
    *r = (qs_ring){
        .limit = v[RING_LIMIT].value.whole,
        .particle = (uint32_t)particle,
        .reciprocal = ((UINT64_C(1) << 42) + particle - 1) / particle,
        .header = (uint32_t)v[RING_HEADER].value.whole,
        .admit = (qs_ring_admit)v[RING_ADMIT].value.whole,
        .free = (qs_ring_free)v[RING_FREE].value.whole,
    };
    return QS_OK;
}

/* Particle k returns when k * particle / (size + header) of the wire bits are sent, on ATM up to the next cell. */
qs_time qs_ring_next_return(const qs_ring *r, const qs_packet *p, qs_time start, const qs_link *l, const qs_framing *f)
{
    const uint64_t k = r->returned + 1;
    if (r->free != QS_FREE_PARTICLE || k >= p->particles)
        return QS_NEVER;
    const uint64_t stored = (uint64_t)p->size + r->header;
    const uint64_t bits = k * r->particle * p->wire_bits;
    if (!f->cells)
        return qs_link_when(l, start, bits, stored);
    const uint64_t a_cell = stored * QS_CELL_BITS;
    return qs_link_when(l, start, (bits + a_cell - 1) / a_cell * QS_CELL_BITS, 1);
}
