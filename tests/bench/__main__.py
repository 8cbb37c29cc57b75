# SPDX-License-Identifier: MIT
"""Print the table: ``python -m tests.bench``; with ``--check`` fail where something must be reached and is not."""

from __future__ import annotations

import argparse
import json
import os
import platform
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import numpy as np

import qossim as qs

from . import calls, memory, speed, sweeps
from .table import Row, heading, line

GROUPS: dict[str, Callable[[int, int], Iterator[Row | str]]] = {
    "seed": speed.seed_experiment,
    "classes": speed.classes,
    "flows": speed.flows,
    "hops": speed.hops,
    "memory": memory.memory,
    "short": calls.short_run,
    "threads": calls.threads,
    "sweep": sweeps.sweeps,
    "import": calls.importing,
}


MORE_ROUNDS = {"seed": 4, "threads": 3, "sweep": 2}
"""Times as many, where memory or both processors must be free of others for a while to show what can be reached."""


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.bench", description=__doc__)
    parser.add_argument("groups", nargs="*", metavar="group", help=f"of rows: {', '.join(GROUPS)} (default: all)")
    parser.add_argument("--quick", action="store_true", help="shorter runs and fewer rounds; under a minute")
    parser.add_argument("--packets", type=int, help="sent in a run (default: 1000000, or 400000 with --quick)")
    parser.add_argument("--rounds", type=int, help="in which all that is compared takes turns (default: 9, or 3)")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the figures to a file")
    parser.add_argument("--check", action="store_true", help="exit with status 1 if something is missed")
    options = parser.parse_args(arguments)
    unknown = [group for group in options.groups if group not in GROUPS]
    if unknown:
        parser.error(f"no group {unknown[0]!r}; there are {', '.join(GROUPS)}")
    packets = options.packets or (400_000 if options.quick else 1_000_000)
    rounds = options.rounds or (3 if options.quick else 9)

    began = time.monotonic()
    print(f"{about()}\n{packets} packets in a run, the best of {rounds} rounds\n\n{heading()}", flush=True)
    rows: list[Row] = []
    for group in options.groups or GROUPS:
        for row in GROUPS[group](packets, rounds * MORE_ROUNDS.get(group, 1)):
            if isinstance(row, Row):
                rows.append(row)
            print(line(row) if isinstance(row, Row) else row, flush=True)
    missed = [row for row in rows if row.verdict == "MISSED"]
    unclear = [row for row in rows if row.verdict in ("unclear", "not measured")]
    print(f"\n{len(missed)} missed, {len(unclear)} unclear or not measured; {time.monotonic() - began:.0f} s")
    if options.json:
        figures = {"about": about(), "packets": packets, "rounds": rounds, "rows": [row.plain() for row in rows]}
        options.json.write_text(json.dumps(figures, indent=1) + "\n")
    return 1 if options.check and missed else 0


def about() -> str:
    """What is measured, on what, and how busy that is."""
    busy = f", load {os.getloadavg()[0]:.1f}" if hasattr(os, "getloadavg") else ""
    return (
        f"qossim {qs.__version__}, NumPy {np.__version__}, Python {platform.python_version()}, "
        f"{platform.system()} on {platform.machine()}, {os.cpu_count()} processors{busy}"
    )


if __name__ == "__main__":
    sys.exit(main())
