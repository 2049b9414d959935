"""07.2: ``MinMax``, the smallest and the largest of all numbers."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from minigrad.course.check import Array, Arrays, Case, Contract
from minigrad.course.exercises.gym.random_inputs import (
    distinct,
    numbers,
    single_precision,
    sizes,
)

CONTRACT = Contract(name="MinMax", arguments=("x",), outputs=("low", "high"))


def reference(x: Array) -> tuple[Array, Array]:
    """What forward returns."""
    return np.asarray(x.min()), np.asarray(x.max())


def gradients(g: Arrays, x: Array) -> Arrays:
    """The right gradients: each goes to the element that the output is."""
    low, high = _both(g)
    return (low * (x == x.min()) + high * (x == x.max()),)


def _both(g: Arrays) -> tuple[Array, Array]:
    low, high = g
    assert low is not None
    assert high is not None
    return low, high


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


def wrong_gradients(g: Arrays, x: Array) -> Iterator[tuple[str, Arrays]]:
    """What each known wrong rule returns."""
    low, high = _both(g)
    is_low, is_high = x == x.min(), x == x.max()
    yield "C03", (np.full_like(x, low + high),)
    yield "R10", (np.where(is_high, high, np.where(is_low, low, 0)).astype(x.dtype),)
    yield "R10", (np.where(is_low, low, np.where(is_high, high, 0)).astype(x.dtype),)
    yield "L05", (low * is_low * x + high * is_high * x,)
    yield "L01", (high * is_high - low * is_low,)
    yield "N04", (high * is_low + low * is_high,)
    yield "N01", (high * is_high + 0 * x,)
    yield "N01", (low * is_low + 0 * x,)
