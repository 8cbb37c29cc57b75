# SPDX-License-Identifier: MIT
"""What a run left behind: taken from the core when first asked for, turned into plain values and back."""

from __future__ import annotations

import platform
import threading
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.random import SeedSequence

from qossim import _core
from qossim._columns import Columns, Packets, same
from qossim.errors import ScenarioError
from qossim.scenario.net import Scenario

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from qossim._core import FlowCounts, FlowStatistics, PortCounts, Simulation

__all__ = ["Measured", "with_arrays", "without_arrays"]

VERSIONS = {"qossim": _core.__version__, "numpy": np.__version__, "python": platform.python_version()}

_LONG = 100  # integers in a list from which on a saved result keeps it as an array


class Measured:
    """What a run left in the core, fetched when first asked for, and what it was a run of.

    The core gives each column away once, so this is the only place that takes them.
    """

    __slots__ = (
        "_flow_counts",
        "_hops",
        "_lock",
        "_packets",
        "_places",
        "_port_counts",
        "_simulation",
        "_starts",
        "_statistics",
        "bit_generator",
        "drain",
        "duration",
        "record",
        "scenario",
        "seed",
        "versions",
        "warmup",
    )

    _simulation: Simulation | None

    def __init__(
        self,
        simulation: Simulation,
        *,
        scenario: Scenario,
        seed: int | SeedSequence,
        duration: int,
        warmup: int,
        record: str,
        drain: bool,
        bit_generator: str,
    ) -> None:
        self.scenario = scenario
        self.seed = seed
        self.duration = duration
        self.warmup = warmup
        self.record = record
        self.drain = drain
        self.bit_generator = bit_generator
        self.versions = VERSIONS
        self._hops: dict[int, Columns] = {}
        self._packets: Packets | None = None
        self._flow_counts: list[FlowCounts] | None = None
        self._port_counts: list[PortCounts] | None = None
        self._statistics: dict[int, FlowStatistics] = {}
        self._blank(simulation)

    def _blank(self, simulation: Simulation | None) -> None:
        self._simulation = simulation
        self._lock = threading.Lock()
        self._starts: NDArray[np.intp] | None = None
        self._places: tuple[dict[str, int], dict[str, int]] | None = None

    # what was run

    @property
    def flow_places(self) -> dict[str, int]:
        """The number of each flow by its name."""
        return self._named()[0]

    @property
    def port_places(self) -> dict[str, int]:
        """The number of each port by its name."""
        return self._named()[1]

    def _named(self) -> tuple[dict[str, int], dict[str, int]]:
        if self._places is None:
            flows = {flow.name: number for number, flow in enumerate(self.scenario.flows)}
            ports = {port.name: number for number, port in enumerate(self.scenario.ports)}
            self._places = flows, ports
        return self._places

    def route(self, flow: int) -> list[int]:
        """The numbers of the ports a flow passes, in order."""
        ports = self.port_places
        route = self.scenario.flows[flow].route
        return list(ports.values()) if route is None else [ports[name] for name in route]

    # what came of it

    def _core(self) -> Simulation:
        assert self._simulation is not None, "all was fetched already"
        return self._simulation

    def need(self, *records: str, what: str) -> None:
        """Refuse what this run did not record."""
        if self.record not in records:
            raise ScenarioError(
                f'{what} were not recorded: run with record="{records[0]}", this was a run with record="{self.record}"'
            )

    def packets(self) -> Packets:
        if self._packets is None:
            self.need("packets", what="per-packet rows")
            with self._lock:
                if self._packets is None:
                    self._packets = Packets(self._core().packets(), tuple(self.flow_places), tuple(self.port_places))
        return self._packets

    def hop(self, port: int) -> Columns:
        columns = self._hops.get(port)
        if columns is None:
            self.need("packets", what="per-packet rows")
            with self._lock:
                columns = self._hops.get(port)
                if columns is None:
                    columns = self._hops[port] = Columns(self._core().hop(port))
        return columns

    def flow_counts(self, flow: int) -> FlowCounts:
        if self._flow_counts is None:
            with self._lock:
                if self._flow_counts is None:
                    self._flow_counts = self._core().flows()
        return self._flow_counts[flow]

    def port_counts(self, port: int) -> PortCounts:
        if self._port_counts is None:
            with self._lock:
                if self._port_counts is None:
                    self._port_counts = self._core().ports()
        return self._port_counts[port]

    def statistics(self, flow: int) -> FlowStatistics:
        found = self._statistics.get(flow)
        if found is None:
            self.need("summary", what="streamed statistics")
            with self._lock:
                found = self._statistics.get(flow)
                if found is None:
                    found = self._statistics[flow] = self._core().statistics(flow)
        return found

    def rows(self, flow: int) -> slice:
        """The rows of a flow's packets."""
        if self._starts is None:
            numbers = np.arange(len(self.flow_places) + 1, dtype=np.int32)
            self._starts = self.packets()["flow"].searchsorted(numbers)
        return slice(int(self._starts[flow]), int(self._starts[flow + 1]))

    def counted(self, flow: int) -> slice:
        """The rows of a flow's packets sent at or after the warm-up."""
        rows = self.rows(flow)
        if not self.warmup:
            return rows
        return slice(rows.start + int(self.packets()["sent"][rows].searchsorted(self.warmup)), rows.stop)

    def take(self) -> None:
        """Fetch everything and let the core go."""
        if self._simulation is None:
            return
        if self.record == "packets":
            self.packets()
            for port in self.port_places.values():
                self.hop(port)
        if self.record == "summary":
            for flow in self.flow_places.values():
                self.statistics(flow)
        self.flow_counts(0)
        self.port_counts(0)
        self._simulation = None

    # elsewhere

    def __getstate__(self) -> dict[str, Any]:
        self.take()
        passing = ("_simulation", "_lock", "_starts", "_places")
        return {name: getattr(self, name) for name in self.__slots__ if name not in passing}

    def __setstate__(self, state: dict[str, Any]) -> None:
        for name, value in state.items():
            setattr(self, name, value)
        self._blank(None)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Measured):
            return NotImplemented
        return self._description() == other._description() and same(self._findings(), other._findings())

    __hash__ = None  # type: ignore[assignment]

    def _description(self) -> tuple[object, ...]:
        settings = (self.duration, self.warmup, self.record, self.drain, self.bit_generator)
        return self.scenario, plain_seed(self.seed), *settings

    def _findings(self) -> dict[str, Any]:
        self.take()
        return {
            "packets": None if self._packets is None else dict(self._packets),
            "hops": {str(port): dict(columns) for port, columns in sorted(self._hops.items())},
            "flows": self._flow_counts or [],
            "ports": self._port_counts or [],
            "statistics": {str(flow): found for flow, found in sorted(self._statistics.items())},
        }

    def settings(self) -> dict[str, Any]:
        """What was run, as plain values; times are picoseconds."""
        return {
            "scenario": self.scenario.to_dict(),
            "seed": plain_seed(self.seed),
            "duration": self.duration,
            "warmup": self.warmup,
            "record": self.record,
            "drain": self.drain,
            "bit_generator": self.bit_generator,
            "versions": self.versions,
        }

    def to_plain(self) -> dict[str, Any]:
        """All of it as dicts, lists, numbers, strings and arrays."""
        return {**self.settings(), **self._findings()}

    @classmethod
    def from_plain(cls, plain: dict[str, Any]) -> Measured:
        """The inverse of `to_plain`."""
        self = cls.__new__(cls)
        self.scenario = Scenario.from_dict(plain["scenario"])
        self.seed = seed_from_plain(plain["seed"])
        for name in ("duration", "warmup", "record", "drain", "bit_generator", "versions"):
            setattr(self, name, plain[name])
        self._blank(None)
        columns = plain["packets"]
        self._packets = None if columns is None else Packets(columns, tuple(self.flow_places), tuple(self.port_places))
        self._hops = {int(port): Columns(hop) for port, hop in plain["hops"].items()}
        self._flow_counts = plain["flows"]
        self._port_counts = plain["ports"]
        self._statistics = {int(flow): found for flow, found in plain["statistics"].items()}
        return self


# -- plain values ------------------------------------------------------------------------------------------------------


def plain_seed(seed: int | SeedSequence) -> Any:
    """A seed as JSON holds it: an int, or what makes up the SeedSequence."""
    if isinstance(seed, SeedSequence):
        entropy: Any = seed.entropy
        if not isinstance(entropy, int | str):
            entropy = np.asarray(entropy).tolist()
        return {"entropy": entropy, "spawn_key": [int(key) for key in seed.spawn_key], "pool_size": seed.pool_size}
    return seed


def seed_from_plain(plain: Any) -> int | SeedSequence:
    """The inverse of `plain_seed`.

    Raises
    ------
    ValueError
        It is none.
    """
    try:
        if isinstance(plain, dict):
            return SeedSequence(plain["entropy"], spawn_key=tuple(plain["spawn_key"]), pool_size=plain["pool_size"])
        if type(plain) not in (int, str) or int(plain) < 0:
            raise ValueError("neither a whole number nor a SeedSequence")
    except (KeyError, TypeError, ValueError) as error:
        raise ValueError(f"{plain!r} is no seed ({type(error).__name__}: {error})") from error
    return int(plain)


def without_arrays(value: Any, path: str, arrays: dict[str, NDArray[Any]]) -> Any:
    """A copy fit for JSON: each array, and each long list of integers, is put aside under its path."""
    if isinstance(value, np.ndarray):
        arrays[path] = value
        return {"$array": path}
    if isinstance(value, Mapping):
        return {name: without_arrays(each, f"{path}/{name}" if path else name, arrays) for name, each in value.items()}
    if isinstance(value, list | tuple):
        if len(value) >= _LONG and all(type(each) is int and abs(each) < 2**63 for each in value):
            arrays[path] = np.array(value, dtype=np.int64)
            return {"$list": path}
        return [without_arrays(each, f"{path}/{place}", arrays) for place, each in enumerate(value)]
    if isinstance(value, np.generic):
        return value.item()
    return value


def with_arrays(value: Any, arrays: dict[str, NDArray[Any]]) -> Any:
    """The inverse of `without_arrays`."""
    if isinstance(value, dict):
        if value.keys() == {"$array"}:
            return arrays[value["$array"]]
        if value.keys() == {"$list"}:
            return arrays[value["$list"]].tolist()
        return {name: with_arrays(each, arrays) for name, each in value.items()}
    if isinstance(value, list):
        return [with_arrays(each, arrays) for each in value]
    return value
