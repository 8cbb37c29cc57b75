# SPDX-License-Identifier: MIT
"""The twin beside the core: a scenario through both, row by row, and the smallest scenario that still differs."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from fractions import Fraction
from typing import Any

import numpy as np

import qossim as qs

from . import scenarios
from .net import Counts, simulate, simulate_and_count
from .packet import FATES, MISSING, Hop, Row
from .tally import LossPeriods, Standing


def core(scenario: qs.Scenario, duration: Fraction, seed: Any = None, drain: bool = True) -> list[Row]:
    """What the core makes of a scenario, in the twin's rows."""
    return core_and_counts(scenario, duration, seed, drain)[0]


def core_and_counts(
    scenario: qs.Scenario,
    duration: Fraction,
    seed: Any = None,
    drain: bool = True,
    warmup: Fraction = Fraction(0),
) -> tuple[list[Row], Counts]:
    """The same, and what the core counts from ``warmup`` on, as the twin's counts."""
    exactly: dict[str, Any] = {"duration": duration, "warmup": warmup}
    result = qs.run(scenario, **exactly, seed=seed, drain=drain, progress=False)
    names = ("flow", "seq", "size", "fate", "where", "sent", "received")
    columns = [result.packets[name].tolist() for name in names]
    ports = [result.hop(port.name) for port in scenario.ports]
    hops = [[Hop(*times) for times in zip(*(hop[name].tolist() for name in Hop._fields), strict=True)] for hop in ports]
    rows = [Row._make(row) for row in zip(*columns, zip(*hops, strict=True), strict=True)]
    counted = [result._run.port_counts(number) for number in range(len(scenario.ports))]
    queues = [[Standing(each["queue_area"], each["largest_queue"]) for each in port["classes"]] for port in counted]
    rings = [Standing(port["ring_area"], port["largest_ring"]) for port in counted]
    losses = [LossPeriods(*flow.loss_periods[:2]) for flow in result.flows.values()]
    delivered = [flow.delivered_bytes for flow in result.flows.values()]
    return rows, Counts(queues, rings, losses, delivered)


@dataclasses.dataclass
class Outcome:
    """Of one seed: how many packets were compared, their fates, and the report if anything differed."""

    seed: int
    fates: tuple[int, ...]
    report: str = ""

    @property
    def packets(self) -> int:
        return sum(self.fates)


def compare(seed: int, shrink: bool = True) -> Outcome:
    """Draw the scenario of a seed and run it through both."""
    scenario, duration, drain = scenarios.draw(seed)
    warmup = scenarios.draw_warmup(seed, scenario, duration)
    twin, counts = simulate_and_count(scenario, duration, seed, drain, warmup)
    fates = tuple(sum(row.fate == fate for row in twin) for fate in range(len(FATES)))
    try:
        mine, my_counts = core_and_counts(scenario, duration, seed, drain, warmup)
    except Exception as error:
        return Outcome(seed, fates, f"seed {seed}: the core refuses: {error!r}\n{describe(scenario, duration, drain)}")
    if twin == mine and counts == my_counts:
        return Outcome(seed, fates)
    if twin == mine:
        unlike = f"the counts differ, with a warm-up of {warmup} s:\n    twin {counts}\n    core {my_counts}"
        return Outcome(seed, fates, f"seed {seed}: {unlike}\n{describe(scenario, duration, drain)}")
    report = [f"seed {seed}: {difference(scenario, twin, mine)}"]
    if shrink:
        scenario = Shrinking(duration, seed, drain).smallest(scenario, twin)
        twin, mine = simulate(scenario, duration, seed, drain), core(scenario, duration, seed, drain)
        report.append(f"smallest scenario that differs: {difference(scenario, twin, mine)}")
    report.append(describe(scenario, duration, drain))
    return Outcome(seed, fates, "\n".join(report))


# -- saying what differs -----------------------------------------------------------------------------------------------


def difference(scenario: qs.Scenario, twin: list[Row], mine: list[Row]) -> str:
    """The packet that differs first in time, and how."""
    if [row[:3] for row in twin] != [row[:3] for row in mine]:
        unlike = _first_unlike(twin, mine)
        return f"the sources differ: the twin sends {len(twin)} packets, the core {len(mine)}{unlike}"
    pairs = [(a, b) for a, b in zip(twin, mine, strict=True) if a != b]
    if not pairs:
        return "nothing differs"
    a, b = min(pairs, key=_when)
    differing = [name for name in ("fate", "where", "sent", "received") if getattr(a, name) != getattr(b, name)]
    lines = [f"{len(pairs)} of {len(twin)} packets differ, first {scenario.flows[a.flow].name} packet {a.seq}"]
    lines += [f"    {name}: twin {_shown(a, name)}, core {_shown(b, name)}" for name in differing]
    for port, left, right in zip(scenario.ports, a.hops, b.hops, strict=True):
        if left != right:
            lines.append(f"    at {port.name}: twin {left}\n    {' ' * len(port.name)}    core {right}")
    return "\n".join(lines)


def _first_unlike(twin: list[Row], mine: list[Row]) -> str:
    for a, b in zip(twin, mine, strict=False):
        if a[:3] != b[:3] or a.sent != b.sent:
            return f"; first unlike: twin {a}, core {b}"
    return ""


def _when(pair: tuple[Row, Row]) -> int:
    """The first instant at which two rows disagree."""
    a, b = pair
    both = [(a.sent, b.sent), (a.received, b.received)]
    both += [times for left, right in zip(a.hops, b.hops, strict=True) for times in zip(left, right, strict=True)]
    return min((time for times in both if times[0] != times[1] for time in times if time != MISSING), default=2**63)


def _shown(row: Row, name: str) -> str:
    value = getattr(row, name)
    return f"{value} ({FATES[value]})" if name == "fate" and 0 <= value < len(FATES) else str(value)


def describe(scenario: qs.Scenario, duration: Fraction, drain: bool) -> str:
    """A scenario as the Python that makes it."""
    flows = [f"        {_spelled(flow)}," for flow in scenario.flows]
    ports = [f"        {port!r}," for port in scenario.ports]
    lines = ["scenario = Scenario(", "    flows=[", *flows, "    ],", "    ports=[", *ports, "    ],", ")"]
    return "\n".join([*lines, f"duration, drain = {duration!r}, {drain}"])


def _spelled(flow: qs.Flow) -> str:
    trace = flow.source
    if not isinstance(trace, qs.Trace):
        return repr(flow)
    packets = f'Trace(np.array({trace.times.tolist()}, "m8[ps]"), {trace.sizes.tolist()})'
    return repr(flow).replace(repr(trace), packets)


# -- making it small ---------------------------------------------------------------------------------------------------


@dataclasses.dataclass(frozen=True)
class Shrinking:
    """Leave things out, one after another, as long as twin and core still disagree."""

    duration: Fraction
    seed: Any
    drain: bool

    def smallest(self, scenario: qs.Scenario, rows: list[Row]) -> qs.Scenario:
        written_down = with_traces(scenario, rows)
        if self.differ(written_down):
            scenario = written_down
        while smaller := next(filter(self.differ, _smaller(scenario)), None):
            scenario = smaller
        return scenario

    def differ(self, scenario: qs.Scenario) -> bool:
        try:
            mine = core(scenario, self.duration, self.seed, self.drain)
        except qs.ScenarioError:
            return False
        return mine != simulate(scenario, self.duration, self.seed, self.drain)


def with_traces(scenario: qs.Scenario, rows: list[Row]) -> qs.Scenario:
    """The same packets, written down: no chance, no start, no stop."""
    flows = []
    for index, flow in enumerate(scenario.flows):
        sent = [(row.sent, row.size) for row in rows if row.flow == index]
        flows.append(_with_packets(flow, sent))
    return qs.Scenario(flows=flows, ports=scenario.ports)


def _with_packets(flow: qs.Flow, sent: list[tuple[int, int]]) -> qs.Flow:
    times = np.array([time for time, _ in sent], dtype="timedelta64[ps]")
    trace = qs.Trace(times, np.array([size for _, size in sent], dtype=np.int32))
    return flow.replace(source=trace, start=0, stop=None)


def _smaller(scenario: qs.Scenario) -> Iterator[qs.Scenario]:
    flows, ports = list(scenario.flows), list(scenario.ports)
    for i, flow in enumerate(flows):
        for simpler in [[], *_simpler_flows(flow)]:
            yield from _scenario([*flows[:i], *simpler, *flows[i + 1 :]], ports)
    for i, port in enumerate(ports):
        names = [each.name for each in ports if each is not port]
        elsewhere = [flow for flow in flows if flow.route is None or set(flow.route) != {port.name}]
        shorter = [_without(flow, names) for flow in elsewhere]
        yield from _scenario(shorter, [*ports[:i], *ports[i + 1 :]])
        for plainer in _simpler_ports(port):
            yield from _scenario(flows, [*ports[:i], plainer, *ports[i + 1 :]])


def _without(flow: qs.Flow, names: list[str]) -> qs.Flow:
    return flow if flow.route is None else flow.replace(route=[name for name in flow.route if name in names])


def _scenario(flows: list[qs.Flow], ports: list[qs.Port]) -> Iterator[qs.Scenario]:
    """The scenario of these, if there is one; classes forget flows that are gone."""
    names = {flow.name for flow in flows}
    try:
        kept = [port.replace(classes=[_of_flows(each, names) for each in port.classes or ()] or None) for port in ports]
        yield qs.Scenario(flows=flows, ports=kept)
    except qs.ScenarioError:
        return


def _of_flows(each: qs.TrafficClass, names: set[str]) -> qs.TrafficClass:
    if each.flows is None or set(each.flows) <= names:
        return each
    kept = tuple(name for name in each.flows if name in names)
    return each.replace(flows=kept or None)


def _simpler_flows(flow: qs.Flow) -> Iterator[list[qs.Flow]]:
    """Half of the packets left out, then quarters, and so on to single ones; then the plainest flow."""
    if isinstance(flow.source, qs.Trace):
        sent = list(zip(flow.source.times.tolist(), flow.source.sizes.tolist(), strict=True))
        step = len(sent) // 2
        while step:
            for begin in range(len(sent) - step, -1, -step):
                yield [_with_packets(flow, sent[:begin] + sent[begin + step :])]
            step //= 2
    for name, value in {"route": None, "dscp": 0, "stop": None, "start": 0}.items():
        if getattr(flow, name) != value:
            yield [flow.replace(**{name: value})]


def _simpler_ports(port: qs.Port) -> Iterator[qs.Port]:
    plain: dict[str, Any] = {"framing": None, "tx_ring": None, "propagation": 0, "classes": None}
    for name, value in (plain | {"scheduler": qs.FIFO()}).items():
        if getattr(port, name) and getattr(port, name) != value:
            yield port.replace(**{name: value})
    classes = list(port.classes or ())
    for i, each in enumerate(classes):
        if each.match is not None or each.flows is not None:
            yield port.replace(classes=[*classes[:i], *classes[i + 1 :]])
        for name, value in {"police": None, "queue": qs.DropTail()}.items():
            if getattr(each, name) and getattr(each, name) != value:
                yield port.replace(classes=[*classes[:i], each.replace(**{name: value}), *classes[i + 1 :]])
