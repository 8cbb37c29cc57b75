# SPDX-License-Identifier: MIT
"""The widget behind `qossim.explore`; the only module that imports ipywidgets."""

from __future__ import annotations

import base64
import html
import math
import struct
import time as clock
import zlib
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import ipywidgets as widgets
import numpy as np

from qossim import plots, units

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from numpy.typing import NDArray

    from qossim.explore import Choice
    from qossim.result import FlowResult, Result

__all__ = ["Explorer"]

WITHIN = 0.05
"""Seconds that a run may take: below, dragging a slider feels immediate."""

_WIDTH, _HEIGHT = 9.0, 4.4  # inches, of 96 CSS pixels on the screen
_DPI = 144  # sharp on a screen of one and a half pixels to a CSS pixel


class Explorer(widgets.VBox):  # type: ignore[misc]
    """Controls over axes, and delay and ipdv of the setting chosen.

    Made by `qossim.explore`.

    Attributes
    ----------
    controls : dict of str to widget
        One for each axis, in order; set ``value`` to move it.
    parameters : dict
        The setting that is shown.
    result : Result or None
        Of the latest run; None if this setting failed.
    error : Exception or None
        What it failed with.
    duration : float
        Seconds that the sources send; NaN if this setting failed.
    seconds, seconds_drawing : float
        What the latest run took, from building the scenario to its statistics, and drawing it.
    png : bytes
        The picture, as a PNG file; empty if nothing could be drawn yet.
    """

    def __init__(
        self,
        simulate: Callable[[dict[str, Any]], Result],
        choices: Sequence[Choice],
        *,
        flows: Sequence[str] | None,
        first: int | None,
    ) -> None:
        self._simulate = simulate
        self._flows = flows
        self._picture = _Picture(first)
        self._stale = self._running = False
        self.parameters: dict[str, Any] = {}
        self.result: Result | None = None
        self.error: Exception | None = None
        self.duration = self.seconds = self.seconds_drawing = math.nan
        self.png = b""

        self._settings = {choice.name: choice.settings for choice in choices}
        self.controls = {choice.name: _control(choice) for choice in choices}
        wrapping = widgets.Layout(display="flex", flex_flow="row wrap", align_items="center", grid_gap="2px 24px")
        self._message, self._figure, self._figures = widgets.HTML(), widgets.HTML(), widgets.HTML()
        super().__init__(
            [widgets.Box(list(self.controls.values()), layout=wrapping), self._message, self._figure, self._figures]
        )
        self._change()
        for control in self.controls.values():
            # by its place: to traitlets True and 1 are one value
            control.observe(self._change, names="value" if isinstance(control, widgets.Checkbox) else "index")

    def close(self) -> None:
        """Close it and all that stands in it, controls included: a notebook shows it no more."""
        inside = list(self.children)
        while inside:
            widget = inside.pop()
            inside += getattr(widget, "children", ())
            widget.close()
        super().close()

    def _change(self, _: object = None) -> None:
        """Run what the controls say now. A notebook holds back changes while this works, and then sends the latest."""
        self._stale = True
        if self._running:  # called from within: the loop below sees to it
            return
        self._running = True
        try:
            while self._stale:
                self._stale = False
                self._show(self._chosen())
        finally:
            self._running = False

    def _chosen(self) -> dict[str, Any]:
        chosen: dict[str, Any] = {}
        for name, control in self.controls.items():
            if isinstance(control, widgets.Checkbox):
                chosen[name] = control.value
            else:
                chosen |= self._settings[name][control.index]
        return chosen

    def _show(self, parameters: dict[str, Any]) -> None:
        self.parameters, self.result, self.error = parameters, None, None
        self.duration = self.seconds = self.seconds_drawing = math.nan
        began = clock.perf_counter()
        try:
            result = self._simulate(parameters)
            shown = _shown(result, self._flows)
            table = _table(shown)
            ran = clock.perf_counter()
            self.png = self._picture.draw(result, list(shown))
            figure = _image(self.png, shown)
        except Exception as error:  # whatever build does wrong: the controls stay
            self.error = error
            self._message.value = _failure(error)
            self._set_visible(False)
            return
        drawn = clock.perf_counter()
        self.result, self.duration = result, result.duration
        self.seconds, self.seconds_drawing = ran - began, drawn - ran
        self._message.value = ""
        self._figure.value = figure
        self._figures.value = table + _status(result, self.seconds, self.seconds_drawing)
        self._set_visible(True)

    def _set_visible(self, visible: bool) -> None:
        """Show or hide picture and figures, which keep their place."""
        for widget in (self._figure, self._figures):
            widget.layout.visibility = "visible" if visible else "hidden"


def _control(choice: Choice) -> Any:
    common: dict[str, Any] = {"description": choice.name, "style": {"description_width": "initial"}}
    if choice.kind == "box":
        return widgets.Checkbox(value=choice.values[choice.start], indent=False, layout={"width": "auto"}, **common)
    common |= {"options": list(zip(choice.labels, choice.values, strict=True)), "index": choice.start}
    if choice.kind == "slider":
        return widgets.SelectionSlider(layout={"width": "400px"}, **common)
    longest = min(60, max(map(len, choice.labels)) + len(choice.name))
    return widgets.Dropdown(layout={"width": f"{longest + 8}ch"}, **common)


# -- figures -----------------------------------------------------------------------------------------------------------


def _shown(result: Result, flows: Sequence[str] | None) -> dict[str, FlowResult]:
    if flows is None:
        return result.flows
    shown = {name: result[name] for name in flows if name in result}
    if not shown:
        raise units.refusal("flow", f"a flow of the scenario ({', '.join(result.flows)})", ", ".join(flows))
    return shown


_SCALES = ((1.0, 1.0, "s"), (1e-3, 1e3, "ms"), (1e-6, 1e6, "µs"), (0.0, 1e9, "ns"))


def _scale(flows: dict[str, FlowResult]) -> tuple[float, str]:
    """Factor and symbol of the unit that suits the largest delay."""
    largest = max((flow.delay_stats.max for flow in flows.values() if flow.received), default=1e-3)
    return next((factor, symbol) for least, factor, symbol in _SCALES if largest >= least)


def _table(flows: dict[str, FlowResult]) -> str:
    factor, symbol = _scale(flows)

    def number(seconds: float) -> str:
        return f"{seconds * factor:.3f}" if math.isfinite(seconds) else "-"

    rows = [["flow", f"mean delay ({symbol})", "99 %", "max", "99 % of |ipdv|", "lost"]]
    for name, flow in flows.items():
        delay, ipdv = flow.delay_stats, flow.abs_ipdv_stats
        lost = f"{flow.lost} of {flow.sent}" + (f" ({100 * flow.loss_ratio:.3g} %)" if flow.lost else "")
        times = (delay.mean, delay.quantile(0.99), delay.max, ipdv.quantile(0.99))
        rows.append([html.escape(name), *map(number, times), lost])
    cells = [
        "".join(
            f'<{kind} style="padding:0 20px 0 0;text-align:{"right" if at else "left"}">{cell}</{kind}>'
            for at, cell in enumerate(row)
        )
        for row, kind in zip(rows, ["th", *["td"] * len(flows)], strict=True)
    ]
    style = "font-variant-numeric:tabular-nums;line-height:1.5"
    return f'<table style="{style}">{"".join(f"<tr>{row}</tr>" for row in cells)}</table>'


def _status(result: Result, seconds: float, drawing: float) -> str:
    text = f"{result.duration:g} s simulated in {1e3 * seconds:.1f} ms, drawn in {1e3 * drawing:.0f} ms"
    if seconds > WITHIN:
        text += f"; a run is to take at most {1e3 * WITHIN:.0f} ms: give a shorter duration"
    return f'<div style="opacity:0.7;line-height:1.5">{text}</div>'


def _failure(error: Exception) -> str:
    kind = "" if isinstance(error, ValueError) else f"{type(error).__name__}: "
    style = "border-left:4px solid #D55E00;padding:2px 8px;margin:4px 0;line-height:1.4;white-space:pre-wrap"
    return f'<div role="alert" style="{style}">{html.escape(f"{kind}{error}")}</div>'


# -- picture -----------------------------------------------------------------------------------------------------------


class _Picture:
    """Delay above ipdv, on a figure that is kept.

    What stands behind the lines takes most of the time, and is drawn again only when it changes. It changes seldom,
    because the limits of both axes are round numbers: which also lets a line be seen to move.
    """

    def __init__(self, first: int | None) -> None:
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.figure import Figure

        self._first = first
        figure = Figure(figsize=(_WIDTH, _HEIGHT), dpi=_DPI)
        self._canvas: Any = FigureCanvasAgg(figure)  # pyplot does not know it, and so does not keep it
        self._axes: tuple[Axes, Axes] = tuple(figure.subplots(2, sharex=True))
        figure.subplots_adjust(left=0.085, right=0.985, bottom=0.115, hspace=0.12)
        for ax in self._axes:
            ax.yaxis.set_label_coords(-0.062, 0.5)  # else it moves with the width of the figures beside it
        self._scene: object = None
        self._background: Any = None

    def draw(self, result: Result, flows: list[str]) -> bytes:
        for ax, draw, signed in zip(self._axes, (plots.delay, plots.ipdv), (False, True), strict=True):
            for artist in _moving(ax):
                artist.remove()
            ax.relim()
            ax.autoscale(True)
            ax.set_ylabel("")  # the unit suits these values, not those before
            draw(result, flows, ax, first=self._first)
            _round_limits(ax, signed)
        above, below = self._axes
        above.set_xlabel("")
        if legend := below.get_legend():
            legend.remove()

        moving = [artist for ax in self._axes for artist in _moving(ax)]
        for artist in moving:
            artist.set_animated(True)
        scene = [_scene(ax) for ax in self._axes]
        if scene == self._scene:
            self._canvas.restore_region(self._background)
        else:
            self._canvas.figure.subplots_adjust(top=0.93 if above.get_legend() else 0.97)
            self._canvas.draw()
            self._background = self._canvas.copy_from_bbox(self._canvas.figure.bbox)
            self._scene = scene
        for artist in moving:
            artist.axes.draw_artist(artist)
        return _png(np.asarray(self._canvas.buffer_rgba()))


def _moving(ax: Axes) -> list[Any]:
    return [*ax.collections, *ax.patches, *ax.lines, *ax.texts]


def _scene(ax: Axes) -> object:
    """All that the background of an axes depends on."""
    styles = [(line.get_label(), line.get_color(), line.get_linewidth()) for line in ax.lines if ax.get_legend()]
    return ax.get_xlim(), ax.get_ylim(), ax.get_xlabel(), ax.get_ylabel(), styles


def _round_limits(ax: Axes, signed: bool) -> None:
    values = np.concatenate([np.zeros(1), *(np.asarray(line.get_ydata(), np.float64) for line in ax.lines)])
    top = _round(1.03 * float(np.nanmax(np.abs(values))))
    ax.set_ylim(-top if signed else -0.02 * top, top)


def _round(value: float) -> float:
    """The next round number; 1 for 0."""
    if value <= 0:
        return 1.0
    power = 10.0 ** math.floor(math.log10(value))
    return next(step * power for step in (1, 1.5, 2, 3, 4, 5, 6, 8, 10) if value <= step * power * (1 + 1e-9))


def _png(pixels: NDArray[np.uint8]) -> bytes:
    """A PNG file of (height, width, 4) pixels, in a fifth of the time of Matplotlib's."""
    height, width = pixels.shape[:2]
    rows = np.zeros((height, 1 + 4 * width), np.uint8)  # each row begins with 0: no filter
    rows[:, 1:] = pixels.reshape(height, -1)

    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    header = chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 6, 0, 0, 0))
    return b"\x89PNG\r\n\x1a\n" + header + chunk(b"IDAT", zlib.compress(rows.data, 1)) + chunk(b"IEND", b"")


def _image(png: bytes, flows: dict[str, FlowResult]) -> str:
    factor, symbol = _scale(flows)
    said = [
        f"{name} from {flow.delay_stats.min * factor:.3f} to {flow.delay_stats.max * factor:.3f} {symbol}"
        if flow.received
        else f"{name} has none"
        for name, flow in flows.items()
    ]
    alt = html.escape(f"One-way delay and ipdv, packet by packet; delay of {', of '.join(said)}")
    data = base64.b64encode(png).decode("ascii")
    size = f"width:100%;max-width:{96 * _WIDTH:.0f}px;height:auto"
    # decoded at once, so that the picture before it does not leave a white flash
    return f'<img alt="{alt}" decoding="sync" style="{size}" src="data:image/png;base64,{data}">'
