# SPDX-License-Identifier: MIT
"""Objectives by name: what a policy's ``delay_p99`` means, what a flow has for it, and how sure that is."""

from __future__ import annotations

import difflib
import functools
import math
import re
from fractions import Fraction
from statistics import NormalDist
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from qossim import units
from qossim._columns import Fate
from qossim.errors import ScenarioError
from qossim.statistics import Statistics, StreamedStatistics, batch_means, confidence, quantile_confidence

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from qossim.result import FlowResult
    from qossim.sla import Call

__all__ = [
    "NAMES",
    "Estimate",
    "Named",
    "at_least",
    "check_recorded",
    "estimate",
    "limit",
    "statistic",
    "unit",
    "why_nothing",
]

_NAN = math.nan

# -- statistics by name ------------------------------------------------------------------------------------------------


class Named(NamedTuple):
    """What an objective's name stands for."""

    family: str
    kind: str
    q: Fraction | None = None


_AT_LEAST = frozenset({"throughput", "mos", "r"})
_LONE = {
    "jitter": Named("jitter", "last"),
    "loss": Named("loss", "all"),
    "loss_queue": Named("loss", "queue"),
    "loss_policer": Named("loss", "policer"),
    "throughput": Named("throughput", "mean"),
    "mos": Named("call", "mos"),
    "r": Named("call", "r"),
}
_KINDS = {"delay": ("min", "mean", "max"), "ipdv": ("mean", "max"), "pdv": ("mean", "max")}
_UNITS = {"delay": "s", "ipdv": "s", "pdv": "s", "jitter": "s", "loss": "%", "throughput": "bit/s", "call": ""}
_OUTERMOST = Fraction(1, 10**15)  # share below or above a percentile; a float holds it and one less it
_PERCENTILE = re.compile(r"p(\d{1,2}(?:_\d+)?)")
NAMES = (
    *(f"{family}_{kind}" for family, kinds in _KINDS.items() for kind in (*kinds, "p99", "p99_9")),
    *_LONE,
)


def at_least(name: str) -> bool:
    """Whether more of it is better."""
    return name in _AT_LEAST


def unit(name: str) -> str:
    """The unit that its values have: "s", "bit/s", "%" (of a share from 0 to 1) or "" (none)."""
    return _UNITS[statistic(name).family]


def statistic(name: str) -> Named:
    """What a name stands for."""
    found = _found(name)
    if found is None:
        near = difflib.get_close_matches(name, NAMES, 1)
        hint = f"did you mean {near[0]}? " if near else ""
        listed = ", ".join(each for each in NAMES if not each.endswith("p99_9"))
        raise ScenarioError(f"SLA: there is no objective {name}; {hint}There are {listed}, and any other percentile")
    return found


@functools.lru_cache(maxsize=256)
def _found(name: str) -> Named | None:
    if name in _LONE:
        return _LONE[name]
    family, _, kind = name.partition("_")
    if kind in _KINDS.get(family, ()):
        return Named(family, kind)
    found = _PERCENTILE.fullmatch(kind)
    if family in _KINDS and found:
        q = Fraction(found[1].replace("_", ".")) / 100
        return Named(family, "quantile", q) if q else None
    return None


def limit(name: str, value: Any) -> Fraction:
    """A limit, exactly, in SI units."""
    named, field = statistic(name), f"SLA: {name}"
    if named.q is not None and not _OUTERMOST <= named.q <= 1 - _OUTERMOST:
        given = _PERCENTILE.fullmatch(name.partition("_")[2])
        raise units.refusal(
            f"{field}: the percentile", "from 1e-13 to 100 - 1e-13", given and given[1].replace("_", "."), "in percent"
        )
    if named.family == "loss":
        return units.share(value, field)
    if named.family == "throughput":
        return units.rate(value, field)
    if named.family != "call":
        longest = Fraction(units.LONGEST, units.PICO)
        bounds = f"a time from 0 to {longest} s (106 days)"
        exact = units.seconds(value, field, bounds)
        if not 0 <= exact <= longest:
            raise units.refusal(field, bounds, value)
        return exact
    least, most = (1.0, 4.5) if named.kind == "mos" else (0.0, 100.0)
    bounds = f"a number from {least:g} to {most:g}"
    exact = units.number(value, field, bounds)
    if not least <= exact <= most:
        raise units.refusal(field, bounds, value)
    return exact


# -- what was measured -------------------------------------------------------------------------------------------------


class Estimate(NamedTuple):
    """A measured value and its confidence interval; NaN where there is none."""

    value: float
    low: float = _NAN
    high: float = _NAN
    level: float = _NAN
    """The confidence reached; NaN with an interval if that is what streaming may be off by."""


def check_recorded(name: str, flow: FlowResult) -> None:
    """Refuse what a run did not record, whether or not any packet came."""
    family = statistic(name).family
    if family in ("loss", "throughput"):
        return
    records = ("packets",) if family in ("pdv", "jitter") else ("packets", "summary")
    flow._run.need(*records, what=f"values for {name}")


def estimate(name: str, flows: Sequence[FlowResult], call: Call, level: float) -> Estimate:
    """A statistic of a flow, in one run or as the mean over several."""
    named = statistic(name)
    values = [_measure(named, flow, call) for flow in flows]
    if any(map(math.isnan, values)):
        return Estimate(_NAN)
    if len(flows) == 1:
        return Estimate(values[0], *_interval(named, flows[0], values[0], level))
    found = confidence(values, level=level)
    low, high = found.low, found.high
    if named.family == "loss":  # equal values, such as no loss at all, say more than nothing but not everything
        share = _share_interval(found.mean, sum(flow.sent for flow in flows), level)
        low, high = min(low, share[0]), min(max(high, share[1]), 1.0)
    if named != _LONE["r"]:
        low = max(low, 0.0)
    return Estimate(found.mean, low, high, level)


def why_nothing(flows: Sequence[FlowResult]) -> str:
    """Why there is no value."""
    if any(not flow.sent for flow in flows):
        return "no packet was sent"
    if any(not flow.received for flow in flows):
        return "no packet was received"
    return "no two consecutive packets were received"


def _measure(named: Named, flow: FlowResult, call: Call) -> float:
    """The value of a statistic in one run, NaN if there is none."""
    match named:
        case Named("loss", "all"):
            return flow.loss_ratio
        case Named("loss", reason):
            return flow.drops[reason] / flow.sent if flow.sent else _NAN
        case Named("throughput"):
            return flow.throughput if flow.sent else _NAN
        case Named("jitter"):
            return float(flow.jitter()[-1]) if flow.received else _NAN
        case Named("call", kind):
            return call.mos(flow) if kind == "mos" else call.rating(flow)
    found = _described(named, flow)
    return found.quantile(named.q) if named.q is not None else float(getattr(found, named.kind))


def _described(named: Named, flow: FlowResult) -> Statistics | StreamedStatistics:
    if named.family == "pdv":
        delay = flow._delay_ps()
        return Statistics(delay - delay.min() if len(delay) else delay, per=units.PICO)
    return flow.abs_ipdv_stats if named.family == "ipdv" else flow.delay_stats


def _interval(named: Named, flow: FlowResult, measured: float, level: float) -> tuple[float, float, float]:
    """The interval of a statistic within one run, and the level it reaches."""
    if named.family == "loss":
        return _loss_interval(named, flow, measured, level)
    if named.family not in _KINDS or named.kind in ("min", "max"):
        return _NAN, _NAN, _NAN
    if flow._run.record != "packets":
        if named.q is None and named.family == "delay":
            return _NAN, _NAN, _NAN
        error = StreamedStatistics.relative_error
        return measured / (1 + error), measured / (1 - error), _NAN
    values = flow.delay if named.family == "delay" else flow.pdv if named.family == "pdv" else np.abs(flow.ipdv)
    if named.q is not None:
        return _quantile_interval(values, float(named.q), measured, level)
    half = _half_width(values, level)
    return (_NAN, _NAN, _NAN) if math.isnan(half) else (max(measured - half, 0.0), measured + half, level)


def _quantile_interval(
    values: NDArray[np.float64], q: float, measured: float, level: float
) -> tuple[float, float, float]:
    """Order statistics, as far apart as batch means of the share of values up to the quantile ask for.

    The first alone would hold if the packets of a run were independent. The share of packets up to the quantile is a
    mean over the run, which batch means know how to take; where the share may be off by h, the quantile lies among
    those of q - h and q + h.
    """
    low, high, reached = quantile_confidence(values, q, level)
    half = _half_width(values <= measured, level)
    if half > 0:
        ordered, n = np.sort(values), len(values)
        low = min(low, float(ordered[max(math.ceil((q - half) * n), 1) - 1]))
        high = max(high, float(ordered[min(math.ceil((q + half) * n), n) - 1]))
    return low, high, reached


def _half_width(values: NDArray[Any], level: float) -> float:
    """Of the mean by batch means; NaN if there are too few values."""
    try:
        return batch_means(values.astype(np.float64), level).half_width
    except ValueError:
        return _NAN


def _loss_interval(named: Named, flow: FlowResult, measured: float, level: float) -> tuple[float, float, float]:
    """That of a share, which losses that come in runs make wider."""
    low, high = _share_interval(measured, flow.sent, level)
    if flow._run.record == "packets" and 0 < measured < 1:
        fates = flow._run.packets()["fate"][flow._run.counted(flow._number)]
        lost = {"all": (Fate.DROPPED_QUEUE, Fate.DROPPED_POLICER), "queue": (Fate.DROPPED_QUEUE,)}
        half = _half_width(np.isin(fates, lost.get(named.kind, (Fate.DROPPED_POLICER,))), level)
        if not math.isnan(half):
            low, high = min(low, max(measured - half, 0.0)), max(high, min(measured + half, 1.0))
    return low, high, level


def _share_interval(share: float, n: int, level: float) -> tuple[float, float]:
    """The score interval of a share of n, which says something of none too (E. B. Wilson, JASA 22, 1927)."""
    square = NormalDist().inv_cdf((1 - level) / 2) ** 2  # of the lower tail, whose digits no 1 takes
    centre = (share + square / (2 * n)) / (1 + square / n)
    half = math.sqrt(square * (share * (1 - share) / n + square / (4 * n * n))) / (1 + square / n)
    return 0.0 if share == 0 else centre - half, 1.0 if share == 1 else centre + half
