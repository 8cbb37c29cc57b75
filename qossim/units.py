# SPDX-License-Identifier: MIT
"""Quantities at the edge: numbers and strings with a unit in, exact rationals and picoseconds out.

A number is taken as the decimal it prints as, so that ``0.02`` is exactly 1/50 and ``"300 kbit/s"`` exactly
300000. Rates are bits per second, times seconds (inside: whole picoseconds), sizes bytes.

=========  =============================================================================================
rates      ``bit/s`` or ``bps`` or ``b/s`` with k, M, G, T, Ki, Mi, Gi; ``B/s`` or ``byte/s`` likewise
times      ``ps``, ``ns``, ``us``, ``ms``, ``s``, ``min``, ``h``, ``d``
sizes      ``B`` or ``byte`` with k, M, G (1000) and Ki, Mi, Gi (1024)
packets    ``pps`` or ``packets/s`` with k, M, G
shares     ``%``
=========  =============================================================================================
"""

from __future__ import annotations

import datetime
import functools
import math
import re
from decimal import Decimal
from fractions import Fraction
from typing import Any, TypeAlias

import numpy as np

from qossim.errors import ScenarioError

__all__ = [
    "CLOCK",
    "LONGEST",
    "MAX_RATE",
    "count",
    "number",
    "packet_rate",
    "picoseconds",
    "rate",
    "seconds",
    "share",
    "size",
    "time",
]

Number: TypeAlias = "int | float | Fraction | Decimal | np.integer[Any] | np.floating[Any]"
RateLike: TypeAlias = "Number | str"
SizeLike: TypeAlias = "Number | str"
TimeLike: TypeAlias = "Number | str | datetime.timedelta | np.timedelta64"
Ratio: TypeAlias = "int | tuple[int, int, int]"

PICO = 10**12
CLOCK = 2**63 - 1
"""The end of the clock in picoseconds; nothing happens at it or later."""
LONGEST = 9_200_000 * PICO
"""The longest time that may be given, in picoseconds: a little over 106 days, as long as the clock runs."""
_ZERO = Fraction(0)
MAX_RATE = 8 * 10**12
"""The fastest link in bit/s: a byte still takes a picosecond."""
RATIO_BITS = 63

_NUMBER = re.compile(r"([+-]?(?:\d+/\d+|(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d{1,3})?))(.*)", re.DOTALL)
_PREFIXES = {"": 1, "k": 10**3, "M": 10**6, "G": 10**9, "T": 10**12}
_BINARY = {"Ki": 2**10, "Mi": 2**20, "Gi": 2**30}
_MOST_DIGITS = 400


class _Units(dict[str, Fraction]):
    """Units by name. There are few such tables and none changes, so each is itself and nothing else."""

    __hash__ = object.__hash__  # type: ignore[assignment]
    __eq__ = object.__eq__


def _prefixed(names: dict[str, int], prefixes: dict[str, int]) -> dict[str, Fraction]:
    return {
        prefix + name: Fraction(scale * factor) for prefix, factor in prefixes.items() for name, scale in names.items()
    }


_BITS = {"bit/s": 1, "bits/s": 1, "bps": 1, "b/s": 1}
_RATES = _Units(
    _prefixed(_BITS, _PREFIXES | _BINARY | {"K": 10**3})
    | _prefixed({"B/s": 8, "byte/s": 8, "bytes/s": 8}, _PREFIXES | _BINARY)
)
_SIZES = _Units(_prefixed({"B": 1, "byte": 1, "bytes": 1}, _PREFIXES | _BINARY))
_PACKETS = _Units(
    _prefixed({"pps": 1, "packets/s": 1, "packet/s": 1}, _PREFIXES | {"K": 10**3})
    | {"/s": Fraction(1), "1/s": Fraction(1)}
)
_COUNTS = _Units(dict.fromkeys(("packet", "packets", "particle", "particles"), Fraction(1)))
_SHARES = _Units({"%": Fraction(1, 100)})
_NO_UNITS = _Units()
_TIMES = _Units(
    (name, Fraction(*scale))
    for names, scale in {
        "ps picosecond picoseconds": (1, 10**12),
        "ns nanosecond nanoseconds": (1, 10**9),
        "us \u00b5s \u03bcs usec microsecond microseconds": (1, 10**6),
        "ms msec millisecond milliseconds": (1, 1000),
        "s sec second seconds": (1,),
        "min minute minutes": (60,),
        "h hour hours": (3600,),
        "d day days": (86400,),
    }.items()
    for name in names.split()
)
_NUMPY_UNITS = {
    "W": Fraction(604800),
    "D": Fraction(86400),
    "h": Fraction(3600),
    "m": Fraction(60),
    "s": Fraction(1),
    "ms": Fraction(1, 10**3),
    "us": Fraction(1, 10**6),
    "ns": Fraction(1, 10**9),
    "ps": Fraction(1, 10**12),
    "fs": Fraction(1, 10**15),
    "as": Fraction(1, 10**18),
}


# -- saying no ---------------------------------------------------------------------------------------------------------


def shown(value: object) -> str:
    """A value as an error message quotes it: on one line, not too long, never failing."""
    try:
        if type(value) is str and value.isprintable():
            text = f'"{value}"'
        else:
            text = " ".join((str(value) if isinstance(value, np.number) else repr(value)).split())
    except Exception:
        text = f"a {type(value).__name__} that cannot be printed"
    return text if len(text) <= 100 else f"{text[:90]}... ({len(text)} characters)"


def refusal(field: str, bounds: str, value: object, why: str = "") -> ScenarioError:
    """The exception for a field out of bounds, ready to be raised."""
    return ScenarioError(f"{field} must be {bounds}, got {shown(value)}{f' ({why})' if why else ''}")


# -- reading -----------------------------------------------------------------------------------------------------------


def _exact(value: object, field: str, bounds: str, table: _Units) -> Fraction:
    """The rational a number or a string with a unit stands for."""
    if type(value) is int:  # the common cases first
        return Fraction(value)
    if type(value) is str:
        return _parsed(value, field, bounds, table)
    if type(value) is Fraction:
        return value
    if isinstance(value, np.ndarray) and value.ndim == 0:
        value = value[()]
    match value:
        case bool() | np.bool_() | np.timedelta64():  # to Python and NumPy these are integers
            raise refusal(field, bounds, value, f"a {type(value).__name__} is no number")
        case int() | np.integer():
            return Fraction(int(value))
        case Fraction():
            return value
        case float() | np.floating():
            if not np.isfinite(value):
                raise refusal(field, bounds, value, "it must be finite")
            return Fraction(float.__repr__(value) if isinstance(value, float) else str(value))
        case Decimal():
            if not value.is_finite():
                raise refusal(field, bounds, value, "it must be finite")
            if value and abs(value.adjusted()) > _MOST_DIGITS:
                raise refusal(field, bounds, value)
            return Fraction(value)
        case str():
            return _parsed(value, field, bounds, table)
    raise refusal(field, bounds, value, f"a {type(value).__name__} is no number")


def _parsed(text: str, field: str, bounds: str, table: _Units) -> Fraction:
    read = _read(str(text), table)
    if isinstance(read, str):
        raise refusal(field, bounds, text, read)
    return read


@functools.lru_cache(maxsize=4096)
def _read(text: str, table: _Units) -> Fraction | str:
    """What a string stands for, or why it stands for nothing; scenarios by the thousand repeat the same few."""
    found = _NUMBER.fullmatch(text.strip())
    if not found or len(text) > _MOST_DIGITS:
        return "it does not begin with a number"
    unit = "".join(found[2].split())
    if unit and unit not in table:
        near = [name for name in table if name.lower() == unit.lower()]
        hint = f"did you mean {' or '.join(near)}?" if near else f"units are {_listed(table)}"
        return f'unknown unit "{unit}"; {hint}' if table else "it has no unit"
    try:
        value = Fraction(found[1])
    except (ValueError, ZeroDivisionError) as error:
        return str(error)
    return value * table[unit] if unit else value


def _listed(table: dict[str, Fraction]) -> str:
    common = ["bit/s", "kbit/s", "Mbit/s", "Gbit/s", "Tbit/s", "B/s", "kB/s", "MB/s"]
    common += [
        "ps",
        "ns",
        "us",
        "ms",
        "s",
        "min",
        "h",
        "d",
        "B",
        "kB",
        "MB",
        "KiB",
        "MiB",
        "pps",
        "kpps",
        "packets",
        "%",
    ]
    return ", ".join(name for name in common if name in table)


def number(value: object, field: str, bounds: str = "a finite number") -> Fraction:
    """A plain number, exactly.

    Parameters
    ----------
    value : int, float, str, Fraction, Decimal or NumPy scalar
        Floats are the decimal they print as. Strings may be ``"1.5"`` or ``"1000/3"``.
    field : str
        What the message calls it.
    bounds : str
        What the message says it must be.

    Returns
    -------
    Fraction

    Raises
    ------
    ScenarioError
        It is no finite number (a bool is none either).
    """
    return _exact(value, field, bounds, _NO_UNITS)


def rate(value: RateLike, field: str = "rate") -> Fraction:
    """A bit rate.

    Parameters
    ----------
    value : number or str
        In bit/s, or a string with a unit: ``"2 Mbit/s"``, ``"300 kbps"``, ``"1.5 MB/s"``.
    field : str
        What the message calls it.

    Returns
    -------
    Fraction
        Bit/s, exact, > 0 and <= 8e12; its denominator has at most 63 bits.

    Raises
    ------
    ScenarioError
        It is no such rate.
    """
    if type(value) is str:  # the common case first
        return _rate_of(value) or _checked_rate(value, field)
    return _checked_rate(value, field)


def _checked_rate(value: RateLike, field: str) -> Fraction:
    bounds = "above 0 and at most 8e12 bit/s"
    exact = _exact(value, field, bounds, _RATES)
    if not 0 < exact.numerator <= MAX_RATE * exact.denominator:
        raise refusal(field, bounds, value)
    return fits(exact, field, value)


@functools.lru_cache(maxsize=1024)
def _rate_of(text: str) -> Fraction | None:
    """The rate that a string stands for, if it does: scenarios by the thousand repeat the same few."""
    try:
        return _checked_rate(text, "")
    except ScenarioError:
        return None


def packet_rate(value: RateLike, field: str = "pps") -> Fraction:
    """Packets per second, exact and above 0: a number, or a string as ``"200 pps"`` or ``"5 kpps"``."""
    bounds = "a number of packets/s above 0 and at most 1e12"
    exact = _exact(value, field, bounds, _PACKETS)
    if not 0 < exact.numerator <= PICO * exact.denominator:
        raise refusal(field, bounds, value)
    return exact


def share(value: Number | str, field: str = "share") -> Fraction:
    """A share of a whole, exactly: a number from 0 to 1, or a string as ``"0.1 %"``."""
    bounds = "a share from 0 to 1, or a string with %"
    exact = _exact(value, field, bounds, _SHARES)
    if not 0 <= exact <= 1:
        raise refusal(field, bounds, value)
    return exact


def seconds(value: TimeLike, field: str = "time", bounds: str = "a time in seconds") -> Fraction:
    """A length of time, exactly, in seconds; of any sign and not rounded.

    Parameters
    ----------
    value : number, str, datetime.timedelta or numpy.timedelta64
        In seconds, or a string with a unit: ``"0.691 ms"``, ``"10 min"``.
    field, bounds : str
        For the message: what it is called and what it must be.
    """
    if isinstance(value, datetime.timedelta):
        finer = getattr(value, "nanoseconds", 0)  # of a pandas.Timedelta
        return Fraction(value // datetime.timedelta(microseconds=1), 10**6) + Fraction(finer, 10**9)
    if isinstance(value, np.timedelta64):
        return int(value.astype(np.int64)) * numpy_unit(value, field, bounds)
    return _exact(value, field, bounds, _TIMES)


def numpy_unit(value: np.timedelta64 | np.ndarray[Any, Any], field: str, bounds: str) -> Fraction:
    """Seconds in one step of a timedelta64; NaT and steps that are no fixed time are refused."""
    name, steps = np.datetime_data(value.dtype)
    if name not in _NUMPY_UNITS:
        raise refusal(field, bounds, value, f"{value.dtype} is in steps of no fixed length")
    if np.isnat(value).any():
        raise refusal(field, bounds, value, "NaT is no time")
    return _NUMPY_UNITS[name] * steps


def time(value: TimeLike, field: str = "time", *, positive: bool = False) -> int:
    """A length of time or an instant, to the nearest picosecond.

    Parameters
    ----------
    value : number, str, datetime.timedelta or numpy.timedelta64
        In seconds, or a string with a unit: ``"0.691 ms"``, ``"10 min"``.
    field : str
        What the message calls it.
    positive : bool
        Refuse 0 also.

    Returns
    -------
    int
        Picoseconds, from 0 (from 1 if `positive`) to 9.2e18.

    Raises
    ------
    ScenarioError
        It is no such time.
    """
    if type(value) is int and 0 < value < LONGEST // PICO:  # the common case first
        return value * PICO
    bounds = f"a time {'above 0 s and at most' if positive else 'from 0 to'} 9200000 s (106 days)"
    ps = picoseconds(seconds(value, field, bounds))
    if not (1 if positive else 0) <= ps <= LONGEST:
        raise refusal(field, bounds, value)
    return ps


def whole_time(value: TimeLike, field: str) -> Fraction:
    """As `time`, but in seconds: a Fraction that is whole picoseconds."""
    if type(value) is int and value == 0:
        return _ZERO
    if type(value) is str:
        return _time_of(value) or Fraction(time(value, field), PICO)
    return Fraction(time(value, field), PICO)


@functools.lru_cache(maxsize=1024)
def _time_of(text: str) -> Fraction | None:
    """As `_rate_of`."""
    try:
        return Fraction(time(text), PICO)
    except ScenarioError:
        return None


def picoseconds(value: Fraction) -> int:
    """Fraction seconds as whole picoseconds (nearest, ties to even)."""
    steps, rest = divmod(PICO, value.denominator)
    return round(value * PICO) if rest else value.numerator * steps


def count(value: object, field: str, minimum: int = 0, maximum: int = 2**62) -> int:
    """A whole number within bounds, such as a limit in packets; ``10.0`` is 10, ``10.5`` is refused."""
    if type(value) is int and minimum <= value <= maximum:  # the common case first
        return value
    bounds = f"a whole number from {minimum} to {_said(maximum)}"
    return _whole(value, field, bounds, _COUNTS, minimum, maximum)


def size(value: object, field: str, minimum: int = 0, maximum: int = 2**62) -> int:
    """A whole number of bytes within bounds: a number, or a string as ``"8 kB"`` (1000) or ``"8 KiB"`` (1024)."""
    if type(value) is int and minimum <= value <= maximum:  # the common case first
        return value
    bounds = f"a whole number of bytes from {minimum} to {_said(maximum)}"
    return _whole(value, field, bounds, _SIZES, minimum, maximum)


def exact_size(value: object, field: str, minimum: int, maximum: int) -> Fraction:
    """A number of bytes within bounds that need not be whole."""
    bounds = f"a number of bytes from {minimum} to {_said(maximum)}"
    exact = _exact(value, field, bounds, _SIZES)
    if not minimum <= exact <= maximum:
        raise refusal(field, bounds, value)
    return fits(exact, field, value)


def _said(bound: int) -> str:
    return "2**62" if bound == 2**62 else str(bound)


def _whole(value: object, field: str, bounds: str, table: _Units, minimum: int, maximum: int) -> int:
    exact = _exact(value, field, bounds, table)
    if exact.denominator != 1 or not minimum <= exact <= maximum:
        raise refusal(field, bounds, value)
    return int(exact)


# -- towards the core --------------------------------------------------------------------------------------------------


def fits(exact: Fraction, field: str, given: object) -> Fraction:
    """Itself, if the core can hold it: ``whole + part/per``, each below 2**63."""
    if exact.denominator >> RATIO_BITS or abs(exact.numerator) >> RATIO_BITS:
        raise refusal(field, "a ratio of whole numbers below 2**63", given, "it has too many digits: round it")
    return exact


def ratio(exact: Fraction) -> Ratio:
    """The core's form of a rational that `fits`: an int, or (whole, part, per)."""
    per = exact.denominator
    if per == 1:
        return exact.numerator
    whole, part = divmod(exact.numerator, per)
    return whole, part, per


def integers(values: list[Fraction]) -> list[int]:
    """The smallest whole numbers in the proportion of positive rationals."""
    common = math.lcm(*(value.denominator for value in values))
    scaled = [int(value * common) for value in values]
    divisor = math.gcd(*scaled)
    return [value // divisor for value in scaled]


# -- writing -----------------------------------------------------------------------------------------------------------


def digits(exact: Fraction) -> str:
    """A rational in full: ``0.691`` where decimals end, ``1000/3`` where they do not."""
    rest, places = exact.denominator, 0
    for prime in (2, 5):
        power = 0
        while rest % prime == 0:
            rest //= prime
            power += 1
        places = max(places, power)
    if rest != 1:
        return f"{exact.numerator}/{exact.denominator}"
    if places == 0:
        return str(exact.numerator)
    text = str(abs(exact.numerator) * 10**places // exact.denominator).rjust(places + 1, "0")
    return f"{'-' if exact < 0 else ''}{text[:-places]}.{text[-places:]}"


def plain(exact: Fraction) -> int | float | str:
    """The plainest value that is read back as the same rational: an int, a float, else a string."""
    if exact.denominator == 1 and abs(exact) < 2**63:
        return int(exact)
    try:
        approximate = float(exact)
    except OverflowError:
        return digits(exact)
    return approximate if Fraction(repr(approximate)) == exact else digits(exact)


_WRITTEN: dict[str, dict[str, Fraction]] = {
    "bit/s": {prefix: Fraction(10**power) for prefix, power in (("T", 12), ("G", 9), ("M", 6), ("k", 3), ("", 0))},
    "s": {prefix: Fraction(1, 10**power) for prefix, power in (("", 0), ("m", 3), ("u", 6), ("n", 9), ("p", 12))},
    "B": {"": Fraction(1)},
}


def text(exact: Fraction, unit: str) -> str:
    """A quantity with its unit, exactly: ``2 Mbit/s``, ``691 us``, ``1000/3 bit/s``."""
    written = digits(exact)
    if exact == 0 or "/" in written:
        return f"{written} {unit}"
    scales = _WRITTEN[unit]
    prefix = next((p for p, factor in scales.items() if abs(exact) >= factor), list(scales)[-1])
    return f"{digits(exact / scales[prefix])} {prefix}{unit}"


def short(exact: Fraction, unit: str, figures: int = 4) -> str:
    """A quantity for a label: as `text`, to a few significant figures."""
    for prefix, factor in _WRITTEN[unit].items():
        if abs(exact) >= factor:
            return f"{float(exact / factor):.{figures}g} {prefix}{unit}"
    return f"{float(exact):.{figures}g} {unit}"
