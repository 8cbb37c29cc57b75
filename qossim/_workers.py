# SPDX-License-Identifier: MIT
"""Who does the work of a sweep: an executor of any kind, tasks handed to it a few at a time, and the bar beside it."""

from __future__ import annotations

import contextlib
import importlib
import io
import os
import pickle
import sys
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent import futures
from types import FunctionType
from typing import TYPE_CHECKING, Any, Protocol, Self

from qossim import units
from qossim._axes import Grid, name_of
from qossim._elsewhere import carry
from qossim._points import Failure, Layout, Outcome, Row, Settings, Stopped, Task, work
from qossim.errors import ScenarioError, SweepError
from qossim.run import _watched

if TYPE_CHECKING:
    from concurrent.futures import Executor, Future

    from qossim._interrupt import Interrupt
    from qossim.run import Progress

__all__ = ["Bar", "Pool", "count", "hand_out"]

_TASK = 0.05
"""Seconds that a task should take: long against handing it over, short against a person's patience."""

_MOMENT = 0.5
"""Seconds in which a run that was finished in another process should have arrived here."""

_PATIENCE = 5.0
"""Seconds in which a worker of a cluster that is still there should have built a scenario, of a task of several."""

_MOST_THREADS = 1000
"""More than any computer has processors; systems refuse some tens of thousands."""

_SILENCE = 2.0
"""Seconds after which a pool of which a process died should have said so."""

_LOOK = 0.1
"""Seconds after which to look at once whether Ctrl-C has been pressed."""


class Job(Protocol):
    """What is to be done, as far as the work is concerned."""

    name: str
    settings: Settings
    grid: Grid
    wanted: list[int]
    interrupt: Interrupt

    @property
    def saves(self) -> bool:
        """Whether each run is written down as soon as it is finished."""

    @property
    def done(self) -> int:
        """Runs that are finished."""

    @property
    def broken(self) -> bool:
        """Whether its file takes no more."""

    def check(self) -> None:
        """Raise if it does not."""

    def deliver(self, row: Row) -> None:
        """Take a finished run; any thread may call it."""

    def note(self, layout: Layout) -> None:
        """Take the names in a scenario that is about to be run; any thread may call it."""

    def failed(self, failure: Failure) -> SweepError:
        """The exception for a point that failed."""

    def grief(self, message: str, points: list[int]) -> SweepError:
        """The exception for something else."""


class Pool:
    """The executor, and how to deal with it."""

    def __init__(self, executor: Executor | None, workers: int | None) -> None:
        if isinstance(executor, type):
            raise TypeError(
                f"executor must be an executor, got the class {executor.__name__}: {executor.__name__}(...)"
            )
        if executor is not None and not (hasattr(executor, "submit") and hasattr(executor, "shutdown")):
            raise units.refusal("executor", "an executor of concurrent.futures, or None", executor)
        bounds = (1, _MOST_THREADS) if executor is None else (1,)
        given = None if workers is None else count(workers, "workers", *bounds)
        self.executor = executor
        self.workers = given or _workers_of(executor)
        self.shared = executor is None or (
            isinstance(executor, futures.ThreadPoolExecutor) and type(executor).__name__ != "InterpreterPoolExecutor"
        )
        """Whether the workers are threads of this process."""
        self.local = self.shared or isinstance(executor, futures.ProcessPoolExecutor)
        """Whether it is told when one of them dies."""
        context = getattr(executor, "_mp_context", None)
        self.begins_workers = (
            isinstance(executor, futures.ProcessPoolExecutor)
            and context is not None
            and context.get_start_method() == "spawn"
            and getattr(executor, "_max_tasks_per_child", None) is None
        )
        """Whether all processes that it begins are workers of its own, and begun when it is first given work."""

    def check(self, build: object, grid: Grid) -> None:
        """Refuse what other processes cannot be sent, before anything runs."""
        if isinstance(self.executor, futures.ProcessPoolExecutor):
            what, instead = "what another process can import", "write it with def at the top of a module"
        elif type(self.executor).__module__.startswith("distributed."):
            what, instead = "what can be sent to another process", "let it make there what cannot be sent"
        else:
            return
        why = self._held_back(build)
        if why:
            raise ScenarioError(
                f"build must be {what}, got {name_of(build)} ({why}): {instead}, or leave executor out: threads can "
                f"run anything"
            )
        for axis in grid.axes:
            for parameter in axis.parameters:
                why = self._held_back(parameter.values)
                if why:
                    raise ScenarioError(
                        f"axis {axis.name}: the values of {parameter.name} cannot be sent to another process ({why})"
                    )

    def _held_back(self, thing: object) -> str:
        """Why something cannot be sent to the workers; nothing if it can."""
        try:
            if isinstance(self.executor, futures.ProcessPoolExecutor):
                at_the_prompt = _pickled(thing)
            else:
                importlib.import_module("cloudpickle").dumps(thing)  # as Dask does it
                return ""
        except Exception as error:
            return str(error) or type(error).__name__
        context = getattr(self.executor, "_mp_context", None)
        forked = context is not None and context.get_start_method() == "fork"
        program = getattr(sys.modules.get("__main__"), "__file__", None)
        if at_the_prompt and not forked and not (program and os.path.isfile(program)):  # it may be "<stdin>"
            return f"{' and '.join(at_the_prompt)} was written at the prompt"
        return ""


def _pickled(thing: object) -> list[str]:
    """Functions and classes of the main program that something needs, which is all that pickle takes of them.

    They may be anywhere in it: in a partial, in what a method is bound to, among the values.
    """
    names: dict[str, None] = {}

    class Pickler(pickle.Pickler):
        def reducer_override(self, each: Any) -> Any:
            if isinstance(each, type | FunctionType) and each.__module__ == "__main__":
                names[f"__main__.{each.__qualname__}"] = None
            return NotImplemented

    Pickler(io.BytesIO()).dump(thing)
    return list(names)


def count(value: object, field: str, minimum: int, maximum: int = 2**31 - 1) -> int:
    """A whole number that is neither a string nor a bool."""
    if isinstance(value, bool | str) or value is None:
        raise units.refusal(field, f"a whole number of at least {minimum}", value)
    return units.count(value, field, minimum, maximum)


def _workers_of(executor: Any) -> int:
    if executor is not None:
        known = getattr(executor, "_max_workers", None)
        if isinstance(known, int) and known > 0:
            return known
        client = getattr(executor, "_client", None)
        if client is not None and hasattr(client, "nthreads"):
            with contextlib.suppress(Exception):  # closed: it will say so when it is given work
                return max(1, int(sum(client.nthreads().values())))
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


class Bar:
    """How many runs are done: a bar, a function to be told, or nothing."""

    def __init__(self, progress: Progress, total: int, done: int, interrupt: Interrupt) -> None:
        self._told = progress if callable(progress) else None
        self._interrupt = interrupt
        self._bar: Any = None
        self._done, self._total = done, total
        self._silent = True
        if progress is True or (progress is None and _watched()):
            try:
                from tqdm.auto import tqdm
            except ImportError:
                if progress is True:
                    raise
                return
            delay = 0 if progress is True else 0.5
            self._bar = tqdm(total=total, initial=done, desc="qossim", unit="run", leave=False, delay=delay)

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
        self._silent = False
        if self._bar is not None:
            self._bar.update(done - self._done)
        self._done = done
        if self._told is not None:
            self._interrupt.open(self._told, done / self._total)

    def end(self) -> None:
        """All is done; it may have been so from the beginning."""
        if self._silent and self._told is not None:
            self._told(1.0)


def hand_out(tasks: Iterator[Task], job: Job, pool: Pool, executor: Executor, bar: Bar) -> None:
    """Have an executor do the tasks; what comes back is delivered to the job.

    Raises
    ------
    SweepError
        A point failed, or a worker died.
    KeyboardInterrupt
        On Ctrl-C, after what was finished has been delivered.
    """
    _Round(job, pool, executor, bar).run(tasks)


class _Round:
    """Tasks handed to an executor, a few more at a time than it has workers."""

    def __init__(self, job: Job, pool: Pool, executor: Executor, bar: Bar) -> None:
        self.job = job
        self.pool = pool
        self.executor = executor
        self.bar = bar
        self.under_way: dict[Future[Outcome], list[Task]] = {}
        self.stopped = False
        self.processes: dict[int, Any] = {}
        self._cost = 0.0  # seconds of a run
        self._together = pool.shared or not job.saves  # else each run is handed back as soon as it is finished
        self._heard = time.monotonic()
        """When something last came back."""
        self._left = _Left()

    def run(self, tasks: Iterator[Task]) -> None:
        self._left = _Left(tasks, self.job.wanted)
        try:
            while True:
                while len(self.under_way) < 2 * self.pool.workers and self._submit():
                    pass
                if not self.under_way:
                    return
                done, _ = futures.wait(self.under_way, timeout=_LOOK, return_when=futures.FIRST_COMPLETED)
                self._release(bool(done))
                for future in done:
                    self._receive(future)
                if self.job.broken:
                    self._break_off()
                    self.job.check()
                self.bar.reach(self.job.done)
                self.job.interrupt.check()
        except BaseException:
            if not self.stopped:
                self._break_off()
            raise

    def _submit(self) -> bool:
        chunk = self._left.take(self._runs(self._left.runs))
        if not chunk:
            return False
        try:
            future = self._handed(chunk)
        except futures.BrokenExecutor as error:
            raise self._died(error, chunk) from error
        except RuntimeError as error:
            why = "it was shut down" if "shutdown" in str(error) else "it has no more threads or processes"
            raise self._refused(chunk, f"the executor takes no work: {why} ({error})") from error
        except Exception as error:
            raise self._refused(chunk, f"the executor takes no work ({type(error).__name__}: {error})") from error
        self.under_way[future] = chunk
        self._look_at_processes()
        return True

    def _runs(self, left: int) -> int:
        """How many runs the next task should have."""
        if not (self._cost and self._together):
            return 1
        fair = -(-left // (2 * self.pool.workers))
        return max(1, min(int(_TASK / self._cost), fair))

    def _handed(self, chunk: list[Task]) -> Future[Outcome]:
        """One press of Ctrl-C lets an executor take work in peace; two are for one that does not answer."""
        job, submit = self.job, self.executor.submit
        if self.pool.shared:
            return job.interrupt.open(submit, work, job.settings, chunk, self._take, self._watch, job.note, enough=2)
        there = carry, job.name, job.settings, chunk, _TASK
        if self.pool.begins_workers:
            return job.interrupt.held(submit, *there)
        return job.interrupt.open(submit, *there, enough=2)

    def _take(self, row: Row) -> None:
        """A thread has finished a run; no other one is begun when the sweep ends."""
        self.job.deliver(row)
        self._watch()

    def _watch(self, fraction: float = 0.0) -> None:
        if self.stopped or self.job.interrupt.presses or self.job.broken:
            raise Stopped

    def _receive(self, future: Future[Outcome]) -> None:
        chunk = self.under_way[future]
        try:
            outcome = future.result()
        except KeyboardInterrupt:  # processes of a terminal are interrupted with their parent
            raise
        except futures.BrokenExecutor as error:
            raise self._died(error) from error
        except BaseException as error:
            raise self._lost(chunk, error) from error
        for row in outcome.rows:
            self.job.deliver(row)
        del self.under_way[future]  # not before: whatever happens, what is finished is kept
        if outcome.interrupted:
            raise KeyboardInterrupt
        if outcome.failure is not None:
            self._break_off()
            raise self.job.failed(outcome.failure) from outcome.failure.error
        self._left.give_back(chunk, outcome.runs)
        self._cost = max(outcome.seconds / max(outcome.runs, 1), self._cost / 2)  # a cheap run may have slow neighbours

    def _died(self, error: Exception, chunk: Sequence[Task] = ()) -> SweepError:
        """A worker is gone, and its pool with it."""
        self._look_at_processes()
        manager = getattr(self.executor, "_executor_manager_thread", None)
        if manager is not None:
            manager.join(1.0)  # it is asking the processes how they ended, which one at a time should
        self._break_off()
        until = time.monotonic() + 1.0
        while any(process.exitcode is None for process in self.processes.values()) and time.monotonic() < until:
            time.sleep(0.01)  # the pool ends those that are left
        who = self._who_died() or f"a worker died ({error})"
        chunks = [*self.under_way.values(), *([chunk] if chunk else [])]
        points = sorted({task.point for each in chunks for task in each})
        self.job.interrupt.check()  # processes of a terminal are interrupted with their parent, and may die of it
        return self.job.grief(f"{who}; under way or next: {self.job.grid.spoken_all(points)}", points)

    def _look_at_processes(self) -> None:
        """See who works for the executor: it begins processes when it has to, and forgets them."""
        with contextlib.suppress(RuntimeError):  # it begins another just now
            now = dict(getattr(self.executor, "_processes", None) or {})
            gone = {pid: process for pid, process in self.processes.items() if pid not in now}
            self.processes = {pid: process for pid, process in gone.items() if process.exitcode != 0} | now

    def _who_died(self) -> str:
        """The processes that died of themselves: the pool ends all others by SIGTERM."""
        ended = {pid: process.exitcode for pid, process in self.processes.items() if process.exitcode is not None}
        several_lives = getattr(self.executor, "_max_tasks_per_child", None) is not None
        terminated = {pid: code for pid, code in ended.items() if code == -15}
        died = {pid: code for pid, code in ended.items() if code != -15 and not (several_lives and code == 0)}
        if died:
            return f"worker process {_listed(died, 'and')} died"
        died = terminated or ended
        others = ", and the pool ended the others" if len(died) > 1 else ""
        return f"worker process {_listed(died, 'or')} died{others}" if died else ""

    def _release(self, heard: bool) -> None:
        """Have a pool tell that a process died while it was sending something, for the rest of which it waits for ever.

        It reads until nobody is left who could write (CPython's `concurrent.futures.process`, to 3.13 at least); but
        where processes are forked, whatever was forked since could.
        """
        if heard:
            self._heard = time.monotonic()
        if time.monotonic() - self._heard < _SILENCE:
            return
        writer = getattr(getattr(self.executor, "_result_queue", None), "_writer", None)
        theirs = list((getattr(self.executor, "_processes", None) or {}).values())
        if writer is not None and not writer.closed and any(process.exitcode is not None for process in theirs):
            for process in theirs:
                process.terminate()
            writer.close()

    def _refused(self, chunk: Sequence[Task], why: str) -> SweepError:
        """An executor that is not broken would not have it."""
        self._break_off()
        self.job.interrupt.check()  # what it begins processes with may have died of it
        return self.job.grief(why, sorted({task.point for task in chunk}))

    def _lost(self, chunk: Sequence[Task], error: BaseException) -> SweepError:
        """A worker failed otherwise than at building or running a point."""
        points = sorted({task.point for task in chunk})
        self._break_off()
        last = getattr(error, "last_worker", None)  # of Dask, which has tried several
        if last is None:
            who = f"a worker failed ({type(error).__name__}: {error})"
        else:
            before = getattr(error, "allowed_failures", 0)
            who = f"worker {getattr(last, 'address', last)} died{f', and {before} before it,' if before else ''}"
        return self.job.grief(f"{who} at {self.job.grid.spoken_all(points)}", points)

    def _break_off(self) -> None:
        """Nothing new is begun, what threads are at ends at once, and what is finished elsewhere is waited for.

        A task of several runs may hold some that are: it ends by itself, soon if its next scenario is built soon; but
        workers of a cluster may be gone without a word. That of one has a moment to hand it back; it may be far from
        finished. A thread that is still building its scenario is waited for too. All this until Ctrl-C is pressed
        another time.
        """
        self.stopped = True
        if self.pool.shared:
            awaited = {future for future in self.under_way if not future.cancel()}
        else:  # not yet: some executors let go what is being worked on
            awaited = set(self.under_way)
        patience, began = self.job.interrupt.presses + 1, time.monotonic()
        try:
            while awaited and self.job.interrupt.presses < patience:
                before, awaited = awaited, futures.wait(awaited, timeout=_LOOK).not_done
                self._release(len(awaited) < len(before))
                waited = time.monotonic() - began
                if not self.pool.shared and waited > _MOMENT:
                    awaited = {future for future in awaited if _runs_of(self.under_way[future]) > 1}
                if not self.pool.local and waited > _PATIENCE:
                    break
        finally:
            for future in self.under_way:
                future.cancel()
            self._collect()

    def _collect(self) -> None:
        """Keep the rows of tasks that are done though nobody has asked yet."""
        for future in list(self.under_way):
            if future.done() and not future.cancelled() and future.exception() is None:
                for row in future.result().rows:
                    self.job.deliver(row)
                del self.under_way[future]


def _listed(processes: Mapping[int, int], between: str) -> str:
    return f" {between} ".join(f"{pid} ({_ending(code)})" for pid, code in processes.items())


def _ending(code: int) -> str:
    if code >= 0:
        return f"exit code {code}" + ("; standard error says why" if code == 1 else "")
    import signal

    try:
        return f"killed by {signal.Signals(-code).name}"
    except ValueError:
        return f"killed by signal {-code}"


def _runs_of(chunk: Sequence[Task]) -> int:
    return sum(len(task.replications) for task in chunk)


class _Left:
    """Tasks yet to be handed out, cut to measure."""

    def __init__(self, tasks: Iterable[Task] = (), wanted: Sequence[int] = ()) -> None:
        self._tasks = iter(tasks)
        self._next: list[Task] = []  # the last one first
        self._alone: list[Task] = []
        self.runs = sum(wanted)
        """About so many runs are left."""

    def take(self, runs: int) -> list[Task]:
        """Tasks of so many runs together; fewer at the end."""
        if self._alone:
            self.runs -= 1
            return [self._alone.pop()]
        chunk = []
        while runs > 0:
            task = self._next.pop() if self._next else next(self._tasks, None)
            if task is None:
                break
            now, later = _cut(task, runs)
            if later is not None:
                self._next.append(later)
            chunk.append(now)
            runs -= len(now.replications)
            self.runs -= len(now.replications)
        return chunk

    def give_back(self, chunk: Sequence[Task], done: int) -> None:
        """What is left of a task after so many of its runs; if that is all of it, its first run is a slow one."""
        left: list[Task] = []
        slow = done == 0
        for task in chunk:
            if done >= len(task.replications):
                done -= len(task.replications)
                continue
            later = _cut(task, done)[1] if done else task
            done = 0
            if later is not None:
                left.append(later)
        self.runs += _runs_of(left)
        if left and slow:
            now, later = _cut(left[0], 1)
            self._alone.append(now)
            left[:1] = [] if later is None else [later]
        self._next += reversed(left)


def _cut(task: Task, runs: int) -> tuple[Task, Task | None]:
    """So many runs of a task, and the others."""
    now, later = task.replications[:runs], task.replications[runs:]
    if not later:
        return task, None
    return task._replace(replications=now), task._replace(replications=later)
