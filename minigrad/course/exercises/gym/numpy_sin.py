"""gym.NumpySin: the sine by NumPy, which no graph can see."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from minigrad.course.check import Array, Arrays, Case, Contract
from minigrad.course.exercises.gym.elementwise import tensors, with_upstreams

CONTRACT = Contract(name="NumpySin", arguments=("x",), second_derivative="refused")


def reference(x: Array) -> Array:
    """What forward returns."""
    return np.sin(x)


def gradients(g: Array, x: Array) -> Arrays:
    """The right gradients."""
    return (g * np.cos(x),)


def cases(random: np.random.Generator) -> list[Case]:
    """Numbers of every kind, but for a single one: of it, NumPy makes no array."""
    single = np.array([0.0, 1.25, -3.5], np.float32)
    drawn = [(name, x) for name, x in tensors(random) if x.ndim]
    drawn.append(("float32 numbers, a zero among them", single))
    return with_upstreams(random, drawn)


def wrong_gradients(g: Array, x: Array) -> Iterator[tuple[str, Arrays]]:
    """What each known wrong rule returns."""
    yield "L05", (g * np.sin(x),)
    with np.errstate(all="ignore"):
        turned = g / np.cos(x)
    yield "L03", (turned,)
