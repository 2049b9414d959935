"""08.2: ``AddOne_``, the first Function that changes its input."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from minigrad.course.check import Array, Arrays, Case, Contract
from minigrad.course.exercises.gym.elementwise import tensors, with_upstreams

CONTRACT = Contract(name="AddOne_", arguments=("x",), in_place=True)


def reference(x: Array) -> Array:
    """What forward returns: the very x that it was given, with these values."""
    return x + np.ones_like(x)


def gradients(g: Array, x: Array) -> Arrays:
    """The right gradients."""
    return (g,)


def cases(random: np.random.Generator) -> list[Case]:
    """One tensor of every kind."""
    return with_upstreams(random, tensors(random))


def wrong_gradients(g: Array, x: Array) -> Iterator[tuple[str, Arrays]]:
    """What each known wrong rule returns."""
    yield "C01", (np.ones_like(g),)
    yield "C05", (x + 1,)
    yield "L04", (g * x,)
    yield "L05", (g * (x + 1),)
