"""00.1: which step comes next? Found out by taking the steps."""

from __future__ import annotations

from typing import Any

import minigrad


def truth() -> dict[str, str]:
    """What happens at each of the three stops."""
    log: list[str] = []

    class Product(minigrad.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any, y: Any) -> Any:
            log.append("ctx is there" if ctx is not None else "no ctx")
            log.append("forward")
            ctx.save_for_backward(x, y)
            return x * y

        @staticmethod
        def backward(ctx: Any, grad: Any) -> Any:
            log.append("backward")
            x, y = ctx.saved_tensors
            return grad * y, grad * x

    x = minigrad.tensor(2.0, requires_grad=True)
    y = minigrad.tensor(3.0, requires_grad=True)
    result = Product.apply(x, y)
    after_apply = list(log)
    tied, filled = result.grad_fn is not None, x.grad is not None
    result.backward()
    first = {
        "ctx is there": "a box called ctx is made",
        "no ctx": "forward runs",
        "backward": "backward runs",
    }
    second = {
        (True, False): "the result is tied to ctx",
        (True, True): "x.grad is filled",
    }
    third = {("backward",): "backward", (): "none of them"}
    return {
        "a": first[after_apply[0]],
        "b": second.get((tied, filled), "backward runs"),
        "c": third.get(tuple(log[len(after_apply) :]), "forward, once more"),
    }
