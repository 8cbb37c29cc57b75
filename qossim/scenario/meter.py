# SPDX-License-Identifier: MIT
"""Meter: is a packet within its contract, and what becomes of it if not."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import TYPE_CHECKING, ClassVar, Literal

from qossim import units
from qossim.scenario._describe import Description, checked_choice, description

if TYPE_CHECKING:
    from collections.abc import Mapping

    from qossim.units import RateLike, SizeLike

__all__ = ["Policer", "TokenBucket"]


class Policer(Description):
    """Base of the policers."""

    __slots__ = ()


@description
class TokenBucket(Policer):
    """Drops packets that find fewer tokens in the bucket than they have bytes; the bucket starts full.

    A packet conforms if its size is at most the tokens present, exactly, and then takes its size; one that does not
    conform takes nothing (the single bucket of RFC 2697).

    Parameters
    ----------
    rate : number or str
        Bit/s at which tokens come, above 0 and at most 8e12.
    burst : int or str
        Depth of the bucket in bytes, 0 to 1e12.
    counts : {"ip", "wire"}
        Whether sizes are bytes of the IP datagram or bytes on the wire.
    overhead : int
        Bytes added to each packet's size, 0 to 65535.
    when : {"always", "congestion"}
        ``"congestion"`` drops only what the ring would not admit at once (without a ring: what finds the wire busy),
        as the policer of an LLQ priority class does.
    """

    rate: Fraction
    burst: int
    counts: Literal["ip", "wire"]
    overhead: int
    when: Literal["always", "congestion"]

    kind: ClassVar[str] = "token-bucket"
    _units: ClassVar[Mapping[str, str]] = {"rate": "bit/s"}

    def __init__(
        self,
        rate: RateLike,
        burst: SizeLike,
        *,
        counts: Literal["ip", "wire"] = "ip",
        overhead: int = 0,
        when: Literal["always", "congestion"] = "always",
    ) -> None:
        bits = units.rate(rate, "TokenBucket: rate")
        depth = units.size(burst, "TokenBucket: burst", 0, 10**12)
        # Counted so that a picosecond brings a whole number of them: the denominator of bits / (8 * PICO).
        tokens_per_byte = bits.denominator * 8 * units.PICO // math.gcd(bits.numerator, 8 * units.PICO)
        if max(depth, 2**18) * tokens_per_byte >= 2**126:
            raise units.refusal("TokenBucket: rate", "of fewer digits for this burst", rate, "round it")
        self._set(
            rate=bits,
            burst=depth,
            counts=checked_choice(counts, "TokenBucket: counts", ("ip", "wire")),
            overhead=units.size(overhead, "TokenBucket: overhead", 0, 65535),
            when=checked_choice(when, "TokenBucket: when", ("always", "congestion")),
        )
