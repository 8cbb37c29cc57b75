# SPDX-License-Identifier: MIT
"""Nothing is left behind: reference counts and memory stay flat over many runs, whatever becomes of them."""

from __future__ import annotations

import contextlib
import gc
import json
import pickle
import signal
import subprocess
import sys
import weakref
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import qossim as qs
from qossim._core import Simulation
from tests.bench.measure import environment

TIMES, SIZES = np.sort(np.random.default_rng(1).integers(0, 10**6, 2000)) / 1e6, 100
CLASSES = [
    qs.TrafficClass("EF", match="EF", bandwidth="400 kbit/s", police=qs.TokenBucket("300 kbit/s", 8000)),
    qs.TrafficClass("rest", bandwidth="1600 kbit/s", queue=qs.DropTail(20)),
]
SCENARIO = qs.Scenario(
    flows=[
        qs.Flow("voice", qs.CBR(pps=50, size=200, phase="random"), dscp="EF"),
        qs.Flow("data", qs.Poisson(rate="3 Mbit/s", size=qs.Sizes([40, 576, 1500], weights=[7, 4, 1]))),
        qs.Flow("trace", qs.Trace(TIMES, SIZES)),
    ],
    ports=[
        qs.Port(name, "2 Mbit/s", framing=qs.AAL5(), scheduler=qs.SCFQ(), classes=CLASSES, tx_ring=qs.TxRing(5))
        for name in ("near", "far")
    ],
)


def ask_everything(record: Any) -> None:
    """One run, and each answer once."""
    result = qs.run(SCENARIO, duration=1.0, warmup=0.1, seed=1, record=record)
    for flow in result.flows.values():
        assert flow.sent > 0
        with contextlib.suppress(qs.ScenarioError):
            assert flow.delay_stats.quantile(0.99) > 0
            assert flow.abs_ipdv_stats.mean > 0
            assert flow._stages()
            assert len(flow.delay) + len(flow.ipdv) + len(flow.jitter()) > 0
    assert all(port.classes for port in result.ports.values())
    with contextlib.suppress(qs.ScenarioError):
        assert result.packets.rows == result.hop("near").rows
    assert repr(result)
    assert pickle.loads(pickle.dumps(result)) == result


def packets() -> None:
    ask_everything("packets")


def summary() -> None:
    ask_everything("summary")


def counters() -> None:
    ask_everything("none")


def forgotten() -> None:
    """A result that nobody asks anything."""
    qs.run(SCENARIO, duration=1.0, seed=1)


def refused() -> None:
    """A run that the checks refuse, and a flow that the core does."""
    with contextlib.suppress(qs.ScenarioError):
        qs.run(SCENARIO, duration=-1.0)
    lowered = SCENARIO._lower()
    simulation = Simulation(record="packets", duration=10**12)
    for port in lowered.ports:
        simulation.add_port(*port)
    name, source, *rest = lowered.flows[0][0]
    with contextlib.suppress(qs.ScenarioError, ValueError, TypeError):
        simulation.add_flow(name, ("nonsense", source[1]), *rest, None)


def interrupted() -> None:
    """A run that a signal stops on the way."""

    def stop(*_: object) -> None:
        raise KeyboardInterrupt

    handler = signal.signal(signal.SIGALRM, stop)
    try:
        with contextlib.suppress(KeyboardInterrupt):
            signal.setitimer(signal.ITIMER_REAL, 0.003)
            qs.run(SCENARIO, duration=1e6, seed=1)
            pytest.fail("it was not stopped")
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, handler)


def seeded() -> None:
    """Each kind of seed and stream."""
    for name in ("PCG64", "PCG64DXSM", "Philox", "SFC64", "MT19937"):
        qs.run(SCENARIO, duration=0.01, seed=np.random.SeedSequence([1, 2]), bit_generator=name)


LIVES = [packets, summary, counters, forgotten, refused, interrupted, seeded]


@pytest.mark.parametrize("life", LIVES)
def test_reference_counts_stay_flat(life: Callable[[], None]) -> None:
    lowered = SCENARIO._lower()
    held: list[Any] = [
        SCENARIO,
        lowered,
        *lowered.ports,
        *lowered.flows,
        *(arguments for arguments, _ in lowered.flows),
    ]
    held += [value for _, settings in (arguments[1] for arguments, _ in lowered.flows) for value in settings]
    held += [np.random.PCG64, Simulation, qs.ScenarioError, qs.Result, "voice", "near", "queued", "received", "delay"]
    held += [np.dtype(t) for t in (np.int8, np.int16, np.int32, np.int64, np.uint64, np.float64)]
    for _ in range(3):
        life()
    gc.collect()
    before = [sys.getrefcount(each) for each in held]
    for _ in range(30):
        life()
    gc.collect()
    after = [sys.getrefcount(each) for each in held]
    grown = {repr(each)[:60]: (a, b) for each, a, b in zip(held, before, after, strict=True) if b - a >= 15}
    assert not grown


@pytest.mark.parametrize("life", LIVES)
def test_pythons_memory_settles(life: Callable[[], None]) -> None:
    """Its free lists and caches fill at first; what leaks a block each run never settles."""
    grown: list[int] = []
    while len(grown) < 20 and (not grown or grown[-1] >= 20):
        before = sys.getallocatedblocks()
        for _ in range(40):
            life()
        gc.collect()
        grown.append(sys.getallocatedblocks() - before)
    assert grown[-1] < 20, grown


def resident() -> int:
    """Bytes of memory the process holds."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * 4096


@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="needs Linux's /proc")
@pytest.mark.parametrize("life", LIVES)
def test_the_processs_memory_stays_flat(life: Callable[[], None]) -> None:
    for _ in range(30):
        life()
    gc.collect()
    before = resident()
    for _ in range(150):
        life()
    gc.collect()
    assert resident() - before < 6 * 2**20, "150 runs of a few hundred kilobytes each"


@pytest.mark.parametrize("record", ["packets", "summary", "none"])
def test_a_result_dies_with_its_last_reference(record: Any) -> None:
    gc.disable()
    try:
        result = qs.run(SCENARIO, duration=1.0, seed=1, record=record)
        flow = result["voice"]
        assert flow.sent == 50
        watch = weakref.ref(result)
        del result
        assert watch() is None, "it stands in no cycle"
        assert flow.lost >= 0, "and a flow outlives it"
    finally:
        gc.enable()


def test_a_column_outlives_its_result() -> None:
    result = qs.run(SCENARIO, duration=1.0, seed=1)
    sent, end, delay = result.packets["sent"], result.hop("far")["end"], result["voice"].delay
    expected = sent.copy(), end.copy(), delay.copy()
    del result
    gc.collect()
    for _ in range(5):
        qs.run(SCENARIO, duration=1.0, seed=2)
    assert all(map(np.array_equal, (sent, end, delay), expected))


@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="needs Linux's /proc")
def test_a_summary_takes_the_same_memory_however_long_the_run() -> None:
    qs.run(SCENARIO, duration=10.0, seed=1, record="summary")
    before = resident()
    result = qs.run(SCENARIO, duration=1000.0, seed=1, record="summary")
    assert result["data"].sent > 10**6
    assert resident() - before < 8 * 2**20


MANY = """
import json
from fractions import Fraction
import qossim as qs
from tests.bench.child import memory

flows = [
    qs.Flow("third", qs.CBR(interval="3 ms", size=1000)),
    qs.Flow("half", qs.CBR(interval="2 ms", size=1000)),
    qs.Flow("policed", qs.CBR(interval="6 ms", size=1000), start="5 ms"),
]
bucket = qs.TokenBucket(Fraction(2_000_000, 3), 1000)
classes = [qs.TrafficClass("policed", flows="policed", police=bucket), qs.TrafficClass("rest")]
scenario = qs.Scenario(flows, [qs.Port("link", "8 Mbit/s", classes=classes)])
answers = []
for duration in (120, 100_002):
    result = qs.run(scenario, duration=duration, record="summary", progress=False)
    stats = {name: flow.delay_stats for name, flow in result.flows.items()}
    rest = result.ports["link"].classes["rest"]
    answers.append({"peak": memory()["VmHWM"], "queue": (rest.mean_queue, rest.largest_queue)})
    answers[-1] |= {name: (each.count, each.min, each.mean, each.max) for name, each in stats.items()}
    answers[-1]["lost"] = tuple(result["policed"].loss_periods)
print(json.dumps(answers))
"""


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="needs Linux's /proc")
def test_a_hundred_million_packets_are_summed_exactly_in_the_memory_of_a_hundred_thousand() -> None:
    """A packet lasts 1 ms. In each 6 ms come two of one flow, which never wait, three of another, of which one waits
    1 ms behind the first, and one of a third, which finds the line idle but tokens for every other packet only.
    """
    done = subprocess.run(
        [sys.executable, "-P", "-c", MANY], env=environment(), stdout=subprocess.PIPE, text=True, check=True
    )
    few, many = json.loads(done.stdout)
    for answer, cycles in ((few, 20_000), (many, 16_667_000)):
        assert answer["third"] == [2 * cycles, 1e-3, 1e-3, 1e-3]
        assert answer["half"] == [3 * cycles, 1e-3, float(Fraction(4, 3000)), 2e-3]
        assert answer["policed"] == [cycles // 2, 1e-3, 1e-3, 1e-3]
        assert answer["lost"] == [cycles // 2, 1, 1.0]
        assert answer["queue"] == [float(Fraction(1, 6)), 1]
    assert many["third"][0] + many["half"][0] + 2 * many["policed"][0] > 10**8
    assert many["peak"] - few["peak"] < 2**20


@pytest.mark.skipif(sys.platform != "linux", reason="needs a limit on memory that holds")
def test_running_out_of_memory_is_a_memory_error_and_leaves_all_usable() -> None:
    script = """
import resource, qossim as qs
flow = qs.Flow("f", qs.CBR(pps=10**6, size=100))
scenario = qs.Scenario([flow], [qs.Port("link", "1 Gbit/s")])
before = qs.run(scenario, duration=0.01, seed=1)
pages = int(open("/proc/self/statm").read().split()[0])
resource.setrlimit(resource.RLIMIT_AS, (pages * 4096 + 200 * 2**20, resource.RLIM_INFINITY))
for _ in range(3):
    try:
        qs.run(scenario, duration=1000.0, seed=1)
    except MemoryError:
        pass
    else:
        raise AssertionError("60 GB fitted into 200 MB")
assert qs.run(scenario, duration=0.01, seed=1) == before
assert qs.run(scenario, duration=1.0, seed=1, record="summary")["f"].received == 10**6
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
