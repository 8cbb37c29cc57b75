# SPDX-License-Identifier: MIT
"""The table of every policy that was checked, as CSV, Markdown or HTML; the standard library suffices."""

from __future__ import annotations

import csv
import html
import io
import math
import re
from typing import Any

__all__ = ["written"]

_NUMBERS = (
    *("test", "policy", "flow", "objective", "sense", "limit", "measured"),
    *("confidence_low", "confidence_high", "confidence_level", "unit", "verdict", "remark", "note"),
)
_WORDS = ("test", "policy", "flow", "objective", "limit", "measured", "confidence", "verdict")
_STYLE = """
body { font: 15px/1.45 system-ui, sans-serif; margin: 2em; color: #1a1a1a; background: #fff }
table { border-collapse: collapse }
th, td { padding: .25em .6em; text-align: left; vertical-align: top; border-bottom: 1px solid #ddd }
th { border-bottom: 2px solid #888; position: sticky; top: 0; background: #fff }
.number { text-align: right; white-space: nowrap; font-variant-numeric: tabular-nums }
.test { min-width: 12em }
.policy { min-width: 6em }
.flow { min-width: 4em }
.test, .policy, .flow { overflow-wrap: anywhere }
.verdict, .objective { white-space: nowrap }
tr.broken td.verdict { font-weight: bold; color: #a40000 }
tr.broken { background: #fdf0ee }
"""


def written(rows: list[dict[str, Any]], suffix: str) -> str:
    """The table as text.

    Parameters
    ----------
    rows : list of dict
        ``test``, and what `qossim.sla.Report.to_rows` gives.
    suffix : {".csv", ".md", ".html"}
        CSV has numbers in SI units, a line for each objective; the others what a reader wants.
    """
    return {".csv": _csv, ".md": _markdown, ".html": _html}[suffix](rows)


def _csv(rows: list[dict[str, Any]]) -> str:
    names = {"confidence_low": "low", "confidence_high": "high", "confidence_level": "level"}
    file = io.StringIO()
    writer = csv.writer(file, lineterminator="\n")
    writer.writerow(_NUMBERS)
    for row in rows:
        cells = [row[names.get(name, name)] for name in _NUMBERS]
        writer.writerow(["" if isinstance(cell, float) and math.isnan(cell) else cell for cell in cells])
    return file.getvalue()


def _cells(row: dict[str, Any]) -> list[str]:
    limit, measured, confidence = row["texts"]
    reached = row["level"]
    if not math.isnan(row["low"]):
        confidence += f" ({100 * reached:.3g} %)" if not math.isnan(reached) else " (streamed)"
    return [*(row[name] for name in _WORDS[:4]), limit, measured, confidence, row["verdict"]]


def _title(rows: list[dict[str, Any]]) -> str:
    promised = sum(bool(row["objective"]) for row in rows)
    broken = sum("FAIL" in row["verdict"] for row in rows)
    return f"{promised} {'objective' if promised == 1 else 'objectives'} checked, {broken} broken"


def _notes(rows: list[dict[str, Any]]) -> list[str]:
    """Each note and remark once, in order, with the policies and objectives it is about."""
    about: dict[str, dict[str, None]] = {}  # a set that keeps its order
    for row in rows:
        if row["note"]:
            about.setdefault(row["note"], {})[row["policy"]] = None
        if row["remark"]:
            about.setdefault(row["remark"], {})[" ".join(filter(None, (row["policy"], row["objective"])))] = None
    marked = any(row["verdict"].endswith("?") for row in rows)
    legend = ["?: the limit lies within the confidence interval, or too few packets came to tell"] if marked else []
    return legend + [": ".join(filter(None, (", ".join(filter(None, names)), note))) for note, names in about.items()]


def _markdown(rows: list[dict[str, Any]]) -> str:
    def escaped(cell: str) -> str:
        """What Markdown would take for markup, and nothing else: the source is to be read too."""
        plain = re.sub(r"([\\`*|]|\](?=[(\[])|(?<!\w)_|_(?!\w))", r"\\\1", " ".join(cell.split()))
        return re.sub(r"<(?=[A-Za-z/!?])", "&lt;", re.sub(r"&(?=#?\w+;)", "&amp;", plain))

    lines = [f"# {_title(rows)}", ""]
    if rows:
        lines += [
            f"| {' | '.join(_WORDS)} |",
            f"|{'|'.join('--:' if _kind(n) == 'number' else '---' for n in _WORDS)}|",
        ]
        lines += [f"| {' | '.join(map(escaped, _cells(row)))} |" for row in rows]
        notes = _notes(rows)
        lines += ["", *(f"- {escaped(note)}" for note in notes)] if notes else []
    return "\n".join(lines) + "\n"


def _kind(name: str) -> str:
    """The class of a column."""
    return "number" if name in ("limit", "measured", "confidence") else name


def _html(rows: list[dict[str, Any]]) -> str:
    title = html.escape(_title(rows))
    parts = [
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">',
        f"<title>{title}</title>\n<style>{_STYLE}</style>\n</head>\n<body>\n<h1>{title}</h1>",
    ]
    if rows:
        parts += [
            "<table>\n<thead><tr>"
            + "".join(f'<th class="{_kind(name)}">{name}</th>' for name in _WORDS)
            + "</tr></thead>\n<tbody>"
        ]
        parts += [_html_row(row) for row in rows]
        parts += ["</tbody>\n</table>", *(f"<p>{html.escape(note)}</p>" for note in _notes(rows))]
    return "\n".join([*parts, "</body>\n</html>\n"])


def _html_row(row: dict[str, Any]) -> str:
    cells = zip(map(_kind, _WORDS), _cells(row), strict=True)
    broken = ' class="broken"' if "FAIL" in row["verdict"] else ""
    return (
        f"<tr{broken}>" + "".join(f'<td class="{kind}">{_wrapping(cell, kind)}</td>' for kind, cell in cells) + "</tr>"
    )


def _wrapping(cell: str, kind: str) -> str:
    """The cell; the name of a test may be broken behind what parts its words."""
    return re.sub(r"(::|[/_])", r"\1<wbr>", html.escape(cell)) if kind == "test" else html.escape(cell)
