# SPDX-License-Identifier: MIT
"""Ctrl-C during work whose results must not be lost: it is counted, and raised only where nothing can be torn.

A terminal sends it to all its processes. What becomes of the work is for the one to say that hands it out: `Interrupt`;
a worker that died of it would take its pool along, with all that others have finished, so that it lives on (`AtWork`).
"""

from __future__ import annotations

import math
import multiprocessing
import os
import signal
import sys
import threading
import time
from collections.abc import Callable
from types import FrameType
from typing import Any, ClassVar, Self, TypeVar

__all__ = ["AtWork", "Interrupt"]

_T = TypeVar("_T")


class Interrupt:
    """While entered, in the main thread, Ctrl-C does not raise KeyboardInterrupt just anywhere.

    Where another handler of SIGINT than Python's own is at work, or in another thread, nothing changes.

    Attributes
    ----------
    presses : int
        How many times Ctrl-C has been pressed.
    nested : bool
        Whether it is another one's, around this, to say what becomes of Ctrl-C.
    """

    def __init__(self) -> None:
        self.presses = 0
        self.nested = False
        self._enough: float = math.inf
        self._installed = False
        self._process = os.getpid()

    def __enter__(self) -> Self:
        if threading.current_thread() is not threading.main_thread():
            return self
        handler = signal.getsignal(signal.SIGINT)
        outer = getattr(handler, "__self__", None)
        if isinstance(outer, Interrupt) and outer._process == os.getpid():
            self.nested = True
        elif isinstance(outer, Interrupt) or handler is AtWork.heard:
            self.nested = AtWork.at_work()
        if handler is signal.default_int_handler:
            try:
                signal.signal(signal.SIGINT, self._press)
            except ValueError:  # the main thread of a subinterpreter
                return self
            self._installed = True
        return self

    def __exit__(self, *_: object) -> None:
        if self._installed and signal.getsignal(signal.SIGINT) == self._press:
            signal.signal(signal.SIGINT, signal.default_int_handler)

    def _press(self, number: int, frame: FrameType | None) -> None:
        if os.getpid() != self._process:  # forked meanwhile
            AtWork.heard(number, frame)
            return
        self.presses += 1
        if self.presses >= self._enough:
            self._enough = math.inf  # what is done about it is not disturbed by another
            raise KeyboardInterrupt

    def check(self) -> None:
        """Raise KeyboardInterrupt if Ctrl-C has been pressed."""
        if self.presses:
            raise KeyboardInterrupt

    def open(self, function: Callable[..., _T], *arguments: Any, enough: int = 1) -> _T:
        """Call what may be broken off anywhere, by as many presses in all as are `enough`."""
        before = self._enough
        try:
            self._enough = enough
            if self.presses >= enough:
                raise KeyboardInterrupt
            return function(*arguments)
        finally:
            self._enough = before

    def held(self, function: Callable[..., _T], *arguments: Any) -> _T:
        """Call what may begin processes, which do not hear Ctrl-C before they are first `AtWork`."""
        if not self._installed or not hasattr(signal, "pthread_sigmask"):
            return function(*arguments)
        before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
        try:
            return function(*arguments)
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, before)

    def shut(self, function: Callable[..., object], *arguments: Any) -> None:
        """Call what must not be broken off, in the midst of what may."""
        before = self._enough
        try:
            self._enough = math.inf
            function(*arguments)
        finally:
            self._enough = before
        if self.presses >= before:
            raise KeyboardInterrupt


class AtWork:
    """While entered, in a worker process, Ctrl-C is counted.

    It is raised where work is `open` to it, and anywhere if it is pressed twice. It counts for all further tasks of the
    same work, and harms no worker that is between two tasks. What else the process is given to do hears it as ever;
    where another handler than Python's own is at work nothing changes. Workers of Dask, whose tasks are threads, let it
    be, and count nothing.

    Parameters
    ----------
    work : str
        What the task is part of.
    """

    _work: ClassVar[str] = ""
    _presses: ClassVar[int] = 0
    _at_work: ClassVar[bool] = False
    _open: ClassVar[bool] = False

    def __init__(self, work: str) -> None:
        self._mine = work
        self._thread: _Thread | None = None

    @property
    def presses(self) -> int:
        """How many times Ctrl-C has been pressed since this process was first given some of the work."""
        return AtWork._presses if AtWork._work == self._mine else 0

    def __enter__(self) -> Self:
        if multiprocessing.parent_process() is None:
            return self
        if threading.current_thread() is not threading.main_thread():
            self._thread = _Thread()
            return self
        if AtWork._work != self._mine:
            AtWork._work, AtWork._presses = self._mine, 0
        AtWork._at_work = True
        if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
            signal.signal(signal.SIGINT, AtWork.heard)
        if hasattr(signal, "pthread_sigmask"):
            if signal.SIGINT in signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT}):
                while signal.SIGINT in signal.sigpending():  # of a time when this process was being begun
                    signal.sigwait({signal.SIGINT})
            signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
        return self

    def __exit__(self, *_: object) -> None:
        if self._thread is not None:
            self._thread.done()
        else:
            AtWork._at_work = False

    def open(self, function: Callable[..., _T], **arguments: Any) -> _T:
        """Call what may be broken off anywhere."""
        AtWork._open = AtWork._at_work
        try:
            return function(**arguments)
        finally:
            AtWork._open = False

    @staticmethod
    def at_work() -> bool:
        """Whether this process is."""
        return AtWork._at_work

    @staticmethod
    def heard(number: int, frame: FrameType | None) -> None:
        """Handle SIGINT in a worker process."""
        if AtWork._at_work or _between_tasks(frame):
            AtWork._presses += 1
            if not AtWork._open and (AtWork._presses < 2 or not AtWork._at_work):
                return
        signal.default_int_handler(number, frame)


def _between_tasks(frame: FrameType | None) -> bool:
    """Whether a worker of `concurrent.futures` is waiting for a task, or has just done one and hands it back."""
    called = ""
    while frame is not None:
        if frame.f_code.co_name == "_process_worker":
            return called in ("", "get", "put", "_sendback_result", "carry")
        called, frame = frame.f_code.co_name, frame.f_back
    return False


class _Thread:
    """A thread of a worker of Dask, which would end by Ctrl-C and lose what it has: not while it works, nor just after.

    The handler of a signal is for the main thread to change, which is that of the worker's event loop.
    """

    _AFTER = 1.0
    """Seconds in which more work of the kind may come."""

    _lock: ClassVar[threading.Lock] = threading.Lock()
    _working: ClassVar[int] = 0
    _until: ClassVar[float] = 0.0
    _installed: ClassVar[bool] = False

    def __init__(self) -> None:
        with _Thread._lock:
            _Thread._working += 1
            if not _Thread._installed:
                _Thread._installed = True
                self._install()

    def done(self) -> None:
        with _Thread._lock:
            _Thread._working -= 1
            _Thread._until = time.monotonic() + _Thread._AFTER

    @staticmethod
    def _install() -> None:
        installed = threading.Event()

        def install() -> None:
            if threading.current_thread() is threading.main_thread():
                theirs = signal.getsignal(signal.SIGINT)

                def heard(number: int, frame: FrameType | None) -> None:
                    if not _Thread._working and time.monotonic() > _Thread._until and callable(theirs):
                        theirs(number, frame)

                signal.signal(signal.SIGINT, heard)
            installed.set()

        try:
            sys.modules["distributed"].get_worker().loop.add_callback(install)
        except (KeyError, AttributeError, ValueError):  # no worker of Dask
            return
        installed.wait(1.0)
