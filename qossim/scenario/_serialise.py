# SPDX-License-Identifier: MIT
"""Scenarios as plain dicts and TOML files, without loss.

A table holds the constructor's arguments under their names. Where several descriptions may stand (sources, framings,
schedulers) ``kind`` says which; a kind without settings may stand as a bare word. Numbers are exact: what is no short
decimal is a string such as ``"1000000000/3"``. All that the constructors read may stand in a file, ``"2 Mbit/s"`` too.
"""

from __future__ import annotations

import contextlib
import difflib
import inspect
import re
from collections.abc import Iterator, Mapping
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np

from qossim import units
from qossim.errors import ScenarioError
from qossim.scenario import _dscp
from qossim.scenario._describe import Description, signature
from qossim.scenario.meter import TokenBucket
from qossim.scenario.net import Scenario
from qossim.scenario.port import AAL5, HDLC, PPP, Ethernet, FrameRelay, Overhead, Port, TrafficClass, TxRing
from qossim.scenario.queue import DropTail
from qossim.scenario.sched import DRR, FIFO, PQ, SCFQ, WFQ
from qossim.scenario.source import CBR, Flow, Poisson, Sizes, Trace

__all__ = ["from_plain", "from_toml", "to_plain", "to_toml"]

FORMAT = 1
"""Of the files written; read are all up to it."""
LONG = 100
"""Entries from which on a trace's arrays stand beside a file, not in it."""
NOTHING = "none"
"""What stands for None where it must be said: the limit of a ring that is none."""

_KINDS: dict[str, dict[str, type[Description]]] = {
    "source": {cls.kind: cls for cls in (CBR, Poisson, Trace)},
    "size": {Sizes.kind: Sizes},
    "police": {TokenBucket.kind: TokenBucket},
    "queue": {DropTail.kind: DropTail},
    "scheduler": {cls.kind: cls for cls in (FIFO, PQ, WFQ, SCFQ, DRR)},
    "framing": {cls.kind: cls for cls in (AAL5, Ethernet, PPP, HDLC, FrameRelay, Overhead)},
    "tx_ring": {TxRing.kind: TxRing},
}
"""Arguments that are descriptions, and what may stand there; where it is only one, ``kind`` goes without saying."""
_LISTS: dict[tuple[type[Description], str], type[Description]] = {
    (Scenario, "flows"): Flow,
    (Scenario, "ports"): Port,
    (Port, "classes"): TrafficClass,
}


# -- writing -----------------------------------------------------------------------------------------------------------


def to_plain(scenario: Scenario, *, with_units: bool = False) -> dict[str, Any]:
    """A scenario as dicts, lists, strings and numbers; rates and times as numbers in SI units, or as strings."""
    return {"format": FORMAT} | _plain_table(scenario, with_units)


def _plain_table(described: Description, with_units: bool) -> dict[str, Any]:
    if isinstance(described, Trace):
        return {"picoseconds": described.times.tolist(), "sizes": described.sizes.tolist()}
    defaults = signature(type(described))
    table: dict[str, Any] = {}
    for name, value in described._arguments().items():
        nothing = () if isinstance(value, tuple) and defaults[name] is None else defaults[name]
        if value == nothing and nothing in (None, 0, ()) and value is not False:
            continue
        table[name] = (
            NOTHING if value is None else _plain_value(name, value, described._units.get(name, ""), with_units)
        )
        if table[name] == {}:
            del table[name]  # a queue without limits
    return table


def _plain_value(name: str, value: Any, unit: str, with_units: bool) -> Any:
    if isinstance(value, Description):
        return _plain_member(name, value, with_units)
    if unit == "dscp":
        codes = [_dscp.name(code) for code in (value if isinstance(value, tuple) else (value,))]
        return codes if len(codes) > 1 else codes[0]
    if isinstance(value, tuple):
        return [_plain_value("", item, unit, with_units) for item in value]
    if isinstance(value, Fraction):
        return units.text(value, unit) if with_units and unit else units.plain(value)
    return value


def _plain_member(name: str, value: Description, with_units: bool) -> Any:
    table = _plain_table(value, with_units)
    kinds = _KINDS.get(name, {})
    if len(kinds) < 2:
        return table
    return {"kind": value.kind} | table if table else value.kind


# -- reading -----------------------------------------------------------------------------------------------------------


def from_plain(plain: object, beside: Path | None = None) -> Scenario:
    """The scenario that `to_plain` or a person wrote; arrays named by file are looked for `beside` it."""
    table = _table(plain, "scenario")
    version = units.count(table.pop("format", FORMAT), "scenario: format", 1, FORMAT)
    del version  # so far there is one
    made = _read(Scenario, table, "", beside)
    assert isinstance(made, Scenario)
    return made


def _read(cls: type[Description], table: dict[str, Any], where: str, beside: Path | None) -> Description:
    """A description from the arguments in a table, which stands at `where` in the whole."""
    if cls is Trace:
        with _located(where):
            return _read_trace(table, beside)
    known = signature(cls)
    with _located(where):
        _refuse_unknown(table, list(known), cls.__name__)
        for name, default in known.items():
            if default is inspect.Parameter.empty and name not in table:
                raise ScenarioError(f"{cls.__name__}: {name} must be given, got none")
    arguments = {
        name: _read_argument(cls, name, value, f"{where}.{name}" if where else name, beside)
        for name, value in table.items()
    }
    with _located(where):
        return cls(**arguments)


def _read_argument(cls: type[Description], name: str, value: Any, where: str, beside: Path | None) -> Any:
    member = _LISTS.get((cls, name))
    if member:
        if not isinstance(value, (list, tuple)):
            raise units.refusal(where, "a list of tables", value)
        return [_read(member, _table(v, f"{where}[{i}]"), f"{where}[{i}]", beside) for i, v in enumerate(value)]
    if name in _KINDS and not (name == "size" and not isinstance(value, Mapping)):
        return _read_member(name, value, where, beside)
    return None if (cls, name, value) == (TxRing, "limit", NOTHING) else value


def _read_member(name: str, value: Any, where: str, beside: Path | None) -> Description:
    kinds = _KINDS[name]
    table = {"kind": value} if isinstance(value, str) else _table(value, where)
    kind = table.pop("kind", next(iter(kinds)) if len(kinds) == 1 else None)
    if not isinstance(kind, str) or kind not in kinds:
        raise units.refusal(f"{where}: kind", " or ".join(f'"{k}"' for k in kinds), kind)
    return _read(kinds[kind], table, where, beside)


def _table(value: object, where: str) -> dict[str, Any]:
    if not isinstance(value, Mapping) or not all(isinstance(key, str) for key in value):
        raise units.refusal(where, "a table with names for keys", value)
    return dict(value)


def _refuse_unknown(table: Mapping[str, Any], known: list[str], owner: str) -> None:
    for key in table:
        if key not in known:
            near = difflib.get_close_matches(key, known, 1)
            hint = f'did you mean "{near[0]}"?' if near else "it has none of that name"
            raise ScenarioError(f'{owner}: keys must be out of {", ".join(known)}, got "{key}" ({hint})')


@contextlib.contextmanager
def _located(where: str) -> Iterator[None]:
    """Say where in the file, if something is wrong."""
    try:
        yield
    except ScenarioError as error:
        raise (ScenarioError(f"{where}: {error}") if where else error) from None


def _read_trace(table: dict[str, Any], beside: Path | None) -> Trace:
    _refuse_unknown(table, ["times", "picoseconds", "sizes"], "Trace")
    if ("times" in table) == ("picoseconds" in table):
        raise ScenarioError(f"Trace: exactly one of times and picoseconds must be given, got {sorted(table)}")
    if "sizes" not in table:
        raise ScenarioError("Trace: sizes must be given, got none")
    sizes = _read_file(table["sizes"], "Trace: sizes", beside)
    if "times" in table:
        return Trace(_read_seconds(_read_file(table["times"], "Trace: times", beside)), sizes)
    ps = np.asarray(_read_file(table["picoseconds"], "Trace: picoseconds", beside))
    if ps.size == 0:
        ps = ps.astype(np.int64)
    if ps.dtype.kind not in "iu" or (ps > units.LONGEST).any():
        raise units.refusal("Trace: picoseconds", f"whole numbers from 0 to {units.LONGEST}", table["picoseconds"])
    return Trace(ps.astype("m8[ps]"), sizes)


def _read_seconds(times: Any) -> Any:
    """A list of seconds as people write it: numbers, or strings with a unit."""
    if isinstance(times, list) and any(isinstance(time, (str, Decimal, Fraction)) for time in times):
        return np.array([units.time(time, f"Trace: times[{i}]") for i, time in enumerate(times)], dtype="m8[ps]")
    return times


def _read_file(value: Any, field: str, beside: Path | None) -> Any:
    if not isinstance(value, str):
        return value
    if beside is None:
        raise units.refusal(field, "a list of numbers", value, "the name of a file can only stand in a file")
    try:
        return np.load(beside / value, allow_pickle=False)
    except (OSError, ValueError, EOFError) as error:
        raise units.refusal(field, f"a .npy file beside {beside}", value, str(error)) from None


# -- TOML --------------------------------------------------------------------------------------------------------------


def to_toml(scenario: Scenario, path: Path) -> None:
    """Write a file, and a .npy file beside it for each long array."""
    plain = to_plain(scenario, with_units=True)
    for flow, table in zip(scenario.flows, plain["flows"], strict=True):
        if isinstance(flow.source, Trace) and len(flow.source) >= LONG:
            stem = f"{path.stem}.{_slug(flow.name, scenario)}"
            source = table["source"]
            source.clear()
            source["kind"] = Trace.kind
            for name, array in flow.source._arguments().items():
                np.save(path.with_name(f"{stem}.{name}.npy"), array, allow_pickle=False)
                source[name] = f"{stem}.{name}.npy"
    path.write_text(_document(plain), encoding="utf-8")


def from_toml(path: Path) -> Scenario:
    """Read a file and the arrays beside it."""
    import tomllib

    with path.open("rb") as file:
        try:
            plain = tomllib.load(file, parse_float=Decimal)
        except (RecursionError, ValueError) as error:  # tomllib: bad syntax, too deep, too many digits; not UTF-8
            raise ScenarioError(f"{path} must be a TOML file, got a mistake: {error}") from None
    with _located(str(path)):
        return from_plain(plain, path.parent)


def _slug(name: str, scenario: Scenario) -> str:
    """A flow's name as part of a file's name; its number goes with it where letters get lost."""
    safe = re.sub(r"[^\w-]", "-", name)
    if safe == name and len(name) <= 60:
        return name
    return f"{safe[:60]}-{next(i for i, flow in enumerate(scenario.flows) if flow.name == name)}"


def _document(plain: dict[str, Any]) -> str:
    lines = [f"{key} = {_toml(value)}" for key, value in plain.items() if not isinstance(value, list)]
    for what in ("flows", "ports"):
        for table in plain[what]:
            lines += _section(f"[[{what}]]", what, table)
    return "\n".join(lines) + "\n"


def _section(header: str, path: str, table: dict[str, Any]) -> list[str]:
    """A table of its own: first what fits a line, then the tables within that do not."""
    lines, after = ["", header], list[str]()
    for key, value in table.items():
        if key == "classes":
            for member in value:
                after += _section(f"[[{path}.{key}]]", f"{path}.{key}", member)
        elif isinstance(value, dict) and len(_toml(value)) > 100:
            after += _section(f"[{path}.{key}]", f"{path}.{key}", value)
        else:
            lines.append(f"{key} = {_toml(value)}")
    return lines + after


_ESCAPES = {'"': '\\"', "\\": "\\\\", "\n": "\\n", "\t": "\\t", "\r": "\\r"}


def _toml(value: Any) -> str:
    if isinstance(value, str):
        return '"' + "".join(_ESCAPES.get(c) or (c if c.isprintable() else f"\\U{ord(c):08x}") for c in value) + '"'
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, dict):
        return "{" + ", ".join(f"{key} = {_toml(item)}" for key, item in value.items()) + "}"
    if isinstance(value, list):
        return _toml_list([_toml(item) for item in value])
    return repr(value)


def _toml_list(items: list[str]) -> str:
    line = f"[{', '.join(items)}]"
    if len(line) <= 100:
        return line
    rows, row = [], ""
    for item in items:
        if len(row) + len(item) > 100:
            rows.append(row.rstrip())
            row = ""
        row += f"{item}, "
    return "[\n" + "".join(f"    {r}\n" for r in [*rows, row.rstrip()]) + "]"
