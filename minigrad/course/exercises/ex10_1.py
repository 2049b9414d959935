"""10.1: five backwards of one cube, each differentiated once more."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import minigrad
from minigrad import errors
from minigrad.autograd.function import once_differentiable


def cube(
    saved: Callable[[Any, Any], tuple[Any, ...]],
    slope: Callable[..., Any],
    mark: Callable[[Any], Any] = lambda rule: rule,
) -> Any:
    """A cube that saves x and these, and whose backward multiplies by this slope."""

    class Cube(minigrad.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            y = x * x * x
            ctx.save_for_backward(x, *saved(x, y))
            return y

        @staticmethod
        @mark
        def backward(ctx: Any, grad_output: Any) -> Any:
            return grad_output * slope(*ctx.saved_tensors)

    return Cube


FIVE = {
    "a": cube(lambda x, y: (), lambda x: 3 * x * x),
    "b": cube(lambda x, y: (), lambda x: minigrad.tensor(3 * x.detach().numpy() ** 2)),
    "c": cube(lambda x, y: (x * x,), lambda x, square: 3 * square),
    "d": cube(lambda x, y: (), lambda x: 3 * x * x, once_differentiable),
    "e": cube(lambda x, y: (y,), lambda x, y: 3 * y ** (2 / 3)),
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
