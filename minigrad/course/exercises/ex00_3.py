"""00.3: what ctx holds after a call, read off the call itself."""

from __future__ import annotations

from typing import Any

import minigrad


class Stretch(minigrad.autograd.Function):
    """A matrix times a row of weights; the recording in the notebook shows its like."""

    @staticmethod
    def forward(ctx: Any, matrix: Any, weights: Any) -> Any:
        """The product."""
        ctx.save_for_backward(matrix, weights)
        return matrix * weights

    @staticmethod
    def backward(ctx: Any, grad: Any) -> Any:
        """The two gradients; the engine sums the second one down."""
        matrix, weights = ctx.saved_tensors
        return grad * weights, grad * matrix


def truth() -> dict[str, str]:
    """The shape of the second saved tensor, and who holds it."""
    matrix = minigrad.ones(2, 3, requires_grad=True)
    weights = minigrad.tensor([1.0, 2.0, 3.0], requires_grad=True)
    node = Stretch.apply(matrix, weights).grad_fn
    saved = node.saved_tensors[1]
    on_class = any(value is saved for value in vars(Stretch).values())
    return {
        "a": str(tuple(saved.shape)),
        "b": "the class Stretch" if on_class else "the ctx of this call",
    }
