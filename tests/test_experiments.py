# SPDX-License-Identifier: MIT
"""The experiment of EF under WFQ and PQ: what the model gives, to the picosecond, and what it says of the report."""

import pickle
from fractions import Fraction

import numpy as np
import pytest

import qossim as qs
from qossim import theory
from qossim.experiments import Cases, ef_wfq_vs_pq, ef_wfq_vs_pq_cases

PS = 10**12
T = 4_664_000_000  # one best-effort transmission: 22 cells of 424 bit at 2 Mbit/s, in picoseconds
PERIOD = Fraction(1024 * 8, 300_000) * PS
BEAT = 1749  # packets after which EF periods and best-effort slots stand to each other as before
LOADED = "WFQ, best effort", "PQ, best effort"


class Window:
    """The first packets of EF sent at or after 5 s, in a run of a minute with phases fixed."""

    def __init__(self, packets=BEAT, duration=60, **parameters):
        self.result = qs.run(ef_wfq_vs_pq(phases="fixed", **parameters), duration=duration, seed=0)
        rows = self.result["EF"].rows
        first = rows.start + int(np.searchsorted(self.result.packets["sent"][rows], 5 * PS))
        assert first + packets <= rows.stop
        self.rows = slice(first, first + packets)
        self.sent = self.result.packets["sent"][self.rows]
        self.delay = self.result.packets["received"][self.rows] - self.sent
        hop = self.result.hop("near")
        self.wait = hop["start"][self.rows] - hop["queued"][self.rows]

    @property
    def ipdv(self):
        return np.abs(np.diff(self.delay))


def milliseconds(wait):
    return [round(float(x) / 1e9, 3) for x in (wait.min(), wait.mean(), wait.max())]


@pytest.fixture(scope="module")
def pq():
    return Window(scheduler="pq")


@pytest.fixture(scope="module")
def cases():
    return ef_wfq_vs_pq_cases(duration=60, warmup=5, seed=1)


# -- the four runs, to the picosecond ----------------------------------------------------------------------------------


@pytest.mark.parametrize("scheduler", ["wfq", "pq", qs.WFQ(), qs.DRR(), qs.FIFO()], ids=str)
def test_without_load_every_packet_takes_the_minimum_under_any_scheduler(scheduler):
    unloaded = Window(scheduler=scheduler, best_effort=False)
    assert set(unloaded.delay.tolist()) == {10_710_000_000}


def test_pq_waits_for_two_packets_and_the_rest_of_a_third(pq):
    to_the_next_slot = -pq.sent % T
    assert np.array_equal(pq.wait, 2 * T + to_the_next_slot)
    assert np.array_equal(pq.delay, pq.wait + 10_710_000_000)
    assert int(pq.wait.min()) == 9_328_000_000
    assert round(int(pq.wait.sum()) / BEAT / 1e3) == 11_658_667, "mean, in nanoseconds"
    assert round(int(pq.wait.max()) / 1e3) == 13_989_333, "in nanoseconds"


def test_wait_under_pq_is_spent_in_the_ring_but_for_what_is_left_of_a_slot(pq):
    hop = pq.result.hop("near")
    assert set((hop["start"] - hop["ring"])[pq.rows].tolist()) == {2 * T}


@pytest.mark.parametrize(
    ("scheduler", "slots"), [("wfq", 3), (qs.SCFQ(), 3), (qs.SCFQ("wire"), 3), (qs.WFQ(), 1)], ids=str
)
def test_fair_queueing_adds_the_same_whole_slots_to_every_packet(pq, scheduler, slots):
    fair = Window(scheduler=scheduler)
    assert np.array_equal(fair.sent, pq.sent)
    assert set((fair.delay - pq.delay).tolist()) == {slots * T}


@pytest.mark.parametrize("scheduler", ["pq", "wfq", qs.WFQ()], ids=str)
def test_ipdv_has_two_heights_as_the_beat_law_says(scheduler):
    law = theory.beat(PERIOD, Fraction(T))
    ipdv = Window(scheduler=scheduler).ipdv
    small, large = ipdv[ipdv < T / 2], ipdv[ipdv > T / 2]
    assert (len(small), len(large)) == (1748 - 254, 254)
    for heights, exact in ((small, law.small), (large, law.large)):
        assert all(abs(height - exact) < 1 for height in set(heights.tolist())), (
            "but for the floor of two sending times"
        )
    assert round(float(law.small) / 1e3) == 677_333, "in nanoseconds"
    assert round(float(law.large) / 1e3) == 3_986_667, "in nanoseconds"


@pytest.mark.parametrize("scheduler", ["pq", "wfq"])
def test_nothing_changes_after_a_whole_beat(scheduler):
    window = Window(packets=2 * BEAT - 1, duration=110, scheduler=scheduler)
    assert np.array_equal(window.wait[: BEAT - 1], window.wait[BEAT:])


@pytest.mark.parametrize(
    ("rules", "least", "mean", "most"),
    [
        ({"tx_ring_admit": "overshoot", "tx_ring_free": "start"}, 9.344, 11.670, 13.989),
        ({"tx_ring_admit": "overshoot", "tx_ring_free": "end"}, 4.680, 7.006, 9.325),
        ({"tx_ring_admit": "overshoot", "tx_ring_free": "particle"}, 4.680, 7.006, 9.325),
        ({"tx_ring_admit": "strict", "tx_ring_free": "start"}, 4.680, 7.006, 9.325),
        ({"tx_ring_admit": "strict", "tx_ring_free": "end"}, 0.016, 2.342, 4.661),
        ({"tx_ring_admit": "strict", "tx_ring_free": "particle"}, 2.339, 4.655, 6.984),
        ({"tx_ring_limit": None}, 0.016, 2.342, 4.661),
    ],
    ids=lambda value: "-".join(map(str, value.values())) if isinstance(value, dict) else None,
)
def test_wait_under_pq_by_rule_of_the_ring(rules, least, mean, most):
    assert milliseconds(Window(packets=250, **rules).wait) == [least, mean, most]


def test_one_pair_of_ring_rules_gives_what_the_report_saw(pq):
    in_ring = theory.ring_packets(5, 1028)
    bound = theory.priority_wait_bound(9328, 9328, in_ring * 9328, 9328, Fraction(2_000_000))
    assert in_ring == 2
    assert bound * PS == 3 * T > int(pq.wait.max()) > 3 * T - T // BEAT - 2


# -- the beat law and the k law, elsewhere -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("parameters", "slot", "percent"),
    [
        ({"ef_rate": 36 * 8192}, T, 4.4),
        ({"ef_rate": 37 * 8192}, T, 20.5),
        ({"line_rate": "1.92 Mbit/s"}, Fraction(9328, 1_920_000) * PS, 38.0),
    ],
)
def test_how_often_peaks_come_follows_from_the_periods(parameters, slot, percent):
    rate = parameters.get("ef_rate", 300_000)
    law = theory.beat(Fraction(8192, rate) * PS, Fraction(slot))
    for scheduler in ("pq", "wfq"):
        ipdv = Window(scheduler=scheduler, **parameters).ipdv
        assert {round(x / 1e3) for x in ipdv.tolist()} == {round(float(x) / 1e3) for x in (law.small, law.large)}
        assert np.mean(ipdv > slot / 2) == pytest.approx(float(law.large_share), abs=1 / BEAT)
        assert 100 * np.mean(ipdv > slot / 2) == pytest.approx(percent, abs=0.1)


@pytest.mark.parametrize(
    ("parameters", "k"),
    [
        ({"be_bandwidth": "1100 kbit/s"}, 2),
        ({"be_bandwidth": "400 kbit/s"}, 0),
        ({"be_bandwidth": "1600 kbit/s", "ef_bandwidth": "200 kbit/s", "ef_rate": "150 kbit/s"}, 7),
        ({"ef_frame": 566, "ef_rate": "150 kbit/s"}, 2),
    ],
    ids=str,
)
def test_packets_that_pass_under_scfq_follow_the_k_law(parameters, k):
    fair, strict = (Window(500, scheduler=scheduler, **parameters) for scheduler in ("wfq", "pq"))
    ef, be = fair.result.scenario.ports[0].classes
    size = fair.result.scenario.flows[0].source.size
    assert theory.scfq_overtaken(be.bandwidth / ef.bandwidth, size, 1028) == k
    assert int(fair.wait.max()) < np.diff(fair.sent).min(), "the law is for a packet that finds its queue empty"
    assert set((fair.delay - strict.delay).tolist()) == {k * T}


# -- the description ---------------------------------------------------------------------------------------------------


def test_the_defaults_are_the_experiment_described_by_hand():
    def pvc(name):
        return qs.Port(
            name,
            rate="2 Mbit/s",
            framing=qs.AAL5(encapsulation="llc-snap"),
            scheduler=qs.PQ(),
            classes=[
                qs.TrafficClass(
                    "EF",
                    match="EF",
                    bandwidth="400 kbit/s",
                    queue=qs.DropTail(10),
                    police=qs.TokenBucket(rate="400 kbit/s", burst=8000),
                ),
                qs.TrafficClass("BE", bandwidth="1600 kbit/s", queue=qs.DropTail(64)),
            ],
            tx_ring=qs.TxRing(limit=5, particle=512, admit="overshoot", free="start"),
            propagation="0.691 ms",
        )

    ef = qs.Flow("EF", qs.CBR(pps=300e3 / (1024 * 8), size=1006, phase="random"), dscp="EF")
    be = qs.Flow("BE", qs.CBR(pps=200, size=1028, phase="random"), route=["near"])
    assert ef_wfq_vs_pq() == qs.Scenario(flows=[ef, be], ports=[pvc("near"), pvc("far")])


def test_every_argument_reaches_the_scenario():
    scenario = ef_wfq_vs_pq(
        scheduler=qs.SCFQ("wire"),
        best_effort=True,
        ef_rate="100 kbit/s",
        ef_frame=518,
        be_pps=50,
        be_payload=472,
        line_rate="4 Mbit/s",
        framing=qs.PPP(),
        propagation="2 ms",
        ef_bandwidth=1000,
        be_bandwidth=2000,
        police_rate="500 kbit/s",
        police_burst=3000,
        ef_queue_limit=3,
        be_queue_limit=None,
        tx_ring_limit=7,
        tx_ring_admit="strict",
        tx_ring_free="end",
        particle=576,
        particle_header=4,
        phases="fixed",
    )
    assert [flow.name for flow in scenario.flows] == ["EF", "BE"]
    assert scenario.flows[0].source == qs.CBR(pps=Fraction(100_000, 518 * 8), size=500)
    assert scenario.flows[1].source == qs.CBR(pps=50, size=500)
    classes = [
        qs.TrafficClass(
            "EF", match="EF", bandwidth=1000, queue=qs.DropTail(3), police=qs.TokenBucket("500 kbit/s", 3000)
        ),
        qs.TrafficClass("BE", bandwidth=2000),
    ]
    ring = qs.TxRing(7, particle=576, header=4, admit="strict", free="end")
    for name, port in zip(("near", "far"), scenario.ports, strict=True):
        assert port == qs.Port(
            name,
            "4 Mbit/s",
            scheduler=qs.SCFQ("wire"),
            classes=classes,
            framing=qs.PPP(),
            tx_ring=ring,
            propagation="2 ms",
        )


def test_what_can_be_left_out_is_left_out():
    scenario = ef_wfq_vs_pq(best_effort=False, framing=None, police_rate=None, tx_ring_limit=None)
    assert [flow.name for flow in scenario.flows] == ["EF"]
    for port in scenario.ports:
        assert port.framing is None
        assert port.tx_ring is None
        assert port.classes[0].police is None


def test_phases_are_drawn_anew_by_each_seed_and_the_same_in_every_case():
    def starts(seed, **parameters):
        result = qs.run(ef_wfq_vs_pq(**parameters), duration=1, seed=seed)
        return [int(result.packets["sent"][result[name].rows.start]) for name in ("EF", "BE")]

    drawn = np.array([starts(seed) for seed in range(200)])
    intervals = [float(PERIOD), PS / 200]
    assert (drawn < intervals).all()
    assert len(set(map(tuple, drawn))) == 200
    assert (np.abs((drawn / intervals).mean(axis=0) - 0.5) < 4 / np.sqrt(12 * 200)).all(), "uniform over an interval"
    assert starts(7, scheduler="wfq") == starts(7, scheduler="pq") == drawn[7].tolist()
    assert starts(7, phases="fixed") == [0, 0]


@pytest.mark.parametrize(
    ("parameters", "words"),
    [
        ({"scheduler": "wrr"}, ("scheduler", "wrr", "pq")),
        ({"scheduler": 3}, ("scheduler", "3")),
        ({"best_effort": "no"}, ("best_effort", "no", "True")),
        ({"phases": "mixed"}, ("phases", "mixed", "random")),
        ({"ef_frame": 18}, ("ef_frame", "18", "19")),
        ({"be_payload": 65508}, ("be_payload", "65508", "65507")),
        ({"ef_rate": "-1 kbit/s"}, ("ef_rate", "-1")),
        ({"be_pps": 0}, ("pps", "0")),
        ({"tx_ring_limit": 0}, ("limit", "0", "1")),
        ({"tx_ring_free": "never"}, ("free", "never", "start")),
        ({"line_rate": "2 kfoo"}, ("rate", "kfoo")),
    ],
    ids=str,
)
def test_a_wrong_argument_is_refused_by_name_value_and_bound(parameters, words):
    with pytest.raises(qs.ScenarioError) as error:
        ef_wfq_vs_pq(**parameters)
    assert all(word in str(error.value) for word in words), str(error.value)


# -- all four cases, and the report ------------------------------------------------------------------------------------


def test_cases_come_by_label_in_the_order_of_the_report(cases):
    assert list(cases) == ["WFQ, no best effort", "PQ, no best effort", *LOADED]
    assert cases.case("pq", True) is cases["PQ, best effort"]
    assert cases["WFQ, best effort"].scenario == ef_wfq_vs_pq(scheduler="wfq", best_effort=True)
    assert {result.seed for result in cases.values()} == {1}
    with pytest.raises(KeyError, match="PQ, best effort"):
        cases["PQ"]


def test_cases_see_the_same_arrivals(cases):
    sent = [result.packets["sent"][result["EF"].rows] for result in cases.values()]
    assert all(np.array_equal(each, sent[0]) for each in sent)


def test_cases_without_a_seed_share_one():
    cases = ef_wfq_vs_pq_cases(duration=0.2, warmup=0)
    assert len({result.seed for result in cases.values()}) == 1
    assert cases != ef_wfq_vs_pq_cases(duration=0.2, warmup=0)


def test_cases_have_a_summary_with_a_row_for_each(cases):
    table = cases.summary()
    assert list(table.index) == list(cases)
    for label, result in cases.items():
        assert table.loc[label].equals(result.summary().loc["EF"].rename(label))


def test_cases_can_be_kept_and_compared(cases):
    assert pickle.loads(pickle.dumps(cases)) == cases
    assert ef_wfq_vs_pq_cases(duration=60, warmup=5, seed=1) == cases
    assert ef_wfq_vs_pq_cases(duration=60, warmup=5, seed=2) != cases
    assert "PQ, best effort" in repr(cases)


def test_cases_are_shown_in_a_notebook_in_milliseconds_as_every_result_is(cases):
    page = cases._repr_html_()
    for label, mean in zip(cases, ("10.710", "10.710", "36.361", "22.369"), strict=True):
        row = page.partition(f"<td>{label}</td>")[2].partition("</tr>")[0]
        assert f"<td>{mean}</td>" in row
    assert "in ms" in page


def test_cases_run_each_scheduler_and_load_themselves():
    for name in ("scheduler", "best_effort"):
        with pytest.raises(TypeError, match=name):
            ef_wfq_vs_pq_cases(duration=1, **{name: "pq"})


def test_all_that_the_report_says_holds_but_for_the_frequency_of_peaks(cases):
    findings = {finding.statement: finding for finding in cases.findings()}
    assert [statement for statement, finding in findings.items() if not finding.holds] == [
        "ipdv peaks are less frequent with PQ"
    ]
    assert len(findings) == 9
    assert all(isinstance(finding.holds, bool) for finding in findings.values())
    assert findings["ipdv peaks are less frequent with PQ"].model == "14.5, 14.5 %"
    assert findings["gain in delay with PQ"].model == "13.992 ms"
    assert findings["no best effort: least delay"].model == "10.710 ms"
    assert findings["ipdv peaks are as high with PQ"].model == "3.987 ms"


def failing(cases):
    return {finding.statement for finding in cases.findings() if not finding.holds}


@pytest.mark.parametrize(
    ("parameters", "statements"),
    [
        ({"tx_ring_limit": 10}, {"increase with PQ: at least two packets"}),
        ({"tx_ring_admit": "strict"}, {"increase with PQ: at least two packets"}),
        ({"be_bandwidth": "1100 kbit/s"}, {"gain in delay with PQ"}),
        ({"propagation": "1 ms"}, {"no best effort: least delay"}),
        (
            {"tx_ring_limit": None},
            {"best effort delays EF, by the FIFO ring", "increase with PQ: at least two packets"},
        ),
        ({"be_pps": 5}, {"increase with PQ: at least two packets", "gain in delay with PQ"}),
        ({"police_rate": "200 kbit/s"}, {"no EF packet is dropped"}),
    ],
    ids=lambda given: str(given if isinstance(given, dict) else len(given)),
)
def test_a_finding_fails_where_the_runs_say_so(parameters, statements):
    assert failing(ef_wfq_vs_pq_cases(duration=60, warmup=5, seed=1, **parameters)) >= statements


def test_peaks_are_less_frequent_with_pq_than_with_a_scheduler_of_frames(cases):
    drr = qs.run(ef_wfq_vs_pq(scheduler=qs.DRR()), duration=60, warmup=5, seed=1)
    assert "ipdv peaks are less frequent with PQ" not in failing(Cases({**cases, "WFQ, best effort": drr}))


def test_findings_need_the_packets():
    cases = ef_wfq_vs_pq_cases(duration=1, warmup=0, seed=1, record="summary")
    assert len(cases.summary()) == 4
    with pytest.raises(qs.ScenarioError, match="packets"):
        cases.findings()


def test_findings_need_packets_of_ef_after_the_warmup():
    for duration in (5.001, 5.03):
        with pytest.raises(qs.ScenarioError, match="duration"):
            ef_wfq_vs_pq_cases(duration=duration, warmup=5, seed=1).findings()
