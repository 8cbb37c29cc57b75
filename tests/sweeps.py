# SPDX-License-Identifier: MIT
"""What tests of sweeps have in common."""

from __future__ import annotations

import functools
import json
import os
import signal
import subprocess
import sys
import textwrap
import threading
import time
from collections.abc import Callable
from concurrent import futures
from pathlib import Path
from typing import Any

import xarray as xr

import qossim as qs

ROOT = Path(__file__).resolve().parents[1]
AXES = {"load": [0.3, 0.6, 0.9], "limit": [2, None]}
sweep = functools.partial(qs.sweep, duration=1.0, seed=4, progress=False)


def how_to(kind: str, processes: futures.ProcessPoolExecutor) -> dict[str, Any]:
    """Arguments of a sweep, by who is to do its work."""
    ways: dict[str, dict[str, Any]] = {
        "alone": {"workers": 1},
        "threads": {"workers": 2},
        "processes": {"executor": processes},
    }
    return ways[kind]


ELSEWHERE: dict[str, Any] = {"cwd": ROOT, "env": os.environ | {"PYTHONPATH": str(ROOT)}}
"""Where a Python of its own finds the package and its tests."""


def python(code: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run in a process of its own."""
    command = [sys.executable, "-c", textwrap.dedent(code), *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=120, **ELSEWHERE)


def same_bytes(one: xr.Dataset, other: xr.Dataset) -> None:
    assert one.identical(other)
    assert list(one.variables) == list(other.variables)
    assert all(one[name].values.tobytes() == other[name].values.tobytes() for name in one.variables)
    assert list(one.attrs.items()) == list(other.attrs.items())


def ran(file: Path) -> list[dict[str, Any]]:
    """The runs in a file."""
    return [line for line in map(json.loads, file.read_text().splitlines()) if "numbers" in line]


def interrupt_after(runs: int, total: int) -> Callable[[float], None]:
    """A progress function that stands for a person who presses Ctrl-C."""

    def progress(share: float) -> None:
        if share * total >= runs:
            signal.raise_signal(signal.SIGINT)

    return progress


def press(after: float, times: int = 1) -> threading.Thread:
    """A person who presses Ctrl-C so many seconds after a sweep has begun to listen, and goes on pressing."""

    def pressing() -> None:
        until = time.monotonic() + 60
        while signal.getsignal(signal.SIGINT) is signal.default_int_handler and time.monotonic() < until:
            time.sleep(0.001)
        for _ in range(times):
            time.sleep(after)
            os.kill(os.getpid(), signal.SIGINT)

    person = threading.Thread(target=pressing)
    person.start()
    return person
