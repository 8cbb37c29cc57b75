# SPDX-License-Identifier: MIT
"""Descriptions as tables, for notebooks."""

from __future__ import annotations

from html import escape
from typing import Any

from qossim.scenario._describe import Description, written
from qossim.scenario.net import Scenario
from qossim.scenario.port import Port
from qossim.scenario.source import Flow, Trace

__all__ = ["table"]

_LEFT = 'style="text-align:left"'


def table(described: Description) -> str:
    """The HTML that a notebook shows for a description."""
    if isinstance(described, Scenario):
        return _flows(described) + _ports(described)
    if isinstance(described, Port):
        return _settings(described, without="classes") + _classes([described])
    if isinstance(described, Trace):
        return f"<code>{escape(repr(described))}</code>"
    return _settings(described)


def _grid(caption: str, head: list[str], rows: list[list[str]]) -> str:
    """A table; columns that are empty throughout are left out. Cells are HTML already."""
    kept = [i for i in range(len(head)) if any(row[i] for row in rows)]
    cells = "".join(f"<th {_LEFT}>{head[i]}</th>" for i in kept)
    body = "".join("<tr>" + "".join(f"<td {_LEFT}>{row[i]}</td>" for i in kept) + "</tr>" for row in rows)
    title = f"<caption {_LEFT}><b>{caption}</b></caption>"
    return f"<table>{title}<thead><tr>{cells}</tr></thead><tbody>{body}</tbody></table>"


def _cell(value: Any, unit: str = "") -> str:
    if value is None or value == ():
        return ""
    if isinstance(value, tuple) and not unit:
        return escape(", ".join(str(item) for item in value))
    text = written(value, unit)
    return escape(text.strip("[]").replace("'", "") if not isinstance(value, Description) else text)


def _settings(described: Description, without: str = "") -> str:
    rows = [
        [escape(name), _cell(value, described._units.get(name, ""))]
        for name, value in described._arguments().items()
        if name != without
    ]
    return _grid(type(described).__name__, ["", "value"], [row for row in rows if row[1]])


def _flows(scenario: Scenario) -> str:
    names = ["name", "source", "dscp", "route", "start", "stop"]
    rows = [[_cell(getattr(flow, name), Flow._units.get(name, "")) for name in names] for flow in scenario.flows]
    for flow, row in zip(scenario.flows, rows, strict=True):
        row[3] = escape(" → ".join(flow.route)) if flow.route else "all ports"
        row[4] = row[4] if flow.start else ""
    return _grid("Flows", ["flow", "source", "DSCP", "route", "start", "stop"], rows)


def _ports(scenario: Scenario) -> str:
    names = ["name", "rate", "framing", "scheduler", "tx_ring", "propagation"]
    rows = [[_cell(getattr(port, name), Port._units.get(name, "")) for name in names] for port in scenario.ports]
    head = ["port", "rate", "framing", "scheduler", "ring", "propagation"]
    return _grid("Ports", head, rows) + _classes(list(scenario.ports))


def _classes(ports: list[Port]) -> str:
    rows = []
    for port in ports:
        for c in port.classes:
            marks = f"DSCP {_cell(c.match, 'dscp')}" if c.match else ""
            names = f"flow {_cell(c.flows)}" if c.flows else ""
            fits = " or ".join(part for part in (marks, names) if part)
            row = [escape(port.name), escape(c.name), fits or "the rest"]
            row += [_cell(c.bandwidth, "bit/s"), _cell(c.quantum), _cell(c.queue), _cell(c.police)]
            rows.append(row)
    return _grid("Classes", ["port", "class", "what", "bandwidth", "quantum", "queue", "policer"], rows) if rows else ""
