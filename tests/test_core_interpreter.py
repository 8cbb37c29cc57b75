# SPDX-License-Identifier: MIT
"""The extension in its interpreter: signals, threads, memory, and others of its kind."""

from __future__ import annotations

import gc
import os
import signal
import statistics
import subprocess
import sys
import textwrap
import threading
import time
import weakref
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import qossim as qs
from qossim import _core
from qossim._core import Simulation
from tests.bare import (
    ASK,
    CUMULATIVE,
    SECOND,
    SIZES,
    add_flow,
    add_port,
    cbr,
    class_of,
    endless,
    finished,
    poisson,
    simulation,
)


def in_a_new_process(code: str, *, expect: str) -> None:
    """Runs `code`, whose last line of output must be `expect`."""
    command = [sys.executable, "-c", textwrap.dedent(code)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    assert done.stdout.splitlines()[-1:] == [expect], done.stdout + done.stderr[-2000:]


# -- running -----------------------------------------------------------------------------------------------------------


def test_progress_is_told_ten_times_a_second_and_rises_to_the_end() -> None:
    seen: list[float] = []
    answer = object()
    held = sys.getrefcount(answer)

    def progress(fraction: float) -> object:
        seen.append(fraction)
        if len(seen) == 6:
            raise StopIteration
        return answer

    began = time.monotonic()
    with pytest.raises(StopIteration):
        endless().run(progress=progress)
    assert 0.6 <= time.monotonic() - began < 3.0
    assert seen == sorted(seen)
    assert seen[0] > 0
    assert seen[-1] < 1
    assert sys.getrefcount(answer) == held


def test_a_run_shorter_than_a_tenth_of_a_second_is_not_worth_a_call() -> None:
    simulation().run(lambda _: pytest.fail("called"))


def press_ctrl_c_during(run: Callable[[], None]) -> float:
    """Seconds from the signal to the KeyboardInterrupt that comes out of `run`."""
    pressed = []

    def press() -> None:
        time.sleep(0.3)
        pressed.append(time.perf_counter())
        os.kill(os.getpid(), signal.SIGINT)

    finger = threading.Thread(target=press)
    finger.start()
    with pytest.raises(KeyboardInterrupt):
        run()
    passed = time.perf_counter() - pressed[0]
    finger.join()
    return passed


@pytest.mark.parametrize("classes", [1, 64])
def test_ctrl_c_is_honoured_within_50_ms(classes: int) -> None:
    waits = [press_ctrl_c_during(endless(classes).run) for _ in range(5)]
    assert statistics.median(waits) < 0.050
    assert finished().flows()[0]["received"] == 1000  # and the interpreter is as good as new


def test_other_threads_run_while_a_simulation_does() -> None:
    stop = threading.Event()

    def progress(fraction: float) -> None:
        if stop.is_set():
            raise StopIteration

    def background() -> None:
        with pytest.raises(StopIteration):
            endless().run(progress)

    worker = threading.Thread(target=background)
    worker.start()
    turns, longest, last = 0, 0.0, time.perf_counter()
    until = last + 0.5
    while last < until:
        time.sleep(0)
        now = time.perf_counter()
        turns, longest, last = turns + 1, max(longest, now - last), now
    stop.set()
    worker.join()
    assert turns > 100
    assert longest < 0.25


def test_simulations_side_by_side_do_not_disturb_each_other() -> None:
    def one(seed: int) -> bytes:
        made = simulation(duration=20 * SECOND, source=poisson(), bitgen=np.random.PCG64(seed))
        made.run()
        return made.packets()["received"].tobytes()

    alone = [one(seed) for seed in range(8)]
    together: dict[int, bytes] = {}
    threads = [threading.Thread(target=lambda seed=seed: together.update({seed: one(seed)})) for seed in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [together[seed] for seed in range(8)] == alone
    assert len(set(alone)) == 8


# -- memory ------------------------------------------------------------------------------------------------------------


def everything(generator: np.random.BitGenerator, times: Any, callback: Callable[[float], object]) -> None:
    """One of each call, and of each way to fail."""
    for record in ("packets", "summary", "none"):
        made = Simulation(record=record, duration=SECOND)
        add_port(made, ring=("tx-ring", (("limit", 2), ("free", "end"))), classes=(class_of(),))
        add_flow(made, source=poisson(), bitgen=generator)
        add_flow(made, name="trace", source=("trace", (("times", times), ("sizes", times))))
        for add, changes in ((add_port, {}), (add_flow, {"source": cbr(0)}), (add_flow, {"dscp": 99})):
            with pytest.raises((RuntimeError, qs.ScenarioError)):
                add(made, **changes)
        with pytest.raises(TypeError):
            add_flow(made, name="bad", source=("trace", (("times", times), ("sizes", 0.5))))
        made.run(callback)
        for ask in ASK.values():
            for _ in range(2):
                try:
                    ask(made)
                except RuntimeError:
                    continue
    _core.parameters()


def test_reference_counts_stand_still_over_many_runs() -> None:
    generator, times, callback = np.random.PCG64(1), np.arange(1, 100), lambda fraction: None
    watched = [
        generator,
        generator.capsule,
        times,
        callback,
        Simulation,
        qs.ScenarioError,
        SIZES,
        CUMULATIVE,
        add_flow,
        ...,
    ]
    for _ in range(5):
        everything(generator, times, callback)
    gc.collect()
    before = [sys.getrefcount(one) for one in watched]
    grown = []
    for _ in range(3):  # a leak grows every time; what the interpreter keeps for itself does not
        gc.collect()
        objects, blocks = len(gc.get_objects()), sys.getallocatedblocks()
        for _ in range(50):
            everything(generator, times, callback)
        gc.collect()
        assert [sys.getrefcount(one) for one in watched] == before
        grown.append((len(gc.get_objects()) - objects, sys.getallocatedblocks() - blocks))
    assert min(objects for objects, _ in grown) < 50, grown
    assert min(blocks for _, blocks in grown) < 50, grown


@pytest.mark.skipif(sys.platform != "linux", reason="needs /proc, to see what is resident now")
def test_memory_stands_still_over_many_runs() -> None:
    def resident() -> int:
        for _ in range(30):  # each of 3 MB, of which half is asked for
            made = finished(duration=50 * SECOND)
            made.packets()
        return int(Path("/proc/self/statm").read_text().split()[1])

    first = resident()
    assert resident() < first * 1.1


def test_a_cycle_through_a_simulation_is_collected() -> None:
    class Generator:
        def __init__(self) -> None:
            self.inner = np.random.PCG64(1)
            self.capsule = self.inner.capsule
            self.simulation: Simulation | None = None

    generator = Generator()
    generator.simulation = simulation(source=poisson(), bitgen=generator)
    gone = weakref.ref(generator)
    generator.simulation.run()
    del generator
    gc.collect()
    assert gone() is None


@pytest.mark.skipif(sys.platform != "linux", reason="needs a limit on the address space, which only Linux enforces")
def test_running_out_of_memory_raises_memory_error_and_leaves_a_usable_process() -> None:
    in_a_new_process(
        """
        import resource
        from tests.bare import SECOND, finished

        finished().packets()
        used = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
        resource.setrlimit(resource.RLIMIT_AS, (used + 2**28, -1))
        failed = set()
        for seconds in (*range(2500, 5001, 500), 10**6):
            phase = "run"
            try:
                made = finished(duration=seconds * SECOND)
                phase = "rows"
                made.packets()
            except MemoryError:
                failed.add(phase)
        print("run" in failed, len(finished().packets()["sent"]))
        """,
        expect="True 1000",
    )


def test_any_allocation_of_the_interpreter_may_fail() -> None:
    """One after another, by CPython's own means."""
    pytest.importorskip("_testcapi", reason="the interpreter comes without its test module")
    in_a_new_process(
        """
        import _testcapi
        import numpy as np
        from qossim import _core
        from tests.bare import SECOND, add_flow, add_port, class_of, poisson

        def build_run_ask(record):
            made = _core.Simulation(record=record, duration=SECOND)
            add_port(made, ring=("tx-ring", (("limit", 2),)), classes=(class_of(),))
            add_flow(made, source=poisson(), bitgen=generator)
            made.run()
            counts = made.flows(), made.ports(), made.now
            rows = (made.statistics(0),) if record == "summary" else (made.packets(), made.hop(0))
            return counts, rows, _core.parameters()

        generator = np.random.PCG64(1)
        failures = 0
        for record in ("summary", "packets"):
            build_run_ask(record)
            for nth in range(1, 600):
                _testcapi.set_nomemory(nth, nth + 1)
                try:
                    build_run_ask(record)
                except MemoryError:
                    failures += 1
                finally:
                    _testcapi.remove_mem_hooks()
        build_run_ask("packets")
        print(failures > 300 or failures)
        """,
        expect="True",
    )


# -- the interpreter ---------------------------------------------------------------------------------------------------


def test_another_interpreter_of_the_process_is_refused_and_the_first_goes_on() -> None:
    """NumPy serves one interpreter of a process, and with it the extension."""
    in_a_new_process(
        """
        import sys
        from tests.bare import finished

        try:
            import _interpreters as interpreters
        except ImportError:
            import _xxsubinterpreters as interpreters
        code = f\'\'\'
        import sys
        sys.path[:] = {sys.path!r}
        try:
            import qossim._core
        except ImportError:
            pass
        else:
            raise SystemExit("imported")
        \'\'\'
        failure = interpreters.run_string(interpreters.create(), code)
        print(failure, len(finished().packets()["sent"]))
        """,
        expect="None 1000",
    )
