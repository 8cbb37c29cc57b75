# SPDX-License-Identifier: MIT
"""What all figures share: colours, dashes, hatches, units, and which lines a result gives.

Colours are those of Okabe and Ito, which people with any common colour blindness tell apart. Nothing is told by colour
alone: lines differ in width and dashes, points in form, areas in hatching, for a black-and-white printer too.
"""

from __future__ import annotations

import functools
import inspect
import re
import sys
import textwrap
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, ParamSpec, TypeAlias

import numpy as np

from qossim import units

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from numpy.typing import ArrayLike, NDArray

    from qossim.result import FlowResult, Result

Results: TypeAlias = "Result | Sequence[Result] | Mapping[str, Result]"
"""One result, or several: in a mapping under the labels that the legend shows, else numbered."""
Flows: TypeAlias = "str | Sequence[str] | None"
"""The name of a flow, or several; None for every flow."""
Unit: TypeAlias = Literal["s", "ms", "us", "ns"]
Measure: TypeAlias = Literal["delay", "ipdv", "abs_ipdv", "pdv"]
P = ParamSpec("P")

PALETTE = ("#0072B2", "#E69F00", "#56B4E9", "#000000", "#D55E00", "#009E73", "#CC79A7")
"""Blue, orange, sky blue, black, vermilion, green, purple; Okabe and Ito's yellow is too light for a line on paper."""
DASHES: tuple[Any, ...] = ("-", (0, (5, 1.6)), (0, (1.2, 1.2)), (0, (6, 1.5, 1.2, 1.5)), (0, (2.5, 1.2)))
HATCHES = ("////", "....", "xxxx", "", "\\\\\\\\", "++++", "oooo")
MARKERS = "os^DvPX"
MEASURES = {
    "delay": "one-way delay",
    "ipdv": "ipdv",
    "abs_ipdv": "|ipdv|",
    "pdv": "delay above the least",
}

_WIDTHS = {1: (1.3,), 2: (3.2, 1.2), 3: (4.2, 2.6, 1.1), 4: (4.4, 2.8, 2.6, 0.9)}
_UNITS = {"s": (1.0, "s"), "ms": (1e3, "ms"), "us": (1e6, "µs"), "ns": (1e9, "ns")}
_UNIT_IN_LABEL = re.compile(r"\((s|ms|µs|ns)\)$")


# -- units -------------------------------------------------------------------------------------------------------------


def scale(unit: str | None, values: Iterable[ArrayLike] = (), label: str = "") -> tuple[float, str]:
    """What to multiply seconds by, and the sign of the unit.

    The unit given; else that of the axis drawn on already, as its label tells; else the one in which the largest of
    the values is from 1 to 1000.
    """
    if unit is not None:
        if not isinstance(unit, str) or unit not in _UNITS:
            raise units.refusal("unit", f"one of {', '.join(_UNITS)}", unit)
        return _UNITS[unit]
    drawn = _UNIT_IN_LABEL.search(label)
    if drawn:
        return next(known for known in _UNITS.values() if known[1] == drawn[1])
    arrays = [np.abs(np.asarray(each, dtype=np.float64)).ravel() for each in values]
    largest = max((float(each.max()) for each in (a[np.isfinite(a)] for a in arrays) if each.size), default=0.0)
    if largest == 0:
        return _UNITS["ms"]
    return next((known for known in _UNITS.values() if largest * known[0] >= 1), _UNITS["ns"])


def checked_measure(of: Measure) -> Measure:
    """Itself, if it is one."""
    if not isinstance(of, str) or of not in MEASURES:
        raise units.refusal("of", f"one of {', '.join(MEASURES)}", of)
    return of


def measured(flow: FlowResult, measure: Measure) -> NDArray[np.float64]:
    """The values of a flow, packet by packet, in seconds."""
    if measure == "abs_ipdv":
        return np.abs(flow.ipdv)
    values: NDArray[np.float64] = getattr(flow, measure)
    return values


# -- which lines -------------------------------------------------------------------------------------------------------


class Line(NamedTuple):
    """One flow of one result, and what the legend calls it."""

    label: str
    flow: FlowResult


def labelled(results: Results) -> dict[str, Result]:
    """The results under their labels: "" for one alone, a number for one of a sequence."""
    from qossim.result import FlowResult, Result

    if isinstance(results, Result):
        return {"": results}
    found: dict[str, Any] = {}
    if isinstance(results, Mapping):
        found = {str(label): result for label, result in results.items()}
    elif isinstance(results, Sequence) and not isinstance(results, str):
        found = {str(number): result for number, result in enumerate(results, 1)}
    strangers = [each for each in found.values() if not isinstance(each, Result)]
    if strangers or not found:
        given = strangers[0] if strangers else results
        why = f'give the whole result, and flow="{given.name}"' if isinstance(given, FlowResult) else ""
        raise units.refusal("results", "a Result, or a sequence or mapping of at least one", given, why)
    return found


def lines_of(results: Results, flow: Flows) -> list[Line]:
    """Every flow wanted of every result, with the label that tells it from the others."""
    found = labelled(results)
    wanted = _wanted(flow)
    lines = []
    several = len({name for result in found.values() for name in wanted or result.flows}) > 1
    for label, result in found.items():
        for name in wanted or result.flows:
            if name not in result.flows:
                raise units.refusal("flow", f"flows of the result ({', '.join(result.flows)})", name)
            parts = [label, name] if several or not label else [label]
            lines.append(Line(", ".join(part for part in parts if part), result[name]))
    return lines


def _wanted(flow: object) -> tuple[str, ...] | None:
    if flow is None:
        return None
    names = (flow,) if isinstance(flow, str) else tuple(flow) if isinstance(flow, Iterable) else ()
    if not names or not all(isinstance(name, str) for name in names):
        raise units.refusal("flow", "the name of a flow, or several, or None for every flow", flow)
    return names


# -- names -------------------------------------------------------------------------------------------------------------


def plain(text: str) -> str:
    """A name as matplotlib shows it to the letter: a dollar is no formula."""
    return text.replace("$", r"\$")


def called(text: str) -> str:
    """A name as the label of a line: plain, and not begun with "_", which matplotlib leaves out of legends."""
    return plain(f" {text}" if text.startswith("_") else text)


def fitted(text: str, across: int, lines: int = 1) -> list[str]:
    """The text in so many lines of so many characters, the last with an ellipsis where it does not fit."""
    across, lines = max(across, 4), max(lines, 1)
    broken = textwrap.wrap(text, across) or [""]
    if len(broken) <= lines:
        return broken
    return [*broken[: lines - 1], broken[lines - 1][: across - 3] + "..."]


# -- axes --------------------------------------------------------------------------------------------------------------


def drawing(draw: Callable[P, Axes]) -> Callable[P, Axes]:
    """A function that draws: on axes that it can draw on, and without leaving a figure open when it fails."""
    place = list(inspect.signature(draw).parameters).index("ax")

    @functools.wraps(draw)
    def drawn(*args: P.args, **kwargs: P.kwargs) -> Axes:
        _check_axes(args[place] if len(args) > place else kwargs.get("ax"))
        before = _open_figures()
        try:
            return draw(*args, **kwargs)
        except BaseException:
            for number in _open_figures() - before:
                sys.modules["matplotlib.pyplot"].close(number)
            raise

    return drawn


def _check_axes(ax: Any) -> None:
    if ax is None:
        return
    from matplotlib.axes import Axes

    if not isinstance(ax, Axes):
        raise units.refusal("ax", "one matplotlib Axes, or None for a new figure", ax)
    if ax.name != "rectilinear":
        raise units.refusal("ax", "Axes with x and y at right angles", ax, f"these are {ax.name}")


def _open_figures() -> set[int]:
    pyplot = sys.modules.get("matplotlib.pyplot")
    return set(pyplot.get_fignums()) if pyplot else set()


def axes(ax: Axes | None, width: float = 7.5, height: float = 4.2) -> Axes:
    """The axes given, or those of a new figure."""
    if ax is not None:
        return ax
    import matplotlib.pyplot as plt

    return plt.subplots(figsize=(width, height), layout="constrained")[1]


def styles(ax: Axes, count: int) -> list[dict[str, Any]]:
    """Colour, width and dashes of the next lines on these axes, which are smooth enough to show them.

    The later is the thinner: where it lies on another both show.
    """
    return [
        {
            "color": PALETTE[number % len(PALETTE)],
            "linewidth": max(1.6, 2.4 - 0.4 * number),
            "linestyle": DASHES[number % len(DASHES)],
        }
        for number in _numbers(ax, count)
    ]


class Jagged(NamedTuple):
    """How a line is told from others that go up and down too much for dashes to show."""

    colour: str
    width: float
    form: str
    """Of the marks on some of its points; "" where the width will do."""


def jagged(ax: Axes, count: int, *, joined: bool) -> list[Jagged]:
    """The next lines on these axes, or dots that are not joined.

    The later is the thinner: where it lies on another both show. The width of dots tells nobody which is which.
    """
    numbers = _numbers(ax, count)
    widths = _WIDTHS[min(numbers.stop, max(_WIDTHS))]
    return [
        Jagged(
            PALETTE[number % len(PALETTE)],
            widths[min(number, len(widths) - 1)],
            marker(number) if number >= (len(widths) if joined else 1) else "",
        )
        for number in numbers
    ]


def _numbers(ax: Axes, count: int) -> range:
    """Of the next lines, as the legend counts them."""
    before = len(ax.get_legend_handles_labels()[0])
    return range(before, before + count)


def marker(number: int) -> str:
    """The form of a line's marks, another with each turn of colours."""
    return MARKERS[(number + number // len(PALETTE)) % len(MARKERS)]


def inches(ax: Axes) -> tuple[float, float]:
    """About how wide and high the axes are, before the layout is worked out."""
    extent, dpi = ax.get_window_extent(), ax.figure.dpi
    return float(extent.width / dpi), float(extent.height / dpi)


def reach(ax: Axes, low: float, high: float | None = None) -> None:
    """Let y go from here to there, upwards or as the axes go; by default as far as what is drawn needs.

    It stays open to what is drawn later, unless somebody has set the range.
    """
    there = max(ax.get_ylim()) if high is None else high
    ax.set_ylim((there, low) if ax.yaxis_inverted() else (low, there), auto=None)


def flag(value: object, field: str) -> bool:
    """True or False, and nothing that may pass for it."""
    if not isinstance(value, bool | np.bool_):
        raise units.refusal(field, "True or False", value)
    return bool(value)


def whole_numbers(ax: Axes) -> None:
    """Write the ticks of x in full, not as a small number beside a large one; unless somebody else writes them."""
    from matplotlib.ticker import ScalarFormatter

    if isinstance(ax.xaxis.get_major_formatter(), ScalarFormatter):
        ax.ticklabel_format(axis="x", useOffset=False, style="plain")


def finish(ax: Axes, *, grid: Literal["both", "x", "y", "none"] = "both") -> Axes:
    """Grid, spines and, if there is more than one thing to tell apart, a legend above the axes."""
    if grid != "none":
        ax.grid(True, axis=grid, which="major", color="0.88", linewidth=0.6)
    ax.set_axisbelow(True)
    ax.spines[["top", "right"]].set_visible(False)
    if len(ax.get_legend_handles_labels()[1]) > 1:
        legend(ax)
    return ax


def legend(ax: Axes, handles: Sequence[Any] | None = None, labels: Sequence[str] | None = None) -> None:
    """A legend above the axes: in as few rows as fit, and those as even as they can be."""
    if handles is None or labels is None:
        handles, labels = ax.get_legend_handles_labels()
    width = inches(ax)[0]
    size = 10.0 if width > 3.2 else 8.0
    most = max(24, int(72 * width / (size * 0.56)) - 4)
    labels = [_broken(label, most) for label in labels]
    room = 72 * width / (size * (0.56 * max(len(line) for label in labels for line in label.split("\n")) + 3.6))
    rows = -(-len(labels) // max(1, min(4, int(room))))
    drawn = ax.legend(
        handles,
        labels,
        loc="lower center",
        bbox_to_anchor=(0.5, 1),
        ncols=-(-len(labels) // rows),
        frameon=False,
        fontsize=size,
        handlelength=2.6,
        columnspacing=1.2,
        borderaxespad=0.2,
    )
    for line in drawn.get_lines():
        if line.get_linestyle() == "None" and line.get_marker() == "o":  # dots may be too small to tell their colour
            line.set_markersize(max(4.5, line.get_markersize()))


def _broken(label: str, across: int) -> str:
    """A label in two lines at most; one that fits stays as it is."""
    return label if len(label) <= across else plain("\n".join(fitted(label.replace(r"\$", "$"), across, 2)))
