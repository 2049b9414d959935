"""04.1: what forward and backward see in needs_input_grad."""

from __future__ import annotations

from typing import Any

import minigrad


def truth() -> dict[str, str]:
    """The flags of four calls."""
    seen: list[str] = []

    class Product(minigrad.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any, w: Any) -> Any:
            seen.append(str(ctx.needs_input_grad))
            return x * w

        @staticmethod
        def backward(ctx: Any, grad: Any) -> Any:
            return grad, grad

    a, b = (minigrad.tensor(2.0, requires_grad=True) for _ in range(2))
    Product.apply(a, minigrad.tensor(2.0))
    Product.apply(a, 3.0)
    Product.apply(a * 2, b.detach())
    with minigrad.no_grad():
        Product.apply(a, b)
    return dict(zip("abcd", seen, strict=True))
