"""What the exercises on broadcasting share: pairs of shapes, and ways to sum."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from minigrad.course.check import Array, Case
from minigrad.course.exercises.gym.random_inputs import numbers, single_precision, sizes

Shape = tuple[int, ...]


def pairs(random: np.random.Generator) -> list[Case]:
    """Two operands with every pattern of copied axes."""
    rows, columns, blocks = sizes(random, 3)
    shapes: list[tuple[Shape, Shape]] = [
        ((2, 3), (3,)),
        ((rows, columns), (rows, 1)),
        ((rows, 1), (1, columns)),
        ((rows, 2), ()),
        ((), (rows, columns)),
        ((columns, rows), ()),
        ((blocks, 2, rows), (2, 1)),
        ((1, 2, 1), (rows, 1, columns)),
        ((2, 0), (0,)),
    ]
    drawn = [_case(random, first, second) for first, second in shapes]
    turned = numbers(random, 3, 3).T, numbers(random, 3)
    name = "shapes (3, 3), transposed in memory, and (3,)"
    zeros = np.array([[0.0, 1.5], [-0.75, 0.0]]), np.array([[2.5, -1.25], [0.0, 0.0]])
    single = single_precision(_case(random, (3,), (2, 3)))
    return [
        *drawn,
        Case(name, turned, numbers(random, 3, 3)),
        Case("zeros among the numbers", zeros, numbers(random, 2, 2)),
        Case(f"float32, {single.name}", single.inputs, single.upstream),
    ]


def _case(random: np.random.Generator, first: Shape, second: Shape) -> Case:
    operands = numbers(random, *first), numbers(random, *second)
    result = np.broadcast_shapes(first, second)
    return Case(f"shapes {first} and {second}", operands, numbers(random, *result))


def summed(terms: Array, shape: Shape) -> Array:
    """``terms`` added up over every axis that was copied to make them of ``shape``."""
    return _over_ones(_over_new(terms, shape), shape)


def wrong_sums(terms: Array, shape: Shape) -> Iterator[tuple[str, Array]]:
    """What comes of ``terms`` if they are not added up as they should be.

    Each way twice: most learners first ask whether anything was copied, some do not.
    """
    yield "R01", terms
    sums = [(name, add_up(terms, shape)) for name, add_up in WRONG_SUMS]
    for name, value in sums:
        yield name, terms if terms.shape == shape else value
    yield from sums


def _over_new(terms: Array, shape: Shape, axis: int = 0) -> Array:
    """``terms`` without the axes that broadcasting put in front."""
    while terms.ndim > len(shape):
        terms = np.asarray(terms.sum(axis))
    return terms


def _over_ones(terms: Array, shape: Shape) -> Array:
    """``terms`` with one element along every axis that has one in ``shape``."""
    ones = _ones(terms.ndim, shape)
    return np.asarray(terms.sum(ones, keepdims=True))


def _ones(axes: int, shape: Shape) -> tuple[int, ...]:
    return tuple(axes - len(shape) + i for i, n in enumerate(shape) if n == 1)


def _copied(terms: Array, shape: Shape) -> tuple[int, ...]:
    return (*range(terms.ndim - len(shape)), *_ones(terms.ndim, shape))


def _mean(terms: Array, shape: Shape) -> Array:
    right = summed(terms, shape)
    return right * (right.size / terms.size) if terms.size else right


def _mean_of_new(terms: Array, shape: Shape) -> Array:
    copies = int(np.prod(terms.shape[: terms.ndim - len(shape)]))
    return summed(terms, shape) / max(copies, 1)


def _mean_of_ones(terms: Array, shape: Shape) -> Array:
    copies = int(np.prod([terms.shape[i] for i in _ones(terms.ndim, shape)]))
    return summed(terms, shape) / max(copies, 1)


def _all_for_new(terms: Array, shape: Shape) -> Array:
    if terms.ndim == len(shape):
        return _over_ones(terms, shape)
    return np.full(shape, terms.sum())


def _ones_from_the_left(terms: Array, shape: Shape) -> Array:
    ones = tuple(i for i, n in enumerate(shape) if n == 1)
    return np.asarray(terms.sum(ones, keepdims=True))


def _one_new(terms: Array, shape: Shape) -> Array:
    fewer = np.asarray(terms.sum(0)) if terms.ndim > len(shape) else terms
    return _ones_from_the_left(fewer, shape)


def _one_copy(terms: Array, shape: Shape, which: int = 0) -> Array:
    one = terms
    for axis in _copied(terms, shape):
        one = one.take([which], axis)
    return one.reshape(shape)


def _one_of_new(terms: Array, shape: Shape) -> Array:
    one = terms[(0,) * (terms.ndim - len(shape))]
    return _over_ones(np.asarray(one), shape)


WRONG_SUMS: list[tuple[str, Callable[[Array, Shape], Array]]] = [
    ("R04", _mean),
    ("R04", _mean_of_new),
    ("R04", _mean_of_ones),
    ("R09", _over_new),
    ("R09", _over_ones),
    ("R09", lambda t, shape: _over_ones(t, shape) if t.ndim == len(shape) else t),
    ("R09", _ones_from_the_left),
    ("R09", _one_new),
    ("R09", lambda terms, shape: np.asarray(terms.sum(0))),
    ("R03", lambda terms, shape: np.asarray(terms.sum(_copied(terms, shape)))),
    ("R11", lambda terms, shape: np.full(shape, terms.sum())),
    ("R11", lambda terms, shape: np.asarray(terms.sum())),
    ("R11", _all_for_new),
    ("R02", lambda terms, shape: _over_ones(_over_new(terms, shape, -1), shape)),
    ("R02", lambda terms, shape: np.asarray(terms.sum(-1))),
    ("R14", _one_copy),
    ("R14", lambda terms, shape: _one_copy(terms, shape, -1)),
    ("R14", _one_of_new),
    ("R10", lambda terms, shape: _one_copy(terms, shape, -1)),
]
