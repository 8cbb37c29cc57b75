# SPDX-License-Identifier: MIT
"""What a row of the table is, and how the table is printed."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from .measure import Figure

__all__ = [
    "BYTES",
    "MEGABYTES",
    "MICROSECONDS",
    "MILLISECONDS",
    "ONE_IN",
    "PERCENT",
    "RATIO",
    "TIMES",
    "Goal",
    "Row",
    "Scale",
    "heading",
    "line",
]


@dataclass(frozen=True)
class Scale:
    """How values of a row are written."""

    write: Callable[[float], str]
    unit: str = ""

    def __call__(self, value: float) -> str:
        return f"{self.write(value)} {self.unit}".rstrip()


def _one_in(value: float) -> str:
    return "1/" + f"{1 / value:.1f}".removesuffix(".0")


ONE_IN = Scale(_one_in)
RATIO = Scale("{:.2f}".format)
TIMES = Scale("{:.2f}".format, "x")
BYTES = Scale("{:.1f}".format, "bytes")
MEGABYTES = Scale("{:.1f}".format, "MB")
MICROSECONDS = Scale("{:.0f}".format, "us")
PERCENT = Scale("{:.1f}".format, "%")
MILLISECONDS = Scale("{:.1f}".format, "ms")


@dataclass(frozen=True)
class Goal:
    """What must be reached and what is aimed at; `most` if it is an upper limit."""

    must: float
    aim: float | None = None
    most: bool = False

    def reaches(self, value: float, limit: float) -> bool:
        return value <= limit if self.most else value >= limit


@dataclass(frozen=True)
class Row:
    """One thing measured.

    Attributes
    ----------
    what : str
        What was measured.
    figure : Figure, optional
        The value and its range; None if it could not be measured, and `beside` says why.
    scale : Scale
        Writes a value with its unit.
    goal : Goal, optional
        None: the row is there to be read.
    beside : str
        What the value was measured beside, and other figures.
    trusted : bool
        Whether missing the goal is the simulator's fault.
    """

    what: str
    figure: Figure | None
    scale: Scale
    goal: Goal | None = None
    beside: str = ""
    trusted: bool = True

    @property
    def verdict(self) -> str:
        if self.figure is None:
            return "not measured"
        if self.goal is None:
            return ""
        if self.goal.aim is not None and self.goal.reaches(self.figure.value, self.goal.aim):
            return "aim reached"
        if self.goal.reaches(self.figure.value, self.goal.must):
            return "reached"
        return "MISSED" if self.trusted else "unclear"

    @property
    def measured(self) -> str:
        if self.figure is None:
            return "-"
        value, low, high = map(self.scale.write, (self.figure.value, self.figure.low, self.figure.high))
        spread = "" if low == high else f" ({low} to {high})"
        return f"{value}{spread} {self.scale.unit}".rstrip()

    def limit(self, value: float | None) -> str:
        return "" if value is None else self.scale(value)

    def plain(self) -> dict[str, object]:
        """For a file of JSON."""
        figure, goal = self.figure, self.goal
        return {
            "what": self.what,
            "measured": None if figure is None else figure.value,
            "low": None if figure is None else figure.low,
            "high": None if figure is None else figure.high,
            "must": None if goal is None else goal.must,
            "aim": None if goal is None else goal.aim,
            "verdict": self.verdict,
            "beside": self.beside,
        }


_WIDTHS = (52, 27, 10, 10, 12)


def _cells(cells: Iterable[str]) -> str:
    *first, last = cells
    return ("".join(f"{cell:<{width}} " for cell, width in zip(first, _WIDTHS, strict=True)) + last).rstrip()


def heading() -> str:
    names = _cells(["what", "measured (its range)", "must reach", "aim", "verdict", "beside"])
    return f"{names}\n{'-' * len(names)}"


def line(row: Row) -> str:
    must, aim = (row.limit(row.goal.must), row.limit(row.goal.aim)) if row.goal else ("", "")
    return _cells([row.what, row.measured, must, aim, row.verdict, row.beside])
