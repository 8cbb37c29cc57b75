# SPDX-License-Identifier: MIT
"""Exploring by hand, without a browser: what the controls are, what moving them does, and what is refused."""

import gc
import io
import re
import sys
import weakref

import matplotlib.pyplot as plt
import numpy as np
import pytest
from PIL import Image

import qossim as qs
from qossim.experiments import ef_wfq_vs_pq

AXES = {
    "scheduler": ["wfq", "pq", qs.DRR()],
    "best_effort": [False, True],
    "tx_ring_limit": range(1, 41),
}


def link(*, rate="10 Mbit/s", load=0.5, size=1000, limit=None, flows=("a", "b")):
    """Some flows on one link; an axis may take any of the arguments."""
    port = qs.Port("link", rate, classes=[qs.TrafficClass("all", queue=qs.DropTail(limit))])
    share = qs.units.rate(rate) * qs.units.number(load, "load") / len(flows)
    return qs.Scenario([qs.Flow(name, qs.Poisson(rate=share, size=size)) for name in flows], [port])


def text(panel):
    """All that is written in the panel, without its marks and its picture."""
    shown = (child.value for child in panel.children[1:] if child.layout.visibility != "hidden")
    return re.sub("<[^>]*>", " ", "".join(shown))


def pixels(panel):
    image = np.asarray(Image.open(io.BytesIO(panel.png)))
    assert image.shape[2] == 4 and (image[:, :, 3] == 255).all(), "opaque"
    return image[:, :, :3]


# -- controls ----------------------------------------------------------------------------------------------------------


def test_numbers_get_a_slider_booleans_a_box_and_all_else_a_menu():
    panel = qs.explore(ef_wfq_vs_pq, AXES, seed=1)
    assert {name: type(control).__name__ for name, control in panel.controls.items()} == {
        "scheduler": "Dropdown",
        "best_effort": "Checkbox",
        "tx_ring_limit": "SelectionSlider",
    }
    kinds = {
        name: type(qs.explore(link, {argument: values}, duration=0.01).controls[argument]).__name__
        for name, argument, values in [
            ("an array", "load", np.linspace(0.1, 0.9, 5)),
            ("one number", "size", [100]),
            ("numbers and None", "limit", [None, 1, 10]),
            ("quantities", "rate", ["2 Mbit/s", "10 Mbit/s"]),
            ("objects", "size", [qs.Sizes([40, 1500]), 576]),
        ]
    }
    assert kinds == {
        "an array": "SelectionSlider",
        "one number": "SelectionSlider",
        "numbers and None": "Dropdown",
        "quantities": "Dropdown",
        "objects": "Dropdown",
    }


def test_a_control_begins_where_build_does_else_at_its_first_value():
    panel = qs.explore(ef_wfq_vs_pq, AXES | {"be_pps": [50, 100]}, seed=1)
    assert panel.parameters == {"scheduler": "pq", "best_effort": True, "tx_ring_limit": 5, "be_pps": 50}


def test_values_are_called_by_their_names():
    def build(*, what):
        return link()

    near = qs.Port("near", "1 Mbit/s")

    def labels(values):
        return [name for name, _ in qs.explore(build, {"what": values}, duration=0.01).controls["what"].options]

    assert labels([near, ef_wfq_vs_pq, qs.DRR(), "text", None, (1, 2)]) == [
        "near",
        "ef_wfq_vs_pq",
        "DRR",
        "text",
        "None",
        "(1, 2)",
    ]
    assert labels({"short": 40, "long": 1500}) == ["short", "long"], "or by those given"


def test_values_that_are_equal_but_differ_in_kind_are_told_apart():
    def build(*, what):
        return link(limit=1 if what is True else None)

    panel = qs.explore(build, {"what": [True, 1, None]}, duration=1)
    panel.controls["what"].index = 1
    assert type(panel.parameters["what"]) is int
    assert panel.result.scenario == link()


def test_zipped_parameters_are_one_menu():
    cases = qs.zipped(scheduler=["wfq", "pq", qs.DRR()], tx_ring_limit=[3, 5, 1])
    for axes in (cases, {"case": cases}, {"case": cases, "best_effort": [False, True]}):
        panel = qs.explore(ef_wfq_vs_pq, axes, duration=1)
        assert panel.parameters.items() >= {"scheduler": "pq", "tx_ring_limit": 5}.items()
        menu = panel.controls["case"]
        assert [name for name, _ in menu.options][2] == "scheduler DRR, tx_ring_limit 1"
        menu.index = 2
        assert panel.error is None
        assert panel.parameters.items() >= {"scheduler": qs.DRR(), "tx_ring_limit": 1}.items()


# -- changes -----------------------------------------------------------------------------------------------------------


def test_moving_a_control_changes_result_figures_and_picture():
    panel = qs.explore(ef_wfq_vs_pq, AXES, flow="EF", warmup=5, seed=1)
    seen = []
    for name, value in [("tx_ring_limit", 40), ("scheduler", "wfq"), ("best_effort", False), ("tx_ring_limit", 1)]:
        seen.append((panel.png, text(panel)))
        panel.controls[name].value = value
        assert panel.parameters[name] == value
        expected = qs.run(ef_wfq_vs_pq(**panel.parameters), duration=panel.duration, warmup=5, seed=1)["EF"]
        assert np.array_equal(panel.result["EF"].delay, expected.delay)
        stats = expected.delay_stats
        for figure in (stats.mean, stats.quantile(0.99), stats.max, expected.abs_ipdv_stats.quantile(0.99)):
            assert f"{1e3 * figure:.3f}" in text(panel)
        assert f"0 of {expected.sent}" in text(panel)
    assert len({png for png, _ in seen}) == 4
    assert len({words for _, words in seen}) == 4


def test_the_picture_shows_the_setting_and_not_those_before_it():
    """The background that is kept between two pictures is that of the setting, whatever was drawn before."""
    panel = qs.explore(ef_wfq_vs_pq, AXES, seed=1, duration=5)
    for control, value in [("best_effort", False), ("tx_ring_limit", 20), ("best_effort", True), ("scheduler", "wfq")]:
        panel.controls[control].value = value
    panel.controls["tx_ring_limit"].value = 5
    direct = qs.explore(ef_wfq_vs_pq, {"scheduler": ["wfq", "pq"]}, seed=1, duration=5)
    direct.controls["scheduler"].value = "wfq"
    assert panel.parameters == {"scheduler": "wfq", "best_effort": True, "tx_ring_limit": 5}
    assert panel.png == direct.png


def test_the_picture_is_a_png_of_delay_above_ipdv():
    panel = qs.explore(ef_wfq_vs_pq, AXES, flow="EF", seed=1)
    shape, blue = pixels(panel).shape, (pixels(panel) == (0x00, 0x72, 0xB2)).all(axis=2)
    assert shape[1] > shape[0] > 400
    assert blue[: shape[0] // 2].sum() > 300 and blue[shape[0] // 2 :].sum() > 300


def test_every_setting_sees_the_same_arrivals():
    panel = qs.explore(link, {"limit": [None, 2]}, duration=1)
    before = panel.result
    panel.controls["limit"].value = 2
    assert panel.result.seed == before.seed
    assert np.array_equal(panel.result.packets["sent"], before.packets["sent"])
    assert qs.explore(link, {"limit": [None, 2]}, duration=1).result.seed != before.seed, "another is drawn"


def test_a_flow_that_a_setting_does_not_have_is_left_out_there():
    panel = qs.explore(ef_wfq_vs_pq, AXES, flow=["EF", "BE"], seed=1)
    assert " BE " in text(panel)
    panel.controls["best_effort"].value = False
    assert panel.error is None and " BE " not in text(panel) and " EF " in text(panel)


def test_losses_are_counted():
    panel = qs.explore(link, {"limit": [3, 1]}, duration=5, seed=1, flow="a")
    flow = panel.result["a"]
    assert flow.lost > 0
    assert f"{flow.lost} of {flow.sent} ({100 * flow.loss_ratio:.3g} %)" in text(panel)


def test_a_flow_without_packets_has_no_figures():
    def build(*, seconds):
        never = qs.Flow("never", qs.Trace([seconds], [100]))
        return qs.Scenario([never], [qs.Port("link", "1 Mbit/s")])

    panel = qs.explore(build, {"seconds": [2, 0.5]}, duration=1)
    assert panel.error is None and "0 of 0" in text(panel)
    panel.controls["seconds"].value = 0.5
    assert re.search(r"\(µs\).* 800.000  800.000  800.000  - +0 of 1 ", text(panel)), "one packet, no pair"


def test_the_picture_says_in_words_what_it_shows():
    panel = qs.explore(ef_wfq_vs_pq, AXES, flow="EF", seed=1)
    alt = re.search('alt="([^"]*)"', panel.children[2].value)[1]
    delay = panel.result["EF"].delay * 1e3
    assert alt.startswith("One-way delay and ipdv, packet by packet")
    assert f"EF from {delay.min():.3f} to {delay.max():.3f} ms" in alt


def test_changes_during_a_run_are_dropped_but_for_the_last():
    built = []

    def build(*, load):
        built.append(load)
        if load == 0.2:
            for other in (0.3, 0.4, 0.5):
                panel.controls["load"].value = other
        return link(load=load)

    panel = qs.explore(build, {"load": [0.1, 0.2, 0.3, 0.4, 0.5]}, duration=0.1)
    built.clear()
    panel.controls["load"].value = 0.2
    assert built == [0.2, 0.5]
    assert panel.parameters == {"load": 0.5}


def test_a_panel_leaves_no_figure_behind():
    before = plt.get_fignums()
    panel = qs.explore(link, {"load": [0.1, 0.2]}, duration=0.1)
    panel.controls["load"].value = 0.2
    assert plt.get_fignums() == before
    figure = weakref.ref(panel._picture)
    panel.close()
    del panel
    gc.collect()
    assert figure() is None


# -- time --------------------------------------------------------------------------------------------------------------


def test_a_run_of_the_experiment_returns_within_50_ms_by_default():
    panel = qs.explore(ef_wfq_vs_pq, AXES, seed=1)
    took = [panel.seconds]
    for limit in range(1, 41):
        panel.controls["tx_ring_limit"].value = limit
        took.append(panel.seconds)
    assert panel.duration == 100, "2743 EF packets and 20000 of best effort"
    assert np.median(took) < 0.05
    assert f"100 s simulated in {1e3 * panel.seconds:.1f} ms" in text(panel)


def test_the_default_duration_suits_the_busiest_value_of_every_axis():
    slow = qs.explore(link, {"load": [0.1]}).duration
    fast = qs.explore(link, {"load": [0.1], "rate": ["10 Mbit/s", "10 Gbit/s"]}).duration
    assert fast == slow / 1000
    for panel in (qs.explore(link, {"rate": ["10 Mbit/s", "10 Gbit/s"], "size": [40, 1500]}, seed=1),):
        panel.controls["rate"].value = "10 Gbit/s"
        panel.controls["size"].value = 40
        sent = sum(flow.sent for flow in panel.result.flows.values())
        assert 1000 < sent < 100_000


def test_the_default_duration_is_of_the_time_after_the_warmup():
    without = qs.explore(link, {"load": [0.5]})
    assert qs.explore(link, {"load": [0.5]}, warmup="1 min").duration == 60 + without.duration


def test_a_trickle_is_run_for_100_s():
    assert qs.explore(link, {"rate": ["1 kbit/s"]}).duration == 100


def test_a_run_that_takes_longer_says_so():
    panel = qs.explore(link, {"size": [40]}, duration=200)
    assert panel.seconds > 0.05
    assert "shorter duration" in text(panel)


# -- what goes wrong ---------------------------------------------------------------------------------------------------


def test_what_build_refuses_is_shown_in_place_and_the_controls_stay():
    panel = qs.explore(ef_wfq_vs_pq, {"tx_ring_limit": [5, 0, 20]}, seed=1)
    good = panel.png
    panel.controls["tx_ring_limit"].value = 0
    assert isinstance(panel.error, qs.ScenarioError)
    assert panel.result is None
    assert "limit must be a whole number from 1" in text(panel) and "got 0" in text(panel)
    assert panel.children[2].layout.visibility == "hidden", "no picture of another setting"
    panel.controls["tx_ring_limit"].value = 20
    assert panel.error is None and "must be" not in text(panel)
    assert panel.children[2].layout.visibility == "visible"
    assert panel.result["EF"].delay.max() > 0 and panel.png != good


def test_any_exception_of_build_is_shown_with_its_kind():
    def build(*, load):
        if load:
            raise KeyError("<no such key>")
        return 3

    panel = qs.explore(build, {"load": [0, 1]})
    assert "scenario must be a Scenario, got 3" in text(panel)
    panel.controls["load"].value = 1
    assert "KeyError: '&lt;no such key&gt;'" in text(panel).replace("&#x27;", "'"), "as text, not as a mark"


def test_a_flow_that_no_setting_has_is_told_with_those_there_are():
    assert "(a, b), got" in text(qs.explore(link, {"load": [0.5]}, flow="c"))


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        (lambda: qs.explore(3, AXES), ("build", "got 3")),
        (lambda: qs.explore(link, {}), ("axes", "at least one parameter", "{}")),
        (lambda: qs.explore(link, [("load", [1])]), ("axes", "dict")),
        (lambda: qs.explore(link, {"lode": [1]}), ("axes", "rate, load, size", '"lode"')),
        (lambda: qs.explore(lambda **_: link(), {3: [1]}), ("axes", "named", "got 3")),
        (lambda: qs.explore(link, {"load": []}), ("axis load", "at least one value", "[]")),
        (lambda: qs.explore(link, {"load": 0.5}), ("axis load", "a list", "0.5")),
        (lambda: qs.explore(link, {"rate": "2 Mbit/s"}), ("axis rate", "a list", "2 Mbit/s")),
        (lambda: qs.explore(link, {"load": [0.5, 0.7, 0.5]}), ("axis load", "told apart", "0.5")),
        (lambda: qs.explore(link, {"load": [1, 1.0]}), ("axis load", "told apart", "1.0")),
        (lambda: qs.explore(link, {"load": [0.5]}, flow=3), ("flow", "got 3")),
        (lambda: qs.explore(link, {"load": [0.5]}, flow=[]), ("flow", "[]")),
        (lambda: qs.explore(link, {"load": [0.5]}, first=0), ("first", "got 0")),
        (lambda: qs.explore(link, {"load": [0.5]}, duration=-1), ("duration", "-1")),
        (lambda: qs.explore(link, {"load": [0.5]}, duration=1, warmup=2), ("warmup", "got 2")),
        (lambda: qs.explore(link, {"load": [0.5]}, warmup=-1), ("warmup", "-1")),
        (lambda: qs.explore(link, {"load": [0.5]}, seed=-1), ("seed", "-1")),
    ],
)
def test_a_wrong_argument_is_refused_by_name_value_and_bound(wrong, words):
    with pytest.raises(qs.ScenarioError) as error:
        wrong()
    assert all(word in str(error.value) for word in words), str(error.value)


def test_without_ipywidgets_the_message_names_what_to_install(monkeypatch):
    """The package that is missing, not an extra: that is found from a checkout as well."""
    monkeypatch.delitem(sys.modules, "qossim._explorer", raising=False)
    monkeypatch.setitem(sys.modules, "ipywidgets", None)
    with pytest.raises(ImportError, match=r"pip install 'ipywidgets>=8\.1'"):
        qs.explore(link, {"load": [0.5]})


# -- axes that are hard to show ----------------------------------------------------------------------------------------


def test_of_an_axis_with_many_values_a_few_are_tried_for_the_duration():
    tried = []

    def build(*, size):
        tried.append(size)
        return link(size=size)

    values = [5000, *range(100, 10_100), 50]
    values = list(dict.fromkeys(values))
    panel = qs.explore(build, {"size": values}, seed=1)
    assert len(tried) < 20
    assert {5000, 50, 10_099} < set(tried), "the one it begins at, the least and the greatest"
    assert panel.duration == qs.explore(link, {"size": [5000, 50, 10_099]}, seed=1).duration


@pytest.mark.parametrize("other", [np.array([576, 1500]), 40])
def test_arrays_are_chosen_by_their_labels(other):
    def build(*, sizes):
        return link(size=qs.Sizes(np.atleast_1d(sizes).tolist()))

    for axes in ({"sizes": [np.array([40, 1500]), other]}, qs.zipped(sizes=[np.array([40, 1500]), other])):
        panel = qs.explore(build, axes, duration=0.01, seed=1)
        (control,) = panel.controls.values()
        assert control.value == control.options[0][0] and "array([ 40, 1500])" in control.value.replace("[  ", "[ ")
        control.value = control.options[1][0]
        assert panel.error is None
        assert panel.parameters["sizes"] is other
