/* SPDX-License-Identifier: MIT */
/*
 * Meter: is a packet within its contract? A meter is told a time and a length and answers with a colour. What is
 * done about the colour (drop, mark) is the port's business (RFC 3290, section 5).
 */
#ifndef QOSSIM_METER_H
#define QOSSIM_METER_H

#include <qossim/engine.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum qs_colour {
    QS_GREEN,
    QS_YELLOW,
    QS_RED,
} qs_colour;

typedef struct qs_meter_ops {
    const char *name;
    const char *summary;
    const qs_param *params;
    size_t state_size;

    qs_status (*init)(void *state, const qs_value *values, const char *owner, qs_error *why);

    /* Meters one packet; times never run backward. A packet that is not green takes only what its colour costs. */
    qs_colour (*colour)(void *state, qs_time now, uint32_t bytes);
} qs_meter_ops;

/* A meter at a class, and what it is to do. */
typedef struct qs_meter {
    const qs_meter_ops *ops; /* NULL: no meter */
    void *state;
    bool counts_wire;          /* lengths on the wire instead of the IP datagram */
    bool only_in_congestion;   /* drop only what the ring would not admit now */
    uint32_t overhead;         /* bytes added to each packet's length */
} qs_meter;

/* Builds the meter that `spec` names: "token-bucket". Its state is allocated. */
qs_status qs_meter_init(qs_meter *meter, const qs_spec *spec, const char *owner, qs_error *why) QS_NODISCARD;
void qs_meter_fini(qs_meter *meter);

/* Meters `p` by the lengths this meter counts. */
QS_INLINE qs_colour qs_meter_colour(qs_meter *meter, qs_time now, const qs_packet *p)
{
    const uint32_t bytes = (meter->counts_wire ? (p->wire_bits + 7) / 8 : p->size) + meter->overhead;
    return meter->ops->colour(meter->state, now, bytes);
}

/* Registry, ended by NULL. */
extern const qs_meter_ops *const qs_meters[];
extern const qs_meter_ops qs_meter_token_bucket;

#ifdef __cplusplus
}
#endif

#endif
