# SPDX-License-Identifier: MIT
"""Every figure against a picture of it that somebody has looked at: ``tests/images``.

Pictures are of what is drawn, without text and legend: these versions of matplotlib and FreeType set differently, while
all else is the same to the pixel with matplotlib 3.9 and 3.11. What texts say is held in the other ``test_plots*.py``.
After a change on purpose, look at new ones: ``python tests/test_plots_images.py``.
"""

from pathlib import Path

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
import pytest
import xarray as xr
from matplotlib.figure import Figure
from matplotlib.image import imread
from matplotlib.legend import Legend
from matplotlib.text import Text

from qossim import _figure_path, plots
from qossim.experiments import ef_wfq_vs_pq_cases

IMAGES = Path(__file__).parent / "images"
DPI = 60
TOLERANCE = 0.01
"""Root mean square of the differences between pixels, black to white being 1: one stage of the budget without its
hatching is above 0.02."""


def table():
    mean = np.array([20.0, 10.0])[:, None, None] + np.array([0.0, 0.0, 4.0, 14.0, 28.0, 60.0])[None, :, None]
    values = 1e-3 * (mean + np.array([-3.0, -1.0, 0.0, 1.0, 3.0]))
    coords = {"scheduler": ["wfq", "pq"], "tx_ring_limit": [1, 3, 5, 10, 20, 40]}
    return xr.DataArray(values, coords, ("scheduler", "tx_ring_limit", "replication"), "delay_mean")


DRAW = {
    "delay": lambda cases, ax: plots.delay(cases, "EF", ax, first=60),
    "ipdv": lambda cases, ax: plots.ipdv(cases, "EF", ax, first=60, x="time"),
    "histogram": lambda cases, ax: plots.histogram(cases, "EF", ax, bins=20),
    "cdf": lambda cases, ax: plots.cdf(cases, "EF", ax),
    "tail": lambda cases, ax: plots.tail(cases, "EF", ax),
    "box": lambda cases, ax: plots.box(cases, "EF", ax),
    "sweep_lines": lambda _, ax: plots.sweep_lines(table(), ax=ax),
    "heat_map": lambda _, ax: plots.heat_map(table(), ax=ax),
    "budget": lambda cases, ax: plots.budget(cases, "EF", ax),
    "occupancy": lambda cases, ax: plots.occupancy(cases["PQ, best effort"], ax=ax, start=0, stop=0.5),
    "timeline": lambda cases, ax: plots.timeline(cases["PQ, best effort"], ax=ax),
}


def draw(name, cases, path):
    """One figure of a column's width, in matplotlib's own style, without its texts."""
    with mpl.rc_context({"backend": "agg"}), plt.style.context("default"):
        mpl.rcParams.update({"font.family": "DejaVu Sans", "savefig.dpi": DPI})
        figure = Figure(figsize=(3.6, 3.0))
        DRAW[name](cases, figure.add_axes((0.3, 0.2, 0.66, 0.54)))
        for text in figure.findobj(Text):
            text.set_visible(False)
        for legend in figure.findobj(Legend):
            legend.remove()
        plots.save(figure, path)


def apart(path, other):
    one, two = (imread(each)[..., :3] for each in (path, other))
    assert one.shape == two.shape
    return float(np.sqrt(((one - two) ** 2).mean()))


def four_cases():
    return ef_wfq_vs_pq_cases(duration=6, warmup=2, seed=1)


@pytest.fixture(scope="module")
def cases():
    return four_cases()


@pytest.mark.parametrize("name", DRAW)
def test_a_figure_looks_as_it_was_seen(cases, name, tmp_path):
    draw(name, cases, tmp_path / "now.png")
    assert apart(tmp_path / "now.png", IMAGES / f"{name}.png") <= TOLERANCE


def test_a_stage_without_its_hatching_would_be_seen(cases, tmp_path, monkeypatch):
    monkeypatch.setitem(_figure_path._STAGES, "ring", (_figure_path._STAGES["ring"][0], ""))
    draw("budget", cases, tmp_path / "plain.png")
    assert apart(tmp_path / "plain.png", IMAGES / "budget.png") > 2 * TOLERANCE


def test_every_figure_has_a_picture():
    drawn = {name for name in plots.__all__ if name not in ("PALETTE", "save")}
    assert drawn == set(DRAW) == {path.stem for path in IMAGES.glob("*.png")}


if __name__ == "__main__":
    IMAGES.mkdir(exist_ok=True)
    for each in DRAW:
        draw(each, four_cases(), IMAGES / f"{each}.png")
