# SPDX-License-Identifier: MIT
"""Memory, in processes of their own; needs Linux's /proc."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from .measure import Figure, ask
from .scenes import seconds_for
from .table import BYTES, MEGABYTES, Goal, Row

__all__ = ["memory"]


def memory(packets: int, rounds: int) -> Iterator[Row]:
    """Per packet kept, and as a whole where none is kept."""
    if not Path("/proc/self/status").exists():
        for what, scale, goal in (
            (_KEPT, BYTES, _PER_PACKET),
            (_WHOLE, MEGABYTES, _IN_ALL),
            (_MORE, MEGABYTES, _GROWTH),
        ):
            yield Row(what, None, scale, goal, "there is no /proc")
        return
    yield _kept(_KEPT, min(10 * packets, 4_000_000), rounds, _PER_PACKET)
    few = min(packets, 150_000)
    yield _kept(f"  the same of {few} packets", few, rounds)
    duration = seconds_for(packets)
    seed, thousand = (ask("summary", flows, duration, 10 * duration) for flows in ("seed", 1000))
    yield Row(_WHOLE, _megabytes(seed["peaks"][-1]), MEGABYTES, _IN_ALL, f"after {seed['packets'][-1]} packets")
    beside = f"{seed['packets'][-1]} packets instead of {seed['packets'][0]}"
    yield Row(_MORE, _megabytes(seed["peaks"][-1] - seed["peaks"][0]), MEGABYTES, _GROWTH, beside)
    beside = f"after {thousand['packets'][-1]} packets; {thousand['peaks'][0] / 10**6:.1f} MB after a tenth of them"
    yield Row("  the same with 1000 flows", _megabytes(thousand["peaks"][-1]), MEGABYTES, None, beside)


_KEPT, _PER_PACKET = "memory per packet kept, all columns, one hop", Goal(72, 61, most=True)
_WHOLE, _IN_ALL = "memory of the process, summaries only", Goal(100, most=True)
_MORE, _GROWTH = "  what ten times the packets add to it", Goal(1, most=True)


def _kept(what: str, packets: int, rounds: int, goal: Goal | None = None) -> Row:
    """Bytes per packet of the process or of its arrays, whichever is more."""
    runs = [ask("kept", seconds_for(packets)) for _ in range(min(rounds, 3))]
    arrays, resident, peak = ([run[name] / run["packets"] for run in runs] for name in ("arrays", "resident", "peak"))
    beside = (
        f"arrays {BYTES(min(arrays))}, the process {BYTES(min(resident))}, at the end of the run {BYTES(min(peak))}"
    )
    return Row(what, Figure.least(list(map(max, arrays, resident))), BYTES, goal, beside)


def _megabytes(count: int) -> Figure:
    return Figure.least([count / 10**6])
