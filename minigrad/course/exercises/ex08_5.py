"""08.5: ReLU in place, with nothing kept but the result."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from minigrad.course.check import Array, Arrays, Case
from minigrad.course.exercises.catalogue import load
from minigrad.course.exercises.gym.elementwise import tensors, with_upstreams
from minigrad.course.exercises.gym.random_inputs import numbers


def cases(random: np.random.Generator) -> list[Case]:
    """Both signs first: what was below 0 is what this is about."""
    drawn = [
        ("both signs, and a 0", np.array([1.5, -2.0, 0.0, 0.5, -0.25])),
        *tensors(random),
        ("negative numbers only", -abs(numbers(random, 2))),
        ("minus infinity among the numbers", np.array([-np.inf, 1.5, -0.5])),
    ]
    return with_upstreams(random, drawn)


def wrong_gradients(g: Array, x: Array) -> Iterator[tuple[str, Arrays]]:
    """What each known wrong rule returns; without a sign all numbers pass."""
    yield "M04", (g,)
    yield from load("gym.ReLU").wrong_gradients(g, x)
    yield "L05", (g * np.maximum(x, 0),)
