"""09.3: ``Decay``, which keeps an input, its output and a number, without ctx."""

from __future__ import annotations

import numpy as np

from minigrad.course.check import Case
from minigrad.course.exercises.gym.random_inputs import numbers, single_precision, sizes


def cases(random: np.random.Generator) -> list[Case]:
    """Numbers of both signs, zeros among x, whole and broken hours."""
    rows, columns = sizes(random, 2)

    def case(name: str, hours: float, *shape: int) -> Case:
        x, rate, g = (numbers(random, *shape) for _ in range(3))
        return Case(f"{name}, hours {hours}", (x, rate, hours), g)

    square = case("a square matrix", 2, 3, 3)
    x, rate, hours = square.inputs
    return [
        case("four numbers", 0.5, 4),
        case("one number", 2),
        case(f"a {rows} x {columns} matrix", 1.5, rows, columns),
        Case("x transposed in memory", (x.T, rate, hours), square.upstream),
        Case("zeros among x", (x * (x > 0), rate, 0.25), square.upstream),
        single_precision(case("float32 numbers", 0.75, 4)),
    ]
