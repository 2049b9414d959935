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
from minigrad.ops.losses import MEAN, NONE, SUM, BinaryCrossEntropyWithLogits

__all__ = [
    "binary_cross_entropy_with_logits",
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
    number = number_of(reduction, "mse_loss")
    squares = (input - target) ** 2
    if number == NONE:
        return squares
    return squares.mean() if number == MEAN else squares.sum()


def binary_cross_entropy_with_logits(
    input: Tensor, target: Tensor, *, reduction: str = "mean"
) -> Tensor:
    """How badly scores, before a sigmoid, predict targets between 0 and 1.

    Raises: ArgumentValueError for targets of another shape, or another reduction.
    See: torch ``nn.functional.binary_cross_entropy_with_logits``.
    """
    number = number_of(reduction, "binary_cross_entropy_with_logits")
    if input.shape != target.shape:
        raise errors.ArgumentValueError(
            errors.message(
                "binary_cross_entropy_with_logits",
                f"Target size ({target.shape}) must be the same as input size "
                f"({input.shape})",
                "give one target for each score",
            )
        )
    loss: Tensor = BinaryCrossEntropyWithLogits.apply(input, target, None, None, number)
    return loss


def number_of(reduction: str, where: str) -> int:
    """torch's number for what becomes of the losses of all elements.

    Raises: ArgumentValueError.
    """
    numbers = {"none": NONE, "mean": MEAN, "sum": SUM}
    if reduction not in numbers:
        raise errors.ArgumentValueError(
            errors.message(
                where,
                f"{reduction} is not a valid value for reduction",
                "choose 'mean', 'sum' or 'none'",
            )
        )
    return numbers[reduction]
