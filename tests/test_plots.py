# SPDX-License-Identifier: MIT
"""Figures: what is drawn, with which labels, and that a file of the same figure is the same bytes."""

import doctest

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
import pytest
from matplotlib.colors import to_hex

import qossim as qs
from qossim import plots
from qossim.experiments import ef_wfq_vs_pq_cases

pytestmark = pytest.mark.usefixtures("no_window")


@pytest.fixture(scope="module")
def cases():
    return ef_wfq_vs_pq_cases(duration=20, warmup=5, seed=1)


def two_flows(**settings):
    """A queue that loses packets 2 and 5 of "burst", beside a stream that loses none."""
    times = np.array([0, 0, 0, 10, 10, 10, 20]) * 1e-3
    burst = qs.Flow("burst", qs.Trace(times, 1000))
    calm = qs.Flow("calm", qs.CBR(pps=100, size=100, phase="5 ms"))
    classes = [
        qs.TrafficClass("burst", flows="burst", queue=qs.DropTail(1)),
        qs.TrafficClass("rest"),
    ]
    port = qs.Port("link", "8 Mbit/s", scheduler=qs.PQ(), classes=classes)
    return qs.run(qs.Scenario(flows=[burst, calm], ports=[port]), duration=0.1, seed=0, **settings)


def drawn(ax):
    return {line.get_label(): line.get_xydata() for line in ax.lines}


# -- against the packets -----------------------------------------------------------------------------------------------


def test_delay_stands_against_the_packets_number_in_milliseconds(cases):
    result = cases["PQ, best effort"]
    ax = plots.delay(result, "EF")
    (points,) = drawn(ax).values()
    assert np.array_equal(points[:, 0], result["EF"].seq)
    assert np.array_equal(points[:, 1], result["EF"].delay * 1e3)
    assert ax.get_xlabel() == "EF packet number"
    assert ax.get_ylabel() == "one-way delay (ms)"
    assert ax.get_legend() is None, "one line needs no legend"
    assert ax.get_ylim()[0] <= 0, "a delay twice as long looks it"


def test_delay_may_stand_against_time_in_another_unit(cases):
    result = cases["PQ, best effort"]
    ax = plots.delay(result, "EF", x="time", unit="us")
    (points,) = drawn(ax).values()
    assert np.array_equal(points[:, 0], result["EF"].sent_at)
    assert np.array_equal(points[:, 1], result["EF"].delay * 1e6)
    assert ax.get_xlabel() == "time sent (s)"
    assert ax.get_ylabel() == "one-way delay (µs)"


def test_ipdv_is_signed_and_stands_at_the_later_packet(cases):
    result = cases["PQ, best effort"]
    signed, absolute = plots.ipdv(result, "EF"), plots.ipdv(result, "EF", absolute=True)
    (points,) = drawn(signed).values()
    assert np.array_equal(points[:, 0], result["EF"].ipdv_seq)
    assert np.array_equal(points[:, 1], result["EF"].ipdv * 1e3)
    assert points[:, 1].min() < 0
    assert signed.get_ylabel() == "ipdv (ms)"
    (points,) = drawn(absolute).values()
    assert np.array_equal(points[:, 1], np.abs(result["EF"].ipdv) * 1e3)
    assert absolute.get_ylabel() == "|ipdv| (ms)"


def test_several_results_bear_their_labels_and_differ_in_colour_and_width(cases):
    ax = plots.delay(cases, "EF")
    assert list(drawn(ax)) == list(cases) == [text.get_text() for text in ax.get_legend().get_texts()]
    assert len({to_hex(line.get_color()) for line in ax.lines}) == 4
    widths = [line.get_linewidth() for line in ax.lines]
    assert widths == sorted(widths, reverse=True), "the later is thinner, so that what it covers shows"
    assert len(set(widths)) == 4


def test_results_without_labels_are_numbered_and_flows_named(cases):
    result = two_flows()
    assert list(drawn(plots.delay([result, result], "calm"))) == ["1", "2"]
    assert list(drawn(plots.delay(result))) == ["burst", "calm"]
    assert list(drawn(plots.delay({"first": result, "second": result}))) == [
        "first, burst",
        "first, calm",
        "second, burst",
        "second, calm",
    ]
    assert plots.delay(result).get_xlabel() == "packet number"
    assert list(drawn(plots.delay(cases, ["EF"]))) == list(cases)


def test_a_line_breaks_where_a_packet_was_lost():
    result = two_flows()
    assert result["burst"].seq.tolist() == [0, 1, 3, 4, 6]
    delay = drawn(plots.delay(result, "burst"))["burst"]
    assert delay[:, 0].tolist() == pytest.approx([0, 1, np.nan, 3, 4, np.nan, 6], nan_ok=True)
    assert delay[:, 1].tolist() == pytest.approx([1, 2, np.nan, 1, 2, np.nan, 1], nan_ok=True)
    ipdv = drawn(plots.ipdv(result, "burst", x="time"))["burst"]
    assert ipdv[:, 0].tolist() == pytest.approx([0, np.nan, 0.01], nan_ok=True)
    assert ipdv[:, 1].tolist() == pytest.approx([1, np.nan, 1], nan_ok=True)


def test_a_packet_between_two_losses_shows():
    assert all(line.get_marker() == "o" and line.get_markersize() > 0 for line in plots.delay(two_flows()).lines)


def test_more_packets_than_lines_can_show_are_dots_of_their_values():
    """Lines from one ipdv to the next would fill all between them."""
    flow = qs.Flow("f", qs.CBR(pps=1000, size=100))
    scenario = qs.Scenario([flow, qs.Flow("g", qs.CBR(pps=10, size=100))], [qs.Port("link", "8 Mbit/s")])
    few, many = (qs.run(scenario, duration=seconds, seed=1) for seconds in (1.0, 2.0))
    assert [line.get_linestyle() for line in plots.ipdv(few).lines] == ["-", "-"]
    ax = plots.ipdv(many)
    told = ax.get_legend_handles_labels()[0]
    assert [line.get_linestyle() for line in told] == ["None", "None"], "the legend tells of one kind"
    assert [len(line.get_xdata()) for line in told] == [1999, 19]
    assert [line.get_markersize() for line in ax.lines] == [3.2, 1.2, 6], "one shows behind the other"
    assert all(line.get_markersize() >= 4.5 for line in ax.get_legend().get_lines()), "colours are to be told apart"
    assert not any(line.get_rasterized() for line in ax.lines)


def test_lines_of_many_packets_together_are_dots_too():
    run = qs.run(qs.Scenario([qs.Flow("f", qs.CBR(pps=100, size=100))], [qs.Port("link", "8 Mbit/s")]), duration=15.0)
    kinds = [plots.delay({str(n): run for n in range(count)}).lines[0].get_linestyle() for count in (1, 3, 4)]
    assert run["f"].received == 1500 and kinds == ["-", "-", "None"]


def test_first_counts_packets_from_the_end_of_the_warmup(cases):
    flow = cases["PQ, best effort"]["EF"]
    points = drawn(plots.delay(cases, "EF", first=100))["PQ, best effort"]
    assert points[:, 0].tolist() == list(range(int(flow.seq[0]), int(flow.seq[0]) + 100))
    assert len(drawn(plots.ipdv(cases, "EF", first=100))["PQ, best effort"]) == 99, "pairs of the same packets"
    assert len(drawn(plots.delay(cases, "EF", first=10**9))["PQ, best effort"]) == flow.received
    lossy = drawn(plots.delay(two_flows(), "burst", first=3))["burst"]
    assert lossy[:, 0].tolist() == [0, 1], "the third was lost"


@pytest.mark.parametrize("packets", [100, 2000])
@pytest.mark.parametrize("count", [2, 4, 5, 8, 20])
def test_lines_against_packets_are_told_apart_without_colour(packets, count):
    """Lines by width, or by marks of another form, of which each form has its own colour too; dots by marks."""
    flow = qs.Flow("f", qs.CBR(pps=1000, size=125))
    run = qs.run(qs.Scenario([flow], [qs.Port("out", "2 Mbit/s")]), duration=1e-3 * packets, seed=0)
    handles, labels = plots.delay({str(number): run for number in range(count)}).get_legend_handles_labels()
    assert labels == [str(number) for number in range(count)]
    joined = packets < 1500
    looks = {(h.get_marker(), h.get_linewidth() if joined else 0) for h in handles}
    looks_in_colour = {(h.get_marker(), h.get_linewidth() if joined else 0, h.get_color()) for h in handles}
    assert len(looks) >= min(count, 7) and len(looks_in_colour) == count
    marked = [handle.get_markevery() for handle in handles[4 if joined else 1 :]]
    assert all(0 < len(each) <= 32 for each in marked)
    assert len(set().union(*marked[:6])) == sum(map(len, marked[:6])), "no mark lies on another of another form"
    plt.close("all")


def test_an_axes_given_is_the_one_drawn_on_and_returned(cases):
    figure, axes = plt.subplots(2)
    for draw in (plots.delay, plots.ipdv, plots.histogram, plots.cdf):
        assert draw(cases, "EF", axes[1]) is axes[1]
    assert not axes[0].lines
    assert figure.axes == list(axes)


def test_lines_added_to_an_axes_take_new_colours():
    result = two_flows()
    ax = plots.delay(result, "burst")
    plots.delay(result, "calm", ax)
    assert len({to_hex(line.get_color()) for line in ax.lines}) == 2
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["burst", "calm"]


@pytest.mark.parametrize("draw", [plots.delay, plots.ipdv, plots.histogram, plots.occupancy])
def test_what_is_drawn_later_is_in_sight_too_and_axes_may_go_downwards(draw):
    def burst(packets):
        scenario = qs.Scenario([qs.Flow("f", qs.Trace(np.zeros(packets), 1000))], [qs.Port("p", "8 Mbit/s")])
        return qs.run(scenario, duration=0.1, seed=0)

    ax = draw(burst(10))
    draw(burst(50), ax=ax)
    assert min(ax.get_ylim()) <= ax.dataLim.y0 and max(ax.get_ylim()) >= ax.dataLim.y1
    upright = ax.get_ylim()
    down = plt.figure().add_subplot()
    down.invert_yaxis()
    draw(burst(10), ax=down)
    draw(burst(50), ax=down)
    assert down.get_ylim() == pytest.approx(upright[::-1])
    draw(burst(10), ax=(fixed := plt.figure().add_subplot(ylim=(0, 5))))
    assert fixed.get_ylim()[1] == 5, "whoever sets a range keeps it"


def test_as_many_packets_as_one_likes_may_be_asked_for(cases):
    result = cases["PQ, best effort"]
    for first in (2**31 - 1, 2**40):
        assert len(plots.delay(result, "EF", first=first).lines[0].get_xdata()) == len(result["EF"].seq)


def test_a_flow_without_packets_is_an_empty_line():
    never = qs.Flow("never", qs.Trace([], []))
    result = qs.run(qs.Scenario([never], [qs.Port("link", 1e6)]), duration=1, seed=0)
    for draw in (plots.delay, plots.ipdv, plots.histogram, plots.cdf):
        assert draw(result).get_xlabel()


# -- distributions -----------------------------------------------------------------------------------------------------


def test_histogram_counts_every_packet_in_common_bins(cases):
    loaded = {label: result for label, result in cases.items() if label.endswith(", best effort")}
    ax = plots.histogram(loaded, "EF", bins=40)
    outlines = [patch for patch in ax.patches if not patch.get_fill()]
    assert [patch.get_label() for patch in outlines] == list(loaded)
    for patch, result in zip(outlines, loaded.values(), strict=True):
        counts, edges, _ = patch.get_data()
        assert len(counts) == 40
        assert counts.sum() == result["EF"].received
        assert edges[0] == pytest.approx(loaded["PQ, best effort"]["EF"].delay.min() * 1e3)
        assert edges[-1] == pytest.approx(loaded["WFQ, best effort"]["EF"].delay.max() * 1e3)
    assert ax.get_xlabel() == "one-way delay (ms)"
    assert ax.get_ylabel() == "packets"


def test_histogram_takes_edges_in_seconds():
    ax = plots.histogram(two_flows(), "burst", bins=[0, 1.5e-3, 3e-3])
    counts, edges, _ = ax.patches[-1].get_data()
    assert (counts.tolist(), edges.tolist()) == ([3, 2], [0, 1.5, 3])


@pytest.mark.parametrize(
    ("of", "label"), [("ipdv", "ipdv (ms)"), ("abs_ipdv", "|ipdv| (ms)"), ("pdv", "delay above the least (ms)")]
)
def test_distributions_of_other_measures(cases, of, label):
    for draw in (plots.histogram, plots.cdf):
        assert draw(cases, "EF", of=of).get_xlabel() == label


def test_cdf_is_exact():
    ax = plots.cdf(two_flows(), "burst")
    assert drawn(ax)["burst"] == pytest.approx(np.array([[1, 0], [1, 0.6], [2, 1]]))
    assert ax.lines[0].get_drawstyle() == "steps-post"
    assert ax.get_ylabel() == "share of packets"


def test_complement_of_the_cdf_is_logarithmic():
    ax = plots.cdf(two_flows(), "burst", complement=True)
    assert drawn(ax)["burst"] == pytest.approx(np.array([[1, 1], [1, 0.4], [2, 0]]))
    assert ax.get_yscale() == "log"
    assert ax.get_ylabel() == "share of packets above"


def test_cdf_of_a_summary_is_within_its_error_of_the_exact_one(cases):
    exact = cases["PQ, best effort"]
    summary = qs.run(exact.scenario, duration=20, warmup=5, seed=1, record="summary")
    points = drawn(plots.cdf(summary, "EF"))["EF"]
    assert len(points) == 1001
    quantiles = exact["EF"].delay_stats.quantile(points[1:, 1]) * 1e3
    assert (np.abs(points[1:, 0] / quantiles - 1) <= 0.01).all()
    plots.cdf(summary, "EF", of="abs_ipdv")
    for refused in (lambda: plots.cdf(summary, "EF", of="pdv"), lambda: plots.delay(summary, "EF")):
        with pytest.raises(qs.ScenarioError, match="packets"):
            refused()


# -- what is refused ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("draw", "words"),
    [
        (lambda r: plots.delay(r, "nobody"), ("flow", "nobody", "burst, calm")),
        (lambda r: plots.delay(r, x="size"), ("x", "size", "packet")),
        (lambda r: plots.delay(r, unit="min"), ("unit", "min", "us")),
        (lambda r: plots.ipdv(r, first=0), ("first", "0", "1")),
        (lambda r: plots.ipdv(r, absolute="no"), ("absolute", "True or False", "no")),
        (lambda r: plots.cdf(r, complement=np.array([1, 2])), ("complement", "True or False")),
        (lambda r: plots.budget(r, by_port="no"), ("by_port", "True or False", "no")),
        (lambda r: plots.histogram(r, of="loss"), ("of", "loss", "abs_ipdv")),
        (lambda r: plots.histogram(r, bins=0), ("bins", "0", "1")),
        (lambda _: plots.cdf([]), ("results", "[]")),
        (lambda r: plots.cdf([r, 3]), ("results", "got 3")),
        (lambda r: plots.delay(r["burst"]), ("results", "a Result", 'give the whole result, and flow="burst"')),
        (lambda _: plots.cdf("EF"), ("results", "EF")),
        (lambda _: plots.cdf(None), ("results", "None")),
        (lambda r: plots.save(plots.cdf(r).figure, "figure.bmp"), ("path", "figure.bmp", ".svg")),
    ],
)
def test_a_wrong_argument_is_refused_by_name_value_and_bound(draw, words):
    with pytest.raises(qs.ScenarioError) as error:
        draw(two_flows())
    assert all(word in str(error.value) for word in words), str(error.value)


# -- files -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("suffix", ["png", "svg", "pdf"])
def test_a_file_of_the_same_figure_is_the_same_bytes(cases, tmp_path, suffix):
    for name in ("one", "other"):
        plots.save(plots.delay(cases, "EF", first=50).figure, tmp_path / f"{name}.{suffix}")
    one, other = ((tmp_path / f"{name}.{suffix}").read_bytes() for name in ("one", "other"))
    assert one == other
    assert len(one) > 5000


def test_labels_can_be_read_in_an_svg(cases, tmp_path):
    plots.save(plots.delay(cases, "EF", first=50).figure, tmp_path / "delay.svg")
    text = (tmp_path / "delay.svg").read_text()
    assert "<dc:date>" not in text
    assert "one-way delay (ms)" in text


# -- names, and arguments that cannot be -------------------------------------------------------------------------------


def named_flows(*names, port="link"):
    flows = [qs.Flow(name, qs.Trace(np.zeros(5), 1000)) for name in names]
    return qs.run(qs.Scenario(flows, [qs.Port(port, "8 Mbit/s")]), duration=0.1, seed=0)


@pytest.mark.parametrize("draw", [plots.delay, plots.ipdv, plots.histogram, plots.cdf, plots.tail])
def test_names_that_begin_with_an_underscore_are_in_the_legend_and_colours_go_on(draw):
    result = named_flows("a", "_b")
    ax = draw(result)
    assert [text.get_text().strip() for text in ax.get_legend().get_texts()] == ["a", "_b"]
    draw({"_c": result}, "a", ax)
    assert [text.get_text().strip() for text in ax.get_legend().get_texts()] == ["a", "_b", "_c"]
    handles = ax.get_legend_handles_labels()[0]
    colours = [each.get_edgecolor() if draw is plots.histogram else each.get_color() for each in handles]
    assert len({to_hex(colour) for colour in colours}) == 3


@pytest.mark.parametrize(
    "draw", [plots.delay, plots.ipdv, plots.histogram, plots.cdf, plots.tail, plots.box, plots.budget]
)
def test_dollars_in_names_are_no_formulas(draw):
    ax = draw({r"p$\frac{": named_flows("a$x", "$")})
    shown = [text.get_text() for text in (ax.get_legend() or ax).findobj(mpl.text.Text)]
    shown += [text.get_text() for text in (*ax.get_xticklabels(), *ax.get_yticklabels())]
    assert any(text.replace(r"\$", "$").replace("\n", " ") == r"p$\frac{, a$x" for text in shown)
    ax.figure.canvas.draw()


def test_more_bins_than_there_are_numbers_between_the_values_are_refused():
    """Delays of three hours that differ by 8 ns: a float64 of that size is exact to 1.8 ps."""
    flow = qs.Flow("f", qs.Trace(np.array([0, 1.0]), [1000, 1001]))
    result = qs.run(qs.Scenario([flow], [qs.Port("far", "1 Gbit/s", propagation="10000 s")]), duration=2.0, seed=0)
    assert plots.histogram(result, bins=50)
    match = r"bins must be fewer, got 10000 \(the values, from 10000\.0\d+ to 10000\.0\d+, are too close together for"
    with pytest.raises(qs.ScenarioError, match=match):
        plots.histogram(result, bins=10_000)


def test_dollars_in_the_names_of_ports_are_no_formulas():
    result = named_flows("a$x", port=r"p$\frac{$")
    for ax in (plots.timeline(result), plots.occupancy(result), plots.delay(result, "a$x")):
        ax.figure.canvas.draw()


@pytest.mark.parametrize(
    ("draw", "message"),
    [
        (lambda r: plots.histogram(r, bins=1.5), "bins must be a whole number .* got 1.5"),
        (lambda r: plots.histogram(r, bins=0), "bins must be .* got 0"),
        (lambda r: plots.histogram(r, bins=10**9), "bins must be .* got 1000000000"),
        (lambda r: plots.histogram(r, bins=[]), r"bins must be .* got \[\]"),
        (lambda r: plots.histogram(r, bins=[2, 1]), r"bins must be .* got \[2, 1\]"),
        (lambda r: plots.histogram(r, bins=[float("nan"), 1]), r"bins must be .* got \[nan, 1\]"),
        (lambda r: plots.histogram(r, bins=None), "bins must be .* got None"),
        (lambda r: plots.histogram(r, bins="auto"), 'bins must be .* got "auto"'),
        (lambda r: plots.histogram(r, of=["delay"]), "of must be one of delay, "),
        (lambda r: plots.delay(r, flow=5), "flow must be the name of a flow, .* got 5"),
        (lambda r: plots.delay(r, flow=[]), r"flow must be the name of a flow, .* got \[\]"),
        (lambda r: plots.delay(r, flow="b"), r'flow must be flows of the result \(a\), got "b"'),
        (lambda r: plots.delay(r, unit=["s"]), r"unit must be one of s, ms, us, ns, got \['s'\]"),
        (lambda r: plots.delay(r, x=["time"]), "x must be one of"),
        (lambda r: plots.delay(r, ax="x"), 'ax must be one matplotlib Axes, or None .* got "x"'),
        (lambda r: plots.timeline(r, None, 5), "ax must be one matplotlib Axes, or None .* got 5"),
        (lambda r: plots.timeline(r, flow=["a"]), r"flow must be one that passes link \(a\), got"),
        (lambda r: plots.occupancy(r, ["link"]), r"port must be one of the scenario \(link\), got"),
        (lambda r: plots.save("x", "x.png"), 'figure must be a Figure, .* got "x"'),
        (lambda r: plots.save(mpl.figure.Figure(), 5), "path must be ending in .* got 5"),
    ],
)
def test_arguments_that_cannot_be_are_refused_and_leave_no_figure_open(draw, message):
    result = named_flows("a")
    with pytest.raises(qs.ScenarioError, match=message):
        draw(result)
    assert not plt.get_fignums()


def test_axes_without_right_angles_are_refused_and_stay_as_they_are():
    ax = plt.figure().add_subplot(projection="polar")
    with pytest.raises(qs.ScenarioError, match=r"ax must be Axes with x and y at right angles, .*polar"):
        plots.delay(named_flows("a"), ax=ax)
    assert len(plt.get_fignums()) == 1 and not ax.lines


def test_a_figure_that_fails_half_way_is_closed(monkeypatch):
    def fail(ax, *, grid="both"):
        raise KeyboardInterrupt

    mine = plt.figure()
    monkeypatch.setattr(plots, "finish", fail)
    with pytest.raises(KeyboardInterrupt):
        plots.delay(named_flows("a"))
    assert plt.get_fignums() == [mine.number]


@pytest.mark.parametrize("name", sorted(set(plots.__all__) - {"PALETTE"}))
def test_every_figure_has_an_example_that_runs(name):
    function = getattr(plots, name)
    [test] = doctest.DocTestFinder(recurse=False).find(function, name, globs={})
    assert test.examples
    assert doctest.DocTestRunner().run(test).failed == 0


# -- legends -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("entries", "rows"),
    [(2, [2]), (4, [4]), (5, [3, 2]), (6, [3, 3]), (7, [4, 3]), (9, [3, 3, 3]), (10, [4, 4, 2])],
)
def test_the_rows_of_a_legend_are_even(entries, rows):
    ax = plots.delay({"abcdefghij"[n]: named_flows("a") for n in range(entries)})
    ax.figure.canvas.draw()
    heights = [round(text.get_window_extent().y0) for text in ax.get_legend().get_texts()]
    assert [heights.count(height) for height in sorted(set(heights), reverse=True)] == rows
