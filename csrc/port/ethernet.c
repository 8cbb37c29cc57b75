/* SPDX-License-Identifier: MIT */
/*
 * Ethernet (IEEE 802.3): 14 bytes of header, 4 of checksum and 4 a VLAN tag, at least 64 in all; then 8 bytes of
 * preamble and 12 of gap, unless they are not to count.
 */
#include <qossim/port.h>

enum { HEADER_AND_CHECKSUM = 18, VLAN_TAG = 4, SHORTEST_FRAME = 64, PREAMBLE_AND_GAP = 20 };

static const qs_param ethernet_params[] = {
    {"tags", "", 0, 16, 0, "802.1Q tags in the frame"},
    {"gap", "", 0, 1, 1, "1: preamble and gap between frames count as time on the wire"},
    {0},
};

static qs_framing ethernet_make(const qs_value *values)
{
    return (qs_framing){
        .overhead = HEADER_AND_CHECKSUM + VLAN_TAG * (uint32_t)values[0].value.whole,
        .minimum = SHORTEST_FRAME,
        .gap = values[1].value.whole ? PREAMBLE_AND_GAP : 0,
    };
}

const qs_framing_ops qs_framing_ethernet = {"ethernet", "Ethernet frame, preamble and gap", ethernet_params,
                                            ethernet_make};
