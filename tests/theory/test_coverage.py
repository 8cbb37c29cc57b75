# SPDX-License-Identifier: MIT
"""A 95 % interval covers the known answer 95 times in 100: M/M/1, M/D/1 and Cobham's priorities.

Each test makes hundreds of experiments, each with an interval of its own, and counts how many cover the closed form. If
an interval kept its word, the count would be binomial, and would lie outside the limits drawn here once in 1000 tests.
Loads, lengths and warm-ups are stated with each test: they are part of the claim. Queues start empty, and the warm-up
is many times the time in which they forget that. Run i has the i-th child of one root as its seed, whatever comes of
it. Unless stated otherwise, a mean packet lasts a millisecond.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Sequence

import numpy as np
import pytest

import qossim as qs
from qossim import theory

ROOT = 20260101
EXPERIMENTS, REPLICATIONS = 400, 10
RATE = 8_000_000  # a byte lasts a microsecond
SERVICE = 1e-3


def seeds(count: int) -> list[np.random.SeedSequence]:
    return np.random.SeedSequence(ROOT).spawn(count)


def limits(n: int, level: float) -> tuple[int, int]:
    """Of n intervals of this level, at least and at most how many cover: each side is wrong once in 2000."""
    shares = [math.comb(n, k) * level**k * (1 - level) ** (n - k) for k in range(n + 1)]
    low = next(k for k in range(n + 1) if math.fsum(shares[: k + 1]) > 0.0005)
    high = next(k for k in range(n, -1, -1) if math.fsum(shares[k:]) > 0.0005)
    return low, high


def keeps_its_word(covered: Sequence[bool] | np.ndarray, level: float = 0.95) -> None:
    low, high = limits(len(covered), level)
    assert low <= np.sum(covered) <= high, f"{np.sum(covered)} of {len(covered)} cover: {low} to {high} would do"


def replications(measure: Callable[[np.random.SeedSequence], object], each: int = REPLICATIONS) -> np.ndarray:
    """(experiment, replication, ...) float64: `measure` of runs that share nothing."""
    found = np.array([measure(seed) for seed in seeds(EXPERIMENTS * each)], dtype=float)
    return found.reshape(EXPERIMENTS, each, *found.shape[1:])


def covers(interval: qs.Interval, truth: float) -> bool:
    return interval.low <= truth <= interval.high


def md1(load: float) -> qs.Scenario:
    flow = qs.Flow("packets", qs.Poisson(pps=load / SERVICE, size=1000))
    return qs.Scenario([flow], [qs.Port("link", RATE)])


@functools.cache
def mm1(load: float) -> qs.Scenario:
    """Packets of 20 to 65500 bytes, in steps of 40 and 4000 on average, are as good as exponential."""
    values = np.arange(20, 65535, 40)
    weights = np.rint(1e15 * np.exp(-values / 4000)).astype(int)
    flow = qs.Flow("packets", qs.Poisson(pps=load / SERVICE, size=qs.Sizes(values, weights=weights)))
    return qs.Scenario([flow], [qs.Port("link", 4 * RATE)])


def mean_delay(scenario: qs.Scenario, duration: float, warmup: float) -> Callable[[np.random.SeedSequence], float]:
    def measure(seed: np.random.SeedSequence) -> float:
        result = qs.run(scenario, duration=duration, warmup=warmup, seed=seed, record="summary", progress=False)
        return result["packets"].delay_stats.mean

    return measure


# -- the limits --------------------------------------------------------------------------------------------------------


def test_the_limits_are_wrong_once_in_a_thousand_tests() -> None:
    for n, level in ((400, 0.95), (400, 0.9786)):
        low, high = limits(n, level)
        inside = math.fsum(math.comb(n, k) * level**k * (1 - level) ** (n - k) for k in range(low, high + 1))
        assert 0.999 <= inside < 0.9997
    assert limits(400, 0.95) == (364, 393)


# -- Student's t over replications -------------------------------------------------------------------------------------


@pytest.mark.parametrize(("load", "length"), [(0.5, 5), (0.8, 10)])
def test_interval_over_ten_replications_covers_the_mean_of_md1(load: float, length: float) -> None:
    """2500 packets a run at load 0.5, 8000 at 0.8, after a warm-up of 1 s."""
    truth = theory.md1_wait(load / SERVICE, SERVICE) + SERVICE
    values = replications(mean_delay(md1(load), 1 + length, 1))
    keeps_its_word([covers(qs.confidence(each), truth) for each in values])


def test_interval_over_ten_replications_covers_the_mean_of_mm1() -> None:
    """Load 0.6, 6000 packets a run, after a warm-up of 1 s."""
    scenario, rate = mm1(0.6), 0.6 / SERVICE
    sizes = scenario.flows[0].source.size
    mean, square, _ = theory.moments(np.array(sizes.values) / (4 * RATE / 8), sizes.weights)
    truth = theory.mm1_sojourn(rate, 1 / SERVICE)
    assert theory.mg1_wait(rate, mean, square) + mean == pytest.approx(truth, rel=1e-4), "the law is not exponential"
    values = replications(mean_delay(scenario, 11, 1))
    keeps_its_word([covers(qs.confidence(each), truth) for each in values])


def test_interval_over_ten_replications_covers_every_class_of_cobham() -> None:
    """Three classes under PQ at loads 0.052, 0.225 and 0.212, of 5 s after a warm-up of 1 s."""
    rates, sizes = (400, 150, 300), ([60, 200], [1500], [40, 576, 1500])
    moments = [theory.moments([8 * size / RATE for size in each]) for each in sizes]
    waits = theory.cobham_waits(rates, [m[0] for m in moments], [m[1] for m in moments])
    names = ["first", "second", "rest"]
    scenario = qs.Scenario(
        [
            qs.Flow(name, qs.Poisson(pps=rate, size=qs.Sizes(each)))
            for name, rate, each in zip(names, rates, sizes, strict=True)
        ],
        [
            qs.Port(
                "link",
                RATE,
                scheduler=qs.PQ(),
                classes=[*(qs.TrafficClass(name, flows=name) for name in names[:2]), qs.TrafficClass("rest")],
            )
        ],
    )

    def measure(seed: np.random.SeedSequence) -> list[float]:
        result = qs.run(scenario, duration=6, warmup=1, seed=seed, record="summary", progress=False)
        return [result[name].delay_stats.mean for name in names]

    values = replications(measure)
    for place, (wait, moment) in enumerate(zip(waits, moments, strict=True)):
        keeps_its_word([covers(qs.confidence(each[:, place]), wait + moment[0]) for each in values])


# -- one long run ------------------------------------------------------------------------------------------------------


def batches_of_md1(load: float, packets: int) -> list[qs.Interval]:
    scenario, duration = md1(load), 1 + packets * SERVICE / load
    runs = (qs.run(scenario, duration=duration, warmup=1, seed=seed, progress=False) for seed in seeds(EXPERIMENTS))
    return [qs.batch_means(run["packets"].delay) for run in runs]


@pytest.mark.parametrize(("load", "packets"), [(0.5, 20_000), (0.8, 100_000)])
def test_interval_of_one_run_that_is_long_enough_covers_the_mean_of_md1(load: float, packets: int) -> None:
    truth = theory.md1_wait(load / SERVICE, SERVICE) + SERVICE
    intervals = batches_of_md1(load, packets)
    keeps_its_word([covers(each, truth) for each in intervals])
    assert np.mean([each.correlation > 0.3 for each in intervals]) < 0.1


def test_interval_of_one_run_that_is_too_short_covers_too_seldom_and_its_batches_remember_each_other() -> None:
    """20 batches of 250 packets at load 0.9, where a queue remembers for about a thousand: no formula mends that."""
    truth = theory.md1_wait(0.9 / SERVICE, SERVICE) + SERVICE
    intervals = batches_of_md1(0.9, 5000)
    assert 0.75 * EXPERIMENTS < sum(covers(each, truth) for each in intervals) < limits(EXPERIMENTS, 0.95)[0]
    assert np.mean([each.correlation for each in intervals]) > 0.03
    assert np.mean([each.correlation > 0.3 for each in intervals]) > 0.1


# -- quantiles ---------------------------------------------------------------------------------------------------------


def wait_of_md1(q: float, load: float) -> float:
    """The q-quantile of the wait, by bisection of its distribution; for q above ``1 - load``."""
    low, high = 0.0, 100 * SERVICE
    for _ in range(50):
        middle = (low + high) / 2
        low, high = (middle, high) if theory.md1_wait_cdf(middle, load / SERVICE, SERVICE) < q else (low, middle)
    return high


@pytest.mark.parametrize(("q", "load", "length"), [(0.5, 0.8, 1.0), (0.9, 0.5, 0.2)])
def test_interval_of_a_quantile_covers_that_of_md1(q: float, load: float, length: float) -> None:
    """Thirty runs give thirty independent waits: that of the last packet before `length` seconds, from an empty queue.

    What the interval promises is the level that it reaches, a little above 95 %.
    """
    scenario, truth = md1(load), wait_of_md1(q, load)

    def last_wait(seed: np.random.SeedSequence) -> float:
        return float(qs.run(scenario, duration=length, seed=seed, progress=False)["packets"].delay[-1]) - SERVICE

    found = [qs.quantile_confidence(each, q) for each in replications(last_wait, each=30)]
    (level,) = {each.level for each in found}
    assert 0.95 <= level < 0.98
    keeps_its_word([each.low <= truth <= each.high for each in found], level)


def test_interval_over_replications_covers_the_99th_percentile_of_mm1() -> None:
    """Load 0.5, 5000 packets a run after a warm-up of 1 s, nearest-rank percentiles of all of them."""
    scenario, truth = mm1(0.5), theory.mm1_sojourn_quantile(0.99, 0.5 / SERVICE, 1 / SERVICE)

    def percentile(seed: np.random.SeedSequence) -> float:
        result = qs.run(scenario, duration=11, warmup=1, seed=seed, progress=False)
        return result["packets"].delay_stats.quantile(0.99)

    keeps_its_word([covers(qs.confidence(each), truth) for each in replications(percentile)])
