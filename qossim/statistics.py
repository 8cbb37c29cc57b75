# SPDX-License-Identifier: MIT
"""Count, least, greatest, mean, spread and quantiles: exact from an array, or streamed in constant memory.

Quantiles are nearest-rank, as RFC 7679 counts percentiles: the q-quantile of n values is the smallest value v of them
with ``#(x <= v) >= q * n``. It is always one of the values and never lies between two.

How sure one can be of a mean or a quantile is told by `confidence`, `quantile_confidence` and `batch_means`; where the
warm-up of a run ends, by `mser5` and `warmup_of`.
"""

from __future__ import annotations

import math
import numbers
from abc import ABC, abstractmethod
from decimal import Decimal
from typing import TYPE_CHECKING, Any, ClassVar, overload

import numpy as np

from qossim._confidence import (
    BatchInterval,
    Interval,
    QuantileInterval,
    array_of,
    batch_means,
    confidence,
    mser5,
    quantile_confidence,
    target_reached,
    warmup_of,
)
from qossim._student import student_t_quantile

if TYPE_CHECKING:
    from collections.abc import Mapping
    from fractions import Fraction

    from numpy.typing import ArrayLike, NDArray

    from qossim._core import Buckets

__all__ = [
    "BatchInterval",
    "Interval",
    "QuantileInterval",
    "Statistics",
    "StreamedStatistics",
    "batch_means",
    "confidence",
    "interarrival_jitter",
    "mser5",
    "quantile_confidence",
    "student_t_quantile",
    "target_reached",
    "warmup_of",
]

_NAN = math.nan


def _ratio(q: object) -> tuple[int, int]:
    """`q` as an exact ratio; a float is the decimal it prints as, so 0.07 is 7/100."""
    if isinstance(q, float | np.floating):
        q = Decimal(str(q)) if math.isfinite(q) else None
    if isinstance(q, Decimal) and q.is_finite():
        return q.as_integer_ratio()
    if isinstance(q, numbers.Rational) and not isinstance(q, bool):
        return int(q.numerator), int(q.denominator)
    return -1, 1


def _rank(q: object, count: int) -> int:
    """The nearest rank, 1 to `count`: the least r >= 1 with r >= q * count, in integers."""
    numerator, denominator = _ratio(q)
    if not 0 <= numerator <= denominator:
        raise ValueError(f"q must be a number from 0 to 1, got {q!r}")
    return max(1, -(-numerator * count // denominator))


def total(values: NDArray[Any]) -> int:
    """The sum of an int64 array, exact however large."""
    if not len(values):
        return 0
    largest = max(abs(int(values.max())), abs(int(values.min())))
    if largest * len(values) < 2**63:
        return int(values.sum())
    return (int((values >> 32).sum()) << 32) + int((values & 0xFFFFFFFF).sum())


class _Described(ABC):
    """What both kinds of statistics answer alike."""

    __slots__ = ()
    __hash__ = None  # type: ignore[assignment]

    @property
    @abstractmethod
    def count(self) -> int:
        """Number of values."""

    @property
    @abstractmethod
    def min(self) -> float:
        """The least value, NaN if there is none."""

    @property
    @abstractmethod
    def max(self) -> float:
        """The greatest value, NaN if there is none."""

    @property
    @abstractmethod
    def mean(self) -> float:
        """Arithmetic mean, NaN if there is no value."""

    @property
    @abstractmethod
    def var(self) -> float:
        """Mean squared deviation from the mean (divided by `count`, as `numpy.var` does), NaN if there is no value."""

    @property
    def std(self) -> float:
        """Standard deviation: the square root of `var`."""
        return math.sqrt(self.var)

    @property
    def median(self) -> float:
        """The 0.5-quantile, nearest-rank: of an even number of values the lower of the middle two."""
        return self._quantile(0.5)

    @overload
    def quantile(self, q: float | Fraction | Decimal) -> float: ...
    @overload
    def quantile(self, q: list[float] | tuple[float, ...] | NDArray[Any]) -> NDArray[np.float64]: ...
    def quantile(self, q: Any) -> float | NDArray[np.float64]:
        """The smallest value v with ``#(x <= v) >= q * count``.

        Parameters
        ----------
        q : float, Fraction, Decimal or array_like of float
            From 0 to 1. A float counts as the decimal it prints as, and the rank is worked out in integers: 0.07 of
            100 values is the 7th, though ``0.07 * 100`` is a little more than 7 in floating point.

        Returns
        -------
        float or (n,) float64 array
            NaN where there is no value.

        Raises
        ------
        ValueError
            `q` is not a number from 0 to 1.
        """
        if isinstance(q, list | tuple | np.ndarray) and np.ndim(q):
            levels = np.asarray(q)
            found = [self._quantile(level) for level in levels.ravel()]
            return np.array(found, dtype=np.float64).reshape(levels.shape)
        return self._quantile(q[()] if isinstance(q, np.ndarray) else q)

    @abstractmethod
    def _quantile(self, q: object) -> float: ...

    def __len__(self) -> int:
        return self.count

    def __repr__(self) -> str:
        shown = f"min={self.min:.6g}, mean={self.mean:.6g}, max={self.max:.6g}"
        return f"{type(self).__name__}(count={self.count}{', ' + shown if self.count else ''})"


class Statistics(_Described):
    """Exact statistics of an array.

    Parameters
    ----------
    values : (n,) array_like of int or float
        Finite numbers, in any order. An int64 or float64 array is used as it is, not copied.
    per : int, default 1
        How many steps of `values` make one unit: ``10**12`` for picoseconds to be answered in seconds.

    Raises
    ------
    ValueError
        `values` is not one-dimensional, holds NaN, an infinity or no numbers; `per` is below 1.

    Notes
    -----
    Nothing is kept beside the array: each answer reads it once, in time proportional to its length. On integers the
    mean is the exact sum divided once.
    """

    __slots__ = ("_per", "_values")

    def __init__(self, values: ArrayLike, *, per: int = 1) -> None:
        if np.ma.isMaskedArray(values) and np.ma.getmaskarray(values).any():
            raise ValueError("values must be numbers, got masked ones: .compressed() leaves them out")
        array = array_of(values)
        if array.ndim != 1:
            raise ValueError(f"values must have one dimension, got an array of shape {array.shape}")
        if array.size == 0:
            array = array.astype(np.int64) if array.dtype.kind in "iu" else array.astype(np.float64)
        elif array.dtype.kind == "f":
            array = array.astype(np.float64, copy=False)
            if not (math.isfinite(array.min()) and math.isfinite(array.max())):
                raise ValueError("values must be finite, got NaN or an infinity")
        elif array.dtype.kind in "iu":
            if array.dtype == np.uint64 and int(array.max()) >= 2**63:
                raise ValueError(f"values must be below 2**63, got {array.max()}")
            array = array.astype(np.int64, copy=False)
        else:
            raise ValueError(f"values must be integers or floats, got {array.dtype}")
        if isinstance(per, bool) or not isinstance(per, int) or per < 1:
            raise ValueError(f"per must be an integer of at least 1, got {per!r}")
        self._values: NDArray[Any] = array
        self._per = per

    @property
    def count(self) -> int:
        return len(self._values)

    @property
    def min(self) -> float:
        return float(self._values.min() / self._per) if len(self._values) else _NAN

    @property
    def max(self) -> float:
        return float(self._values.max() / self._per) if len(self._values) else _NAN

    @property
    def mean(self) -> float:
        if not len(self._values):
            return _NAN
        if self._values.dtype == np.float64:
            return float(self._values.mean() / self._per)
        return total(self._values) / (len(self._values) * self._per)

    @property
    def var(self) -> float:
        if not len(self._values):
            return _NAN
        values = self._values
        if values.dtype == np.int64 and abs(int(values.max())) < 2**62 and abs(int(values.min())) < 2**62:
            values = values - total(values) // len(values)  # small numbers now: they lose nothing as floats
        deviations = values.astype(np.float64)
        deviations -= deviations.mean()
        deviations *= deviations
        return float(deviations.mean()) / self._per**2

    def _quantile(self, q: object) -> float:
        rank = _rank(q, len(self._values))
        if not len(self._values):
            return _NAN
        return float(np.partition(self._values, rank - 1)[rank - 1] / self._per)

    def absolute(self) -> Statistics:
        """Statistics of the absolute values."""
        values = self._values
        if values.dtype.kind == "i" and len(values) and int(values.min()) == -(2**63):
            values = values.astype(np.float64)  # its absolute value is no int64
        return Statistics(np.abs(values), per=self._per)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Statistics):
            return NotImplemented
        return self._per == other._per and np.array_equal(self._values, other._values)


class StreamedStatistics(_Described):
    """Statistics gathered while the values went by, in constant memory.

    `count`, `min`, `max` and `mean` are exact, and `var` is as good as floating point makes it. A quantile is the
    middle of the bucket in which the nearest-rank value lies, never below `min` nor above `max`: it differs from that
    value by at most `relative_error` of it.

    Parameters
    ----------
    buckets : mapping
        ``count``, ``min``, ``max``, ``sum`` (integers), ``m2`` (float, the sum of squared deviations from the mean),
        and the histogram: int64 arrays ``low`` and ``high``, both ends included, in ascending order, uint64 ``counts``.
    per : int, default 1
        How many steps of the values make one unit: ``10**12`` for picoseconds to be answered in seconds.
    """

    __slots__ = ("_counts", "_high", "_low", "_m2", "_max", "_min", "_n", "_per", "_sum")

    relative_error: ClassVar[float] = 0.01
    """Bound on the relative error of a quantile."""

    def __init__(self, buckets: Buckets | Mapping[str, Any], *, per: int = 1) -> None:
        self._n = int(buckets["count"])
        self._min = int(buckets["min"])
        self._max = int(buckets["max"])
        self._sum = int(buckets["sum"])
        self._m2 = float(buckets["m2"])
        self._low: NDArray[np.int64] = buckets["low"]
        self._high: NDArray[np.int64] = buckets["high"]
        self._counts: NDArray[np.uint64] = buckets["counts"]
        self._per = per

    @property
    def count(self) -> int:
        return self._n

    @property
    def min(self) -> float:
        return self._min / self._per if self._n else _NAN

    @property
    def max(self) -> float:
        return self._max / self._per if self._n else _NAN

    @property
    def mean(self) -> float:
        return self._sum / (self._n * self._per) if self._n else _NAN

    @property
    def var(self) -> float:
        return self._m2 / self._n / self._per**2 if self._n else _NAN

    def _quantile(self, q: object) -> float:
        rank = _rank(q, self._n)
        if not self._n:
            return _NAN
        if rank == 1:
            return self.min
        if rank == self._n:
            return self.max
        bucket = int(np.searchsorted(np.cumsum(self._counts), np.uint64(rank)))
        return self._middle(bucket) / (2 * self._per)

    def _middle(self, bucket: int) -> int:
        """Twice the middle of a bucket, within the values seen."""
        middle = int(self._low[bucket]) + int(self._high[bucket])
        return min(max(middle, 2 * self._min), 2 * self._max)

    def absolute(self) -> StreamedStatistics:
        """Statistics of the absolute values.

        Of values of one sign they are as good as these; of values of both signs `count` and `max` stay exact, while
        `min`, `mean` and the quantiles come from the buckets, within `relative_error`, and `var` within some 2 % of the
        squared mean, so that `std` is of little use where the values are much alike.
        """
        if not self._n or self._min >= 0:
            return self
        low = np.where(self._low > 0, self._low, np.maximum(-self._high, 0))
        high = np.maximum(np.abs(self._low), np.abs(self._high))
        order = np.argsort(low, kind="stable")
        buckets = {"count": self._n, "low": low[order], "high": high[order], "counts": self._counts[order]}
        if self._max <= 0:
            exact = {"min": -self._max, "max": -self._min, "sum": -self._sum, "m2": self._m2}
            return StreamedStatistics({**buckets, **exact}, per=self._per)
        total = sum(int(n) * abs(self._middle(i)) for i, n in enumerate(self._counts)) // 2
        squares = self._m2 + self._sum**2 / self._n
        first = order[int(np.flatnonzero(self._counts[order])[0])]
        guess = {
            "min": (int(low[first]) + int(high[first])) // 2,
            "max": max(-self._min, self._max),
            "sum": total,
            "m2": max(squares - total**2 / self._n, 0.0),
        }
        return StreamedStatistics({**buckets, **guess}, per=self._per)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, StreamedStatistics):
            return NotImplemented
        scalars = ("_n", "_min", "_max", "_sum", "_m2", "_per")
        arrays = ("_low", "_high", "_counts")
        return all(getattr(self, name) == getattr(other, name) for name in scalars) and all(
            np.array_equal(getattr(self, name), getattr(other, name)) for name in arrays
        )


def interarrival_jitter(sent: ArrayLike, received: ArrayLike) -> NDArray[np.float64]:
    """Interarrival jitter of RFC 3550 (section 6.4.1), after each packet.

    ``D = (R[i] - R[i-1]) - (S[i] - S[i-1])`` and ``J += (|D| - J) / 16`` over packets in order of arrival, from
    ``J = 0`` at the first.

    Parameters
    ----------
    sent, received : (n,) array_like of int
        Picoseconds, one entry for each received packet, in order of arrival.

    Returns
    -------
    (n,) float64 array
        Seconds; the last entry is the estimate at the end.

    Raises
    ------
    ValueError
        The arrays are not one-dimensional, of integers, and of one length.
    """
    departures, arrivals = np.asarray(sent), np.asarray(received)
    if departures.shape != arrivals.shape or departures.ndim != 1:
        raise ValueError(f"sent and received must be of one length, got shapes {departures.shape}, {arrivals.shape}")
    if departures.size and (departures.dtype.kind not in "iu" or arrivals.dtype.kind not in "iu"):
        raise ValueError(f"sent and received must be whole picoseconds, got {departures.dtype} and {arrivals.dtype}")
    transit = arrivals.astype(np.int64) - departures.astype(np.int64)
    jitter = np.zeros(len(transit), dtype=np.float64)
    jitter[1:] = np.abs(np.diff(transit)) / 1e12 / 16
    # J[i] is the sum of (15/16)**k * |D[i-k]| / 16. Twice the window each turn; beyond 1024 packets what is left of a
    # term is under 10**-28 of it.
    window = 1
    while window < min(len(jitter), 1024):
        jitter[window:] += jitter[:-window] * 0.9375**window
        window *= 2
    return jitter
