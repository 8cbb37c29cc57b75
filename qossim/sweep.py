# SPDX-License-Identifier: MIT
"""A parameter sweep: a function that builds scenarios and named axes in, a labelled table of every run out.

The table does not depend on who did the work: replication r of every point draws from the r-th child of the seed, so
that points see the same random numbers and differences between them are theirs alone.
"""

from __future__ import annotations

import errno
import itertools
import json
import math
import os
import threading
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent import futures
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeAlias

import numpy as np

from qossim import units
from qossim._axes import MOST_RUNS, Grid, defaults_of, name_of, zipped
from qossim._dataset import TAKEN, VARIABLES, columns, dataset, imported, things
from qossim._interrupt import Interrupt
from qossim._journal import Journal
from qossim._measured import VERSIONS, plain_seed, seed_from_plain
from qossim._points import (
    Failure,
    Layout,
    Row,
    Settings,
    Stopped,
    Task,
    built,
    fingerprint,
    layout_of,
    own,
    settled,
    told,
    work,
)
from qossim._workers import Bar, Pool, count, hand_out
from qossim.errors import SweepError
from qossim.run import _duration, _generator, _root, _warmup
from qossim.scenario.net import Scenario
from qossim.statistics import _ratio, confidence, target_reached

if TYPE_CHECKING:
    import datetime as dt
    from concurrent.futures import Executor

    import xarray as xr
    from numpy.random import SeedSequence
    from numpy.typing import NDArray

    from qossim.run import Progress, Seed

__all__ = ["SweepError", "sweep", "zipped"]

PathLike: TypeAlias = "str | os.PathLike[str]"


def sweep(
    build: Callable[..., Scenario],
    axes: Mapping[str, Any] | zipped,
    replications: int | Literal["auto"] = 1,
    *,
    duration: float | str | dt.timedelta | np.timedelta64,
    warmup: float | str | dt.timedelta | np.timedelta64 = 0.0,
    seed: Seed | str = None,
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
        Numbers, strings and booleans label themselves, as strings where an axis has several kinds of value. Anything
        else is labelled by its name (``name``, ``__name__``, else its ``repr``); a dict ``{label: value}`` says other
        labels. `build` is given copies (`copy.deepcopy`) of what can be copied.
    replications : int or "auto"
        Runs of each point, at least 1. With "auto" each point is run until `target` is reached.
    duration, warmup : float or str
        Of each run, seconds, as for `qossim.run`. With ``warmup="mser5"`` each run is made twice: the first tells the
        instant from which on the delays of all its flows have settled (`qossim.mser5`), which is the warm-up of the
        second and stands in the table as ``warmup``. Where it could not tell of a flow, because half of a run was not
        enough or fewer than ten of its packets arrived, ``settled`` is 0 and there is a warning. A flow of which none
        arrived is not looked at.
    seed : int, numpy.random.SeedSequence or str, optional
        Replication r of every point draws from ``SeedSequence(seed, spawn_key=(r,))``. Without it one is drawn;
        ``table.attrs["seed"]`` tells which, and may be given here: a number, or a string for a long one or a sequence.
    record : {"packets", "summary"}
        Exact statistics of every packet; or those in constant memory, with quantiles and the mean of absolute ipdv to
        1 % (pdv to 1 % of the delay), and without jitter.
    quantiles : sequence of float
        Levels, ascending, from 0 to 1.
    target : dict, optional
        For ``replications="auto"``: half-widths by variable, that the interval of its mean over replications may have
        for every flow (and quantile, or port and class). A number in the variable's unit, a string as ``"0.1 ms"``, or
        ``"2 %"`` of the mean. It is not reached where there is no value: a flow of which nothing arrives has no delay.
    level : float
        Confidence of those intervals.
    least, most : int
        Fewest replications of a point with ``replications="auto"``, at least 2, and most.
    executor : concurrent.futures.Executor, optional
        Where to run: threads, processes, or a cluster (``dask.distributed``'s ``client.get_executor()``). It is left
        open. For processes `build` and the values must be importable. By default threads of this process.
    workers : int, optional
        Number of threads, by default as many as there are processors, at most 1000; with an `executor`, how many
        workers it has.
    progress : bool or callable, optional
        As for `qossim.run`: a bar with the remaining time, by default if a person is watching.
    save : path, optional
        A new file, or an empty one, to which every run is appended as soon as it is finished. Whatever becomes of this
        process, what it says stays; only a power cut may take the last seconds. It is locked against other processes,
        until this one opens it a second time, to look at it, and closes it.
    resume : path, optional
        A file that `save` wrote for the same sweep, perhaps with fewer replications: what is in it is not run again,
        what is not is run and appended. If it has everything it is only read. Every point in it is built again, to see
        that it is still the same scenario. The same path as `save`: go on if it is there, else begin.
    drain, bit_generator
        As for `qossim.run`.

    Returns
    -------
    xarray.Dataset
        Dimensions: the axes, ``replication``, and ``flow``, ``quantile``, ``port`` or ``class``; float64, in SI units.
        By flow: ``delay_min``, ``delay_mean``, ``delay_max``, ``delay_quantile`` (one-way delay, RFC 7679),
        ``ipdv_quantile`` (RFC 3393, signed), ``ipdv_mean_abs``, ``pdv_quantile`` (RFC 5481), ``jitter`` (RFC 3550, at
        the end), ``loss_ratio``, ``loss_ratio_queue``, ``loss_ratio_policer``, ``sent``, ``received``, ``throughput``
        (of what was received before `duration`).
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
        Or the file takes no more, for want of room perhaps: what was finished before is in it, and all in the table.
        An exception of `progress` comes as it is, with such a ``table`` if it can have one.
    FileExistsError, FileNotFoundError
        The file to `save` to is there, or that to `resume` is not.
    OSError
        It cannot be read, or be written, or another process is writing to it; nothing has been run.
    KeyboardInterrupt
        On Ctrl-C before the first run, while arguments and file are looked at; there is nothing to return.
    ValueError
        The file to `resume` is of another sweep, of other scenarios at any point that is in it, or damaged.

    Warns
    -----
    UserWarning
        The target was not reached with `most` replications, or the delays of a flow did not settle; the message says
        where. Where warnings are errors, the ``table`` of the warning is what would have been returned.

    Notes
    -----
    Points share random numbers: a difference between two of them has a smaller variance than it would otherwise have,
    and replications of one point are still independent of each other (common random numbers; A. M. Law, *Simulation
    Modeling and Analysis*, 5th ed., McGraw-Hill 2015, section 11.2). Same version, seed and arguments: same bytes,
    whatever the workers.

    Ctrl-C ends a sweep and returns what there is: the whole table, NaN where nothing ran, and ``complete`` 0. All that
    was finished is in it, in threads, processes or a cluster; if nothing was, it knows the flows of what was built in
    this process. What threads are at is broken off, mostly within a tenth of a second; but a scenario is built to its
    end, and so is the digest of a run of millions of packets. Processes have half a second to hand back what they have
    finished, and longer where they are still building a scenario after it, or busy with something else before it, at
    most five seconds in a cluster. Pressed again, it does not wait for any of them. So it is where Ctrl-C is Python's
    own to handle, in the main thread: `asyncio` for one handles it otherwise. A sweep within `build` leaves it to the
    one around it.

    A terminal sends Ctrl-C to the workers of a `ProcessPoolExecutor` and of a `LocalCluster` too; while they work for a
    sweep they leave it to this process to end it, and live on. Those that are just being begun may die of it, and their
    pool with them, where it starts them by *forkserver* or has ``max_tasks_per_child``; the workers of a *spawn* pool
    do not hear it before their first task of a sweep.

    A file of `save` is text, each line an object of JSON. The first says what the sweep is (``sweep``: build, axes and
    labels, seed, duration, versions); then come the runs: ``point``, counted from 0 with the last axis going round
    fastest, ``replication``, a fingerprint of the ``scenario``, and its ``numbers`` in the order of the ``layout``,
    which a line before it spells out by ``flows`` and ``ports``. It is meant for `resume`; to be read, a table is
    better.

    Examples
    --------
    >>> import qossim as qs
    >>> from qossim.experiments import ef_wfq_vs_pq
    >>> table = qs.sweep(ef_wfq_vs_pq, {"tx_ring_limit": [1, 40]}, replications=3, duration=10.0, seed=1)
    >>> interval = qs.confidence(table["delay_mean"].sel(flow="EF"))
    >>> [f"{1e3 * mean:.1f} ms" for mean in interval["mean"].values]
    ['17.7 ms', '76.2 ms']
    """
    if not (progress is None or isinstance(progress, bool) or callable(progress)):
        raise units.refusal("progress", "True, False, None or a function of the share done", progress)
    rule, levels = _rule(replications, target, level, least, most), _levels(quantiles)
    grid = Grid(axes, TAKEN)
    if grid.size * rule.least > MOST_RUNS:
        raise units.refusal("axes", f"of at most {MOST_RUNS} runs, points times replications", grid.size * rule.least)
    settings = _settings(build, record, duration, warmup, drain, bit_generator, levels)
    defaults_of(build, [each.name for axis in grid.axes for each in axis.parameters])
    grid.keep(own)
    if settings.record == "summary" and any(goal.variable == "jitter" for goal in rule.goals):
        raise units.refusal("record", '"packets" with a target for jitter, which "summary" leaves out', record)
    new, old = _files(save, resume)
    told = Journal.sweep_of(old) if old is not None else None
    if seed is None and told is not None:
        seed = seed_from_plain(told["seed"])
    root, shown = _root(_seed_told(seed) if isinstance(seed, str) else seed)
    settings = settings._replace(root=root, written=new is not None or old is not None)
    pool = Pool(executor, workers)
    pool.check(build, grid)
    imported()
    with Interrupt() as interrupt:
        job = _Job(settings, grid, rule, shown, levels, interrupt)
        if settings.written:
            job.open(new, old, told)
        try:
            with Bar(progress, grid.size * rule.least, job.done, interrupt) as bar:
                job.run(pool, bar)
                if job.complete:
                    bar.end()
        except SweepError:
            raise
        except Exception as error:  # of `progress`
            job.entrust(error)
            raise
        finally:
            job.close()
        job.check()
        table = job.table()
        if job.complete:
            job.warn(table)
        return table


# -- arguments ---------------------------------------------------------------------------------------------------------


def _settings(
    build: Callable[..., Scenario],
    record: str,
    duration: Any,
    warmup: Any,
    drain: bool,
    bit_generator: str,
    levels: tuple[float, ...],
) -> Settings:
    """What all runs have in common, but for their seed."""
    if not callable(build):
        raise units.refusal("build", "a function that returns a Scenario", build)
    duration_ps = _duration(duration)
    if not isinstance(record, str) or record not in ("packets", "summary"):
        raise units.refusal("record", 'one of "packets", "summary"', record)
    if not isinstance(drain, bool | np.bool_):
        raise units.refusal("drain", "True or False", drain)
    settled = isinstance(warmup, str) and warmup == "mser5"
    if settled and record != "packets":
        raise units.refusal("record", '"packets" with warmup="mser5", which looks at every delay', record)
    _generator(bit_generator)
    return Settings(
        build,
        record,
        duration_ps,
        None if settled else _warmup(warmup, duration_ps, duration),
        bool(drain),
        bit_generator,
        _root(0)[0],
        tuple(_ratio(q) for q in levels),
        written=False,
    )


def _seed_told(text: str) -> int | SeedSequence:
    """A seed as the attributes of a table tell it."""
    try:
        return seed_from_plain(json.loads(text))
    except (ValueError, RecursionError):
        raise units.refusal(
            "seed", 'an int of at least 0, a SeedSequence, attrs["seed"] of a table or None', text
        ) from None


def _files(save: PathLike | None, resume: PathLike | None) -> tuple[Path | None, Path | None]:
    """The file to begin, or that to go on with."""
    new, old = _path(save, "save"), _path(resume, "resume")
    if new is None or old is None:
        if old is not None and not old.exists():
            raise FileNotFoundError(f"resume: there is no file {old}")
        return new, old
    if new.resolve() != old.resolve():
        asked, other = (os.fsdecode(each) for each in (save, resume) if each is not None)
        raise units.refusal("save", f"the file to resume, {other}, or left out", asked)
    return (None, old) if old.exists() else (new, None)


def _path(given: PathLike | None, field: str) -> Path | None:
    if given is None:
        return None
    try:
        name = os.fsdecode(given)
    except TypeError:
        raise units.refusal(field, "the path of a file", given) from None
    path = Path(name).absolute()  # build may go elsewhere
    try:
        if not name or "\0" in name or (path.exists() and not path.is_file()):
            why = "a folder" if name and path.is_dir() else "not a plain file" if name and path.exists() else ""
            raise units.refusal(field, "the path of a file", name, why)
    except OSError as error:  # its name is too long, perhaps
        raise units.refusal(field, "the path of a file", name, error.strerror or "") from None
    return path


def _levels(quantiles: object) -> tuple[float, ...]:
    bounds = "numbers from 0 to 1, ascending"
    if isinstance(quantiles, str | bytes) or not isinstance(quantiles, Iterable) or getattr(quantiles, "ndim", 1) != 1:
        raise units.refusal("quantiles", bounds, quantiles)
    listed = list(quantiles)
    ratios = [_ratio(q) for q in listed]
    if any(not 0 <= numerator <= denominator < 2**63 for numerator, denominator in ratios):
        raise units.refusal("quantiles", bounds, listed)
    if any(a * d >= c * b for (a, b), (c, d) in itertools.pairwise(ratios)):
        raise units.refusal("quantiles", bounds, listed)
    labels = tuple(numerator / denominator for numerator, denominator in ratios)
    if any(a == b for a, b in itertools.pairwise(labels)):
        raise units.refusal("quantiles", bounds, listed, "two are one as floats")
    return labels


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
    if isinstance(level, bool) or not isinstance(level, float | np.floating) or not 0 < level < 1:
        raise units.refusal("level", "a number above 0 and below 1", level)
    fewest = count(least, "least", 2)
    greatest = count(most, "most", fewest)
    if not isinstance(replications, str) or replications != "auto":
        if target is not None:
            raise units.refusal("target", 'given with replications="auto" only', target)
        if isinstance(replications, str):
            raise units.refusal("replications", '"auto" or a whole number of at least 1', replications)
        fixed = count(replications, "replications", 1)
        return _Rule(fixed, fixed)
    if not isinstance(target, Mapping) or not target:
        example = '{"delay_mean": "0.1 ms"}'
        raise units.refusal("target", f'given with replications="auto", as {example}', target)
    goals = tuple(_goal(name, value) for name, value in target.items())
    said = json.dumps(
        {
            name: value if isinstance(value, str) else goal.half_width
            for (name, value), goal in zip(target.items(), goals, strict=True)
        }
    )
    return _Rule(fewest, greatest, goals, float(level), said)


def _goal(name: str, value: Any) -> _Goal:
    if name not in VARIABLES:
        raise units.refusal("target", f"for variables of the table ({', '.join(VARIABLES)})", name)
    field, bounds = f"target: {name}", "above 0, or above 0 % and below 100 %"
    if isinstance(value, str) and value.rstrip().endswith("%"):
        share = units.number(value.rstrip()[:-1].rstrip(), field, bounds) / 100
        if not 0 < share < 1 or float(share) == 0:
            raise units.refusal(field, bounds, value)
        return _Goal(name, float(share), relative=True)
    unit = VARIABLES[name].unit
    if unit == "s":
        exact = units.seconds(value, field, bounds)
    else:
        exact = units.rate(value, field) if unit == "bit/s" else units.number(value, field, bounds)
    if not 0 < exact < 1e300 or float(exact) == 0:
        raise units.refusal(field, bounds, value)
    return _Goal(name, float(exact), relative=False)


# -- the work ----------------------------------------------------------------------------------------------------------


class _Job:
    """A sweep under way."""

    def __init__(
        self,
        settings: Settings,
        grid: Grid,
        rule: _Rule,
        seed: int | SeedSequence,
        levels: tuple[float, ...],
        interrupt: Interrupt,
    ):
        self.name = os.urandom(8).hex()
        """Tells this sweep's tasks from those of others, wherever they are carried."""
        self.settings = settings
        self.grid = grid
        self.rule = rule
        self.seed = seed
        self.levels = levels
        self.interrupt = interrupt
        self.rows: dict[tuple[int, int], tuple[Layout, bytes]] = {}
        """What is finished of what is wanted, by point and replication."""
        self._spare: dict[tuple[int, int], tuple[Layout, bytes]] = {}  # replications that nobody has asked for yet
        self.wanted = [rule.least] * grid.size
        """Replications of each point."""
        self.complete = False
        self.met: list[bool] = []
        self._journal: Journal | None = None
        self._closed = False
        self._noted: dict[Layout, None] = {}  # what was built here, in order
        self._lock = threading.Lock()  # what is in the file is in the table

    @property
    def saves(self) -> bool:
        """Whether each run is written down as soon as it is finished."""
        return self._journal is not None

    @property
    def done(self) -> int:
        """Runs that are finished."""
        return len(self.rows)

    @property
    def broken(self) -> bool:
        """Whether its file takes no more."""
        return self._journal is not None and self._journal.fault is not None

    # its file

    def open(self, save: Path | None, resume: Path | None, told: dict[str, Any] | None) -> None:
        mine = self._told()
        if resume is None:
            assert save is not None
            self._journal = Journal.create(save, mine)
            return
        if told is None:
            self._journal = Journal.create(resume, mine, anew=True)
            return
        for name, value in mine.items():
            if told.get(name) != value:
                raise ValueError(f"resume: {resume} is of another sweep: {_difference(name, told.get(name), value)}")
        self._journal = self.interrupt.open(Journal.read, resume, len(self.levels))
        self._compare(resume, self._journal.rows)
        for row in self._journal.rows:
            self._keep(row)

    def _compare(self, path: Path, rows: list[Row]) -> None:
        """Refuse rows of a scenario that `build` does not make of their point now."""
        marks: dict[int, set[tuple[str, Layout]]] = {}
        for point, _, layout, _, mark in rows:
            marks.setdefault(point, set()).add((mark, layout))
        beyond = max(marks, default=0)
        if beyond >= self.grid.size:
            raise ValueError(f"resume: {path} is damaged: it has a point {beyond}, but there are {self.grid.size}")
        for point, parameters in enumerate(self.grid.all_parameters()):
            if point in marks and marks[point] != {self._fingerprint(point, parameters)}:
                raise ValueError(
                    f"resume: {path} is of another sweep: at the point {self.grid.spoken(point)} the scenario is not "
                    f"what it was there"
                )

    def _told(self) -> dict[str, Any]:
        """What makes it this sweep and no other, as JSON holds it."""
        settings = self.settings
        told = {
            "build": name_of(settings.build),
            "axes": [axis.name for axis in self.grid.axes],  # in the order by which points are numbered
            "parameters": self.grid.plain(),
            "seed": plain_seed(self.seed),
            "duration": settings.duration,
            "warmup": "mser5" if settings.warmup is None else settings.warmup,
            "record": settings.record,
            "variables": list(VARIABLES),
            "quantiles": list(self.levels),
            "drain": settings.drain,
            "bit_generator": settings.bit_generator,
            "qossim": VERSIONS["qossim"],
            "numpy": VERSIONS["numpy"],
            "first scenario": self._fingerprint(0, self.grid.parameters(0))[0],  # a build that fails leaves no file
        }
        plain: dict[str, Any] = json.loads(json.dumps(told))
        return plain

    def _fingerprint(self, point: int, parameters: dict[str, Any]) -> tuple[str, Layout]:
        """What tells the scenario of a point from another, so that a build that has changed is found out."""

        def made() -> tuple[str, Layout]:
            scenario = built(self.settings, parameters)
            layout = layout_of(scenario)
            self.note(layout)
            return fingerprint(scenario), layout

        try:
            return self.interrupt.open(made)
        except KeyboardInterrupt:
            raise
        except BaseException as error:
            raise self.failed(Failure(point, None, error)) from error

    def close(self) -> None:
        """Take nothing more: a thread that nobody waits for any longer may still be at work."""
        with self._lock:
            self._closed = True
            if self._journal is not None:
                self._journal.close()

    def check(self) -> None:
        """Raise if its file could not be written, which is no point's fault."""
        if self._journal is None or self._journal.fault is None:
            return
        path, error = self._journal.path, self._journal.fault
        if error.errno == errno.ESTALE:
            message = (
                f"the file {path} was changed meanwhile by something else, and may be damaged: what was finished is in "
                f"the table of this error"
            )
        elif error.errno == errno.ENOENT:
            message = f"the file {path} was removed meanwhile: what was finished is in the table of this error alone"
        else:
            message = (
                f"the file {path} cannot be written ({error.strerror or error}): {self._journal.count} of {self.done} "
                f'finished runs were written before; when there is room again, go on with resume="{path}"'
            )
        raise SweepError(message, table=self.table()) from error

    # its runs

    def _keep(self, row: Row) -> None:
        point, replication, layout, numbers, _ = row
        where = self.rows if replication < self.wanted[point] else self._spare
        where[point, replication] = layout, numbers

    def deliver(self, row: Row) -> None:
        """Take a finished run, for once; any worker of this process may call it.

        Raises
        ------
        Stopped
            The sweep has ended without it.
        """
        with self._lock:
            if self._closed:
                raise Stopped
            if row[:2] in self.rows:
                return
            try:
                if self._journal is not None:
                    self._journal.write(row)
            except OSError:
                pass  # the journal keeps it, and `check` raises
            finally:
                self._keep(row)

    def note(self, layout: Layout) -> None:
        """Take the names in a scenario that was built, for a table without a finished run; any thread may call it."""
        self._noted[layout] = None

    def run(self, pool: Pool, bar: Bar) -> None:
        """All runs; returns early, with `complete` False, if Ctrl-C comes before the last is finished."""
        while True:
            interrupted = False
            try:
                self._round(pool, bar)
            except KeyboardInterrupt:
                if self.interrupt.nested:  # what built a scenario by this sweep must not take a part for the whole
                    raise
                if self.done < sum(self.wanted):
                    return
                interrupted = True
            if not self._further():
                break
            if interrupted:
                return
            bar.expect(sum(self.wanted))
        self.complete = True

    def _round(self, pool: Pool, bar: Bar) -> None:
        self.interrupt.check()
        if self._journal is not None and len(self.rows) < sum(self.wanted):
            self._journal.ready()
        tasks = self._tasks()
        if pool.executor is None and pool.workers == 1:
            self._alone(tasks, bar)
        elif pool.executor is None:
            threads = futures.ThreadPoolExecutor(pool.workers, thread_name_prefix="qossim")
            try:
                hand_out(tasks, self, pool, threads, bar)
            finally:
                threads.shutdown(wait=False, cancel_futures=True)
        else:
            hand_out(tasks, self, pool, pool.executor, bar)

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

    def _alone(self, tasks: Iterator[Task], bar: Bar) -> None:
        trouble: list[BaseException] = []

        def deliver(row: Row) -> None:
            self.interrupt.shut(self.deliver, row)
            self.interrupt.check()  # `build` may have caught what was raised there
            try:
                bar.reach(self.done)
            except KeyboardInterrupt:
                raise
            except BaseException as error:  # no fault of the point
                trouble.append(error)
                raise Stopped from error
            if self.broken:
                raise Stopped

        outcome = self.interrupt.open(work, self.settings, tasks, deliver, None, self.note)
        self.check()
        if trouble:
            raise trouble[0]
        if outcome.failure is not None:
            raise self.failed(outcome.failure) from outcome.failure.error

    def failed(self, failure: Failure) -> SweepError:
        error = failure.error
        replication = "" if failure.replication is None else f", replication {failure.replication}"
        where = self.grid.spoken_all([failure.point])
        return self.grief(f"{where}{replication} failed: {told(error)}", [failure.point])

    def grief(self, message: str, points: list[int]) -> SweepError:
        """The exception for something that cannot be mended here."""
        if self._journal is not None and not self._journal.there:
            message += f"; the file {self._journal.path} was removed meanwhile"
        elif self._journal is not None:
            message += f'; what was finished is in {self._journal.path}: go on with resume="{self._journal.path}"'
        parameters = [self.grid.parameters(point) for point in points]
        return SweepError(message, parameters, self.table() if self.rows else None)

    def entrust(self, error: Exception) -> None:
        """Have an exception that is no fault of the sweep bear what was finished."""
        if not self.rows:
            return
        table = self.table()
        try:
            error.table = table  # type: ignore[attr-defined]
        except AttributeError:  # it takes none
            return
        error.add_note("what was finished of the sweep is in the table of this error")

    # replications until a target is reached

    def _further(self) -> bool:
        """Wants more replications of the points that need them; False if none does, or may."""
        if not self.rule.goals:
            return False
        needed = [self._needed(point, have) for point, have in enumerate(self.wanted)]
        self.met = [need <= have for need, have in zip(needed, self.wanted, strict=True)]
        wanted = [max(have, min(need, self.rule.most)) for need, have in zip(needed, self.wanted, strict=True)]
        if wanted == self.wanted:
            return False
        self.wanted = wanted
        spare, self._spare = self._spare, {}
        for (point, replication), (layout, numbers) in spare.items():
            self._keep((point, replication, layout, numbers, ""))
        return True

    def _needed(self, point: int, have: int) -> int:
        """Replications after which the target should be reached; `have` if it is."""
        layout = self.rows[point, 0][0]
        table = self._numbers(point, have)
        need = have
        for goal in self.rule.goals:
            means = table[:, columns(layout, goal.variable, len(self.levels))]
            if "flow" not in VARIABLES[goal.variable].dims:  # a port without a ring has no value, and need not
                means = means[:, ~np.isnan(means).all(axis=0)]
            if self._narrow(means, goal):
                continue
            need = max(need, have + max(1, min(have, math.ceil(have * (_excess(means, goal, self.rule.level) - 1)))))
        return need

    def warn(self, table: xr.Dataset) -> None:
        """Tell of what is complete and yet not as it was wanted; where warnings are errors, they bear the table."""
        try:
            missed = [point for point, met in enumerate(self.met) if not met]
            if missed:
                warnings.warn(
                    f"the target {self.rule.target} was not reached with {self.rule.most} replications at "
                    f"{self._some(missed)}{self._widest(missed[0])}",
                    stacklevel=3,
                )
            looked_at = self.rows if self.settings.warmup is None else {}
            unsettled = sorted({key[0] for key, (_, numbers) in looked_at.items() if not settled(numbers)})
            if unsettled:
                warnings.warn(
                    f"MSER-5 did not see the delays of every flow settle at {self._some(unsettled)}; make the duration "
                    f"longer, or do without flows whose queue grows forever or that have fewer than ten packets",
                    stacklevel=3,
                )
        except Warning as warning:
            warning.table = table  # type: ignore[attr-defined]
            raise

    def _widest(self, point: int) -> str:
        """Of a point that misses the target, by what it does."""
        have = self.wanted[point]
        layout, table = self.rows[point, 0][0], self._numbers(point, have)
        for goal in self.rule.goals:
            names = things(layout, goal.variable, self.levels)
            for name, place in zip(names, columns(layout, goal.variable, len(self.levels)), strict=True):
                means = table[:, place]
                if "flow" not in VARIABLES[goal.variable].dims and np.isnan(means).all():
                    continue
                if not self._narrow(means, goal):
                    mean, half, _, count = confidence(means, level=self.rule.level)
                    unit = VARIABLES[goal.variable].unit.replace("1", "")
                    value = f"{mean:.4g} +- {half:.2g} {unit}".rstrip() if count > 1 else "not there"
                    return f"; at the first, {goal.variable} of {name} is {value}"
        return ""

    def _numbers(self, point: int, have: int) -> NDArray[np.float64]:
        """The rows of a point, one for each replication."""
        return np.frombuffer(b"".join(self.rows[point, r][1] for r in range(have))).reshape(have, -1)

    def _narrow(self, means: NDArray[np.float64], goal: _Goal) -> bool:
        """Whether the intervals of all columns are as narrow as wanted."""
        rule = self.rule
        return target_reached(means, goal.half_width, relative=goal.relative, level=rule.level, least=rule.least)

    def _some(self, points: list[int]) -> str:
        where = "; ".join(self.grid.spoken(point) for point in points[:5]) + ("; ..." if len(points) > 5 else "")
        return f"{len(points)} of {self.grid.size} points: {where}"

    # what comes of it

    def table(self) -> xr.Dataset:
        rows = ((*key, *self.rows[key]) for key in sorted(self.rows))
        found = dataset(
            rows,
            self.grid,
            max(self.wanted),
            self.levels,
            () if self.rows else tuple(self._noted),
            warmup=self.settings.warmup is None,
            attributes=_attributes(self),
        )
        if self.met:
            names = tuple(axis.name for axis in self.grid.axes)
            found["target_reached"] = (names, np.array(self.met, dtype=np.bool_).reshape(self.grid.shape))
        return found


def _difference(name: str, there: Any, here: Any) -> str:
    """What is not the same in a setting of a sweep's file and of this one, as narrowly as need be."""
    while isinstance(there, dict) and isinstance(here, dict) and there.keys() == here.keys():
        key = next(key for key in here if there[key] != here[key])
        name, there, here = f"{name}[{json.dumps(key)}]", there[key], here[key]
    shown = [_shown(name, each) for each in (there, here)]
    if shown[0][:90] == shown[1][:90]:  # both are too long
        if isinstance(there, list) and isinstance(here, list):
            pairs = enumerate(zip(there, here, strict=False))
            index = next((index for index, (one, other) in pairs if one != other), None)
            if index is None:
                return f"{name} is of {len(there)} values there and of {len(here)} here"
            return _difference(f"{name}[{index}]", there[index], here[index])
        texts = [each if isinstance(each, str) else repr(each) for each in (there, here)]
        alike = next(
            i for i, (one, other) in enumerate(zip(*(f"{each}\n" for each in texts), strict=False)) if one != other
        )
        shown = [f"...{each[alike : alike + 60]}{'...' if len(each) > alike + 60 else ''}" for each in texts]
        name += f", from its character {alike + 1} on,"
    return f"{name} is {shown[0]} there and {shown[1]} here"


def _shown(name: str, value: Any) -> str:
    """A setting of a sweep's file, for a message: times are whole picoseconds there."""
    if name in ("duration", "warmup") and type(value) is int:
        return units.text(Fraction(value, units.PICO), "s")
    return units.shown(value)


def _excess(means: NDArray[np.float64], goal: _Goal, level: float) -> float:
    """How many times as many replications the widest interval asks for, at a guess: it shrinks as their root grows."""
    most = 1.0 if means.size else 1e6
    for column in means.T:
        mean, reached, _, _ = confidence(column, level=level)
        wanted = goal.half_width / (1 + goal.half_width) * abs(mean) if goal.relative else goal.half_width
        if not reached <= wanted:  # NaN of a column without values
            most = max(most, min(reached / wanted, 1e3) ** 2 if wanted > 0 < reached else 1e6)
    return most


def _attributes(job: _Job) -> dict[str, str | int | float]:
    """How the table was made: strings and numbers that any file format takes."""
    settings, rule = job.settings, job.rule
    seed = plain_seed(job.seed)
    attributes: dict[str, str | int | float] = {
        "build": name_of(settings.build),
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
