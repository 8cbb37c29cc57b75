# SPDX-License-Identifier: MIT
"""The file to which a sweep appends each run that is finished, so that it can go on after whatever stopped it.

Lines of JSON. The first says what the sweep is; a line ``{"layout": k, "flows": ..., "ports": ...}`` names the flows
and ports of the runs that follow with that ``layout``; a run is ``{"point": ..., "replication": ..., "layout": k,
"scenario": ..., "numbers": [...]}``, with the fingerprint of the scenario that was run, floats that read back to the
last bit, and null for NaN. Lines are only ever appended, each in one piece: what a crash can leave is a last line that
is torn, and that run is done again.
"""

from __future__ import annotations

import json
import math
import os
import struct
import threading
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from qossim._points import Layout, Row, width

if TYPE_CHECKING:
    pass

__all__ = ["Journal"]

_FORMAT = "qossim sweep"
_FORMAT_VERSION = 1
_BEGINNING = f'{{"format": "{_FORMAT}", '.encode()


class Journal:
    """A file of finished runs, open for more of them; safe to use from several threads.

    Attributes
    ----------
    rows : list of Row
        What was in it when it was opened.
    """

    def __init__(self, path: Path, file: int, rows: list[Row], layouts: dict[Layout, int]) -> None:
        self.path = path
        self.rows = rows
        self._file = file
        self._layouts = layouts
        self._lock = threading.Lock()

    @classmethod
    def create(cls, path: Path, sweep: dict[str, Any], *, anew: bool = False) -> Self:
        """A new file for a sweep, or, `anew`, an old one from its beginning.

        Raises
        ------
        FileExistsError
            It is there already.
        """
        first = _line({"format": _FORMAT, "version": _FORMAT_VERSION, "sweep": sweep})  # before there is a file
        flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | getattr(os, "O_BINARY", 0)
        try:
            file = os.open(path, flags | (os.O_TRUNC if anew else os.O_EXCL), 0o666)
        except FileExistsError:
            raise FileExistsError(
                f"save: {path} is there already: go on with it by resume=, or remove it to start anew"
            ) from None
        except OSError as error:
            why = f"save: this file cannot be written ({error.strerror})"
            raise OSError(error.errno, why, str(path)) from None
        self = cls(path, file, [], {})
        try:
            self._append(first)
        except BaseException:
            self.close()
            path.unlink(missing_ok=True)
            raise
        return self

    @classmethod
    def reopen(cls, path: Path, levels: int) -> Self:
        """An old file, to go on with; what a crash tore off is cut away. `levels` is the number of quantiles."""
        lines, whole = _lines(path)
        found: dict[int, Layout] = {}
        rows = []
        for number, line in enumerate(lines[1:], start=2):
            try:
                row = _read(line, found, levels)
            except (ValueError, KeyError, TypeError, OverflowError) as error:
                raise ValueError(f"{path}, line {number}: damaged ({type(error).__name__}: {error})") from error
            if row is not None:
                rows.append(row)
        file = os.open(path, os.O_WRONLY | os.O_APPEND | getattr(os, "O_BINARY", 0))
        os.ftruncate(file, whole)
        return cls(path, file, rows, {layout: number for number, layout in found.items()})

    @staticmethod
    def sweep_of(path: Path) -> dict[str, Any] | None:
        """What the first line says the sweep is; None if not even that was written to its end.

        Raises
        ------
        ValueError
            It is no such file, or of a later version.
        """
        lines, _ = _lines(path)
        if not lines and _BEGINNING.startswith(path.read_bytes()[: len(_BEGINNING)]):
            return None
        try:
            first = json.loads(lines[0])
            form = first["format"], first["version"]
            sweep: dict[str, Any] = first["sweep"]
        except (ValueError, KeyError, TypeError, IndexError):
            raise ValueError(f"resume: {path} is no file of a sweep") from None
        if form == (_FORMAT, _FORMAT_VERSION) and not (isinstance(sweep, dict) and "seed" in sweep):
            raise ValueError(f"resume: {path}, line 1: damaged (it does not say what the sweep is)")
        if form != (_FORMAT, _FORMAT_VERSION):
            raise ValueError(f"resume: {path} is of format {form}, but this reads {(_FORMAT, _FORMAT_VERSION)}")
        return sweep

    def write(self, row: Row) -> None:
        """Append one run. Once this returns, only a failing disk can lose it."""
        point, replication, layout, numbers, mark = row
        with self._lock:
            number = self._layouts.get(layout)
            if number is None:
                number = len(self._layouts)
                self._append(_line({"layout": number, "flows": layout.flows, "ports": layout.ports}))
                self._layouts[layout] = number  # not before: Ctrl-C may come between
            values = [None if math.isnan(each) else each for each in struct.unpack(f"{len(numbers) // 8}d", numbers)]
            told = {"point": point, "replication": replication, "layout": number, "scenario": mark, "numbers": values}
            self._append(_line(told))

    def _append(self, line: bytes) -> None:
        left = memoryview(line)
        while left:
            left = left[os.write(self._file, left) :]

    def close(self) -> None:
        os.close(self._file)


def _line(told: dict[str, Any]) -> bytes:
    text = json.dumps(told, ensure_ascii=False, allow_nan=False)
    try:
        return text.encode() + b"\n"
    except UnicodeEncodeError:  # half of a surrogate pair
        return json.dumps(told, allow_nan=False).encode() + b"\n"


def _lines(path: Path) -> tuple[list[bytes], int]:
    """The lines that were written to their end, and how many bytes they take."""
    content = path.read_bytes()
    whole = content.rfind(b"\n") + 1
    return content[:whole].split(b"\n")[:-1], whole


def _whole(value: object, name: str) -> int:
    if type(value) is not int or value < 0:
        raise ValueError(f"{name} is {value!r}")
    return value


def _finite(value: object) -> float:
    if type(value) not in (int, float) or not math.isfinite(value):  # type: ignore[arg-type]
        raise ValueError(f"{value!r} among the numbers")
    return float(value)  # type: ignore[arg-type]


def _read(line: bytes, layouts: dict[int, Layout], levels: int) -> Row | None:
    """A run, or None where a layout was told, which is put among `layouts`."""
    told = json.loads(line)
    if not isinstance(told, dict):
        raise ValueError("neither a run nor a layout")
    _whole(told["layout"], "layout")
    if "flows" in told:
        ports = tuple((str(name), tuple(map(str, classes))) for name, classes in told["ports"])
        layouts[int(told["layout"])] = Layout(tuple(map(str, told["flows"])), ports)
        return None
    layout = layouts[told["layout"]]
    values = [math.nan if each is None else _finite(each) for each in told["numbers"]]
    point, replication = _whole(told["point"], "point"), _whole(told["replication"], "replication")
    if len(values) != width(layout, levels):
        raise ValueError(f"{len(values)} numbers in place of {width(layout, levels)}")
    return (
        point,
        replication,
        layout,
        struct.pack(f"{len(values)}d", *values),
        str(told["scenario"]),
    )
