# SPDX-License-Identifier: MIT
"""A packet on its way, and the row that is left of it when the run is over."""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from typing import NamedTuple

SECOND = 10**12  # picoseconds
MISSING = -1

INSIDE, RECEIVED, DROPPED_QUEUE, DROPPED_POLICER = range(4)
FATES = ("inside", "received", "dropped_queue", "dropped_policer")


def picoseconds(seconds: Fraction | float) -> int:
    """The nearest picosecond to a number of seconds, taken as the decimal it prints as."""
    exact = Fraction(repr(seconds)) if isinstance(seconds, float) else Fraction(seconds)
    return round(exact * SECOND)


class Hop(NamedTuple):
    """The timestamps of a packet at one port."""

    queued: int = MISSING
    ring: int = MISSING
    start: int = MISSING
    end: int = MISSING


class Row(NamedTuple):
    """All that is known of a packet after the run; ``hops`` has one entry per port of the scenario."""

    flow: int
    seq: int
    size: int
    fate: int
    where: int
    sent: int
    received: int
    hops: tuple[Hop, ...]


@dataclass(eq=False)
class Packet:
    """A packet under way: ``route`` lists port numbers, ``passed`` counts those behind it."""

    flow: int
    seq: int
    size: int
    sent: int
    name: str
    dscp: int
    route: tuple[int, ...]
    passed: int = 0
    fate: int = INSIDE
    where: int = MISSING
    received: int = MISSING
    hops: dict[int, Hop] = field(default_factory=dict)

    def stamp(self, port: int, **times: int) -> None:
        self.hops[port] = self.hops.get(port, Hop())._replace(**times)

    def drop(self, port: int, fate: int) -> None:
        """A packet dropped at a port has none of that port's timestamps."""
        self.fate = fate
        self.hops.pop(port, None)

    def row(self, ports: int) -> Row:
        hops = tuple(self.hops.get(port, Hop()) for port in range(ports))
        return Row(self.flow, self.seq, self.size, self.fate, self.where, self.sent, self.received, hops)
