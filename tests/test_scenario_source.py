# SPDX-License-Identifier: MIT
"""Sources and flows: rates in any of the usual forms, arrays, names."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest

import qossim as qs

SECOND = 10**12


@pytest.mark.parametrize(
    "source",
    [
        qs.CBR("300 kbit/s", 1000),
        qs.CBR(rate=300_000, size=1000),
        qs.CBR(pps=37.5, size=1000),
        qs.CBR(pps="37.5 pps", size="1 kB"),
        qs.CBR(interval=Fraction(2, 75), size=1000),
    ],
)
def test_rate_pps_and_interval_are_three_forms_of_one_thing(source):
    assert source == qs.CBR(interval="2/75 s", size=1000)
    assert hash(source) == hash(qs.CBR(interval="2/75 s", size=1000))
    assert (source.rate, source.pps, source.interval) == (300_000, Fraction(75, 2), Fraction(2, 75))


def test_an_interval_is_exact_not_rounded_to_the_clock():
    assert qs.CBR(pps=300e3 / (1024 * 8), size=1006).interval * SECOND == Fraction(81920000000, 3)


def test_a_rate_over_drawn_sizes_is_that_of_the_mean_size():
    sizes = qs.Sizes([40, 576, 1500], weights=[7, 4, 1])
    assert sizes.mean == Fraction(1021, 3)
    assert qs.Poisson("3 Mbit/s", sizes).pps == 3_000_000 / (8 * sizes.mean)
    assert qs.CBR("3 Mbit/s", sizes).rate == 3_000_000


def test_a_change_keeps_the_form_that_was_given():
    assert qs.CBR("300 kbit/s", 1000).replace(size=500).rate == 300_000
    assert qs.CBR(pps=100, size=1000).replace(size=500).pps == 100
    assert qs.CBR("300 kbit/s", 1000).replace(pps=50).pps == 50
    assert qs.CBR(pps=50, size=1000).replace(interval="1 ms").pps == 1000
    assert qs.Poisson("300 kbit/s", 1000).replace(size=500).rate == 300_000
    assert qs.Poisson("300 kbit/s", 1000).replace(pps=5).pps == 5
    assert repr(qs.CBR("300 kbit/s", 1000, phase="random")) == "CBR(rate='300 kbit/s', size=1000, phase='random')"
    assert repr(qs.Poisson(pps=5, size=40)) == "Poisson(pps=5, size=40)"


def test_jitter_is_kept_by_changes_and_makes_a_source_random():
    source = qs.CBR(pps=50, size=200, jitter="5 ms")
    assert source.jitter == Fraction(1, 200)
    assert repr(source) == "CBR(pps=50, size=200, jitter='5 ms')"
    assert source.replace(size=100).jitter == source.jitter
    assert source.replace(jitter=0) == qs.CBR(pps=50, size=200)
    ahead = qs.Port("p", rate="1 Gbit/s")
    assert qs.run(qs.Scenario(flows=[qs.Flow("f", source)], ports=[ahead]), duration=1).seed is not None


def test_a_jittered_packet_is_late_by_a_time_of_its_own_within_the_interval():
    flow = qs.Flow("f", qs.CBR(pps=50, size=200, jitter="20 ms"))
    result = qs.run(qs.Scenario(flows=[flow], ports=[qs.Port("p", rate="1 Gbit/s")]), duration=200, seed=1)
    sent = np.rint(result["f"].sent_at * SECOND).astype(np.int64)
    late = sent - np.arange(len(sent)) * (SECOND // 50)
    assert len(sent) in (9999, 10000)
    assert 0 <= late.min() < late.max() < SECOND // 50
    # uniform: the mean of 10,000 is within 5 standard errors, and neighbours are not correlated
    assert abs(late.mean() / (SECOND / 50) - 0.5) < 5 / math.sqrt(12 * 10000)
    assert abs(np.corrcoef(late[:-1], late[1:])[0, 1]) < 5 / math.sqrt(10000)


@pytest.mark.parametrize(
    ("interval", "jitter"), [("20 ms", "20.000000001 ms"), (Fraction(10, 3 * SECOND), "4 ps"), (1, -1), (1, "nan")]
)
def test_jitter_beyond_the_interval_is_refused(interval, jitter):
    with pytest.raises(qs.ScenarioError, match="jitter"):
        qs.CBR(interval=interval, size=1, jitter=jitter)
    assert qs.CBR(interval=Fraction(10, 3 * SECOND), size=1, jitter="3 ps").jitter == Fraction(3, SECOND)


@pytest.mark.parametrize(
    ("weights", "whole"),
    [
        (None, (1, 1)),
        ([1, 1], (1, 1)),
        ([0.7, 0.3], (7, 3)),
        ([Fraction(1, 3), 2], (1, 6)),
        (np.array([2.0, 4.0]), (1, 2)),
    ],
)
def test_weights_are_the_smallest_whole_numbers_in_proportion(weights, whole):
    assert qs.Sizes([40, 1500], weights).weights == whole


def test_trace_times_may_be_floats_integers_or_timedelta64():
    seconds = [0, 1, 1, 2]
    expected = qs.Trace(seconds, 100)
    for times in (
        np.array(seconds, dtype=float),
        np.array(seconds, dtype=np.float32),
        np.array(seconds, dtype=np.uint8),
        np.array(seconds, dtype="m8[s]"),
        np.array(seconds, dtype="m8[s]").astype("m8[ns]"),
        tuple(seconds),
    ):
        assert qs.Trace(times, np.full(4, 100, dtype=np.uint16)) == expected
    assert expected.times.tolist() == [0, SECOND, SECOND, 2 * SECOND]
    assert (expected.times.dtype, expected.sizes.dtype) == (np.int64, np.int32)


def test_trace_times_are_rounded_as_the_arrays_rule_says():
    times = np.array([0.0, 0.1, 1e-13, 0.3, 7.0000000000005])
    times.sort()
    assert np.array_equal(qs.Trace(times, 1).times, np.rint(times * 1e12).astype(np.int64))
    assert qs.Trace(np.array([0, 499, 500, 501, 1500], dtype="m8[fs]"), 1).times.tolist() == [0, 0, 0, 1, 2]


def test_a_trace_holds_copies_that_cannot_be_written():
    times, sizes = np.array([0.0, 1.0]), np.array([40, 50])
    trace = qs.Trace(times, sizes)
    times[0], sizes[0] = 9, 9
    assert trace == qs.Trace([0, 1], [40, 50])
    for array in (trace.times, trace.sizes):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 5


def test_an_empty_trace_is_legal():
    assert len(qs.Trace([], [])) == len(qs.Trace(np.array([]), 40)) == 0
    assert repr(qs.Trace([], [])) == "Trace([], [])"


def test_a_long_trace_prints_short():
    text = repr(qs.Trace(np.arange(1_000_000) * 1e-3, 1500))
    assert "1000000 packets" in text
    assert len(text) < 100


def test_a_change_to_a_trace_keeps_its_picoseconds():
    trace = qs.Trace(np.array([1, 2, 9_000_000 * SECOND + 1], dtype="m8[ps]"), 40)
    assert trace.replace(sizes=[1, 2, 3]).times.tolist() == trace.times.tolist()


@pytest.mark.parametrize(
    ("dscp", "code"),
    [
        *[
            ("EF", 46),
            ("ef", 46),
            ("AF41", 34),
            ("CS6", 48),
            ("CS0", 0),
            ("BE", 0),
            ("default", 0),
            ("LE", 1),
            ("VA", 44),
        ],
        *[(46, 46), (0, 0), (63, 63), ("46", 46), (np.int64(10), 10), (10.0, 10)],
    ],
)
def test_a_dscp_has_names(dscp, code):
    assert qs.Flow("x", qs.CBR(1000, 100), dscp=dscp).dscp == code


def test_a_flow_normalises_what_it_is_given():
    flow = qs.Flow("x", qs.CBR(1000, 100), route="near", start="1 min", stop=90.5)
    assert (flow.route, flow.start, flow.stop) == (("near",), Fraction(60), Fraction(181, 2))
    assert qs.Flow("x", qs.CBR(1000, 100)).route is None
    assert repr(flow) == "Flow('x', CBR(rate='1 kbit/s', size=100), route=['near'], start='60 s', stop='90.5 s')"
    assert flow.replace(dscp="EF", stop=None) == qs.Flow("x", flow.source, dscp=46, route=["near"], start=60)


def test_a_flow_may_stop_as_it_starts():
    assert qs.Flow("x", qs.CBR(1000, 100), start=1, stop=1).stop == 1
