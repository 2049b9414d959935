"""gym.CubeDoubleBackward: x to the power 3, derived twice."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from minigrad.course.check import Array, Arrays, Case, Contract
from minigrad.course.exercises.gym.elementwise import tensors, with_upstreams

CONTRACT = Contract(
    name="CubeDoubleBackward", arguments=("x",), second_derivative="wanted"
)


def reference(x: Array) -> Array:
    """What forward returns."""
    return x * x * x


def gradients(g: Array, x: Array) -> Arrays:
    """The right gradients."""
    return (3 * g * x * x,)


def cases(random: np.random.Generator) -> list[Case]:
    """Numbers of every kind."""
    drawn = [*tensors(random), ("zeros among the numbers", np.array([0.0, -1.5, -0.0]))]
    return with_upstreams(random, drawn)


def wrong_gradients(g: Array, x: Array) -> Iterator[tuple[str, Arrays]]:
    """What each known wrong rule returns."""
    with np.errstate(all="ignore"):
        divided = 3 * (x * x * x) / x * g
    yield "L19", (divided,)
    yield "L03", (3 * g * x,)
    yield "L03", (3 * g * x * x * x,)
    yield "L03", (2 * g * x,)
    yield "L03", (3 * g,)
    yield "L02", (g * x * x,)
