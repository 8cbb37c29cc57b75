# SPDX-License-Identifier: MIT
"""What must be measured in a Python of its own: ``child.py TASK ARGUMENTS``. Answers are lines of JSON."""

from __future__ import annotations

import itertools
import json
import sys
import time
from collections.abc import Callable


def importing() -> object:
    """Processor seconds that NumPy takes to import, the package with its descriptions, and what it needs to run."""
    times = [time.process_time()]
    import numpy  # noqa: F401

    times.append(time.process_time())
    import qossim

    _ = qossim.Scenario
    times.append(time.process_time())
    _ = qossim.run
    times.append(time.process_time())
    return [after - before for before, after in itertools.pairwise(times)]


def first(duration: str) -> object:
    """Processor seconds per packet of the first long run of a process, every column of it held."""
    from tests.bench.measure import cost
    from tests.bench.scenes import seed

    scenario = seed()
    cost(scenario, 1.0, "packets")
    return cost(scenario, float(duration), "packets")


def kept(duration: str) -> object:
    """Bytes that a run with every column leaves: in arrays, in the process, and in the process at most."""
    import qossim as qs
    from tests.bench.measure import take
    from tests.bench.scenes import one_hop

    scenario = one_hop()
    take(qs.run(scenario, duration=1.0))
    before = memory()["VmRSS"]
    result = qs.run(scenario, duration=float(duration), progress=False)
    columns = take(result)
    after = memory()
    return {
        "packets": result.packets.rows,
        "arrays": sum(array.nbytes for each in columns for array in each.values()),
        "resident": after["VmRSS"] - before,
        "peak": after["VmHWM"] - before,
    }


def summary(flows: str, *durations: str) -> object:
    """Bytes that the process has held at most after runs with summaries only, one longer than the other."""
    import qossim as qs
    from tests.bench.scenes import SCHEDULERS, many, seed

    scenario = seed() if flows == "seed" else many(int(flows), 2, SCHEDULERS["PQ"])
    peaks, packets = [], []
    for duration in durations:
        result = qs.run(scenario, duration=float(duration), seed=1, record="summary", progress=False)
        packets.append(sum(flow.sent for flow in result.flows.values()))
        assert all(flow.delay_stats.count == flow.received for flow in result.flows.values())
        del result
        peaks.append(memory()["VmHWM"])
    return {"packets": packets, "peaks": peaks}


def worker(duration: str, record: str) -> None:
    """For every line that comes in, so many runs as it says."""
    from tests.bench.measure import cost
    from tests.bench.scenes import seed

    scenario = seed()
    for line in sys.stdin:
        for _ in range(int(line)):
            cost(scenario, float(duration), record)
        print("null", flush=True)


def memory() -> dict[str, int]:
    """Bytes of memory that this process holds (VmRSS), and the most it ever held (VmHWM)."""
    with open("/proc/self/status") as lines:
        fields = (line.split() for line in lines)
        return {field[0][:-1]: int(field[1]) * 1024 for field in fields if field[-1] == "kB"}


if __name__ == "__main__":
    tasks: dict[str, Callable[..., object]] = {
        "importing": importing,
        "first": first,
        "kept": kept,
        "summary": summary,
        "worker": worker,
    }
    answer = tasks[sys.argv[1]](*sys.argv[2:])
    if answer is not None:
        print(json.dumps(answer))
