"""Products of vectors and matrices."""

from __future__ import annotations

from typing import Any

import numpy as np

from minigrad import errors
from minigrad.engine.builtin import Builtin, must_be_tensor
from minigrad.engine.promotion import do_not_broadcast, promoted
from minigrad.engine.structural import total
from minigrad.engine.tensor import Array, Tensor
from minigrad.ops._registry import op
from minigrad.ops.shape import Transpose, reshaped

A = [[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]
B = [[0.5, -1.0], [2.0, 0.0], [1.0, 1.0]]
VECTOR = [1.0, -2.0, 0.5]


@op(
    "matmul",
    node_name="MmBackward0",
    reference=np.matmul,
    samples=[(A, B), (A, VECTOR), (VECTOR, B), (VECTOR, VECTOR), ([A, A], B)],
    operator="matmul",
)
class Matmul(Builtin):
    """The matrix product; vectors count as a row on the left, a column on the right.

    Shape: (..., n, k) @ (..., k, m) gives (..., n, m).
    Saves: each that the other's slope needs. Slope: grad @ other^T, and input^T @ grad.
    Raises: ShapeError if the inner lengths differ.

    >>> minigrad.tensor([[1.0, 2.0]]) @ minigrad.tensor([[3.0], [4.0]])
    tensor([[11.]])
    """

    tangent_names_operands = True

    operands = 2
    saved_names = ("self", "mat2")

    @staticmethod
    def forward(input: Array, other: Array) -> Any:
        for position, name, value in ((1, "input", input), (2, "other", other)):
            if not isinstance(value, (np.ndarray, np.generic)):
                raise must_be_tensor("matmul", name, position, value)
        if not inner_lengths_agree(input, other):
            raise errors.ShapeError(
                errors.message(
                    "matmul",
                    "mat1 and mat2 shapes cannot be multiplied "
                    f"({np.shape(input)} and {np.shape(other)})",
                    "the last length of the first must be the last but one of the "
                    "second",
                )
            )
        try:
            return np.matmul(*promoted(input, other))
        except ValueError:
            raise do_not_broadcast(
                "matmul", input.shape[:-2], other.shape[:-2]
            ) from None

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: Tensor) -> None:
        input, other = inputs
        needs_input, needs_other = ctx.needs_input_grad
        ctx.dimensions = input.ndim, other.ndim
        ctx.save_for_backward(
            input if needs_other else None, other if needs_input else None
        )

    @staticmethod
    def vmap(info: Any, in_dims: Any, input: Tensor, other: Tensor) -> Any:
        """The product of every example."""
        pairs = zip((input, other), in_dims, strict=True)
        shapes = [x.shape if dim is None else x.shape[1:] for x, dim in pairs]
        like_one = Matmul.forward(*[np.broadcast_to(0.0, shape) for shape in shapes])
        most = max(2, *[len(shape) for shape in shapes])
        matrices = [
            as_matrices(value, dim, position, most)
            for position, (value, dim) in enumerate(
                zip((input, other), in_dims, strict=True)
            )
        ]
        product = Matmul.apply(*matrices)
        return product.reshape(info.batch_size, *like_one.shape), 0

    @staticmethod
    def backward(ctx: Any, grad: Any) -> Any:
        input, other = ctx.saved_values
        needs_input, needs_other = ctx.needs_input_grad
        left, right = ctx.dimensions
        grad = reshaped(grad, product_shape(grad, left, right))
        by_input = by_other = None
        if needs_input:
            by_input = back(grad @ Transpose.of(as_column(other), -1, -2), left)
        if needs_other:
            by_other = back(Transpose.of(as_row(input), -1, -2) @ grad, right)
        return by_input, by_other

    @staticmethod
    def jvp(ctx: Any, t_input: Any, t_other: Any) -> Any:
        input, other = ctx.saved_values
        return total(
            None if t_input is None else t_input @ other,
            None if t_other is None else input @ t_other,
        )


def inner_lengths_agree(input: Any, other: Any) -> bool:
    """Whether rows of the first are as long as columns of the second."""
    if np.ndim(input) == 0 or np.ndim(other) == 0:
        return False
    return bool(input.shape[-1] == other.shape[-2 if other.ndim > 1 else 0])


def as_matrices(value: Tensor, dim: int | None, position: int, most: int) -> Tensor:
    """The operand of a batch, with ``most`` dimensions for each example."""
    shape = list(value.shape if dim is None else value.shape[1:])
    if len(shape) == 1:
        shape.insert(position, 1)
    shape = [1] * (most - len(shape)) + shape
    return value.reshape(*shape) if dim is None else value.reshape(-1, *shape)


def as_row(value: Any) -> Any:
    """A vector as a matrix of one row."""
    return reshaped(value, (1, -1)) if value.ndim == 1 else value


def as_column(value: Any) -> Any:
    """A vector as a matrix of one column."""
    return reshaped(value, (-1, 1)) if value.ndim == 1 else value


def product_shape(grad: Any, left: int, right: int) -> tuple[int, ...]:
    """The shape of the product with the row and the column of vectors put back.

    ``left`` and ``right`` are the numbers of dimensions of the two factors.
    """
    shape = list(grad.shape)
    if left == 1:
        shape.insert(len(shape) - (right > 1), 1)
    if right == 1:
        shape.append(1)
    return tuple(shape)


def back(grad: Any, dimensions: int) -> Any:
    """A gradient of a row or column in the shape of its vector."""
    if dimensions != 1:
        return grad
    return reshaped(grad, (*grad.shape[:-2], -1))
