"""11.6: the product of a Hessian with a vector, in three ways."""

from __future__ import annotations

from typing import Any

import minigrad
from minigrad import func


class Square(minigrad.autograd.Function):
    """It counts how often its backward runs."""

    calls = 0

    @staticmethod
    def forward(x: Any) -> Any:
        return x * x

    @staticmethod
    def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
        ctx.save_for_backward(*inputs)
        ctx.save_for_forward(*inputs)

    @staticmethod
    def backward(ctx: Any, grad_output: Any) -> Any:
        Square.calls += 1
        (x,) = ctx.saved_tensors
        return grad_output * 2 * x

    @staticmethod
    def jvp(ctx: Any, x_t: Any) -> Any:
        (x,) = ctx.saved_tensors
        return x_t * 2 * x


def f(x: Any) -> Any:
    """The sum of all fourth powers."""
    return Square.apply(Square.apply(x)).sum()


def product(x: Any) -> Any:
    """x0 squared, times x1: its Hessian has no zero but one."""
    return x[0] * x[0] * x[1]


def truth() -> dict[str, str]:
    """Each way is run; the rules are counted."""
    x, v = minigrad.tensor([3.0, 5.0]), minigrad.tensor([1.0, 2.0])
    slope, along = func.jvp(func.grad(product), (x,), (v,))
    assert minigrad.allclose(along, func.hessian(product)(x) @ v)
    is_gradient = minigrad.allclose(slope, func.grad(product)(x))
    twice = func.jvp(lambda x: func.jvp(product, (x,), (v,))[1], (x,), (v,))[1]
    Square.calls = 0
    func.jvp(func.grad(f), (x,), (v,))
    mixed = Square.calls
    func.grad(lambda x: (func.grad(f)(x) * v).sum())(x)
    return {
        "a": "{:g}, {:g}".format(*along.tolist()),
        "b": f"{twice.item():g}",
        "c": "the gradient of h" if is_gradient else "something else",
        "d": str(mixed),
        "e": str(Square.calls - mixed),
    }
