# SPDX-License-Identifier: MIT
"""Packets per second of processor time: of the seed, with more classes, more flows and more hops."""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path

import qossim as qs

from .measure import Figure, ask, cost, quotient, turns
from .scenes import SCHEDULERS, many, seconds_for, seed
from .table import ONE_IN, RATIO, TIMES, Goal, Row

__all__ = ["classes", "flows", "hops", "seed_experiment"]


class Loop:
    """The straight-line loop of ``limit.c``."""

    def __init__(self, program: Path) -> None:
        self.program = program

    def __call__(self, duration: float) -> tuple[int, float, int, int]:
        """Packets, processor seconds, and the sums of EF's and of BE's delays in picoseconds."""
        done = subprocess.run([self.program, repr(duration)], stdout=subprocess.PIPE, text=True, check=True)
        packets, seconds, ef, be = done.stdout.split()
        return int(packets), float(seconds), int(ef), int(be)

    def cost(self, duration: float) -> float:
        packets, seconds, _, _ = self(duration)
        return seconds / packets


@contextmanager
def compiled() -> Iterator[Loop | None]:
    """The loop, compiled by the system's C compiler (or ``$CC``) while it is needed; None if there is no compiler."""
    compiler = shlex.split(os.environ.get("CC", "cc"))
    if shutil.which(compiler[0]) is None:
        yield None
        return
    with tempfile.TemporaryDirectory(prefix="qossim-bench-") as folder:
        program = Path(folder) / "limit"
        subprocess.run([*compiler, "-O2", "-o", program, Path(__file__).with_name("limit.c")], check=True)
        yield Loop(program)


def _agreement(loop: Loop, duration: float) -> str:
    """Proves that the loop does the same as the simulator: as many packets, and the same sums of delays."""
    result = qs.run(seed(), duration=duration, seed=1, progress=False)
    packets = result.packets
    sums = []
    for flow in (result["EF"], result["BE"]):
        sent, received = packets["sent"][flow.rows], packets["received"][flow.rows]
        sums.append(int((received - sent)[received >= 0].sum()))
    ours, (count, _, *theirs) = (packets.rows, *sums), loop(duration)
    if ours != (count, *theirs):
        raise AssertionError(f"packets and sums of delays are {ours}, but the loop's are {(count, *theirs)}")
    return f"  loop and simulator agree: {count} packets, delays of EF add up to {sums[0]} ps, of BE to {sums[1]} ps"


def _million(*costs: list[float]) -> str:
    return " and ".join(f"{1e-6 / min(each):.1f}" for each in costs) + " M/s"


def seed_experiment(packets: int, rounds: int) -> Iterator[Row | str]:
    """Against the loop, and what each kind of record costs."""
    scenario, duration = seed(), seconds_for(packets)
    minute = min(60.0, duration)
    contenders: dict[str, Callable[[], float]] = {
        "packets": partial(cost, scenario, duration, "packets"),
        "summary": partial(cost, scenario, duration, "summary"),
        "none": partial(cost, scenario, duration, "none"),
        "short": partial(cost, scenario, minute, "packets"),
        "first": partial(ask, "first", duration),
    }
    with compiled() as loop:
        if loop is not None:
            agreement = _agreement(loop, duration)
            contenders["loop"] = partial(loop.cost, duration)
        costs = turns(contenders, rounds)
    whole = costs["packets"]
    for name, what, goal in (
        ("packets", "seed, every column: packets/s of the loop's", Goal(1 / 8, 1 / 4)),
        ("first", "  the same in the first run of a process", None),
        ("short", f"  the same in runs of {minute:.0f} s", None),
    ):
        if loop is None:
            yield Row(what, None, ONE_IN, goal, "there is no C compiler")
        else:
            beside = _million(costs[name], costs["loop"])
            yield Row(what, quotient(costs["loop"], costs[name]), ONE_IN, goal, beside)
    if loop is not None:
        yield agreement
    for name, what in (("summary", "summaries only"), ("none", "recording off")):
        beside = _million(costs[name], whole)
        yield Row(f"seed, {what}: of every column", quotient(whole, costs[name]), TIMES, Goal(1, 1.3), beside)


def classes(packets: int, rounds: int) -> Iterator[Row]:
    """8 and 64 classes against 2, each class with a flow of its own."""
    duration = seconds_for(packets)
    for name, scheduler in SCHEDULERS.items():
        costs = turns(
            {
                f"{record}, {flows} flows in {classes}": partial(
                    cost, many(flows, classes, scheduler), duration, record
                )
                for flows, classes in ((2, 2), (8, 8), (64, 64), (64, 2))
                for record in ("packets", "none")
            },
            rounds,
        )
        two, off_two = (costs[f"{record}, 2 flows in 2"] for record in ("packets", "none"))
        for number, goal in ((8, None), (64, Goal(1 / 2, 2 / 3))):
            lot, off_lot = (costs[f"{record}, {number} flows in {number}"] for record in ("packets", "none"))
            beside = f"{_million(lot, two)}; recording off {RATIO(quotient(off_two, off_lot).value)}"
            if number == 64:
                alike = quotient(costs["packets, 64 flows in 2"], lot).value
                beside += f"; with 64 flows in the 2 classes {RATIO(alike)}"
            yield Row(f"{name}, {number} classes: packets/s of 2 classes'", quotient(two, lot), RATIO, goal, beside)


def flows(packets: int, rounds: int) -> Iterator[Row]:
    """1000 flows against 2, in two classes."""
    duration = seconds_for(packets)
    for alike, rates in ((True, "of one rate"), (False, "of many rates")):
        costs = turns(
            {
                f"{record}, {number}": partial(cost, many(number, 2, SCHEDULERS["PQ"], alike=alike), duration, record)
                for number in (2, 1000)
                for record in ("packets", "none")
            },
            rounds,
        )
        two, lot = costs["packets, 2"], costs["packets, 1000"]
        beside = f"{_million(lot, two)}; recording off {RATIO(quotient(costs['none, 2'], costs['none, 1000']).value)}"
        yield Row(f"1000 flows {rates}: packets/s of 2 flows'", quotient(two, lot), RATIO, Goal(1 / 3, 1 / 2), beside)


def hops(packets: int, rounds: int) -> Iterator[Row]:
    """Over four ports instead of one."""
    duration = seconds_for(packets)
    costs = turns(
        {
            f"{record}, {number}": partial(cost, many(2, 2, SCHEDULERS["PQ"], hops=number), duration, record)
            for number in (1, 4)
            for record in ("packets", "none")
        },
        rounds,
    )
    one, four = costs["packets, 1"], costs["packets, 4"]
    found = quotient(one, four)
    figure = Figure(4 * found.value, 4 * found.low, 4 * found.high)
    off = 4 * quotient(costs["none, 1"], costs["none, 4"]).value
    beside = f"{_million(four, one)} packets; recording off {RATIO(off)}"
    yield Row("4 hops: hops/s of 1 hop's", figure, RATIO, None, beside)
