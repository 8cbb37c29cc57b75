# SPDX-License-Identifier: MIT
"""Twin against core on many scenarios: ``python -m tests.twin --scenarios 100000 --jobs 2``."""

from __future__ import annotations

import argparse
import multiprocessing
import sys
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager

from .compare import Outcome, compare
from .packet import FATES


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.twin", description=__doc__)
    parser.add_argument("--scenarios", type=int, default=2000, help="how many (default: %(default)s)")
    parser.add_argument("--start", type=int, default=0, help="the first seed (default: %(default)s)")
    parser.add_argument("--jobs", type=int, default=1, help="processes (default: %(default)s)")
    parser.add_argument("--most", type=int, default=10, help="stop after this many that differ (default: %(default)s)")
    options = parser.parse_args()
    began = time.monotonic()
    count, fates, differ = 0, [0] * len(FATES), 0
    with outcomes(range(options.start, options.start + options.scenarios), options.jobs) as results:
        for outcome in results:
            count += 1
            fates = [total + more for total, more in zip(fates, outcome.fates, strict=True)]
            if outcome.report:
                differ += 1
                print(outcome.report, end="\n\n", flush=True)
            if count % 1000 == 0:
                elapsed = time.monotonic() - began
                print(f"{count} scenarios, {differ} differ, {elapsed:.0f} s", file=sys.stderr, flush=True)
            if differ >= options.most:
                break
    by_fate = ", ".join(f"{total} {name.replace('_', ' ')}" for name, total in zip(FATES, fates, strict=True))
    print(
        f"{count} scenarios (seeds from {options.start}), {sum(fates)} packets ({by_fate}): "
        f"{differ} differ; {time.monotonic() - began:.0f} s"
    )
    return 1 if differ or count < options.scenarios else 0


@contextmanager
def outcomes(seeds: Iterable[int], jobs: int) -> Iterator[Iterator[Outcome]]:
    if jobs == 1:
        yield map(compare, seeds)
        return
    with multiprocessing.Pool(jobs) as pool:
        yield pool.imap(compare, seeds, chunksize=50)


if __name__ == "__main__":
    sys.exit(main())
