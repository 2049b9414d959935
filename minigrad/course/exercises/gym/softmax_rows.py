"""What Softmax and LogSoftmax share: their cases, and sums that go wrong."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from minigrad.course.check import Array, Case
from minigrad.course.exercises.gym.random_inputs import numbers, single_precision, sizes

RAISES: Array = np.empty((9, 0, 9))
"""What a wrong rule is said to return where it would raise: no gradient's shape."""


def cases(random: np.random.Generator) -> list[Case]:
    """Every axis of several shapes, from either end, and large numbers."""
    rows, columns, depth = sizes(random, 3)

    def case(name: str, x: Array, axis: int) -> Case:
        g = numbers(random, *x.shape)
        return Case(f"{name}, axis {axis}", (x, axis), g)

    def draw(*shape: int) -> Array:
        return numbers(random, *shape)

    large = draw(2, 3) + np.array([[1000.0, 0.0, 999.0], [-1000.0] * 3])
    return [
        case("three numbers", draw(3), 0),
        case(f"a {rows} x {columns} matrix", draw(rows, columns), 1),
        case("a square matrix", draw(3, 3), 1),
        case("a square matrix, transposed in memory", draw(4, 4).T, 0),
        case(f"a {rows} x {columns} x {depth} block", draw(rows, columns, depth), -2),
        case("numbers near 1000 and -1000", large, -1),
        case("no number at all, shape (0, 3)", draw(0, 3), 1),
        single_precision(case("float32, a 2 x 3 matrix", draw(2, 3), -1)),
    ]


def softmax(x: Array, axis: int) -> Array:
    """e to the power x, divided by its sum along ``axis``; for arrays of any size."""
    powers = np.exp(x - x.max(axis, keepdims=True, initial=-np.inf))
    return np.asarray(powers / powers.sum(axis, keepdims=True))


def unstable(x: Array, axis: int) -> Array:
    """The same as it stands in books."""
    with np.errstate(all="ignore"):
        powers = np.exp(x)
        return np.asarray(powers / powers.sum(axis, keepdims=True))


def total(terms: Array, axis: int) -> Array:
    """The sum along ``axis``, for each element."""
    return np.asarray(terms.sum(axis, keepdims=True))


def wrong_totals(terms: Array, axis: int) -> Iterator[tuple[str, Array]]:
    """Sums over something else, or of a shape that meets the wrong elements."""
    yield "R08", total(terms, -1)
    yield "R08", total(terms, 0)
    yield "R11", np.asarray(terms.sum())
    yield "R04", total(terms, axis) / terms.shape[axis]
    lost = np.asarray(terms.sum(axis))
    yield "R03", lost if fits(lost, terms.shape) else RAISES
    last = np.asarray(terms.sum(-1))
    yield "R03", last if fits(last, terms.shape) else RAISES
    for other in (terms.ndim - 1 - axis, axis + 1, axis - 1):
        yield "R02", total(terms, other % terms.ndim)


def fits(array: Array, shape: tuple[int, ...]) -> bool:
    """Whether ``array`` can meet one of ``shape``, element by element."""
    axes = zip(array.shape[::-1], shape[::-1], strict=False)
    return all([n == m or 1 in (n, m) for n, m in axes])
