"""09.3: ``Decay``, which keeps an input, its output and a number, without ctx."""

from __future__ import annotations

import numpy as np

from minigrad.course.check import Case
from minigrad.course.exercises.gym.elementwise import tensors
from minigrad.course.exercises.gym.random_inputs import numbers


def cases(random: np.random.Generator) -> list[Case]:
    """Tensors of every kind, each with rates of its shape; whole and broken hours."""
    kinds = [*tensors(random), ("zeros among x", np.array([0.0, 0.75, 0.0]))]
    drawn = []
    for hours, (name, x) in zip((0.5, 2, 1.5, 1, 0.75, 2, 1, 0.25), kinds, strict=True):
        rate, g = [numbers(random, *x.shape).astype(x.dtype) for _ in range(2)]
        drawn.append(Case(f"{name}, hours {hours}", (x, rate, hours), g))
    return drawn
