# SPDX-License-Identifier: MIT
"""What holding a flow against a policy found, as numbers, as a table for a terminal and as one for a notebook."""

from __future__ import annotations

import functools
import html
import math
import textwrap
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from qossim._columns import html_table
from qossim._objective import at_least, statistic, unit

if TYPE_CHECKING:
    from qossim.result import FlowResult
    from qossim.sla import SLA

__all__ = ["SECOND_HAND", "Finding", "Report", "limit_text"]

SECOND_HAND = "its figures are quoted at second hand and not verified against the recommendation"

_NAN = math.nan
_WIDTH = 72  # columns: pytest puts eight more before the message of a test that fails
_MOST_PORTS = 20
_WORDS_IN_ROWS = ("objective", "sense", "verdict", "remark")
_NUMBERS_IN_ROWS = ("limit", "measured", "low", "high", "level")

# -- the answer --------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Finding:
    """One objective, and what became of it. Numbers are in SI units, loss is a share.

    Attributes
    ----------
    objective : str
        Its name, such as "delay_p99".
    sense : {"<=", ">="}
        What the measured value has to be to the limit.
    limit, measured : float
        NaN if nothing could be measured; then it has not passed.
    low, high : float
        Confidence interval; NaN if there is none.
    level : float
        The confidence it reaches, NaN if there is none: see `remark`.
    unit : str
        "s", "bit/s", "%" (of a share from 0 to 1) or "".
    sure : bool or None
        Whether the limit lies outside the interval, and enough packets came for one; None if there is none, or if the
        limit is 0 and so is what was measured: that nothing is ever lost cannot be shown.
    remark : str
        Why there is no value, or what the interval lacks.
    """

    objective: str
    sense: Literal["<=", ">="]
    limit: float
    measured: float
    low: float
    high: float
    level: float
    unit: str
    sure: bool | None
    remark: str

    @property
    def passed(self) -> bool:
        """Whether the objective is met; never by NaN."""
        return self.measured <= self.limit if self.sense == "<=" else self.measured >= self.limit

    @property
    def verdict(self) -> str:
        """ "pass" or "FAIL"; with a question mark if the limit lies within the interval, or too few packets came."""
        return ("pass" if self.passed else "FAIL") + ("?" if self.sure is False else "")

    def texts(self) -> tuple[str, str, str]:
        """Limit, measured value and interval, as a reader wants them."""
        scale, written = _scaled(self.unit, self.limit or self.measured)
        if abs(self.measured) >= 1e4 * scale:
            scale, written = _scaled(self.unit, self.measured)
        space = f" {written}" if written else ""
        limit = limit_text(self.objective, self.limit)
        if math.isnan(self.measured):
            return limit, "none", "-"
        figures = 4
        while (
            figures < 17
            and self.measured != self.limit
            and _figures(self.measured / scale, figures) == _figures(self.limit / scale, figures)
        ):
            figures += 1
        measured = f"{_figures(self.measured / scale, figures)}{space}"
        if math.isnan(self.low):
            return limit, measured, "-"
        return limit, measured, f"{_figures(self.low / scale)} to {_figures(self.high / scale)}{space}"


def _scaled(unit: str, value: float) -> tuple[float, str]:
    """What to divide by, and the unit to write."""
    scales: dict[str, list[tuple[float, str]]] = {
        "s": [(1.0, "s"), (1e-3, "ms"), (1e-6, "us"), (1e-9, "ns")],
        "bit/s": [(1e12, "Tbit/s"), (1e9, "Gbit/s"), (1e6, "Mbit/s"), (1e3, "kbit/s"), (1.0, "bit/s")],
        "%": [(0.01, "%")],
        "": [(1.0, "")],
    }
    return next((each for each in scales[unit] if abs(value) >= each[0] * (1 - 1e-12)), scales[unit][-1])


def _figures(value: float, figures: int = 4) -> str:
    """A number to some significant figures, without an exponent where a reader needs none."""
    text = f"{value:.{figures}g}"
    if "e" in text and 1e-6 <= abs(value) < 1e9:
        text = f"{float(text):.{max(0, figures - 1 - math.floor(math.log10(abs(value))))}f}"
        text = text.rstrip("0").rstrip(".") if "." in text else text
    return text


def limit_text(name: str, limit: float) -> str:
    """A limit as a reader wants it."""
    scale, written = _scaled(unit(name), limit)
    return f"{'>=' if at_least(name) else '<='} {_figures(limit / scale, 6)}{f' {written}' if written else ''}"


class Report:
    """What holding a flow against a policy found. As a string it is the table that `SLA.check` raises.

    Attributes
    ----------
    policy : SLA
    flow : str
        The flow's name.
    findings : tuple of Finding
        One for each objective, in order.
    level : float
        The confidence wanted.
    """

    def __init__(self, policy: SLA, flows: tuple[FlowResult, ...], findings: tuple[Finding, ...], level: float) -> None:
        self.policy = policy
        self.flow = flows[0].name
        self.findings = findings
        self.level = level
        self._flows = flows

    @property
    def passed(self) -> bool:
        """Whether every objective is met."""
        return all(finding.passed for finding in self.findings)

    @property
    def broken(self) -> tuple[str, ...]:
        """The names of the objectives that are not met."""
        return tuple(finding.objective for finding in self.findings if not finding.passed)

    @functools.cached_property
    def budget(self) -> dict[str, dict[str, float]]:
        """Mean seconds by port and stage, as `FlowResult.delay_budget`; empty if there is none.

        Of several runs the mean, if all take the same ports.
        """
        if any(flow._run.record == "none" or not flow.received for flow in self._flows):
            return {}
        found = [_budget(flow) for flow in self._flows]
        if any(list(each) != list(found[0]) for each in found):
            return {}
        return {
            port: {stage: math.fsum(each[port][stage] for each in found) / len(found) for stage in stages}
            for port, stages in found[0].items()
        }

    @property
    def title(self) -> str:
        """What came of it, in a sentence."""
        policy = f'policy "{_cut(self.policy.name, 40)}"' if self.policy.name else "its policy"
        runs = f" in {len(self._flows)} runs" if len(self._flows) > 1 else ""
        flow = f'flow "{_cut(self.flow, 40)}"'
        if not self.findings:
            return f"{flow} cannot break {policy}{runs}, which promises nothing"
        broken = self.broken
        return f"{flow} {'breaks' if broken else 'keeps'} {policy}{runs}" + (f": {', '.join(broken)}" if broken else "")

    @property
    def notes(self) -> tuple[str, ...]:
        """What a reader has to know besides."""
        notes = [f"{each.objective}: {each.remark}" for each in self.findings if each.remark]
        unsure = [each.objective for each in self.findings if each.sure is False and not each.remark]
        if unsure:
            notes.append(
                f"? the limit lies within the interval ({', '.join(unsure)}): a longer run, or more of them, tells"
            )
        if any(map(_is_of_call, self.policy.objectives)):
            notes.append(f"call: {self.policy.call}{self._heard()}")
            notes.append(f"E-model: {SECOND_HAND}")
        return (*notes, *([self.policy.note] if self.policy.note else []))

    def _heard(self) -> str:
        if len(self._flows) > 1 or not self._flows[0].received:
            return ""
        delay, loss = self.policy.call.heard(self._flows[0])
        return f"; {_figures(1e3 * delay)} ms from mouth to ear, {_figures(100 * loss, 3)} % lost or late"

    def _table(self) -> tuple[list[str], list[list[str]]]:
        header = ["objective", "limit", "measured", f"{100 * self.level:g} % confidence", "verdict"]
        return header, [[each.objective, *each.texts(), each.verdict] for each in self.findings]

    def _budget_table(self) -> tuple[list[str], list[list[str]]]:
        if not self.budget:
            return [], []
        stages = list(next(iter(self.budget.values())))
        ports = list(self.budget.items())
        lines = [(_cut(port, 16), list(means.values())) for port, means in ports[:_MOST_PORTS]]
        if len(ports) > _MOST_PORTS:
            rest = [list(means.values()) for _, means in ports[_MOST_PORTS:]]
            lines.append((f"{len(rest)} more", [math.fsum(column) for column in zip(*rest, strict=True)]))
        if len(lines) > 1:
            lines.append(("all", [math.fsum(column) for column in zip(*(line for _, line in lines), strict=True)]))
        rows = [[name, *(f"{1e3 * each:.3f}" for each in (*line, math.fsum(line)))] for name, line in lines]
        return ["mean ms at", *stages, "all"], rows

    def to_rows(self) -> list[dict[str, Any]]:
        """One dict of plain values for each objective: numbers in SI units, and the texts of the table.

        A policy without objectives has one row, so that it is seen. Every value is a str, a float or a tuple of str
        proper, and text can be encoded: a lone surrogate stands as its escape. So rows go over any wire.
        """
        said = [f"E-model: {SECOND_HAND}"] if any(map(_is_of_call, self.policy.objectives)) else []
        note = "; ".join([*said, *([self.policy.note] if self.policy.note else [])])
        common = {"policy": _plain(self.policy.name or ""), "flow": _plain(self.flow), "note": _plain(note)}
        if not self.findings:
            numbers = dict.fromkeys(_NUMBERS_IN_ROWS, _NAN)
            words = {"objective": "", "sense": "", "unit": "", "verdict": "nothing promised", "remark": ""}
            return [{**common, **words, **numbers, "texts": ("", "", "")}]
        return [
            {
                **common,
                **{name: _plain(getattr(each, name)) for name in _WORDS_IN_ROWS},
                **{name: float(getattr(each, name)) for name in _NUMBERS_IN_ROWS},
                "unit": _plain(each.unit).replace("%", "1"),
                "texts": tuple(map(_plain, each.texts())),
            }
            for each in self.findings
        ]

    def __str__(self) -> str:
        first = len("AssertionError: ")
        title = textwrap.wrap("x" * (first - 1) + " " + self.title, _WIDTH, break_on_hyphens=False)
        lines = ["\n".join(title)[first:]]
        if self.findings:
            lines += ["", *_aligned([self._table()[0], *self._table()[1]], words=(0, 4))]
        lines += [""] if self.notes else []
        for note in self.notes:
            lines += textwrap.wrap(_plain(note), _WIDTH, subsequent_indent="  ", break_on_hyphens=False)
        header, rows = self._budget_table()
        if rows:
            lines += ["", "where the delay comes from", *_aligned([header, *rows], words=(0,))]
        return "\n".join(lines)

    def __repr__(self) -> str:
        return f"<Report: {self.title}>"

    def _repr_html_(self) -> str:
        parts = [html_table(*self._table(), self.title)] if self.findings else [f"<p>{html.escape(self.title)}</p>"]
        parts += [f"<p>{html.escape(note)}</p>" for note in self.notes]
        header, rows = self._budget_table()
        return "".join([*parts, html_table(header, rows, "where the delay comes from")] if rows else parts)


def _is_of_call(name: str) -> bool:
    return statistic(name).family == "call"


def _budget(flow: FlowResult) -> dict[str, dict[str, float]]:
    from qossim.result import _STAGES

    count, stages = flow._stages()
    ports = flow._run.scenario.ports
    return {
        ports[port].name: {n: ps / (count * 10**12) for n, ps in zip(_STAGES, sums, strict=True)}
        for port, sums in stages
    }


def _plain(text: str) -> str:
    """A str and no subclass of it, that can be encoded."""
    return str(text).encode("utf-8", "backslashreplace").decode("utf-8")


def _cut(text: str, width: int) -> str:
    plain = text if text.isprintable() else repr(text)[1:-1]
    return plain if len(plain) <= width else f"{plain[: width - 3]}..."


def _aligned(rows: list[list[str]], words: tuple[int, ...]) -> list[str]:
    """Columns side by side: numbers end at one edge, words begin at one."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return [
        "  ".join(
            cell.ljust(width) if place in words else cell.rjust(width)
            for place, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in rows
    ]
