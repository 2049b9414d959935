"""10.1: five backwards of one cube, each differentiated once more."""

from __future__ import annotations

from typing import Any

import minigrad
from minigrad import errors
from minigrad.autograd.function import once_differentiable
from minigrad.course.exercises.rules import function_of

CUBE = {"forward": "x * x * x", "backward": "g * 3 * x * x"}
BY_NUMPY = {"backward": "g * minigrad.tensor(3 * x.detach().numpy() ** 2)"}
SQUARE_SAVED = {"saves": "x, x * x", "saved": "x, square", "backward": "g * 3 * square"}
RESULT_SAVED = {"saves": "x, y", "backward": "g * 3 * y ** (2 / 3)"}


class Once(function_of(CUBE)):  # type: ignore[misc]  # made of text
    """The first of them, which refuses a second derivative."""

    backward = staticmethod(once_differentiable(function_of(CUBE).backward))


FIVE = {
    "a": function_of(CUBE),
    "b": function_of(CUBE | BY_NUMPY),
    "c": function_of(CUBE | SQUARE_SAVED),
    "d": Once,
    "e": function_of(CUBE | RESULT_SAVED),
}


def truth() -> dict[str, str]:
    """Each of them is tried."""
    with minigrad.teaching(False):
        return {letter: outcome(function) for letter, function in FIVE.items()}


def outcome(function: Any) -> str:
    """What the second derivative of x * F(x) is at 2."""
    x = minigrad.tensor(2.0, dtype=minigrad.float64, requires_grad=True)
    y = x * function.apply(x)
    (slope,) = minigrad.autograd.grad(y, x, create_graph=True)
    assert abs(slope.item() - 32) < 1e-9
    try:
        slope.backward()
    except errors.OnceDifferentiableError:
        return "an error"
    assert x.grad is not None
    return "48" if abs(x.grad.item() - 48) < 1e-9 else "another number"
