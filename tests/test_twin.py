# SPDX-License-Identifier: MIT
"""Twin and core agree on every timestamp and every fate of every packet of random scenarios.

QOSSIM_TWIN_SCENARIOS says how many (2000 if unset); ``python -m tests.twin --help`` tells of longer runs.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections import Counter
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

import qossim as qs
from tests.twin import DROPPED_QUEUE, FATES, Row, compare, scenarios, simulate
from tests.twin.net import Counts

SCENARIOS = int(os.environ.get("QOSSIM_TWIN_SCENARIOS", "2000"))
AT_ONCE = 100


@pytest.mark.parametrize("first", range(0, SCENARIOS, AT_ONCE))
def test_twin_and_core_agree_on_every_packet(first: int) -> None:
    outcomes = [compare.compare(seed, shrink=False) for seed in range(first, min(first + AT_ONCE, SCENARIOS))]
    differ = [outcome.seed for outcome in outcomes if outcome.report]
    if differ:
        reports = [compare.compare(seed).report for seed in differ[:2]]
        pytest.fail("\n\n".join([f"{len(differ)} scenarios differ: seeds {differ}", *reports]), pytrace=False)
    assert sum(outcome.packets for outcome in outcomes) > 0


def test_the_scenario_of_a_seed_is_always_the_same() -> None:
    for seed in range(50):
        assert scenarios.draw(seed) == scenarios.draw(seed)


def test_the_random_scenarios_leave_nothing_out() -> None:
    """Everything a scenario can say, and everything that can become of a packet, several times in 600."""
    seen: Counter[str] = Counter()
    for seed in range(600):
        scenario, duration, drain = scenarios.draw(seed)
        seen.update(features(scenario, drain))
        seen.update({FATES[row.fate] for row in simulate(scenario, duration, seed, drain)})
    assert {name: seen[name] for name in EVERYTHING if seen[name] < 5} == {}


EVERYTHING = (
    *("1 port", "2 ports", "3 ports", "a route of its own", "propagation", "no drain", *FATES),
    *("no classes", "1 class", "2 classes", "3 classes", "4 classes", "6 classes", "8 classes"),
    *("FIFO", "PQ", "WFQ", "SCFQ ip", "SCFQ wire", "DRR quantum", "DRR bandwidth", "quantum 1", "odd quantum"),
    *("no framing", "AAL5 llc-snap", "AAL5 vc-mux", "Ethernet", "tags", "no gap"),
    *("PPP", "HDLC", "FrameRelay", "Overhead"),
    *("no ring", *(f"{admit} {free}" for admit in ("overshoot", "strict") for free in ("start", "end", "particle"))),
    *("header", "limit 0", "limit packets", "limit bytes", "limit time", "time at the rate", "match", "flows", "both"),
    *("police always", "police congestion", "police ip", "police wire", "police overhead", "burst 0"),
    *("CBR", "Poisson", "Trace", "Sizes", "weights", "random phase", "phase", "jitter", "start", "stop"),
    *("odd rate", "65535 byte"),
)


def features(scenario: qs.Scenario, drain: bool) -> set[str]:
    """What a scenario makes use of."""
    n = len(scenario.ports)
    found = {f"{n} port" + "s" * (n > 1)} | ({"no drain"} if not drain else set())
    for flow in scenario.flows:
        source: Any = flow.source
        found |= {type(source).__name__}
        found |= {name for name in ("start", "stop") if getattr(flow, name)}
        found |= {"a route of its own"} if flow.route is not None else set()
        if isinstance(source, qs.CBR) and source.phase:
            found |= {"random phase" if source.phase == "random" else "phase"}
        found |= {"jitter"} if isinstance(source, qs.CBR) and source.jitter else set()
        if isinstance(source, qs.Trace):
            found |= {f"{size} byte" for size in source.sizes.tolist()}
        elif isinstance(source.size, qs.Sizes):
            found |= {"Sizes"} | ({"weights"} if len(set(source.size.weights)) > 1 else set())
    for port in scenario.ports:
        found |= port_features(port)
    return found


def port_features(port: qs.Port) -> set[str]:
    scheduler: Any = port.scheduler
    framing: Any = port.framing
    name = type(scheduler).__name__
    n = len(port.classes)
    found = {f"{n} class" + "es" * (n > 1) if n else "no classes"}
    found |= {"odd rate"} if port.rate.denominator > 1 else set()
    found |= {"propagation"} if port.propagation else set()
    if name == "DRR" and n:
        found |= {"DRR quantum" if all(each.quantum for each in port.classes) else "DRR bandwidth"}
        quanta = [each.quantum or Fraction(0) for each in port.classes]
        found |= {"quantum 1"} if 1 in quanta else set()
        found |= {"odd quantum"} if any(quantum.denominator > 1 for quantum in quanta) else set()
    else:
        found |= {f"SCFQ {scheduler.lengths}" if name == "SCFQ" else name}
    if framing is None:
        found |= {"no framing"}
    else:
        kind = type(framing).__name__
        found |= {f"AAL5 {framing.encapsulation}" if kind == "AAL5" else kind}
        found |= {"tags"} if kind == "Ethernet" and framing.tags else set()
        found |= {"no gap"} if kind == "Ethernet" and not framing.preamble_and_gap else set()
    ring = port.tx_ring
    found |= {f"{ring.admit} {ring.free}"} | ({"header"} if ring.header else set()) if ring else {"no ring"}
    for each in port.classes:
        found |= class_features(each)
    return found


def class_features(each: qs.TrafficClass) -> set[str]:
    queue: Any = each.queue
    police: Any = each.police
    named = (each.match is not None, each.flows is not None)
    found = {{(True, False): "match", (False, True): "flows", (True, True): "both", (False, False): "rest"}[named]}
    found |= {f"limit {what}" for what in ("packets", "bytes", "time") if getattr(queue, what) is not None}
    found |= {"limit 0"} if 0 in (queue.packets, queue.bytes, queue.time) else set()
    found |= {"time at the rate"} if queue.time and each.bandwidth is None else set()
    if police:
        found |= {f"police {police.when}", f"police {police.counts}"}
        found |= {"police overhead"} if police.overhead else set()
        found |= {"burst 0"} if police.burst == 0 else set()
    return found


def test_a_difference_is_reported_with_seed_packet_and_small_scenario(monkeypatch: pytest.MonkeyPatch) -> None:
    """A core that loses the first packet of 1000 bytes or more at its first port."""
    faithful = compare.core_and_counts

    def faulty(*arguments: Any) -> tuple[list[Row], Counts]:
        rows, counts = faithful(*arguments)
        for i, row in enumerate(rows):
            if row.size >= 1000:
                return [*rows[:i], row._replace(fate=DROPPED_QUEUE), *rows[i + 1 :]], counts
        return rows, counts

    monkeypatch.setattr(compare, "core_and_counts", faulty)
    outcome = next(outcome for seed in range(50) if (outcome := compare.compare(seed)).report)
    report = outcome.report
    assert f"seed {outcome.seed}: 1 of {outcome.packets} packets differ, first flow" in report
    assert "core 2 (dropped_queue)" in report
    small = report[report.index("smallest scenario that differs") :]
    assert "1 of 1 packets differ" in small and small.count("Flow(") == 1 and small.count("Port(") == 1
    assert re.search(r'Trace\(np.array\(\[\d+\], "m8\[ps\]"\), \[\d{4,}\]\)', small)


@pytest.mark.parametrize("field", Counts._fields)
def test_a_count_that_differs_is_reported(field: str, monkeypatch: pytest.MonkeyPatch) -> None:
    faithful = compare.core_and_counts

    def faulty(*arguments: Any) -> tuple[list[Row], Counts]:
        rows, counts = faithful(*arguments)
        return rows, counts._replace(**{field: []})

    monkeypatch.setattr(compare, "core_and_counts", faulty)
    report = compare.compare(1).report
    assert report.startswith("seed 1: the counts differ, with a warm-up of ") and f"{field}=[]" in report


@pytest.mark.parametrize("jobs", [1, 2])
def test_the_long_run_closes_with_what_it_compared(jobs: int) -> None:
    command = [sys.executable, "-m", "tests.twin", "--scenarios", "20", "--start", "7", "--jobs", str(jobs)]
    root = Path(__file__).parents[1]
    done = subprocess.run(command, cwd=root, capture_output=True, text=True, timeout=300)
    closing = done.stdout.splitlines()[-1]
    assert re.fullmatch(r"20 scenarios \(seeds from 7\), \d+ packets \(.* received, .*\): \d+ differ; \d+ s", closing)
    assert (done.returncode == 0) == (": 0 differ;" in closing), done.stdout + done.stderr
