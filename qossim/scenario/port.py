# SPDX-License-Identifier: MIT
"""Port: how a packet is sent: classes, scheduler, transmit ring, framing, link."""

from __future__ import annotations

import operator
from dataclasses import field
from fractions import Fraction
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from qossim import units
from qossim.errors import ScenarioError
from qossim.scenario import _dscp
from qossim.scenario._describe import (
    Description,
    Spec,
    checked_choice,
    checked_flag,
    checked_instance,
    checked_instances,
    checked_list,
    checked_name,
    description,
    first_duplicate,
)
from qossim.scenario.meter import Policer
from qossim.scenario.queue import DropTail, Queue
from qossim.scenario.sched import DRR, FIFO, Scheduler
from qossim.scenario.source import LARGEST

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from qossim.scenario.source import Flow
    from qossim.units import RateLike, SizeLike, TimeLike

__all__ = [
    "AAL5",
    "HDLC",
    "PPP",
    "Ethernet",
    "FrameRelay",
    "Framing",
    "Overhead",
    "Port",
    "TrafficClass",
    "TxRing",
]

MOST_CLASSES = 4096
"""At a port."""


# -- framing -----------------------------------------------------------------------------------------------------------


class Framing(Description):
    """Base of the framings: what the link layer makes of an IP datagram."""

    __slots__ = ()

    def wire_bytes(self, size: int) -> int:
        """Bytes on the wire of a datagram of `size` bytes."""
        raise NotImplementedError


@description
class AAL5(Framing):
    """IP over ATM, AAL5: ``ceil((size + header + 8) / 48)`` cells of 53 bytes (RFC 2684; ITU-T I.363.5).

    Parameters
    ----------
    encapsulation : {"llc-snap", "vc-mux"}
        8 bytes of header, or none.
    """

    encapsulation: Literal["llc-snap", "vc-mux"]

    kind: ClassVar[str] = "aal5"

    def __init__(self, encapsulation: Literal["llc-snap", "vc-mux"] = "llc-snap") -> None:
        self._set(encapsulation=checked_choice(encapsulation, "AAL5: encapsulation", ("llc-snap", "vc-mux")))

    def wire_bytes(self, size: int) -> int:
        """Bytes on the wire of a datagram of `size` bytes, cell headers and padding included."""
        return -(-(size + 8 + (8 if self.encapsulation == "llc-snap" else 0)) // 48) * 53


@description
class Ethernet(Framing):
    """Ethernet: ``max(64, size + 18 + 4 tags) + 20`` bytes (IEEE 802.3, 802.1Q).

    Parameters
    ----------
    tags : int
        VLAN tags, 0 to 16.
    preamble_and_gap : bool
        Whether the 8 bytes of preamble and 12 of gap between frames count.
    """

    tags: int
    preamble_and_gap: bool

    kind: ClassVar[str] = "ethernet"

    def __init__(self, *, tags: int = 0, preamble_and_gap: bool = True) -> None:
        self._set(
            tags=units.count(tags, "Ethernet: tags", 0, 16),
            preamble_and_gap=checked_flag(preamble_and_gap, "Ethernet: preamble_and_gap"),
        )

    def wire_bytes(self, size: int) -> int:
        """Bytes on the wire of a datagram of `size` bytes."""
        return max(64, size + 18 + 4 * self.tags) + (20 if self.preamble_and_gap else 0)

    def _lower(self) -> Spec:
        return self.kind, (("tags", self.tags), ("gap", int(self.preamble_and_gap)))


@description
class PPP(Framing):
    """PPP in HDLC-like framing: 8 bytes more than the datagram (RFC 1662)."""

    kind: ClassVar[str] = "ppp"

    def wire_bytes(self, size: int) -> int:
        """Bytes on the wire of a datagram of `size` bytes."""
        return size + 8


@description
class HDLC(Framing):
    """Cisco HDLC: 7 bytes more than the datagram (4 header, 2 checksum, 1 flag)."""

    kind: ClassVar[str] = "hdlc"

    def wire_bytes(self, size: int) -> int:
        """Bytes on the wire of a datagram of `size` bytes."""
        return size + 7


@description
class FrameRelay(Framing):
    """Frame Relay: 7 bytes more than the datagram (4 header, 2 checksum, 1 flag)."""

    kind: ClassVar[str] = "frame-relay"

    def wire_bytes(self, size: int) -> int:
        """Bytes on the wire of a datagram of `size` bytes."""
        return size + 7


@description
class Overhead(Framing):
    """Any link layer that adds so many bytes: ``max(minimum, size + bytes)``.

    Parameters
    ----------
    bytes : int
        Added to each datagram, 0 to 65535.
    minimum : int
        The shortest frame, 0 to 65535 bytes.
    """

    bytes: int
    minimum: int

    kind: ClassVar[str] = "overhead"
    _positional: ClassVar[tuple[str, ...]] = ("bytes",)

    def __init__(self, bytes: SizeLike, *, minimum: SizeLike = 0) -> None:
        self._set(
            bytes=units.size(bytes, "Overhead: bytes", 0, 65535),
            minimum=units.size(minimum, "Overhead: minimum", 0, 65535),
        )

    def wire_bytes(self, size: int) -> int:
        """Bytes on the wire of a datagram of `size` bytes."""
        return max(self.minimum, size + self.bytes)


# -- ring --------------------------------------------------------------------------------------------------------------


@description
class TxRing(Description):
    """The transmit ring: a FIFO between scheduler and wire, counted in buffer particles.

    A packet takes ``ceil((size + header) / particle)`` particles. What stands in the ring is out of the scheduler's
    reach. The defaults are a modelling choice that reproduces the reference experiment, not a known fact about any
    router.

    Parameters
    ----------
    limit : int or None
        Particles, from 1; None is no ring.
    particle : int
        Bytes in a particle, 1 to 1000000.
    header : int
        Bytes stored with each datagram, 0 to 65535.
    admit : {"overshoot", "strict"}
        A packet is taken while fewer than `limit` particles are in use; or only if it fits, or none is in use.
    free : {"start", "end", "particle"}
        Its particles return when its first bit is sent; when its last is; or one by one, each when its share of the
        bits on the wire has been sent.
    """

    limit: int | None
    particle: int
    header: int
    admit: Literal["overshoot", "strict"]
    free: Literal["start", "end", "particle"]

    kind: ClassVar[str] = "tx-ring"

    def __init__(
        self,
        limit: int | None,
        *,
        particle: SizeLike = 512,
        header: SizeLike = 0,
        admit: Literal["overshoot", "strict"] = "overshoot",
        free: Literal["start", "end", "particle"] = "start",
    ) -> None:
        self._set(
            limit=None if limit is None else units.count(limit, "TxRing: limit", 1),
            particle=units.size(particle, "TxRing: particle", 1, 10**6),
            header=units.size(header, "TxRing: header", 0, 65535),
            admit=checked_choice(admit, "TxRing: admit", ("overshoot", "strict")),
            free=checked_choice(free, "TxRing: free", ("start", "end", "particle")),
        )

    def particles(self, size: int) -> int:
        """Particles taken by a datagram of `size` bytes."""
        return -(-(size + self.header) // self.particle)

    def _lower(self) -> Spec:  # as every description is lowered, but in a third of the time: sweeps are of rings
        settings = ("particle", self.particle), ("header", self.header), ("admit", self.admit), ("free", self.free)
        return self.kind, settings if self.limit is None else (("limit", self.limit), *settings)


# -- classes -----------------------------------------------------------------------------------------------------------


@description
class TrafficClass(Description):
    """A class of packets at a port: what belongs to it, its share, its queue and its policer.

    A packet belongs to the first class that fits, by `match` or by `flows`; the class with neither takes the rest.

    Parameters
    ----------
    name : str
        Its name, unique at the port.
    match : int, str or a list of them, optional
        DSCPs, by number or name.
    flows : str or list of str, optional
        Names of flows.
    bandwidth : number or str, optional
        Its weight, as a rate in bit/s, above 0 and at most 8e12. Weights are relative: they may add up to more than
        the port's rate.
    quantum : number or str, optional
        Bytes per visit under `DRR`, 1 to 1e9; need not be whole.
    queue : DropTail
        Unlimited by default.
    police : TokenBucket, optional

    Attributes
    ----------
    name : str
    match : tuple of int or None
    flows : tuple of str or None
    bandwidth : Fraction or None
        Bit/s.
    quantum : Fraction or None
        Bytes.
    queue : DropTail
    police : TokenBucket or None
    """

    name: str
    match: tuple[int, ...] | None
    flows: tuple[str, ...] | None
    bandwidth: Fraction | None
    quantum: Fraction | None
    queue: Queue
    police: Policer | None
    _lowered: tuple[bool, tuple[Any, ...]] | None = field(init=False)

    kind: ClassVar[str] = "class"
    _positional: ClassVar[tuple[str, ...]] = ("name",)
    _units: ClassVar[Mapping[str, str]] = {"match": "dscp", "bandwidth": "bit/s"}

    def __init__(
        self,
        name: str,
        *,
        match: int | str | Sequence[int | str] | None = None,
        flows: str | Sequence[str] | None = None,
        bandwidth: RateLike | None = None,
        quantum: SizeLike | None = None,
        queue: Queue = DropTail(),  # noqa: B008 (frozen)
        police: Policer | None = None,
    ) -> None:
        name = checked_name(name, "TrafficClass")
        owner = f'TrafficClass "{name}"'
        self._set(
            name=name,
            match=None if match is None else _checked_match(match, owner),
            flows=None if flows is None else _checked_flows(flows, owner),
            bandwidth=None if bandwidth is None else units.rate(bandwidth, f"{owner}: bandwidth"),
            quantum=None if quantum is None else units.exact_size(quantum, f"{owner}: quantum", 1, 10**9),
            queue=checked_instance(queue, f"{owner}: queue", Queue, "DropTail(64)"),
            police=None
            if police is None
            else checked_instance(police, f"{owner}: police", Policer, 'TokenBucket("400 kbit/s", 8000)'),
            _lowered=None,
        )

    @property
    def takes_the_rest(self) -> bool:
        """Whether it has neither `match` nor `flows`."""
        return self.match is None and self.flows is None

    def _lower_class(self, by_quantum: bool) -> tuple[Any, ...]:
        """The core's form; kept, for the scenarios of a sweep."""
        kept = self._lowered
        if kept is not None and kept[0] == by_quantum:
            return kept[1]
        lowered = (
            self.name,
            sum(1 << dscp for dscp in self.match or ()),
            self.flows or (),
            None if self.bandwidth is None else units.ratio(self.bandwidth),
            units.ratio(self.quantum) if self.quantum is not None and by_quantum else None,
            self.queue._lower(),
            None if self.police is None else self.police._lower(),
        )
        self._set(_lowered=(by_quantum, lowered))
        return lowered


def _checked_match(value: object, owner: str) -> tuple[int, ...]:
    field, bounds = f"{owner}: match", "a DSCP or a list of at least one, each 0 to 63 or a name"
    given = checked_list(value, field, bounds)
    if not given:
        raise units.refusal(field, bounds, value, "a class for the rest has no match at all")
    return tuple(dict.fromkeys(_dscp.code(dscp, field) for dscp in given))


def _checked_flows(value: object, owner: str) -> tuple[str, ...]:
    field, bounds = f"{owner}: flows", "the name of a flow or a list of at least one"
    given = checked_list(value, field, bounds)
    if not given or not all(isinstance(name, str) for name in given):
        raise units.refusal(field, bounds, value, "" if given else "a class for the rest has no flows at all")
    return tuple(dict.fromkeys(str(name) for name in given))


# -- port --------------------------------------------------------------------------------------------------------------


@description
class Port(Description):
    """A router's egress port and the link behind it.

    Parameters
    ----------
    name : str
        Its name, unique in the scenario.
    rate : number or str
        Of the link, in bit/s, above 0 and at most 8e12.
    scheduler : Scheduler
        `FIFO` by default.
    classes : sequence of TrafficClass, optional
        In order of priority and of ties; exactly one has neither `match` nor `flows`. Without classes the port is one
        unlimited FIFO.
    framing : Framing, optional
        What the link layer adds; nothing by default.
    tx_ring : TxRing, optional
        No ring by default.
    propagation : number or str
        Seconds from the last bit sent to the last bit received, from 0.

    Attributes
    ----------
    name : str
    rate : Fraction
        Bit/s.
    scheduler : Scheduler
    classes : tuple of TrafficClass
    framing : Framing or None
    tx_ring : TxRing or None
    propagation : Fraction
        Seconds, whole picoseconds.
    """

    name: str
    rate: Fraction
    scheduler: Scheduler
    classes: tuple[TrafficClass, ...]
    framing: Framing | None
    tx_ring: TxRing | None
    propagation: Fraction

    kind: ClassVar[str] = "port"
    _positional: ClassVar[tuple[str, ...]] = ("name",)
    _units: ClassVar[Mapping[str, str]] = {"rate": "bit/s", "propagation": "s"}

    def __init__(
        self,
        name: str,
        rate: RateLike,
        *,
        scheduler: Scheduler = FIFO(),  # noqa: B008 (frozen)
        classes: Sequence[TrafficClass] | None = None,
        framing: Framing | None = None,
        tx_ring: TxRing | None = None,
        propagation: TimeLike = 0,
    ) -> None:
        name = checked_name(name, "Port")
        owner = f'Port "{name}"'
        self._set(
            name=name,
            rate=units.rate(rate, f"{owner}: rate"),
            scheduler=checked_instance(scheduler, f"{owner}: scheduler", Scheduler, "PQ()"),
            classes=() if classes is None else _checked_classes(classes, owner),
            framing=None if framing is None else checked_instance(framing, f"{owner}: framing", Framing, "Ethernet()"),
            tx_ring=None if tx_ring is None else checked_instance(tx_ring, f"{owner}: tx_ring", TxRing, "TxRing(5)"),
            propagation=units.whole_time(propagation, f"{owner}: propagation"),
        )
        self._check_clock(rate, owner)
        self.scheduler._check(owner, self.rate, self.classes)

    def _check_clock(self, given: object, owner: str) -> None:
        """The largest datagram must be sent in half the clock's range, and queues must be finite in bytes."""
        bits = 8 * self.wire_bytes(LARGEST)
        per_bit = units.PICO * self.rate.denominator // self.rate.numerator + 1
        if bits * per_bit >= 2**62:
            least = units.short(Fraction(bits * units.PICO, 2**62), "bit/s")
            raise units.refusal(
                f"{owner}: rate",
                f"above {least} and at most 8e12 bit/s",
                given,
                f"a datagram of {LARGEST} bytes would overflow the clock",
            )
        for c in self.classes:
            time = c.queue.time if isinstance(c.queue, DropTail) else None
            if time is not None and time * (c.bandwidth or self.rate) / 8 >= 2**62:
                field, worth = f'{owner}: class "{c.name}": queue time', "worth less than 2**62 bytes at its bandwidth"
                raise units.refusal(field, worth, units.text(time, "s"))

    def wire_bytes(self, size: int) -> int:
        """Bytes on the wire of an IP datagram of `size` bytes."""
        return size if self.framing is None else self.framing.wire_bytes(size)

    def transmission_time(self, size: int) -> Fraction:
        """Seconds on the wire of an IP datagram of `size` bytes, exact."""
        return 8 * self.wire_bytes(size) / self.rate

    def _class_of(self, flow: Flow) -> int:
        """The first class that fits, else the one for the rest; 0 without classes."""
        fits = (i for i, c in enumerate(self.classes) if flow.dscp in (c.match or ()) or flow.name in (c.flows or ()))
        rest = (i for i, c in enumerate(self.classes) if c.takes_the_rest)
        return next(fits, next(rest, 0))

    def _lower_port(self, like: Port | None = None, lowered: tuple[Any, ...] = ()) -> tuple[Any, ...]:
        """The core's form; what it shares with the port `like` is taken from the form of that."""
        if like is not None and self._same_parts(like):
            return self.name, units.ratio(self.rate), *lowered[2:5], units.picoseconds(self.propagation), lowered[6]
        ring = self.tx_ring
        by_quantum = DRR._by_quantum(self.classes)  # a quantum here and there counts for nothing
        return (
            self.name,
            units.ratio(self.rate),
            None if self.framing is None else self.framing._lower(),
            self.scheduler._lower(),
            None if ring is None or ring.limit is None else ring._lower(),
            units.picoseconds(self.propagation),
            tuple([c._lower_class(by_quantum) for c in self.classes]),
        )

    def _same_parts(self, other: Port) -> bool:
        """Whether both were made of the very same descriptions, as ports along a path often are."""
        return (
            self.framing is other.framing
            and self.scheduler is other.scheduler
            and self.tx_ring is other.tx_ring
            and len(self.classes) == len(other.classes)
            and all(map(operator.is_, self.classes, other.classes))
        )


def _checked_classes(value: object, owner: str) -> tuple[TrafficClass, ...]:
    field, bounds = f"{owner}: classes", "a list of TrafficClass"
    if isinstance(value, TrafficClass):
        raise units.refusal(field, bounds, value)
    classes = checked_instances(checked_list(value, field, bounds), field, TrafficClass)
    if len(classes) > MOST_CLASSES:
        raise units.refusal(field, f"at most {MOST_CLASSES}", f"{len(classes)} of them")
    names = [c.name for c in classes]
    twice = first_duplicate(names)
    if twice is not None:
        raise units.refusal(field, "of different names", names, f'"{twice}" comes twice')
    rest = [c.name for c in classes if c.match is None and c.flows is None]
    if classes and len(rest) != 1:
        why = "packets that fit no other class would have none" if not rest else "the later would never be reached"
        raise ScenarioError(
            f"{field} must hold exactly one class with neither match nor flows, got {rest or 'none'} of "
            f"{[c.name for c in classes]} ({why})"
        )
    return classes
