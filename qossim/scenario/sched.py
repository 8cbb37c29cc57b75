# SPDX-License-Identifier: MIT
"""Scheduler: which packet is next. Each is the algorithm of its paper, under its name."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, ClassVar, Literal

from qossim import units
from qossim.errors import ScenarioError
from qossim.scenario._describe import Description, checked_choice, description

if TYPE_CHECKING:
    from collections.abc import Sequence
    from fractions import Fraction

    from qossim.scenario.port import TrafficClass

__all__ = ["DRR", "FIFO", "PQ", "SCFQ", "WFQ", "Scheduler"]


MOST_UNEQUAL = 10**9
"""Between the largest and the smallest bandwidth: within it, tags are as fine as promised on the longest run."""


class Scheduler(Description):
    """Base of the schedulers."""

    __slots__ = ()

    def _check(self, owner: str, rate: Fraction, classes: Sequence[TrafficClass]) -> None:
        """Refuse a port whose classes lack what it needs."""


class _Weighted(Scheduler):
    """A scheduler whose weights are the classes' bandwidths."""

    __slots__ = ()

    def _check(self, owner: str, rate: Fraction, classes: Sequence[TrafficClass]) -> None:
        missing = next((c for c in classes if c.bandwidth is None), None)
        if missing:
            raise _lacks(owner, missing, "bandwidth", self)
        _check_weights(owner, [c.bandwidth for c in classes if c.bandwidth is not None])


def _lacks(owner: str, c: TrafficClass, what: str, scheduler: Scheduler) -> ScenarioError:
    return ScenarioError(
        f'{owner}: class "{c.name}": {what} must be given for every class under {type(scheduler).__name__}, got None'
    )


def _check_weights(owner: str, bandwidths: list[Fraction]) -> None:
    """The core weighs classes with whole numbers in proportion to their bandwidths."""
    if not bandwidths:
        return
    common = math.lcm(*[bandwidth.denominator for bandwidth in bandwidths])
    weights = [bandwidth.numerator * (common // bandwidth.denominator) for bandwidth in bandwidths]
    largest = max(weights)
    if largest > min(weights) * MOST_UNEQUAL:
        raise _unfit(owner, "within a factor of 1e9", bandwidths)
    if largest >= 2**62 or common >= 2**62 or sum(weights) // math.gcd(*weights) >= 2**63:
        whole = "in proportion to whole numbers below 2**62"
        raise _unfit(owner, whole, bandwidths, " (they have too many digits: round them)")


def _unfit(owner: str, bounds: str, bandwidths: list[Fraction], why: str = "") -> ScenarioError:
    shown = ", ".join([units.text(bandwidth, "bit/s") for bandwidth in bandwidths])
    return ScenarioError(f"{owner}: bandwidths of the classes must be {bounds}, got {shown}{why}")


@description
class FIFO(Scheduler):
    """First in, first out, over all classes; of one instant in order of flow and sequence number."""

    kind: ClassVar[str] = "fifo"


@description
class PQ(Scheduler):
    """Strict priority, non-preemptive: the classes in order of declaration, the first the highest."""

    kind: ClassVar[str] = "pq"


@description
class WFQ(_Weighted):
    """Weighted fair queueing: packet-by-packet GPS with its exact fluid virtual time (Parekh and Gallager, 1993).

    Lengths are bits on the wire, weights the classes' `bandwidth`, which all must have. What routers call WFQ is
    nearer to `SCFQ`.
    """

    kind: ClassVar[str] = "wfq"

    def _check(self, owner: str, rate: Fraction, classes: Sequence[TrafficClass]) -> None:
        _Weighted._check(self, owner, rate, classes)
        if rate.denominator * units.PICO >= 2**96:
            raise units.refusal(f"{owner}: rate", "of fewer digits under WFQ", units.text(rate, "bit/s"), "round it")


@description
class SCFQ(_Weighted):
    """Self-clocked fair queueing: virtual time is the tag of the packet last handed over (Golestani, 1994).

    Weights are the classes' `bandwidth`, which all must have. This is what the WFQ of routers is closest to.

    Parameters
    ----------
    lengths : {"ip", "wire"}
        Whether tags count bytes of the IP datagram or bits on the wire.
    """

    lengths: Literal["ip", "wire"]

    kind: ClassVar[str] = "scfq"

    def __init__(self, lengths: Literal["ip", "wire"] = "ip") -> None:
        self._set(lengths=checked_choice(lengths, "SCFQ: lengths", ("ip", "wire")))


@description
class DRR(Scheduler):
    """Deficit round robin (Shreedhar and Varghese, 1996), in bytes of IP datagrams.

    Either all classes have a `quantum`, or all have a `bandwidth`, and the quanta are in that proportion, the smallest
    1500 bytes. Where both are given everywhere, the quanta rule.
    """

    kind: ClassVar[str] = "drr"

    def _check(self, owner: str, rate: Fraction, classes: Sequence[TrafficClass]) -> None:
        quanta = [c.quantum for c in classes if c.quantum is not None]
        if self._by_quantum(classes):
            if math.lcm(*(quantum.denominator for quantum in quanta)) >= 2**62:
                shown = ", ".join(units.digits(quantum) for quantum in quanta)
                raise ScenarioError(
                    f"{owner}: quanta of the classes must have a common denominator below 2**62, got {shown} bytes "
                    "(round them)"
                )
            return
        missing = next((c for c in classes if c.bandwidth is None), None)
        if missing and quanta:
            raise _lacks(owner, next(c for c in classes if c.quantum is None), "quantum", self)
        if missing:
            raise _lacks(owner, missing, "bandwidth or quantum", self)
        _check_weights(owner, [c.bandwidth for c in classes if c.bandwidth is not None])

    @staticmethod
    def _by_quantum(classes: Sequence[TrafficClass]) -> bool:
        """Whether the classes' quanta count, rather than their bandwidths."""
        return all(c.quantum is not None for c in classes)
