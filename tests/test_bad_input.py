# SPDX-License-Identifier: MIT
"""Bad input of every kind: a ScenarioError that names field, value and bounds, before anything runs."""

from __future__ import annotations

import datetime
import pickle
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest

import qossim as qs
from qossim import units

NAN, INF = float("nan"), float("inf")
RATE = "above 0 and at most 8e12 bit/s"
TIME = "a time from 0 to 9200000 s"
APART = "such that packets are 1 ps to 9200000 s (106 days) apart"
SIZE = "a whole number of bytes from 1 to 65535"
TIMES = "seconds (float, int or timedelta64) from 0 to 9200000 (106 days), never falling"
SIZES = "whole numbers of bytes from 1 to 65535, one for each time"
LIMIT = "from 0 to 2**62"
DSCP = "a DSCP, 0 to 63 or a name"

cbr = qs.CBR("300 kbit/s", 1000)
flow = qs.Flow("flow", cbr)
rest = qs.TrafficClass("rest", bandwidth=1000, quantum=1500)
ef = qs.TrafficClass("EF", match="EF", bandwidth=1000, quantum=1500)
port = qs.Port("port", "2 Mbit/s")


def refused(make):
    with pytest.raises(qs.ScenarioError) as caught:
        make()
    assert isinstance(caught.value, ValueError)
    assert str(pickle.loads(pickle.dumps(caught.value))) == str(caught.value)
    return str(caught.value)


def names(message, field, value, bounds):
    """The message says which field, what it was given and what it may be; on one line that can be read."""
    for part in (field, "must ", bounds, "got ", value):
        assert part in message, message
    assert "\n" not in message
    assert len(message) < 500, message


def quoted(value):
    """As it stands in messages, and in the names of tests."""
    return units.shown(value)


BAD_RATES = [
    "300 kfoo",
    "2 ms",
    "2 mbit/s",
    "-3 kbit/s",
    "fast",
    "",
    0,
    -1,
    -1e-9,
    8_000_000_000_001,
    1e300,
    NAN,
    INF,
    -INF,
    np.float64("nan"),
    Decimal("NaN"),
    True,
    np.bool_(True),
    1j,
    [1000],
    {"rate": 1},
    np.array([1000.0]),
    np.timedelta64(1, "s"),
    b"1000",
    object,
]


@pytest.mark.parametrize("bad", BAD_RATES, ids=quoted)
@pytest.mark.parametrize(
    ("field", "make"),
    [
        ("CBR: rate", lambda bad: qs.CBR(bad, 1000)),
        ("Poisson: rate", lambda bad: qs.Poisson(bad, 1000)),
        ("TokenBucket: rate", lambda bad: qs.TokenBucket(bad, 8000)),
        ('TrafficClass "x": bandwidth', lambda bad: qs.TrafficClass("x", bandwidth=bad)),
        ('Port "x": rate', lambda bad: qs.Port("x", bad)),
        ('Port "port": rate', lambda bad: port.replace(rate=bad)),
    ],
    ids=lambda x: x if isinstance(x, str) else "",
)
def test_bad_rates(field, make, bad):
    names(refused(lambda: make(bad)), field, quoted(bad), RATE)


BAD_TIMES = [
    "3 kbit/s",
    "1 fortnight",
    "-1 ms",
    "107 d",
    -1,
    -1e-9,
    9_200_001,
    1e300,
    10**40,
    NAN,
    INF,
    True,
    1j,
    [1],
    b"1",
]
BAD_TIMES += [np.timedelta64("NaT", "s"), np.timedelta64(-1, "s"), datetime.timedelta(days=-1)]


@pytest.mark.parametrize("bad", BAD_TIMES, ids=quoted)
@pytest.mark.parametrize(
    ("field", "make"),
    [
        ("CBR: phase", lambda bad: qs.CBR(1000, 100, phase=bad)),
        ("DropTail: time", lambda bad: qs.DropTail(time=bad)),
        ('Port "x": propagation', lambda bad: qs.Port("x", 1000, propagation=bad)),
        ('Flow "x": start', lambda bad: qs.Flow("x", cbr, start=bad)),
        ('Flow "x": stop', lambda bad: qs.Flow("x", cbr, stop=bad)),
    ],
    ids=lambda x: x if isinstance(x, str) else "",
)
def test_bad_times(field, make, bad):
    names(refused(lambda: make(bad)), field, quoted(bad), TIME)


@pytest.mark.parametrize(
    "bad", [0, -1, 65536, 1.5, "1500 bits", "big", NAN, True, [1000], (40, 1500), None, 10**30], ids=quoted
)
@pytest.mark.parametrize(
    "make", [lambda bad: qs.CBR(1000, bad), lambda bad: qs.Poisson(1000, bad)], ids=["cbr", "poisson"]
)
def test_bad_packet_sizes(make, bad):
    names(refused(lambda: make(bad)), "size", quoted(bad), "of bytes from 1 to 65535")


@pytest.mark.parametrize(
    "bad", [-1, 1.5, NAN, INF, "ten", "10 Mbit/s", True, [10], 2**62 + 1, np.float64(-0.5)], ids=quoted
)
@pytest.mark.parametrize(
    ("field", "bounds", "make"),
    [
        ("DropTail: packets", LIMIT, lambda bad: qs.DropTail(bad)),
        ("DropTail: bytes", LIMIT, lambda bad: qs.DropTail(bytes=bad)),
        ("TxRing: limit", "from 1 to 2**62", lambda bad: qs.TxRing(bad)),
        ("TxRing: particle", "from 1 to 1000000", lambda bad: qs.TxRing(5, particle=bad)),
        ("TxRing: header", "from 0 to 65535", lambda bad: qs.TxRing(5, header=bad)),
        ("TokenBucket: burst", "from 0 to 1000000000000", lambda bad: qs.TokenBucket(1000, bad)),
        ("TokenBucket: overhead", "from 0 to 65535", lambda bad: qs.TokenBucket(1000, 1, overhead=bad)),
        ("Ethernet: tags", "from 0 to 16", lambda bad: qs.Ethernet(tags=bad)),
        ("Overhead: bytes", "from 0 to 65535", lambda bad: qs.Overhead(bad)),
        ("Overhead: minimum", "from 0 to 65535", lambda bad: qs.Overhead(0, minimum=bad)),
    ],
    ids=lambda x: x if isinstance(x, str) else "",
)
def test_bad_limits_and_counts(field, bounds, make, bad):
    names(refused(lambda: make(bad)), field, quoted(bad), bounds)


def test_a_ring_and_its_particles_hold_at_least_one():
    names(refused(lambda: qs.TxRing(0)), "TxRing: limit", "0", "a whole number from 1 to 2**62")
    names(refused(lambda: qs.TxRing(5, particle=0)), "TxRing: particle", "0", "from 1 to 1000000")


@pytest.mark.parametrize("bad", [0, 0.5, -1, 1e10, "1 kbit/s", NAN, True], ids=quoted)
def test_bad_quanta(bad):
    message = refused(lambda: qs.TrafficClass("x", quantum=bad))
    names(message, 'TrafficClass "x": quantum', quoted(bad), "a number of bytes from 1 to 1000000000")


@pytest.mark.parametrize("bad", ["", " EF", "E\nF", "a\0b", "\ud800", "x" * 201, None, 5, b"EF", ["EF"]], ids=quoted)
@pytest.mark.parametrize(
    ("owner", "make"),
    [
        ("Flow", lambda bad: qs.Flow(bad, cbr)),
        ("TrafficClass", lambda bad: qs.TrafficClass(bad)),
        ("Port", lambda bad: qs.Port(bad, 1000)),
    ],
    ids=["flow", "class", "port"],
)
def test_bad_names(owner, make, bad):
    message = refused(lambda: make(bad))
    assert message.startswith(f"{owner}: name must be 1 to 200 printable characters without space around them, got ")


@pytest.mark.parametrize("bad", ["EFF", "AF44", "", "CS8", "-1", "64", -1, 64, 1.5, NAN, True, [46], b"EF"], ids=quoted)
def test_bad_dscps(bad):
    names(refused(lambda: qs.Flow("x", cbr, dscp=bad)), 'Flow "x": dscp', quoted(bad), DSCP)


def test_an_unknown_dscp_name_says_what_is_known():
    message = refused(lambda: qs.TrafficClass("x", match=["EF", "expedited"]))
    names(message, 'TrafficClass "x": match', '"expedited"', "DF, LE, CS0 to CS7, AF11 to AF43, VA, EF")


@pytest.mark.parametrize("bad", [[], (), {}, {"EF"}, 64, [46, -1], None.__class__, b"EF", 4.5], ids=quoted)
def test_bad_matches(bad):
    message = refused(lambda: qs.TrafficClass("x", match=bad))
    assert message.startswith('TrafficClass "x": match must be a DSCP')


@pytest.mark.parametrize("bad", [[], {}, {"EF"}, 5, [5], ["a", None], b"EF"], ids=quoted)
def test_bad_flow_lists(bad):
    message = refused(lambda: qs.TrafficClass("x", flows=bad))
    names(message, 'TrafficClass "x": flows', "", "the name of a flow or a list of at least one")


@pytest.mark.parametrize("bad", [[], (), {"a": 1}, {"a"}, 5, [None], ["a", "b", "a"], [port]], ids=quoted)
def test_bad_routes(bad):
    message = refused(lambda: qs.Flow("x", cbr, route=bad))
    names(message, 'Flow "x": route', "", "a list of port names, at least one, each once")


@pytest.mark.parametrize(
    ("field", "value", "make"),
    [
        ("AAL5: encapsulation", "'snap'", lambda: qs.AAL5("snap")),
        ("TokenBucket: counts", "None", lambda: qs.TokenBucket(1, 1, counts=None)),
        ("TokenBucket: when", '"never"', lambda: qs.TokenBucket(1, 1, when="never")),
        ("TxRing: admit", '"STRICT"', lambda: qs.TxRing(1, admit="STRICT")),
        ("TxRing: free", "['end']", lambda: qs.TxRing(1, free=["end"])),
        ("SCFQ: lengths", "0", lambda: qs.SCFQ(0)),
        ("Ethernet: preamble_and_gap", "1", lambda: qs.Ethernet(preamble_and_gap=1)),
    ],
)
def test_bad_choices(field, value, make):
    names(refused(make), field, value.replace("'snap'", '"snap"'), " or ")


@pytest.mark.parametrize(
    ("field", "bounds", "make"),
    [
        ('Flow "x": source', "a Source", lambda bad: qs.Flow("x", bad)),
        ('TrafficClass "x": queue', "a Queue", lambda bad: qs.TrafficClass("x", queue=bad)),
        ('TrafficClass "x": police', "a Policer", lambda bad: qs.TrafficClass("x", police=bad)),
        ('Port "x": scheduler', "a Scheduler", lambda bad: qs.Port("x", 1, scheduler=bad)),
        ('Port "x": framing', "a Framing", lambda bad: qs.Port("x", 1, framing=bad)),
        ('Port "x": tx_ring', "a TxRing", lambda bad: qs.Port("x", 1, tx_ring=bad)),
        ('Port "x": classes[0]', "a TrafficClass", lambda bad: qs.Port("x", 1, classes=[bad])),
        ("Scenario: flows[1]", "a Flow", lambda bad: qs.Scenario([flow, bad], [port])),
        ("Scenario: ports[0]", "a Port", lambda bad: qs.Scenario([flow], [bad])),
    ],
    ids=lambda x: x if isinstance(x, str) else "",
)
@pytest.mark.parametrize("bad", ["pq", 5, rest.__class__.__mro__[-1](), int], ids=["str", "int", "object", "type"])
def test_descriptions_of_the_wrong_kind(field, bounds, make, bad):
    names(refused(lambda: make(bad)), field, quoted(bad), bounds)


def test_a_base_is_no_scheduler():
    from qossim.scenario import Scheduler

    names(refused(lambda: qs.Port("x", 1, scheduler=Scheduler())), 'Port "x": scheduler', "Scheduler()", "a Scheduler")


def test_a_class_where_an_object_is_meant_says_what_to_write():
    assert "(write PQ(...))" in refused(lambda: qs.Port("x", 1, scheduler=qs.PQ))


# -- sources -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("make", "got"),
    [
        (lambda: qs.CBR(size=1000), "got none"),
        (lambda: qs.CBR("1 kbit/s", 1000, pps=5), 'got rate="1 kbit/s" and pps=5'),
        (lambda: qs.CBR(size=1000, pps=5, interval=1), "got pps=5 and interval=1"),
        (lambda: qs.Poisson(size=1000), "got none"),
        (lambda: qs.Poisson(1000, 1000, pps=5), "got rate=1000 and pps=5"),
    ],
)
def test_a_source_has_exactly_one_rate(make, got):
    names(refused(make), "exactly one of rate, pps", got, "must be given")


def test_a_source_needs_a_size():
    names(refused(lambda: qs.CBR(rate="300 kbit/s")), "CBR: size", "None", "a number of bytes from 1 to 65535 or Sizes")


@pytest.mark.parametrize("bad", [0, -5, 1.1e12, NAN, INF, "5 Mbit/s", True, "x"], ids=quoted)
@pytest.mark.parametrize("source", [qs.CBR, qs.Poisson])
def test_bad_packet_rates(source, bad):
    message = refused(lambda: source(pps=bad, size=100))
    names(message, f"{source.__name__}: pps", quoted(bad), "a number of packets/s above 0 and at most 1e12")


@pytest.mark.parametrize("bad", [0, -1, 1e-13, "0.9 ps", "107 d", 1e300, NAN, "1 kbit/s", True], ids=quoted)
def test_bad_intervals(bad):
    names(refused(lambda: qs.CBR(interval=bad, size=100)), "CBR: interval", quoted(bad), APART)


def test_rates_that_overflow_the_clock():
    for bad, make in [
        (1e-9, lambda: qs.CBR(pps=1e-9, size=100)),
        (1e-7, lambda: qs.Poisson(1e-7, 1)),
        ("0.0000008 bit/s", lambda: qs.CBR("0.0000008 bit/s", 1)),
    ]:
        names(refused(make), ":", quoted(bad), APART)
    names(
        refused(lambda: qs.Port("x", "0.1 bit/s")),
        'Port "x": rate',
        '"0.1 bit/s"',
        "above 0.1137 bit/s and at most 8e12",
    )
    message = refused(lambda: qs.Port("x", 0.12, framing=qs.AAL5()))
    names(message, 'Port "x": rate', "0.12", "above 0.1256 bit/s and at most 8e12 bit/s")


def test_numbers_with_too_many_digits():
    exact = Fraction(1, 2**63 + 1)
    for field, make in [
        ("CBR: rate", lambda: qs.CBR(exact + 1, 100)),
        ('Port "x": rate', lambda: qs.Port("x", exact + 1000)),
        ('TrafficClass "x": quantum', lambda: qs.TrafficClass("x", quantum=exact + 1)),
    ]:
        names(refused(make), field, "Fraction(", "2**63")
    names(refused(lambda: qs.CBR(pps=1 + Fraction(1, 2**64), size=100)), "CBR: pps", "Fraction(", "2**63")
    message = refused(lambda: qs.TokenBucket(1 + Fraction(1, 2**60 + 1), 10**12))
    names(message, "TokenBucket: rate", "Fraction(", "fewer digits for this burst")
    odd = 1 + Fraction(1, 2**58 + 1)
    names(refused(lambda: qs.Port("x", odd, scheduler=qs.WFQ())), 'Port "x": rate', "/", "fewer digits under WFQ")


@pytest.mark.parametrize(
    ("field", "bounds", "make"),
    [
        ("Sizes: values", "at least one size", lambda: qs.Sizes([])),
        ("Sizes: values[1]", SIZE, lambda: qs.Sizes([40, 0])),
        ("Sizes: values[0]", SIZE, lambda: qs.Sizes([65536])),
        ("Sizes: values[0]", SIZE, lambda: qs.Sizes([1.5])),
        ("Sizes: values[0]", SIZE, lambda: qs.Sizes(np.array([[40]]))),
        ("Sizes: values[0]", SIZE, lambda: qs.Sizes([NAN])),
        ("Sizes: values", "a list of whole numbers", lambda: qs.Sizes({40: 1})),
        ("Sizes: values", "a list of whole numbers", lambda: qs.Sizes(None)),
        ("Sizes: weights", "2 numbers above 0, one for each size", lambda: qs.Sizes([40, 50], [1])),
        ("Sizes: weights", "2 numbers above 0, one for each size", lambda: qs.Sizes([40, 50], [1, 1, 1])),
        ("Sizes: weights[1]", "a number above 0", lambda: qs.Sizes([40, 50], [1, 0])),
        ("Sizes: weights[0]", "a number above 0", lambda: qs.Sizes([40, 50], [-1, 1])),
        ("Sizes: weights[0]", "a number above 0", lambda: qs.Sizes([40, 50], [NAN, 1])),
        ("Sizes: weights[0]", "a number above 0", lambda: qs.Sizes([40, 50], ["many", 1])),
        ("Sizes: weights", "add up to less than 2**63", lambda: qs.Sizes([40, 50], [1, Fraction(1, 2**63)])),
    ],
)
def test_bad_sizes(field, bounds, make):
    names(refused(make), field, "", bounds)


@pytest.mark.parametrize(
    ("times", "field", "value"),
    [
        ([0.0, -1.0], "times[1]", "-1.0"),
        ([0, -1], "times[1]", "-1"),
        (np.array([0, -1], "m8[s]"), "times[1]", "-1 seconds"),
        ([0.0, NAN], "times[1]", "nan"),
        ([INF, 0.0], "times[0]", "inf"),
        ([0.0, 1e308], "times[1]", "1e+308"),
        ([0.0, 9_200_001.0], "times[1]", "9200001.0"),
        ([0, 9_200_001], "times[1]", "9200001"),
        (np.array([0, 2**64 - 1], np.uint64), "times[1]", str(2**64 - 1)),
        (np.array([0, 107], "m8[D]"), "times[1]", "107 days"),
        (np.array([0, "NaT"], "m8[ns]"), "times", "NaT"),
        (np.array([0, 1], "m8[Y]"), "times", "timedelta64[Y]"),
        ([1.0, 0.5], "times[1]", "0.5 (times[0] is 1.0)"),
        (np.array([2, 1], "m8[ms]"), "times[1]", "1 milliseconds (times[0] is 2 milliseconds)"),
        (["0", "1"], "times", "dtype is <U1"),
        ([True, False], "times", "dtype is bool"),
        ([None, 1], "times", "dtype is object"),
        ([1j, 2j], "times", "dtype is complex128"),
        (np.array(["2000-01-01", "2000-01-02"], "M8[D]"), "times", "dtype is datetime64[D]"),
        (np.zeros((2, 1)), "times", "2 dimensions"),
        (5.0, "times", "0 dimensions"),
        ([[0.0], [1.0, 2.0]], "times", "inhomogeneous"),
        (np.ma.masked_array([0.0, 1.0], [False, True]), "times", "a masked array"),
        ({"t": 1}, "times", "0 dimensions"),
        ("times.npy", "times", "0 dimensions"),
        (None, "times", "0 dimensions"),
    ],
    ids=quoted,
)
def test_bad_trace_times(times, field, value):
    message = refused(lambda: qs.Trace(times, [100, 100]))
    names(message, f"Trace: {field}", value, TIMES)


@pytest.mark.filterwarnings("ignore:The 'generic' unit:DeprecationWarning")
def test_trace_times_of_no_unit():
    message = refused(lambda: qs.Trace(np.array([0, 1], "m8"), [100, 100]))
    names(message, "Trace: times", "timedelta64 is in steps of no fixed length", TIMES)


@pytest.mark.parametrize(
    ("sizes", "field", "value"),
    [
        ([100], "sizes", "2 times, sizes of shape (1,)"),
        ([100, 100, 100], "sizes", "2 times, sizes of shape (3,)"),
        ([], "sizes", "2 times, sizes of shape (0,)"),
        ([[100, 100]], "sizes", "2 times, sizes of shape (1, 2)"),
        ([100, 0], "sizes[1]", "0"),
        ([-1, 1], "sizes[0]", "-1"),
        ([100, 65536], "sizes[1]", "65536"),
        (np.array([1, 2**63], np.uint64), "sizes[1]", str(2**63)),
        (0, "sizes[0]", "0"),
        ([100.0, 100.0], "sizes", "dtype is float64"),
        ([NAN, 1], "sizes", "dtype is float64"),
        ([True, True], "sizes", "dtype is bool"),
        (["100", "100"], "sizes", "dtype is <U3"),
        ([None, 1], "sizes", "dtype is object"),
        (np.array([1, 1], "m8[s]"), "sizes", "dtype is timedelta64[s]"),
        ([2**70, 1], "sizes", "dtype is object"),
        (None, "sizes", "dtype is object"),
        (qs.Sizes([40]), "sizes", "dtype is object"),
    ],
    ids=quoted,
)
def test_bad_trace_sizes(sizes, field, value):
    message = refused(lambda: qs.Trace([0.0, 1.0], sizes))
    names(message, f"Trace: {field}", value, SIZES)


def test_a_flow_does_not_stop_before_it_starts():
    message = refused(lambda: qs.Flow("x", cbr, start="2 s", stop="1 s"))
    names(message, 'Flow "x": stop', '"1 s"', "at or after start, 2 s")


# -- ports -------------------------------------------------------------------------------------------------------------


def test_a_port_whose_classes_leave_packets_without_one():
    message = refused(lambda: qs.Port("x", 1000, classes=[ef, ef.replace(name="more", match=None, flows=["a"])]))
    names(message, 'Port "x": classes', "none of ['EF', 'more']", "exactly one class with neither match nor flows")
    message = refused(lambda: qs.Port("x", 1000, classes=[rest, ef, rest.replace(name="also")]))
    names(message, 'Port "x": classes', "['rest', 'also']", "exactly one class with neither match nor flows")


def test_two_classes_of_one_name():
    message = refused(lambda: qs.Port("x", 1000, classes=[ef, rest.replace(name="EF")]))
    names(message, 'Port "x": classes', "['EF', 'EF']", "of different names")


@pytest.mark.parametrize("bad", [rest, {"rest": rest}, {rest}, 5.0, True], ids=["one", "dict", "set", "float", "bool"])
def test_classes_that_are_no_list(bad):
    names(refused(lambda: qs.Port("x", 1000, classes=bad)), 'Port "x": classes', "", "a list of TrafficClass")


def test_more_classes_than_a_port_can_have():
    classes = [qs.TrafficClass(str(i), match=1) for i in range(4096)]
    names(refused(lambda: qs.Port("x", 1000, classes=[*classes, rest])), 'Port "x": classes', "4097", "at most 4096")


@pytest.mark.parametrize("scheduler", [qs.WFQ(), qs.SCFQ(), qs.DRR()], ids=repr)
def test_a_scheduler_that_lacks_what_it_needs(scheduler):
    bare = ef.replace(bandwidth=None, quantum=None)
    message = refused(lambda: qs.Port("x", 1000, scheduler=scheduler, classes=[rest, bare]))
    names(message, 'Port "x": class "EF": ', "None", f"must be given for every class under {type(scheduler).__name__}")


@pytest.mark.parametrize("scheduler", [qs.WFQ(), qs.SCFQ(), qs.DRR()], ids=repr)
def test_bandwidths_that_are_no_weights(scheduler):
    for bandwidth, value, bounds in [
        (Fraction(10**18 + 1, 10**15), "10^", "whole numbers below 2**62"),
        (Fraction(1, 10**7), "0.0000001 bit/s", "within a factor of 1e9"),
    ]:
        classes = [ef.replace(bandwidth=bandwidth, quantum=None), rest.replace(bandwidth="1000/7", quantum=None)]
        message = refused(lambda classes=classes: qs.Port("x", 1000, scheduler=scheduler, classes=classes))
        names(
            message, 'Port "x": bandwidths of the classes', value.replace("10^", "1.000000000000000001 kbit/s"), bounds
        )


def test_quanta_without_a_common_measure():
    classes = [ef.replace(quantum=Fraction(10**10, 2**32 + 1)), rest.replace(quantum=Fraction(10**10, 2**31 - 1))]
    message = refused(lambda: qs.Port("x", 1000, scheduler=qs.DRR(), classes=classes))
    names(
        message, 'Port "x": quanta of the classes', "10000000000/2147483647 bytes", "a common denominator below 2**62"
    )


def test_a_queue_in_time_that_overflows_in_bytes():
    long = rest.replace(queue=qs.DropTail(time="9200000 s"), bandwidth="8 Tbit/s")
    message = refused(lambda: qs.Port("x", 1000, classes=[long]))
    names(message, 'Port "x": class "rest": queue time', "9200000 s", "worth less than 2**62 bytes")


# -- scenarios ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("bad", [[], (), None, 5, {}, {"x": flow}], ids=quoted)
def test_a_scenario_has_flows_and_ports(bad):
    names(
        refused(lambda: qs.Scenario(bad, [port])), "Scenario: flows", "", "at least one Flow" if bad != 5 else "a Flow"
    )
    names(
        refused(lambda: qs.Scenario([flow], bad)), "Scenario: ports", "", "at least one Port" if bad != 5 else "a Port"
    )
    names(refused(lambda: qs.Scenario(flow, [port])), "Scenario: flows", "Flow(", "a list of at least one Flow")


def test_two_flows_or_ports_of_one_name():
    message = refused(lambda: qs.Scenario([flow, qs.Flow("flow", cbr)], [port]))
    names(message, "Scenario: flows", "['flow', 'flow']", "of different names")
    names(
        refused(lambda: qs.Scenario([flow], [port, port])), "Scenario: ports", "['port', 'port']", "of different names"
    )


def test_an_unknown_port_in_a_route():
    message = refused(lambda: qs.Scenario([flow.replace(route=["port", "nowhere"])], [port]))
    names(message, 'Scenario: flow "flow": route', '"nowhere"', 'ports of the scenario ("port")')


def test_an_unknown_flow_in_a_class():
    with_flows = port.replace(classes=[rest, qs.TrafficClass("x", flows=["flow", "nobody"])])
    message = refused(lambda: qs.Scenario([flow], [with_flows]))
    names(message, 'Scenario: port "port": class "x": flows', '"nobody"', 'flows of the scenario ("flow")')


def test_a_long_list_of_what_is_known_is_cut():
    flows = [qs.Flow(f"flow {i}", cbr) for i in range(1000)]
    message = refused(lambda: qs.Scenario([*flows, flow.replace(route=["nowhere"])], [port]))
    assert len(message) < 200


@pytest.mark.parametrize("name", ["start", "dscp", "source"])
def test_a_mistake_in_a_change_is_found_at_once(name):
    assert name in refused(lambda: flow.replace(**{name: "nonsense"}))
