"""gym.BroadcastMul: a * b with NumPy's broadcasting."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from minigrad.course.check import Array, Arrays, Case, Contract
from minigrad.course.exercises.gym.broadcasting import pairs, summed, wrong_sums

CONTRACT = Contract(name="BroadcastMul", arguments=("a", "b"))


def reference(a: Array, b: Array) -> Array:
    """What forward returns."""
    return np.asarray(a * b)


def gradients(g: Array, a: Array, b: Array) -> Arrays:
    """The right gradients."""
    return summed(g * b, a.shape), summed(g * a, b.shape)


def cases(random: np.random.Generator) -> list[Case]:
    """Every pattern of copied axes."""
    return pairs(random)


def wrong_gradients(g: Array, a: Array, b: Array) -> Iterator[tuple[str, Arrays]]:
    """What each known wrong rule returns."""
    for name, value in _wrong(g, a, b):
        yield name, (value, None)
    for name, value in _wrong(g, b, a):
        yield name, (None, value)


def _wrong(g: Array, own: Array, other: Array) -> Iterator[tuple[str, Array]]:
    """What each known wrong rule returns for ``own``."""
    shape = own.shape
    yield from wrong_sums(g * other, shape)
    yield "R12", summed(g, shape) * other
    yield "R12", summed(summed(g, shape) * other, shape)
    yield "R12", summed(g, shape) * summed(np.broadcast_to(other, g.shape), shape)
    leading = tuple(range(g.ndim - own.ndim))
    fewer = g.sum(leading) * np.broadcast_to(other, g.shape).sum(leading)
    yield "R12", summed(fewer, shape)
    yield "L04", summed(g * own, shape)
    yield "L05", summed(g * own * other, shape)
    yield "C03", summed(g, shape)
    yield "C01", summed(np.broadcast_to(other, g.shape), shape)
