# SPDX-License-Identifier: MIT
"""Running: what is refused, where randomness comes from, progress, and Ctrl-C."""

from __future__ import annotations

import concurrent.futures
import contextlib
import datetime as dt
import hashlib
import io
import math
import os
import pty
import random
import signal
import subprocess
import sys
import termios
import threading
import time
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from numpy.random import PCG64, SeedSequence

import qossim as qs
from qossim._core import seed_words
from qossim.run import _Root, run, stream

LINK = qs.Port("link", rate="10 Mbit/s")
VOICE = qs.Flow("voice", qs.CBR(pps=50, size=200, phase="random"), dscp="EF")
NOISE = qs.Flow("noise", qs.Poisson(rate="3 Mbit/s", size=qs.Sizes([40, 576, 1500], weights=[7, 4, 1])))
BURST = qs.Flow("burst", qs.Trace([0.0, 0.001, 0.001], [1500, 40, 40]))
BUSY = qs.Scenario(flows=[qs.Flow("busy", qs.Poisson(rate="9 Mbit/s", size=100))], ports=[LINK])
ALL = qs.Scenario(flows=[VOICE, NOISE, BURST], ports=[LINK])


def arrivals(result: qs.Result, flow: str) -> tuple[list[int], list[int]]:
    rows = result[flow].rows
    return result.packets["sent"][rows].tolist(), result.packets["size"][rows].tolist()


# -- what is refused ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"duration": 0}, ["duration", "above 0", "106 days", "got 0"]),
        ({"duration": 0.0}, ["duration", "got 0.0"]),
        ({"duration": -1.0}, ["duration", "got -1.0"]),
        ({"duration": 1e-13}, ["duration", "got 1e-13"]),
        ({"duration": 9158400.1}, ["duration", "9158400 s", "got 9158400.1"]),
        ({"duration": "107 d"}, ["duration", "106 days", "107 d"]),
        ({"duration": 1e300}, ["duration", "1e+300"]),
        ({"duration": math.nan}, ["duration", "nan"]),
        ({"duration": math.inf}, ["duration", "inf"]),
        ({"duration": "ten"}, ["duration", "ten"]),
        ({"duration": "1 parsec"}, ["duration", "parsec"]),
        ({"duration": None}, ["duration", "None"]),
        ({"duration": True}, ["duration", "True"]),
        ({"duration": [1.0]}, ["duration", "[1.0]"]),
        ({"warmup": -0.5}, ["warmup", "-0.5"]),
        ({"warmup": 1.0}, ["warmup", "less than the duration", "1.0"]),
        ({"warmup": "2 s"}, ["warmup", "less than the duration, 1.0", "2 s"]),
        ({"warmup": math.nan}, ["warmup", "nan"]),
        ({"seed": -1}, ["seed", "at least 0", "-1"]),
        ({"seed": 1.0}, ["seed", "1.0"]),
        ({"seed": "1"}, ["seed", '"1"']),
        ({"seed": True}, ["seed", "True"]),
        ({"seed": np.random.default_rng(1)}, ["seed", "Generator"]),
        ({"record": "all"}, ["record", "packets", "summary", "none", "all"]),
        ({"record": None}, ["record", "None"]),
        ({"record": ["packets"]}, ["record", "['packets']"]),
        ({"drain": 1}, ["drain", "True or False", "got 1"]),
        ({"progress": "bar"}, ["progress", "bar"]),
        ({"progress": 1}, ["progress", "got 1"]),
        ({"bit_generator": "MT"}, ["bit_generator", "PCG64", "MT"]),
        ({"bit_generator": PCG64}, ["bit_generator", "PCG64"]),
        ({"scenario": "seed"}, ["scenario", "a Scenario", "seed"]),
        ({"scenario": None}, ["scenario", "None"]),
    ],
)
def test_a_wrong_parameter_is_named_with_its_value_and_bounds(changes: dict[str, Any], words: list[str]) -> None:
    arguments: dict[str, Any] = {"scenario": ALL, "duration": 1.0, "seed": 1} | changes
    with pytest.raises(qs.ScenarioError) as caught:
        run(arguments.pop("scenario"), **arguments)
    assert all(word in str(caught.value) for word in words), str(caught.value)


def test_everything_but_the_scenario_is_named_by_keyword() -> None:
    with pytest.raises(TypeError):
        run(ALL, 1.0)  # type: ignore[misc]
    with pytest.raises(TypeError, match="duration"):
        run(ALL)  # type: ignore[call-arg]


@pytest.mark.parametrize(
    "duration",
    [
        *("1.5 s", "1500 ms", "0.025 min", Fraction(3, 2), Decimal("1.5"), np.float64(1.5), np.float32(1.5)),
        *(dt.timedelta(milliseconds=1500), np.timedelta64(1500, "ms")),
    ],
)
def test_durations_have_many_forms(duration: Any) -> None:
    result = run(ALL, duration=duration, warmup=duration / 3 if not isinstance(duration, str) else 0.5, seed=1)
    assert result.duration == 1.5
    assert result.warmup == pytest.approx(0.5, abs=1e-12)
    assert result.packets == run(ALL, duration=1.5, seed=1).packets


def test_the_longest_run_is_106_days() -> None:
    rare = qs.Scenario(flows=[qs.Flow("rare", qs.CBR(interval="1 d", size=100))], ports=[LINK])
    for duration in ("106 d", 9158400.0, 9158400):
        result = run(rare, duration=duration, seed=1)
        assert result["rare"].received == 106
        assert result.packets["sent"][-1] == 105 * 86400 * 10**12


def test_times_are_taken_as_the_decimals_they_print_as() -> None:
    steady = qs.Scenario(flows=[qs.Flow("f", qs.CBR(interval=0.1, size=100))], ports=[LINK])
    assert run(steady, duration=0.3, seed=1)["f"].sent == 3, "the packet at 0.3 s is not before 0.3 s"
    assert run(steady, duration=0.300000000001, seed=1)["f"].sent == 4
    assert run(steady, duration=0.4, warmup=0.3, seed=1)["f"].sent == 1


# -- randomness --------------------------------------------------------------------------------------------------------


def test_the_same_seed_gives_the_same_run() -> None:
    one = run(ALL, duration=1.0, seed=7)
    assert run(ALL, duration=1.0, seed=7) == one
    assert run(ALL, duration=1.0, seed=np.int64(7)) == one
    assert run(ALL, duration=1.0, seed=8) != one
    assert arrivals(run(ALL, duration=1.0, seed=8), "noise") != arrivals(one, "noise")


def test_a_seed_drawn_by_the_system_can_be_used_again() -> None:
    one, other = run(ALL, duration=0.1), run(ALL, duration=0.1)
    assert isinstance(one.seed, int)
    assert one.seed != other.seed
    assert run(one.scenario, duration=0.1, seed=one.seed) == one


def test_a_seed_sequence_serves_as_well_and_is_left_alone() -> None:
    seed = SeedSequence(7)
    result = run(ALL, duration=0.5, seed=seed)
    assert seed.n_children_spawned == 0
    assert isinstance(result.seed, SeedSequence)
    assert result.packets == run(ALL, duration=0.5, seed=7).packets
    assert result == run(ALL, duration=0.5, seed=result.seed)
    children = [run(ALL, duration=0.5, seed=child) for child in seed.spawn(2)]
    assert len({result.packets["sent"].tobytes() for result in [result, *children]}) == 3


def test_arrivals_do_not_depend_on_other_flows_or_on_their_order() -> None:
    expected = arrivals(run(qs.Scenario(flows=[NOISE], ports=[LINK]), duration=1.0, seed=3), "noise")
    for flows in ([VOICE, NOISE], [NOISE, VOICE], [BURST, NOISE, VOICE]):
        assert arrivals(run(qs.Scenario(flows=flows, ports=[LINK]), duration=1.0, seed=3), "noise") == expected


def test_arrivals_do_not_depend_on_the_port() -> None:
    expected = run(ALL, duration=1.0, seed=3).packets
    slow = qs.Port("slow", rate="2 Mbit/s", classes=[qs.TrafficClass("all", queue=qs.DropTail(1))], scheduler=qs.PQ())
    other = run(qs.Scenario(flows=ALL.flows, ports=[slow, LINK]), duration=1.0, seed=3).packets
    for column in ("flow", "seq", "size", "sent"):
        assert np.array_equal(other[column], expected[column])


def test_arrivals_depend_on_the_name_alone() -> None:
    twins = [NOISE, NOISE.replace(name="other noise")]
    result = run(qs.Scenario(flows=twins, ports=[LINK]), duration=1.0, seed=3)
    assert arrivals(result, "noise") != arrivals(result, "other noise")


def test_a_stream_is_the_child_named_by_the_first_half_of_the_names_digest() -> None:
    words = np.frombuffer(hashlib.sha256("Gerät".encode()).digest()[:16], dtype="<u4").tolist()
    expected = PCG64(SeedSequence(7, spawn_key=words)).random_raw(5)
    assert np.array_equal(stream(7, "Gerät").random_raw(5), expected)
    child = SeedSequence(7).spawn(3)[2]
    expected = PCG64(SeedSequence(7, spawn_key=[2, *words])).random_raw(5)
    assert np.array_equal(stream(child, "Gerät").random_raw(5), expected)


def test_seeds_are_worked_out_as_numpy_does() -> None:
    dice = random.Random(1)
    for number in range(500):
        entropy = dice.getrandbits(dice.choice([0, 1, 31, 32, 33, 64, 127, 128, 129, 400]))
        keys = tuple(dice.getrandbits(dice.choice([0, 5, 32, 64, 200])) for _ in range(dice.randrange(4)))
        root = _Root(entropy, keys)
        ours, numpys = root.seeder()(str(number)), root.child(str(number))
        assert type(ours) is not type(numpys)
        for words, dtype in ((4, np.uint64), (624, np.uint32), (0, np.uint32), (1, np.uint32), (5, np.uint64)):
            found, expected = ours.generate_state(words, dtype), numpys.generate_state(words, dtype)
            assert found.dtype == expected.dtype and np.array_equal(found, expected)


@pytest.mark.parametrize(
    "seed",
    [7, 2**200, SeedSequence(7).spawn(3)[2], SeedSequence([1, 2, 3]), SeedSequence(5, pool_size=8)],
    ids=["small", "large", "child", "list", "pool"],
)
@pytest.mark.parametrize("name", ["PCG64", "PCG64DXSM", "Philox", "SFC64", "MT19937"])
def test_a_run_draws_from_the_streams_that_are_told(seed: Any, name: str) -> None:
    result = run(qs.Scenario(flows=[VOICE], ports=[LINK]), duration=1.0, seed=seed, bit_generator=name)
    interval = 20 * 10**9
    drawn = np.random.Generator(stream(seed, "voice", name)).integers(2**64, dtype=np.uint64)
    assert result.packets["sent"][0] == (int(drawn) >> 11) * interval >> 53


@pytest.mark.parametrize(
    ("arguments", "error"),
    [((b"abc", 1, False), ValueError), ((b"", -1, False), ValueError), ((b"", 5000, True), ValueError),
     (("", 1, True), TypeError), ((b"",), TypeError)],
)  # fmt: skip
def test_the_core_refuses_what_are_no_words(arguments: Any, error: type[Exception]) -> None:
    with pytest.raises(error):
        seed_words(*arguments)


def test_a_stream_is_what_the_source_draws_from() -> None:
    result = run(qs.Scenario(flows=[VOICE], ports=[LINK]), duration=1.0, seed=11)
    interval = 20 * 10**9
    assert result.packets["sent"][0] == (int(stream(11, "voice").random_raw()) >> 11) * interval >> 53


@pytest.mark.parametrize("name", ["PCG64", "PCG64DXSM", "Philox", "SFC64", "MT19937"])
def test_any_bit_generator_of_numpy_serves(name: str) -> None:
    result = run(ALL, duration=0.5, seed=1, bit_generator=name)
    assert result.bit_generator == name
    assert type(stream(1, "x", name)).__name__ == name
    assert (result == run(ALL, duration=0.5, seed=1)) == (name == "PCG64")


@pytest.mark.parametrize("seed", [None, -1, "x"])
def test_a_stream_needs_a_seed(seed: Any) -> None:
    with pytest.raises(qs.ScenarioError, match="seed must be"):
        stream(seed, "x")


def test_only_flows_that_draw_get_a_generator(monkeypatch: pytest.MonkeyPatch) -> None:
    module, made = sys.modules["qossim.run"], []

    def counting(seed: SeedSequence) -> PCG64:
        made.append(seed)
        return PCG64(seed)

    monkeypatch.setitem(module._BIT_GENERATORS, "PCG64", counting)
    run(ALL, duration=0.1, seed=1)
    assert len(made) == 2, "voice and noise; the trace draws nothing"


def test_runs_side_by_side_are_the_same_as_one_after_the_other() -> None:
    expected = [run(ALL, duration=2.0, seed=seed) for seed in range(8)]
    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        assert list(pool.map(lambda seed: run(ALL, duration=2.0, seed=seed), range(8))) == expected


# -- draining ----------------------------------------------------------------------------------------------------------


def test_what_is_under_way_at_the_end_is_inside_unless_the_run_drains() -> None:
    slow = qs.Port("slow", rate="8 kbit/s", propagation="0.3 s")
    flow = qs.Flow("f", qs.CBR(interval=0.1, size=100))
    scenario = qs.Scenario(flows=[flow], ports=[slow])
    drained, stopped = run(scenario, duration=1.0, seed=1), run(scenario, duration=1.0, seed=1, drain=False)
    assert (drained["f"].received, drained["f"].inside) == (10, 0)
    assert (stopped["f"].received, stopped["f"].inside) == (6, 4), "received at 0.4, 0.5 ... 0.9; 1.0 is too late"
    assert (drained.drain, stopped.drain) == (True, False)
    assert np.array_equal(stopped.packets["received"][:6], drained.packets["received"][:6])
    assert stopped.packets.fate_names()[6:].tolist() == ["inside"] * 4
    assert stopped.packets.where_names()[6:].tolist() == ["slow"] * 4


# -- progress ----------------------------------------------------------------------------------------------------------


def test_a_function_is_told_the_share_done() -> None:
    told: list[float] = []
    result = run(BUSY, duration=500.0, seed=1, record="none", progress=told.append)
    assert result == run(BUSY, duration=500.0, seed=1, record="none", progress=False)
    assert told
    assert all(0 <= share <= 1 for share in told)
    assert told == sorted(told)


def test_a_failing_function_stops_the_run_and_its_error_is_seen() -> None:
    def fail(share: float) -> None:
        raise LookupError(f"at {share}")

    with pytest.raises(LookupError, match="at"):
        run(BUSY, duration=9000.0, seed=1, record="none", progress=fail)
    assert run(ALL, duration=0.1, seed=1)["voice"].received > 0


class FakeBar:
    """In the place of tqdm's."""

    def __init__(self, **_: Any) -> None:
        self.n, self.closed = 0.0, False

    def update(self, step: float) -> None:
        self.n += step

    def close(self) -> None:
        self.closed = True


def test_a_bar_waits_for_a_second_and_closes_whatever_happens(monkeypatch: pytest.MonkeyPatch) -> None:
    import tqdm.auto

    module, bars, now = sys.modules["qossim.run"], [], [0.0]

    def bar(**settings: Any) -> FakeBar:
        bars.append(FakeBar(**settings))
        return bars[-1]

    monkeypatch.setattr(tqdm.auto, "tqdm", bar)
    monkeypatch.setattr(module.clock, "monotonic", lambda: now[0])
    with contextlib.suppress(KeyError), module._Bar() as shown:
        shown(0.1)
        now[0] = 0.9
        shown(0.2)
        assert not bars
        now[0] = 1.1
        shown(0.3)
        shown(0.5)
        assert bars[0].n == 0.5
        assert not bars[0].closed
        raise KeyError
    assert len(bars) == 1
    assert bars[0].closed


def test_without_tqdm_there_is_no_bar_unless_it_was_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    module = sys.modules["qossim.run"]
    monkeypatch.setitem(sys.modules, "tqdm.auto", None)
    monkeypatch.setattr(module, "_PATIENCE", -1.0)
    with module._Bar() as shown:
        shown(0.5)
    with pytest.raises(ImportError):
        run(ALL, duration=0.1, seed=1, progress=True)


class Kernel(io.StringIO):
    """Standard error in a notebook, as `ipykernel` makes it."""

    __module__ = "ipykernel.iostream"


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def closed() -> io.StringIO:
    stream = io.StringIO()
    stream.close()
    return stream


@pytest.mark.parametrize(
    ("stderr", "watched"),
    [(Kernel(), True), (Terminal(), True), (io.StringIO(), False), (closed(), False), (object(), False), (None, False)],
)
def test_a_person_watches_a_terminal_or_a_notebook(stderr: Any, watched: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(sys, "stderr", stderr)
        seen = sys.modules["qossim.run"]._watched()
    assert seen == watched


SCRIPT = """
import sys, qossim as qs
qs.run
sys.modules["qossim.run"]._PATIENCE = {patience}
flow = qs.Flow("busy", qs.Poisson(rate="9 Mbit/s", size=100))
qs.run(qs.Scenario(flows=[flow], ports=[qs.Port("link", rate="10 Mbit/s")]), duration=400.0, record="none", {more})
"""


def on_a_terminal(script: str) -> str:
    """What a script writes to standard error if that is a terminal."""
    ours, theirs = pty.openpty()
    termios.tcsetwinsize(theirs, (24, 80))
    process = subprocess.Popen([sys.executable, "-W", "error", "-c", script], stderr=theirs, stdout=subprocess.DEVNULL)
    os.close(theirs)
    written = b""
    with contextlib.suppress(OSError):  # the far end is closed
        while block := os.read(ours, 65536):
            written += block
    os.close(ours)
    assert process.wait() == 0, written.decode()
    return written.decode()


def test_a_long_run_on_a_terminal_shows_a_bar() -> None:
    assert "%|" in on_a_terminal(SCRIPT.format(patience=0.0, more=""))


@pytest.mark.parametrize(("patience", "more"), [(60.0, ""), (0.0, "progress=False"), (0.0, "progress=lambda share: 0")])
def test_a_short_run_or_one_told_not_to_shows_nothing(patience: float, more: str) -> None:
    assert on_a_terminal(SCRIPT.format(patience=patience, more=more)) == ""


def test_nothing_is_shown_to_a_pipe_unless_asked_for() -> None:
    for more, shown in (("", False), ("progress=True", True)):
        script = SCRIPT.format(patience=0.0, more=more)
        done = subprocess.run([sys.executable, "-c", script], capture_output=True, check=True, text=True)
        assert ("%|" in done.stderr) == shown, done.stderr


# -- Ctrl-C ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("record", ["packets", "summary", "none"])
def test_ctrl_c_stops_a_run_and_leaves_all_usable(record: Any) -> None:
    sent: list[float] = []

    def interrupt() -> None:
        sent.append(time.monotonic())
        os.kill(os.getpid(), signal.SIGINT)

    before = run(ALL, duration=1.0, seed=1)
    timer = threading.Timer(0.2, interrupt)
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        run(BUSY, duration="50 d", seed=1, record=record)
    assert time.monotonic() - sent[0] < 1.0, "50 ms is what is promised; the rest is for a busy machine"
    timer.join()
    assert run(ALL, duration=1.0, seed=1) == before


def test_ctrl_c_closes_the_bar() -> None:
    head = "import os, signal, threading, contextlib\n"
    stop = "threading.Timer(0.4, os.kill, (os.getpid(), signal.SIGINT)).start()\n"
    script = SCRIPT.format(patience=0.0, more="").replace("400.0", '"100 d"')
    script = head + script.replace("qs.run(", f"{stop}with contextlib.suppress(KeyboardInterrupt): qs.run(")
    assert "%|" in on_a_terminal(script)


# -- the package -------------------------------------------------------------------------------------------------------


def test_run_is_the_function_even_if_its_module_came_first() -> None:
    script = "import qossim.run, qossim; assert callable(qossim.run), qossim.run"
    subprocess.run([sys.executable, "-c", script], check=True)
