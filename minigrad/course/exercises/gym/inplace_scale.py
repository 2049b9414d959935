"""gym.InplaceScale: x times a number, in place."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from minigrad.course.check import Array, Arrays, Case, Contract
from minigrad.course.exercises.gym.random_inputs import numbers, single_precision, sizes

CONTRACT = Contract(name="InplaceScale", arguments=("x", "c"), in_place=True)


def reference(x: Array, c: float) -> Array:
    """What forward returns: the very x that it was given, with these values."""
    return x * c


def gradients(g: Array, x: Array, c: float) -> Arrays:
    """The right gradients."""
    return g * c, None


def cases(random: np.random.Generator) -> list[Case]:
    """Whole, broken and negative factors; a single number, and none at all."""
    rows, columns = sizes(random, 2)
    factor = float(numbers(random))

    def case(name: str, x: Array, c: float) -> Case:
        return Case(f"{name}, c = {c}", (x, c), numbers(random, *x.shape))

    return [
        case("three numbers", numbers(random, 3), 2.5),
        case("one number", numbers(random), -3.0),
        case(f"a {rows} x {columns} matrix", numbers(random, rows, columns), factor),
        case("a square matrix", numbers(random, 3, 3), 0.5),
        case("a whole factor", numbers(random, 4), 3),
        case("a matrix that is transposed in memory", numbers(random, 4, 2).T, -1.25),
        case("zeros among the numbers", np.array([0.0, -1.5, 0.0, 2.0]), 1.75),
        case("a 2 x 3 x 4 block", numbers(random, 2, 3, 4), -0.5),
        case("no number at all, shape (0, 3)", numbers(random, 0, 3), 2.5),
        single_precision(case("float32 numbers", numbers(random, 2, 3), 2.5)),
    ]


def wrong_gradients(g: Array, x: Array, c: float) -> Iterator[tuple[str, Arrays]]:
    """What each known wrong rule returns."""
    yield "L04", (g * x, None)
    yield "L04", (g * x * c, None)
    yield "M04", (g * c * x * c, None)


def factors(x: Array, c: float) -> Iterator[tuple[str, float]]:
    """What a constant factor may follow."""
    yield "C07", 1 / c
    yield "C07", c
    yield "C07", 1 / c**2
