"""gym.TwoOutputs: the sine and the square of x, in one Function."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from minigrad.course.check import Array, Arrays, Case, Contract
from minigrad.course.exercises.gym.random_inputs import numbers, single_precision, sizes

CONTRACT = Contract(
    name="TwoOutputs",
    arguments=("x",),
    outputs=("sine", "square"),
    materialize_grads=False,
)


def reference(x: Array) -> tuple[Array, Array]:
    """What forward returns."""
    return np.sin(x), x * x


def gradients(g: Arrays, x: Array) -> Arrays:
    """The right gradients: one sum of what comes by way of each output."""
    sine, square = _both(g)
    return (sine * np.cos(x) + square * 2 * x,)


def _both(g: Arrays) -> tuple[Array, Array]:
    sine, square = g
    assert sine is not None
    assert square is not None
    return sine, square


def cases(random: np.random.Generator) -> list[Case]:
    """Both signs, zeros, a single number and none at all."""
    rows, columns = sizes(random, 2)

    def case(name: str, x: Array) -> Case:
        return Case(name, (x,), (numbers(random, *x.shape), numbers(random, *x.shape)))

    return [
        case("three numbers", numbers(random, 3)),
        case("one number", numbers(random)),
        case(f"a {rows} x {columns} matrix", numbers(random, rows, columns)),
        case("a square matrix", numbers(random, 3, 3)),
        case("a matrix that is transposed in memory", numbers(random, 4, 2).T),
        case("zeros among the numbers", np.array([0.0, -1.5, 0.0, 2.0])),
        case("a 2 x 3 x 4 block", numbers(random, 2, 3, 4)),
        case("no number at all, shape (0, 3)", numbers(random, 0, 3)),
        single_precision(case("float32 numbers", numbers(random, 2, 3))),
    ]


def wrong_gradients(g: Arrays, x: Array) -> Iterator[tuple[str, Arrays]]:
    """What each known wrong rule returns."""
    sine, square = _both(g)
    by_sine, by_square = sine * np.cos(x), square * 2 * x
    yield "L01", (by_square - by_sine,)
    yield "L01", (by_sine - by_square,)
    yield "L02", (by_sine + square * x,)
    yield "L03", (by_sine + square * 2,)
    yield "L03", (by_sine + square * 2 * x * x,)
    yield "C03", (sine + by_square,)
    yield "C03", (by_sine + square,)
    yield "C03", (sine + square,)
    yield "C01", (np.cos(x) + by_square,)
    yield "C01", (by_sine + 2 * x,)
    yield "L05", (sine * np.cos(np.sin(x)) + by_square,)
    yield "L05", (sine * np.sin(x) + by_square,)
    yield "L05", (by_sine + square * x * x,)
    yield "L05", (sine * np.cos(np.sin(x)) + square * 2 * x * x,)
    yield "L05", (sine * np.sin(x) + square * x * x,)
    yield "C06", (2 * by_sine + by_square,)
    yield "C06", (by_sine + 2 * by_square,)
    yield "N04", (square * np.cos(x) + by_square,)
    yield "N04", (by_sine + sine * 2 * x,)
