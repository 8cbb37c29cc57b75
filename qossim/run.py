# SPDX-License-Identifier: MIT
"""Run a scenario: descriptions and a seed in, a `Result` out.

Every flow draws from a stream of its own, derived from the seed and the flow's *name* alone. Adding, removing or
reordering other flows, or changing a scheduler, leaves its arrivals untouched, to the bit.
"""

from __future__ import annotations

import functools
import hashlib
import sys
import time as clock
from decimal import Decimal
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, Self, TypeAlias

import numpy as np
from numpy.random import BitGenerator, SeedSequence
from numpy.random.bit_generator import ISeedSequence

from qossim import units
from qossim._core import Simulation, seed_words
from qossim._measured import Measured
from qossim.result import Result
from qossim.scenario.net import Scenario

if TYPE_CHECKING:
    import datetime as dt
    from collections.abc import Callable

__all__ = ["run", "stream"]

Seed: TypeAlias = "int | np.integer[Any] | SeedSequence | None"
Progress: TypeAlias = "bool | Callable[[float], Any] | None"

LONGEST = 106 * 86400 * units.PICO
"""The longest run in picoseconds: 106 days, just inside the clock."""

_BIT_GENERATORS: dict[str, type[BitGenerator]] = {
    name: getattr(np.random, name) for name in ("PCG64", "PCG64DXSM", "Philox", "SFC64", "MT19937")
}
_RECORDS = ("packets", "summary", "none")
_PATIENCE = 1.0  # seconds a run may take before it shows a progress bar


def run(
    scenario: Scenario,
    *,
    duration: float | str | dt.timedelta | np.timedelta64,
    seed: Seed = None,
    warmup: float | str | dt.timedelta | np.timedelta64 = 0.0,
    record: Literal["packets", "summary", "none"] = "packets",
    drain: bool = True,
    progress: Progress = None,
    bit_generator: str = "PCG64",
) -> Result:
    """Simulate one replication of a scenario.

    Parameters
    ----------
    scenario : Scenario
        What to simulate; not modified.
    duration : float or str
        How long the sources send, in seconds (or "10 min"): above 0, at most 106 days. The run then drains.
    seed : int or numpy.random.SeedSequence, optional
        Root of all streams, an int >= 0. Runs that differ only in scheduler see the same arrivals. Without it a seed is
        drawn from the operating system; ``result.seed`` tells which, and repeats the run.
    warmup : float or str
        Packets sent before it, in seconds from 0 to less than `duration`, are simulated and stand in the per-packet
        rows, but in no statistic and no counter.
    record : {"packets", "summary", "none"}
        Every timestamp of every packet; statistics in constant memory, with quantiles to 1 %; or counters only.
    drain : bool
        Go on after `duration` until every packet has arrived or died. If not, what is under way then is ``inside``.
    progress : bool or callable, optional
        A function is called about ten times a second with the share done, from 0 to 1. By default a progress bar (of
        tqdm) appears once a run has taken a second, if a person is watching: if standard error is a terminal or a
        notebook. True shows it to anybody, False to nobody.
    bit_generator : {"PCG64", "PCG64DXSM", "Philox", "SFC64", "MT19937"}
        The NumPy bit generator behind every stream.

    Returns
    -------
    Result
        ``result["EF"].delay`` is (n_received,) float64 in seconds, in order of sending.

    Raises
    ------
    ScenarioError
        A parameter is out of range; the message names it, its value and its bounds.
    MemoryError
        There is no room for the packets; nothing is left behind.
    KeyboardInterrupt
        On Ctrl-C, within 50 ms; nothing is left behind.

    See Also
    --------
    stream : the random stream of one flow.

    Examples
    --------
    >>> import qossim as qs
    >>> voice = qs.Flow("voice", qs.CBR(pps=50, size=200))
    >>> link = qs.Port("link", rate="1 Mbit/s")
    >>> result = qs.run(qs.Scenario(flows=[voice], ports=[link]), duration=10.0, seed=1)
    >>> result["voice"].received, result["voice"].delay.max()
    (500, np.float64(0.0016))
    """
    if not isinstance(scenario, Scenario):
        raise units.refusal("scenario", "a Scenario", scenario)
    duration_ps = _duration(duration)
    warmup_ps = _warmup(warmup, duration_ps, duration)
    if record not in _RECORDS:
        raise units.refusal("record", 'one of "packets", "summary", "none"', record)
    if not isinstance(drain, bool | np.bool_):
        raise units.refusal("drain", "True or False", drain)
    if not (progress is None or isinstance(progress, bool) or callable(progress)):
        raise units.refusal("progress", "True, False, None or a function of the share done", progress)
    generator = _generator(bit_generator)
    root, shown = _root(seed)

    lowered = scenario._lower()
    simulation = Simulation(record=record, duration=duration_ps, warmup=warmup_ps, drain=bool(drain))
    for port in lowered.ports:
        simulation.add_port(*port)
    seed_of = root.seeder()
    for flow, draws in lowered.flows:
        arguments = (*flow, generator(seed_of(flow[0])) if draws else None)
        simulation.add_flow(*arguments)
    if progress is True or (progress is None and _watched()):
        with _Bar(required=progress is True) as bar:
            simulation.run(bar)
    else:
        simulation.run(progress if callable(progress) else None)
    return Result(
        Measured(
            simulation,
            scenario=scenario,
            seed=shown,
            duration=duration_ps,
            warmup=warmup_ps,
            record=record,
            drain=bool(drain),
            bit_generator=bit_generator,
        )
    )


def stream(seed: int | np.integer[Any] | SeedSequence, name: str, bit_generator: str = "PCG64") -> BitGenerator:
    """The random stream of one flow.

    Parameters
    ----------
    seed : int or numpy.random.SeedSequence
        The run's seed.
    name : str
        The flow's name.
    bit_generator : {"PCG64", "PCG64DXSM", "Philox", "SFC64", "MT19937"}
        Which of NumPy's bit generators.

    Returns
    -------
    numpy.random.BitGenerator
        Seeded with the child of `seed` whose spawn key ends in the first 128 bits of SHA-256 of the name in UTF-8, as
        one little-endian number.

    Raises
    ------
    ScenarioError
        `seed` or `bit_generator` is none; the message names it, its value and its bounds.

    Examples
    --------
    >>> stream(1, "EF").random_raw() == stream(1, "BE").random_raw()
    False
    """
    if seed is None:
        raise units.refusal("seed", "an int of at least 0 or a SeedSequence", seed)
    return _generator(bit_generator)(_root(seed)[0].child(name))


# -- streams -----------------------------------------------------------------------------------------------------------


_POOL_SIZE = 4  # words, NumPy's default


class _Root(NamedTuple):
    """Where all streams of a run come from."""

    entropy: Any
    spawn_key: tuple[int, ...] = ()
    pool_size: int = _POOL_SIZE

    def child(self, name: str) -> SeedSequence:
        return SeedSequence(self.entropy, spawn_key=(*self.spawn_key, _key(name)), pool_size=self.pool_size)

    def replication(self, r: int) -> Self:
        """Replication r of anything draws from the r-th child: common random numbers."""
        return self._replace(spawn_key=(*self.spawn_key, r))

    def seeder(self) -> Callable[[str], ISeedSequence]:
        """What generates the same words as `child`, and sooner if it can."""
        plain = all(type(number) is int for number in (self.entropy, *self.spawn_key))
        if not plain or self.pool_size != _POOL_SIZE:
            return self.child
        entropy = _words(self.entropy).ljust(4 * _POOL_SIZE, b"\0")  # so that a key is not taken for entropy
        entropy += b"".join(map(_words, self.spawn_key))
        return lambda name: _SeedWords(entropy + _key_words(name))


class _SeedWords(ISeedSequence):
    """What `SeedSequence` generates from entropy that is assembled already, in a tenth of the time."""

    def __init__(self, entropy: bytes) -> None:
        self._entropy = entropy

    def generate_state(self, n_words: int, dtype: Any = np.uint32) -> np.ndarray[Any, Any]:
        wide = np.dtype(dtype).itemsize == 8
        return np.frombuffer(seed_words(self._entropy, n_words, wide), dtype)


def _words(number: int) -> bytes:
    """The number in as many words of 32 bits as it takes, at least one, the least first."""
    return number.to_bytes(4 * max(1, -(-number.bit_length() // 32)), "little")


def _root(seed: object) -> tuple[_Root, int | SeedSequence]:
    """The root, and the seed as a result shows it: an int, or a copy of the SeedSequence given."""
    if isinstance(seed, SeedSequence):
        root = _Root(seed.entropy, tuple(seed.spawn_key), seed.pool_size)
        return root, SeedSequence(root.entropy, spawn_key=root.spawn_key, pool_size=root.pool_size)
    if seed is None:
        drawn = int(SeedSequence().entropy)  # type: ignore[arg-type]
        return _Root(drawn), drawn
    if isinstance(seed, bool) or not isinstance(seed, int | np.integer) or seed < 0:
        raise units.refusal("seed", "an int of at least 0, a SeedSequence or None", seed)
    return _Root(int(seed)), int(seed)


def _key(name: str) -> int:
    return int.from_bytes(hashlib.sha256(name.encode()).digest()[:16], "little")


@functools.lru_cache(maxsize=4096)
def _key_words(name: str) -> bytes:
    return _words(_key(name))


def _generator(name: object) -> Callable[[ISeedSequence], BitGenerator]:
    found = _BIT_GENERATORS.get(name) if isinstance(name, str) else None
    if found is None:
        raise units.refusal("bit_generator", f"one of {', '.join(_BIT_GENERATORS)}", name)
    return found


# -- times -------------------------------------------------------------------------------------------------------------


def _picoseconds(value: Any, field: str) -> int:
    if type(value) is float and 0 <= value < 1e7:  # the common case, at a fifth of the price
        scaled = Decimal(repr(value)).scaleb(12)
        if scaled == scaled.to_integral_value():
            return int(scaled)
    return units.time(value, field)


def _duration(value: Any) -> int:
    ps = _picoseconds(value, "duration")
    if not 0 < ps <= LONGEST:
        raise units.refusal("duration", "a time above 0 and at most 9158400 s (106 days)", value)
    return ps


def _warmup(value: Any, duration_ps: int, duration: Any) -> int:
    ps = _picoseconds(value, "warmup")
    if ps >= duration_ps:
        raise units.refusal("warmup", f"a time from 0 to less than the duration, {units.shown(duration)}", value)
    return ps


# -- progress ----------------------------------------------------------------------------------------------------------


def _watched() -> bool:
    """Whether a person is watching: standard error is a terminal, or a notebook's output."""
    stderr = sys.stderr
    if stderr is None:
        return False
    if type(stderr).__module__ == "ipykernel.iostream":
        return True
    try:
        return stderr.isatty()
    except (AttributeError, ValueError):  # replaced by something lesser, or closed
        return False


class _Bar:
    """A progress bar that appears only once the run has proved long; without tqdm it never does."""

    def __init__(self, *, required: bool = False) -> None:
        self._began = clock.monotonic()
        self._bar: Any = None
        self._missing = False
        if required:
            import tqdm.auto  # noqa: F401  (its absence is told before the run, not in the middle)

    def __enter__(self) -> Self:
        return self

    def __call__(self, fraction: float) -> None:
        if self._bar is None and not self._missing and clock.monotonic() - self._began > _PATIENCE:
            self._open()
        if self._bar is not None:
            self._bar.update(fraction - self._bar.n)

    def _open(self) -> None:
        try:
            from tqdm.auto import tqdm
        except ImportError:
            self._missing = True
            return
        layout = "{desc}: {percentage:3.0f}%|{bar}| {elapsed}<{remaining}"
        self._bar = tqdm(total=1.0, desc="qossim", bar_format=layout, leave=False)

    def __exit__(self, *_: object) -> None:
        if self._bar is not None:
            self._bar.close()
