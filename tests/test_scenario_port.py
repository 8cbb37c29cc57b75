# SPDX-License-Identifier: MIT
"""Ports and what they are made of: framings, rings, classes, schedulers, meters, queues."""

from __future__ import annotations

from fractions import Fraction

import pytest

import qossim as qs


@pytest.mark.parametrize(
    ("framing", "size", "wire"),
    [  # bytes as counted in the standards, by hand
        (qs.AAL5(), 40, 2 * 53),
        (qs.AAL5(), 1028, 22 * 53),
        (qs.AAL5(), 1040, 22 * 53),
        (qs.AAL5(), 1041, 23 * 53),
        (qs.AAL5("vc-mux"), 40, 53),
        (qs.AAL5("vc-mux"), 1000, 21 * 53),
        (qs.Ethernet(), 40, 84),
        (qs.Ethernet(), 46, 84),
        (qs.Ethernet(), 1500, 1538),
        (qs.Ethernet(tags=1), 1500, 1542),
        (qs.Ethernet(tags=2, preamble_and_gap=False), 40, 66),
        (qs.Ethernet(preamble_and_gap=False), 40, 64),
        (qs.PPP(), 60, 68),
        (qs.HDLC(), 60, 67),
        (qs.FrameRelay(), 60, 67),
        (qs.Overhead(38, minimum=84), 40, 84),
        (qs.Overhead("38 B"), 1500, 1538),
        (None, 1500, 1500),
    ],
)
def test_framing_makes_of_a_datagram_what_the_standard_says(framing, size, wire):
    port = qs.Port("x", "2 Mbit/s", framing=framing)
    assert port.wire_bytes(size) == wire
    assert port.transmission_time(size) == Fraction(8 * wire, 2_000_000)


def test_the_reference_packet_takes_4664_microseconds():
    assert qs.Port("x", "2 Mbit/s", framing=qs.AAL5()).transmission_time(1028) == Fraction("0.004664")


@pytest.mark.parametrize(("size", "particles"), [(512, 1), (513, 2), (1028, 3), (1536, 3)])
def test_a_packet_takes_whole_particles(size, particles):
    assert qs.TxRing(5).particles(size) == particles
    assert qs.TxRing(5, header=12).particles(size - 12) == particles


def test_descriptions_have_the_defaults_that_were_promised():
    ring = qs.TxRing(5)
    assert (ring.particle, ring.header, ring.admit, ring.free) == (512, 0, "overshoot", "start")
    port = qs.Port("x", 1000)
    assert (port.scheduler, port.classes, port.framing, port.tx_ring, port.propagation) == (
        qs.FIFO(),
        (),
        None,
        None,
        0,
    )
    assert qs.TrafficClass("x").queue == qs.DropTail()
    bucket = qs.TokenBucket("1 kbit/s", 0)
    assert (bucket.counts, bucket.overhead, bucket.when) == ("ip", 0, "always")


def test_attributes_are_exact():
    port = qs.Port("x", "2 Mbit/s", propagation="0.691 ms")
    assert (port.rate, port.propagation) == (Fraction(2_000_000), Fraction(691, 10**6))
    c = qs.TrafficClass("x", match=["EF", 34, "ef"], flows="a", bandwidth=0.1, quantum="1500.5 B")
    assert (c.match, c.flows, c.bandwidth, c.quantum) == ((46, 34), ("a",), Fraction(1, 10), Fraction(3001, 2))
    queue = qs.DropTail(10, bytes="8 kB", time="20 ms")
    assert (queue.packets, queue.bytes, queue.time) == (10, 8000, Fraction(1, 50))


def test_zero_limits_are_legal():
    assert qs.DropTail(0).packets == qs.DropTail(bytes=0).bytes == qs.DropTail(time=0).time == 0
    assert qs.TokenBucket(1, 0).burst == 0


@pytest.mark.parametrize(
    "scheduler", [qs.FIFO(), qs.PQ(), qs.WFQ(), qs.SCFQ(), qs.SCFQ(lengths="wire"), qs.DRR()], ids=repr
)
def test_without_classes_any_scheduler_will_do(scheduler):
    assert qs.Port("x", 1000, scheduler=scheduler).scheduler == scheduler


def classes(*shares):
    """Classes with the given bandwidth and quantum, the last for the rest."""
    return [
        qs.TrafficClass(f"c{i}", match=None if i == len(shares) - 1 else i, bandwidth=bandwidth, quantum=quantum)
        for i, (bandwidth, quantum) in enumerate(shares)
    ]


@pytest.mark.parametrize("scheduler", [qs.FIFO(), qs.PQ()], ids=repr)
def test_a_parameter_that_is_not_needed_is_ignored(scheduler):
    for shares in ([(None, None), (None, None)], [(1, None), (None, 7)], [("1000000000/3", None), (8e12, None)]):
        assert qs.Port("x", 1000, scheduler=scheduler, classes=classes(*shares))


@pytest.mark.parametrize("scheduler", [qs.WFQ(), qs.SCFQ()], ids=repr)
def test_fair_queueing_needs_every_bandwidth(scheduler):
    assert qs.Port("x", 1000, scheduler=scheduler, classes=classes((1000, None), (5000, 7)))
    with pytest.raises(qs.ScenarioError, match='Port "x": class "c1": bandwidth must be given for every class'):
        qs.Port("x", 1000, scheduler=scheduler, classes=classes((1, None), (None, 1500)))


def test_drr_needs_every_quantum_or_every_bandwidth():
    for shares in ([(None, 1), (None, 2)], [(1, None), (2, None)], [(1, 1), (2, 2)], [(1, 1), (2, None)]):
        assert qs.Port("x", 1000, scheduler=qs.DRR(), classes=classes(*shares))
    for shares, what in [
        ([(None, 1), (None, None)], '"c1": quantum'),
        ([(1, None), (None, None)], '"c1": bandwidth or quantum'),
        ([(1, None), (None, 1500)], '"c0": quantum'),
    ]:
        with pytest.raises(qs.ScenarioError, match=f"class {what} must be given for every class under DRR, got None"):
            qs.Port("x", 1000, scheduler=qs.DRR(), classes=classes(*shares))


def test_a_name_prints_as_the_call_that_makes_it():
    assert repr(qs.Port("x", 2e6, scheduler=qs.SCFQ("wire"), classes=[], framing=qs.Ethernet(tags=1))) == (
        "Port('x', rate='2 Mbit/s', scheduler=SCFQ(lengths='wire'), framing=Ethernet(tags=1))"
    )
    assert repr(qs.TrafficClass("x", match="EF", queue=qs.DropTail(5))) == (
        "TrafficClass('x', match='EF', queue=DropTail(5))"
    )
    assert repr(qs.TrafficClass("x", match=["EF", 5])) == "TrafficClass('x', match=['EF', 5])"
    assert repr(qs.DropTail(time="20 ms")) == "DropTail(time='20 ms')"
