# SPDX-License-Identifier: MIT
"""Queue: where the packets of a class wait, and how many may."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, ClassVar

from qossim import units
from qossim.scenario._describe import Description, Spec, Value, description

if TYPE_CHECKING:
    from collections.abc import Mapping

    from qossim.units import SizeLike, TimeLike

__all__ = ["DropTail", "Queue"]


class Queue(Description):
    """Base of the queues."""

    __slots__ = ()


@description
class DropTail(Queue):
    """A FIFO that drops its newest packets when an instant leaves it above a limit.

    Limits count what waits in the class's queue, not the ring, not the wire. What is not given does not limit; 0 lets
    only pass what the ring takes at once.

    Parameters
    ----------
    packets : int, optional
        Packets that may wait, from 0.
    bytes : int or str, optional
        Bytes of IP datagrams that may wait, from 0.
    time : number or str, optional
        Seconds, from 0: ``floor(time * bandwidth / 8)`` bytes at the class's bandwidth (else the port's rate).

    Attributes
    ----------
    packets, bytes : int or None
    time : Fraction or None
        Seconds, whole picoseconds.
    """

    packets: int | None
    bytes: int | None
    time: Fraction | None

    kind: ClassVar[str] = "drop-tail"
    _positional: ClassVar[tuple[str, ...]] = ("packets",)
    _units: ClassVar[Mapping[str, str]] = {"time": "s"}

    def __init__(
        self, packets: int | None = None, *, bytes: SizeLike | None = None, time: TimeLike | None = None
    ) -> None:
        self._set(
            packets=None if packets is None else units.count(packets, "DropTail: packets"),
            bytes=None if bytes is None else units.size(bytes, "DropTail: bytes"),
            time=None if time is None else units.whole_time(time, "DropTail: time"),
        )

    def _lower(self) -> Spec:
        settings: list[tuple[str, Value]] = []
        if self.packets is not None:
            settings.append(("packets", self.packets))
        if self.bytes is not None:
            settings.append(("bytes", self.bytes))
        if self.time is not None:
            settings.append(("time", units.picoseconds(self.time)))
        return self.kind, tuple(settings)
