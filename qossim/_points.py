# SPDX-License-Identifier: MIT
"""What a worker of a sweep does: build points, run their replications, and boil each run down to one row of numbers.

A row is the bytes of float64 numbers: first the warm-up and whether all had settled by then (1, or 0), then for each
flow its digest (see `Simulation.digest`), then for each flow its counts, then for each port its own numbers and those
of each of its classes. A `Layout` says whose they are. Nothing here knows of tables.
"""

from __future__ import annotations

import copy
import hashlib
import itertools
import math
import pickle
import struct
import time
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import numpy as np

from qossim._confidence import told_by_mser5
from qossim._core import Simulation
from qossim.errors import ScenarioError
from qossim.run import _generator, _Root
from qossim.scenario.net import RING, Scenario
from qossim.statistics import StreamedStatistics, mser5
from qossim.units import PICO, refusal

if TYPE_CHECKING:
    from numpy.random.bit_generator import ISeedSequence

    from qossim._core import ClassCounts, FlowCounts, FlowStatistics, PortCounts
    from qossim.scenario.net import Lowered

__all__ = [
    "BY_CLASS",
    "BY_FLOW",
    "BY_PORT",
    "BY_QUANTILE",
    "DIGEST",
    "HEAD",
    "Failure",
    "Layout",
    "Outcome",
    "Row",
    "Settings",
    "Stopped",
    "Task",
    "built",
    "fingerprint",
    "layout_of",
    "own",
    "portable",
    "settled",
    "told",
    "width",
    "work",
]

Streams: TypeAlias = "Callable[[str], ISeedSequence]"
"""The seed of a flow's stream by its name, in one replication."""

Row: TypeAlias = "tuple[int, int, Layout, bytes, str]"
"""Point, replication, whose numbers they are, the numbers, and the fingerprint of the scenario (if there is a file)."""


class Settings(NamedTuple):
    """What all runs of a sweep have in common. It travels to other processes."""

    build: Callable[..., Scenario]
    record: str
    duration: int
    """Picoseconds."""
    warmup: int | None
    """Picoseconds; None if it is to be found by MSER-5."""
    drain: bool
    bit_generator: str
    root: _Root
    levels: tuple[tuple[int, int], ...]
    written: bool
    """Whether rows go to a file, which holds a fingerprint of their scenario with them."""


class Task(NamedTuple):
    """Some replications of a point."""

    point: int
    parameters: dict[str, Any]
    replications: Sequence[int]


class Layout(NamedTuple):
    """The names of flows, and of ports with their classes."""

    flows: tuple[str, ...]
    ports: tuple[tuple[str, tuple[str, ...]], ...]


class Failure(NamedTuple):
    """An error, and where it happened."""

    point: int
    replication: int | None
    """None: while the scenario was being built."""
    error: BaseException


class Outcome(NamedTuple):
    """What a worker hands back."""

    rows: list[Row]
    """Those that were not delivered before."""
    failure: Failure | None
    runs: int
    """How many of the runs it was given are finished: the first ones."""
    seconds: float
    interrupted: bool = False
    """Whether Ctrl-C was pressed, which reaches every process of a terminal."""


class Stopped(Exception):
    """A run was broken off because the sweep was."""


# -- what is measured --------------------------------------------------------------------------------------------------

HEAD = 2
"""Numbers before those of the flows."""

DIGEST = ("delay_min", "delay_mean", "delay_max", "ipdv_mean_abs", "jitter")
"""The numbers of a flow's digest that are not quantiles, in the core's order."""

BY_QUANTILE = ("delay_quantile", "ipdv_quantile", "pdv_quantile")
"""Those that are, at each level."""

BY_FLOW: dict[str, Callable[[FlowCounts, int], float]] = {
    "sent": lambda flow, span: flow["sent"],
    "received": lambda flow, span: flow["received"],
    "throughput": lambda flow, span: 8 * flow["delivered_bytes"] * PICO / span,
    "loss_ratio": lambda flow, span: _share(flow["dropped_queue"] + flow["dropped_policer"], flow["sent"]),
    "loss_ratio_queue": lambda flow, span: _share(flow["dropped_queue"], flow["sent"]),
    "loss_ratio_policer": lambda flow, span: _share(flow["dropped_policer"], flow["sent"]),
}
"""Numbers of a flow from its counters and the picoseconds from warm-up to the end."""

BY_PORT: dict[str, Callable[[PortCounts, int, bool], float]] = {
    "utilisation": lambda port, span, ring: port["busy"] / span,
    "mean_ring": lambda port, span, ring: port["ring_area"] / span if ring else math.nan,
    "largest_ring": lambda port, span, ring: port["largest_ring"] if ring else math.nan,
}
"""Numbers of a port, likewise, and from whether it has a ring."""

BY_CLASS: dict[str, Callable[[ClassCounts, int], float]] = {
    "mean_queue": lambda each, span: each["queue_area"] / span,
    "largest_queue": lambda each, span: each["largest_queue"],
}
"""Numbers of a class at a port, likewise."""


def _share(part: int, whole: int) -> float:
    return part / whole if whole else math.nan


def width(layout: Layout, levels: int) -> int:
    """How many numbers a row has."""
    flow = len(DIGEST) + len(BY_QUANTILE) * levels + len(BY_FLOW)
    ports = sum(len(BY_PORT) + len(classes) * len(BY_CLASS) for _, classes in layout.ports)
    return HEAD + len(layout.flows) * flow + ports


def settled(numbers: bytes) -> bool:
    """Whether the flows of a row had settled when its warm-up was over, as far as that was looked at."""
    return bool(struct.unpack_from("2d", numbers)[1])


# -- running -----------------------------------------------------------------------------------------------------------


def work(
    settings: Settings,
    tasks: Iterable[Task],
    deliver: Callable[[Row], None],
    watch: Callable[[float], None] | None = None,
    note: Callable[[Layout], object] | None = None,
) -> Outcome:
    """Run the tasks one after the other, up to the first that fails.

    Parameters
    ----------
    settings : Settings
        Of all runs.
    tasks : iterable of Task
        What to run.
    deliver : callable
        Is given each row as soon as there is one, and raises `Stopped` if it is to be the last.
    watch : callable, optional
        Is called during long runs, and raises `Stopped` to break off.
    note : callable, optional
        Is told of the names in a scenario before it is run.
    """
    runs, began = 0, time.perf_counter()
    failure = None
    layouts: dict[Layout, Layout] = {}  # equal ones are one, which keeps thousands of rows small
    streams: dict[int, Streams] = {}
    for task in tasks:
        replication: int | None = None
        try:
            scenario = built(settings, task.parameters)
            lowered, layout = scenario._lower(), layout_of(scenario)
            layout = layouts.setdefault(layout, layout)
            if note is not None:
                note(layout)
            mark = fingerprint(scenario) if settings.written else ""
            for replication in task.replications:
                seed_of = streams.get(replication)
                if seed_of is None:
                    streams[replication] = seed_of = settings.root.replication(replication).seeder()
                row = task.point, replication, layout, _measured(settings, lowered, seed_of, watch), mark
                runs += 1
                deliver(row)
        except Stopped:
            break
        except KeyboardInterrupt:
            raise
        except BaseException as error:
            failure = Failure(task.point, replication, error)
            break
    return Outcome([], failure, runs, time.perf_counter() - began)


class BuildError(Exception):
    """Stands for an exception that cannot be sent from one process to another; it has its words."""


def portable(error: BaseException) -> BaseException:
    """An exception that can be sent from one process to another."""
    try:
        pickle.loads(pickle.dumps(error))
    except Exception:
        return BuildError(told(error))
    return error


def told(error: BaseException) -> str:
    """An exception in words, of any class."""
    try:
        text = str(error)
    except Exception as another:
        text = f"(its text cannot be told: {type(another).__name__})"
    if isinstance(error, ScenarioError | BuildError):
        return text
    return f"{type(error).__name__}{': ' if text else ''}{text}"


def built(settings: Settings, parameters: dict[str, Any]) -> Scenario:
    """The scenario of a point. `build` may change what it is given: each call gets a copy of its own."""
    scenario = settings.build(**{name: own(value) for name, value in parameters.items()})
    if not isinstance(scenario, Scenario):
        raise refusal("what build returns", "a Scenario", scenario)
    return scenario


def own(value: Any) -> Any:
    """A copy, or the value itself where it cannot be changed, or not be copied."""
    if value is None or isinstance(value, str | int | float):
        return value
    try:
        return copy.deepcopy(value)
    except Exception:
        return value


def fingerprint(scenario: Scenario) -> str:
    """What tells a scenario from another: 32 hexadecimal digits, of all that the core is told of it."""
    return hashlib.blake2b(_text(scenario._lower()).encode(errors="surrogatepass"), digest_size=16).hexdigest()


def _text(value: Any) -> str:
    """As `repr`, but with every element of an array in it."""
    if isinstance(value, tuple):
        return f"({','.join(map(_text, value))})"
    if isinstance(value, np.ndarray):
        return f"{value.dtype.str}{value.shape}{hashlib.blake2b(value.tobytes()).hexdigest()}"
    return repr(value)


def layout_of(scenario: Scenario) -> Layout:
    """The names in a scenario; a port without classes has one called "all"."""
    return Layout(
        tuple([flow.name for flow in scenario.flows]),
        tuple([(port.name, tuple([each.name for each in port.classes]) or ("all",)) for port in scenario.ports]),
    )


def _measured(settings: Settings, lowered: Lowered, seed_of: Streams, watch: Callable[[float], None] | None) -> bytes:
    """The row of one run."""
    warmup, settled = settings.warmup, True
    if warmup is None:
        warmup, settled = _settled(_finished(settings, lowered, seed_of, 0, watch), len(lowered.flows))
    simulation = _finished(settings, lowered, seed_of, warmup, watch)
    span = settings.duration - warmup
    if settings.record == "packets":
        digest = simulation.digest(settings.levels)
    else:
        streamed = [_streamed(simulation.statistics(i), settings.levels) for i in range(len(lowered.flows))]
        digest = np.array(streamed, dtype=np.float64).tobytes()
    numbers = [number(flow, span) for flow in simulation.flows() for number in BY_FLOW.values()]
    for described, port in zip(lowered.ports, simulation.ports(), strict=True):
        ring = described[RING] is not None
        numbers += [number(port, span, ring) for number in BY_PORT.values()]
        numbers += [number(each, span) for each in port["classes"] for number in BY_CLASS.values()]
    return b"".join((struct.pack("2d", warmup / PICO, settled), digest, struct.pack(f"{len(numbers)}d", *numbers)))


def _finished(
    settings: Settings, lowered: Lowered, seed_of: Streams, warmup: int, watch: Callable[[float], None] | None
) -> Simulation:
    simulation = Simulation(
        record=settings.record,  # type: ignore[arg-type]  # a str that was checked
        duration=settings.duration,
        warmup=warmup,
        drain=settings.drain,
    )
    for port in lowered.ports:
        simulation.add_port(*port)
    generator = _generator(settings.bit_generator)
    for flow, draws in lowered.flows:
        arguments = (*flow, generator(seed_of(flow[0])) if draws else None)
        simulation.add_flow(*arguments)
    simulation.run(watch)
    return simulation


def _settled(simulation: Simulation, flows: int) -> tuple[int, bool]:
    """The instant from which on every flow's delays have settled (MSER-5), in picoseconds; were they seen to?"""
    packets = simulation.packets()
    bounds = packets["flow"].searchsorted(np.arange(flows + 1, dtype=np.int32))
    latest, seen = 0, True
    for first, end in itertools.pairwise(bounds):
        sent, received = packets["sent"][first:end], packets["received"][first:end]
        arrived = received >= 0
        sent, received = sent[arrived], received[arrived]
        left_out = mser5(received - sent)
        seen &= told_by_mser5(left_out, len(sent)) or not len(sent)
        if left_out:
            latest = max(latest, int(sent[left_out]))
    return latest, seen


def _streamed(found: FlowStatistics, levels: tuple[tuple[int, int], ...]) -> list[float]:
    """A digest from statistics in constant memory: quantiles to 1 %, no jitter."""
    from fractions import Fraction

    delay, ipdv = StreamedStatistics(found["delay"], per=PICO), StreamedStatistics(found["ipdv"], per=PICO)
    at = [Fraction(*level) for level in levels]
    delays = [delay.quantile(level) for level in at]
    variations = [ipdv.quantile(level) for level in at]
    return [
        *(delay.min, delay.mean, delay.max, ipdv.absolute().mean, math.nan),
        *delays,
        *variations,
        *(each - delay.min for each in delays),
    ]
