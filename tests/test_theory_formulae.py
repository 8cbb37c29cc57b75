# SPDX-License-Identifier: MIT
"""The formulae of qossim.theory against values worked out by hand, by exact arithmetic, or printed in their papers."""

import math
from fractions import Fraction
from itertools import pairwise, product

import numpy as np
import pytest

from qossim import theory

MS = Fraction(1, 1000)
T = Fraction(9328, 2_000_000)  # 22 cells at 2 Mbit/s: 4.664 ms
P = Fraction(1024 * 8, 300_000)  # 1024-byte frames at 300 kbit/s
IMIX = ([40, 576, 1500], [7, 4, 1])


@pytest.mark.parametrize(
    ("arrival", "service", "sojourn", "wait", "sojourn_q99", "wait_q99"),
    [
        (5, 10, 0.2, 0.1, 0.921034, 0.782405),
        (8, 10, 0.5, 0.4, 2.30259, 2.19101),
        (95, 100, 0.2, 0.19, 0.921034, 0.910775),
    ],
)
def test_mm1(arrival, service, sojourn, wait, sojourn_q99, wait_q99):
    assert theory.mm1_sojourn(arrival, service) == pytest.approx(sojourn, rel=1e-12)
    assert theory.mm1_wait(arrival, service) == pytest.approx(wait, rel=1e-12)
    assert theory.mm1_sojourn_quantile(0.99, arrival, service) == pytest.approx(sojourn_q99, rel=1e-5)
    assert theory.mm1_wait_quantile(0.99, arrival, service) == pytest.approx(wait_q99, rel=1e-5)
    assert theory.mm1_wait_quantile(0.0, arrival, service) == 0


@pytest.mark.parametrize(
    ("load", "mean", "cdf"),
    [
        (0.5, 0.5, {0: 0.5, 1: 0.824361, 3: 0.984749, 10: 0.999998}),
        (0.8, 2.0, {0: 0.2, 1: 0.445108, 3: 0.762100, 10: 0.988343}),
        (0.95, 9.5, {0: 0.05, 1: 0.129285, 3: 0.287569, 10: 0.650464}),
    ],
)
def test_md1(load, mean, cdf):
    assert theory.md1_wait(load, 1) == pytest.approx(mean, rel=1e-12)
    assert theory.md1_wait_cdf(-0.1, load, 1) == 0
    for wait, probability in cdf.items():
        assert theory.md1_wait_cdf(wait, load, 1) == pytest.approx(probability, abs=6e-7)
        assert theory.md1_wait_cdf(wait * 3e-3, load / 3e-3, 3e-3) == pytest.approx(probability, abs=2e-6), "any unit"


def test_md1_distribution_is_one_whose_mean_is_the_mean_wait():
    grid = np.linspace(0, 50, 501)
    cdf = np.array([theory.md1_wait_cdf(t, 0.8, 1.0) for t in grid])
    assert (np.diff(cdf) >= 0).all(), "no cancellation is left to see"
    assert cdf[-1] <= 1
    assert np.sum(1 - (cdf[1:] + cdf[:-1]) / 2) * 0.1 == pytest.approx(2, rel=1e-3)


@pytest.mark.parametrize(
    ("rate", "load", "wait", "std"),
    [(2e6, 0.5, 1.75725e-3, 2.91448e-3), (2e6, 0.8, 7.02900e-3, 8.42805e-3), (10e6, 0.9, 3.16305e-3, 3.45704e-3)],
)
def test_mg1_with_three_packet_sizes(rate, load, wait, std):
    m1, m2, m3 = theory.moments([8 * size / rate for size in IMIX[0]], IMIX[1])
    assert theory.mg1_wait(load / m1, m1, m2) == pytest.approx(wait, rel=3e-6)
    assert theory.mg1_wait_std(load / m1, m1, m2, m3) == pytest.approx(std, rel=3e-6)


def test_mg1_of_the_textbook_service_times():
    assert theory.mg1_wait(0.8, 1, 2) == pytest.approx(4), "exponential"
    assert theory.mg1_wait(0.8, 1, 1.5) == pytest.approx(3), "Erlang-2"
    assert theory.mg1_wait(0.8, 1, 1) == pytest.approx(2), "one size"
    assert theory.mg1_wait(Fraction(4, 5), 1, 1) == 2, "exact in, exact out"


def test_moments_of_equal_weights():
    assert theory.moments([1, 2, 3]) == pytest.approx((2, 14 / 3, 12))


@pytest.mark.parametrize(
    ("arrivals", "means", "seconds", "waits", "tolerance"),
    [
        ((36.6211, 150), (4.664e-3,) * 2, (4.664e-3**2,) * 2, (2.44787e-3, 18.8880e-3), 3e-6),
        ((0.3, 0.5), (1, 1), (2, 2), (1.14286, 5.71429), 3e-6),
        ((0.2, 0.3, 0.4), (1,) * 3, (1,) * 3, (0.5625, 1.125, 9), 1e-12),
        ((0.3, 0.5), (1, 1), (1, 1), (0.571429, 2.85714), 3e-6),
    ],
)
def test_cobham(arrivals, means, seconds, waits, tolerance):
    assert theory.cobham_waits(arrivals, means, seconds) == pytest.approx(waits, rel=tolerance)


def test_cobham_keeps_the_conservation_law():
    rates = [Fraction(1, 5), Fraction(1, 10), Fraction(1, 4)]
    means, seconds = [1, 3, Fraction(1, 2)], [2, 9, 1]
    waits = theory.cobham_waits(rates, means, seconds)
    loads = [rate * mean for rate, mean in zip(rates, means, strict=True)]
    load = sum(loads)
    residual = sum(rate * second for rate, second in zip(rates, seconds, strict=True)) / 2
    assert sum(rho * wait for rho, wait in zip(loads, waits, strict=True)) == load * residual / (1 - load)
    assert theory.cobham_waits(rates[:1], means[:1], seconds[:1]) == (theory.mg1_wait(rates[0], means[0], seconds[0]),)


@pytest.mark.parametrize(
    ("load", "places", "exponential", "deterministic"),
    [
        (0.8, 5, 0.0888195, 0.0352904),
        (0.8, 10, 0.0234929, 0.00363923),
        (1.0, 10, 0.0909091, 0.0508475),
        (1.2, 10, 0.192586, 0.170911),
        (0.9, 64, 1.18027e-4, 2.00623e-7),
    ],
)
def test_losses_of_finite_queues(load, places, exponential, deterministic):
    assert theory.mm1k_loss(load, places) == pytest.approx(exponential, rel=4e-6)
    assert theory.md1k_loss(load, places) == pytest.approx(deterministic, rel=4e-6)


def test_loss_of_one_place_does_not_depend_on_the_service_time():
    assert theory.md1k_loss(0.7, 1) == pytest.approx(0.7 / 1.7) == theory.mm1k_loss(0.7, 1)


@pytest.mark.parametrize(
    ("sources", "period", "tail"),
    [
        (2, 3, {0: 2 / 3, 0.5: 0.416667, 1: 0.111111}),
        (10, 12, {1: 0.486194, 3: 0.0510528}),
        (30, 40, {1: 0.437238, 3: 0.0921096, 5: 0.0118950}),
        (100, 125, {2: 0.337536, 5: 0.0633722, 10: 0.00191580}),
    ],
)
def test_nddd1_work(sources, period, tail):
    for work, probability in tail.items():
        assert theory.nddd1_work_tail(work, sources, period) == pytest.approx(probability, rel=1e-5)
    assert theory.nddd1_work_tail(0, sources, period) == pytest.approx(sources / period, rel=1e-12), "the load"
    assert theory.nddd1_work_tail(sources, sources, period) == 0


def test_nddd1_wait_of_a_tagged_packet():
    assert theory.nddd1_wait_tail(3, 30, 40) == pytest.approx(0.0743775, rel=1e-5)
    assert theory.nddd1_wait_tail(5, 100, 125) == pytest.approx(0.0572424, rel=1e-5)
    assert theory.nddd1_wait_tail(0, 1, 40) == 0, "alone"
    assert theory.nddd1_wait_tail(0, 2, 40) == pytest.approx(1 / 40)


def test_nddd1_work_against_every_phase_of_a_grid():
    """Two sources, period 3: the work just before each instant, over all pairs of phases on a grid."""
    grid = 20
    work = []
    for a, b in product(range(3 * grid), repeat=2):
        arrivals = np.array(sorted([a, b, a + 3 * grid, b + 3 * grid])) / grid + 1e-9
        waits = theory.lindley(np.append(arrivals[arrivals < 6.0 - 1e-3], 6.0), 1.0)
        work.append(waits[-1])
    for x in (0.25, 0.5, 1.0):
        assert np.mean(np.array(work) > x + 1e-6) == pytest.approx(theory.nddd1_work_tail(x, 2, 3), abs=1 / grid)


def test_lindley():
    assert theory.lindley([0, 1, 3, 4, 10], [3, 1, 4, 1, 2]).tolist() == [0, 2, 1, 4, 0]
    assert theory.lindley([0, 1, 2], 2).tolist() == [0, 1, 2], "D/D/1 above capacity: n (S - P)"
    assert theory.lindley([], 1).tolist() == []


def test_beat_law_is_exact_in_fractions():
    law = theory.beat(P, T)
    assert (law.small, law.large) == (6 * T - P, P - 5 * T)
    assert (float(law.small), float(law.large)) == pytest.approx((0.677333e-3, 3.986667e-3), abs=5e-10)
    assert float(law.fraction) == pytest.approx(0.854774, abs=5e-7)
    assert float(law.mean) == pytest.approx(1.157934e-3, abs=5e-10)
    assert law.large_share == Fraction(254, 1749), "one beat is 1749 packets, and 254 of its steps are large"
    assert law.small_share * law.small == law.large_share * law.large, "the delay goes nowhere in the long run"


def test_beat_law_counts_the_streams_own_packets():
    law = theory.beat(P, Fraction(4876, 1000) * MS, own=T)
    assert float(law.fraction) == pytest.approx(0.643697, abs=5e-7)
    assert float(law.mean) == pytest.approx(2.236633e-3, abs=5e-10)
    assert theory.beat(P, T, own=T) == theory.beat(P, T)


@pytest.mark.parametrize(("period", "slot"), [(Fraction(7), Fraction(3)), (Fraction(22, 7), Fraction(3, 5)), (P, T)])
def test_beat_law_against_the_residuals_themselves(period, slot):
    beats = (period / slot).denominator
    residual = [(-i * period) % slot for i in range(beats + 1)]
    steps = [abs(b - a) for a, b in pairwise(residual)]
    law = theory.beat(period, slot)
    assert set(steps) == {law.small, law.large}
    assert Fraction(steps.count(law.large), beats) == law.large_share or law.small == law.large
    assert sum(steps) / beats == law.mean


def test_k_law():
    assert theory.scfq_overtaken(4, 1, 1) == 3, "a tie, and the class goes first"
    assert theory.scfq_overtaken(4, 1, 1, tie_first=False) == 4
    assert theory.scfq_overtaken(4, 1006, 1028) == 3 == theory.scfq_overtaken(4, 1006, 1028, tie_first=False)
    assert theory.scfq_overtaken(4, 1.023, 1) == 4
    assert theory.scfq_overtaken(1600 / 400, 1052, 1028) == 4
    assert theory.scfq_overtaken(2.75, 1006, 1028) == 2
    assert theory.scfq_overtaken(0.1, 3, 0.3) == 0, "0.1 times 3 over 0.3 is exactly one"


@pytest.mark.parametrize(
    ("admit", "limit", "packets"), [("overshoot", 5, 2), ("strict", 5, 1), ("strict", 2, 1), ("overshoot", 7, 3)]
)
def test_packets_in_a_ring(admit, limit, packets):
    assert theory.ring_packets(limit, 1028, admit=admit) == packets
    assert theory.ring_packets(limit, 1020, header=8, admit=admit) == packets


def test_pgps_bounds():
    sigma, g, rate = Fraction(9328), Fraction(400_000), Fraction(2_000_000)
    assert theory.pgps_delay_bound(sigma, g, 9328, rate) == Fraction(27984, 1000) * MS
    assert theory.pgps_delay_bound(sigma, g, 9328, rate, packet=9328, hops=2) == Fraction(55968, 1000) * MS
    assert theory.pgps_delay_bound(3 * sigma, g, 9328, rate) == Fraction(74624, 1000) * MS


def test_latencies_of_rate_latency_servers():
    length, g, rate = Fraction(9328), Fraction(400_000), Fraction(2_000_000)
    assert theory.pgps_latency(length, g, 9328, rate) == Fraction(27984, 1000) * MS
    assert theory.scfq_latency(length, g, 9328, rate, 2) == Fraction(27984, 1000) * MS
    assert theory.scfq_latency(length, g, 9328, rate, 8) == Fraction(55968, 1000) * MS
    for quanta, latencies in {(1500, 6000): (78, 42), (500, 2000): (26, 14), (1500, 1500): (24, 24)}.items():
        bits = [8 * q for q in quanta]
        for own, latency in zip(bits, latencies, strict=True):
            assert theory.drr_latency(bits, Fraction(own), rate) == latency * MS


def test_fairness_bounds():
    assert theory.drr_unfairness(1500, 1500) == 4500
    assert theory.drr_unfairness(500, 1500) == 3500
    assert theory.scfq_unfairness(1000, 2, 1500, 3) == 1000


@pytest.mark.parametrize(
    ("burst", "rate", "service", "latency", "delay", "after"),
    [
        (8000, 400_000, 2_000_000, 5, 9, 10_000),
        (64_000, 300_000, 400_000, 20, 180, 70_000),
        (12_000, 1_000_000, 1_500_000, 1, 9, 13_000),
    ],
)
def test_network_calculus(burst, rate, service, latency, delay, after):
    assert theory.delay_bound(burst, Fraction(service), latency * MS) == delay * MS
    assert theory.output_burst(burst, rate, latency * MS) == after


@pytest.mark.parametrize(
    ("arguments", "delay"),
    [
        ((12_000, 10e6, 64_000, 300e3, 400e3, 20e-3), 178.660e-3),
        ((12_000, 400e3, 64_000, 300e3, 400e3, 19e-3), 49e-3),
    ],
)
def test_dual_bucket_bound(arguments, delay):
    assert theory.dual_bucket_delay_bound(*arguments) == pytest.approx(delay, abs=5e-7)


def test_priority_behind_a_ring():
    length, rate = 9328, Fraction(2_000_000)
    ring = theory.ring_packets(5, 1028) * length
    assert theory.priority_wait_bound(length, length, ring, length, rate) == Fraction(13992, 1000) * MS
    assert theory.priority_wait_bound(length, length, 0, length, rate) == T, "no ring: one packet on the wire"


@pytest.mark.parametrize(
    ("codec", "delay", "loss", "rating", "mos"),
    [
        ("G.711", 0.050, 0, 92, 4.38486),
        ("G.711", 0.150, 0.01, 85.9602, 4.22792),
        ("G.711 without concealment", 0.150, 0.01, 71.6755, 3.67456),
        ("G.729A", 0.100, 0.01, 75.6, 3.84743),
        ("G.729A", 0.200, 0.03, 63.4485, 3.27668),
        (theory.Codec(15, 16.1), 0.250, 0.02, 55.3632, 2.85750),
    ],
)
def test_the_e_model(codec, delay, loss, rating, mos):
    assert theory.e_model_rating(delay, loss, codec=codec) == pytest.approx(rating, abs=6e-5)
    assert theory.e_model_mos(theory.e_model_rating(delay, loss, codec=codec)) == pytest.approx(mos, abs=6e-6)


def test_the_e_model_only_ever_gets_worse_with_delay_loss_and_runs_of_losses():
    ratings = [theory.e_model_rating(d, loss) for loss in (0, 0.01, 0.5) for d in (0, 0.1, 0.1773, 0.2, 1)]
    assert all(a > b for row in (ratings[0:5], ratings[5:10], ratings[10:]) for a, b in pairwise(row))
    assert all(a > b for a, b in zip(ratings, ratings[5:], strict=False))
    assert theory.e_model_rating(0.1, 0.05, burst_ratio=2) < theory.e_model_rating(0.1, 0.05)


def test_the_mean_opinion_score_lies_between_1_and_4_and_a_half_and_never_falls():
    scores = [theory.e_model_mos(r / 10) for r in range(-200, 1300)]
    assert min(scores) == 1 and max(scores) == 4.5
    assert all(a <= b for a, b in pairwise(scores))


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: theory.mm1_wait(10, 10), ("load", "below 1", "got 1")),
        (lambda: theory.mm1_wait(-1, 10), ("arrival_rate", "positive", "-1")),
        (lambda: theory.mm1_wait_quantile(1.0, 5, 10), ("q", "below 1", "1.0")),
        (lambda: theory.md1_wait_cdf(1, 0.5, math.nan), ("service", "positive", "nan")),
        (lambda: theory.mg1_wait(0.5, 1, math.inf), ("second_moment", "finite", "inf")),
        (lambda: theory.cobham_waits([1], [0.1, 0.2], [1]), ("means", "1, 2 and 1")),
        (lambda: theory.cobham_waits([5, 5], [0.1, 0.1], [1, 1]), ("load", "below 1")),
        (lambda: theory.mm1k_loss(0.5, 0), ("places", "at least 1", "0")),
        (lambda: theory.nddd1_work_tail(1, 5, 4), ("sources", "at most", "5")),
        (lambda: theory.nddd1_wait_tail(1, 5, 4), ("sources", "at most", "5")),
        (lambda: theory.nddd1_work_tail(-1, 3, 4), ("work", "at least 0", "-1")),
        (lambda: theory.beat(1, 0.5, own=2), ("own", "at most", "2")),
        (lambda: theory.ring_packets(0, 100), ("limit", "at least 1", "0")),
        (lambda: theory.ring_packets(5, 100, admit="perhaps"), ("admit", "strict", "perhaps")),
        (lambda: theory.dual_bucket_delay_bound(1, 9, 2, 5, 4, 0), ("rate", "at most", "5")),
        (lambda: theory.drr_latency([1, 2], 4, 1), ("quantum", "3", "4")),
        (lambda: theory.e_model_rating(-0.1), ("delay", "at least 0", "-0.1")),
        (lambda: theory.e_model_rating(0.1, 1.5), ("loss", "from 0 to 1", "1.5")),
        (lambda: theory.e_model_rating(0.1, codec="G.712"), ("codec", "G.711", "G.712")),
        (lambda: theory.e_model_mos(math.nan), ("rating", "finite", "nan")),
        (lambda: theory.priority_wait_bound(1, 2, 0, 0, 1), ("burst", "at least", "1")),
    ],
)
def test_what_makes_no_sense_is_refused_by_name_value_and_bound(call, words):
    with pytest.raises(ValueError, match=words[0]) as error:
        call()
    assert all(word in str(error.value) for word in words), str(error.value)


def test_the_module_says_all_it_offers():
    public = {name for name, value in vars(theory).items() if getattr(value, "__module__", "") == theory.__name__}
    assert {name for name in public if not name.startswith("_")} == set(theory.__all__) - {"CODECS"}
