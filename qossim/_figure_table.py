# SPDX-License-Identifier: MIT
"""Figures of tables: a DataArray of a sweep as boxes, as lines with confidence bands, as a map of two axes."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from qossim import units
from qossim._figure import (
    DASHES,
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
    fitted,
    inches,
    lines_of,
    marker,
    measured,
    plain,
    scale,
)
from qossim.errors import ScenarioError

if TYPE_CHECKING:
    import xarray as xr
    from matplotlib.axes import Axes
    from numpy.typing import NDArray

_QUANTILES = (0.05, 0.25, 0.5, 0.75, 0.95)
_SECONDS = re.compile(r"(delay|ipdv|pdv|jitter)(_|$)")
_SHARES = re.compile(r"loss|utilisation")
_A_QUANTILE = re.compile(r"^quantiles? of | quantile$")
_MOST_CELLS = 120


# -- boxes -------------------------------------------------------------------------------------------------------------


@drawing
def box(
    data: xr.DataArray | Results,
    by: Flows = None,
    ax: Axes | None = None,
    *,
    of: Measure = "delay",
    over: str = "replication",
    unit: Unit | None = None,
) -> Axes:
    """Boxes: the middle half, the median, and whiskers from the 5 % to the 95 % quantile.

    Parameters
    ----------
    data : DataArray, or Result, sequence or mapping of Result
        A variable of a table from `qossim.sweep`, with one dimension beside `over`; or runs, whose packets make the
        boxes.
    by : str or sequence of str, optional
        Of a DataArray the dimension with a box for each value; the only one beside `over` by default. Of results the
        flows, all by default.
    ax : Axes, optional
        Where to draw; a new figure by default.
    of : {"delay", "ipdv", "abs_ipdv", "pdv"}
        Of results: what of, as in `histogram`.
    over : str
        Of a DataArray: the dimension whose values make a box. NaN are left out.
    unit : {"s", "ms", "us", "ns"}, optional
        Of the times; by default the one that the values suggest, or that the axes have already.

    Returns
    -------
    Axes
        Quantiles are nearest-rank. A diamond marks the mean. Boxes of numbers ascend, those of names keep their order.

    Raises
    ------
    ScenarioError
        An argument is none of those above, or the run kept counters only.

    Examples
    --------
    >>> from qossim import experiments, plots
    >>> cases = experiments.ef_wfq_vs_pq_cases(duration=20.0, seed=1)
    >>> ax = plots.box(cases, "EF")
    """
    if _is_table(data):
        values = _array(data)
        if not (by is None or isinstance(by, str)):
            raise units.refusal("by", f"a dimension of the values ({', '.join(map(str, values.dims))}), or None", by)
        (by,) = _dims(values, [by], over, "by")
        values = _ascending(values, by)
        rows = [each[~np.isnan(each)] for each in _rows(values, by, over)]
        found = [_five(row) for row in rows]
        labels, across = _names(values, by), by.replace("_", " ")
        quantity = _quantity(values, [each for row in found for each in row.values()], unit, ax)
    else:
        measure = checked_measure(of)
        lines = lines_of(data, by)  # type: ignore[arg-type]
        found, labels, across = [_spread(line, measure) for line in lines], [line.label for line in lines], ""
        factor, symbol = scale(unit, [list(row.values()) for row in found], ax.get_ylabel() if ax else "")
        quantity = _Quantity(f"{MEASURES[measure]} ({symbol})", factor)
    ax = axes(ax)
    boxes = [
        {"label": label, "fliers": [], **{name: value * quantity.factor for name, value in row.items()}}
        for label, row in zip(labels, found, strict=True)
    ]
    _boxes(ax, [each for each in boxes if "med" in each], [n for n, each in enumerate(boxes, 1) if "med" in each])
    ax.set_xlim(0.5, len(boxes) + 0.5)
    _label_ticks(ax, range(1, len(boxes) + 1), labels)
    ax.set_xlabel(plain(across))
    ax.set_ylabel(quantity.label)
    return finish(ax, grid="y")


def _boxes(ax: Axes, boxes: list[dict[str, Any]], positions: list[int]) -> None:
    if not boxes:
        return
    ax.bxp(
        boxes,
        positions=positions,
        widths=0.55,
        patch_artist=True,
        showmeans=True,
        showfliers=False,
        boxprops={"facecolor": "#BFDDF0", "edgecolor": PALETTE[0], "linewidth": 1.1},
        medianprops={"color": "black", "linewidth": 2.0, "solid_capstyle": "butt"},
        whiskerprops={"color": PALETTE[0], "linewidth": 1.1},
        capprops={"color": PALETTE[0], "linewidth": 1.1},
        meanprops={"marker": "D", "markersize": 4, "markerfacecolor": "white", "markeredgecolor": "black"},
    )


def _five(values: NDArray[np.float64]) -> dict[str, float]:
    """What a box shows, by matplotlib's names; nothing of no values."""
    if not len(values):
        return {}
    ordered = np.sort(values)
    at = [ordered[max(0, int(np.ceil(q * len(ordered) - 1e-9)) - 1)] for q in _QUANTILES]
    return _called(at, float(values.mean()))


def _called(at: Sequence[float], mean: float) -> dict[str, float]:
    names = ("whislo", "q1", "med", "q3", "whishi")
    return {**dict(zip(names, map(float, at), strict=True)), "mean": mean}


def _spread(line: Any, measure: Measure) -> dict[str, float]:
    if measure == "pdv":
        return _five(measured(line.flow, measure))
    stats = getattr(line.flow, f"{measure}_stats")
    return _called([stats.quantile(q) for q in _QUANTILES], stats.mean) if stats.count else {}


# -- lines -------------------------------------------------------------------------------------------------------------


@drawing
def sweep_lines(
    values: xr.DataArray,
    x: str | None = None,
    ax: Axes | None = None,
    *,
    by: str | None = None,
    over: str = "replication",
    level: float = 0.95,
    unit: Unit | None = None,
) -> Axes:
    """Means over an axis of a sweep, with confidence bands (Student t over replications).

    Parameters
    ----------
    values : DataArray
        A variable of a table from `qossim.sweep`, with the dimension `over`, one axis and at most one more.
    x : str, optional
        The axis from left to right; by default that of numbers, the longest of several.
    ax : Axes, optional
        Where to draw; a new figure by default.
    by : str, optional
        The dimension with a line for each value; what is left by default.
    over : str
        The dimension of the replications. Without it in `values`, lines have no bands.
    level : float
        Of the intervals; see `qossim.confidence`.
    unit : {"s", "ms", "us", "ns"}, optional
        Of times; by default the one that the values suggest, or that the axes have already.

    Returns
    -------
    Axes
        Each point is marked. Numbers ascend, and if they spread over decades stand on a logarithmic scale; where one
        is infinite they stand at equal distances. So do names, which keep their order and are not joined by lines, and
        parameters that change together (`qossim.zipped`), unless `x` is one of them.

    Raises
    ------
    ScenarioError
        A dimension is missing, or one too many.

    Examples
    --------
    >>> import numpy as np, xarray as xr
    >>> from qossim import plots
    >>> delay = 1e-3 * (np.arange(1, 5)[:, None] + np.random.default_rng(1).random((4, 8)))
    >>> table = xr.DataArray(delay, {"tx_ring_limit": [1, 2, 3, 4]}, ("tx_ring_limit", "replication"), "delay_mean")
    >>> ax = plots.sweep_lines(table)
    """
    values = _along(_array(values), x, by)
    between = "a number above 0 and below 1"
    if not 0 < units.number(level, "level", between) < 1:
        raise units.refusal("level", between, level)
    wanted = [x] if by is None and values.ndim - (over in values.dims) == 1 else [x, by]
    dims = _dims(values, wanted, over, "x and by")
    across, lines = dims[0], dims[1] if len(dims) > 1 else None
    values = _ascending(values, across)
    mean, half = _intervals(values, over, float(units.number(level, "level")), [d for d in (lines, across) if d])
    quantity = _quantity(values, mean, unit, ax)
    places, numeric = _places(values, across)
    ordered = values[across].dtype.kind in "iufmM"  # between two names there is nothing to draw
    labels = _names(values, lines, said=True) if lines else [str(values.name or "value").replace("_", " ")]
    ax = axes(ax)
    before = len(ax.get_legend_handles_labels()[0])
    for number, label in enumerate(labels, before):
        at, off = (np.atleast_2d(each)[number - before] * quantity.factor for each in (mean, half))
        colour = PALETTE[number % len(PALETTE)]
        if ordered:
            ax.fill_between(places, at - off, at + off, color=colour, alpha=0.2, linewidth=0)
        ax.plot(
            places,
            at,
            color=colour,
            linestyle=DASHES[number % len(DASHES)] if ordered else "none",
            linewidth=1.6,
            marker=marker(number),
            markersize=4.5,
            label=called(label),
        )
        _caps(ax, places, at, off, colour)
    if numeric:
        _number_ticks(ax, places)
    else:
        ax.set_xlim(-0.4, len(places) - 0.6)
        _label_ticks(ax, places, _names(values, across))
    ax.set_xlabel(plain(across.replace("_", " ")))
    ax.set_ylabel(quantity.label)
    return finish(ax)


def _caps(
    ax: Axes, places: NDArray[np.float64], at: NDArray[np.float64], off: NDArray[np.float64], colour: str
) -> None:
    """Ends of the intervals, for where bands of several lines lie upon each other."""
    ax.errorbar(places, at, yerr=off, fmt="none", ecolor=colour, elinewidth=0.7, capsize=2, capthick=0.7)


def _intervals(
    values: xr.DataArray, over: str, level: float, order: list[str]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Means and half-widths with the dimensions in this order; half-widths are NaN without replications."""
    from qossim import confidence

    if over not in values.dims:
        mean = values.transpose(*order).to_numpy().astype(np.float64)
        return mean, np.full(mean.shape, np.nan)
    try:
        interval = confidence(values, over=over, level=level)
    except ValueError as error:
        raise ScenarioError(str(error)) from None
    return (interval["mean"].transpose(*order).to_numpy(), interval["half_width"].transpose(*order).to_numpy())


def _places(values: xr.DataArray, dim: str) -> tuple[NDArray[np.float64], bool]:
    """Where the values of a dimension stand from left to right, and whether they are finite numbers."""
    coordinate = values[dim].to_numpy()
    if coordinate.dtype.kind in "iuf" and np.isfinite(coordinate).all():
        return coordinate.astype(np.float64), True
    return np.arange(len(coordinate), dtype=np.float64), False


def _number_ticks(ax: Axes, places: NDArray[np.float64]) -> None:
    """Ticks at the values where they are few; on a logarithmic scale if they are decades apart and more even on it."""
    from matplotlib.ticker import FixedLocator, FuncFormatter, NullLocator

    ordered = np.unique(places)
    if len(ordered) >= 4 and ordered[0] > 0 and ordered[-1] >= 100 * ordered[0]:
        steps, decades = np.diff(ordered), np.diff(np.log(ordered))
        if decades.std() / decades.mean() < steps.std() / steps.mean():
            ax.set_xscale("log")
    step = -(-len(ordered) // max(4, int(inches(ax)[0] * 3)))
    if step == 1 or ax.get_xscale() == "log":
        at = ordered[::step].tolist() if ax.get_xscale() == "log" else _apart(ordered.tolist(), inches(ax)[0])
        ax.xaxis.set_major_locator(FixedLocator(at))
        ax.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:.4g}"))
        ax.xaxis.set_minor_locator(NullLocator())


def _apart(places: list[float], width: float) -> list[float]:
    """Of ascending places those whose numbers do not touch on an axis of about so many inches; the last is one."""
    inch = (places[-1] - places[0]) / (0.85 * width) or 1.0
    kept = places[-1:]
    for place in reversed(places[:-1]):
        if kept[-1] - place >= inch * (0.1 + 0.04 * (len(f"{place:.4g}") + len(f"{kept[-1]:.4g}"))):
            kept.append(place)
    return kept[::-1]


# -- maps --------------------------------------------------------------------------------------------------------------


@drawing
def heat_map(
    values: xr.DataArray,
    x: str | None = None,
    y: str | None = None,
    ax: Axes | None = None,
    *,
    over: str = "replication",
    unit: Unit | None = None,
) -> Axes:
    """Means over two axes of a sweep, as colours.

    Parameters
    ----------
    values : DataArray
        A variable of a table from `qossim.sweep`, with two axes and, if there are replications, `over`.
    x, y : str, optional
        The axes from left to right and upwards; by default the last and the one before it.
    ax : Axes, optional
        Where to draw; a new figure by default.
    over : str
        The dimension of the replications; their mean is drawn.
    unit : {"s", "ms", "us", "ns"}, optional
        Of times; by default the one that the values suggest.

    Returns
    -------
    Axes
        Light is much. Numbers ascend along the axes, names keep their order. Where cells are few their values stand in
        them; a cell without a value is hatched.

    Raises
    ------
    ScenarioError
        A dimension is missing, or one too many.

    Examples
    --------
    >>> import numpy as np, xarray as xr
    >>> from qossim import plots
    >>> delay = 1e-3 * np.arange(1.0, 7).reshape(2, 3)
    >>> axes = {"scheduler": ["wfq", "pq"], "tx_ring_limit": [1, 5, 40]}
    >>> ax = plots.heat_map(xr.DataArray(delay, axes, ("scheduler", "tx_ring_limit"), "delay_mean"))
    """
    values = _along(_array(values), x, y)
    free = [str(dim) for dim in values.dims if dim != over]
    if x is None and y is None and len(free) == 2:
        y, x = free
    across, up = _dims(values, [x, y], over, "x and y")
    values = _ascending(values, across, up)
    mean, _ = _intervals(values, over, 0.95, [up, across])
    quantity = _quantity(values, mean, unit, None)
    shown = np.ma.masked_invalid(mean * quantity.factor)
    ax = axes(ax)
    mesh = ax.pcolormesh(
        np.arange(shown.shape[1] + 1) - 0.5,
        np.arange(shown.shape[0] + 1) - 0.5,
        shown,
        cmap="cividis",
        edgecolors="white",
        linewidth=0.6 if shown.size <= _MOST_CELLS else 0,
    )
    ax.patch.set(facecolor="0.93", hatch="////", edgecolor="0.7")
    bar = ax.figure.colorbar(mesh, ax=ax, pad=0.03)
    bar.set_label(quantity.label)
    bar.outline.set_visible(False)
    _write_cells(ax, mesh, shown)
    _label_ticks(ax, range(shown.shape[1]), _names(values, across))
    _label_rows(ax, _names(values, up))
    ax.tick_params(length=0)
    ax.set_xlabel(plain(across.replace("_", " ")))
    ax.set_ylabel(plain(up.replace("_", " ")))
    finish(ax, grid="none")
    ax.spines[:].set_visible(False)
    return ax


def _write_cells(ax: Axes, mesh: Any, shown: Any) -> None:
    """The values in their cells, black on light and white on dark, if they are few and there is room."""
    texts = [[_figures(value) for value in row] for row in shown.filled(np.nan)]
    width = max(1, max((len(text) for row in texts for text in row), default=1))
    size = min(9.0, 0.92 * 72 * inches(ax)[0] * 0.8 / shown.shape[1] / (0.62 * width))
    if shown.size > _MOST_CELLS or size < 5:
        return
    for i, row in enumerate(texts):
        for j, text in enumerate(row):
            if not text:
                continue
            red, green, blue, _ = mesh.cmap(mesh.norm(shown[i, j]))
            light = 0.2126 * red**2.2 + 0.7152 * green**2.2 + 0.0722 * blue**2.2
            colour = "black" if light > 0.18 else "white"
            ax.text(j, i, text, ha="center", va="center", fontsize=size, color=colour)


def _figures(value: float) -> str:
    """Three significant figures without an exponent; nothing for NaN."""
    if np.isnan(value):
        return ""
    if 1e-3 <= abs(value) < 1000 or value == 0:
        return f"{value:.3g}"
    return f"{value:.0f}" if 1000 <= abs(value) < 1e6 else f"{value:.1e}"


# -- tables ------------------------------------------------------------------------------------------------------------


class _Quantity(NamedTuple):
    label: str
    factor: float


def _is_table(data: object) -> bool:
    return type(data).__module__.partition(".")[0] == "xarray"


def _array(values: object) -> xr.DataArray:
    import xarray as xr

    if isinstance(values, xr.Dataset):
        some = ", ".join(map(str, list(values.data_vars)[:5]))
        bounds = f"a DataArray: choose one of the variables ({some})"
        raise units.refusal("values", bounds, values, "this is a Dataset")
    if not isinstance(values, xr.DataArray):
        raise units.refusal("values", "a DataArray, such as table['delay_mean']", values)
    if values.dtype.kind not in "iufb":
        raise units.refusal("values", "a DataArray of numbers", str(values.dtype))
    for dim in map(str, values.dims):  # of parameters that change together, of which none is the dimension
        along = [str(name) for name, each in values.coords.items() if each.dims == (dim,)]
        if dim not in along and along:
            texts = zip(*(_names(values, name, said=True) for name in along), strict=True)
            values = values.assign_coords({dim: [", ".join(each) for each in texts]})
    return values


def _along(values: xr.DataArray, *names: object) -> xr.DataArray:
    """The same by the parameters named, where each is one of several that change together."""
    for name in names:
        if isinstance(name, str) and name in values.coords and name not in values.dims and values[name].ndim == 1:
            values = values.swap_dims({values[name].dims[0]: name})
    return values


def _dims(values: xr.DataArray, wanted: Sequence[str | None], over: str, field: str) -> list[str]:
    """The dimensions wanted, with what is not given filled in from the rest; none may be left."""
    if not isinstance(over, str) or (over not in values.dims and over != "replication"):  # which need not be there
        raise units.refusal("over", f"a dimension of the values ({', '.join(map(str, values.dims))})", over)
    given = [name for name in wanted if name is not None]
    if len(set(given)) < len(given):
        raise units.refusal(field, "of different dimensions", given[0], "twice the same")
    free = [str(dim) for dim in values.dims if dim != over]
    for dim, size in values.sizes.items():
        if size == 0:
            bounds = "a DataArray with at least one value along each dimension"
            raise units.refusal("values", bounds, dict(values.sizes), f'none along "{dim}"')
    for name in wanted:
        if name is not None and name not in free:
            raise units.refusal(field, f"dimensions of the values ({', '.join(free)})", name)
    if len(free) != len(wanted):
        number = "one dimension" if len(wanted) == 1 else f"{len(wanted)} dimensions"
        why = "reduce the others with .sel(...) or .mean(...)" if len(free) > len(wanted) else "it has too few"
        raise units.refusal("values", f'a DataArray with {number} beside "{over}"', ", ".join(free) or "none", why)
    rest = [name for name in free if name not in wanted]
    rest.sort(key=lambda name: (values[name].dtype.kind not in "iuf", -values.sizes[name]))
    return [name if name is not None else rest.pop(0) for name in wanted]


def _ascending(values: xr.DataArray, *dims: str) -> xr.DataArray:
    """The same with the numbers along these dimensions from small to large; names stand as they were given."""
    for dim in dims:
        coordinate = values[dim].to_numpy()
        if coordinate.dtype.kind in "iufmM":
            values = values.isel({dim: np.argsort(coordinate, kind="stable")})
    return values


def _rows(values: xr.DataArray, by: str, over: str) -> NDArray[np.float64]:
    if over not in values.dims:
        dims = ", ".join(str(dim) for dim in values.dims)
        raise units.refusal("over", f"a dimension of the values ({dims})", over)
    array: NDArray[np.float64] = values.transpose(by, over).to_numpy().astype(np.float64)
    return array


def _names(values: xr.DataArray, dim: str, *, said: bool = False) -> list[str]:
    """The values of a dimension as text; if said, with the dimension's name unless they speak for themselves."""
    coordinate = values[dim].to_numpy()
    texts = [f"{value:.4g}" if isinstance(value, float) else str(value) for value in coordinate.tolist()]
    if said and coordinate.dtype.kind in "iufb":
        return [f"{dim.replace('_', ' ')} {text}" for text in texts]
    return texts


def _quantity(values: xr.DataArray, shown: Any, unit: str | None, ax: Axes | None) -> _Quantity:
    """What the values are, with their unit: from the attributes, else by the names that a sweep gives."""
    name = str(values.name or "value")
    label = str(values.attrs.get("long_name", plain(name.replace("_", " "))))
    said = values.attrs.get("units", "s" if _SECONDS.match(name) else "")
    if "quantile" in values.coords and values["quantile"].ndim == 0:
        of = _A_QUANTILE.sub("", label)
        label = f"{100 * float(values['quantile']):.4g} % quantile of {of}"
    if said == "s":
        factor, symbol = scale(unit, [np.asarray(shown)], ax.get_ylabel() if ax else "")
        return _Quantity(f"{label} ({symbol})", factor)
    if unit is not None:
        raise units.refusal("unit", f'None for "{name}", which is no time', unit)
    if _SHARES.match(name) and said in ("", "1"):
        return _Quantity(f"{label} (%)", 100.0)
    if name == "throughput" or said == "bit/s":
        largest = float(np.nanmax(np.abs(shown), initial=0.0))
        power, prefix = next(p for p in ((9, "G"), (6, "M"), (3, "k"), (0, "")) if largest >= 10 ** p[0] or not p[0])
        return _Quantity(f"{label} ({prefix}bit/s)", 10.0**-power)
    return _Quantity(label if said in ("", "1") or said in label.split() else f"{label} ({said})", 1.0)


def _label_rows(ax: Axes, labels: list[str]) -> None:
    """Labels beside the rows: at most twelve, broken into lines and shortened to a third of the width."""
    wide, high = inches(ax)
    step = -(-len(labels) // 12)
    lines = int(high * 72 / -(-len(labels) // step) / 14)
    texts = [plain("\n".join(fitted(label, int(wide / 3 * 72 / 5.6), min(lines, 3)))) for label in labels[::step]]
    ax.set_yticks(range(0, len(labels), step), texts)


def _label_ticks(ax: Axes, places: Any, labels: list[str]) -> None:
    """Labels under the ticks, broken into lines, slanted or thinned out where they would run into each other."""
    room = inches(ax)[0] * 72 / max(len(labels), 1)
    longest = max(map(len, labels), default=0)
    if longest * 5.6 <= room:
        ax.set_xticks(list(places), list(map(plain, labels)))
        return
    wrapped = [textwrap.wrap(label, max(4, int(room / 5.6))) for label in labels]
    if all(len(lines) <= 3 and max(map(len, lines), default=0) * 5.6 <= room for lines in wrapped):
        ax.set_xticks(list(places), [plain("\n".join(lines)) for lines in wrapped])
        return
    step = max(1, int(np.ceil(14 / room)))
    slant = longest > 4
    labels = [plain(fitted(label, int(inches(ax)[1] * 72 / 3 / 2.8))[0]) for label in labels[::step]]
    ax.set_xticks(list(places)[::step], labels, rotation=30 if slant else 0, ha="right" if slant else "center")
    if slant:
        for text in ax.get_xticklabels():
            text.set_rotation_mode("anchor")
