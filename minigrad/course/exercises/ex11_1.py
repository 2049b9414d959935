"""11.1: how many passes of each mode a Jacobian takes, counted."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import minigrad
from minigrad import func


def forward_passes(f: Callable[[Any], Any], size: int) -> int:
    """One jvp for each column."""
    x, directions = minigrad.ones(size), minigrad.eye(size)
    columns = [func.jvp(f, (x,), (direction,))[1] for direction in directions]
    return len(columns)


def reverse_passes(f: Callable[[Any], Any], size: int) -> int:
    """One run of the rules backwards for each row."""
    result, pull_back = func.vjp(f, minigrad.ones(size))
    rows = [
        pull_back(row.reshape(result.shape)) for row in minigrad.eye(result.numel())
    ]
    return len(rows)


def linear(rows: int, columns: int) -> Callable[[Any], Any]:
    """A function from so many numbers to so many."""
    matrix = minigrad.ones(rows, columns)
    return lambda x: matrix @ x


def diagonal() -> bool:
    """Whether one direction of ones finds each slope of an elementwise function."""
    x = minigrad.arange(8.0)
    slopes = func.jvp(minigrad.sin, (x,), (minigrad.ones(8),))[1]
    return bool(minigrad.allclose(slopes, x.cos()))


def truth() -> dict[str, str]:
    """The passes are run and counted."""
    one = func.jvp(linear(50, 100), (minigrad.ones(100),), (minigrad.ones(100),))[1]
    return {
        "a": str(forward_passes(linear(1000, 3), 3)),
        "b": str(reverse_passes(linear(1000, 3), 3)),
        "c": str(forward_passes(lambda x: (x * x).sum(), 1000)),
        "d": str(reverse_passes(lambda x: (x * x).sum(), 1000)),
        "e": "1" if one.shape == (50,) else "50",
        "f": "1" if diagonal() else "1000",
    }
