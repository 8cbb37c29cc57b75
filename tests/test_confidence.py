# SPDX-License-Identifier: MIT
"""Intervals and warm-up against tables, closed forms and definitions; `theory/test_coverage.py` tries the claims."""

from __future__ import annotations

import copy
import doctest
import math
import pickle
import subprocess
import sys
from fractions import Fraction
from statistics import NormalDist
from typing import Any

import numpy as np
import pytest
import xarray as xr

import qossim as qs
from qossim import _confidence, _student
from qossim.statistics import (
    Interval,
    batch_means,
    confidence,
    mser5,
    quantile_confidence,
    student_t_quantile,
    target_reached,
)

# -- Student's t -------------------------------------------------------------------------------------------------------

# Worked out with mpmath 1.4.1 to 40 digits, from its incomplete beta function; columns 0.9, 0.975, 0.995, 0.9995.
STUDENT = {
    3: ("1.63774435369621011", "3.18244630528370959", "5.84090930973335726", "12.9239786366874831"),
    5: ("1.47588404882448108", "2.57058183563631551", "4.03214298355522808", "6.86882662588111025"),
    9: ("1.38302873839663231", "2.26215716279820554", "3.24983554159212628", "4.78091258593113907"),
    10: ("1.37218364111033563", "2.22813885198627475", "3.16927267261695123", "4.5868938587026359"),
    24: ("1.31783593367314963", "2.06389856162802585", "2.79693950477445629", "3.74539861929005246"),
    29: ("1.31143364730155107", "2.0452296421327043", "2.75638590367060549", "3.65940501946633286"),
    99: ("1.29016144203448518", "1.9842169515864175", "2.62640545728082751", "3.39152883336365056"),
    1000: ("1.28239872146092444", "1.96233908082640848", "2.58075469806595108", "3.30028264842391291"),
}


@pytest.mark.parametrize("df", STUDENT)
def test_quantiles_of_student_are_those_of_the_table(df: int) -> None:
    for p, expected in zip((0.9, 0.975, 0.995, 0.9995), STUDENT[df], strict=True):
        assert student_t_quantile(p, df) == pytest.approx(float(expected), rel=1e-12)


@pytest.mark.parametrize(
    ("df", "printed"),
    [(1, 12.706), (2, 4.303), (4, 2.776), (6, 2.447), (8, 2.306), (15, 2.131), (20, 2.086), (30, 2.042), (60, 2.000)],
)
def test_quantiles_of_student_are_the_printed_ones(df: int, printed: float) -> None:
    """NIST/SEMATECH e-Handbook of Statistical Methods, section 1.3.6.7.2, column 0.975."""
    assert round(student_t_quantile(0.975, df), 3) == printed


@pytest.mark.parametrize("beyond", [0.49999, 0.4, 0.26, 0.25, 0.24, 0.1, 0.025, 0.0005, 1e-6, 1e-12, 1e-50, 1e-300])
def test_quantiles_of_student_are_the_closed_forms(beyond: float) -> None:
    """Of 1, 2 and 4 degrees of freedom: W. T. Shaw, *Journal of Computational Finance* 9(4), 2006."""
    p = beyond
    alpha = 4 * p * (1 - p)
    four = 2 * math.sqrt(math.cos(math.acos(math.sqrt(alpha)) / 3) / math.sqrt(alpha) - 1)
    assert -student_t_quantile(p, 1) == pytest.approx(1 / math.tan(math.pi * p), rel=1e-11)
    assert -student_t_quantile(p, 2) == pytest.approx((1 - 2 * p) / math.sqrt(alpha / 2), rel=1e-11)
    if beyond < 0.4:  # nearer the middle the closed form itself loses its digits
        assert -student_t_quantile(p, 4) == pytest.approx(four, rel=1e-11)


@pytest.mark.parametrize("p", [0.5000001, 0.6, 0.75, 0.9, 0.975, 0.9999, 1 - 1e-12])
def test_quantiles_of_student_fall_towards_the_normal_ones(p: float) -> None:
    found = [student_t_quantile(p, df) for df in (1, 1.5, 2, 7.3, 30, 99.999, 100, 1e3, 99_999, 100_000, 1e8, math.inf)]
    assert found == sorted(found, reverse=True)
    assert found[-1] == pytest.approx(NormalDist().inv_cdf(p), rel=1e-9)


@pytest.mark.parametrize("p", [0.5000001, 0.7, 0.975, 0.9999, 1 - 1e-15])
@pytest.mark.parametrize("seam", [100.0, 1e5])
def test_quantiles_of_student_have_no_step_where_the_method_changes(p: float, seam: float) -> None:
    below, at = student_t_quantile(p, seam * (1 - 1e-13)), student_t_quantile(p, seam)
    assert below == pytest.approx(at, rel=1e-11)


def test_quantiles_of_student_reach_to_the_ends_of_what_is_allowed() -> None:
    assert -student_t_quantile(1e-307, 1) == pytest.approx(1 / math.pi * 1e307, rel=1e-11)
    assert -student_t_quantile(1e-307, 2) == pytest.approx(1 / math.sqrt(2e-307), rel=1e-11)
    for p in (0.3, 0.4, 1e-307):
        for df in (1e100, 1e308, 10**400, math.inf):
            assert student_t_quantile(p, df) == pytest.approx(NormalDist().inv_cdf(p), rel=1e-14)


def test_quantiles_of_student_are_odd_about_the_median() -> None:
    for p in (0.001, 0.25, 0.3):
        assert student_t_quantile(p, 7) == pytest.approx(-student_t_quantile(1 - p, 7), rel=1e-14)
    assert student_t_quantile(0.5, 7) == 0


@pytest.mark.parametrize(
    ("p", "df", "name"),
    [
        (0, 3, "p"),
        (1, 3, "p"),
        (math.nan, 3, "p"),
        (5e-324, 1, "p"),
        (9.9e-308, 1, "p"),
        ("0.5", 3, "p"),
        (None, 3, "p"),
        (10**400, 3, "p"),
        (0.9, 0.99, "df"),
        (0.9, math.nan, "df"),
        (0.9, "3", "df"),
        (0.9, -(10**400), "df"),
    ],
)
def test_quantiles_of_student_refuse_what_is_none(p: Any, df: Any, name: str) -> None:
    with pytest.raises(ValueError, match=rf"^{name} must be .*, got ") as refused:
        student_t_quantile(p, df)
    assert len(str(refused.value)) < 200


# -- over replications -------------------------------------------------------------------------------------------------

# Cushny and Peebles, extra hours of sleep with the second soporific, as "Student" analysed them in 1908: n = 10,
# mean 2.33, standard deviation (divisor n - 1) 2.00225.
SLEEP = [1.9, 0.8, 1.1, 0.1, -0.1, 4.4, 5.5, 1.6, 4.6, 3.4]


def test_interval_of_students_own_data() -> None:
    interval = confidence(SLEEP)
    assert interval.mean == pytest.approx(2.33, rel=1e-14)
    assert interval.half_width == pytest.approx(2.26215716279820554 * 2.002249 / math.sqrt(10), rel=1e-6)
    assert (interval.level, interval.count) == (0.95, 10)
    assert interval.low == interval.mean - interval.half_width
    assert interval.high == interval.mean + interval.half_width
    mean, half_width, level, count = interval
    assert Interval(mean, half_width, level, count) == interval
    assert confidence(SLEEP, level=0.99).half_width > 1.4 * interval.half_width


def test_interval_leaves_out_what_is_not_there() -> None:
    assert confidence([math.nan, *SLEEP, math.nan]) == pytest.approx(confidence(SLEEP), rel=1e-14)
    assert confidence(np.ma.masked_greater([*SLEEP, 99.0], 90)) == confidence(SLEEP)
    for values in ([1 + 5j, 2.0], [True, False], ["1", "2"], np.array([1, 2], "m8[s]"), [None, 1]):
        with pytest.raises(ValueError, match="values must be integers or floats"):
            confidence(np.ma.array(values))
    one, none = confidence([3.0, math.nan]), confidence([])
    assert (one.mean, one.count) == (3.0, 1)
    assert math.isnan(one.half_width)
    assert none.count == 0
    assert math.isnan(none.mean)
    assert math.isnan(none.half_width)


@pytest.mark.parametrize("value", [0.1, 1 / 3, 4.664e-3, 0, 123456789])
def test_equal_values_have_a_mean_without_doubt(value: float) -> None:
    assert confidence([value] * 7)[:2] == (value, 0.0)
    assert batch_means([value] * 60)[:2] == (value, 0.0)


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("power", [-1060, -1000, -660, -200, 200, 660, 1020])
def test_an_interval_scales_with_its_values_however_large_or_small(power: int) -> None:
    values = np.rint(np.random.default_rng(8).normal(5, 3, 103))  # they fit into what is left of the smallest floats
    scaled = np.ldexp(values, power)
    for function in (confidence, batch_means):
        interval, wanted = function(scaled), function(values)
        assert interval[:2] == pytest.approx(np.ldexp(wanted[:2], power), rel=1e-15, abs=5e-324)
        assert interval[2:] == wanted[2:]
    assert batch_means(scaled).correlation == batch_means(values).correlation
    begun = np.concatenate([np.linspace(9, 5, 20), values])
    assert mser5(np.ldexp(np.rint(begun), power)) == mser5(np.rint(begun))


@pytest.mark.filterwarnings("error")
def test_values_near_the_ends_of_floats_warn_of_nothing() -> None:
    mean, half_width, _, _ = confidence([1e200, -1e200, 3])
    assert mean == pytest.approx(1.0, abs=1e185)
    assert half_width == pytest.approx(0.95 / math.sqrt(2 * 0.025 * 0.975) * 1e200 / math.sqrt(3), rel=1e-11)
    assert confidence([1e-200, 2e-200]).half_width == pytest.approx(12.706204736174694 * 0.5e-200, rel=1e-11)
    most = sys.float_info.max
    assert confidence([most, -most])[:2] == (0.0, math.inf)
    assert confidence([most] * 3)[:2] == (most, 0.0) == batch_means([most] * 60)[:2]
    assert confidence([5e-324] * 3)[:2] == (5e-324, 0.0) == batch_means([5e-324] * 60)[:2]
    assert batch_means([most, -most] * 20)[:2] == (0.0, 0.0)
    assert math.isinf(batch_means([most] * 4 + [-most] * 4, batches=2).half_width)
    assert mser5([1e200, -1e200, 3] * 20) == mser5([1, -1, 0] * 20)
    assert mser5([most] * 20 + [0, 1] * 50) == mser5([-most] * 20 + [0, 1] * 50) == 20
    assert mser5([5e-324] * 20 + [0] * 100) == 20
    columns = np.array([[1e200, 1e-200, most], [2e200, 2e-200, -most]])
    assert not target_reached(columns, 1.0, relative=False, least=2)


def test_a_large_mean_does_not_drown_the_spread() -> None:
    assert confidence(np.array(SLEEP) + 1e9).half_width == pytest.approx(confidence(SLEEP).half_width, rel=1e-6)


def table() -> xr.DataArray:
    values = np.random.default_rng(1).normal(5, 1, (2, 9, 3))
    values[0, :, 1] = np.nan
    values[1, 1:, 2] = np.nan
    values[1, 4, 0] = np.nan
    return xr.DataArray(
        values,
        dims=("ring", "replication", "flow"),
        coords={"ring": [1, 5], "flow": ["EF", "BE", "AF"], "seed": ("replication", np.arange(9)), "load": 0.7},
        attrs={"units": "s"},
        name="delay_mean",
    )


def test_interval_of_a_table_is_that_of_each_of_its_cells() -> None:
    values = table()
    before = values.copy(deep=True)
    found = confidence(values, level=0.9)
    assert set(found) == {"mean", "half_width", "count"}
    assert found["mean"].dims == found["half_width"].dims == found["count"].dims == ("ring", "flow")
    for ring in (1, 5):
        for flow in ("EF", "BE", "AF"):
            cell, wanted = (
                found.sel(ring=ring, flow=flow),
                confidence(values.sel(ring=ring, flow=flow).values, level=0.9),
            )
            assert int(cell["count"]) == wanted.count
            for name in ("mean", "half_width"):
                assert float(cell[name]) == pytest.approx(getattr(wanted, name), rel=1e-14, nan_ok=True)
    assert found["count"].values.tolist() == [[9, 0, 9], [8, 9, 1]]
    assert before.identical(values)


def test_interval_of_a_table_keeps_coordinates_and_unit() -> None:
    found = confidence(table())
    assert set(found.coords) == {"ring", "flow", "load"}
    assert found["mean"].attrs == found["half_width"].attrs == {"units": "s"}
    assert "units" not in found["count"].attrs
    assert found.attrs == {"level": 0.95, "over": "replication"}
    assert found["mean"].sel(flow="EF").to_dataframe().shape[0] == 2


def test_any_dimension_may_be_the_replications() -> None:
    values = table().transpose("flow", "ring", "replication")
    assert confidence(values).identical(confidence(table()).transpose("flow", "ring"))
    over = confidence(table(), over="flow")
    assert over["mean"].dims == ("ring", "replication")
    assert confidence(table().isel(replication=[]))["count"].values.tolist() == [[0, 0, 0], [0, 0, 0]]
    line = confidence(table().sel(ring=1, flow="EF"))
    assert line["mean"].ndim == 0
    assert confidence(table().rename(replication="run").astype(np.float32), over="run")["mean"].dtype == np.float64


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ([1.0, math.inf], "values must be finite or NaN, got an infinity"),
        (["a"], "values must be integers or floats, got <U1"),
        ([True, False], "values must be integers or floats, got bool"),
        ([[1.0]], "values must have one dimension, got an array of shape (1, 1)"),
        (3.0, "values must have one dimension, got an array of shape ()"),
    ],
)
def test_what_is_no_sample_is_refused(values: Any, message: str) -> None:
    for function in (confidence, mser5, batch_means, lambda values: quantile_confidence(values, 0.5)):
        with pytest.raises(ValueError, match=r"^values must ") as refused:
            function(values)
        assert str(refused.value) == message


def test_a_table_is_refused_with_the_way_out() -> None:
    with pytest.raises(TypeError, match="got a Dataset: choose one of its variables"):
        confidence(table().to_dataset())  # type: ignore[call-overload]
    with pytest.raises(ValueError, match=r"over must be one of the dimensions \('ring', 'replication', 'flow'\), got"):
        confidence(table(), over="seed")


@pytest.mark.parametrize("level", [0, 1, 95, -0.1, math.nan, "0.95", None, 10**400, [0.95], 0.95j])
def test_a_level_is_between_0_and_1(level: Any) -> None:
    for function in (
        lambda: confidence(SLEEP, level=level),
        lambda: confidence(table(), level=level),
        lambda: quantile_confidence(SLEEP, 0.5, level),
        lambda: batch_means(SLEEP * 4, level),
        lambda: target_reached(SLEEP, 1.0, level=level),
    ):
        with pytest.raises(ValueError, match=r"^level must be above 0 and below 1, got"):
            function()


def test_a_level_may_be_as_close_to_1_as_floats_are() -> None:
    """Of three values Student's t has a closed form."""
    share = 2.0**-53
    values = [1, 2, 3]
    wanted = (1 - share) / math.sqrt(share * (1 - share / 2)) / math.sqrt(3)
    assert confidence(values, level=1 - share).half_width == pytest.approx(wanted, rel=1e-11)
    assert confidence(values, level=Fraction(19, 20)) == confidence(values, level=0.95)  # type: ignore[arg-type]
    assert confidence(values, level=1e-300).half_width == 0
    assert quantile_confidence(values, 0.5, 1 - share) == (1.0, 3.0, 0.75)


# -- stopping ----------------------------------------------------------------------------------------------------------


def test_a_target_is_reached_when_the_interval_is_no_wider() -> None:
    reached = confidence(SLEEP).half_width
    assert target_reached(SLEEP, reached)
    assert not target_reached(SLEEP, reached * (1 - 1e-12))
    assert target_reached(SLEEP, reached * 0.9, level=0.9)
    assert not target_reached(SLEEP, 100.0, least=11)
    assert not target_reached(SLEEP[:9], 100.0)
    assert target_reached([math.nan, *SLEEP], reached)


def test_a_relative_target_holds_for_the_true_mean() -> None:
    """Half-width h about m covers true means from m - h on, the least of which makes h the largest share."""
    mean, half_width, *_ = confidence(np.array(SLEEP) + 10)
    share = half_width / (mean - half_width)
    assert target_reached(np.array(SLEEP) + 10, share * (1 + 1e-12), relative=True)
    assert not target_reached(np.array(SLEEP) + 10, share * (1 - 1e-12), relative=True)
    assert target_reached(-np.array(SLEEP) - 10, share * (1 + 1e-12), relative=True)


def test_a_target_is_reached_in_every_column_or_not_at_all() -> None:
    sleep = np.array(SLEEP)
    columns = np.stack([sleep, sleep / 10, np.full(10, np.nan)], axis=1)
    reached = confidence(SLEEP).half_width
    assert target_reached(columns[:, :2], reached)
    assert not target_reached(columns[:, :2], reached / 2)
    assert target_reached(columns[:, 1:2], reached / 2)
    for there in (columns, columns[:, 1:], columns[:, 2:]):
        assert not target_reached(there, 100.0), "of nothing but NaN nothing is known"
    assert not target_reached(columns[:, :0], 100.0)
    assert not target_reached([], 1.0)
    columns[0, 1] = np.nan
    assert not target_reached(columns[:, :2], reached), "nine values are too few"


def test_an_interval_that_stops_when_narrow_enough_covers_a_little_less_often() -> None:
    """At its worst, near 25 normal values: 93.5 times in 100, within the limits of 1500 experiments (99.9 %)."""
    covered = []
    for line in np.random.default_rng(6).normal(size=(1500, 200)):
        stop = next(n for n in range(10, 200) if target_reached(line[:n], 0.4))
        covered.append(abs(line[:stop].mean()) <= confidence(line[:stop]).half_width)
    assert np.mean(covered) == pytest.approx(0.935, abs=3.29 * math.sqrt(0.935 * 0.065 / 1500))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"half_width": 0.0}, "half_width must be above 0, got 0.0"),
        ({"half_width": math.nan}, "half_width must be above 0, got nan"),
        ({"half_width": 1.0, "relative": True}, "half_width must be above 0 and below 1, got 1.0"),
        ({"half_width": 1.0, "least": 1}, "least must be a whole number of at least 2, got 1"),
        ({"half_width": 1.0, "values": 3.0}, "values must have one row for each replication, got 3.0"),
    ],
)
def test_a_target_out_of_bounds_is_refused(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match="must") as refused:
        target_reached(**({"values": SLEEP} | arguments))
    assert str(refused.value) == message


# -- quantiles ---------------------------------------------------------------------------------------------------------


def between(n: int, q: Fraction, low: int, high: int) -> Fraction:
    """P(low <= B < high) of a binomial B, exact."""
    return sum((math.comb(n, k) * q**k * (1 - q) ** (n - k) for k in range(low, high)), Fraction(0))


@pytest.mark.parametrize(
    ("n", "low", "high", "level"), [(6, 1, 6, 0.969), (10, 2, 9, 0.979), (20, 6, 15, 0.959), (100, 40, 61, 0.965)]
)
def test_ranks_about_the_median_are_those_worked_out_by_hand(n: int, low: int, high: int, level: float) -> None:
    """Of 6 values all lie on one side with ``2 / 2**6``; of 10, all but one at most with ``2 * 11 / 2**10``."""
    found = quantile_confidence(np.random.default_rng(n).permutation(np.arange(1, n + 1)), 0.5)
    assert (found.low, found.high, round(found.level, 3)) == (low, high, level)


@pytest.mark.parametrize("q", ["0.001", "0.1", "0.5", "0.9", "0.99"])
@pytest.mark.parametrize("n", [1, 2, 5, 30, 200, 459])
def test_ranks_are_the_closest_that_keep_to_each_side(n: int, q: str) -> None:
    exact = Fraction(q)
    for level in (0.5, 0.9, 0.95, 0.99):
        low, high, reached = quantile_confidence(np.arange(1, n + 1), float(q), level)
        low, high = int(low), int(high)
        assert reached == pytest.approx(float(between(n, exact, low, high)), abs=1e-12)
        left, right = between(n, exact, 0, low), between(n, exact, high, n + 1)
        side = Fraction(1 - level) / 2
        if left <= side and right <= side:
            assert reached >= level - 1e-12
        if low > 1 and high < n:  # one rank further in, a side would miss too often
            assert between(n, exact, 0, low + 1) > side or right > side
            assert between(n, exact, high - 1, n + 1) > side or left > side
        if reached < level - 1e-12:
            assert low == 1 or high == n, "only the outermost value can be too near"
        rank = math.ceil(n * exact)
        assert low <= max(rank, 1) <= high


def test_what_one_side_cannot_keep_to_is_taken_from_the_other() -> None:
    """Of 300 values the largest lies below the 0.99-quantile in 4.9 % of cases: more than 2.5 %, less than 5 %."""
    low, high, reached = quantile_confidence(np.arange(1, 301), 0.99)
    assert high == 300
    assert 0.95 <= reached < 0.952
    assert quantile_confidence(-np.arange(1, 301), 0.01).low == -300
    assert low < 292


def test_too_few_values_say_how_little_they_say() -> None:
    assert quantile_confidence([5.0], 0.5) == (5.0, 5.0, 0.0)
    low, high, reached = quantile_confidence(range(10), 0.99)
    assert high == 9
    assert reached == pytest.approx(1 - 0.99**10 - float(between(10, Fraction("0.99"), 0, int(low) + 1)), abs=1e-12)
    none = quantile_confidence([math.nan], 0.5)
    assert none.level == 0
    assert math.isnan(none.low)
    assert math.isnan(none.high)


def test_a_quantile_of_very_many_values_has_a_binomial_interval() -> None:
    low, high, reached = quantile_confidence(np.arange(1_000_000), 0.999)
    half_width = NormalDist().inv_cdf(0.975) * math.sqrt(1_000_000 * 0.999 * 0.001)
    assert low == pytest.approx(999_000 - half_width, abs=2)
    assert high == pytest.approx(999_000 + half_width, abs=2)
    assert 0.95 <= reached < 0.952


@pytest.mark.parametrize("q", [0, 1, -1, 50, math.nan, "0.5", None])
def test_a_quantile_is_between_0_and_1(q: Any) -> None:
    with pytest.raises(ValueError, match=r"^q must be above 0 and below 1, got"):
        quantile_confidence(SLEEP, q)


# -- warm-up -----------------------------------------------------------------------------------------------------------


def mser5_by_hand(values: np.ndarray) -> tuple[int, list[Fraction]]:
    """The definition, word by word and exact."""
    means = [sum(map(Fraction, values[i : i + 5].tolist())) / 5 for i in range(0, len(values) - 4, 5)]
    found = []
    for cut in range(len(means) // 2 + 1):
        rest = means[cut:]
        mean = sum(rest) / len(rest)
        found.append(sum((y - mean) ** 2 for y in rest) / len(rest) ** 2)
    return 5 * found.index(min(found)), found


@pytest.mark.parametrize("seed", range(12))
def test_mser5_is_its_definition(seed: int) -> None:
    rng = np.random.default_rng(seed)
    n = int(rng.integers(10, 400))
    values = rng.normal(0, 1, n) + rng.uniform(0, 20) * np.exp(-np.arange(n) / rng.uniform(1, 100))
    cut, found = mser5_by_hand(values)
    assert found[mser5(values) // 5] <= found[cut // 5] * (1 + Fraction(1, 10**9))
    assert mser5(values) == cut


def test_mser5_leaves_out_a_beginning_that_differs() -> None:
    assert mser5([50.0] * 30 + [0.1, 0.2, 0.3, 0.4, 0.5] * 40) == 30
    assert mser5([50.0] * 32 + [0.1] * 168) == 35
    rng = np.random.default_rng(1)
    settled = rng.normal(10, 1, 10_000)
    assert 1000 <= mser5(settled + 40 * (np.arange(10_000) < 1000)) <= 1200


def test_mser5_of_what_has_no_beginning_leaves_out_nothing() -> None:
    for value in (0.1, 7, 1e9 / 3):
        assert mser5([value] * 1003) == 0
    assert mser5([0, 1, 2, 3, 4] * 100) == 0


def test_mser5_leaves_out_at_most_half() -> None:
    assert mser5(np.arange(1000.0)) == 500
    assert mser5(np.arange(57.0)) == 25
    for n in range(12):
        assert mser5(np.arange(float(n))) == (5 if n >= 10 else 0)


def test_mser5_does_not_suffer_from_a_large_mean() -> None:
    values = np.random.default_rng(2).integers(0, 1000, 2000)
    values[:200] += 3000
    assert mser5(values + 10**12) == mser5(values) == mser5_by_hand(values)[0]


def after_a_backlog(backlog: int) -> qs.Scenario:
    """M/D/1 at load 1/2, a packet a millisecond, and so many packets that wait at the start.

    A backlog falls by half a packet a millisecond, so that it is gone after twice as many milliseconds as packets.
    """
    flows = [qs.Flow("data", qs.Poisson(pps=500, size=1000)), qs.Flow("backlog", qs.Trace(np.zeros(backlog), 1000))]
    return qs.Scenario(flows, [qs.Port("link", "8 Mbit/s")])


def test_the_warm_up_of_a_queue_ends_when_its_backlog_is_gone() -> None:
    """A thousand packets are gone after two seconds, give or take ``sqrt(1000 * 0.5 / 0.5**3)`` ms, 63 ms."""
    runs = [qs.run(after_a_backlog(1000), duration=10, seed=seed) for seed in range(100)]
    found = np.array([qs.warmup_of(run["data"]) for run in runs])
    assert np.median(found) == pytest.approx(2.0, abs=0.1)
    assert found.min() > 1.8
    assert np.mean(found < 3) > 0.9
    kept = [run["data"].delay[mser5(run["data"].delay) :].mean() for run in runs]
    assert np.mean([run["data"].delay.mean() for run in runs]) > 0.1
    assert np.mean(kept) == pytest.approx(1.5e-3, rel=0.02)


def test_a_warm_up_can_be_given_to_the_next_run() -> None:
    run = qs.run(after_a_backlog(300), duration=5, seed=1)
    warmup = qs.warmup_of(run["data"])
    again = qs.run(after_a_backlog(300), duration=5, seed=1, warmup=warmup)
    assert again["data"].received == run["data"].received - mser5(run["data"].delay)
    assert again["data"].delay.tolist() == run["data"].delay[mser5(run["data"].delay) :].tolist()


def test_a_run_without_a_beginning_has_the_warm_up_it_was_given() -> None:
    scenario = qs.Scenario([qs.Flow("data", qs.CBR(pps=500, size=1000))], [qs.Port("link", "8 Mbit/s")])
    assert qs.warmup_of(qs.run(scenario, duration=1)["data"]) == 0
    assert qs.warmup_of(qs.run(scenario, duration=1, warmup=0.123)["data"]) == 0.123


def test_a_run_too_short_to_tell_has_no_warm_up() -> None:
    growing = qs.Scenario([qs.Flow("data", qs.CBR(pps=1100, size=1000))], [qs.Port("link", "8 Mbit/s")])
    assert math.isnan(qs.warmup_of(qs.run(growing, duration=10)["data"]))
    few = qs.run(after_a_backlog(9), duration=1, seed=1)
    assert math.isnan(qs.warmup_of(few["backlog"]))
    with pytest.raises(qs.ScenarioError, match='record="packets"'):
        qs.warmup_of(qs.run(growing, duration=1, record="summary")["data"])


def test_the_warm_up_is_that_of_a_flow() -> None:
    scenario = qs.Scenario([qs.Flow("data", qs.CBR(pps=500, size=1000))], [qs.Port("link", "8 Mbit/s")])
    with pytest.raises(qs.ScenarioError, match=r'^flow must be the result of a flow, got .*as in result\["EF"\]'):
        qs.warmup_of(qs.run(scenario, duration=1))  # type: ignore[arg-type]
    for wrong in (None, "EF", [1.0] * 50):
        with pytest.raises(qs.ScenarioError, match=r"^flow must be the result of a flow, got "):
            qs.warmup_of(wrong)  # type: ignore[arg-type]


# -- one run -----------------------------------------------------------------------------------------------------------


def test_batch_means_is_the_interval_over_the_batches() -> None:
    values = np.random.default_rng(3).exponential(1, 1013)
    for batches in (None, 10, 30, 2):
        count = batches or 20
        size = 1013 // count
        means = [values[1013 - size * (count - i) :][:size].mean() for i in range(count)]
        interval, wanted = batch_means(values, 0.9, batches), confidence(means, level=0.9)
        assert interval[:2] == pytest.approx(wanted[:2], rel=1e-12)
        assert interval[2:] == (0.9, count)
        assert interval.size == size
        deviations = np.array(means) - np.mean(means)
        lagged = (deviations[1:] * deviations[:-1]).sum() / (deviations**2).sum()
        assert interval.correlation == pytest.approx(lagged, abs=1e-12)


def test_correlation_tells_batches_that_are_too_short() -> None:
    """Of an autoregressive series with a memory of 100 values."""
    noise = np.random.default_rng(4).normal(size=200_000)
    values, now = np.empty_like(noise), 0.0
    for i, each in enumerate(noise.tolist()):
        now = 0.99 * now + each
        values[i] = now
    assert batch_means(values[:1000]).correlation > 0.3
    assert abs(batch_means(values).correlation) < 0.3


def test_independent_batches_seldom_pass_the_correlation_stated() -> None:
    values = np.random.default_rng(5).normal(size=(4000, 40))
    passed = np.mean([batch_means(line).correlation > 0.3 for line in values])
    assert 0.03 < passed < 0.06


def test_an_interval_of_batches_travels() -> None:
    interval = batch_means(np.arange(100.0) % 7)
    for twin in (copy.copy(interval), copy.deepcopy(interval), pickle.loads(pickle.dumps(interval))):
        assert twin == interval
        assert (twin.size, twin.correlation) == (interval.size, interval.correlation)
    assert isinstance(interval, Interval)
    assert repr(interval).startswith("BatchInterval(mean=")
    assert "size=5, correlation=" in repr(interval)


@pytest.mark.parametrize("batches", [1, 0, 2.5, True, "20"])
def test_batches_are_two_or_more(batches: Any) -> None:
    with pytest.raises(ValueError, match=r"^batches must be a whole number of at least 2, got"):
        batch_means(SLEEP * 10, batches=batches)


def test_a_run_too_short_for_its_batches_is_refused() -> None:
    with pytest.raises(ValueError, match=r"^values must be at least 40, two for each of 20 batches, got 39$"):
        batch_means(np.arange(39.0))
    for function in (mser5, batch_means):
        with pytest.raises(ValueError, match=r"^values must be finite, got NaN$"):
            function([1.0] * 50 + [math.nan])


# -- the package -------------------------------------------------------------------------------------------------------


def test_statistics_need_neither_scipy_nor_xarray() -> None:
    code = (
        "import sys; import qossim as qs; assert 'qossim.statistics' not in sys.modules;"
        "qs.confidence([1.0, 2.0]), qs.quantile_confidence([1.0, 2.0], 0.5), qs.mser5([1.0] * 20),"
        "qs.batch_means([1.0] * 40), qs.student_t_quantile(0.9, 3);"
        "print(sorted({'scipy', 'xarray', 'pandas'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
    assert qs.Interval is Interval


def test_the_examples_of_the_documentation_are_true() -> None:
    for module in (_confidence, _student):
        failed, tried = doctest.testmod(module)
        assert (failed, tried > 0) == (0, True)
