# SPDX-License-Identifier: MIT
"""The pytest plugin: policies under test, and a table of all that were checked.

Installing qossim registers it. Who does not use it pays for this file alone: it imports nothing, neither NumPy nor the
simulator, until a test asks for `qossim_run`; ``-p no:qossim`` leaves it out.
"""

from __future__ import annotations

import os
import sys
from collections import OrderedDict
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any
from weakref import WeakValueDictionary

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Hashable

    from qossim.result import Result
    from qossim.scenario.net import Scenario
    from qossim.sla import Report

__all__ = ["qossim_run"]

_SUFFIXES = (".csv", ".md", ".html")
_MOST_PACKETS = 10_000_000
_ROWS = "qossim_rows"
_WITHOUT_TESTS = ("collectonly", "showfixtures", "show_fixtures_per_test", "setuponly", "setupplan", "cacheshow")
"""Options of sessions that run no test: they leave the report of the last that did."""


# -- the fixture -------------------------------------------------------------------------------------------------------


class _Runs:
    """Results by what they are runs of; the last used stay, as many as have ten million packets between them."""

    def __init__(self) -> None:
        self._results: OrderedDict[Hashable, tuple[Result, int]] = OrderedDict()
        self._turns: WeakValueDictionary[Hashable, Any] = WeakValueDictionary()
        self._lock = Lock()

    def __call__(self, scenario: Scenario, **options: Any) -> Result:
        import qossim

        key = _key(scenario, options)
        if key is None:
            return qossim.run(scenario, **options)
        with self._lock:
            turn = self._turns.setdefault(key, Lock())  # it lasts as long as a thread has it
        with turn:  # two threads that want the same run wait for one; others go on
            found = self._found(key)
            if found is None:
                found = qossim.run(scenario, **options)
                self._keep(key, found)
        return found

    def _found(self, key: Hashable) -> Result | None:
        with self._lock:
            if key not in self._results:
                return None
            self._results.move_to_end(key)
            return self._results[key][0]

    def _keep(self, key: Hashable, result: Result) -> None:
        kept = result.record == "packets"
        with self._lock:
            self._results[key] = result, sum(flow.sent for flow in result.flows.values()) if kept else 1
            self._forget()

    def __repr__(self) -> str:
        return f"<qossim_run: {len(self._results)} results>"

    def _forget(self) -> None:
        packets = sum(count for _, count in self._results.values())
        while packets > _MOST_PACKETS and len(self._results) > 1:
            packets -= self._results.popitem(last=False)[1][1]


def _key(scenario: object, options: dict[str, Any]) -> Hashable:
    """What a run depends on; None if it has no seed, or is one that `qossim.run` will refuse."""
    import inspect

    import qossim
    from qossim import units
    from qossim._measured import plain_seed
    from qossim.run import _root

    try:
        bound = inspect.signature(qossim.run).bind(scenario, **options)
        bound.apply_defaults()
        settings = bound.arguments
        if settings["seed"] is None:
            return None
        times = [units.time(settings[name], name) for name in ("duration", "warmup")]
        others = [(type(settings[name]), settings[name]) for name in ("record", "drain", "bit_generator")]  # 1 == True
        seed = repr(plain_seed(_root(settings["seed"])[1]))
        key = (settings["scenario"], seed, *times, *others, qossim.__version__)
        hash(key)
    except (TypeError, ValueError):
        return None
    return key


@pytest.fixture(scope="session")
def qossim_run() -> Callable[..., Result]:
    """``qossim.run``, which within a session runs the same only once.

    It takes what `qossim.run` takes and returns its `Result`. Runs of one scenario, seed and settings share a result,
    which is read-only; without a seed each call is a run of its own. The last results stay in memory, as many as hold
    ten million packets. Under pytest-xdist each worker has its own.
    """
    return _Runs()


# -- the report --------------------------------------------------------------------------------------------------------


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("qossim", "qossim, policies on simulated routers")
    group.addoption(
        "--qossim-report",
        metavar="FILE",
        default=None,
        help="write a table of every policy checked: .csv, .md or .html",
    )


def pytest_configure(config: pytest.Config) -> None:
    given = config.getoption("qossim_report", None)
    if given is None:
        return
    path = Path(os.path.abspath(config.invocation_params.dir / given))
    if not hasattr(config, "workerinput"):  # a worker writes nothing
        try:
            _check_writable(path, given)
        except OSError as error:  # its name is too long, perhaps
            raise pytest.UsageError(
                f"--qossim-report: FILE cannot be written ({error.strerror}), got {given}"
            ) from None
    if not any(config.getoption(name, False) for name in _WITHOUT_TESTS):
        config.pluginmanager.register(_Reporter(config, path), "qossim-report")


def _check_writable(path: Path, given: str) -> None:
    """Refuse before the first test what could not be written after the last."""
    if path.suffix.lower() not in _SUFFIXES:
        raise pytest.UsageError(f"--qossim-report: FILE must end in {', '.join(_SUFFIXES)}, got {given}")
    if not path.parent.is_dir():
        raise pytest.UsageError(f"--qossim-report: FILE must be in a directory that exists, got {given}")
    if path.is_dir():
        raise pytest.UsageError(f"--qossim-report: FILE must be no directory, got {given}")
    if path.exists() and not path.is_file():
        raise pytest.UsageError(f"--qossim-report: FILE must be a plain file, got {given}")
    if not os.access(path if path.exists() else path.parent, os.W_OK):
        raise pytest.UsageError(f"--qossim-report: FILE must be writable, got {given}")


class _Reporter:
    """Hears of every check, and writes them down in the end; registered only if there is a file to write.

    What a test checked goes with the report of its phase, so that under pytest-xdist it reaches the controller as the
    outcome does.
    """

    def __init__(self, config: pytest.Config, path: Path) -> None:
        self._path = path
        self._worker = hasattr(config, "workerinput")
        self._heard: list[dict[str, Any]] = []
        self._rows: list[dict[str, Any]] = []
        self._policies = 0
        self._failure = ""

    def _hear(self, report: Report) -> None:
        self._heard.append({"passed": bool(report.passed), "rows": report.to_rows()})

    def pytest_sessionstart(self) -> None:
        from qossim._checked import listeners

        listeners.append(self._hear)

    def pytest_unconfigure(self) -> None:
        from qossim._checked import listeners

        if self._hear in listeners:
            listeners.remove(self._hear)

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(self) -> Generator[None, pytest.TestReport, pytest.TestReport]:
        report = yield
        if self._heard:
            setattr(report, _ROWS, self._heard)
            self._heard = []
        return report

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        for check in getattr(report, _ROWS, ()):
            self._policies += 1
            self._rows += [{"test": report.nodeid, **row} for row in check["rows"]]

    @pytest.hookimpl(trylast=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        if self._worker:
            return
        if session.config.pluginmanager.hasplugin("dsession"):  # in whatever order the workers were done
            self._rows.sort(key=lambda row: row["test"])
        from qossim._policy_table import written

        try:
            text = written(self._rows, self._path.suffix.lower())
            self._path.write_text(text, encoding="utf-8", errors="backslashreplace", newline="")
        except OSError as error:
            self._failure = str(error)
            print(f"qossim: the report was not written: {error}", file=sys.stderr)
            if session.exitstatus == pytest.ExitCode.OK:
                session.exitstatus = pytest.ExitCode.TESTS_FAILED  # of any other the summary would not tell

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        policies = f"{self._policies} {'policy' if self._policies == 1 else 'policies'} checked"
        if self._failure:
            terminalreporter.write_line(
                f"qossim: {policies}, but the report was not written: {self._failure}", red=True
            )
            return
        broken = sum("FAIL" in row["verdict"] for row in self._rows)
        objectives = f"{broken} {'objective' if broken == 1 else 'objectives'} broken"
        terminalreporter.write_line(f"qossim: {policies}, {objectives}: {self._path}")
