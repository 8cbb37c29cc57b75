# SPDX-License-Identifier: MIT
"""What all descriptions share: they are frozen, print as the call that makes them, and lower themselves to the core.

A description's constructor takes what people write and stores what is exact: rates as Fraction bit/s, times as
Fraction seconds that are whole picoseconds. `Description._arguments` goes back from the one to the other.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import FrozenInstanceError, dataclass
from fractions import Fraction
from typing import Any, ClassVar, NoReturn, Self, TypeAlias, TypeVar, dataclass_transform

import numpy as np

from qossim import units
from qossim.scenario import _dscp

__all__ = ["Description", "Spec", "Value", "description"]

Value: TypeAlias = "units.Ratio | str | np.ndarray[Any, np.dtype[np.int64]]"
Spec: TypeAlias = "tuple[str, tuple[tuple[str, Value], ...]]"
T = TypeVar("T")


@dataclass_transform(frozen_default=True)
def description(cls: type[T]) -> type[T]:
    """Make a frozen dataclass of a subclass of `Description`.

    What makes it frozen and comparable stands in `Description`, once: written anew for each class, as dataclasses do
    it, it is most of the time that importing the package takes.
    """
    return dataclass(init=False, repr=False, eq=False, slots=True)(cls)


_assign = object.__setattr__
_SIGNATURES: dict[type[Any], Mapping[str, Any]] = {}


def signature(cls: type[Any]) -> Mapping[str, Any]:
    """The constructor's parameters by name, with their defaults (`inspect.Parameter.empty` where there is none)."""
    if cls not in _SIGNATURES:
        import inspect

        parameters = list(inspect.signature(cls.__init__).parameters.values())[1:]
        _SIGNATURES[cls] = {parameter.name: parameter.default for parameter in parameters}
    return _SIGNATURES[cls]


class Description:
    """Base of everything a scenario is described with."""

    __slots__ = ()

    kind: ClassVar[str] = ""
    """Its name in the core and in files."""
    _positional: ClassVar[tuple[str, ...]] = ()
    _units: ClassVar[Mapping[str, str]] = {}

    def __init__(self) -> None:
        pass

    def __setattr__(self, name: str, value: object) -> NoReturn:
        raise FrozenInstanceError(f"cannot assign to field {name!r}: use replace({name}=...)")

    def __delattr__(self, name: str) -> NoReturn:
        raise FrozenInstanceError(f"cannot delete field {name!r}")

    def _identity(self) -> tuple[object, ...]:
        """What makes it equal to another of its class."""
        slots: tuple[str, ...] = getattr(type(self), "__slots__", ())
        return tuple(getattr(self, name) for name in slots if not name.startswith("_"))

    def __eq__(self, other: object) -> bool:
        if type(other) is not type(self):
            return NotImplemented
        return self._identity() == other._identity()

    def __hash__(self) -> int:
        return hash((type(self), self._identity()))

    def __copy__(self) -> Self:
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        return _made, (type(self), self._arguments())

    def _set(self, **values: object) -> None:
        for name, value in values.items():
            _assign(self, name, value)

    def _arguments(self) -> dict[str, Any]:
        """The constructor's arguments that make this description again, all of them."""
        return {name: getattr(self, name) for name in signature(type(self))}

    def _spoken(self) -> dict[str, Any]:
        """The arguments worth saying: those that are not the default."""
        defaults = signature(type(self))
        return {
            name: value
            for name, value in self._arguments().items()
            if value != (() if isinstance(value, tuple) and defaults[name] is None else defaults[name])
        }

    def replace(self, **changes: Any) -> Self:
        """The same description with some of its constructor's arguments changed; checked again.

        Parameters
        ----------
        **changes
            Arguments of the constructor, by name.

        Returns
        -------
        Description
            A new one, of the same class.
        """
        return type(self)(**(self._arguments() | changes))

    def __replace__(self, **changes: Any) -> Self:
        return self.replace(**changes)

    def __repr__(self) -> str:
        parts = []
        for name, value in self._spoken().items():
            text = written(value, self._units.get(name, ""))
            parts.append(text if name in self._positional else f"{name}={text}")
        return f"{type(self).__name__}({', '.join(parts)})"

    def _repr_html_(self) -> str:
        from qossim.scenario._html import table

        return table(self)

    def _lower(self) -> Spec:
        """Kind and settings, as the core reads them."""
        settings = [(name, getattr(self, name)) for name in signature(type(self))]
        return self.kind, tuple([(name, lowered(value)) for name, value in settings if value is not None])


def _made(cls: type[T], arguments: dict[str, Any]) -> T:
    """What a pickle calls: the constructor, checks and all."""
    return cls(**arguments)


def lowered(value: Any) -> Value:
    """One setting in the core's terms."""
    if type(value) is int or type(value) is str:  # the common cases first
        return value
    if isinstance(value, Fraction):
        return units.ratio(value)
    if isinstance(value, bool):
        return int(value)
    word_or_number: int | str = value
    return word_or_number


def written(value: Any, unit: str) -> str:
    """A value as a Python expression that gives it back."""
    if isinstance(value, Description):
        return repr(value)
    if unit == "dscp" and value is not None:
        names = [_dscp.name(code) for code in (value if isinstance(value, tuple) else (value,))]
        return repr(names if len(names) > 1 else names[0])
    if isinstance(value, tuple):
        return f"[{', '.join(written(item, unit) for item in value)}]"
    if isinstance(value, Fraction):
        return repr(units.text(value, unit) if unit else units.plain(value))
    return repr(value)


# -- checks that several stations need ---------------------------------------------------------------------------------


def checked_name(value: object, owner: str) -> str:
    """A name: printable text of 1 to 200 characters without space around it."""
    if not isinstance(value, str) or not 1 <= len(value) <= 200 or not value.isprintable() or value != value.strip():
        raise units.refusal(f"{owner}: name", "1 to 200 printable characters without space around them", value)
    return str(value)


def checked_choice(value: object, field: str, words: tuple[str, ...]) -> str:
    """One of a few words."""
    if not isinstance(value, str) or value not in words:
        raise units.refusal(field, " or ".join(f'"{word}"' for word in words), value)
    return str(value)


def checked_flag(value: object, field: str) -> bool:
    """True or False and nothing else."""
    if not isinstance(value, (bool, np.bool_)):
        raise units.refusal(field, "True or False", value)
    return bool(value)


def checked_instance(value: object, field: str, cls: type[T], instead: str = "") -> T:
    """A description of some class, not of a bare base such as `Scheduler`."""
    if not isinstance(value, cls) or not getattr(value, "kind", ""):
        hint = f" such as {instead}" if instead else ""
        why = f"write {value.__name__}(...)" if isinstance(value, type) and issubclass(value, cls) else ""
        raise units.refusal(field, f"a {cls.__name__}{hint}", value, why)
    return value


def checked_list(value: object, field: str, bounds: str) -> list[Any]:
    """The items of a list, tuple, array or the like; a string or a number is one item."""
    if type(value) is list or type(value) is tuple:  # the common cases first
        return list(value)
    if isinstance(value, (str, int, np.integer)) and not isinstance(value, (bool, np.bool_)):
        return [value]
    if isinstance(value, (Mapping, AbstractSet)):
        raise units.refusal(field, bounds, value, f"a {type(value).__name__} has no order to go by")
    if (
        not isinstance(value, Iterable)
        or isinstance(value, bytes)
        or (isinstance(value, np.ndarray) and not value.ndim)
    ):
        raise units.refusal(field, bounds, value)
    return list(value)


def checked_instances(values: list[Any], field: str, cls: type[T]) -> tuple[T, ...]:
    """Descriptions of one class, each as `checked_instance` checks it."""
    if set(map(type, values)) == {cls}:  # the common case first
        return tuple(values)
    return tuple([checked_instance(value, f"{field}[{i}]", cls) for i, value in enumerate(values)])


def first_duplicate(names: list[str]) -> str | None:
    """The first name that comes a second time."""
    if len(set(names)) == len(names):
        return None
    return next(name for i, name in enumerate(names) if name in names[:i])
