"""Sums with factors, weighted means, and elements repeated or moved round."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from minigrad.engine.builtin import Builtin
from minigrad.engine.core.tensor import Array, Tensor
from minigrad.engine.errstate import quietly
from minigrad.engine.promotion import promoted
from minigrad.ops._registry import composite, op
from minigrad.ops.elementwise import ByParts
from minigrad.ops.reduce import Sum
from minigrad.ops.shape import check_range, reshaped, with_shape

ROW = [1.0, -2.0, 0.5]
OTHER = [3.0, 0.25, -4.0]
MATRIX = [[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]


class OfThree(ByParts):
    """An operation on three tensors and a factor."""

    operands = 3
    elementwise = True
    saved_names = ("tensor1", "tensor2")
    combine: ClassVar[np.ufunc]
    """What becomes of two of them before it is added to the first."""

    @classmethod
    @quietly
    def forward(cls, input: Array, tensor1: Array, tensor2: Array, value: Any) -> Any:
        combined = np.asarray(cls.combine(*promoted(tensor1, tensor2)))
        scaled = np.asarray(np.multiply(*promoted(combined, value)))
        return np.add(*promoted(input, scaled))


def three(
    input: Tensor, tensor1: Tensor, tensor2: Tensor, *, value: Any = 1
) -> tuple[Any, ...]:
    """``value`` is given by its name only."""
    return input, tensor1, tensor2, value


@op(
    "addcmul",
    reference=lambda x, a, b: np.asarray(x) + np.asarray(a) * np.asarray(b),
    samples=[(ROW, OTHER, ROW), (ROW, [[2.0], [3.0]], OTHER)],
    arguments=three,
    in_place=True,
)
class Addcmul(OfThree):
    """input + value * tensor1 * tensor2.

    >>> one = minigrad.ones(2)
    >>> one.addcmul(one, one, value=5)
    tensor([6., 6.])
    """

    combine = np.multiply

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: Tensor) -> None:
        _, tensor1, tensor2, ctx.value = inputs
        _, needs_1, needs_2, _ = ctx.needs_input_grad
        ctx.save_for_backward(
            tensor1 if needs_2 else None, tensor2 if needs_1 else None
        )

    @staticmethod
    def parts(ctx: Any, *moved: Any) -> Any:
        first, second, third, _ = moved
        a, b = ctx.saved_values
        return (
            first,
            None if second is None else second * b * ctx.value,
            None if third is None else third * a * ctx.value,
            None,
        )


@op(
    "addcdiv",
    reference=lambda x, a, b: np.asarray(x) + np.asarray(a) / np.asarray(b),
    samples=[(ROW, OTHER, ROW), (ROW, [[2.0], [3.0]], OTHER)],
    arguments=three,
    in_place=True,
)
class Addcdiv(OfThree):
    """input + value * tensor1 / tensor2.

    >>> one = minigrad.ones(2)
    >>> one.addcdiv(one, one * 2, value=4)
    tensor([3., 3.])
    """

    combine = np.true_divide

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: Tensor) -> None:
        _, tensor1, tensor2, ctx.value = inputs
        ctx.save_for_backward(tensor1 if ctx.needs_input_grad[2] else None, tensor2)

    @staticmethod
    def parts(ctx: Any, *moved: Any) -> Any:
        first, second, third, _ = moved
        a, b = ctx.saved_values
        return (
            first,
            None if second is None else second / b * ctx.value,
            None if third is None else -third * a / (b * b) * ctx.value,
            None,
        )


@op(
    "lerp",
    node_name=lambda input, end, weight: (
        f"LerpBackward{1 if isinstance(weight, Tensor) else 0}"
    ),
    reference=lambda x, end, weight: x + np.multiply(weight, np.subtract(end, x)),
    samples=[(ROW, OTHER, 2), (ROW, OTHER, [0.5, 0.25, 2.0])],
    in_place=True,
)
class Lerp(ByParts):
    """input + weight * (end - input): from one towards the other.

    >>> minigrad.zeros(2).lerp(minigrad.ones(2), 0.25)
    tensor([0.2500, 0.2500])
    """

    elementwise = True
    operands = 3
    numbers_have_edges = False
    saved_names = ("end", "self", "weight")

    @staticmethod
    def forward(input: Array, end: Array, weight: Any) -> Any:
        return np.add(input, (end - input) * promoted(input, weight)[1])

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: Tensor) -> None:
        input, end, weight = inputs
        ctx.number = None if isinstance(weight, Tensor) else weight
        if ctx.number is None:
            needs_weight = ctx.needs_input_grad[2]
            ctx.save_for_backward(
                end if needs_weight else None,
                input if needs_weight else None,
                weight,
            )

    @staticmethod
    def parts(ctx: Any, *moved: Any) -> Any:
        first, second, third = moved
        # A weight that is a number has no slope, so nothing else is needed either.
        unsaved: tuple[Any, ...] = (0, 0, ctx.number)
        end, input, weight = ctx.saved_values if ctx.number is None else unsaved
        return (
            None if first is None else first - first * weight,
            None if second is None else second * weight,
            None if third is None else third * (end - input),
        )


@op(
    "repeat",
    reference=lambda x, *sizes: np.tile(x, sizes),
    samples=[(ROW, 2), (MATRIX, 2, 3), (ROW, 2, 2)],
    arguments=with_shape,
)
class Repeat(Builtin):
    """Copies behind one another: how many along each dimension.

    >>> minigrad.tensor([1.0, 2.0]).repeat(2, 2)
    tensor([[1., 2., 1., 2.],
            [1., 2., 1., 2.]])
    """

    one_by_one = True
    linear = True

    @staticmethod
    def forward(input: Array, repeats: tuple[int, ...]) -> Any:
        return np.tile(input, repeats)

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: Tensor) -> None:
        ctx.shape, ctx.repeats = tuple(inputs[0].shape), inputs[1]

    @staticmethod
    def backward(ctx: Any, grad: Any) -> Any:
        new = len(ctx.repeats) - len(ctx.shape)
        pairs: list[int] = list(ctx.repeats[:new])
        for times, length in zip(ctx.repeats[new:], ctx.shape, strict=True):
            pairs += [times, length]
        copies = (*range(new), *range(new, len(pairs), 2))
        return Sum.of(reshaped(grad, tuple(pairs)), copies, False, None), None


@composite(
    "tile",
    reference=np.tile,
    samples=[(ROW, (2,)), (MATRIX, (2,)), (MATRIX, (2, 1, 3))],
)
def tile(input: Tensor, *counts: Any, dims: Any = None) -> Any:
    """Copies behind one another; fewer counts than dimensions are for the last ones.

    >>> minigrad.tile(minigrad.tensor([1.0, 2.0]), (2,))
    tensor([1., 2., 1., 2.])
    """
    _, repeats = with_shape(input, *counts, shape=dims)
    return Repeat.apply(input, (1,) * (input.ndim - len(repeats)) + repeats)


@op(
    "roll",
    reference=lambda x, shifts, dims=None: np.roll(x, shifts, dims),
    samples=[(ROW, 1), (MATRIX, -1, 1), (MATRIX, (1, 2), (0, 1)), (MATRIX, 2)],
)
class Roll(Builtin):
    """The elements moved along, and those that leave at the end put at the start.

    One shift, or one for each of several dimensions.

    >>> minigrad.tensor([1.0, 2.0, 3.0]).roll(1)
    tensor([3., 1., 2.])
    """

    one_by_one = True
    linear = True
    in_rows = True

    @staticmethod
    def forward(input: Array, shifts: Any, dims: Any = None) -> Any:
        if dims is not None:
            check_range(input, *(dims if isinstance(dims, (tuple, list)) else (dims,)))
        return np.roll(input, shifts, dims)

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: Tensor) -> None:
        _, ctx.shifts, ctx.dims = inputs

    @staticmethod
    def backward(ctx: Any, grad: Any) -> Any:
        back = ctx.shifts
        back = [-one for one in back] if isinstance(back, (tuple, list)) else -back
        return Roll.of(grad, back, ctx.dims), None, None
