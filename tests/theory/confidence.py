# SPDX-License-Identifier: MIT
"""Confidence from independent replications, so that a statistical test states its own chance of being wrong.

Each replication has a seed of its own; within one, packets depend on each other, so only its mean counts as a value.
Seeds are fixed: a test that passes keeps passing. Its claim, the half-width, is checked too, so that it cannot pass by
being vague.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable

REPLICATIONS = 25
STUDENT = 3.745
"""Quantile 0.9995 of Student's t with 24 degrees of freedom: two-sided 99.9 %."""


def replicate(measure: Callable[[int], object]) -> np.ndarray:
    """`measure` of each seed, one row for each replication."""
    return np.array([measure(seed) for seed in range(REPLICATIONS)], dtype=float)


def agree(values: np.ndarray, expected: object, *, within: float) -> None:
    """Each column's mean is the value expected, with 99.9 % confidence, and is known to `within`, relative to it."""
    mean, expected = values.mean(axis=0), np.asarray(expected, dtype=float)
    half_width = STUDENT * values.std(axis=0, ddof=1) / math.sqrt(len(values))
    shown = f"mean {mean}, half-width {half_width}, expected {expected}"
    assert len(values) == REPLICATIONS
    assert (half_width <= within * np.abs(expected)).all(), f"too vague: {shown}"
    assert (np.abs(mean - expected) <= half_width).all(), shown
