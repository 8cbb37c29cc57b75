# SPDX-License-Identifier: MIT
"""Descriptions spell out what the core's tables say: a parameter stands in both, with one default and one range."""

from __future__ import annotations

import inspect
from fractions import Fraction
from typing import Any

import pytest

import qossim as qs
from qossim import _core

PICO = Fraction(1, 10**12)

DESCRIPTIONS: dict[str, dict[Any, dict[str, Any]]] = {
    "source": {
        qs.CBR: {"pps": 1, "size": 100},
        qs.Poisson: {"pps": 1, "size": 100},
        qs.Trace: {"times": [0.0], "sizes": [100]},
    },
    "meter": {qs.TokenBucket: {"rate": 1e6, "burst": 1000}},
    "queue": {qs.DropTail: {}},
    "sched": {qs.FIFO: {}, qs.PQ: {}, qs.WFQ: {}, qs.SCFQ: {}, qs.DRR: {}},
    "port": {
        qs.AAL5: {},
        qs.Ethernet: {},
        qs.PPP: {},
        qs.HDLC: {},
        qs.FrameRelay: {},
        qs.Overhead: {"bytes": 4},
        qs.TxRing: {"limit": 5},
    },
}
"""Every description of a component, with arguments that make one."""

FORMS = {"interval": {"interval", "pps", "rate"}, "random": {"phase"}, "sizes": {"size"}, "weights": {"size"}}
"""What the random sources and CBR call otherwise than the core, or take in several forms."""

TABLES = _core.parameters()


def spoken(cls: Any, name: str) -> set[str]:
    """The parameters of the description that say what `name` does in the core."""
    if name == "gap":
        return {"preamble_and_gap"}
    forms = FORMS.get(name, set()) if cls in (qs.CBR, qs.Poisson) else set()
    return forms & set(inspect.signature(cls).parameters) or {name}


ROWS = [
    (cls, example, *row[:5])
    for station, classes in DESCRIPTIONS.items()
    for cls, example in classes.items()
    for row in TABLES[station][cls.kind]
]
CHOICES = [pytest.param(*row[:4], id=f"{row[0].kind} {row[2]}") for row in ROWS if "|" in row[3]]
NUMBERS = [
    pytest.param(*row[:6], id=f"{row[0].kind} {row[2]}")
    for row in ROWS
    if "|" not in row[3] and row[3] != "array" and spoken(row[0], row[2]) == {row[2]}
]


def test_every_component_of_the_core_has_a_description() -> None:
    described = {station: {cls.kind for cls in classes} for station, classes in DESCRIPTIONS.items()}
    assert described == {station: set(kinds) for station, kinds in TABLES.items()}


def test_every_row_of_the_core_has_its_six_columns() -> None:
    for kinds in TABLES.values():
        for rows in kinds.values():
            for name, unit, least, most, default, meaning in rows:
                assert name and meaning
                assert unit in ("", "byte", "bit/s", "ps", "array") or "|" in unit
                assert least <= most
                assert default in (None, ...) or default in unit.split("|") or least <= float(default) <= most


@pytest.mark.parametrize("station", DESCRIPTIONS)
def test_a_description_has_the_parameters_of_its_component_and_no_others(station: str) -> None:
    for cls in DESCRIPTIONS[station]:
        core = set().union(*(spoken(cls, row[0]) for row in TABLES[station][cls.kind]))
        assert set(inspect.signature(cls).parameters) == core


@pytest.mark.parametrize("station", DESCRIPTIONS)
def test_a_description_has_the_defaults_of_its_component(station: str) -> None:
    for cls in DESCRIPTIONS[station]:
        for name, *_, default, _ in TABLES[station][cls.kind]:
            if (len(spoken(cls, name)) == 1 and spoken(cls, name) == {name}) or name == "gap":
                said = inspect.signature(cls).parameters[spoken(cls, name).pop()].default
                assert said in ((inspect.Parameter.empty, None) if default is ... else (default,)), (cls, name)


@pytest.mark.parametrize(("cls", "example", "name", "unit"), CHOICES)
def test_a_description_takes_the_words_of_its_component_and_no_others(
    cls: Any, example: Any, name: str, unit: str
) -> None:
    words = unit.split("|")
    for word in words:
        assert dict(cls(**(example | {name: word}))._lower()[1])[name] == word
    for other in ("", words[0].upper(), unit, 0, None):
        with pytest.raises(qs.ScenarioError, match=name):
            cls(**(example | {name: other}))


@pytest.mark.parametrize(("cls", "example", "name", "unit", "least", "most"), NUMBERS)
def test_a_description_refuses_what_its_component_would(
    cls: Any, example: Any, name: str, unit: str, least: float, most: float
) -> None:
    for value in (int(least) - 1, int(most * 1.01) + 1):
        with pytest.raises(qs.ScenarioError, match=name):
            cls(**(example | {name: value * PICO if unit == "ps" else value}))
