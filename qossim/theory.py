# SPDX-License-Identifier: MIT
"""Formulae to hold a simulation against: queues with a closed form, the seed experiment's two laws, worst cases, voice.

Times are in seconds, lengths in bits, rates in bit/s (or packets/s where it says so); any consistent units do. A
function that only adds, multiplies and divides keeps the type it is given, so that a :class:`fractions.Fraction` in
gives an exact :class:`~fractions.Fraction` out. "Wait" is the time before service begins, "sojourn" is wait and
service.
"""

from __future__ import annotations

import math
from decimal import Decimal, localcontext
from fractions import Fraction
from types import MappingProxyType
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from numpy.typing import ArrayLike, NDArray

__all__ = [
    "CODECS",
    "Beat",
    "Codec",
    "beat",
    "cobham_waits",
    "delay_bound",
    "drr_latency",
    "drr_unfairness",
    "dual_bucket_delay_bound",
    "e_model_mos",
    "e_model_rating",
    "lindley",
    "md1_wait",
    "md1_wait_cdf",
    "md1k_loss",
    "mg1_wait",
    "mg1_wait_std",
    "mm1_sojourn",
    "mm1_sojourn_quantile",
    "mm1_wait",
    "mm1_wait_quantile",
    "mm1k_loss",
    "moments",
    "nddd1_wait_tail",
    "nddd1_work_tail",
    "output_burst",
    "pgps_delay_bound",
    "pgps_latency",
    "priority_wait_bound",
    "ring_packets",
    "scfq_latency",
    "scfq_overtaken",
    "scfq_unfairness",
]

Real: TypeAlias = float | Fraction
"""A number: float, int or Fraction."""


def _positive(**values: Real) -> None:
    for name, value in values.items():
        if not (math.isfinite(value) and value > 0):
            raise ValueError(f"{name} must be positive and finite, got {value!r}")


def _not_negative(**values: Real) -> None:
    for name, value in values.items():
        if not (math.isfinite(value) and value >= 0):
            raise ValueError(f"{name} must be at least 0 and finite, got {value!r}")


def _stable(load: Real) -> None:
    if load >= 1:
        raise ValueError(f"the load must be below 1, got {float(load):.6g}")


def _probability(q: float) -> None:
    if not 0 <= q < 1:
        raise ValueError(f"q must be at least 0 and below 1, got {q!r}")


def _whole(name: str, value: int, least: int) -> None:
    if value != int(value) or value < least:
        raise ValueError(f"{name} must be a whole number of at least {least}, got {value!r}")


# Random arrivals, one queue -----------------------------------------------------------------------------------------


def mm1_wait(arrival_rate: Real, service_rate: Real) -> Real:
    """Mean wait of M/M/1.

    Parameters
    ----------
    arrival_rate : float or Fraction
        Arrivals per second, > 0 and below `service_rate`.
    service_rate : float or Fraction
        Packets per second that the server could serve.

    Returns
    -------
    float or Fraction
        ``rho / (mu - lambda)`` seconds.

    References
    ----------
    L. Kleinrock, *Queueing Systems*, vol. 1, Wiley 1975, section 3.2.
    """
    _positive(arrival_rate=arrival_rate, service_rate=service_rate)
    _stable(arrival_rate / service_rate)
    return arrival_rate / service_rate / (service_rate - arrival_rate)


def mm1_sojourn(arrival_rate: Real, service_rate: Real) -> Real:
    """Mean sojourn of M/M/1.

    Parameters
    ----------
    arrival_rate, service_rate : float or Fraction
        As in :func:`mm1_wait`.

    Returns
    -------
    float or Fraction
        ``1 / (mu - lambda)`` seconds.

    References
    ----------
    L. Kleinrock, *Queueing Systems*, vol. 1, Wiley 1975, section 3.2.
    """
    _positive(arrival_rate=arrival_rate, service_rate=service_rate)
    _stable(arrival_rate / service_rate)
    return 1 / (service_rate - arrival_rate)


def mm1_wait_quantile(q: float, arrival_rate: Real, service_rate: Real) -> float:
    """Quantile of the wait of M/M/1 in order of arrival.

    Parameters
    ----------
    q : float
        Probability, 0 <= q < 1.
    arrival_rate, service_rate : float or Fraction
        As in :func:`mm1_wait`.

    Returns
    -------
    float
        ``max(0, ln(rho / (1 - q)) / (mu - lambda))`` seconds: a share ``1 - rho`` does not wait at all.

    References
    ----------
    L. Kleinrock, *Queueing Systems*, vol. 1, Wiley 1975, chapters 3 and 5.
    """
    _probability(q)
    sojourn = float(mm1_sojourn(arrival_rate, service_rate))
    return max(0.0, math.log(arrival_rate / service_rate / (1 - q)) * sojourn)


def mm1_sojourn_quantile(q: float, arrival_rate: Real, service_rate: Real) -> float:
    """Quantile of the sojourn of M/M/1 in order of arrival, which is exponential.

    Parameters
    ----------
    q : float
        Probability, 0 <= q < 1.
    arrival_rate, service_rate : float or Fraction
        As in :func:`mm1_wait`.

    Returns
    -------
    float
        ``-ln(1 - q) / (mu - lambda)`` seconds.

    References
    ----------
    L. Kleinrock, *Queueing Systems*, vol. 1, Wiley 1975, chapters 3 and 5.
    """
    _probability(q)
    return -math.log1p(-q) * float(mm1_sojourn(arrival_rate, service_rate))


def md1_wait(arrival_rate: Real, service: Real) -> Real:
    """Mean wait of M/D/1.

    Parameters
    ----------
    arrival_rate : float or Fraction
        Arrivals per second, > 0.
    service : float or Fraction
        The one service time, seconds; ``arrival_rate * service`` below 1.

    Returns
    -------
    float or Fraction
        ``rho * s / (2 (1 - rho))`` seconds.

    References
    ----------
    The Pollaczek-Khinchine formula, see :func:`mg1_wait`, for one service time.
    """
    return mg1_wait(arrival_rate, service, service * service)


def md1_wait_cdf(wait: Real, arrival_rate: Real, service: Real) -> float:
    """Probability that a packet of M/D/1, served in order of arrival, waits no longer than `wait`.

    Parameters
    ----------
    wait : float or Fraction
        Seconds; the probability is 0 below 0.
    arrival_rate, service : float or Fraction
        As in :func:`md1_wait`.

    Returns
    -------
    float
        ``(1 - rho) sum_{k=0}^{floor(t/s)} (lambda (k s - t))^k / k! exp(-lambda (k s - t))``

    Notes
    -----
    The terms alternate in sign and cancel all but completely. They are summed in decimals of as many digits as that
    takes.

    References
    ----------
    A. K. Erlang, "The theory of probabilities and telephone conversations", *Nyt Tidsskrift for Matematik B* 20, 1909;
    C. D. Crommelin, *Post Office Electrical Engineers' Journal* 25, 1932.
    """
    _positive(arrival_rate=arrival_rate, service=service)
    load = Fraction(arrival_rate) * Fraction(service)
    _stable(load)
    if wait < 0:
        return 0.0
    slots = Fraction(wait) / Fraction(service)
    with localcontext() as context:
        context.prec = 40 + math.ceil(2 * load * slots)
        rho, t = (Decimal(x.numerator) / Decimal(x.denominator) for x in (load, slots))
        total = Decimal(0)
        factorial = 1
        for k in range(math.floor(slots) + 1):
            factorial *= max(k, 1)
            x = rho * (k - t)
            total += (x**k if k else Decimal(1)) / factorial * (-x).exp()
        return float((1 - rho) * total)


def moments(values: ArrayLike, weights: ArrayLike | None = None) -> tuple[float, float, float]:
    """First three moments of a service time that takes a few values.

    Parameters
    ----------
    values : array_like
        Service times, seconds.
    weights : array_like, optional
        How often each occurs; any positive scale. Equally often by default.

    Returns
    -------
    tuple of float
        ``E[S]``, ``E[S**2]``, ``E[S**3]``: what :func:`mg1_wait`, :func:`mg1_wait_std` and :func:`cobham_waits` take.
    """
    x = np.asarray(values, dtype=np.float64)
    w = np.ones_like(x) if weights is None else np.asarray(weights, dtype=np.float64)
    first, second, third = (float(np.average(x**power, weights=w)) for power in (1, 2, 3))
    return first, second, third


def mg1_wait(arrival_rate: Real, mean: Real, second_moment: Real) -> Real:
    """Mean wait of M/G/1 (Pollaczek-Khinchine).

    It holds for service in order of arrival and for every other order that does not look at the service times and does
    not interrupt a service.

    Parameters
    ----------
    arrival_rate : float or Fraction
        Arrivals per second, > 0.
    mean, second_moment : float or Fraction
        ``E[S]`` and ``E[S**2]`` of the service time; ``arrival_rate * mean`` below 1.

    Returns
    -------
    float or Fraction
        ``lambda E[S**2] / (2 (1 - rho))`` seconds.

    References
    ----------
    L. Kleinrock, *Queueing Systems*, vol. 1, Wiley 1975, section 5.6.
    """
    _positive(arrival_rate=arrival_rate, mean=mean, second_moment=second_moment)
    load = arrival_rate * mean
    _stable(load)
    return arrival_rate * second_moment / (2 * (1 - load))


def mg1_wait_std(arrival_rate: Real, mean: Real, second_moment: Real, third_moment: Real) -> float:
    """Standard deviation of the wait of M/G/1 in order of arrival.

    Parameters
    ----------
    arrival_rate : float or Fraction
        Arrivals per second, > 0.
    mean, second_moment, third_moment : float or Fraction
        Moments of the service time; ``arrival_rate * mean`` below 1.

    Returns
    -------
    float
        Square root of ``W**2 + lambda E[S**3] / (3 (1 - rho))``, with W the mean wait.

    References
    ----------
    L. Takacs, "A single-server queue with Poisson input", *Operations Research* 10, 1962.
    """
    _positive(third_moment=third_moment)
    wait = mg1_wait(arrival_rate, mean, second_moment)
    return math.sqrt(wait * wait + arrival_rate * third_moment / (3 * (1 - arrival_rate * mean)))


def cobham_waits(
    arrival_rates: Sequence[Real], means: Sequence[Real], second_moments: Sequence[Real]
) -> tuple[Real, ...]:
    """Mean waits of M/G/1 with priorities that do not interrupt a service.

    Parameters
    ----------
    arrival_rates : sequence of float or Fraction
        Arrivals per second of each class, the highest priority first.
    means, second_moments : sequence of float or Fraction
        ``E[S]`` and ``E[S**2]`` of each class; the loads of all classes together are below 1.

    Returns
    -------
    tuple of float or Fraction
        ``W0 / ((1 - s_{k-1}) (1 - s_k))`` for each class k, where ``W0`` is half the sum of ``lambda E[S**2]`` and
        ``s_k`` the load of the classes up to and including k.

    References
    ----------
    A. Cobham, "Priority assignment in waiting line problems", *Operations Research* 2, 1954.
    """
    if not len(arrival_rates) == len(means) == len(second_moments) > 0:
        raise ValueError(
            "arrival_rates, means and second_moments must be of one length of at least 1, "
            f"got {len(arrival_rates)}, {len(means)} and {len(second_moments)}"
        )
    residual: Real = 0
    for rate, mean, second in zip(arrival_rates, means, second_moments, strict=True):
        _positive(arrival_rates=rate, means=mean, second_moments=second)
        residual = residual + rate * second / 2
    waits: list[Real] = []
    above: Real = 0
    for rate, mean in zip(arrival_rates, means, strict=True):
        upto = above + rate * mean
        _stable(upto)
        waits.append(residual / ((1 - above) * (1 - upto)))
        above = upto
    return tuple(waits)


def mm1k_loss(load: float, places: int) -> float:
    """Share of packets that M/M/1/K loses.

    Parameters
    ----------
    load : float
        Offered load, > 0; it may exceed 1.
    places : int
        K, packets that fit, the one in service included, at least 1. A class with ``DropTail(n)`` in front of a link
        has ``n + 1`` places, and those of the transmit ring besides.

    Returns
    -------
    float
        ``(1 - rho) rho^K / (1 - rho^(K+1))``, which is ``1 / (K + 1)`` at a load of 1.

    References
    ----------
    L. Kleinrock, *Queueing Systems*, vol. 1, Wiley 1975, section 3.6.
    """
    _positive(load=load)
    _whole("places", places, 1)
    return load**places / math.fsum(load**n for n in range(places + 1))


def md1k_loss(load: float, places: int) -> float:
    """Share of packets that M/D/1/K loses.

    Parameters
    ----------
    load, places : float, int
        As in :func:`mm1k_loss`.

    Returns
    -------
    float
        See Notes.

    Notes
    -----
    The chain of what each departure leaves behind, with Poisson arrivals during a service:
    ``a_0 p_{j+1} = p_j - p_0 a_j - sum_{i=1}^{j} p_i a_{j-i+1}``, for ``j < K - 1``. With ``p_0`` normalised, the loss
    is ``1 - 1 / (p_0 + rho)``.

    References
    ----------
    D. Gross and C. M. Harris, *Fundamentals of Queueing Theory*, 3rd ed., Wiley 1998, chapter 5.
    """
    _positive(load=load)
    _whole("places", places, 1)
    arrivals = [math.exp(-load)]
    for n in range(1, places + 1):
        arrivals.append(arrivals[-1] * load / n)
    left = [1.0]
    for j in range(places - 1):
        seen = math.fsum(left[i] * arrivals[j - i + 1] for i in range(1, j + 1))
        left.append((left[j] - left[0] * arrivals[j] - seen) / arrivals[0])
    return 1 - 1 / (left[0] / math.fsum(left) + load)


# Periodic arrivals ----------------------------------------------------------------------------------------------------


def nddd1_work_tail(work: float, sources: int, period: float) -> float:
    """Probability that N*D/D/1 holds more than `work` at a random instant.

    N sources send one packet each in every period, with phases that are independent and uniform. Time and work are
    counted in service times of one packet.

    Parameters
    ----------
    work : float
        Unfinished work, in service times; at least 0.
    sources : int
        N, at least 0 and at most `period`.
    period : float
        Time between two packets of one source, in service times.

    Returns
    -------
    float
        ``sum_{x<n<=N} C(N,n) ((n-x)/D)^n (1-(n-x)/D)^(N-n) (D-N+x)/(D-n+x)``

    References
    ----------
    J. W. Roberts and J. T. Virtamo, "The superposition of periodic cell arrival streams in an ATM multiplexer", *IEEE
    Transactions on Communications* 39(2), 1991.
    """
    _not_negative(work=work)
    _positive(period=period)
    _whole("sources", sources, 0)
    if sources > period:
        raise ValueError(f"sources must be at most the period of {period!r} service times, got {sources!r}")
    terms = []
    for n in range(math.floor(work) + 1, sources + 1):
        share = (n - work) / period
        idle = (period - sources + work) / (period - n + work) if period > n - work else 1.0
        terms.append(math.comb(sources, n) * share**n * (1 - share) ** (sources - n) * idle)
    return math.fsum(terms)


def nddd1_wait_tail(wait: float, sources: int, period: float) -> float:
    """Probability that a packet of N*D/D/1 waits longer than `wait`.

    Parameters
    ----------
    wait : float
        In service times; at least 0.
    sources, period : int, float
        As in :func:`nddd1_work_tail`, with at least one source, the packet's own.

    Returns
    -------
    float
        The packet meets the work of the other ``N - 1`` sources: :func:`nddd1_work_tail` of them.
    """
    _whole("sources", sources, 1)
    if sources > period:
        raise ValueError(f"sources must be at most the period of {period!r} service times, got {sources!r}")
    return nddd1_work_tail(wait, sources - 1, period)


def lindley(arrivals: ArrayLike, services: ArrayLike) -> NDArray[np.float64]:
    """Waits of a single queue in order of arrival, from arrival and service times.

    Parameters
    ----------
    arrivals : array_like, shape (n,)
        Instants of arrival, non-decreasing.
    services : array_like, shape (n,)
        Service times, or one for all.

    Returns
    -------
    ndarray of float64, shape (n,)
        ``W[i + 1] = max(0, W[i] + S[i] - A[i])``, from ``W[0] = 0``, with ``A[i]`` the gap to the next arrival.

    References
    ----------
    D. V. Lindley, "The theory of queues with a single server", *Proceedings of the Cambridge Philosophical Society* 48,
    1952.
    """
    instants = np.asarray(arrivals, dtype=np.float64)
    steps = np.broadcast_to(np.asarray(services, dtype=np.float64), instants.shape)[:-1] - np.diff(instants)
    walk = np.concatenate([np.zeros(min(instants.size, 1)), np.cumsum(steps)])
    return walk - np.minimum.accumulate(walk)


# The two laws of the seed experiment --------------------------------------------------------------------------------


class Beat(NamedTuple):
    """What :func:`beat` says of a periodic probe into a saturated train of slots."""

    fraction: Real
    """Fraction of a slot by which the period exceeds whole slots, f."""
    small: Real
    """|ipdv| of most packets when f is above 1/2: ``(1 - f) T``, seconds. The delay rises by it."""
    large: Real
    """|ipdv| of the others: ``f T``, seconds. The delay falls by it."""
    small_share: Real
    """Share of the packets with `small`: f."""
    large_share: Real
    """Share of the packets with `large`: ``1 - f``."""
    mean: Real
    """Mean |ipdv|: ``2 f (1 - f) T``, seconds."""


def beat(period: Real, slot: Real, own: Real | None = None) -> Beat:
    """Beat law: ipdv of an exactly periodic stream that finds the wire always busy with equal packets.

    Each packet waits for the rest of the slot it arrives in. From one packet to the next that rest moves by the period,
    modulo the slot, so ipdv takes two values only: up by ``(1 - f) T`` with share f, down by ``f T`` with share ``1 -
    f``.

    Parameters
    ----------
    period : float or Fraction
        Time between two packets of the stream, seconds.
    slot : float or Fraction
        T, transmission time of a packet of the saturating traffic, seconds.
    own : float or Fraction, optional
        Transmission time of the stream's own packets, which delay the train; at most `period`. A slot by default.

    Returns
    -------
    Beat
        Fractions when the arguments are.

    Notes
    -----
    The law speaks of any scheduler that lets a constant number of packets pass the stream's.

    Examples
    --------
    >>> law = beat(period=1024 * 8 / 300e3, slot=4.664e-3)
    >>> f"{1e3 * law.small:.3f} ms, {1e3 * law.large:.3f} ms in {100 * law.large_share:.1f} %"
    '0.677 ms, 3.987 ms in 14.5 %'
    """
    _positive(period=period, slot=slot)
    spent = slot if own is None else own
    _not_negative(own=spent)
    if spent > period:
        raise ValueError(f"own must be at most the period of {period!r}, got {spent!r}")
    remainder = (period - spent) % slot
    f = remainder / slot
    return Beat(f, slot - remainder, remainder, f, 1 - f, 2 * f * (slot - remainder))


def scfq_overtaken(weight_ratio: Real, length: Real, other: Real, *, tie_first: bool = True) -> int:
    """k law: packets of a backlogged class that pass one of an idle class under self-clocked fair queueing.

    Parameters
    ----------
    weight_ratio : float or Fraction
        Weight of the backlogged class over the weight of the packet's own, > 0.
    length, other : float or Fraction
        Length of the packet, and of each of the backlogged class, in the unit the tags are counted in.
    tie_first : bool
        Whether the packet's class goes first at equal tags (it was declared first).

    Returns
    -------
    int
        ``ceil(rho L / l) - 1``, or ``floor(rho L / l)`` when it goes last at equal tags.

    Notes
    -----
    Floats are taken as the decimal they print as, so that a tie is a tie.

    References
    ----------
    From the tags of S. J. Golestani, "A self-clocked fair queueing scheme for broadband applications", *INFOCOM* 1994.

    Examples
    --------
    >>> scfq_overtaken(1600 / 400, 1006, 1028)
    3
    """
    _positive(weight_ratio=weight_ratio, length=length, other=other)
    ratio = _exact(weight_ratio) * _exact(length) / _exact(other)
    return math.ceil(ratio) - 1 if tie_first else math.floor(ratio)


def _exact(value: Real) -> Fraction:
    return value if isinstance(value, Fraction) else Fraction(str(value))


def ring_packets(limit: int, size: int, *, particle: int = 512, header: int = 0, admit: str = "overshoot") -> int:
    """Packets of one size that stand in a transmit ring whose traffic never pauses.

    Parameters
    ----------
    limit : int
        Particles, at least 1.
    size : int
        Bytes of a packet.
    particle, header : int
        Bytes of a particle, and bytes stored with each packet besides its own.
    admit : {"overshoot", "strict"}
        Whether a packet enters while fewer particles than the limit are in use, or only if it fits (or the ring is
        empty).

    Returns
    -------
    int
        The packet on the wire comes on top of it where particles return at the start of a transmission, and is one of
        them where they return at its end.

    Examples
    --------
    >>> ring_packets(5, 1028)
    2
    """
    _whole("limit", limit, 1)
    _whole("size", size, 1)
    _whole("particle", particle, 1)
    _whole("header", header, 0)
    need = -(-(size + header) // particle)
    if admit == "overshoot":
        return -(-limit // need)
    if admit == "strict":
        return max(1, limit // need)
    raise ValueError(f'admit must be "overshoot" or "strict", got {admit!r}')


# Worst cases --------------------------------------------------------------------------------------------------------


def delay_bound(burst: Real, service_rate: Real, latency: Real) -> Real:
    """Longest delay of a stream under a guaranteed rate and latency.

    Parameters
    ----------
    burst : float or Fraction
        Burst of the token bucket that the stream obeys, bits; its rate is at most `service_rate`.
    service_rate : float or Fraction
        Guaranteed rate, bit/s.
    latency : float or Fraction
        Seconds; of a scheduler: :func:`pgps_latency`, :func:`scfq_latency`, :func:`drr_latency`.

    Returns
    -------
    float or Fraction
        ``latency + burst / service_rate`` seconds, to the last bit.

    References
    ----------
    D. Stiliadis and A. Varma, "Latency-rate servers", *IEEE/ACM Transactions on Networking* 6(5), 1998;
    J.-Y. Le Boudec and P. Thiran, *Network Calculus*, Springer 2001, section 1.4.
    """
    _not_negative(burst=burst, latency=latency)
    _positive(service_rate=service_rate)
    return latency + burst / service_rate


def output_burst(burst: Real, rate: Real, latency: Real) -> Real:
    """Burst of a stream behind a server with the given latency.

    Parameters
    ----------
    burst, rate : float or Fraction
        Token bucket that the stream obeys before the server, bits and bit/s.
    latency : float or Fraction
        Of the server, seconds; its guaranteed rate is at least `rate`.

    Returns
    -------
    float or Fraction
        ``burst + rate * latency`` bits.

    References
    ----------
    J.-Y. Le Boudec and P. Thiran, *Network Calculus*, Springer 2001, section 1.4.
    """
    _not_negative(burst=burst, rate=rate, latency=latency)
    return burst + rate * latency


def dual_bucket_delay_bound(
    packet: Real, peak: Real, burst: Real, rate: Real, service_rate: Real, latency: Real
) -> Real:
    """Longest delay of a stream with a peak rate under a guaranteed rate and latency.

    Parameters
    ----------
    packet, peak : float or Fraction
        Largest packet, bits, and peak rate, bit/s: the first bucket.
    burst, rate : float or Fraction
        Burst, bits, and sustained rate, bit/s, below `peak`: the second.
    service_rate, latency : float or Fraction
        What the server guarantees, bit/s and seconds.

    Returns
    -------
    float or Fraction
        ``(M + (b - M) (p - R) / (p - r)) / R + T`` seconds, or ``M / R + T`` when the peak rate is served at once.

    References
    ----------
    S. Shenker, C. Partridge and R. Guerin, RFC 2212, 1997 (C_tot and D_tot as one latency).
    """
    _not_negative(packet=packet, burst=burst, rate=rate, latency=latency)
    _positive(peak=peak, service_rate=service_rate)
    if rate > service_rate:
        raise ValueError(f"rate must be at most the service_rate of {service_rate!r}, got {rate!r}")
    if peak <= service_rate:
        return packet / service_rate + latency
    return (packet + (burst - packet) * (peak - service_rate) / (peak - rate)) / service_rate + latency


def pgps_delay_bound(
    burst: Real, reserved: Real, largest: Real, rate: Real, *, packet: Real = 0, hops: int = 1
) -> Real:
    """Longest delay under packet-by-packet GPS, to the last bit, over one or several links.

    Parameters
    ----------
    burst : float or Fraction
        Burst of the stream's token bucket, bits; its rate is at most `reserved`.
    reserved : float or Fraction
        Rate that GPS guarantees the stream at every link, bit/s.
    largest : float or Fraction
        Largest packet of any stream, bits.
    rate : float or Fraction
        Of each link, bit/s.
    packet : float or Fraction
        Largest packet of the stream itself, bits; it matters from the second link on.
    hops : int
        Links in a row, at least 1.

    Returns
    -------
    float or Fraction
        ``(sigma + (K - 1) L) / g + K Lmax / C`` seconds.

    Notes
    -----
    All lengths are bits on the wire, and nothing stands between the scheduler and the link: a transmit ring adds what
    it holds.

    References
    ----------
    A. K. Parekh and R. G. Gallager, "A generalized processor sharing approach to flow control in integrated services
    networks", *IEEE/ACM Transactions on Networking* 1(3), 1993, and the multiple node case, 2(2), 1994.
    """
    _not_negative(burst=burst, packet=packet)
    _positive(reserved=reserved, largest=largest, rate=rate)
    _whole("hops", hops, 1)
    return (burst + (hops - 1) * packet) / reserved + hops * largest / rate


def pgps_latency(packet: Real, reserved: Real, largest: Real, rate: Real) -> Real:
    """Latency of packet-by-packet GPS as a rate-latency server.

    Parameters
    ----------
    packet, reserved : float or Fraction
        Largest packet of the stream, bits, and its guaranteed rate, bit/s.
    largest, rate : float or Fraction
        Largest packet of any stream, bits, and rate of the link, bit/s.

    Returns
    -------
    float or Fraction
        ``L / g + Lmax / C`` seconds.

    References
    ----------
    D. Stiliadis and A. Varma, "Latency-rate servers", *IEEE/ACM Transactions on Networking* 6(5), 1998.
    """
    _positive(packet=packet, reserved=reserved, largest=largest, rate=rate)
    return packet / reserved + largest / rate


def scfq_latency(packet: Real, reserved: Real, largest: Real, rate: Real, streams: int) -> Real:
    """Latency of self-clocked fair queueing as a rate-latency server.

    Parameters
    ----------
    packet, reserved, largest, rate : float or Fraction
        As in :func:`pgps_latency`.
    streams : int
        V, streams that share the link, at least 1.

    Returns
    -------
    float or Fraction
        ``L / g + (V - 1) Lmax / C`` seconds.

    References
    ----------
    S. J. Golestani, "Network delay analysis of a class of fair queueing algorithms", *IEEE Journal on Selected Areas in
    Communications* 13(6), 1995.
    """
    _positive(packet=packet, reserved=reserved, largest=largest, rate=rate)
    _whole("streams", streams, 1)
    return packet / reserved + (streams - 1) * largest / rate


def scfq_unfairness(length_i: Real, weight_i: Real, length_j: Real, weight_j: Real) -> Real:
    """Most by which the normalised service of two backlogged classes may differ under SCFQ (and SFQ).

    Parameters
    ----------
    length_i, weight_i, length_j, weight_j : float or Fraction
        Largest packet, and weight, of each class.

    Returns
    -------
    float or Fraction
        ``L_i / w_i + L_j / w_j``.

    References
    ----------
    S. J. Golestani, "A self-clocked fair queueing scheme for broadband applications", *INFOCOM* 1994.
    """
    _positive(length_i=length_i, weight_i=weight_i, length_j=length_j, weight_j=weight_j)
    return length_i / weight_i + length_j / weight_j


def drr_latency(quanta: Iterable[Real], quantum: Real, rate: Real) -> Real:
    """Latency of deficit round robin as a rate-latency server.

    Parameters
    ----------
    quanta : iterable of float or Fraction
        Quanta of all classes, bits; each at least its class's largest packet.
    quantum : float or Fraction
        The class's own, bits.
    rate : float or Fraction
        Of the link, bit/s.

    Returns
    -------
    float or Fraction
        ``(3 F - 2 q) / C`` seconds, F the sum of all quanta. The guaranteed rate is ``q / F`` of the link's.

    References
    ----------
    D. Stiliadis and A. Varma, "Latency-rate servers", *IEEE/ACM Transactions on Networking* 6(5), 1998.
    """
    frame: Real = 0
    for each in quanta:
        _positive(quanta=each)
        frame = frame + each
    _positive(quantum=quantum, rate=rate)
    if quantum > frame:
        raise ValueError(f"quantum must be one of the quanta, of {frame!r} in all, got {quantum!r}")
    return (3 * frame - 2 * quantum) / rate


def drr_unfairness(smallest_quantum: Real, largest_packet: Real) -> Real:
    """Most by which the normalised service of two backlogged classes may differ under DRR.

    Parameters
    ----------
    smallest_quantum : float or Fraction
        Q, bytes. The service of a class is divided by its own quantum over Q.
    largest_packet : float or Fraction
        Bytes.

    Returns
    -------
    float or Fraction
        ``Q + 2 Max`` bytes.

    References
    ----------
    M. Shreedhar and G. Varghese, "Efficient fair queuing using deficit round-robin", *IEEE/ACM Transactions on
    Networking* 4(3), 1996.
    """
    _positive(smallest_quantum=smallest_quantum, largest_packet=largest_packet)
    return smallest_quantum + 2 * largest_packet


def priority_wait_bound(burst: Real, packet: Real, ring: Real, in_flight: Real, rate: Real) -> Real:
    """Longest wait of the highest priority behind a FIFO transmit ring, to the first bit on the wire.

    Parameters
    ----------
    burst : float or Fraction
        What the class can have to send at once, its own packet included, bits on the wire.
    packet : float or Fraction
        The packet itself, bits on the wire.
    ring : float or Fraction
        Most that the ring holds of lower classes, bits on the wire (:func:`ring_packets`).
    in_flight : float or Fraction
        Largest packet of a lower class, bits on the wire, where a packet being sent is no longer in the ring, else 0.
    rate : float or Fraction
        Of the link, bit/s.

    Returns
    -------
    float or Fraction
        ``(burst - packet + ring + in_flight) / rate`` seconds.
    """
    _not_negative(burst=burst, packet=packet, ring=ring, in_flight=in_flight)
    _positive(rate=rate)
    if packet > burst:
        raise ValueError(f"burst must be at least the packet of {packet!r} bits, got {burst!r}")
    return (burst - packet + ring + in_flight) / rate


# Voice ----------------------------------------------------------------------------------------------------------------


class Codec(NamedTuple):
    """How a voice codec takes to loss, in the terms of the E-model."""

    impairment: float
    """Ie: what the codec alone takes from the rating."""
    robustness: float
    """Bpl: per cent of random loss that takes half of what is left to take."""


CODECS: Mapping[str, Codec] = MappingProxyType(
    {
        "G.711": Codec(0, 25.1),
        "G.711 without concealment": Codec(0, 4.3),
        "G.729A": Codec(11, 19),
        "G.723.1": Codec(15, 16.1),
        "GSM-EFR": Codec(5, 10),
    }
)
"""Ie and Bpl by codec: G.711 with the concealment of its Appendix I and without, G.723.1 at 6.3 kbit/s.

The figures are those commonly quoted from ITU-T G.113; they have not been verified against the recommendation.
"""


def e_model_rating(delay: float, loss: float = 0.0, *, codec: str | Codec = "G.711", burst_ratio: float = 1.0) -> float:
    """Transmission rating R of a call by the simplified E-model.

    Parameters
    ----------
    delay : float
        From mouth to ear, seconds, >= 0: that of the network, the codec, the packetisation and the playout buffer.
    loss : float
        Share of the packets that are not played, 0 to 1; those that come too late for the playout buffer too.
    codec : str or Codec
        One of `CODECS`, or Ie and Bpl.
    burst_ratio : float
        Mean length of a run of lost packets over that of random loss, BurstR, > 0; 1 if losses are independent.

    Returns
    -------
    float
        ``93.2 - Id - Ie,eff``, with d in ms and loss in per cent
        ``Id = 0.024 d + 0.11 max(0, d - 177.3)`` and
        ``Ie,eff = Ie + (95 - Ie) loss / (loss / BurstR + Bpl)``. At most 93.2; below 0 where all is lost.

    Raises
    ------
    ValueError
        An argument is out of bounds, or the codec is unknown.

    Notes
    -----
    All of G.107 that is about the telephones and the line stands at its default, which makes the 93.2. The figures here
    and in `CODECS` are quoted at second hand and have not been verified against the recommendations.

    References
    ----------
    ITU-T G.107, *The E-model: a computational model for use in transmission planning*; the fit of Id is that of R. G.
    Cole and J. H. Rosenbluth, "Voice over IP performance monitoring", *ACM Computer Communication Review* 31(2), 2001.

    Examples
    --------
    >>> round(e_model_rating(0.150, 0.01), 4)
    85.9602
    """
    _not_negative(delay=delay)
    _positive(burst_ratio=burst_ratio)
    if not 0 <= loss <= 1:
        raise ValueError(f"loss must be from 0 to 1, got {loss!r}")
    if isinstance(codec, str):
        if codec not in CODECS:
            raise ValueError(f"codec must be one of {', '.join(CODECS)}, or Ie and Bpl, got {codec!r}")
        codec = CODECS[codec]
    impairment, robustness = codec
    _not_negative(impairment=impairment)
    _positive(robustness=robustness)
    d, percent = 1e3 * delay, 1e2 * loss
    delayed = 0.024 * d + 0.11 * max(0.0, d - 177.3)
    return 93.2 - delayed - impairment - (95 - impairment) * percent / (percent / burst_ratio + robustness)


def e_model_mos(rating: float) -> float:
    """Mean opinion score of a call from its rating R.

    Parameters
    ----------
    rating : float
        R, as `e_model_rating` gives it; any finite number.

    Returns
    -------
    float
        ``1 + 0.035 R + R (R - 60)(100 - R) 7e-6`` from 1 ("bad") to 4.5; 1 where the cubic dips below it, between 0 and
        6.5.

    References
    ----------
    ITU-T G.107, annex B; quoted at second hand and not verified against the recommendation.

    Examples
    --------
    >>> round(e_model_mos(92), 5)
    4.38486
    """
    if not math.isfinite(rating):
        raise ValueError(f"rating must be finite, got {rating!r}")
    r = min(max(rating, 0.0), 100.0)
    return max(1.0, 1 + 0.035 * r + r * (r - 60) * (100 - r) * 7e-6)
