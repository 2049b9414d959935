"""Losses as functions; ``nn.functional`` has them all."""

from __future__ import annotations

import warnings

import numpy as np

from minigrad import errors
from minigrad.engine.core.tensor import Tensor
from minigrad.engine.promotion import do_not_broadcast
from minigrad.ops._registry import OPS
from minigrad.ops.class_losses import IGNORED, cross_entropy_loss, nll_loss_nd
from minigrad.ops.losses import MEAN, NONE, SUM


def cross_entropy(
    input: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    *,
    ignore_index: int = IGNORED,
    reduction: str = "mean",
    label_smoothing: float = 0.0,
) -> Tensor:
    """How badly scores predict the right class of each example.

    ``target`` holds the number of the class, or in the shape of the scores the
    probability of every class. ``label_smoothing`` mixes that much of all classes into
    it.
    Shape: (classes), (batch, classes) or (batch, classes, ...).
    Raises: OperandError, ShapeError; IndexingError for a class that does not exist.
    See: torch ``nn.functional.cross_entropy``.

    >>> F = minigrad.nn.functional
    >>> F.cross_entropy(minigrad.zeros(1, 10), minigrad.tensor([3]))
    tensor(2.3026)
    """
    number = number_of(reduction, "cross_entropy")
    return cross_entropy_loss(
        input, target, weight, number, ignore_index, label_smoothing
    )


def nll_loss(
    input: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    *,
    ignore_index: int = IGNORED,
    reduction: str = "mean",
) -> Tensor:
    """Minus the log-probability of the right class: ``cross_entropy`` without softmax.

    Raises: as ``cross_entropy``.
    See: torch ``nn.functional.nll_loss``.

    >>> logs = minigrad.tensor([[0.5, 0.25, 0.25]]).log()
    >>> minigrad.nn.functional.nll_loss(logs, minigrad.tensor([0]))
    tensor(0.6931)
    """
    return nll_loss_nd(
        input, target, weight, number_of(reduction, "nll_loss"), ignore_index
    )


def mse_loss(input: Tensor, target: Tensor, *, reduction: str = "mean") -> Tensor:
    """The squared differences: their mean, their ``"sum"``, or with ``"none"`` each.

    Raises: ArgumentValueError for another reduction.
    See: torch ``nn.functional.mse_loss``.
    """
    return of_difference("mse_loss", input, target, reduction)


def l1_loss(input: Tensor, target: Tensor, *, reduction: str = "mean") -> Tensor:
    """The absolute differences: their mean, their ``"sum"``, or with ``"none"`` each.

    Raises: ArgumentValueError for another reduction.
    See: torch ``nn.functional.l1_loss``.
    """
    return of_difference("l1_loss", input, target, reduction)


def smooth_l1_loss(
    input: Tensor, target: Tensor, *, reduction: str = "mean", beta: float = 1.0
) -> Tensor:
    """The absolute differences, rounded off where they are less than ``beta``.

    Raises: OperandError for a negative ``beta``; ArgumentValueError.
    See: torch ``nn.functional.smooth_l1_loss``.
    """
    if beta == 0:
        return of_difference("l1_loss", input, target, reduction)
    return of_difference("smooth_l1_loss", input, target, reduction, beta)


def huber_loss(
    input: Tensor, target: Tensor, *, reduction: str = "mean", delta: float = 1.0
) -> Tensor:
    """Half the squared differences; beyond ``delta``, in proportion.

    Raises: OperandError unless ``delta`` is positive; ArgumentValueError.
    See: torch ``nn.functional.huber_loss``.
    """
    return of_difference("huber_loss", input, target, reduction, delta)


def of_difference(
    name: str, input: Tensor, target: Tensor, reduction: str, *options: float
) -> Tensor:
    """A loss of differences, by its row, with both operands in one shape."""
    number = number_of(reduction, name)
    loss: Tensor = OPS[name].call(*stretched(input, target), number, *options)
    return loss


def stretched(input: Tensor, target: Tensor) -> tuple[Tensor, Tensor]:
    """Both in their common shape; a warning if it is not that of each."""
    if input.shape == target.shape:
        return input, target
    warnings.warn(
        f"Using a target size ({target.shape}) that is different to the input size "
        f"({input.shape}). This will likely lead to incorrect results due to "
        "broadcasting. Please ensure they have the same size.",
        UserWarning,
        stacklevel=4,
    )
    try:
        shape = np.broadcast_shapes(input.shape, target.shape)
    except ValueError:
        raise do_not_broadcast("loss", input.shape, target.shape) from None
    return input.expand(*shape), target.expand(*shape)


def binary_cross_entropy_with_logits(
    input: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    *,
    reduction: str = "mean",
    pos_weight: Tensor | None = None,
) -> Tensor:
    """How badly scores, before a sigmoid, predict targets between 0 and 1.

    ``weight`` multiplies each loss, ``pos_weight`` its part for the target 1.
    Raises: ArgumentValueError for targets of another shape, or another reduction;
    DerivativeMissingError for weights that require grad.
    See: torch ``nn.functional.binary_cross_entropy_with_logits``.
    """
    where = "binary_cross_entropy_with_logits"
    number = number_of(reduction, where)
    if input.shape != target.shape:
        raise errors.ArgumentValueError.at(
            where,
            f"Target size ({target.shape}) must be the same as input size "
            f"({input.shape})",
            "give one target for each score",
        )
    loss: Tensor = OPS[where].call(input, target, weight, pos_weight, number)
    return loss


def number_of(reduction: str, where: str) -> int:
    """torch's number for what becomes of the losses of all elements.

    Raises: ArgumentValueError.
    """
    if reduction not in NUMBERS:
        raise errors.ArgumentValueError.at(
            where,
            f"{reduction} is not a valid value for reduction",
            "choose 'mean', 'sum' or 'none'",
        )
    return NUMBERS[reduction]


NUMBERS = {"none": NONE, "mean": MEAN, "sum": SUM}
