"""Losses that are operations of their own."""

from __future__ import annotations

from typing import Any

import numpy as np

from minigrad.engine.builtin import Builtin
from minigrad.engine.promotion import promoted
from minigrad.engine.structural import Expand, total
from minigrad.engine.tensor import Array, Tensor
from minigrad.kernels.elementwise import softplus
from minigrad.ops._registry import op
from minigrad.ops.elementwise import Sigmoid
from minigrad.ops.reduce import Sum
from minigrad.ops.shape import reshaped

SCORES = [[0.5, -2.0, 30.0], [-800.0, 1.0, 0.0]]
TARGETS = [[1.0, 0.0, 1.0], [0.0, 0.3, 0.5]]

NONE, MEAN, SUM = range(3)
"""torch's numbers for what becomes of the losses of all elements."""


def reduced_bce(
    x: Any, t: Any, weight: Any = None, pos_weight: Any = None, reduction: int = NONE
) -> Any:
    """The reference: of each element, or of all together."""
    losses = np.logaddexp(0, x) - np.multiply(x, t)
    return [losses, np.mean(losses), np.sum(losses)][reduction]


@op(
    "binary_cross_entropy_with_logits",
    node_name="BinaryCrossEntropyWithLogitsBackward0",
    reference=reduced_bce,
    samples=[
        (SCORES, TARGETS, None, None, MEAN),
        (SCORES, TARGETS, None, None, NONE),
        (SCORES, TARGETS, None, None, SUM),
    ],
    method=False,
)
class BinaryCrossEntropyWithLogits(Builtin):
    """How badly scores, before a sigmoid, predict targets between 0 and 1.

    ``reduction`` is 0 for each element, 1 for the mean and 2 for the sum; weights are
    not taken. Slope: ``sigmoid(input) - target``.

    >>> no_idea, yes = minigrad.zeros(2), minigrad.ones(2)
    >>> minigrad.binary_cross_entropy_with_logits(no_idea, yes)
    tensor([0.6931, 0.6931])
    """

    operands = 2
    saved_names = ("self", "target", "weight", "pos_weight")

    @staticmethod
    def forward(
        input: Array,
        target: Array,
        weight: None = None,
        pos_weight: None = None,
        reduction: int = NONE,
    ) -> Any:
        input, target = promoted(input, target)
        losses = softplus(input) - input * target
        if reduction == NONE:
            return losses
        return losses.mean() if reduction == MEAN else losses.sum()

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: Tensor) -> None:
        ctx.shape, ctx.reduction = inputs[0].array.shape, inputs[4]
        ctx.save_for_backward(*inputs[:2], None, None)

    @staticmethod
    def backward(ctx: Any, grad: Any) -> Any:
        input, target, *_ = ctx.saved_values
        if ctx.reduction != NONE:
            grad = Expand.of(reshaped(grad, (1,) * len(ctx.shape)), ctx.shape)
        if ctx.reduction == MEAN:
            grad = grad / np.prod(ctx.shape, dtype=int).item()
        return grad * (Sigmoid.of(input) - target), -input * grad, None, None, None

    @staticmethod
    def jvp(ctx: Any, t_input: Any, t_target: Any, *more: Any) -> Any:
        input, target, *_ = ctx.saved_values
        losses = total(
            None if t_input is None else t_input * (Sigmoid.of(input) - target),
            None if t_target is None else t_target * -input,
        )
        if ctx.reduction == NONE:
            return losses
        together = Sum.of(losses, None, False, None)
        count = np.prod(ctx.shape, dtype=int).item()
        return together / count if ctx.reduction == MEAN else together
