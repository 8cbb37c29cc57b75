# SPDX-License-Identifier: MIT
"""Experiments ready made: published measurements, described so that they can be run again and varied.

The one here is the experiment of T. Ferrari, "One-way delay and ipdv for EF", test 6, of the
TF-TANT differentiated-services tests, INFN-CNAF, December 1999: "the report" below. An EF stream and a
best-effort stream share a 2 Mbit/s ATM PVC, and EF is queued by WFQ or by PQ, with and without the best-effort load.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, TypeVar

import numpy as np

from qossim import units
from qossim._columns import html_table
from qossim.errors import ScenarioError
from qossim.scenario.meter import TokenBucket
from qossim.scenario.net import Scenario
from qossim.scenario.port import AAL5, Framing, Port, TrafficClass, TxRing
from qossim.scenario.queue import DropTail
from qossim.scenario.sched import PQ, SCFQ, Scheduler
from qossim.scenario.source import CBR, Flow

if TYPE_CHECKING:
    import datetime as dt
    from fractions import Fraction

    import pandas as pd
    from matplotlib.axes import Axes
    from numpy.random import SeedSequence
    from numpy.typing import NDArray

    from qossim.result import FlowResult, Result
    from qossim.run import Progress
    from qossim.units import RateLike, SizeLike, TimeLike

__all__ = ["Cases", "Finding", "ef_wfq_vs_pq", "ef_wfq_vs_pq_cases"]

ETHERNET = 18
"""Bytes of header and checksum that an Ethernet frame has more than its IP datagram."""
UDP = 28
"""Bytes of IP and UDP header that a datagram has more than its payload."""

_SCHEDULERS: dict[str, Scheduler] = {"pq": PQ(), "wfq": SCFQ()}
_LLC_SNAP = AAL5("llc-snap")
T = TypeVar("T")


def ef_wfq_vs_pq(
    *,
    scheduler: Literal["pq", "wfq"] | Scheduler = "pq",
    best_effort: bool = True,
    ef_rate: RateLike = "300 kbit/s",
    ef_frame: SizeLike = 1024,
    be_pps: RateLike = 200,
    be_payload: SizeLike = 1000,
    line_rate: RateLike = "2 Mbit/s",
    framing: Framing | None = _LLC_SNAP,
    propagation: TimeLike = "0.691 ms",
    ef_bandwidth: RateLike = "400 kbit/s",
    be_bandwidth: RateLike = "1600 kbit/s",
    police_rate: RateLike | None = "400 kbit/s",
    police_burst: SizeLike = 8000,
    ef_queue_limit: int | None = 10,
    be_queue_limit: int | None = 64,
    tx_ring_limit: int | None = 5,
    tx_ring_admit: Literal["overshoot", "strict"] = "overshoot",
    tx_ring_free: Literal["start", "end", "particle"] = "start",
    particle: SizeLike = 512,
    particle_header: SizeLike = 0,
    phases: Literal["random", "fixed"] = "random",
) -> Scenario:
    """Describe one case of the experiment.

    Flow "EF" passes the ports "near" and "far" of one PVC, both with the same classes, scheduler and transmit ring.
    Flow "BE" loads the near port only: the far one is idle but for EF.

    Parameters
    ----------
    scheduler : {"pq", "wfq"} or Scheduler
        As the report uses the words: "wfq" is the WFQ of its router, which is self-clocked (`SCFQ`). Any scheduler can
        be given instead; `qossim.WFQ` is packet-by-packet GPS. The report ran both.
    best_effort : bool
        With the best-effort load, or EF alone. The report ran both.
    ef_rate : number or str
        Rate of the EF stream, in bit/s of Ethernet frames. The report's.
    ef_frame : int
        Bytes of an EF frame as it leaves the traffic generator, 18 bytes of Ethernet included: 1006 bytes of IP by
        default. The report's 1024 bytes; that they are a frame is told by its companion pages.
    be_pps : number or str
        Best-effort packets per second. The report's; with its "2.0 Mbps" it means the line, which the packets overload.
    be_payload : int
        Bytes of UDP payload in a best-effort packet: 1028 bytes of IP by default. The report's 1000 bytes; that they
        are payload is told by its companion pages.
    line_rate : number or str
        Rate of the PVC at both ports, bit/s, cell headers included. The report's.
    framing : Framing, optional
        Of the PVC; None counts IP bytes. A modelling choice, the only one of the usual that makes a best-effort packet
        last the report's 4.66 ms.
    propagation : number or str
        Behind each port, seconds. A modelling choice: the report's 10.71 ms of an EF packet without load, less two
        transmissions of 4.664 ms, in equal halves. It stands for everything else on the way.
    ef_bandwidth : number or str
        Weight of the EF class, bit/s. The report's.
    be_bandwidth : number or str
        Weight of the best-effort class, bit/s. A modelling choice, the rest of the PVC; the report's gain of 14 ms asks
        for a ratio of weights from 3.07 to 4.08.
    police_rate : number or str, optional
        Rate of the policer of the EF class, bit/s of IP; None polices nothing. The report's, given for PQ.
    police_burst : int
        Its burst, bytes. A modelling choice, the least that such routers take.
    ef_queue_limit : int, optional
        Packets in the EF queue; None is unlimited. The report's.
    be_queue_limit : int, optional
        Packets in the best-effort queue; None is unlimited. A modelling choice, the router's usual default.
    tx_ring_limit : int, optional
        Particles in the transmit ring; None is no ring. The report's.
    tx_ring_admit : {"overshoot", "strict"}
        A packet enters while fewer than the limit are in use, or only if it fits. A modelling choice, see Notes.
    tx_ring_free : {"start", "end", "particle"}
        When particles return. A modelling choice, see Notes.
    particle : int
        Bytes of a particle. From the report's companion pages.
    particle_header : int
        Bytes stored with each datagram besides its own. A modelling choice.
    phases : {"random", "fixed"}
        Each flow starts at an instant drawn uniformly over its interval, from its own stream; or both start at 0. A
        modelling choice.

    Returns
    -------
    Scenario
        Of the flows "EF" and, with `best_effort`, "BE", and the ports "near" and "far".

    Raises
    ------
    ScenarioError
        A parameter is out of range; the message names it, its value and its bounds.

    See Also
    --------
    ef_wfq_vs_pq_cases : run all four cases.

    Notes
    -----
    The report finds two best-effort packets ahead of every EF packet under PQ, besides the one being sent, with a ring
    of five particles and three particles to a packet. Of the rules that a ring may have only one pair does so at that
    limit: it admits while fewer than five are in use, and a packet gives up its particles when its first bit is sent.

    References
    ----------
    T. Ferrari, *One-way delay and ipdv for EF*, test 6, TF-TANT/Quantum, INFN-CNAF, December 1999.

    Examples
    --------
    >>> import qossim as qs
    >>> scenario = ef_wfq_vs_pq(scheduler="wfq", best_effort=True)
    >>> [port.name for port in scenario.ports]
    ['near', 'far']
    """
    chosen = _scheduler(scheduler)
    ring = None
    if tx_ring_limit is not None:
        ring = TxRing(tx_ring_limit, particle=particle, header=particle_header, admit=tx_ring_admit, free=tx_ring_free)
    classes = _once(_classes, ef_bandwidth, be_bandwidth, police_rate, police_burst, ef_queue_limit, be_queue_limit)
    ports = [
        Port(
            name,
            line_rate,
            scheduler=chosen,
            classes=classes,
            framing=framing,
            tx_ring=ring,
            propagation=propagation,
        )
        for name in ("near", "far")
    ]
    flows = _once(_flows, best_effort, ef_rate, ef_frame, be_pps, be_payload, phases)
    return Scenario(flows=flows, ports=ports)


def _once(make: Callable[..., T], *arguments: object) -> T:
    """What it makes; of equal arguments the same, as in a sweep over others. Descriptions are frozen."""
    try:
        return make(*arguments)
    except TypeError:  # an argument that cannot be looked up
        return make.__wrapped__(*arguments)  # type: ignore[attr-defined, no-any-return]


@functools.lru_cache(maxsize=64, typed=True)
def _classes(
    ef_bandwidth: RateLike,
    be_bandwidth: RateLike,
    police_rate: RateLike | None,
    police_burst: SizeLike,
    ef_queue_limit: int | None,
    be_queue_limit: int | None,
) -> tuple[TrafficClass, ...]:
    police = None if police_rate is None else TokenBucket(police_rate, police_burst)
    return (
        TrafficClass("EF", match="EF", bandwidth=ef_bandwidth, queue=DropTail(ef_queue_limit), police=police),
        TrafficClass("BE", bandwidth=be_bandwidth, queue=DropTail(be_queue_limit)),
    )


def _scheduler(scheduler: object) -> Scheduler:
    if isinstance(scheduler, Scheduler):
        return scheduler
    found = _SCHEDULERS.get(scheduler.lower()) if isinstance(scheduler, str) else None
    if found is None:
        raise units.refusal("scheduler", 'one of "pq", "wfq", or a scheduler as SCFQ()', scheduler)
    return found


@functools.lru_cache(maxsize=64, typed=True)
def _flows(
    best_effort: object, ef_rate: RateLike, ef_frame: SizeLike, be_pps: RateLike, be_payload: SizeLike, phases: object
) -> tuple[Flow, ...]:
    if not isinstance(best_effort, bool | np.bool_):
        raise units.refusal("best_effort", "True or False", best_effort)
    if phases not in ("random", "fixed"):
        raise units.refusal("phases", 'one of "random", "fixed"', phases)
    phase: Any = "random" if phases == "random" else 0
    frame = units.size(ef_frame, "ef_frame", ETHERNET + 1, ETHERNET + 65535)
    payload = units.size(be_payload, "be_payload", 0, 65535 - UDP)
    ef = CBR(pps=units.rate(ef_rate, "ef_rate") / (8 * frame), size=frame - ETHERNET, phase=phase)
    flows = [Flow("EF", ef, dscp="EF")]
    if best_effort:
        flows.append(Flow("BE", CBR(pps=be_pps, size=payload + UDP, phase=phase), route=["near"]))
    return tuple(flows)


# -- all four cases ----------------------------------------------------------------------------------------------------

_CASES: dict[tuple[str, bool], str] = {
    ("wfq", False): "WFQ, no best effort",
    ("pq", False): "PQ, no best effort",
    ("wfq", True): "WFQ, best effort",
    ("pq", True): "PQ, best effort",
}


def ef_wfq_vs_pq_cases(
    *,
    duration: float | str | dt.timedelta | np.timedelta64 = 60.0,
    warmup: float | str | dt.timedelta | np.timedelta64 = 5.0,
    seed: int | SeedSequence | None = None,
    record: Literal["packets", "summary", "none"] = "packets",
    progress: Progress = None,
    **parameters: Any,
) -> Cases:
    """Run the experiment's four cases: WFQ and PQ, without and with best effort.

    Parameters
    ----------
    duration, warmup : float or str
        Of each run, seconds, as for `qossim.run`. The report's runs were of about 250 EF packets, 7 s; a minute sees
        the two streams in every position to each other.
    seed : int or numpy.random.SeedSequence, optional
        Of all four runs, which see the same arrivals. Without it one is drawn.
    record, progress
        As for `qossim.run`. `Cases.findings` and the plots need the packets.
    **parameters
        Of `ef_wfq_vs_pq`, all but `scheduler` and `best_effort`.

    Returns
    -------
    Cases
        The four results by their labels.

    Raises
    ------
    ScenarioError
        A parameter is out of range; the message names it, its value and its bounds.

    Examples
    --------
    >>> cases = ef_wfq_vs_pq_cases(duration=60.0, seed=1)
    >>> gain = cases["WFQ, best effort"]["EF"].delay.mean() - cases["PQ, best effort"]["EF"].delay.mean()
    >>> print(f"{1e3 * gain:.3f} ms")
    13.992 ms
    """
    from qossim.run import run

    for name in ("scheduler", "best_effort"):
        if name in parameters:
            raise TypeError(f"ef_wfq_vs_pq_cases() runs every case: {name} cannot be given")
    results: dict[str, Result] = {}
    for (scheduler, best_effort), label in _CASES.items():
        scenario = ef_wfq_vs_pq(scheduler=scheduler, best_effort=best_effort, **parameters)  # type: ignore[arg-type]
        results[label] = run(scenario, duration=duration, warmup=warmup, seed=seed, record=record, progress=progress)
        seed = results[label].seed
    return Cases(results)


@dataclass(frozen=True, slots=True)
class Finding:
    """One statement of the report, held against the model.

    Attributes
    ----------
    statement : str
        What the report says.
    report : str
        The value it gives, if it gives one.
    model : str
        What the runs give in its place.
    holds : bool
        Whether the statement is true of the runs.
    note : str
        What else should be known, or "".
    """

    statement: str
    report: str
    model: str
    holds: bool
    note: str = ""


class Cases(Mapping[str, "Result"]):
    """The four results of the experiment, by label, in the order of the report's figures.

    Parameters
    ----------
    results : mapping of str to Result
        As `ef_wfq_vs_pq_cases` makes it.
    """

    __slots__ = ("_results",)

    def __init__(self, results: Mapping[str, Result]) -> None:
        self._results = dict(results)

    def __getitem__(self, label: str) -> Result:
        found = self._results.get(label)
        if found is None:
            raise KeyError(f"no case {label!r}; there are {', '.join(map(repr, self._results))}")
        return found

    def __iter__(self) -> Iterator[str]:
        return iter(self._results)

    def __len__(self) -> int:
        return len(self._results)

    def case(self, scheduler: Literal["wfq", "pq"], best_effort: bool) -> Result:
        """The result of one case, by its parameters instead of its label."""
        return self[_CASES[scheduler, best_effort]]

    def _ef(self, scheduler: Literal["wfq", "pq"], best_effort: bool) -> FlowResult:
        return self.case(scheduler, best_effort)["EF"]

    @property
    def slot(self) -> float:
        """Seconds that a best-effort packet takes on the wire: the unit of all that the report finds."""
        return float(self._slot())

    def _slot(self) -> Fraction:
        scenario = self.case("pq", True).scenario
        near, source = scenario.ports[0], scenario.flows[1].source
        assert isinstance(source, CBR)
        assert isinstance(source.size, int)
        return 8 * near.wire_bytes(source.size) / near.rate

    def peaks(self, label: str) -> float:
        """Share of the EF packets of a case whose absolute ipdv is above half a best-effort transmission.

        Raises
        ------
        ScenarioError
            The run did not keep packets, or has no two EF packets in a row.
        """
        return float((_heights(self[label]["EF"]) > self.slot / 2).mean())

    def summary(self) -> pd.DataFrame:
        """One row for each case: that of flow "EF" in `Result.summary`."""
        import pandas as pd

        from qossim._table import Table

        rows = pd.concat([result.summary().loc[["EF"]] for result in self.values()])
        return Table(rows.set_index(pd.Index(list(self), name="case", dtype="object")))

    def findings(self) -> list[Finding]:
        """What the report says, statement by statement, and whether these runs bear it out.

        Returns
        -------
        list of Finding
            Each is worked out from the packets of the four runs.

        Raises
        ------
        ScenarioError
            The runs did not keep packets, or have no EF packets to compare.
        """
        return [
            self._equivalent(),
            self._base(),
            self._load(),
            self._increase(),
            self._completion(),
            self._gain(),
            self._heights(),
            self._frequencies(),
            self._losses(),
        ]

    # statement by statement

    def _equivalent(self) -> Finding:
        apart = np.abs(_by_packet(self._ef("wfq", False), self._ef("pq", False)))
        return Finding(
            statement="no best effort: WFQ and PQ equivalent",
            report="equivalent",
            model=f"{_ms(apart.max())} apart",
            holds=bool((apart == 0).all()),
        )

    def _base(self) -> Finding:
        least = float(self._ef("pq", False).delay.min())
        return Finding(
            statement="no best effort: least delay",
            report="10.71 ms",
            model=_ms(least),
            holds=abs(least - 10.71e-3) < 0.005e-3,
            note="Built in: the propagation delay is chosen to give it.",
        )

    def _load(self) -> Finding:
        wfq, pq = self._rise("wfq"), self._rise("pq")
        ring = min(float(self._ef(s, True).delay_budget()["ring"].iloc[0]) for s in ("wfq", "pq"))
        return Finding(
            statement="best effort delays EF, by the FIFO ring",
            report="both",
            model=f"{1e3 * wfq.mean():.2f}, {1e3 * pq.mean():.2f} ms",
            holds=ring > 0 and bool(min(wfq.mean(), pq.mean()) >= ring),
            note=f"With WFQ and with PQ, on average; {_ms(ring)} of it is spent in the transmit ring.",
        )

    def _increase(self) -> Finding:
        least = float(self._rise("pq").min())
        return Finding(
            statement="increase with PQ: at least two packets",
            report="about 9.7 ms",
            model=_ms(least),
            holds=2 * self.slot - 1e-9 <= least < 2.1 * self.slot,
            note=f"Two transmissions take {_ms(2 * self.slot)}. 9.7 ms are {9.7e-3 / self.slot:.2f} transmissions, the "
            f"model's least is {least / self.slot:.2f}.",
        )

    def _completion(self) -> Finding:
        rise = self._rise("pq") / self.slot
        least, most = float(rise.min()), float(rise.max())
        return Finding(
            statement="and what is left of the one being sent",
            report="more",
            model=f"to {_ms(most * self.slot)}",
            holds=0.5 < most - least <= 1 + 1e-9,
            note=f"From {least:.2f} to {most:.2f} best-effort transmissions.",
        )

    def _gain(self) -> Finding:
        gain = _by_packet(self._ef("wfq", True), self._ef("pq", True))
        least, most = float(gain.min()), float(gain.max())
        every = ", for every packet" if least == most else ""
        return Finding(
            statement="gain in delay with PQ",
            report="up to 14 ms",
            model=f"{_ms(most)}" if every else f"up to {_ms(most)}",
            holds=abs(most - 14e-3) < 0.05e-3,
            note=f"{most / self.slot:.2f} best-effort transmissions{every}. The weight of best effort is inferred from "
            "it: a check of the model, not a prediction.",
        )

    def _heights(self) -> Finding:
        wfq, pq = (float(_heights(self._ef(s, True)).max()) for s in ("wfq", "pq"))
        same = abs(wfq - pq) < 1e-9
        return Finding(
            statement="ipdv peaks are as high with PQ",
            report="the same",
            model=_ms(pq) if same else f"{1e3 * pq:.2f}, {1e3 * wfq:.2f} ms",
            holds=same,
        )

    def _frequencies(self) -> Finding:
        wfq, pq = (self.peaks(_CASES[s, True]) for s in ("wfq", "pq"))
        why = " Two periodic streams beat: how often peaks come depends on their periods, not on the scheduler."
        return Finding(
            statement="ipdv peaks are less frequent with PQ",
            report="can be",
            model=f"{100 * pq:.1f}, {100 * wfq:.1f} %",
            holds=pq < wfq,
            note="Share of the packets, with PQ and with WFQ." + (why if pq == wfq else ""),
        )

    def _losses(self) -> Finding:
        lost = sum(result["EF"].lost for result in self.values())
        return Finding(
            statement="no EF packet is dropped", report="none", model=str(lost) if lost else "none", holds=lost == 0
        )

    def _rise(self, scheduler: Literal["wfq", "pq"]) -> NDArray[np.float64]:
        return _by_packet(self._ef(scheduler, True), self._ef(scheduler, False))

    # plots

    def plot_delay(self, ax: Axes | None = None, **options: Any) -> Axes:
        """`qossim.plots.delay` of EF in the four cases."""
        from qossim import plots

        return plots.delay(self, "EF", ax, **options)

    def plot_ipdv(self, ax: Axes | None = None, **options: Any) -> Axes:
        """`qossim.plots.ipdv` of EF in the four cases, the absolute value as in the report."""
        from qossim import plots

        return plots.ipdv(self, "EF", ax, **{"absolute": True, **options})

    # Python

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Cases):
            return NotImplemented
        return self._results == other._results

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        lines = (f'  "{label}": EF {_range(result["EF"])}' for label, result in self.items())
        return "\n".join(["<Cases:", *lines]) + ">"

    def _repr_html_(self) -> str:
        from qossim.result import _HEADER, _LEGEND, _table_row

        rows = [[label, *_table_row(result["EF"])[1:]] for label, result in self.items()]
        return html_table(["case", *_HEADER[1:]], rows, f"EF; {_LEGEND}")


def _by_packet(one: FlowResult, other: FlowResult) -> NDArray[np.float64]:
    """Delay in one run less delay in the other, of the packets that both received; whole picoseconds, in seconds."""
    _, left, right = np.intersect1d(one.seq, other.seq, assume_unique=True, return_indices=True)
    apart: NDArray[np.float64] = np.rint((one.delay[left] - other.delay[right]) * units.PICO) / units.PICO
    return _some(apart)


def _heights(flow: FlowResult) -> NDArray[np.float64]:
    return _some(np.abs(flow.ipdv))


def _some(values: NDArray[np.float64]) -> NDArray[np.float64]:
    if not len(values):
        raise ScenarioError(
            "duration must be long enough for EF packets to compare after the warm-up, got none of them"
        )
    return values


def _ms(seconds: float) -> str:
    return f"{1e3 * seconds:.3f} ms"


def _range(flow: FlowResult) -> str:
    stats = flow.delay_stats
    return f"{1e3 * stats.min:.3f} to {1e3 * stats.max:.3f} ms, mean {1e3 * stats.mean:.3f} ms, {flow.lost} lost"
