"""Products along the way."""

from __future__ import annotations

from typing import Any

import numpy as np

from minigrad.engine.builtin import Builtin
from minigrad.engine.core.tensor import Array, Tensor
from minigrad.engine.dtypes import as_dtype
from minigrad.engine.structural import Expand
from minigrad.ops._registry import op
from minigrad.ops.choose import Where
from minigrad.ops.elementwise import beside, like, plain, zeros_of
from minigrad.ops.order import Cumsum, Flip
from minigrad.ops.reduce import Sum, in_dtype
from minigrad.ops.shape import Transpose, check_range, reshaped

MATRIX = [[1.0, 5.0, 3.0], [4.0, -2.0, 6.0]]


def along(input: Tensor, dim: int, *, dtype: Any = None) -> tuple[Any, ...]:
    """``cumprod(dim)`` and ``cumprod(dim, dtype=...)``."""
    return input, dim, as_dtype(dtype, "cumprod")


@op(
    "cumprod",
    reference=lambda x, dim: np.cumprod(x, dim) if np.ndim(x) else np.asarray(x),
    samples=[(MATRIX, 0), (MATRIX, -1), (2.0, 0), ([2.0, 0.0, 3.0, 0.0], 0)],
    arguments=along,
    in_place=True,
)
class Cumprod(Builtin):
    """At each place along ``dim`` the product until there; integers give int64.

    Slope: the product of the others, also where there are zeros.

    >>> minigrad.tensor([1.0, 2.0, 3.0]).cumprod(0)
    tensor([1., 2., 6.])
    """

    dim_at = 1
    in_rows = True
    saved_names = ("self", "result")

    @staticmethod
    def forward(input: Array, dim: int, dtype: Any = None) -> Any:
        check_range(input, dim)
        input = in_dtype(input, dtype)
        return np.multiply.accumulate(input, axis=dim) if input.ndim else input.copy()

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: Tensor) -> None:
        ctx.dim = inputs[1]
        ctx.save_for_backward(inputs[0], output)

    @staticmethod
    def backward(ctx: Any, grad: Any) -> Any:
        input, output = ctx.saved_values
        if grad.ndim == 0:
            slope = grad
        elif np.all(plain(input)):
            weighted = Flip.of(grad * output, (ctx.dim,))
            slope = Flip.of(Cumsum.of(weighted, ctx.dim, None), (ctx.dim,)) / input
        else:
            rows = Transpose.of(grad, ctx.dim, -1)
            weighted = without_each(input, ctx.dim) * as_rows(rows)
            slope = Transpose.of(Sum.of(weighted, -1, False, None), ctx.dim, -1)
        return slope, None, None

    @staticmethod
    def jvp(ctx: Any, tangent: Any, *more: Any) -> Any:
        input, output = ctx.saved_values
        if tangent.ndim == 0:
            return tangent
        if np.all(plain(input)):
            return Cumsum.of(tangent / input, ctx.dim, None) * output
        columns = Transpose.of(as_rows(Transpose.of(tangent, ctx.dim, -1)), -1, -2)
        weighted = without_each(input, ctx.dim) * columns
        return Transpose.of(Sum.of(weighted, -2, False, None), ctx.dim, -1)


def as_rows(value: Any) -> Any:
    """The last dimension once more before it, of length 1."""
    shape = tuple(value.shape)
    return reshaped(value, (*shape[:-1], 1, shape[-1]))


def without_each(input: Any, dim: int) -> Any:
    """How each product (last dimension) moves with each element (last but one).

    That is the product of the others up to there, and 0 before the element comes in.
    """
    rows = as_rows(Transpose.of(input, dim, -1))
    length = rows.shape[-1]
    table = Expand.of(rows, (*rows.shape[:-2], length, length))
    one = like(input, np.ones((), np.dtype(input.dtype)))
    zero = zeros_of(input)
    itself = beside(input, np.eye(length, dtype=bool))
    later = beside(input, np.triu(np.ones((length, length), bool)))
    return Where.of(later, Cumprod.of(Where.of(itself, one, table), -1, None), zero)
