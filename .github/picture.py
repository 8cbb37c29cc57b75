# SPDX-License-Identifier: MIT
"""Draw the picture of README.md: a port of the experiment of 1999, and the one-way delay of EF in its four runs.

python .github/picture.py
"""

from pathlib import Path

from matplotlib.figure import Figure

from qossim import Scenario, experiments, plots

FIRST = 60
"""EF packets: enough to see the beat, few enough to see each."""

cases = experiments.ef_wfq_vs_pq_cases(seed=1)
whole = cases.case("pq", True).scenario
near = Scenario(flows=[flow.replace(route=["near"]) for flow in whole.flows], ports=whole.ports[:1])

figure = Figure(figsize=(12.4, 6.6), dpi=100)
near.draw(figure.add_axes((0, 0.6, 1, 0.4)))
cases.plot_delay(figure.add_axes((0.1, 0.09, 0.8, 0.42)), first=FIRST)
plots.save(figure, Path(__file__).with_suffix(".png"))
