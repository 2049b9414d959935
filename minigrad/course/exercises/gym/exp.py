"""gym.Exp: e to the power x, with a second derivative."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from minigrad.course.check import Array, Arrays, Case, Contract
from minigrad.course.exercises.gym.elementwise import tensors, with_upstreams

CONTRACT = Contract(name="Exp", arguments=("x",), second_derivative="wanted")


def reference(x: Array) -> Array:
    """What forward returns."""
    return np.exp(x)


def gradients(g: Array, x: Array) -> Arrays:
    """The right gradients."""
    return (g * np.exp(x),)


def cases(random: np.random.Generator) -> list[Case]:
    """Numbers of every kind, and -1000, where the result is 0."""
    hard = np.array([-1000.0, 0.0, 1.5, -40.0])
    drawn = [*tensors(random), ("-1000 among the numbers", hard)]
    return with_upstreams(random, drawn)


def wrong_gradients(g: Array, x: Array) -> Iterator[tuple[str, Arrays]]:
    """What each known wrong rule returns."""
    y = np.exp(x)
    yield "L05", (g * x,)
    yield "L03", (g * x * np.exp(x - 1),)
    yield "L03", (g * x * y,)
    with np.errstate(all="ignore"):
        overflows = g / np.exp(-x), g * np.exp(2 * x) / y
    for wrong in overflows:
        yield "L20", (wrong,)


def wrong_results(x: Array) -> Iterator[tuple[str, Array]]:
    """What forward returns when it goes wrong in a known way."""
    with np.errstate(all="ignore"):
        yield "L20", np.sinh(x) + np.cosh(x)
        yield "L20", np.exp(2 * x) / np.exp(x)
