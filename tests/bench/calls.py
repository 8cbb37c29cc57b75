# SPDX-License-Identifier: MIT
"""What the Python around the core costs: a short run, two threads, the import."""

from __future__ import annotations

import statistics
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Self

import qossim as qs

from .measure import Figure, ask, command, cost, environment, quotient, turns
from .scenes import seconds_for, seed
from .table import MICROSECONDS, MILLISECONDS, RATIO, TIMES, Goal, Row

__all__ = ["Worker", "clocked", "give_work", "importing", "short_run", "threads"]

SHORT = 6.8266
"""Seconds in which the seed sends 250 EF and 1366 BE packets."""


def short_run(packets: int, rounds: int) -> Iterator[Row]:
    """The report's 250 packets, from a built scenario to what one wants to know of them."""
    scenarios = {"phases fixed": seed(), "phases random": seed("random")}
    contenders: dict[str, Callable[[], float]] = {
        name: partial(_typical, [scenario] * 100) for name, scenario in scenarios.items()
    }
    contenders["first run"] = lambda: _typical([seed() for _ in range(20)])
    costs = turns(contenders, 2 * rounds)
    for name in scenarios:
        figure, what = Figure.least(costs[name]), f"250 EF packets to statistics, {name}"
        yield Row(what, figure, MICROSECONDS, Goal(300, 150, most=True), "mean, p99, ipdv, lost; medians of 100 calls")
    figure = Figure.least(costs["first run"])
    yield Row(
        "  the same, the first run of its scenario", figure, MICROSECONDS, None, "it is translated for the core, once"
    )


def _typical(scenarios: list[qs.Scenario]) -> float:
    """Microseconds that a run with its statistics takes, the median over the scenarios."""
    return 1e6 * statistics.median(map(_asked, scenarios))


def _asked(scenario: qs.Scenario) -> float:
    began = time.perf_counter()
    flow = qs.run(scenario, duration=SHORT, seed=1)["EF"]
    delay, ipdv = flow.delay_stats, flow.ipdv_stats
    answers = delay.mean, delay.quantile(0.99), ipdv.mean, ipdv.max, flow.lost
    spent = time.perf_counter() - began
    assert answers[-1] == 0 and flow.received == 250
    return spent


def threads(packets: int, rounds: int) -> Iterator[Row]:
    """Two threads with half of the runs each, against one with all; and two processes, which share nothing."""
    scenario, long = seed(), seconds_for(packets)
    minute = min(60.0, long)
    # A turn takes a tenth of a second and more: the system needs some hundredths to give each thread a processor.
    for what, record, duration, each in (
        (f"runs of {minute:.0f} s, every column", "packets", minute, max(1, int(2 * long / minute))),
        ("long runs, every column", "packets", long, 2),
        ("long runs, summaries only", "summary", long, 2),
    ):
        run = partial(_runs, partial(cost, scenario, duration, record), each)
        with ThreadPoolExecutor(2) as pool, Worker(duration, record) as one, Worker(duration, record) as other:
            ways: dict[str, Callable[[], object]] = {
                "thread": partial(_twice, map, run),
                "threads": partial(_twice, pool.map, run),
                "process": partial(give_work, {one: 2 * each}),
                "processes": partial(give_work, {one: each, other: each}),
            }
            spent: dict[str, list[float]] = {name: [] for name in ways}
            took = turns({name: partial(clocked, way, spent[name]) for name, way in ways.items()}, rounds)
        machine = quotient(took["process"], took["processes"]).value
        busy = min(spent["threads"]) / min(spent["thread"])
        goal = Goal(1.8, 1.95)
        able = goal.reaches(machine, goal.must)
        yield Row(
            f"2 threads, {what}: of 1 thread",
            quotient(took["thread"], took["threads"]),
            TIMES,
            goal,
            f"{RATIO(busy)} of its processor time; 2 processes reach {TIMES(machine)}"
            + ("" if able else ", all that this machine has to give now"),
            trusted=able,
        )


def _runs(run: Callable[[], object], count: int) -> None:
    for _ in range(count):
        run()


def _twice(apply: Callable[..., Iterable[object]], runs: Callable[[], object]) -> None:
    list(apply(lambda _: runs(), range(2)))


def clocked(work: Callable[[], object], spent: list[float]) -> float:
    """Seconds that the work takes; the processor time of this process is added to `spent`."""
    began, worked = time.perf_counter(), time.process_time()
    work()
    spent.append(time.process_time() - worked)
    return time.perf_counter() - began


class Worker:
    """A process that does runs when told to."""

    def __init__(self, duration: float, record: str) -> None:
        self._process = subprocess.Popen(
            command("worker", duration, record),
            env=environment(),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def __enter__(self) -> Self:
        give_work({self: 1})  # till it has started
        return self

    def start(self, runs: int) -> None:
        assert self._process.stdin is not None
        print(runs, file=self._process.stdin, flush=True)

    def wait(self) -> None:
        assert self._process.stdout is not None
        if not self._process.stdout.readline():
            raise RuntimeError("a process that should have done runs has ended")

    def __exit__(self, *_: object) -> None:
        self._process.communicate()


def give_work(runs: Mapping[Worker, int]) -> None:
    """So many runs by each worker, all at once."""
    for worker, count in runs.items():
        worker.start(count)
    for worker in runs:
        worker.wait()


def importing(packets: int, rounds: int) -> Iterator[Row]:
    """Processor time that the package and its descriptions take beyond NumPy, nothing imported before by the site."""
    with tempfile.TemporaryDirectory(prefix="qossim-bench-") as cache:
        fresh = partial(ask, "importing", options=["-S"], PYTHONPYCACHEPREFIX=cache, PYTHONDONTWRITEBYTECODE="")
        fresh()  # compiles the modules
        each = [[1e3 * seconds for seconds in fresh()] for _ in range(2 * rounds + 1)]
    numpy, own, later = zip(*each, strict=True)
    beside = (
        f"NumPy {statistics.median(numpy):.0f} ms; `qossim.run`, when first used, {statistics.median(later):.0f} ms"
    )
    figure = Figure(statistics.median(own), min(own), max(own))
    yield Row("import qossim, beyond NumPy's own", figure, MILLISECONDS, Goal(50, 20, most=True), beside)
