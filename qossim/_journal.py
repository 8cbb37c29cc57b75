# SPDX-License-Identifier: MIT
"""The file to which a sweep appends each run that is finished, so that it can go on after whatever stopped it.

Lines of JSON. The first says what the sweep is; a line ``{"layout": k, "flows": ..., "ports": ...}`` names the flows
and ports of the runs that follow with that ``layout``; a run is ``{"point": ..., "replication": ..., "layout": k,
"scenario": ..., "numbers": [...]}``, with the fingerprint of the scenario that was run, floats that read back to the
last bit, and null for NaN. Lines are only ever appended. What a crash or a full disk can leave is a last line that is
torn; it is cut away, and that run is done again.
"""

from __future__ import annotations

import contextlib
import errno
import json
import math
import os
import struct
import threading
from pathlib import Path
from typing import Any, Self

from qossim._measured import seed_from_plain
from qossim._points import Layout, Row, width

__all__ = ["Journal"]

_FORMAT = "qossim sweep"
_FORMAT_VERSION = 2
_BEGINNING = f'{{"format": "{_FORMAT}", '.encode()


class Journal:
    """A file of finished runs, to which more are appended; safe to use from several threads.

    Attributes
    ----------
    path : Path
        The file.
    rows : list of Row
        What was in it when it was read.
    count : int
        How many runs are in it now.
    fault : OSError or None
        Why it takes no more.
    """

    def __init__(self, path: Path, rows: list[Row], layouts: dict[Layout, int], end: int, size: int) -> None:
        self.path = path
        self.rows = rows
        self.count = len(rows)
        self.fault: OSError | None = None
        self._file: int | None = None
        self._mark = (0, 0)
        self._end, self._size = end, size  # of the lines that were written to their end, and of the file
        self._layouts = layouts
        self._lock = threading.Lock()

    @classmethod
    def create(cls, path: Path, sweep: dict[str, Any], *, anew: bool = False) -> Self:
        """A new file for a sweep, or, `anew`, an old one from its beginning; an empty one is as good as new.

        Raises
        ------
        FileExistsError
            It is there already.
        OSError
            It cannot be written.
        """
        first = _line({"format": _FORMAT, "version": _FORMAT_VERSION, "sweep": sweep})  # before there is a file
        old = path.exists()
        size = path.stat().st_size if old else 0
        if size and not anew:
            why = "go on with it by resume=, or remove it to start anew"
            raise FileExistsError(f"save: {path} is there already: {why}")
        self = cls(path, [], {}, 0, size)
        self._open("resume" if anew else "save", 0 if old else os.O_CREAT | os.O_EXCL)
        try:
            self._append(first)
        except BaseException as error:
            self.close()
            if not old:
                path.unlink(missing_ok=True)
            if isinstance(error, OSError):
                raise self._refused("save", error) from None
            raise
        return self

    @classmethod
    def read(cls, path: Path, levels: int) -> Self:
        """An old file, to go on with. `levels` is the number of quantiles.

        Raises
        ------
        ValueError
            It is damaged.
        """
        lines, whole, size = _lines(path)
        found: dict[int, Layout] = {}
        rows = []
        seen: dict[tuple[int, int], Row] = {}
        for number, line in enumerate(lines[1:], start=2):
            try:
                row = _read(line, found, levels)
                if row is not None and seen.setdefault(row[:2], row) != row:
                    raise ValueError("this run is there already, with other numbers")
            except (ValueError, KeyError, TypeError, OverflowError, RecursionError) as error:
                raise ValueError(f"{path}, line {number}: damaged ({type(error).__name__}: {error})") from error
            if row is not None:
                rows.append(row)
        return cls(path, rows, {layout: number for number, layout in found.items()}, whole, size)

    def ready(self) -> None:
        """Open it for more runs, if it is not; what a crash tore off is cut away.

        Raises
        ------
        OSError
            It cannot be written, or another process is writing to it.
        ValueError
            It is not what it was when it was read.
        """
        if self._file is None:
            self._open("resume")

    def _open(self, field: str, flags: int = 0) -> None:
        with _opening:
            try:
                if self.path.exists() and _identity(os.stat(self.path)) in _written:
                    raise OSError(errno.EAGAIN, "another sweep of this process is writing to it")
                file = os.open(self.path, os.O_WRONLY | os.O_APPEND | flags | getattr(os, "O_BINARY", 0), 0o666)
                try:
                    _claim(file)
                    found = os.fstat(file)
                    if found.st_size != self._size:
                        why = "has changed since it was read: another sweep wrote to it"
                        raise ValueError(f"{field}: {self.path} {why}")
                    if self._size > self._end:
                        os.ftruncate(file, self._end)
                except BaseException:
                    os.close(file)
                    raise
            except OSError as error:
                raise self._refused(field, error) from None
            self._file, self._mark = file, _identity(found)
            _written.add(self._mark)

    def _refused(self, field: str, error: OSError) -> OSError:
        return OSError(error.errno, f"{field}: this file cannot be written ({error.strerror})", str(self.path))

    @staticmethod
    def sweep_of(path: Path) -> dict[str, Any] | None:
        """What the first line says the sweep is; None if not even that was written to its end.

        Raises
        ------
        ValueError
            It is no such file, or of a later version.
        """
        lines, _, _ = _lines(path)
        if not lines and _BEGINNING.startswith(path.read_bytes()[: len(_BEGINNING)]):
            return None
        try:
            first = json.loads(lines[0])
            form = first["format"], first["version"]
            sweep: dict[str, Any] = first["sweep"]
        except (ValueError, KeyError, TypeError, IndexError, RecursionError):
            raise ValueError(f"resume: {path} is no file of a sweep") from None
        if form != (_FORMAT, _FORMAT_VERSION):
            raise ValueError(f"resume: {path} is of format {form}, but this reads {(_FORMAT, _FORMAT_VERSION)}")
        try:
            seed_from_plain(sweep["seed"])
        except (ValueError, KeyError, TypeError) as error:
            raise ValueError(f"resume: {path}, line 1: damaged ({type(error).__name__}: {error})") from error
        return sweep

    def write(self, row: Row) -> None:
        """Append one run.

        Once this returns, the run outlives this process, however that ends. The system may keep it in memory for some
        seconds, in which a power cut loses it.

        Raises
        ------
        OSError
            It could not be written, for want of room perhaps. The file ends with the last whole line, and takes no
            more: the same is raised from then on.
        """
        point, replication, layout, numbers, mark = row
        with self._lock:
            if self.fault is not None:
                raise self.fault
            number = self._layouts.get(layout)
            if number is None:
                number = len(self._layouts)
                self._append(_line({"layout": number, "flows": layout.flows, "ports": layout.ports}))
                self._layouts[layout] = number  # not before: Ctrl-C may come between
            values = [None if math.isnan(each) else each for each in struct.unpack(f"{len(numbers) // 8}d", numbers)]
            told = {"point": point, "replication": replication, "layout": number, "scenario": mark, "numbers": values}
            self._append(_line(told))
            self.count += 1

    def _append(self, line: bytes) -> None:
        """Write all of a line, or nothing."""
        assert self._file is not None
        left = memoryview(line)
        try:
            while left:
                written = os.write(self._file, left)
                if not written:
                    raise OSError(errno.EIO, "nothing was written")
                left = left[written:]
        except BaseException as error:
            if isinstance(error, OSError):
                self.fault = error
            with contextlib.suppress(OSError):  # then a torn line is the last, and cut away by who resumes
                os.ftruncate(self._file, self._end)
            raise
        self._end += len(line)

    @property
    def there(self) -> bool:
        """Whether it is still where it was."""
        try:
            found = _identity(os.stat(self.path))
            return self._file is None or found == _identity(os.fstat(self._file))
        except OSError:
            return False

    def close(self) -> None:
        """Take no more; where files are far away, this may bring to light that they are not written."""
        with self._lock:
            file, self._file = self._file, None
            if file is None:
                return
            with _opening:
                _written.discard(self._mark)
            try:
                found = os.fstat(file)
                if found.st_nlink == 0:
                    self.fault = self.fault or OSError(errno.ENOENT, "it was removed meanwhile")
                elif found.st_size != self._end and self.fault is None:
                    self.fault = OSError(errno.ESTALE, "it was changed meanwhile")
                os.close(file)
            except OSError as error:
                self.fault = self.fault or error


_written: set[tuple[int, int]] = set()
"""The files that this process is writing to: `_claim` is against other processes only."""
_opening = threading.Lock()


def _identity(found: os.stat_result) -> tuple[int, int]:
    return found.st_dev, found.st_ino


def _claim(file: int) -> None:
    """Have a file for this process alone, where the system knows how; until this process closes it, or reads it."""
    try:
        import fcntl
    except ImportError:
        return
    try:
        fcntl.lockf(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        if error.errno in (errno.EACCES, errno.EAGAIN):
            raise OSError(errno.EAGAIN, "another process is writing to it") from None
        # a file system without locks


def _line(told: dict[str, Any]) -> bytes:
    text = json.dumps(told, ensure_ascii=False, allow_nan=False)
    try:
        return text.encode() + b"\n"
    except UnicodeEncodeError:  # half of a surrogate pair
        return json.dumps(told, allow_nan=False).encode() + b"\n"


def _lines(path: Path) -> tuple[list[bytes], int, int]:
    """The lines that were written to their end, how many bytes they take, and how many the file has."""
    try:
        content = path.read_bytes()
    except OSError as error:
        raise OSError(error.errno, f"resume: this file cannot be read ({error.strerror})", str(path)) from None
    whole = content.rfind(b"\n") + 1
    return content[:whole].split(b"\n")[:-1], whole, len(content)


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
