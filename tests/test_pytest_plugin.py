# SPDX-License-Identifier: MIT
"""The pytest plugin, in pytest runs of their own: the shared results, the report, and that it is no burden."""

from __future__ import annotations

import csv
import functools
import os
import re
import subprocess
import sys
import tomllib
from concurrent.futures import ThreadPoolExecutor
from html.parser import HTMLParser
from pathlib import Path
from threading import Event
from typing import Any

import numpy as np
import pytest

import qossim as qs
from qossim import pytest_plugin
from qossim._policy_table import written
from qossim.experiments import ef_wfq_vs_pq

ROOT = Path(__file__).parents[1]

POLICIES = """
import pytest
import qossim as qs
from qossim.experiments import ef_wfq_vs_pq

voice = qs.SLA("voice", delay_p99="30 ms", loss="5 %")


@pytest.fixture
def checked_before(qossim_run):
    qs.sla.y1541(0).check(qossim_run(ef_wfq_vs_pq(), duration=5.0, seed=1)["EF"])


@pytest.mark.parametrize("ring", [1, 40])
def test_voice(qossim_run, ring):
    scenario = ef_wfq_vs_pq(scheduler="pq", best_effort=True, tx_ring_limit=ring)
    voice.check(qossim_run(scenario, duration=5.0, seed=1)["EF"])


def test_twice(checked_before, qossim_run):
    qs.SLA(jitter="5 ms").check(qossim_run(ef_wfq_vs_pq(), duration=5.0, seed=1)["EF"])


def test_without():
    pass
"""
CHECKED = [
    ("test_it.py::test_voice[1]", "voice", "delay_p99", "pass"),
    ("test_it.py::test_voice[1]", "voice", "loss", "pass"),
    ("test_it.py::test_voice[40]", "voice", "delay_p99", "FAIL"),
    ("test_it.py::test_voice[40]", "voice", "loss", "pass"),
    ("test_it.py::test_twice", "ITU-T Y.1541 class 0", "delay_mean", "pass"),
    ("test_it.py::test_twice", "ITU-T Y.1541 class 0", "pdv_p99_9", "pass"),
    ("test_it.py::test_twice", "ITU-T Y.1541 class 0", "loss", "pass"),
    ("test_it.py::test_twice", "", "jitter", "pass"),
]


class Run:
    """A pytest of its own in a folder, with this plugin alone."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        (folder / "pytest.ini").write_text("[pytest]\n")

    def __call__(
        self,
        *arguments: str,
        plugin: str | None = "qossim.pytest_plugin",
        python: tuple[str, ...] = (),
        **environment: str,
    ) -> subprocess.CompletedProcess[str]:
        clean = {name: value for name, value in os.environ.items() if not name.startswith(("PYTEST_", "COV_"))}
        paths = os.pathsep.join(
            filter(None, [str(ROOT), environment.pop("also", ""), os.environ.get("PYTHONPATH", "")])
        )
        env = clean | {"PYTHONPATH": paths, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", "COLUMNS": "80"} | environment
        command = [sys.executable, *python, "-m", "pytest", "-p", "no:cacheprovider", "-W", "error"]
        command += ["-p", plugin] if plugin else []
        return subprocess.run(
            [*command, *arguments], cwd=self.folder, env=env, capture_output=True, text=True, check=False
        )


@pytest.fixture
def run(tmp_path: Path) -> Run:
    return Run(tmp_path)


@pytest.fixture
def policies(run: Run) -> Run:
    (run.folder / "test_it.py").write_text(POLICIES)
    return run


# no burden


def test_it_imports_nothing_until_it_is_used(run: Run) -> None:
    (run.folder / "test_empty.py").write_text("def test_nothing(): pass\n")
    (run.folder / "conftest.py").write_text(
        "import sys\n"
        "def pytest_sessionfinish(): print('imported', sorted(n for n in sys.modules if n.startswith('qossim')))\n"
    )
    done = run("--collect-only", python=("-X", "importtime"))
    assert done.returncode == 0, done.stdout
    assert "imported ['qossim', 'qossim.errors', 'qossim.pytest_plugin']" in done.stdout
    assert not {"numpy", "pandas", "xarray", "matplotlib", "tqdm"} & set(imported(done.stderr))


def test_importing_it_takes_little_beside_pytest(run: Run) -> None:
    command = [sys.executable, "-X", "importtime", "-c", "import pytest; import qossim.pytest_plugin"]
    compiled = {"PYTHONDONTWRITEBYTECODE": "", "PYTHONPYCACHEPREFIX": str(run.folder / "compiled")}
    for _ in range(2):  # the first time everything is compiled
        done = subprocess.run(command, cwd=ROOT, env=os.environ | compiled, capture_output=True, text=True, check=True)
    spent = imported(done.stderr)
    ours = {name for name in spent if name.split(".")[0] == "qossim"}
    assert ours == {"qossim", "qossim.errors", "qossim.pytest_plugin"}
    pytests = sum(time for name, time in spent.items() if name.split(".")[0] == "_pytest")
    assert sum(spent[name] for name in ours) < pytests / 10


def imported(text: str) -> dict[str, int]:
    """Microseconds by module, that of what it imports in turn left out, as ``python -X importtime`` tells."""
    found = re.findall(r"import time: +(\d+) \| +\d+ \| +(\S+)", text)
    return {name: int(microseconds) for microseconds, name in found}


def test_a_session_that_does_not_use_it_hears_nothing_of_it(run: Run) -> None:
    (run.folder / "test_plain.py").write_text("def test_plain(): pass\n")
    with_it, without = run("-q"), run("-q", plugin=None)
    assert with_it.returncode == without.returncode == 0

    def bare(text: str) -> str:
        return re.sub(r"in [\d.]+s", "", text)

    assert bare(with_it.stdout) == bare(without.stdout) and with_it.stderr == without.stderr == ""
    assert "qossim" not in with_it.stdout


@pytest.mark.parametrize(
    "arguments",
    [("--strict-config", "--strict-markers"), ("-p", "no:terminal"), ("-p", "no:capture"), ("-p", "no:junitxml", "-x")],
    ids=" ".join,
)
def test_it_works_without_much_of_pytest(policies: Run, arguments: tuple[str, ...]) -> None:
    done = policies(*arguments, "--qossim-report=r.csv", "test_it.py::test_twice")
    assert done.returncode == 0, done.stdout + done.stderr
    assert len((policies.folder / "r.csv").read_text().splitlines()) == 5


def entry_point(folder: Path) -> str:
    """A folder in which the plugin is registered as pyproject.toml says, whether or not the package is installed."""
    points = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["entry-points"]["pytest11"]
    info = folder / "registered" / "qossim-0.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: qossim\nVersion: 0\n")
    (info / "RECORD").write_text("qossim/__init__.py,,\nqossim/pytest_plugin.py,,\nqossim/sla.py,,\n")
    (info / "entry_points.txt").write_text("[pytest11]\n" + "".join(f"{k} = {v}\n" for k, v in points.items()))
    return str(folder / "registered")


def test_installing_registers_it_and_no_qossim_leaves_it_out(policies: Run) -> None:
    arguments = {"plugin": None, "also": entry_point(policies.folder), "PYTEST_DISABLE_PLUGIN_AUTOLOAD": ""}
    options = ("-p", "no:xdist", "test_it.py::test_twice")
    registered = policies(*options, "--qossim-report=r.csv", **arguments)
    assert registered.returncode == 0, registered.stdout + registered.stderr
    without = policies(*options, "-p", "no:qossim", **arguments)
    assert "fixture 'qossim_run' not found" in without.stdout
    refused = policies(*options, "-p", "no:qossim", "--qossim-report=r.csv", **arguments)
    assert refused.returncode == pytest.ExitCode.USAGE_ERROR and "unrecognized arguments" in refused.stderr


# the fixture


def test_the_same_run_is_made_once() -> None:
    runs = pytest_plugin._Runs()
    scenario = ef_wfq_vs_pq()
    first = runs(scenario, duration=5.0, seed=1)
    for same in (
        {"duration": 5, "seed": 1},
        {"duration": "5 s", "seed": np.int64(1), "warmup": 0, "record": "packets", "drain": True},
        {"duration": "5000 ms", "seed": 1, "bit_generator": "PCG64", "progress": False},
    ):
        assert runs(ef_wfq_vs_pq(), **same) is first
    assert first == qs.run(scenario, duration=5.0, seed=1)


def test_any_other_run_is_another() -> None:
    runs = pytest_plugin._Runs()
    settings = {"duration": 5.0, "seed": 1}
    first = runs(ef_wfq_vs_pq(), **settings)
    others = [
        {"duration": 6.0},
        {"seed": 2},
        {"seed": np.random.SeedSequence(1, spawn_key=(1,))},
        {"warmup": 1.0},
        {"record": "summary"},
        {"record": "none"},
        {"drain": False},
        {"bit_generator": "SFC64"},
    ]
    found = [first, *(runs(ef_wfq_vs_pq(), **settings | other) for other in others)]
    found.append(runs(ef_wfq_vs_pq(tx_ring_limit=7), **settings))
    assert len({id(each) for each in found}) == len(found)
    assert runs(ef_wfq_vs_pq(), **settings) is first


def test_a_run_without_a_seed_is_never_the_same() -> None:
    runs = pytest_plugin._Runs()
    assert runs(ef_wfq_vs_pq(), duration=1.0) is not runs(ef_wfq_vs_pq(), duration=1.0)


def test_what_run_refuses_the_fixture_refuses_likewise() -> None:
    runs = pytest_plugin._Runs()
    for drain in (True, False):
        runs(ef_wfq_vs_pq(), duration=1.0, seed=1, drain=drain)  # no result at hand excuses a wrong argument
    for scenario, options in [
        (None, {"duration": 1.0, "seed": 1}),
        (ef_wfq_vs_pq(), {"duration": -1.0, "seed": 1}),
        (ef_wfq_vs_pq(), {"duration": 1.0, "seed": "one"}),
        (ef_wfq_vs_pq(), {"duration": 1.0, "seed": 1, "record": []}),
        (ef_wfq_vs_pq(), {"duration": 1.0, "seed": True}),
        (ef_wfq_vs_pq(), {"seed": 1}),
        (ef_wfq_vs_pq(), {"duration": 1.0, "seed": 1, "speed": 3}),
        (ef_wfq_vs_pq(), {"duration": 1.0, "seed": 1, "drain": 1}),
        (ef_wfq_vs_pq(), {"duration": 1.0, "seed": 1, "drain": 0.0}),
    ]:
        raised = []
        for function in (runs, qs.run, runs):
            with pytest.raises((TypeError, ValueError)) as error:
                function(scenario, **options)
            raised.append((error.type, str(error.value)))
        assert raised[0] == raised[1] == raised[2]


def test_threads_that_want_one_run_wait_for_it_and_others_do_not(monkeypatch: pytest.MonkeyPatch) -> None:
    runs, made = pytest_plugin._Runs(), []
    begun, finish = Event(), Event()
    plain = qs.run

    def slow(scenario: qs.Scenario, **options: Any) -> qs.Result:
        made.append(options["seed"])
        if options["seed"] == 1:
            begun.set()
            assert finish.wait(30)
        return plain(scenario, **options)

    monkeypatch.setattr(qs, "run", functools.wraps(plain)(slow))
    settings = {"scenario": ef_wfq_vs_pq(), "duration": 1.0}
    with ThreadPoolExecutor(3) as pool:
        try:
            first = pool.submit(runs, **settings, seed=1)
            assert begun.wait(30)
            again = pool.submit(runs, **settings, seed=1)
            other = pool.submit(runs, **settings, seed=2).result(30)  # while the first is at work
            assert not first.done() and not again.done()
        finally:
            finish.set()
        assert again.result(30) is first.result(30) is not other
    assert sorted(made) == [1, 2]
    assert runs(**settings, seed=2) is other and not runs._turns


def test_a_run_that_fails_leaves_the_turn_to_the_next(monkeypatch: pytest.MonkeyPatch) -> None:
    runs, plain = pytest_plugin._Runs(), qs.run

    def broken(*_: Any, **__: Any) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(qs, "run", functools.wraps(plain)(broken))
    with pytest.raises(KeyboardInterrupt):
        runs(ef_wfq_vs_pq(), duration=1.0, seed=1)
    monkeypatch.setattr(qs, "run", plain)
    assert runs(ef_wfq_vs_pq(), duration=1.0, seed=1) == plain(ef_wfq_vs_pq(), duration=1.0, seed=1)


def test_memory_is_bounded_by_packets(monkeypatch: pytest.MonkeyPatch) -> None:
    runs = pytest_plugin._Runs()
    scenario = ef_wfq_vs_pq()
    packets = sum(flow.sent for flow in qs.run(scenario, duration=5.0, seed=1).flows.values())
    monkeypatch.setattr(pytest_plugin, "_MOST_PACKETS", 5 * packets // 2)
    first, second = (runs(scenario, duration=5.0, seed=seed) for seed in (1, 2))
    assert runs(scenario, duration=5.0, seed=1) is first
    runs(scenario, duration=5.0, seed=3)  # the second was used least lately
    assert runs(scenario, duration=5.0, seed=1) is first
    assert runs(scenario, duration=5.0, seed=2) is not second
    monkeypatch.setattr(pytest_plugin, "_MOST_PACKETS", 1)
    large = runs(scenario, duration=5.0, seed=4)
    assert runs(scenario, duration=5.0, seed=4) is large, "the last one always stays"


@pytest.mark.parametrize("record", ["packets", "summary"])
def test_a_shared_result_cannot_be_changed(record: str) -> None:
    seed = np.random.SeedSequence(5)
    result = qs.run(ef_wfq_vs_pq(best_effort=True), duration=2.0, seed=seed, record=record)
    same = qs.run(ef_wfq_vs_pq(best_effort=True), duration=2.0, seed=seed, record=record)
    flow, port = result["EF"], next(iter(result.ports.values()))
    for thing in (result, flow, port):
        for name in (name for name in dir(type(thing)) if not name.startswith("_")):
            with pytest.raises(AttributeError):
                setattr(thing, name, None)
        with pytest.raises(AttributeError):
            thing.anything = None
    if record == "packets":
        arrays = [*result.packets.values(), flow.delay, flow.ipdv, flow.pdv, flow.seq, flow.ipdv_seq, flow.sent_at]
        arrays += [column for name in result.ports for column in result.hop(name).values()]
        assert len(arrays) > 20 and not any(array.flags.writeable for array in arrays)
        flow.jitter()[:] = 0
        table = result.to_dataframe()
        table["sent"] = 0
        with pytest.raises(TypeError):
            result.packets["sent"] = None
    for copy in (
        flow.drops,
        result.flows,
        result.ports,
        result.versions,
        port.classes,
        next(iter(port.classes.values())).drops,
    ):
        copy.clear()
    for table in (result.summary(), result.counters(), flow.delay_budget()):
        table.iloc[:, 0] = 0
    result.seed.spawn(3)
    assert result == same and result.seed.n_children_spawned == 0
    assert flow.drops and result.versions and result.port(port.name).classes


# the report


def rows_of(run: Run, name: str) -> list[tuple[str, ...]]:
    with (run.folder / name).open(newline="") as file:
        return [
            (row["test"], row["policy"], row["objective"], row["verdict"].rstrip("?")) for row in csv.DictReader(file)
        ]


def test_every_policy_checked_stands_in_the_report(policies: Run) -> None:
    done = policies("--qossim-report=r.csv", "-q")
    assert done.returncode == pytest.ExitCode.TESTS_FAILED
    assert rows_of(policies, "r.csv") == CHECKED
    assert "qossim: 4 policies checked, 1 objective broken: " in done.stdout
    with (policies.folder / "r.csv").open(newline="") as file:
        first = next(csv.DictReader(file))
    assert (first["flow"], first["sense"], first["limit"], first["unit"]) == ("EF", "<=", "0.03", "s")
    assert 0.015 < float(first["confidence_low"]) <= float(first["measured"]) <= float(first["confidence_high"]) < 0.025
    assert float(first["confidence_level"]) >= 0.5


def test_the_failure_fits_eighty_columns_and_shows_the_test_not_the_check(policies: Run) -> None:
    done = policies("test_it.py")
    shown = [line for line in done.stdout.splitlines() if line.startswith("E ")]
    assert 'AssertionError: flow "EF" breaks policy "voice": delay_p99' in shown[0]
    assert any("where the delay comes from" in line for line in shown)
    assert max(map(len, shown)) <= 80
    assert "sla.py" not in done.stdout and "test_it.py:17: AssertionError" in done.stdout


def test_the_workers_of_xdist_send_their_rows_to_the_controller(policies: Run) -> None:
    pytest.importorskip("xdist", reason="pytest-xdist is not installed: the report is not tried with it")
    done = policies("-p", "xdist.plugin", "-n", "2", "--qossim-report=r.csv", "-q")
    assert done.returncode == pytest.ExitCode.TESTS_FAILED, done.stdout + done.stderr
    assert rows_of(policies, "r.csv") == sorted(CHECKED, key=lambda row: row[0])
    assert done.stdout.count("policies checked") == 1


ODD = """
import numpy as np
import pytest
import qossim as qs


@pytest.mark.parametrize("limit", [1, 0])
def test_odd(qossim_run, limit):
    flow = qs.Flow(np.str_("f"), qs.CBR(pps=10, size=100))
    found = qossim_run(qs.Scenario([flow], [qs.Port("p", "1 Mbit/s")]), duration=9, seed=1)[flow.name]
    qs.SLA(np.str_("p\\ud800"), delay_max=limit, note="n\\udfff").check(found, level=np.float64(0.9))
"""
ODD_CHECKED = [(f"test_it.py::test_odd[{i}]", "p\\ud800", "delay_max", v) for i, v in ((0, "FAIL"), (1, "pass"))]


def test_no_name_or_number_keeps_a_broken_policy_from_the_controller(run: Run) -> None:
    pytest.importorskip("xdist", reason="pytest-xdist is not installed: the report is not tried with it")
    (run.folder / "test_it.py").write_text(ODD)
    done = run("-p", "xdist.plugin", "-n", "2", "--qossim-report=r.csv", "-q")
    assert done.returncode == pytest.ExitCode.TESTS_FAILED, done.stdout + done.stderr
    assert "INTERNALERROR" not in done.stdout + done.stderr and "1 failed, 1 passed" in done.stdout
    assert rows_of(run, "r.csv") == ODD_CHECKED


@pytest.mark.parametrize("suffix", ["csv", "md", "html"])
def test_a_name_that_cannot_be_encoded_is_written_escaped(run: Run, suffix: str) -> None:
    (run.folder / "test_it.py").write_text(ODD)
    (run.folder / "conftest.py").write_text(  # the name of a test is none of the plugin's, but stands in its report
        "import pytest\n"
        "@pytest.hookimpl(tryfirst=True)\n"
        "def pytest_runtest_logreport(report): report.nodeid += '\\udc80'\n"
    )
    done = run(f"--qossim-report=r.{suffix}", "-q", PYTHONIOENCODING="utf-8:backslashreplace")
    assert done.returncode == pytest.ExitCode.TESTS_FAILED, done.stdout + done.stderr
    assert "Traceback" not in done.stderr and "1 failed, 1 passed" in done.stdout
    text = (run.folder / f"r.{suffix}").read_text(encoding="utf-8").replace("<wbr>", "")
    assert text.count("ud800") >= 2 and text.count("test_odd[0]") == text.count("udc80") - 1 == 1


class Page(HTMLParser):
    """The rows of a page's tables, and every tag closed."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.rows: list[list[str]] = []
        self._open: list[str] = []
        self.feed(text)
        assert self._open == []

    def handle_starttag(self, tag: str, attributes: object) -> None:
        if tag not in ("meta", "wbr"):
            self._open.append(tag)
        if tag == "tr":
            self.rows.append([])
        if tag in ("td", "th"):
            self.rows[-1].append("")

    def handle_endtag(self, tag: str) -> None:
        assert self._open.pop() == tag

    def handle_data(self, data: str) -> None:
        if self._open and self._open[-1] in ("td", "th"):
            self.rows[-1][-1] += data


def test_markdown_and_html_have_a_row_for_each_objective(policies: Run) -> None:
    for name in ("r.md", "r.HTML"):
        policies("-q", f"--qossim-report={name}")
        assert (policies.folder / name).is_file()
    page = Page((policies.folder / "r.HTML").read_text())
    assert [(row[0], row[1], row[3], row[7].rstrip("?")) for row in page.rows[1:]] == CHECKED
    assert all(len(row) == 8 for row in page.rows)
    assert page.rows[1][4:6] == ["<= 30 ms", page.rows[1][5]] and page.rows[1][5].endswith(" ms")
    lines = (policies.folder / "r.md").read_text().splitlines()
    table = [line for line in lines if line.startswith("|")]
    assert len(table) == 2 + len(CHECKED) and all(len(re.findall(r"(?<!\\)\|", line)) == 9 for line in table)
    assert any("second hand and not verified" in line for line in lines)


def test_a_page_may_break_the_long_name_of_a_test_behind_its_words() -> None:
    flow = qs.Flow("flow", qs.CBR(pps=10, size=100))
    found = qs.run(qs.Scenario([flow], [qs.Port("p", "1 Mbit/s")]), duration=9, seed=1)[flow.name]
    (row,) = qs.SLA("policy", delay_max=1).evaluate(found).to_rows()
    page = written([{"test": "a/b.py::test_c[x_y]", **row}], ".html")
    assert '<td class="test">a/<wbr>b.py::<wbr>test_<wbr>c[x_<wbr>y]</td>' in page


def test_names_cannot_break_the_table() -> None:
    flow = qs.Flow("<b>|`*_\\&", qs.CBR(pps=10, size=100))
    found = qs.run(qs.Scenario([flow], [qs.Port("p", "1 Mbit/s")]), duration=9, seed=1)[flow.name]
    report = qs.SLA('"a|b", <script>\n', delay_max=1, note="x; <i>y</i>").evaluate(found)
    rows = [{"test": "t.py::test[<a|b>]", **row} for row in report.to_rows()]
    page = Page(written(rows, ".html"))
    assert page.rows[1][:3] == ["t.py::test[<a|b>]", '"a|b", <script>\n', "<b>|`*_\\&"]
    assert next(csv.DictReader(written(rows, ".csv").splitlines(keepends=True)))["policy"] == '"a|b", <script>\n'
    line = next(line for line in written(rows, ".md").splitlines() if "t.py" in line)
    assert len(re.findall(r"(?<!\\)\|", line)) == 9 and "<b>" not in line and "<script>" not in line
    assert "&lt;b>" in line and "&lt;script>" in line and "&amp;" not in line, "escaped once"


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ("r.txt", "must end in .csv, .md, .html, got r.txt"),
        ("report", "must end in"),
        ("missing/r.csv", "directory that exists, got missing/r.csv"),
        ("folder.csv", "no directory, got folder.csv"),
    ],
)
def test_a_report_that_cannot_be_written_is_refused_before_the_first_test(
    policies: Run, given: str, words: str
) -> None:
    (policies.folder / "folder.csv").mkdir()
    for more in ((), ("--collect-only",)):
        done = policies(f"--qossim-report={given}", *more)
        assert done.returncode == pytest.ExitCode.USAGE_ERROR
        assert words in done.stderr and "Traceback" not in done.stderr and "test_it" not in done.stdout


def test_a_report_that_fails_in_the_end_fails_the_session(run: Run) -> None:
    (run.folder / "test_it.py").write_text(
        "import os, pathlib\ndef test_spoils(): pathlib.Path('r.csv').mkdir(); os.chdir('/')\n"
    )
    done = run("--qossim-report=r.csv")
    assert done.returncode != 0 and "not written" in done.stdout and "not written" in done.stderr


def test_a_report_is_relative_to_where_pytest_began_and_nothing_is_written_when_collecting(policies: Run) -> None:
    policies("--collect-only", "--qossim-report=r.csv")
    assert not (policies.folder / "r.csv").exists()
    (policies.folder / "test_it.py").write_text("import os\ndef test_moves(): os.chdir('/')\n")
    done = policies("--qossim-report=r.html")
    assert done.returncode == 0 and "0 policies checked" in done.stdout
    assert "0 objectives checked" in (policies.folder / "r.html").read_text()


@pytest.mark.parametrize(
    "options",
    [
        ("--collect-only",),
        ("--fixtures",),
        ("--fixtures-per-test",),
        ("--setup-only",),
        ("--setup-plan",),
        ("-p", "cacheprovider", "-W", "ignore", "--cache-show"),
        ("--help",),
        ("--markers",),
    ],
    ids=" ".join,
)
def test_a_session_that_runs_no_test_leaves_the_report_of_the_last_that_did(
    policies: Run, options: tuple[str, ...]
) -> None:
    (policies.folder / "r.csv").write_text("the last\n")
    done = policies("--qossim-report=r.csv", *options)
    assert done.returncode == 0, done.stdout + done.stderr
    assert (policies.folder / "r.csv").read_text() == "the last\n"
    assert "policies checked" not in done.stdout


def test_the_example_of_the_readme_fails_as_shown(run: Run) -> None:
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    section = text[text.index("## A policy under test") : text.index("## The command line")]
    (example,) = re.findall(r"^```python\n(.*?)^```$", section, re.MULTILINE | re.DOTALL)
    (shown,) = re.findall(r"^```console\n(.*?)^```$", section, re.MULTILINE | re.DOTALL)
    (run.folder / "test_uplink.py").write_text(example)
    done = run("-q", "--qossim-report=policies.html")
    assert "1 failed, 2 passed" in done.stdout
    said = [re.sub(r"^E +(AssertionError: )?", "", line) for line in done.stdout.splitlines() if line[:2] == "E "]
    assert said == shown.splitlines()
