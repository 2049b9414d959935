"""gym.Sigmoid: 1 / (1 + e**-x), with a second derivative."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from minigrad.course.check import Array, Arrays, Case, Contract
from minigrad.course.exercises.gym.elementwise import tensors, with_upstreams

CONTRACT = Contract(name="Sigmoid", arguments=("x",), second_derivative="wanted")


def reference(x: Array) -> Array:
    """What forward returns."""
    small = np.exp(-np.abs(x))
    return np.asarray(np.where(x >= 0, 1 / (1 + small), small / (1 + small)))


def gradients(g: Array, x: Array) -> Arrays:
    """The right gradients."""
    return (g * reference(x) * reference(-x),)


def cases(random: np.random.Generator) -> list[Case]:
    """Numbers of every kind, and large ones of both signs."""
    hard = np.array([1000.0, -1000.0, 0.0, 1.5])
    drawn = [*tensors(random), ("1000 and -1000 among the numbers", hard)]
    return with_upstreams(random, drawn)


def wrong_gradients(g: Array, x: Array) -> Iterator[tuple[str, Arrays]]:
    """What each known wrong rule returns."""
    s = reference(x)
    yield "C07", (g * s,)
    yield "C07", (g * (1 - s),)
    yield "L05", (g * x * (1 - x),)
    yield "L05", (g * s * (1 - x),)
    yield "L03", (g * (1 - s * s),)
    yield "L03", (g * s * s * (1 - s),)
    yield "L03", (g * s * s,)
    yield "L03", (g * (1 - s) ** 2,)
    with np.errstate(all="ignore"):
        up, down = np.exp(x), np.exp(-x)
        slopes = [down / (1 + down) ** 2, up / (1 + up) ** 2, s * s * down]
        ratio = up / (1 + up)
        wrong = [g * slope for slope in [*slopes, ratio * (1 - ratio)]]
    for value in wrong:
        yield "L20", (value,)


def wrong_results(x: Array) -> Iterator[tuple[str, Array]]:
    """What forward returns when it goes wrong in a known way."""
    with np.errstate(all="ignore"):
        yield "L20", np.exp(x) / (1 + np.exp(x))
