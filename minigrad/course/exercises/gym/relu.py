"""gym.ReLU: what is positive stays, the rest becomes 0."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from minigrad.course.check import Array, Arrays, Case, Contract
from minigrad.course.exercises.gym.elementwise import tensors, with_upstreams
from minigrad.course.exercises.gym.random_inputs import numbers

CONTRACT = Contract(name="ReLU", arguments=("x",))


def reference(x: Array) -> Array:
    """What forward returns."""
    return np.maximum(x, 0)


def gradients(g: Array, x: Array) -> Arrays:
    """The right gradients; 0 at x = 0."""
    return (np.where(x > 0, g, np.zeros_like(g)),)


def cases(random: np.random.Generator) -> list[Case]:
    """Numbers of every kind; zeros in two cases, where the convention decides."""
    drawn = [
        *tensors(random),
        ("zeros among the numbers", np.array([0.0, -1.5, -0.0, 2.0, 0.5, 0.0])),
        ("negative numbers only", -abs(numbers(random, 2))),
    ]
    return with_upstreams(random, drawn)


def wrong_gradients(g: Array, x: Array) -> Iterator[tuple[str, Arrays]]:
    """What each known wrong rule returns."""
    positive = (x > 0).astype(x.dtype)
    at_zero = (x == 0).astype(x.dtype)
    yield "L10", (g * (positive + at_zero),)
    yield "L10", (g * (positive + at_zero / 2),)
    yield "L11", (g * (g > 0),)
    yield "L11", (g * (g > 0) * positive,)
    yield "L11", (g * (x * g > 0),)
    yield "L11", (g * bool(np.any(x > 0)),)
    yield "L11", (g * (np.sum(x) > 0),)
    yield "L11", (g * (x > np.mean(x)) if x.size else g,)
    yield "L11", (g * (x > 1),)
    yield "L01", (g * np.sign(x),)
    yield "L01", (g * (x < 0),)
    yield "L01", (g * (x <= 0),)
    yield "L05", (g * x * positive,)
    yield "L03", (g * x,)


def wrong_results(x: Array) -> Iterator[tuple[str, Array]]:
    """What forward returns when it goes wrong in a known way."""
    yield "L01", np.minimum(x, 0)
    yield "L01", np.abs(x)
