"""What the rows time: programs that take minigrad or torch under torch's name.

Each returns what it computed: two sides have to return the same.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

Program = Callable[[], Any]


def functions(torch: Any) -> dict[str, Any]:
    """``x * 1.001`` as a custom Function of either style."""

    class Combined(torch.autograd.Function):  # type: ignore[misc]
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            ctx.save_for_backward(x)
            return x * 1.001

        @staticmethod
        def backward(ctx: Any, grad: Any) -> Any:
            # Read, as nearly every backward does; numbers near 1 keep the chain finite.
            (_x,) = ctx.saved_tensors
            return grad * 1.001

    class Separate(torch.autograd.Function):  # type: ignore[misc]
        @staticmethod
        def forward(x: Any) -> Any:
            return x * 1.001

        @staticmethod
        def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
            ctx.save_for_backward(*inputs)

        @staticmethod
        def backward(ctx: Any, grad: Any) -> Any:
            (_x,) = ctx.saved_tensors
            return grad * 1.001

    return {"combined": Combined, "separate": Separate}


def leaf(torch: Any, size: int) -> Any:
    """A vector of float32 that requires grad."""
    values = np.random.default_rng(0).uniform(0.5, 1.0, size).astype(np.float32)
    return torch.tensor(values, requires_grad=True)


def custom_chain(
    torch: Any, style: str, size: int, length: int, backward: bool
) -> Program:
    """``length`` custom nodes in a row."""
    apply = functions(torch)[style].apply
    x = leaf(torch, size)

    def run() -> Any:
        y = x
        for _ in range(length):
            y = apply(y)
        if not backward:
            return y
        x.grad = None
        y.sum().backward()
        return y, x.grad

    return run


def builtin_chain(torch: Any, size: int, length: int, backward: bool) -> Program:
    """mul, add, add, tanh: ``length`` operations in all."""
    x, weight, bias = (leaf(torch, size) for _ in range(3))

    def run() -> Any:
        y = x
        for _ in range(length // 4):
            y = (y * weight + bias + x).tanh()
        if not backward:
            return y
        x.grad = weight.grad = bias.grad = None
        y.sum().backward()
        return y, x.grad, weight.grad, bias.grad

    return run


def double_backward(torch: Any, length: int, custom: bool) -> Program:
    """The gradient of a gradient, of built-in or custom nodes."""
    x = leaf(torch, 100)

    class Square(torch.autograd.Function):  # type: ignore[misc]
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            ctx.save_for_backward(x)
            return x * x

        @staticmethod
        def backward(ctx: Any, grad: Any) -> Any:
            (x,) = ctx.saved_tensors
            return 2.0 * grad * x

    def run() -> Any:
        y = x
        for _ in range(length):
            y = Square.apply(y) if custom else y * y
        (first,) = torch.autograd.grad(y.sum(), [x], create_graph=True)
        (second,) = torch.autograd.grad(first.sum(), [x])
        return first, second

    return run
