# SPDX-License-Identifier: MIT
"""Whoever does the work of a sweep, its table is the same; and what is finished survives whatever happens to them."""

from __future__ import annotations

import contextlib
import functools
import json
import multiprocessing
import os
import re
import signal
import subprocess
import sys
import textwrap
import threading
import time
from collections.abc import Callable, Iterator
from concurrent import futures
from pathlib import Path
from typing import Any

import pytest
import xarray as xr
from numpy.random import SeedSequence

import qossim as qs
from qossim._dataset import dataset
from qossim.statistics import target_reached
from tests import builds
from tests.builds import failing, link

ROOT = Path(__file__).resolve().parents[1]
AXES = {"load": [0.3, 0.6, 0.9], "limit": [2, None]}
sweep = functools.partial(qs.sweep, duration=1.0, seed=4, progress=False)


@pytest.fixture(scope="module")
def processes() -> Iterator[futures.ProcessPoolExecutor]:
    with futures.ProcessPoolExecutor(2, mp_context=multiprocessing.get_context("spawn")) as pool:
        yield pool


@pytest.fixture(scope="module")
def whole() -> xr.Dataset:
    """What one worker makes of it."""
    return sweep(link, AXES, 5, workers=1)


def how_to(kind: str, processes: futures.ProcessPoolExecutor) -> dict[str, Any]:
    """Arguments of a sweep, by who is to do its work."""
    ways: dict[str, dict[str, Any]] = {
        "alone": {"workers": 1},
        "threads": {"workers": 2},
        "processes": {"executor": processes},
    }
    return ways[kind]


ELSEWHERE: dict[str, Any] = {"cwd": ROOT, "env": os.environ | {"PYTHONPATH": str(ROOT)}}
"""Where a Python of its own finds the package and its tests."""


def python(code: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run in a process of its own."""
    command = [sys.executable, "-c", textwrap.dedent(code), *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=120, **ELSEWHERE)


def same_bytes(one: xr.Dataset, other: xr.Dataset) -> None:
    assert one.identical(other)
    assert list(one.variables) == list(other.variables)
    assert all(one[name].values.tobytes() == other[name].values.tobytes() for name in one.variables)
    assert list(one.attrs.items()) == list(other.attrs.items())


# -- who works ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("workers", [None, 2, 7])
def test_any_number_of_threads_makes_the_same_table(workers: int | None, whole: xr.Dataset) -> None:
    same_bytes(sweep(link, AXES, 5, workers=workers), whole)


def test_a_pool_of_threads_makes_the_same_table_and_stays_open(whole: xr.Dataset) -> None:
    with futures.ThreadPoolExecutor(3) as pool:
        for _ in range(2):
            same_bytes(sweep(link, AXES, 5, executor=pool), whole)
        assert pool.submit(int).result() == 0


def test_a_pool_of_processes_makes_the_same_table_and_stays_open(
    processes: futures.ProcessPoolExecutor, whole: xr.Dataset, tmp_path: Path
) -> None:
    for _ in range(2):
        same_bytes(sweep(link, AXES, 5, executor=processes), whole)
    sweep(functools.partial(builds.elsewhere, process=str(tmp_path)), {"load": [0.1, 0.2]}, executor=processes)
    assert str(os.getpid()) not in {each.name for each in tmp_path.iterdir()}


@pytest.mark.parametrize("build", ["written", "functools.partial(written, limit=3)", "Written().build", "Written()"])
def test_what_is_written_at_the_prompt_is_refused_by_new_processes(build: str) -> None:
    """Standard input is a prompt as good as any: there is no file that another process could import."""
    code = f"""
        import concurrent.futures, functools, multiprocessing, qossim as qs
        from tests.builds import link

        def written(load, limit=2):
            return link(load=load, limit=limit)

        class Written:
            def build(self, load):
                return link(load=load)
            __call__ = build

        context = multiprocessing.get_context("spawn")
        with concurrent.futures.ProcessPoolExecutor(1, mp_context=context) as pool:
            qs.sweep({build}, {{"load": [0.2]}}, duration=1.0, executor=pool)
    """
    given = textwrap.dedent(code)
    done = subprocess.run([sys.executable, "-"], input=given, cwd=ROOT, capture_output=True, text=True, check=False)
    last = done.stderr.splitlines()[-1]
    assert last.startswith("qossim.errors.ScenarioError: build must be what another process can import"), done.stderr
    assert "was written at the prompt" in last


def test_a_dask_cluster_makes_the_same_table(whole: xr.Dataset, tmp_path: Path) -> None:
    """A cluster of two processes, driven through its executor in a Python of its own: it leaves threads behind."""
    code = f"""
        import os, pickle, threading
        from pathlib import Path
        import qossim as qs
        from dask.distributed import Client, LocalCluster
        from tests.builds import elsewhere, link
        from tests.test_sweep_workers import AXES, sweep
        import functools

        if __name__ == "__main__":
            options = dict(n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None)
            with LocalCluster(**options) as cluster, Client(cluster) as client:
                client.wait_for_workers(2)
                with client.get_executor() as executor:
                    table = sweep(link, AXES, 5, executor=executor)
                    Path({str(tmp_path / "table")!r}).write_bytes(pickle.dumps(table))
                    folder = {str(tmp_path / "who")!r}
                    Path(folder).mkdir()
                    axes = {{"load": [i / 10 for i in range(1, 9)]}}
                    sweep(functools.partial(elsewhere, process=folder), axes, executor=executor)
                    pids = set(map(str, client.run(os.getpid).values()))
                    assert {{each.name for each in Path(folder).iterdir()}} <= pids and len(pids) == 2
                    local = lambda load: link(load=load)  # a cluster carries what a pool of processes does not
                    assert sweep(local, {{"load": [0.2]}}, executor=executor)["delay_mean"].notnull().all()
                    locked = lambda load, lock=threading.Lock(): link(load=load)
                    values = {{"scheduler": {{"a": threading.Lock()}}}}
                    for build, axes in ((locked, {{"load": [0.2]}}), (link, values)):
                        try:
                            sweep(build, axes, executor=executor)
                        except qs.ScenarioError as error:
                            print(error)
    """
    script = tmp_path / "script.py"
    script.write_text(textwrap.dedent(code))
    done = subprocess.run(
        [sys.executable, str(script)],
        cwd=ROOT,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    import pickle

    why = "(cannot pickle '_thread.lock' object)"
    assert done.stdout.splitlines() == [
        f"build must be what can be sent to another process, got __main__.<lambda> {why}: let it make there what "
        "cannot be sent, or leave executor out: threads can run anything",
        f"axis scheduler: the values of scheduler cannot be sent to another process {why}",
    ]
    same_bytes(pickle.loads((tmp_path / "table").read_bytes()), whole)


def test_what_a_pool_of_processes_cannot_carry_is_refused_before_anything_runs(
    processes: futures.ProcessPoolExecutor,
) -> None:
    ran = []

    def closure(load: float) -> qs.Scenario:
        ran.append(load)
        return link(load=load)

    for build in (closure, lambda load: link(load=load), functools.partial(closure)):
        with pytest.raises(qs.ScenarioError) as caught:
            sweep(build, {"load": [0.1]}, executor=processes)
        text = str(caught.value)
        assert text.startswith("build must be what another process can import, got tests.test_sweep_workers.test_what")
        assert "write it with def at the top of a module, or leave executor out" in text
    with pytest.raises(qs.ScenarioError, match="axis scheduler: the values of scheduler cannot be sent to another"):
        sweep(link, {"scheduler": {"a lock": threading.Lock()}}, executor=processes)
    assert not ran
    assert sweep(closure, {"load": [0.1]})["delay_mean"].notnull().all()


def test_what_was_written_at_the_prompt_is_refused_wherever_it_is_hidden() -> None:
    code = """
        import functools, multiprocessing
        from concurrent import futures
        import qossim as qs
        from tests.builds import link

        def mine(load, other=None):
            return link(load=load)

        class Bench:
            def build(self, load):
                return link(load=load)
            def __call__(self, load):
                return link(load=load)

        pool = futures.ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn"))
        builds = [mine, functools.partial(mine, other=3), functools.partial(link, extra=mine), Bench().build, Bench()]
        sweeps = [(build, {"load": [0.1]}) for build in builds] + [(link, {"scheduler": {"mine": [mine]}})]
        for build, axes in sweeps:
            try:
                qs.sweep(build, axes, duration=0.1, executor=pool)
            except qs.ScenarioError as error:
                print(str(error).split(":")[0] if "axis" not in str(error) else error)
        assert not pool._processes
    """
    done = python(code)
    assert done.returncode == 0, done.stderr
    begin = "build must be what another process can import, got "
    function, method = "(__main__.mine was written at the prompt)", "(__main__.Bench was written at the prompt)"
    assert done.stdout.splitlines()[:2] == [
        f"{begin}__main__.mine {function}",
        f"{begin}__main__.mine(other=3) {function}",
    ]
    assert done.stdout.splitlines()[2].startswith(f"{begin}tests.builds.link(extra=")
    assert done.stdout.splitlines()[2].endswith(function)
    assert done.stdout.splitlines()[3:] == [
        f"{begin}__main__.Bench.build {method}",
        f"{begin}__main__.Bench {method}",
        f"axis scheduler: the values of scheduler cannot be sent to another process {function}",
    ]


def test_a_build_of_a_script_and_what_it_holds_go_to_processes(tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    code = """
        import functools, multiprocessing
        from concurrent import futures
        import qossim as qs
        from tests.builds import link

        class Bench:
            def build(self, load):
                return link(load=load)

        if __name__ == "__main__":
            with futures.ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn")) as pool:
                for build in (Bench().build, functools.partial(Bench().build)):
                    print(int(qs.sweep(build, {"load": [0.1]}, duration=0.1, executor=pool).attrs["complete"]))
    """
    script.write_text(textwrap.dedent(code))
    done = subprocess.run([sys.executable, str(script)], capture_output=True, text=True, timeout=60, **ELSEWHERE)
    assert (done.returncode, done.stdout) == (0, "1\n1\n"), done.stderr


def test_threads_that_the_system_does_not_give_are_no_shut_down_executor(monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(self: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(threading.Thread, "start", refused)
    with pytest.raises(qs.SweepError, match=r"takes no work: it has no more threads or processes \(can't start"):
        sweep(link, AXES, workers=4)


def test_an_executor_that_refuses_work_is_told_with_its_points() -> None:
    class Choosy(futures.Executor):
        def submit(self, *work: Any, **more: Any) -> Any:
            raise TypeError("could not serialize it")

    with pytest.raises(
        qs.SweepError, match=r"the executor takes no work \(TypeError: could not serialize it\)"
    ) as caught:
        sweep(link, {"load": [0.1]}, executor=Choosy(), workers=1)
    assert caught.value.points == [{"load": 0.1}]


# -- what fails --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["alone", "threads", "processes"])
def test_a_failing_point_names_its_parameters(kind: str, processes: futures.ProcessPoolExecutor) -> None:
    how = how_to(kind, processes)
    with pytest.raises(qs.SweepError) as caught:
        sweep(failing, {"bad": [0.9], "load": [0.1, 0.2, 0.9, 0.3]}, 2, **how)
    assert str(caught.value) == "the point bad=0.9, load=0.9 failed: ZeroDivisionError: no such load"
    assert caught.value.points == [{"bad": 0.9, "load": 0.9}]
    assert isinstance(caught.value.__cause__, ZeroDivisionError)
    if kind == "alone":
        assert caught.value.table is not None and caught.value.table.attrs["complete"] == 0
        assert caught.value.table["sent"].sel(flow="f", load=[0.1, 0.2]).notnull().all()


def test_a_worker_that_gives_up_names_its_points(processes: futures.ProcessPoolExecutor) -> None:
    for how in ({"workers": 1}, {"workers": 2}, {"executor": processes}):
        with pytest.raises(qs.SweepError, match=r"the point load=0\.5 failed: SystemExit: 3"):
            sweep(builds.leaving, {"load": [0.5]}, **how)


class Odd(Exception):
    """Cannot be made again from its arguments, and has no words."""

    def __init__(self, one: int, other: int) -> None:
        super().__init__("odd")

    def __str__(self) -> str:
        raise ValueError(self.args)


def odd(*, load: float) -> qs.Scenario:
    if load == 0.5:
        raise Odd(1, 2)
    return link(load=load)


def test_an_exception_that_cannot_travel_or_speak_is_named(processes: futures.ProcessPoolExecutor) -> None:
    for how in ({"workers": 1}, {"workers": 2}, {"executor": processes}):
        with pytest.raises(
            qs.SweepError, match=r"load=0\.5 failed: Odd: \(its text cannot be told: ValueError\)"
        ) as caught:
            sweep(odd, {"load": [0.1, 0.5]}, **how)
        assert caught.value.table is not None and caught.value.table["sent"].sel(load=0.1).notnull().all()


@pytest.mark.parametrize("workers", [1, 2])
def test_what_progress_raises_is_raised(workers: int, tmp_path: Path) -> None:
    def progress(share: float) -> None:
        raise ZeroDivisionError("of a bar")

    with pytest.raises(ZeroDivisionError, match="of a bar"):
        sweep(link, AXES, workers=workers, progress=progress, save=tmp_path / "runs")
    assert 1 <= len(ran(tmp_path / "runs")) <= 6


def test_values_are_those_of_the_call() -> None:
    """Whatever becomes of them while it runs."""
    loads = [0.2]

    def build(each: list[float]) -> qs.Scenario:
        return link(load=each[0])

    def progress(share: float) -> None:
        loads[0] = 0.8

    table = sweep(build, {"each": {"a": loads}}, 3, progress=progress)
    assert table["delay_mean"].equals(
        sweep(link, {"load": [0.2]}, 3)["delay_mean"].rename(load="each").assign_coords(each=["a"])
    )


def test_two_sweeps_of_one_process_do_not_write_to_one_file(tmp_path: Path) -> None:
    file, refused = tmp_path / "runs", []

    def progress(share: float) -> None:
        if not refused:
            with pytest.raises(OSError, match="another sweep of this process is writing to it") as caught:
                sweep(link, AXES, 5, save=file, resume=file)
            refused.append(caught)

    table = sweep(link, AXES, 5, save=file, progress=progress, workers=1)
    assert refused and table.attrs["complete"] == 1
    same_bytes(sweep(link, AXES, 5, resume=file), table)


def test_a_file_that_is_removed_meanwhile_is_missed(tmp_path: Path) -> None:
    file = tmp_path / "runs"
    with pytest.raises(qs.SweepError, match="runs was removed meanwhile: what was finished is in the table") as caught:
        sweep(link, AXES, save=file, progress=lambda share: file.unlink(missing_ok=True))
    assert caught.value.table is not None and caught.value.table["sent"].notnull().all()


def test_a_build_that_goes_elsewhere_does_not_take_the_file_along(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "elsewhere").mkdir()

    def build(load: float) -> qs.Scenario:
        os.chdir(tmp_path / "elsewhere")
        return link(load=load)

    sweep(build, {"load": [0.1, 0.2]}, save="runs", workers=1)
    assert len(ran(tmp_path / "runs")) == 2


def test_an_executor_without_workers_is_given_work_all_the_same() -> None:
    class Direct(futures.Executor):
        _max_workers = 0

        def submit(self, function: Any, /, *given: Any) -> Any:  # type: ignore[override]
            future: futures.Future[Any] = futures.Future()
            future.set_running_or_notify_cancel()
            future.set_result(function(*given))
            return future

    table = sweep(link, AXES, executor=Direct())
    assert table.attrs["complete"] == 1 and table["sent"].notnull().all()


def test_what_others_had_finished_is_in_the_error() -> None:
    """Whatever they are at when one fails."""
    axes = {"load": [0.1, 0.2, 0.3, 0.9, 0.4, 0.5, 0.6]}
    for _ in range(20):
        with pytest.raises(qs.SweepError, match=r"the point load=0\.9 failed") as caught:
            sweep(failing, axes, 20, workers=5)
        table = caught.value.table
        assert table is not None
        assert table["sent"].sel(load=0.9).isnull().all()


def test_a_scenario_that_is_refused_names_the_point_and_the_field() -> None:
    with pytest.raises(qs.SweepError, match=r"the point load=0\.5, limit=-1 failed: DropTail: packets must be"):
        sweep(link, {"load": [0.5], "limit": [1, -1]})
    with pytest.raises(qs.SweepError, match=r"limit=1 failed: what build returns must be a Scenario, got 5"):
        sweep(lambda limit: 5, {"limit": [1]})
    with pytest.raises(qs.SweepError, match=r"^the only point failed: what build returns must be a Scenario, got 5$"):
        sweep(lambda: 5, {})
    with pytest.raises(qs.ScenarioError, match=r'axes must be named after arguments of build \(load, .*, got "limt"'):
        sweep(link, {"limt": [1]})
    with pytest.raises(
        qs.ScenarioError, match=r"axes must be of all arguments of build .* got \['load'\] \(no process\)"
    ):
        sweep(builds.elsewhere, {"load": [1]})


def test_an_error_without_a_text_is_told_by_its_name() -> None:
    class Mute(Exception):
        def __str__(self) -> str:
            raise ValueError

    for error, text in ((MemoryError(), "MemoryError"), (Mute(), r"Mute: \(its text cannot be told: ValueError\)")):

        def build(it: int, error: Exception = error) -> qs.Scenario:
            raise error

        for workers in (1, 2):
            with pytest.raises(qs.SweepError, match=f"^the point it=1 failed: {text}$"):
                sweep(build, {"it": [1]}, workers=workers)


def test_a_worker_that_dies_is_named_and_the_sweep_goes_on_from_its_file(tmp_path: Path) -> None:
    file, once = tmp_path / "runs", str(tmp_path / "once")
    build = functools.partial(builds.deadly, once=once)
    axes = {"load": [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8]}
    one = functools.partial(futures.ProcessPoolExecutor, 1, mp_context=multiprocessing.get_context("spawn"))
    with one() as pool, pytest.raises(qs.SweepError) as caught:
        sweep(build, axes, executor=pool, save=file)
    text = str(caught.value)
    assert re.search(r"worker process \d+ \(killed by SIGKILL\) died; under way or next: the points? load=0\.7", text)
    assert f'go on with resume="{file}"' in text
    assert {"load": 0.7} in caught.value.points
    assert caught.value.table is not None
    assert caught.value.table["sent"].sel(load=slice(0.1, 0.6)).notnull().all()
    lines = len(file.read_text().splitlines())
    assert lines == 1 + 1 + 6
    with one() as pool:
        table = sweep(build, axes, executor=pool, resume=file)
    same_bytes(table, sweep(build, axes))


def test_a_worker_that_is_killed_at_any_moment_loses_nothing_that_was_finished(tmp_path: Path) -> None:
    whole = sweep(link, AXES, 60)
    for number in range(5):
        file = tmp_path / f"{number}"
        with futures.ProcessPoolExecutor(2, mp_context=multiprocessing.get_context("spawn")) as pool:

            def kill(share: float, number: int = number, pool: Any = pool) -> None:
                first = list(pool._processes or ())[:1] if share > number / 6 else []
                for pid in first:
                    with contextlib.suppress(ProcessLookupError):  # it is gone already
                        os.kill(pid, signal.SIGKILL)

            with pytest.raises(qs.SweepError, match=r"worker process \d+ \(killed by SIGKILL\)") as caught:
                sweep(link, AXES, 60, executor=pool, save=file, progress=kill)
        assert "died; under way or next: the point" in str(caught.value)
        assert caught.value.table is not None
        assert int(caught.value.table["sent"].notnull().sum()) == len(ran(file)) > 60 * number
        same_bytes(sweep(link, AXES, 60, resume=file), whole)


# -- its file ----------------------------------------------------------------------------------------------------------


def ran(file: Path) -> list[dict[str, Any]]:
    """The runs in a file."""
    return [line for line in map(json.loads, file.read_text().splitlines()) if "numbers" in line]


@pytest.mark.parametrize("kind", ["alone", "threads", "processes"])
def test_every_run_is_in_the_file_and_resuming_runs_none_again(
    kind: str, processes: futures.ProcessPoolExecutor, whole: xr.Dataset, tmp_path: Path
) -> None:
    how = how_to(kind, processes)
    file = tmp_path / "runs"
    same_bytes(sweep(link, AXES, 5, save=file, **how), whole)
    assert sorted((line["point"], line["replication"]) for line in ran(file)) == [
        (p, r) for p in range(6) for r in range(5)
    ]
    before = file.read_bytes()
    same_bytes(sweep(link, AXES, 5, resume=file, **how), whole)
    assert file.read_bytes() == before


def test_a_file_says_in_its_first_line_what_the_sweep_is(tmp_path: Path) -> None:
    file = tmp_path / "runs"
    sweep(link, AXES, save=str(file), warmup=0.1)
    first = json.loads(file.read_text().splitlines()[0])
    assert first["format"] == "qossim sweep" and first["version"] == 2
    told = first["sweep"]
    assert told["build"] == "tests.builds.link" and told["seed"] == 4
    assert told["parameters"] == {"load": {"load": [0.3, 0.6, 0.9]}, "limit": {"limit": ["2", "None"]}}
    assert told["duration"] == 10**12 and told["warmup"] == 10**11


@pytest.mark.parametrize(
    "values",
    [[1.0, float("inf"), float("-inf")], ["a", "\ud800"], {"\udfff": 1}, qs.zipped(one=[float("inf")], two=["é"])],
)
def test_every_label_can_be_written_down(values: Any, tmp_path: Path) -> None:
    file = tmp_path / "runs"

    def build(**given: Any) -> qs.Scenario:
        return link()

    first = sweep(build, {"it": values}, save=file)
    same_bytes(sweep(build, {"it": values}, resume=file), first)
    for line in file.read_bytes().splitlines():
        json.loads(line.decode(), parse_constant=pytest.fail)
    assert "Infinity" not in first.attrs["parameters"]


def test_a_file_that_cannot_be_begun_is_not_left_behind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: Any) -> int:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "write", full)
    with pytest.raises(OSError, match="No space left"):
        sweep(link, AXES, save=tmp_path / "runs")
    assert not list(tmp_path.iterdir())


def test_a_file_may_be_cut_anywhere_and_the_sweep_goes_on(whole: xr.Dataset, tmp_path: Path) -> None:
    file = tmp_path / "runs"
    sweep(link, AXES, 5, save=file, workers=1)
    content = file.read_bytes()
    first = content.index(b"\n") + 1
    for cut in [first, first + 1, len(content) - 1, *range(first + 7, len(content), len(content) // 9)]:
        file.write_bytes(content[:cut])
        same_bytes(sweep(link, AXES, 5, resume=file, workers=1), whole)
        assert len(ran(file)) == 30
    file.write_bytes(content[: first - 3])  # not even the first line
    same_bytes(sweep(link, AXES, 5, save=file, resume=file), whole)
    same_bytes(sweep(link, AXES, 5, resume=file), whole)


def test_a_sweep_can_be_resumed_with_more_replications_or_fewer(tmp_path: Path, whole: xr.Dataset) -> None:
    file = tmp_path / "runs"
    sweep(link, AXES, 2, save=file)
    same_bytes(sweep(link, AXES, 5, resume=file), whole)
    assert len(ran(file)) == 30
    same_bytes(sweep(link, AXES, 3, resume=file), sweep(link, AXES, 3))


def test_an_automatic_number_of_replications_can_be_resumed(tmp_path: Path) -> None:
    file = tmp_path / "runs"
    auto = functools.partial(sweep, link, {"load": [0.2, 0.7]}, "auto", target={"delay_mean": "0.1 ms"}, least=3)
    expected = auto(save=file)
    content = file.read_bytes()
    file.write_bytes(content[: len(content) // 2])
    same_bytes(auto(resume=file), expected)


def test_the_seed_that_was_drawn_is_taken_from_the_file(tmp_path: Path) -> None:
    file = tmp_path / "runs"
    first = sweep(link, AXES, save=file, seed=None)
    same_bytes(sweep(link, AXES, resume=file, seed=None), first)
    file.unlink()
    first = sweep(link, AXES, save=file, seed=SeedSequence([1, 2**70], spawn_key=(3,)))
    file.write_bytes(file.read_bytes()[:-1])
    same_bytes(sweep(link, AXES, resume=file, seed=None), first)


def test_save_and_resume_with_one_name_begin_or_go_on(tmp_path: Path) -> None:
    file = tmp_path / "runs"
    one, other = (sweep(link, AXES, save=file, resume=file) for _ in range(2))
    same_bytes(one, other)
    assert len(ran(file)) == 6


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"seed": 5}, "seed is 4 there and 5 here"),
        ({"duration": 2.0}, "duration is 1 s there and 2 s here"),
        ({"warmup": 0.5}, "warmup is 0 s there and 500 ms here"),
        ({"warmup": "mser5"}, 'warmup is 0 s there and "mser5" here'),
        ({"axes": {"load": [0.3], "limit": [2, None]}}, "parameters is {'load'"),
        ({"axes": dict(reversed(AXES.items()))}, "axes is ['load', 'limit'] there and ['limit', 'load'] here"),
        ({"seed": SeedSequence(4)}, "seed is 4 there and {"),
        ({"quantiles": (0.5,)}, "quantiles is"),
        ({"record": "summary"}, 'record is "packets" there and "summary" here'),
        ({"drain": False}, "drain is True there and False here"),
        ({"bit_generator": "SFC64"}, 'bit_generator is "PCG64" there and "SFC64" here'),
        ({"build": functools.partial(link, extra=True)}, 'build is "tests.builds.link" there and'),
    ],
)
def test_the_file_of_another_sweep_is_refused(change: dict[str, Any], message: str, tmp_path: Path) -> None:
    file = tmp_path / "runs"
    sweep(link, AXES, save=file)
    before = file.read_bytes()
    with pytest.raises(ValueError, match=r"resume: .*runs is of another sweep: ") as caught:
        sweep(**{"build": link, "axes": AXES, "resume": file, **change})
    assert message in str(caught.value)
    assert file.read_bytes() == before


def test_a_build_that_has_changed_since_is_found_out(tmp_path: Path) -> None:
    file, size = tmp_path / "runs", 100

    def build(load: float) -> qs.Scenario:
        return qs.Scenario([qs.Flow("f", qs.Poisson(pps=100 * load, size=size))], [qs.Port("p", 1e6)])

    sweep(build, {"load": [1, 2]}, save=file)
    size = 101
    with pytest.raises(ValueError, match="is of another sweep: first scenario is"):
        sweep(build, {"load": [1, 2]}, resume=file)


@pytest.mark.parametrize("workers", [1, 2])
def test_a_label_that_stands_for_something_else_since_is_found_out(workers: int, tmp_path: Path) -> None:
    file, build = tmp_path / "runs", functools.partial(link, extra=True)
    sweep(build, {"limit": {"short": 1, "long": 5}}, 2, save=file, workers=workers)
    before = file.read_bytes()
    with pytest.raises(ValueError, match=r"another sweep: at the point limit='long' the scenario is not what it was"):
        sweep(build, {"limit": {"short": 1, "long": 40}}, 2, resume=file)
    assert file.read_bytes() == before


def test_every_packet_of_a_trace_counts_when_scenarios_are_compared(tmp_path: Path) -> None:
    """NumPy prints only the ends of a long array."""
    file, times = tmp_path / "runs", [i / 5000 for i in range(5000)]

    def build(it: int) -> qs.Scenario:
        trace = qs.Trace(times=times if it else [0.0], sizes=100)
        return qs.Scenario([qs.Flow("f", trace)], [qs.Port("p", 1e7)])

    first = sweep(build, {"it": [0, 1]}, save=file)
    same_bytes(sweep(build, {"it": [0, 1]}, resume=file), first)
    times[2500] += 1e-5
    with pytest.raises(ValueError, match="at the point it=1 the scenario is not what it was there"):
        sweep(build, {"it": [0, 1]}, resume=file)


def test_points_are_told_apart_only_where_there_is_a_file(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("qossim._points.fingerprint", None)
    sweep(link, AXES, workers=2)


def test_a_file_is_not_written_over_nor_made_up(tmp_path: Path) -> None:
    file = tmp_path / "runs"
    with pytest.raises(FileNotFoundError, match=r"resume: there is no file .*runs"):
        sweep(link, AXES, resume=file)
    sweep(link, AXES, save=file)
    before = file.read_bytes()
    with pytest.raises(FileExistsError, match=r"save: .*runs is there already: go on with it by resume="):
        sweep(link, AXES, save=file)
    assert file.read_bytes() == before


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"point,delay\n1,2\n", "is no file of a sweep"),
        (b"[1]\n", "is no file of a sweep"),
        (b'{"format": "qossim sweep", "version": 1, "sweep": {}}\n', r"is of format \('qossim sweep', 1\), but this"),
    ],
)
def test_what_is_no_file_of_a_sweep_is_refused(content: bytes, message: str, tmp_path: Path) -> None:
    file = tmp_path / "runs"
    file.write_bytes(content)
    with pytest.raises(ValueError, match=message):
        sweep(link, AXES, resume=file)
    assert file.read_bytes() == content


@pytest.mark.parametrize("damage", [b"x", b'{"point": 0}', b'{"point":0,"replication":0,"layout":0,"numbers":[1]}'])
def test_a_damaged_line_in_the_middle_is_told_by_its_number(damage: bytes, tmp_path: Path) -> None:
    file = tmp_path / "runs"
    sweep(link, AXES, save=file, workers=1)
    lines = file.read_bytes().splitlines()
    lines[3] = damage
    file.write_bytes(b"\n".join([*lines, b""]))
    with pytest.raises(ValueError, match=r"runs, line 4: damaged"):
        sweep(link, AXES, resume=file)


def test_a_first_point_that_fails_leaves_no_file(tmp_path: Path) -> None:
    with pytest.raises(qs.SweepError, match=r"the point load=0\.9 failed"):
        sweep(failing, {"load": [0.9]}, save=tmp_path / "runs")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("line", "change"),
    [
        *((1, {"sweep": sweep}) for sweep in (None, "x", {})),
        *((3, {"point": point}) for point in (-1, True, 0.5, "0")),
        *((3, {"replication": replication}) for replication in (-1, False, None)),
        *((3, {"layout": layout}) for layout in (-1, False, 7)),
        *((2, {"layout": layout}) for layout in (-1, True)),
        (3, {"number": float("inf")}),
        (3, {"number": True}),
        (3, {"number": "1"}),
        (3, {"number": 10**400}),
    ],
)
def test_a_file_that_was_edited_is_refused_and_left_alone(line: int, change: dict[str, Any], tmp_path: Path) -> None:
    file = tmp_path / "runs"
    sweep(link, {}, save=file)
    lines = [json.loads(each) for each in file.read_text().splitlines()]
    told = lines[line - 1]
    told["numbers"] = [change.pop("number"), *told["numbers"][1:]] if "number" in change else told.get("numbers")
    told |= change
    file.write_text("".join(json.dumps(each) + "\n" for each in lines))
    before = file.read_bytes()
    with pytest.raises(ValueError, match=rf"runs, line {line}: damaged"):
        sweep(link, {}, resume=file)
    assert file.read_bytes() == before


def test_save_and_resume_may_spell_one_file_in_two_ways(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    sweep(link, {}, save=tmp_path / "runs", resume="runs")
    sweep(link, {}, save="../" + tmp_path.name + "/runs", resume=tmp_path / "runs")
    assert len(ran(tmp_path / "runs")) == 1


def test_a_path_that_cannot_be_written_is_refused_by_name(tmp_path: Path) -> None:
    for field in ("save", "resume"):
        for path in ("", tmp_path, "a\0b", 3, sys.stdout):
            with pytest.raises(qs.ScenarioError, match=f"{field} must be the path of a file, got"):
                sweep(link, {}, **{field: path})
    with pytest.raises(FileNotFoundError, match="save: this file cannot be written"):
        sweep(link, {}, save=tmp_path / "none" / "runs")


def test_an_executor_that_cannot_work_is_refused(tmp_path: Path) -> None:
    with pytest.raises(TypeError, match="executor must be an executor, got the class ThreadPoolExecutor"):
        sweep(link, {}, executor=futures.ThreadPoolExecutor)
    for kind in (futures.ThreadPoolExecutor, futures.ProcessPoolExecutor):
        pool = kind(1)
        pool.shutdown()
        with pytest.raises(qs.SweepError, match="the executor takes no work: it was shut down"):
            sweep(link, {}, executor=pool)


@pytest.mark.parametrize("workers", [1, 2])
def test_a_build_that_changes_what_it_is_given_changes_no_other_run(workers: int) -> None:
    def build(loads: list[float], limit: int) -> qs.Scenario:
        return link(load=loads.pop(), limit=limit)

    values = [[0.2, 0.4], [0.3, 0.6]]
    table = sweep(build, {"loads": values, "limit": [1, 2]}, 3, workers=workers)
    assert values == [[0.2, 0.4], [0.3, 0.6]]
    expected = sweep(link, {"load": [0.4, 0.6], "limit": [1, 2]}, 3)
    assert (table["sent"].values == expected["sent"].values).all()


# -- what its file cannot take -----------------------------------------------------------------------------------------


def torn(file: Path, after: int, error: OSError) -> Callable[[int, memoryview], int]:
    """A disk that takes half of the run that follows so many, then fails once."""
    write, runs, half = os.write, 0, 0

    def writing(fd: int, data: memoryview) -> int:
        nonlocal runs, half
        if bytes(data[:9]) == b'{"point":':
            runs += 1
            if runs == after + 1:
                half = 1
                return write(fd, data[: len(data) // 2])
        elif half == 1:
            half = 2
            raise error
        return write(fd, data)

    return writing


@pytest.mark.parametrize("kind", ["alone", "threads", "processes"])
def test_a_full_disk_is_the_fault_of_the_file_and_loses_nothing_that_was_finished(
    kind: str,
    processes: futures.ProcessPoolExecutor,
    whole: xr.Dataset,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    how = how_to(kind, processes)
    file = tmp_path / "runs"
    with monkeypatch.context() as patch:
        patch.setattr(os, "write", torn(file, 11, OSError(28, "No space left on device")))
        with pytest.raises(qs.SweepError) as caught:
            sweep(link, AXES, 5, save=file, **how)
    text = str(caught.value)
    assert text.startswith(f"the file {file} cannot be written (No space left on device): 11 of ")
    assert text.endswith(f'go on with resume="{file}"')
    assert caught.value.points == [] and isinstance(caught.value.__cause__, OSError)
    table = caught.value.table
    assert table is not None and table.attrs["complete"] == 0
    there = table["sent"].notnull()
    assert f"11 of {int(there.sum())} finished runs" in text
    assert 12 <= there.sum() < 30
    assert len(ran(file)) == 11 and file.read_bytes().endswith(b"\n")
    xr.testing.assert_equal(table, whole.where(there.isel(flow=0, drop=True)))
    same_bytes(sweep(link, AXES, 5, resume=file, **how), whole)


def test_a_limit_on_the_size_of_a_file_is_met_at_the_end_of_a_line(whole: xr.Dataset, tmp_path: Path) -> None:
    """A real one: the system writes as much as there is room for, then refuses."""
    file = tmp_path / "runs"
    code = f"""
        import resource
        import qossim as qs
        from tests.builds import link
        from tests.test_sweep_workers import AXES, sweep
        resource.setrlimit(resource.RLIMIT_FSIZE, (9000, 9000))
        try:
            sweep(link, AXES, 5, save={str(file)!r}, workers=2)
        except qs.SweepError as error:
            print(error)
    """
    done = python(code)
    assert f"the file {file} cannot be written (File too large)" in done.stdout, done.stderr
    content = file.read_bytes()
    assert 8000 < len(content) <= 9000 and content.endswith(b"\n")
    assert 0 < len(ran(file)) < 30
    same_bytes(sweep(link, AXES, 5, resume=file), whole)


def test_a_write_that_is_short_is_continued(tmp_path: Path, whole: xr.Dataset, monkeypatch: pytest.MonkeyPatch) -> None:
    write = os.write
    monkeypatch.setattr(os, "write", lambda fd, data: write(fd, data[:97]))
    same_bytes(sweep(link, AXES, 5, save=tmp_path / "runs"), whole)
    same_bytes(sweep(link, AXES, 5, resume=tmp_path / "runs"), whole)


def test_an_error_at_closing_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where files are far away, this is when they are written."""
    close, file = os.close, tmp_path / "runs"

    def failing_close(fd: int) -> None:
        mine = os.path.samestat(os.fstat(fd), os.stat(file))
        close(fd)
        if mine:
            raise OSError(122, "Disk quota exceeded")

    monkeypatch.setattr(os, "close", failing_close)
    with pytest.raises(qs.SweepError, match=r"runs cannot be written \(Disk quota exceeded\)") as caught:
        sweep(link, AXES, save=file)
    assert caught.value.table is not None and caught.value.table["sent"].notnull().all()


@pytest.mark.parametrize("fields", [("save",), ("resume",), ("save", "resume")])
def test_an_empty_file_is_as_good_as_a_new_one(fields: tuple[str, ...], tmp_path: Path) -> None:
    file = tmp_path / "runs"
    file.touch()
    table = sweep(link, AXES, **dict.fromkeys(fields, file))
    assert len(ran(file)) == 6
    same_bytes(sweep(link, AXES, resume=file), table)


def test_an_empty_file_is_still_there_when_it_cannot_be_begun(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "runs"
    file.touch()

    def full(*_: Any) -> int:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "write", full)
    with pytest.raises(OSError, match=r"save: this file cannot be written \(No space left on device\)"):
        sweep(link, AXES, save=file)
    assert file.read_bytes() == b""


def read_only(monkeypatch: pytest.MonkeyPatch) -> None:
    """Files are; a superuser would be allowed to write nevertheless."""
    opened = os.open

    def opening(path: Any, flags: int, *rest: Any, **more: Any) -> int:
        if flags & (os.O_WRONLY | os.O_RDWR):
            raise PermissionError(13, "Permission denied", path)
        return opened(path, flags, *rest, **more)

    monkeypatch.setattr(os, "open", opening)


def test_a_file_with_everything_in_it_is_only_read(
    tmp_path: Path, whole: xr.Dataset, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "runs"
    sweep(link, AXES, 5, save=file)
    read_only(monkeypatch)
    same_bytes(sweep(link, AXES, 5, resume=file), whole)
    with pytest.raises(PermissionError, match=r"resume: this file cannot be written \(Permission denied\).*runs"):
        sweep(link, AXES, 6, resume=file)


def test_a_file_that_cannot_be_read_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "runs"
    sweep(link, AXES, save=file)

    def unreadable(path: Path) -> bytes:
        raise PermissionError(13, "Permission denied", str(path))

    monkeypatch.setattr(Path, "read_bytes", unreadable)
    with pytest.raises(PermissionError, match=r"resume: this file cannot be read \(Permission denied\).*runs"):
        sweep(link, AXES, resume=file)


def test_two_processes_do_not_write_to_one_file(tmp_path: Path, whole: xr.Dataset) -> None:
    file = tmp_path / "runs"
    sweep(link, AXES, save=file)
    code = f"""
        import sys
        from tests.builds import link
        from tests.test_sweep_workers import AXES, sweep
        def hold(share):
            print("began", flush=True)
            sys.stdin.readline()
        sweep(link, AXES, 5, resume={str(file)!r}, workers=1, progress=hold)
    """
    command, pipe = [sys.executable, "-c", textwrap.dedent(code)], subprocess.PIPE
    with subprocess.Popen(command, stdin=pipe, stdout=pipe, text=True, **ELSEWHERE) as other:
        assert other.stdout is not None and other.stdout.readline() == "began\n"
        with pytest.raises(OSError, match=r"resume: this file cannot be written \(another process is writing to it\)"):
            sweep(link, AXES, 5, resume=file)
        other.communicate("\n" * 30)
    assert other.returncode == 0
    same_bytes(sweep(link, AXES, 5, resume=file), whole)


def test_a_file_that_grew_since_it_was_read_is_not_written_to(tmp_path: Path) -> None:
    file = tmp_path / "runs"
    sweep(link, AXES, save=file)
    line = file.read_bytes().splitlines()[-1] + b"\n"

    def meddling(**parameters: Any) -> qs.Scenario:
        with file.open("ab") as other:
            other.write(line)
        return link(**parameters)

    meddling.__module__, meddling.__qualname__ = "tests.builds", "link"
    before = file.read_bytes()
    with pytest.raises(ValueError, match=r"resume: .*runs has changed since it was read"):
        sweep(meddling, AXES, 2, resume=file)
    assert file.read_bytes().startswith(before)


def test_what_is_no_plain_file_is_refused(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    for field in ("save", "resume"):
        with pytest.raises(qs.ScenarioError, match=f"{field} must be the path of a file, got .*not a plain file"):
            sweep(link, {}, **{field: tmp_path / "pipe"})


# -- interrupted -------------------------------------------------------------------------------------------------------


def interrupt_after(runs: int, total: int) -> Callable[[float], None]:
    """A progress function that stands for a person who presses Ctrl-C."""

    def progress(share: float) -> None:
        if share * total >= runs:
            signal.raise_signal(signal.SIGINT)

    return progress


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


def press(after: float, times: int = 1) -> threading.Thread:
    """A person who presses Ctrl-C, and goes on pressing."""

    def pressing() -> None:
        for _ in range(times):
            time.sleep(after)
            os.kill(os.getpid(), signal.SIGINT)

    person = threading.Thread(target=pressing)
    person.start()
    return person


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
    assert table.sizes["limit"] == 3 and table.sizes["flow"] == 0


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
        from tests.test_sweep_workers import AXES, ran, sweep

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


def test_ctrl_c_at_a_terminal_loses_nothing_that_a_process_had_finished(tmp_path: Path) -> None:
    """There it reaches every process, in the midst of a task of several runs."""
    (tmp_path / "begun").mkdir()
    code = f"""
        import functools, multiprocessing
        from concurrent.futures import ProcessPoolExecutor
        from tests.builds import pausing
        from tests.test_sweep_workers import sweep

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


def test_processes_that_are_forked_for_a_sweep_hear_ctrl_c_afterwards() -> None:
    code = """
        import multiprocessing
        from concurrent.futures import ProcessPoolExecutor
        from tests.builds import link, stopped_by_ctrl_c
        from tests.test_sweep_workers import sweep

        with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("fork")) as pool:
            sweep(link, {"load": [0.1, 0.2]}, executor=pool)
            print(pool.submit(stopped_by_ctrl_c).result())
    """
    assert python(code).stdout == "stopped\n"


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
        from tests.test_sweep_workers import sweep
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


# -- progress ----------------------------------------------------------------------------------------------------------


def test_progress_is_shown_to_whoever_asks_and_to_nobody_else(capsys: pytest.CaptureFixture[str]) -> None:
    qs.sweep(link, AXES, 5, duration=1.0, seed=1)
    assert capsys.readouterr().err == ""
    sweep(link, AXES, 5, progress=True)
    shown = capsys.readouterr().err
    assert "qossim" in shown and "30" in shown and re.search(r"\[\d\d:\d\d<", shown)
    shares: list[float] = []
    sweep(link, AXES, 5, progress=shares.append)
    assert shares == sorted(shares) and shares[-1] == 1


@pytest.mark.parametrize("workers", [1, 2])
def test_progress_never_passes_the_end_where_a_file_has_more_than_is_asked_for(workers: int, tmp_path: Path) -> None:
    file = tmp_path / "runs"
    sweep(link, AXES, 5, save=file, workers=1)
    lines = file.read_text().splitlines(keepends=True)
    file.write_text("".join(line for line in lines if '"replication": 1,' not in line))
    shares: list[float] = []
    table = sweep(link, AXES, 2, resume=file, workers=workers, progress=shares.append)
    assert shares == sorted(shares) and shares[0] > 0.5 and shares[-1] == 1
    same_bytes(table, sweep(link, AXES, 2))


def test_replications_that_were_left_aside_are_used_when_the_target_wants_them(tmp_path: Path) -> None:
    file, axes = tmp_path / "runs", {"load": [0.2, 0.7]}
    sweep(link, axes, 100, save=file)
    auto = functools.partial(sweep, link, axes, "auto", target={"delay_mean": "0.1 ms"}, least=3)
    before = file.read_bytes()
    shares: list[float] = []
    same_bytes(auto(resume=file, progress=shares.append), auto())
    assert file.read_bytes() == before
    assert not shares or max(shares) <= 1
