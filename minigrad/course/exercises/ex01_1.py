"""01.1: five statements about ctx, held against a live run."""

from __future__ import annotations

from typing import Any

import minigrad


def truth() -> dict[str, str]:
    """Which of the statements are true."""
    seen: list[Any] = []

    class Mul(minigrad.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any, y: Any) -> Any:
            seen.append(ctx)
            ctx.save_for_backward(x, y)
            return x * y

        @staticmethod
        def backward(ctx: Any, grad: Any) -> Any:
            seen.append(ctx)
            x, y = ctx.saved_tensors
            return grad * y, grad * x

    x = minigrad.tensor(2.0, requires_grad=True)
    first, second = Mul.apply(x, x), Mul.apply(x, x)
    one, two = seen
    first.backward()
    plain = minigrad.tensor(2.0)
    Mul.apply(plain, plain)
    statements = {
        "a": one is two,
        "b": first.grad_fn is one and second.grad_fn is two,
        "c": seen[2] is one,
        "d": isinstance(one, Mul),
        "e": seen[3] is None,
    }
    return {key: str(value).lower() for key, value in statements.items()}
