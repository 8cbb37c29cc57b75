# SPDX-License-Identifier: MIT
"""What a run found: a `Result` answers by flow, by port and by packet.

Nothing is worked out before it is asked for. Times of packets are int64 picoseconds, as the core recorded them, -1
where a packet never got; delays and statistics are float64 seconds, missing ones NaN. Counters and statistics leave
out what was sent before ``warmup``; the per-packet rows hold everything.
"""

from __future__ import annotations

import json
import math
import os
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, Literal, NamedTuple, TypeAlias

import numpy as np
from numpy.random import SeedSequence

from qossim import _core
from qossim._columns import FATES, Columns, Fate, Packets, html_table
from qossim._measured import Measured, with_arrays, without_arrays
from qossim.statistics import Statistics, StreamedStatistics, interarrival_jitter, total

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from contextlib import AbstractContextManager

    import pandas as pd
    from numpy.typing import NDArray

    from qossim._core import ClassCounts, FlowCounts, PortCounts
    from qossim.scenario.net import Scenario

__all__ = [
    "FATES",
    "ClassResult",
    "Columns",
    "Fate",
    "FlowResult",
    "Packets",
    "PortResult",
    "Result",
    "load",
]

PathLike: TypeAlias = "str | os.PathLike[str]"

_PICO = 10**12
_HOP = ("queued", "ring", "start", "end")
_STAGES = ("queue", "ring", "serialisation", "propagation")
_FORMAT = "qossim result"
_FORMAT_VERSION = 3


# -- by flow -----------------------------------------------------------------------------------------------------------


class LossPeriods(NamedTuple):
    """How the losses of a flow come together: loss periods are longest runs of consecutive packets that were lost.

    Attributes
    ----------
    number : int
        Periods.
    longest : int
        Packets in the longest of them; 0 without losses.
    mean_length : float
        Packets in one of them on average; NaN without losses.

    References
    ----------
    R. Koodli, R. Ravikanth, "One-way Loss Pattern Sample Metrics", RFC 3357, 2002, section 6.
    """

    number: int
    longest: int
    mean_length: float


class FlowResult:
    """What became of one flow. Everything here leaves out the packets sent before ``warmup``.

    Arrays are worked out when first asked for and then kept; they are read-only.
    """

    __slots__ = ("_cut", "_delay", "_ipdv", "_number", "_run")

    def __init__(self, run: Measured, number: int) -> None:
        self._run = run
        self._number = number
        self._cut: tuple[NDArray[np.int64], NDArray[np.int64], bool] | None = None
        self._delay: NDArray[np.float64] | None = None
        self._ipdv: NDArray[np.float64] | None = None

    @property
    def name(self) -> str:
        """The flow's name."""
        return self._run.scenario.flows[self._number].name

    # counts

    @property
    def _counts(self) -> FlowCounts:
        return self._run.flow_counts(self._number)

    @property
    def sent(self) -> int:
        """Packets sent: ``received + lost + inside``."""
        return self._counts["sent"]

    @property
    def received(self) -> int:
        """Packets received."""
        return self._counts["received"]

    @property
    def inside(self) -> int:
        """Packets still under way when the run stopped; 0 if it drained."""
        return self._counts["inside"]

    @property
    def drops(self) -> dict[str, int]:
        """Packets lost, by reason: ``{"queue": ..., "policer": ...}``."""
        return {"queue": self._counts["dropped_queue"], "policer": self._counts["dropped_policer"]}

    @property
    def lost(self) -> int:
        """Packets lost, whatever the reason."""
        return self._counts["dropped_queue"] + self._counts["dropped_policer"]

    @property
    def loss_ratio(self) -> float:
        """Share of the packets sent that were lost (RFC 7680); NaN if none was sent."""
        return self.lost / self.sent if self.sent else math.nan

    @property
    def loss_periods(self) -> LossPeriods:
        """Loss periods: runs of packets that were lost one after the other (RFC 3357)."""
        count = self._counts["loss_periods"]
        return LossPeriods(count, self._counts["longest_loss"], self.lost / count if count else math.nan)

    @property
    def sent_bytes(self) -> int:
        """Bytes of IP datagrams sent."""
        return self._counts["sent_bytes"]

    @property
    def received_bytes(self) -> int:
        """Bytes of IP datagrams received."""
        return self._counts["received_bytes"]

    @property
    def delivered_bytes(self) -> int:
        """Bytes of IP datagrams received before `duration`, when the sources stop."""
        return self._counts["delivered_bytes"]

    @property
    def throughput(self) -> float:
        """Bit/s of IP datagrams received before `duration`, over the time from `warmup` to `duration`.

        As in every count, packets sent before `warmup` are left out; and what is received while the run drains is no
        part of it, so that a link is never found to carry more than its rate. It is a little less than what passes in
        the long run, by one delay's worth: make the run long against the delay.
        """
        return 8 * self.delivered_bytes * _PICO / (self._run.duration - self._run.warmup)

    # packet by packet

    @property
    def rows(self) -> slice:
        """Where its packets stand in ``result.packets`` and ``result.hop(...)``, those before ``warmup`` too."""
        return self._run.rows(self._number)

    def _times(self) -> tuple[NDArray[np.int64], NDArray[np.int64], bool]:
        """When the packets that count were sent and received (-1: never), in order of sending; were all received?"""
        if self._cut is None:
            packets, rows = self._run.packets(), self._run.counted(self._number)
            received = packets["received"][rows]
            self._cut = packets["sent"][rows], received, not len(received) or bool(received.min() >= 0)
        return self._cut

    def _delay_ps(self) -> NDArray[np.int64]:
        sent, received, whole = self._times()
        delay = received - sent
        return delay if whole else delay[received >= 0]

    def _ipdv_ps(self) -> NDArray[np.int64]:
        sent, received, whole = self._times()
        delay = received - sent
        ipdv = delay[1:] - delay[:-1]
        return ipdv if whole else ipdv[_pairs(received)]

    @property
    def delay(self) -> NDArray[np.float64]:
        """(received,) float64: one-way delay in seconds (RFC 7679) of the packets received, in order of sending.

        Raises
        ------
        ScenarioError
            The run did not keep packets; use ``record="packets"``.
        """
        if self._delay is None:
            self._delay = _seconds(self._delay_ps())
        return self._delay

    @property
    def ipdv(self) -> NDArray[np.float64]:
        """(n,) float64: delay variation in seconds (RFC 3393), ``D(i) - D(i-1)``, signed.

        Over consecutive packets that were both received; a loss removes two values and nothing is bridged.

        Raises
        ------
        ScenarioError
            The run did not keep packets; use ``record="packets"``.
        """
        if self._ipdv is None:
            self._ipdv = _seconds(self._ipdv_ps())
        return self._ipdv

    @property
    def pdv(self) -> NDArray[np.float64]:
        """(received,) float64: packet delay variation in seconds (RFC 5481), ``D(i) - min D``."""
        delay = self._delay_ps()
        return _seconds(delay - delay.min() if len(delay) else delay)

    @property
    def seq(self) -> NDArray[np.int32]:
        """(received,) int32: the packets' numbers in the flow, row by row with `delay`."""
        _, received, whole = self._times()
        seq: NDArray[np.int32] = self._run.packets()["seq"][self._run.counted(self._number)]
        return seq if whole else seq[received >= 0]

    @property
    def ipdv_seq(self) -> NDArray[np.int32]:
        """(n,) int32: the number of the later packet of each pair, row by row with `ipdv`."""
        _, received, whole = self._times()
        seq: NDArray[np.int32] = self._run.packets()["seq"][self._run.counted(self._number)][1:]
        return seq if whole else seq[_pairs(received)]

    @property
    def sent_at(self) -> NDArray[np.float64]:
        """(received,) float64: when the packets were sent, in seconds, row by row with `delay`."""
        sent, received, whole = self._times()
        return _seconds(sent if whole else sent[received >= 0])

    def jitter(self) -> NDArray[np.float64]:
        """Interarrival jitter in seconds (RFC 3550, section 6.4.1) after each packet received.

        Returns
        -------
        (received,) float64 array
            The running estimate in order of arrival, 0 at the first packet; ``jitter()[-1]`` is the estimate at the
            end. As in the RFC, each packet is compared with the one that arrived before it, across losses.

        Raises
        ------
        ScenarioError
            The run did not keep packets; use ``record="packets"``.
        """
        sent, received, whole = self._times()
        if not whole:
            sent, received = sent[received >= 0], received[received >= 0]
        if (received[1:] < received[:-1]).any():
            order = received.argsort(kind="stable")
            sent, received = sent[order], received[order]
        return interarrival_jitter(sent, received)

    # statistics

    @property
    def delay_stats(self) -> Statistics | StreamedStatistics:
        """Statistics of `delay`: exact if packets were kept, streamed with ``record="summary"``.

        Raises
        ------
        ScenarioError
            The run kept counters only.
        """
        if self._run.record == "packets":
            return Statistics(self._delay_ps(), per=_PICO)
        self._run.need("summary", what="delays")
        return StreamedStatistics(self._run.statistics(self._number)["delay"], per=_PICO)

    @property
    def ipdv_stats(self) -> Statistics | StreamedStatistics:
        """Statistics of `ipdv`, signed: exact if packets were kept, streamed with ``record="summary"``."""
        if self._run.record == "packets":
            return Statistics(self._ipdv_ps(), per=_PICO)
        self._run.need("summary", what="delay variations")
        return StreamedStatistics(self._run.statistics(self._number)["ipdv"], per=_PICO)

    @property
    def abs_ipdv_stats(self) -> Statistics | StreamedStatistics:
        """Statistics of the absolute value of `ipdv`, which is no measure of RFC 3393 but often what is plotted."""
        return self.ipdv_stats.absolute()

    def delay_budget(self) -> pd.DataFrame:
        """Where the mean delay comes from.

        Returns
        -------
        DataFrame
            Mean seconds over the packets of `delay`, one row for each port of the route, in order. Columns: ``queue``
            (in the class queue), ``ring`` (in the transmit ring), ``serialisation`` (first bit to last on the wire),
            ``propagation``. All of them add up to the mean delay. NaN if no packet was received.

        Raises
        ------
        ScenarioError
            The run kept counters only.
        """
        import pandas as pd

        count, stages = self._stages()
        means = [[ps / (count * _PICO) if count else math.nan for ps in sums] for _, sums in stages]
        names = [self._run.scenario.ports[port].name for port, _ in stages]
        return pd.DataFrame(means, index=pd.Index(names, name="port"), columns=list(_STAGES), dtype=np.float64)

    def _stages(self) -> tuple[int, list[tuple[int, tuple[int, ...]]]]:
        """Packets received, and by port the picoseconds they spent in each stage, summed exactly."""
        if self._run.record != "packets":
            self._run.need("summary", what="stages of the delay")
            found = self._run.statistics(self._number)
            return found["delay"]["count"], [(port, tuple(sums)) for port, *sums in found["stages"]]
        rows, route = self._run.counted(self._number), self._run.route(self._number)
        _, received, whole = self._times()
        arrived = slice(None) if whole else received >= 0
        stages = []
        for place, port in enumerate(route):
            queued, ring, start, end = (self._run.hop(port)[name][rows][arrived] for name in _HOP)
            last = place + 1 == len(route)
            beyond = received[arrived] if last else self._run.hop(route[place + 1])["queued"][rows][arrived]
            waits = (ring - queued, start - ring, end - start, beyond - end)
            stages.append((port, tuple(total(wait) for wait in waits)))
        return len(received[arrived]), stages

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self._run, self._number)

    def __repr__(self) -> str:
        return f"<{type(self).__name__}: {_sentence(self)}>"

    def _repr_html_(self) -> str:
        return html_table(_HEADER, [_table_row(self)], _LEGEND)


def _pairs(received: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Which consecutive packets were both received."""
    arrived = received >= 0
    return arrived[1:] & arrived[:-1]


def _seconds(ps: NDArray[np.int64]) -> NDArray[np.float64]:
    seconds: NDArray[np.float64] = ps / 1e12
    seconds.setflags(write=False)
    return seconds


# -- by port -----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class ClassResult:
    """The counters of one class at one port, of packets sent at or after ``warmup``.

    ``offered = sent + dropped + inside``.

    Attributes
    ----------
    name : str
        The class; "all" at a port without classes.
    offered, sent, inside : int
        Packets that came to the class, whose last bit left, that still were there when the run stopped.
    offered_bytes, sent_bytes : int
        The same in bytes of IP datagrams.
    drops : dict of str to int
        Packets dropped, by reason: ``{"queue": ..., "policer": ...}``.
    largest_queue, largest_queue_bytes : int
        The most that waited in the class queue at the end of an instant, from ``warmup`` on.
    mean_queue : float
        Packets in the class queue, averaged over the time from ``warmup`` to ``duration``; of any age, as the largest.
    """

    name: str
    offered: int
    offered_bytes: int
    sent: int
    sent_bytes: int
    drops: dict[str, int]
    inside: int
    largest_queue: int
    largest_queue_bytes: int
    mean_queue: float

    @property
    def dropped(self) -> int:
        """Packets dropped, whatever the reason."""
        return sum(self.drops.values())

    @property
    def loss_ratio(self) -> float:
        """Share of the packets offered that were dropped; NaN if none was offered."""
        return self.dropped / self.offered if self.offered else math.nan


class PortResult:
    """What one port did, with packets sent at or after ``warmup``."""

    __slots__ = ("_number", "_run")

    def __init__(self, run: Measured, number: int) -> None:
        self._run = run
        self._number = number

    @property
    def name(self) -> str:
        """The port's name."""
        return self._run.scenario.ports[self._number].name

    @property
    def _counts(self) -> PortCounts:
        return self._run.port_counts(self._number)

    @property
    def utilisation(self) -> float:
        """Share of [warmup, duration] in which the wire was busy, with whatever packets."""
        return self._counts["busy"] / (self._run.duration - self._run.warmup)

    @property
    def sent(self) -> int:
        """Packets whose last bit left."""
        return self._counts["sent"]

    @property
    def sent_bytes(self) -> int:
        """Bytes of IP datagrams sent."""
        return self._counts["sent_bytes"]

    @property
    def wire_bits(self) -> int:
        """Bits sent on the wire, framing included."""
        return self._counts["wire_bits"]

    @property
    def mean_ring(self) -> float:
        """Particles of the transmit ring in use, averaged over [warmup, duration]; NaN without a ring."""
        ring = self._run.scenario.ports[self._number].tx_ring
        if ring is None or ring.limit is None:
            return math.nan
        return self._counts["ring_area"] / (self._run.duration - self._run.warmup)

    @property
    def largest_ring(self) -> int:
        """The most particles in use at the end of an instant, from ``warmup`` on; 0 without a ring."""
        return self._counts["largest_ring"]

    @property
    def classes(self) -> dict[str, ClassResult]:
        """The counters of each class, in order of declaration; a port without classes has one called "all"."""
        declared = self._run.scenario.ports[self._number].classes
        names = [each.name for each in declared] if declared else ["all"]
        span = self._run.duration - self._run.warmup
        pairs = zip(names, self._counts["classes"], strict=True)
        return {name: _class_result(name, counts, span) for name, counts in pairs}

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self._run, self._number)

    def __repr__(self) -> str:
        shares = ", ".join(f"{each.name} {each.sent} sent {each.dropped} dropped" for each in self.classes.values())
        return f'<PortResult "{self.name}": {100 * self.utilisation:.1f} % busy; {shares}>'

    def _repr_html_(self) -> str:
        header = ["class", "offered", "sent", "dropped by queue", "dropped by policer", "inside"]
        header += ["largest queue", "mean queue"]
        rows = []
        for each in self.classes.values():
            counts = (each.offered, each.sent, *each.drops.values(), each.inside, each.largest_queue)
            rows.append([each.name, *map(str, counts), f"{each.mean_queue:.2f}"])
        ring = "" if math.isnan(self.mean_ring) else f", {self.mean_ring:.2f} particles in the ring on average"
        return html_table(header, rows, f"{self.name}: {100 * self.utilisation:.1f} % busy{ring}")


def _class_result(name: str, counts: ClassCounts, span: int) -> ClassResult:
    return ClassResult(
        name=name,
        offered=counts["offered"],
        offered_bytes=counts["offered_bytes"],
        sent=counts["sent"],
        sent_bytes=counts["sent_bytes"],
        drops={"queue": counts["dropped_queue"], "policer": counts["dropped_policer"]},
        inside=counts["inside"],
        largest_queue=counts["largest_queue"],
        largest_queue_bytes=counts["largest_queue_bytes"],
        mean_queue=counts["queue_area"] / span,
    )


# -- the whole run -----------------------------------------------------------------------------------------------------


class Result:
    """What `run` found, with what it was a run of: scenario, seed, times and versions.

    ``result["EF"]`` is a flow, ``result.port("link")`` a port, ``result.packets`` every packet; iterating over a
    result gives the names of its flows. Two results are equal if they are runs of one scenario with the same settings
    and every packet, counter and statistic is the same, whichever versions made them.
    """

    __slots__ = ("__weakref__", "_flows", "_run")
    __hash__ = None  # type: ignore[assignment]

    def __init__(self, measured: Measured) -> None:
        self._run = measured
        self._flows: dict[str, FlowResult] = {}

    # what was run

    @property
    def scenario(self) -> Scenario:
        """What was simulated."""
        return self._run.scenario

    @property
    def seed(self) -> int | SeedSequence:
        """The root of all streams; the same run again is ``run(result.scenario, seed=result.seed, ...)``.

        A SeedSequence is a copy each time: what is spawned from it changes nothing here.
        """
        seed = self._run.seed
        if isinstance(seed, SeedSequence):
            return SeedSequence(seed.entropy, spawn_key=seed.spawn_key, pool_size=seed.pool_size)
        return seed

    @property
    def duration(self) -> float:
        """How long the sources sent, in seconds."""
        return self._run.duration / _PICO

    @property
    def warmup(self) -> float:
        """Packets sent before it, in seconds, are in no statistic and no counter."""
        return self._run.warmup / _PICO

    @property
    def record(self) -> str:
        """What was recorded: "packets", "summary" or "none"."""
        return self._run.record

    @property
    def drain(self) -> bool:
        """Whether the run went on until nothing was under way."""
        return self._run.drain

    @property
    def bit_generator(self) -> str:
        """The NumPy bit generator behind every stream."""
        return self._run.bit_generator

    @property
    def versions(self) -> dict[str, str]:
        """Versions of qossim, numpy and python that made this."""
        return dict(self._run.versions)

    # by flow and by port

    def __getitem__(self, flow: str) -> FlowResult:
        found = self._flows.get(flow)
        if found is None:
            number = self._run.flow_places.get(flow)
            if number is None:
                raise KeyError(f"no flow {flow!r}; there are {_listed(self._run.flow_places)}")
            found = self._flows[flow] = FlowResult(self._run, number)
        return found

    def __contains__(self, flow: object) -> bool:
        return flow in self._run.flow_places

    def __iter__(self) -> Iterator[str]:
        return iter(self._run.flow_places)

    def __len__(self) -> int:
        return len(self._run.flow_places)

    @property
    def flows(self) -> dict[str, FlowResult]:
        """Every flow by its name, in order of declaration."""
        return {name: self[name] for name in self._run.flow_places}

    def port(self, name: str) -> PortResult:
        """One port's counters; KeyError if there is none of that name."""
        return PortResult(self._run, self._port_number(name))

    @property
    def ports(self) -> dict[str, PortResult]:
        """Every port by its name, in order of declaration."""
        return {name: PortResult(self._run, number) for name, number in self._run.port_places.items()}

    def _port_number(self, name: str) -> int:
        number = self._run.port_places.get(name)
        if number is None:
            raise KeyError(f"no port {name!r}; there are {_listed(self._run.port_places)}")
        return number

    # by packet

    @property
    def packets(self) -> Packets:
        """Every packet of every flow, in order of (flow, seq): see `Packets`.

        Raises
        ------
        ScenarioError
            The run did not keep packets; use ``record="packets"``.
        """
        return self._run.packets()

    def hop(self, port: str) -> Columns:
        """The packets at one port, row by row with `packets`.

        Parameters
        ----------
        port : str
            Name of the port.

        Returns
        -------
        Columns
            int64 picoseconds: ``queued`` (it entered the class queue), ``ring`` (handed to the transmit ring),
            ``start`` (first bit on the wire) and ``end`` (last bit); -1 where the packet never got there. A packet
            dropped at a port has none of that port's times.

        Raises
        ------
        KeyError
            No port is called that.
        ScenarioError
            The run did not keep packets; use ``record="packets"``.
        """
        return self._run.hop(self._port_number(port))

    # tables

    def summary(self) -> pd.DataFrame:
        """One row for each flow.

        Returns
        -------
        DataFrame
            Indexed by flow. ``sent``, ``received``, ``lost``: packets. ``delay_min``, ``delay_mean``, ``delay_p99``,
            ``delay_max``: seconds. ``abs_ipdv_mean``, ``abs_ipdv_p99``, ``abs_ipdv_max``: seconds, of the absolute
            value of the delay variation. ``loss``: share of the packets sent. ``inside``: packets still under way.
            ``throughput``: bit/s of IP datagrams received before ``duration``. What was not recorded, or has no packet,
            is NaN. Of a run with ``record="summary"``, ``delay_p99``, ``abs_ipdv_p99`` and ``abs_ipdv_mean`` are within
            1 %.
        """
        import pandas as pd

        from qossim._table import Table

        rows = [_summary_row(flow) for flow in self.flows.values()]
        return Table(rows, index=pd.Index(list(self._run.flow_places), name="flow"), columns=list(_SUMMARY))

    def counters(self) -> pd.DataFrame:
        """One row for each class of each port.

        Returns
        -------
        DataFrame
            Indexed by (port, class): ``offered``, ``offered_bytes``, ``sent``, ``sent_bytes``, ``dropped_queue``,
            ``dropped_policer``, ``inside``, ``largest_queue``, ``largest_queue_bytes``, ``mean_queue``; packets, or
            bytes of IP datagrams. See `ClassResult`.
        """
        import pandas as pd

        from qossim._table import Table

        names: list[tuple[str, str]] = []
        rows: list[dict[str, Any]] = []
        for number, port in enumerate(self.ports.values()):
            names += [(port.name, each) for each in port.classes]
            means = [each.mean_queue for each in port.classes.values()]
            rows += [
                {**counts, "mean_queue": mean}
                for counts, mean in zip(self._run.port_counts(number)["classes"], means, strict=True)
            ]
        index = pd.MultiIndex.from_tuples(names, names=["port", "class"])
        return Table(rows, index=index, columns=list(_COUNTERS))

    def to_dataframe(self, *, hops: bool = True) -> pd.DataFrame:
        """One row for each packet, in order of (flow, seq).

        Parameters
        ----------
        hops : bool, default True
            With the times at each port, in columns as ``near.queued``, ``near.ring``, ``near.start``, ``near.end``.

        Returns
        -------
        DataFrame
            The columns of `packets`, with names for flows, fates and ports, and ``delay`` in seconds, NaN for a packet
            not received. All other times are int64 picoseconds, -1 where a packet never got.
        """
        frame = self.packets.to_dataframe()
        sent, received = self.packets["sent"], self.packets["received"]
        frame["delay"] = np.where(received >= 0, (received - sent) / 1e12, np.nan)
        if not hops:
            return frame
        import pandas as pd

        times = {
            f"{name}.{column}": times for name in self._run.port_places for column, times in self.hop(name).items()
        }
        return pd.concat([frame, pd.DataFrame(times)], axis=1)

    # files

    def to_csv(self, path: PathLike | IO[str], *, hops: bool = True) -> None:
        """Write `to_dataframe` as comma-separated values, a line for each packet under a line of names."""
        self.to_dataframe(hops=hops).to_csv(path, index=False)

    def to_parquet(self, path: PathLike, *, hops: bool = True) -> None:
        """Write `to_dataframe` as a Parquet file (needs pyarrow, which the extra ``parquet`` brings).

        The entry ``qossim`` of the file's metadata is JSON: scenario, seed, duration and warm-up (in picoseconds), and
        versions.
        """
        try:
            import pyarrow as pa
            import pyarrow.parquet as pq
        except ModuleNotFoundError as error:
            raise ImportError("to_parquet needs pyarrow: pip install 'pyarrow>=16'", name="pyarrow") from error

        table = pa.Table.from_pandas(self.to_dataframe(hops=hops), preserve_index=False)
        settings = json.dumps(self._run.settings())
        metadata = {**(table.schema.metadata or {}), b"qossim": settings.encode()}
        pq.write_table(table.replace_schema_metadata(metadata), os.fspath(path))

    def save(self, path: PathLike | IO[bytes], *, compress: bool = False) -> None:
        """Write everything to one .npz file, from which `load` makes an equal result.

        Parameters
        ----------
        path : path or binary file
            Where to; taken as it is, no suffix is added.
        compress : bool, default False
            Make the file several times smaller, and writing it several times slower.

        Notes
        -----
        The file holds the columns as NumPy arrays and the rest as JSON in the entry ``result``. It holds no pickle, so
        reading a stranger's file runs none of their code.
        """
        arrays: dict[str, NDArray[Any]] = {}
        plain = without_arrays(self._run.to_plain(), "", arrays)
        text = json.dumps({"format": _FORMAT, "version": _FORMAT_VERSION, **plain})
        arrays["result"] = np.frombuffer(text.encode(), dtype=np.uint8)
        write = np.savez_compressed if compress else np.savez
        with _opened(path, "wb") as file:
            write(file, **arrays)  # type: ignore[arg-type]

    @classmethod
    def load(cls, path: PathLike | IO[bytes]) -> Result:
        """Read what `save` wrote.

        Parameters
        ----------
        path : path or binary file
            The file.

        Returns
        -------
        Result
            Equal to the one saved.

        Raises
        ------
        ValueError
            It is no such file, or of a later version.
        """
        shown = os.fspath(path) if isinstance(path, str | os.PathLike) else repr(path)
        try:
            with _opened(path, "rb") as file, np.load(file, allow_pickle=False) as archive:
                arrays = {name: archive[name] for name in archive.files}
            plain = json.loads(arrays.pop("result").tobytes())
            form = plain["format"], plain["version"]
            if form == (_FORMAT, _FORMAT_VERSION):
                _check_columns(arrays)
                return cls(Measured.from_plain(with_arrays(plain, arrays)))
        except (OSError, MemoryError):
            raise
        except Exception as error:
            raise ValueError(f"{shown} is no saved result: {type(error).__name__}: {error}") from error
        raise ValueError(
            f"{shown} is of format {form}, but qossim {_core.__version__} reads {(_FORMAT, _FORMAT_VERSION)}"
        )

    # Python

    def __getstate__(self) -> tuple[Measured]:
        return (self._run,)

    def __setstate__(self, state: tuple[Measured]) -> None:
        self._run = state[0]
        self._flows = {}

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Result):
            return NotImplemented
        return self._run is other._run or self._run == other._run

    def _title(self) -> str:
        warmup = f", warm-up {self.warmup:g} s" if self._run.warmup else ""
        return f'{self.duration:g} s{warmup}, seed {self.seed}, record="{self.record}"; {_LEGEND}'

    def __repr__(self) -> str:
        shown = list(self._run.flow_places)[:_MOST_SHOWN]
        lines = _aligned([_HEADER, *(_table_row(self[name]) for name in shown)])
        return "\n".join([f"<Result: {self._title()}", *(f"  {line}" for line in lines), *self._more()]) + ">"

    def _repr_html_(self) -> str:
        shown = list(self._run.flow_places)[:_MOST_SHOWN]
        caption = "; ".join([f"Result: {self._title()}", *(line.strip() for line in self._more())])
        return html_table(_HEADER, [_table_row(self[name]) for name in shown], caption)

    def _more(self) -> list[str]:
        more = len(self._run.flow_places) - _MOST_SHOWN
        return [f"  and {more} flows more"] if more > 0 else []


def _check_columns(arrays: Mapping[str, NDArray[Any]]) -> None:
    """The rows of a saved result belong together: every column has as many, of integers."""
    columns = {name: array for name, array in arrays.items() if name.startswith(("packets/", "hops/"))}
    for name, array in columns.items():
        if array.ndim != 1 or array.dtype.kind != "i":
            raise ValueError(f"column {name} must be one of integers, got {array.dtype} of shape {array.shape}")
    if len({len(array) for array in columns.values()}) > 1:
        lengths = ", ".join(f"{name} {len(array)}" for name, array in columns.items())
        raise ValueError(f"columns must be of one length, got {lengths}")


def load(path: PathLike | IO[bytes]) -> Result:
    """Read a result that `Result.save` wrote; see `Result.load`."""
    return Result.load(path)


def _opened(path: PathLike | IO[bytes], mode: Literal["rb", "wb"]) -> AbstractContextManager[IO[bytes]]:
    """A file that is closed in the end, unless it came open."""
    return Path(path).open(mode) if isinstance(path, str | os.PathLike) else nullcontext(path)


# -- tables ------------------------------------------------------------------------------------------------------------

_SUMMARY = (
    *("sent", "received", "lost"),
    *("delay_min", "delay_mean", "delay_p99", "delay_max"),
    *("abs_ipdv_mean", "abs_ipdv_p99", "abs_ipdv_max"),
    *("loss", "inside", "throughput"),
)
_COUNTERS = (
    *("offered", "offered_bytes", "sent", "sent_bytes", "dropped_queue", "dropped_policer", "inside"),
    *("largest_queue", "largest_queue_bytes", "mean_queue"),
)
_HEADER = ["flow", "sent", "received", "lost", "min", "mean", "p99", "max", "|ipdv|"]
_LEGEND = "delay and largest |ipdv| in ms"
_MOST_SHOWN = 20


def _measures(flow: FlowResult) -> tuple[list[float], list[float]]:
    """Delay min, mean, p99, max and |ipdv| mean, p99, max, in seconds; NaN if only counters were kept."""
    if flow._run.record == "none":
        return [math.nan] * 4, [math.nan] * 3
    delay, ipdv = flow.delay_stats, flow.abs_ipdv_stats
    return [delay.min, delay.mean, delay.quantile(0.99), delay.max], [ipdv.mean, ipdv.quantile(0.99), ipdv.max]


def _summary_row(flow: FlowResult) -> list[float]:
    delay, ipdv = _measures(flow)
    return [flow.sent, flow.received, flow.lost, *delay, *ipdv, flow.loss_ratio, flow.inside, flow.throughput]


def _table_row(flow: FlowResult) -> list[str]:
    """A flow in milliseconds, for the eye."""
    delay, ipdv = _measures(flow)
    return [flow.name, str(flow.sent), str(flow.received), str(flow.lost), *map(_ms, delay), _ms(ipdv[2])]


def _ms(seconds: float) -> str:
    return "-" if math.isnan(seconds) else f"{1e3 * seconds:.3f}"


def _sentence(flow: FlowResult) -> str:
    delay, _ = _measures(flow)
    text = f'"{flow.name}" {flow.sent} sent, {flow.received} received, {flow.lost} lost'
    if math.isnan(delay[0]):
        return text
    return f"{text}; delay {_ms(delay[0])} to {_ms(delay[3])} ms, mean {_ms(delay[1])} ms"


def _aligned(rows: list[list[str]]) -> list[str]:
    first, *others = zip(*rows, strict=True)
    columns = [_padded(first, str.ljust), *(_padded(column, str.rjust) for column in others)]
    return ["  ".join(row) for row in zip(*columns, strict=True)]


def _padded(column: tuple[str, ...], side: Callable[[str, int], str]) -> list[str]:
    width = max(map(len, column))
    return [side(cell, width) for cell in column]


def _listed(names: Mapping[str, int]) -> str:
    few = list(names)[:10]
    return ", ".join(few) + (f" and {len(names) - len(few)} more" if len(names) > len(few) else "")
