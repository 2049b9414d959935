"""gym.StraightThroughRound: rounds, and lets every gradient pass."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from minigrad.course.check import Array, Arrays, Case
from minigrad.course.exercises.gym.elementwise import tensors, with_upstreams


def reference(x: Array) -> Array:
    """What forward returns; halves go to the even neighbour."""
    return np.round(x)


def gradients(g: Array, x: Array) -> Arrays:
    """The gradients that are asked for: those of a function that changes nothing."""
    return (g.copy(),)


def cases(random: np.random.Generator) -> list[Case]:
    """Numbers of every kind: inside and outside of -1 to 1, halves and integers."""
    drawn = [
        *tensors(random),
        ("halves and integers", np.array([0.5, 1.5, 2.5, -0.5, -2.5, 0.0, 1.0, -3.0])),
        ("large numbers and small ones", np.array([120.3, -77.8, 0.05, -0.4, 5e9])),
    ]
    return with_upstreams(random, drawn)


def wrong_gradients(g: Array, x: Array) -> Iterator[tuple[str, Arrays]]:
    """What each known wrong rule returns."""
    y = np.round(x)
    yield "L12", (np.zeros_like(g),)
    for h in (1e-2, 1e-3, 1e-4, 1e-5, 1e-6):
        yield "L12", (g * (np.round(x + h) - np.round(x - h)) / (2 * h),)
        yield "L12", (g * (np.round(x + h) - np.round(x)) / h,)
    for size in (x, y, x - y):
        for limit in (0.5, 1.0, 1.5, 2.0, 3.0):
            yield "L13", (g * (np.abs(size) <= limit),)
            yield "L13", (g * (np.abs(size) < limit),)
    yield "L13", (g * ((x >= 0) & (x <= 1)),)
    yield "L13", (g * ((x > 0) & (x < 1)),)
    yield "L13", (np.clip(g, -1, 1),)
    yield "L13", (g * np.maximum(1 - np.abs(x), 0),)
    yield "L13", (g * (1 - np.tanh(x) ** 2),)


def wrong_results(x: Array) -> Iterator[tuple[str, Array]]:
    """What forward returns when it goes wrong in a known way."""
    yield "T02", np.trunc(x)
    yield "L10", np.floor(x + 0.5)
    yield "L10", np.trunc(x + np.copysign(0.5, x))
