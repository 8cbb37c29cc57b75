# SPDX-License-Identifier: MIT
"""Rows of numbers as an `xarray.Dataset`: which variables there are, and where each stands in a row."""

from __future__ import annotations

import functools
import math
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, Self

import numpy as np

from qossim._points import BY_CLASS, BY_FLOW, BY_PORT, BY_QUANTILE, DIGEST, HEAD, Layout, width

if TYPE_CHECKING:
    import xarray as xr
    from numpy.typing import NDArray

    from qossim._axes import Grid

__all__ = ["TAKEN", "VARIABLES", "Variable", "columns", "dataset", "imported", "things"]


class Variable(NamedTuple):
    """What a variable of the table is."""

    dims: tuple[str, ...]
    """After the axes and ``replication``."""
    unit: str
    meaning: str
    source: str = ""


_FLOW, _FLOW_QUANTILE, _PORT, _CLASS = ("flow",), ("flow", "quantile"), ("port",), ("port", "class")

VARIABLES: dict[str, Variable] = {
    "delay_min": Variable(_FLOW, "s", "least one-way delay", "RFC 7679"),
    "delay_mean": Variable(_FLOW, "s", "mean one-way delay", "RFC 7679"),
    "delay_max": Variable(_FLOW, "s", "greatest one-way delay", "RFC 7679"),
    "ipdv_mean_abs": Variable(_FLOW, "s", "mean absolute delay variation"),
    "jitter": Variable(_FLOW, "s", "interarrival jitter at the end", "RFC 3550"),
    "delay_quantile": Variable(_FLOW_QUANTILE, "s", "quantile of the one-way delay", "RFC 7679"),
    "ipdv_quantile": Variable(_FLOW_QUANTILE, "s", "quantile of the delay variation, signed", "RFC 3393"),
    "pdv_quantile": Variable(_FLOW_QUANTILE, "s", "quantile of the delay above its least", "RFC 5481"),
    "sent": Variable(_FLOW, "packets", "packets sent"),
    "received": Variable(_FLOW, "packets", "packets received"),
    "throughput": Variable(_FLOW, "bit/s", "rate of the IP datagrams received"),
    "loss_ratio": Variable(_FLOW, "1", "share of packets lost", "RFC 7680"),
    "loss_ratio_queue": Variable(_FLOW, "1", "share of packets dropped by queues"),
    "loss_ratio_policer": Variable(_FLOW, "1", "share of packets dropped by policers"),
    "utilisation": Variable(_PORT, "1", "share of time the wire was busy"),
    "mean_ring": Variable(_PORT, "particles", "particles in use in the transmit ring, mean over time"),
    "largest_ring": Variable(_PORT, "particles", "most particles in use in the transmit ring"),
    "mean_queue": Variable(_CLASS, "packets", "packets in the class queue, mean over time"),
    "largest_queue": Variable(_CLASS, "packets", "most packets in the class queue"),
}
TAKEN = frozenset(
    {*VARIABLES, "replication", "flow", "quantile", "port", "class", "warmup", "settled", "target_reached"}
)
"""Names that no axis can have."""


def columns(layout: Layout, variable: str, levels: int) -> NDArray[np.intp]:
    """Where a variable stands in a row: an array whose shape is that of the layout's flows, or ports, ...

    For a variable by class one line of (port, class), in order of declaration.
    """
    flows = len(layout.flows)
    digest = len(DIGEST) + len(BY_QUANTILE) * levels
    if variable in DIGEST:
        return HEAD + DIGEST.index(variable) + digest * np.arange(flows)
    if variable in BY_QUANTILE:
        first = HEAD + len(DIGEST) + BY_QUANTILE.index(variable) * levels
        return (first + digest * np.arange(flows)[:, None] + np.arange(levels)[None, :]).reshape(-1)
    counts = HEAD + flows * digest
    if variable in BY_FLOW:
        return counts + list(BY_FLOW).index(variable) + len(BY_FLOW) * np.arange(flows)
    at = counts + flows * len(BY_FLOW)
    places = []
    for _, classes in layout.ports:
        if variable in BY_PORT:
            places.append(at + list(BY_PORT).index(variable))
        else:
            first = at + len(BY_PORT) + list(BY_CLASS).index(variable)
            places += [first + len(BY_CLASS) * i for i in range(len(classes))]
        at += len(BY_PORT) + len(classes) * len(BY_CLASS)
    return np.array(places, dtype=np.intp)


def things(layout: Layout, variable: str, levels: Sequence[float]) -> list[str]:
    """What each column of `columns` is about, for a message."""
    dims = VARIABLES[variable].dims
    if dims == _FLOW:
        return list(layout.flows)
    if dims == _FLOW_QUANTILE:
        return [f"{flow} at {level:g}" for flow in layout.flows for level in levels]
    if dims == _PORT:
        return [port for port, _ in layout.ports]
    return [f"{each} at {port}" for port, classes in layout.ports for each in classes]


class _Names(NamedTuple):
    """What is found at any point, in order of the first point that has it."""

    flow: dict[str, int]
    port: dict[str, int]
    cls: dict[str, int]

    @classmethod
    def of(cls, layouts: Iterable[Layout]) -> Self:
        names = cls({}, {}, {})
        for layout in layouts:
            for flow in layout.flows:
                names.flow.setdefault(flow, len(names.flow))
            for port, classes in layout.ports:
                names.port.setdefault(port, len(names.port))
                for each in classes:
                    names.cls.setdefault(each, len(names.cls))
        return names

    def places(self, layout: Layout, dims: tuple[str, ...], levels: int) -> NDArray[np.intp]:
        """For each column of `columns` its place in the flattened dims of the table."""
        if dims == _FLOW:
            places = [self.flow[flow] for flow in layout.flows]
        elif dims == _FLOW_QUANTILE:
            places = [self.flow[flow] * levels + i for flow in layout.flows for i in range(levels)]
        elif dims == _PORT:
            places = [self.port[port] for port, _ in layout.ports]
        else:
            places = [
                self.port[port] * len(self.cls) + self.cls[each] for port, classes in layout.ports for each in classes
            ]
        return np.array(places, dtype=np.intp)


def dataset(
    rows: Iterable[tuple[int, int, Layout, bytes]],
    grid: Grid,
    replications: int,
    levels: Sequence[float],
    expected: Iterable[Layout] = (),
    *,
    warmup: bool,
    attributes: dict[str, str | int | float],
) -> xr.Dataset:
    """The table of a sweep.

    Parameters
    ----------
    rows : iterable of tuple
        Point, replication, layout and numbers, as in a Row; in order of point and replication, which must be
        below `replications`.
    grid : Grid
        The axes.
    replications : int
        Length of that dimension.
    levels : sequence of float
        Of the quantiles.
    expected : iterable of Layout
        What the table has names for besides what is found in the rows.
    warmup : bool
        Whether the warm-up of each run is a variable, and whether it sufficed.
    attributes : dict
        How the table was made.
    """
    import xarray as xr

    groups: dict[Layout, list[tuple[int, bytes]]] = {}
    for point, replication, layout, numbers in rows:
        groups.setdefault(layout, []).append((point * replications + replication, numbers))
    names = _Names.of((*groups, *expected))
    sizes = {"flow": len(names.flow), "quantile": len(levels), "port": len(names.port), "class": len(names.cls)}
    runs = grid.size * replications
    values = {
        name: np.full((runs, math.prod(sizes[dim] for dim in each.dims)), np.nan) for name, each in VARIABLES.items()
    }
    heads = np.full((runs, HEAD), np.nan)
    for layout, found in groups.items():
        where = np.array([run for run, _ in found], dtype=np.intp)
        block = np.frombuffer(b"".join(row for _, row in found)).reshape(len(found), width(layout, len(levels)))
        heads[where] = block[:, :HEAD]
        for name, each in VARIABLES.items():
            places = names.places(layout, each.dims, len(levels))
            values[name][where[:, None], places[None, :]] = block[:, columns(layout, name, len(levels))]

    outer = (*(axis.name for axis in grid.axes), "replication")
    shape = (*grid.shape, replications)
    data: dict[str, Any] = {
        name: (
            (*outer, *each.dims),
            values[name].reshape(*shape, *(sizes[dim] for dim in each.dims)),
            {"units": each.unit, "long_name": each.meaning} | ({"references": each.source} if each.source else {}),
        )
        for name, each in VARIABLES.items()
    }
    if warmup:
        told = {"units": "s", "long_name": "warm-up found by MSER-5"}
        data["warmup"] = (outer, heads[:, 0].reshape(shape), told)
        told = {"units": "1", "long_name": "whether all flows had settled by then"}
        data["settled"] = (outer, heads[:, 1].reshape(shape), told)
    coordinates: dict[str, Any] = {
        each.name: (axis.name, each.labels) for axis in grid.axes for each in axis.parameters
    }
    coordinates["replication"] = np.arange(replications)
    coordinates["flow"] = np.array(list(names.flow), dtype=np.str_)
    coordinates["quantile"] = np.array(levels, dtype=np.float64)
    coordinates["port"] = np.array(list(names.port), dtype=np.str_)
    coordinates["class"] = np.array(list(names.cls), dtype=np.str_)
    return xr.Dataset(data, coordinates, attributes)


@functools.cache
def imported() -> None:
    """Import what a table needs, before anything runs: half a second after Ctrl-C is too late.

    An empty table does it: xarray looks for other packages when the first is made.
    """
    from qossim._axes import Grid

    dataset((), Grid({}, ()), 1, (), warmup=False, attributes={})
