# SPDX-License-Identifier: MIT
"""Counted: what stands in the queues and in the ring after each instant, and which packets are lost together.

All of it over packets and times from warm-up on, straight from the definitions: an average over time is a sum over the
intervals between instants, a loss period is found by walking along the packets of a flow.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import groupby
from typing import NamedTuple

from .packet import DROPPED_POLICER, DROPPED_QUEUE, RECEIVED, Row
from .port import Port


class Standing(NamedTuple):
    """What stood somewhere: picoseconds times packets (particles), and the most of them after an instant."""

    area: int
    largest: int


class LossPeriods(NamedTuple):
    count: int
    longest: int


def delivered(rows: Iterable[Row], warmup: int, duration: int, flows: int) -> list[int]:
    """By flow, the bytes sent from warm-up on that arrive at its receiver before the sources stop."""
    total = [0] * flows
    for row in rows:
        if row.fate == RECEIVED and warmup <= row.sent and row.received < duration:
            total[row.flow] += row.size
    return total


class Tally:
    """Looks at the ports after every instant.

    Averages are over [warmup, duration]; the largest is of what stands at ``warmup`` and after every instant from then
    on.
    """

    def __init__(self, ports: list[Port], warmup: int, duration: int) -> None:
        self.ports = ports
        self.warmup, self.duration = warmup, duration
        self.before = 0
        self.queues = [[Standing(0, 0) for _ in port.queues] for port in ports]
        self.rings = [Standing(0, 0) for _ in ports]

    def go_to(self, now: int | None) -> None:
        """What stands now stands until the next instant, ``now``; None: there is none."""
        begin = max(self.before, self.warmup)
        span = max(0, (self.duration if now is None else min(now, self.duration)) - begin)
        stands = now is None or now > self.warmup
        for i, port in enumerate(self.ports):
            for c, queue in enumerate(port.queues):
                self.queues[i][c] = _longer(self.queues[i][c], len(queue.packets), span, stands)
            self.rings[i] = _longer(self.rings[i], port.in_use, span, stands)
        self.before = self.duration if now is None else now


def _longer(standing: Standing, n: int, span: int, stands: bool) -> Standing:
    return Standing(standing.area + n * span, max(standing.largest, n) if stands else standing.largest)


def loss_periods(rows: Iterable[Row], warmup: int, flows: int) -> list[LossPeriods]:
    """By flow, from the rows of a run in order of (flow, seq)."""
    lengths: list[list[int]] = [[] for _ in range(flows)]
    counted = (row for row in rows if row.sent >= warmup)
    for (flow, lost), group in groupby(counted, key=lambda row: (row.flow, row.fate in LOST)):
        if lost:
            lengths[flow].append(len(list(group)))
    return [LossPeriods(len(each), max(each, default=0)) for each in lengths]


LOST = (DROPPED_QUEUE, DROPPED_POLICER)
