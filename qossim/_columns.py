# SPDX-License-Identifier: MIT
"""Per-packet columns: arrays of one length with names, and the names behind the numbers in them."""

from __future__ import annotations

import enum
import html
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["FATES", "Columns", "Fate", "Packets", "html_table", "same"]


class Fate(enum.IntEnum):
    """What became of a packet; the codes in the column ``fate``."""

    INSIDE = 0
    RECEIVED = 1
    DROPPED_QUEUE = 2
    DROPPED_POLICER = 3


FATES: tuple[str, ...] = tuple(fate.name.lower() for fate in Fate)
"""The names of the fates, in order of their codes: inside, received, dropped_queue, dropped_policer."""


class Columns(Mapping[str, NDArray[Any]]):
    """Named arrays of one length, one row for each packet. They are read-only: copy what you want to change.

    ``columns["sent"]`` is an array; ``columns.rows`` their length; `to_dataframe` makes a table of them.
    """

    __slots__ = ("_columns",)
    __hash__ = None  # type: ignore[assignment]

    def __init__(self, columns: Mapping[str, NDArray[Any]]) -> None:
        for column in columns.values():
            column.setflags(write=False)
        self._columns = dict(columns)

    def __getitem__(self, name: str) -> NDArray[Any]:
        try:
            return self._columns[name]
        except KeyError:
            raise KeyError(f"no column {name!r}; there are {', '.join(self._columns)}") from None

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self._columns,)

    def __iter__(self) -> Iterator[str]:
        return iter(self._columns)

    def __len__(self) -> int:
        return len(self._columns)

    @property
    def rows(self) -> int:
        """Number of packets."""
        return len(next(iter(self._columns.values()), ()))

    @property
    def nbytes(self) -> int:
        """Bytes the columns take."""
        return sum(column.nbytes for column in self._columns.values())

    def to_dataframe(self) -> pd.DataFrame:
        """The columns as a pandas DataFrame, one row for each packet; times stay int64 picoseconds."""
        import pandas as pd

        return pd.DataFrame(dict(self._columns))

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Columns):
            return NotImplemented
        return same(self._columns, other._columns)

    def __repr__(self) -> str:
        columns = ", ".join(f"{name} {column.dtype}" for name, column in self._columns.items())
        return f"<{type(self).__name__}: {self.rows} rows of {columns}>"

    def _repr_html_(self) -> str:
        shown = list(range(min(self.rows, 10)))
        rows = [[str(row), *(self._shown(name, row) for name in self)] for row in shown]
        caption = f"{self.rows} rows" + (f", the first {len(shown)} shown" if self.rows > len(shown) else "")
        return html_table(["", *self], rows, caption)

    def _shown(self, name: str, row: int) -> str:
        return str(self._columns[name][row])


class Packets(Columns):
    """Every packet of every flow, in order of (flow, seq).

    ========  =====  ==================================================================
    flow      int32  number of its flow, in order of declaration
    seq       int32  its number in the flow, from 0
    size      int32  bytes of the IP datagram
    fate      int8   what became of it: a `Fate`
    where     int16  number of the port where it died or still is; -1 if it was received
    sent      int64  picoseconds, its first bit leaves the source
    received  int64  picoseconds, its last bit reaches the receiver; -1 if it never did
    ========  =====  ==================================================================

    The names behind the numbers are `flow_names`, `fate_names` and `where_names`, and `to_dataframe` puts them in.
    """

    __slots__ = ("_flows", "_ports")

    def __init__(self, columns: Mapping[str, NDArray[Any]], flows: Sequence[str], ports: Sequence[str]) -> None:
        super().__init__(columns)
        self._flows = tuple(flows)
        self._ports = tuple(ports)

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self._columns, self._flows, self._ports)

    def flow_names(self) -> NDArray[np.str_]:
        """(rows,) array of str: each packet's flow."""
        return np.take(np.array(self._flows, dtype=np.str_), self["flow"])

    def fate_names(self) -> NDArray[np.str_]:
        """(rows,) array of str: each packet's fate, one of `FATES`."""
        return np.take(np.array(FATES, dtype=np.str_), self["fate"])

    def where_names(self) -> NDArray[np.str_]:
        """(rows,) array of str: the port where each packet died or still is; empty if it was received."""
        return np.take(np.array([*self._ports, ""], dtype=np.str_), self["where"])

    def to_dataframe(self) -> pd.DataFrame:
        """The packets as a pandas DataFrame.

        Returns
        -------
        DataFrame
            The columns under their own names; ``flow``, ``fate`` and ``where`` are categories of names (``where``
            missing for a received packet), times int64 picoseconds.
        """
        import pandas as pd

        named = {"flow": self._flows, "fate": FATES, "where": self._ports}
        return pd.DataFrame(
            {
                name: pd.Categorical.from_codes(column, categories=list(named[name])) if name in named else column
                for name, column in self._columns.items()
            }
        )

    def _shown(self, name: str, row: int) -> str:
        value = int(self._columns[name][row])
        if name == "flow":
            return self._flows[value]
        if name == "fate":
            return FATES[value]
        if name == "where":
            return self._ports[value] if value >= 0 else ""
        return str(value)


def same(one: Any, other: Any) -> bool:
    """Deep equality of plain values and arrays."""
    if isinstance(one, np.ndarray) or isinstance(other, np.ndarray):
        alike = isinstance(one, np.ndarray) and isinstance(other, np.ndarray) and one.dtype == other.dtype
        return alike and np.array_equal(one, other)
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(same(value, other[name]) for name, value in one.items())
    if isinstance(one, list | tuple) and isinstance(other, list | tuple):
        return len(one) == len(other) and all(map(same, one, other))
    return bool(one == other)


def html_table(header: Sequence[str], rows: Sequence[Sequence[str]], caption: str) -> str:
    """A table for a notebook."""
    head = "".join(f"<th>{html.escape(cell)}</th>" for cell in header)
    body = "".join("<tr>" + "".join(f"<td>{html.escape(cell)}</td>" for cell in row) + "</tr>" for row in rows)
    title = f"<caption>{html.escape(caption)}</caption>" if caption else ""
    return f"<table>{title}<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
