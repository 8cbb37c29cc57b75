# SPDX-License-Identifier: MIT
"""The scenarios that are measured."""

from __future__ import annotations

from fractions import Fraction

import qossim as qs
from qossim.experiments import ef_wfq_vs_pq
from qossim.scenario.sched import Scheduler

__all__ = ["SCHEDULERS", "many", "one_hop", "seconds_for", "seed"]

SCHEDULERS: dict[str, Scheduler] = {
    "FIFO": qs.FIFO(),
    "PQ": qs.PQ(),
    "DRR": qs.DRR(),
    "SCFQ": qs.SCFQ(),
    "WFQ": qs.WFQ(),
}

PPS = 240
"""Packets per second of all flows of `many`: of 1028 bytes, 12 % more than the line takes. The seed's are 10 % more."""


def seed(phases: str = "fixed") -> qs.Scenario:
    """The seed experiment at full load under priority queueing: with phases fixed it is what ``limit.c`` does."""
    return ef_wfq_vs_pq(scheduler="pq", best_effort=True, phases=phases)  # type: ignore[arg-type]


def one_hop() -> qs.Scenario:
    """Both flows of the seed over its loaded port alone."""
    full = seed()
    return qs.Scenario([flow.replace(route=None) for flow in full.flows], full.ports[:1])


def many(flows: int, classes: int, scheduler: Scheduler, *, hops: int = 1, alike: bool = True) -> qs.Scenario:
    """As many flows and classes as wanted on the seed's line, at the same load whatever their number.

    Flow i is of class i modulo `classes`; classes have equal weights. All are constant bit rate and begin at random
    within their interval: of one rate, or, if not `alike`, of rates between one and two times the least.
    """
    shares = [Fraction(1, flows) if alike else Fraction(2 * (flows + i), flows * (3 * flows - 1)) for i in range(flows)]
    near = seed().ports[0]
    return qs.Scenario(
        flows=[
            qs.Flow(f"flow {i}", qs.CBR(pps=PPS * share, size=1028, phase="random"), dscp=i % classes)
            for i, share in enumerate(shares)
        ],
        ports=[
            qs.Port(
                f"port {hop}",
                near.rate,
                scheduler=scheduler,
                classes=[
                    qs.TrafficClass(
                        f"class {i}",
                        match=i if i + 1 < classes else None,  # the last takes the rest
                        bandwidth=near.rate / classes,
                        queue=qs.DropTail(64),
                    )
                    for i in range(classes)
                ],
                framing=near.framing,
                tx_ring=near.tx_ring,
                propagation=near.propagation,
            )
            for hop in range(hops)
        ],
    )


def seconds_for(packets: int) -> float:
    """How long the flows of any scenario here take to send about so many packets."""
    return float(packets // PPS)
