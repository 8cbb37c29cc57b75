# SPDX-License-Identifier: MIT
"""Explore a scenario by hand, in a notebook: a slider or a menu for each parameter, and what it does to the delay."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np

from qossim import units
from qossim._axes import Axis, Grid, defaults_of, zipped
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
_TRIED = 12  # values of an axis for which that is done


def explore(
    build: Callable[..., Scenario],
    axes: Mapping[str, Any] | zipped,
    *,
    duration: float | str | dt.timedelta | np.timedelta64 | None = None,
    warmup: float | str | dt.timedelta | np.timedelta64 = 0.0,
    seed: Seed = None,
    flow: str | Sequence[str] | None = None,
    first: int | None = DRAWN,
) -> Explorer:
    """Sliders and menus over the parameters of a scenario, with delay and ipdv redrawn at each change.

    For a notebook; in a program use `run`, and for a table of many runs `sweep`. Needs ipywidgets, which the extra
    ``explore`` brings: ``pip install 'ipywidgets>=8.1'``.

    Parameters
    ----------
    build : callable
        Called with one keyword argument for each axis, returns the Scenario to run.
    axes : dict, or zipped
        Values by the name of a parameter, as `sweep` takes them. Numbers get a slider, False and True a box to tick,
        anything else a menu of names, and an axis of `zipped` parameters a menu of its cases. Each begins at the
        parameter's default if that is among its values, else at its first value.
    duration : float or str, optional
        How long the sources send, in seconds, as in `run`. By default as long as a run stays well below 50 ms,
        whatever value any one axis takes: 1, 2 or 5 times a power of ten, at most 100 s, and the warm-up before it. Of
        an axis with many values a dozen are tried: the first and the last (of numbers the least and the greatest) and
        some between.
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
        ``controls["name"].value`` reads and moves a control, of arrays by their labels. It keeps its latest
        run in memory until ``close()``.

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
    choices = _choices(build, axes)
    names = _names(flow)
    count = None if first is None else units.count(first, "first", 1)
    root = _root(seed)[1]
    try:
        from qossim._explorer import Explorer
    except ImportError as error:
        if (error.name or "").partition(".")[0] not in ("ipywidgets", "traitlets"):
            raise
        raise ImportError("qs.explore needs ipywidgets: pip install 'ipywidgets>=8.1'", name="ipywidgets") from error
    if duration is None:
        before = units.time(warmup, "warmup") / units.PICO
        duration = float(f"{before + _fitting(build, choices):.12g}")
    _warmup(warmup, _duration(duration), duration)
    return Explorer(
        lambda parameters: run(build(**parameters), duration=duration, warmup=warmup, seed=root, progress=False),
        choices,
        flows=names,
        first=count,
    )


# -- axes --------------------------------------------------------------------------------------------------------------


class Choice(NamedTuple):
    """One axis as a control: what can be chosen, under which labels, and where it begins."""

    name: str
    values: tuple[Any, ...]
    """What the control has: the value of the parameter, or a dict of those of several; else the labels, where values
    do not tell whether they are equal, as arrays."""
    settings: tuple[dict[str, Any], ...]
    """Arguments of `build`, for each value."""
    labels: tuple[str, ...]
    kind: Literal["slider", "box", "menu"]
    start: int


def _choices(build: Callable[..., Any], axes: object) -> list[Choice]:
    grid = Grid(axes, ())
    if not grid.axes:
        raise units.refusal("axes", "of at least one parameter", axes)
    names = [each.name for axis in grid.axes for each in axis.parameters]
    defaults = defaults_of(build, names)
    return [_choice(axis, defaults) for axis in grid.axes]


def _choice(axis: Axis, defaults: Mapping[str, Any]) -> Choice:
    settings = tuple({each.name: each.values[at] for each in axis.parameters} for at in range(len(axis)))
    start = next(
        (at for at, each in enumerate(settings) if all(_equal(each[name], defaults.get(name)) for name in each)), 0
    )
    if len(axis.parameters) > 1 or axis.parameters[0].name != axis.name:
        labels = tuple(
            ", ".join(f"{each.name} {each.labels[at]}" for each in axis.parameters) for at in range(len(axis))
        )
        return Choice(axis.name, _comparable(settings, labels), settings, labels, "menu", start)
    (only,) = axis.parameters
    numeric, boolean = only.labels.dtype.kind in "if", only.labels.dtype == np.bool_ and len(axis) == 2
    kind: Literal["slider", "box", "menu"] = "slider" if numeric else "box" if boolean else "menu"
    labels = tuple(map(str, only.labels.tolist()))
    return Choice(axis.name, _comparable(tuple(only.values), labels), settings, labels, kind, start)


def _comparable(values: tuple[Any, ...], labels: tuple[str, ...]) -> tuple[Any, ...]:
    """The values, or their labels where a control could not find one among them."""
    try:
        for one, other in zip(values, (*values[1:], values[0]), strict=True):
            bool(one == other)
    except (TypeError, ValueError):
        return labels
    return values


def _equal(one: object, other: object) -> bool:
    try:
        return bool(one == other)
    except (TypeError, ValueError):  # arrays, say
        return one is other


def _names(flow: object) -> tuple[str, ...] | None:
    if flow is None:
        return None
    names = (flow,) if isinstance(flow, str) else tuple(flow) if isinstance(flow, Sequence) else ()
    if not names or not all(isinstance(name, str) for name in names):
        raise units.refusal("flow", "the name of a flow, or several, or None", flow)
    return names


# -- how long ----------------------------------------------------------------------------------------------------------


def _fitting(build: Callable[..., Scenario], choices: list[Choice]) -> float:
    """Seconds to simulate, so that no setting that is one change away from the first takes more than `WORK`."""
    first: dict[str, Any] = {}
    for choice in choices:
        first |= choice.settings[choice.start]
    changed = [first | choice.settings[at] for choice in choices for at in _tried(choice) if at != choice.start]
    longest = LONGEST
    for setting in [first, *changed]:
        try:
            scenario = build(**setting)
        except Exception:  # it is shown when this setting is chosen
            continue
        if isinstance(scenario, Scenario):
            longest = min(longest, _time_for(scenario))
    power = 10.0 ** np.floor(np.log10(longest))
    return float(f"{max(step for step in (1, 2, 5, 10) if step * power <= longest * (1 + 1e-9)) * power:.3g}")


def _tried(choice: Choice) -> list[int]:
    """A few values, evenly from the first to the last; of numbers from the least to the greatest."""
    order = list(range(len(choice.settings)))
    if choice.kind == "slider":
        order.sort(key=lambda at: choice.settings[at][choice.name])
    few = np.linspace(0, len(order) - 1, min(len(order), _TRIED)).round().astype(int)
    return [order[place] for place in few.tolist()]


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
