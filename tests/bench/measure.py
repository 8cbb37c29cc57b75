# SPDX-License-Identifier: MIT
"""A stop-watch for a machine that does other things too.

What is compared takes turns, A B A B, and the best turn of each counts: another program can only make a turn slower.
What runs on one core is measured in processor time, all threads of the process included.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

import qossim as qs

__all__ = ["Figure", "ask", "command", "cost", "environment", "quotient", "take", "turns"]

ROOT = Path(__file__).resolve().parents[2]


@dataclass(frozen=True)
class Figure:
    """A measured value, and the least and the greatest that a single turn gave."""

    value: float
    low: float
    high: float

    @classmethod
    def least(cls, values: Sequence[float]) -> Figure:
        return cls(min(values), min(values), max(values))


def turns(contenders: Mapping[str, Callable[[], float]], rounds: int) -> dict[str, list[float]]:
    """What each contender cost in each round: they take turns, every other round in the opposite order."""
    costs: dict[str, list[float]] = {name: [] for name in contenders}
    for number in range(rounds):
        order = list(contenders)
        for name in order if number % 2 == 0 else reversed(order):
            costs[name].append(contenders[name]())
    return costs


def quotient(above: Sequence[float], below: Sequence[float]) -> Figure:
    """The best of one over the best of the other, with the range over the rounds."""
    each = [a / b for a, b in zip(above, below, strict=True)]
    return Figure(min(above) / min(below), min(each), max(each))


def take(result: qs.Result) -> list[Mapping[str, Any]]:
    """Every per-packet column there is."""
    return [result.packets, *map(result.hop, result.ports)]


def cost(scenario: qs.Scenario, duration: float, record: str) -> float:
    """Processor seconds per packet sent, from the call of `run` until all that it recorded is held in arrays."""
    began = time.process_time()
    result = qs.run(scenario, duration=duration, seed=1, record=record, progress=False)  # type: ignore[arg-type]
    columns = take(result) if record == "packets" else []
    spent = time.process_time() - began
    del columns
    return spent / sum(flow.sent for flow in result.flows.values())


def command(task: str, *arguments: object, options: Sequence[str] = ()) -> list[str]:
    """Of a Python of its own that does a task of ``child.py``."""
    return [sys.executable, "-P", *options, str(Path(__file__).with_name("child.py")), task, *map(str, arguments)]


def environment(**more: str) -> dict[str, str]:
    """In which such a Python finds these modules, the package that is measured, and NumPy.

    Without threads for linear algebra: at first they spin for want of work, and would be counted.
    """
    paths = [str(ROOT), *(str(Path(module.__file__ or "").parents[1]) for module in (qs, np))]
    return {**os.environ, "PYTHONPATH": os.pathsep.join(paths), "OPENBLAS_NUM_THREADS": "1", **more}


def ask(task: str, *arguments: object, options: Sequence[str] = (), **more: str) -> Any:
    """What a Python of its own answers."""
    done = subprocess.run(
        command(task, *arguments, options=options),
        env=environment(**more),
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    return json.loads(done.stdout)
