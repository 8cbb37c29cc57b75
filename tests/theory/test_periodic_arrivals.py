# SPDX-License-Identifier: MIT
"""Periodic streams of random phase against N*D/D/1, Lindley's recursion, and a queue that can but grow."""

import numpy as np
import pytest

import qossim as qs
from qossim import theory
from tests.theory.confidence import STUDENT

SLOT = 10**9  # a packet of 1000 bytes at 8 Mbit/s: a millisecond, in picoseconds


def streams(count, period):
    """`count` streams of one packet every `period` slots, of random phases."""
    flows = [qs.Flow(f"stream {i}", qs.CBR(interval=period * 1e-3, size=1000, phase="random")) for i in range(count)]
    return qs.Scenario(flows, [qs.Port("link", "8 Mbit/s")])


@pytest.mark.parametrize(
    ("count", "period", "limits", "runs"),
    [(2, 3, (0, 0.5), 2000), (10, 12, (1, 3), 2000), (30, 40, (1, 3), 1500), (100, 125, (2, 5), 600)],
)
def test_waits_of_many_streams_are_those_of_nddd1(count, period, limits, runs):
    """Every packet of the second period counts; runs are independent, the packets within one are not."""
    scenario = streams(count, period)

    def shares(seed):
        result = qs.run(scenario, duration=2 * period * 1e-3, seed=seed)
        hop = result.hop("link")
        wait = (hop["start"] - hop["queued"])[result.packets["seq"] == 1]
        assert len(wait) == count
        return [(wait > limit * SLOT).mean() for limit in limits]

    values = np.array([shares(seed) for seed in range(runs)])
    expected = np.array([theory.nddd1_wait_tail(limit, count, period) for limit in limits])
    half_width = STUDENT * values.std(axis=0, ddof=1) / np.sqrt(runs)
    assert (half_width < 0.25 * expected).all(), (half_width, expected)
    assert (np.abs(values.mean(axis=0) - expected) < half_width).all(), (values.mean(axis=0), half_width, expected)


def test_streams_repeat_themselves_once_they_all_send():
    result = qs.run(streams(30, 40), duration=0.4, seed=5)
    hop = result.hop("link")
    waits = (hop["start"] - hop["queued"]).reshape(30, -1)
    assert (waits[:, 1:] == waits[:, 1:2]).all()


def test_a_stream_slower_than_the_link_never_waits_and_a_faster_one_ever_longer():
    def waits(interval):
        flow = qs.Flow("stream", qs.CBR(interval=interval, size=1000))
        result = qs.run(qs.Scenario([flow], [qs.Port("link", "8 Mbit/s")]), duration=0.5, seed=0)
        return result.hop("link")["start"] - result.hop("link")["queued"]

    assert not waits(1e-3).any()
    growing = waits(0.9e-3)
    assert growing.tolist() == [n * SLOT // 10 for n in range(len(growing))]


def test_any_arrivals_wait_as_lindley_says():
    rng = np.random.default_rng(3)
    gaps = rng.integers(1, 2 * SLOT, 2000)
    arrivals, sizes = np.cumsum(gaps), rng.integers(40, 1501, 2000)
    flow = qs.Flow("trace", qs.Trace(arrivals.astype("m8[ps]"), sizes))
    result = qs.run(qs.Scenario([flow], [qs.Port("link", "8 Mbit/s")]), duration=10, seed=0)
    hop = result.hop("link")
    assert np.array_equal((hop["start"] - hop["queued"]), theory.lindley(arrivals, sizes * 10**6))
