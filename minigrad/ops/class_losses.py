"""Losses that compare scores for several classes with the right one."""

from __future__ import annotations

from typing import Any

import numpy as np

from minigrad import errors
from minigrad.engine.builtin import Builtin
from minigrad.engine.promotion import quietly
from minigrad.engine.tensor import Array, Tensor
from minigrad.ops import functions
from minigrad.ops._registry import composite, op
from minigrad.ops.activations import refuse_integers
from minigrad.ops.losses import MEAN, NONE, SUM, refuse_gradients

SCORES = [[0.5, -2.0, 3.0], [-8.0, 1.0, 0.0], [0.3, 0.2, 0.1]]
CLASSES = np.array([2, 0, -100])
IMAGE = [[[0.5, -2.0], [3.0, 0.1], [1.0, 1.5]], [[0.3, 2.0], [0.2, -1.0], [0.0, 4.0]]]
PIXELS = np.array([[0, 2], [-100, 1]])
CHANCES = [[0.2, 0.3, 0.5], [1.0, 0.0, 0.0], [0.1, 0.1, 0.8]]

IGNORED = -100
"""The class that torch leaves out of the mean unless another is named."""


def with_batch(input: Array, target: Array) -> tuple[Array, Array]:
    """Scores and classes of one example as a batch of one."""
    if input.ndim == 1:
        return input[None], target.reshape(-1)[:1]
    return input, target


def check_classes(input: Array, target: Array, weight: Array | None) -> None:
    """Refuse what does not fit together.

    Raises: OperandError, ShapeError.
    """
    if target.dtype.char not in "lqB":
        raise errors.OperandError(
            errors.message(
                "nll_loss",
                f"expected target dtype to be Long or Byte, but got {target.dtype}",
                "give the number of the class: target.long()",
            )
        )
    spatial = input.ndim == 4
    wrong = ""
    if spatial and target.ndim != 3:
        wrong = (
            "only batches of spatial targets supported (3D tensors) but got targets "
            f"of dimension: {target.ndim}"
        )
    elif not spatial and target.ndim > 1:
        wrong = "0D or 1D target tensor expected, multi-target not supported"
    elif input.ndim > 1 and target.shape != input.shape[:1] + input.shape[2:]:
        wrong = (
            f"size mismatch (got input: {list(input.shape)}, "
            f"target: {list(target.shape)})"
        )
    if wrong:
        raise errors.ShapeError(
            errors.message("nll_loss", wrong, "give one class for each row of scores")
        )
    check_weight("nll_loss", weight, input.shape[min(1, input.ndim - 1)])
    if weight is not None and weight.dtype != input.dtype:
        raise errors.OperandError(
            errors.message(
                "nll_loss",
                f"expected scalar type {input.dtype} but found {weight.dtype}",
                "give weights of the dtype of the scores",
            )
        )


def check_weight(where: str, weight: Any, classes: int) -> None:
    """Refuse weights that are not one for each class.

    Raises: ShapeError.
    """
    if weight is not None and tuple(weight.shape) != (classes,):
        raise errors.ShapeError(
            errors.message(
                where,
                f"weight tensor should be defined either for all {classes} classes "
                f"or no classes but got weight tensor of shape: {list(weight.shape)}",
                "give one weight for each class",
            )
        )


def places(target: Array, safe: Array) -> tuple[Array, ...]:
    """NumPy's index of each right class; the classes are dimension 1."""
    if target.ndim == 1:
        return np.arange(len(target)), safe
    grid = np.ogrid[tuple([slice(length) for length in target.shape])]
    return grid[0], safe, *grid[1:]


def weighed(
    target: Array, weight: Array | None, ignore_index: int, classes: int, dtype: Any
) -> tuple[tuple[Array, ...], Array]:
    """Where the right classes stand, and how much each counts: 0 for the ignored.

    Raises: IndexingError for a class that does not exist.
    """
    counted = target != ignore_index
    safe = np.where(counted, target, 0)
    if safe.size and not (safe.min() >= 0 and safe.max() < classes):
        wrong = safe.min() if safe.min() < 0 else safe.max()
        raise errors.IndexingError(
            errors.message(
                "nll_loss",
                f"Target {wrong} is out of bounds.",
                f"use classes from 0 to {classes - 1}, or {ignore_index} for none",
            )
        )
    factors = counted.astype(dtype) if weight is None else weight[safe] * counted
    return places(target, safe), factors


def nll_by_hand(
    scores: Any,
    target: Any,
    weight: Any = None,
    reduction: int = MEAN,
    ignore_index: int = IGNORED,
) -> Any:
    """The reference: one example after the other."""
    scores = np.asarray(scores)
    if scores.ndim > 1:
        rows, classes = np.moveaxis(scores, 1, -1), target
    else:
        rows, classes = scores[None], target.reshape(1)
    losses = np.zeros(classes.shape)
    number = 0.0
    for place in np.ndindex(classes.shape):
        if classes[place] != ignore_index:
            factor = 1.0 if weight is None else weight[classes[place]]
            losses[place] = -rows[place][classes[place]] * factor
            number += factor
    if reduction == NONE:
        return losses if scores.ndim > 1 else losses[0]
    return losses.sum() / (number if reduction == MEAN else 1)


def without_slope_in_weight(
    input: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    reduction: int = MEAN,
    ignore_index: int = IGNORED,
) -> tuple[Any, ...]:
    """The arguments of the loss, of which only the scores have a slope."""
    refuse_gradients("nll_loss_forward", weight=weight)
    return input, target, weight, reduction, ignore_index


@op(
    "nll_loss",
    node_name=lambda input, *more: (
        "NllLoss2DBackward0" if input.ndim == 4 else "NllLossBackward0"
    ),
    reference=nll_by_hand,
    samples=[
        (SCORES, CLASSES, None, MEAN),
        (SCORES, CLASSES, None, SUM),
        (SCORES, np.array([2, 0, 1]), None, NONE, 0),
        ([0.5, -2.0, 3.0], np.array(1), None, MEAN),
    ],
    arguments=without_slope_in_weight,
    function=False,
    method=False,
)
class NllLoss(Builtin):
    """Minus the score of the right class; ``reduction`` is 0 for each, 1 mean, 2 sum.

    Classes equal to ``ignore_index`` count for nothing, others as much as their
    ``weight`` says; the mean is over what counts.
    """

    linear = True
    without_edges = (1, 2)
    saved_names = ("self", "target", "weight", "total_weight")

    @staticmethod
    @quietly
    def forward(
        input: Array,
        target: Array,
        weight: Array | None,
        reduction: int,
        ignore_index: int,
    ) -> Any:
        refuse_integers("nll_loss", "nll_loss_out_frame", input)
        check_classes(input, target, weight)
        rows, classes = with_batch(input, target)
        index, factors = weighed(
            classes, weight, ignore_index, rows.shape[1], input.dtype
        )
        # What counts for nothing may be infinite, and then a product would be nan.
        losses = np.where(factors == 0, input.dtype.type(0), -rows[index] * factors)
        if reduction == NONE:
            return losses if input.ndim > 1 else losses.reshape(())
        return losses.sum() / (factors.sum() if reduction == MEAN else 1)

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: Tensor) -> None:
        input, target, weight, ctx.reduction, ctx.ignore_index = inputs
        number = np.zeros((), input.dtype)
        if ctx.reduction != NONE:
            constant = None if weight is None else weight.array
            _, factors = weighed(
                target.array.reshape(-1), constant, ctx.ignore_index, 2**63, input.dtype
            )
            number = np.asarray(factors.sum())
        ctx.shape = input.array.shape
        ctx.save_for_backward(input, target, weight, Tensor(number))

    @staticmethod
    def backward(ctx: Any, grad: Any) -> Any:
        _, target, weight, _ = ctx.saved_values
        options = ctx.reduction, ctx.ignore_index
        into_input = NllSlope.of(grad, ctx.shape, target, weight, *options)
        return into_input, None, None, None, None


class NllSlope(Builtin):
    """The transpose of NllLoss: minus the gradient at each right class, else 0."""

    linear = True
    without_edges = (2, 3)

    @staticmethod
    @quietly
    def forward(
        grad: Array,
        shape: tuple[int, ...],
        target: Array,
        weight: Array | None,
        reduction: int,
        ignore_index: int,
    ) -> Any:
        result = np.zeros(shape, grad.dtype)
        rows, classes = with_batch(result, target)
        index, factors = weighed(
            classes, weight, ignore_index, rows.shape[1], grad.dtype
        )
        each = -factors * (grad / factors.sum() if reduction == MEAN else grad)
        rows[index] = np.where(factors == 0, grad.dtype.type(0), each)
        return result

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: Tensor) -> None:
        _, _, target, weight, *ctx.options = inputs
        ctx.save_for_backward(target, weight)

    @staticmethod
    def backward(ctx: Any, grad: Any) -> Any:
        target, weight = ctx.saved_values
        into_grad = NllLoss.of(grad, target, weight, *ctx.options)
        return into_grad, None, None, None, None, None


@composite(
    "nll_loss_nd",
    reference=nll_by_hand,
    samples=[
        (IMAGE, PIXELS, None, MEAN),
        (IMAGE, PIXELS, None, NONE),
        (SCORES, CLASSES, None, MEAN),
    ],
    function=False,
    method=False,
)
def nll_loss_nd(
    input: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    reduction: int = MEAN,
    ignore_index: int = IGNORED,
) -> Tensor:
    """``nll_loss`` for any number of dimensions behind that of the classes.

    Raises: ArgumentValueError for other numbers of examples and of classes.
    """
    options = weight, reduction, ignore_index
    refuse_gradients("nll_loss_forward", weight=weight)
    if input.ndim < 1:
        raise errors.ArgumentValueError(
            errors.message(
                "nll_loss",
                "Expected 1 or more dimensions (got 0)",
                "give a score for each class",
            )
        )
    if input.ndim != 1 and input.shape[0] != (target.shape or (1,))[0]:
        raise errors.ArgumentValueError(
            errors.message(
                "nll_loss",
                f"Expected input batch_size ({input.shape[0]}) to match target "
                f"batch_size ({(target.shape or (1,))[0]}).",
                "give one class for each row of scores",
            )
        )
    loss: Tensor
    if input.ndim in (1, 2, 4):
        loss = NllLoss.apply(input, target, *options)
        return loss
    batch, classes, *rest = input.shape
    if tuple(target.shape) != (batch, *rest):
        raise errors.ShapeError(
            errors.message(
                "nll_loss",
                f"Expected target size {[batch, *rest]}, got {list(target.shape)}",
                "give one class for each place",
            )
        )
    flat = input.reshape(batch, classes, 1, -1), target.reshape(batch, 1, -1)
    loss = NllLoss.apply(*flat, *options)
    return loss.reshape(batch, *rest) if reduction == NONE else loss


def cross_entropy_by_hand(
    scores: Any,
    target: Any,
    weight: Any = None,
    reduction: int = MEAN,
    ignore_index: int = IGNORED,
    label_smoothing: float = 0,
) -> Any:
    """The reference, without weights and smoothing; classes are dimension 1."""
    scores = np.asarray(scores)
    dim = min(1, scores.ndim - 1)
    away = np.log(np.sum(np.exp(scores), axis=dim, keepdims=True))
    if np.shape(target) != scores.shape:
        return nll_by_hand(scores - away, target, weight, reduction, ignore_index)
    losses = -np.sum((scores - away) * np.asarray(target), axis=dim)
    return [losses, np.mean(losses), np.sum(losses)][reduction]


@composite(
    "cross_entropy_loss",
    reference=cross_entropy_by_hand,
    samples=[
        (SCORES, CLASSES, None, MEAN),
        (SCORES, CLASSES, None, NONE),
        (SCORES, CHANCES, None, MEAN),
        (SCORES, CHANCES, None, SUM),
        ([0.5, -2.0, 3.0], np.array(1), None, MEAN),
    ],
    function=False,
    method=False,
)
def cross_entropy_loss(
    input: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    reduction: int = MEAN,
    ignore_index: int = IGNORED,
    label_smoothing: float = 0.0,
) -> Tensor:
    """How badly scores predict classes, or the probabilities of all classes.

    Raises: OperandError for a ``label_smoothing`` above 1, and for probabilities that
    are whole numbers or are to be ignored.
    """
    if label_smoothing > 1:
        what = f"label_smoothing must be between 0.0 and 1.0. Got: {label_smoothing}"
        raise impossible(what, "give a number from 0 to 1")
    options = weight, reduction, ignore_index
    if input.shape == target.shape:
        check_chances(input, target, weight, ignore_index)
        return of_chances(input, target, weight, reduction, label_smoothing)
    logs = functions.log_softmax(input, class_dim(input))
    loss = nll_loss_nd(logs, target, *options)
    if label_smoothing <= 0:
        return loss
    even = of_all_classes(logs, target, *options)
    share = label_smoothing / input.shape[class_dim(input)]
    return loss * (1 - label_smoothing) + even * share


def class_dim(input: Tensor) -> int:
    """The dimension of the classes: the second, or the only one."""
    return 0 if input.ndim == 1 else 1


def impossible(what: str, fix: str) -> errors.OperandError:
    """The error for arguments that cannot go together."""
    return errors.OperandError(errors.message("cross_entropy", what, fix))


def check_chances(
    input: Tensor, target: Tensor, weight: Tensor | None, ignore_index: int
) -> None:
    """Refuse probabilities that are none, or that are to be ignored.

    Raises: OperandError; ShapeError.
    """
    if not target.is_floating_point():
        what = "Expected floating point type for target with class probabilities, got "
        fix = "give probabilities, or one class for each row"
        raise impossible(f"{what}{target.dtype}", fix)
    if ignore_index >= 0:
        what = "ignore_index is not supported for floating point target"
        raise impossible(what, "leave it out")
    check_weight("cross_entropy", weight, input.shape[class_dim(input)])


def of_chances(
    input: Tensor,
    target: Tensor,
    weight: Tensor | None,
    reduction: int,
    label_smoothing: float,
) -> Tensor:
    """The loss for probabilities; the mean is over the examples."""
    dim = class_dim(input)
    logs = functions.log_softmax(input, dim)
    classes = input.shape[dim]
    if label_smoothing > 0:
        target = target * (1 - label_smoothing) + label_smoothing / classes
    parts = logs * target
    if weight is not None:
        parts = parts * along_classes(weight, logs)
    if reduction == NONE:
        return -parts.sum(dim)
    together = -parts.sum()
    if reduction == SUM:
        return together
    return together / (input.numel() / classes) if input.numel() else together / 0


def of_all_classes(
    logs: Tensor,
    target: Tensor,
    weight: Tensor | None,
    reduction: int,
    ignore_index: int,
) -> Tensor:
    """The loss if every class were as right as any other."""
    parts = logs if weight is None else logs * along_classes(weight, logs)
    ignored = target == ignore_index
    losses = (-parts.sum(class_dim(logs))).masked_fill(ignored, 0.0)
    if reduction == NONE:
        return losses
    if reduction == SUM:
        return losses.sum()
    counted = functions.logical_not(ignored)
    if weight is None:
        return losses.sum() / counted.sum()
    chosen = weight.gather(0, target.masked_fill(ignored, 0).flatten())
    return losses.sum() / (chosen * counted.flatten()).sum()


def along_classes(weight: Tensor, logs: Tensor) -> Tensor:
    """The weights in a shape that lines up with the scores."""
    shape = [1] * logs.ndim
    shape[class_dim(logs)] = -1
    return weight.reshape(shape)
