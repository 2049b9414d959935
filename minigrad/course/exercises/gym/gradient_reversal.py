"""gym.GradientReversal: x itself, and the gradient turned round."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from minigrad.course.check import Array, Arrays, Case, Contract
from minigrad.course.exercises.gym.random_inputs import numbers, single_precision, sizes

CONTRACT = Contract(name="GradientReversal", arguments=("x", "lam"))


def reference(x: Array, lam: float) -> Array:
    """What forward returns."""
    return x


def gradients(g: Array, x: Array, lam: float) -> Arrays:
    """The gradients that are asked for: not those of the result."""
    return -lam * g, None


def cases(random: np.random.Generator) -> list[Case]:
    """Whole and broken numbers for lam, and 0."""
    rows, columns = sizes(random, 2)

    def case(name: str, x: Array, lam: float) -> Case:
        return Case(f"{name}, lam = {lam}", (x, lam), numbers(random, *x.shape))

    matrix = f"a {rows} x {columns} matrix"
    return [
        case("three numbers", numbers(random, 3), 0.5),
        case("one number, without an axis", numbers(random), 2.5),
        case(matrix, numbers(random, rows, columns), 3),
        case("a square matrix, transposed in memory", numbers(random, 3, 3).T, 0.1),
        case("four numbers", numbers(random, 4), 0.0),
        case("a 2 x 3 x 4 block", numbers(random, 2, 3, 4), 1.5),
        case("no number at all, shape (0, 3)", numbers(random, 0, 3), 0.3),
        single_precision(case("float32 numbers", numbers(random, 2, 3), 0.25)),
    ]


def wrong_gradients(g: Array, x: Array, lam: float) -> Iterator[tuple[str, Arrays]]:
    """What each known wrong rule returns."""
    yield "C07", (-g, None)
    yield "C07", (-lam * lam * g, None)
    yield "A10", (-x * g, None)


def wrong_results(x: Array, lam: float) -> Iterator[tuple[str, Array]]:
    """Wrong results of forward that have a name."""
    yield "L15", -x
    yield "L15", -lam * x
    yield "L15", lam * x


def factors(x: Array, lam: float) -> Iterator[tuple[str, float]]:
    """What a constant ratio of wrong to right could follow."""
    yield "C07", lam
