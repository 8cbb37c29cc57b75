# SPDX-License-Identifier: MIT
"""Hops: flows, ports and the one loop over the instants at which something happens."""

from __future__ import annotations

from fractions import Fraction
from heapq import heappop, heappush
from typing import Any, NamedTuple

from . import source
from .packet import MISSING, RECEIVED, Packet, Row, picoseconds
from .port import Port
from .tally import LossPeriods, Standing, Tally, delivered, loss_periods

LAST_INSTANT = 2**63 - 2


class Counts(NamedTuple):
    """By port and class, by port, and two by flow."""

    queues: list[list[Standing]]
    rings: list[Standing]
    losses: list[LossPeriods]
    delivered: list[int]


def simulate(scenario: Any, duration: Fraction | float, seed: Any = None, drain: bool = True) -> list[Row]:
    """The fate and the timestamps of every packet sent, in order of (flow, seq).

    Parameters
    ----------
    scenario : qossim.Scenario
        What to simulate.
    duration : Fraction, int or float
        How long the sources send, in seconds.
    seed : int or numpy.random.SeedSequence
        Root of the flows' random streams; needed by random sources only.
    drain : bool
        Whether the run goes on until every packet has arrived or died. Otherwise what would happen at ``duration`` or
        later does not happen.
    """
    return simulate_and_count(scenario, duration, seed, drain)[0]


def simulate_and_count(
    scenario: Any,
    duration: Fraction | float,
    seed: Any = None,
    drain: bool = True,
    warmup: Fraction | float = 0,
) -> tuple[list[Row], Counts]:
    """The same, and what is counted from ``warmup`` seconds on."""
    sending_ends = picoseconds(duration)
    ports = [Port(index, description) for index, description in enumerate(scenario.ports)]
    packets = [packet for index in range(len(scenario.flows)) for packet in born(scenario, index, sending_ends, seed)]
    tally = Tally(ports, picoseconds(warmup), sending_ends)
    run(ports, packets, LAST_INSTANT if drain else sending_ends - 1, tally)
    rows = [packet.row(len(ports)) for packet in packets]
    losses = loss_periods(rows, picoseconds(warmup), len(scenario.flows))
    arrived = delivered(rows, picoseconds(warmup), sending_ends, len(scenario.flows))
    return rows, Counts(tally.queues, tally.rings, losses, arrived)


def born(scenario: Any, index: int, sending_ends: int, seed: Any) -> list[Packet]:
    """All packets of a flow, in the order of sending."""
    flow = scenario.flows[index]
    names = [port.name for port in scenario.ports]
    route = tuple(names.index(name) for name in (names if flow.route is None else flow.route))
    raw = random_stream(seed, flow.name)
    pairs = source.packets(flow, sending_ends, raw)
    return [Packet(index, seq, size, sent, flow.name, flow.dscp, route) for seq, (sent, size) in enumerate(pairs)]


def random_stream(seed: Any, name: str) -> source.Raw:
    """The stream of a flow, made when its source first asks for it."""
    generator: Any = None

    def raw() -> int:
        nonlocal generator
        if generator is None:
            from qossim.run import stream

            generator = stream(seed, name)
        return int(generator.random_raw())

    return raw


def run(ports: list[Port], packets: list[Packet], last: int, tally: Tally) -> None:
    """Go from instant to instant, the four phases at each, until nothing is left or the last instant has passed.

    Only ports at which something happens move packets: one whose front packet was dropped for want of room in the ring
    looks at the next packet when it is next touched, and not because of an event elsewhere.
    """
    under_way: list[tuple[int, int, int, Packet]] = []  # by (time of arrival, flow, seq)
    for packet in packets:
        heappush(under_way, (packet.sent, packet.flow, packet.seq, packet))
    while True:
        coming = [under_way[0][0]] if under_way else []
        coming += [time for port in ports if (time := port.next_instant()) is not None]
        now = min(coming, default=last + 1)
        tally.go_to(now if now <= last else None)
        if now > last:
            return
        touched = {port for port in ports if port.next_instant() == now}
        for port in touched:
            if sent := port.finish(now):
                sent.passed += 1
                heappush(under_way, (now + port.propagation, sent.flow, sent.seq, sent))
        while under_way and under_way[0][0] == now:
            touched |= arrive(ports, heappop(under_way)[-1], now)
        for port in touched:
            port.move(now)
        for port in touched:
            port.trim()


def arrive(ports: list[Port], packet: Packet, now: int) -> set[Port]:
    """A packet arrives at the next port of its route, or behind the last one at its receiver: the port, if any."""
    if packet.passed < len(packet.route):
        port = ports[packet.route[packet.passed]]
        port.arrive(packet, now)
        return {port}
    packet.received, packet.fate, packet.where = now, RECEIVED, MISSING
    return set()
