# SPDX-License-Identifier: MIT
"""The drawing of a scenario: it says what there is, and its words neither overlap nor leave the picture."""

from __future__ import annotations

from itertools import combinations

import matplotlib
import pytest

import qossim as qs

matplotlib.use("Agg")

ef = qs.Flow("EF", qs.CBR(pps=300e3 / (1024 * 8), size=1006), dscp="EF")
be = qs.Flow("BE", qs.Poisson("1.6 Mbit/s", qs.Sizes([40, 1500])))


def pvc(name, scheduler):
    return qs.Port(
        name,
        "2 Mbit/s",
        framing=qs.AAL5(),
        scheduler=scheduler,
        classes=[
            qs.TrafficClass(
                "EF",
                match="EF",
                bandwidth="400 kbit/s",
                queue=qs.DropTail(10),
                police=qs.TokenBucket("400 kbit/s", 8000),
            ),
            qs.TrafficClass("BE", bandwidth="1600 kbit/s", queue=qs.DropTail(64)),
        ],
        tx_ring=qs.TxRing(5),
        propagation="0.691 ms",
    )


def crowded():
    """Eight classes, eight flows with routes of all kinds, three ports, long names."""
    names = ["network control", "voice", "video $x_2$", "signalling", "gold", "silver", "bronze", "default & the rest"]
    marks = ["CS6", "EF", ["AF41", "AF42", "AF43"], "CS5", ["AF31", "AF32"], list(range(40)), ["AF11", 5], None]
    classes = [
        qs.TrafficClass(
            name,
            match=mark,
            bandwidth=f"{i + 1} Mbit/s",
            quantum=1500 + i,
            queue=qs.DropTail(64, bytes=10**6, time="20 ms") if i % 2 else qs.DropTail(),
            police=qs.TokenBucket("10 Mbit/s", 15000) if i % 3 == 0 else None,
        )
        for i, (name, mark) in enumerate(zip(names, marks, strict=True))
    ]
    routes = [None, ["access", "egress"], ["core"], ["egress", "access"], None, ["access", "core"], None, None]
    flows = [
        qs.Flow(name, qs.Trace([0], [40]) if i == 3 else qs.CBR("64 kbit/s", 200), dscp=i, route=route)
        for i, (name, route) in enumerate(zip(names, routes, strict=True))
    ]
    ports = [
        qs.Port("access", "100 Mbit/s", framing=qs.Ethernet(tags=1), scheduler=qs.DRR(), classes=classes),
        qs.Port("core", "10 Gbit/s", framing=qs.Ethernet()),
        qs.Port("egress", "34 Mbit/s", scheduler=qs.SCFQ(), classes=classes, tx_ring=qs.TxRing(128, free="particle")),
    ]
    return qs.Scenario(flows, ports)


EXAMPLES = {
    "one port": qs.Scenario([ef, be], [pvc("out", qs.PQ())]),
    "two ports": qs.Scenario([ef, be.replace(route=["near"])], [pvc("near", qs.SCFQ()), pvc("far", qs.WFQ())]),
    "crowded": crowded(),
    "many flows": qs.Scenario(
        [qs.Flow(f"call {i}", qs.CBR(pps=50, size=200), dscp="EF") for i in range(500)] + [be],
        [pvc("x" * 200, qs.PQ())],
    ),
    "bare": qs.Scenario([qs.Flow("f" * 200, qs.CBR(1, 1))], [qs.Port("p", 1)]),
}


def words(ax):
    """What is written, with the boxes it takes."""
    renderer = ax.figure.canvas.get_renderer()
    return [(text.get_text(), text.get_window_extent(renderer)) for text in ax.texts if text.get_text()]


@pytest.fixture(params=EXAMPLES, name="ax")
def drawn(request):
    from matplotlib import pyplot as plt

    ax = EXAMPLES[request.param].draw()
    ax.figure.canvas.draw()
    yield ax
    plt.close(ax.figure)


def test_words_do_not_overlap(ax):
    for (a, box), (b, other) in combinations(words(ax), 2):
        assert not (box.shrunk(0.98, 0.8).overlaps(other.shrunk(0.98, 0.8))), (a, b)


def test_words_stay_in_the_picture_and_can_be_read(ax):
    picture = ax.get_window_extent()
    for word, box in words(ax):
        assert picture.x0 <= box.x0 and box.x1 <= picture.x1, word
        assert picture.y0 <= box.y0 and box.y1 <= picture.y1, word
    assert min(text.get_fontsize() for text in ax.texts) >= 7


def test_the_drawing_says_what_there_is():
    said = " | ".join(text.get_text() for text in EXAMPLES["two ports"].draw().texts)
    for part in (
        "near",
        "far",
        "SCFQ",
        "WFQ",
        "CBR 295 kbit/s, 1006 B",
        "Poisson 1.6 Mbit/s, 40 to 1500 B",
        "2 Mbit/s · AAL5 llc-snap · propagation 691 us",
        "EF · 400 kbit/s",
        "policed to 400 kbit/s, 8000 B",
        "10 packets",
        "the rest · 1.6 Mbit/s",
        "5 particles of 512 B",
        "overshoot, free at start",
        "EF received",
        "BE received",
    ):
        assert part in said
    matplotlib.pyplot.close("all")


def test_it_is_drawn_where_it_is_asked_to_be():
    from matplotlib import pyplot as plt

    figure, (left, right) = plt.subplots(1, 2, figsize=(12, 4))
    assert EXAMPLES["one port"].draw(right) is right
    assert right.texts
    assert not left.texts
    assert len(plt.get_fignums()) == 1
    full = EXAMPLES["one port"].draw()
    assert right.texts[0].get_fontsize() < full.texts[0].get_fontsize(), "lettering shrinks with the drawing"
    plt.close("all")
    del figure
