# SPDX-License-Identifier: MIT
"""Results: every answer against the per-packet columns, and every way out of Python and back."""

from __future__ import annotations

import copy
import io
import itertools
import json
import math
import pickle
import subprocess
import sys
import zipfile
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from numpy.random import SeedSequence

import qossim as qs
from qossim.experiments import ef_wfq_vs_pq
from qossim.result import FATES, Fate, FlowResult
from qossim.statistics import Statistics, StreamedStatistics
from tests.twin import scenarios

PICO = 10**12


def busy_scenario() -> qs.Scenario:
    """Two ports, three flows, and all three fates that a drained run can have."""
    voice = qs.Flow("voice", qs.CBR(pps=50, size=200, phase="random"), dscp="EF")
    data = qs.Flow(
        "data", qs.Poisson(rate="1.3 Mbit/s", size=qs.Sizes([40, 576, 1500], weights=[7, 4, 1])), dscp="AF11"
    )
    bulk = qs.Flow("bulk", qs.Poisson(rate="450 kbit/s", size=1028), route=["far"])

    def port(name: str) -> qs.Port:
        classes = [
            qs.TrafficClass("EF", match="EF", bandwidth="200 kbit/s", police=qs.TokenBucket("70 kbit/s", 600)),
            qs.TrafficClass("AF", match=["AF11", "AF12"], bandwidth="1 Mbit/s", queue=qs.DropTail(10)),
            qs.TrafficClass("rest", bandwidth="400 kbit/s", queue=qs.DropTail(bytes=3000)),
        ]
        ring = qs.TxRing(limit=3)
        return qs.Port(
            name, "2 Mbit/s", framing=qs.AAL5(), scheduler=qs.WFQ(), classes=classes, tx_ring=ring, propagation="3 ms"
        )

    return qs.Scenario(flows=[voice, data, bulk], ports=[port("near"), port("far")])


SCENARIO = busy_scenario()
QUIET = qs.Scenario(flows=[qs.Flow("f", qs.CBR(pps=100, size=100))], ports=[qs.Port("link", "1 Mbit/s")])
NAMES = ("voice", "data", "bulk")
WARMUP = 1.3


def of(record: Any = "packets", *, seed: Any = 5, warmup: float = WARMUP, **more: Any) -> qs.Result:
    return qs.run(SCENARIO, duration=6.0, warmup=warmup, seed=seed, record=record, **more)


@pytest.fixture(scope="module")
def result() -> qs.Result:
    return of()


def rows_of(result: qs.Result, flow: str) -> list[dict[str, int]]:
    """A flow's packets that count, one dict each, straight from the columns."""
    packets = result.packets
    table = [
        {name: int(packets[name][row]) for name in packets}
        for row in range(packets.rows)
        if packets["flow"][row] == list(result).index(flow)
    ]
    return [packet for packet in table if packet["sent"] >= round(result.warmup * PICO)]


# -- by flow -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", NAMES)
def test_a_flows_counters_are_those_of_its_packets(result: qs.Result, name: str) -> None:
    flow, rows = result[name], rows_of(result, name)
    fates = [packet["fate"] for packet in rows]
    assert flow.name == name
    assert flow.sent == len(rows) > 0
    assert flow.received == fates.count(Fate.RECEIVED)
    assert flow.drops == {"queue": fates.count(Fate.DROPPED_QUEUE), "policer": fates.count(Fate.DROPPED_POLICER)}
    assert flow.lost == sum(flow.drops.values())
    assert flow.inside == fates.count(Fate.INSIDE) == 0
    assert flow.sent == flow.received + flow.lost + flow.inside
    assert flow.loss_ratio == flow.lost / flow.sent
    assert flow.sent_bytes == sum(packet["size"] for packet in rows)
    assert flow.received_bytes == sum(packet["size"] for packet in rows if packet["fate"] == Fate.RECEIVED)


@pytest.mark.parametrize("record", ["packets", "summary", "none"])
@pytest.mark.parametrize("drain", [True, False])
@pytest.mark.parametrize("warmup", [0.0, WARMUP])
def test_throughput_is_of_what_is_sent_after_warm_up_and_arrives_before_the_end(
    record: str, drain: bool, warmup: float
) -> None:
    packets, kept = of(warmup=warmup).packets, of(record, warmup=warmup, drain=drain)
    arrived = (packets["sent"] >= round(warmup * PICO)) & (packets["fate"] == Fate.RECEIVED)
    arrived &= packets["received"] < 6 * PICO
    for number, flow in enumerate(kept.flows.values()):
        total = int(packets["size"][arrived & (packets["flow"] == number)].sum())
        assert flow.delivered_bytes == total > 0
        assert flow.throughput == pytest.approx(8 * total / (6.0 - warmup), rel=1e-15)


def test_a_link_carries_no_more_than_its_rate() -> None:
    """2 Mbit/s through 1 Mbit/s: the queue takes as long again to drain, which is no part of the throughput."""
    flow, link = qs.Flow("f", qs.CBR("2 Mbit/s", 1000)), qs.Port("l", rate="1 Mbit/s")
    scenario = qs.Scenario(flows=[flow], ports=[link])
    result = qs.run(scenario, duration=5)
    assert result["f"].received == 1250
    # Arrivals at 8 ms, 16 ms, ...: that at 5 s exactly is too late, as a packet sent then would be.
    assert (result["f"].delivered_bytes, result["f"].throughput) == (624_000, 998_400.0)
    # The packet sent at 1 s is the 251st and arrives at 2.008 s: 374 from there to 5 s.
    assert qs.run(scenario, duration=5, warmup=1)["f"].delivered_bytes == 374_000
    framed = qs.Scenario(flows=[flow], ports=[link.replace(framing=qs.Overhead(250))])  # 10 ms a packet
    assert qs.run(framed, duration=5)["f"].throughput == 798_400.0
    assert result.ports["l"].utilisation == 1.0


def overloaded(**port: Any) -> qs.Scenario:
    """Twice as much as the link sends: packet k is sent at 4 k ms, and received at 8 (k + 1) ms on a bare link."""
    return qs.Scenario([qs.Flow("f", qs.CBR("2 Mbit/s", 1000))], [qs.Port("link", **{"rate": "1 Mbit/s"} | port)])


@pytest.mark.parametrize("drain", [True, False])
@pytest.mark.parametrize("record", ["packets", "summary", "none"])
@pytest.mark.parametrize(
    ("port", "warmup", "packets"),
    [
        ({}, 0, 624),  # 625 packets of 8 ms are 5 s: the last of them comes at 5 s, too late by an instant
        ({"rate": "1.0000001 Mbit/s"}, 0, 625),  # a little sooner, it is in time
        ({"rate": "2 Mbit/s"}, 0, 1249),
        ({"rate": "4 Mbit/s"}, 0, 1250),
        ({"framing": qs.Overhead(bytes=250)}, 0, 499),  # 10 ms each, so that the 500th comes at 5 s
        ({"framing": qs.Ethernet()}, 0, 602),  # 1038 bytes, 8.304 ms each: 602.1 in 5 s
        ({"propagation": "80 ms"}, 0, 614),  # the wire is done with 10 more, and the 615th comes at 5 s
        ({}, 1, 374),  # packet 250, sent at 1 s, comes at 2.008 s, and packet 623 is the last in time
        ({}, 2.492, 1),  # that is packet 623
        ({}, 2.496, 0),  # packet 624 comes at 5 s
        ({"propagation": "80 ms"}, 1, 364),
        ({"classes": [qs.TrafficClass("all", queue=qs.DropTail(packets=0))]}, 0, 624),  # every other one is lost
    ],
)
def test_what_comes_while_the_run_drains_is_no_throughput(
    port: dict[str, Any], warmup: float, packets: int, record: Any, drain: bool
) -> None:
    result = qs.run(overloaded(**port), duration=5, warmup=warmup, record=record, drain=drain)
    assert result["f"].delivered_bytes == packets * 1000
    assert result["f"].throughput == packets * 8000 * PICO / (5 * PICO - round(warmup * PICO))
    assert result.summary().loc["f", "throughput"] == result["f"].throughput


@pytest.mark.parametrize("record", ["packets", "summary", "none"])
def test_throughput_is_that_of_the_columns_in_random_scenarios(record: Any) -> None:
    """Framings, rings, losses, several ports, with and without warm-up and draining."""
    late = in_time = 0
    for seed in range(150):
        scenario, duration, drain = scenarios.draw(seed)
        how = {"duration": duration, "warmup": scenarios.draw_warmup(seed, scenario, duration), "drain": drain}
        rows, result = (qs.run(scenario, **how, seed=seed, record=each) for each in ("packets", record))
        packets, end, warmup = rows.packets, rows._run.duration, rows._run.warmup
        counts = (packets["sent"] >= warmup) & (packets["received"] >= 0)
        delivered = counts & (packets["received"] < end)
        in_time += int(delivered.sum())
        late += int(counts.sum() - delivered.sum())
        for number, flow in enumerate(result.flows.values()):
            found = int(packets["size"][delivered & (packets["flow"] == number)].sum(dtype=np.int64))
            assert flow.delivered_bytes == found, f"seed {seed}, {flow.name}"
            assert flow.throughput == 8 * found * PICO / (end - warmup)
    assert in_time > 500 < late, "both kinds are in these scenarios"


@pytest.mark.parametrize("record", ["packets", "summary", "none"])
def test_throughput_is_over_a_time_that_holds_its_beginning_and_not_its_end(record: Any) -> None:
    """Four packets that take 1 s each, one after the other: sent at 0, 1, 2, 3 s, received at 1, 2, 3, 4 s."""
    scenario = qs.Scenario([qs.Flow("f", qs.Trace([0, 1, 2, 3], 125))], [qs.Port("link", "1 kbit/s")])

    def throughput(warmup: Any, duration: Any) -> float:
        return qs.run(scenario, duration=duration, warmup=warmup, record=record)["f"].throughput

    assert throughput(0, 4) == 3000 / 4
    assert throughput(0, "4000000000001 ps") == 4000 * PICO / (4 * PICO + 1)
    assert throughput(1, 4) == 2000 / 3, "what was sent before warm-up and comes at that very instant does not count"
    assert throughput("999999999999 ps", 4) == 2000 * PICO / (3 * PICO + 1)
    assert throughput("1000000000001 ps", 4) == 1000 * PICO / (3 * PICO - 1)
    assert throughput(3, 4) == 0


def test_all_that_is_averaged_over_time_ends_with_the_sources() -> None:
    """A burst of ten packets of 1 s, sources that stop at 4 s, a drain until 10 s."""
    ring = qs.TxRing(limit=2, particle=125)
    link = qs.Port("link", "1 kbit/s", tx_ring=ring, propagation=0.5)
    scenario = qs.Scenario([qs.Flow("f", qs.Trace([0.0] * 10, 125))], [link])
    for drain, received in ((True, 10), (False, 3)):
        result = qs.run(scenario, duration=4, drain=drain, record="none")
        assert result["f"].received == received
        port = result.port("link")
        assert port.utilisation == 1
        assert port.mean_ring == 2
        assert port.classes["all"].mean_queue == (7 + 6 + 5 + 4) / 4
        assert result["f"].throughput == 3000 / 4  # at 1.5, 2.5 and 3.5 s


def test_the_scenario_of_these_tests_loses_packets_in_every_way(result: qs.Result) -> None:
    assert result["voice"].drops["policer"] > 0
    assert result["data"].drops["queue"] > 0
    assert result["bulk"].drops["queue"] > 0


@pytest.mark.parametrize("warmup", [0.0, WARMUP])
@pytest.mark.parametrize("name", NAMES)
def test_delay_and_its_variation_are_those_of_the_packets(name: str, warmup: float) -> None:
    result = of(warmup=warmup)
    flow, rows = result[name], rows_of(result, name)
    received = [packet for packet in rows if packet["received"] >= 0]
    pairs = [(a, b) for a, b in itertools.pairwise(rows) if a["received"] >= 0 <= b["received"]]

    def delay(packet: dict[str, int]) -> int:
        return packet["received"] - packet["sent"]

    assert flow.delay.dtype == flow.ipdv.dtype == np.float64
    assert flow.delay.tolist() == [delay(packet) / 1e12 for packet in received]
    assert flow.seq.tolist() == [packet["seq"] for packet in received]
    assert flow.sent_at.tolist() == [packet["sent"] / 1e12 for packet in received]
    assert flow.ipdv.tolist() == [(delay(b) - delay(a)) / 1e12 for a, b in pairs]
    assert flow.ipdv_seq.tolist() == [b["seq"] for _, b in pairs]
    assert all(b["seq"] == a["seq"] + 1 for a, b in pairs), "nothing is bridged"
    assert flow.pdv.tolist() == [(delay(packet) - min(map(delay, received))) / 1e12 for packet in received]
    assert flow.delay_stats == Statistics([delay(packet) for packet in received], per=PICO)
    assert flow.ipdv_stats == Statistics([delay(b) - delay(a) for a, b in pairs], per=PICO)
    assert flow.abs_ipdv_stats.max == max(abs(delay(b) - delay(a)) for a, b in pairs) / 1e12


def test_a_loss_removes_two_variations(result: qs.Result) -> None:
    flow = result["voice"]
    assert 0 < flow.lost < flow.received
    assert len(flow.ipdv) < flow.received - 1


@pytest.mark.parametrize("name", NAMES)
def test_jitter_compares_arrivals_across_losses(result: qs.Result, name: str) -> None:
    arrived = [packet for packet in rows_of(result, name) if packet["received"] >= 0]
    arrived.sort(key=lambda packet: (packet["received"], packet["seq"]))
    now, expected = 0.0, [0.0]
    for a, b in itertools.pairwise(arrived):
        now += (abs((b["received"] - a["received"]) - (b["sent"] - a["sent"])) / 1e12 - now) / 16
        expected.append(now)
    assert result[name].jitter() == pytest.approx(np.array(expected), rel=1e-10)


@pytest.mark.parametrize("record", ["packets", "summary"])
@pytest.mark.parametrize("warmup", [0.0, WARMUP])
def test_the_delay_budget_adds_up_to_the_mean_delay(record: Any, warmup: float) -> None:
    result, exact = of(record, warmup=warmup), of(warmup=warmup)
    for name, route in (("voice", ["near", "far"]), ("data", ["near", "far"]), ("bulk", ["far"])):
        budget = result[name].delay_budget()
        assert list(budget.index) == route
        assert list(budget.columns) == ["queue", "ring", "serialisation", "propagation"]
        assert abs(sum(budget.to_numpy().ravel()) - exact[name].delay.mean()) < 1e-12
        assert abs(sum(budget.to_numpy().ravel()) - result[name].delay_stats.mean) < 1e-12
        assert budget["propagation"].to_numpy() == pytest.approx(3e-3, abs=1e-15)


def test_the_delay_budget_is_the_mean_of_each_stage(result: qs.Result) -> None:
    flow = result["data"]
    arrived = (result.packets["fate"] == Fate.RECEIVED)[flow.rows]
    arrived &= result.packets["sent"][flow.rows] >= WARMUP * PICO
    near = {name: times[flow.rows][arrived].astype(object) for name, times in result.hop("near").items()}
    row = flow.delay_budget().loc["near"]
    for stage, (begin, end) in {
        "queue": ("queued", "ring"),
        "ring": ("ring", "start"),
        "serialisation": ("start", "end"),
    }.items():
        assert row[stage] == float(Fraction(int((near[end] - near[begin]).sum()), int(arrived.sum()) * PICO))


def test_sums_that_pass_64_bits_are_exact() -> None:
    slow = qs.Port("slow", rate="8 bit/s")
    times = np.zeros(4000, dtype=np.int64)
    result = qs.run(qs.Scenario(flows=[qs.Flow("f", qs.Trace(times, 1))], ports=[slow]), duration=1.0, seed=0)
    flow, exact = result["f"], sum(range(1, 4001)) * PICO
    assert exact < 2**63 < exact * 2
    assert flow.delay_stats.mean == exact / (4000 * PICO) == 2000.5
    times = np.zeros(9000, dtype=np.int64)
    result = qs.run(qs.Scenario(flows=[qs.Flow("f", qs.Trace(times, 1))], ports=[slow]), duration=1.0, seed=0)
    assert result["f"].delay_stats.mean == 4500.5
    assert result["f"].delay_budget().loc["slow", "queue"] == 4499.5
    streamed = qs.run(result.scenario, duration=1.0, seed=0, record="summary")
    assert streamed["f"].delay_stats.mean == 4500.5
    assert streamed["f"].delay_budget().equals(result["f"].delay_budget())


def test_a_flow_that_loses_everything_has_no_delay() -> None:
    classes = [qs.TrafficClass("none", police=qs.TokenBucket(rate="1 kbit/s", burst=0))]
    scenario = qs.Scenario(flows=QUIET.flows, ports=[qs.Port("link", "1 Mbit/s", classes=classes)])
    for record in ("packets", "summary", "none"):
        result = qs.run(scenario, duration=1.0, seed=1, record=record)
        flow = result["f"]
        assert (flow.sent, flow.received, flow.loss_ratio) == (100, 0, 1.0)
        assert result.summary().loc["f", ["delay_min", "delay_p99", "abs_ipdv_max"]].isna().all()
        assert "100" in repr(result)
        if record != "none":
            assert flow.delay_budget().isna().to_numpy().all()
            assert math.isnan(flow.delay_stats.median)
        if record == "packets":
            assert len(flow.delay) == len(flow.ipdv) == len(flow.pdv) == len(flow.jitter()) == 0


def test_a_flow_that_sends_nothing_has_no_loss_ratio() -> None:
    late = QUIET.flows[0].replace(start=5.0)
    for record in ("packets", "summary", "none"):
        result = qs.run(qs.Scenario(flows=[late], ports=QUIET.ports), duration=1.0, seed=1, record=record)
        assert result["f"].sent == 0
        assert math.isnan(result["f"].loss_ratio)
        assert result.summary().loc["f", "sent"] == 0
        assert result.port("link").utilisation == 0
    assert qs.run(qs.Scenario(flows=[late], ports=QUIET.ports), duration=1.0, seed=1).packets.rows == 0


# -- records -----------------------------------------------------------------------------------------------------------


def test_a_summary_agrees_with_the_packets(result: qs.Result) -> None:
    summary = of("summary")
    for name in NAMES:
        loose, exact = summary[name], result[name]
        assert loose._counts == exact._counts
        for one, other in ((loose.delay_stats, exact.delay_stats), (loose.ipdv_stats, exact.ipdv_stats)):
            assert isinstance(one, StreamedStatistics)
            assert isinstance(other, Statistics)
            assert (one.count, one.min, one.max, one.mean) == (other.count, other.min, other.max, other.mean)
            assert one.std == pytest.approx(other.std, rel=1e-9)
            for q in (0.0, 0.001, 0.01, 0.1, 0.25, 0.5, 0.75, 0.9, 0.99, 0.999, 1.0):
                assert abs(one.quantile(q) - other.quantile(q)) <= StreamedStatistics.relative_error * abs(
                    other.quantile(q)
                )
        for q in (0.1, 0.5, 0.9, 0.99):
            assert loose.abs_ipdv_stats.quantile(q) == pytest.approx(exact.abs_ipdv_stats.quantile(q), rel=0.01)
        assert loose.abs_ipdv_stats.mean == pytest.approx(exact.abs_ipdv_stats.mean, rel=0.01)
    assert summary.counters().equals(result.counters()) and summary.counters().equals(of("none").counters())


@pytest.mark.parametrize("record", ["summary", "none"])
def test_what_was_not_recorded_is_refused_with_advice(record: Any) -> None:
    result = of(record)
    flow = result["voice"]
    asked = [lambda: flow.delay, lambda: flow.ipdv, lambda: flow.pdv, lambda: flow.seq, lambda: flow.rows, flow.jitter]
    asked += [lambda: result.packets, lambda: result.hop("near"), result.to_dataframe]
    if record == "none":
        asked += [lambda: flow.delay_stats, lambda: flow.ipdv_stats, lambda: flow.abs_ipdv_stats, flow.delay_budget]
    for question in asked:
        with pytest.raises(qs.ScenarioError, match=rf'run with record="\w+".*record="{record}"'):
            question()


def test_a_name_that_is_not_there_is_answered_with_those_that_are(result: qs.Result) -> None:
    for question in (lambda: result["Voice"], lambda: result.port("voice"), lambda: result.hop("middle")):
        with pytest.raises(KeyError, match=r"no (flow|port) '\w+'; there are (voice, data, bulk|near, far)"):
            question()
    with pytest.raises(KeyError, match="no column 'delay'; there are flow, seq"):
        result.packets["delay"]


def test_a_result_is_a_collection_of_its_flows(result: qs.Result) -> None:
    assert list(result) == list(result.flows) == list(NAMES)
    assert len(result) == 3
    assert "voice" in result
    assert "near" not in result
    assert result["voice"] is result["voice"] is result.flows["voice"]
    assert list(result.ports) == ["near", "far"]


def test_a_result_tells_what_it_was_a_run_of(result: qs.Result) -> None:
    assert result.scenario is SCENARIO
    assert (result.seed, result.duration, result.warmup, result.record, result.drain) == (
        5,
        6.0,
        WARMUP,
        "packets",
        True,
    )
    assert result.bit_generator == "PCG64"
    assert result.versions["numpy"] == np.__version__
    assert set(result.versions) == {"qossim", "numpy", "python"}


# -- by port -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["near", "far"])
def test_a_ports_counters_are_those_of_its_packets(result: qs.Result, name: str) -> None:
    port, hop, packets = result.port(name), result.hop(name), result.packets
    counted = packets["sent"] >= round(WARMUP * PICO)
    sent = (hop["end"] >= 0) & counted
    assert port.sent == sent.sum() > 0
    assert port.sent_bytes == packets["size"][sent].sum()
    assert port.wire_bits % 424 == 0
    busy = np.clip(hop["end"], round(WARMUP * PICO), 6 * PICO) - np.clip(hop["start"], round(WARMUP * PICO), 6 * PICO)
    assert port.utilisation == int(busy.sum()) / (6 * PICO - round(WARMUP * PICO))
    assert 0.5 < port.utilisation <= 1
    assert [each.name for each in port.classes.values()] == list(port.classes) == ["EF", "AF", "rest"]
    for number, each in enumerate(port.classes.values()):
        mine = counted & (packets["flow"] == number)
        here = mine & ((hop["queued"] >= 0) | (packets["where"] == result._run.port_places[name]))
        assert each.offered == here.sum() == each.sent + each.dropped + each.inside
        assert each.offered_bytes == packets["size"][here].sum()
        assert each.sent == (mine & sent).sum()
        died = here & (packets["where"] == result._run.port_places[name])
        assert each.drops["queue"] == (died & (packets["fate"] == Fate.DROPPED_QUEUE)).sum()
        assert each.drops["policer"] == (died & (packets["fate"] == Fate.DROPPED_POLICER)).sum()
        assert each.largest_queue_bytes >= each.largest_queue
        assert 0 <= each.mean_queue <= each.largest_queue
        assert each.loss_ratio == each.dropped / each.offered if each.offered else math.isnan(each.loss_ratio)
    assert port.classes["AF"].largest_queue <= 10


def of_the_time(result: qs.Result, begin: Any, end: Any) -> Any:
    """Picoseconds of [warmup, duration] between two columns, packet by packet."""
    warmup, duration = (round(seconds * PICO) for seconds in (result.warmup, result.duration))
    return np.clip(end, warmup, duration) - np.clip(begin, warmup, duration)


@pytest.mark.parametrize("name", ["near", "far"])
def test_the_mean_queue_is_the_time_that_packets_wait_in_it_over_the_time_there_is(
    result: qs.Result, name: str
) -> None:
    hop, flow = result.hop(name), result.packets["flow"]
    for number, each in enumerate(result.port(name).classes.values()):
        waited = (flow == number) & (hop["queued"] >= 0)
        time = of_the_time(result, hop["queued"][waited], hop["ring"][waited])
        assert each.mean_queue == int(time.sum()) / (6 * PICO - round(WARMUP * PICO))
    assert result.counters().loc[name, "mean_queue"].tolist() == [
        each.mean_queue for each in result.port(name).classes.values()
    ]


def test_the_mean_ring_is_the_time_that_particles_are_held_over_the_time_there_is() -> None:
    """A ring that gives particles back at the start of transmission, so that a packet's wait in it holds them."""
    result = qs.run(ef_wfq_vs_pq(scheduler="pq"), duration=7, warmup=2, seed=1)
    hop, packets = result.hop("near"), result.packets
    time = of_the_time(result, hop["ring"], hop["start"]) * -(-packets["size"].astype(np.int64) // 512)
    port = result.port("near")
    assert port.mean_ring == int(time[hop["ring"] >= 0].sum()) / (5 * PICO)
    assert 4 < port.mean_ring <= port.largest_ring == 6  # two packets of three particles, or one of two for a while
    alone = qs.run(ef_wfq_vs_pq(tx_ring_limit=None), duration=7, warmup=2, seed=1).port("near")
    assert math.isnan(alone.mean_ring) and alone.largest_ring == 0


def test_losses_come_in_periods() -> None:
    """Five packets at once into a queue of one: the third and those behind it are lost, in every burst but the last."""
    times = np.repeat([0.0, 1.0, 2.0], [5, 4, 2])
    link = qs.Port("link", rate="1 Mbit/s", classes=[qs.TrafficClass("all", queue=qs.DropTail(1))])
    scenario = qs.Scenario(flows=[qs.Flow("f", qs.Trace(times, 100))], ports=[link])
    flow = qs.run(scenario, duration=3, seed=1)["f"]
    assert flow.loss_periods == (2, 3, 2.5)
    assert (flow.loss_periods.number, flow.loss_periods.longest, flow.loss_periods.mean_length) == (2, 3, 2.5)
    number, longest, mean = qs.run(scenario, duration=3, warmup=1.5, seed=1)["f"].loss_periods
    assert (number, longest) == (0, 0) and math.isnan(mean)


def test_a_port_without_classes_has_one_called_all() -> None:
    port = qs.run(QUIET, duration=1.0, seed=1).port("link")
    assert list(port.classes) == ["all"]
    assert port.classes["all"].sent == port.sent == 100
    assert port.utilisation == pytest.approx(0.08)


def test_counters_are_one_table(result: qs.Result) -> None:
    table = result.counters()
    assert table.index.names == ["port", "class"]
    assert list(table.index) == [(port, name) for port in ("near", "far") for name in ("EF", "AF", "rest")]
    each = result.port("far").classes["AF"]
    row = table.loc[("far", "AF")]
    assert row["offered"] == each.offered
    assert row["dropped_queue"] == each.drops["queue"]
    assert row["largest_queue"] == each.largest_queue
    assert (table["offered"] == table[["sent", "dropped_queue", "dropped_policer", "inside"]].sum(axis=1)).all()


# -- by packet ---------------------------------------------------------------------------------------------------------


def test_packets_stand_in_order_with_the_types_they_should_have(result: qs.Result) -> None:
    packets = result.packets
    types = {"flow": "i4", "seq": "i4", "size": "i4", "fate": "i1", "where": "i2", "sent": "i8", "received": "i8"}
    assert {name: column.dtype for name, column in packets.items()} == {name: np.dtype(t) for name, t in types.items()}
    assert packets.rows == len(packets["sent"]) == len(packets["where"])
    order = packets["flow"].astype(np.int64) << 32 | packets["seq"]
    assert (np.diff(order) > 0).all()
    for number, flow in enumerate(result.flows.values()):
        assert (packets["flow"][flow.rows] == number).all()
        assert packets["seq"][flow.rows].tolist() == list(range(flow.rows.stop - flow.rows.start))
    for port in ("near", "far"):
        assert list(result.hop(port)) == ["queued", "ring", "start", "end"]
        assert result.hop(port).rows == packets.rows
        assert {column.dtype for column in result.hop(port).values()} == {np.dtype(np.int64)}


def test_fates_have_names(result: qs.Result) -> None:
    assert FATES == ("inside", "received", "dropped_queue", "dropped_policer")
    packets = result.packets
    names = packets.fate_names()
    assert set(names) == {"received", "dropped_queue", "dropped_policer"}
    assert ((names == "received") == (packets["fate"] == Fate.RECEIVED)).all()
    assert ((packets.where_names() == "") == (packets["received"] >= 0)).all()
    assert set(packets.where_names()) == {"near", "far", ""}
    assert packets.flow_names()[-1] == "bulk"


def test_a_packet_has_no_times_where_it_died_or_never_was(result: qs.Result) -> None:
    packets, near, far = result.packets, result.hop("near"), result.hop("far")
    died_near, died_far = packets["where"] == 0, packets["where"] == 1
    for column in near:
        assert (near[column][died_near] == -1).all()
        assert (far[column][died_near | died_far] == -1).all()
        assert (near[column][result["bulk"].rows] == -1).all()
        assert (far[column][packets["received"] >= 0] >= 0).all()


def test_columns_cannot_be_written_to(result: qs.Result) -> None:
    flow = result["voice"]
    again = pickle.loads(pickle.dumps(result))
    for column in (result.packets["sent"], result.hop("near")["end"], flow.delay, flow.ipdv, again.packets["sent"]):
        with pytest.raises(ValueError, match="read-only"):
            column[0] = 1


def test_columns_compare_and_show_themselves(result: qs.Result) -> None:
    assert result.packets == of().packets
    assert result.hop("near") != result.hop("far")
    assert result.packets != of(seed=6).packets
    assert f"<Packets: {result.packets.rows} rows of flow int32" in repr(result.packets)
    assert result.packets.nbytes == 31 * result.packets.rows
    html = result.packets._repr_html_()
    assert "voice" in html
    assert "the first 10 shown" in html


# -- tables and files --------------------------------------------------------------------------------------------------


def test_the_summary_has_a_row_for_each_flow(result: qs.Result) -> None:
    table = result.summary()
    assert isinstance(table, pd.DataFrame)
    assert list(table.index) == list(NAMES)
    for name in NAMES:
        flow, row = result[name], table.loc[name]
        assert (row["sent"], row["received"], row["lost"], row["inside"]) == (flow.sent, flow.received, flow.lost, 0)
        assert row["delay_min"] == flow.delay.min()
        assert row["delay_mean"] == pytest.approx(flow.delay.mean(), rel=1e-12)
        assert row["delay_p99"] == flow.delay_stats.quantile(0.99)
        assert row["delay_max"] == flow.delay.max()
        assert row["abs_ipdv_max"] == np.abs(flow.ipdv).max()
        assert row["loss"] == flow.loss_ratio
        assert row["throughput"] == flow.throughput
    assert table[["sent", "received", "lost"]].dtypes.eq(np.int64).all()


def test_a_summary_of_counters_only_leaves_the_rest_open() -> None:
    table = of("none").summary()
    assert table["sent"].gt(0).all()
    assert table[["delay_mean", "delay_p99", "abs_ipdv_max"]].isna().all(axis=None)


def test_a_printed_table_is_whole_within_80_columns(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    long = qs.Flow("a flow with a rather long name", qs.CBR(pps=50, size=200))
    result = qs.run(qs.Scenario(flows=[*SCENARIO.flows, long], ports=SCENARIO.ports), duration=3.0, seed=1)
    for table in (result.summary(), result.counters()):
        text = str(table)
        assert "..." not in text
        assert max(map(len, text.splitlines())) <= 80
        assert all(name in text for name in table.columns)
    first = str(of().summary()).split("\n\n")[0]
    for name in ("sent", "received", "lost", "delay_min", "delay_mean", "delay_p99", "delay_max"):
        assert name in first, "what is most wanted stands in the first block"


def test_a_printed_table_is_an_ordinary_dataframe_otherwise(result: qs.Result) -> None:
    table = result.summary()
    assert type(table[["sent"]]) is type(table.T) is type(table * 2) is type(table.copy()) is pd.DataFrame
    again = pickle.loads(pickle.dumps(table))
    assert isinstance(again, pd.DataFrame)
    assert again.equals(table)
    assert "<table" in table._repr_html_()


def test_a_dataframe_of_packets_has_names_and_seconds(result: qs.Result) -> None:
    frame = result.to_dataframe()
    assert len(frame) == result.packets.rows
    assert list(frame.columns[:8]) == [*result.packets, "delay"]
    assert list(frame.columns[8:12]) == ["near.queued", "near.ring", "near.start", "near.end"]
    assert list(frame["flow"].unique()) == list(NAMES)
    assert (frame["fate"] == "received").to_numpy().tolist() == (result.packets["received"] >= 0).tolist()
    assert frame["where"].isna().to_numpy().tolist() == (result.packets["received"] >= 0).tolist()
    counted = frame[(frame["flow"] == "data") & (frame["sent"] >= WARMUP * PICO)]
    assert counted["delay"].dropna().tolist() == result["data"].delay.tolist()
    assert list(result.to_dataframe(hops=False).columns) == [*result.packets, "delay"]
    assert list(result.hop("near").to_dataframe().columns) == ["queued", "ring", "start", "end"]


def test_csv_holds_every_packet(result: qs.Result, tmp_path: Path) -> None:
    result.to_csv(tmp_path / "packets.csv")
    frame = pd.read_csv(tmp_path / "packets.csv")
    for name in ("seq", "size", "sent", "received"):
        assert np.array_equal(frame[name], result.packets[name])
    assert np.array_equal(frame["far.start"], result.hop("far")["start"])
    assert frame["fate"].tolist() == result.packets.fate_names().tolist()
    text = io.StringIO()
    result.to_csv(text, hops=False)
    assert text.getvalue().splitlines()[0] == "flow,seq,size,fate,where,sent,received,delay"


def test_parquet_holds_every_packet_and_where_it_came_from(result: qs.Result, tmp_path: Path) -> None:
    parquet = pytest.importorskip("pyarrow.parquet")
    result.to_parquet(tmp_path / "packets.parquet")
    frame = pd.read_parquet(tmp_path / "packets.parquet")
    pd.testing.assert_frame_equal(frame, result.to_dataframe(), check_categorical=False)
    settings = json.loads(parquet.read_schema(tmp_path / "packets.parquet").metadata[b"qossim"])
    assert qs.Scenario.from_dict(settings["scenario"]) == SCENARIO
    assert settings["seed"] == 5


def test_without_pyarrow_the_message_names_what_to_install(
    result: qs.Result, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(ImportError, match=r"to_parquet needs pyarrow: pip install 'pyarrow>=16'"):
        result.to_parquet(tmp_path / "packets.parquet")


@pytest.mark.parametrize("record", ["packets", "summary", "none"])
@pytest.mark.parametrize("seed", [5, 2**127 + 1, SeedSequence([1, 2], spawn_key=(3, 4))])
def test_a_saved_result_is_loaded_again_without_loss(record: Any, seed: Any, tmp_path: Path) -> None:
    result = of(record, seed=seed)
    result.save(tmp_path / "run.npz")
    again = qs.load(tmp_path / "run.npz")
    assert again == result
    assert again.scenario == SCENARIO
    assert again.versions == result.versions
    assert again.summary().equals(result.summary())
    assert again.counters().equals(result.counters())
    assert qs.run(again.scenario, duration=6.0, warmup=WARMUP, seed=again.seed, record=record) == result
    if record != "none":
        assert again["data"].delay_budget().equals(result["data"].delay_budget())
    assert qs.Result.load(str(tmp_path / "run.npz")) == again


def test_a_result_is_saved_to_the_very_path_small_if_wanted_and_to_open_files(
    result: qs.Result, tmp_path: Path
) -> None:
    result.save(str(tmp_path / "plain"))
    result.save(tmp_path / "small", compress=True)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["plain", "small"]
    assert (tmp_path / "small").stat().st_size < (tmp_path / "plain").stat().st_size / 2
    file = io.BytesIO()
    result.save(file)
    file.seek(0)
    assert qs.load(file) == qs.load(tmp_path / "small") == result


def test_long_traces_are_saved_as_arrays(tmp_path: Path) -> None:
    trace = qs.Trace(np.arange(5000) / 7, np.arange(1, 5001))
    result = qs.run(qs.Scenario(flows=[qs.Flow("t", trace)], ports=QUIET.ports), duration=1000.0, seed=1, record="none")
    result.save(tmp_path / "run.npz")
    assert qs.load(tmp_path / "run.npz").scenario == result.scenario
    with np.load(tmp_path / "run.npz") as archive:
        assert len(archive["result"]) < 5000


def test_a_saved_result_holds_no_pickle(result: qs.Result, tmp_path: Path) -> None:
    result.save(tmp_path / "run.npz")
    with zipfile.ZipFile(tmp_path / "run.npz") as archive:
        for name in archive.namelist():
            with archive.open(name) as member:
                assert np.lib.format.read_array(member, allow_pickle=False).dtype != object


class Bomb:
    def __reduce__(self) -> tuple[Any, ...]:
        return pytest.fail, ("a pickle was read",)


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
@pytest.mark.parametrize(
    "content", ["text", "empty", "npy", "other npz", "pickle", "pickle in npz", "later", "former", "cut", "short"]
)
def test_what_is_no_saved_result_is_refused(content: str, tmp_path: Path, result: qs.Result) -> None:
    path = tmp_path / "run.npz"
    match content:
        case "text":
            path.write_text("hello")
        case "empty":
            path.touch()
        case "npy":
            with path.open("wb") as file:
                np.save(file, np.arange(3))
        case "other npz":
            np.savez(path, x=np.arange(3))
        case "pickle":
            path.write_bytes(pickle.dumps(Bomb()))
        case "pickle in npz":
            np.savez(path, result=np.array([Bomb()], dtype=object))
        case "later" | "former" | "short":
            plain = {"format": "qossim result", "version": {"later": 99, "former": 2, "short": 1}[content]}
            np.savez(path, result=np.frombuffer(json.dumps(plain).encode(), dtype=np.uint8))
        case "cut":
            result.save(path)
            path.write_bytes(path.read_bytes()[:-2000])
    with pytest.raises(ValueError, match=r"run\.npz is (no saved result|of format)"):
        qs.load(path)


def test_a_file_that_is_not_there_is_an_oserror(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        qs.load(tmp_path / "nowhere.npz")


@pytest.mark.parametrize("record", ["packets", "summary", "none"])
def test_results_travel_between_processes(record: Any) -> None:
    result = of(record)
    for again in (pickle.loads(pickle.dumps(result)), copy.deepcopy(result), copy.copy(result)):
        assert again == result
        assert again.summary().equals(result.summary())
    flow = pickle.loads(pickle.dumps(result["voice"]))
    assert isinstance(flow, FlowResult)
    assert flow.received == result["voice"].received
    assert pickle.loads(pickle.dumps(result.port("near"))).classes == result.port("near").classes


def test_a_pickle_holds_each_column_once(result: qs.Result) -> None:
    result["data"].delay, result["data"].ipdv, result["data"].jitter()
    size = result.packets.nbytes + sum(result.hop(port).nbytes for port in result.ports)
    assert len(pickle.dumps(result)) < size + 20_000


# -- Python ------------------------------------------------------------------------------------------------------------


def test_equal_results_are_those_with_the_same_question_and_the_same_answer(result: qs.Result) -> None:
    assert result == result
    assert result == of()
    assert result != of(seed=6)
    assert result != of(seed=SeedSequence(5)), "the seed is part of the question"
    assert result != of("summary")
    assert result != of(drain=False)
    assert result != of(warmup=1.2)
    assert result != "result"
    with pytest.raises(TypeError):
        hash(result)


def test_a_result_shows_itself(result: qs.Result) -> None:
    lines = repr(result).splitlines()
    assert lines[0] == '<Result: 6 s, warm-up 1.3 s, seed 5, record="packets"; delay and largest |ipdv| in ms'
    assert lines[1].split() == ["flow", "sent", "received", "lost", "min", "mean", "p99", "max", "|ipdv|"]
    assert len(lines) == 5
    assert lines[2].split()[:2] == ["voice", str(result["voice"].sent)]
    assert f"{1e3 * result['voice'].delay.min():.3f}" in lines[2]
    assert max(map(len, lines)) <= 90
    assert 'seed 5, record="none"' in repr(of("none"))
    assert "<td>voice</td>" in result._repr_html_()
    assert "<td>voice</td>" in result["voice"]._repr_html_()
    assert "largest queue" in result.port("near")._repr_html_()
    assert f'"voice" {result["voice"].sent} sent' in repr(result["voice"])
    assert "near" in repr(result.port("near"))


def test_names_are_shown_as_text_in_html() -> None:
    flow = QUIET.flows[0].replace(name="<script>alert(1)</script>")
    result = qs.run(qs.Scenario(flows=[flow], ports=QUIET.ports), duration=1.0, seed=1)
    for html in (result._repr_html_(), result.packets._repr_html_(), result[flow.name]._repr_html_()):
        assert "<script>" not in html
        assert "&lt;script&gt;" in html


def test_a_result_of_many_flows_shows_some() -> None:
    flows = [qs.Flow(f"flow {number}", qs.CBR(pps=10, size=100)) for number in range(100)]
    result = qs.run(qs.Scenario(flows=flows, ports=QUIET.ports), duration=1.0, seed=1)
    assert len(repr(result).splitlines()) < 30
    assert "and 80 flows more" in repr(result)
    assert "and 80 flows more" in result._repr_html_()
    assert len(result.summary()) == 100
    with pytest.raises(KeyError, match="and 90 more"):
        result["x"]


def test_importing_takes_numpy_alone() -> None:
    script = """
import sys, qossim as qs
result = qs.run(qs.Scenario([qs.Flow("f", qs.CBR(pps=100, size=100))], [qs.Port("link", "1 Mbit/s")]), duration=1.0)
result["f"].delay_stats.quantile(0.99), result["f"].ipdv, result["f"].jitter(), repr(result), result._repr_html_()
heavy = {"pandas", "matplotlib", "tqdm", "pyarrow", "scipy"} & {name.split(".")[0] for name in sys.modules}
assert not heavy, heavy
"""
    subprocess.run([sys.executable, "-c", script], check=True)


@pytest.mark.parametrize("name", ["packets/seq", "packets/fate", "hops/0/end"])
@pytest.mark.parametrize("harm", ["cut", "float"])
def test_a_saved_result_whose_columns_do_not_belong_together_is_refused(tmp_path: Path, name: str, harm: str) -> None:
    port = qs.Port("port", rate="1 Mbit/s")
    result = qs.run(qs.Scenario(flows=[qs.Flow("flow", qs.CBR(pps=50, size=100))], ports=[port]), duration=1, seed=1)
    result.save(tmp_path / "run.npz")
    with np.load(tmp_path / "run.npz") as archive:
        arrays = {key: archive[key] for key in archive.files}
    arrays[name] = arrays[name][:-1] if harm == "cut" else arrays[name].astype(float)
    np.savez(tmp_path / "harmed.npz", **arrays)
    with pytest.raises(ValueError, match=r"columns? .*must be"):
        qs.load(tmp_path / "harmed.npz")
