# SPDX-License-Identifier: MIT
"""DiffServ code points by name (RFC 2474, 2597, 3246, 5865, 8622)."""

from __future__ import annotations

from qossim import units

__all__ = ["NAMES", "code", "name"]

NAMES: dict[str, int] = {
    "DF": 0,
    "LE": 1,
    **{f"CS{n}": 8 * n for n in range(1, 8)},
    **{f"AF{n}{drop}": 8 * n + 2 * drop for n in range(1, 5) for drop in range(1, 4)},
    "VA": 44,
    "EF": 46,
}
_ALIASES = NAMES | {"BE": 0, "CS0": 0, "DEFAULT": 0, "VOICE-ADMIT": 44}
_WORDS = {number: word for word, number in NAMES.items()}


def code(value: object, field: str) -> int:
    """The number of a DSCP given by name, in any case, or by number, 0 to 63."""
    bounds = "a DSCP, 0 to 63 or a name (DF, LE, CS0 to CS7, AF11 to AF43, VA, EF)"
    if isinstance(value, str):
        word = value.strip().upper()
        if word in _ALIASES:
            return _ALIASES[word]
        if not (word.isascii() and word.isdigit()):
            raise units.refusal(field, bounds, value, "no such name")
    exact = units.number(value, field, bounds)
    if exact.denominator != 1 or not 0 <= exact <= 63:
        raise units.refusal(field, bounds, value)
    return int(exact)


def name(number: int) -> str | int:
    """The name of a DSCP, or its number if it has none."""
    return _WORDS.get(number, number)
