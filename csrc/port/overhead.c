/* SPDX-License-Identifier: MIT */
/* Framings that add so many bytes to each datagram: PPP, HDLC and Frame Relay by their usual figures, or any number. */
#include <qossim/port.h>

/* PPP (RFC 1662): flag, address, control, 2 of protocol, 2 of checksum, and the closing flag. */
static qs_framing ppp_make(const qs_value *values)
{
    (void)values;
    return (qs_framing){.overhead = 8};
}

/* Cisco HDLC: 4 of header, 2 of checksum, one flag between frames. */
static qs_framing hdlc_make(const qs_value *values)
{
    (void)values;
    return (qs_framing){.overhead = 7};
}

/* Frame Relay: 2 of address, 2 of protocol, 2 of checksum, one flag between frames. */
static qs_framing frame_relay_make(const qs_value *values)
{
    (void)values;
    return (qs_framing){.overhead = 7};
}

static const qs_param overhead_params[] = {
    {"bytes", "byte", 0, 65535, QS_REQUIRED, "added to each datagram"},
    {"minimum", "byte", 0, 65535, 0, "shortest frame, with what was added"},
    {0},
};

static qs_framing overhead_make(const qs_value *values)
{
    return (qs_framing){.overhead = (uint32_t)values[0].value.whole, .minimum = (uint32_t)values[1].value.whole};
}

static const qs_param no_params[] = {{0}};

const qs_framing_ops qs_framing_ppp = {"ppp", "PPP in HDLC-like framing, 8 bytes", no_params, ppp_make};
const qs_framing_ops qs_framing_hdlc = {"hdlc", "Cisco HDLC, 7 bytes", no_params, hdlc_make};
const qs_framing_ops qs_framing_frame_relay = {"frame-relay", "Frame Relay, 7 bytes", no_params, frame_relay_make};
const qs_framing_ops qs_framing_overhead = {"overhead", "A fixed number of bytes", overhead_params, overhead_make};
