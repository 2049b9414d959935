"""14.1: where a compiled kernel takes less time in all, and where it doesn't."""

from __future__ import annotations

THIRD = 4 / 3
"""By less than this factor two times are about equal."""

COMPILES, CALL_AS_IT_IS, CALL_COMPILED = 0.5, 10e-3, 0.1e-3
"""Seconds: what the questions a and b say."""

SHARE, SPEED_UP = 0.02, 100
"""What question f says."""

MANY = 100_000
MEASURED = {
    "c": (1.2e-3, 20e-3),
    "d": (390e-6, 4.3e-6),
    "e": (58e-6, 63e-6),
}
"""Seconds of one of MANY calls as it is and compiled: medians of ``interleaved``."""


def truth() -> dict[str, str]:
    """What each takes in all."""
    totals = {
        "a": in_all(20, CALL_AS_IT_IS, CALL_COMPILED),
        "b": in_all(1000, CALL_AS_IT_IS, CALL_COMPILED),
        **{name: in_all(MANY, *times) for name, times in MEASURED.items()},
        "f": (1.0, 1 - SHARE + SHARE / SPEED_UP),
    }
    return {name: said(*times) for name, times in sorted(totals.items())}


def in_all(calls: int, as_it_is: float, compiled: float) -> tuple[float, float]:
    """Seconds of so many calls, and of compiling before."""
    return calls * as_it_is, COMPILES + calls * compiled


def said(as_it_is: float, compiled: float) -> str:
    """Which of the two takes less."""
    if as_it_is * THIRD < compiled:
        return "as it is"
    return "compiled" if compiled * THIRD < as_it_is else "about equal"
