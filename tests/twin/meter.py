# SPDX-License-Identifier: MIT
"""Measured: a bucket of tokens that starts full and is exact at every instant."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from .packet import SECOND


class TokenBucket:
    def __init__(self, description: Any) -> None:
        self.rate = description.rate / 8 / SECOND  # byte per picosecond
        self.burst = description.burst
        self.overhead = description.overhead
        self.counts = description.counts
        self.only_in_congestion = description.when == "congestion"
        self.tokens = Fraction(self.burst)
        self.since = 0

    def conforms(self, size: int, wire_bytes: int, now: int) -> bool:
        """Whether the packet finds its size in tokens; only then does it take them."""
        self.tokens = min(Fraction(self.burst), self.tokens + self.rate * (now - self.since))
        self.since = now
        counted = {"ip": size, "wire": wire_bytes}[self.counts] + self.overhead
        if counted > self.tokens:
            return False
        self.tokens -= counted
        return True
