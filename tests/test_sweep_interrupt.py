# SPDX-License-Identifier: MIT
"""Ctrl-C and worse: a sweep that is broken off loses nothing that was finished."""

from __future__ import annotations

import functools
import multiprocessing
import os
import signal
import subprocess
import sys
import textwrap
import threading
import time
from concurrent import futures
from pathlib import Path
from typing import Any

import pytest
import xarray as xr

import qossim as qs
from qossim._dataset import dataset
from qossim._elsewhere import carry
from qossim._points import Task
from qossim._workers import _Left
from qossim.statistics import target_reached
from tests import builds
from tests.builds import link
from tests.sweeps import AXES, ELSEWHERE, ROOT, how_to, interrupt_after, press, ran, same_bytes, sweep

settings_of = sys.modules["qossim.sweep"]._settings  # qossim.sweep is the function


@pytest.mark.parametrize("workers", [1, 2])
@pytest.mark.parametrize("runs", [1, 13, 29])
def test_ctrl_c_returns_what_there_is(workers: int, runs: int, whole: xr.Dataset, tmp_path: Path) -> None:
    file = tmp_path / "runs"
    table = sweep(link, AXES, 5, workers=workers, save=file, progress=interrupt_after(runs, 30))
    there = table["sent"].notnull()
    assert table.attrs["complete"] == (there.sum() == 30)  # the other worker may have been at the last
    assert runs <= int(there.sum()) == len(ran(file))
    assert dict(table.sizes) == dict(whole.sizes)
    xr.testing.assert_equal(table, whole.where(there.isel(flow=0, drop=True)))
    same_bytes(sweep(link, AXES, 5, resume=file), whole)


@pytest.mark.parametrize("workers", [1, 2])
def test_ctrl_c_breaks_off_long_runs_at_once(workers: int) -> None:
    """A run of a billion packets would take minutes."""
    person, began = press(0.5), time.monotonic()
    axes = {"limit": [1, 2, 3]}
    table = sweep(functools.partial(link, load=0.9), axes, duration=1e6, record="summary", workers=workers)
    took = time.monotonic() - began
    person.join()
    assert took < 2.5
    assert table.attrs["complete"] == 0
    assert table.sizes["limit"] == 3 and table["flow"].values.tolist() == ["f"]
    assert table["delay_mean"].sel(flow="f").isnull().all()


@pytest.mark.parametrize("workers", [1, 2])
def test_no_scenario_is_built_again_for_a_table_without_a_finished_run(workers: int) -> None:
    calls = []

    def build(load: float) -> qs.Scenario:
        calls.append(load)
        return link(load=load, extra=True)

    person = press(0.5)
    table = sweep(build, {"load": [0.8, 0.9]}, duration=1e6, record="summary", workers=workers)
    person.join()
    assert table.attrs["complete"] == 0 and len(calls) == len(set(calls)) <= workers
    assert table["flow"].values.tolist() == ["f", "extra"] and table["class"].values.tolist() == ["first", "rest"]


@pytest.mark.parametrize("kind", ["alone", "threads", "processes"])
@pytest.mark.parametrize("build", [builds.calibrated, builds.clumsy])
def test_ctrl_c_while_something_else_is_done_about_it_ends_the_sweep_and_spoils_no_point(
    build: Any, kind: str, processes: futures.ProcessPoolExecutor, tmp_path: Path
) -> None:
    """A sweep within `build` does not hand it a part for the whole; who catches everything is asked once only."""
    file, calm = tmp_path / "runs", functools.partial(build, at=None)
    loads = [0.1, 0.2, 0.3, *(number / 1000 for number in range(400, 700))]
    table = sweep(build, {"load": loads}, save=file, **how_to(kind, processes))
    there = table["sent"].notnull().isel(flow=0, replication=0)
    assert table.attrs["complete"] == 0 and there.sum() == len(ran(file)) < 200
    if kind == "alone":
        assert there.values[:4].tolist() == [True, True, build is builds.clumsy, False]
    xr.testing.assert_equal(table, sweep(calm, {"load": loads}).where(there))
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


@pytest.mark.parametrize("workers", [1, 2])
def test_ctrl_c_while_the_table_is_made_loses_nothing(
    workers: int, whole: xr.Dataset, monkeypatch: pytest.MonkeyPatch
) -> None:
    """After the last run there is nothing to break off; after another Ctrl-C the table of what there is comes back."""

    def impatient(*given: Any, **more: Any) -> xr.Dataset:
        for _ in range(3):
            signal.raise_signal(signal.SIGINT)
        return dataset(*given, **more)

    monkeypatch.setattr(sys.modules["qossim.sweep"], "dataset", impatient)
    same_bytes(sweep(link, AXES, 5, workers=workers), whole)
    table = sweep(link, AXES, 5, workers=workers, progress=interrupt_after(7, 30))
    assert table.attrs["complete"] == 0 and 7 <= table["sent"].notnull().sum() < 30
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_ctrl_c_while_it_is_worked_out_how_many_more_runs_are_needed_loses_nothing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def impatient(*given: Any, **more: Any) -> bool:
        signal.raise_signal(signal.SIGINT)
        return target_reached(*given, **more)

    auto = functools.partial(sweep, link, {"load": [0.2, 0.9]}, "auto", least=3)
    expected = sweep(link, {"load": [0.2, 0.9]}, 3)
    monkeypatch.setattr(sys.modules["qossim.sweep"], "target_reached", impatient)
    reached = auto(target={"delay_mean": 1.0})
    assert reached.attrs["complete"] == 1 and reached["target_reached"].all()
    table = auto(target={"delay_mean": "0.1 ms"})
    assert table.attrs["complete"] == 0 and table.attrs["target_reached"] == 0
    assert table["target_reached"].values.tolist() == [True, False]
    xr.testing.assert_equal(table["delay_mean"][:, :3], expected["delay_mean"])
    assert table["sent"][:, 3:].isnull().all()


def test_ctrl_c_before_anything_runs_is_an_interrupt_like_any_other(tmp_path: Path) -> None:
    def impatient(**given: Any) -> qs.Scenario:
        signal.raise_signal(signal.SIGINT)
        return link(**given)

    impatient.__module__, impatient.__qualname__ = "tests.builds", "link"
    file = tmp_path / "runs"
    with pytest.raises(KeyboardInterrupt):
        sweep(impatient, AXES, save=file)
    assert not file.exists()
    sweep(link, AXES, save=file)
    before = file.read_bytes()
    with pytest.raises(KeyboardInterrupt):
        sweep(impatient, AXES, 2, resume=file)
    assert file.read_bytes() == before
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_a_second_ctrl_c_waits_for_no_thread_that_is_still_building(tmp_path: Path) -> None:
    go, file = threading.Event(), tmp_path / "runs"

    def stuck(load: float) -> qs.Scenario:
        if load == 0.9:
            go.wait(30)
        return link(load=load)

    axes = {"load": [0.1, 0.2, 0.9, 0.3]}
    person = press(0.7, times=2)
    began = time.monotonic()
    table = sweep(stuck, axes, 2, workers=2, save=file)
    assert 1.3 < time.monotonic() - began < 10
    person.join()
    finished = table["sent"].notnull().sum("replication").isel(flow=0)
    assert finished.values.tolist()[:3] == [2, 2, 0] and table.attrs["complete"] == 0
    go.set()
    before = file.read_bytes()
    for thread in threading.enumerate():
        if thread.name.startswith("qossim"):
            thread.join(10)
    assert file.read_bytes() == before
    same_bytes(sweep(stuck, axes, 2, resume=file), sweep(link, axes, 2).assign_attrs(build=table.attrs["build"]))


def test_ctrl_c_at_any_moment_returns_all_that_was_finished(tmp_path: Path) -> None:
    """Two presses at random moments, many times over, with every kind of worker."""
    code = """
        import contextlib, multiprocessing, os, random, signal, sys, threading, time
        from concurrent import futures
        from pathlib import Path
        import numpy as np
        from tests.builds import link
        from tests.sweeps import AXES, ran, sweep

        def press(file, first, second):
            for pause in (first, second):
                time.sleep(pause)
                # not while the sweep hands its table over, which is the caller's by then
                if signal.getsignal(signal.SIGINT) is not signal.default_int_handler or not file.exists():
                    os.kill(os.getpid(), signal.SIGINT)

        def one(number, how, whole, span):
            file = Path(sys.argv[1]) / f"{number}"
            person = threading.Thread(target=press, args=(file, chance.uniform(0, span), chance.expovariate(50)))
            table = None
            try:
                person.start()
                table = sweep(link, AXES, 20, save=file, **how)
                while person.is_alive():
                    time.sleep(0.01)
            except KeyboardInterrupt:
                while person.is_alive():  # it came before the first run
                    with contextlib.suppress(KeyboardInterrupt):
                        person.join()
            written = len(ran(file)) if file.exists() else 0
            if table is None:
                assert written == 0, (how, written)
                return "none"
            there = table["sent"].notnull()
            assert int(there.sum()) == written, (how, int(there.sum()), written)
            assert table.attrs["complete"] == (written == 120)
            assert not written or table.equals(whole.where(there.isel(flow=0, drop=True)))
            return "some" if written < 120 else "all"

        if __name__ == "__main__":
            chance = random.Random(int(sys.argv[2]))
            whole = sweep(link, AXES, 20)
            pool = futures.ProcessPoolExecutor(2, mp_context=multiprocessing.get_context("spawn"))
            with pool:
                kinds = [{"workers": 1}, {"workers": 2}, {"executor": pool}]
                spans = []
                for how in kinds:
                    for _ in range(2):
                        began = time.monotonic()
                        sweep(link, AXES, 20, **how)
                        span = time.monotonic() - began
                    spans.append(span)
                seen = [one(i, kinds[i % 3], whole, spans[i % 3]) for i in range(int(sys.argv[3]))]
                print({each: seen.count(each) for each in ("none", "some", "all")})
    """
    script = tmp_path / "script.py"
    script.write_text(textwrap.dedent(code))
    (tmp_path / "files").mkdir()
    command = [sys.executable, str(script), str(tmp_path / "files"), "1", "36"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, **ELSEWHERE)
    assert done.returncode == 0, done.stderr
    seen = eval(done.stdout)
    assert sum(seen.values()) == 36 and seen["some"] > 10


def test_ctrl_c_returns_what_processes_had_finished(processes: futures.ProcessPoolExecutor) -> None:
    axes = {"load": [i / 100 for i in range(1, 40)]}
    table = sweep(builds.slow, axes, executor=processes, progress=interrupt_after(5, 39))
    assert table.attrs["complete"] == 0
    assert 5 <= int(table["sent"].notnull().sum()) < 39


@pytest.mark.parametrize(
    ("kind", "who", "slow_from"),
    [(kind, who, 60) for kind in ("fork", "spawn", "dask") for who in ("parent", "terminal")]
    + [("spawn", "parent", 10**6), ("dask", "terminal", 10**6)],
)
def test_ctrl_c_loses_nothing_that_other_processes_had_finished(
    kind: str, who: str, slow_from: int, tmp_path: Path
) -> None:
    """There is no file; a terminal sends Ctrl-C to the workers too; cheap points may have slow ones behind them."""
    (tmp_path / "begun").mkdir()
    code = f"""
        import functools, multiprocessing
        from concurrent.futures import ProcessPoolExecutor
        from tests.builds import begun
        from tests.sweeps import sweep

        def table(executor):
            build = functools.partial(begun, folder={str(tmp_path / "begun")!r}, slow_from={slow_from})
            table = sweep(build, {{"i": range(5000)}}, executor=executor)
            assert table.attrs["complete"] == 0
            print(*table["i"].values[table["sent"].notnull().all(("replication", "flow"))])

        if __name__ == "__main__":
            if "{kind}" == "dask":
                from dask.distributed import Client, LocalCluster
                with LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster:
                    with Client(cluster) as client:
                        table(client.get_executor())
            else:
                with ProcessPoolExecutor(2, mp_context=multiprocessing.get_context("{kind}")) as pool:
                    table(pool)
    """
    script = tmp_path / "script.py"
    script.write_text(textwrap.dedent(code))
    command = [sys.executable, str(script)]
    process = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True, **ELSEWHERE
    )
    finished: list[set[str]] = []
    until = time.monotonic() + 60
    while sum(map(len, finished)) < 65 and time.monotonic() < until:
        time.sleep(0.01)
        finished = [set(file.read_text().split()[:-1]) for file in (tmp_path / "begun").iterdir()]
    (os.kill if who == "parent" else os.killpg)(process.pid, signal.SIGINT)
    printed, errors = process.communicate(timeout=60)
    assert process.returncode == 0, errors
    assert set(printed.split()) >= set().union(*finished)
    assert 65 <= len(printed.split()) < 5000


def test_a_task_of_several_runs_is_handed_back_in_time_and_that_of_one_is_finished() -> None:
    settings = settings_of(functools.partial(builds.long, long_from=2), "summary", 1e3, 0.0, True, "PCG64", (0.5,))
    tasks = [Task(i, {"i": i}, range(2)) for i in range(4)]
    whole = carry("a sweep", settings, tasks[:2], 60.0)
    assert [row[:2] for row in whole.rows] == [(0, 0), (0, 1), (1, 0), (1, 1)] and whole.runs == 4
    part = carry("a sweep", settings, tasks[1:], 2 * whole.seconds)  # the third would take hundred times as long
    assert part.rows == whole.rows[2:] and part.runs == 2 and part.failure is None and not part.interrupted
    assert part.seconds < 20 * whole.seconds + 1
    assert carry("a sweep", settings, tasks[2:], 0.0).rows == []
    assert len(carry("a sweep", settings, [Task(0, {"i": 0}, range(1))], 0.0).rows) == 1


def test_what_is_left_of_a_task_is_handed_out_again() -> None:
    left = _Left([Task(i, {}, range(3)) for i in range(3)], [3, 3, 3])
    chunk = left.take(5)
    assert [(task.point, [*task.replications]) for task in chunk] == [(0, [0, 1, 2]), (1, [0, 1])] and left.runs == 4
    left.give_back(chunk, 2)
    assert left.runs == 7
    chunk = left.take(3)
    assert [(task.point, [*task.replications]) for task in chunk] == [(0, [2]), (1, [0, 1])]
    left.give_back(chunk, 0)  # its first run takes long: it is handed out by itself
    rest = [[(task.point, [*task.replications]) for task in left.take(100)] for _ in range(3)]
    assert rest == [[(0, [2])], [(1, [0, 1]), (1, [2]), (2, [0, 1, 2])], []] and left.runs == 0


@pytest.mark.parametrize("start", ["fork", "spawn"])
def test_a_pool_outlives_ctrl_c_and_what_else_it_does_hears_it(start: str, tmp_path: Path) -> None:
    code = f"""
        import multiprocessing, os, signal, time
        from concurrent.futures import ProcessPoolExecutor
        from tests.builds import link, stopped_by_ctrl_c
        from tests.sweeps import sweep

        if __name__ == "__main__":
            with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("{start}")) as pool:
                for _ in range(2):
                    sweep(link, {{"load": [0.1, 0.2]}}, executor=pool)
                    print(pool.submit(stopped_by_ctrl_c).result())
                    for pid in pool._processes:
                        os.kill(pid, signal.SIGINT)
                    time.sleep(0.1)
    """
    script = tmp_path / "script.py"
    script.write_text(textwrap.dedent(code))
    done = subprocess.run([sys.executable, str(script)], capture_output=True, text=True, timeout=60, **ELSEWHERE)
    assert done.stdout == "stopped\n" * 2 and not done.stderr


def test_ctrl_c_at_a_terminal_loses_nothing_that_a_process_had_finished(tmp_path: Path) -> None:
    """There it reaches every process, in the midst of a task of several runs."""
    (tmp_path / "begun").mkdir()
    code = f"""
        import functools, multiprocessing
        from concurrent.futures import ProcessPoolExecutor
        from tests.builds import pausing
        from tests.sweeps import sweep

        if __name__ == "__main__":
            with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn")) as pool:
                build = functools.partial(pausing, process={str(tmp_path / "begun")!r})
                table = sweep(build, {{"load": [i / 100 for i in range(1, 91)]}}, executor=pool)
            print(int(table["sent"].notnull().sum()), table.attrs["complete"])
    """
    script = tmp_path / "script.py"
    script.write_text(textwrap.dedent(code))
    command = [sys.executable, str(script)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, start_new_session=True, **ELSEWHERE)
    until = time.monotonic() + 60
    while not (tmp_path / "begun" / "0.5").exists() and time.monotonic() < until:
        time.sleep(0.01)
    os.killpg(process.pid, signal.SIGINT)
    printed, _ = process.communicate(timeout=30)
    rows, complete = map(int, printed.split())
    assert rows == len(list((tmp_path / "begun").iterdir())) - 1 >= 49  # all but that which was under way
    assert complete == 0


def test_an_executor_that_is_busy_otherwise_is_not_waited_for() -> None:
    go = threading.Event()
    with futures.ThreadPoolExecutor(1) as busy:
        busy.submit(go.wait, 30)
        person = press(0.3)
        began = time.monotonic()
        table = sweep(link, AXES, executor=busy)
        assert time.monotonic() - began < 5
        go.set()
        person.join()
    assert table.attrs["complete"] == 0 and not table["sent"].notnull().any()


def test_ctrl_c_of_which_an_executor_cannot_begin_its_processes_returns_what_there_is() -> None:
    """A terminal sends it to all that are being begun."""

    class Undone(futures.ThreadPoolExecutor):
        def submit(self, *given: Any, **more: Any) -> Any:
            signal.raise_signal(signal.SIGINT)
            raise EOFError

    table = sweep(link, AXES, executor=Undone(1))
    assert table.attrs["complete"] == 0 and table.sizes["flow"] == 0, "nothing was built here"


def test_ctrl_c_while_a_worker_was_being_begun_does_not_count_for_what_it_is_first_given() -> None:
    with futures.ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn")) as pool:
        pool.submit(builds.pressed_while_begun).result()
        table = sweep(link, AXES, executor=pool)
        assert pool.submit(builds.stopped_by_ctrl_c).result() == "stopped"
    same_bytes(table, sweep(link, AXES))


def test_ctrl_c_between_rounds_counts_where_somebody_else_handles_it() -> None:
    pressed = []

    def progress(share: float) -> None:
        if share == 1 and not pressed:
            pressed.append(share)
            raise KeyboardInterrupt

    auto = functools.partial(sweep, link, {"load": [0.5]}, "auto", least=3, most=40, target={"delay_mean": "1 us"})
    table = auto(workers=1, progress=progress)
    assert pressed and table.attrs["complete"] == 0
    assert int(table["sent"].notnull().sum()) == 3


@pytest.mark.parametrize("file", [5, "a\0b", b"a\0b", ["a"]])
def test_what_is_no_path_is_refused(file: object) -> None:
    for field in ("save", "resume"):
        with pytest.raises(qs.ScenarioError, match=f"{field} must be the path of a file, got "):
            sweep(link, {}, **{field: file})


def test_a_sweep_that_is_killed_loses_nothing_that_was_finished(tmp_path: Path) -> None:
    file = tmp_path / "runs"
    code = f"""
        from tests.builds import slow
        from tests.sweeps import sweep
        sweep(slow, {{"load": [i / 100 for i in range(1, 99)]}}, save={str(file)!r}, workers=2,
              progress=lambda share: print(share, flush=True))
    """
    process = subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(code)],
        cwd=ROOT,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    told = 0.0
    for line in process.stdout:
        told = float(line)
        if told * 98 >= 5:
            break
    process.kill()
    process.communicate()
    assert len(file.read_text().splitlines()) - 2 >= round(told * 98)
    axes = {"load": [i / 100 for i in range(1, 99)]}
    begun: list[float] = []

    def slow(load: float) -> qs.Scenario:
        begun.append(load)
        return link(load=load)

    slow.__module__, slow.__qualname__ = "tests.builds", "slow"
    finished = len(ran(file))
    table = sweep(slow, axes, resume=file)
    assert len(begun) == 99  # once more the first, which tells whether it is the same sweep
    assert finished >= 5
    same_bytes(table, sweep(slow, axes))
