# SPDX-License-Identifier: MIT
"""Explore a scenario by hand, in a notebook: a slider or a menu for each parameter, and what it does to the delay."""

from __future__ import annotations

import inspect
import itertools
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np

from qossim import units
from qossim.errors import ScenarioError
from qossim.run import _duration, _root, _warmup, run
from qossim.scenario.net import Scenario

if TYPE_CHECKING:
    import datetime as dt

    from qossim._explorer import Explorer
    from qossim.run import Seed

__all__ = ["explore"]

WORK = 50_000
"""Packets sent by sources and over links in a run of the default duration: a few milliseconds of simulation."""
LONGEST = 100.0
"""The longest default duration, in seconds."""
DRAWN = 250
"""Packets of each flow in the figure by default: enough to see the pattern, few enough to see each."""

_FEW = 500  # packets from which a rate can be told


def explore(
    build: Callable[..., Scenario],
    axes: Mapping[str, Iterable[Any]],
    *,
    duration: float | str | dt.timedelta | np.timedelta64 | None = None,
    warmup: float | str | dt.timedelta | np.timedelta64 = 0.0,
    seed: Seed = None,
    flow: str | Sequence[str] | None = None,
    first: int | None = DRAWN,
) -> Explorer:
    """Sliders and menus over the parameters of a scenario, with delay and ipdv redrawn at each change.

    For a notebook; in a program use `run`, and for a table of many runs `sweep`. Needs ipywidgets:
    ``pip install 'qossim[explore]'``.

    Parameters
    ----------
    build : callable
        Called with one keyword argument for each axis, returns the Scenario to run.
    axes : mapping of str to iterable
        The values that each argument of `build` may take. Numbers get a slider, False and True a box to tick, anything
        else a menu. Each begins at the argument's default if that is among its values, else at its first value.
    duration : float or str, optional
        How long the sources send, in seconds, as in `run`. By default as long as a run stays well below 50 ms,
        whatever value any one axis takes: 1, 2 or 5 times a power of ten, at most 100 s, and the warm-up before it.
    warmup : float or str
        As in `run`.
    seed : int or numpy.random.SeedSequence, optional
        As in `run`. Every setting is run with the same seed; without one it is drawn once.
    flow : str or sequence of str, optional
        Which flows to show; all by default. One that a setting does not have is left out there.
    first : int, optional
        So many packets of each flow are drawn, from the end of the warm-up on; None draws all. The figures below the
        picture are those of the whole run.

    Returns
    -------
    Explorer
        An ipywidgets VBox, shown by a notebook when it ends a cell. It has ``result``, the Result of the setting that
        is shown (None where that failed), ``error``, ``parameters``, ``duration`` and ``seconds``, which the run took;
        ``controls["name"].value`` reads and moves a control.

    Raises
    ------
    ScenarioError
        An argument is out of range, `axes` has no axis or one without values, or `build` has no such argument. What
        `build` raises at a setting is shown in place, and the controls stay.
    ImportError
        ipywidgets is not installed.

    Examples
    --------
    >>> import qossim as qs
    >>> from qossim.experiments import ef_wfq_vs_pq
    >>> axes = {"scheduler": ["wfq", "pq"], "best_effort": [False, True], "tx_ring_limit": range(1, 41)}
    >>> panel = qs.explore(ef_wfq_vs_pq, axes, flow="EF", seed=1)
    >>> panel.controls["tx_ring_limit"].value = 40
    >>> panel.result["EF"].delay.max() > 0.05
    np.True_
    """
    if not callable(build):
        raise units.refusal("build", "a function that returns a Scenario", build)
    found = _axes(build, axes)
    names = _names(flow)
    count = None if first is None else units.count(first, "first", 1)
    root = _root(seed)[1]
    try:
        from qossim._explorer import Explorer
    except ImportError as error:
        if (error.name or "").partition(".")[0] not in ("ipywidgets", "traitlets"):
            raise
        raise ImportError("qs.explore needs ipywidgets: pip install 'qossim[explore]'", name="ipywidgets") from error
    if duration is None:
        before = units.time(warmup, "warmup") / units.PICO
        duration = float(f"{before + _fitting(build, found):.12g}")
    _warmup(warmup, _duration(duration), duration)
    return Explorer(
        lambda parameters: run(build(**parameters), duration=duration, warmup=warmup, seed=root, progress=False),
        found,
        flows=names,
        first=count,
    )


# -- axes --------------------------------------------------------------------------------------------------------------


class Axis(NamedTuple):
    """One parameter: its values, what they are called, and which comes first."""

    name: str
    values: tuple[Any, ...]
    labels: tuple[str, ...]
    kind: Literal["slider", "box", "menu"]
    start: int


def _axes(build: Callable[..., Any], axes: object) -> list[Axis]:
    bounds = "a mapping of the names of at least one argument of build to their values"
    if not isinstance(axes, Mapping) or not axes:
        raise units.refusal("axes", bounds, axes)
    defaults = _defaults(build, axes)
    return [_axis(name, values, defaults.get(name)) for name, values in axes.items()]


def _defaults(build: Callable[..., Any], axes: Mapping[Any, Any]) -> dict[str, Any]:
    """The arguments of `build` that have a default; refuses the names of axes that it does not take."""
    try:
        arguments = inspect.signature(build).parameters
    except (TypeError, ValueError):  # some written in C do not tell
        return {}
    named = [
        name
        for name, argument in arguments.items()
        if argument.kind in (argument.POSITIONAL_OR_KEYWORD, argument.KEYWORD_ONLY)
    ]
    if not any(argument.kind is argument.VAR_KEYWORD for argument in arguments.values()):
        for name in axes:
            if name not in named:
                raise units.refusal("axes", f"named after arguments of build ({', '.join(named)})", name)
    return {name: arguments[name].default for name in named if arguments[name].default is not inspect.Parameter.empty}


def _axis(name: object, values: object, default: object) -> Axis:
    field = f'axes["{name}"]'
    if not isinstance(name, str):
        raise units.refusal("axes", "named by strings", name)
    if isinstance(values, str | bytes | Mapping) or not isinstance(values, Iterable):
        raise units.refusal(field, "a list of values", values)
    taken = tuple(value.item() if isinstance(value, np.generic) else value for value in values)
    if not taken:
        raise units.refusal(field, "a list of at least one value", values)
    labels = tuple(map(label, taken))
    for one, other in itertools.combinations(range(len(taken)), 2):
        if labels[one] == labels[other] or _equal(taken[one], taken[other]):
            raise units.refusal(field, "of values that can be told apart", taken[other], f"like {labels[one]}")
    numeric = all(isinstance(value, int | float) and not isinstance(value, bool) for value in taken)
    boolean = len(taken) == 2 and all(isinstance(value, bool) for value in taken)
    start = next((at for at, value in enumerate(taken) if _equal(value, default)), 0)
    return Axis(name, taken, labels, "slider" if numeric else "box" if boolean else "menu", start)


def _equal(one: object, other: object) -> bool:
    try:
        return bool(one == other)
    except (TypeError, ValueError):  # arrays, say
        return one is other


def label(value: object) -> str:
    """What a value is called: by its name if it has one, as a port or a function has."""
    for name in (getattr(value, "name", None), getattr(value, "__name__", None)):
        if isinstance(name, str):
            return name
    return value if isinstance(value, str) else " ".join(repr(value).split())


def _names(flow: object) -> tuple[str, ...] | None:
    if flow is None:
        return None
    names = (flow,) if isinstance(flow, str) else tuple(flow) if isinstance(flow, Sequence) else ()
    if not names or not all(isinstance(name, str) for name in names):
        raise units.refusal("flow", "the name of a flow, or several, or None", flow)
    return names


# -- how long ----------------------------------------------------------------------------------------------------------


def _fitting(build: Callable[..., Scenario], axes: list[Axis]) -> float:
    """Seconds to simulate, so that no setting that is one change away from the first takes more than `WORK`."""
    first = {axis.name: axis.values[axis.start] for axis in axes}
    settings = [first] + [
        first | {axis.name: value} for axis in axes for at, value in enumerate(axis.values) if at != axis.start
    ]
    longest = LONGEST
    for setting in settings:
        try:
            scenario = build(**setting)
        except Exception:  # it is shown when this setting is chosen
            continue
        if isinstance(scenario, Scenario):
            longest = min(longest, _time_for(scenario))
    power = 10.0 ** np.floor(np.log10(longest))
    return float(f"{max(step for step in (1, 2, 5, 10) if step * power <= longest * (1 + 1e-9)) * power:.3g}")


def _time_for(scenario: Scenario) -> float:
    """Seconds in which it sends `WORK` packets, told from the shortest run in which it sends a few."""
    time = 1e-6
    while time < LONGEST:
        try:
            sent = _work(scenario, time)
        except ScenarioError:
            return LONGEST
        if sent >= _FEW:
            return min(LONGEST, time * WORK / sent)
        time *= 10
    return LONGEST


def _work(scenario: Scenario, time: float) -> int:
    probe = run(scenario, duration=time, seed=0, record="none", drain=False, progress=False)
    return sum(flow.sent for flow in probe.flows.values()) + sum(port.sent for port in probe.ports.values())
