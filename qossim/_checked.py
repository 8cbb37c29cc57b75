# SPDX-License-Identifier: MIT
"""Who wants to hear of every policy that is checked; it imports nothing, so that a listener costs nothing."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from qossim.sla import Report

__all__ = ["listeners"]

listeners: list[Callable[[Report], object]] = []
"""Each is called with the report of every `qossim.SLA.check`, before it raises."""
