/* SPDX-License-Identifier: MIT */
/*
 * Port: how a packet is sent. Framing says how many bits it is on the wire, the ring holds what was handed to the
 * hardware, the link turns bits into time. All three are state machines of their own; port/port.h puts them together.
 */
#ifndef QOSSIM_PORT_H
#define QOSSIM_PORT_H

#include <qossim/engine.h>

#ifdef __cplusplus
extern "C" {
#endif

#define QS_SIZE_MAX 65535            /* bytes of the largest IP datagram */
#define QS_RATE_MAX 8e12             /* bit/s: a byte takes at least a picosecond */

/* ---- Framing ----------------------------------------------------------------------------------------------- */

typedef struct qs_framing_ops qs_framing_ops;

/* What a link layer adds: bytes = max(size + overhead, minimum) + gap, or whole cells of size + overhead. */
typedef struct qs_framing {
    uint32_t overhead;
    uint32_t minimum;
    uint32_t gap;
    bool cells; /* ATM: 53 bytes on the wire for 48 of payload */
} qs_framing;

struct qs_framing_ops {
    const char *name;
    const char *summary;
    const qs_param *params;
    qs_framing (*make)(const qs_value *values);
};

#define QS_CELL_PAYLOAD 48
#define QS_CELL_BITS 424

/* Builds the framing that `spec` names; NULL is none, the IP bytes alone. */
qs_status qs_framing_init(qs_framing *f, const qs_spec *spec, const char *owner, qs_error *why) QS_NODISCARD;

/* Bits on the wire of a datagram of `size` bytes. */
QS_INLINE uint32_t qs_framing_bits(const qs_framing *f, uint32_t size)
{
    uint32_t bytes = size + f->overhead;
    if (f->cells)
        return (bytes + QS_CELL_PAYLOAD - 1) / QS_CELL_PAYLOAD * QS_CELL_BITS;
    bytes = bytes < f->minimum ? f->minimum : bytes;
    return (bytes + f->gap) * 8;
}

/* Registry, ended by NULL. */
extern const qs_framing_ops *const qs_framings[];
extern const qs_framing_ops qs_framing_aal5, qs_framing_ethernet, qs_framing_ppp, qs_framing_hdlc,
    qs_framing_frame_relay, qs_framing_overhead;

/* ---- Link -------------------------------------------------------------------------------------------------- */

/*
 * A serial line. In an unbroken run of transmissions that began at b, the one that completes n bits ends at
 * b + floor(n * 10^12 / rate): the fraction of a picosecond is carried from packet to packet.
 */
typedef struct qs_link {
    uint64_t whole; /* picoseconds per bit: whole + part / per */
    uint64_t part;
    uint64_t per;
    uint64_t carry;  /* at the end of the latest transmission, in picoseconds / per */
    uint64_t before; /* the same at its start */
    qs_time end;     /* of the latest transmission; -1 before the first */
    bool narrow;     /* bits * part + carry fits 64 bits */
} qs_link;

/* QS_EINVAL: rate of 0 or above QS_RATE_MAX; QS_ERANGE: too many digits, or `most` bits outlast the clock. */
qs_status qs_link_init(qs_link *l, qs_ratio rate, uint64_t most, const char *owner, qs_error *why) QS_NODISCARD;

/* What a fraction of a picosecond per bit adds to the time of `bits`; the rest is carried on. */
QS_INLINE uint64_t qs_link_carry(qs_link *l, qs_time now, uint32_t bits)
{
    l->before = now == l->end ? l->carry : 0;
    if (QS_LIKELY(l->narrow)) {
        const uint64_t sum = bits * l->part + l->before;
        l->carry = sum % l->per;
        return sum / l->per;
    }
    const qs_u128 sum = (qs_u128)bits * l->part + l->before;
    l->carry = (uint64_t)(sum % l->per);
    return (uint64_t)(sum / l->per);
}

/* Begins to send `bits` at `now` (not before the latest end); returns when the last is sent, or QS_NEVER. */
QS_INLINE qs_time qs_link_send(qs_link *l, qs_time now, uint32_t bits)
{
    uint64_t took = bits * l->whole;
    if (l->part)
        took += qs_link_carry(l, now, bits);
    qs_time end;
    if (QS_UNLIKELY(__builtin_add_overflow(now, (qs_time)took, &end)))
        end = QS_NEVER;
    l->end = end;
    return end;
}

/* When bits / per of the transmission that began at `start`, the latest, have been sent. */
qs_time qs_link_when(const qs_link *l, qs_time start, uint64_t bits, uint64_t per);

/* ---- Transmit ring ----------------------------------------------------------------------------------------- */

typedef enum qs_ring_admit {
    QS_ADMIT_OVERSHOOT, /* while in_use < limit */
    QS_ADMIT_STRICT,    /* only what fits; anything into an empty ring */
} qs_ring_admit;

typedef enum qs_ring_free {
    QS_FREE_START,    /* all particles return when the first bit is sent */
    QS_FREE_END,      /* when the last bit is sent */
    QS_FREE_PARTICLE, /* one by one, as their share of the wire bits has been sent */
} qs_ring_free;

/* A FIFO counted in buffer particles. It owns the packets that stand in it; the one on the wire does not. */
typedef struct qs_ring {
    qs_packet *head;
    qs_packet *tail;
    uint64_t in_use; /* particles, with those of the packet on the wire that have not returned */
    uint64_t limit;
    uint32_t particle;   /* bytes */
    uint32_t header;     /* bytes stored with each packet */
    uint64_t reciprocal; /* of `particle`, times 2^42, rounded up */
    qs_ring_admit admit;
    qs_ring_free free;
    uint32_t returned; /* particles of the packet on the wire that have come back (QS_FREE_PARTICLE) */
} qs_ring;

extern const qs_param qs_ring_params[];

/* Builds the ring that `spec` ("tx-ring") describes, empty. */
qs_status qs_ring_init(qs_ring *r, const qs_spec *spec, const char *owner, qs_error *why) QS_NODISCARD;

/*
 * Particles for a datagram of `size` bytes, rounded up. The product with the reciprocal is exact as a division: it is
 * too large by less than n * particle / 2^42 < 1 / particle, as n < 2^21 and particle < 2^20.
 */
QS_INLINE uint32_t qs_ring_particles(const qs_ring *r, uint32_t size)
{
    const uint64_t n = (uint64_t)size + r->header + r->particle - 1;
    return (uint32_t)(n * r->reciprocal >> 42);
}

/* Would a packet of so many particles be taken now? */
QS_INLINE bool qs_ring_admits(const qs_ring *r, uint32_t particles)
{
    return r->in_use < r->limit &&
           (r->admit == QS_ADMIT_OVERSHOOT || r->in_use == 0 || r->in_use + particles <= r->limit);
}

QS_INLINE void qs_ring_push(qs_ring *r, qs_packet *p)
{
    p->next = NULL;
    if (r->tail)
        r->tail->next = p;
    else
        r->head = p;
    r->tail = p;
    r->in_use += p->particles;
}

/* Gives out the packet that goes on the wire; with QS_FREE_START its particles are back at once. */
QS_INLINE qs_packet *qs_ring_pop(qs_ring *r)
{
    qs_packet *p = r->head;
    r->head = p->next;
    if (!r->head)
        r->tail = NULL;
    if (r->free == QS_FREE_START)
        r->in_use -= p->particles;
    r->returned = 0;
    return p;
}

/* QS_FREE_PARTICLE: when the next particle of `p`, on the wire since `start`, returns before its end; else QS_NEVER. */
qs_time qs_ring_next_return(const qs_ring *r, const qs_packet *p, qs_time start, const qs_link *l, const qs_framing *f);

/* One particle of the packet on the wire is back. */
QS_INLINE void qs_ring_return(qs_ring *r)
{
    r->returned++;
    r->in_use--;
}

/* The last bit of `p` has been sent: whatever it still holds is back. */
QS_INLINE void qs_ring_sent(qs_ring *r, const qs_packet *p)
{
    if (r->free != QS_FREE_START)
        r->in_use -= p->particles - r->returned;
    r->returned = 0;
}

#ifdef __cplusplus
}
#endif

#endif
