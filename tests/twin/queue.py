# SPDX-License-Identifier: MIT
"""Waits: the queue of a class, first in first out, cut down to its limit at the end of an instant."""

from __future__ import annotations

import math
from collections import deque
from fractions import Fraction
from typing import Any

from .packet import Packet


class DropTail:
    def __init__(self, description: Any, bandwidth: Fraction) -> None:
        self.packets: deque[Packet] = deque()
        self.limit_packets = math.inf if description.packets is None else description.packets
        limits_bytes = [] if description.bytes is None else [description.bytes]
        if description.time is not None:
            limits_bytes.append(math.floor(description.time * bandwidth / 8))
        self.limit_bytes = min(limits_bytes, default=math.inf)

    def __bool__(self) -> bool:
        return bool(self.packets)

    def is_above_limit(self) -> bool:
        waiting = sum(packet.size for packet in self.packets)
        return len(self.packets) > self.limit_packets or waiting > self.limit_bytes
