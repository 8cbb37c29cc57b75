# SPDX-License-Identifier: MIT
"""How sure one can be of what a simulation says: intervals over replications and within one run, and its warm-up.

Packets of one run depend on each other: a long wait is followed by another. So the packets are never the sample. It is
the replications that are independent (:func:`confidence`, :func:`quantile_confidence`), or, nearly, the means of long
batches of a run (:func:`batch_means`). :func:`mser5` finds where a run that began empty has settled.
"""

from __future__ import annotations

import math
import sys
from typing import TYPE_CHECKING, Any, NamedTuple, cast, overload

import numpy as np

from qossim import units
from qossim._student import open_share, student_t_quantile

if TYPE_CHECKING:
    import xarray as xr
    from numpy.typing import ArrayLike, NDArray

    from qossim.result import FlowResult

__all__ = [
    "BatchInterval",
    "Interval",
    "QuantileInterval",
    "array_of",
    "batch_means",
    "confidence",
    "mser5",
    "quantile_confidence",
    "target_reached",
    "told_by_mser5",
    "warmup_of",
]

_BATCHES = 20
_BATCH = 5  # values, the 5 of MSER-5


class Interval(NamedTuple):
    """A mean and how far off it may be."""

    mean: float
    """Arithmetic mean, in the unit of the values; NaN if there is none."""
    half_width: float
    """Half the width of the interval, in the unit of the values; NaN if there are fewer than two."""
    level: float
    """Share of such intervals that cover the true mean, above 0 and below 1."""
    count: int  # type: ignore[assignment]  # tuple.count goes
    """Number of values, or of batches."""

    @property
    def low(self) -> float:
        """The lower end, ``mean - half_width``."""
        return self.mean - self.half_width

    @property
    def high(self) -> float:
        """The upper end, ``mean + half_width``."""
        return self.mean + self.half_width


class BatchInterval(Interval):
    """The interval of one long run, and how far its batches are from independent."""

    size: int = 0
    """Values in a batch."""
    correlation: float = math.nan
    """Lag-1 correlation of the batch means, -1 to 1; NaN if they are all equal. See :func:`batch_means`."""

    def __repr__(self) -> str:
        return f"{super().__repr__()[:-1]}, size={self.size}, correlation={self.correlation:.3g})"


class QuantileInterval(NamedTuple):
    """Two of the values, between which a quantile lies."""

    low: float
    """The lower end, one of the values; NaN if there is none."""
    high: float
    """The upper end, one of the values; NaN if there is none."""
    level: float
    """Confidence that is reached: below what was asked for where there are too few values."""


# Replications -------------------------------------------------------------------------------------------------------


@overload
def confidence(values: xr.DataArray, over: str = ..., level: float = ...) -> xr.Dataset: ...
@overload
def confidence(values: ArrayLike, over: str = ..., level: float = ...) -> Interval: ...
def confidence(values: Any, over: str = "replication", level: float = 0.95) -> xr.Dataset | Interval:
    """Mean over replications, with its confidence interval (Student t).

    Parameters
    ----------
    values : xarray.DataArray or (n,) array_like
        One number for each replication, such as ``table["delay_mean"]``; replications must be independent. NaN (a
        flow that is not there, a run that is missing) is left out.
    over : str
        Dimension of the replications; only a DataArray has one.
    level : float
        Share of such intervals that cover the true mean, above 0 and below 1.

    Returns
    -------
    xarray.Dataset or Interval
        Of a DataArray a Dataset with ``mean`` and ``half_width`` (float64, in the unit of `values`) and ``count``
        (int64), without the dimension `over`. Of other values an :class:`Interval`. With fewer than two values the
        half-width is NaN, with none the mean as well; one beyond all floats is infinite.

    Raises
    ------
    TypeError
        `values` is a Dataset: choose one of its variables.
    ValueError
        `values` lacks the dimension, is not of numbers, or holds an infinity; `level` is out of bounds.

    Notes
    -----
    ``mean +- t s / sqrt(n)``, where s is the standard deviation with divisor ``n - 1`` and t the quantile
    ``(1 + level) / 2`` of Student's t with ``n - 1`` degrees of freedom. It is exact for normal values; means of runs
    that are long against the memory of their queue are close to it.

    References
    ----------
    "Student", "The probable error of a mean", *Biometrika* 6, 1908; A. M. Law, *Simulation Modeling and Analysis*, 5th
    ed., McGraw-Hill 2015, section 9.4.1.

    Examples
    --------
    >>> interval = confidence([3.1, 2.9, 3.0, 3.2])
    >>> f"{interval.mean:.2f} +- {interval.half_width:.2f}"
    '3.05 +- 0.21'
    """
    level = open_share(level, "level")
    xarray = sys.modules.get("xarray")  # whoever has a DataArray has imported it
    if xarray is not None and isinstance(values, xarray.Dataset):
        raise TypeError("values must be a DataArray or an array, got a Dataset: choose one of its variables")
    if xarray is not None and isinstance(values, xarray.DataArray):
        return _labelled(values, over, level)
    mean, half_width, count = _student_interval(_line(values), 0, level)
    return Interval(float(mean), float(half_width), level, int(count))


def _labelled(values: xr.DataArray, over: str, level: float) -> xr.Dataset:
    import xarray as xr

    if over not in values.dims:
        raise ValueError(f"over must be one of the dimensions {values.dims}, got {over!r}")
    mean, half_width, count = _student_interval(_numbers(values.to_numpy()), values.get_axis_num(over), level)
    labelled = values.reduce(lambda _, axis: mean, dim=over, keep_attrs=True)
    table = xr.Dataset(
        {
            "mean": labelled,
            "half_width": labelled.copy(data=half_width),
            "count": labelled.copy(data=count),
        },
        attrs={"level": float(level), "over": over},
    )
    table["count"].attrs = {"long_name": f"values over {over}"}
    return table


def _student_interval(
    values: NDArray[np.float64], axis: int, level: float
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.int64]]:
    """Mean, half-width and count along an axis, without the NaN."""
    there = ~np.isnan(values)
    count = there.sum(axis=axis)
    # Scaled, for the squares of large numbers are beyond floats, and those of small ones are 0.
    power = _power(np.where(there, np.abs(values), 0.0).max(axis=axis, keepdims=True, initial=0.0))
    with np.errstate(under="ignore"):
        values = np.ldexp(values, -power)
    # Deviations from one of the values: equal ones then have a mean and a half-width without rounding.
    origin = np.where(there, values, np.inf).min(axis=axis, keepdims=True, initial=np.inf)
    origin[np.isinf(origin)] = np.nan
    deviations = np.where(there, values - origin, 0.0)
    with np.errstate(invalid="ignore", divide="ignore"):
        shift = deviations.sum(axis=axis, keepdims=True) / np.expand_dims(count, axis)
        squares = np.where(there, deviations - shift, 0.0) ** 2
        error = np.sqrt(squares.sum(axis=axis) / (count - 1) / count)
    half_width = np.where(count > 1, error, np.nan) * _factors(count, level)
    with np.errstate(over="ignore", under="ignore"):  # a half-width may be beyond floats, a mean never is
        half_width = np.ldexp(half_width, np.squeeze(power, axis))
        return np.squeeze(np.ldexp(origin + shift, power), axis), half_width, count


def _power(largest: NDArray[np.float64]) -> NDArray[np.int32]:
    """The least power of two above each number: to scale by it costs no digit."""
    return cast("NDArray[np.int32]", np.frexp(largest)[1])


def _scaled(series: NDArray[np.float64], most: int) -> tuple[NDArray[np.float64], int]:
    """A series with its largest value just below ``2**most``, and the power of two to undo that with."""
    power = int(_power(np.abs(series).max())) - most
    with np.errstate(under="ignore"):
        return np.ldexp(series, -power), power


def _factors(count: NDArray[np.int64], level: float) -> NDArray[np.float64]:
    """Student's t for each number of values, from the lower tail, whose digits no 1 takes; NaN below two."""
    numbers, places = np.unique(count, return_inverse=True)
    factors = [-student_t_quantile((1 - level) / 2, n - 1) if n > 1 else math.nan for n in numbers.tolist()]
    return np.array(factors, dtype=np.float64)[places].reshape(np.shape(count))


def target_reached(
    values: ArrayLike, half_width: float, *, relative: bool = False, level: float = 0.95, least: int = 10
) -> bool:
    """Whether the replications so far say a mean as closely as wanted.

    Parameters
    ----------
    values : (n, ...) array_like
        One row for each replication so far; every column is a mean to be known. NaN is left out: a column that has
        nothing else is known to no one, and must not be among them if it is not to keep the target from being reached.
    half_width : float
        Target, above 0: in the unit of `values`, or, if `relative`, as a share of the true mean and below 1.
    relative : bool
        What `half_width` is.
    level : float
        Confidence, above 0 and below 1.
    least : int
        Fewest values of a column, at least 2. Few values that happen to lie close together would stop too early.

    Returns
    -------
    bool
        Every column has at least `least` values and an interval (:func:`confidence`) no wider than wanted; False if
        there is no column.

    Raises
    ------
    ValueError
        `values` is not of numbers or holds an infinity; another argument is out of bounds.

    Notes
    -----
    To be within a share g of the true mean, the half-width must be within ``g / (1 + g)`` of the measured one. An
    interval that stops as soon as it is narrow enough covers a little less often than its level says: of normal values,
    95 % intervals cover 93.5 times in 100 at worst with `least` 10, and 94.3 times with 20. Given a number of
    replications beforehand they cover 95 times.

    References
    ----------
    A. M. Law, *Simulation Modeling and Analysis*, 5th ed., McGraw-Hill 2015, section 9.4.1; Y. S. Chow and H. Robbins,
    "On the asymptotic theory of fixed-width sequential confidence intervals for the mean", *Annals of Mathematical
    Statistics* 36, 1965.

    Examples
    --------
    >>> target_reached([3.1, 2.9, 3.0, 3.2], 0.25, least=4), target_reached([3.1, 2.9, 3.0, 3.2], 0.2, least=4)
    (True, False)
    """
    level = open_share(level, "level")
    number = isinstance(half_width, int | float | np.number) and not isinstance(half_width, bool)
    if not number or not 0 < half_width < (1 if relative else math.inf):
        raise ValueError(f"half_width must be above 0{' and below 1' if relative else ''}, got {half_width!r}")
    if isinstance(least, bool) or not isinstance(least, int | np.integer) or least < 2:
        raise ValueError(f"least must be a whole number of at least 2, got {least!r}")
    rows = _numbers(values)
    if rows.ndim == 0:
        raise ValueError(f"values must have one row for each replication, got {values!r}")
    mean, reached, count = _student_interval(rows, 0, level)
    target = half_width / (1 + half_width) * np.abs(mean) if relative else half_width
    with np.errstate(invalid="ignore"):
        close = (count >= least) & (reached <= target)
    return bool(np.size(close) and close.all())


def quantile_confidence(values: ArrayLike, q: float, level: float = 0.95) -> QuantileInterval:
    """Confidence interval of a quantile, whatever the distribution (order statistics).

    Parameters
    ----------
    values : (n,) array_like
        Independent of each other, one for each replication, say; in any order. NaN is left out. Delays of the packets
        of one run are not independent, and their interval would be too narrow.
    q : float
        Which quantile, above 0 and below 1.
    level : float
        Confidence wanted, above 0 and below 1.

    Returns
    -------
    QuantileInterval
        ``low``, ``high`` (two of the values, NaN if there is none) and ``level``, what is reached: at least what was
        wanted, or less where even the outermost values do not suffice. 99 % of the values lie below the largest of 10
        with a confidence of 10 % only, and no formula can change that.

    Raises
    ------
    ValueError
        `values` is not one-dimensional, not of numbers, or holds an infinity; `q` or `level` is out of bounds.

    Notes
    -----
    The number B of values up to the quantile is binomial, so that the l-th and the u-th smallest enclose it with
    probability ``P(l <= B < u)`` (at least, where values repeat). Each side may miss with ``(1 - level) / 2``; what one
    side cannot keep to is taken from the other.

    References
    ----------
    H. A. David and H. N. Nagaraja, *Order Statistics*, 3rd ed., Wiley 2003, section 7.1; J.-Y. Le Boudec, *Performance
    Evaluation of Computer and Communication Systems*, EPFL Press 2010, section 2.2.2.

    Examples
    --------
    >>> low, high, reached = quantile_confidence(range(1, 101), 0.5)
    >>> low, high, round(reached, 4)
    (40.0, 61.0, 0.9648)
    """
    level = open_share(level, "level")
    q = open_share(q, "q")
    line = _line(values)
    line = np.sort(line[~np.isnan(line)])
    if not len(line):
        return QuantileInterval(math.nan, math.nan, 0.0)
    lower, upper, reached = _ranks(len(line), q, level)
    return QuantileInterval(float(line[lower - 1]), float(line[upper - 1]), reached)


def _ranks(n: int, q: float, level: float) -> tuple[int, int, float]:
    """The ranks l and u, from 1, and the level that they reach."""
    first, below, above = _binomial(n, q)
    miss = 1 - level

    def lower(share: float) -> int:  # the last l with P(B < l) <= share
        return max(1, first + int(np.searchsorted(below, share, side="right")) - 1)

    def upper(share: float) -> int:  # the first u with P(B >= u) <= share
        return min(n, first + len(above) - int(np.searchsorted(above[::-1], share, side="right")))

    def missed(lowest: int, highest: int) -> tuple[float, float]:
        return float(below[lowest - first]), float(above[highest - first])

    low, high = lower(miss / 2), upper(miss / 2)
    left, right = missed(low, high)
    if right > miss / 2:
        low = lower(max(miss - right, 0.0))
    elif left > miss / 2:
        high = upper(max(miss - left, 0.0))
    left, right = missed(low, high)
    return low, high, max(0.0, 1 - left - right)


def _binomial(n: int, q: float) -> tuple[int, NDArray[np.float64], NDArray[np.float64]]:
    """``P(B < k)`` and ``P(B >= k)`` of a binomial B for each k from the first returned on.

    Only what lies within ten standard deviations and fifty of the mean: all else is below 1e-20 (Bernstein).
    """
    reach = 10 * math.sqrt(n * q * (1 - q)) + 50
    first, last = max(0, math.floor(n * q - reach)), min(n, math.ceil(n * q + reach))
    k = np.arange(first, last, dtype=np.float64)
    steps = np.log((n - k) / (k + 1)) + (math.log(q) - math.log1p(-q))
    logarithms = np.concatenate([[0.0], np.cumsum(steps)])
    shares = np.exp(logarithms - logarithms.max())
    shares /= shares.sum()
    below = np.concatenate([[0.0], np.cumsum(shares)])
    above = np.concatenate([np.cumsum(shares[::-1])[::-1], [0.0]])
    return first, below, above


# One run ------------------------------------------------------------------------------------------------------------


def mser5(values: ArrayLike) -> int:
    """How many leading values of a run are warm-up (MSER-5).

    Parameters
    ----------
    values : (n,) array_like
        What one run measured, in order: the delays of its packets, say.

    Returns
    -------
    int
        Number of values to leave out, a multiple of 5 and at most ``n / 2``. Where it comes close to ``n / 2`` the run
        is too short to tell; 0 for fewer than 10 values.

    Raises
    ------
    ValueError
        `values` is not one-dimensional, not of numbers, or holds NaN or an infinity.

    Notes
    -----
    The values are averaged in batches of 5. Of all the cuts in the first half, that one is taken which leaves the mean
    of the rest with the least marginal standard error, ``sum((y - mean(y))**2) / len(y)**2`` over the batches y that
    are left; of several, the earliest. The last ``n mod 5`` values are not looked at.

    References
    ----------
    K. P. White, "An effective truncation heuristic for bias reduction in simulation output", *Simulation* 69(6), 1997;
    K. P. White, M. J. Cobb and S. C. Spratt, "A comparison of five steady-state truncation heuristics for simulation",
    *Proceedings of the 2000 Winter Simulation Conference*.

    Examples
    --------
    >>> mser5([9, 8, 7, 6, 5, 4, 3, 2, 1, 1] + [0, 1, 0, 1, 0] * 10)
    10
    """
    series = _series(values)
    batches = len(series) // _BATCH
    if batches < 2:
        return 0
    # Sums of squares stay below 2**1024, and what is left of a run that began with far greater values above 2**-1074.
    series, _ = _scaled(series[: batches * _BATCH], 480)
    means = series.reshape(batches, _BATCH).mean(axis=1)
    # Around one of the settled values sums lose little, and of a constant remainder they are exactly 0.
    means -= np.partition(means[batches // 2 :], (batches - batches // 2) // 2)[(batches - batches // 2) // 2]
    cuts = batches // 2 + 1
    left = batches - np.arange(cuts)
    sums = np.cumsum(means[::-1])[::-1][:cuts]
    squares = np.cumsum((means * means)[::-1])[::-1][:cuts]
    spread = np.maximum(squares - sums * sums / left, 0.0) / (left * left.astype(np.float64))
    return _BATCH * int(np.argmin(spread))


def told_by_mser5(cut: int, count: int) -> bool:
    """Whether it could tell of so many values how many to leave out; not if half of them were perhaps too few."""
    batches = count // _BATCH
    return batches >= 2 and cut < batches // 2 * _BATCH


def warmup_of(flow: FlowResult) -> float:
    """When a run had settled, by the delays of a flow (MSER-5): the ``warmup`` of the next run.

    Parameters
    ----------
    flow : FlowResult
        A flow of a run with ``record="packets"``, ``result["EF"]``.

    Returns
    -------
    float
        Seconds from the start of the run: when the first packet was sent that :func:`mser5` keeps, or the run's own
        ``warmup`` where it keeps them all. NaN where the run is too short to tell: with fewer than ten packets
        received, or if half of them are left out and so perhaps too few, as where a queue grows without end.

    Raises
    ------
    ScenarioError
        The run did not keep packets, or `flow` is no result of a flow.

    Notes
    -----
    It is a guess from one run, good to a few memories of the queue: give several seeds a try and take the longest, for
    a warm-up too long only costs packets. The flows of a run settle at times of their own; the slowest decides. Where
    one run has to do for both, ``delay[mser5(delay):]`` is what is left of it.

    References
    ----------
    As :func:`mser5`; K. P. White and S. Robinson, "The problem of the initial transient (again), or why MSER works",
    *Journal of Simulation* 4(4), 2010.

    Examples
    --------
    A line at load 1/2 that begins with a second of work waiting: half a second more comes in meanwhile, a quarter while
    that is worked off, and so on, two seconds in all.

    >>> import qossim as qs
    >>> data = qs.Flow("data", qs.CBR(pps=500, size=1000))
    >>> burst = qs.Flow("burst", qs.Trace([0.0] * 1000, 1000))
    >>> scenario = qs.Scenario([data, burst], [qs.Port("link", "8 Mbit/s")])
    >>> warmup = qs.warmup_of(qs.run(scenario, duration=10, seed=1)["data"])
    >>> round(warmup, 1)
    2.0
    >>> qs.run(scenario, duration=10, warmup=warmup, seed=2)["data"].delay_stats.mean
    0.001
    """
    from qossim.result import FlowResult, Result

    if not isinstance(flow, FlowResult):
        why = 'a Result has many: take one, as in result["EF"]' if isinstance(flow, Result) else ""
        raise units.refusal("flow", "the result of a flow", flow, why)
    delay = flow.delay
    cut = mser5(delay)
    if not told_by_mser5(cut, len(delay)):
        return math.nan
    return float(flow.sent_at[cut]) if cut else flow._run.warmup / 1e12


def batch_means(values: ArrayLike, level: float = 0.95, batches: int | None = None) -> BatchInterval:
    """Confidence interval of the mean of one long run (non-overlapping batch means).

    Parameters
    ----------
    values : (n,) array_like
        What one run measured, in order and without warm-up: ``result["EF"].delay``, say.
    level : float
        Share of such intervals that cover the true mean, above 0 and below 1.
    batches : int, optional
        How many, at least 2; 20 by default. From 10 to 30 are advised: fewer make the interval wide, more make batches
        short and so dependent.

    Returns
    -------
    BatchInterval
        An :class:`Interval`, in the unit of `values` and with the batches as ``count``; besides, ``size``, the values
        in a batch, and ``correlation``, the lag-1 correlation of the batch means. Where that is well above 0 the
        batches remember each other, the interval is too narrow, and the run should be longer. (Of 20 independent
        batches it passes 0.3 about 5 times in 100.)

    Raises
    ------
    ValueError
        `values` is not one-dimensional, not of numbers, or holds NaN or an infinity; there are fewer than two for each
        batch; `level` or `batches` is out of bounds.

    Notes
    -----
    The run is cut into batches of equal length, and their means are treated as :func:`confidence` treats replications.
    How long the run must be depends on the memory of its queue, which grows as ``1 / (1 - load)**2``. For the mean
    delay of M/D/1, 20 batches keep to their level with 20,000 packets at load 0.5 and with 100,000 at load 0.8, while
    with 5000 at load 0.9 intervals of 95 % cover about 82 times in 100. The first ``n mod batches`` values are left
    out. The correlation is that of the means' deviations from the overall mean, ``sum(d[i] d[i+1]) / sum(d[i]**2)``.

    References
    ----------
    B. Schmeiser, "Batch size effects in the analysis of simulation output", *Operations Research* 30, 1982 (10 to 30
    batches); A. M. Law, *Simulation Modeling and Analysis*, 5th ed., McGraw-Hill 2015, section 9.5.3.

    Examples
    --------
    >>> batch_means([1, 2, 3, 4] * 100, batches=10)
    BatchInterval(mean=2.5, half_width=0.0, level=0.95, count=10, size=40, correlation=nan)
    """
    level = open_share(level, "level")
    count = _BATCHES if batches is None else batches
    if isinstance(count, bool) or not isinstance(count, int | np.integer) or count < 2:
        raise ValueError(f"batches must be a whole number of at least 2, got {batches!r}")
    series = _series(values)
    size = len(series) // int(count)
    if size < 2:
        raise ValueError(f"values must be at least {2 * count}, two for each of {count} batches, got {len(series)}")
    series, power = _scaled(series[len(series) - size * count :], 0)
    means = (series - series[0]).reshape(count, size).mean(axis=1)  # equal values then have a mean without rounding
    mean, half_width, _ = _student_interval(means, 0, level)
    with np.errstate(over="ignore", under="ignore"):
        mean_there, half_width = np.ldexp(mean + series[0], power), np.ldexp(half_width, power)
    interval = BatchInterval(float(mean_there), float(half_width), level, int(count))
    interval.size, interval.correlation = size, _lag1(means - mean)
    return interval


def _lag1(deviations: NDArray[np.float64]) -> float:
    squares = float(deviations @ deviations)
    return float(deviations[:-1] @ deviations[1:]) / squares if squares else math.nan


# What is refused ----------------------------------------------------------------------------------------------------


def array_of(values: ArrayLike) -> NDArray[Any]:
    """An array of whatever is given; rows of different lengths make none."""
    try:
        return np.asarray(values)
    except ValueError as error:
        raise ValueError(f"values must be numbers in an array, got {units.shown(values)} ({error})") from None


def _numbers(values: ArrayLike) -> NDArray[np.float64]:
    masked = np.ma.getmaskarray(values) if isinstance(values, np.ma.MaskedArray) else None
    array = array_of(values)
    if array.size and array.dtype.kind not in "iuf":
        raise ValueError(f"values must be integers or floats, got {array.dtype}")
    if masked is not None:
        array = np.where(masked, np.nan, array.astype(np.float64))
    array = array.astype(np.float64, copy=False)
    if np.isinf(array).any():
        raise ValueError("values must be finite or NaN, got an infinity")
    return cast("NDArray[np.float64]", array)


def _line(values: ArrayLike) -> NDArray[np.float64]:
    array = _numbers(values)
    if array.ndim != 1:
        raise ValueError(f"values must have one dimension, got an array of shape {array.shape}")
    return array


def _series(values: ArrayLike) -> NDArray[np.float64]:
    series = _line(values)
    if np.isnan(series).any():
        raise ValueError("values must be finite, got NaN")
    return series
