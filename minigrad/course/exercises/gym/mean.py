"""gym.Mean: the mean over one axis."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from minigrad.course.check import Array, Arrays, Case, Contract
from minigrad.course.exercises.gym.random_inputs import numbers, single_precision, sizes
from minigrad.course.exercises.gym.softmax_rows import RAISES

CONTRACT = Contract(name="Mean", arguments=("x", "axis", "keepdim"))


def reference(x: Array, axis: int, keepdim: bool) -> Array:
    """What forward returns."""
    return np.asarray(x.mean(axis, keepdims=keepdim))


def gradients(g: Array, x: Array, axis: int, keepdim: bool) -> Arrays:
    """The right gradients."""
    return _spread(g, x, axis, keepdim) / x.shape[axis], None, None


def cases(random: np.random.Generator) -> list[Case]:
    """Every axis of several shapes, from either end, kept and dropped."""
    rows, columns, depth = sizes(random, 3)

    def case(name: str, x: Array, axis: int, keepdim: bool) -> Case:
        name = f"{name}, axis {axis}, keepdim {keepdim}"
        result = x.mean(axis, keepdims=keepdim)
        return Case(name, (x, axis, keepdim), numbers(random, *result.shape))

    def draw(*shape: int) -> Array:
        return numbers(random, *shape)

    matrix, block = draw(rows, columns), draw(rows, columns, depth)
    shape = f"{rows} x {columns}"
    return [
        case("a 2 x 3 matrix", draw(2, 3), 1, False),
        case("four numbers", draw(4), 0, False),
        case(f"a {shape} matrix", matrix, 0, False),
        case(f"a {shape} matrix", matrix, -1, True),
        case("a square matrix", draw(3, 3), -1, False),
        case("a square matrix, transposed in memory", draw(4, 4).T, 0, False),
        case(f"a {shape} x {depth} block", block, 1, False),
        case("no number at all, shape (0, 3)", draw(0, 3), 1, False),
        single_precision(case("float32, a 2 x 3 matrix", draw(2, 3), -2, True)),
    ]


def wrong_gradients(
    g: Array, x: Array, axis: int, keepdim: bool
) -> Iterator[tuple[str, Arrays]]:
    """What each known wrong rule returns."""
    for name, value in _wrong(g, x, axis, keepdim):
        yield name, (value, None, None)


def _wrong(g: Array, x: Array, axis: int, keepdim: bool) -> Iterator[tuple[str, Array]]:
    spread, size = _spread(g, x, axis, keepdim), x.shape[axis]
    yield "R05", spread
    yield "T02", spread * (1 // size)
    yield "L05", spread * x / size
    with np.errstate(all="ignore"):
        for count in (x.size, x.shape[0], x.shape[-1], g.size, x.ndim, size - 1):
            yield "R06", np.float64(1) / count * spread
    for count in (size, x.size, 1):
        yield "R07", g / count
        stretched = _stretched(g, x.shape)
        yield "R07", stretched / count
    for name in ("R07", "R08"):
        yield name, np.repeat(g.ravel(), size).reshape(x.shape) / size
        yield name, np.tile(g.ravel(), size).reshape(x.shape) / size
    other = x.ndim - 1 - axis % x.ndim
    kept = np.moveaxis(g, axis, other) if keepdim else np.expand_dims(g, other)
    stretched = _stretched(kept, x.shape)
    yield "R07", stretched / size
    for place in (0, -1):
        there = g if keepdim else np.expand_dims(g, place)
        for kept in (there, np.expand_dims(g, place)):
            stretched = _stretched(kept, x.shape)
            for count in (size, x.shape[place]):
                yield "R08", stretched / count
    shape = list(g.shape)
    if not keepdim:
        shape.insert(axis, 1)
    stretched = _stretched(g.reshape(shape), x.shape)
    yield "R08", stretched / size


def _spread(g: Array, x: Array, axis: int, keepdim: bool) -> Array:
    """g as every element of x sees it."""
    kept = g if keepdim else np.expand_dims(g, axis)
    return np.broadcast_to(kept, x.shape)


def _stretched(g: Array, shape: tuple[int, ...]) -> Array:
    """``g`` stretched to ``shape``, where that is possible."""
    fits = g.ndim <= len(shape) and all(
        [n in (1, m) for n, m in zip(g.shape[::-1], shape[::-1], strict=False)]
    )
    return np.broadcast_to(g, shape) if fits else RAISES
