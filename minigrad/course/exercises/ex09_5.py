"""09.5: ``Bump``, which returns what its backward needs from the middle of forward."""

from __future__ import annotations

import numpy as np

from minigrad.course.check import Array, Arrays, Case, Contract
from minigrad.course.exercises.gym.random_inputs import numbers, single_precision, sizes

CONTRACT = Contract(
    name="Bump",
    arguments=("x",),
    outputs=("y", "e"),
    second_derivative="wanted",
)


def reference(x: Array) -> tuple[Array, Array]:
    """What forward returns."""
    e = np.asarray(np.exp(-x * x))
    return np.asarray(x * e), e


def gradients(g: Arrays, x: Array) -> Arrays:
    """The right gradients, of both outputs."""
    grad_y, grad_e = g
    assert grad_y is not None
    assert grad_e is not None
    return ((grad_y * (1 - 2 * x * x) - grad_e * 2 * x) * np.exp(-x * x),)


def cases(random: np.random.Generator) -> list[Case]:
    """Numbers on both sides of the bump, and on top of it."""
    rows, columns = sizes(random, 2)

    def case(name: str, x: Array) -> Case:
        upstreams = numbers(random, *x.shape), numbers(random, *x.shape)
        return Case(name, (x,), upstreams)

    return [
        case("three numbers", numbers(random, 3)),
        case("one number", numbers(random)),
        case(f"a {rows} x {columns} matrix", numbers(random, rows, columns)),
        case("transposed in memory", numbers(random, 4, 2).T),
        case("zeros among the numbers", np.array([0.0, 0.75, -0.5, 0.0])),
        single_precision(case("float32 numbers", numbers(random, 2, 3))),
    ]
