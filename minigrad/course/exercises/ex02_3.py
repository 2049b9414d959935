"""02.3: ``Clip``, whose bounds are plain numbers."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from minigrad.course.check import Array, Arrays, Case, Contract
from minigrad.course.exercises.gym.elementwise import tensors
from minigrad.course.exercises.gym.random_inputs import numbers

CONTRACT = Contract(name="Clip", arguments=("x", "lo", "hi"))
REMARKS = frozenset({"A15", "D01", "D02"})
"""Numbers that are saved as tensors are not among them: where they go is asked."""


def reference(x: Array, lo: float, hi: float) -> Array:
    """What forward returns."""
    clipped: Array = np.clip(x, lo, hi)
    return clipped


def passes(x: Array, lo: float, hi: float) -> Array:
    """Where the gradient passes: between the bounds, and on them."""
    inside: Array = (x >= lo) & (x <= hi)
    return inside


def gradients(g: Array, x: Array, lo: float, hi: float) -> Arrays:
    """The right gradients."""
    return g * passes(x, lo, hi), None, None


def cases(random: np.random.Generator) -> list[Case]:
    """Numbers on all sides of the bounds, and on the bounds themselves."""
    bounds = [(-1.0, 1.0), (-0.5, 1.25), (0.4, 1.5), (-1.5, -0.25), (-0.75, 0.75)]
    on_bounds = np.array([-1.25, 0.5, 2.0, -3.0, 0.5, 1.0])
    drawn = [
        (name, x, *bounds[i % len(bounds)])
        for i, (name, x) in enumerate(tensors(random))
    ]
    # Second, because two calls of it and the next, alive at once, never agree.
    drawn.insert(1, ("numbers on the bounds -1.25 and 2", on_bounds, -1.25, 2.0))
    drawn.append(("bounds that are whole numbers", 3 * numbers(random, 5), -2, 2))
    drawn.append(("all of them inside", numbers(random, 4), -9.0, 9.0))
    return [
        Case(name, (x, lo, hi), numbers(random, *x.shape).astype(x.dtype))
        for name, x, lo, hi in drawn
    ]


def wrong_gradients(
    g: Array, x: Array, lo: float, hi: float
) -> Iterator[tuple[str, Arrays]]:
    """What each known wrong rule returns."""
    inside = (x > lo) & (x < hi)
    result = reference(x, lo, hi)
    yield "L10", (g * inside, None, None)
    yield "L10", (g * ((x >= lo) & (x < hi)), None, None)
    yield "L10", (g * ((x > lo) & (x <= hi)), None, None)
    yield "L11", (g * ((g >= lo) & (g <= hi)), None, None)
    yield "L11", (np.clip(g, lo, hi), None, None)
    yield "L05", (g * result, None, None)
    yield "R08", (g * (x >= lo), None, None)
    yield "R08", (g * (x <= hi), None, None)
    yield "L01", (g * ~passes(x, lo, hi), None, None)


def wrong_results(x: Array, lo: float, hi: float) -> Iterator[tuple[str, Array]]:
    """What forward returns when it goes wrong in a known way."""
    yield "R08", np.maximum(x, lo)
    yield "R08", np.minimum(x, hi)
