# SPDX-License-Identifier: MIT
"""What a worker in another process does with a task: nobody waits long for what it has finished."""

from __future__ import annotations

import functools
import time
from collections.abc import Sequence

from qossim._interrupt import AtWork
from qossim._points import Failure, Outcome, Row, Settings, Stopped, Task, portable, work

__all__ = ["carry"]


def carry(sweep: str, settings: Settings, tasks: Sequence[Task], seconds: float) -> Outcome:
    """Run the tasks one after the other, for about so long, and hand back the rows of the runs that were made.

    They are the first ones. However slow the next turns out to be: it is broken off when time is up, so that it keeps
    nobody waiting for the others. A task of a single run is made to its end.

    Parameters
    ----------
    sweep : str
        What the tasks are part of: Ctrl-C is for all of it.
    settings : Settings
        Of all runs.
    tasks : sequence of Task
        What to run.
    seconds : float
        How long; a scenario that is being built is finished.
    """
    rows: list[Row] = []
    several, began = sum(len(task.replications) for task in tasks) > 1, time.perf_counter()

    def watch(fraction: float = 0.0) -> None:
        if interrupt.presses or (several and time.perf_counter() - began > seconds):
            raise Stopped

    def deliver(row: Row) -> None:
        rows.append(row)
        watch()

    failure: Failure | None = None
    with AtWork(sweep) as interrupt:
        pressed = interrupt.presses > 0
        try:
            if not pressed:
                own = settings._replace(build=functools.partial(interrupt.open, settings.build))
                failure = work(own, tasks, deliver, watch).failure
        except KeyboardInterrupt:
            pressed = True
        if failure is not None:
            failure = failure._replace(error=portable(failure.error))
        return Outcome(rows, failure, len(rows), time.perf_counter() - began, pressed or interrupt.presses > 0)
