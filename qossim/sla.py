# SPDX-License-Identifier: MIT
"""Policies: what a flow was promised, held against what a run measured.

>>> import qossim as qs
>>> from qossim.experiments import ef_wfq_vs_pq
>>> voice = qs.SLA("voice", delay_p99="30 ms", ipdv_p99="10 ms", loss="0.1 %")
>>> result = qs.run(ef_wfq_vs_pq(scheduler="pq", best_effort=True), duration=30.0, seed=1)
>>> voice.evaluate(result["EF"]).passed
True

`SLA.check` raises an AssertionError that shows every objective and where the delay comes from; `SLA.evaluate` returns
the same as an object. Ready-made: `y1541` for the network classes of ITU-T Y.1541, `voice` for a call by the E-model.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from types import MappingProxyType
from typing import Any, Literal

from qossim import units
from qossim._checked import listeners
from qossim._objective import NAMES, at_least, check_recorded, estimate, limit, unit, why_nothing
from qossim._report import SECOND_HAND, Finding, Report, limit_text
from qossim._student import open_share
from qossim.errors import ScenarioError
from qossim.result import FlowResult, Result
from qossim.run import _root

__all__ = ["SLA", "Call", "Finding", "Report", "voice", "y1541"]

_NAN = math.nan


# -- a call ------------------------------------------------------------------------------------------------------------

_PACKETS = {"G.723.1": Fraction(30, 1000)}
_LOOKAHEADS = {"G.729A": Fraction(5, 1000), "G.723.1": Fraction(75, 10000)}


@dataclass(frozen=True, init=False)
class Call:
    """What stands between a network's delay and a listener's ear: codec, packets, playout buffer.

    Parameters
    ----------
    codec : str or theory.Codec
        One of `qossim.theory.CODECS`, or Ie and Bpl.
    packet : float or str, optional
        Speech in a packet, seconds or ``"20 ms"``: it must be spoken before it can be sent. By default 20 ms, and 30 ms
        for G.723.1.
    lookahead : float or str, optional
        How far the codec listens ahead. By default 5 ms for G.729A, 7.5 ms for G.723.1, else 0.
    buffer : float or str
        Length of the playout buffer. It is taken to be fixed, and set so that a packet of the least delay waits in it
        for its whole length.
    burst_ratio : float
        Mean length of a run of packets not played over that of random loss, > 0.

    Raises
    ------
    ScenarioError
        A parameter is out of bounds; the message names it.

    Notes
    -----
    From mouth to ear it takes ``packet + lookahead + min D + buffer``, and a packet whose ``D - min D`` (RFC 5481) is
    above `buffer` comes too late and is as good as lost. With these two the simplified E-model gives R and the mean
    opinion score (`qossim.theory.e_model_rating`). Its figures, those of the codecs and their look-ahead have not been
    verified against the ITU-T recommendations. Packets of an empty network, as a run begins with, make the least delay
    small: leave them out by ``warmup``.
    """

    codec: str | tuple[float, float]
    packet: Fraction
    lookahead: Fraction
    buffer: Fraction
    burst_ratio: float

    def __init__(
        self,
        codec: str | tuple[float, float] = "G.711",
        *,
        packet: units.TimeLike | None = None,
        lookahead: units.TimeLike | None = None,
        buffer: units.TimeLike = "40 ms",
        burst_ratio: float = 1.0,
    ) -> None:
        from qossim import theory

        known = codec if isinstance(codec, str) else ""
        packet = _PACKETS.get(known, Fraction(20, 1000)) if packet is None else packet
        lookahead = _LOOKAHEADS.get(known, Fraction(0)) if lookahead is None else lookahead
        ratio = units.number(burst_ratio, "Call: burst_ratio", "a number above 0")
        try:
            theory.e_model_rating(0.0, codec=codec if isinstance(codec, str) else theory.Codec(*codec))
        except (TypeError, ValueError) as error:
            bounds = f"one of {', '.join(theory.CODECS)}, or Ie and Bpl"
            raise units.refusal("Call: codec", bounds, codec) from error
        if not 0 < ratio < 1e300 or float(ratio) == 0:
            raise units.refusal("Call: burst_ratio", "a number above 0, that a float can be", burst_ratio)
        object.__setattr__(self, "codec", codec if isinstance(codec, str) else tuple(codec))
        for name, time in {"packet": packet, "lookahead": lookahead, "buffer": buffer}.items():
            object.__setattr__(self, name, units.whole_time(time, f"Call: {name}"))
        object.__setattr__(self, "burst_ratio", float(ratio))

    def heard(self, flow: FlowResult) -> tuple[float, float]:
        """Delay from mouth to ear in seconds, and the share of the packets sent that are not played.

        NaN if no packet was received.

        Raises
        ------
        ScenarioError
            The run did not record what came late; use ``record="packets"``.
        """
        if not flow.received:
            return _NAN, (1.0 if flow.lost else _NAN)
        delay = flow.delay_stats
        buffer = float(self.buffer)
        late = 0
        if delay.max - delay.min > buffer:
            flow._run.need("packets", what="packets too late for the playout buffer of mos and r")
            late = int((flow.pdv > buffer).sum())
        return float(self.packet + self.lookahead + self.buffer) + delay.min, (flow.lost + late) / flow.sent

    def rating(self, flow: FlowResult) -> float:
        """R of the call that a flow carries; NaN if no packet was received."""
        from qossim import theory

        delay, loss = self.heard(flow)
        if math.isnan(delay):
            return _NAN
        codec = self.codec if isinstance(self.codec, str) else theory.Codec(*self.codec)
        return theory.e_model_rating(delay, loss, codec=codec, burst_ratio=self.burst_ratio)

    def mos(self, flow: FlowResult) -> float:
        """Mean opinion score of the call that a flow carries, from 1 to 4.5; NaN if no packet was received."""
        from qossim import theory

        rating = self.rating(flow)
        return _NAN if math.isnan(rating) else theory.e_model_mos(rating)

    def __str__(self) -> str:
        codec = self.codec if isinstance(self.codec, str) else "Ie {:g}, Bpl {:g}".format(*self.codec)
        parts = [codec, f"{units.short(self.packet, 's')} in a packet"]
        parts += [f"look-ahead {units.short(self.lookahead, 's')}"] if self.lookahead else []
        parts += [f"buffer {units.short(self.buffer, 's')}"]
        return ", ".join(parts)


# -- what was promised -------------------------------------------------------------------------------------------------


@dataclass(frozen=True, init=False, repr=False, eq=False)
class SLA:
    """A policy: limits on statistics of a flow.

    Parameters
    ----------
    name : str, optional
        What reports call it.
    call : Call, optional
        The voice call behind the objectives ``mos`` and ``r``; by default G.711 with a playout buffer of 40 ms.
    note : str
        A remark that stands in every report: where the figures come from, say.
    **objectives : number or str
        At least one. Times are in seconds or strings with a unit (``"30 ms"``), rates in bit/s (``"64 kbit/s"``), loss
        a share (``"0.1 %"``). At most: ``delay_min``, ``delay_mean``, ``delay_max``, ``delay_p99`` or any percentile
        (``delay_p50``, ``delay_p99_9``); ``ipdv_mean``, ``ipdv_max``, ``ipdv_p99`` ... of the absolute value of the
        delay variation (RFC 3393); ``pdv_mean``, ``pdv_max``, ``pdv_p99`` ... (RFC 5481); ``jitter`` (RFC 3550, the
        estimate at the end); ``loss``, ``loss_queue``, ``loss_policer``. At least: ``throughput`` (received
        before ``duration``), ``mos``, ``r`` (E-model).

    Attributes
    ----------
    name : str or None
    objectives : mapping of str to Fraction
        The limits in SI units, in the order given.
    call : Call
    note : str

    Raises
    ------
    ScenarioError
        An objective is unknown or its limit out of bounds; the message names it.

    Examples
    --------
    >>> SLA("voice", delay_p99="30 ms", loss=0.001)
    <SLA "voice": delay_p99 <= 30 ms, loss <= 0.1 %>
    """

    name: str | None
    objectives: Mapping[str, Fraction]
    call: Call
    note: str

    def __init__(self, name: str | None = None, *, call: Call | None = None, note: str = "", **objectives: Any) -> None:
        if not (name is None or isinstance(name, str)):
            raise units.refusal("SLA: name", "a string", name)
        if not (call is None or isinstance(call, Call)):
            raise units.refusal("SLA: call", "a Call", call)
        if not isinstance(note, str):
            raise units.refusal("SLA: note", "a string", note)
        if not objectives:
            raise ScenarioError(f"SLA: at least one objective must be given, such as {', '.join(NAMES[1:5])}")
        self._set(name, {key: limit(key, value) for key, value in objectives.items()}, call or Call(), note)

    def _set(self, name: str | None, objectives: dict[str, Fraction], call: Call, note: str) -> None:
        object.__setattr__(self, "name", None if name is None else str(name))  # a NumPy string, say, is one no longer
        object.__setattr__(self, "objectives", MappingProxyType({str(key): each for key, each in objectives.items()}))
        object.__setattr__(self, "call", call)
        object.__setattr__(self, "note", str(note))

    def evaluate(self, flow: FlowResult | Sequence[FlowResult], *, level: float = 0.95) -> Report:
        """Hold a flow against the policy.

        Parameters
        ----------
        flow : FlowResult or sequence of FlowResult
            ``result["EF"]``; or the flow in several runs that differ in seed: the mean over them is held against each
            limit.
        level : float
            Confidence wanted, above 0 and below 1.

        Returns
        -------
        Report
            A statistic without a value (no packet received, say) never passes.

        Raises
        ------
        ScenarioError
            The run did not record what an objective needs, or `flow` is none.
        ValueError
            `level` is out of bounds.

        Notes
        -----
        Over several runs the interval is that of Student's t (`qossim.confidence`). Within one run packets depend on
        each other: the interval of a mean comes from batch means (`qossim.batch_means`). That of a quantile comes from
        order statistics (`qossim.quantile_confidence`), widened to where batch means put the share of packets below
        it; that of a loss is Wilson's, widened by batch means too. There is none for extremes, jitter, throughput and
        calls, and with ``record="summary"`` only what streaming may be off by.
        """
        flows = _checked_flows(flow)
        level = open_share(level, "level")
        findings = [self._finding(name, flows, level) for name in self.objectives]
        return Report(self, tuple(flows), tuple(findings), level)

    def check(self, flow: FlowResult | Sequence[FlowResult], *, level: float = 0.95) -> Report:
        """Hold a flow against the policy, and raise if it is broken.

        Parameters
        ----------
        flow, level
            As in `evaluate`.

        Returns
        -------
        Report
            If every objective is met.

        Raises
        ------
        AssertionError
            One is not. The message is a table of all, with the delay budget of the flow, 72 columns wide.
        ScenarioError
            The run did not record what an objective needs, or `flow` is none.
        ValueError
            `level` is out of bounds.
        """
        __tracebackhide__ = True  # pytest then shows the test, not this
        report = self.evaluate(flow, level=level)
        for listener in tuple(listeners):
            listener(report)
        if not report.passed:
            raise AssertionError(str(report))
        return report

    def _finding(self, name: str, flows: list[FlowResult], level: float) -> Finding:
        for flow in flows:
            check_recorded(name, flow)
        found = estimate(name, flows, self.call, level)
        remark, sure = "", None
        bound = float(self.objectives[name])
        sense: Literal["<=", ">="] = ">=" if at_least(name) else "<="
        streamed = not math.isnan(found.low) and math.isnan(found.level)
        if math.isnan(found.value):
            remark = why_nothing(flows)
        elif streamed:
            remark = "streamed: the interval is what it may be off by"
        elif found.level < level - 1e-9:
            remark = f"too few packets: the interval reaches {100 * found.level:.0f} % confidence"
            sure = False if found.value <= bound else None  # what lies above the largest value is all that is not known
        if not math.isnan(found.low):
            within = found.low <= bound < found.high if sense == "<=" else found.low < bound <= found.high
            if within and bound == found.value == 0:
                pass  # that nothing is ever lost cannot be shown, but nothing was
            elif within:
                sure = False
            elif not streamed and sure is None:
                sure = True
        return Finding(name, sense, bound, found.value, found.low, found.high, found.level, unit(name), sure, remark)

    def __str__(self) -> str:
        limits = (f"{name} {limit_text(name, float(bound))}" for name, bound in self.objectives.items())
        return ", ".join(limits) or "nothing is promised"

    def __repr__(self) -> str:
        name = f' "{self.name}"' if self.name else ""
        return f"<SLA{name}: {self}>"

    def _identity(self) -> tuple[object, ...]:
        return self.name, tuple(self.objectives.items()), self.call, self.note

    def __eq__(self, other: object) -> bool:
        return self._identity() == other._identity() if isinstance(other, SLA) else NotImplemented

    def __hash__(self) -> int:
        return hash(self._identity())

    def __reduce__(self) -> tuple[Any, ...]:
        return _made, (self.name, dict(self.objectives), self.call, self.note)


def _made(name: str | None, objectives: dict[str, Fraction], call: Call, note: str) -> SLA:
    """A policy of limits that are checked already; it may promise nothing."""
    sla = SLA.__new__(SLA)
    sla._set(name, objectives, call, note)
    return sla


def _checked_flows(flow: object) -> list[FlowResult]:
    flows = list(flow) if isinstance(flow, Sequence) and not isinstance(flow, str) else [flow]
    bounds = "the result of a flow, or a list of them"
    if isinstance(flow, Result) or any(isinstance(each, Result) for each in flows):
        raise units.refusal("flow", bounds, flow, 'a Result has many: take one, as in result["EF"]')
    if not flows or not all(isinstance(each, FlowResult) for each in flows):
        raise units.refusal("flow", bounds, flow)
    checked = [each for each in flows if isinstance(each, FlowResult)]
    names = sorted({each.name for each in checked})
    if len(names) > 1:
        raise units.refusal("flow", "the same flow in several runs", ", ".join(names))
    # Seeds written differently may be one: 1, SeedSequence(1) and SeedSequence([1, 0]) seed a flow alike.
    seeds = [_root(each._run.seed)[0].child("").generate_state(8).tobytes() for each in checked]
    runs = {(each._run.scenario, seed) for each, seed in zip(checked, seeds, strict=True)}
    if len(runs) < len(checked):
        raise units.refusal("flow", "runs of different seeds", flow, "a run repeated says nothing new")
    return checked


# -- ready-made --------------------------------------------------------------------------------------------------------

_Y1541: tuple[dict[str, str], ...] = (
    {"delay_mean": "100 ms", "pdv_p99_9": "50 ms", "loss": "0.1 %"},
    {"delay_mean": "400 ms", "pdv_p99_9": "50 ms", "loss": "0.1 %"},
    {"delay_mean": "100 ms", "loss": "0.1 %"},
    {"delay_mean": "400 ms", "loss": "0.1 %"},
    {"delay_mean": "1 s", "loss": "0.1 %"},
    {},
    {"delay_mean": "100 ms", "pdv_p99_999": "50 ms", "loss": "0.001 %"},
    {"delay_mean": "400 ms", "pdv_p99_999": "50 ms", "loss": "0.001 %"},
)
_PROVISIONAL = 6
"""The first class of Y.1541 that is provisional."""


def y1541(number: int) -> SLA:
    """The network performance objectives of a class of ITU-T Y.1541.

    Parameters
    ----------
    number : int
        The class, 0 to 7; 6 and 7 are provisional.

    Returns
    -------
    SLA
        IPTD is ``delay_mean``, IPDV ``pdv_p99_9`` (the quantile 1 - 10^-3 of the delay less the least delay), in
        classes 6 and 7 ``pdv_p99_999`` (1 - 10^-5), and IPLR ``loss``. Class 5 leaves all unspecified: nothing can
        break it.

    Raises
    ------
    ScenarioError
        There is no such class here.

    Notes
    -----
    =====  =========  =======  ======
    class  IPTD mean  IPDV     IPLR
    =====  =========  =======  ======
    0      100 ms     50 ms    10^-3
    1      400 ms     50 ms    10^-3
    2      100 ms     -        10^-3
    3      400 ms     -        10^-3
    4      1 s        -        10^-3
    5      -          -        -
    6      100 ms     50 ms    10^-5
    7      400 ms     50 ms    10^-5
    =====  =========  =======  ======

    The figures are quoted at second hand (RFC 5976 repeats them) and have not been verified against the recommendation;
    every report says so, and of classes 6 and 7 that they are provisional. IPER, 10^-4 in classes 0 to 4 and 10^-6 in 6
    and 7, is not checked, nor is the share of packets out of order in 6 and 7, 10^-6: no packet is corrupted here, nor
    does one overtake another of its flow. The objectives hold from user interface to user interface, over an interval
    for which one minute is suggested; the quantile takes well over 1000 packets, in classes 6 and 7 over 100,000.

    Examples
    --------
    >>> y1541(0)
    <SLA "ITU-T Y.1541 class 0": delay_mean <= 100 ms, pdv_p99_9 <= 50 ms, loss <= 0.1 %>
    """
    number = units.count(number, "class", 0, len(_Y1541) - 1)
    limits = {name: limit(name, value) for name, value in _Y1541[number].items()}
    provisional = f"; class {number} is provisional" if number >= _PROVISIONAL else ""
    return _made(f"ITU-T Y.1541 class {number}", limits, Call(), f"Y.1541: {SECOND_HAND}{provisional}")


def voice(
    codec: str | tuple[float, float] = "G.711",
    *,
    mos: float | None = None,
    r: float | None = None,
    packet: units.TimeLike | None = None,
    lookahead: units.TimeLike | None = None,
    buffer: units.TimeLike = "40 ms",
    burst_ratio: float = 1.0,
    name: str | None = None,
) -> SLA:
    """A voice call as good as the E-model says it must be.

    Parameters
    ----------
    codec, packet, lookahead, buffer, burst_ratio
        Of the `Call`.
    mos : float, optional
        Least mean opinion score, 1 to 4.5; about 4 is what a telephone gives.
    r : float, optional
        Least rating R, 0 to 100; at least one of `mos` and `r` must be given.
    name : str, optional
        What reports call it; by default "voice" and the codec.

    Returns
    -------
    SLA

    Raises
    ------
    ScenarioError
        A parameter is out of bounds, or there is neither `mos` nor `r`.

    Notes
    -----
    The figures of the E-model and the codecs have not been verified against ITU-T G.107 and G.113; every report says
    so.

    Examples
    --------
    >>> voice("G.729A", mos=3.6)
    <SLA "voice G.729A": mos >= 3.6>
    """
    call = Call(codec, packet=packet, lookahead=lookahead, buffer=buffer, burst_ratio=burst_ratio)
    limits: dict[str, Any] = {key: value for key, value in {"mos": mos, "r": r}.items() if value is not None}
    if not limits:
        raise ScenarioError("voice: mos or r must be given, the least score or rating of the call")
    shown = codec if isinstance(codec, str) else "of a codec given by Ie and Bpl"
    return SLA(f"voice {shown}" if name is None else name, call=call, **limits)
