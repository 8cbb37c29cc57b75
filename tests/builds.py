# SPDX-License-Identifier: MIT
"""Functions that build scenarios for tests of sweeps, where other processes can import them."""

from __future__ import annotations

import contextlib
import os
import signal
import struct
import sys
import threading
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import qossim as qs


def link(*, load: float = 0.5, scheduler: Any = None, limit: int | None = None, extra: bool = False) -> qs.Scenario:
    """A Poisson flow, with `extra` another one in a class of its own, over 1 Mbit/s."""
    classes = [
        qs.TrafficClass("first", flows="f", queue=qs.DropTail(limit), bandwidth=2),
        qs.TrafficClass("rest", bandwidth=1),
    ]
    flows = [qs.Flow("f", qs.Poisson(pps=1000 * load, size=125))]
    if extra:
        flows.append(qs.Flow("extra", qs.CBR(pps=10, size=1000, phase="random")))
    port = qs.Port("link", "1 Mbit/s", scheduler=scheduler or qs.PQ(), classes=classes if extra else None)
    return qs.Scenario(flows=flows, ports=[port])


def failing(*, load: float, bad: float = 0.9) -> qs.Scenario:
    """As `link`, but not at one load."""
    if load == bad:
        raise ZeroDivisionError("no such load")
    return link(load=load)


def slow(*, load: float) -> qs.Scenario:
    """Takes a tenth of a second to build."""
    time.sleep(0.1)
    return link(load=load)


def deadly(*, load: float, once: str, bad: float = 0.7) -> qs.Scenario:
    """Kills the process that builds it, the first time: `once` is a file that says so."""
    if load == bad and not Path(once).exists():
        with contextlib.suppress(OSError):  # no such folder: each time
            Path(once).touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return link(load=load)


def elsewhere(*, load: float, process: str) -> qs.Scenario:
    """As `link`, and leaves a file named after the process in a folder."""
    (Path(process) / str(os.getpid())).touch()
    return link(load=load)


def pausing(*, load: float, process: str, at: float = 0.5) -> qs.Scenario:
    """As `link`, and leaves a file for each load in a folder; at one load it takes forever."""
    (Path(process) / str(load)).touch()
    if load == at:
        time.sleep(60)
    return link(load=load)


def begun(*, i: int, folder: str, slow_from: int) -> qs.Scenario:
    """Leaves the number of each point in a file of the process that builds it; some take their time."""
    with (Path(folder) / str(os.getpid())).open("a") as file:
        file.write(f"{i}\n")
    time.sleep(0.15 if i >= slow_from else 0.002)
    return link()


def long(*, i: int, long_from: int) -> qs.Scenario:
    """Some are of a hundred times as many packets."""
    return link(load=0.3 if i < long_from else 30.0)


def stopped_by_ctrl_c() -> str:
    """What Ctrl-C does to a process."""
    try:
        signal.raise_signal(signal.SIGINT)
    except KeyboardInterrupt:
        return "stopped"
    return "goes on"


def calibrated(*, load: float, at: float | None = 0.3) -> qs.Scenario:
    """Sweeps by itself to find out what to build; at one load Ctrl-C is pressed meanwhile."""

    def pressed(share: float) -> None:
        if load == at and share > 0.5:
            signal.raise_signal(signal.SIGINT)

    table = qs.sweep(link, {"load": [0.1, 0.2, 0.3, 0.4]}, duration=0.1, seed=1, workers=1, progress=pressed)
    return link(load=load * int(table["sent"].notnull().sum()) / 4)


def clumsy(*, load: float, at: float | None = 0.3) -> qs.Scenario:
    """Takes whatever is raised for a failed attempt; at one load Ctrl-C is pressed meanwhile."""
    with contextlib.suppress(BaseException):
        if load == at:
            signal.raise_signal(signal.SIGINT)
    return link(load=load)


def cut_off(*, load: float, how: str, bad: float = 0.7) -> qs.Scenario:
    """At one load dies while its process hands something back."""
    if load == bad:
        frame: Any = sys._getframe()
        while frame.f_code.co_name != "_process_worker":
            frame = frame.f_back
        writer = frame.f_locals["result_queue"]._writer
        os.write(writer.fileno(), struct.pack("!i", 1000) + b"the beginning")
    return ending(load=load, how=how, bad=bad)


def ending(*, load: float, how: str, bad: float = 0.7) -> qs.Scenario:
    """Ends the process that builds it."""
    if load == bad:
        if how == "exit":
            os._exit(0)
        os.kill(os.getpid(), getattr(signal, how))
        time.sleep(60)
    return link(load=load)


def pressed_while_begun() -> None:
    """Ctrl-C comes while this process does not hear it."""
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    signal.pthread_kill(threading.get_ident(), signal.SIGINT)


@dataclass(frozen=True)
class Sealed(Exception):
    """Takes no attributes."""

    text: str


class Unusual(BaseException):
    """Is no Exception."""


def unusual(*, load: float) -> qs.Scenario:
    """Raises what few catch."""
    raise Unusual("never seen")


def leaving(*, load: float) -> qs.Scenario:
    """Would have its worker exit."""
    raise SystemExit(3)
