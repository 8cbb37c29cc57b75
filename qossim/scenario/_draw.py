# SPDX-License-Identifier: MIT
"""A drawing of a scenario: one band per port, and the flows as strands that run through them.

Everything is laid out in inches; on axes of another width all of it, lettering too, is scaled.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from qossim import units
from qossim.scenario import _dscp
from qossim.scenario.meter import Policer, TokenBucket
from qossim.scenario.net import Scenario
from qossim.scenario.port import AAL5, Ethernet, Framing, Overhead, Port, TrafficClass
from qossim.scenario.queue import DropTail, Queue
from qossim.scenario.sched import DRR
from qossim.scenario.source import CBR, Flow, Poisson, Sizes, Source, Trace

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["draw"]

WIDTH = 12.4
LANES_LEFT, CHIP_LEFT, CHIP_RIGHT = 0.12, 0.72, 2.62
PANEL_LEFT, PANEL_RIGHT = 2.95, 10.45
CLASSIFIER, QUEUE_LEFT, QUEUE_RIGHT = 3.4, 4.4, 7.0
SCHEDULER, RING_LEFT, RING_RIGHT, WIRE = 7.7, 8.45, 9.6, 10.2
EXIT_LEFT, LANES_RIGHT = 10.9, 12.28
ROW, CHIP_ROW, TITLE, PAD = 0.78, 0.52, 0.52, 0.22
LANE = 0.065
MOST_STRANDS = 8
"""Flows drawn one by one; if there are more, those that go the same way are drawn as one."""

INK, FAINT, LINE, PANEL, FACE = "#1f2933", "#5f6c7b", "#8795a5", "#f3f5f8", "#ffffff"
COLOURS = ("#0b6fb8", "#d35400", "#12876a", "#b83280", "#b07d00", "#5a4fcf", "#3a9bc1", "#8c4a2f")


@dataclass
class Strand:
    """Flows that are drawn as one, and their way: ports by number, and the class at each."""

    name: str
    detail: str
    colour: str
    route: tuple[int, ...]
    classes: tuple[int, ...]

    def after(self, port: int) -> int | None:
        """The port it comes to after another; None at the end."""
        return dict(pairwise(self.route)).get(port)


@dataclass
class Band:
    """The strip of the drawing that belongs to one port."""

    port: Port
    number: int
    strands: list[Strand]
    top: float
    bottom: float
    passing: list[Strand]
    """Those that come from the band before, through the lanes between the two."""

    @property
    def middle(self) -> float:
        """Height of the scheduler, the ring and the wire."""
        return (self.top - TITLE + self.bottom + PAD) / 2

    def row(self, i: int) -> float:
        """Height of a class's queue."""
        return self.middle + ((len(_classes(self.port)) - 1) / 2 - i) * ROW

    def of_class(self, i: int) -> list[Strand]:
        """The strands that belong to a class here."""
        return [s for s in self.strands if s.classes[s.route.index(self.number)] == i]

    def offset(self, strand: Strand, i: int) -> float:
        """How far above the middle of its class's queue a strand comes in, so that all can be seen."""
        together = self.of_class(i)
        return ((len(together) - 1) / 2 - together.index(strand)) * min(0.03, 0.2 / len(together))

    def chip(self, strand: Strand) -> float:
        """Height at which a strand enters."""
        return self.middle + ((len(self.strands) - 1) / 2 - self.strands.index(strand)) * CHIP_ROW


def draw(scenario: Scenario, ax: Axes | None) -> Axes:
    """Draw a scenario on axes, new ones by default."""
    strands = _strands(scenario)
    bands = _bands(scenario, strands)
    height = -bands[-1].bottom + PAD
    if ax is None:
        import matplotlib.pyplot as plt

        figure = plt.figure(figsize=(WIDTH, height))
        ax = figure.add_axes((0, 0, 1, 1))
    ax.set(xlim=(0, WIDTH), ylim=(-height, 0), aspect="equal")
    ax.set_axis_off()
    pen = Pen(ax)
    for band in bands:
        _draw_port(pen, band)
        for strand in band.strands:
            _draw_arrival(pen, band, bands, strand)
        _draw_departures(pen, band, bands)
    return ax


# -- what is drawn -----------------------------------------------------------------------------------------------------


def _strands(scenario: Scenario) -> list[Strand]:
    numbers = {port.name: i for i, port in enumerate(scenario.ports)}
    groups: dict[object, list[Flow]] = {}
    ways: dict[object, tuple[tuple[int, ...], tuple[int, ...]]] = {}
    together = len(scenario.flows) > MOST_STRANDS
    for flow in scenario.flows:
        route = tuple(numbers[name] for name in flow.route) if flow.route else tuple(numbers.values())
        way = route, tuple(scenario.ports[i]._class_of(flow) for i in route)
        key = way if together else flow.name
        groups.setdefault(key, []).append(flow)
        ways[key] = way
    return [
        Strand(*_called(flows), COLOURS[i % len(COLOURS)], *ways[key]) for i, (key, flows) in enumerate(groups.items())
    ]


def _called(flows: list[Flow]) -> tuple[str, str]:
    """Name and detail of flows drawn as one."""
    if len(flows) == 1:
        return flows[0].name, _source_text(flows[0].source)
    return f"{len(flows)} flows", ", ".join(flow.name for flow in flows[:20])


def _classes(port: Port) -> Sequence[TrafficClass]:
    return port.classes or (TrafficClass("all packets"),)


def _bands(scenario: Scenario, strands: list[Strand]) -> list[Band]:
    bands: list[Band] = []
    top = 0.0
    for number, port in enumerate(scenario.ports):
        here = [strand for strand in strands if number in strand.route]
        passing = [strand for strand in here if strand.after(number - 1) == number]
        top -= PAD + LANE * len(passing)
        inside = max(ROW * len(_classes(port)), CHIP_ROW * len(here), 0.9)
        bottom = top - TITLE - inside - PAD
        bands.append(Band(port, number, here, top, bottom, passing))
        top = bottom
    return bands


# -- words -------------------------------------------------------------------------------------------------------------


def _source_text(source: Source) -> str:
    if isinstance(source, Trace):
        return f"trace of {len(source)} packet{'' if len(source) == 1 else 's'}"
    assert isinstance(source, (CBR, Poisson))
    size = source.size
    many = f"{min(size.values)} to {max(size.values)} B" if isinstance(size, Sizes) else f"{size} B"
    name = "CBR" if isinstance(source, CBR) else "Poisson"
    return f"{name} {units.short(source.rate, 'bit/s', 3)}, {many}"


def _bytes_text(size: int) -> str:
    return f"{size} B" if size < 10_000 or size % 1000 else f"{size // 1000} kB"


def _queue_text(queue: Queue) -> str:
    if not isinstance(queue, DropTail):
        return ""
    limits = [f"{queue.packets} packets"] if queue.packets is not None else []
    limits += [_bytes_text(queue.bytes)] if queue.bytes is not None else []
    limits += [units.text(queue.time, "s")] if queue.time is not None else []
    return ", ".join(limits) or "unlimited"


def _class_text(c: TrafficClass, port: Port) -> str:
    names = [str(_dscp.name(code)) for code in c.match or ()] + list(c.flows or ())
    parts = [", ".join(names)] if names else ["the rest"] if port.classes else []
    quanta = isinstance(port.scheduler, DRR) and c.quantum is not None
    if c.quantum is not None and quanta:
        parts.append(f"quantum {units.text(c.quantum, 'B')}")
    if c.bandwidth is not None and not quanta:
        parts.append(units.short(c.bandwidth, "bit/s"))
    return " · ".join(parts)


def _police_text(policer: Policer | None) -> str:
    if not isinstance(policer, TokenBucket):
        return ""
    return f"policed to {units.short(policer.rate, 'bit/s')}, {_bytes_text(policer.burst)}"


def _framing_text(framing: Framing) -> str:
    if isinstance(framing, AAL5):
        return f"AAL5 {framing.encapsulation}"
    if isinstance(framing, Overhead):
        return f"{framing.bytes} B overhead"
    if isinstance(framing, Ethernet) and framing.tags:
        return f"Ethernet, {framing.tags} VLAN tag{'s' if framing.tags > 1 else ''}"
    return type(framing).__name__


def _link_text(port: Port) -> str:
    parts = [units.short(port.rate, "bit/s")]
    if port.framing is not None:
        parts.append(_framing_text(port.framing))
    if port.propagation:
        parts.append(f"propagation {units.short(port.propagation, 's')}")
    return " · ".join(parts)


# -- how it is drawn ---------------------------------------------------------------------------------------------------


class Pen:
    """Axes in inches, with the few shapes a drawing is made of."""

    def __init__(self, ax: Axes) -> None:
        self.ax = ax
        box = ax.get_window_extent().transformed(ax.figure.dpi_scale_trans.inverted())
        low, high = ax.get_ylim()
        self.scale = min(box.width / WIDTH, box.height / (high - low))

    def text(self, x: float, y: float, words: str, size: float = 9, room: float = 99, **more: Any) -> None:
        """Words no wider than there is room, cut short if need be."""
        style: dict[str, Any] = {"color": INK, "va": "center", "ha": "left", "zorder": 6, "parse_math": False} | more
        words = _fitted(words, size, str(style.get("weight", "normal")), room)
        self.ax.text(x, y, words, fontsize=size * self.scale, **style)

    def box(self, x: float, y: float, width: float, height: float, round_: float = 0.08, **more: Any) -> None:
        """A box with round corners, by its lower left."""
        from matplotlib.patches import FancyBboxPatch

        corners = f"round,pad=0,rounding_size={round_}"
        style: dict[str, Any] = {"fc": FACE, "ec": LINE, "lw": 1.0, "zorder": 3} | more
        style["lw"] *= self.scale
        self.ax.add_patch(FancyBboxPatch((x, y), width, height, boxstyle=corners, **style))

    def line(self, points: Sequence[tuple[float, float]], colour: str = INK, width: float = 1.3, **more: Any) -> None:
        """A straight line through points."""
        style: dict[str, Any] = {"solid_capstyle": "round", "solid_joinstyle": "round", "zorder": 2} | more
        self.ax.plot(*zip(*points, strict=True), color=colour, lw=width * self.scale, **style)

    def curve(self, a: tuple[float, float], b: tuple[float, float], colour: str, width: float = 1.6) -> None:
        """A line that leaves and arrives level."""
        from matplotlib.patches import PathPatch
        from matplotlib.path import Path

        half = (a[0] + b[0]) / 2
        path = Path([a, (half, a[1]), (half, b[1]), b], [Path.MOVETO, Path.CURVE4, Path.CURVE4, Path.CURVE4])
        self.ax.add_patch(PathPatch(path, fc="none", ec=colour, lw=width * self.scale, zorder=2, capstyle="round"))

    def bends(self, points: Sequence[tuple[float, float]], colour: str, radius: float = 0.1) -> None:
        """A line with round corners."""
        from matplotlib.patches import PathPatch
        from matplotlib.path import Path

        path = [points[0]]
        codes: list[Any] = [Path.MOVETO]
        for before, at, behind in zip(points, points[1:], points[2:], strict=False):
            path += [_towards(at, before, radius), at, _towards(at, behind, radius)]
            codes += [Path.LINETO, Path.CURVE3, Path.CURVE3]
        shape = Path([*path, points[-1]], [*codes, Path.LINETO])
        self.ax.add_patch(PathPatch(shape, fc="none", ec=colour, lw=1.6 * self.scale, zorder=1, capstyle="round"))

    def head(self, x: float, y: float, colour: str = INK, size: float = 0.09) -> None:
        """The head of an arrow that points right, its tip at x."""
        from matplotlib.patches import Polygon

        tip = [(x, y), (x - 1.5 * size, y + 0.75 * size), (x - 1.5 * size, y - 0.75 * size)]
        self.ax.add_patch(Polygon(tip, fc=colour, ec="none", zorder=4))

    def disc(self, x: float, y: float, radius: float, **more: Any) -> None:
        """A filled circle."""
        from matplotlib.patches import Circle

        style: dict[str, Any] = {"fc": FACE, "ec": INK, "lw": 1.3, "zorder": 3} | more
        style["lw"] *= self.scale
        self.ax.add_patch(Circle((x, y), radius, **style))


def _towards(a: tuple[float, float], b: tuple[float, float], most: float) -> tuple[float, float]:
    """The point some way from a to b, at most half of it."""
    length = ((b[0] - a[0]) ** 2 + (b[1] - a[1]) ** 2) ** 0.5 or 1.0
    share = min(most / length, 0.5)
    return a[0] + share * (b[0] - a[0]), a[1] + share * (b[1] - a[1])


@cache
def _width(words: str, size: float, weight: str) -> float:
    """Inches that words take."""
    if not words:
        return 0.0
    from matplotlib.font_manager import FontProperties
    from matplotlib.textpath import TextPath

    return (
        float(TextPath((0, 0), words.replace("$", "S"), size=size, prop=FontProperties(weight=weight)).get_extents().x1)
        / 72
    )


def _fitted(words: str, size: float, weight: str, room: float) -> str:
    if room > 90 or _width(words, size, weight) <= room:
        return words
    while len(words) > 1 and _width(words + "…", size, weight) > room:
        words = words[: -max(1, len(words) // 12)]
    return words.rstrip(" ,·") + "…"


def _draw_port(pen: Pen, band: Band) -> None:
    port, y = band.port, band.middle
    pen.box(
        PANEL_LEFT,
        band.bottom,
        PANEL_RIGHT - PANEL_LEFT,
        band.top - band.bottom,
        0.14,
        fc=PANEL,
        ec="#d5dbe3",
        zorder=0,
    )
    pen.text(PANEL_LEFT + 0.2, band.top - 0.26, port.name, 12, 3.0, weight="bold")
    pen.text(PANEL_RIGHT - 0.2, band.top - 0.26, _link_text(port), 9, 4.0, ha="right", color=FAINT)
    if len(port.classes) > 1:
        _draw_classifier(pen, band)
    for i, c in enumerate(_classes(port)):
        _draw_class(pen, band, i, c)
    _draw_scheduler(pen, band)
    if port.tx_ring is not None and port.tx_ring.limit is not None:
        _draw_ring(pen, band)
        pen.line([(RING_RIGHT, y), (WIRE, y)], width=2.6)
    else:
        pen.line([(SCHEDULER, y), (WIRE, y)], width=2.6)


def _draw_classifier(pen: Pen, band: Band) -> None:
    top, bottom = band.row(0), band.row(len(band.port.classes) - 1)
    pen.box(CLASSIFIER - 0.13, bottom - 0.2, 0.26, top - bottom + 0.4, fc="#e4e9f0", ec=LINE)
    pen.text(CLASSIFIER, band.middle, "classify", 8, rotation=90, ha="center", color=FAINT)


def _draw_class(pen: Pen, band: Band, i: int, c: TrafficClass) -> None:
    y, tall = band.row(i), 0.3
    colours = [strand.colour for strand in band.of_class(i)]
    for line, words in enumerate((_class_text(c, band.port), _police_text(c.police))):
        pen.text(QUEUE_LEFT + 0.02, y - 0.25 - 0.14 * line, words, 8, QUEUE_RIGHT - QUEUE_LEFT, color=FAINT)
    pen.box(QUEUE_LEFT, y - tall / 2, QUEUE_RIGHT - QUEUE_LEFT, tall, 0.04)
    for k in range(4):  # the places at its head
        fill = colours[k % len(colours)] if colours else "#dfe4ea"
        pen.box(QUEUE_RIGHT - 0.17 - 0.15 * k, y - 0.09, 0.11, 0.18, 0.02, fc=fill, ec="none", alpha=0.85, zorder=4)
    room = QUEUE_RIGHT - QUEUE_LEFT - 1.0  # for name and limit together, with some air
    name = min(_width(c.name, 9.5, "bold"), 0.55 * room)
    limit = _fitted(_queue_text(c.queue), 8, "normal", room - name)
    pen.text(QUEUE_RIGHT - 0.75, y, limit, 8, ha="right", color=FAINT)
    pen.text(QUEUE_LEFT + 0.1, y, c.name, 9.5, room - _width(limit, 8, "normal"), weight="bold")
    if c.police is not None:
        _draw_bucket(pen, QUEUE_LEFT - 0.3, y)
    pen.curve((QUEUE_RIGHT, y), (SCHEDULER - 0.36, band.middle), INK, 1.3)


def _draw_bucket(pen: Pen, x: float, y: float) -> None:
    from matplotlib.patches import Polygon

    full = [(x - 0.115, y + 0.02), (x + 0.115, y + 0.02), (x + 0.09, y - 0.13), (x - 0.09, y - 0.13)]
    pen.ax.add_patch(Polygon(full, fc="#9fc9e8", ec="none", zorder=4))
    rim = [(x - 0.14, y + 0.14), (x - 0.09, y - 0.13), (x + 0.09, y - 0.13), (x + 0.14, y + 0.14)]
    pen.ax.add_patch(Polygon(rim, fc=FACE, ec="none", zorder=3))
    pen.line(rim, INK, 1.2, zorder=5)


def _draw_scheduler(pen: Pen, band: Band) -> None:
    name = type(band.port.scheduler).__name__
    pen.disc(SCHEDULER, band.middle, 0.36)
    pen.text(SCHEDULER, band.middle, name, 9.5 if len(name) < 5 else 7, 0.66, weight="bold", ha="center")


def _draw_ring(pen: Pen, band: Band) -> None:
    ring, y = band.port.tx_ring, band.middle
    assert ring is not None and ring.limit is not None
    pen.line([(SCHEDULER, y), (RING_LEFT, y)], width=1.3)
    shown = min(ring.limit, 8)
    cell = (RING_RIGHT - RING_LEFT) / shown
    pen.box(RING_LEFT, y - 0.17, RING_RIGHT - RING_LEFT, 0.34, 0.03, ec=INK, lw=1.2)
    for k in range(1, shown):
        pen.line([(RING_LEFT + k * cell, y - 0.17), (RING_LEFT + k * cell, y + 0.17)], LINE, 0.9, zorder=4)
    centre = (RING_LEFT + RING_RIGHT) / 2
    pen.text(
        centre,
        y + 0.29,
        f"{ring.limit} particle{'s' if ring.limit > 1 else ''} of {ring.particle} B",
        8,
        1.7,
        ha="center",
        color=FAINT,
    )
    pen.text(centre, y - 0.29, f"{ring.admit}, free at {ring.free}", 8, 1.7, ha="center", color=FAINT)


def _draw_arrival(pen: Pen, band: Band, bands: list[Band], strand: Strand) -> None:
    """A strand's way from the left edge to its class's queue."""
    y, port = band.chip(strand), band.port
    place = strand.route.index(band.number)
    i = strand.classes[place]
    if place and strand in band.passing:
        pen.text(CHIP_RIGHT, y + 0.13, strand.name, 9, CHIP_RIGHT - CHIP_LEFT, ha="right", color=strand.colour)
        pen.line([(CHIP_LEFT, y), (CHIP_RIGHT, y)], strand.colour, 1.6)
    else:
        origin = f"from {bands[strand.route[place - 1]].port.name}" if place else strand.detail
        _draw_chip(pen, y, strand.name, origin, strand.colour)
    queue = band.row(i) + band.offset(strand, i)
    if len(port.classes) > 1:
        lowest, highest = band.row(len(port.classes) - 1) - 0.12, band.row(0) + 0.12
        pen.curve((CHIP_RIGHT, y), (CLASSIFIER - 0.13, min(max(y, lowest), highest)), strand.colour)
        pen.line([(CLASSIFIER + 0.13, queue), (QUEUE_LEFT, queue)], strand.colour, 1.6)
    else:
        pen.curve((CHIP_RIGHT, y), (QUEUE_LEFT - 0.6, queue), strand.colour)
        pen.line([(QUEUE_LEFT - 0.6, queue), (QUEUE_LEFT, queue)], strand.colour, 1.6)
    pen.head(QUEUE_LEFT, band.row(i), strand.colour if len(band.of_class(i)) == 1 else INK)


def _draw_chip(pen: Pen, y: float, name: str, detail: str, colour: str) -> None:
    room = CHIP_RIGHT - CHIP_LEFT - 0.2
    pen.box(CHIP_LEFT, y - 0.21, CHIP_RIGHT - CHIP_LEFT, 0.42, ec=colour, lw=1.4)
    pen.text(CHIP_LEFT + 0.1, y + 0.085, name, 9, room, weight="bold", color=colour)
    pen.text(CHIP_LEFT + 0.1, y - 0.095, detail, 7.5, room, color=FAINT)


def _draw_departures(pen: Pen, band: Band, bands: list[Band]) -> None:
    """Where the strands go behind the wire: received, to the next band, or to another port."""
    onward = bands[band.number + 1].passing if band.number + 1 < len(bands) else []
    leaving = [strand for strand in band.strands if strand not in onward] + onward
    for i, strand in enumerate(leaving):
        at = band.middle + ((len(leaving) - 1) / 2 - i) * 0.22
        pen.curve((WIRE, band.middle), (EXIT_LEFT, at), strand.colour)
        if strand in onward:
            _draw_passage(pen, bands[band.number + 1], strand, at)
            continue
        after = strand.after(band.number)
        pen.head(EXIT_LEFT + 0.1, at, strand.colour)
        room = WIDTH - EXIT_LEFT - 0.25
        end = " received" if after is None else _fitted(f" to {bands[after].port.name}", 8.5, "normal", room / 2)
        words = _fitted(strand.name, 8.5, "normal", room - _width(end, 8.5, "normal")) + end
        pen.text(EXIT_LEFT + 0.16, at, words, 8.5, color=strand.colour)


def _draw_passage(pen: Pen, onto: Band, strand: Strand, at: float) -> None:
    """A strand's way to the next band: right, down, left between the two, down and in; no two of them cross."""
    lane = onto.passing.index(strand)
    gap = min(LANE, (CHIP_LEFT - LANES_LEFT - 0.1) / len(onto.passing))
    right, left = LANES_RIGHT - gap * lane, CHIP_LEFT - 0.1 - gap * lane
    between, y = onto.top + PAD / 2 + LANE * lane, onto.chip(strand)
    way = [(EXIT_LEFT, at), (right, at), (right, between), (left, between), (left, y), (CHIP_LEFT, y)]
    pen.bends(way, strand.colour)
