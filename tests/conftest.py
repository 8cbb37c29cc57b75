# SPDX-License-Identifier: MIT
"""What every test can count on."""

from __future__ import annotations

import multiprocessing
import signal
from collections.abc import Iterator
from concurrent import futures
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    import xarray as xr


@pytest.fixture(scope="session", autouse=True)
def ctrl_c_interrupts() -> Iterator[None]:
    """Python's own handler, even where the suite was started in the background by a shell that ignores Ctrl-C there."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.fixture
def no_window() -> Iterator[None]:
    """Figures are drawn in memory and closed in the end; the backend is then that of before."""
    import matplotlib as mpl
    import matplotlib.pyplot as plt

    backend = mpl.get_backend()
    plt.switch_backend("agg")
    yield
    plt.close("all")
    plt.switch_backend(backend)


@pytest.fixture(scope="module")
def processes() -> Iterator[futures.ProcessPoolExecutor]:
    """Two worker processes."""
    with futures.ProcessPoolExecutor(2, mp_context=multiprocessing.get_context("spawn")) as pool:
        yield pool


@pytest.fixture(scope="session")
def whole() -> xr.Dataset:
    """The table of a small sweep, as one worker makes it."""
    from tests.builds import link
    from tests.sweeps import AXES, sweep

    return sweep(link, AXES, 5, workers=1)
