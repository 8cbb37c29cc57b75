# SPDX-License-Identifier: MIT
"""Poisson arrivals against the closed forms: M/D/1, M/G/1, finite queues, priorities, and the conservation of work."""

from fractions import Fraction

import numpy as np
import pytest

import qossim as qs
from qossim import theory
from tests.theory.confidence import agree, replicate

RATE = 8_000_000  # a byte lasts a microsecond
SIZES = qs.Sizes([40, 576, 1500], weights=[7, 4, 1])


def service_moments(*sizes, weights=None, rate=RATE):
    return theory.moments([8 * size / rate for size in sizes], weights)


def waits(result, flow="packets", port="link"):
    """Seconds before service of each packet that counts."""
    rows = result[flow].rows
    sent = result.packets["sent"][rows]
    hop = result.hop(port)
    counted = sent >= result.warmup * 1e12
    return ((hop["start"] - hop["queued"])[rows] / 1e12)[counted]


def mean_waits(scenario, duration, warmup, seed):
    """Mean wait of each flow at the only port."""
    result = qs.run(scenario, duration=duration, warmup=warmup, seed=seed, record="summary")
    return [flow.delay_budget()["queue"].iloc[0] for flow in result.flows.values()]


@pytest.mark.parametrize(("load", "duration", "within"), [(0.5, 250, 0.012), (0.8, 120, 0.02), (0.9, 300, 0.03)])
def test_mean_wait_of_md1(load, duration, within):
    flow = qs.Flow("packets", qs.Poisson(pps=1000 * load, size=1000))
    scenario = qs.Scenario([flow], [qs.Port("link", RATE)])
    values = replicate(lambda seed: mean_waits(scenario, duration, 5, seed))
    agree(values, [theory.md1_wait(1000 * load, 1e-3)], within=within)


@pytest.mark.parametrize(("load", "duration", "within"), [(0.5, 250, 0.015), (0.8, 120, 0.025)])
def test_mean_queue_of_md1_is_littles(load, duration, within):
    flow = qs.Flow("packets", qs.Poisson(pps=1000 * load, size=1000))
    scenario = qs.Scenario([flow], [qs.Port("link", RATE)])

    def mean_queues(seed):
        port = qs.run(scenario, duration=duration, warmup=5, seed=seed, record="none").port("link")
        (each,) = port.classes.values()
        return (each.mean_queue,)

    expected = 1000 * load * theory.md1_wait(1000 * load, 1e-3)
    agree(replicate(mean_queues), [expected], within=within)


@pytest.mark.parametrize("load", [0.5, 0.8])
def test_distribution_of_the_wait_of_md1(load):
    flow = qs.Flow("packets", qs.Poisson(pps=1000 * load, size=1000))
    scenario = qs.Scenario([flow], [qs.Port("link", RATE)])
    limits = np.array([0, 0.5e-3, 1e-3, 3e-3])

    def shares(seed):
        wait = waits(qs.run(scenario, duration=60, warmup=5, seed=seed))
        return (wait[:, None] <= limits).mean(axis=0)

    agree(replicate(shares), [theory.md1_wait_cdf(limit, 1000 * load, 1e-3) for limit in limits], within=0.02)


def test_mean_and_spread_of_the_wait_of_mg1():
    m1, m2, m3 = service_moments(*SIZES.values, weights=[7, 4, 1], rate=2e6)
    arrivals = 0.5 / m1
    flow = qs.Flow("packets", qs.Poisson(pps=arrivals, size=SIZES))
    scenario = qs.Scenario([flow], [qs.Port("link", "2 Mbit/s")])

    def mean_and_square(seed):
        wait = waits(qs.run(scenario, duration=200, warmup=5, seed=seed))
        return wait.mean(), (wait**2).mean()

    mean, spread = theory.mg1_wait(arrivals, m1, m2), theory.mg1_wait_std(arrivals, m1, m2, m3)
    agree(replicate(mean_and_square), [mean, mean**2 + spread**2], within=0.04)


@pytest.mark.parametrize(("load", "queue"), [(0.8, 4), (1.2, 9)])
def test_share_lost_by_a_finite_queue(load, queue):
    """A queue of n packets before a link without a ring has n + 1 places."""
    flow = qs.Flow("packets", qs.Poisson(pps=1000 * load, size=1000))
    port = qs.Port("link", RATE, classes=[qs.TrafficClass("all", queue=qs.DropTail(queue))])
    scenario = qs.Scenario([flow], [port])

    def lost(seed):
        return [qs.run(scenario, duration=60, warmup=1, seed=seed, record="none")["packets"].loss_ratio]

    agree(replicate(lost), [theory.md1k_loss(load, queue + 1)], within=0.05)


def priorities(flows, scheduler=None):
    classes = [qs.TrafficClass(flow.name, flows=flow.name, bandwidth=1000) for flow in flows[:-1]]
    classes.append(qs.TrafficClass("rest", bandwidth=1000))
    return qs.Scenario(flows, [qs.Port("link", RATE, scheduler=scheduler or qs.PQ(), classes=classes)])


@pytest.mark.parametrize(
    ("rates", "sizes"),
    [
        ((300, 500), ([1000], [1000])),
        ((200, 300, 400), ([1000], [1000], [1000])),
        ((400, 150, 300), ([60, 200], [1500], [40, 576, 1500])),
    ],
    ids=["two", "three", "sizes"],
)
def test_mean_waits_of_priorities_are_cobhams(rates, sizes):
    flows = [
        qs.Flow(f"class {i}", qs.Poisson(pps=pps, size=qs.Sizes(some)))
        for i, (pps, some) in enumerate(zip(rates, sizes, strict=True))
    ]
    moments = [service_moments(*some) for some in sizes]
    expected = theory.cobham_waits(rates, [m[0] for m in moments], [m[1] for m in moments])
    scenario = priorities(flows)
    values = replicate(lambda seed: mean_waits(scenario, 200, 10, seed))
    agree(values, expected, within=0.06)


@pytest.mark.parametrize("scheduler", [qs.PQ(), qs.SCFQ(), qs.WFQ(), qs.DRR()], ids=str)
def test_work_is_conserved_whatever_the_scheduler(scheduler):
    """Length times (wait + half of service), summed over all packets, is the integral of the work: exactly the same."""
    flows = [
        qs.Flow("small", qs.Poisson(pps=2000, size=qs.Sizes([40, 200])), stop=1),
        qs.Flow("large", qs.Poisson(pps=400, size=qs.Sizes([576, 1500])), stop=1),
        qs.Flow("rest", qs.Poisson(pps=300, size=1000), stop=1),
    ]

    def work(scheduler):
        result = qs.run(priorities(flows, scheduler), duration=2, seed=11)
        hop = result.hop("link")
        wait, sent = (hop["start"] - hop["queued"]).tolist(), (hop["end"] - hop["start"]).tolist()
        assert result.port("link").utilisation > 0.3
        return sum(
            size * Fraction(2 * w + s, 2)
            for size, w, s in zip(result.packets["size"].tolist(), wait, sent, strict=True)
        )

    assert work(scheduler) == work(qs.FIFO())


def test_wait_does_not_depend_on_the_scheduler_where_no_class_looks_at_sizes():
    """Pollaczek and Khinchine's mean is FIFO's, and PQ's over all packets when the classes have the same sizes."""
    m1, m2, _ = service_moments(*SIZES.values, weights=[7, 4, 1])
    flows = [qs.Flow(name, qs.Poisson(pps=0.35 / m1, size=SIZES)) for name in ("one", "other")]
    scenario = priorities(flows)

    def overall(seed):
        result = qs.run(scenario, duration=100, warmup=5, seed=seed)
        return [np.concatenate([waits(result, name) for name in ("one", "other")]).mean()]

    agree(replicate(overall), [theory.mg1_wait(0.7 / m1, m1, m2)], within=0.03)
