# SPDX-License-Identifier: MIT
"""Statistics: exact on arrays, within their stated error when streamed."""

from __future__ import annotations

import copy
import math
import pickle
from collections import Counter
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import qossim as qs
from qossim.statistics import Statistics, StreamedStatistics, interarrival_jitter


def smallest_reaching(values: list[int], q: Fraction) -> int:
    """The definition, word by word: the smallest v with #(x <= v) >= q * n."""
    return min(v for v in values if sum(x <= v for x in values) >= q * len(values))


def streamed(values: np.ndarray, per: int = 1) -> StreamedStatistics:
    """What a log-linear histogram with 64 buckets an octave keeps of integers."""

    def bucket(value: int) -> tuple[int, int]:
        shift = max(abs(value).bit_length() - 7, 0)
        low = abs(value) >> shift << shift
        high = low + (1 << shift) - 1
        return (low, high) if value >= 0 else (-high, -low)

    counts = Counter(bucket(int(value)) for value in values)
    ends = sorted(counts)
    found = {
        "count": len(values),
        "min": int(values.min()),
        "max": int(values.max()),
        "sum": sum(map(int, values)),
        "m2": float(np.var(values.astype(float)) * len(values)),
        "low": np.array([low for low, _ in ends], dtype=np.int64),
        "high": np.array([high for _, high in ends], dtype=np.int64),
        "counts": np.array([counts[end] for end in ends], dtype=np.uint64),
    }
    return StreamedStatistics(found, per=per)


# -- quantiles ---------------------------------------------------------------------------------------------------------


def test_quantile_is_the_smallest_value_that_reaches_the_share() -> None:
    rng = np.random.default_rng(1)
    for n in (1, 2, 3, 7, 10, 100):
        values = rng.integers(-5, 20, n)
        statistics = Statistics(values)
        for q in ("0", "0.001", "0.07", "0.1", "0.25", "0.29", "0.3", "0.5", "0.57", "0.7", "0.9", "0.99", "1"):
            assert statistics.quantile(float(q)) == smallest_reaching(values.tolist(), Fraction(q)), (n, q)


@pytest.mark.parametrize("n", [100, 1000, 10_000, 3_000_000_000_000])
def test_no_rank_is_moved_by_rounding(n: int) -> None:
    from qossim.statistics import _rank

    assert 0.07 * 100 > 7, "the trap"
    for k in range(1, 101):
        assert _rank(k / 100, n) == k * n // 100


def test_ranks_in_an_array_are_those_of_the_numbers() -> None:
    statistics = Statistics(np.arange(1, 101))
    levels = np.array([[0.07, 0.29], [0.58, 1.0]])
    assert np.array_equal(statistics.quantile(levels), [[7, 29], [58, 100]])
    assert statistics.quantile([0.5, 0.99]).dtype == np.float64
    assert statistics.quantile([]).shape == (0,)


@pytest.mark.parametrize(
    "q", [0.07, Fraction(7, 100), Decimal("0.07"), np.float64(0.07), np.float32(0.07), np.array(0.07)]
)
def test_a_level_counts_as_the_number_it_prints_as(q: Any) -> None:
    assert Statistics(np.arange(1, 101)).quantile(q) == 7


@pytest.mark.parametrize("q", [-0.1, 1.0000001, math.nan, math.inf, "0.5", None, True, Decimal("NaN"), 1j])
def test_a_level_outside_0_to_1_is_refused(q: Any) -> None:
    for statistics in (Statistics([1, 2, 3]), Statistics([]), streamed(np.array([1, 2]))):
        with pytest.raises(ValueError, match="q must be a number from 0 to 1, got"):
            statistics.quantile(q)


def test_median_of_an_even_number_is_the_lower_middle() -> None:
    assert Statistics([4, 1, 3, 2]).median == 2
    assert Statistics([3, 1, 2]).median == 2


# -- the rest of the exact ones ----------------------------------------------------------------------------------------


def test_mean_is_the_exact_sum_divided_once() -> None:
    rng = np.random.default_rng(2)
    for low, high in ((-5, 5), (0, 10**10), (2**61, 2**62), (-(2**62), 2**62)):
        values = rng.integers(low, high, 999)
        statistics = Statistics(values, per=10**12)
        exact = Fraction(sum(map(int, values)), 999 * 10**12)
        assert statistics.mean == float(exact)
        assert statistics.min == int(values.min()) / 1e12
        assert statistics.max == int(values.max()) / 1e12


@pytest.mark.parametrize("offset", [0, 10**9, 10**17, -(10**17)])
def test_variance_does_not_suffer_from_a_large_mean(offset: int) -> None:
    values = np.random.default_rng(3).integers(0, 1000, 500)
    assert Statistics(values + offset).var == pytest.approx(values.var(), rel=1e-12)
    assert Statistics(values + offset).std == pytest.approx(values.std(), rel=1e-12)


def test_floats_and_small_integers_are_taken_as_they_are() -> None:
    values = np.array([0.5, -1.25, 3.0])
    statistics = Statistics(values)
    assert (statistics.count, statistics.min, statistics.max, statistics.mean) == (3, -1.25, 3.0, 0.75)
    assert statistics.quantile(0.5) == 0.5
    assert Statistics(np.array([1, 2], dtype=np.int8)).mean == 1.5
    assert Statistics(np.array([1, 2], dtype=np.uint64)).max == 2


def test_nothing_gives_nan() -> None:
    for statistics in (Statistics([]), Statistics(np.array([], dtype=np.int64), per=10**12)):
        assert statistics.count == len(statistics) == 0
        answers = (statistics.min, statistics.max, statistics.mean, statistics.var, statistics.std, statistics.median)
        assert all(map(math.isnan, answers))
        assert repr(statistics) == "Statistics(count=0)"
        assert statistics.absolute().count == 0


@pytest.mark.parametrize(
    ("values", "word"),
    [
        ([[1, 2]], "one dimension"),
        (3, "one dimension"),
        ([1.0, math.nan], "finite"),
        ([1.0, math.inf], "finite"),
        (["a"], "integers or floats"),
        ([True], "integers or floats"),
        (np.array([2**63], dtype=np.uint64), "below"),
    ],
)
def test_what_is_no_list_of_numbers_is_refused(values: Any, word: str) -> None:
    with pytest.raises(ValueError, match=word):
        Statistics(values)


@pytest.mark.parametrize("per", [0, -1, 1.5, True])
def test_a_scale_is_a_whole_number(per: Any) -> None:
    with pytest.raises(ValueError, match="per must be"):
        Statistics([1], per=per)


def test_the_array_is_neither_copied_nor_changed() -> None:
    values = np.random.default_rng(4).integers(0, 1000, 100)
    before = values.copy()
    statistics = Statistics(values)
    statistics.quantile(0.3), statistics.var, statistics.absolute()
    assert np.array_equal(values, before)
    assert statistics._values is values


def test_absolute_values_have_statistics_too() -> None:
    values = np.array([-3, 1, -2, 5])
    assert Statistics(values).absolute() == Statistics(np.abs(values))


def test_statistics_are_compared_by_value_and_travel() -> None:
    for statistics in (Statistics([1, 2]), streamed(np.array([1, 2]))):
        assert statistics == copy.deepcopy(statistics) == pickle.loads(pickle.dumps(statistics))
        assert statistics != 3
        with pytest.raises(TypeError):
            hash(statistics)
    assert Statistics([1, 2]) != Statistics([1, 3])
    assert Statistics([1, 2]) != Statistics([1, 2], per=10)
    assert streamed(np.array([1, 2])) != streamed(np.array([1, 3]))
    assert repr(Statistics([1, 2])) == "Statistics(count=2, min=1, mean=1.5, max=2)"


# -- streamed ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("spread", ["narrow", "wide", "signed"])
def test_streamed_quantiles_are_within_their_stated_error(spread: str) -> None:
    rng = np.random.default_rng(5)
    values = np.rint(10 ** rng.uniform(*{"narrow": (9.9, 10.1), "wide": (0, 15), "signed": (3, 12)}[spread], 4000))
    values = values.astype(np.int64) * (rng.choice([-1, 1], 4000) if spread == "signed" else 1)
    exact, loose = Statistics(values, per=10**12), streamed(values, per=10**12)
    assert (loose.count, loose.min, loose.max, loose.mean) == (exact.count, exact.min, exact.max, exact.mean)
    assert loose.var == pytest.approx(exact.var, rel=1e-9)
    for q in np.arange(0, 1001) / 1000:
        wanted = exact.quantile(q)
        assert abs(loose.quantile(q) - wanted) <= abs(wanted) * StreamedStatistics.relative_error, q


def test_streamed_quantiles_never_leave_the_values_seen() -> None:
    loose = streamed(np.full(10, 12_345_678))
    assert [loose.quantile(q) for q in (0, 0.3, 0.5, 1)] == [12_345_678] * 4
    loose = streamed(np.array([10**9, 10**9 + 1, 10**9 + 2]))
    assert 10**9 <= loose.median <= 10**9 + 2


@pytest.mark.parametrize("sign", [(1,), (-1,), (-1, 1)])
def test_streamed_absolute_values(sign: tuple[int, ...]) -> None:
    rng = np.random.default_rng(6)
    values = rng.integers(0, 10**10, 3000) * rng.choice(sign, 3000)
    exact, loose = Statistics(values).absolute(), streamed(values).absolute()
    assert (loose.count, loose.max) == (exact.count, exact.max)
    for what in ("min", "mean", "std", "median"):
        assert getattr(loose, what) == pytest.approx(getattr(exact, what), rel=0.01), what
    if len(sign) == 1:
        assert (loose.min, loose.mean) == (exact.min, exact.mean)
    for q in (0.01, 0.2, 0.5, 0.9, 0.99, 1.0):
        assert loose.quantile(q) == pytest.approx(exact.quantile(q), rel=0.01)


def test_streamed_zeros() -> None:
    loose = streamed(np.array([0, 0, 0, -4, 4])).absolute()
    assert (loose.min, loose.median, loose.max, loose.mean) == (0, 0, 4, 1.6)


def test_streamed_nothing_gives_nan() -> None:
    none = np.array([], dtype=np.int64)
    counts = {"low": none, "high": none, "counts": none.astype(np.uint64)}
    loose = StreamedStatistics({"count": 0, "min": 0, "max": 0, "sum": 0, "m2": 0.0, **counts}, per=10**12)
    answers = (loose.min, loose.max, loose.mean, loose.var, loose.std, loose.median, loose.absolute().mean)
    assert all(map(math.isnan, answers))


# -- jitter ------------------------------------------------------------------------------------------------------------


def test_jitter_of_a_constant_difference_approaches_it_as_rfc_3550_says() -> None:
    sent = np.arange(51) * 20 * 10**9
    received = sent + np.arange(51) % 2 * 10**9  # |D| is 1 ms each time
    jitter = interarrival_jitter(sent, received) * 1e3
    assert jitter == pytest.approx(1 - (15 / 16) ** np.arange(51), rel=1e-12)
    assert jitter[[0, 1, 2]] == pytest.approx([0, 0.0625, 0.12109375], rel=1e-12)


@pytest.mark.parametrize("n", [2, 3, 17, 1024, 1025, 5000])
def test_jitter_is_the_running_estimate(n: int) -> None:
    rng = np.random.default_rng(n)
    sent = np.cumsum(rng.integers(1, 10**10, n))
    received = sent + np.where(np.arange(n) < n // 2, rng.integers(0, 10**12, n), 10**9)
    jitter, now = interarrival_jitter(sent, received), 0.0
    for i in range(1, n):
        difference = (int(received[i]) - int(received[i - 1])) - (int(sent[i]) - int(sent[i - 1]))
        now += (abs(difference) / 1e12 - now) / 16
        assert jitter[i] == pytest.approx(now, rel=1e-10, abs=1e-25)


def test_jitter_of_none_or_one() -> None:
    assert interarrival_jitter([], []).shape == (0,)
    assert interarrival_jitter([5], [9]).tolist() == [0.0]


@pytest.mark.parametrize(("sent", "received"), [([1, 2], [1]), ([[1]], [[1]]), ([0.5, 1.0], [1.0, 2.0])])
def test_jitter_refuses_what_is_no_pair_of_columns(sent: Any, received: Any) -> None:
    with pytest.raises(ValueError, match="sent and received must be"):
        interarrival_jitter(sent, received)


def test_masked_values_and_rows_of_different_lengths_are_refused():
    with pytest.raises(ValueError, match=r"got masked ones: \.compressed\(\) leaves them out"):
        qs.Statistics(np.ma.array([1.0, 2.0, 1000.0], mask=[0, 0, 1]))
    assert qs.Statistics(np.ma.array([1.0, 2.0])).mean == 1.5
    for take in (qs.Statistics, qs.confidence, qs.mser5, qs.batch_means):
        with pytest.raises(ValueError, match="values must be numbers in an array, got"):
            take([[1], [2, 3]])
    assert qs.Statistics(np.array([-(2**63), 5])).absolute().min == 5
