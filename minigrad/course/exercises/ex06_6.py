"""06.6: what the engine makes of gradients of a wrong shape, tried one by one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import minigrad
from minigrad.course.exercises.rules import function_of

ERROR = "an error"


class Add(minigrad.autograd.Function):
    """x + b; what comes back for b is given from outside."""

    @staticmethod
    def forward(ctx: Any, x: Any, b: Any, returned: Any) -> Any:
        ctx.returned = returned
        return x + b

    @staticmethod
    def backward(ctx: Any, grad: Any) -> Any:
        return grad, ctx.returned(grad), None


TOTAL = function_of({"forward": "x.sum()", "backward": "g"})
"""Its backward hands on what it gets."""


def truth() -> dict[str, str]:
    """What happens to each."""
    with minigrad.teaching(False):
        return {
            "a": outcome(lambda g: g, {"[12 15 18 21]": "g.sum(0)"}),
            "b": outcome(lambda g: g.sum(), {}),
            "c": outcome(lambda g: g.sum(1), {}),
            "d": outcome(
                lambda g: g.sum(1),
                {"[ 3 12 21]": "g.sum(1), and no word of it"},
                columns=3,
            ),
            "e": of_a_sum(),
        }


def outcome(
    returned: Callable[[Any], Any], said: dict[str, str], columns: int = 4
) -> str:
    """What b.grad becomes, in the words for these numbers; or an error."""
    b = minigrad.zeros(columns, requires_grad=True)
    g = minigrad.arange(3.0 * columns).reshape(3, columns)
    try:
        Add.apply(minigrad.zeros(3, columns), b, returned).backward(g)
    except RuntimeError:
        return ERROR
    assert b.grad is not None
    return said[str(b.grad.numpy().astype(int))]


def of_a_sum() -> str:
    """The same for a Function that adds up, and hands on what it gets."""
    x = minigrad.zeros(3, requires_grad=True)
    try:
        TOTAL.apply(x).backward()
    except RuntimeError:
        return ERROR
    assert x.grad is not None
    return "each element gets it" if np.all(x.grad.numpy() == 1) else "it is lost"
