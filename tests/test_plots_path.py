# SPDX-License-Identifier: MIT
"""Figures of the path: the delay budget, what waits at a port, single packets on their way."""

import bisect
import itertools

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
import pytest
from matplotlib.patches import Polygon

import qossim as qs
from qossim import _figure_path, plots
from qossim.experiments import ef_wfq_vs_pq, ef_wfq_vs_pq_cases

pytestmark = pytest.mark.usefixtures("no_window")


@pytest.fixture(scope="module")
def cases():
    return ef_wfq_vs_pq_cases(duration=8, warmup=2, seed=1)


@pytest.fixture(scope="module")
def loaded(cases):
    return cases["PQ, best effort"]


def by_hand(**ring):
    """Packets of 1000, 1000 and 500 bytes at once; a byte takes a microsecond, a particle holds 500 bytes."""
    flow = qs.Flow("all", qs.Trace([0.0, 0.0, 0.0], [1000, 1000, 500]))
    port = qs.Port("link", "8 Mbit/s", tx_ring=qs.TxRing(3, particle=500, **ring) if ring else None)
    return qs.run(qs.Scenario([flow], [port]), duration=0.01, seed=0)


def steps(ax, label):
    line = next(line for line in ax.lines if line.get_label() == label)
    return [tuple(point) for point in line.get_xydata().round(9).tolist()]


# -- budget ------------------------------------------------------------------------------------------------------------


def test_bars_of_the_budget_are_the_stages_and_add_up_to_the_mean_delay(cases):
    ax = plots.budget(cases, "EF")
    for place, result in enumerate(cases.values()):
        widths = [bar.get_width() for bar in ax.patches if round(bar.get_y() + bar.get_height() / 2) == place]
        stages = 1e3 * result["EF"].delay_budget().sum()
        assert widths == pytest.approx([width for width in stages if width > 0])
        assert sum(widths) == pytest.approx(1e3 * result["EF"].delay.mean())
    assert [text.get_text() for text in ax.get_yticklabels()] == list(cases)
    assert [text.get_text() for text in ax.get_legend().get_texts()] == [
        "queue",
        "ring",
        "serialisation",
        "propagation",
    ]
    assert ax.get_xlabel() == "mean one-way delay (ms)"


def test_stages_of_the_budget_differ_in_hatching(loaded):
    hatches = [bar.get_hatch() for bar in plots.budget(loaded, "EF").patches]
    assert len(set(hatches)) == len(hatches) == 4


def test_the_budget_may_be_told_port_by_port(loaded):
    widths = [bar.get_width() for bar in plots.budget(loaded, "EF", by_port=True).patches]
    stages = 1e3 * loaded["EF"].delay_budget().to_numpy().ravel()
    assert widths == pytest.approx(stages[stages > 0])


def test_the_budget_of_a_summary_and_of_no_packets(loaded):
    summary = qs.run(loaded.scenario, duration=8, warmup=2, seed=1, record="summary")
    exact, streamed = (plots.budget(result, "EF").patches for result in (loaded, summary))
    assert [bar.get_width() for bar in streamed] == pytest.approx([bar.get_width() for bar in exact])
    never = qs.Flow("never", qs.Trace([], []))
    ax = plots.budget(qs.run(qs.Scenario([never], [qs.Port("link", 1e6)]), duration=1, seed=0))
    assert [text.get_text() for text in ax.texts] == ["no packet received"]


# -- occupancy ---------------------------------------------------------------------------------------------------------


def test_queue_and_ring_by_hand():
    ax = plots.occupancy(by_hand(free="start"), stop=0.003)
    # The wire takes the first packet, the ring the other two: 2 particles and 1.
    assert steps(ax, "queue (packets)") == [(0, 0), (3, 0)]
    assert steps(ax, "ring (particles)") == [(0, 3), (1, 1), (2, 0), (3, 0)]
    assert ax.get_xlabel() == "time (ms)"
    ax = plots.occupancy(by_hand(free="end"), stop=0.003)
    # Particles of the first packet are in use while it is sent.
    assert steps(ax, "ring (particles)") == [(0, 4), (1, 3), (2, 1), (2.5, 0), (3, 0)]
    assert steps(ax, "queue (packets)") == [(0, 1), (1, 0), (3, 0)]


def test_particles_come_back_one_by_one_if_the_ring_says_so():
    ax = plots.occupancy(by_hand(free="particle"), stop=0.003)
    assert steps(ax, "ring (particles)") == [(0, 4), (0.5, 3), (1, 3), (1.5, 2), (2, 1), (2.5, 0), (3, 0)]


def test_a_packet_cut_off_by_the_end_of_the_run_had_given_back_some_of_its_particles():
    flow = qs.Flow("all", qs.Trace([0.0, 0.0, 0.0], 1500))
    port = qs.Port("link", "8 Mbit/s", tx_ring=qs.TxRing(9, particle=500, free="particle"))
    result = qs.run(qs.Scenario([flow], [port]), duration=0.0026, seed=0, drain=False)
    ax = plots.occupancy(result)
    # The second is sent from 1.5 ms on: one particle came back at 2 ms and one at 2.5 ms, its last would have at 3 ms.
    came_back = [(0, 9), (0.5, 8), (1, 7), (1.5, 6), (2, 5), (2.5, 4), (2.6, 4)]
    assert steps(ax, "ring (particles)") == came_back
    assert steps(plots.occupancy(result, stop=0.005), "ring (particles)") == [*came_back[:-1], (5, 4)]
    for instant, standing in came_back[:-1]:
        unit = min(0.9, 5.5 / 9)
        high = [
            bar.heights[bisect.bisect(bar.times, 1e9 * instant) - 1]
            for bar in ring_bars(result, 0, 0.0026)
            if bar.times[0] <= 1e9 * instant < bar.times[-1]
        ]
        assert sum(high) == pytest.approx(unit * standing)
    mean = sum((end - begin) * high for (begin, high), (end, _) in itertools.pairwise(came_back)) / 2.6
    assert result.ports["link"].mean_ring == pytest.approx(mean)


def test_without_a_ring_only_the_queue_is_drawn():
    ax = plots.occupancy(by_hand(), stop=0.003)
    assert [line.get_label() for line in ax.lines] == ["queue (packets)"]
    assert steps(ax, "queue (packets)") == [(0, 2), (1, 1), (2, 0), (3, 0)]
    assert ax.get_ylabel() == "packets waiting at link" and ax.get_legend() is None


def test_the_ring_hides_no_queue():
    *queues, ring = plots.occupancy(by_hand(free="end")).lines[:-1]
    assert ring.get_label() == "ring (particles)" and queues
    assert all(ring.get_zorder() < queue.get_zorder() and queue.get_linestyle() == "-" for queue in queues)


@pytest.mark.parametrize("draw", [plots.occupancy, plots.timeline])
def test_axes_whose_ticks_somebody_else_writes_are_drawn_on(draw):
    ax = plt.figure().subplots()
    ax.xaxis.set_major_formatter("{x:.1f} of mine")
    draw(by_hand(free="start"), ax=ax, stop=0.003)
    ax.figure.canvas.draw()
    assert ax.get_xlabel() and all(each.get_text().endswith(" of mine") for each in ax.get_xticklabels())


def test_the_most_that_waits_is_what_the_counters_say(loaded):
    ax = plots.occupancy(loaded, "near", start=2, stop=8)
    for name, counters in loaded.port("near").classes.items():
        drawn = max(height for _, height in steps(ax, f"{name} queue (packets)"))
        assert drawn == counters.largest_queue


def test_a_window_begins_with_what_stands_there(loaded):
    whole = steps(plots.occupancy(loaded), "BE queue (packets)")
    window = steps(plots.occupancy(loaded, start="4 s", stop="4.1 s"), "BE queue (packets)")
    assert window[0] == (4000, [height for time, height in whole if time <= 4][-1])
    assert window[-1][0] == 4100


# -- timeline ----------------------------------------------------------------------------------------------------------


def said(ax):
    return [text.get_text() for text in ax.texts if text.get_text()]


def test_the_timeline_tells_why_a_ring_costs_ef_two_best_effort_transmissions(loaded):
    ax = plots.timeline(loaded)
    assert "ring 9.33 ms\nbehind 2 BE" in said(ax)
    assert "wire 4.66 ms" in said(ax)
    lanes = [text.get_text().split("\n")[0] for text in ax.get_yticklabels()]
    assert lanes == ["EF queue", "BE queue", "ring of 5", "wire"]
    assert ax.get_xlabel() == "time at near (ms)"


def test_without_best_effort_nothing_waits(cases):
    assert [text for text in said(plots.timeline(cases["PQ, no best effort"])) if " ms" in text] == ["wire 4.66 ms"]


def test_bars_of_the_wire_are_the_transmissions(loaded):
    ax = plots.timeline(loaded, seq=100)
    hop, row = loaded.hop("near"), loaded["EF"].rows.start + 100
    bars = [patch.get_xy() for patch in ax.patches if isinstance(patch, Polygon) and patch.get_zorder() == 3]
    queue, ring, wire = ((bar[:, 0].min(), bar[:, 0].max()) for bar in bars)
    queued, handed, start, end = (hop[name][row] / 1e9 for name in ("queued", "ring", "start", "end"))
    assert (*queue, *ring, *wire) == pytest.approx((queued, handed, handed, start, start, end))


def test_packets_in_one_lane_never_overlap(loaded):
    boxes = []
    for patch in plots.timeline(loaded).patches:
        points = patch.get_xy()
        half = (len(points) - 1) // 2
        lower, upper = points[:half], points[half : 2 * half][::-1]
        boxes += [(lower[i, 0], lower[i + 1, 0], lower[i, 1], upper[i, 1]) for i in range(0, half - 1, 2)]
    for number, (begin, end, low, high) in enumerate(boxes):
        for other in boxes[:number]:
            apart = end <= other[0] + 1e-9 or begin >= other[1] - 1e-9 or high <= other[2] or low >= other[3]
            assert apart, (begin, end, low, high, other)


def test_in_a_ring_whose_particles_come_back_one_by_one_packets_shrink_as_they_are_sent():
    result = by_hand(free="particle")
    ax = plots.timeline(result, seq=0, start=0, stop=0.003)
    (ring,) = (patch.get_xy() for patch in ax.patches if patch.get_zorder() == 3 and len(patch.get_xy()) == 9)
    assert sorted(set(ring[:, 0].round(9))) == [0, 0.5, 1], "a particle of 500 bytes is sent in half a millisecond"
    lower, upper = ring[:4], ring[4:8][::-1]
    first, second = (upper - lower)[[0, 2], 1]
    assert first == pytest.approx(2 * second, rel=0.1)


@pytest.mark.parametrize("free", ["start", "end", "particle"])
def test_the_ring_of_the_timeline_is_as_full_as_that_of_the_occupancy(free):
    flow = qs.Flow("all", qs.Poisson(rate="7 Mbit/s", size=qs.Sizes([1500, 200])))
    port = qs.Port("link", "8 Mbit/s", tx_ring=qs.TxRing(6, particle=512, free=free))
    result = qs.run(qs.Scenario([flow], [port]), duration=0.1, seed=1)
    pen_bars = ring_bars(result, 0.02, 0.06)
    known = plots.occupancy(result, start=0.02, stop=0.06)
    line = next(line for line in known.lines if line.get_label() == "ring (particles)")
    times, standing = line.get_xdata(), line.get_ydata()
    for instant in np.linspace(20.01, 59.99, 97):
        full = sum(
            high
            for bar in pen_bars
            for begin, end, high in zip(bar.times, bar.times[1:], bar.heights, strict=False)
            if begin / 1e9 <= instant < end / 1e9
        )
        assert full / min(0.9, 5.5 / 6) == pytest.approx(standing[np.searchsorted(times, instant, side="right") - 1])


def ring_bars(result, start, stop):
    """The bars that the timeline draws in the lane of the ring."""
    seen = _figure_path._seen(result, None)
    begin, end = round(start * 1e12), round(stop * 1e12)
    ax = plt.subplots()[1]
    pen = _figure_path._Pen(ax, seen, result.scenario, int(np.argmax(seen.queued > begin)), begin, end)
    shown = np.flatnonzero((seen.queued >= 0) & (seen.queued < end) & ((seen.end > begin) | (seen.end < 0)))
    return pen.lanes(shown)[-2].bars


def test_where_nothing_waits_the_occupancy_counts_whole_packets():
    result = qs.run(
        qs.Scenario([qs.Flow("a", qs.Trace([0.0], 1000))], [qs.Port("link", "8 Mbit/s")]), duration=0.01, seed=0
    )
    assert plots.occupancy(result).get_ylim() == (0, 1)


def test_long_names_of_flows_classes_and_ports_are_shortened():
    flow, classes = qs.Flow("f" * 92, qs.Trace([0.0], 1000)), [qs.TrafficClass("c" * 92)]
    result = qs.run(qs.Scenario([flow], [qs.Port("p" * 92, "8 Mbit/s", classes=classes)]), duration=0.01, seed=0)
    for ax in (plots.timeline(result), plots.occupancy(result), plots.budget(result)):
        ax.figure.canvas.draw()
        texts = (ax.xaxis.label, ax.yaxis.label, *ax.get_yticklabels())
        for extent in (text.get_window_extent() for text in texts if "..." in text.get_text()):
            assert extent.x0 >= -1 and extent.y0 >= -1
            assert extent.x1 <= ax.figure.bbox.x1 + 1 and extent.y1 <= ax.figure.bbox.y1 + 1


def test_the_window_is_as_given(loaded):
    assert plots.timeline(loaded, start=4.0, stop=4.1).get_xlim() == pytest.approx((4000, 4100))
    ax = plots.timeline(loaded, seq=100, packets=3)
    hop, row = loaded.hop("near"), loaded["EF"].rows.start + 100
    begin = sorted(start for start in hop["start"].tolist() if 0 <= start <= hop["start"][row])[-3]
    assert ax.get_xlim()[0] == pytest.approx(min(begin, hop["queued"][row]) / 1e9)


def test_another_flow_and_another_port_may_be_watched(loaded):
    ax = plots.timeline(loaded, flow="BE")
    assert ax.get_xlabel().startswith("time at near (ms), around BE "), "no bar is long enough to say so"
    seq = int(loaded["BE"].seq[500])
    times = {name: times[loaded["BE"].rows][seq] / 1e12 for name, times in loaded.hop("near").items()}
    ax = plots.timeline(loaded, flow="BE", seq=seq, start=times["ring"], stop=times["end"] + 0.005)
    assert f"BE {seq}" in said(ax)
    assert ax.get_xlabel() == "time at near (ms)"
    assert plots.timeline(loaded, "far").get_xlabel() == "time at far (ms)"
    assert len(plots.timeline(by_hand()).get_yticks()) == 2, "no lane for a ring that is not there"


def test_a_long_ring_is_drawn_too():
    scenario = ef_wfq_vs_pq(tx_ring_limit=40)
    ax = plots.timeline(qs.run(scenario, duration=4, warmup=2, seed=1))
    assert any("behind 2 EF and 12 BE" in text for text in said(ax))


# -- what is refused ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("draw", "words"),
    [
        (lambda r: plots.timeline(r, "middle"), ("port", "middle", "near, far")),
        (lambda r: plots.timeline(r, flow="voice"), ("flow", "voice", "EF, BE")),
        (lambda r: plots.timeline(r, "far", flow="BE"), ("flow", "BE", "far (EF)")),
        (lambda r: plots.timeline(r, seq=10**6), ("seq", "1000000")),
        (lambda r: plots.timeline(r, start=3, stop=2), ("stop", "after start", "2")),
        (lambda r: plots.timeline(r, start=0, stop=8), ("start and stop", "400")),
        (lambda r: plots.timeline(r, start=3, packets=3), ("packets", "3")),
        (lambda r: plots.timeline(r, start=100, stop=101), ("flow", "EF")),
        (lambda r: plots.timeline([r]), ("result", "one Result")),
        (lambda r: plots.occupancy(r, "middle"), ("port", "middle")),
        (lambda r: plots.occupancy(r, start=9), ("stop", "8")),
        (lambda r: plots.budget(r, "voice"), ("flow", "voice")),
        (lambda r: plots.budget(r, unit="min"), ("unit", "min")),
    ],
)
def test_a_wrong_argument_is_refused_by_name_value_and_bound(loaded, draw, words):
    with pytest.raises(qs.ScenarioError) as error:
        draw(loaded)
    assert all(word in str(error.value) for word in words), str(error.value)
    assert not plt.get_fignums(), "nothing is left behind by what was refused"


@pytest.mark.parametrize("draw", [plots.timeline, plots.occupancy])
def test_a_run_without_packets_says_what_to_record(loaded, draw):
    summary = qs.run(loaded.scenario, duration=1, seed=1, record="summary")
    with pytest.raises(qs.ScenarioError, match='record="packets"'):
        draw(summary)


# -- manners -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["budget", "occupancy", "timeline"])
def test_nothing_but_the_axes_is_touched(loaded, name):
    figure, axes = plt.subplots(1, 2)
    before = dict(mpl.rcParams)
    assert getattr(plots, name)(loaded, ax=axes[1]) is axes[1]
    assert dict(mpl.rcParams) == before
    assert not axes[0].has_data()
    assert plt.get_fignums() == [figure.number]
    assert np.isfinite(axes[1].get_xlim()).all()


@pytest.mark.parametrize(("others", "told"), [(1, False), (2, True), (8, True), (9, False)])
def test_a_timeline_tells_which_flow_looks_how_if_there_are_several_others(others, told):
    names = [f"other {number} of a name that is long" for number in range(others)]
    sources = [qs.Flow(name, qs.CBR(pps=100, size=500, phase=1e-4 * n)) for n, name in enumerate(names)]
    voice = qs.Flow("voice", qs.CBR(pps=100, size=500, phase="2 ms"))
    result = qs.run(qs.Scenario([voice, *sources], [qs.Port("link", "8 Mbit/s")]), duration=0.1, seed=0)
    ax = plots.timeline(result, flow="voice", seq=2, start=0.02, stop=0.04)
    ax.figure.canvas.draw()
    assert ax.get_window_extent().width > 0.8 * ax.figure.bbox.width
    key = ax.get_legend()
    assert (key is not None) == told
    if key is not None:
        extent = key.get_window_extent()
        assert extent.x0 > 0 and extent.x1 < ax.figure.bbox.x1 and extent.y0 >= ax.get_window_extent().y1
        assert [text.get_text() for text in key.get_texts()] == names
        looks = {(patch.get_facecolor(), patch.get_hatch()) for patch in key.get_patches()}
        assert len(looks) == others
