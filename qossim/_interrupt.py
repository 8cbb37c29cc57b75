# SPDX-License-Identifier: MIT
"""Ctrl-C during work whose results must not be lost: it is counted, and raised only where nothing can be torn."""

from __future__ import annotations

import math
import os
import signal
import threading
from collections.abc import Callable
from types import FrameType
from typing import Any, Self, TypeVar

__all__ = ["Interrupt"]

_T = TypeVar("_T")


class Interrupt:
    """While entered, in the main thread, Ctrl-C does not raise KeyboardInterrupt just anywhere.

    Where another handler of SIGINT than Python's own is at work, or in another thread, nothing changes.

    Attributes
    ----------
    presses : int
        How many times Ctrl-C has been pressed.
    """

    def __init__(self) -> None:
        self.presses = 0
        self._enough: float = math.inf
        self._installed = False
        self._process = os.getpid()

    def __enter__(self) -> Self:
        main = threading.current_thread() is threading.main_thread()
        if main and signal.getsignal(signal.SIGINT) is signal.default_int_handler:
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
        if os.getpid() != self._process:  # forked meanwhile: not a sweep's process, which may outlive it
            signal.default_int_handler(number, frame)
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
