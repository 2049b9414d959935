"""gym.MulConstant: a tensor times a plain number."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from minigrad.course.check import Array, Arrays, Case, Contract
from minigrad.course.exercises.gym.elementwise import tensors
from minigrad.course.exercises.gym.random_inputs import numbers

CONTRACT = Contract(
    name="MulConstant", arguments=("x", "c"), second_derivative="wanted"
)


def reference(x: Array, c: float) -> Array:
    """What forward returns."""
    return x * c


def gradients(g: Array, x: Array, c: float) -> Arrays:
    """The right gradients."""
    return g * c, None


def cases(random: np.random.Generator) -> list[Case]:
    """Numbers of every kind, with constants of every kind."""
    constants = [2.5, -0.75, 3.0, -2.0, 1.5, 0.4, -1.25]
    drawn = [*tensors(random), ("the constant 0", numbers(random, 4))]
    drawn.append(
        ("the constant 1, with a zero among the numbers", np.array([0.0, -1.5]))
    )
    return [
        Case(name, (x, c), numbers(random, *x.shape).astype(x.dtype))
        for (name, x), c in zip(drawn, [*constants, 0.0, 1.0], strict=True)
    ]


def wrong_gradients(g: Array, x: Array, c: float) -> Iterator[tuple[str, Arrays]]:
    """What each known wrong rule returns."""
    yield "A10", (g * x * c, None)
    yield "L05", (g * x * c, None)
    yield "L04", (g * x, None)
    yield "L02", (g * c * c, None)
    with np.errstate(all="ignore"):
        divided = np.asarray(np.true_divide(g, c))
    yield "L02", (divided, None)
    yield "L02", (divided if c else g, None)
    with np.errstate(all="ignore"):
        yield "L19", (g * (x * c / x), None)


def wrong_results(x: Array, c: float) -> Iterator[tuple[str, Array]]:
    """What forward returns when it goes wrong in a known way."""
    yield "T02", x * int(c)


def factors(x: Array, c: float) -> Iterator[tuple[str, float]]:
    """What a constant ratio to the right gradient could follow."""
    if c:
        yield "C07", 1.0 / c
