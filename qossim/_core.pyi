# SPDX-License-Identifier: MIT
# The compiled core as Python sees it. Times are whole picoseconds, sizes are bytes.

from collections.abc import Callable
from types import EllipsisType
from typing import Any, Literal, TypeAlias, TypedDict, final, type_check_only

import numpy as np
from numpy.random import BitGenerator
from numpy.typing import NDArray

__version__: str

# A whole number, or ``(whole, part, per)``: ``whole + part / per`` with ``0 <= part < per``.
_Ratio: TypeAlias = int | tuple[int, int, int]

# A component and its settings: ``(kind, ((name, value), ...))``.
_Spec: TypeAlias = tuple[str, tuple[tuple[str, _Ratio | str | NDArray[np.int64]], ...]]

# A traffic class: name, match (a mask of 64 DSCPs), flows, bandwidth, quantum, queue, policer.
_ClassSpec: TypeAlias = tuple[str, int, tuple[str, ...], _Ratio | None, _Ratio | None, _Spec, _Spec | None]

# A setting of a component: name, unit, least, greatest, default (None: may be left out, ...: must be given), meaning.
_Parameter: TypeAlias = tuple[str, str, float, float, float | str | EllipsisType | None, str]

@type_check_only
class FlowCounts(TypedDict):
    sent: int
    received: int
    inside: int
    dropped_queue: int
    dropped_policer: int
    sent_bytes: int
    received_bytes: int
    delivered_bytes: int
    loss_periods: int
    longest_loss: int

@type_check_only
class ClassCounts(TypedDict):
    offered: int
    offered_bytes: int
    sent: int
    sent_bytes: int
    dropped_queue: int
    dropped_policer: int
    inside: int
    largest_queue: int
    largest_queue_bytes: int
    queue_area: int

@type_check_only
class PortCounts(TypedDict):
    busy: int
    sent: int
    sent_bytes: int
    wire_bits: int
    largest_ring: int
    ring_area: int
    classes: list[ClassCounts]

@type_check_only
class Buckets(TypedDict):
    count: int
    min: int
    max: int
    sum: int
    m2: float
    low: NDArray[np.int64]
    high: NDArray[np.int64]
    counts: NDArray[np.uint64]

@type_check_only
class FlowStatistics(TypedDict):
    delay: Buckets
    ipdv: Buckets
    stages: list[tuple[int, int, int, int, int]]

@final
class Simulation:
    def __new__(
        cls,
        *,
        record: Literal["packets", "summary", "none"],
        duration: int,
        warmup: int = 0,
        drain: bool = True,
    ) -> Simulation: ...
    @property
    def now(self) -> int: ...
    def add_port(
        self,
        name: str,
        rate: _Ratio,
        framing: _Spec | None,
        scheduler: _Spec,
        ring: _Spec | None,
        propagation: int,
        classes: tuple[_ClassSpec, ...],
        /,
    ) -> None: ...
    def add_flow(
        self,
        name: str,
        source: _Spec,
        dscp: int,
        route: tuple[int, ...],
        start: int,
        stop: int,
        bitgen: BitGenerator | None,
        /,
    ) -> None: ...
    def run(self, progress: Callable[[float], Any] | None = None) -> None: ...
    def packets(self) -> dict[str, NDArray[Any]]: ...
    def hop(self, port: int, /) -> dict[str, NDArray[np.int64]]: ...
    def digest(self, levels: tuple[tuple[int, int], ...], /) -> bytes: ...
    def flows(self) -> list[FlowCounts]: ...
    def ports(self) -> list[PortCounts]: ...
    def statistics(self, flow: int, /) -> FlowStatistics: ...

def parameters() -> dict[str, dict[str, list[_Parameter]]]: ...
def seed_words(entropy: bytes, words: int, wide: bool, /) -> bytes: ...
