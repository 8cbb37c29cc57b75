# SPDX-License-Identifier: MIT
"""qossim: the path of a packet through a router's egress port, to the picosecond.

Describe a scenario, run it, ask the result:

>>> import qossim as qs
>>> link = qs.Port("link", rate="10 Mbit/s", framing=qs.Ethernet())
>>> voice = qs.Flow("voice", qs.CBR(pps=50, size=200), dscp="EF")
>>> result = qs.run(qs.Scenario(flows=[voice], ports=[link]), duration=10.0, seed=1)
>>> float(result["voice"].delay.max())
0.0001904

The names below follow a packet: source, meter, queue, scheduler, port, net; then running, and what comes of it. Each is
imported when it is first used, so that the package costs nothing where it only stands by, as under pytest.
"""

from __future__ import annotations

import sys
from types import ModuleType
from typing import TYPE_CHECKING, Any

from qossim.errors import ScenarioError, SweepError

if TYPE_CHECKING:
    # isort: off
    from qossim.scenario.source import CBR, Flow, Poisson, Sizes, Trace
    from qossim.scenario.meter import TokenBucket
    from qossim.scenario.queue import DropTail
    from qossim.scenario.sched import DRR, FIFO, PQ, SCFQ, WFQ
    from qossim.scenario.port import AAL5, HDLC, PPP, Ethernet, FrameRelay, Overhead, Port, TrafficClass, TxRing
    from qossim.scenario.net import Scenario

    # isort: on
    from qossim import experiments, plots, sla, theory, units
    from qossim.explore import explore
    from qossim.result import Result, load
    from qossim.run import run
    from qossim.sla import SLA
    from qossim.statistics import (
        Interval,
        Statistics,
        StreamedStatistics,
        batch_means,
        confidence,
        mser5,
        quantile_confidence,
        student_t_quantile,
        warmup_of,
    )
    from qossim.sweep import sweep, zipped

__version__ = "0.1.0"

__all__ = [  # noqa: RUF022
    # source
    "CBR",
    "Poisson",
    "Trace",
    "Sizes",
    "Flow",
    # meter
    "TokenBucket",
    # queue
    "DropTail",
    # sched
    "FIFO",
    "PQ",
    "WFQ",
    "SCFQ",
    "DRR",
    # port
    "AAL5",
    "Ethernet",
    "PPP",
    "HDLC",
    "FrameRelay",
    "Overhead",
    "TxRing",
    "TrafficClass",
    "Port",
    # net
    "Scenario",
    "ScenarioError",
    # running, and what comes of it
    "run",
    "explore",
    "Result",
    "load",
    "sweep",
    "zipped",
    "SweepError",
    "Statistics",
    "StreamedStatistics",
    "Interval",
    "confidence",
    "quantile_confidence",
    "mser5",
    "warmup_of",
    "batch_means",
    "student_t_quantile",
    # what was promised
    "SLA",
    # modules
    "experiments",
    "plots",
    "sla",
    "theory",
    "units",
]

_LATER = {
    **dict.fromkeys(("CBR", "Poisson", "Trace", "Sizes", "Flow"), "scenario.source"),
    "TokenBucket": "scenario.meter",
    "DropTail": "scenario.queue",
    **dict.fromkeys(("FIFO", "PQ", "WFQ", "SCFQ", "DRR"), "scenario.sched"),
    **dict.fromkeys(("AAL5", "Ethernet", "PPP", "HDLC", "FrameRelay", "Overhead"), "scenario.port"),
    **dict.fromkeys(("TxRing", "TrafficClass", "Port"), "scenario.port"),
    "Scenario": "scenario.net",
    "run": "run",
    "explore": "explore",
    "Result": "result",
    "load": "result",
    "sweep": "sweep",
    "zipped": "sweep",
    "Statistics": "statistics",
    "StreamedStatistics": "statistics",
    "Interval": "statistics",
    "confidence": "statistics",
    "quantile_confidence": "statistics",
    "mser5": "statistics",
    "warmup_of": "statistics",
    "batch_means": "statistics",
    "student_t_quantile": "statistics",
    "SLA": "sla",
}
"""Names that are imported when first used, and the modules they stand in."""
_MODULES = frozenset({"experiments", "plots", "scenario", "sla", "theory", "units"})


def __getattr__(name: str) -> Any:
    from importlib import import_module

    if name in _MODULES:
        return import_module(f"qossim.{name}")
    if name not in _LATER:
        raise AttributeError(f"module 'qossim' has no attribute {name!r}")
    value = getattr(import_module(f"qossim.{_LATER[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})


class _Package(ModuleType):
    """The package, where ``run`` is the function even after the module of that name has been imported."""

    def __setattr__(self, name: str, value: object) -> None:
        if name in _LATER and isinstance(value, ModuleType):
            value = getattr(value, name)
        super().__setattr__(name, value)


sys.modules[__name__].__class__ = _Package
