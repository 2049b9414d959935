"""15.4: a rule for a matrix times a vector that mixes samples."""

from __future__ import annotations

from typing import Any

import numpy as np

from minigrad.course.check import Array, Faults
from minigrad.course.exercises import batches
from minigrad.course.exercises.batches import Case


def look_at(answer: Any, random: np.random.Generator) -> Faults:
    """Squares first, in which only numbers tell; then lengths that all differ."""

    def drawn(*shape: int) -> Array:
        return random.uniform(0.5, 2, shape).round(2)

    x, W = drawn(3, 3), drawn(3, 3)
    mixed = x @ W.T
    names = [("mixed", mixed), ("mixed_transposed", mixed.T)]
    cases = [
        Case((1, None), (x, W), names),
        Case((0, None), (x, W), [("always", x.T @ W.T)]),
        Case((1, None), (drawn(3, 1), drawn(2, 3))),
        Case((1, None), (drawn(3, 5), drawn(2, 3))),
        Case((0, None), (drawn(5, 3), drawn(2, 3))),
    ]
    yield from batches.look_at(answer, "Linear", lambda x, W: W @ x, cases, random)
