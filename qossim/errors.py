# SPDX-License-Identifier: MIT
"""What can go wrong, in the user's terms; the C core raises the same exceptions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import xarray as xr

__all__ = ["ScenarioError", "SweepError"]


class ScenarioError(ValueError):
    """A description is wrong; the message names the field, the value given and its bounds.

    Raised while a scenario is being described or built, never once packets move.

    Examples
    --------
    >>> import qossim as qs
    >>> qs.TxRing(limit=0)
    Traceback (most recent call last):
        ...
    qossim.errors.ScenarioError: TxRing: limit must be a whole number from 1 to 2**62, got 0
    """


class SweepError(RuntimeError):
    """A sweep came to grief: a point failed, a worker died, or its file takes no more; the message says which.

    Attributes
    ----------
    points : list of dict
        Parameters of the points that failed or were under way.
    table : xarray.Dataset or None
        What was finished till then, as an interrupted sweep returns it.
    """

    def __init__(
        self, message: str, points: list[dict[str, Any]] | None = None, table: xr.Dataset | None = None
    ) -> None:
        super().__init__(message)
        self.points = points or []
        self.table = table
