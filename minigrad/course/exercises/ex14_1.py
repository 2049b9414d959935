"""14.1: where a compiled kernel takes less time in all, and where it doesn't."""

from __future__ import annotations

THIRD = 4 / 3
"""By less than this factor two times are about equal."""

COMPILES, MANY = 0.5, 100_000
TOTALS = {
    "a": (20 * 10e-3, COMPILES + 20 * 0.1e-3),
    "b": (1000 * 10e-3, COMPILES + 1000 * 0.1e-3),
    "c": (MANY * 1.2e-3, COMPILES + MANY * 20e-3),
    "d": (MANY * 390e-6, COMPILES + MANY * 4.3e-6),
    "e": (MANY * 58e-6, COMPILES + MANY * 63e-6),
    "f": (1.0, 1 - 0.02 + 0.02 / 100),
}
"""Seconds as it is, and compiled. A call's of c, d, e: medians of ``interleaved``."""


def truth() -> dict[str, str]:
    """Which of the two takes less in all."""
    return {name: said(*totals) for name, totals in TOTALS.items()}


def said(as_it_is: float, compiled: float) -> str:
    """The shorter one, if they aren't about equal."""
    if as_it_is * THIRD < compiled:
        return "as it is"
    return "compiled" if compiled * THIRD < as_it_is else "about equal"
