# SPDX-License-Identifier: MIT
"""A DataFrame that prints whole: too many columns for the line go on below, none is left out."""

from __future__ import annotations

import shutil
from typing import Any

import pandas as pd

__all__ = ["Table"]

_WHOLE = ("throughput",)


class Table(pd.DataFrame):  # type: ignore[misc]
    """What pandas knows as a DataFrame; only its ``repr`` differs, and whatever is made of it is a plain one."""

    @property
    def _constructor(self) -> Any:
        return pd.DataFrame

    def __repr__(self) -> str:
        text: str = self.to_string(
            line_width=shutil.get_terminal_size((80, 24)).columns,
            max_rows=pd.get_option("display.max_rows"),
            min_rows=pd.get_option("display.min_rows"),
            float_format="{:.6g}".format,
            formatters={name: "{:.0f}".format for name in _WHOLE if name in self.columns},
            show_dimensions="truncate",
        )
        return "\n".join(line.rstrip() for line in text.splitlines())
