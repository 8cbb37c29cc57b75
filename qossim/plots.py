# SPDX-License-Identifier: MIT
"""Figures of what a run found. Each function takes and returns an Axes, and draws one result or several.

Colours are those of Okabe and Ito, which people with any common colour blindness tell apart. The later of several lines
is the thinner: where it lies on another both show, on a black-and-white printer too.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeAlias

import numpy as np

from qossim import units
from qossim.statistics import Statistics

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from numpy.typing import NDArray

    from qossim.result import FlowResult, Result

__all__ = ["cdf", "delay", "histogram", "ipdv", "save"]

Results: TypeAlias = "Result | Sequence[Result] | Mapping[str, Result]"
"""One result, or several: in a mapping under the labels that the legend shows, else numbered."""
Flows: TypeAlias = "str | Sequence[str] | None"
"""The name of a flow, or several; None for every flow."""
Unit: TypeAlias = Literal["s", "ms", "us", "ns"]
Measure: TypeAlias = Literal["delay", "ipdv", "abs_ipdv", "pdv"]

PALETTE = ("#0072B2", "#E69F00", "#56B4E9", "#000000", "#D55E00", "#009E73", "#CC79A7")
"""Blue, orange, sky blue, black, vermilion, green, purple; Okabe and Ito's yellow is too light for a line on paper."""

_WIDTHS = {1: (1.3,), 2: (3.2, 1.2), 3: (4.2, 2.6, 1.1), 4: (4.4, 2.8, 2.6, 0.9)}
_UNITS = {"s": (1.0, "s"), "ms": (1e3, "ms"), "us": (1e6, "µs"), "ns": (1e9, "ns")}
_MEASURES = {
    "delay": "one-way delay",
    "ipdv": "ipdv",
    "abs_ipdv": "|ipdv|",
    "pdv": "delay above the least",
}
_MARKED = 400  # up to so many points, each has a mark wider than the line


# -- against the packets -----------------------------------------------------------------------------------------------


def delay(
    results: Results,
    flow: Flows = None,
    ax: Axes | None = None,
    *,
    x: Literal["packet", "time"] = "packet",
    first: int | None = None,
    unit: Unit = "ms",
) -> Axes:
    """One-way delay, packet by packet.

    Parameters
    ----------
    results : Result, sequence or mapping of Result
        One run or several; a mapping's keys are the labels.
    flow : str or sequence of str, optional
        Which flows; all by default.
    ax : Axes, optional
        Where to draw; a new figure by default.
    x : {"packet", "time"}
        Against the packet's number in its flow, as in ``result.packets["seq"]``, or the time it was sent at.
    first : int, optional
        Only so many packets of each flow, from the end of the warm-up on.
    unit : {"s", "ms", "us", "ns"}
        Of the delay.

    Returns
    -------
    Axes
        A line is broken where a packet was lost.

    Raises
    ------
    ScenarioError
        An argument is none of those above, or the run did not keep packets.

    Examples
    --------
    >>> from qossim import experiments, plots
    >>> cases = experiments.ef_wfq_vs_pq_cases(seed=1)
    >>> ax = plots.delay(cases, "EF", first=250)
    """
    return _against(results, flow, ax, x, first, unit, "delay")


def ipdv(
    results: Results,
    flow: Flows = None,
    ax: Axes | None = None,
    *,
    x: Literal["packet", "time"] = "packet",
    first: int | None = None,
    unit: Unit = "ms",
    absolute: bool = False,
) -> Axes:
    """Delay variation from packet to packet (RFC 3393), packet by packet.

    Parameters
    ----------
    results, flow, ax, x, first, unit
        As in `delay`. A value stands at the later packet of its pair.
    absolute : bool
        Its absolute value, as in many a measurement report.

    Returns
    -------
    Axes
        A line is broken where a packet was lost.

    Raises
    ------
    ScenarioError
        An argument is none of those above, or the run did not keep packets.
    """
    return _against(results, flow, ax, x, first, unit, "abs_ipdv" if absolute else "ipdv")


def _against(
    results: Results, flow: Flows, ax: Axes | None, x: str, first: int | None, unit: str, measure: Measure
) -> Axes:
    if x not in ("packet", "time"):
        raise units.refusal("x", 'one of "packet", "time"', x)
    count = None if first is None else units.count(first, "first", 1)
    factor, symbol = _unit(unit)
    ax = _axes(ax)
    lines = _lines(results, flow)
    for line, style in zip(lines, _styles(ax, len(lines)), strict=True):
        at, value = _points(line.flow, measure, x, count)
        # without marks, a packet between two losses would not show
        mark = style["linewidth"] + (max(0.0, 1.7 - 0.4 * style["linewidth"]) if len(at) <= _MARKED else 0)
        ax.plot(at, value * factor, label=line.label, marker="o", markersize=mark, markeredgewidth=0, **style)
    ax.set_xlabel(_across(x, {line.flow.name for line in lines}))
    ax.set_ylabel(f"{_MEASURES[measure]} ({symbol})")
    ax.margins(x=0.01)
    if measure != "ipdv":
        _show_zero(ax)
    return _finish(ax)


def _across(x: str, names: set[str]) -> str:
    if x == "time":
        return "time sent (s)"
    return f"{names.pop()} packet number" if len(names) == 1 else "packet number"


def _points(
    flow: FlowResult, measure: Measure, x: str, first: int | None
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """The first values against packet number or time, with NaN where a packet is missing in between."""
    seq, value = (flow.seq, flow.delay) if measure == "delay" else (flow.ipdv_seq, flow.ipdv)
    if measure == "abs_ipdv":
        value = np.abs(value)
    at = seq.astype(np.float64)
    if x == "time":
        at = flow.sent_at[np.searchsorted(flow.seq, seq)]
    if first is not None and len(flow.seq):
        wanted = seq < flow.seq[0] + first
        seq, at, value = seq[wanted], at[wanted], value[wanted]
    gaps = np.flatnonzero(np.diff(seq) > 1) + 1
    return np.insert(at, gaps, np.nan), np.insert(value, gaps, np.nan)


# -- distributions -----------------------------------------------------------------------------------------------------


def histogram(
    results: Results,
    flow: Flows = None,
    ax: Axes | None = None,
    *,
    of: Measure = "delay",
    bins: int | Sequence[float] = 50,
    unit: Unit = "ms",
) -> Axes:
    """How many packets had which delay.

    Parameters
    ----------
    results, flow, ax, unit
        As in `delay`.
    of : {"delay", "ipdv", "abs_ipdv", "pdv"}
        What of: one-way delay (RFC 7679), its variation from packet to packet (RFC 3393), the absolute value of that,
        or the delay above the least (RFC 5481).
    bins : int or sequence of float
        How many, over the range of everything drawn, or their edges in seconds.

    Returns
    -------
    Axes

    Raises
    ------
    ScenarioError
        An argument is none of those above, or the run did not keep packets.
    """
    factor, symbol = _unit(unit)
    measure = _measure(of)
    lines = _lines(results, flow)
    values = [_values(line.flow, measure) * factor for line in lines]
    if isinstance(bins, int | np.integer):
        edges = np.histogram_bin_edges(np.concatenate(values), units.count(bins, "bins", 1))
    else:
        edges = np.asarray(bins, dtype=np.float64) * factor
    ax = _axes(ax)
    for line, each, style in zip(lines, values, _styles(ax, len(lines)), strict=True):
        packets = np.histogram(each, edges)[0]
        ax.stairs(packets, edges, fill=True, alpha=0.15, color=style["color"])
        ax.stairs(packets, edges, label=line.label, **style)
    ax.set_xlabel(f"{_MEASURES[measure]} ({symbol})")
    ax.set_ylabel("packets")
    ax.set_ylim(bottom=0)
    return _finish(ax)


def cdf(
    results: Results,
    flow: Flows = None,
    ax: Axes | None = None,
    *,
    of: Measure = "delay",
    complement: bool = False,
    unit: Unit = "ms",
) -> Axes:
    """Share of the packets received that had at most a given delay.

    Parameters
    ----------
    results, flow, ax, unit
        As in `delay`.
    of : {"delay", "ipdv", "abs_ipdv", "pdv"}
        As in `histogram`.
    complement : bool
        The share above it instead, on a logarithmic scale: for the tail.

    Returns
    -------
    Axes
        Exact where the run kept packets. Of a run with ``record="summary"`` it is drawn from a thousand quantiles.

    Raises
    ------
    ScenarioError
        An argument is none of those above, or the run kept counters only.
    """
    factor, symbol = _unit(unit)
    measure = _measure(of)
    ax = _axes(ax)
    lines = _lines(results, flow)
    for line, style in zip(lines, _styles(ax, len(lines)), strict=True):
        value, share = _distribution(line.flow, measure)
        ax.step(value * factor, 1 - share if complement else share, where="post", label=line.label, **style)
    ax.set_xlabel(f"{_MEASURES[measure]} ({symbol})")
    ax.set_ylabel("share of packets above" if complement else "share of packets")
    if complement:
        ax.set_yscale("log")
        ax.set_ylim(top=1)
    else:
        ax.set_ylim(0, 1.02)
    return _finish(ax)


def _values(flow: FlowResult, measure: Measure) -> NDArray[np.float64]:
    if measure == "abs_ipdv":
        return np.abs(flow.ipdv)
    values: NDArray[np.float64] = getattr(flow, measure)
    return values


def _distribution(flow: FlowResult, measure: Measure) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Values in ascending order, and the share of packets at or below each; it begins with a share of 0."""
    if measure == "pdv" or isinstance(flow.delay_stats, Statistics):
        value, counts = np.unique(_values(flow, measure), return_counts=True)
        share = np.cumsum(counts) / max(counts.sum(), 1)
    else:
        share = np.linspace(0, 1, 1001)[1:]
        value = getattr(flow, f"{measure}_stats").quantile(share)
    return np.concatenate([value[:1], value]), np.concatenate([np.zeros(min(1, len(share))), share])


# -- files -------------------------------------------------------------------------------------------------------------


def save(figure: Figure, path: str | os.PathLike[str]) -> None:
    """Write a figure so that the same figure gives the same bytes: no date, no random names.

    Parameters
    ----------
    figure : Figure
        As ``ax.figure``.
    path : path
        Ending in .png, .svg or .pdf.

    Raises
    ------
    ScenarioError
        The path ends otherwise.
    """
    import matplotlib as mpl

    suffix = Path(path).suffix.lower()
    metadata: dict[str, dict[str, Any]] = {
        ".png": {"Software": "qossim"},
        ".svg": {"Creator": "qossim", "Date": None},
        ".pdf": {"Creator": "qossim", "CreationDate": None},
    }
    if suffix not in metadata:
        raise units.refusal("path", "ending in .png, .svg or .pdf", os.fspath(path))
    with mpl.rc_context({"svg.hashsalt": "qossim"}):
        figure.savefig(path, metadata=metadata[suffix])


# -- shared ------------------------------------------------------------------------------------------------------------


class _Line(NamedTuple):
    label: str
    flow: FlowResult


def _lines(results: Results, flow: Flows) -> list[_Line]:
    """Every flow wanted of every result, with the label that tells it from the others."""
    from qossim.result import Result

    if isinstance(results, Result):
        labelled: Mapping[str, Result] = {"": results}
    elif isinstance(results, Mapping):
        labelled = {str(label): result for label, result in results.items()}
    else:
        labelled = {str(number): result for number, result in enumerate(results, 1)} if _is_list(results) else {}
    strangers = [each for each in labelled.values() if not isinstance(each, Result)]
    if strangers or not labelled:
        bounds = "a Result, or a sequence or mapping of at least one"
        raise units.refusal("results", bounds, strangers[0] if strangers else results)
    wanted = [flow] if isinstance(flow, str) else flow
    lines = []
    several = len({name for result in labelled.values() for name in wanted or result.flows}) > 1
    for label, result in labelled.items():
        for name in wanted or result.flows:
            if name not in result.flows:
                raise units.refusal("flow", f"flows of the result ({', '.join(result.flows)})", name)
            parts = [label, name] if several or not label else [label]
            lines.append(_Line(", ".join(part for part in parts if part), result[name]))
    return lines


def _is_list(value: object) -> bool:
    return isinstance(value, Sequence) and not isinstance(value, str)


def _unit(unit: str) -> tuple[float, str]:
    if unit not in _UNITS:
        raise units.refusal("unit", f"one of {', '.join(_UNITS)}", unit)
    return _UNITS[unit]


def _measure(of: Measure) -> Measure:
    if of not in _MEASURES:
        raise units.refusal("of", f"one of {', '.join(_MEASURES)}", of)
    return of


def _axes(ax: Axes | None) -> Axes:
    if ax is not None:
        return ax
    import matplotlib.pyplot as plt

    return plt.subplots(figsize=(7.5, 4.2), layout="constrained")[1]


def _styles(ax: Axes, count: int) -> list[dict[str, Any]]:
    """Colour and width of the next lines on these axes: the later is the thinner."""
    before = len(ax.get_legend_handles_labels()[0])
    widths = _WIDTHS[min(before + count, max(_WIDTHS))]
    return [
        {"color": PALETTE[number % len(PALETTE)], "linewidth": widths[min(number, len(widths) - 1)]}
        for number in range(before, before + count)
    ]


def _show_zero(ax: Axes) -> None:
    """Begin a little below zero: a delay twice as long should look it, and one of zero should be seen."""
    top = ax.get_ylim()[1]
    ax.set_ylim(-0.02 * top, top)


def _finish(ax: Axes) -> Axes:
    ax.grid(True, color="0.88", linewidth=0.6)
    ax.set_axisbelow(True)
    ax.spines[["top", "right"]].set_visible(False)
    handles, labels = ax.get_legend_handles_labels()
    if len(labels) > 1:
        ax.legend(handles, labels, loc="lower center", bbox_to_anchor=(0.5, 1), ncols=2, frameon=False, markerscale=0)
    return ax
