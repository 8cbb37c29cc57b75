# SPDX-License-Identifier: MIT
"""Scenario: descriptions of everything on a packet's path, in path order. They check themselves and run nothing."""

# isort: off
from qossim.scenario.source import CBR, Flow, Poisson, Sizes, Source, Trace
from qossim.scenario.meter import Policer, TokenBucket
from qossim.scenario.queue import DropTail, Queue
from qossim.scenario.sched import DRR, FIFO, PQ, SCFQ, WFQ, Scheduler
from qossim.scenario.port import AAL5, HDLC, PPP, Ethernet, FrameRelay, Framing, Overhead, Port, TrafficClass, TxRing
from qossim.scenario.net import Scenario
# isort: on

__all__ = [  # noqa: RUF022
    # source
    "CBR",
    "Poisson",
    "Trace",
    "Sizes",
    "Flow",
    "Source",
    # meter
    "TokenBucket",
    "Policer",
    # queue
    "DropTail",
    "Queue",
    # sched
    "FIFO",
    "PQ",
    "WFQ",
    "SCFQ",
    "DRR",
    "Scheduler",
    # port
    "AAL5",
    "Ethernet",
    "PPP",
    "HDLC",
    "FrameRelay",
    "Overhead",
    "Framing",
    "TxRing",
    "TrafficClass",
    "Port",
    # net
    "Scenario",
]
