# SPDX-License-Identifier: MIT
"""Draw the pictures of README.md: the experiment of 1999, and the main figure of the notebook on ipdv.

python .github/picture.py
"""

import json
from pathlib import Path

import matplotlib
from matplotlib.figure import Figure

from qossim import Scenario, experiments, plots

HERE = Path(__file__).parent
NOTEBOOK = HERE.parent / "notebooks" / "3_when_does_pq_reduce_ipdv.ipynb"

FIRST = 60
"""EF packets: enough to see the beat, few enough to see each."""


def experiment() -> Figure:
    """The first of the two ports, and below it the delay of EF in the four runs."""
    cases = experiments.ef_wfq_vs_pq_cases(seed=1)
    whole = cases.case("pq", True).scenario
    near = Scenario(flows=[flow.replace(route=["near"]) for flow in whole.flows], ports=whole.ports[:1])
    figure = Figure(figsize=(12.4, 6.6), dpi=100)
    near.draw(figure.add_axes((0, 0.6, 1, 0.4)))
    cases.plot_delay(figure.add_axes((0.1, 0.09, 0.8, 0.42)), first=FIRST)
    return figure


def main_figure() -> Figure:
    """The notebook's first, as the notebook draws it."""
    names: dict[str, object] = {}
    for cell in json.loads(NOTEBOOK.read_text(encoding="utf-8"))["cells"]:
        if cell["cell_type"] == "code" and "fig" not in names:
            exec("".join(cell["source"]), names)
    figure = names["fig"]
    assert isinstance(figure, Figure)
    return figure


matplotlib.use("agg")
plots.save(experiment(), HERE / "picture.png")
plots.save(main_figure(), HERE / "ipdv.png")
