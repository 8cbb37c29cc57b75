# SPDX-License-Identifier: MIT
"""The benchmarks run and judge rightly. How fast anything is, no test says: ``python -m tests.bench`` measures it."""

from __future__ import annotations

import itertools
import json
import re
import shutil
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest

import qossim as qs
from tests.bench import __main__ as bench
from tests.bench.measure import Figure, quotient, turns
from tests.bench.scenes import SCHEDULERS, many
from tests.bench.table import BYTES, ONE_IN, RATIO, TIMES, Goal, Row, line

FASTER = Goal(0.5, 0.75)
SMALLER = Goal(72, 61, most=True)


def row(value: float, goal: Goal | None, *, trusted: bool = True) -> Row:
    return Row("it", Figure(value, value, value), RATIO, goal, trusted=trusted)


@pytest.mark.parametrize("group", bench.GROUPS)
def test_every_group_prints_its_rows(group: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "figures.json"
    assert bench.main([group, "--packets", "1500", "--rounds", "1", "--json", str(file)]) == 0
    shown = capsys.readouterr().out
    figures = json.loads(file.read_text())
    assert figures["rows"]
    for each in figures["rows"]:
        assert each["what"] in shown
        assert each["measured"] is None or each["low"] <= each["measured"] <= each["high"]
    assert sum(each["must"] is not None for each in figures["rows"]) >= (group != "hops")


@pytest.mark.skipif(shutil.which("cc") is None, reason="needs a C compiler")
def test_the_straight_line_loop_agrees_with_the_simulator(capsys: pytest.CaptureFixture[str]) -> None:
    bench.main(["seed", "--packets", "5000", "--rounds", "1"])
    assert re.search(r"agree: \d{4} packets, delays of EF add up to \d+ ps, of BE to \d+ ps", capsys.readouterr().out)


@pytest.mark.parametrize(
    ("value", "goal", "verdict"),
    [
        (0.75, FASTER, "aim reached"),
        (0.74, FASTER, "reached"),
        (0.5, FASTER, "reached"),
        (0.49, FASTER, "MISSED"),
        (61, SMALLER, "aim reached"),
        (72, SMALLER, "reached"),
        (73, SMALLER, "MISSED"),
        (0.5, Goal(0.5), "reached"),
        (0.5, None, ""),
    ],
)
def test_a_goal_is_reached_from_its_own_side(value: float, goal: Goal | None, verdict: str) -> None:
    assert row(value, goal).verdict == verdict


def test_what_is_missed_for_want_of_a_machine_is_unclear() -> None:
    assert row(0.4, FASTER, trusted=False).verdict == "unclear"
    assert row(0.6, FASTER, trusted=False).verdict == "reached"
    assert Row("it", None, RATIO, FASTER, "there is no compiler").verdict == "not measured"


@pytest.mark.parametrize(("value", "check", "status"), [(0.4, True, 1), (0.6, True, 0), (0.4, False, 0)])
def test_check_fails_if_something_is_missed(
    value: float, check: bool, status: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    def group(packets: int, rounds: int) -> Iterator[Row | str]:
        yield row(value, FASTER)

    monkeypatch.setattr(bench, "GROUPS", {"seed": group})
    assert bench.main(["--check"] * check) == status


def test_an_unknown_group_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        bench.main(["seeds"])
    assert "no group 'seeds'; there are seed, classes" in capsys.readouterr().err


def test_contenders_take_turns_and_the_best_turn_counts() -> None:
    order: list[str] = []
    ticks = itertools.count(1)

    def contender(name: str) -> float:
        order.append(name)
        return next(ticks)

    costs = turns({name: partial(contender, name) for name in "AB"}, 3)
    assert order == list("ABBAAB")
    assert costs == {"A": [1, 4, 5], "B": [2, 3, 6]}
    assert quotient(costs["B"], costs["A"]) == Figure(2 / 1, 3 / 4, 2 / 1)


def test_values_are_written_with_their_range_and_unit() -> None:
    assert Row("it", Figure(0.125, 0.1, 0.2), ONE_IN).measured == "1/8 (1/10 to 1/5)"
    assert Row("it", Figure(1.25, 1, 1.5), TIMES).measured == "1.25 (1.00 to 1.50) x"
    assert "72.0 bytes 61.0 bytes reached" in line(Row("it", Figure(63, 63, 63), BYTES, SMALLER))


@pytest.mark.parametrize("alike", [True, False])
def test_the_load_does_not_depend_on_the_number_of_flows(alike: bool) -> None:
    for number in (2, 64, 1000):
        sources = [flow.source for flow in many(number, 2, SCHEDULERS["PQ"], alike=alike).flows]
        assert sum(1 / source.interval for source in sources if isinstance(source, qs.CBR)) == 240
