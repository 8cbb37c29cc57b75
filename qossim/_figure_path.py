# SPDX-License-Identifier: MIT
"""Figures of the path: where the mean delay goes, what waits at a port, and single packets on their way through it."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from qossim import units
from qossim._figure import (
    HATCHES,
    PALETTE,
    Flows,
    Results,
    Unit,
    axes,
    called,
    drawing,
    finish,
    fitted,
    flag,
    inches,
    jagged,
    legend,
    lines_of,
    plain,
    reach,
    scale,
    whole_numbers,
)
from qossim.scenario.port import AAL5

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from numpy.typing import NDArray

    from qossim.result import Result
    from qossim.scenario.net import Scenario
    from qossim.scenario.port import Port, TxRing
    from qossim.units import TimeLike

_STAGES = {
    "queue": ("#56B4E9", "////"),
    "ring": ("#D55E00", "...."),
    "serialisation": ("#F0E442", ""),
    "propagation": ("0.75", "\\\\\\\\"),
}
_QUEUES = tuple(colour for colour in PALETTE if colour != "#000000")
_GREYS = ("0.80", "0.62", "0.92", "0.72", "0.55")
_MOST_BARS = 400
_MOST_KEYS = 8
_HEAD = 4  # so many packets of a queue are drawn, if there is room
_MS = 1e9  # picoseconds


# -- the delay budget --------------------------------------------------------------------------------------------------


@drawing
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
    by_port = flag(by_port, "by_port")
    lines = lines_of(results, flow)
    tables = [line.flow.delay_budget() for line in lines]
    totals = [float(table.to_numpy().sum()) for table in tables]
    factor, symbol = scale(unit, [totals], ax.get_xlabel() if ax else "")
    ax = axes(ax, height=max(2.0, 1.25 + 0.42 * len(lines)))
    largest = max((total for total in totals if total == total), default=0.0) * factor or 1.0
    wide = inches(ax)[0]
    room = largest * wide / max(wide - 0.5, 0.4 * wide)
    across = wide / room
    for place, (table, total) in enumerate(zip(tables, totals, strict=True)):
        left = 0.0
        for stage, seconds in _pieces(table, by_port):
            width = seconds * factor
            if not width > 0:
                continue
            _piece(ax, place, left, width, stage, f"{width:.3g}" if width * across > 0.36 else "")
            left += width
            if stage == "propagation" and by_port and len(table) > 1:
                ax.plot([left, left], [place - 0.36, place + 0.36], color="black", linewidth=1.8, solid_capstyle="butt")
        text = "no packet received" if total != total else f"{total * factor:.4g}"
        ax.text(left + 0.012 * largest, place, text, va="center", ha="left", fontsize=8.5)
    room_for = max(24, int(wide / 3 * 72 / 5.6))
    ax.set_yticks(range(len(lines)), [plain("\n".join(fitted(line.label, room_for, 2))) for line in lines])
    ax.set_ylim(len(lines) - 0.45, -0.55)
    ax.set_xlim(0, room)
    ax.set_xlabel(f"mean one-way delay ({symbol})")
    ax.tick_params(axis="y", length=0)
    finish(ax, grid="x")
    _stage_legend(ax)
    return ax


def _pieces(table: Any, by_port: bool) -> list[tuple[str, float]]:
    """Stage and seconds, in the order of the path."""
    rows = [row for _, row in table.iterrows()] if by_port else [table.sum(skipna=False)]
    return [(str(stage), float(seconds)) for row in rows for stage, seconds in row.items()]


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


@drawing
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
        Steps: what stands when each instant is over. Packets that were dropped never waited. The ring is grey, and its
        limit a dotted line.

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
    names = [called(f"{name} queue (packets)".strip()) for name in seen.class_names]
    ring = seen.port.tx_ring if seen.port.tx_ring is not None and seen.port.tx_ring.limit is not None else None

    def drawn(times: NDArray[np.int64], counts: NDArray[np.int64]) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
        instants, standing = _cut(times, counts, begin, end)
        return instants / 1e12 * factor, standing

    factor, symbol = scale(None, [(end - begin) / 1e12])
    factor, symbol = (1.0, "s") if symbol == "s" else (1e3, "ms")
    ax = axes(ax)
    for number, (name, look) in enumerate(zip(names, jagged(ax, len(names), joined=True), strict=True)):
        at, standing = drawn(*_queue_steps(seen, number))
        (line,) = ax.step(at, standing, where="post", label=name, linewidth=look.width)
        line.set(color=_QUEUES[number % len(_QUEUES)], marker=look.form or "none", markevery=max(1, len(at) // 16))
    if ring is not None:  # full most of the time: behind all others
        at, standing = drawn(*_ring_steps(seen, ring))
        ax.fill_between(at, standing, step="post", color="0.88", linewidth=0, zorder=1.1)
        ax.step(at, standing, where="post", label="ring (particles)", color="0.5", linewidth=0.8, zorder=1.2)
        assert ring.limit is not None
        ax.axhline(ring.limit, color="black", linewidth=0.9, linestyle=":", zorder=1)
    from matplotlib.ticker import MaxNLocator

    ax.yaxis.set_major_locator(MaxNLocator(integer=True, nbins=7))
    reach(ax, 0, max(1.0, *ax.get_ylim()))
    ax.set_xlim(begin / 1e12 * factor, end / 1e12 * factor)
    whole_numbers(ax)
    ax.set_xlabel(f"time ({symbol})")
    alone = ring is None and len(names) == 1
    ax.set_ylabel(f"{'packets ' if alone else ''}waiting at {_short(seen.port.name, 24 if alone else 32)}")
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
    _, back = _given_back(seen, ring, np.flatnonzero(inside))
    back = back[back >= 0]
    return _steps([*times, back], [*changes, np.full(len(back), -1, dtype=np.int64)])


def _given_back(seen: _Seen, ring: TxRing, rows: NDArray[np.intp]) -> tuple[NDArray[np.intp], NDArray[np.int64]]:
    """Of every particle of these packets the place of its packet and when it comes back, -1 for never.

    A packet that was being sent when the run broke off had given back some of them.
    """
    sizes, begin, end = seen.size[rows], seen.start[rows], seen.end[rows]
    who, when = [np.zeros(0, dtype=np.intp)], [np.zeros(0, dtype=np.int64)]
    for size in np.unique(sizes).tolist():
        there = np.flatnonzero(sizes == size)
        sent = begin[there]
        took = np.where(end[there] >= 0, end[there] - sent, int(seen.port.transmission_time(size) * units.PICO))
        for share in _returns(seen.port, ring, size):
            back = sent + np.floor(took * share).astype(np.int64)
            who.append(there)
            when.append(np.where((sent >= 0) & (back < seen.stop), back, -1))
    return np.concatenate(who), np.concatenate(when)


def _returns(port: Port, ring: TxRing, size: int) -> list[float]:
    """The shares of a packet's wire bits at which its particles come back; whole cells on ATM."""
    count = ring.particles(size)
    shares = [min(1.0, k * ring.particle / (size + ring.header)) for k in range(1, count)]
    if isinstance(port.framing, AAL5):
        cells = port.wire_bytes(size) // 53
        shares = [float(np.ceil(share * cells - 1e-9) / cells) for share in shares]
    return [*shares, 1.0]


# -- one packet at a time ----------------------------------------------------------------------------------------------


@drawing
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
        A lane for each class queue, of which the head is shown, one for the ring, in which a packet is as high as the
        particles it holds and the limit is a dotted line, and one for the wire. In a lane the next out lies lowest.
        Numbers in the bars are those of the packets in their flows. From two to eight flows besides the one watched
        are told above the axes.

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
    pen.draw(shown)
    pen.key()
    whole_numbers(ax)
    from matplotlib.ticker import MaxNLocator

    ax.xaxis.set_major_locator(MaxNLocator(nbins=max(3, int(inches(ax)[0] * 1.3))))
    ax.set_xlabel(f"time at {_short(seen.port.name)} (ms)" + ("" if pen.named else f", around {pen.name}"))
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
    elif not isinstance(flow, str) or flow not in names or names.index(flow) not in seen.class_of:
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


class _Bar(NamedTuple):
    """A packet in a lane: instants, and from each to the next where it lies and how high it is, in lane units."""

    row: int
    times: list[int]
    lows: list[float]
    heights: list[float]

    @property
    def top(self) -> float:
        return max(map(sum, zip(self.lows, self.heights, strict=True)))


class _Lane(NamedTuple):
    name: str
    height: float
    bars: list[_Bar]
    limit: float | None = None


class _Pen:
    """Draws the lanes from above: queues in order of declaration, the ring, the wire. The next out lies lowest.

    Heights are in lane units until all lanes and labels are known, then in points.
    """

    def __init__(self, ax: Axes, seen: _Seen, scenario: Scenario, watched: int, begin: int, end: int) -> None:
        self.ax, self.seen, self.watched, self.begin, self.end = ax, seen, watched, begin, end
        self.flows = [_short(flow.name) for flow in scenario.flows]
        self.name = f"{self.flows[int(seen.flow[watched])]} {int(seen.seq[watched])}"
        self.named = False
        self.drawn: dict[int, int] = {}
        """Flows that have bars, and the row of a packet of each."""
        width, height = inches(ax)
        self.room = 72 * height
        self.per_ms = 0.92 * 72 * width / ((end - begin) / _MS)
        self.font = 8.0 if width > 3.2 else 7.0
        self.head = _HEAD if self.room > 200 else 2

    # what is in the lanes

    def lanes(self, shown: NDArray[np.intp]) -> list[_Lane]:
        """Every lane with the packets in it, from above."""
        seen = self.seen
        lanes = [
            self.queue(f"{_short(name, 20)} queue".strip(), shown[seen.classes[shown] == number])
            for number, name in enumerate(seen.class_names)
        ]
        ring = seen.port.tx_ring
        if ring is not None and ring.limit is not None:
            lanes.append(self.ring(ring, ring.limit, shown[seen.ring[shown] >= 0]))
        rows = shown[seen.start[shown] >= 0]
        out = self.until(seen.end[rows])
        bars = [
            _Bar(row, [came, left], [0.0], [1.25])
            for row, came, left in zip(rows.tolist(), seen.start[rows].tolist(), out.tolist(), strict=True)
        ]
        return [*lanes, _Lane("wire", 1.25, bars)]

    def until(self, times: NDArray[np.int64]) -> NDArray[np.int64]:
        """The instants, those that never came after the window."""
        return np.where(times >= 0, times, self.end + 1)

    def queue(self, name: str, rows: NDArray[np.intp]) -> _Lane:
        """A class queue: the packets at its head, and how many more there are when the one watched comes."""
        seen, came_at = self.seen, int(self.seen.queued[self.watched])
        rows = rows[np.lexsort((seen.queued[rows], self.until(seen.ring[rows])))]
        came, left = seen.queued[rows], self.until(seen.ring[rows])
        rows, came, left = (each[left > np.maximum(came, self.begin - 1)] for each in (rows, came, left))
        seats = self.head
        if self.watched in rows:
            place = int(np.flatnonzero(rows == self.watched)[0])
            seats = max(seats, min(12, 1 + int((left[:place] > came_at).sum())))
        last = np.arange(len(rows)) - np.cumsum(left <= self.end) + (left <= self.end)
        near = (left <= self.end) | (last < seats)
        waiting = int(((came <= came_at) & (left > came_at)).sum())
        bars = self.stack(rows[near], came[near], left[near], np.ones(int(near.sum())), float(seats))
        high = max((bar.top for bar in bars), default=1.0)
        if waiting > seats:
            name += f"\n({waiting} waiting)"
        return _Lane(name, max(1.0, high), bars)

    def ring(self, ring: TxRing, limit: int, rows: NDArray[np.intp]) -> _Lane:
        """The ring: a packet is as high as the particles that it has not given back yet."""
        seen = self.seen
        rows = rows[np.argsort(seen.ring[rows], kind="stable")]
        rows = rows[np.argsort(self.until(seen.start[rows]), kind="stable")]
        left = self.until((seen.start if ring.free == "start" else seen.end)[rows])
        particles = np.array([ring.particles(int(size)) for size in seen.size[rows]], dtype=np.float64)
        unit = min(0.9, 5.5 / limit)
        who, back = _given_back(seen, ring, rows)
        falls = (who, self.until(back)) if ring.free == "particle" else None
        bars = self.stack(rows, seen.ring[rows], left, unit * particles, np.inf, falls)
        high = max((bar.top for bar in bars), default=0.0)
        name = f"ring of {limit}\nparticle{'s' if limit > 1 else ''}"
        return _Lane(name, max(high, unit * limit), bars, limit=unit * limit)

    def stack(
        self,
        rows: NDArray[np.intp],
        came: NDArray[np.int64],
        left: NDArray[np.int64],
        heights: NDArray[np.float64],
        top: float,
        given_back: tuple[NDArray[np.intp], NDArray[np.int64]] | None = None,
    ) -> list[_Bar]:
        """Packets that leave in this order: each lies upon those before it, and sinks as they leave.

        Where they shrink before, each by equal parts, `given_back` has the place of the packet and the instant of each.
        """
        who, when = (np.arange(len(rows)), left) if given_back is None else given_back
        parts = heights[who] / np.bincount(who, minlength=len(rows))[who]
        bars = []
        for place, row in enumerate(rows.tolist()):
            begin, end = max(int(came[place]), self.begin), min(int(left[place]), self.end)
            if end <= begin:
                continue
            before, own = who < place, who == place
            falls = np.unique(when[(before | own) & (when > begin) & (when < end)]).tolist()
            times, lows, highs = [], [], []
            for instant in [begin, *falls]:
                low, high = (float(parts[those & (when > instant)].sum()) for those in (before, own))
                if low + high <= top + 1e-9:
                    times.append(instant)
                    lows.append(low)
                    highs.append(high)
            if times:
                bars.append(_Bar(row, [*times, end], lows, highs))
        return bars

    # drawing

    def draw(self, shown: NDArray[np.intp]) -> None:
        """Lanes, and above them how long the packet watched was where."""
        lanes, spans = self.lanes(shown), self.spans()
        labels, levels = self.levels(spans)
        line = 1.2 * self.font
        above = 16 + line * sum(levels)
        gap = 9.0
        unit = max(3.0, (self.room - above - gap * len(lanes)) / sum(lane.height for lane in lanes))
        self.mark(spans)
        bottom, ticks = 0.0, []
        for lane in lanes:
            bottom -= gap
            bottom -= unit * lane.height
            ticks.append((bottom + unit * lane.height / 2, lane.name))
            if lane is not lanes[-1]:
                self.ax.axhline(bottom - gap / 2, color="0.75", linewidth=0.7, zorder=0.5)
            for bar in lane.bars:
                self.bar(bar, bottom, unit)
            if lane.limit is not None:
                self.ax.axhline(bottom + unit * lane.limit, color="black", linewidth=1.1, linestyle=":", zorder=2.9)
        self.label(labels, [10 + line * sum(levels[:n]) for n in range(len(levels))])
        self.ax.set_ylim(bottom - 3, above)
        self.ax.set_yticks([place for place, _ in ticks], [text for _, text in ticks], fontsize=self.font + 1)

    def bar(self, bar: _Bar, bottom: float, unit: float) -> None:
        """One packet in one lane, with its number where that fits best."""
        from matplotlib.patches import Polygon

        height = max(bar.heights) * unit
        longest = int(np.argmax(np.diff(bar.times)))
        begin, end = bar.times[longest : longest + 2]
        width = (end - begin) / _MS * self.per_ms
        style = self.style(bar.row, height, min(0.6, 0.1 * height, 0.08 * width))
        if bar.row != self.watched:
            self.drawn.setdefault(int(self.seen.flow[bar.row]), bar.row)
        inset = min(0.8, 0.06 * height)
        upper: list[tuple[float, float]] = []
        lower: list[tuple[float, float]] = []
        for left, right, low, high in zip(bar.times, bar.times[1:], bar.lows, bar.heights, strict=False):
            for instant in (left, right):
                lower.append((instant / _MS, bottom + low * unit + inset))
                upper.append((instant / _MS, bottom + (low + high) * unit - inset))
        self.ax.add_patch(Polygon([*lower, *reversed(upper)], closed=True, joinstyle="miter", **style))
        text = str(int(self.seen.seq[bar.row]))
        if bar.row == self.watched:
            text = self.name
        size = min(self.font - 0.5, 0.72 * bar.heights[longest] * unit)
        if size < 4.5 or width < 0.66 * size * len(text) + 2:
            return
        self.named |= bar.row == self.watched
        own = self.seen.flow[bar.row] == self.seen.flow[self.watched]
        plain = {"boxstyle": "square,pad=0.06", "facecolor": style["facecolor"], "edgecolor": "none"}
        self.ax.text(
            (begin + end) / 2 / _MS,
            bottom + (bar.lows[longest] + bar.heights[longest] / 2) * unit,
            text,
            fontsize=size,
            fontweight="bold" if bar.row == self.watched else "normal",
            color="white" if own else "black",
            ha="center",
            va="center_baseline",
            bbox=None if own else plain,
            clip_on=True,
            zorder=3.5,
        )

    def style(self, row: int, height: float, edge: float) -> dict[str, Any]:
        """The flow watched in blue, the packet watched with a thick edge, the others grey and hatched."""
        number, own = int(self.seen.flow[row]), int(self.seen.flow[self.watched])
        if row == self.watched:
            return {"facecolor": PALETTE[0], "edgecolor": "black", "linewidth": min(1.8, 0.2 * height), "zorder": 3}
        if number == own:
            return {"facecolor": "#3387BD", "edgecolor": "black", "linewidth": edge}
        other = number - (number > own)
        return {
            "facecolor": _GREYS[other % len(_GREYS)],
            "hatch": HATCHES[other % len(HATCHES)] if height > 6 else None,
            "edgecolor": "0.35",
            "linewidth": edge,
        }

    def key(self) -> None:
        """Which flow looks how, if there are several besides that watched, but not too many to tell."""
        from matplotlib.patches import Patch

        others = sorted(self.drawn.keys() - {int(self.seen.flow[self.watched])})
        if 2 <= len(others) <= _MOST_KEYS:
            patches = [Patch(**self.style(self.drawn[number], 12, 0.6)) for number in others]
            legend(self.ax, patches, [self.flows[number] for number in others])

    # the packet watched

    def spans(self) -> list[tuple[str, int, int]]:
        """What the packet watched did, from when to when."""
        seen, row = self.seen, self.watched
        times = [int(each[row]) for each in (seen.queued, seen.ring, seen.start, seen.end)]
        spans = []
        for name, came, left in zip(("queue", "ring", "wire"), times, times[1:], strict=False):
            if left > came:
                text = f"{name} {_length(left - came)}"
                spans.append((text + (self.ahead(came, left) if name == "ring" else ""), came, left))
        return spans

    def levels(self, spans: list[tuple[str, int, int]]) -> tuple[list[tuple[str, float, float, int]], list[int]]:
        """Each label with where it stands and on which level: the lowest on which it runs into no other."""
        reached: list[float] = []
        labels = []
        for text, came, left in spans:
            half = max(map(len, text.split("\n"))) * 0.62 * self.font / 2 / self.per_ms
            centre = (came + left) / 2 / _MS
            middle = min(max(centre, self.begin / _MS + half), self.end / _MS - half)
            level = next((n for n, until in enumerate(reached) if until <= middle - half), len(reached))
            reached[level : level + 1] = [middle + half + 5 / self.per_ms]
            labels.append((text, centre, middle, level))
        lines = [max(text.count("\n") + 1 for text, _, _, its in labels if its == n) for n in range(len(reached))]
        return labels, lines

    def mark(self, spans: list[tuple[str, int, int]]) -> None:
        """An arrow from side to side of each span, and lines down through the lanes."""
        for instant in sorted({each for _, *ends in spans for each in ends}):
            self.ax.axvline(instant / _MS, color=PALETTE[0], linewidth=0.8, linestyle=(0, (4, 2)), zorder=2.5)
        for _, came, left in spans:
            arrow: dict[str, Any] = {
                "arrowstyle": "<|-|>",
                "color": "black",
                "linewidth": 0.9,
                "shrinkA": 0,
                "shrinkB": 0,
            }
            arrow["mutation_scale"] = 7
            self.ax.annotate("", xy=(left / _MS, 4), xytext=(came / _MS, 4), arrowprops=arrow)

    def label(self, labels: list[tuple[str, float, float, int]], heights: list[float]) -> None:
        """The texts of the spans; a thin line leads to those that stand higher."""
        for text, centre, middle, level in labels:
            plain = {"boxstyle": "square,pad=0.1", "facecolor": "white", "edgecolor": "none"}
            self.ax.text(
                *(middle, heights[level]),
                text,
                ha="center",
                va="bottom",
                fontsize=self.font,
                linespacing=1.05,
                bbox=plain,
                zorder=5,
            )
            if level:
                self.ax.plot([centre] * 2, [6, heights[level]], color="0.4", linewidth=0.6, zorder=2.4)

    def ahead(self, came: int, left: int) -> str:
        """What was sent between a packet's coming into the ring and its own first bit."""
        seen = self.seen
        before = (seen.start >= came) & (seen.start < left)
        before[self.watched] = False
        counts = Counter(self.flows[number] for number in seen.flow[before].tolist())
        parts = [f"{number} {name}" for name, number in counts.items()]
        if len(parts) > 2:
            parts = [f"{sum(counts.values())} packets"]
        if ((seen.start >= 0) & (seen.start < came) & (seen.end > came)).any():
            parts.insert(0, "the rest of one")
        return "\nbehind " + " and ".join(parts) if parts else ""


def _short(name: str, most: int = 32) -> str:
    """A name of a port, class or flow where there is room for a few words only."""
    return plain(fitted(name, most)[0])


def _length(ps: int) -> str:
    factor, symbol = scale(None, [ps / 1e12])
    return f"{ps / 1e12 * factor:.3g} {symbol}"


# -- what a port saw ---------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Seen:
    """The packets of a run, row by row, as one port saw them; times in picoseconds, -1 for never."""

    port: Port
    class_names: list[str]
    """[""] if there are none."""
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
    stop: float
    """From when on nothing happened any more: a run that does not drain breaks off."""


def _seen(result: object, port: str | None) -> _Seen:
    from qossim.result import Result

    if not isinstance(result, Result):
        raise units.refusal("result", "one Result", result)
    scenario = result.scenario
    names = [each.name for each in scenario.ports]
    if port is not None and (not isinstance(port, str) or port not in names):
        raise units.refusal("port", f"one of the scenario ({', '.join(names)})", port)
    here = scenario.ports[names.index(port) if port else 0]
    packets, hop = result.packets, result.hop(here.name)
    passing = {n: flow for n, flow in enumerate(scenario.flows) if flow.route is None or here.name in flow.route}
    class_of = {n: here._class_of(flow) for n, flow in passing.items()}
    table = np.array([class_of.get(n, -1) for n in range(len(scenario.flows))], dtype=np.int64)
    return _Seen(
        port=here,
        class_names=[each.name for each in here.classes] or [""],
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
        stop=np.inf if result.drain else round(result.duration * 1e12),
    )


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
