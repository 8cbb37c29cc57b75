# SPDX-License-Identifier: MIT
"""The axes of a sweep: names, values and the labels that values have in a table."""

from __future__ import annotations

import functools
import inspect
import itertools
import math
import numbers
import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from decimal import Decimal
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import numpy as np

from qossim import units
from qossim.errors import ScenarioError

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["MOST_RUNS", "Axis", "Grid", "defaults_of", "label", "name_of", "zipped"]

Values: TypeAlias = "Iterable[Any] | Mapping[str, Any]"

MOST_RUNS = 10**7
"""Of a sweep: its table is then a few gigabytes large."""

_ADDRESS = re.compile(r" at 0x[0-9a-fA-F]+")


class zipped:
    """Several parameters that change together: one axis of a sweep with a coordinate for each of them.

    Parameters
    ----------
    **parameters : sequence or dict
        Values of each parameter, all of one length. See `qossim.sweep` for what values may be. One may come again
        where another parameter differs; but not of a parameter that has the name of the axis.

    Raises
    ------
    ScenarioError
        There is no parameter, or they are of different lengths.

    Examples
    --------
    >>> zipped(scheduler=["wfq", "pq"], tx_ring_limit=[3, 1])
    zipped(scheduler=['wfq', 'pq'], tx_ring_limit=[3, 1])
    """

    __slots__ = ("parameters",)

    def __init__(self, **parameters: Values) -> None:
        if not parameters:
            raise ScenarioError("zipped: at least one parameter must be given, got none")
        self.parameters: dict[str, Any] = {
            name: dict(values) if isinstance(values, Mapping) else _listed(f"zipped: {name}", values)
            for name, values in parameters.items()
        }
        lengths = {name: len(values) for name, values in self.parameters.items()}
        if len(set(lengths.values())) > 1:
            raise units.refusal("zipped: all parameters", "of one length", lengths)

    def __len__(self) -> int:
        return len(next(iter(self.parameters.values())))

    def __repr__(self) -> str:
        return f"zipped({', '.join(f'{name}={values!r}' for name, values in self.parameters.items())})"


class Parameter(NamedTuple):
    """One parameter of `build` along an axis."""

    name: str
    values: list[Any]
    labels: NDArray[Any]
    """(n,) array of int64, float64, bool or str."""


class Axis(NamedTuple):
    """One dimension."""

    name: str
    parameters: tuple[Parameter, ...]

    def __len__(self) -> int:
        return len(self.parameters[0].values)


class Grid:
    """All axes, and the points that they span, numbered with the last axis going round fastest.

    Parameters
    ----------
    axes : mapping, or zipped
        As `qossim.sweep` takes them.
    taken : collection of str
        Names that no axis can have.
    """

    def __init__(self, axes: object, taken: Iterable[str]) -> None:
        if isinstance(axes, zipped):
            axes = {"case": axes}
        if not isinstance(axes, Mapping):
            raise units.refusal("axes", "a dict of names and values, or zipped(...)", axes)
        self.axes = tuple(_axis(name, values) for name, values in axes.items())
        self.shape = tuple(map(len, self.axes))
        self.size = math.prod(self.shape)
        self._check_names(frozenset(taken))

    def keep(self, own: Callable[[Any], Any]) -> None:
        """Let no later change of a value reach it."""
        for axis in self.axes:
            for parameter in axis.parameters:
                parameter.values[:] = map(own, parameter.values)

    def _check_names(self, taken: frozenset[str]) -> None:
        names = [each.name for axis in self.axes for each in axis.parameters]
        seen: set[str] = set()
        for name in names:
            if name in seen:
                raise units.refusal("axes", "of different parameters", names, f'"{name}" comes twice')
            seen.add(name)
        for axis in self.axes:
            own = {each.name for each in axis.parameters}
            for name in own | {axis.name}:
                if name in taken:
                    raise units.refusal("axes", "of names that the table does not use itself", name)
            if axis.name in seen - own:
                raise units.refusal("axes", "of different names", names, f'"{axis.name}" is a parameter elsewhere')

    def parameters(self, point: int) -> dict[str, Any]:
        """What `build` is called with."""
        return {each.name: each.values[i] for axis, i in self._places(point) for each in axis.parameters}

    def spoken(self, point: int) -> str:
        """The parameters of a point, for a message."""
        parts = [
            f"{each.name}={each.labels[i].item()!r}" for axis, i in self._places(point) for each in axis.parameters
        ]
        return ", ".join(parts) if parts else "the only point"

    def spoken_all(self, points: list[int]) -> str:
        """The first ten of some points, for a message."""
        if not self.axes:
            return "the only point"
        shown = "; ".join(self.spoken(point) for point in points[:10])
        more = f" and {len(points) - 10} more" if len(points) > 10 else ""
        return f"the point{'' if len(points) == 1 else 's'} {shown}{more}"

    def _places(self, point: int) -> Iterable[tuple[Axis, int]]:
        return zip(self.axes, map(int, np.unravel_index(point, self.shape)) if self.shape else (), strict=True)

    def all_parameters(self) -> Iterable[dict[str, Any]]:
        """`parameters` of every point in turn."""
        along = [
            [{each.name: each.values[i] for each in axis.parameters} for i in range(len(axis))] for axis in self.axes
        ]
        for chosen in itertools.product(*along):
            together: dict[str, Any] = {}
            for some in chosen:
                together.update(some)
            yield together

    def plain(self) -> dict[str, dict[str, list[Any]]]:
        """Labels by axis and parameter, as JSON holds them."""
        return {axis.name: {each.name: _plain(each.labels) for each in axis.parameters} for axis in self.axes}


def _plain(labels: NDArray[Any]) -> list[Any]:
    """JSON has no infinity: it becomes a string."""
    return [str(each) if each in (math.inf, -math.inf) else each for each in labels.tolist()]


def _axis(name: object, values: object) -> Axis:
    if not isinstance(name, str) or not name.isidentifier():
        raise units.refusal("axes", "named as parameters of build are", name)
    if isinstance(values, zipped):
        parameters = tuple(
            _parameter(each, f"axis {name}: {each}", v, again=each != name) for each, v in values.parameters.items()
        )
        rows = list(zip(*(each.labels.tolist() for each in parameters), strict=True))
        if len(set(rows)) < len(rows):
            twice, _ = Counter(rows).most_common(1)[0]
            point = ", ".join(f"{each.name}={label!r}" for each, label in zip(parameters, twice, strict=True))
            raise units.refusal(f"axis {name}", "of points that differ", f"{point} twice")
        return Axis(name, parameters)
    return Axis(name, (_parameter(name, f"axis {name}", values),))


def _parameter(name: str, field: str, values: object, *, again: bool = False) -> Parameter:
    """A parameter; one whose values may come `again` is told from others by what changes with it."""
    if isinstance(values, Mapping):
        labels, values = [str(each) for each in values], list(values.values())
        if not values:
            raise units.refusal(field, "a list of at least one value", {})
        array = np.array(labels, dtype=np.str_)
        _check_different(field, values, array, "their keys print alike")
        return Parameter(name, values, array)
    listed = _listed(field, values)
    array = _labels(field, listed)
    _check_different(field, listed, array, again=again)
    return Parameter(name, listed, array)


def _listed(field: str, values: object) -> list[Any]:
    """The values, NumPy's scalars as Python's own."""
    bounds = "a list of at least one value"
    if isinstance(values, str | bytes | AbstractSet | Mapping | zipped) or not isinstance(values, Iterable):
        raise units.refusal(field, bounds, values)
    if getattr(values, "ndim", 1) != 1:  # an array, or a table, whose elements are not what one would think
        raise units.refusal(field, f"{bounds}, in one dimension", values)
    if np.ma.isMaskedArray(values):
        raise units.refusal(field, bounds, "a masked array")
    listed = [_element(value) for value in itertools.islice(values, MOST_RUNS + 1)]
    if len(listed) > MOST_RUNS:
        raise units.refusal(field, f"a list of at most {MOST_RUNS} values", values)
    if any(value is np.ma.masked for value in listed):
        raise units.refusal(field, bounds, "a masked value")
    if not listed:
        raise units.refusal(field, bounds, listed)
    return listed


def _element(value: Any) -> Any:
    """What an array gives for an element, as Python's own; but a timedelta64 knows its unit and an int does not."""
    if value is np.ma.masked or getattr(value, "ndim", None) != 0 or not callable(getattr(value, "item", None)):
        return value
    if getattr(getattr(value, "dtype", None), "kind", "") in ("m", "M"):
        return np.asarray(value)[()]
    return value.item()


def _labels(field: str, values: list[Any]) -> NDArray[Any]:
    if all(isinstance(value, bool) for value in values):
        return np.array(values, dtype=np.bool_)
    if all(isinstance(value, str) for value in values):
        return np.array(values, dtype=np.str_)
    if all(
        isinstance(value, numbers.Real | Decimal) and not isinstance(value, bool | np.timedelta64) for value in values
    ):
        return _numbers(field, values)
    return np.array([label(field, value) for value in values], dtype=np.str_)


def _numbers(field: str, values: list[Any]) -> NDArray[Any]:
    if all(isinstance(value, int) and abs(value) < 2**63 for value in values):
        return np.array(values, dtype=np.int64)
    try:
        floats = np.array([float(value) for value in values], dtype=np.float64)
    except (OverflowError, ValueError):
        why = "a dict gives labels of your own"
        raise ScenarioError(f"{field} must be of numbers up to 1.8e308, got one that is no float ({why})") from None
    if np.isnan(floats).any():
        raise units.refusal(field, "of values that can be told apart", values, "NaN is equal to nothing")
    return floats


def label(field: str, value: Any) -> str:
    """What a value is called in a table: the same in every process.

    Raises
    ------
    ScenarioError
        It has no name, and prints as an address in memory, or cannot be printed.
    """
    why = f'give labels: {{"a name": {type(value).__name__}...}}'
    try:
        text = _called(value)
    except Exception as error:
        raise units.refusal(field, "of values with a name", value, f"{type(error).__name__}: {error}; {why}") from error
    if text is None:
        raise units.refusal(field, "of values with a name", value, why)
    return text


def _called(value: Any) -> str | None:
    if value is None or isinstance(value, bool | str | int | float | np.generic):
        return str(value)
    for attribute in ("name", "__name__"):
        name = getattr(value, attribute, None)
        if isinstance(name, str) and name:
            return name
    text = _text(value)
    return None if _ADDRESS.search(text) else text.removesuffix("()")  # PQ() is PQ


def _text(value: object) -> str:
    """As `repr`, on one line; but sets, which have another order in every process, are sorted."""
    try:
        return _spelt(value)
    except RecursionError:  # it contains itself
        return " ".join(repr(value).split())


def _spelt(value: object) -> str:
    if isinstance(value, AbstractSet) and type(value) in (set, frozenset) and value:
        text = f"{{{', '.join(sorted(map(_spelt, value)))}}}"
        return text if type(value) is set else f"frozenset({text})"
    if type(value) is dict:
        return f"{{{', '.join(f'{_spelt(key)}: {_spelt(each)}' for key, each in value.items())}}}"
    if type(value) is list:
        return f"[{', '.join(map(_spelt, value))}]"
    if type(value) is tuple:
        return f"({', '.join(map(_spelt, value))}{',' if len(value) == 1 else ''})"
    return " ".join(repr(value).split())


def _check_different(
    field: str,
    values: list[Any],
    labels: NDArray[Any],
    hint: str = "a dict gives labels of your own",
    *,
    again: bool = False,
) -> None:
    seen: dict[Any, int] = {}
    for i, each in enumerate(labels.tolist()):
        if each in seen and not (again and _same(values[seen[each]], values[i])):
            raise units.refusal(
                field,
                "of values that can be told apart",
                [values[seen[each]], values[i]],
                f"both are labelled {units.shown(each)}; {hint}",
            )
        seen.setdefault(each, i)


def _same(one: Any, other: Any) -> bool:
    """Whether two values of one label are one value."""
    try:
        return one is other or (type(one) is type(other) and bool(one == other))
    except Exception:  # arrays, perhaps
        return False


def defaults_of(build: Callable[..., Any], names: Sequence[str]) -> dict[str, Any]:
    """The arguments of `build` that have a default.

    Raises
    ------
    ScenarioError
        It does not take these names, or needs others.
    """
    try:
        arguments = inspect.signature(build, follow_wrapped=False).parameters  # a wrapper may give some itself
    except (TypeError, ValueError):  # some written in C do not tell
        return {}
    named = [
        name
        for name, argument in arguments.items()
        if argument.kind in (argument.POSITIONAL_OR_KEYWORD, argument.KEYWORD_ONLY)
    ]
    if not any(argument.kind is argument.VAR_KEYWORD for argument in arguments.values()):
        for name in names:
            if name not in named:
                raise units.refusal("axes", f"named after arguments of build ({', '.join(named)})", name)
    defaults = {
        name: arguments[name].default for name in named if arguments[name].default is not inspect.Parameter.empty
    }
    for name in named:
        if name not in defaults and name not in names:
            raise units.refusal("axes", "of all arguments of build that have no default", list(names), f"no {name}")
    return defaults


def name_of(build: Any) -> str:
    """Where a function comes from and what it has been given: the same text in every process."""
    if isinstance(build, functools.partial):
        given = [*map(_said, build.args), *(f"{name}={_said(value)}" for name, value in build.keywords.items())]
        return f"{name_of(build.func)}({', '.join(given)})"
    named = build if hasattr(build, "__qualname__") else type(build)
    return f"{getattr(named, '__module__', None) or type(build).__module__}.{named.__qualname__}"


def _said(value: object) -> str:
    text = _text(value)
    return f"a {type(value).__name__}" if " at 0x" in text else text
