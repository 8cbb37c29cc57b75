# SPDX-License-Identifier: MIT
"""The file of a sweep: what is finished is in it whatever happens, and the sweep goes on from there."""

from __future__ import annotations

import functools
import json
import os
import subprocess
import sys
import textwrap
from collections.abc import Callable
from concurrent import futures
from pathlib import Path
from typing import Any

import pytest
import xarray as xr
from numpy.random import SeedSequence

import qossim as qs
from tests.builds import failing, link
from tests.sweeps import AXES, ELSEWHERE, how_to, python, ran, same_bytes, sweep

# -- what is in it -----------------------------------------------------------------------------------------------------


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
        (
            {"axes": {"load": [0.3], "limit": [2, None]}},
            'parameters["load"]["load"] is [0.3, 0.6, 0.9] there and [0.3]',
        ),
        ({"axes": {"load": [0.3]}}, "axes is ['load', 'limit'] there and ['load'] here"),
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


def test_settings_too_long_to_be_told_are_told_where_they_differ(tmp_path: Path) -> None:
    def refused(change: list[Any]) -> str:
        with pytest.raises(ValueError, match="is of another sweep: ") as caught:
            sweep(build, {"value": change}, resume=file, duration=0.01)
        return str(caught.value).partition("is of another sweep: ")[2]

    def build(value: Any) -> qs.Scenario:
        return link(load=0.5)

    file, values = tmp_path / "runs", [*range(60), "x" * 200]
    sweep(build, {"value": values}, save=file, duration=0.01)
    before = 'parameters["value"]["value"]'
    assert refused([*range(59), "y", "x" * 200]) == f'{before}[59] is "59" there and "y" here'
    assert refused([*values, "z"]) == f"{before} is of 61 values there and of 62 here"
    longer = refused([*range(60), "x" * 199 + "y"])
    assert longer == f"{before}[60], from its character 200 on, is ...x there and ...y here"
    assert refused([*range(60), "x" * 190]).endswith(f"191 on, is ...{'x' * 10} there and ... here")


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
        *(
            (
                b'{"format": "qossim sweep", "version": 2, "sweep": ' + damaged + b"}\n",
                r"resume: .*runs, line 1: damaged \(",
            )
            for damaged in [
                *(b"5", b"null", b'"seed"', b"[]", b"{}"),
                *(b'{"seed": ' + seed + b"}" for seed in (b'"abc"', b"null", b'{"x": 1}', b"-1", b"true", b"1.5")),
            ]
        ),
    ],
)
def test_what_is_no_file_of_a_sweep_is_refused(content: bytes, message: str, tmp_path: Path) -> None:
    file = tmp_path / "runs"
    file.write_bytes(content)
    with pytest.raises(ValueError, match=message):
        sweep(link, AXES, resume=file, seed=None)
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


def test_a_file_whose_names_or_runs_contradict_each_other_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "runs"
    sweep(link, AXES, save=file)
    good = file.read_text()
    run = next(line for line in good.splitlines() if '"point": 1,' in line)
    other = run.replace('"numbers": [0.0, 1.0, ', '"numbers": [0.0, 0.0, ')
    assert other != run
    for bad, message in [
        (good.replace('"flows": ["f"]', '"flows": ["b"]'), "the scenario is not what it was there"),
        (good + other + "\n", "with other numbers"),
        (good + run.replace('"point": 1,', '"point": 99,') + "\n", "is damaged: it has a point 99, but there are 6"),
        (good + "[" * 100000 + "\n", "line 9: damaged"),
    ]:
        assert bad != good
        file.write_text(bad)
        with pytest.raises(ValueError, match=message):
            sweep(link, AXES, resume=file)
    file.write_text(good + run + "\n")  # twice the same does no harm
    assert sweep(link, AXES, resume=file).attrs["complete"] == 1


def test_a_file_that_is_cut_by_something_else_is_told(tmp_path: Path) -> None:
    file = tmp_path / "runs"
    with pytest.raises(qs.SweepError, match="was changed meanwhile by something else") as caught:
        sweep(link, AXES, save=file, progress=lambda share: os.truncate(file, 10))
    assert caught.value.table is not None and caught.value.table["sent"].notnull().all()


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


# -- what it cannot take -----------------------------------------------------------------------------------------------


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
        from tests.sweeps import AXES, sweep
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
        from tests.sweeps import AXES, sweep
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
