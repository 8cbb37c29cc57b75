# SPDX-License-Identifier: MIT
"""How it is timed: many short rounds in turn, the best of each; other processes only ever make one slower."""

from __future__ import annotations

import os
import resource
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent


def best(calls: Mapping[str, Callable[[], Any]], rounds: int) -> dict[str, float]:
    """Seconds of the fastest of `rounds` of each call, which take turns."""
    fastest = dict.fromkeys(calls, float("inf"))
    for _ in range(rounds):
        for name, call in calls.items():
            began = time.perf_counter()
            result = call()
            fastest[name] = min(fastest[name], time.perf_counter() - began)
            del result
    return fastest


class Limit:
    """The straight loop, compiled by the system's compiler."""

    def __init__(self, folder: str) -> None:
        compiler = os.environ.get("CC") or shutil.which("cc") or shutil.which("gcc")
        if compiler is None:
            raise SystemExit("the benchmark needs a C compiler: set CC")
        self.program = str(Path(folder) / "limit")
        subprocess.run([compiler, "-std=gnu11", "-O2", str(HERE / "limit.c"), "-o", self.program], check=True)

    def __call__(self, duration: float) -> tuple[int, float, int, int]:
        """Packets, seconds, and the sums of the delays of EF and BE in picoseconds."""
        said = subprocess.run([self.program, str(duration)], check=True, capture_output=True, text=True).stdout.split()
        return int(said[0]), float(said[1]), int(said[2]), int(said[3])


def temporary_folder() -> tempfile.TemporaryDirectory[str]:
    """A folder for what is compiled."""
    return tempfile.TemporaryDirectory(prefix="qossim-bench-")


def import_seconds(module: str, rounds: int) -> float:
    """What importing `module` takes in a new interpreter: the fastest of some."""
    program = f"import time; t = time.perf_counter(); import {module}; print(time.perf_counter() - t)"
    said = [subprocess.run([sys.executable, "-c", program], check=True, capture_output=True, text=True).stdout]
    said += [
        subprocess.run([sys.executable, "-c", program], check=True, capture_output=True, text=True).stdout
        for _ in range(rounds)
    ]
    return min(float(seconds) for seconds in said)


def resident_growth(program: str) -> float:
    """MB by which the peak of a new interpreter's memory grows in the last line of `program`."""
    *before, last = program.strip().splitlines()
    measured = "\n".join([*before, "import resource", "_ = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss", last])
    measured += "\nprint((resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - _))"
    said = subprocess.run([sys.executable, "-c", measured], check=True, capture_output=True, text=True).stdout
    kilobyte = 1 if sys.platform == "darwin" else 1024
    return int(said.split()[-1]) * kilobyte / 1e6


def peak_megabytes() -> float:
    """The most memory that this process has had."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024) / 1e6


def on_threads(call: Callable[[], Any], threads: int, each: int) -> Callable[[], None]:
    """`each` calls on each of `threads` threads, side by side."""

    def work() -> None:
        for _ in range(each):
            call()

    def run() -> None:
        workers = [threading.Thread(target=work) for _ in range(threads)]
        for worker in workers:
            worker.start()
        for worker in workers:
            worker.join()

    return run
