"""15.2: a vmap rule for a product of which one side is a batch, or both."""

from __future__ import annotations

from typing import Any

import numpy as np

from minigrad.course.check import Array, Faults
from minigrad.course.exercises import batches
from minigrad.course.exercises.batches import Case


def look_at(answer: Any, random: np.random.Generator) -> Faults:
    """Cases in which a mistake shows as a number; then lengths that all differ."""

    def drawn(*shape: int) -> Array:
        return random.uniform(0.5, 2, shape).round(2)

    x, y, square, stack = drawn(3, 3), drawn(3), drawn(3, 3), drawn(4, 3, 3)
    cases = [
        Case(
            (1, None),
            (x, y),
            [("axis", x * y), ("stretched", x.T * y[:, None])],
        ),
        Case((0, None), (y, y + 1), [("stretched", y * (y + 1))]),
        Case(
            (None, 0),
            (x, square),
            [("stretched", x * square), ("behind", x * square[:, :, None])],
        ),
        Case((0, 1), (x, square), [("axis", x * square)]),
        Case((2, None), (drawn(2, 4, 5), drawn(2, 4))),
        Case((None, 1), (drawn(3, 2), drawn(2, 5))),
        Case((1, None), (drawn(3, 4), drawn(2, 3))),
        Case((0, None), (drawn(4), drawn(2, 3))),
        Case((None, 1), (drawn(2, 3, 2), drawn(2, 5))),
        Case((0, None), (drawn(1, 4), drawn(2, 4))),
        Case((0, None), (stack, x), [("axes", stack.swapaxes(1, 2) * x)]),
        Case((1, 2), (drawn(2, 5, 3), drawn(2, 3, 5))),
    ]
    yield from batches.look_at(answer, "Mul", lambda x, y: x * y, cases, random)
