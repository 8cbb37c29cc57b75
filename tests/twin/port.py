# SPDX-License-Identifier: MIT
"""Sent: classes, ring, framing and wire of one egress port, as the four phases of an instant."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from types import SimpleNamespace
from typing import Any

from .meter import TokenBucket
from .packet import DROPPED_POLICER, DROPPED_QUEUE, SECOND, Packet, picoseconds
from .queue import DropTail
from .sched import DRR, FIFO, PQ, SCFQ, WFQ, Scheduler

CELL = 53 * 8  # bit


def wire_bytes(framing: Any, size: int) -> int:
    """What the framing makes of a datagram of this many bytes."""
    match type(framing).__name__:
        case "NoneType":
            return size
        case "AAL5":
            return cells(framing, size) * 53
        case "Ethernet":
            return int(max(64, size + 18 + 4 * framing.tags)) + (20 if framing.preamble_and_gap else 0)
        case "PPP":
            return size + 8
        case "HDLC" | "FrameRelay":
            return size + 7
        case "Overhead":
            return max(int(framing.minimum), size + int(framing.bytes))
    raise NotImplementedError(framing)


def cells(framing: Any, size: int) -> int:
    encapsulation = {"llc-snap": 8, "vc-mux": 0}[framing.encapsulation]
    return math.ceil(Fraction(size + encapsulation + 8, 48))


def everything() -> Any:
    """The class of a port without classes."""
    unlimited = SimpleNamespace(packets=None, bytes=None, time=None)
    return SimpleNamespace(match=None, flows=None, bandwidth=Fraction(1), quantum=1500, queue=unlimited, police=None)


def scheduler(description: Any, classes: Sequence[Any], queues: Sequence[DropTail], port: Port) -> Scheduler:
    def wire_bits(packet: Packet) -> int:
        return 8 * port.wire_bytes(packet)

    def ip_bits(packet: Packet) -> int:
        return 8 * packet.size

    weights = [each.bandwidth for each in classes]
    match type(description).__name__:
        case "FIFO":
            return FIFO(queues)
        case "PQ":
            return PQ(queues)
        case "WFQ":
            return WFQ(weights, wire_bits, port.rate)
        case "SCFQ":
            return SCFQ(weights, {"ip": ip_bits, "wire": wire_bits}[description.lengths])
        case "DRR":
            quanta = [each.quantum for each in classes]
            if None in quanta:
                quanta = [1500 * weight / min(weights) for weight in weights]
            return DRR(queues, [Fraction(quantum) for quantum in quanta])
    raise NotImplementedError(description)


@dataclass
class Transmission:
    """The packet on the wire, and the run of back-to-back transmissions it continues."""

    packet: Packet
    end: int
    run_began: int
    run_bits: int  # up to the end of this packet


class Port:
    def __init__(self, index: int, description: Any) -> None:
        self.index = index
        self.rate = Fraction(description.rate)
        self.framing = description.framing
        self.propagation = picoseconds(description.propagation)
        self.classes = list(description.classes or [everything()])
        self.queues = [DropTail(each.queue, each.bandwidth or self.rate) for each in self.classes]
        self.policers = [TokenBucket(each.police) if each.police else None for each in self.classes]
        self.scheduler = scheduler(description.scheduler, self.classes, self.queues, self)
        self.rules = description.tx_ring if description.tx_ring and description.tx_ring.limit is not None else None
        self.ring: deque[Packet] = deque()  # handed over, not yet on the wire
        self.in_use = 0  # particles
        self.returns: list[int] = []  # when each particle of a started packet comes back
        self.wire: Transmission | None = None
        self.last: Transmission | None = None  # on the wire or the last that was

    def wire_bytes(self, packet: Packet) -> int:
        return wire_bytes(self.framing, packet.size)

    def next_instant(self) -> int | None:
        """When something happens here by itself."""
        ends = [self.wire.end] if self.wire else []
        return min(self.returns + ends, default=None)

    # Phase 1: ring particles come back and transmissions end.

    def finish(self, now: int) -> Packet | None:
        """Take particles back; return the packet whose transmission ends, if one does."""
        self._take_particles_back(now)
        if not self.wire or self.wire.end != now:
            return None
        packet, self.wire = self.wire.packet, None
        packet.stamp(self.index, end=now)
        return packet

    def _take_particles_back(self, now: int) -> None:
        self.in_use -= self.returns.count(now)
        self.returns = [time for time in self.returns if time > now]

    # Phase 2: arrivals.

    def arrive(self, packet: Packet, now: int) -> None:
        """Classify, police, and let into the class queue."""
        packet.where = self.index
        c = self.classify(packet)
        policer = self.policers[c]
        conforms = not policer or policer.conforms(packet.size, self.wire_bytes(packet), now)
        if policer and not conforms and not (policer.only_in_congestion and self.admits(packet)):
            packet.drop(self.index, DROPPED_POLICER)
            return
        packet.stamp(self.index, queued=now)
        self.queues[c].packets.append(packet)
        self.scheduler.arrive(c, packet, now)

    def classify(self, packet: Packet) -> int:
        """The first class that names the packet's DSCP or flow, else the one that names neither."""
        for c, each in enumerate(self.classes):
            if packet.dscp in (each.match or ()) or packet.name in (each.flows or ()):
                return c
        return next(c for c, each in enumerate(self.classes) if each.match is None and each.flows is None)

    # Phase 3: the scheduler fills the ring, the ring feeds an idle wire, until nothing moves.

    def move(self, now: int) -> None:
        moved = True
        while moved:
            moved = False
            while (c := self.scheduler.choose()) is not None and self.admits(self.queues[c].packets[0]):
                self._hand_over(c, now)
                moved = True
            if self.ring and not self.wire:
                self._start(self.ring.popleft(), now)
                moved = True

    def admits(self, packet: Packet) -> bool:
        """Whether the ring would take the packet now; without a ring, whether the wire is idle."""
        if not self.rules:
            return not self.wire and not self.ring
        if self.rules.admit == "overshoot":
            return bool(self.in_use < self.rules.limit)
        return self.in_use == 0 or bool(self.in_use + self.particles(packet) <= self.rules.limit)

    def particles(self, packet: Packet) -> int:
        return math.ceil(Fraction(packet.size + self.rules.header, self.rules.particle)) if self.rules else 0

    def _hand_over(self, c: int, now: int) -> None:
        packet = self.queues[c].packets[0]
        self.scheduler.take(c, packet)
        self.queues[c].packets.popleft()
        packet.stamp(self.index, ring=now)
        self.in_use += self.particles(packet)
        self.ring.append(packet)

    def _start(self, packet: Packet, now: int) -> None:
        goes_on = self.last and self.last.end == now
        began, before = (self.last.run_began, self.last.run_bits) if self.last and goes_on else (now, 0)
        bits = 8 * self.wire_bytes(packet)

        def sent(share: Fraction | int) -> int:
            """When this share of the packet's bits has been sent."""
            return began + math.floor(Fraction((before + share * bits) * SECOND) / self.rate)

        packet.stamp(self.index, start=now)
        self.wire = self.last = Transmission(packet, sent(1), began, before + bits)
        self.returns += self._particle_returns(packet, now, sent)
        self._take_particles_back(now)

    def _particle_returns(self, packet: Packet, now: int, sent: Any) -> list[int]:
        n = self.particles(packet)
        if not self.rules or self.rules.free == "start":
            return [now] * n
        if self.rules.free == "end":
            return [sent(1)] * n
        shares = [Fraction(k * self.rules.particle, packet.size + self.rules.header) for k in range(1, n)]
        if type(self.framing).__name__ == "AAL5":
            whole = cells(self.framing, packet.size)
            shares = [Fraction(math.ceil(share * whole), whole) for share in shares]
        return [sent(share) for share in shares] + [sent(1)]

    # Phase 4: a queue above its limit drops its newest packets.

    def trim(self) -> None:
        for c, queue in enumerate(self.queues):
            while queue.is_above_limit():
                self.scheduler.drop(c)
                queue.packets.pop().drop(self.index, DROPPED_QUEUE)
