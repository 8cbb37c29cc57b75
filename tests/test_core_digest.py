# SPDX-License-Identifier: MIT
"""The core's digest of a run against what `qossim.statistics` says of the same packets, to the last bit."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import qossim as qs
from qossim._core import Simulation
from qossim.experiments import ef_wfq_vs_pq
from qossim.run import stream
from tests.bare import SECOND, add_flow, add_port, finished
from tests.twin.scenarios import draw

LEVELS = ((0, 1), (7, 100), (1, 2), (1, 2), (9, 10), (99, 100), (999, 1000), (1, 1))
SCALARS = 5


def digest(scenario: qs.Scenario, duration: Any, warmup: Any = 0, drain: bool = True) -> np.ndarray[Any, Any]:
    """One row of numbers for each flow."""
    lowered = scenario._lower()
    times = {"duration": round(duration * SECOND), "warmup": round(warmup * SECOND)}
    made = Simulation(record="packets", drain=drain, **times)
    for port in lowered.ports:
        made.add_port(*port)
    for flow, draws in lowered.flows:
        made.add_flow(*flow, stream(1, flow[0]) if draws else None)
    made.run()
    return np.frombuffer(made.digest(LEVELS)).reshape(len(scenario.flows), -1)


def expected(result: qs.Result, name: str) -> list[float]:
    flow = result[name]
    delay, ipdv, jitter = flow.delay_stats, flow.ipdv_stats, flow.jitter()
    q = [a / b for a, b in LEVELS]
    received, sent = (flow._times()[i] for i in (1, 0))
    ps = (received - sent)[received >= 0]
    pdv = qs.Statistics(ps - ps.min() if len(ps) else ps, per=SECOND)
    return [
        *(delay.min, delay.mean, delay.max, ipdv.absolute().mean, jitter[-1] if len(jitter) else math.nan),  # type: ignore[attr-defined]
        *(delay.quantile(q) if delay.count else [math.nan] * len(q)),
        *(ipdv.quantile(q) if ipdv.count else [math.nan] * len(q)),
        *(pdv.quantile(q) if pdv.count else [math.nan] * len(q)),
    ]


def check(scenario: qs.Scenario, duration: Any, warmup: Any = 0, drain: bool = True) -> None:
    found = digest(scenario, duration, warmup, drain)
    result = qs.run(scenario, duration=duration, warmup=warmup, seed=1, drain=drain, progress=False)
    for row, name in zip(found, result, strict=True):
        np.testing.assert_array_equal(row, expected(result, name), name)


def test_the_digest_of_random_scenarios_is_what_python_makes_of_their_rows() -> None:
    for seed in range(300):
        scenario, duration, drain = draw(seed)
        check(scenario, duration, duration * (seed % 3) / 4, drain)


@pytest.mark.parametrize("duration", [0.5, 7.0, 70.0, 700.0])
def test_the_digest_of_the_seed_experiment_is_what_python_makes_of_its_rows(duration: float) -> None:
    for best_effort in (True, False):
        check(ef_wfq_vs_pq(best_effort=best_effort), duration, duration / 10)


@pytest.mark.parametrize("scheduler", ["pq", "wfq"])
def test_the_digest_of_many_different_delays_is_what_python_makes_of_them(scheduler: Any) -> None:
    link = qs.Port("link", "1 Mbit/s", classes=[qs.TrafficClass("all", queue=qs.DropTail(20))])
    flows = [qs.Flow(name, qs.Poisson(pps=100, size=qs.Sizes([40, 1500]))) for name in "ab"]
    check(qs.Scenario(flows=flows, ports=[link]), 60.0, 3.0)


def test_delays_as_long_as_the_clock_are_digested_exactly() -> None:
    """A packet takes four million seconds: sums outgrow 64 bits, and so do differences with a packet that is lost."""
    slow = qs.Port("slow", rate=0.12)
    flows = [
        qs.Flow("late", qs.Trace([0, 0, 0, 0, 9_000_000], 60_000)),
        qs.Flow("early", qs.Trace([0, 1, 9_000_000], 40)),
    ]
    for drain in (True, False):
        check(qs.Scenario(flows=flows, ports=[slow]), 9_100_000, drain=drain)
        check(qs.Scenario(flows=flows[::-1], ports=[slow]), 9_100_000, drain=drain)


def test_without_packets_every_number_of_the_digest_is_nan() -> None:
    made = Simulation(record="packets", duration=SECOND)
    add_port(made)
    add_flow(made, start=SECOND)
    made.run()
    numbers = np.frombuffer(made.digest(LEVELS))
    assert len(numbers) == SCALARS + 3 * len(LEVELS)
    assert np.isnan(numbers).all()
    assert np.isnan(np.frombuffer(made.digest(()))).all()


def test_a_digest_takes_nothing_away_and_comes_before_the_columns_are() -> None:
    made = finished()
    first = made.digest(LEVELS)
    made.hop(0)
    assert made.digest(LEVELS) == first
    made.packets()
    with pytest.raises(RuntimeError, match="given away: ask for the digest before"):
        made.digest(LEVELS)


@pytest.mark.parametrize(
    ("levels", "error", "message"),
    [
        ([(1, 2)], TypeError, "levels must be a tuple, not list"),
        ((0.5,), TypeError, r"a level must be a tuple \(numerator, denominator\)"),
        (((1, 2, 3),), TypeError, r"a level must be a tuple \(numerator, denominator\)"),
        (((1.0, 2),), TypeError, "a level's numerator must be an int"),
        (((1, 0),), Exception, "a level's denominator must be"),
        (((3, 2),), Exception, "a level's numerator must be"),
        (((-1, 2),), Exception, "a level's numerator must be"),
        (((1, 2), (1, 3)), ValueError, "levels must ascend"),
    ],
)
def test_levels_are_ascending_ratios_from_0_to_1(levels: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        finished().digest(levels)
