# SPDX-License-Identifier: MIT
"""Schedules short enough to be worked out by hand, held against the core and against the twin.

Most run on a link of 8 bit/s, where a byte takes a second; packet "2.1" is the first of session 2. Session i has class
i, and the last class is the one that names nobody.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from fractions import Fraction
from types import SimpleNamespace
from typing import Any, TypeAlias

import numpy as np
import pytest

import qossim as qs
from tests.twin import DROPPED_POLICER, DROPPED_QUEUE, INSIDE, RECEIVED, Row, simulate
from tests.twin.compare import core
from tests.twin.sched import WFQ as FluidWFQ
from tests.twin.source import integer_weights, log

Simulate: TypeAlias = Callable[..., list[Row]]
Session: TypeAlias = Sequence[tuple[float, int]]
"""(time, size) of each packet."""

SECOND = 10**12


@pytest.fixture(params=[simulate, core], ids=["twin", "core"])
def run(request: pytest.FixtureRequest) -> Simulate:
    """Either simulator: called with a scenario and a duration, it gives the rows."""
    simulator: Simulate = request.param
    return simulator


def flow(name: str, packets: Session, **settings: Any) -> qs.Flow:
    times = np.array([time for time, _ in packets], dtype=np.float64)
    sizes = np.array([size for _, size in packets], dtype=np.int64)
    return qs.Flow(name, qs.Trace(times, sizes), **settings)


def link(
    sessions: Sequence[Session], scheduler: Any, classes: Sequence[dict[str, Any]], rate: Any = 8, **settings: Any
) -> qs.Scenario:
    """Sessions 1, 2, ... into one port, each with a class of its own."""
    flows = [flow(str(i), packets) for i, packets in enumerate(sessions, 1)]
    last = len(sessions)
    own = [qs.TrafficClass(str(i), flows=None if i == last else [str(i)], **each) for i, each in enumerate(classes, 1)]
    return qs.Scenario(flows=flows, ports=[qs.Port("link", rate, scheduler=scheduler, classes=own, **settings)])


def shares(*weights: float) -> list[dict[str, Any]]:
    """Classes with these shares of a link of 8 bit/s."""
    return [{"bandwidth": 8 * Fraction(str(weight))} for weight in weights]


def order(rows: Sequence[Row]) -> str:
    """The packets in the order in which they are sent, as session.packet."""
    sent = sorted((row.hops[0].start, row.flow + 1, row.seq + 1) for row in rows if row.hops[0].start >= 0)
    return " ".join(f"{session}.{packet}" for _, session, packet in sent)


def stamps(rows: Sequence[Row], stamp: str, session: int | None = None, unit: int = SECOND) -> list[float]:
    """One timestamp of all packets (of a session) at the first port, in seconds; -1 where it is missing."""
    times = [getattr(row.hops[0], stamp) for row in rows if session in (None, row.flow + 1)]
    return [time / unit if time >= 0 else -1 for time in times]


def fates(rows: Sequence[Row]) -> list[int]:
    return [row.fate for row in rows]


# -- the textbook schedules --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("spacing", [0, 1])
@pytest.mark.parametrize("scheduler", [qs.WFQ(), qs.SCFQ()], ids=["WFQ", "SCFQ"])
def test_bennett_and_zhang_ten_packets_of_half_the_link_go_before_the_ten_others(
    run: Simulate, scheduler: Any, spacing: int
) -> None:
    first = [(k * spacing, 1) for k in range(11)]
    rows = run(link([first, *[[(0, 1)]] * 10], scheduler, shares(0.5, *[0.05] * 10)), 100)
    expected = [*(f"1.{k}" for k in range(1, 11)), *(f"{i}.1" for i in range(2, 12)), "1.11"]
    assert order(rows) == " ".join(expected)


PAREKH_GALLAGER: tuple[Session, Session] = ([(1, 1), (2, 1), (3, 2), (11, 2)], [(0, 3), (5, 2), (9, 2)])


@pytest.mark.parametrize(
    ("scheduler", "weights", "first", "second"),
    [
        pytest.param(qs.WFQ(), (1, 1), [4, 5, 7, 13], [3, 9, 11], id="WFQ-1:1"),
        pytest.param(qs.WFQ(), (1, 2), [4, 5, 9, 13], [3, 7, 11], id="WFQ-1:2"),
        pytest.param(qs.SCFQ(), (1, 1), [4, 5, 7, 13], [3, 9, 11], id="SCFQ-1:1"),
    ],
)
def test_parekh_and_gallager_packet_finishing_times(
    run: Simulate, scheduler: Any, weights: tuple[int, int], first: list[int], second: list[int]
) -> None:
    rows = run(link(PAREKH_GALLAGER, scheduler, shares(*weights)), 100)
    assert stamps(rows, "end", 1) == first
    assert stamps(rows, "end", 2) == second


@pytest.mark.parametrize(
    ("weights", "finishes"),
    [((1, 1), ([3, 5, 9, 13], [5, 9, 11])), ((1, 2), ([4, 5, 9, 13], [4, 8, 11]))],
    ids=["1:1", "1:2"],
)
def test_parekh_and_gallager_fluid_finishing_times_of_the_twin(
    weights: tuple[int, int], finishes: tuple[list[int], list[int]]
) -> None:
    for session, times in enumerate(finishes):
        for k, finish in enumerate(times):
            assert not fluid_has_served(weights, session, k, finish * SECOND - 1)
            assert fluid_has_served(weights, session, k, finish * SECOND)


def fluid_has_served(weights: Sequence[int], session: int, k: int, now: int) -> bool:
    """Whether virtual time has come to the tag of a packet, or all is served."""
    fluid = FluidWFQ([Fraction(weight) for weight in weights], lambda packet: 8 * packet.size, Fraction(8))
    tag = None
    sessions = enumerate(PAREKH_GALLAGER)
    arrivals = [(time, i, n, size) for i, packets in sessions for n, (time, size) in enumerate(packets)]
    for time, i, n, size in sorted(arrivals):
        if time * SECOND < now:
            packet: Any = SimpleNamespace(size=size)
            fluid.arrive(i, packet, int(time) * SECOND)
            fluid.take(i, packet)
            tag = fluid.last[i] if (i, n) == (session, k) else tag
    fluid.advance(now)
    assert tag is not None
    return not any(fluid.last) or tag <= fluid.virtual_time


def test_golestani_a_late_packet_waits_for_a_whole_round_under_scfq_and_not_under_wfq(run: Simulate) -> None:
    sessions: list[Session] = [[(1, 1)], *[[(0, 1), (0, 1)]] * 10]
    for scheduler, start in ((qs.WFQ(), 1), (qs.SCFQ(), 10)):
        rows = run(link(sessions, scheduler, shares(0.5, *[0.05] * 10)), 100)
        assert stamps(rows, "start", 1) == [start]


def all_at_once(*sessions: Sequence[int]) -> list[Session]:
    return [[(0, size) for size in sizes] for sizes in sessions]


def test_drr_with_a_quantum_of_500_in_the_teaching_example(run: Simulate) -> None:
    sessions = all_at_once([200, 400], [100, 200, 300], [200, 200, 200])
    rows = run(link(sessions, qs.DRR(), [{"quantum": 500}] * 3), 100)
    assert order(rows) == "1.1 2.1 2.2 3.1 3.2 1.2 2.3 3.3"


def test_drr_with_a_quantum_of_500_after_the_figure_of_shreedhar_and_varghese(run: Simulate) -> None:
    sessions = all_at_once([200, 750, 20], [500, 500], [100, 600, 200], [180, 700, 50])
    rows = run(link(sessions, qs.DRR(), [{"quantum": 500}] * 4), 100)
    sizes = [row.size for row in sorted(rows, key=lambda row: row.hops[0].start)]
    assert sizes == [200, 500, 100, 180, 750, 20, 500, 600, 200, 700, 50]


@pytest.mark.parametrize(
    ("admit", "free", "handed_over"),
    [
        ("overshoot", "start", [0, 0, 0]),
        ("overshoot", "end", [0, 0, 3]),
        ("strict", "start", [0, 0, 3]),
        ("strict", "end", [0, 3, 6]),
        ("strict", "particle", [0, 1, 4]),
    ],
)
def test_a_ring_of_five_takes_packets_of_three_particles(
    run: Simulate, admit: Any, free: Any, handed_over: list[int]
) -> None:
    ring = qs.TxRing(5, particle=1, admit=admit, free=free)
    rows = run(link(all_at_once([3, 3, 3]), qs.FIFO(), [{}], tx_ring=ring), 100)
    assert stamps(rows, "ring") == handed_over
    assert stamps(rows, "start") == [0, 3, 6]


@pytest.mark.parametrize(
    ("admit", "free", "handed_over"),
    [("strict", "start", [0, 0, 3]), ("strict", "end", [0, 3, 12]), ("overshoot", "end", [0, 0, 12])],
)
def test_a_packet_larger_than_the_ring_is_taken_when_the_ring_is_empty(
    run: Simulate, admit: Any, free: Any, handed_over: list[int]
) -> None:
    ring = qs.TxRing(5, particle=1, admit=admit, free=free)
    rows = run(link(all_at_once([3, 9, 1]), qs.FIFO(), [{}], tx_ring=ring), 100)
    assert stamps(rows, "ring") == handed_over


@pytest.mark.parametrize(("size", "overtaking"), [(1000, 3), (979, 3), (1023, 4)])
def test_scfq_lets_k_packets_of_the_backlog_pass(run: Simulate, size: int, overtaking: int) -> None:
    """k = ceil(4 e / b) - 1 for weights 1 : 4; at e = b the fourth has the same tag and the first class goes first."""
    sessions: list[Session] = [[(500, size)], [(0, 1000)] * 20]
    rows = run(link(sessions, qs.SCFQ(), shares(0.2, 0.8)), 1000)
    start = stamps(rows, "start", 1)[0]
    assert sum(500 < time < start for time in stamps(rows, "start", 2)) == overtaking
    assert math.ceil(Fraction(4 * size, 1000)) - 1 == overtaking


# -- schedulers --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("scheduler", "expected"),
    [
        (qs.FIFO(), "1.1 1.2 2.1 1.3 2.2 2.3"),
        (qs.PQ(), "1.1 1.2 1.3 2.1 2.2 2.3"),
    ],
    ids=["FIFO", "PQ"],
)
def test_fifo_goes_by_arrival_and_pq_by_declaration(run: Simulate, scheduler: Any, expected: str) -> None:
    sessions: list[Session] = [[(0, 4), (1, 4), (2, 4)], [(1, 4), (2, 4), (2, 4)]]
    assert order(run(link(sessions, scheduler, [{}, {}]), 100)) == expected


def test_the_scheduler_chooses_among_all_that_arrive_at_one_instant(run: Simulate) -> None:
    flows = [flow("low", [(0, 4), (4, 4)]), flow("high", [(4, 4)])]
    classes = [qs.TrafficClass("high", flows=["high"]), qs.TrafficClass("low")]
    scenario = qs.Scenario(flows=flows, ports=[qs.Port("link", 8, scheduler=qs.PQ(), classes=classes)])
    assert order(run(scenario, 100)) == "1.1 2.1 1.2"


@pytest.mark.parametrize(
    ("scheduler", "expected"),
    [
        (qs.WFQ(), "1.1 2.1 1.2 2.2 1.3 2.3 1.5 2.4"),
        (qs.SCFQ(), "1.1 1.2 2.1 1.3 2.2 1.5 2.3 2.4"),
    ],
    ids=["WFQ", "SCFQ"],
)
def test_a_packet_dropped_from_the_tail_gives_its_tag_back(run: Simulate, scheduler: Any, expected: str) -> None:
    """Packet 1.4 is dropped; with its tag kept, 1.5 would come one packet of session 2 later."""
    sessions: list[Session] = [[(0, 4)] * 4 + [(9, 4)], [(1, 4)] * 4]
    classes: list[dict[str, Any]] = [{"bandwidth": 4, "queue": qs.DropTail(2)}, {"bandwidth": 4}]
    rows = run(link(sessions, scheduler, classes), 100)
    assert order(rows) == expected
    assert rows[3].fate == DROPPED_QUEUE


def test_tags_closer_than_a_millionth_of_a_bit_are_equal(run: Simulate) -> None:
    """Session 2 has the smaller tag by 8 e bit; session 1 still goes first while that is under 10^-6."""
    for excess, expected in ((Fraction(12, 10**8), "1.1 2.1"), (Fraction(13, 10**8), "2.1 1.1")):
        for scheduler in (qs.WFQ(), qs.SCFQ()):
            classes: list[dict[str, Any]] = [{"bandwidth": 10**6}, {"bandwidth": 10**6 * (1 + excess)}]
            rows = run(link([[(0, 1)], [(0, 1)]], scheduler, classes), 100)
            assert order(rows) == expected


def test_scfq_counts_ip_bytes_unless_told_to_count_the_wire(run: Simulate) -> None:
    """Both sizes are one cell, so that on the wire the tags are equal."""
    sessions = all_at_once([32], [30])
    for scheduler, expected in ((qs.SCFQ(), "2.1 1.1"), (qs.SCFQ(lengths="wire"), "1.1 2.1")):
        scenario = link(sessions, scheduler, shares(0.5, 0.5), framing=qs.AAL5())
        assert order(run(scenario, 1000)) == expected


def test_drr_forfeits_the_deficit_of_a_class_that_has_run_empty(run: Simulate) -> None:
    """Session 1 would have 400 left for its 600; it starts again, needs two visits, and lets session 2 pass."""
    sessions: list[Session] = [[(0, 100), (1000, 600)], [(1000, 500)]]
    assert order(run(link(sessions, qs.DRR(), [{"quantum": 500}] * 2), 2000)) == "1.1 2.1 1.2"


def test_drr_a_class_that_no_longer_fits_goes_behind_those_that_joined_while_it_sent(run: Simulate) -> None:
    """1.2 does not fit when 1.1 is taken at 0; sessions 2 and 3 join at 100 and 200, before the next taking at 400."""
    sessions: list[Session] = [[(0, 400), (0, 200)], [(200, 500)], [(100, 500)]]
    assert order(run(link(sessions, qs.DRR(), [{"quantum": 500}] * 3), 2000)) == "1.1 3.1 2.1 1.2"


def test_drr_adds_the_quantum_once_however_often_the_ring_refuses(run: Simulate) -> None:
    """Session 1 waits long behind a ring of one; its visit still lasts for one packet of 300 only."""
    sessions: list[Session] = [[(0, 300)] * 4, [(0, 300), *((k, 300) for k in range(10, 40, 10))]]
    ring = qs.TxRing(1, particle=1500, free="end")
    rows = run(link(sessions, qs.DRR(), [{"quantum": 300}] * 2, tx_ring=ring), 2000)
    assert order(rows) == "1.1 2.1 1.2 2.2 1.3 2.3 1.4 2.4"


def test_drr_quanta_follow_the_bandwidths_and_the_smallest_is_1500(run: Simulate) -> None:
    """Quanta 1500 and 3750: the second class sends 2 of 1500 in its first visit and 3 in its second."""
    sessions = all_at_once([1500] * 3, [1500] * 6)
    classes = [{"bandwidth": 10}, {"bandwidth": 25}]
    assert order(run(link(sessions, qs.DRR(), classes), 100)) == "1.1 2.1 2.2 1.2 2.3 2.4 2.5 1.3 2.6"


def test_drr_with_a_quantum_of_one_byte(run: Simulate) -> None:
    """The 700 of session 2 fit after 700 visits, before the 701 of session 1."""
    assert order(run(link(all_at_once([701], [700]), qs.DRR(), [{"quantum": 1}] * 2), 100)) == "2.1 1.1"


# -- meters and queues -------------------------------------------------------------------------------------------------

BUCKET: Session = [(0, 10), (0, 1), (4, 5), (5, 5), (5, 1)]


def test_a_token_bucket_of_ten_bytes_at_one_a_second(run: Simulate) -> None:
    classes = [{"police": qs.TokenBucket(8, 10)}]
    rows = run(link([BUCKET], qs.FIFO(), classes, rate=10**6), 100)
    assert fates(rows) == [RECEIVED, DROPPED_POLICER, DROPPED_POLICER, RECEIVED, DROPPED_POLICER]
    assert rows[1].where == 0 and rows[1].hops == ((-1, -1, -1, -1),)


@pytest.mark.parametrize("ring", [None, qs.TxRing(1, particle=100, free="end")], ids=["no ring", "ring"])
def test_in_congestion_only_drops_what_the_ring_would_not_admit_before_the_moves(run: Simulate, ring: Any) -> None:
    """At 0 the wire is still idle, at 4 it is busy, and at 11 it has just become idle."""
    packets: Session = [*BUCKET[:3], (11, 20), (11, 1)]
    classes = [{"police": qs.TokenBucket(8, 10, when="congestion")}]
    rows = run(link([packets], qs.FIFO(), classes, tx_ring=ring), 100)
    assert fates(rows) == [RECEIVED, RECEIVED, DROPPED_POLICER, RECEIVED, RECEIVED]


def test_a_bucket_can_count_the_wire_and_an_overhead(run: Simulate) -> None:
    """40 byte are 106 on the wire."""
    settings: Any
    for settings, burst in (({}, 40), ({"overhead": 4}, 44), ({"counts": "wire", "overhead": 4}, 110)):
        for given, fate in ((burst, RECEIVED), (burst - 1, DROPPED_POLICER)):
            classes = [{"police": qs.TokenBucket(8, given, **settings)}]
            rows = run(link(all_at_once([40]), qs.FIFO(), classes, framing=qs.AAL5()), 100)
            assert fates(rows) == [fate]


def test_the_newest_go_first_until_the_queue_is_within_its_limit(run: Simulate) -> None:
    packets: Session = [(0, 100), (1, 1500), (1, 40), (2, 900), (3, 101), (3, 100)]
    rows = run(link([packets], qs.FIFO(), [{"queue": qs.DropTail(bytes=1000)}]), 100)
    lost = [row.seq for row in rows if row.fate == DROPPED_QUEUE]
    assert lost == [1, 2, 4, 5]
    assert all(row.where == 0 and row.hops == ((-1, -1, -1, -1),) for row in rows if row.seq in lost)


def test_a_burst_loses_only_what_ring_and_queue_together_cannot_hold(run: Simulate) -> None:
    """Of nine, one goes on the wire, two into the ring, and three wait."""
    ring = qs.TxRing(2, particle=10)
    rows = run(link(all_at_once([10] * 9), qs.FIFO(), [{"queue": qs.DropTail(3)}], tx_ring=ring), 100)
    assert fates(rows) == [RECEIVED] * 6 + [DROPPED_QUEUE] * 3


def test_a_limit_of_zero_lets_through_what_is_taken_at_once(run: Simulate) -> None:
    sessions: list[Session] = [[(0, 4), (0, 4), (2, 4), (4, 4)]]
    rows = run(link(sessions, qs.FIFO(), [{"queue": qs.DropTail(0)}]), 100)
    assert fates(rows) == [RECEIVED, DROPPED_QUEUE, DROPPED_QUEUE, RECEIVED]


def test_a_limit_in_time_is_one_in_bytes_at_the_bandwidth_or_at_the_rate(run: Simulate) -> None:
    """1.5 s are 10 byte at 55 bit/s (10.3 rounded down) and 1 at 8 bit/s."""
    for bandwidth, kept in ((55, 10), (None, 1)):
        classes = [{"bandwidth": bandwidth, "queue": qs.DropTail(time=1.5)}]
        rows = run(link([[(0, 1), *[(0.5, 1)] * 20]], qs.FIFO(), classes), 100)
        assert fates(rows).count(RECEIVED) == 1 + kept


# -- ports -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("framing", "size", "wire_bytes"),
    [
        (None, 1, 1),
        (None, 65535, 65535),
        (qs.AAL5(), 40, 106),
        (qs.AAL5(encapsulation="vc-mux"), 40, 53),
        (qs.AAL5(), 1028, 22 * 53),
        (qs.AAL5(), 1040, 22 * 53),
        (qs.AAL5(), 1041, 23 * 53),
        (qs.AAL5(encapsulation="vc-mux"), 1000, 21 * 53),
        (qs.Ethernet(), 46, 84),
        (qs.Ethernet(), 1, 84),
        (qs.Ethernet(), 1500, 1538),
        (qs.Ethernet(tags=1), 1500, 1542),
        (qs.Ethernet(tags=2), 39, 85),
        (qs.Ethernet(preamble_and_gap=False), 47, 65),
        (qs.PPP(), 60, 68),
        (qs.HDLC(), 60, 67),
        (qs.FrameRelay(), 60, 67),
        (qs.Overhead(14), 100, 114),
        (qs.Overhead(18, minimum=64), 40, 64),
        (qs.Overhead(18, minimum=64), 47, 65),
    ],
)
def test_a_packet_takes_the_bytes_of_its_framing(run: Simulate, framing: Any, size: int, wire_bytes: int) -> None:
    rows = run(link(all_at_once([size]), qs.FIFO(), [{}], framing=framing), 100)
    assert stamps(rows, "end") == [wire_bytes]


def test_ends_of_an_unbroken_run_are_rounded_down_once_and_not_added_up(run: Simulate) -> None:
    """A byte takes 8/3 ps: ends at 2, 5, 8, and 10 as the fourth comes at 8; another run begins at 12."""
    times = np.array([0, 0, 0, 8, 12, 12], dtype="timedelta64[ps]")
    flows = [qs.Flow("1", qs.Trace(times, np.ones(6, dtype=np.int64)))]
    scenario = qs.Scenario(flows=flows, ports=[qs.Port("link", 3 * 10**12)])
    assert stamps(run(scenario, 1), "end", unit=1) == [2, 5, 8, 10, 14, 17]


def test_a_particle_returns_when_its_share_of_the_bits_has_been_sent(run: Simulate) -> None:
    """Of 1006 bytes in 22 cells the first particle is 11.2 cells: it comes back after the twelfth, 0.212 ms each."""
    packets: Session = [(0, 1006), (0, 1006), (0, 1006)]
    ring = qs.TxRing(3, admit="strict", free="particle")
    for framing, first, whole in ((qs.AAL5(), 12 * 212, 22 * 212), (None, 4 * 512, 4 * 1006)):
        rows = run(link([packets], qs.FIFO(), [{}], rate="2 Mbit/s", framing=framing, tx_ring=ring), 100)
        assert stamps(rows, "ring", unit=10**6) == [0, first, whole + first]


@pytest.mark.parametrize(
    ("encapsulation", "limit", "handed_over"), [("vc-mux", 4, [0, 53, 106]), ("llc-snap", 6, [0, 53, 159])]
)
def test_particles_that_share_a_cell_return_together(
    run: Simulate, encapsulation: Any, limit: int, handed_over: list[int]
) -> None:
    """Four particles in one cell come back at its end; in two cells, two with the first and two with the second."""
    ring = qs.TxRing(limit, particle=10, admit="strict", free="particle")
    framing = qs.AAL5(encapsulation=encapsulation)
    rows = run(link(all_at_once([40] * 3), qs.FIFO(), [{}], framing=framing, tx_ring=ring), 100)
    assert stamps(rows, "ring") == handed_over


@pytest.mark.parametrize(("later", "handed_over"), [([], [2]), ([(1, 1)], [1, 2])], ids=["end", "arrival"])
def test_a_packet_behind_one_that_is_dropped_is_handed_over_when_the_port_is_next_touched(
    run: Simulate, later: list[tuple[float, int]], handed_over: list[int]
) -> None:
    """At 0 the ring has no room for 1.2, which its queue then drops; 2.1 would fit, but the moves of 0 are over."""
    sessions: list[Session] = [[(0, 2), (0, 2)], [(0, 1), *later]]
    ring = qs.TxRing(3, particle=1, admit="strict", free="end")
    rows = run(link(sessions, qs.FIFO(), [{"queue": qs.DropTail(0)}, {}], tx_ring=ring), 100)
    assert rows[1].fate == DROPPED_QUEUE
    assert stamps(rows, "ring", 2) == handed_over


def test_a_header_can_cost_a_particle(run: Simulate) -> None:
    for header, handed_over in ((0, [0, 0, 10]), (1, [0, 10, 20])):
        ring = qs.TxRing(2, particle=5, header=header, admit="strict", free="end")
        rows = run(link(all_at_once([5, 5, 5]), qs.FIFO(), [{}], rate=4, tx_ring=ring), 100)
        assert stamps(rows, "ring") == handed_over


def test_the_first_class_that_fits_and_else_the_one_that_names_nothing(run: Simulate) -> None:
    """Which class is known from the order in which PQ sends what waits behind the first packet."""
    flows = [flow("first", [(0, 4)])]
    flows += [flow(name, [(1, 4)], dscp=dscp) for name, dscp in (("x", 0), ("y", 46), ("z", 10), ("w", "AF11"))]
    classes = [
        qs.TrafficClass("rest"),
        qs.TrafficClass("y or AF11", flows=["y"], match=["AF11", 8]),
        qs.TrafficClass("EF", match="EF"),
        qs.TrafficClass("w", flows=["w"]),
    ]
    for declared, expected in (
        (classes, "1.1 2.1 3.1 4.1 5.1"),
        ([*classes[:0:-1], classes[0]], "1.1 5.1 3.1 4.1 2.1"),
    ):
        port = qs.Port("link", 8, scheduler=qs.PQ(), classes=declared)
        assert order(run(qs.Scenario(flows=flows, ports=[port]), 100)) == expected


# -- routes and ends ---------------------------------------------------------------------------------------------------


def path(first_limit: int | None = None, second_limit: int | None = None, **settings: Any) -> qs.Scenario:
    """Three packets of 4 bytes at 0 over two ports, the second twice as slow, 1 s and 0.5 s long."""
    near = qs.Port("near", 8, classes=[qs.TrafficClass("all", queue=qs.DropTail(first_limit))], propagation=1)
    far = qs.Port("far", 4, classes=[qs.TrafficClass("all", queue=qs.DropTail(second_limit))], propagation="0.5 s")
    return qs.Scenario(flows=[flow("1", [(0, 4)] * 3, **settings)], ports=[near, far])


def hops(row: Row) -> list[list[float]]:
    return [[time / SECOND if time >= 0 else -1 for time in hop] for hop in row.hops]


def test_a_packet_is_stored_and_forwarded_from_port_to_port(run: Simulate) -> None:
    rows = run(path(), 1)
    assert [hops(row) for row in rows] == [
        [[0, 0, 0, 4], [5, 5, 5, 13]],
        [[0, 4, 4, 8], [9, 13, 13, 21]],
        [[0, 8, 8, 12], [13, 21, 21, 29]],
    ]
    assert [row.received / SECOND for row in rows] == [13.5, 21.5, 29.5]
    assert fates(rows) == [RECEIVED] * 3 and [row.where for row in rows] == [-1] * 3


def test_a_packet_dropped_at_a_port_keeps_the_timestamps_of_the_ports_before(run: Simulate) -> None:
    rows = run(path(second_limit=0), 1)
    assert fates(rows) == [RECEIVED, DROPPED_QUEUE, RECEIVED]
    assert rows[1].where == 1 and rows[1].received == -1
    assert hops(rows[1]) == [[0, 4, 4, 8], [-1, -1, -1, -1]]


def test_a_route_has_an_order_of_its_own(run: Simulate) -> None:
    rows = run(path(route=["far", "near"]), 1)
    assert hops(rows[0]) == [[8.5, 8.5, 8.5, 12.5], [0, 0, 0, 8]]
    assert [row.received / SECOND for row in rows] == [13.5, 21.5, 29.5]


def test_without_draining_nothing_happens_at_the_end_or_later(run: Simulate) -> None:
    """At 13 the first packet ends at the second port, the third arrives there: neither is seen when 13 is the end."""
    rows = run(path(), 13, drain=False)
    assert [hops(row) for row in rows] == [
        [[0, 0, 0, 4], [5, 5, 5, -1]],
        [[0, 4, 4, 8], [9, -1, -1, -1]],
        [[0, 8, 8, 12], [-1, -1, -1, -1]],
    ]
    assert fates(rows) == [INSIDE] * 3 and [row.received for row in rows] == [-1] * 3
    assert [row.where for row in rows] == [1, 1, 0]
    rows = run(path(), 13.5, drain=False)
    assert fates(rows) == [INSIDE] * 3 and rows[0].hops[1].end == 13 * SECOND and rows[0].where == 1


def test_the_run_stops_at_the_end_of_the_clock(run: Simulate) -> None:
    """Each packet takes 4 000 000 s; the clock ends at 9 223 372."""
    scenario = link(all_at_once([60_000] * 3), qs.FIFO(), [{}], rate=0.12)
    rows = run(scenario, 100)
    assert fates(rows) == [RECEIVED, RECEIVED, INSIDE]
    assert stamps(rows, "start") == [0, 4e6, 8e6] and stamps(rows, "end") == [4e6, 8e6, -1]


# -- sources -----------------------------------------------------------------------------------------------------------


def sent(run: Simulate, source: Any, duration: Any, **settings: Any) -> list[int]:
    scenario = qs.Scenario(flows=[qs.Flow("1", source, **settings)], ports=[qs.Port("link", 8)])
    return [row.sent for row in run(scenario, duration, seed=1)]


def test_cbr_times_are_rounded_down_one_by_one(run: Simulate) -> None:
    assert sent(run, qs.CBR(interval=Fraction(1, 3 * 10**11), size=1), Fraction(20, 10**12)) == [0, 3, 6, 10, 13, 16]
    assert sent(run, qs.CBR(rate=Fraction(7, 3), size=7), 60) == [0, 24 * SECOND, 48 * SECOND]
    assert sent(run, qs.CBR(pps=Fraction(1, 10), size=7, phase=3), 33) == [3 * SECOND, 13 * SECOND, 23 * SECOND]


def test_sources_send_from_start_and_before_stop_and_duration(run: Simulate) -> None:
    cbr = qs.CBR(interval=10, size=1)
    assert sent(run, cbr, 30, start=5) == [5 * SECOND, 15 * SECOND, 25 * SECOND]
    assert sent(run, cbr, 30, start=5, stop=25) == [5 * SECOND, 15 * SECOND]
    assert sent(run, cbr, 25, start=5) == [5 * SECOND, 15 * SECOND]
    trace = qs.Trace([0.0, 1.0, 1.0, 3.0], [1, 1, 1, 1])
    assert sent(run, trace, 30, start=2, stop=5) == [2 * SECOND, 3 * SECOND, 3 * SECOND]
    assert sent(run, cbr, 30, start=5, stop=5) == []


def test_the_logarithm_is_that_of_the_mathematicians() -> None:
    for k in range(1, 2000):
        for x in (k / 2000, 2.0**-k if k < 1000 else 1 - 2.0**-50 * k):
            assert math.isclose(log(x), math.log(x), rel_tol=1e-14)
    assert log(1.0) == 0.0


def test_weights_become_the_smallest_integers() -> None:
    assert integer_weights(qs.Sizes([40, 576, 1500], weights=[7, 4, 1])) == [7, 4, 1]
    assert integer_weights(qs.Sizes([40, 576, 1500], weights=[0.5, 1.5, Fraction(1, 3)])) == [3, 9, 2]
    assert integer_weights(qs.Sizes([40, 576])) == [1, 1]
