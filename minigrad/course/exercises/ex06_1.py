"""06.1: which axes of six shapes stretch."""

from __future__ import annotations

import numpy as np

Shape = tuple[int, ...]

PAIRS: dict[str, tuple[Shape, Shape]] = {
    "a": ((4,), (3, 4)),
    "b": ((3, 1), (3, 4)),
    "c": ((), (2, 3)),
    "d": ((1, 4), (3, 1)),
    "e": ((2, 1), (5, 2, 3)),
    "f": ((1, 3), (1, 3)),
}
"""For each question the shape that is asked for, and the shape beside it."""


def truth() -> dict[str, str]:
    """The axes along which NumPy repeats the elements."""
    return {name: said(stretched(*pair)) for name, pair in PAIRS.items()}


def stretched(shape: Shape, other: Shape) -> list[int]:
    """The axes of the result along which elements of ``shape`` stand several times."""
    result = np.broadcast_shapes(shape, other)
    names = np.broadcast_to(np.arange(np.prod(shape)).reshape(shape), result)
    return [
        axis
        for axis, length in enumerate(result)
        if length > 1 and np.all(names == names.take([0], axis))
    ]


def said(axes: list[int]) -> str:
    """The axes in the words of the choices."""
    if not axes:
        return "none"
    noun = "axis" if len(axes) == 1 else "axes"
    return f"{noun} {' and '.join(map(str, axes))}"
