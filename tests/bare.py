# SPDX-License-Identifier: MIT
"""Simulations made by hand on the extension alone, without the package's descriptions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from qossim._core import Simulation

NEVER = 2**63 - 1
SECOND = 10**12

SIZES = np.array([40, 576, 1500])
CUMULATIVE = np.array([7, 11, 12])
MIXED = (("sizes", SIZES), ("weights", CUMULATIVE))


def cbr(interval: Any = SECOND // 1000, *more: tuple[str, Any]) -> tuple[Any, ...]:
    """A source; of one size unless more is said."""
    return "cbr", (("interval", interval), *(more or (("size", 125),)))


def poisson(interval: int = SECOND // 1000) -> tuple[Any, ...]:
    return "poisson", (("interval", interval), *MIXED)


def class_of(name: str = "rest", match: int = 0, bandwidth: Any = None) -> tuple[Any, ...]:
    return name, match, (), bandwidth, None, ("drop-tail", ()), None


def add_port(simulation: Any, **changes: Any) -> None:
    """Adds a port, by default one of 10 Mbit/s without anything."""
    arguments = {"name": "link", "rate": 10**7, "framing": None, "scheduler": ("fifo", ()), "ring": None}
    arguments |= {"propagation": 0, "classes": ()}
    assert changes.keys() <= arguments.keys()
    simulation.add_port(*(arguments | changes).values())


def add_flow(simulation: Any, **changes: Any) -> None:
    """Adds a flow, by default one that sends 125 bytes each millisecond."""
    arguments = {"name": "flow", "source": cbr(), "dscp": 0, "route": (0,), "start": 0, "stop": NEVER, "bitgen": None}
    assert changes.keys() <= arguments.keys()
    simulation.add_flow(*(arguments | changes).values())


def simulation(record: Any = "packets", duration: int = SECOND, **changes: Any) -> Simulation:
    """A simulation with one port and one flow, not yet run; changes go to the constructor or to the flow."""
    options = {name: changes.pop(name) for name in ("warmup", "drain") if name in changes}
    made = Simulation(record=record, duration=duration, **options)
    add_port(made)
    add_flow(made, **changes)
    return made


def finished(record: Any = "packets", duration: int = SECOND, **changes: Any) -> Simulation:
    made = simulation(record, duration, **changes)
    made.run()
    return made


def endless(classes: int = 1) -> Simulation:
    """A simulation of a thousand million packets: as good as endless, yet not quite."""
    made = Simulation(record="none", duration=10**6 // classes * SECOND)
    each = tuple(class_of(f"class {i}", 1 << i if i else 0, bandwidth=1000 + i) for i in range(classes))
    add_port(made, rate=classes * 10**7, scheduler=("wfq", ()), classes=each)
    for i in range(classes):
        add_flow(made, name=f"flow {i}", dscp=i, source=cbr(SECOND // 1000 + i))
    return made


ASK: dict[str, Callable[[Simulation], object]] = {
    "packets": lambda made: made.packets(),
    "hop": lambda made: made.hop(0),
    "digest": lambda made: made.digest(()),
    "flows": lambda made: made.flows(),
    "ports": lambda made: made.ports(),
    "statistics": lambda made: made.statistics(0),
    "now": lambda made: made.now,
}
"""What can be asked of a simulation, whatever it records."""
