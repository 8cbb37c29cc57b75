# SPDX-License-Identifier: MIT
"""Figures of what runs and sweeps found. Each function takes and returns an Axes.

`delay` and `ipdv` stand against the packets; `histogram`, `cdf`, `tail` and `box` show how they are spread;
`sweep_lines` and `heat_map` draw a table of `qossim.sweep`; `budget`, `occupancy` and `timeline` show where the time
goes. Units are chosen by the values. Colours are those of Okabe and Ito, which people with any common colour blindness
tell apart, and up to seven lines differ in width, dashes or marks besides. No setting of matplotlib is changed.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from qossim import units
from qossim._figure import (
    MARKERS,
    MEASURES,
    PALETTE,
    Flows,
    Measure,
    Results,
    Unit,
    axes,
    called,
    checked_measure,
    drawing,
    finish,
    flag,
    jagged,
    lines_of,
    measured,
    plain,
    reach,
    scale,
    styles,
)
from qossim._figure_path import budget, occupancy, timeline
from qossim._figure_table import box, heat_map, sweep_lines
from qossim.statistics import Statistics

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from numpy.typing import NDArray

    from qossim.result import FlowResult

__all__ = [
    "PALETTE",
    "box",
    "budget",
    "cdf",
    "delay",
    "heat_map",
    "histogram",
    "ipdv",
    "occupancy",
    "save",
    "sweep_lines",
    "tail",
    "timeline",
]

_MOST_BINS = 100_000
_MARKED = 400  # up to so many points, each has a mark wider than the line
_JOINED = 1500  # from more of them lines would make one mass, and dots do not
_FORMS = 16  # about so many of them have another form of mark, where lines need it
_VECTORS = 50_000  # more of them do not belong one by one into a PDF


# -- against the packets -----------------------------------------------------------------------------------------------


@drawing
def delay(
    results: Results,
    flow: Flows = None,
    ax: Axes | None = None,
    *,
    x: Literal["packet", "time"] = "packet",
    first: int | None = None,
    unit: Unit | None = None,
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
    unit : {"s", "ms", "us", "ns"}, optional
        Of the delay; by default the one that the values suggest, or that the axes have already.

    Returns
    -------
    Axes
        A line is broken where a packet was lost. More than 1500 packets of a line, or 4500 in all, are dots. Where
        width does not tell the lines apart, as of five or of dots, some packets have a mark of another form.

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


@drawing
def ipdv(
    results: Results,
    flow: Flows = None,
    ax: Axes | None = None,
    *,
    x: Literal["packet", "time"] = "packet",
    first: int | None = None,
    unit: Unit | None = None,
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
        As in `delay`.

    Raises
    ------
    ScenarioError
        An argument is none of those above, or the run did not keep packets.

    Examples
    --------
    >>> from qossim import experiments, plots
    >>> cases = experiments.ef_wfq_vs_pq_cases(duration=20.0, seed=1)
    >>> ax = plots.ipdv(cases, "EF", first=250, absolute=True)
    >>> ax.get_ylabel()
    '|ipdv| (ms)'
    """
    return _against(results, flow, ax, x, first, unit, "abs_ipdv" if flag(absolute, "absolute") else "ipdv")


def _against(
    results: Results, flow: Flows, ax: Axes | None, x: str, first: int | None, unit: str | None, measure: Measure
) -> Axes:
    if not isinstance(x, str) or x not in ("packet", "time"):
        raise units.refusal("x", 'one of "packet", "time"', x)
    count = None if first is None else units.count(first, "first", 1)
    lines = lines_of(results, flow)
    points = [_points(line.flow, measure, x, count) for line in lines]
    factor, symbol = scale(unit, [value for _, value in points], ax.get_ylabel() if ax else "")
    ax = axes(ax)
    counts = [len(at) for at, _ in points]
    joined = max(counts, default=0) <= _JOINED and sum(counts) <= 3 * _JOINED
    for line, (at, value), style in zip(lines, points, jagged(ax, len(lines), joined=joined), strict=True):
        look: dict[str, Any] = {"color": style.colour, "linewidth": style.width, "linestyle": "-" if joined else "none"}
        # without marks, a packet between two losses would not show
        mark = style.width + (max(0.0, 1.7 - 0.4 * style.width) if len(at) <= _MARKED else 0)
        dots: dict[str, Any] = {
            "marker": "o",
            "markersize": mark if joined else max(1.2, style.width),
            "markeredgewidth": 0,
        }
        height, much = value * factor, len(at) > _VECTORS
        if style.form:
            ax.plot(at, height, color=style.colour, linestyle="none", rasterized=much, **dots)
            dots = {"marker": style.form, "markersize": 6, "markeredgewidth": 0.7, "markeredgecolor": "white"}
            dots |= {"markevery": _few(value, style.form), "zorder": 2 if joined else 2.1}
        ax.plot(at, height, label=called(line.label), rasterized=much, **look, **dots)
    ax.set_xlabel(_across(x, {line.flow.name for line in lines}))
    ax.set_ylabel(f"{MEASURES[measure]} ({symbol})")
    ax.margins(x=0.01)
    if measure != "ipdv":
        _show_zero(ax)
    return finish(ax)


def _few(value: NDArray[np.float64], form: str) -> list[int]:
    """Which points have a mark of this form: not the same as of another, unless there are fewer points than forms."""
    there = np.flatnonzero(np.isfinite(value))
    step = max(len(MARKERS), len(there) // _FORMS)
    first = step * MARKERS.index(form) // len(MARKERS)
    few: list[int] = there[first % max(len(there), 1) :: step].tolist()
    return few


def _across(x: str, names: set[str]) -> str:
    if x == "time":
        return "time sent (s)"
    return f"{plain(names.pop())} packet number" if len(names) == 1 else "packet number"


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
        wanted = seq.astype(np.int64) - int(flow.seq[0]) < first
        seq, at, value = seq[wanted], at[wanted], value[wanted]
    gaps = np.flatnonzero(np.diff(seq) > 1) + 1
    return np.insert(at, gaps, np.nan), np.insert(value, gaps, np.nan)


def _show_zero(ax: Axes) -> None:
    """Begin a little below zero: a delay twice as long should look it, and one of zero should be seen."""
    reach(ax, -0.02 * max(ax.get_ylim()))


# -- distributions -----------------------------------------------------------------------------------------------------


@drawing
def histogram(
    results: Results,
    flow: Flows = None,
    ax: Axes | None = None,
    *,
    of: Measure = "delay",
    bins: int | Sequence[float] = 50,
    unit: Unit | None = None,
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

    Examples
    --------
    >>> from qossim import experiments, plots
    >>> cases = experiments.ef_wfq_vs_pq_cases(duration=20.0, seed=1)
    >>> ax = plots.histogram(cases, "EF", of="pdv", bins=30)
    >>> ax.get_xlabel()
    'delay above the least (ms)'
    """
    measure = checked_measure(of)
    lines = lines_of(results, flow)
    found = [measured(line.flow, measure) for line in lines]
    factor, symbol = scale(unit, found, ax.get_xlabel() if ax else "")
    values = [each * factor for each in found]
    edges = _edges(bins, np.concatenate(values), factor)
    ax = axes(ax)
    for line, each, style in zip(lines, values, styles(ax, len(lines)), strict=True):
        packets = np.histogram(each, edges)[0]
        ax.stairs(packets, edges, fill=True, alpha=0.15, color=style["color"])
        ax.stairs(packets, edges, label=called(line.label), **style)
    ax.set_xlabel(f"{MEASURES[measure]} ({symbol})")
    ax.set_ylabel("packets")
    reach(ax, 0)
    return finish(ax)


def _edges(bins: Any, values: NDArray[np.float64], factor: float) -> NDArray[np.float64]:
    """Edges of so many bins over the values, or those given in seconds, in the unit of the axis."""
    if isinstance(bins, int | np.integer):
        wanted = units.count(bins, "bins", 1, _MOST_BINS)
        least, most = (float(values.min()), float(values.max())) if values.size else (0.0, 1.0)
        if least == most:
            least, most = least - 0.5, most + 0.5  # as NumPy does
        edges = np.linspace(least, most, wanted + 1)
        if (np.diff(edges) <= 0).any():
            why = f"the values, from {least} to {most}, are too close together for so many"
            raise units.refusal("bins", "fewer", bins, why)
        return edges
    try:
        edges = np.asarray(bins, dtype=np.float64)
    except (TypeError, ValueError):
        edges = np.empty(0)
    if edges.ndim != 1 or len(edges) < 2 or not np.isfinite(edges).all() or (np.diff(edges) <= 0).any():
        bounds = f"a whole number from 1 to {_MOST_BINS}, or at least two edges in seconds, each above the one before"
        raise units.refusal("bins", bounds, bins)
    return edges * factor


@drawing
def cdf(
    results: Results,
    flow: Flows = None,
    ax: Axes | None = None,
    *,
    of: Measure = "delay",
    complement: bool = False,
    unit: Unit | None = None,
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

    Examples
    --------
    >>> from qossim import experiments, plots
    >>> cases = experiments.ef_wfq_vs_pq_cases(duration=20.0, seed=1)
    >>> ax = plots.cdf(cases, "EF", unit="us")
    >>> ax.get_xlabel()
    'one-way delay (µs)'
    """
    above = flag(complement, "complement")
    measure = checked_measure(of)
    lines = lines_of(results, flow)
    found = [_distribution(line.flow, measure) for line in lines]
    factor, symbol = scale(unit, [value for value, _ in found], ax.get_xlabel() if ax else "")
    ax = axes(ax)
    for line, (value, share), style in zip(lines, found, styles(ax, len(lines)), strict=True):
        ax.step(value * factor, 1 - share if above else share, where="post", label=called(line.label), **style)
    ax.set_xlabel(f"{MEASURES[measure]} ({symbol})")
    ax.set_ylabel("share of packets above" if above else "share of packets")
    if above:
        ax.set_yscale("log")
        reach(ax, min(ax.get_ylim()), 1)
    else:
        reach(ax, 0, 1.02)
    return finish(ax)


@drawing
def tail(
    results: Results,
    flow: Flows = None,
    ax: Axes | None = None,
    *,
    of: Measure = "delay",
    unit: Unit | None = None,
) -> Axes:
    """Share of the packets received that had more than a given delay, on a logarithmic scale: the tail.

    Parameters
    ----------
    results, flow, ax, unit
        As in `delay`.
    of : {"delay", "ipdv", "abs_ipdv", "pdv"}
        As in `histogram`.

    Returns
    -------
    Axes
        From 100 % down to 0.001 %, so that the quantiles up to 99.999 % can be read: where the line passes 1 %, 99 %
        had at most that delay. It ends where the packets do, for of n of them none tells less than 1/n. Exact where
        the run kept packets; drawn from quantiles of a run with ``record="summary"``.

    Raises
    ------
    ScenarioError
        An argument is none of those above, or the run kept counters only.

    Examples
    --------
    >>> from qossim import experiments, plots
    >>> cases = experiments.ef_wfq_vs_pq_cases(duration=20.0, seed=1)
    >>> ax = plots.tail(cases, "EF")
    """
    measure = checked_measure(of)
    lines = lines_of(results, flow)
    found = [_distribution(line.flow, measure, tail=True) for line in lines]
    factor, symbol = scale(unit, [value for value, _ in found], ax.get_xlabel() if ax else "")
    ax = axes(ax)
    drawn = len(ax.lines) > 0
    for line, (value, share), style in zip(lines, found, styles(ax, len(lines)), strict=True):
        ax.step(value * factor, 100 * (1 - share), where="post", label=called(line.label), **style)
    ax.set_xlabel(f"{MEASURES[measure]} ({symbol})")
    ax.set_ylabel("packets above")
    ax.set_yscale("log", nonpositive="clip")
    most = max((line.flow.received for line in lines), default=0)
    bottom = 100 / min(max(10 ** np.ceil(np.log10(max(most, 1))), 100.0), 1e5)
    reach(ax, min(bottom, *ax.get_ylim()) if drawn else bottom, 140)
    _percent_decades(ax)
    return finish(ax)


def _percent_decades(ax: Axes) -> None:
    """Ticks at 100 %, 10 %, ... 0.001 %."""
    from matplotlib.ticker import FixedLocator, FuncFormatter

    ax.yaxis.set_major_locator(FixedLocator([10.0**power for power in range(2, -4, -1)]))
    ax.yaxis.set_major_formatter(FuncFormatter(lambda percent, _: f"{percent:.3g} %"))
    ax.yaxis.set_minor_formatter(FuncFormatter(lambda *_: ""))


_TAIL = 1 - np.concatenate([10.0**-power * np.linspace(1, 0.1, 91)[1:] for power in range(5)])
"""Shares at which the tail of streamed statistics is drawn: ninety in each decade down to 0.001 % above."""


def _distribution(
    flow: FlowResult, measure: Measure, *, tail: bool = False
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Values in ascending order, and the share of packets at or below each; it begins with a share of 0."""
    if measure == "pdv" or isinstance(flow.delay_stats, Statistics):
        value, counts = np.unique(measured(flow, measure), return_counts=True)
        share = np.cumsum(counts) / max(counts.sum(), 1)
    else:
        share = np.append(_TAIL, 1.0) if tail else np.linspace(0, 1, 1001)[1:]
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
        The path ends otherwise, or the figure is none.

    Examples
    --------
    >>> import os, tempfile
    >>> from qossim import experiments, plots
    >>> cases = experiments.ef_wfq_vs_pq_cases(duration=20.0, seed=1)
    >>> ax = plots.delay(cases, "EF")
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     plots.save(ax.figure, os.path.join(folder, "delay.png"))
    ...     os.listdir(folder)
    ['delay.png']
    """
    import matplotlib as mpl
    import matplotlib.figure

    if not isinstance(figure, mpl.figure.Figure):
        raise units.refusal("figure", "a Figure, such as ax.figure", figure)
    if not isinstance(path, str | os.PathLike):
        raise units.refusal("path", "ending in .png, .svg or .pdf", path)
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
