# SPDX-License-Identifier: MIT
"""Random scenarios over everything a scenario can say, small and full of coincidences.

``draw(seed)`` is a function of its seed alone. Every scenario has a scale of its own: a link rate, a palette of packet
sizes, the time one such packet takes, and a grid that most instants are put on, so that arrivals, ends of transmissions
and returning particles meet often. Limits, bursts and particles are drawn around the palette, loads around the link.
One scenario in five is even: few sizes, a few bursts that all flows share, and weights close to simple proportions.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np

import qossim as qs

from .packet import SECOND

LONGEST = 9_000_000  # seconds; the clock ends at 9223372
SLOWEST = Fraction(1, 2)  # bit/s; at an eighth of it a single large packet would be refused
CODES = (0, 8, 10, 26, 34, 46)
NAMED_CODES: dict[int, int | str] = {0: "default", 8: "CS1", 10: "AF11", 26: "AF31", 34: "AF41", 46: "EF"}


def draw(seed: int) -> tuple[qs.Scenario, Fraction, bool]:
    """A scenario, how long its sources send in seconds, and whether it drains."""
    return _Draw(random.Random(seed)).scenario()


def draw_warmup(seed: int, scenario: qs.Scenario, duration: Fraction) -> Fraction:
    """Often none; else any share of the duration, or the very instant at which a packet of a trace is sent."""
    r = random.Random(f"warmup {seed}")
    sent = [time for flow in scenario.flows if isinstance(flow.source, qs.Trace) for time in flow.source.times.tolist()]
    at = [Fraction(time, SECOND) for time in sent if time < duration * SECOND]
    share = Fraction(int(duration * SECOND) * r.randrange(1000) // 1000, SECOND)
    return r.choice((Fraction(0), share, share, r.choice(at) if at else share))


class _Draw:
    def __init__(self, r: random.Random) -> None:
        self.r = r
        self.packets = r.choice((3, 10, 30, 60, 100, 200))
        self.even = self.seldom(5)
        self.sizes = self.palette()
        self.rate = self.link_rate()
        self.largest = max(self.sizes)
        self.service = self.whole_ps(Fraction(8 * sum(self.sizes), len(self.sizes)) / self.rate)
        self.grid = self.whole_ps(self.service / r.choice((1, 1, 2, 4, 10, 1000, 10**9)))
        self.drain = not self.seldom(6)
        self.duration = self.length(r.choice((Fraction(1, 3), Fraction(4, 5), 1, 1, Fraction(3, 2), 3, 10)))
        self.meetings = [self.instant(self.duration) for _ in range(r.choice((1, 3, 10)))]
        self.port_names = ["near", "middle", "far"][: r.choice((1, 1, 1, 2, 2, 3))]
        self.many = self.seldom(16)  # classes: more than the tag schedulers look through one by one
        flows = r.choice((12, 24, 40) if self.many else (1, 2, 3, 4, 6, 9))
        self.codes = {f"flow {i}": r.choice(CODES) for i in range(flows)}
        self.flow_names = list(self.codes)

    def scenario(self) -> tuple[qs.Scenario, Fraction, bool]:
        flows = [self.flow(name) for name in self.flow_names]
        ports = [self.port(name) for name in self.port_names]
        return qs.Scenario(flows=flows, ports=ports), self.duration, self.drain

    # -- chances and scales --------------------------------------------------------------------------------------------

    def seldom(self, n: int) -> bool:
        """True once in n."""
        return self.r.randrange(n) == 0

    def one_of(self, values: Sequence[Any]) -> Any:
        return self.r.choice(values)

    def whole_ps(self, seconds: Fraction) -> Fraction:
        return Fraction(max(1, round(seconds * SECOND)), SECOND)

    def palette(self) -> list[int]:
        usual = (40, 64, 500, 576, 1006, 1028, 1500)
        if self.even:
            return list(self.one_of(([self.one_of(usual)], (100, 200, 400), (3, 6))))
        match self.r.randrange(8):
            case 0 | 1:
                return [self.one_of(usual)]
            case 2 | 3:
                return self.r.sample(usual, self.r.randint(2, 4))
            case 4:
                return [self.r.randint(1, 12) for _ in range(3)]
            case 5:
                return [self.one_of((100, 1000, 1250)) * k for k in self.r.sample(range(1, 6), 3)]
            case 6:
                return [self.r.randint(1, 1500) for _ in range(6)]
        return [1, 65535] + [self.r.randint(1, 65535) for _ in range(3)]

    def link_rate(self) -> Fraction:
        if self.seldom(50):  # so slow that the clock ends before the last packet is through
            self.packets = max(30, self.packets)
            self.sizes.append(65535)
            bits = 8 * self.packets * sum(self.sizes) / Fraction(len(self.sizes))
            return max(SLOWEST, bits * self.r.randint(2, 9) / 10 / LONGEST)
        rates: list[Fraction | int] = [8, 64_000, 2_000_000, 10**9, Fraction(10**9, 3), 10 * 10**9, 8 * 10**12]
        rates += [Fraction(self.r.randint(10**6, 10**9), self.r.randint(1, 1000)), self.r.randint(1000, 10**11)]
        return Fraction(self.one_of(rates))

    def length(self, load: Fraction | int) -> Fraction:
        """How long the sources send at this load; on the grid when what happens at its end matters."""
        length = self.packets * self.service / load
        length = self.whole_ps(length) if self.drain else max(1, round(length / self.grid)) * self.grid
        return min(Fraction(LONGEST), length)

    def instant(self, upto: Fraction) -> Fraction:
        """A time from 0: most often on the grid, else to the picosecond."""
        if self.seldom(6) and not self.even:
            return Fraction(self.r.randint(0, int(upto * SECOND)), SECOND)
        return self.r.randint(0, int(upto / self.grid)) * self.grid

    # -- source --------------------------------------------------------------------------------------------------------

    def flow(self, name: str) -> qs.Flow:
        source = self.source(max(1, self.packets // len(self.flow_names)))
        code = self.codes[name]
        start = self.instant(self.duration / 2) if self.seldom(5) else Fraction(0)
        stop = min(Fraction(LONGEST), start + self.instant(self.duration)) if self.seldom(8) else None
        dscp = NAMED_CODES[code] if self.seldom(3) else code
        return qs.Flow(name, source, dscp=dscp, route=self.route(), start=start, stop=stop)

    def route(self) -> list[str] | None:
        if self.seldom(2):
            return None
        return self.r.sample(self.port_names, self.r.randint(1, len(self.port_names)))

    def source(self, n: int) -> Any:
        if self.even:
            return self.trace(n)
        match self.r.randrange(5):
            case 0 | 1:
                return self.trace(self.r.randint(1, 2 * n))
            case 2:
                return qs.Poisson(pps=self.packet_rate(n), size=self.size())
            case 3:
                return self.with_jitter(qs.CBR(pps=self.packet_rate(n), size=self.size(), phase=self.phase()))
        return self.with_jitter(qs.CBR(interval=self.interval(n), size=self.size(), phase=self.phase()))

    def with_jitter(self, source: qs.CBR) -> qs.CBR:
        """Mostly without; else up to the whole interval, of a few picoseconds or as long as a transmission."""
        most = Fraction(int(source.interval * SECOND), SECOND)
        jitters = (most, most / 2, Fraction(self.r.randint(1, 9), SECOND), self.service)
        jitter = Fraction(int(min(most, self.one_of(jitters)) * SECOND), SECOND)
        return source.replace(jitter=jitter) if self.seldom(4) else source

    def trace(self, n: int) -> qs.Trace:
        own = [self.instant(self.duration) for _ in range(self.r.randint(1, n))]
        bursts = self.meetings if self.even or self.seldom(2) else own
        times = sorted(int(self.one_of(bursts) * SECOND) for _ in range(n))
        sizes = np.array([self.one_size() for _ in range(n)], dtype=np.int32)
        return qs.Trace(np.array(times, dtype="timedelta64[ps]"), sizes)

    def packet_rate(self, n: int) -> Fraction:
        """About n packets in the duration; a number with few digits or an odd ratio."""
        rate = Fraction(n) / self.duration
        return min(Fraction(10**12), rate if self.seldom(2) else Fraction(f"{float(rate):.2e}"))

    def interval(self, n: int) -> Fraction:
        """A multiple of the grid, or the duration (or a service time) in odd parts; never more than 2n packets."""
        most = self.duration / n
        intervals = [most, self.duration / (n + Fraction(1, 3)), self.service * self.r.randint(1, 8) / 7]
        intervals.append(self.grid * max(1, round(most / self.grid)))
        interval = self.one_of(intervals)
        return max(Fraction(1, SECOND), interval if interval > most / 2 else most)

    def phase(self) -> Any:
        return self.one_of((0, 0, "random", self.instant(self.service), self.instant(self.duration / 2)))

    def size(self) -> Any:
        if self.seldom(2):
            return self.one_size()
        values = [self.one_size() for _ in range(self.r.randint(1, 4))]
        if self.seldom(2):
            return qs.Sizes(values)
        weights = [self.one_of((1, 2, 7, Fraction(1, 3), Fraction(5, 2), 10**9)) for _ in values]
        return qs.Sizes(values, weights=weights)

    def one_size(self) -> int:
        return self.r.randint(1, self.largest) if self.seldom(10) and not self.even else self.one_of(self.sizes)

    # -- meter, queue --------------------------------------------------------------------------------------------------

    def policer(self) -> qs.TokenBucket | None:
        if not self.seldom(8):
            return None
        deep = self.r.randint(1, 5 * self.largest)
        return qs.TokenBucket(
            self.rate * self.one_of((Fraction(1, 10), Fraction(1, 4), Fraction(1, 3), Fraction(1, 2), 1)),
            self.one_of((0, self.largest // 2, self.largest, self.one_of(self.sizes), deep)),
            counts=self.one_of(("ip", "ip", "wire")),
            overhead=self.one_of((0, 0, 0, 4, 12)),
            when=self.one_of(("always", "congestion")),
        )

    def queue(self) -> qs.DropTail:
        packets = self.one_of((0, 1, 2, 3, 5, 10, 20))
        some_bytes = self.one_of((0, self.largest - 1, self.largest, self.r.randint(1, 10 * self.largest)))
        time = self.one_of((Fraction(0), self.service, self.service / 3, self.service * self.r.randint(1, 10)))
        match self.r.randrange(12):
            case 0 | 1 | 2 | 3 | 4 | 5:
                return qs.DropTail()
            case 6 | 7 | 8:
                return qs.DropTail(packets)
            case 9:
                return qs.DropTail(bytes=some_bytes)
            case 10:
                return qs.DropTail(time=time)
        return qs.DropTail(packets, bytes=some_bytes, time=time if self.seldom(2) else None)

    # -- sched ---------------------------------------------------------------------------------------------------------

    def bandwidths(self, n: int) -> list[Fraction]:
        base = min(Fraction(8 * 10**9), self.one_of((self.rate / n, Fraction(10**6), Fraction(10**6, 3), self.rate)))
        match 3 if self.even else self.r.randrange(6):
            case 0:
                factors = [Fraction(1)] * n
            case 1 | 2:
                factors = [Fraction(self.one_of((1, 1, 2, 4, 10))) for _ in range(n)]
            case 3 | 4:  # so close to simple proportions that tags tie, or nearly
                base = self.one_of((Fraction(64_000), Fraction(10**6), Fraction(10**6, 3)))
                part = Fraction(1, 10 ** self.r.randint(9, 12))
                factors = [self.one_of((1, 1, 2, 4)) * (1 + self.r.randint(-3, 3) * part) for _ in range(n)]
            case _:
                factors = [Fraction(self.r.randint(1, 1000), self.r.randint(1, 12)) for _ in range(n)]
        return [base * factor for factor in factors]

    def quanta(self, n: int) -> list[Fraction]:
        match self.r.randrange(5):
            case 0:
                return [Fraction(self.one_of((self.one_of(self.sizes), 1500)))] * n
            case 3:  # whole packets fit after a few visits, exactly
                return [max(Fraction(1), Fraction(self.one_of(self.sizes), self.r.randint(1, 7))) for _ in range(n)]
            case 1:
                return [Fraction(self.one_of((1, 1, 2, 7, self.largest))) for _ in range(n)]
            case 2:
                return [1 + Fraction(self.r.randint(0, 3 * self.largest), 3) for _ in range(n)]
        return [Fraction(self.r.randint(1, 2 * self.largest)) for _ in range(n)]

    # -- port ----------------------------------------------------------------------------------------------------------

    def port(self, name: str) -> qs.Port:
        scfq = (qs.SCFQ(), qs.SCFQ(lengths="wire"))
        rate = min(Fraction(8 * 10**12), self.rate * self.one_of((1, 1, 1, 2, Fraction(1, 2), Fraction(5, 7))))
        scheduler = self.one_of((qs.FIFO(), qs.PQ(), qs.WFQ(), qs.WFQ(), *scfq, qs.DRR(), qs.DRR()))
        return qs.Port(
            name,
            rate,
            scheduler=scheduler,
            classes=None if self.seldom(12) else self.classes(scheduler),
            framing=self.framing(),
            tx_ring=self.ring(),
            propagation=self.one_of((0, 0, self.instant(self.service), self.instant(5 * self.service))),
        )

    def classes(self, scheduler: Any) -> list[qs.TrafficClass]:
        n = self.one_of((9, 16, 17, 40) if self.many else (1, 2, 2, 3, 4, 6, 8))
        kind = type(scheduler).__name__
        bandwidths: list[Fraction | None] = list(self.bandwidths(n))
        quanta: list[Fraction | None] = list(self.quanta(n))
        if kind == "DRR":
            given = self.r.randrange(5)
            if given in (0, 1, 2):
                bandwidths = [None] * n
            elif given == 3:
                quanta = [None] * n
        else:
            quanta = [None] * n
            if kind in ("FIFO", "PQ"):
                bandwidths = [self.one_of((None, bandwidth)) for bandwidth in bandwidths]
        rest = n - 1 if self.seldom(2) else self.r.randrange(n)
        return [
            qs.TrafficClass(
                f"class {c}",
                match=None if c == rest else match,
                flows=None if c == rest else flows,
                bandwidth=bandwidths[c],
                quantum=quanta[c],
                queue=self.queue(),
                police=self.policer(),
            )
            for c, (match, flows) in enumerate(self.fits(c) for c in range(n))
        ]

    def fits(self, c: int) -> tuple[Any, list[str] | None]:
        """What a class asks for, DSCPs or flows by name or both: most often one flow of its own, else anything."""
        own = self.flow_names[c % len(self.flow_names)]
        codes, names = [self.codes[own]], [own]
        if self.seldom(3):
            codes = self.r.sample(CODES, self.r.randint(1, 3))
            names = self.r.sample(self.flow_names, self.r.randint(1, min(3, len(self.flow_names))))
        match = [NAMED_CODES[code] if self.seldom(3) else code for code in codes]
        either: list[tuple[Any, list[str] | None]] = [(match, None), (match[0], None), (match, names)]
        return self.r.choice(either + [(None, names)] * 5)

    def framing(self) -> Any:
        encapsulation = self.one_of(("llc-snap", "vc-mux"))
        ethernet = qs.Ethernet(tags=self.one_of((0, 0, 1, 2)), preamble_and_gap=self.one_of((True, True, False)))
        overhead = qs.Overhead(self.r.randint(0, 50), minimum=self.one_of((0, 0, 64, min(65535, 2 * self.largest))))
        others = (ethernet, qs.PPP(), qs.HDLC(), qs.FrameRelay(), overhead)
        return self.one_of((*[None] * 3, *[qs.AAL5(encapsulation=encapsulation)] * 3, *others))

    def ring(self) -> qs.TxRing | None:
        if self.seldom(3):
            return None
        least = max(1, self.largest // 64)  # bytes, so that a packet never has too many particles
        return qs.TxRing(
            self.one_of((1, 2, 3, 5, 5, 6, 10, 40)),
            particle=self.one_of(
                (least, max(least, self.largest // 3), max(least, 512), least + self.r.randint(0, 600))
            ),
            header=self.one_of((0, 0, 0, 1, 8, 12)),
            admit=self.one_of(("overshoot", "strict")),
            free=self.one_of(("start", "end", "particle", "particle")),
        )
