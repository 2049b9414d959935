"""gym.InplaceSquare: x times itself, in place."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from minigrad.course.check import Array, Arrays, Case, Contract
from minigrad.course.exercises.gym.random_inputs import numbers, single_precision, sizes

CONTRACT = Contract(name="InplaceSquare", arguments=("x",), in_place=True)


def reference(x: Array) -> Array:
    """What forward returns: the very x that it was given, with these values."""
    return x * x


def gradients(g: Array, x: Array) -> Arrays:
    """The right gradients."""
    return (2 * g * x,)


def cases(random: np.random.Generator) -> list[Case]:
    """Both signs, zeros, ones, a single number and none at all."""
    rows, columns = sizes(random, 2)

    def case(name: str, x: Array) -> Case:
        return Case(name, (x,), numbers(random, *x.shape))

    return [
        case("three numbers", numbers(random, 3)),
        case("one number", numbers(random)),
        case(f"a {rows} x {columns} matrix", numbers(random, rows, columns)),
        case("a square matrix", numbers(random, 3, 3)),
        case("a matrix that is transposed in memory", numbers(random, 4, 2).T),
        case("zeros and ones", np.array([0.0, -1.0, 0.0, 1.0, 2.0])),
        case("a 2 x 3 x 4 block", numbers(random, 2, 3, 4)),
        case("no number at all, shape (0, 3)", numbers(random, 0, 3)),
        single_precision(case("float32 numbers", numbers(random, 2, 3))),
    ]


def wrong_gradients(g: Array, x: Array) -> Iterator[tuple[str, Arrays]]:
    """What each known wrong rule returns."""
    yield "M04", (2 * g * x * x,)
    yield "L03", (2 * g * x * x,)
    yield "M04", (g * x * x,)
    yield "L03", (2 * g,)
    yield "L03", (g * x**3,)
    yield "L03", (3 * g * x**2,)
    yield "L01", (2 * g * np.abs(x),)
    yield "L05", (2 * g * x**4,)
