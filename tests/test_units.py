# SPDX-License-Identifier: MIT
"""Quantities at the edge: what is read, exactly, and what is refused."""

from __future__ import annotations

import datetime
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest

from qossim import ScenarioError, units


@pytest.mark.parametrize(
    ("given", "bits_per_second"),
    [
        ("2 Mbit/s", 2_000_000),
        ("2Mbps", 2_000_000),
        ("2 Mb/s", 2_000_000),
        ("  2   Mbit / s ", 2_000_000),
        ("300 kbit/s", 300_000),
        ("300 Kbps", 300_000),
        ("1.5 MB/s", 12_000_000),
        ("1 KiB/s", 8192),
        ("1 Kibit/s", 1024),
        ("10 Gbit/s", 10**10),
        ("8 Tbit/s", 8 * 10**12),
        ("64000", 64_000),
        ("1e6", 10**6),
        ("1.5e3 kbit/s", 1_500_000),
        ("1000000000/3", Fraction(10**9, 3)),
        ("1/3 Mbit/s", Fraction(10**6, 3)),
        (".5", Fraction(1, 2)),
        (2_000_000, 2_000_000),
        (0.1, Fraction(1, 10)),
        (300e3 / (1024 * 8), Fraction("36.62109375")),
        (np.float64(0.1), Fraction(1, 10)),
        (np.float32(0.1), Fraction(1, 10)),
        (np.int16(7), 7),
        (np.array(0.1), Fraction(1, 10)),
        (Decimal("0.1"), Fraction(1, 10)),
        (Fraction(1, 3), Fraction(1, 3)),
    ],
)
def test_a_rate_is_the_decimal_it_is_written_as(given, bits_per_second):
    assert units.rate(given) == bits_per_second
    assert isinstance(units.rate(given), Fraction)


@pytest.mark.parametrize(
    ("given", "ps"),
    [
        ("0.691 ms", 691_000_000),
        ("10 us", 10_000_000),
        ("10 \u00b5s", 10_000_000),
        ("10 \u03bcs", 10_000_000),
        ("5 ns", 5000),
        ("7 ps", 7),
        ("1 min", 60 * 10**12),
        ("10 min", 600 * 10**12),
        ("2 h", 7200 * 10**12),
        ("106 d", 106 * 86400 * 10**12),
        ("1/3 s", 333_333_333_333),
        (0.02, 20_000_000_000),
        (60, 60 * 10**12),
        (1e-13, 0),
        (Fraction(5, 2 * 10**12), 2),  # halfway: to even
        (Fraction(7, 2 * 10**12), 4),
        (datetime.timedelta(microseconds=3), 3_000_000),
        (pd.Timedelta("1500ns"), 1_500_000),
        (pd.Timedelta("1 day 2 us 999 ns"), 86_400_000_002_999_000),
        (np.timedelta64(3, "ns"), 3000),
        (np.timedelta64(1, "m"), 60 * 10**12),
        (np.timedelta64(1501, "fs"), 2),
        (units.LONGEST / 10**12, units.LONGEST),
    ],
)
def test_a_time_is_the_nearest_picosecond(given, ps):
    assert units.time(given) == ps
    assert type(units.time(given)) is int


@pytest.mark.parametrize(
    ("given", "size"),
    [("8 kB", 8000), ("8 KiB", 8192), ("1500 bytes", 1500), ("40B", 40), (1500.0, 1500), ("1e3", 1000)],
)
def test_a_size_is_whole_bytes(given, size):
    assert units.size(given, "burst") == size


@pytest.mark.parametrize(
    ("given", "pps"), [("200 pps", 200), ("5 kpps", 5000), ("10 packets/s", 10), ("3/s", 3), (0.5, 0.5)]
)
def test_packets_per_second_have_units_too(given, pps):
    assert units.packet_rate(given) == pps


@pytest.mark.parametrize(
    ("given", "exact"),
    [("0.1 %", Fraction(1, 1000)), (0.07, Fraction(7, 100)), ("100%", 1), (0, 0), ("1e-3", Fraction(1, 1000))],
)
def test_a_share_may_be_per_cent(given, exact):
    assert units.share(given) == exact


@pytest.mark.parametrize("bad", [-0.1, 1.001, "101 %", "0.1 ms", "one", None, True, float("nan")])
def test_what_is_no_share_is_refused(bad):
    with pytest.raises(ScenarioError, match="loss must be a share from 0 to 1"):
        units.share(bad, "loss")


@pytest.mark.parametrize(
    "bad",
    [
        "300 kfoo",
        "2 mbit/s",  # a millibit?
        "2 MBIT/S",
        "2 ms",
        "fast",
        "",
        " ",
        "Mbit/s",
        "1 000 bit/s",
        "1/0",
        "1e9999",
        "1e400000000",
        "9" * 5000,
        "-3 kbit/s",
        "nan",
        "inf",
        0,
        -1,
        -0.0,
        8.1e12,
        1e300,
        10**5000,
        float("nan"),
        float("inf"),
        np.float64("nan"),
        Decimal("NaN"),
        Decimal("sNaN"),
        Decimal("1e999999999"),
        Decimal("1e-999999999"),
        True,
        np.bool_(True),
        None,
        [1],
        1j,
        b"1",
        np.array([1.0]),
        np.timedelta64(1, "s"),
        1e-30,  # more digits than the clock has
    ],
    ids=units.shown,
)
def test_what_is_no_rate_is_refused_by_field_value_and_bounds(bad):
    with pytest.raises(ScenarioError, match=r"^speed must be .*(8e12 bit/s|2\*\*63), got ") as caught:
        units.rate(bad, "speed")
    assert len(str(caught.value)) < 400


@pytest.mark.parametrize(
    "bad",
    [
        "3 kbit/s",
        "3 m",
        -1,
        "-1 ms",
        "107 d",
        float("nan"),
        True,
        None,
        np.timedelta64("NaT", "s"),
        np.timedelta64(1, "M"),  # a month has no fixed length
        np.timedelta64(-1, "s"),
        datetime.timedelta(days=-1),
        datetime.timedelta(days=1000),
        datetime.datetime(2000, 1, 1),
        np.datetime64("2000-01-01"),
    ],
)
def test_what_is_no_time_is_refused_by_field_value_and_bounds(bad):
    with pytest.raises(ScenarioError, match=r"^delay must be a time from 0 to 9200000 s \(106 days\), got "):
        units.time(bad, "delay")


@pytest.mark.filterwarnings("ignore:The 'generic' unit:DeprecationWarning")
def test_a_timedelta_of_no_unit_is_no_time():
    for bad in (np.timedelta64(1), np.timedelta64("NaT")):
        with pytest.raises(ScenarioError, match=r"^delay must be a time from 0 to 9200000 s .* no fixed length"):
            units.time(bad, "delay")


def test_zero_is_a_time_unless_it_must_be_positive():
    assert units.time(0) == 0
    with pytest.raises(ScenarioError, match="duration must be a time above 0 s and at most 9200000 s"):
        units.time(0, "duration", positive=True)


@pytest.mark.parametrize("bad", [-1, 1.5, "1.5", 2**62 + 1, "3 kbit/s", True, float("nan"), None])
def test_counts_and_sizes_are_whole_and_within_bounds(bad):
    for read in (units.count, units.size):
        with pytest.raises(ScenarioError, match=r"limit must be a whole number .*from 0 to 2\*\*62, got "):
            read(bad, "limit")


def test_a_unit_almost_right_is_suggested():
    with pytest.raises(ScenarioError, match=r'unknown unit "mbit/s"; did you mean Mbit/s\?'):
        units.rate("2 mbit/s")


@pytest.mark.parametrize(
    "exact", [Fraction(n, d) for n in (0, 1, 7, 10**6, 691, 2**70, -3) for d in (1, 3, 8, 10**12, 7 * 10**5, 2**62)]
)
def test_what_is_written_reads_back_the_same(exact):
    assert Fraction(units.digits(exact)) == exact
    assert units.number(units.plain(exact), "x") == exact
    assert units.seconds(units.text(exact, "s"), "x") == exact
    if 0 < exact <= units.MAX_RATE and exact.denominator < 2**63:
        assert units.rate(units.text(exact, "bit/s")) == exact


def test_text_is_as_people_write_it():
    assert units.text(Fraction(2_000_000), "bit/s") == "2 Mbit/s"
    assert units.text(Fraction(1_600_000), "bit/s") == "1.6 Mbit/s"
    assert units.text(Fraction(691, 10**6), "s") == "691 us"
    assert units.text(Fraction(60), "s") == "60 s"
    assert units.text(Fraction(0), "s") == "0 s"
    assert units.text(Fraction(10**9, 3), "bit/s") == "1000000000/3 bit/s"
    assert units.short(Fraction(10**9, 3), "bit/s") == "333.3 Mbit/s"


def test_ratios_come_in_whole_and_part():
    assert units.ratio(Fraction(7)) == 7
    assert units.ratio(Fraction(7, 2)) == (3, 1, 2)
    assert units.ratio(Fraction(1, 3)) == (0, 1, 3)


def test_integers_are_the_smallest_in_proportion():
    assert units.integers([Fraction(1, 2), Fraction(1, 3)]) == [3, 2]
    assert units.integers([Fraction(400_000), Fraction(1_600_000)]) == [1, 4]


def test_values_that_cannot_be_shown_are_named_by_type():
    class Unspeakable:
        def __repr__(self):
            raise RuntimeError

    assert units.shown(Unspeakable()) == "a Unspeakable that cannot be printed"
    assert units.shown(10**5000) == "a int that cannot be printed"
    assert units.shown("two\nlines") == r"'two\nlines'"
    assert units.shown(np.zeros((2, 1))) == "array([[0.], [0.]])"
    assert len(units.shown(list(range(1000)))) < 130
