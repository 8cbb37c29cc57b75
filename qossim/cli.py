# SPDX-License-Identifier: MIT
"""The command line: ``qossim reproduce`` and ``qossim run FILE.toml``.

It describes, runs and prints what anybody can do from Python with `qossim.experiments` and `qossim.run`. Exit status:
0; 2 with one line on standard error if something about the command or the scenario is wrong; 130 after Ctrl-C.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import shutil
import sys
import textwrap
from pathlib import Path
from typing import TYPE_CHECKING, Any

from qossim.errors import ScenarioError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    import pandas as pd

    from qossim.experiments import Cases, Finding
    from qossim.result import FlowResult, Result

__all__ = ["main"]

WIDTH = 80
NARROWEST = 8
"""Of a column of names, when the line is too long."""
FIRST = 250
"""EF packets in a figure: as many as a run of the report had."""

_TIME = "seconds or, say, 10min"


def main(arguments: Sequence[str] | None = None) -> int:
    """The command ``qossim``.

    Parameters
    ----------
    arguments : sequence of str, optional
        What stands behind the command's name; by default what the process was started with.

    Returns
    -------
    int
        The exit status.
    """
    parser = _parser()
    options = parser.parse_args(arguments)
    if options.command is None:
        parser.print_help(sys.stderr)
        return 2
    try:
        options.command(options)
        sys.stdout.flush()
    except KeyboardInterrupt:
        print("qossim: interrupted", file=sys.stderr)
        return 130
    except BrokenPipeError:  # the reader, `head` perhaps, has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except OSError as error:
        return _refused(f"{error.filename}: {error.strerror}" if error.filename else str(error))
    except (ScenarioError, MemoryError) as error:
        return _refused(str(error) or "out of memory")
    return 0


def _refused(why: str) -> int:
    print(f"qossim: {' '.join(why.split())}", file=sys.stderr)
    return 2


# -- what may be asked -------------------------------------------------------------------------------------------------


class _Help(argparse.HelpFormatter):
    """Options on one line with what they mean, wherever they fit."""

    def __init__(self, prog: str) -> None:
        super().__init__(prog, max_help_position=28, width=min(WIDTH, shutil.get_terminal_size().columns))


def _parser() -> argparse.ArgumentParser:
    from qossim import __version__

    parser = argparse.ArgumentParser(
        prog="qossim",
        description="Simulate the path of a packet through a router's egress port, exactly.",
        epilog="qossim COMMAND --help tells the options of each.",
        formatter_class=_Help,
    )
    parser.add_argument("--version", action="version", version=f"qossim {__version__}")
    parser.set_defaults(command=None)
    commands = parser.add_subparsers(title="commands")
    _add_reproduce(commands)
    _add_run(commands)
    return parser


def _add_reproduce(commands: Any) -> None:
    reproduce = commands.add_parser(
        "reproduce",
        help="the experiment of 1999: four runs beside what was measured",
        formatter_class=_Help,
        description="Run the four cases of EF queued by WFQ or PQ, without and with best effort, on a 2 Mbit/s ATM "
        "PVC. Print them beside what was measured in 1999, say which of the report's statements hold in the model, and "
        "draw one-way delay and ipdv against packet number.",
    )
    reproduce.add_argument("--duration", type=_time, default=60, metavar="T", help=f"of each run; {_TIME} [60]")
    reproduce.add_argument("--warmup", type=_time, default=5, metavar="T", help="leave out packets sent before it [5]")
    reproduce.add_argument("--seed", type=int, default=1, metavar="N", help="of the random phases [1]")
    reproduce.add_argument(
        "--phases",
        choices=("random", "fixed"),
        metavar="P",
        default="random",
        help="flows start at a random instant of their interval, or, fixed, at 0 [random]",
    )
    reproduce.add_argument(
        "--output",
        type=Path,
        default=Path("qossim-reproduce"),
        metavar="DIR",
        help="where the figures go [qossim-reproduce]",
    )
    _add_tables(reproduce, "the four runs")
    reproduce.set_defaults(command=_reproduce)


def _add_run(commands: Any) -> None:
    run = commands.add_parser(
        "run",
        help="any scenario file: what became of each flow",
        formatter_class=_Help,
        description="Run a scenario from a TOML file, as Scenario.to_toml writes it, and print what became of each "
        "flow and at each port.",
    )
    run.add_argument("file", type=Path, metavar="FILE.toml", help="the scenario")
    run.add_argument("--duration", type=_time, default=60, metavar="T", help=f"how long sources send; {_TIME} [60]")
    run.add_argument("--warmup", type=_time, default=0, metavar="T", help="leave out packets sent before it [0]")
    run.add_argument("--seed", type=int, default=1, metavar="N", help="root of every random stream [1]")
    run.add_argument(
        "--record",
        choices=("packets", "summary", "none"),
        metavar="R",
        default="packets",
        help="packets: all, exactly; summary: in constant memory, quantiles within 1 %%; none: counters only [packets]",
    )
    _add_tables(run, "the summary")
    run.set_defaults(command=_run)


def _add_tables(parser: argparse.ArgumentParser, what: str) -> None:
    parser.add_argument("--csv", metavar="FILE", help=f"write {what} as CSV, in SI units; - for standard output")
    parser.add_argument("--json", metavar="FILE", help="the same as JSON, with the seed; - for standard output")


def _time(text: str) -> Any:
    """A number of seconds, or text with a unit, as `qossim.run` takes it."""
    try:
        return int(text)
    except ValueError:
        pass
    try:
        return float(text)
    except ValueError:
        return text


# -- qossim reproduce --------------------------------------------------------------------------------------------------

_MEASURED = {
    "WFQ, no best effort": "10.71",
    "PQ, no best effort": "10.71",
    "PQ, best effort": "20.4",  # 10.71 and the increase of about 9.7
}


def _reproduce(options: argparse.Namespace) -> None:
    from qossim import experiments

    cases = experiments.ef_wfq_vs_pq_cases(
        duration=options.duration, warmup=options.warmup, seed=options.seed, phases=options.phases
    )
    findings = cases.findings()
    say = _say(options)
    say(_cases_text(cases, options.phases))
    say("")
    say(_findings_text(findings))
    if options.csv:
        _write(options.csv, cases.summary().to_csv())
    if options.json:
        _write(options.json, _json(_cases_json(cases, findings, options.phases)))
    written = [*_figures(cases, options.output), *_files(options)]
    say("")
    say("Wrote " + ", ".join(written) + ".", wrap=True)


def _cases_text(cases: Cases, phases: str) -> str:
    result = cases.case("pq", True)
    sent = ", ".join(sorted({str(each["EF"].sent) for each in cases.values()}))
    title = (
        f"EF beside best effort on a 2 Mbit/s ATM PVC, tx-ring-limit 5. Four runs of {result.duration:g} s, "
        f"{result.warmup:g} s of them warm-up; phases {phases}{f', seed {result.seed}' if phases == 'random' else ''}; "
        f"{sent} EF packets in each. Milliseconds."
    )
    rows = [["", "least", "report", "mean", "most", "mean", "most", "peaks", "lost"]]
    for label, each in cases.items():
        ef = each["EF"]
        delay, ipdv = ef.delay_stats, ef.abs_ipdv_stats
        rows.append(
            [
                label,
                _ms(delay.min),
                _MEASURED.get(label, "-"),
                _ms(delay.mean),
                _ms(delay.max),
                _ms(ipdv.mean),
                _ms(ipdv.max),
                f"{100 * cases.peaks(label):.1f} %",
                str(ef.lost),
            ]
        )
    note = (
        'Column "report": the least delay that the report gives. "peaks": share of |ipdv| above half a best-effort '
        f"transmission, which takes {_ms(cases.slot)} ms."
    )
    table = _columns(rows, above={1: "one-way delay", 5: "|ipdv|"})
    return "\n".join([_wrap(title), "", *table, "", _wrap(note)])


def _findings_text(findings: Sequence[Finding]) -> str:
    rows = [["", "What the report says", "it measured", "the model", "holds"]]
    for number, finding in enumerate(findings, 1):
        verdict = "yes" if finding.holds else "NO"
        rows.append([str(number), finding.statement, finding.report, finding.model, verdict])
    notes = [
        textwrap.fill(finding.note, WIDTH, initial_indent=f"{number}  ", subsequent_indent="   ")
        for number, finding in enumerate(findings, 1)
        if finding.note
    ]
    failing = [f"{number}, {finding.statement}" for number, finding in enumerate(findings, 1) if not finding.holds]
    verdict = f"{len(findings) - len(failing)} of {len(findings)} statements hold in the model."
    if failing:
        verdict += f" Not reproduced: {'; '.join(failing)}."
    return "\n".join([*_columns(rows, left=(1, 2, 3, 4)), "", *notes, "", _wrap(verdict)])


def _cases_json(cases: Cases, findings: Sequence[Finding], phases: str) -> dict[str, Any]:
    import dataclasses

    result = cases.case("pq", True)
    return {
        **_provenance(result),
        "phases": phases,
        "cases": _records(cases.summary()),
        "findings": [dataclasses.asdict(finding) for finding in findings],
    }


def _figures(cases: Cases, folder: Path) -> list[str]:
    """Draw delay and ipdv, each as PNG and SVG; return the names of the files."""
    from matplotlib.figure import Figure

    from qossim import plots

    folder.mkdir(parents=True, exist_ok=True)
    written = []
    for name, draw in (("delay", cases.plot_delay), ("ipdv", cases.plot_ipdv)):
        figure = Figure(figsize=(7.5, 4.2), dpi=150, layout="constrained")
        draw(figure.add_subplot(), first=FIRST)
        for suffix in ("png", "svg"):
            path = folder / f"{name}.{suffix}"
            plots.save(figure, path)
            written.append(str(path))
    return written


# -- qossim run --------------------------------------------------------------------------------------------------------


def _run(options: argparse.Namespace) -> None:
    from qossim.run import run
    from qossim.scenario.net import Scenario

    result = run(
        Scenario.from_toml(options.file),
        duration=options.duration,
        warmup=options.warmup,
        seed=options.seed,
        record=options.record,
    )
    say = _say(options)
    say(_result_text(result, options.file))
    if options.csv:
        _write(options.csv, result.summary().to_csv())
    if options.json:
        _write(options.json, _json(_result_json(result)))
    written = _files(options)
    if written:
        say("")
        say("Wrote " + ", ".join(written) + ".", wrap=True)


def _result_text(result: Result, file: Path) -> str:
    warmup = f" after {result.warmup:g} s of warm-up" if result.warmup else ""
    title = f"{file}: {result.duration:g} s{warmup}, seed {result.seed}. Milliseconds."
    flows = [["flow", "sent", "received", "lost", "least", "mean", "99 %", "most", "most"]]
    flows += [_flow_row(flow, result.record) for flow in result.flows.values()]
    ports = [["port", "class", "offered", "sent", "queue", "policer", "mean", "longest", "busy"]]
    for port in result.ports.values():
        busy = f"{100 * port.utilisation:.1f} %"
        for each in port.classes.values():
            drops = [str(each.drops["queue"]), str(each.drops["policer"])]
            counts = [str(each.offered), str(each.sent), *drops, f"{each.mean_queue:.2f}", str(each.largest_queue)]
            ports.append([port.name, each.name, *counts, busy])
            busy = ""
    tables = [
        *_columns(flows, above={4: "one-way delay", 8: "|ipdv|"}),
        "",
        *_columns(ports, left=(0, 1), above={4: "dropped by", 6: "queue"}),
    ]
    return "\n".join([_wrap(title), "", *tables])


def _flow_row(flow: FlowResult, record: str) -> list[str]:
    counts = [flow.name, str(flow.sent), str(flow.received), str(flow.lost)]
    if record == "none":
        return [*counts, *["-"] * 5]
    delay = flow.delay_stats
    return [
        *counts,
        *map(_ms, (delay.min, delay.mean, delay.quantile(0.99), delay.max, flow.abs_ipdv_stats.max)),
    ]


def _result_json(result: Result) -> dict[str, Any]:
    flows = {
        name: {**found, "loss_periods": _loss_periods_json(result[name])}
        for name, found in _records(result.summary()).items()
    }
    ports = {
        name: {
            "utilisation": port.utilisation,
            "mean_ring": _number(port.mean_ring),
            "largest_ring": port.largest_ring,
            "classes": _records(result.counters().loc[[name]].droplevel("port")),
        }
        for name, port in result.ports.items()
    }
    return {**_provenance(result), "flows": flows, "ports": ports}


def _loss_periods_json(flow: FlowResult) -> dict[str, Any]:
    periods = flow.loss_periods
    return {"number": periods.number, "longest": periods.longest, "mean_length": _number(periods.mean_length)}


# -- out ---------------------------------------------------------------------------------------------------------------


def _say(options: argparse.Namespace) -> Callable[..., None]:
    """How to print for a person: not at all where a table goes to standard output."""

    def say(text: str, *, wrap: bool = False) -> None:
        if "-" not in (options.csv, options.json):
            print(_wrap(text) if wrap else text)

    return say


def _files(options: argparse.Namespace) -> list[str]:
    return [name for name in (options.csv, options.json) if name and name != "-"]


def _write(name: str, text: str) -> None:
    if name == "-":
        sys.stdout.write(text)
    else:
        Path(name).write_text(text, encoding="utf-8")


def _json(value: Any) -> str:
    return json.dumps(value, indent=2, ensure_ascii=False, allow_nan=False) + "\n"


def _provenance(result: Result) -> dict[str, Any]:
    return {
        "duration": result.duration,
        "warmup": result.warmup,
        "seed": result.seed,
        "record": result.record,
        "versions": result.versions,
    }


def _records(table: pd.DataFrame) -> dict[str, dict[str, Any]]:
    """A table as dicts of numbers, null where there is none."""
    return {str(name): {str(key): _number(value) for key, value in row.items()} for name, row in table.iterrows()}


def _number(value: Any) -> int | float | None:
    value = float(value)
    if math.isnan(value):
        return None
    return int(value) if value.is_integer() else value


def _ms(seconds: float) -> str:
    return "-" if math.isnan(seconds) else f"{1e3 * seconds:.3f}"


def _wrap(text: str) -> str:
    return textwrap.fill(text, WIDTH, break_on_hyphens=False, break_long_words=False)


def _columns(
    rows: Sequence[Sequence[str]], *, left: Sequence[int] = (0,), above: Mapping[int, str] | None = None
) -> list[str]:
    """Rows as lines no longer than `WIDTH`.

    The columns in `left` stand to the left and are cut where names are too long. Headings `above` others begin over the
    column of their number.
    """
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    while (excess := sum(widths) + 2 * (len(widths) - 1) - WIDTH) > 0:
        widest = max(left, key=lambda place: widths[place])
        if widths[widest] <= NARROWEST:
            break
        widths[widest] = max(NARROWEST, widths[widest] - excess)
    lines = [
        "  ".join(_cell(*each, place in left) for place, each in enumerate(zip(row, widths, strict=True))).rstrip()
        for row in rows
    ]
    if not above:
        return lines
    heading = ""
    line = sum(widths) + 2 * (len(widths) - 1)
    for place, text in above.items():
        begin = sum(widths[: place + 1]) + 2 * place - len(rows[0][place])
        heading = heading.ljust(min(begin, line - len(text))) + text
    return [heading, *lines]


def _cell(text: str, width: int, left: bool) -> str:
    if len(text) > width:
        text = text[: width - 1] + "…"
    return text.ljust(width) if left else text.rjust(width)
