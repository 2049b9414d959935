"""gym.SortWithIndices: rows in ascending order, and where each number came from."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from minigrad.course.check import Array, Arrays, Case
from minigrad.course.exercises.gym.random_inputs import (
    distinct,
    numbers,
    single_precision,
    sizes,
)


def reference(x: Array) -> tuple[Array, Array]:
    """What forward returns."""
    return np.sort(x, -1), _order(x)


def gradients(g: Arrays, x: Array) -> Arrays:
    """The right gradients: each value goes back to where it came from."""
    moved = np.empty_like(x)
    np.put_along_axis(moved, _order(x), _values(g), -1)
    return (moved,)


def _order(x: Array) -> Array:
    return np.argsort(x, -1)


def _values(g: Arrays) -> Array:
    """The upstream gradient of the sorted values."""
    values = g[0]
    assert values is not None
    return values


def cases(random: np.random.Generator) -> list[Case]:
    """A cycle of three, rows in order and in reverse, one to three axes."""
    rows, columns, depth = sizes(random, 3)

    def case(name: str, x: Array) -> Case:
        return Case(name, (x,), (numbers(random, *x.shape), None))

    ascending = np.sort(distinct(random, 4))
    cycles = ascending[:3][np.array([[1, 2, 0], [2, 0, 1]])]
    return [
        case("three numbers, each in another's place", cycles[0]),
        case("two rows of 3", cycles),
        case(f"a {rows} x {columns} matrix", distinct(random, rows, columns)),
        case("a square matrix", distinct(random, 4, 4)),
        case("numbers in order already", ascending),
        case("a matrix that is transposed in memory", distinct(random, 5, 3).T),
        case("a block with three axes", distinct(random, 2, depth, 4)),
        single_precision(case("float32 numbers", distinct(random, 2, 4))),
    ]


def wrong_gradients(g: Arrays, x: Array) -> Iterator[tuple[str, Arrays]]:
    """What each known wrong rule returns."""
    values, order = _values(g), _order(x)
    yield "L21", (np.take_along_axis(values, order, -1),)
    yield "L21", (_rows_at(values, order),)
    yield "L11", (np.sort(values, -1),)
    yield "N04", (np.zeros_like(x),)
    rows = order.reshape(-1, x.shape[-1])
    for row in (rows[0], rows[-1]):
        moved = np.empty_like(x)
        moved[..., row] = values
        yield "R13", (moved,)
    last = np.empty_like(x)
    last[..., rows[-1]] = values.reshape(rows.shape)[-1]
    yield "R13", (last,)
    crossed = np.zeros((len(rows), x.shape[-1]), x.dtype)
    for k in range(x.shape[-1]):
        crossed[:, rows[:, k]] = values.reshape(crossed.shape)[:, k : k + 1]
    yield "R13", (crossed.reshape(x.shape),)
    flat = np.zeros(x.size, x.dtype)
    flat[order.ravel()] = values.ravel()
    yield "R13", (flat.reshape(x.shape),)
    yield "R13", (_by_the_first_axis(values, order),)
    along = np.zeros_like(x)
    fits = x.ndim > 1 and x.shape[-1] <= x.shape[0]
    if fits:
        np.put_along_axis(along, order, values, 0)
    yield "R07", (along if fits else None,)


def _by_the_first_axis(values: Array, order: Array) -> Array | None:
    """The indices as those of whole rows; None where that cannot be."""
    moved = np.zeros_like(values)
    try:
        moved[order] = values
    except (IndexError, ValueError):
        return None
    return moved


def _rows_at(values: Array, order: Array) -> Array | None:
    """The indices taken for those of whole rows; None where that cannot be."""
    return values[order] if order.max() < len(values) else None
