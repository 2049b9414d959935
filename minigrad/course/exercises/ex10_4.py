"""10.4: the arctangent by NumPy, which refuses a second derivative."""

from __future__ import annotations

import numpy as np

from minigrad.course.check import Array, Arrays, Case
from minigrad.course.exercises.gym.elementwise import tensors, with_upstreams


def reference(x: Array) -> Array:
    """What forward returns."""
    return np.asarray(np.arctan(x))


def gradients(g: Array, x: Array) -> Arrays:
    """The right gradients."""
    return (g / (1 + x * x),)


def cases(random: np.random.Generator) -> list[Case]:
    """Numbers of every kind, but for a single one: of it, NumPy makes no array."""
    single = np.array([0.0, 1.25, -3.5], np.float32)
    drawn = [(name, x) for name, x in tensors(random) if x.ndim]
    drawn.append(("float32 numbers, a zero among them", single))
    return with_upstreams(random, drawn)
