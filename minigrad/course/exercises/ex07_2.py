"""07.2: ``MinMax``, the smallest and the largest of all numbers."""

from __future__ import annotations

import numpy as np

from minigrad.course.check import Array, Case
from minigrad.course.exercises.gym.random_inputs import (
    distinct,
    numbers,
    single_precision,
    sizes,
)


def cases(random: np.random.Generator) -> list[Case]:
    """One to three axes, and a number that is the smallest and the largest."""
    rows, columns = sizes(random, 2)

    def case(name: str, x: Array) -> Case:
        return Case(name, (x,), (numbers(random), numbers(random)))

    return [
        case("four numbers", distinct(random, 4)),
        case(f"a {rows} x {columns} matrix", distinct(random, rows, columns)),
        case("a square matrix", distinct(random, 3, 3)),
        case("a matrix that is transposed in memory", distinct(random, 4, 2).T),
        case("one number, both the smallest and the largest", numbers(random, 1)),
        case("a 2 x 3 x 2 block", distinct(random, 2, 3, 2)),
        case("all numbers negative", -9.0 + distinct(random, 5)),
        single_precision(case("float32 numbers", distinct(random, 2, 3))),
    ]
