# SPDX-License-Identifier: MIT
"""Source: where packets come from. A flow is a source with a name, a DSCP and a route."""

from __future__ import annotations

from dataclasses import field
from fractions import Fraction
from math import floor
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Self

import numpy as np

from qossim import units
from qossim.errors import ScenarioError
from qossim.scenario import _dscp
from qossim.scenario._describe import (
    Description,
    Spec,
    Value,
    checked_instance,
    checked_list,
    checked_name,
    description,
    first_duplicate,
)

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import ArrayLike, NDArray

    from qossim.units import Number, RateLike, SizeLike, TimeLike

__all__ = ["CBR", "Flow", "Poisson", "Sizes", "Source", "Trace"]

LARGEST = 65535
"""Bytes of the largest IP datagram (RFC 791)."""


class Source(Description):
    """Base of the sources."""

    __slots__ = ()

    def _draws(self) -> bool:
        """Whether it needs a random stream."""
        raise NotImplementedError


@description
class Sizes(Description):
    """Packet sizes to draw from, independently for each packet.

    Parameters
    ----------
    values : sequence of int
        Bytes of the IP datagram, 1 to 65535.
    weights : sequence of numbers, optional
        How often each is drawn, relative to the others; above 0. Equal if left out. As whole numbers in the same
        proportion they must add up to less than 2**63.

    Attributes
    ----------
    values : tuple of int
    weights : tuple of int
        The smallest whole numbers in the proportion given.

    Examples
    --------
    >>> Sizes([40, 576, 1500], weights=[7, 4, 1]).mean      # the simple IMIX
    Fraction(1021, 3)
    """

    values: tuple[int, ...]
    weights: tuple[int, ...]

    kind: ClassVar[str] = "sizes"
    _positional: ClassVar[tuple[str, ...]] = ("values",)

    def __init__(
        self, values: Sequence[int] | NDArray[Any], weights: Sequence[Number | str] | NDArray[Any] | None = None
    ) -> None:
        given = checked_list(values, "Sizes: values", f"a list of whole numbers of bytes from 1 to {LARGEST}")
        sizes = tuple(units.size(v, f"Sizes: values[{i}]", 1, LARGEST) for i, v in enumerate(given))
        if not sizes:
            raise units.refusal("Sizes: values", "at least one size", values)
        self._set(values=sizes, weights=(1,) * len(sizes) if weights is None else _weights(weights, len(sizes)))

    @property
    def mean(self) -> Fraction:
        """Mean size in bytes, exact."""
        return Fraction(sum(v * w for v, w in zip(self.values, self.weights, strict=True)), sum(self.weights))

    def _arguments(self) -> dict[str, Any]:
        return {"values": self.values, "weights": None if set(self.weights) == {1} else self.weights}

    def _settings(self) -> tuple[tuple[str, Value], ...]:
        cumulative = np.cumsum(np.array(self.weights, dtype=np.int64))
        return ("sizes", np.array(self.values, dtype=np.int64)), ("weights", cumulative)


def _weights(given: object, length: int) -> tuple[int, ...]:
    bounds = f"{length} numbers above 0, one for each size"
    weights = [
        units.number(w, f"Sizes: weights[{i}]", "a number above 0")
        for i, w in enumerate(checked_list(given, "Sizes: weights", bounds))
    ]
    if len(weights) != length:
        raise units.refusal("Sizes: weights", bounds, given, f"{len(weights)} of them")
    for i, weight in enumerate(weights):
        if weight <= 0:
            raise units.refusal(f"Sizes: weights[{i}]", "a number above 0", weight)
    whole = units.integers(weights)
    if sum(whole) >= 2**63:
        raise units.refusal(
            "Sizes: weights", "in proportion to whole numbers that add up to less than 2**63", given, "round them"
        )
    return tuple(whole)


def _checked_size(value: object, owner: str) -> int | Sizes:
    if value is None:
        raise units.refusal(f"{owner}: size", f"given, a number of bytes from 1 to {LARGEST} or Sizes", value)
    if isinstance(value, Sizes):
        return value
    if isinstance(value, (list, tuple)) or (isinstance(value, np.ndarray) and value.ndim):
        raise units.refusal(
            f"{owner}: size", f"a number of bytes from 1 to {LARGEST} or Sizes", value, "write Sizes(...)"
        )
    return units.size(value, f"{owner}: size", 1, LARGEST)


def _mean_bits(size: int | Sizes) -> Fraction:
    return 8 * size.mean if isinstance(size, Sizes) else Fraction(8 * size)


def _size_settings(size: int | Sizes) -> tuple[tuple[str, Value], ...]:
    return size._settings() if isinstance(size, Sizes) else (("size", size),)


def _checked_interval(
    owner: str, size: int | Sizes, rate: object, pps: object, interval: object, forms: tuple[str, ...]
) -> tuple[str, Fraction]:
    """The mean time between packets from the one form in which it is given, and that form's name."""
    given = {name: v for name, v in [("rate", rate), ("pps", pps), ("interval", interval)] if v is not None}
    if len(given) != 1:
        got = " and ".join(f"{name}={units.shown(value)}" for name, value in given.items()) or "none"
        raise ScenarioError(f"{owner}: exactly one of {', '.join(forms)} must be given, got {got}")
    [(form, value)] = given.items()
    name = f"{owner}: {form}"
    bounds = "such that packets are 1 ps to 9200000 s (106 days) apart"
    if form == "rate":
        seconds = _mean_bits(size) / units.rate(value, name)  # type: ignore[arg-type]
    elif form == "pps":
        seconds = 1 / units.packet_rate(value, name)  # type: ignore[arg-type]
    else:
        seconds = units.seconds(value, name, bounds)  # type: ignore[arg-type]
    if not seconds.denominator <= seconds.numerator * units.PICO <= units.LONGEST * seconds.denominator:
        raise units.refusal(name, bounds, value)
    return form, seconds


@description
class CBR(Source):
    """Constant bit rate: packet k leaves at ``start + phase + floor(k * interval)``, to the picosecond.

    With `jitter` each packet leaves later than that by a time of its own. Exactly one of `rate`, `pps` and `interval`
    is given.

    Parameters
    ----------
    rate : number or str, optional
        Bits of IP datagrams per second, above 0 and at most 8e12; a number or ``"300 kbit/s"``.
    size : int or Sizes
        Bytes of the IP datagram, 1 to 65535, or sizes to draw from.
    pps : number or str, optional
        Packets per second.
    interval : number or str, optional
        Seconds between packets, exact (not rounded), 1 ps to 9.2e6 s; a number or ``"20 ms"``.
    phase : number, str or "random"
        Seconds from the flow's start to its first packet, from 0; ``"random"`` draws it uniformly over one interval
        from the flow's own stream.
    jitter : number or str
        Seconds, from 0 to the interval (to whole picoseconds): every packet is late by a time that is drawn uniformly
        from 0 up to this, independently, in whole picoseconds and from the flow's own stream. Lateness does not add
        up, and packets do not overtake each other.

    Attributes
    ----------
    interval : Fraction
        Seconds, exact, in whichever form it was given.
    size : int or Sizes
    phase : Fraction or "random"
        Seconds.
    jitter : Fraction
        Seconds.
    """

    interval: Fraction
    size: int | Sizes
    phase: Fraction | Literal["random"]
    jitter: Fraction
    _form: str

    kind: ClassVar[str] = "cbr"
    _units: ClassVar[Mapping[str, str]] = {"rate": "bit/s", "interval": "s", "phase": "s", "jitter": "s"}

    def __init__(
        self,
        rate: RateLike | None = None,
        size: SizeLike | Sizes | None = None,
        *,
        pps: RateLike | None = None,
        interval: TimeLike | None = None,
        phase: TimeLike = 0,
        jitter: TimeLike = 0,
    ) -> None:
        checked = _checked_size(size, "CBR")
        form, seconds = _checked_interval("CBR", checked, rate, pps, interval, ("rate", "pps", "interval"))
        if seconds.denominator >= 2**63 and (seconds * units.PICO).denominator >= 2**63:
            bounds = "such that the picoseconds between packets are a ratio of whole numbers below 2**63"
            raise units.refusal(f"CBR: {form}", bounds, {"rate": rate, "pps": pps}.get(form, interval), "round it")
        at: Fraction | str = (
            "random" if isinstance(phase, str) and phase == "random" else units.whole_time(phase, "CBR: phase")
        )
        late = units.whole_time(jitter, "CBR: jitter")
        if late * units.PICO > floor(seconds * units.PICO):
            bounds = f"at most the interval, {units.short(seconds, 's')}, so that packets do not overtake each other"
            raise units.refusal("CBR: jitter", bounds, jitter)
        self._set(interval=seconds, size=checked, phase=at, jitter=late, _form=form)

    @property
    def rate(self) -> Fraction:
        """Mean bits of IP datagrams per second, exact."""
        return _mean_bits(self.size) / self.interval

    @property
    def pps(self) -> Fraction:
        """Packets per second, exact."""
        return 1 / self.interval

    def _arguments(self) -> dict[str, Any]:
        return {self._form: getattr(self, self._form), "size": self.size, "phase": self.phase, "jitter": self.jitter}

    def replace(self, **changes: Any) -> Self:
        """The same source with some arguments changed; a new rate, pps or interval takes the old one's place."""
        return type(self)(**_replaced(self, changes))

    def _draws(self) -> bool:
        return self.phase == "random" or self.jitter > 0 or isinstance(self.size, Sizes)

    def _lower(self) -> Spec:
        phase: tuple[str, Value]
        phase = ("random", 1) if isinstance(self.phase, str) else ("phase", units.picoseconds(self.phase))
        interval = units.ratio(self.interval * units.PICO)
        jitter = (("jitter", units.picoseconds(self.jitter)),) if self.jitter else ()
        return self.kind, (("interval", interval), phase, *jitter, *_size_settings(self.size))


@description
class Poisson(Source):
    """Poisson arrivals: independent exponential gaps, each rounded to the picosecond.

    Exactly one of `rate` and `pps` is given.

    Parameters
    ----------
    rate : number or str, optional
        Mean bits of IP datagrams per second, above 0 and at most 8e12; a number or ``"3 Mbit/s"``.
    size : int or Sizes
        Bytes of the IP datagram, 1 to 65535, or sizes to draw from.
    pps : number or str, optional
        Mean packets per second.

    Attributes
    ----------
    pps : Fraction
        Packets per second, exact, in whichever form it was given.
    size : int or Sizes
    """

    pps: Fraction
    size: int | Sizes
    _form: str

    kind: ClassVar[str] = "poisson"
    _units: ClassVar[Mapping[str, str]] = {"rate": "bit/s"}

    def __init__(
        self, rate: RateLike | None = None, size: SizeLike | Sizes | None = None, *, pps: RateLike | None = None
    ) -> None:
        checked = _checked_size(size, "Poisson")
        form, seconds = _checked_interval("Poisson", checked, rate, pps, None, ("rate", "pps"))
        self._set(pps=1 / seconds, size=checked, _form=form)

    @property
    def rate(self) -> Fraction:
        """Mean bits of IP datagrams per second, exact."""
        return _mean_bits(self.size) * self.pps

    @property
    def interval(self) -> Fraction:
        """Mean time between packets in seconds, exact."""
        return 1 / self.pps

    def _arguments(self) -> dict[str, Any]:
        return {self._form: getattr(self, self._form), "size": self.size}

    def replace(self, **changes: Any) -> Self:
        """The same source with some arguments changed; a new rate or pps takes the old one's place."""
        return type(self)(**_replaced(self, changes))

    def _draws(self) -> bool:
        return True

    def _lower(self) -> Spec:
        nearest = Fraction(
            float(self.interval * units.PICO)
        )  # all the core needs for what it multiplies by a logarithm
        return self.kind, (("interval", units.ratio(nearest)), *_size_settings(self.size))


def _replaced(source: CBR | Poisson, changes: dict[str, Any]) -> dict[str, Any]:
    arguments = source._arguments()
    if any(changes.get(form) is not None for form in ("rate", "pps", "interval")):
        del arguments[source._form]
    return arguments | changes


@description
class Trace(Source):
    """Recorded or computed arrivals, packet by packet.

    Parameters
    ----------
    times : array_like
        When each packet leaves, counted from the flow's start: seconds (floats or integers; floats become
        ``np.rint(t * 1e12)`` picoseconds) or timedelta64 of any unit. Not negative, never falling, at most 9.2e6 s.
    sizes : array_like of int, or int
        Bytes of each IP datagram, 1 to 65535; one number serves for all.

    Attributes
    ----------
    times : ndarray of int64, (n,)
        Picoseconds; read-only.
    sizes : ndarray of int32, (n,)
        Bytes; read-only.
    """

    times: NDArray[np.int64]
    sizes: NDArray[np.int32]

    kind: ClassVar[str] = "trace"

    def __init__(self, times: ArrayLike, sizes: ArrayLike) -> None:
        ps = _times(times)
        bytes_ = _sizes(sizes, len(ps))
        ps.flags.writeable = bytes_.flags.writeable = False
        self._set(times=ps, sizes=bytes_)

    def _arguments(self) -> dict[str, Any]:
        return {"times": self.times.view("m8[ps]"), "sizes": self.sizes}

    def _identity(self) -> tuple[object, ...]:
        return self.times.tobytes(), self.sizes.tobytes()

    def __len__(self) -> int:
        return len(self.times)

    def __repr__(self) -> str:
        if len(self) <= 8:
            times = (self.times / 1e12).tolist()
            if np.array_equal(np.rint(np.array(times) * 1e12), self.times):
                return f"Trace({times}, {self.sizes.tolist()})"
        last = units.text(Fraction(int(self.times[-1]), units.PICO), "s") if len(self) else ""
        return f"<Trace of {len(self)} packets, the last at {last}, {self.sizes.min()} to {self.sizes.max()} bytes>"

    def _draws(self) -> bool:
        return False

    def _lower(self) -> Spec:
        return self.kind, (("times", self.times), ("sizes", self.sizes.astype(np.int64)))


def _array(value: ArrayLike, name: str, bounds: str) -> NDArray[Any]:
    try:
        array = np.asarray(value)
    except (TypeError, ValueError) as error:
        raise units.refusal(name, bounds, value, str(error)) from None
    if np.ma.isMaskedArray(value):
        raise units.refusal(name, bounds, "a masked array")
    return array


def _times(value: ArrayLike) -> NDArray[np.int64]:
    name, bounds = "Trace: times", "seconds (float, int or timedelta64) from 0 to 9200000 (106 days), never falling"
    array = _array(value, name, bounds)
    if array.ndim != 1:
        raise units.refusal(name, f"one-dimensional, {bounds}", value, f"{array.ndim} dimensions")
    if array.dtype.kind == "f":
        ps = _times_from_floats(array.astype(np.float64), name, bounds)
    elif array.dtype.kind in "iu":
        _refuse_where((array < 0) | (array > units.LONGEST // units.PICO), array, name, bounds)
        ps = array.astype(np.int64) * units.PICO
    elif array.dtype.kind == "m":
        ps = _times_from_timedelta(array, name, bounds)
    else:
        raise units.refusal(name, bounds, value, f"the array's dtype is {array.dtype}")
    falls = np.flatnonzero(np.diff(ps) < 0)
    if len(falls):
        i = int(falls[0])
        raise units.refusal(f"{name}[{i + 1}]", bounds, array[i + 1], f"times[{i}] is {array[i]}")
    return ps


def _times_from_floats(array: NDArray[np.float64], name: str, bounds: str) -> NDArray[np.int64]:
    with np.errstate(over="ignore"):
        ps = np.rint(array * 1e12)
    _refuse_where(~((ps >= 0) & (ps <= units.LONGEST)), array, name, bounds)
    return ps.astype(np.int64)


def _times_from_timedelta(array: NDArray[Any], name: str, bounds: str) -> NDArray[np.int64]:
    step = units.numpy_unit(array, name, bounds) * units.PICO
    whole = array.astype(np.int64)
    _refuse_where((whole < 0) | (whole > units.LONGEST // step), array, name, bounds)
    if step.denominator == 1:
        return whole * int(step)
    part = step.denominator  # a unit below the picosecond: to the nearest, ties to even
    down, rest = np.divmod(whole, np.int64(part))
    up = (2 * rest > part) | ((2 * rest == part) & (down % 2 == 1))
    ps: NDArray[np.int64] = down + up
    return ps


def _sizes(value: ArrayLike, length: int) -> NDArray[np.int32]:
    name, bounds = "Trace: sizes", f"whole numbers of bytes from 1 to {LARGEST}, one for each time"
    array = _array(value, name, bounds)
    if array.size == 0 and array.ndim == 1:
        array = array.astype(np.int32)
    if array.dtype.kind not in "iu":
        raise units.refusal(name, bounds, value, f"the array's dtype is {array.dtype}")
    if array.ndim == 0:
        array = np.full(length, array)
    if array.shape != (length,):
        raise units.refusal(name, bounds, value, f"{length} times, sizes of shape {array.shape}")
    _refuse_where((array < 1) | (array > LARGEST), array, name, bounds)
    return array.astype(np.int32)


def _refuse_where(bad: NDArray[np.bool_], array: NDArray[Any], name: str, bounds: str) -> None:
    if bad.any():
        i = int(np.argmax(bad))
        raise units.refusal(f"{name}[{i}]", bounds, array[i])


@description
class Flow(Description):
    """A stream of packets with a name, a mark and a way to go.

    Parameters
    ----------
    name : str
        Its name in results; also what its random stream is derived from.
    source : CBR, Poisson or Trace
        When its packets leave and how large they are.
    dscp : int or str
        DiffServ code point of its packets, 0 to 63 or a name such as ``"EF"`` or ``"AF41"`` (RFC 2474, 2597, 3246).
    route : sequence of str, optional
        Names of the ports it passes, in order, each once; all ports in order of declaration if left out.
    start : number or str
        Seconds from the start of the run to that of the source, from 0.
    stop : number or str, optional
        Seconds from the start of the run; it sends what leaves before. Never, if left out.

    Attributes
    ----------
    name : str
    source : Source
    dscp : int
    route : tuple of str or None
    start : Fraction
        Seconds, whole picoseconds.
    stop : Fraction or None
        Seconds, whole picoseconds.
    """

    name: str
    source: Source
    dscp: int
    route: tuple[str, ...] | None
    start: Fraction
    stop: Fraction | None
    _lowered: tuple[Spec, bool, int, int] | None = field(init=False)

    kind: ClassVar[str] = "flow"
    _positional: ClassVar[tuple[str, ...]] = ("name", "source")
    _units: ClassVar[Mapping[str, str]] = {"dscp": "dscp", "start": "s", "stop": "s"}

    def __init__(
        self,
        name: str,
        source: Source,
        *,
        dscp: int | str = 0,
        route: Sequence[str] | None = None,
        start: TimeLike = 0,
        stop: TimeLike | None = None,
    ) -> None:
        name = checked_name(name, "Flow")
        owner = f'Flow "{name}"'
        begin = units.whole_time(start, f"{owner}: start")
        end = None if stop is None else units.whole_time(stop, f"{owner}: stop")
        if end is not None and end < begin:
            raise units.refusal(f"{owner}: stop", f"at or after start, {units.text(begin, 's')}", stop)
        self._set(
            name=name,
            source=checked_instance(source, f"{owner}: source", Source, 'CBR("300 kbit/s", 1000)'),
            dscp=_dscp.code(dscp, f"{owner}: dscp"),
            route=None if route is None else _checked_route(route, owner),
            start=begin,
            stop=end,
            _lowered=None,
        )

    def _lower_source(self) -> tuple[Spec, bool, int, int]:
        """The source in the core's form, whether it draws, start and stop; made once, for the scenarios of a sweep."""
        if self._lowered is None:
            stop = units.CLOCK if self.stop is None else units.picoseconds(self.stop)
            lowered = self.source._lower(), self.source._draws(), units.picoseconds(self.start), stop
            self._set(_lowered=lowered)
            return lowered
        return self._lowered


def _checked_route(value: object, owner: str) -> tuple[str, ...]:
    field_, bounds = f"{owner}: route", "a list of port names, at least one, each once"
    names = checked_list(value, field_, bounds)
    if not names or not all(isinstance(name, str) for name in names):
        raise units.refusal(field_, bounds, value)
    twice = first_duplicate(names)
    if twice is not None:
        raise units.refusal(field_, bounds, names, f'port "{twice}" stands in it twice')
    return tuple(str(name) for name in names)
