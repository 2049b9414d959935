"""Softmax and its logarithm."""

from __future__ import annotations

from typing import Any

import numpy as np

from minigrad import kernels
from minigrad.engine.builtin import Builtin
from minigrad.engine.core.tensor import Array, Tensor
from minigrad.engine.dtypes import as_dtype
from minigrad.engine.errstate import quietly
from minigrad.ops._refusals import check_kind
from minigrad.ops._registry import op
from minigrad.ops.elementwise import Exp
from minigrad.ops.reduce import Sum
from minigrad.ops.shape import check_range

MATRIX = [[1.0, 2.0, 3.0], [4.0, -5.0, 6.0]]
SAMPLES: list[tuple[Any, ...]] = [(MATRIX, 0), (MATRIX, -1), ([0.5, -2.0], 0)]


def along(input: Tensor, dim: int, dtype: Any = None) -> tuple[Any, ...]:
    """``softmax(dim)`` and ``softmax(dim, dtype=...)``."""
    return input, dim, as_dtype(dtype, "softmax")


def as_floats(where: str, input: Array, dim: int, dtype: Any) -> Array:
    """The input, if it has the dimension and floating-point elements.

    Raises: DimensionError; UnsupportedOptionError, as torch a NotImplementedError.
    """
    check_range(input, dim)
    if dtype is not None:
        input = quietly(input.astype)(dtype)
    check_kind(where, "softmax_lastdim_kernel_impl", input.dtype)
    return input


class AlongOne(Builtin):
    """An operation along one dimension whose slope is computed from its output."""

    dim_at = 1
    in_rows = True
    saved_names = ("result",)

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: Tensor) -> None:
        ctx.dim = inputs[1]
        ctx.save_for_backward(output)


@op(
    "softmax",
    reference=lambda x, dim: (
        np.exp(x) / np.sum(np.exp(np.asarray(x)), axis=dim, keepdims=True)
    ),
    samples=SAMPLES,
    arguments=along,
)
class Softmax(AlongOne):
    """e**input over their sum along ``dim``; never overflows. Saves: the output.

    >>> minigrad.tensor([1000.0, 1000.0]).softmax(0)
    tensor([0.5000, 0.5000])
    """

    @staticmethod
    def forward(input: Array, dim: int, dtype: Any = None) -> Any:
        floats = as_floats("softmax", input, dim, dtype)
        return kernels.softmax.along(kernels.softmax.softmax_of_rows, dim, floats)

    @staticmethod
    def backward(ctx: Any, grad: Any) -> Any:
        (output,) = ctx.saved_values
        if not isinstance(grad, Tensor):
            backward = kernels.softmax.softmax_backward_of_rows
            return kernels.softmax.along(backward, ctx.dim, grad, output), None, None
        weighted = grad * output
        return weighted - output * Sum.of(weighted, ctx.dim, True, None), None, None

    @staticmethod
    def jvp(ctx: Any, tangent: Any, *more: Any) -> Any:
        # The slopes form a symmetric matrix, so the rule is its own transpose.
        return Softmax.backward(ctx, tangent)[0]


@op(
    "log_softmax",
    reference=lambda x, dim: (
        x - np.log(np.sum(np.exp(np.asarray(x)), axis=dim, keepdims=True))
    ),
    samples=SAMPLES,
    arguments=along,
)
class LogSoftmax(AlongOne):
    """The logarithm of softmax, exact also where that is nearly 0. Saves: the output.

    >>> minigrad.tensor([0.0, 1000.0]).log_softmax(0)
    tensor([-1000.,     0.])
    """

    @staticmethod
    def forward(input: Array, dim: int, dtype: Any = None) -> Any:
        floats = as_floats("log_softmax", input, dim, dtype)
        return kernels.softmax.along(kernels.softmax.log_softmax_of_rows, dim, floats)

    @staticmethod
    def backward(ctx: Any, grad: Any) -> Any:
        (output,) = ctx.saved_values
        if not isinstance(grad, Tensor):
            backward = kernels.softmax.log_softmax_backward_of_rows
            return kernels.softmax.along(backward, ctx.dim, grad, output), None, None
        return grad - Exp.of(output) * Sum.of(grad, ctx.dim, True, None), None, None

    @staticmethod
    def jvp(ctx: Any, tangent: Any, *more: Any) -> Any:
        (output,) = ctx.saved_values
        return tangent - Sum.of(tangent * Exp.of(output), ctx.dim, True, None)
