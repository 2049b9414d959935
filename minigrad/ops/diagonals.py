"""Diagonals that are copied, and their sum."""

from __future__ import annotations

from typing import Any

import numpy as np

from minigrad import errors
from minigrad.engine.builtin import Builtin
from minigrad.engine.core.tensor import Array, Tensor
from minigrad.ops._registry import op
from minigrad.ops.elementwise import beside, like, zeros_of
from minigrad.ops.gathering import ScatterAdd
from minigrad.ops.reduce import in_dtype
from minigrad.ops.shape import reshaped

MATRIX = [[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]


def diag_name(input: Tensor, diagonal: int = 0) -> str:
    """torch's nodes: one way round it reads a diagonal, the other it writes one."""
    return "DiagEmbedBackward0" if input.ndim == 1 else "DiagonalBackward0_copy"


@op(
    "diag",
    node_name=diag_name,
    reference=np.diag,
    samples=[([1.0, 2.0],), ([1.0, 2.0], 1), (MATRIX,), (MATRIX, 1), (MATRIX, -1)],
)
class Diag(Builtin):
    """Of a vector the matrix that has it on its diagonal; of a matrix the diagonal.

    ``diagonal`` counts upwards from the main one.
    Raises: ShapeError for other dimensions.

    >>> minigrad.diag(minigrad.tensor([1.0, 2.0]))
    tensor([[1., 0.],
            [0., 2.]])
    """

    one_by_one = True
    linear = True

    @staticmethod
    def forward(input: Array, diagonal: int = 0) -> Any:
        if input.ndim not in (1, 2):
            raise errors.ShapeError.at(
                "diag",
                f"diag(): Supports 1D or 2D tensors. Got {input.ndim}D",
                "for stacks of matrices use diagonal(dim1=-2, dim2=-1)",
            )
        return np.diag(input, diagonal).copy()

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: Tensor) -> None:
        ctx.shape, ctx.diagonal = inputs[0].array.shape, inputs[1]

    @staticmethod
    def backward(ctx: Any, grad: Any) -> Any:
        if len(ctx.shape) == 1:
            return Diag.of(grad, ctx.diagonal), None
        height, width = ctx.shape
        places = np.diag(np.arange(height * width).reshape(ctx.shape), ctx.diagonal)
        index = beside(grad, places.copy())
        flat = ScatterAdd.of(zeros_of(grad, (height * width,)), 0, index, grad)
        return reshaped(flat, ctx.shape), None


@op("trace", reference=np.trace, samples=[([[1.0, 2.0], [3.0, 4.0]],), (MATRIX,)])
class Trace(Builtin):
    """The sum of the diagonal of a matrix; integers and bools give int64.

    Raises: ShapeError for other dimensions.

    >>> minigrad.tensor([[1.0, 2.0], [3.0, 4.0]]).trace()
    tensor(5.)
    """

    one_by_one = True
    linear = True

    @staticmethod
    def forward(input: Array) -> Any:
        if input.ndim != 2:
            raise errors.ShapeError.at(
                "trace",
                f"trace: expected a matrix, but got tensor with dim {input.ndim}",
                "sum a diagonal: x.diagonal(dim1=-2, dim2=-1).sum(-1)",
            )
        return np.trace(in_dtype(input, None))

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: Tensor) -> None:
        ctx.shape = inputs[0].array.shape

    @staticmethod
    def backward(ctx: Any, grad: Any) -> Any:
        return grad * like(grad, np.eye(*ctx.shape, dtype=np.dtype(grad.dtype)))
