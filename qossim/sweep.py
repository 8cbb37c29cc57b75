# SPDX-License-Identifier: MIT
"""A parameter sweep: a function that builds scenarios and named axes in, a labelled table of every run out.

The table does not depend on who did the work: replication r of every point draws from the r-th child of the seed, so
that points see the same random numbers and differences between them are theirs alone.
"""

from __future__ import annotations

import functools
import hashlib
import itertools
import json
import math
import os
import pickle
import sys
import threading
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent import futures
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, Self, TypeAlias

import numpy as np

from qossim import units
from qossim._axes import Grid, zipped
from qossim._journal import Journal
from qossim._measured import VERSIONS, plain_seed, seed_from_plain
from qossim._points import (
    BY_CLASS,
    BY_FLOW,
    BY_PORT,
    BY_QUANTILE,
    DIGEST,
    Failure,
    Layout,
    Outcome,
    Row,
    Settings,
    Stopped,
    Task,
    width,
    work,
)
from qossim.errors import ScenarioError, SweepError
from qossim.run import _duration, _generator, _root, _warmup, _watched
from qossim.scenario.net import Scenario
from qossim.statistics import _ratio, target_reached

if TYPE_CHECKING:
    import datetime as dt
    from concurrent.futures import Executor, Future

    import xarray as xr
    from numpy.random import SeedSequence
    from numpy.typing import NDArray

    from qossim.run import Progress, Seed

__all__ = ["SweepError", "sweep", "zipped"]

PathLike: TypeAlias = "str | os.PathLike[str]"

_TASK = 0.05
"""Seconds that a task should take: long against handing it over, short against a person's patience."""


def sweep(
    build: Callable[..., Scenario],
    axes: Mapping[str, Any] | zipped,
    replications: int | Literal["auto"] = 1,
    *,
    duration: float | str | dt.timedelta | np.timedelta64,
    warmup: float | str | dt.timedelta | np.timedelta64 = 0.0,
    seed: Seed = None,
    record: Literal["packets", "summary"] = "packets",
    quantiles: Sequence[float] = (0.5, 0.9, 0.95, 0.99, 0.999),
    target: Mapping[str, float | str] | None = None,
    level: float = 0.95,
    least: int = 10,
    most: int = 100,
    executor: Executor | None = None,
    workers: int | None = None,
    progress: Progress = None,
    save: PathLike | None = None,
    resume: PathLike | None = None,
    drain: bool = True,
    bit_generator: str = "PCG64",
) -> xr.Dataset:
    """Run a scenario for every combination of parameters.

    Parameters
    ----------
    build : callable
        Called with one keyword for each parameter, returns a Scenario. `functools.partial` fixes others.
    axes : dict, or zipped
        Values by the name of a parameter; the points are all combinations. An axis may be `zipped` instead, several
        parameters that change together: its key names the dimension, and each of them is a coordinate along it.
        Numbers, strings and booleans label themselves, anything else is labelled by its name (``name``, ``__name__``,
        else its ``repr``); a dict ``{label: value}`` says other labels.
    replications : int or "auto"
        Runs of each point, at least 1. With "auto" each point is run until `target` is reached.
    duration, warmup : float or str
        Of each run, seconds, as for `qossim.run`. With ``warmup="mser5"`` each run is made twice: the first tells the
        instant from which on the delays of all its flows have settled (`qossim.mser5`), which is the warm-up of the
        second and stands in the table as ``warmup``.
    seed : int or numpy.random.SeedSequence, optional
        Replication r of every point draws from ``SeedSequence(seed, spawn_key=(r,))``. Without it one is drawn;
        ``table.attrs["seed"]`` tells which.
    record : {"packets", "summary"}
        Exact statistics of every packet; or those in constant memory, with quantiles and the mean of absolute ipdv to
        1 % (pdv to 1 % of the delay), and without jitter.
    quantiles : sequence of float
        Levels, ascending, from 0 to 1.
    target : dict, optional
        For ``replications="auto"``: half-widths by variable, that the interval of its mean over replications may have
        for every flow (and quantile, or port and class). A number in the variable's unit, a string as ``"0.1 ms"``, or
        ``"2 %"`` of the mean.
    level : float
        Confidence of those intervals.
    least, most : int
        Fewest replications of a point with ``replications="auto"``, at least 2, and most.
    executor : concurrent.futures.Executor, optional
        Where to run: threads, processes, or a cluster (``dask.distributed``'s ``client.get_executor()``). It is left
        open. For processes `build` and the values must be importable. By default threads of this process.
    workers : int, optional
        Number of threads, by default as many as there are processors; with an `executor`, how many workers it has.
    progress : bool or callable, optional
        As for `qossim.run`: a bar with the remaining time, by default if a person is watching.
    save : path, optional
        A new file to which every run is appended as soon as it is finished.
    resume : path, optional
        A file that `save` wrote for the same sweep, perhaps with fewer replications: what is in it is not run again,
        what is not is run and appended. The same path as `save`: go on if it is there, else begin.
    drain, bit_generator
        As for `qossim.run`.

    Returns
    -------
    xarray.Dataset
        Dimensions: the axes, ``replication``, and ``flow``, ``quantile``, ``port`` or ``class``; float64, in SI units.
        By flow: ``delay_min``, ``delay_mean``, ``delay_max``, ``delay_quantile`` (one-way delay, RFC 7679),
        ``ipdv_quantile`` (RFC 3393, signed), ``ipdv_mean_abs``, ``pdv_quantile`` (RFC 5481), ``jitter`` (RFC 3550, at
        the end), ``loss_ratio``, ``loss_ratio_queue``, ``loss_ratio_policer``, ``sent``, ``received``, ``throughput``.
        By port: ``utilisation``, ``mean_ring``, ``largest_ring`` (particles); by port and class: ``mean_queue``,
        ``largest_queue`` (packets). NaN where a point has no such flow, port, ring or class, where there is no value,
        and where nothing ran.

        ``attrs`` say how the table was made: ``build``, ``parameters`` (JSON), ``seed`` (a str if it is long),
        ``replications``, ``duration``, ``warmup``, ``record``, ``drain``, ``bit_generator``, ``qossim``, ``numpy``,
        ``python``, and ``complete``: 1, or 0 after Ctrl-C. With ``replications="auto"`` there are besides ``target``,
        ``level``, ``least``, ``most`` and ``target_reached``, and a variable ``target_reached`` for each point.

    Raises
    ------
    ScenarioError
        An argument is out of bounds, two values of an axis have the same label, or processes cannot be sent `build`.
    SweepError
        A point failed, or a worker died; the message names the parameters, and ``error.table`` holds what was finished.
    FileExistsError, FileNotFoundError
        The file to `save` to is there, or that to `resume` is not.
    ValueError
        The file to `resume` is of another sweep, or damaged.

    Warns
    -----
    UserWarning
        The target was not reached with `most` replications; the message says where.

    Notes
    -----
    Points share random numbers: a difference between two of them has a smaller variance than it would otherwise have,
    and replications of one point are still independent of each other (common random numbers; A. M. Law, *Simulation
    Modeling and Analysis*, 5th ed., McGraw-Hill 2015, section 11.2). Same version, seed and arguments: same bytes,
    whatever the workers.

    Ctrl-C ends a sweep within a tenth of a second (in this process) and returns what there is, with ``complete`` 0.

    Examples
    --------
    >>> import qossim as qs
    >>> from qossim.experiments import ef_wfq_vs_pq
    >>> table = qs.sweep(ef_wfq_vs_pq, {"tx_ring_limit": [1, 40]}, replications=3, duration=10.0, seed=1)
    >>> interval = qs.confidence(table["delay_mean"].sel(flow="EF"))
    >>> [f"{1e3 * mean:.1f} ms" for mean in interval["mean"].values]
    ['15.4 ms', '75.5 ms']
    """
    if not callable(build):
        raise units.refusal("build", "a function that returns a Scenario", build)
    duration_ps = _duration(duration)
    if record not in ("packets", "summary"):
        raise units.refusal("record", 'one of "packets", "summary"', record)
    if not isinstance(drain, bool | np.bool_):
        raise units.refusal("drain", "True or False", drain)
    if not (progress is None or isinstance(progress, bool) or callable(progress)):
        raise units.refusal("progress", "True, False, None or a function of the share done", progress)
    if isinstance(warmup, str) and warmup == "mser5":
        warmup_ps = None
        if record != "packets":
            raise units.refusal("record", '"packets" with warmup="mser5", which looks at every delay', record)
    else:
        warmup_ps = _warmup(warmup, duration_ps, duration)
    _generator(bit_generator)
    rule = _rule(replications, target, level, least, most)
    grid = Grid(axes, _TAKEN)
    levels = _levels(quantiles)
    save, resume = (None if path is None else Path(os.fspath(path)) for path in (save, resume))
    if save is not None and resume is not None and save != resume:
        raise units.refusal("save", f"the file to resume, {resume}, or left out", str(save))
    if resume is not None and not resume.exists():
        if save is None:
            raise FileNotFoundError(f"resume: there is no file {resume}")
        resume = None
    told = Journal.sweep_of(resume) if resume is not None else None
    if seed is None and told is not None:
        seed = seed_from_plain(told["seed"])
    root, shown = _root(seed)
    settings = Settings(
        build, record, duration_ps, warmup_ps, bool(drain), bit_generator, root, tuple(_ratio(q) for q in levels)
    )
    pool = _Pool(executor, workers)
    pool.check(build, grid)
    job = _Job(settings, grid, rule, shown, tuple(levels))
    if save is not None or resume is not None:
        job.open(save, resume, told)
    try:
        with _Bar(progress, grid.size * rule.least) as bar:
            job.run(pool, bar)
    finally:
        job.close()
    return job.table()


# -- arguments ---------------------------------------------------------------------------------------------------------


def _levels(quantiles: object) -> list[float]:
    bounds = "numbers from 0 to 1, ascending"
    if isinstance(quantiles, str | bytes) or not isinstance(quantiles, Iterable):
        raise units.refusal("quantiles", bounds, quantiles)
    listed = list(quantiles)
    ratios = [_ratio(q) for q in listed]
    if any(not 0 <= numerator <= denominator < 2**63 for numerator, denominator in ratios):
        raise units.refusal("quantiles", bounds, listed)
    if any(a * d >= c * b for (a, b), (c, d) in itertools.pairwise(ratios)):
        raise units.refusal("quantiles", bounds, listed)
    return [float(q) for q in listed]


class _Goal(NamedTuple):
    """A half-width to be reached by one variable."""

    variable: str
    half_width: float
    relative: bool


class _Rule(NamedTuple):
    """How many replications a point has: `least`, and more up to `most` while a goal is not reached."""

    least: int
    most: int
    goals: tuple[_Goal, ...] = ()
    level: float = 0.95
    target: str = ""
    """As given, in JSON."""


def _rule(replications: object, target: Mapping[str, Any] | None, level: float, least: int, most: int) -> _Rule:
    if replications != "auto":
        if target is not None:
            raise units.refusal("target", 'given with replications="auto" only', target)
        count = _count(replications, "replications", 1)
        return _Rule(count, count)
    if not isinstance(target, Mapping) or not target:
        example = '{"delay_mean": "0.1 ms"}'
        raise units.refusal("target", f'given with replications="auto", as {example}', target)
    if isinstance(level, bool) or not isinstance(level, float | np.floating) or not 0 < level < 1:
        raise units.refusal("level", "a number above 0 and below 1", level)
    fewest = _count(least, "least", 2)
    greatest = _count(most, "most", fewest)
    goals = tuple(_goal(name, value) for name, value in target.items())
    said = json.dumps({name: value if isinstance(value, str) else float(value) for name, value in target.items()})
    return _Rule(fewest, greatest, goals, float(level), said)


def _count(value: object, field: str, minimum: int) -> int:
    if isinstance(value, bool | str) or value is None:
        raise units.refusal(field, f"a whole number of at least {minimum}", value)
    return units.count(value, field, minimum, 2**31 - 1)


def _goal(name: str, value: Any) -> _Goal:
    if name not in _VARIABLES:
        raise units.refusal("target", f"for variables of the table ({', '.join(_VARIABLES)})", name)
    field, bounds = f"target: {name}", "above 0, or above 0 % and below 100 %"
    if isinstance(value, str) and value.rstrip().endswith("%"):
        share = units.number(value.rstrip()[:-1].rstrip(), field, bounds) / 100
        if not 0 < share < 1:
            raise units.refusal(field, bounds, value)
        return _Goal(name, float(share), relative=True)
    unit = _VARIABLES[name].unit
    if unit == "s":
        exact = units.seconds(value, field, bounds)
    else:
        exact = units.rate(value, field) if unit == "bit/s" else units.number(value, field, bounds)
    if exact <= 0:
        raise units.refusal(field, bounds, value)
    return _Goal(name, float(exact), relative=False)


def _name_of(build: Any) -> str:
    """Where a function comes from and what it has been given: the same text in every process."""
    if isinstance(build, functools.partial):
        given = [*map(_said, build.args), *(f"{name}={_said(value)}" for name, value in build.keywords.items())]
        return f"{_name_of(build.func)}({', '.join(given)})"
    named = build if hasattr(build, "__qualname__") else type(build)
    return f"{named.__module__}.{named.__qualname__}"


def _said(value: object) -> str:
    text = " ".join(repr(value).split())
    return f"a {type(value).__name__}" if " at 0x" in text else text


# -- where it runs -----------------------------------------------------------------------------------------------------


class _Pool:
    """The executor, and how to deal with it."""

    def __init__(self, executor: Executor | None, workers: int | None) -> None:
        if executor is not None and not (hasattr(executor, "submit") and hasattr(executor, "shutdown")):
            raise units.refusal("executor", "an executor of concurrent.futures, or None", executor)
        given = None if workers is None else _count(workers, "workers", 1)
        self.executor = executor
        self.workers = given or _workers_of(executor)
        self.shared = executor is None or (
            isinstance(executor, futures.ThreadPoolExecutor) and type(executor).__name__ != "InterpreterPoolExecutor"
        )
        """Whether the workers are threads of this process."""

    def check(self, build: object, grid: Grid) -> None:
        """Refuse what a pool of processes cannot carry, before anything runs."""
        if not isinstance(self.executor, futures.ProcessPoolExecutor):
            return
        instead = "write it with def at the top of a module, or leave executor out: threads can run anything"
        module = sys.modules.get("__main__")
        context = getattr(self.executor, "_mp_context", None)
        forked = context is not None and context.get_start_method() == "fork"
        if getattr(build, "__module__", None) == "__main__" and not forked and not hasattr(module, "__file__"):
            why = "it was written at the prompt"
            raise ScenarioError(
                f"build must be what another process can import, got {_name_of(build)} ({why}): {instead}"
            )
        try:
            pickle.dumps(build)
        except Exception as error:
            why = str(error) or type(error).__name__
            raise ScenarioError(
                f"build must be what another process can import, got {_name_of(build)} ({why}): {instead}"
            ) from error
        for axis in grid.axes:
            for parameter in axis.parameters:
                try:
                    pickle.dumps(parameter.values)
                except Exception as error:
                    raise ScenarioError(
                        f"axis {axis.name}: the values of {parameter.name} cannot be sent to another process ({error})"
                    ) from error


def _workers_of(executor: Any) -> int:
    if executor is not None:
        known = getattr(executor, "_max_workers", None)
        if isinstance(known, int):
            return known
        client = getattr(executor, "_client", None)
        if client is not None and hasattr(client, "nthreads"):
            return max(1, int(sum(client.nthreads().values())))
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


class _Bar:
    """How many runs are done: a bar, a function to be told, or nothing."""

    def __init__(self, progress: Progress, total: int) -> None:
        self._told = progress if callable(progress) else None
        self._bar: Any = None
        self._done, self._total = 0, total
        if progress is True or (progress is None and _watched()):
            try:
                from tqdm.auto import tqdm
            except ImportError:
                if progress is True:
                    raise
                return
            self._bar = tqdm(total=total, desc="qossim", unit="run", leave=False, delay=0 if progress is True else 0.5)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._bar is not None:
            self._bar.close()

    def expect(self, total: int) -> None:
        self._total = total
        if self._bar is not None:
            self._bar.total = total
            self._bar.refresh()

    def reach(self, done: int) -> None:
        if done == self._done:
            return
        if self._bar is not None:
            self._bar.update(done - self._done)
        self._done = done
        if self._told is not None:
            self._told(done / self._total)


# -- the work ----------------------------------------------------------------------------------------------------------


class _Job:
    """A sweep under way."""

    def __init__(
        self, settings: Settings, grid: Grid, rule: _Rule, seed: int | SeedSequence, levels: tuple[float, ...]
    ):
        self.settings = settings
        self.grid = grid
        self.rule = rule
        self.seed = seed
        self.levels = levels
        self.rows: dict[tuple[int, int], tuple[Layout, bytes]] = {}
        self.wanted = [rule.least] * grid.size
        """Replications of each point."""
        self.complete = False
        self.met: list[bool] = []
        self._journal: Journal | None = None
        self._done = 0

    # its file

    def open(self, save: Path | None, resume: Path | None, told: dict[str, Any] | None) -> None:
        mine = self._told()
        if resume is None or told is None:
            assert save is not None
            self._journal = Journal.create(save, mine)
            return
        for name, value in mine.items():
            if told.get(name) != value:
                shown, other = (units.shown(each) for each in (told.get(name), value))
                raise ValueError(f"resume: {resume} is of another sweep: {name} is {shown} there and {other} here")
        self._journal = Journal.reopen(resume, len(self.levels))
        for row in self._journal.rows:
            if row[0] < self.grid.size:
                self._keep(row)

    def _told(self) -> dict[str, Any]:
        """What makes it this sweep and no other, as JSON holds it."""
        settings = self.settings
        told = {
            "build": _name_of(settings.build),
            "parameters": self.grid.plain(),
            "seed": plain_seed(self.seed),
            "duration": settings.duration,
            "warmup": "mser5" if settings.warmup is None else settings.warmup,
            "record": settings.record,
            "quantiles": list(self.levels),
            "drain": settings.drain,
            "bit_generator": settings.bit_generator,
            "qossim": VERSIONS["qossim"],
            "numpy": VERSIONS["numpy"],
            "first scenario": self._first_scenario(),
        }
        plain: dict[str, Any] = json.loads(json.dumps(told))
        return plain

    def _first_scenario(self) -> str:
        """A fingerprint of the scenario at the first point, so that a build that has changed is found out."""
        try:
            scenario = self.settings.build(**self.grid.parameters(0))
            if not isinstance(scenario, Scenario):
                raise units.refusal("what build returns", "a Scenario", scenario)
        except Exception as error:
            raise self._failed(Failure(0, None, error)) from error
        text = json.dumps(scenario.to_dict(), sort_keys=True, default=lambda value: np.asarray(value).tolist())
        return hashlib.sha256(text.encode()).hexdigest()[:32]

    def close(self) -> None:
        if self._journal is not None:
            self._journal.close()

    # its runs

    def _keep(self, row: Row) -> None:
        self.rows[row[0], row[1]] = row[2], row[3]

    def _deliver(self, row: Row) -> None:
        """Called by any worker of this process."""
        if self._journal is not None:
            self._journal.write(row)
        self._keep(row)

    def run(self, pool: _Pool, bar: _Bar) -> None:
        """All runs; returns early, with `complete` False, on Ctrl-C."""
        try:
            while True:
                self._round(pool, bar)
                if not self._further():
                    break
                bar.expect(sum(self.wanted))
            self.complete = True
        except KeyboardInterrupt:
            return
        self._warn()

    def _round(self, pool: _Pool, bar: _Bar) -> None:
        tasks = self._tasks()
        if pool.executor is None and pool.workers == 1:
            self._alone(tasks, bar)
        elif pool.executor is None:
            with futures.ThreadPoolExecutor(pool.workers, thread_name_prefix="qossim") as threads:
                _Round(self, pool, threads, bar).run(tasks)
        else:
            _Round(self, pool, pool.executor, bar).run(tasks)

    def _tasks(self) -> Iterator[Task]:
        """What is wanted and not there, in order of points, all replications of a point together."""
        there = self.rows
        for point, (parameters, wanted) in enumerate(zip(self.grid.all_parameters(), self.wanted, strict=True)):
            missing = range(wanted)
            if there:
                left = [r for r in missing if (point, r) not in there]
                if not left:
                    continue
                missing = left if len(left) < wanted else missing  # type: ignore[assignment]
            yield Task(point, parameters, missing)

    def _alone(self, tasks: Iterator[Task], bar: _Bar) -> None:
        def deliver(row: Row) -> None:
            self._deliver(row)
            bar.reach(len(self.rows))

        for task in tasks:
            outcome = work(self.settings, [task], deliver)
            if outcome.failure is not None:
                raise self._failed(outcome.failure) from outcome.failure.error

    def _failed(self, failure: Failure) -> SweepError:
        error = failure.error
        replication = "" if failure.replication is None else f", replication {failure.replication}"
        text = str(error) if isinstance(error, ScenarioError) else f"{type(error).__name__}: {error}"
        where = self.grid.spoken(failure.point)
        return self.grief(f"the point {where}{replication} failed: {text}", [failure.point])

    def grief(self, message: str, points: list[int]) -> SweepError:
        """The exception for something that cannot be mended here."""
        if self._journal is not None:
            message += f'; what was finished is in {self._journal.path}: go on with resume="{self._journal.path}"'
        parameters = [self.grid.parameters(point) for point in points]
        return SweepError(message, parameters, self.table() if self.rows else None)

    # replications until a target is reached

    def _further(self) -> bool:
        """Wants more replications of the points that need them; False if none does, or may."""
        if not self.rule.goals:
            return False
        self.met, more = [], False
        for point in range(self.grid.size):
            have = self.wanted[point]
            need = self._needed(point, have)
            self.met.append(need <= have)
            if need > have and have < self.rule.most:
                self.wanted[point] = min(need, self.rule.most)
                more = True
        return more

    def _needed(self, point: int, have: int) -> int:
        """Replications after which the target should be reached; `have` if it is."""
        layout = self.rows[point, 0][0]
        table = np.frombuffer(b"".join(self.rows[point, r][1] for r in range(have))).reshape(have, -1)
        need = have
        for goal in self.rule.goals:
            columns = table[:, _columns(layout, goal.variable, len(self.levels))]
            if not columns.size or np.isnan(columns).all():
                continue
            if target_reached(
                columns, goal.half_width, relative=goal.relative, level=self.rule.level, least=self.rule.least
            ):
                continue
            need = max(need, have + max(1, min(have, math.ceil(have * (_excess(columns, goal, self.rule.level) - 1)))))
        return need

    def _warn(self) -> None:
        missed = [point for point, met in enumerate(self.met) if not met]
        if not missed:
            return
        where = "; ".join(self.grid.spoken(point) for point in missed[:5]) + ("; ..." if len(missed) > 5 else "")
        warnings.warn(
            f"the target {self.rule.target} was not reached with {self.rule.most} replications at {len(missed)} of "
            f"{self.grid.size} points: {where}",
            stacklevel=4,
        )

    # what comes of it

    def table(self) -> xr.Dataset:
        return _table(self)


def _excess(columns: NDArray[np.float64], goal: _Goal, level: float) -> float:
    """How many times as many replications the widest interval asks for, at a guess: it shrinks as their root grows."""
    from qossim.statistics import confidence

    most = 1.0
    for column in columns.T:
        mean, reached, _, _ = confidence(column, level=level)
        wanted = goal.half_width / (1 + goal.half_width) * abs(mean) if goal.relative else goal.half_width
        if reached > wanted:
            most = max(most, (reached / wanted) ** 2 if wanted else math.inf)
    return min(most, 1e6)


class _Round:
    """Tasks handed to an executor, a few more at a time than it has workers."""

    def __init__(self, job: _Job, pool: _Pool, executor: Executor, bar: _Bar) -> None:
        self.job = job
        self.pool = pool
        self.executor = executor
        self.bar = bar
        self.under_way: dict[Future[Outcome], list[Task]] = {}
        self.stop = threading.Event()
        self.processes: dict[int, Any] = {}
        self._cost = 0.0  # seconds of a run
        self._together = pool.shared or job._journal is None  # else each run is handed back as soon as it is finished

    def run(self, tasks: Iterator[Task]) -> None:
        left = _Left(tasks, self.job.wanted)
        try:
            while True:
                while len(self.under_way) < 2 * self.pool.workers and self._submit(left):
                    pass
                if not self.under_way:
                    return
                done, _ = futures.wait(self.under_way, timeout=0.2, return_when=futures.FIRST_COMPLETED)
                for future in done:
                    self._receive(future)
                self.bar.reach(len(self.job.rows))
        except BaseException:
            self._break_off()
            raise

    def _submit(self, left: _Left) -> bool:
        chunk = left.take(self._runs(left.runs))
        if not chunk:
            return False
        try:
            if self.pool.shared:
                future = self.executor.submit(work, self.job.settings, chunk, self.job._deliver, self._watch)
            else:
                future = self.executor.submit(work, self.job.settings, chunk)
        except futures.BrokenExecutor as error:
            raise self._died(error, chunk) from error
        self.under_way[future] = chunk
        self.processes.update(getattr(self.executor, "_processes", None) or {})
        return True

    def _runs(self, left: int) -> int:
        """How many runs the next task should have."""
        if not (self._cost and self._together):
            return 1
        fair = -(-left // (2 * self.pool.workers))
        return max(1, min(int(_TASK / self._cost), fair))

    def _watch(self, fraction: float) -> None:
        if self.stop.is_set():
            raise Stopped

    def _receive(self, future: Future[Outcome]) -> None:
        chunk = self.under_way[future]
        try:
            outcome = future.result()
        except futures.BrokenExecutor as error:
            raise self._died(error) from error
        except futures.CancelledError as error:
            raise self._lost(chunk, error) from error
        except Exception as error:
            raise self._lost(chunk, error) from error
        del self.under_way[future]
        for row in outcome.rows:
            self.job._deliver(row)
        if outcome.failure is not None:
            raise self.job._failed(outcome.failure) from outcome.failure.error
        if outcome.runs:
            self._cost = outcome.seconds / outcome.runs

    def _died(self, error: Exception, chunk: Sequence[Task] = ()) -> SweepError:
        """A worker is gone, and its pool with it."""
        self._collect()
        died = [
            f"{pid} ({_ending(process.exitcode)})"
            for pid, process in self.processes.items()
            if process.exitcode not in (None, 0, -15)
        ]
        who = f"worker process {' and '.join(died)} died" if died else f"a worker died ({error})"
        chunks = [*self.under_way.values(), *([chunk] if chunk else [])]
        points = sorted({task.point for each in chunks for task in each})
        return self.job.grief(f"{who}; under way or next were {self._spoken(points)}", points)

    def _lost(self, chunk: Sequence[Task], error: Exception) -> SweepError:
        points = sorted({task.point for task in chunk})
        self._collect()
        return self.job.grief(f"a worker failed ({type(error).__name__}: {error}) at {self._spoken(points)}", points)

    def _spoken(self, points: list[int]) -> str:
        shown = "; ".join(self.job.grid.spoken(point) for point in points[:10])
        return f"the points {shown}" + (f" and {len(points) - 10} more" if len(points) > 10 else "")

    def _break_off(self) -> None:
        """Nothing new is begun; what threads are at ends at once, what others have finished is kept."""
        self.stop.set()
        for future in self.under_way:
            future.cancel()
        if self.pool.shared:
            futures.wait(self.under_way)
        self._collect()

    def _collect(self) -> None:
        """Keep the rows of tasks that are done though nobody has asked yet."""
        for future in list(self.under_way):
            if future.done() and not future.cancelled() and future.exception() is None:
                del self.under_way[future]
                for row in future.result().rows:
                    self.job._deliver(row)


def _ending(code: int) -> str:
    if code >= 0:
        return f"exit code {code}"
    import signal

    try:
        return f"killed by {signal.Signals(-code).name}"
    except ValueError:
        return f"killed by signal {-code}"


class _Left:
    """Tasks yet to be handed out, cut to measure."""

    def __init__(self, tasks: Iterator[Task], wanted: Sequence[int]) -> None:
        self._tasks = tasks
        self._rest: Task | None = None
        self.runs = sum(wanted)
        """About so many runs are left."""

    def take(self, runs: int) -> list[Task]:
        """Tasks of so many runs together; fewer at the end."""
        chunk = []
        while runs > 0:
            task = self._rest or next(self._tasks, None)
            if task is None:
                break
            now, later = task.replications[:runs], task.replications[runs:]
            self._rest = task._replace(replications=later) if later else None
            chunk.append(task._replace(replications=now) if later else task)
            runs -= len(now)
            self.runs -= len(now)
        return chunk


# -- the table ---------------------------------------------------------------------------------------------------------


class _Variable(NamedTuple):
    """What a variable of the table is."""

    dims: tuple[str, ...]
    """After the axes and ``replication``."""
    unit: str
    meaning: str
    source: str = ""


_FLOW, _FLOW_QUANTILE, _PORT, _CLASS = ("flow",), ("flow", "quantile"), ("port",), ("port", "class")

_VARIABLES: dict[str, _Variable] = {
    "delay_min": _Variable(_FLOW, "s", "least one-way delay", "RFC 7679"),
    "delay_mean": _Variable(_FLOW, "s", "mean one-way delay", "RFC 7679"),
    "delay_max": _Variable(_FLOW, "s", "greatest one-way delay", "RFC 7679"),
    "ipdv_mean_abs": _Variable(_FLOW, "s", "mean absolute delay variation"),
    "jitter": _Variable(_FLOW, "s", "interarrival jitter at the end", "RFC 3550"),
    "delay_quantile": _Variable(_FLOW_QUANTILE, "s", "quantiles of the one-way delay", "RFC 7679"),
    "ipdv_quantile": _Variable(_FLOW_QUANTILE, "s", "quantiles of the delay variation, signed", "RFC 3393"),
    "pdv_quantile": _Variable(_FLOW_QUANTILE, "s", "quantiles of the delay above its least", "RFC 5481"),
    "sent": _Variable(_FLOW, "packets", "packets sent"),
    "received": _Variable(_FLOW, "packets", "packets received"),
    "throughput": _Variable(_FLOW, "bit/s", "IP datagrams received"),
    "loss_ratio": _Variable(_FLOW, "1", "share of packets lost", "RFC 7680"),
    "loss_ratio_queue": _Variable(_FLOW, "1", "share of packets dropped by queues"),
    "loss_ratio_policer": _Variable(_FLOW, "1", "share of packets dropped by policers"),
    "utilisation": _Variable(_PORT, "1", "share of time the wire was busy"),
    "mean_ring": _Variable(_PORT, "particles", "particles in use in the transmit ring, mean over time"),
    "largest_ring": _Variable(_PORT, "particles", "most particles in use in the transmit ring"),
    "mean_queue": _Variable(_CLASS, "packets", "packets in the class queue, mean over time"),
    "largest_queue": _Variable(_CLASS, "packets", "most packets in the class queue"),
}
_TAKEN = frozenset({*_VARIABLES, "replication", "flow", "quantile", "port", "class", "warmup", "target_reached"})
"""Names that no axis can have."""


def _columns(layout: Layout, variable: str, levels: int) -> NDArray[np.intp]:
    """Where a variable stands in a row: an array whose shape is that of the layout's flows, or ports, ...

    For a variable by class one line of (port, class), in order of declaration.
    """
    flows = len(layout.flows)
    digest = len(DIGEST) + len(BY_QUANTILE) * levels
    if variable in DIGEST:
        return 1 + DIGEST.index(variable) + digest * np.arange(flows)
    if variable in BY_QUANTILE:
        first = 1 + len(DIGEST) + BY_QUANTILE.index(variable) * levels
        return (first + digest * np.arange(flows)[:, None] + np.arange(levels)[None, :]).reshape(-1)
    counts = 1 + flows * digest
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
        """For each column of `_columns` its place in the flattened dims of the table."""
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


def _table(job: _Job) -> xr.Dataset:
    import xarray as xr

    shape, levels = job.grid.shape, len(job.levels)
    replications = max(job.wanted)
    rows = [(key, *job.rows[key]) for key in sorted(job.rows) if key[1] < job.wanted[key[0]]]
    groups: dict[Layout, list[tuple[int, bytes]]] = {}
    for (point, replication), layout, numbers in rows:
        groups.setdefault(layout, []).append((point * replications + replication, numbers))
    names = _Names.of(groups)
    sizes = {"flow": len(names.flow), "quantile": levels, "port": len(names.port), "class": len(names.cls)}
    runs = job.grid.size * replications

    values = {
        name: np.full((runs, math.prod(sizes[dim] for dim in each.dims)), np.nan) for name, each in _VARIABLES.items()
    }
    warmups = np.full(runs, np.nan)
    for layout, found in groups.items():
        where = np.array([run for run, _ in found], dtype=np.intp)
        block = np.frombuffer(b"".join(row for _, row in found)).reshape(len(found), width(layout, levels))
        warmups[where] = block[:, 0]
        for name, each in _VARIABLES.items():
            places = names.places(layout, each.dims, levels)
            values[name][where[:, None], places[None, :]] = block[:, _columns(layout, name, levels)]

    outer = (*(axis.name for axis in job.grid.axes), "replication")
    data: dict[str, Any] = {
        name: (
            (*outer, *each.dims),
            values[name].reshape(*shape, replications, *(sizes[dim] for dim in each.dims)),
            {"units": each.unit, "long_name": each.meaning} | ({"references": each.source} if each.source else {}),
        )
        for name, each in _VARIABLES.items()
    }
    if job.settings.warmup is None:
        about = {"units": "s", "long_name": "warm-up found by MSER-5"}
        data["warmup"] = (outer, warmups.reshape(*shape, replications), about)
    if job.met:
        data["target_reached"] = (outer[:-1], np.array(job.met, dtype=np.bool_).reshape(shape))
    coordinates: dict[str, Any] = {
        each.name: (axis.name, each.labels) for axis in job.grid.axes for each in axis.parameters
    }
    coordinates["replication"] = np.arange(replications)
    coordinates["flow"] = np.array(list(names.flow), dtype=np.str_)
    coordinates["quantile"] = np.array(job.levels, dtype=np.float64)
    coordinates["port"] = np.array(list(names.port), dtype=np.str_)
    coordinates["class"] = np.array(list(names.cls), dtype=np.str_)
    return xr.Dataset(data, coordinates, _attributes(job))


def _attributes(job: _Job) -> dict[str, str | int | float]:
    """How the table was made: strings and numbers that any file format takes."""
    settings, rule = job.settings, job.rule
    seed = plain_seed(job.seed)
    attributes: dict[str, str | int | float] = {
        "build": _name_of(settings.build),
        "parameters": json.dumps(job.grid.plain(), ensure_ascii=False),
        "replications": "auto" if rule.goals else rule.least,
        "duration": settings.duration / units.PICO,
        "warmup": "mser5" if settings.warmup is None else settings.warmup / units.PICO,
        "seed": seed if isinstance(seed, int) and seed < 2**31 else seed if isinstance(seed, str) else json.dumps(seed),
        "record": settings.record,
        "drain": int(settings.drain),
        "bit_generator": settings.bit_generator,
        **VERSIONS,
        "complete": int(job.complete),
    }
    if rule.goals:
        attributes |= {"target": rule.target, "level": rule.level, "least": rule.least, "most": rule.most}
        attributes["target_reached"] = int(bool(job.met) and all(job.met))
    return attributes
