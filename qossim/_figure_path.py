# SPDX-License-Identifier: MIT
"""Figures of the path: where the mean delay goes, what waits at a port, and single packets on their way through it."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from qossim import units
from qossim._figure import (
    DASHES,
    HATCHES,
    PALETTE,
    Flows,
    Results,
    Unit,
    axes,
    finish,
    inches,
    legend,
    lines_of,
    scale,
)
from qossim.scenario.port import AAL5

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from numpy.typing import NDArray

    from qossim.result import Result
    from qossim.scenario.net import Scenario
    from qossim.scenario.port import Port, TxRing
    from qossim.scenario.source import Flow
    from qossim.units import TimeLike

_STAGES = {
    "queue": ("#56B4E9", "////"),
    "ring": ("#D55E00", "...."),
    "serialisation": ("#F0E442", ""),
    "propagation": ("0.75", "\\\\\\\\"),
}
_GREYS = ("0.80", "0.62", "0.92", "0.72", "0.55")
_MOST_BARS = 400
_ROWS = 4
_MS = 1e9  # picoseconds


# -- the delay budget --------------------------------------------------------------------------------------------------


def budget(
    results: Results,
    flow: Flows = None,
    ax: Axes | None = None,
    *,
    by_port: bool = False,
    unit: Unit | None = None,
) -> Axes:
    """Where the mean delay goes: a bar for each flow, of the time in queues, rings, on the wire and under way.

    Parameters
    ----------
    results : Result, sequence or mapping of Result
        One run or several; a mapping's keys are the labels.
    flow : str or sequence of str, optional
        Which flows; all by default.
    ax : Axes, optional
        Where to draw; a new figure by default.
    by_port : bool
        Stages port by port along the route, instead of those of all ports together.
    unit : {"s", "ms", "us", "ns"}, optional
        Of the delay; by default the one that the values suggest, or that the axes have already.

    Returns
    -------
    Axes
        The whole length is the mean one-way delay, which stands at its end; see `FlowResult.delay_budget`.

    Raises
    ------
    ScenarioError
        An argument is none of those above, or the run kept counters only.

    Examples
    --------
    >>> from qossim import experiments, plots
    >>> cases = experiments.ef_wfq_vs_pq_cases(duration=20.0, seed=1)
    >>> ax = plots.budget(cases, "EF")
    """
    lines = lines_of(results, flow)
    tables = [line.flow.delay_budget() for line in lines]
    totals = [float(table.to_numpy().sum()) for table in tables]
    factor, symbol = scale(unit, [totals], ax.get_xlabel() if ax else "")
    ax = axes(ax, height=max(2.0, 1.25 + 0.42 * len(lines)))
    largest = max((total for total in totals if total == total), default=0.0) * factor or 1.0
    across = inches(ax)[0] / (1.13 * largest)
    for place, (table, total) in enumerate(zip(tables, totals, strict=True)):
        left = 0.0
        for number, (name, stage, seconds) in enumerate(_pieces(table, by_port)):
            width = seconds * factor
            if not width > 0:
                continue
            _piece(ax, place, left, width, stage, f"{width:.3g}" if width * across > 0.36 else "")
            left += width
            if stage == "propagation" and by_port and len(table) > 1:
                ax.plot([left, left], [place - 0.36, place + 0.36], color="black", linewidth=1.8, solid_capstyle="butt")
            del name, number
        text = "no packet received" if total != total else f"{total * factor:.4g}"
        ax.text(left + 0.012 * largest, place, text, va="center", ha="left", fontsize=8.5)
    ax.set_yticks(range(len(lines)), [line.label or line.flow.name for line in lines])
    ax.set_ylim(len(lines) - 0.45, -0.55)
    ax.set_xlim(0, 1.13 * largest)
    ax.set_xlabel(f"mean one-way delay ({symbol})")
    ax.tick_params(axis="y", length=0)
    finish(ax, grid="x")
    _stage_legend(ax)
    return ax


def _pieces(table: Any, by_port: bool) -> list[tuple[str, str, float]]:
    """Port, stage and seconds, in the order of the path."""
    if by_port:
        return [(str(port), str(stage), float(value)) for port, row in table.iterrows() for stage, value in row.items()]
    return [("", str(stage), float(value)) for stage, value in table.sum(skipna=False).items()]


def _piece(ax: Axes, place: float, left: float, width: float, stage: str, text: str) -> None:
    colour, hatch = _STAGES[stage]
    ax.barh(place, width, left=left, height=0.6, color=colour, hatch=hatch, edgecolor="black", linewidth=0.6)
    if text:
        pad = {"boxstyle": "square,pad=0.12", "facecolor": "white", "edgecolor": "none"}
        ax.text(left + width / 2, place, text, ha="center", va="center", fontsize=7.5, bbox=pad)


def _stage_legend(ax: Axes) -> None:
    from matplotlib.patches import Patch

    patches = [
        Patch(facecolor=colour, hatch=hatch, edgecolor="black", linewidth=0.6) for colour, hatch in _STAGES.values()
    ]
    legend(ax, patches, list(_STAGES))


# -- occupancy ---------------------------------------------------------------------------------------------------------


def occupancy(
    result: Result,
    port: str | None = None,
    ax: Axes | None = None,
    *,
    start: TimeLike | None = None,
    stop: TimeLike | None = None,
) -> Axes:
    """What waits at a port over time: packets in each class queue, particles in the transmit ring.

    Parameters
    ----------
    result : Result
        Of a run with ``record="packets"``.
    port : str, optional
        Name of the port; the first by default.
    ax : Axes, optional
        Where to draw; a new figure by default.
    start, stop : number or str, optional
        From when to when, in seconds or with a unit; the whole time the sources sent by default.

    Returns
    -------
    Axes
        Steps: what stands when each instant is over. Packets that were dropped never waited. Of a ring, its limit is a
        dotted line.

    Raises
    ------
    ScenarioError
        An argument is none of those above, or the run did not keep packets.

    Examples
    --------
    >>> from qossim import experiments, plots
    >>> cases = experiments.ef_wfq_vs_pq_cases(duration=20.0, seed=1)
    >>> ax = plots.occupancy(cases["PQ, best effort"], "near", start=4.4, stop=4.6)
    """
    seen = _seen(result, port)
    begin, end = _window(result, start, stop)
    steps = [(f"{name} queue (packets)", *_queue_steps(seen, number)) for number, name in enumerate(seen.class_names)]
    ring = seen.port.tx_ring
    if ring is not None and ring.limit is not None:
        steps.append(("ring (particles)", *_ring_steps(seen, ring)))
    factor, symbol = scale(None, [(end - begin) / 1e12])
    factor, symbol = (1.0, "s") if symbol == "s" else (1e3, "ms")
    ax = axes(ax)
    for number, (label, times, counts) in enumerate(steps):
        at, standing = _cut(times, counts, begin, end)
        ax.step(
            at / 1e12 * factor,
            standing,
            where="post",
            label=label,
            color=PALETTE[number % len(PALETTE)],
            linestyle=DASHES[number % len(DASHES)],
            linewidth=max(1.0, 2.0 - 0.4 * number),
        )
    if ring is not None and ring.limit is not None:
        colour = PALETTE[(len(steps) - 1) % len(PALETTE)]
        ax.axhline(ring.limit, color=colour, linewidth=0.9, linestyle=":", zorder=1)
    from matplotlib.ticker import MaxNLocator

    ax.yaxis.set_major_locator(MaxNLocator(integer=True, nbins=7))
    ax.set_ylim(bottom=0)
    ax.set_xlim(begin / 1e12 * factor, end / 1e12 * factor)
    ax.ticklabel_format(axis="x", useOffset=False, style="plain")
    ax.set_xlabel(f"time ({symbol})")
    ax.set_ylabel(f"waiting at {seen.port.name}")
    return finish(ax)


def _cut(
    times: NDArray[np.int64], counts: NDArray[np.int64], begin: int, end: int
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The steps within a window, with what stood at its begin and stands at its end."""
    first, last = np.searchsorted(times, [begin, end], side="right")
    before = counts[first - 1] if first else 0
    at = np.concatenate([[begin], times[first:last], [end]])
    standing = np.concatenate([[before], counts[first:last], [counts[last - 1] if last else 0]])
    return at, standing


def _steps(
    times: list[NDArray[np.int64]], changes: list[NDArray[np.int64]]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Instants at which something changed, and what stands after each."""
    at, change = np.concatenate(times), np.concatenate(changes)
    instants, where = np.unique(at, return_inverse=True)
    total = np.zeros(len(instants), dtype=np.int64)
    np.add.at(total, where.ravel(), change)
    return instants, np.cumsum(total)


def _queue_steps(seen: _Seen, number: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    came = (seen.classes == number) & (seen.queued >= 0)
    left = came & (seen.ring >= 0)
    ones = np.ones(len(came), dtype=np.int64)
    return _steps([seen.queued[came], seen.ring[left]], [ones[came], -ones[left]])


def _ring_steps(seen: _Seen, ring: TxRing) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Particles in use, which come back as the ring says: at once, or one by one."""
    inside = seen.ring >= 0
    sizes = seen.size[inside]
    taken = -(-(sizes.astype(np.int64) + ring.header) // ring.particle)
    times, changes = [seen.ring[inside]], [taken]
    if ring.free != "particle":
        leaves = (seen.start if ring.free == "start" else seen.end)[inside]
        times.append(leaves[leaves >= 0])
        changes.append(-taken[leaves >= 0])
        return _steps(times, changes)
    begin, end = seen.start[inside], seen.end[inside]
    for size in np.unique(sizes):
        there = (sizes == size) & (end >= 0)
        for share in _returns(seen.port, ring, int(size)):
            times.append(begin[there] + np.floor((end - begin)[there] * share).astype(np.int64))
            changes.append(np.full(int(there.sum()), -1, dtype=np.int64))
    return _steps(times, changes)


def _returns(port: Port, ring: TxRing, size: int) -> list[float]:
    """The shares of a packet's wire bits at which its particles come back; whole cells on ATM."""
    count = ring.particles(size)
    shares = [min(1.0, k * ring.particle / (size + ring.header)) for k in range(1, count)]
    if isinstance(port.framing, AAL5):
        cells = port.wire_bytes(size) // 53
        shares = [float(np.ceil(share * cells - 1e-9) / cells) for share in shares]
    return [*shares, 1.0]


# -- one packet at a time ----------------------------------------------------------------------------------------------


def timeline(
    result: Result,
    port: str | None = None,
    ax: Axes | None = None,
    *,
    flow: str | None = None,
    seq: int | None = None,
    start: TimeLike | None = None,
    stop: TimeLike | None = None,
    packets: int | None = None,
) -> Axes:
    """Packets as bars on their way through a port: class queue, transmit ring, wire.

    One packet is watched: how long it waits in its queue, how long in the ring and behind what, and how long its own
    transmission takes.

    Parameters
    ----------
    result : Result
        Of a run with ``record="packets"``.
    port : str, optional
        Name of the port; the first by default.
    ax : Axes, optional
        Where to draw; a new figure by default.
    flow : str, optional
        The flow to watch; by default the first one of the class that is declared first.
    seq : int, optional
        The number of the packet to watch; by default the one that spends the longest at the port.
    start, stop : number or str, optional
        From when to when, in seconds or with a unit; by default around the packet watched.
    packets : int, optional
        Instead of `start`: so many transmissions, that of the packet watched the last.

    Returns
    -------
    Axes
        A lane for each class queue, one for the ring in which a packet is as high as the particles it takes, and one
        for the wire. Numbers in the bars are those of the packets in their flows.

    Raises
    ------
    ScenarioError
        An argument is none of those above, the window holds more packets than can be told apart, or the run did not
        keep packets.

    Examples
    --------
    >>> from qossim import experiments, plots
    >>> cases = experiments.ef_wfq_vs_pq_cases(duration=20.0, seed=1)
    >>> ax = plots.timeline(cases["PQ, best effort"])
    """
    seen = _seen(result, port)
    watched = _watched(result, seen, flow, seq, start, stop)
    begin, end = _around(result, seen, watched, start, stop, packets)
    shown = np.flatnonzero((seen.queued >= 0) & (seen.queued < end) & ((seen.end > begin) | (seen.end < 0)))
    moving = shown[(seen.start[shown] >= 0) & (seen.start[shown] < end)]
    if len(moving) > _MOST_BARS:
        raise units.refusal("start and stop", f"around at most {_MOST_BARS} transmissions", len(moving))
    ax = axes(ax, height=4.4)
    ax.set_xlim(begin / _MS, end / _MS)
    pen = _Pen(ax, seen, result.scenario, watched, begin, end)
    pen.lanes(shown)
    pen.measure()
    ax.ticklabel_format(axis="x", useOffset=False, style="plain")
    from matplotlib.ticker import MaxNLocator

    ax.xaxis.set_major_locator(MaxNLocator(nbins=max(3, int(inches(ax)[0] * 1.3))))
    ax.set_xlabel(f"time at {seen.port.name} (ms)")
    ax.grid(True, axis="x", color="0.9", linewidth=0.6)
    ax.set_axisbelow(True)
    ax.spines[["top", "right", "left"]].set_visible(False)
    ax.tick_params(axis="y", length=0)
    return ax


def _watched(
    result: Result, seen: _Seen, flow: str | None, seq: int | None, start: TimeLike | None, stop: TimeLike | None
) -> int:
    """The row of the packet to watch."""
    names = list(result.flows)
    if flow is None:
        here = [(seen.class_of[n], n) for n in range(len(names)) if n in seen.class_of]
        flow = names[min(here)[1]]
    elif flow not in names or names.index(flow) not in seen.class_of:
        passing = ", ".join(names[n] for n in seen.class_of)
        raise units.refusal("flow", f"one that passes {seen.port.name} ({passing})", flow)
    rows = np.arange(len(seen.queued))[result[flow].rows]
    if seq is not None:
        number = units.count(seq, "seq", 0, max(len(rows) - 1, 0))
        if number >= len(rows) or seen.end[rows[number]] < 0:
            raise units.refusal("seq", f'a packet of "{flow}" that {seen.port.name} sent', seq)
        return int(rows[number])
    sent = rows[seen.end[rows] >= 0]
    counted = sent[seen.sent[sent] >= round(result.warmup * 1e12)]
    sent = counted if len(counted) else sent
    begin, end = _window(result, start, stop)
    if start is not None or stop is not None:
        sent = sent[(seen.queued[sent] >= begin) & (seen.end[sent] <= end)]
    if not len(sent):
        raise units.refusal("flow", f"one of which {seen.port.name} sent a packet in the time to draw", flow)
    return int(sent[np.argmax(seen.end[sent] - seen.queued[sent])])


def _around(
    result: Result, seen: _Seen, watched: int, start: TimeLike | None, stop: TimeLike | None, packets: int | None
) -> tuple[int, int]:
    """The window: as given, else a little more than the packet's stay."""
    came, left = int(seen.queued[watched]), int(seen.end[watched])
    margin = max(1, (left - came) // 4)
    begin, end = max(0, came - margin), left + margin // 2
    if packets is not None:
        if start is not None:
            raise units.refusal("packets", "None where start is given", packets)
        starts = np.sort(seen.start[seen.start >= 0])
        place = int(np.searchsorted(starts, seen.start[watched]))
        begin = min(came, int(starts[max(0, place - units.count(packets, "packets", 1) + 1)]))
    given = _window(result, start, stop, begin, end)
    return given


# drawing


class _Pen:
    """Draws the lanes from above: queues in order of declaration, the ring, the wire."""

    def __init__(self, ax: Axes, seen: _Seen, scenario: Scenario, watched: int, begin: int, end: int) -> None:
        self.ax, self.seen, self.watched, self.begin, self.end = ax, seen, watched, begin, end
        self.flows = [flow.name for flow in scenario.flows]
        self.per_ms = inches(ax)[0] * 72 / ((end - begin) / _MS)
        self.top = 0.0
        self.ticks: list[tuple[float, str]] = []

    def lanes(self, shown: NDArray[np.intp]) -> None:
        """Every lane with the packets in it."""
        seen = self.seen
        for number, name in enumerate(seen.class_names):
            self.queue(f"{name}\nqueue", shown[seen.classes[shown] == number])
        ring = seen.port.tx_ring
        if ring is not None and ring.limit is not None:
            self.ring(ring, shown[seen.ring[shown] >= 0])
        self.wire(shown[seen.start[shown] >= 0])
        self.ax.set_yticks([-place for place, _ in self.ticks], [text for _, text in self.ticks])

    def queue(self, name: str, rows: NDArray[np.intp]) -> None:
        """A class queue: those that leave first lie highest; what is too many is counted."""
        seen = self.seen
        left = np.where(seen.ring[rows] >= 0, seen.ring[rows], self.end + 1)
        there = (left > seen.queued[rows]) & (left > self.begin)
        rows, left = rows[there], left[there]
        order = np.lexsort((seen.queued[rows], left))
        free: list[int] = []
        hidden = []
        for row, leaves in zip(rows[order].tolist(), left[order].tolist(), strict=True):
            came = int(seen.queued[row])
            level = next((n for n, until in enumerate(free) if until <= came), len(free))
            if level >= _ROWS and row != self.watched:
                hidden.append((came, leaves))
                continue
            free[level : level + 1] = [leaves]
            self.bar(row, came, leaves, self.top + 0.52 * level, 0.46)
        rows_high = max(1, len(free))
        if hidden:
            came_at = int(self.seen.queued[self.watched])
            more = sum(came <= came_at < leaves for came, leaves in hidden)
            self.ax.text(
                *(self.begin / _MS, -(self.top + 0.52 * rows_high + 0.13)),
                f" and {more} more behind them" if more else " and more later",
                fontsize=7.5,
                style="italic",
                va="center",
            )
        self.lane(name, 0.52 * rows_high + (0.3 if hidden else 0))

    def ring(self, ring: TxRing, rows: NDArray[np.intp]) -> None:
        """The ring: a packet is as high as its particles, and lies where there was room when it came."""
        seen, limit = self.seen, ring.limit or 0
        stays = []
        for row in rows[np.argsort(seen.ring[rows], kind="stable")].tolist():
            came = int(seen.ring[row])
            out = int((seen.start if ring.free == "start" else seen.end)[row])
            stays.append((came, out if out >= 0 else self.end + 1, row, ring.particles(int(seen.size[row]))))
        placed: list[tuple[int, int, int, int]] = []  # until, from, to, row
        for came, out, row, count in stays:
            if out <= came:
                continue
            taken = sorted((low, high) for until, low, high, _ in placed if until > came)
            low = 0
            for other, high in taken:
                if low + count <= other:
                    break
                low = max(low, high)
            placed = [each for each in placed if each[0] > came]
            placed.append((out, low, low + count, row))
            self.slots.append((row, came, out, low, low + count))
        highest = max([limit, *(high for *_, high in self.slots)])
        unit = min(0.42, 2.6 / highest)
        for row, came, out, low, high in self.slots:
            self.bar(row, came, out, self.top + unit * (highest - high) + 0.02, unit * (high - low) - 0.04)
        edge = -(self.top + unit * (highest - limit))
        self.ax.plot([self.begin / _MS, self.end / _MS], [edge, edge], color="black", linewidth=0.9, linestyle=":")
        self.lane(f"ring\n({limit} particle{'s' if limit > 1 else ''})", unit * highest)

    @property
    def slots(self) -> list[tuple[int, int, int, int, int]]:
        """Row, from, until, lowest and highest particle of each packet in the ring."""
        if not hasattr(self, "_slots"):
            self._slots: list[tuple[int, int, int, int, int]] = []
        return self._slots

    def wire(self, rows: NDArray[np.intp]) -> None:
        """The wire, one packet at a time."""
        for row in rows.tolist():
            out = int(self.seen.end[row])
            self.bar(row, int(self.seen.start[row]), out if out >= 0 else self.end + 1, self.top, 0.62)
        self.lane("wire", 0.62)

    def lane(self, name: str, height: float) -> None:
        """Close a lane: its name beside it, a line below it."""
        self.ticks.append((self.top + height / 2, name))
        self.top += height + 0.34
        self.ax.axhline(-(self.top - 0.17), color="0.75", linewidth=0.7, zorder=0.5)

    def bar(self, row: int, came: int, left: int, top: float, height: float) -> None:
        """One packet in one lane, with its number if that fits."""
        from matplotlib.patches import Rectangle

        begin, end = max(came, self.begin), min(left, self.end)
        if end <= begin:
            return
        style = self.style(row)
        x, width = begin / _MS, (end - begin) / _MS
        self.ax.add_patch(Rectangle((x, -top - height), width, height, **style))
        text = str(int(self.seen.seq[row]))
        if row == self.watched:
            text = f"{self.flows[int(self.seen.flow[row])]} {text}"
        if width * self.per_ms < 4.6 * len(text) + 3:
            return
        own = self.seen.flow[row] == self.seen.flow[self.watched]
        white = {"boxstyle": "square,pad=0.08", "facecolor": style["facecolor"], "edgecolor": "none"}
        self.ax.text(
            x + width / 2,
            -top - height / 2 - 0.01,
            text,
            fontsize=min(8.0, 7.5 if height > 0.3 else 24 * height),
            fontweight="bold" if row == self.watched else "normal",
            color="white" if own else "black",
            ha="center",
            va="center",
            bbox=None if own else white,
            clip_on=True,
        )

    def style(self, row: int) -> dict[str, Any]:
        """The flow watched in blue, the packet watched with a thick edge, the others grey and hatched."""
        number = int(self.seen.flow[row])
        own = int(self.seen.flow[self.watched])
        if number == own:
            if row == self.watched:
                return {"facecolor": PALETTE[0], "edgecolor": "black", "linewidth": 1.8, "zorder": 3}
            return {"facecolor": PALETTE[0], "edgecolor": "black", "linewidth": 0.6, "alpha": 0.75}
        other = number - (number > own)
        return {
            "facecolor": _GREYS[other % len(_GREYS)],
            "hatch": HATCHES[other % len(HATCHES)],
            "edgecolor": "0.35",
            "linewidth": 0.6,
        }

    def measure(self) -> None:
        """Above the lanes: how long the packet watched was where, and behind what in the ring."""
        seen, row = self.seen, self.watched
        times = [int(each[row]) for each in (seen.queued, seen.ring, seen.start, seen.end)]
        spans = []
        for name, came, left in zip(("queue", "ring", "wire"), times, times[1:], strict=False):
            if left > came:
                spans.append((name, came, left))
        for time in sorted(set(times)):
            self.ax.axvline(time / _MS, color=PALETTE[0], linewidth=0.8, linestyle=(0, (4, 2)), zorder=0.8)
        reached: list[float] = []
        for name, came, left in spans:
            text = f"{name} {self.length(left - came)}"
            if name == "ring":
                text += self.ahead(times[1], times[2])
            self.span(text, came / _MS, left / _MS, reached)
        levels = len(reached)
        self.ax.set_ylim(-self.top + 0.12, 0.42 + 0.72 * max(levels, 1))

    def span(self, text: str, came: float, left: float, reached: list[float]) -> None:
        """An arrow from side to side, and its text on the lowest level on which it runs into no other."""
        ax = self.ax
        ax.annotate(
            "",
            xy=(left, 0.2),
            xytext=(came, 0.2),
            arrowprops={
                "arrowstyle": "<|-|>",
                "color": "black",
                "linewidth": 0.9,
                "shrinkA": 0,
                "shrinkB": 0,
                "mutation_scale": 7,
            },
        )
        half = max(map(len, text.split("\n"))) * 4.3 / 2 / self.per_ms
        middle = (came + left) / 2
        middle = min(max(middle, self.begin / _MS + half), self.end / _MS - half)
        level = next((n for n, until in enumerate(reached) if until <= middle - half), len(reached))
        reached[level : level + 1] = [middle + half + 3 / self.per_ms]
        ax.text(middle, 0.34 + 0.72 * level, text, ha="center", va="bottom", fontsize=8, linespacing=1.05)
        if level:
            ax.plot([(came + left) / 2] * 2, [0.24, 0.36 + 0.72 * level], color="0.4", linewidth=0.6)

    def length(self, ps: int) -> str:
        factor, symbol = scale(None, [ps / 1e12])
        return f"{ps / 1e12 * factor:.3g} {symbol}"

    def ahead(self, came: int, left: int) -> str:
        """What was sent between a packet's coming into the ring and its own first bit."""
        seen = self.seen
        before = (seen.start >= came) & (seen.start < left)
        before[self.watched] = False
        counts = Counter(self.flows[number] for number in seen.flow[before].tolist())
        rest = bool(((seen.start >= 0) & (seen.start < came) & (seen.end > came)).any())
        parts = [f"{number} {name}" for name, number in counts.items()]
        if len(parts) > 2:
            parts = [f"{sum(counts.values())} packets"]
        if rest:
            parts.insert(0, "the rest of one")
        return "\nbehind " + " and ".join(parts) if parts else ""


# -- what a port saw ---------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Seen:
    """The packets of a run, row by row, as one port saw them; times in picoseconds, -1 for never."""

    port: Port
    class_names: list[str]
    class_of: dict[int, int]
    classes: NDArray[np.int64]
    flow: NDArray[np.int32]
    seq: NDArray[np.int32]
    size: NDArray[np.int32]
    sent: NDArray[np.int64]
    queued: NDArray[np.int64]
    ring: NDArray[np.int64]
    start: NDArray[np.int64]
    end: NDArray[np.int64]


def _seen(result: object, port: str | None) -> _Seen:
    from qossim.result import Result

    if not isinstance(result, Result):
        raise units.refusal("result", "one Result", result)
    scenario = result.scenario
    names = [each.name for each in scenario.ports]
    if port is not None and port not in names:
        raise units.refusal("port", f"one of the scenario ({', '.join(names)})", port)
    here = scenario.ports[names.index(port) if port else 0]
    packets, hop = result.packets, result.hop(here.name)
    passing = {n: flow for n, flow in enumerate(scenario.flows) if flow.route is None or here.name in flow.route}
    class_of = {n: _class_of(flow, here) for n, flow in passing.items()}
    table = np.array([class_of.get(n, -1) for n in range(len(scenario.flows))], dtype=np.int64)
    return _Seen(
        port=here,
        class_names=[each.name for each in here.classes] or ["class" if here.tx_ring else "the"],
        class_of=class_of,
        classes=table[packets["flow"]],
        flow=packets["flow"],
        seq=packets["seq"],
        size=packets["size"],
        sent=packets["sent"],
        queued=hop["queued"],
        ring=hop["ring"],
        start=hop["start"],
        end=hop["end"],
    )


def _class_of(flow: Flow, port: Port) -> int:
    """The first class that fits, else the one for the rest; 0 at a port without classes."""
    fits = (n for n, c in enumerate(port.classes) if flow.dscp in (c.match or ()) or flow.name in (c.flows or ()))
    rest = (n for n, c in enumerate(port.classes) if c.takes_the_rest)
    return next(fits, next(rest, 0))


def _window(
    result: Result, start: TimeLike | None, stop: TimeLike | None, begin: int = 0, end: int | None = None
) -> tuple[int, int]:
    """Picoseconds from and to, with the defaults given."""
    if end is None:
        end = round(result.duration * 1e12)
    begin = begin if start is None else units.time(start, "start")
    end = end if stop is None else units.time(stop, "stop")
    if end <= begin:
        raise units.refusal("stop", f"after start ({begin / 1e12:g} s)", stop if stop is not None else end / 1e12)
    return begin, end
