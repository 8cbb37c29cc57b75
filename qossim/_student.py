# SPDX-License-Identifier: MIT
"""Quantiles of Student's t distribution, without SciPy."""

from __future__ import annotations

import functools
import math
from statistics import NormalDist
from typing import Any

from qossim import units

__all__ = ["open_share", "student_t_quantile"]

_MANY = 1e5
"""Degrees of freedom from which on the expansion about the normal distribution is exact to the last digits."""
_LEAST = 1e-307
_TINY = 1e-300


def student_t_quantile(p: float, df: float) -> float:
    """Quantile of Student's t distribution.

    Parameters
    ----------
    p : float
        Probability, at least 1e-307 and below 1: beyond, t itself may be beyond all floats.
    df : float
        Degrees of freedom, at least 1; not necessarily whole. ``inf`` is the normal distribution.

    Returns
    -------
    float
        The t with ``P(T <= t) = p``, to a relative error below 1e-12.

    Raises
    ------
    ValueError
        `p` or `df` is out of bounds.

    Notes
    -----
    Newton's method on the logarithm of the probability as a function of ``log t``, which is concave: it approaches from
    one side and cannot overshoot twice. Between 0 and t the probability is a series of positive terms; beyond t it is
    the continued fraction of the incomplete beta function. From 100,000 degrees of freedom on, an expansion about the
    normal quantile takes their place.

    References
    ----------
    "Student", "The probable error of a mean", *Biometrika* 6, 1908; M. Abramowitz and I. A. Stegun, *Handbook of
    Mathematical Functions*, 1964, sections 26.5.8, 26.5.23 and 26.7.5.

    Examples
    --------
    >>> f"{student_t_quantile(0.975, 24):.4f}"
    '2.0639'
    """
    probability, freedom = _float(p), _float(df)
    if not _LEAST <= probability < 1:
        raise ValueError(f"p must be at least {_LEAST:g} and below 1, got {units.shown(p)}")
    if not freedom >= 1:
        raise ValueError(f"df must be a number of at least 1, got {units.shown(df)}")
    return _quantile(probability, freedom)


def open_share(value: object, name: str) -> float:
    """A number above 0 and below 1 as a float, or a ValueError that names it."""
    share = _float(value)
    if not 0 < share < 1:
        raise ValueError(f"{name} must be above 0 and below 1, got {units.shown(value)}")
    return share


def _float(value: Any) -> float:
    """The number as a float, infinite if it is too large for one; NaN if it is none."""
    if isinstance(value, str | bytes | bytearray):
        return math.nan
    try:
        return float(value)
    except OverflowError:
        return math.inf if value > 0 else -math.inf
    except (TypeError, ValueError):
        return math.nan


@functools.lru_cache(maxsize=1024)
def _quantile(p: float, df: float) -> float:
    if p == 0.5:
        return 0.0
    beyond = min(p, 1 - p)
    if df >= _MANY:
        size = _near_normal(-NormalDist().inv_cdf(beyond), df)
    elif beyond > 0.25:
        size = _inner_quantile(abs(p - 0.5), df)
    else:
        size = _outer_quantile(beyond, df)
    return math.copysign(size, p - 0.5)


def _near_normal(z: float, df: float) -> float:
    """The quantile from the normal one, for many degrees of freedom (26.7.5)."""
    z2 = z * z
    terms = (
        (z2 + 1) / 4,
        ((5 * z2 + 16) * z2 + 3) / 96,
        (((3 * z2 + 19) * z2 + 17) * z2 - 15) / 384,
        ((((79 * z2 + 776) * z2 + 1482) * z2 - 1920) * z2 - 945) / 92160,
    )
    series = 0.0
    for term in reversed(terms):  # a power of df may be beyond all floats
        series = (term + series) / df
    return z * (1 + series)


def _inner_quantile(share: float, df: float) -> float:
    """The t with ``P(0 < T < t) = share``, for a share of at most 1/4."""
    log_t = math.log(share) - _log_density(0.0, df)  # as if the density did not fall: never above the quantile
    for _ in range(50):
        t = math.exp(log_t)
        inner = _inner(t, df)
        step = math.log(share / inner) * inner / (t * math.exp(_log_density(t, df)))
        log_t += step
        if abs(step) < 1e-15:
            break
    return math.exp(log_t)


def _outer_quantile(share: float, df: float) -> float:
    """The t with ``P(T > t) = share``, for a share of at most 1/4."""
    log_t, log_share = math.log(-NormalDist().inv_cdf(share)), math.log(share)
    for _ in range(100):
        t = math.exp(log_t)
        log_outer = _log_outer(t, df)
        step = (log_outer - log_share) * math.exp(log_outer - log_t - _log_density(t, df))
        log_t += step
        if abs(step) < 1e-15 * max(1.0, abs(log_t)):
            break
    return math.exp(log_t)


@functools.lru_cache(maxsize=1024)
def _log_peak(df: float) -> float:
    """Logarithm of the density at 0, ``Gamma((df + 1) / 2) / (sqrt(pi df) Gamma(df / 2))``."""
    if df < 100:
        return math.lgamma((df + 1) / 2) - math.lgamma(df / 2) - math.log(math.pi * df) / 2
    # Two large logarithms would leave few digits of their difference; this is Stirling's series for it.
    series = ((17 / df**2 / 224 - 1 / 20) / df**2 + 1 / 24) / df**2 - 1 / 4
    return series / df - math.log(2 * math.pi) / 2


def _log_stretch(t: float, df: float) -> float:
    """Logarithm of ``1 + t**2 / df``, for any t that is a number."""
    scaled = t / math.sqrt(df)
    return math.log1p(scaled * scaled) if scaled < 1 else 2 * math.log(math.hypot(1.0, scaled))


def _log_density(t: float, df: float) -> float:
    return _log_peak(df) - (df + 1) / 2 * _log_stretch(t, df)


def _inner(t: float, df: float) -> float:
    """P(0 < T < t): a series in ``y = t**2 / (df + t**2)`` whose terms are all positive (26.5.23, transformed)."""
    y = t * t / (df + t * t)
    term = total = 1.0
    k = 0
    while term > 1e-17 * total:
        term *= y * (df + 1 + 2 * k) / (3 + 2 * k)
        total += term
        k += 1
    return t * math.exp(_log_density(t, df)) * total


def _log_outer(t: float, df: float) -> float:
    """Logarithm of P(T > t)."""
    if t * t < 3:
        return math.log(0.5 - _inner(t, df))
    stretch = _log_stretch(t, df)
    # P(T > t) = I_x(df / 2, 1 / 2) / 2 with x = 1 / (1 + t**2 / df), and the factor before the continued fraction,
    # x**a (1 - x)**b / (2 a B(a, b)), is the peak times sqrt(1 - x) x**a / sqrt(df).
    x = math.exp(-stretch)
    factor = _log_peak(df) - math.log(df) / 2 - df / 2 * stretch + math.log1p(-x) / 2
    return factor + math.log(_beta_fraction(x, df / 2, 0.5))


def _beta_fraction(x: float, a: float, b: float) -> float:
    """The continued fraction of the incomplete beta function (26.5.8), by Lentz's method."""
    c = 1.0
    d = 1 / (1 - (a + b) * x / (a + 1))  # b is below 1
    value = d
    for m in range(1, 100_000):
        for numerator in (
            m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m)),
            -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1)),
        ):
            d = 1 + numerator * d
            c = 1 + numerator / c
            d = 1 / (d if abs(d) > _TINY else _TINY)
            c = c if abs(c) > _TINY else _TINY
            value *= c * d
        if abs(c * d - 1) < 1e-16:
            break
    return value
