"""gym.BroadcastAdd: a + b with NumPy's broadcasting."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from minigrad.course.check import Array, Arrays, Case, Contract
from minigrad.course.exercises.gym.broadcasting import pairs, summed, wrong_sums

CONTRACT = Contract(name="BroadcastAdd", arguments=("a", "b"))


def reference(a: Array, b: Array) -> Array:
    """What forward returns."""
    return np.asarray(a + b)


def gradients(g: Array, a: Array, b: Array) -> Arrays:
    """The right gradients."""
    return summed(g, a.shape), summed(g, b.shape)


def cases(random: np.random.Generator) -> list[Case]:
    """Every pattern of copied axes."""
    return pairs(random)


def wrong_gradients(g: Array, a: Array, b: Array) -> Iterator[tuple[str, Arrays]]:
    """What each known wrong rule returns."""
    for name, value in wrong_sums(g, a.shape):
        yield name, (value, None)
    for name, value in wrong_sums(g, b.shape):
        yield name, (None, value)
    yield "L04", (summed(g * a, a.shape), summed(g * b, b.shape))
    yield "L04", (summed(g * b, a.shape), summed(g * a, b.shape))
