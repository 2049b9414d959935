"""Losses that compare scores for several classes with the right one."""

from __future__ import annotations

from typing import Any

import numpy as np

from minigrad import errors, kernels
from minigrad.engine.builtin import Builtin
from minigrad.engine.core.tensor import Array, Tensor
from minigrad.engine.errstate import quietly
from minigrad.engine.examples import all_batched, first_example
from minigrad.kernels._jit import shaped
from minigrad.ops import functions
from minigrad.ops._refusals import check_kind
from minigrad.ops._registry import composite, op
from minigrad.ops.losses import MEAN, NONE, SUM, first, referred, refuse_gradients
from minigrad.ops.softmax import LogSoftmax

SCORES = [[0.5, -2.0, 3.0], [-8.0, 1.0, 0.0], [0.3, 0.2, 0.1]]
CLASSES = np.array([2, 0, -100])
IMAGE = [[[0.5, -2.0], [3.0, 0.1], [1.0, 1.5]], [[0.3, 2.0], [0.2, -1.0], [0.0, 4.0]]]
PIXELS = np.array([[0, 2], [-100, 1]])
CHANCES = [[0.2, 0.3, 0.5], [1.0, 0.0, 0.0], [0.1, 0.1, 0.8]]

IGNORED = -100
"""The class that torch leaves out of the mean unless another is named."""


def in_rows(input: Array, target: Array, weight: Array | None) -> tuple[Array, Array]:
    """Scores as a table with a row for each class to be found; and those classes.

    Raises: OperandError, ShapeError.
    """
    if weight is None and is_table(input, target):
        return input, target
    check_classes(input, target, weight)
    rows = np.moveaxis(input, 1, -1) if input.ndim > 2 else input
    classes = target.reshape(-1).astype(np.int64, copy=False)
    return rows.reshape(classes.size, input.shape[class_dim(input)]), classes


def is_table(input: Array, target: Array) -> bool:
    """Whether these are rows of scores and the number of the class of each."""
    return (
        input.ndim == 2
        and target.ndim == 1
        and target.dtype.char in "lq"
        and len(input) == len(target)
    )


def from_rows(rows: Array, shape: tuple[int, ...]) -> Array:
    """The table in the shape of the scores."""
    if len(shape) > 2:
        lengths = shape[:1] + shape[2:] + shape[1:2]
        return np.ascontiguousarray(np.moveaxis(rows.reshape(lengths), -1, 1))
    table: Array = shaped(rows, shape)
    return table


def factors_of(weight: Array | None, rows: Array) -> Array:
    """The weight of each class; no elements, unless they are given: each is 1."""
    return np.empty(0, rows.dtype) if weight is None else weight


def check_classes(input: Array, target: Array, weight: Array | None) -> None:
    """Refuse what does not fit together.

    Raises: OperandError, ShapeError.
    """
    if target.dtype.char not in "lqB":
        raise errors.OperandError.at(
            "nll_loss",
            f"expected target dtype to be Long or Byte, but got {target.dtype}",
            "give the number of the class: target.long()",
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
        raise errors.ShapeError.at(
            "nll_loss", wrong, "give one class for each row of scores"
        )
    check_weight("nll_loss", weight, input.shape[min(1, input.ndim - 1)])
    if weight is not None and weight.dtype != input.dtype:
        raise errors.OperandError.at(
            "nll_loss",
            f"expected scalar type {input.dtype} but found {weight.dtype}",
            "give weights of the dtype of the scores",
        )


def check_weight(where: str, weight: Any, classes: int) -> None:
    """Refuse weights that are not one for each class.

    Raises: ShapeError.
    """
    if weight is not None and tuple(weight.shape) != (classes,):
        raise errors.ShapeError.at(
            where,
            f"weight tensor should be defined either for all {classes} classes "
            f"or no classes but got weight tensor of shape: {list(weight.shape)}",
            "give one weight for each class",
        )


def no_such_class(wrong: int, classes: int, ignore_index: int) -> errors.IndexingError:
    """The error for a class that does not exist."""
    return errors.IndexingError.at(
        "nll_loss",
        f"Target {wrong} is out of bounds.",
        f"use classes from 0 to {classes - 1}, or {ignore_index} for none",
    )


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


def of_scores_alone(
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
    arguments=of_scores_alone,
    returns=first,
    public=False,
)
class NllLoss(Builtin):
    """Minus the score of the right class; ``reduction`` is 0 for each, 1 mean, 2 sum.

    Classes equal to ``ignore_index`` count for nothing, others as much as their
    ``weight`` says; the mean is over what counts.
    """

    without_edges = (1, 2)
    saved_names = ("self", "target", "weight", "total_weight")
    one_by_one = True

    @staticmethod
    def vmap(info: Any, in_dims: Any, *values: Any) -> Any:
        """The loss of every example: all rows at once, and then reduced for each."""
        input, target, weight, reduction, ignore_index = values
        if in_dims[2] is not None or not info.batch_size:
            return NotImplemented
        input, target = all_batched(info.batch_size, in_dims[:2], (input, target))
        check_classes(first_example(input), first_example(target), None)
        if input.ndim > 2:
            input = input.reshape(-1, *input.shape[2:])
        rows = input, target.reshape(-1, *target.shape[2:]), weight, NONE, ignore_index
        each = NllLoss.apply(*rows)[0].reshape(target.shape)
        if reduction == NONE:
            return (each, Tensor(np.zeros((), input.dtype))), (0, None)
        ones = Tensor(np.full(input.shape, -1, input.dtype))
        counts = NllLoss.apply(ones, *rows[1:])[0].reshape(info.batch_size, -1).sum(1)
        total = each.reshape(info.batch_size, -1).sum(1)
        return (total / counts if reduction == MEAN else total, counts), 0

    @staticmethod
    @quietly
    def forward(
        input: Array,
        target: Array,
        weight: Array | None,
        reduction: int,
        ignore_index: int,
    ) -> tuple[Any, Any]:
        check_kind("nll_loss", "nll_loss_out_frame", input.dtype)
        rows, classes = in_rows(input, target, weight)
        losses, totals, wrong = kernels.losses.nll(
            rows, classes, factors_of(weight, rows), ignore_index
        )
        if wrong[0] != kernels.losses.ALL_RIGHT:
            raise no_such_class(wrong[0], rows.shape[1], ignore_index)
        if reduction == NONE:
            each = losses.reshape(target.shape if input.ndim > 1 else ())
            return each, np.zeros((), input.dtype)
        total, number = totals
        loss = total / number if reduction == MEAN else total
        return np.array(loss, input.dtype), np.array(number, input.dtype)

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: Any) -> None:
        input, target, weight, ctx.reduction, ctx.ignore_index = inputs
        ctx.shape = input.array.shape
        ctx.save_for_backward(input, target, weight, Tensor(output[1].array))

    @staticmethod
    def backward(ctx: Any, *grads: Any) -> Any:
        _, target, weight, number = ctx.saved_values
        constants = ctx.shape, target, weight, number
        options = ctx.reduction, ctx.ignore_index
        into_input = NllSlope.of(grads[0], *constants, *options)
        return into_input, None, None, None, None

    @staticmethod
    def jvp(ctx: Any, tangent: Any, *more: Any) -> Any:
        _, target, weight, _ = ctx.saved_values
        options = ctx.reduction, ctx.ignore_index
        return NllLoss.apply(tangent, target, weight, *options)[0], None


class NllSlope(Builtin):
    """The transpose of NllLoss: minus the gradient at each right class, else 0."""

    one_by_one = True
    linear = True
    without_edges = (2, 3, 4)

    @staticmethod
    @quietly
    def forward(
        grad: Array,
        shape: tuple[int, ...],
        target: Array,
        weight: Array | None,
        number: Array,
        reduction: int,
        ignore_index: int,
    ) -> Any:
        classes = target.reshape(-1).astype(np.int64, copy=False)
        count = shape[min(1, len(shape) - 1)]
        each = np.asarray(grad / number if reduction == MEAN else grad).reshape(-1)
        rows = kernels.losses.nll_backward(
            each, classes, factors_of(weight, each), ignore_index, count
        )
        return from_rows(rows, shape)

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: Tensor) -> None:
        _, _, target, weight, _, *ctx.options = inputs
        ctx.save_for_backward(target, weight)

    @staticmethod
    def backward(ctx: Any, grad: Any) -> Any:
        target, weight = ctx.saved_values
        into_grad = NllLoss.of(grad, target, weight, *ctx.options)[0]
        return into_grad, None, None, None, None, None, None


@composite(
    "nll_loss_nd",
    reference=nll_by_hand,
    samples=[
        (IMAGE, PIXELS, None, MEAN),
        (IMAGE, PIXELS, None, NONE),
        (SCORES, CLASSES, None, MEAN),
    ],
    public=False,
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
    if weight is not None:
        refuse_gradients("nll_loss_forward", weight=weight)
    shape = input.shape
    if not shape:
        raise errors.ArgumentValueError.at(
            "nll_loss",
            "Expected 1 or more dimensions (got 0)",
            "give a score for each class",
        )
    batch, *rest = shape
    examples, *_ = target.shape or (1,)
    if rest and batch != examples:
        raise errors.ArgumentValueError.at(
            "nll_loss",
            f"Expected input batch_size ({batch}) to match target "
            f"batch_size ({examples}).",
            "give one class for each row of scores",
        )
    loss: Tensor
    if len(shape) in (1, 2, 4):
        loss, _ = NllLoss.apply(input, target, *options)
        return loss
    classes, *rest = rest
    if tuple(target.shape) != (batch, *rest):
        raise errors.ShapeError.at(
            "nll_loss",
            f"Expected target size {[batch, *rest]}, got {list(target.shape)}",
            "give one class for each place",
        )
    flat = input.reshape(batch, classes, 1, -1), target.reshape(batch, 1, -1)
    loss, _ = NllLoss.apply(*flat, *options)
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
    return referred(losses, reduction)


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
    public=False,
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
    if input.ndim == target.ndim and input.shape == target.shape:
        check_chances(input, target, weight, ignore_index)
        return of_chances(input, target, weight, reduction, label_smoothing)
    logs = LogSoftmax.apply(input, class_dim(input), None)
    loss = nll_loss_nd(logs, target, *options)
    if label_smoothing <= 0:
        return loss
    even = of_all_classes(logs, target, *options)
    share = label_smoothing / input.shape[class_dim(input)]
    return loss * (1 - label_smoothing) + even * share


def class_dim(input: Any) -> int:
    """The dimension of the classes: the second, or the only one."""
    return 0 if input.ndim == 1 else 1


def impossible(what: str, fix: str) -> errors.OperandError:
    """The error for arguments that cannot go together."""
    return errors.OperandError.at("cross_entropy", what, fix)


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
