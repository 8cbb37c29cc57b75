# SPDX-License-Identifier: MIT
"""Born: when each packet of a flow is sent, and its size.

Floating point appears here only, where the random sources prescribe it operation by operation.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from itertools import count
from typing import Any

from .packet import SECOND, picoseconds

Raw = Callable[[], int]
"""The next 64 bits of the flow's random stream."""


def packets(flow: Any, duration: int, raw: Raw) -> Iterator[tuple[int, int]]:
    """(time sent, size) of every packet of a flow: those sent before its stop and before the end of sending."""
    until = duration if flow.stop is None else min(duration, picoseconds(flow.stop))
    kind = {"CBR": _cbr, "Poisson": _poisson, "Trace": _trace}[type(flow.source).__name__]
    for sent, size in kind(flow.source, picoseconds(flow.start), raw):
        if sent >= until:
            return
        yield sent, size


def _cbr(source: Any, start: int, raw: Raw) -> Iterator[tuple[int, int]]:
    interval = source.interval * SECOND
    if source.phase == "random":
        start += ((raw() >> 11) * math.floor(interval)) >> 53
    else:
        start += picoseconds(source.phase)
    jitter = picoseconds(source.jitter)
    for k in count():
        late = ((raw() >> 11) * jitter) >> 53 if jitter else 0
        yield start + math.floor(k * interval) + late, _size(source.size, raw)


def _poisson(source: Any, start: int, raw: Raw) -> Iterator[tuple[int, int]]:
    mean = float(SECOND / source.pps)
    while True:
        u = (raw() >> 11) * 2.0**-53
        start += math.floor(-log(1.0 - u) * mean + 0.5)
        yield start, _size(source.size, raw)


def _trace(source: Any, start: int, raw: Raw) -> Iterator[tuple[int, int]]:
    for time, size in zip(source.times, source.sizes, strict=True):
        yield start + int(time), int(size)


def _size(size: Any, raw: Raw) -> int:
    """One size of a mix: the first whose cumulative weight lies above a random point of the total."""
    if isinstance(size, int):
        return size
    weights = integer_weights(size)
    point = (raw() * sum(weights)) >> 64
    for value, weight in zip(size.values, weights, strict=True):
        if point < weight:
            return int(value)
        point -= weight
    raise AssertionError("the point lies below the total")


def integer_weights(size: Any) -> list[int]:
    """The weights as integers without a common factor."""
    weights = list(size.weights) if size.weights is not None else [1] * len(size.values)
    common = math.lcm(*(weight.denominator for weight in weights))
    whole = [int(weight * common) for weight in weights]
    return [weight // math.gcd(*whole) for weight in whole]


def log(x: float) -> float:
    """ln(x) for 0 < x <= 1, the same on every machine: 2 atanh(s) of the mantissa, as a series in s^2."""
    m, e = math.frexp(x)
    if m < 0.7071067811865476:
        m, e = 2.0 * m, e - 1
    s = (m - 1.0) / (m + 1.0)
    z = s * s
    p = 1.0 / 23.0
    for k in range(21, 0, -2):
        p = p * z + 1.0 / k
    return e * 0.6931471805599453 + 2.0 * s * p
