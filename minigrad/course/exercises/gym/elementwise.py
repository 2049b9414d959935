"""What the exercises with one tensor and no sums are tried on."""

from __future__ import annotations

import numpy as np

from minigrad.course.check import Array, Case
from minigrad.course.exercises.gym.random_inputs import numbers, sizes


def tensors(random: np.random.Generator) -> list[tuple[str, Array]]:
    """One tensor of every kind, each with its name; the smallest first."""
    rows, columns = sizes(random, 2)
    return [
        ("three numbers", numbers(random, 3)),
        (f"a {rows} x {columns} matrix", numbers(random, rows, columns)),
        ("a square matrix, transposed in memory", numbers(random, rows, rows).T),
        ("no number at all, shape (0, 3)", numbers(random, 0, 3)),
        ("float32 numbers", numbers(random, 4).astype(np.float32)),
        ("one number, without an axis", numbers(random)),
        ("a 2 x 3 x 4 block", numbers(random, 2, 3, 4)),
    ]


def with_upstreams(
    random: np.random.Generator, drawn: list[tuple[str, Array]]
) -> list[Case]:
    """The cases of a function of one tensor whose result has the tensor's shape."""
    return [
        Case(name, (x,), numbers(random, *x.shape).astype(x.dtype)) for name, x in drawn
    ]
