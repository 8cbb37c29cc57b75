# SPDX-License-Identifier: MIT
"""Figures of tables and of how values are spread: boxes, sweeps as lines and as maps."""

import itertools

import matplotlib.pyplot as plt
import numpy as np
import pytest
import xarray as xr
from matplotlib.colors import to_hex

import qossim as qs
from qossim import plots
from qossim._figure import MARKERS

pytestmark = pytest.mark.usefixtures("no_window")
RINGS = [1, 3, 5, 10, 20, 40]


def table(name="delay_mean", scale=1e-3):
    """Six rings, two schedulers, five replications around known means."""
    mean = np.array([20.0, 10.0])[:, None, None] + np.arange(6)[None, :, None]
    values = scale * (mean + np.array([-2.0, -1.0, 0.0, 1.0, 2.0]))
    coords = {"scheduler": ["wfq", "pq"], "tx_ring_limit": RINGS}
    return xr.DataArray(values, coords, ("scheduler", "tx_ring_limit", "replication"), name)


def burst(**settings):
    flow = qs.Flow("burst", qs.Trace(np.zeros(20), 1000))
    return qs.run(qs.Scenario([flow], [qs.Port("link", "8 Mbit/s")]), duration=0.1, seed=0, **settings)


def ticks(ax):
    return [text.get_text() for text in ax.get_xticklabels()]


# -- lines -------------------------------------------------------------------------------------------------------------


def test_sweep_lines_are_the_means_over_replications():
    values = table()
    ax = plots.sweep_lines(values)
    lines = {line.get_label(): line.get_xydata() for line in ax.lines if not line.get_label().startswith("_")}
    assert list(lines) == ["wfq", "pq"] == [text.get_text() for text in ax.get_legend().get_texts()]
    for name, points in lines.items():
        assert points[:, 0].tolist() == RINGS
        assert points[:, 1] == pytest.approx(1e3 * values.sel(scheduler=name).mean("replication").to_numpy())
    assert ax.get_xlabel() == "tx ring limit"
    assert ax.get_ylabel() == "delay mean (ms)"


def test_bands_are_the_confidence_intervals():
    values = table().sel(scheduler="pq")
    band = plots.sweep_lines(values, level=0.9).collections[0].get_paths()[0].vertices
    interval = qs.confidence(values, level=0.9)
    low, high = interval["mean"] - interval["half_width"], interval["mean"] + interval["half_width"]
    assert band[:, 1].min() == pytest.approx(1e3 * float(low.min()))
    assert band[:, 1].max() == pytest.approx(1e3 * float(high.max()))


def test_lines_differ_in_colour_dashes_and_marks():
    lines = [line for line in plots.sweep_lines(table()).lines if not line.get_label().startswith("_")]
    assert len({to_hex(line.get_color()) for line in lines}) == 2
    assert len({str(line._unscaled_dash_pattern) for line in lines}) == 2
    assert len({line.get_marker() for line in lines}) == 2


def test_numbers_over_decades_stand_on_a_logarithmic_scale_with_ticks_at_the_values():
    decades = [1, 5, 20, 100, 500, 2000]
    ax = plots.sweep_lines(table().assign_coords(tx_ring_limit=decades))
    ax.figure.canvas.draw()
    assert ax.get_xscale() == "log"
    assert ticks(ax) == [str(each) for each in decades]
    assert max(RINGS) < 100 * min(RINGS)
    for fewer in (RINGS, [10, 200, 300, 700, 900, 1100]):  # less than two decades, and more even as they are
        ax = plots.sweep_lines(table().assign_coords(tx_ring_limit=fewer))
        ax.figure.canvas.draw()
        assert ax.get_xscale() == "linear" and ticks(ax) == [str(each) for each in fewer]


def test_what_is_no_number_stands_at_equal_distances():
    ax = plots.sweep_lines(table(), x="scheduler", by="tx_ring_limit")
    assert ticks(ax) == ["wfq", "pq"]
    assert {line.get_linestyle() for line in ax.lines if line.get_label()[0] != "_"} == {"None"}, "nothing is between"
    assert ax.get_legend().get_texts()[0].get_text() == "tx ring limit 1", "a number does not speak for itself"


def test_one_line_needs_no_legend_and_no_replications():
    ax = plots.sweep_lines(table().sel(scheduler="pq").isel(replication=0, drop=True))
    assert ax.get_legend() is None
    assert len(ax.lines[0].get_xydata()) == 6


def test_the_line_of_another_table_on_the_same_axes_has_another_colour():
    one, other = (table(name).sel(scheduler="pq") for name in ("delay_mean", "delay_max"))
    ax = plots.sweep_lines(other, ax=plots.sweep_lines(one))
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["delay mean", "delay max"]
    assert len({to_hex(line.get_color()) for line in ax.get_legend().get_lines()}) == 2


def test_no_two_of_many_lines_look_alike():
    values = table().isel(scheduler=0, drop=True).expand_dims(case=[f"{i}" for i in range(20)])
    for names in (values, values.assign_coords(tx_ring_limit=list("abcdef"))):
        lines = [
            line for line in plots.sweep_lines(names, x="tx_ring_limit", by="case").lines if len(line.get_xdata()) > 1
        ]
        looks = [(to_hex(line.get_color()), line.get_marker()) for line in lines if line.get_marker() in MARKERS]
        assert len(looks) == len(set(looks)) == 20


def test_a_point_without_a_value_is_a_gap():
    values = table().sel(scheduler="pq")
    values[2] = np.nan
    assert np.isnan(plots.sweep_lines(values).lines[0].get_ydata()).tolist() == [
        False,
        False,
        True,
        False,
        False,
        False,
    ]


@pytest.mark.parametrize(
    ("name", "scale", "label"),
    [
        ("delay_mean", 1e-6, "delay mean (µs)"),
        ("jitter", 1.0, "jitter (s)"),
        ("loss_ratio", 0.001, "loss ratio (%)"),
        ("throughput", 1e5, "throughput (Mbit/s)"),
        ("mean_queue", 1.0, "mean queue"),
    ],
)
def test_quantities_have_their_unit(name, scale, label):
    values = table(name, scale)
    assert plots.sweep_lines(values).get_ylabel() == label
    ax = plots.heat_map(values)
    assert [other.get_ylabel() for other in ax.figure.axes if other is not ax] == [label]


def test_attributes_of_the_table_go_before_the_names():
    values = table("mean_ring").assign_attrs(units="particles", long_name="ring occupancy")
    assert plots.sweep_lines(values).get_ylabel() == "ring occupancy (particles)"


def test_a_quantile_chosen_is_named():
    values = table("delay_quantile").assign_coords(quantile=0.999)
    assert plots.sweep_lines(values).get_ylabel() == "99.9 % quantile of delay (ms)"


# -- maps --------------------------------------------------------------------------------------------------------------


def test_heat_map_writes_the_means_into_their_cells():
    ax = plots.heat_map(table(), x="tx_ring_limit", y="scheduler")
    texts = {text.get_position(): text.get_text() for text in ax.texts}
    assert texts[(0, 0)] == "20"
    assert texts[(5, 1)] == "15"
    assert len(texts) == 12
    assert ticks(ax) == [str(ring) for ring in RINGS]
    assert [text.get_text() for text in ax.get_yticklabels()] == ["wfq", "pq"]
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("tx ring limit", "scheduler")


def test_text_in_a_cell_is_black_on_light_and_white_on_dark():
    colours = {text.get_text(): text.get_color() for text in plots.heat_map(table()).texts}
    assert colours["25"] == "black"
    assert colours["10"] == "white"


def test_a_cell_without_a_value_is_blank():
    values = table()
    values[0, 0] = np.nan
    ax = plots.heat_map(values)
    assert len(ax.texts) == 11
    assert ax.patch.get_hatch()


def test_many_cells_are_left_without_text():
    values = xr.DataArray(np.arange(400.0).reshape(20, 20), dims=("a", "b"), name="delay_mean")
    ax = plots.heat_map(values)
    assert not ax.texts
    assert len(ax.get_yticks()) <= 12


# -- boxes -------------------------------------------------------------------------------------------------------------


def test_a_box_is_of_nearest_rank_quantiles():
    result = burst()
    ax = plots.box(result, "burst")
    delay = 1e3 * np.sort(result["burst"].delay)
    box = ax.patches[0].get_path().vertices[:, 1]
    assert (box.min(), box.max()) == pytest.approx((delay[4], delay[14]))
    ends = [y for line in ax.lines for y in np.atleast_1d(line.get_ydata())]
    assert (min(ends), max(ends)) == pytest.approx((delay[0], delay[18]))
    assert any(y == pytest.approx(delay.mean()) for y in ends), "the mean is marked"
    assert ax.get_ylabel() == "one-way delay (ms)"
    assert ticks(ax) == ["burst"]


def test_boxes_of_a_summary_and_of_other_measures():
    summary = burst(record="summary")
    assert plots.box({"one": summary, "two": summary}).get_ylabel() == "one-way delay (ms)"
    assert plots.box(burst(), of="pdv").get_ylabel() == "delay above the least (ms)"
    assert plots.box(summary, of="abs_ipdv").get_ylabel() == "|ipdv| (ms)"


def test_a_box_for_each_value_of_a_dimension():
    ax = plots.box(table().sel(scheduler="pq"))
    assert len(ax.patches) == 6
    assert ticks(ax) == [str(ring) for ring in RINGS]
    assert ax.get_xlabel() == "tx ring limit"
    first = ax.patches[0].get_path().vertices[:, 1]
    assert (first.min(), first.max()) == pytest.approx((9, 11))


def test_a_box_of_nothing_leaves_its_place_empty():
    values = table().sel(scheduler="pq")
    values[1] = np.nan
    ax = plots.box(values)
    assert len(ax.patches) == 5
    assert len(ticks(ax)) == 6
    never = qs.Flow("never", qs.Trace([], []))
    plots.box(qs.run(qs.Scenario([never], [qs.Port("link", 1e6)]), duration=1, seed=0))


# -- what is refused ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("draw", "words"),
    [
        (lambda t: plots.sweep_lines(t.to_dataset()), ("values", "DataArray", "delay_mean")),
        (lambda _: plots.sweep_lines([1, 2]), ("values", "DataArray", "[1, 2]")),
        (lambda t: plots.sweep_lines(t.expand_dims(flow=["EF"])), ("values", "flow", ".sel(...)")),
        (lambda t: plots.sweep_lines(t, x="ring"), ("x and by", "ring", "tx_ring_limit")),
        (lambda t: plots.sweep_lines(t[0, 0]), ("values", "none", "dimension")),
        (lambda t: plots.sweep_lines(t.astype(str)), ("values", "numbers")),
        (lambda t: plots.heat_map(t[0]), ("values", "2 dimensions", "too few")),
        (lambda t: plots.heat_map(t, "ring", "scheduler"), ("x and y", "ring")),
        (lambda t: plots.heat_map(t.rename("sent"), unit="ms"), ("unit", "sent", "ms")),
        (lambda t: plots.box(t), ("values", "one dimension", "scheduler")),
        (lambda t: plots.box(t[0].mean("replication")), ("over", "replication")),
        (lambda t: plots.box(t[0], unit="min"), ("unit", "min")),
        (lambda _: plots.box(burst(record="none")), ("summary",)),
    ],
)
def test_a_wrong_table_is_refused_by_name_value_and_bound(draw, words):
    with pytest.raises(qs.ScenarioError) as error:
        draw(table())
    assert all(word in str(error.value) for word in words), str(error.value)
    assert not plt.get_fignums(), "nothing is left behind by what was refused"


def test_names_that_matplotlib_would_read_otherwise_are_shown_as_they_are() -> None:
    names = ["_first", "a$x$", "$", "plain"]
    values = xr.DataArray(np.arange(8.0).reshape(2, 4), {"a": [1, 2], "b": names}, ("a", "b"), "delay_mean")
    ax = plots.sweep_lines(values)
    legend = ax.get_legend() or ax.figure.legends[0]
    ax.figure.canvas.draw()
    assert [text.get_text().strip().replace("\\$", "$") for text in legend.get_texts()] == names
    plt.close("all")


# -- tables that are hard to draw --------------------------------------------------------------------------------------


def test_a_map_of_nothing_but_nan_is_hatched_all_over():
    ax = plots.heat_map(xr.DataArray(np.full((2, 2), np.nan), dims=("a", "b"), name="delay_mean"))
    ax.figure.canvas.draw()
    assert not ax.texts


@pytest.mark.parametrize("draw", [plots.box, plots.sweep_lines, plots.heat_map])
def test_a_dimension_without_values_is_refused(draw):
    dims = ("a", "b") if draw is plots.heat_map else ("a", "replication")
    with pytest.raises(qs.ScenarioError, match=r"values must .* at least one value .*'a': 0, .*none along"):
        draw(xr.DataArray(np.zeros((0, 2)), dims=dims))
    assert not plt.get_fignums()


@pytest.mark.parametrize("label", ["x" * 92, "a word " * 13])
def test_long_labels_are_broken_and_shortened_and_leave_room_for_the_figure(label):
    for dim in ("a", "b"):
        coords = {dim: [label, label[1:]]}
        ax = plots.heat_map(xr.DataArray(np.ones((2, 2)), coords, ("a", "b")))
        ax.figure.canvas.draw()
        texts = ax.get_yticklabels() if dim == "a" else ax.get_xticklabels()
        assert all(len(text.get_text()) > 12 for text in texts), "as much as fits"
        assert all(text.get_text().endswith("...") for text in texts)
        assert ax.get_position().width > 0.3 and ax.get_position().height > 0.3


def test_an_axis_with_an_infinite_value_stands_at_equal_distances():
    values = xr.DataArray(np.arange(8.0).reshape(4, 2), {"limit": [1, 2, 4, np.inf]}, ("limit", "replication"))
    ax = plots.sweep_lines(values)
    ax.figure.canvas.draw()
    assert ticks(ax) == ["1", "2", "4", "inf"]
    assert ax.lines[0].get_xdata().tolist() == [0, 1, 2, 3]


@pytest.mark.parametrize(
    ("draw", "message"),
    [
        (lambda t: plots.sweep_lines(t[0], over="replicaton"), 'over must be a dimension of .* got "replicaton"'),
        (lambda t: plots.heat_map(t, over=1), "over must be a dimension of .* got 1"),
        (lambda t: plots.heat_map(t, x="scheduler", y="scheduler"), "x and y must be of different dimensions"),
        (lambda t: plots.sweep_lines(t, level=2), "level must be a number above 0 and below 1, got 2"),
        (lambda t: plots.sweep_lines(t, level=None), "level must be a number above 0 and below 1, got None"),
        (lambda t: plots.sweep_lines(t.isel(replication=0, drop=True), level=0), "level must be .* got 0"),
        (lambda t: plots.sweep_lines(t + np.inf), "values must be finite"),
        (lambda t: plots.sweep_lines(t, x=5), "x and by must be dimensions of the values .* got 5"),
        (lambda t: plots.box(t, by=5), "by must be a dimension of the values .*scheduler.* got 5"),
        (lambda t: plots.box(t, by=["scheduler"]), "by must be a dimension of the values"),
        (lambda t: plots.heat_map(t, unit=["s"]), "unit must be one of"),
        (lambda t: plots.heat_map(t, ax="x"), "ax must be one matplotlib Axes"),
    ],
)
def test_arguments_that_cannot_be_are_refused_and_leave_no_figure_open(draw, message):
    with pytest.raises(qs.ScenarioError, match=message):
        draw(table())
    assert not plt.get_fignums()


def test_names_of_a_table_are_drawn_to_the_letter():
    values = table().assign_coords(scheduler=["_w$", r"p$\frac{"]).rename(tx_ring_limit="a$b$c")
    ax = plots.sweep_lines(values)
    assert [text.get_text().strip() for text in ax.get_legend().get_texts()] == [r"_w\$", r"p\$\frac{"]
    assert ax.get_xlabel() == r"a\$b\$c"
    ax.figure.canvas.draw()
    plots.heat_map(values).figure.canvas.draw()
    plots.box(values.isel({"a$b$c": 0})).figure.canvas.draw()


def test_a_legend_with_long_names_is_broken_into_two_lines():
    ax = plots.sweep_lines(table().assign_coords(scheduler=["a word " * 13, "x" * 200]))
    ax.figure.canvas.draw()
    assert all(text.get_text().count("\n") == 1 for text in ax.get_legend().get_texts())
    extent = ax.get_legend().get_window_extent()
    assert extent.x0 >= 0 and extent.x1 <= ax.figure.bbox.x1


# -- tables as sweeps make them ----------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def swept():
    """A real table, its values from large to small and back."""
    axes = {"tx_ring_limit": [40, 1, 5]}
    return qs.sweep(qs.experiments.ef_wfq_vs_pq, axes, 2, duration=2, seed=1, progress=False)


LABELS = {
    "delay_min": "least one-way delay (ms)",
    "delay_mean": "mean one-way delay (ms)",
    "delay_max": "greatest one-way delay (ms)",
    "ipdv_mean_abs": "mean absolute delay variation (ms)",
    "jitter": "interarrival jitter at the end (ms)",
    "delay_quantile": "99 % quantile of the one-way delay (ms)",
    "ipdv_quantile": "99 % quantile of the delay variation, signed (ms)",
    "pdv_quantile": "99 % quantile of the delay above its least (ms)",
    "sent": "packets sent",
    "received": "packets received",
    "throughput": "rate of the IP datagrams received (kbit/s)",
    "loss_ratio": "share of packets lost (%)",
    "loss_ratio_queue": "share of packets dropped by queues (%)",
    "loss_ratio_policer": "share of packets dropped by policers (%)",
    "utilisation": "share of time the wire was busy (%)",
    "mean_ring": "particles in use in the transmit ring, mean over time",
    "largest_ring": "most particles in use in the transmit ring",
    "mean_queue": "packets in the class queue, mean over time",
    "largest_queue": "most packets in the class queue",
}
CHOSEN = {"flow": "EF", "quantile": 0.99, "port": "near", "class": "EF"}


def test_every_variable_of_a_sweep_is_labelled_so_that_it_reads(swept):
    assert set(LABELS) == set(swept.data_vars)
    for name, label in LABELS.items():
        values = swept[name].sel({dim: at for dim, at in CHOSEN.items() if dim in swept[name].dims})
        assert plots.sweep_lines(values).get_ylabel() == plots.box(values).get_ylabel() == label
        plt.close("all")
    ax = plots.sweep_lines(swept["delay_quantile"].sel(flow="EF"), "tx_ring_limit")
    assert ax.get_ylabel() == "quantile of the one-way delay (ms)"
    assert ax.get_legend().get_texts()[0].get_text() == "quantile 0.5"


def test_numbers_ascend_from_left_to_right_with_their_bands_and_boxes(swept):
    values = 1e3 * swept["delay_mean"].sel(flow="EF")
    wanted = values.mean("replication").sel(tx_ring_limit=[1, 5, 40]).to_numpy() / 1e3
    ax = plots.sweep_lines(swept["delay_mean"].sel(flow="EF"), unit="s")
    (line,) = [line for line in ax.lines if line.get_marker() == "o"]
    assert line.get_xdata().tolist() == [1, 5, 40]
    assert line.get_ydata() == pytest.approx(wanted)
    half = qs.confidence(values).half_width.sel(tx_ring_limit=[1, 5, 40]).to_numpy() / 1e3
    band = ax.collections[0].get_paths()[0].vertices
    for at, mean, off in zip([1, 5, 40], wanted, half, strict=True):
        ends = band[band[:, 0] == at][:, 1]
        assert (ends.min(), ends.max()) == pytest.approx((mean - off, mean + off))
    boxes = plots.box(swept["delay_mean"].sel(flow="EF"), unit="s")
    assert ticks(boxes) == ["1", "5", "40"]
    means = [line for line in boxes.lines if line.get_marker() == "D"]
    assert [line.get_ydata()[0] for line in means] == pytest.approx(wanted)


def test_numbers_ascend_along_both_axes_of_a_map_and_names_stand_as_given():
    coords = {"a": [3.0, 1.0], "b": [40, 1, np.inf], "c": ["z", "y"]}
    values = xr.DataArray(np.arange(12.0).reshape(2, 3, 2), coords, ("a", "b", "c"))
    ax = plots.heat_map(values.sel(c="z"))
    assert ticks(ax) == ["1", "40", "inf"] and [text.get_text() for text in ax.get_yticklabels()] == ["1", "3"]
    assert ax.collections[0].get_array().tolist() == [[8, 6, 10], [2, 0, 4]]
    assert ticks(plots.heat_map(values.sel(a=3))) == ["z", "y"]
    line = plots.sweep_lines(values.sel(a=3.0, c="z")).lines[0]
    assert line.get_xdata().tolist() == [0, 1, 2] and line.get_ydata().tolist() == [2, 0, 4], "infinity is the last"
    names = plots.sweep_lines(values.sel(a=3.0, b=1))
    assert ticks(names) == ["z", "y"] and names.lines[0].get_ydata().tolist() == [2, 3]


def zipped_table():
    """As a sweep with an axis of two parameters that change together returns it."""
    coords = {"load": [0.1, 0.9], "scheduler": ("case", ["pq", "wfq", "pq"]), "tx_ring_limit": ("case", [16, 2, 5])}
    values = 1e-3 * np.arange(24.0).reshape(2, 3, 4)
    return xr.DataArray(values, coords, ("load", "case", "replication"), "delay_mean")


def test_parameters_that_change_together_label_their_axis():
    expected = ["pq, tx ring limit 16", "wfq, tx ring limit 2", "pq, tx ring limit 5"]
    table = zipped_table()
    ax = plots.sweep_lines(table, "case")
    assert [text.get_text().replace("\n", " ") for text in ax.get_xticklabels()] == expected
    assert all(line.get_linestyle() == "None" for line in ax.lines), "there is nothing between two cases"
    ax = plots.heat_map(table, x="load", y="case")
    assert [text.get_text().replace("\n", " ") for text in ax.get_yticklabels()] == expected
    assert plots.box(table.isel(load=0)).get_xticklabels()[0].get_text().replace("\n", " ") == expected[0]


def test_one_of_several_parameters_that_change_together_may_be_an_axis():
    ax = plots.sweep_lines(zipped_table(), "tx_ring_limit")
    assert ax.get_xlabel() == "tx ring limit"
    assert ax.lines[0].get_xdata().tolist() == [2, 5, 16]
    assert ax.lines[0].get_ydata() == pytest.approx([5.5, 9.5, 1.5])


def test_numbers_below_an_axis_do_not_touch():
    """A ring of 1, 2, 4, ... 64 particles: 1 and 2 are too near."""
    rings = [1, 2, 4, 8, 16, 32, 64]
    table = xr.DataArray(np.arange(14.0).reshape(7, 2), {"ring": rings}, ("ring", "replication"), "loss")
    ax = plots.sweep_lines(table)
    ax.figure.canvas.draw()
    shown = [text for text in ax.get_xticklabels() if text.get_text()]
    assert [text.get_text() for text in shown] == ["1", "4", "8", "16", "32", "64"]
    extents = [text.get_window_extent() for text in shown]
    assert all(one.x1 + 2 < other.x0 for one, other in itertools.pairwise(extents))
