# SPDX-License-Identifier: MIT
"""Whoever does the work of a sweep, its table is the same; and what is finished survives whatever happens to them."""

from __future__ import annotations

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


def test_a_dask_cluster_makes_the_same_table(whole: xr.Dataset, tmp_path: Path) -> None:
    """A cluster of two processes, driven through its executor in a Python of its own: it leaves threads behind."""
    code = f"""
        import os, pickle
        from pathlib import Path
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


# -- what fails --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["alone", "threads", "processes"])
def test_a_failing_point_names_its_parameters(kind: str, processes: futures.ProcessPoolExecutor) -> None:
    how: dict[str, dict[str, Any]] = {
        "alone": {"workers": 1},
        "threads": {"workers": 2},
        "processes": {"executor": processes},
    }
    with pytest.raises(qs.SweepError) as caught:
        sweep(failing, {"bad": [0.9], "load": [0.1, 0.2, 0.9, 0.3]}, 2, **how[kind])
    assert str(caught.value) == "the point bad=0.9, load=0.9 failed: ZeroDivisionError: no such load"
    assert caught.value.points == [{"bad": 0.9, "load": 0.9}]
    assert isinstance(caught.value.__cause__, ZeroDivisionError)
    if kind == "alone":
        assert caught.value.table is not None and caught.value.table.attrs["complete"] == 0
        assert caught.value.table["sent"].sel(flow="f", load=[0.1, 0.2]).notnull().all()


def test_a_worker_that_gives_up_names_its_points(processes: futures.ProcessPoolExecutor) -> None:
    for how in ({"workers": 2}, {"executor": processes}):
        with pytest.raises(qs.SweepError, match=r"a worker failed \(SystemExit: 3\) at the points load=0\.5"):
            sweep(builds.leaving, {"load": [0.5]}, **how)


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
    with pytest.raises(qs.SweepError, match=r"limt=1 failed: TypeError: .*unexpected keyword argument 'limt'"):
        sweep(link, {"limt": [1]})


def test_a_worker_that_dies_is_named_and_the_sweep_goes_on_from_its_file(tmp_path: Path) -> None:
    file, once = tmp_path / "runs", str(tmp_path / "once")
    build = functools.partial(builds.deadly, once=once)
    axes = {"load": [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8]}
    one = functools.partial(futures.ProcessPoolExecutor, 1, mp_context=multiprocessing.get_context("spawn"))
    with one() as pool, pytest.raises(qs.SweepError) as caught:
        sweep(build, axes, executor=pool, save=file)
    text = str(caught.value)
    assert re.search(
        r"worker process \d+ \(killed by SIGKILL\) died; under way or next were the points load=0\.7", text
    )
    assert f'go on with resume="{file}"' in text
    assert {"load": 0.7} in caught.value.points
    assert caught.value.table is not None
    assert caught.value.table["sent"].sel(load=slice(0.1, 0.6)).notnull().all()
    lines = len(file.read_text().splitlines())
    assert lines == 1 + 1 + 6
    with one() as pool:
        table = sweep(build, axes, executor=pool, resume=file)
    same_bytes(table, sweep(build, axes))


# -- its file ----------------------------------------------------------------------------------------------------------


def ran(file: Path) -> list[dict[str, Any]]:
    """The runs in a file."""
    return [line for line in map(json.loads, file.read_text().splitlines()) if "numbers" in line]


@pytest.mark.parametrize("kind", ["alone", "threads", "processes"])
def test_every_run_is_in_the_file_and_resuming_runs_none_again(
    kind: str, processes: futures.ProcessPoolExecutor, whole: xr.Dataset, tmp_path: Path
) -> None:
    how: dict[str, dict[str, Any]] = {
        "alone": {"workers": 1},
        "threads": {"workers": 2},
        "processes": {"executor": processes},
    }
    file = tmp_path / "runs"
    same_bytes(sweep(link, AXES, 5, save=file, **how[kind]), whole)
    assert sorted((line["point"], line["replication"]) for line in ran(file)) == [
        (p, r) for p in range(6) for r in range(5)
    ]
    before = file.read_bytes()
    same_bytes(sweep(link, AXES, 5, resume=file, **how[kind]), whole)
    assert file.read_bytes() == before


def test_a_file_says_in_its_first_line_what_the_sweep_is(tmp_path: Path) -> None:
    file = tmp_path / "runs"
    sweep(link, AXES, save=str(file), warmup=0.1)
    first = json.loads(file.read_text().splitlines()[0])
    assert first["format"] == "qossim sweep" and first["version"] == 1
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
        ({"duration": 2.0}, "duration is 1000000000000 there and 2000000000000 here"),
        ({"warmup": 0.5}, "warmup is 0 there and 500000000000 here"),
        ({"warmup": "mser5"}, 'warmup is 0 there and "mser5" here'),
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
        (b'{"format": "qossim sweep", "version": 2, "sweep": {}}\n', r"is of format \('qossim sweep', 2\), but this"),
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
        for path in ("", tmp_path):
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
    assert table.attrs["complete"] == 0
    there = table["sent"].notnull()
    assert runs <= int(there.sum()) == len(ran(file))
    assert dict(table.sizes) == dict(whole.sizes)
    xr.testing.assert_equal(table, whole.where(there.isel(flow=0, drop=True)))
    same_bytes(sweep(link, AXES, 5, resume=file), whole)


def test_ctrl_c_breaks_off_long_runs_of_threads_at_once() -> None:
    """A run of a billion packets would take minutes."""
    began = time.monotonic()
    timer = threading.Timer(0.5, lambda: os.kill(os.getpid(), signal.SIGINT))
    timer.start()
    table = sweep(functools.partial(link, load=0.9), {"limit": [1, 2, 3]}, duration=1e6, record="summary", workers=2)
    timer.join()
    assert time.monotonic() - began < 3
    assert table.attrs["complete"] == 0
    assert table.sizes["limit"] == 3 and table.sizes["flow"] == 0


def test_ctrl_c_returns_what_processes_had_finished(processes: futures.ProcessPoolExecutor) -> None:
    axes = {"load": [i / 100 for i in range(1, 40)]}
    table = sweep(builds.slow, axes, executor=processes, progress=interrupt_after(5, 39))
    assert table.attrs["complete"] == 0
    assert 5 <= int(table["sent"].notnull().sum()) < 39


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
