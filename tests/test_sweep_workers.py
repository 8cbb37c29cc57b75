# SPDX-License-Identifier: MIT
"""Whoever does the work of a sweep, its table is the same; and what fails is named."""

from __future__ import annotations

import contextlib
import functools
import multiprocessing
import os
import re
import signal
import subprocess
import sys
import textwrap
import threading
from concurrent import futures
from pathlib import Path
from typing import Any

import pytest
import xarray as xr

import qossim as qs
from tests import builds
from tests.builds import failing, link
from tests.sweeps import AXES, ELSEWHERE, ROOT, how_to, python, ran, same_bytes, sweep

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
        from tests.sweeps import AXES, sweep
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


def test_a_worker_of_dask_that_dies_is_named(tmp_path: Path) -> None:
    code = f"""
        import functools, logging
        import dask, qossim as qs
        from dask.distributed import Client, LocalCluster
        from tests.builds import deadly
        from tests.sweeps import sweep

        if __name__ == "__main__":
            dask.config.set({{"distributed.scheduler.allowed-failures": 1}})
            options = dict(n_workers=1, threads_per_worker=1, dashboard_address=None, silence_logs=logging.CRITICAL)
            with LocalCluster(**options) as cluster, Client(cluster) as client, client.get_executor() as executor:
                build = functools.partial(deadly, once={str(tmp_path / "no" / "such")!r})
                try:
                    axes = {{"load": [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7]}}  # two are under way at a time
                    sweep(build, axes, executor=executor, save={str(tmp_path / "runs")!r})
                except qs.SweepError as error:
                    print(error)
                    print(error.points, int(error.table["sent"].notnull().sum()) >= 5)
    """
    script = tmp_path / "script.py"
    script.write_text(textwrap.dedent(code))
    done = subprocess.run([sys.executable, str(script)], capture_output=True, text=True, timeout=120, **ELSEWHERE)
    assert done.returncode == 0, done.stderr
    said = (
        r"worker tcp://127\.0\.0\.1:\d+ died, and 1 before it, at the point load=0\.7; what was finished is in .*runs:"
    )
    first, second = done.stdout.splitlines()
    assert re.match(said, first)
    assert second == "[{'load': 0.7}] True", "the sixth may have died with the worker that held it"


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
        with pytest.raises(qs.SweepError, match=r"the point load=0\.5 failed: Unusual: never seen"):
            sweep(builds.unusual, {"load": [0.5]}, **how)


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

    with pytest.raises(ZeroDivisionError, match="of a bar") as caught:
        sweep(link, AXES, workers=workers, progress=progress, save=tmp_path / "runs")
    table = getattr(caught.value, "table")  # noqa: B009  # no exception of its class has one
    assert 1 <= len(ran(tmp_path / "runs")) == table["sent"].notnull().sum() <= 6
    assert caught.value.__notes__ == ["what was finished of the sweep is in the table of this error"]


@pytest.mark.parametrize("workers", [1, 2])
@pytest.mark.parametrize("error", [builds.Sealed("5"), SystemExit(3)], ids=repr)
def test_what_progress_raises_is_raised_even_if_it_bears_no_table(error: BaseException, workers: int) -> None:
    def progress(share: float) -> None:
        raise error

    with pytest.raises(type(error)) as caught:
        sweep(link, AXES, workers=workers, progress=progress)
    assert caught.value is error


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


@pytest.mark.parametrize("workers", [1, 2])
def test_a_failing_point_does_not_point_to_a_file_that_was_removed(workers: int, tmp_path: Path) -> None:
    file = tmp_path / "runs"

    def build(load: float) -> qs.Scenario:
        file.unlink(missing_ok=True)
        return failing(load=load, bad=0.3)

    with pytest.raises(qs.SweepError, match=r"no such load; the file .*runs was removed meanwhile$"):
        sweep(build, {"load": [0.1, 0.3]}, save=file, workers=workers)
    assert not file.exists()


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


@pytest.mark.parametrize(("how", "told"), [("SIGKILL", "killed by SIGKILL"), ("exit", "exit code 0")])
def test_a_worker_that_dies_while_it_hands_something_back_is_named(how: str, told: str) -> None:
    """A pool would wait for ever for the rest of it."""
    loads = [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8]
    with futures.ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn")) as pool:
        with pytest.raises(qs.SweepError, match=rf"^worker process \d+ \({told}\) died; under way") as caught:
            sweep(functools.partial(builds.cut_off, how=how), {"load": loads}, executor=pool)
        with pytest.raises(futures.BrokenExecutor):
            pool.submit(int).result(30)
    assert {"load": 0.7} in caught.value.points


@pytest.mark.parametrize(
    ("how", "workers", "who"),
    [
        ("exit", 1, r"worker process \d+ \(exit code 0\) died; under"),
        ("exit", 2, r"worker process \d+ \(exit code 0\) died; under"),
        ("SIGTERM", 1, r"worker process \d+ \(killed by SIGTERM\) died; under"),
        (
            "SIGTERM",
            2,
            r"worker process \d+ \(killed by SIGTERM\) or \d+ \(killed by SIGTERM\) died, and the pool ended",
        ),
        ("SIGSEGV", 2, r"worker process \d+ \(killed by SIGSEGV\) died; under"),
    ],
)
def test_a_worker_is_named_however_it_dies(how: str, workers: int, who: str) -> None:
    build = functools.partial(builds.ending, how=how)
    with futures.ProcessPoolExecutor(workers, mp_context=multiprocessing.get_context("spawn")) as pool:
        sweep(link, AXES, 4, executor=pool)  # all are there
        with pytest.raises(qs.SweepError, match=f"^{who}"):
            sweep(build, {"load": [0.1, 0.7]}, executor=pool)


def test_the_worker_that_a_pool_began_last_of_all_is_named_if_it_dies() -> None:
    build, context = functools.partial(builds.ending, how="SIGKILL"), multiprocessing.get_context("spawn")
    with (
        futures.ProcessPoolExecutor(1, mp_context=context, max_tasks_per_child=1) as pool,
        pytest.raises(qs.SweepError, match=r"^worker process \d+ \(killed by SIGKILL\) died; under way or next"),
    ):
        sweep(build, {"load": [0.1, 0.2, 0.3, 0.7]}, executor=pool)
    build = functools.partial(builds.ending, how="SIGTERM")
    with (
        futures.ProcessPoolExecutor(1, mp_context=context, max_tasks_per_child=1) as pool,
        pytest.raises(qs.SweepError, match=r"^worker process \d+ \(killed by SIGTERM\) died; under way or next"),
    ):
        sweep(build, {"load": [0.1, 0.2, 0.3, 0.7]}, executor=pool)


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


def test_progress_is_told_where_a_file_has_everything(tmp_path: Path) -> None:
    file = tmp_path / "runs"
    sweep(link, AXES, save=file)
    shares: list[float] = []
    sweep(link, AXES, resume=file, progress=shares.append)
    assert shares == [1]


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
