"""gym.JvpMul: x * y, for derivatives in both directions."""

from __future__ import annotations

import numpy as np

from minigrad.course.check import Array, Case
from minigrad.course.exercises.gym.random_inputs import numbers, single_precision, sizes


def cases(random: np.random.Generator) -> list[Case]:
    """Two tensors of one shape."""
    rows, columns = sizes(random, 2)

    def draw(*shape: int) -> Array:
        return numbers(random, *shape)

    def case(name: str, *shape: int) -> Case:
        return Case(name, (draw(*shape), draw(*shape)), draw(*shape))

    edges = np.array([0.0, -1.5, 0.0, 2.0]), np.array([1.25, 0.0, 0.0, -0.5])
    turned = draw(3, 3), draw(3, 3).T
    return [
        case("three numbers", 3),
        case("one number, without an axis"),
        case(f"a {rows} x {columns} matrix", rows, columns),
        Case("a square matrix, one of them transposed", turned, draw(3, 3)),
        Case("zeros among the numbers", edges, draw(4)),
        case("a block with three axes", 2, 1, 3),
        case("no number at all, shape (0, 3)", 0, 3),
        single_precision(case("float32 numbers", 3)),
    ]
