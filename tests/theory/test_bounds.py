# SPDX-License-Identifier: MIT
"""Worst cases: no packet of a stream that obeys its token bucket is ever later than the bound, and some come near."""

from fractions import Fraction

import numpy as np
import pytest

import qossim as qs
from qossim import theory

RATE = Fraction(2_000_000)
PS = 10**12


def greedy(name, burst, rate, size, packets=100, rounds=5):
    """A stream that sends its whole burst at once and then as fast as its bucket of `burst` bits at `rate` allows.

    It begins anew, its bucket full, a few times, each at another instant of what else is being sent, the first when all
    else has been sending for a while.
    """
    bits = 8 * size
    once = [max(Fraction(0), Fraction((n + 1) * bits - burst) / rate) for n in range(packets // rounds)]
    pause = once[-1] + Fraction(burst) / rate
    times = [Fraction(1001, 1000) + r * (pause + Fraction(7, 10_000)) + t for r in range(rounds) for t in once]
    return qs.Flow(name, qs.Trace(np.array([-(-t * PS // 1) for t in times], dtype=np.int64).astype("m8[ps]"), size))


def flood(name, size, rate=RATE, seconds=8):
    """More than the link can take, from the start on."""
    return qs.Flow(name, qs.CBR(rate=2 * rate, size=size), stop=seconds)


def delays(flows, scheduler, weights, quanta=None, ring=None):
    """Seconds to the last bit, of the first flow, on a link where each flow is a class of its own."""
    classes = [
        qs.TrafficClass(flow.name, flows=flow.name, bandwidth=weight, quantum=quantum, queue=qs.DropTail(5000))
        for flow, weight, quantum in zip(flows, weights, quanta or [None] * len(flows), strict=True)
    ]
    classes.append(qs.TrafficClass("rest", bandwidth=1, quantum=1 if quanta else None))
    port = qs.Port("link", RATE, scheduler=scheduler, classes=classes, tx_ring=ring)
    own = qs.run(qs.Scenario(flows, [port]), duration=8, seed=0)[flows[0].name]
    assert own.lost == own.inside == 0
    return own.delay


@pytest.mark.parametrize("burst_packets", [1, 3, 10])
def test_pgps_keeps_parekh_and_gallagers_bound(burst_packets):
    length, reserved = 8 * 1166, Fraction(400_000)
    flows = [greedy("own", burst_packets * length, reserved, 1166), flood("other", 1166)]
    bound = float(theory.pgps_delay_bound(burst_packets * length, reserved, length, RATE))
    delay = delays(flows, qs.WFQ(), [400_000, 1_600_000])
    assert delay.max() <= bound
    assert delay.max() > 0.8 * bound, "and it is no idle bound"


def test_pgps_never_ends_a_packet_a_packet_later_than_gps_of_a_class_alone():
    """With one packet at a time at the guaranteed rate, GPS takes L / g; PGPS at most Lmax / C more."""
    length, reserved = 8 * 500, Fraction(300_000)
    flows = [greedy("own", length, reserved, 500), flood("other", 1500)]
    delay = delays(flows, qs.WFQ(), [300_000, 1_700_000])
    assert delay.max() <= float(length / reserved + Fraction(8 * 1500) / RATE)


@pytest.mark.parametrize("others", [1, 3, 7])
def test_scfq_keeps_golestanis_bound(others):
    length, reserved = 8 * 1166, Fraction(400_000)
    share = (RATE - reserved) / others
    flows = [greedy("own", 2 * length, reserved, 1166), *(flood(f"other {i}", 1166) for i in range(others))]
    latency = theory.scfq_latency(length, reserved, length, RATE, others + 1)
    bound = float(theory.delay_bound(length, reserved, latency))
    assert delays(flows, qs.SCFQ(), [reserved, *[share] * others]).max() <= bound


def test_scfq_comes_near_its_bound_where_pgps_stays_far_below():
    """Golestani's late arrival: ten light classes go before a heavy one that has just become busy."""
    length, reserved = 8000, RATE / 2
    times = np.array([0, 0], dtype="m8[ps]")
    light = [qs.Flow(f"light {i}", qs.Trace(times, 1000)) for i in range(10)]
    own = qs.Flow("own", qs.Trace(np.array([4000], dtype="m8[us]"), 1000))
    weights = [reserved, *[reserved / 10] * 10]
    late = delays([own, *light], qs.SCFQ(), weights).max()
    assert late == pytest.approx(0.040), "nine others go first"
    scfq = float(theory.scfq_latency(length, reserved, length, RATE, 11))
    assert 0.8 * scfq < late <= scfq
    pgps = float(theory.pgps_latency(length, reserved, length, RATE))
    assert delays([own, *light], qs.WFQ(), weights).max() <= pgps < late


@pytest.mark.parametrize(("quanta", "size"), [((1500, 6000), 1500), ((1500, 1500), 1500), ((1500, 3000, 3000), 700)])
def test_drr_keeps_stiliadis_and_varmas_bound(quanta, size):
    bits = [8 * quantum for quantum in quanta]
    reserved = RATE * bits[0] / sum(bits)
    burst = 2 * 8 * size
    flows = [greedy("own", burst, reserved, size), *(flood(f"other {i}", 1500) for i in range(len(quanta) - 1))]
    bound = float(theory.delay_bound(burst, reserved, theory.drr_latency(bits, bits[0], RATE)))
    delay = delays(flows, qs.DRR(), [1] * len(quanta), quanta)
    assert delay.max() <= bound
    assert delay.max() > 0.3 * bound


@pytest.mark.parametrize("quanta", [(1500, 6000), (500, 2000), (1500, 1500)])
def test_drr_is_as_fair_as_shreedhar_and_varghese_say(quanta):
    """Over every interval in which both classes are backlogged, their bytes over their quanta stay close."""
    flows = [flood("one", 700), flood("other", 1500)]
    classes = [
        qs.TrafficClass("one", flows="one", quantum=quanta[0], queue=qs.DropTail(10**6)),
        qs.TrafficClass("other", quantum=quanta[1], queue=qs.DropTail(10**6)),
    ]
    result = qs.run(
        qs.Scenario(flows, [qs.Port("link", RATE, scheduler=qs.DRR(), classes=classes)]), duration=4, seed=0
    )
    order = np.argsort(result.hop("link")["start"], kind="stable")[100:2000]
    smallest = min(quanta)
    share = np.array([smallest / quantum for quantum in quanta])[result.packets["flow"][order]]
    sign = np.where(result.packets["flow"][order] == 0, 1, -1)
    ahead = np.concatenate([[0], np.cumsum(sign * result.packets["size"][order] * share)])
    assert ahead.max() - ahead.min() <= theory.drr_unfairness(smallest, 1500)


@pytest.mark.parametrize("scheduler", [qs.SCFQ(), qs.SCFQ("wire"), qs.WFQ()], ids=str)
def test_fair_queueing_is_as_fair_as_golestani_says(scheduler):
    flows = [flood("one", 700), flood("other", 1500)]
    weights = (400_000, 1_600_000)
    classes = [
        qs.TrafficClass("one", flows="one", bandwidth=weights[0], queue=qs.DropTail(10**6)),
        qs.TrafficClass("other", bandwidth=weights[1], queue=qs.DropTail(10**6)),
    ]
    result = qs.run(
        qs.Scenario(flows, [qs.Port("link", RATE, scheduler=scheduler, classes=classes)]), duration=4, seed=0
    )
    order = np.argsort(result.hop("link")["start"], kind="stable")[100:2000]
    flow = result.packets["flow"][order]
    normalised = 8 * result.packets["size"][order] / np.array(weights)[flow]
    ahead = np.concatenate([[0], np.cumsum(np.where(flow == 0, 1, -1) * normalised)])
    assert ahead.max() - ahead.min() <= theory.scfq_unfairness(8 * 700, weights[0], 8 * 1500, weights[1]) * (1 + 1e-12)


@pytest.mark.parametrize(
    ("limit", "admit", "free", "in_flight"),
    [
        (None, "overshoot", "start", 1),
        (5, "overshoot", "start", 1),
        (5, "strict", "start", 1),
        (9, "overshoot", "end", 0),
    ],
)
def test_priority_waits_for_the_ring_and_what_is_on_the_wire(limit, admit, free, in_flight):
    """A greedy priority stream behind a flooded ring; its wait counts from the arrival of a burst of three packets."""
    size, length = 1000, 8000
    own = greedy("own", 3 * length, Fraction(300_000), size)
    ring = None if limit is None else qs.TxRing(limit, admit=admit, free=free)
    held = 0 if limit is None else theory.ring_packets(limit, 1500, admit=admit) * 8 * 1500
    bound = theory.priority_wait_bound(3 * length, length, held, in_flight * 8 * 1500, RATE)
    delay = delays([own, flood("other", 1500)], qs.PQ(), [1, 1], ring=ring)
    worst = float(bound + Fraction(length) / RATE)
    assert delay.max() <= worst
    assert delay.max() > 0.6 * worst


def test_pgps_over_two_links_keeps_the_bound():
    length, reserved = 8 * 1166, Fraction(400_000)
    flows = [greedy("own", 3 * length, reserved, 1166), flood("other", 1166)]
    classes = [
        qs.TrafficClass("own", flows="own", bandwidth=400_000, queue=qs.DropTail(1000)),
        qs.TrafficClass("rest", bandwidth=1_600_000, queue=qs.DropTail(1000)),
    ]
    ports = [qs.Port(name, RATE, scheduler=qs.WFQ(), classes=classes) for name in ("near", "far")]
    floods = [flows[1].replace(name=port.name, route=[port.name]) for port in ports]
    result = qs.run(qs.Scenario([flows[0], *floods], ports), duration=8, seed=0)
    bound = float(theory.pgps_delay_bound(3 * length, reserved, length, RATE, packet=length, hops=2))
    assert result["own"].lost == 0
    assert bound >= result["own"].delay.max() > 0.6 * bound
