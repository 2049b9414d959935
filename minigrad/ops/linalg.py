"""Products of vectors and matrices."""

from __future__ import annotations

import math
import operator
from typing import Any

import numpy as np

from minigrad import errors
from minigrad.engine.builtin import Builtin
from minigrad.engine.core.tensor import Array, Tensor
from minigrad.engine.promotion import do_not_broadcast
from minigrad.engine.structural import total
from minigrad.ops._refusals import check_two_tensors, scalar_type
from minigrad.ops._registry import composite, op
from minigrad.ops.elementwise import product_rule
from minigrad.ops.shape import Transpose, reshaped

A = [[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]
B = [[0.5, -1.0], [2.0, 0.0], [1.0, 1.0]]
VECTOR = [1.0, -2.0, 0.5]


PRODUCTS = {
    (2, 2): "MmBackward0",
    (2, 1): "MvBackward0",
    (1, 1): "DotBackward0",
    (1, 2): "SqueezeBackward4",
}
"""The node that torch records last, by the numbers of dimensions.

It multiplies vectors and stacks by way of matrices; here all is one node.
"""


def product_name(input: Tensor, other: Tensor) -> str:
    """The name of the node; stacks of matrices end in a change of shape.

    What is no Tensor gets a name, too: forward refuses it later.
    """
    dimensions = getattr(input, "ndim", 0), getattr(other, "ndim", 0)
    return PRODUCTS.get(dimensions, "UnsafeViewBackward0")


@op(
    "matmul",
    node_name=product_name,
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
    saved_names = ("mat2", "self")

    @staticmethod
    def forward(input: Array, other: Array) -> Any:
        if are_two_matrices(input, other):
            return np.matmul(input, other)
        check_two_tensors("matmul", input, other)
        if not inner_lengths_agree(input, other):
            raise errors.ShapeError.at(
                "matmul",
                "mat1 and mat2 shapes cannot be multiplied "
                f"({np.shape(input)} and {np.shape(other)})",
                "the last length of the first must be the last but one of the second",
            )
        check_same_dtype("matmul", input, other)
        if input.ndim > 2 and other.ndim == 2:
            # One product, where NumPy would compute one for each matrix of the stack.
            product = np.matmul(rows_of(input), other)
            return product.reshape(*input.shape[:-1], other.shape[1])
        try:
            return np.matmul(input, other)
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
            other if needs_input else None, input if needs_other else None
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
        other, input = ctx.saved_values
        needs_input, needs_other = ctx.needs_input_grad
        left, right = ctx.dimensions
        grad = reshaped(grad, product_shape(grad, left, right))
        by_input = by_other = None
        if left > 2 and right == 2:
            rows = rows_of(grad)
            if needs_input:
                product = rows @ Transpose.of(other, 0, 1)
                by_input = reshaped(product, (*grad.shape[:-1], other.shape[0]))
            if needs_other:
                by_other = Transpose.of(rows_of(input), 0, 1) @ rows
            return by_input, by_other
        if needs_input:
            by_input = back(grad @ Transpose.of(as_column(other), -1, -2), left)
        if needs_other:
            by_other = back(Transpose.of(as_row(input), -1, -2) @ grad, right)
        return by_input, by_other

    @staticmethod
    def jvp(ctx: Any, t_input: Any, t_other: Any) -> Any:
        other, input = ctx.saved_values
        return product_rule(operator.matmul, (input, other), (t_input, t_other))


def rows_of(stack: Any) -> Any:
    """All matrices of a stack below each other, as one."""
    if stack.ndim == 2:
        return stack
    *outer, width = stack.shape
    return reshaped(stack, (math.prod(outer), width))


def check_same_dtype(where: str, input: Any, other: Any) -> None:
    """Refuse to multiply matrices of two dtypes, as torch does.

    Raises: OperandError.
    """
    if input.dtype is not other.dtype and input.dtype != other.dtype:
        names = [scalar_type(value).lower() for value in (input, other)]
        raise errors.OperandError.at(
            where,
            "expected m1 and m2 to have the same dtype, but got: "
            f"{names[0]} != {names[1]}",
            "convert one of them, for example other.to(input.dtype)",
        )


def check_dimensions(
    where: str, input: Any, other: Any, ndims: tuple[int, int], says: str
) -> None:
    """Refuse what are not two tensors of these numbers of dimensions.

    Raises: ArgumentTypeError; ShapeError.
    """
    check_two_tensors(where, input, other)
    if (input.ndim, other.ndim) != ndims:
        raise errors.ShapeError.at(
            where,
            f"{says}, but got {input.ndim}D and {other.ndim}D tensors",
            "use matmul, or @, for other dimensions",
        )


@composite("mm", reference=np.matmul, samples=[(A, B)])
def mm(input: Tensor, mat2: Tensor) -> Any:
    """The product of two matrices, (n, k) and (k, m).

    >>> minigrad.mm(minigrad.tensor([[1.0, 2.0]]), minigrad.tensor([[3.0], [4.0]]))
    tensor([[11.]])
    """
    check_dimensions("mm", input, mat2, (2, 2), "self must be a matrix")
    return Matmul.apply(input, mat2)


@composite("mv", reference=np.matmul, samples=[(A, VECTOR)])
def mv(input: Tensor, vec: Tensor) -> Any:
    """The product of a matrix and a vector, (n, k) and (k).

    >>> minigrad.tensor([[1.0, 2.0]]).mv(minigrad.tensor([3.0, 4.0]))
    tensor([11.])
    """
    check_dimensions("mv", input, vec, (2, 1), "vector + matrix @ vector expected")
    return Matmul.apply(input, vec)


@composite("dot", reference=np.dot, samples=[(VECTOR, VECTOR)])
def dot(input: Tensor, tensor: Tensor) -> Any:
    """The sum of the products of two vectors.

    >>> minigrad.tensor([1.0, 2.0]).dot(minigrad.tensor([3.0, 4.0]))
    tensor(11.)
    """
    check_dimensions("dot", input, tensor, (1, 1), "1D tensors expected")
    return Matmul.apply(input, tensor)


@op("bmm", reference=np.matmul, samples=[([A, A], [B, B])])
class Bmm(Matmul):
    """One product of matrices for each in a stack, (b, n, k) and (b, k, m).

    >>> minigrad.ones(5, 2, 3).bmm(minigrad.ones(5, 3, 4)).shape
    minigrad.Size([5, 2, 4])
    """

    _choose_node = None

    @staticmethod
    def forward(input: Array, other: Array) -> Any:
        check_dimensions("bmm", input, other, (3, 3), "batch1 must be a 3D tensor")
        wanted = [input.shape[0], input.shape[2]]
        if [*other.shape[:2]] != wanted:
            raise errors.ShapeError.at(
                "bmm",
                "Expected size for first two dimensions of batch2 tensor to be: "
                f"{wanted} but got: {list(other.shape[:2])}.",
                "give as many matrices, whose columns are as long as the rows",
            )
        return Matmul.forward(input, other)


@composite("outer", reference=np.outer, samples=[(VECTOR, [2.0, 3.0])])
def outer(input: Tensor, vec2: Tensor) -> Any:
    """Each element of one vector times each of another: a matrix.

    >>> minigrad.outer(minigrad.tensor([1.0, 2.0]), minigrad.tensor([3.0, 4.0]))
    tensor([[3., 4.],
            [6., 8.]])
    """
    for name, value in (("self", input), ("vec2", vec2)):
        if value.ndim != 1:
            raise errors.ShapeError.at(
                "outer",
                f"outer: Expected 1-D argument {name}, but got {value.ndim}-D",
                "flatten it first: x.reshape(-1)",
            )
    return reshaped(input, (-1, 1)) * vec2


@op(
    "addmm",
    reference=lambda bias, a, b: bias + np.matmul(a, b),
    samples=[([1.0, 2.0], A, B), ([[1.0], [2.0]], A, B)],
)
class Addmm(Builtin):
    """input + mat1 @ mat2: what a linear layer computes.

    >>> one = minigrad.ones(2, 2)
    >>> minigrad.addmm(minigrad.tensor([1.0, 2.0]), one, one)
    tensor([[3., 4.],
            [3., 4.]])
    """

    one_by_one = True
    tangent_names_operands = True
    tangent_names_from = 1

    operands = 3
    saved_names = ("mat1", "mat2")

    @staticmethod
    def forward(input: Array, mat1: Array, mat2: Array) -> Any:
        if are_two_matrices(mat1, mat2):
            product = np.matmul(mat1, mat2)
        else:
            check_dimensions("addmm", mat1, mat2, (2, 2), "mat1 must be a matrix")
            product = Matmul.forward(mat1, mat2)
        return plus(input, product)

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: Tensor) -> None:
        ctx.in_columns = inputs[2].array.flags.f_contiguous
        keep_factors(ctx, inputs, output)

    @staticmethod
    def backward(ctx: Any, grad: Any) -> Any:
        # Each was kept only if the other needs a gradient.
        mat1, mat2 = ctx.saved_values
        into_mat1 = into_mat2 = None
        if mat2 is not None:
            into_mat1 = grad @ crossed(mat2)
        if mat1 is not None and ctx.in_columns and isinstance(grad, np.ndarray):
            # As torch: in the layout of mat2, here that of a weight seen across.
            into_mat2 = (grad.T @ mat1).T
        elif mat1 is not None:
            into_mat2 = crossed(mat1) @ grad
        return grad, into_mat1, into_mat2

    @staticmethod
    def jvp(ctx: Any, t_input: Any, t_mat1: Any, t_mat2: Any) -> Any:
        tangents = t_mat1, t_mat2
        products = product_rule(operator.matmul, ctx.saved_values, tangents)
        return products if t_input is None else total(t_input, products)


def are_two_matrices(input: Any, other: Any) -> bool:
    """Whether these can be multiplied without any more questions."""
    return (
        type(input) is np.ndarray
        and type(other) is np.ndarray
        and input.dtype is other.dtype
        and input.ndim == other.ndim == 2
        and input.shape[1] == other.shape[0]
    )


def plus(row: Array, product: Array) -> Any:
    """The sum, in the memory of ``product`` if that has its shape and dtype."""
    if row.dtype is product.dtype and row.shape == product.shape[-1:]:
        return np.add(row, product, out=product)
    return row + product


def keep_factors(ctx: Any, inputs: tuple[Any, ...], output: Tensor) -> None:
    """Save arguments 1 and 2, each if the other needs a gradient."""
    _, first, second = inputs
    _, needs_first, needs_second = ctx.needs_input_grad
    ctx.save_for_backward(
        first if needs_second else None, second if needs_first else None
    )


def crossed(matrix: Any) -> Any:
    """Rows and columns exchanged, of an array or a Tensor."""
    is_tensor = isinstance(matrix, Tensor)
    return Transpose.apply(matrix, 0, 1) if is_tensor else matrix.T


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
