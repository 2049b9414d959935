"""The layers as functions, which keep no parameters: ``import ... as F``."""

from __future__ import annotations

from minigrad import errors
from minigrad.engine.tensor import Tensor
from minigrad.ops import functions
from minigrad.ops.functions import (
    log_softmax,
    relu,
    sigmoid,
    softmax,
    softplus,
    tanh,
)

__all__ = [
    "linear",
    "log_softmax",
    "mse_loss",
    "relu",
    "sigmoid",
    "softmax",
    "softplus",
    "tanh",
]


def linear(input: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
    """input @ weight^T + bias.

    Shape: (..., in), (out, in) and (out) give (..., out).
    See: torch ``nn.functional.linear``.
    """
    across = functions.t(weight)
    if bias is None:
        return functions.matmul(input, across)
    if input.ndim == 2:
        return functions.addmm(bias, input, across)
    return functions.matmul(input, across) + bias


def mse_loss(input: Tensor, target: Tensor, *, reduction: str = "mean") -> Tensor:
    """The squared differences: their mean, their ``"sum"``, or with ``"none"`` each.

    Raises: ArgumentValueError for another reduction.
    See: torch ``nn.functional.mse_loss``.
    """
    squares = (input - target) ** 2
    if reduction == "none":
        return squares
    if reduction in ("mean", "sum"):
        return squares.mean() if reduction == "mean" else squares.sum()
    raise errors.ArgumentValueError(
        errors.message(
            "mse_loss",
            f"{reduction} is not a valid value for reduction",
            "choose 'mean', 'sum' or 'none'",
        )
    )
