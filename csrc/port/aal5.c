/* SPDX-License-Identifier: MIT */
/*
 * ATM AAL5 (ITU-T I.363.5; RFC 2684): the datagram, 8 bytes of LLC/SNAP header if it is so encapsulated, 8 bytes of
 * trailer, padded to whole cells of 48 bytes, each 53 on the wire.
 */
#include <qossim/port.h>

enum { AAL5_TRAILER = 8, LLC_SNAP_HEADER = 8 };

static const qs_param aal5_params[] = {
    {"encapsulation", "llc-snap|vc-mux", 0, 0, 0, "8 bytes of header before the datagram, or none"},
    {0},
};

static qs_framing aal5_make(const qs_value *values)
{
    const bool vc_mux = values[0].value.whole == 1;
    return (qs_framing){.overhead = AAL5_TRAILER + (vc_mux ? 0 : LLC_SNAP_HEADER), .cells = true};
}

const qs_framing_ops qs_framing_aal5 = {"aal5", "ATM adaptation layer 5, in cells of 53 bytes", aal5_params, aal5_make};
