# SPDX-License-Identifier: MIT
"""What can go wrong, in the user's terms; the C core raises the same exceptions."""

from __future__ import annotations

__all__ = ["ScenarioError"]


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
