"""15.3: a vmap rule for a sum along an axis, which is another one in the batch."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from minigrad.course.check import Array, Faults
from minigrad.course.exercises import batches
from minigrad.course.exercises.batches import Case


def look_at(answer: Any, random: np.random.Generator) -> Faults:
    """A cube for each axis, counted from either end; then lengths that all differ."""
    cubes = [cube(random, dim, axis) for dim in (0, 1) for axis in (0, 1, -1, -2)]
    others = [
        batch(random.uniform(0.5, 2, (1, 4, 5)), 0, 1),
        *[
            batch(random.uniform(0.5, 2, (2, 4, 5, 3)), dim, axis)
            for dim, axis in ((0, 1), (2, 0), (3, -1), (1, -3))
        ],
    ]
    cases = [*cubes, *others]
    yield from batches.look_at(answer, "Sum", lambda x, n: x.sum(n), cases, random)


def cube(random: np.random.Generator, dim: int, axis: int) -> Case:
    """As many samples as rows and columns, so that no shape tells a mistake."""
    return batch(random.uniform(0.5, 2, (3, 3, 3)).round(2), dim, axis)


def batch(x: Array, dim: int, axis: int) -> Case:
    """A batch with its samples along an axis, and what mistakes make of it."""
    return Case((dim, None), (x, axis), list(mistaken(x, dim, axis)))


def mistaken(x: Array, dim: int, axis: int) -> Iterator[tuple[str, Array]]:
    """What mistakes make of it."""
    front = np.moveaxis(x, dim, 0)
    shifted = axis + 1 if axis >= 0 else axis
    if dim:
        yield "axis", x.sum(shifted)
    if axis < 0:
        yield "negative", front.sum(axis + 1)
    else:
        yield "unshifted", front.sum(axis)
    for other in {*range(1, x.ndim)} - {shifted % x.ndim}:
        yield "another", front.sum(other)
