"""Losses that compare each element with its target, and what becomes of them."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np

from minigrad import errors
from minigrad.engine.builtin import Builtin
from minigrad.engine.core.tensor import Array, Tensor
from minigrad.engine.errstate import quietly
from minigrad.engine.examples import lined_up
from minigrad.engine.promotion import promoted
from minigrad.engine.structural import Expand, total
from minigrad.kernels.elementwise import softplus
from minigrad.ops._refusals import check_kind
from minigrad.ops._registry import composite, op
from minigrad.ops.choose import Clamp
from minigrad.ops.elementwise import Sigmoid, Softplus
from minigrad.ops.reduce import Sum
from minigrad.ops.shape import reshaped

SCORES = [[0.5, -2.0, 30.0], [-800.0, 1.0, 0.0]]
TARGETS = [[1.0, 0.0, 1.0], [0.0, 0.3, 0.5]]
GUESSES = [[0.5, -2.5, 3.5], [-8.0, 1.0, 0.1]]

NONE, MEAN, SUM = range(3)
"""torch's numbers for what becomes of the losses of all elements."""


def reduced(losses: Any, reduction: int) -> Any:
    """An array of losses as it is, or its mean or its sum."""
    if reduction == NONE:
        return losses
    return losses.mean() if reduction == MEAN else losses.sum()


def reduced_examples(losses: Tensor, reduction: int) -> Tensor:
    """The losses of every example as they are, or their mean or their sum."""
    if reduction == NONE:
        return losses
    size, *shape = losses.shape
    rows = losses.reshape(size, math.prod(tuple(shape)))
    return rows.mean(1) if reduction == MEAN else rows.sum(1)


def first(outputs: tuple[Tensor, ...]) -> Tensor:
    """The result; what else was computed stays with the node."""
    return outputs[0]


def share_of_each(grad: Any, shape: tuple[int, ...], reduction: int) -> Any:
    """What of the gradient of the reduced losses goes to the loss of each element."""
    if reduction == NONE:
        return grad
    each = Expand.of(reshaped(grad, (1,) * len(shape)), shape)
    return each / math.prod(shape) if reduction == MEAN else each


def reduced_tangent(losses: Any, shape: tuple[int, ...], reduction: int) -> Any:
    """The tangent of the reduced losses, from those of the elements."""
    if reduction == NONE:
        return losses
    together = Sum.of(losses, None, False, None)
    return together / math.prod(shape) if reduction == MEAN else together


def referred(losses: Any, reduction: int) -> Any:
    """The references: of each element, or of all together."""
    return [losses, np.mean(losses), np.sum(losses)][reduction]


class OfDifference(Builtin):
    """A loss of ``input - target`` alone, from its ``value`` and its ``slope``."""

    operands = 2
    saved_names = ("self", "target")
    torchs_name: ClassVar[str]
    value: ClassVar[Callable[..., Any]]
    """The loss of each element, from its difference."""

    slope: ClassVar[Callable[..., Any]]
    """How it moves with the difference."""

    @classmethod
    @quietly
    def forward(
        cls, input: Array, target: Array, reduction: int = MEAN, *options: Any
    ) -> Any:
        input, target = promoted(input, target)
        check_kind(cls.torchs_name, f"{cls.torchs_name}_cpu", input.dtype)
        return reduced(cls.value(input - target, *options), reduction)

    @classmethod
    def vmap(cls, info: Any, in_dims: Any, *values: Any) -> Any:
        """The loss of every example."""
        input, target, reduction, *options = values
        both = lined_up((input, target), in_dims[:2])
        each = cls.apply(*both, NONE, *options)
        return reduced_examples(each, reduction), 0

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: Tensor) -> None:
        input, target, ctx.reduction, *ctx.options = inputs
        ctx.shape = np.broadcast_shapes(input.shape, target.shape)
        ctx.save_for_backward(input, target)

    @classmethod
    def backward(cls, ctx: Any, grad: Any) -> Any:
        input, target = ctx.saved_values
        each = share_of_each(grad, ctx.shape, ctx.reduction)
        slope = each * cls.slope(input - target, *ctx.options)
        return slope, -slope, None, *[None for _ in ctx.options]

    @classmethod
    def jvp(cls, ctx: Any, t_input: Any, t_target: Any, *more: Any) -> Any:
        input, target = ctx.saved_values
        moves = total(t_input, None if t_target is None else -t_target)
        losses = moves * cls.slope(input - target, *ctx.options)
        return reduced_tangent(losses, ctx.shape, ctx.reduction)


def compared(input: Tensor, target: Tensor, reduction: int = MEAN) -> tuple[Any, ...]:
    """The arguments of a loss without options."""
    return input, target, reduction


@op(
    "mse_loss",
    reference=lambda x, t, reduction=MEAN: referred(np.subtract(x, t) ** 2, reduction),
    samples=[
        (GUESSES, TARGETS, MEAN),
        (GUESSES, TARGETS, SUM),
        (GUESSES, TARGETS, NONE),
    ],
    arguments=compared,
    public=False,
)
class MseLoss(OfDifference):
    """The squared differences; ``reduction`` is 0 for each, 1 the mean, 2 the sum."""

    torchs_name = "mse"
    value = staticmethod(lambda difference: difference * difference)
    slope = staticmethod(lambda difference: difference * 2)


def with_delta(
    input: Tensor, target: Tensor, reduction: int = MEAN, delta: float = 1.0
) -> tuple[Any, ...]:
    """Where the parabola of ``huber_loss`` ends.

    Raises: OperandError unless ``delta`` is positive.
    """
    if delta <= 0:
        raise impossible("huber_loss", "non-positive values for delta.")
    return input, target, reduction, delta


def with_beta(
    input: Tensor, target: Tensor, reduction: int = MEAN, beta: float = 1.0
) -> tuple[Any, ...]:
    """Where the parabola of ``smooth_l1_loss`` ends.

    Raises: OperandError for a negative ``beta``.
    """
    if beta < 0:
        raise impossible("smooth_l1_loss", "negative values for beta.")
    return input, target, reduction, beta


def impossible(where: str, what: str) -> errors.OperandError:
    """The error for a parabola of a width that cannot be."""
    return errors.OperandError.at(
        where, f"{where} does not support {what}", "give one above 0"
    )


def rounded_off(difference: Any, width: Any) -> Any:
    """A parabola up to ``width`` on either side, and its tangents beyond."""
    near = np.clip(difference, -width, width)
    return near * (difference - near * 0.5)


@op(
    "huber_loss",
    reference=lambda x, t, reduction=MEAN, delta=1: referred(
        rounded_off(np.subtract(x, t), delta), reduction
    ),
    samples=[(GUESSES, TARGETS, MEAN, 2), (GUESSES, TARGETS, NONE)],
    arguments=with_delta,
    public=False,
)
class HuberLoss(OfDifference):
    """Half the squared difference; of those beyond ``delta``, only in proportion."""

    torchs_name = "huber"
    value = staticmethod(rounded_off)
    slope = staticmethod(lambda difference, delta: Clamp.of(difference, -delta, delta))


@op(
    "smooth_l1_loss",
    reference=lambda x, t, reduction=MEAN, beta=1: referred(
        rounded_off(np.subtract(x, t), beta) / beta, reduction
    ),
    samples=[(GUESSES, TARGETS, MEAN, 2), (GUESSES, TARGETS, NONE)],
    arguments=with_beta,
    public=False,
)
class SmoothL1Loss(OfDifference):
    """The absolute difference less ``beta / 2``, rounded off around 0."""

    torchs_name = "smooth_l1"
    value = staticmethod(lambda difference, beta: rounded_off(difference, beta) / beta)
    slope = staticmethod(lambda diff, beta: Clamp.of(diff, -beta, beta) / beta)


@composite(
    "l1_loss",
    reference=lambda x, t, reduction=MEAN: referred(
        np.abs(np.subtract(x, t)), reduction
    ),
    samples=[
        (GUESSES, TARGETS, MEAN),
        (GUESSES, TARGETS, SUM),
        (GUESSES, TARGETS, NONE),
    ],
    public=False,
)
def l1_loss(input: Tensor, target: Tensor, reduction: int = MEAN) -> Tensor:
    """The absolute differences; ``reduction`` is 0 for each, 1 the mean, 2 the sum."""
    losses: Tensor = reduced((input - target).abs(), reduction)
    return losses


def reduced_bce(
    x: Any, t: Any, weight: Any = None, pos_weight: Any = None, reduction: int = NONE
) -> Any:
    """The reference: of each element, or of all together."""
    x, t = np.asarray(x), np.asarray(t)
    positive = 1 if pos_weight is None else pos_weight
    losses = t * positive * np.logaddexp(0, -x) + (1 - t) * np.logaddexp(0, x)
    return referred(losses if weight is None else losses * weight, reduction)


def weighted(
    input: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    pos_weight: Tensor | None = None,
    reduction: int = NONE,
) -> tuple[Any, ...]:
    """The arguments, of which the weights have no slope."""
    where = "binary_cross_entropy_with_logits"
    refuse_gradients(where, weight=weight, pos_weight=pos_weight)
    return input, target, weight, pos_weight, reduction


def refuse_gradients(where: str, **constants: Tensor | None) -> None:
    """Refuse a tensor that requires grad where there is no slope.

    Raises: DerivativeMissingError.
    """
    for name, value in constants.items():
        if isinstance(value, Tensor) and value.requires_grad:
            raise errors.DerivativeMissingError.at(
                where,
                f"The function '{where}' is not differentiable with respect to "
                f"argument '{name}'. This input cannot have requires_grad True.",
                f"give {name}.detach()",
            )


@op(
    "binary_cross_entropy_with_logits",
    reference=reduced_bce,
    samples=[
        (SCORES, TARGETS, None, None, MEAN),
        (SCORES, TARGETS, None, None, NONE),
        (SCORES, TARGETS, None, None, SUM),
    ],
    arguments=weighted,
    method=False,
)
class BinaryCrossEntropyWithLogits(Builtin):
    """How badly scores, before a sigmoid, predict targets between 0 and 1.

    ``reduction`` is 0 for each element, 1 for the mean and 2 for the sum. ``weight``
    multiplies each loss, ``pos_weight`` its part for the target 1. Slope, without
    weights: ``sigmoid(input) - target``.
    Raises: DerivativeMissingError for weights that require grad.

    >>> no_idea, yes = minigrad.zeros(2), minigrad.ones(2)
    >>> minigrad.binary_cross_entropy_with_logits(no_idea, yes)
    tensor([0.6931, 0.6931])
    """

    operands = 2
    without_edges = (2, 3)
    saved_names = ("self", "target", "weight", "pos_weight")

    @classmethod
    def vmap(cls, info: Any, in_dims: Any, *values: Any) -> Any:
        """The loss of every example."""
        *operands, reduction = values
        each = cls.apply(*lined_up(tuple(operands), in_dims[:4]), NONE)
        return reduced_examples(each, reduction), 0

    @staticmethod
    def forward(
        input: Array,
        target: Array,
        weight: Array | None = None,
        pos_weight: Array | None = None,
        reduction: int = NONE,
    ) -> Any:
        input, target = promoted(input, target)
        losses = softplus(input) - input * target
        if pos_weight is not None:
            losses = losses + (pos_weight - 1) * target * softplus(-input)
        return reduced(losses if weight is None else losses * weight, reduction)

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: Tensor) -> None:
        tensors = [value for value in inputs[:4] if value is not None]
        ctx.shape = np.broadcast_shapes(*[value.shape for value in tensors])
        ctx.reduction = inputs[4]
        ctx.save_for_backward(*inputs[:4])

    @staticmethod
    def slopes(ctx: Any) -> tuple[Any, Any]:
        """How each loss moves with its score and with its target."""
        input, target, weight, pos_weight = ctx.saved_values
        if pos_weight is None:
            slopes = Sigmoid.of(input) - target, -input
        else:
            positive = target * pos_weight
            slopes = (
                (positive + 1 - target) * Sigmoid.of(input) - positive,
                (pos_weight - 1) * Softplus.of(-input) - input,
            )
        if weight is None:
            return slopes
        return slopes[0] * weight, slopes[1] * weight

    @classmethod
    def backward(cls, ctx: Any, grad: Any) -> Any:
        of_input, of_target = cls.slopes(ctx)
        each = share_of_each(grad, ctx.shape, ctx.reduction)
        return each * of_input, each * of_target, None, None, None

    @classmethod
    def jvp(cls, ctx: Any, t_input: Any, t_target: Any, *more: Any) -> Any:
        of_input, of_target = cls.slopes(ctx)
        losses = total(
            None if t_input is None else t_input * of_input,
            None if t_target is None else t_target * of_target,
        )
        return reduced_tangent(losses, ctx.shape, ctx.reduction)
