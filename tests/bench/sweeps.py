# SPDX-License-Identifier: MIT
"""What a sweep adds to the core: per point on one thread, and what a second thread gains."""

from __future__ import annotations

import functools
import time
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any
from unittest import mock

import qossim as qs
from qossim import _points
from qossim._core import Simulation
from qossim.experiments import ef_wfq_vs_pq

from .calls import SHORT, Worker, clocked, give_work
from .measure import Figure, quotient, turns
from .table import MICROSECONDS, PERCENT, RATIO, TIMES, Goal, Row

__all__ = ["sweeps"]

POINTS = 1000
_FULL = functools.partial(ef_wfq_vs_pq, best_effort=True)


class _Timed:
    """A simulation that adds up the processor seconds of this thread that its runs and digests take."""

    runs = 0.0
    digests = 0.0

    def __init__(self, **settings: Any) -> None:
        self._simulation = made = Simulation(**settings)
        self.add_port, self.add_flow, self.flows, self.ports = made.add_port, made.add_flow, made.flows, made.ports

    def run(self, watch: Callable[[float], None] | None) -> None:
        began = time.thread_time()
        self._simulation.run(watch)
        _Timed.runs += time.thread_time() - began

    def digest(self, levels: tuple[tuple[int, int], ...]) -> bytes:
        began = time.thread_time()
        numbers = self._simulation.digest(levels)
        _Timed.digests += time.thread_time() - began
        return numbers


class _Axes:
    """Points that differ in scheduler, ring and queue, so that little of one can be used again for the next."""

    def __init__(self, points: int) -> None:
        limits = min(20, max(1, points // 4))
        rings = max(1, points // (2 * limits))
        self.values = {
            "scheduler": ["pq", "wfq"],
            "tx_ring_limit": range(1, rings + 1),
            "ef_queue_limit": range(5, 5 + limits),
        }
        self.points = 2 * rings * limits


def _sweep(axes: _Axes, duration: float, workers: int) -> None:
    table = qs.sweep(_FULL, axes.values, duration=duration, seed=1, workers=workers, progress=False)
    assert table.attrs["complete"] and table["delay_mean"].sel(flow="EF").size == axes.points


def _spent(axes: _Axes, duration: float) -> tuple[float, float, float]:
    """Processor seconds of a point: in all, in its run, in its digest."""
    _Timed.runs = _Timed.digests = 0.0
    with mock.patch.object(_points, "Simulation", _Timed):
        began = time.process_time()
        _sweep(axes, duration, 1)
        whole = time.process_time() - began
    return whole / axes.points, _Timed.runs / axes.points, _Timed.digests / axes.points


def sweeps(packets: int, rounds: int) -> Iterator[Row]:
    """Points of the seed at full load with 250, 25,000 and 2,500 EF packets each; fewer in a trial of the command."""
    axes = _Axes(min(POINTS, packets // 100))
    _sweep(_Axes(2), 1.0, 1)  # imports what makes tables
    short = [_spent(axes, SHORT) for _ in range(rounds)]
    outside = Figure.least([1e6 * (whole - run) for whole, run, _ in short])
    yield Row(
        f"{axes.points} points of 250 EF packets: outside the core",
        outside,
        MICROSECONDS,
        Goal(150, 120, most=True),
        "a point, all but its run; of these "
        f"{1e6 * min(digest for *_, digest in short):.0f} are the core's exact statistics",
    )
    few, duration = _Axes(axes.points // 20), 100 * SHORT * min(1.0, packets / 100_000)
    long = [_spent(few, duration) for _ in range(rounds)]
    shares = [100 * (whole - run - digest) / whole for whole, run, digest in long]
    digests = min(100 * digest / whole for whole, _, digest in long)
    yield Row(
        "  of 25,000: share outside the core",
        Figure.least(shares),
        PERCENT,
        Goal(10, 5, most=True),
        f"all but runs and exact statistics, which take {digests:.0f} % themselves",
    )
    yield _threads(_Axes(axes.points // 2), 10 * SHORT, rounds)


def _threads(axes: _Axes, duration: float, rounds: int) -> Row:
    """Two threads against one; two processes that share nothing say what the machine has to give."""
    with Worker(duration, "packets") as one, Worker(duration, "packets") as other:
        ways: dict[str, Callable[[], object]] = {
            "thread": partial(_sweep, axes, duration, 1),
            "threads": partial(_sweep, axes, duration, 2),
            "process": partial(give_work, {one: axes.points}),
            "processes": partial(give_work, {one: axes.points // 2, other: axes.points // 2}),
        }
        spent: dict[str, list[float]] = {name: [] for name in ways}
        took = turns({name: partial(clocked, way, spent[name]) for name, way in ways.items()}, 2 * rounds)
    machine = quotient(took["process"], took["processes"]).value
    goal = Goal(1.8, 1.95)
    able = goal.reaches(machine, goal.must)
    return Row(
        "sweep on 2 threads, 2,500 EF packets: of 1 thread",
        quotient(took["thread"], took["threads"]),
        TIMES,
        goal,
        f"{RATIO(min(spent['threads']) / min(spent['thread']))} of its processor time; 2 processes reach "
        f"{TIMES(machine)}" + ("" if able else ", all that this machine has to give now"),
        trusted=able,
    )
