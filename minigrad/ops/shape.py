"""The same elements in another shape, order or memory."""

from __future__ import annotations

from typing import Any

import numpy as np

from minigrad import errors
from minigrad.engine.builtin import Builtin
from minigrad.engine.core.tensor import Array, Tensor
from minigrad.engine.creation import check_is_tensor
from minigrad.engine.examples import first_example
from minigrad.engine.interpreters import dispatched
from minigrad.engine.strides import (
    AsStrided,
    Geometry,
    geometry_of,
    reach_of,
    steps_of,
    strided,
)
from minigrad.engine.structural import Clone, CloneInRows, Expand
from minigrad.ops._registry import alias, composite, name_nodes, op, recorded_as

MATRIX = [[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]


def with_shape(input: Tensor, *lengths: Any, shape: Any = None) -> tuple[Any, ...]:
    """``reshape(2, 3)``, ``reshape((2, 3))`` and ``reshape(shape=(2, 3))`` alike."""
    if shape is not None and not lengths:
        return input, tuple(shape)
    if len(lengths) == 1 and isinstance(lengths[0], (tuple, list)):
        return input, tuple(lengths[0])
    return input, lengths


def with_size(input: Tensor, *lengths: Any, size: Any = None) -> tuple[Any, ...]:
    """The same where torch calls it ``size``."""
    return with_shape(input, *lengths, shape=size)


def with_dims(input: Tensor, *order: Any, dims: Any = None) -> tuple[Any, ...]:
    """The same where torch calls it ``dims``."""
    return with_shape(input, *order, shape=dims)


op(
    "clone",
    node_name="CloneBackward0",
    reference=np.copy,
    samples=[(2.0,), (MATRIX,)],
)(Clone)

op(
    "expand",
    node_name="ExpandBackward0",
    reference=lambda x, *shape: np.broadcast_to(x, shape),
    samples=[([[1.0], [2.0]], 2, 3), ([1.0, 2.0], 3, 2)],
    arguments=with_size,
)(Expand)


@op(
    "view",
    reference=lambda x, *shape: np.reshape(x, shape),
    samples=[(MATRIX, 3, 2), (MATRIX, -1), (2.0, 1, 1)],
    arguments=with_size,
)
class View(Builtin):
    """The same memory in another shape, one length of which may be -1 (the rest).

    Raises: ShapeError if the number of elements differs, or if they do not lie in
    memory as the shape needs it: use ``reshape`` then.

    >>> minigrad.arange(4).view(2, 2)
    tensor([[0, 1],
            [2, 3]])
    """

    linear = True
    returns_view = True

    @staticmethod
    def forward(input: Array, shape: tuple[int, ...]) -> Array:
        output = in_shape("view()", input, shape)
        if output.size and not np.may_share_memory(output, input):
            raise errors.ShapeError.at(
                "view",
                "view size is not compatible with input tensor's size and stride "
                "(at least one dimension spans across two contiguous subspaces). "
                "Use .reshape(...) instead",
                "call reshape, which copies where it has to",
            )
        return output

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: Tensor) -> None:
        ctx.shape = inputs[0].shape

    @staticmethod
    def vmap(info: Any, in_dims: Any, input: Tensor, shape: tuple[int, ...]) -> Any:
        """Every example in the shape, if each can be seen so."""
        View.forward(first_example(input), shape)
        return input.reshape(info.batch_size, *shape), 0

    @staticmethod
    def backward(ctx: Any, grad: Any) -> Any:
        return reshaped(grad, ctx.shape), None


@recorded_as("ReshapeAliasBackward0")
class ReshapeAlias(View):
    """What ``reshape`` makes of a tensor with gaps in its memory, if it can."""


@recorded_as("UnsafeViewBackward0")
class UnsafeView(View):
    """A new tensor in another shape: the second half of a ``reshape`` that copies."""

    returns_view = False

    @staticmethod
    def vmap(info: Any, in_dims: Any, input: Tensor, shape: tuple[int, ...]) -> Any:
        """Every example in the shape."""
        return UnsafeView.apply(input, (info.batch_size, *shape)), 0

    @staticmethod
    def forward(input: Array, shape: tuple[int, ...]) -> Array:
        return np.reshape(input, shape)


@composite(
    "broadcast_to",
    reference=np.broadcast_to,
    samples=[([[1.0], [2.0]], (2, 3)), ([1.0, 2.0], (3, 2))],
)
def broadcast_to(input: Tensor, size: Any) -> Any:
    """A view of more elements, as ``expand`` gives it.

    >>> minigrad.broadcast_to(minigrad.ones(2), (2, 2))
    tensor([[1., 1.],
            [1., 1.]])
    """
    return Expand.apply(input, tuple(size))


@composite(
    "reshape",
    reference=lambda x, *shape: np.reshape(x, shape),
    samples=[(MATRIX, 3, 2), (MATRIX, -1), (2.0, 1, 1)],
)
def reshape(input: Tensor, *lengths: Any, shape: Any = None) -> Tensor:
    """The elements in another shape, one length of which may be -1 (the rest).

    A view where the memory allows it, else a copy.
    Raises: ShapeError if the number of elements differs.

    >>> minigrad.arange(4).reshape(2, 2)
    tensor([[0, 1],
            [2, 3]])
    """
    check_is_tensor(input, "reshape")
    _, lengths = with_shape(input, *lengths, shape=shape)
    return reshape_to(input, lengths)


@dispatched("reshape_to")
def reshape_to(input: Tensor, lengths: tuple[int, ...]) -> Tensor:
    """The elements in another shape: a view where the memory allows it."""
    array = input.array
    output = array
    if not array.flags.c_contiguous:
        output = in_shape("reshape()", array, lengths)
    in_place = np.may_share_memory(output, array) or not array.size
    result: Tensor
    if array.flags.c_contiguous:
        result = View.apply(input, lengths)
    elif in_place:
        result = ReshapeAlias.apply(input, lengths)
    else:
        result = UnsafeView.apply(CloneInRows.apply(input), lengths)
    return result


@composite(
    "view_as",
    reference=lambda x, other: np.reshape(x, np.shape(other)),
    samples=[(MATRIX, np.zeros((3, 2)))],
)
def view_as(input: Tensor, other: Tensor) -> Tensor:
    """The same memory in the shape of ``other``.

    >>> minigrad.arange(2).view_as(minigrad.ones(2, 1)).shape
    minigrad.Size([2, 1])
    """
    view: Tensor = View.apply(input, tuple(other.shape))
    return view


@composite(
    "expand_as",
    reference=lambda x, other: np.broadcast_to(x, np.shape(other)),
    samples=[([1.0, 2.0], np.zeros((3, 2)))],
)
def expand_as(input: Tensor, other: Tensor) -> Tensor:
    """The elements repeated to the shape of ``other``; see ``expand``.

    >>> minigrad.ones(2).expand_as(minigrad.ones(3, 2)).shape
    minigrad.Size([3, 2])
    """
    expanded: Tensor = Expand.apply(input, tuple(other.shape))
    return expanded


@composite("ravel", reference=np.ravel, samples=[(MATRIX,), (2.0,)])
def ravel(input: Tensor) -> Tensor:
    """All elements in one dimension, in a view if that can be.

    >>> minigrad.ones(2, 3).ravel().shape
    minigrad.Size([6])
    """
    return reshape(input, -1)


def reshaped(value: Any, shape: tuple[int, ...]) -> Any:
    """What a rule holds, an array or a Tensor, in another shape."""
    if isinstance(value, Tensor):
        return reshape(value, shape)
    return np.reshape(value, shape)


def in_shape(where: str, array: Array, shape: tuple[int, ...]) -> Array:
    """``array`` in another shape, copied if it has to be.

    Raises: ArgumentTypeError, ShapeError.
    """
    try:
        return np.reshape(array, shape)
    except TypeError:
        raise errors.ArgumentTypeError.at(
            where,
            f"argument 'shape' (position 1) must be tuple of ints, not {shape!r}",
            "give whole numbers, for example x.reshape(2, 3)",
        ) from None
    except ValueError:
        raise errors.ShapeError.at(
            where,
            f"shape '{list(shape)}' is invalid for input of size {array.size}",
            "choose lengths whose product is the number of elements",
        ) from None


@op(
    "transpose",
    reference=lambda x, a, b: np.swapaxes(x, a, b),
    samples=[(MATRIX, 0, 1), ([MATRIX], -1, 0)],
)
class Transpose(Builtin):
    """Two dimensions exchanged.

    Raises: DimensionError for one that is not there.

    >>> minigrad.tensor([[1.0, 2.0], [3.0, 4.0]]).transpose(0, 1)
    tensor([[1., 3.],
            [2., 4.]])
    """

    linear = True
    returns_view = True

    @staticmethod
    def forward(input: Array, dim0: int, dim1: int) -> Array:
        check_range(input, dim0, dim1)
        return input.swapaxes(dim0, dim1) if input.ndim else input[...]

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: Tensor) -> None:
        ctx.dims = inputs[1:]

    @staticmethod
    def vmap(info: Any, in_dims: Any, input: Tensor, dim0: int, dim1: int) -> Any:
        """Two dimensions of every example exchanged."""
        if input.ndim == 1:
            return input, 0
        return input.transpose(in_example(input, dim0), in_example(input, dim1)), 0

    @staticmethod
    def backward(ctx: Any, grad: Any) -> Any:
        return Transpose.of(grad, *ctx.dims), None, None


alias("swapaxes", "transpose")
alias("swapdims", "transpose")


@op(
    "permute",
    reference=lambda x, *dims: np.transpose(x, dims),
    samples=[(MATRIX, 1, 0), ([MATRIX], 2, 0, 1), ([MATRIX], -2, -1, 0)],
    arguments=with_dims,
)
class Permute(Builtin):
    """The dimensions in another order; ``x.T`` is the reverse one.

    Raises: ShapeError unless every dimension is named once.

    >>> minigrad.ones(2, 3, 4).permute(2, 0, 1).shape
    minigrad.Size([4, 2, 3])
    """

    linear = True
    returns_view = True

    @staticmethod
    def forward(input: Array, dims: tuple[int, ...]) -> Array:
        check_range(input, *dims)
        if sorted([dim % input.ndim for dim in dims]) != list(range(input.ndim)):
            raise errors.ShapeError.at(
                "permute",
                f"dims {list(dims)} do not name each of the {input.ndim} "
                "dimensions once",
                "give every dimension, in the order that the result is to have",
            )
        return np.transpose(input, dims)

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: Tensor) -> None:
        dims = [dim % output.ndim for dim in inputs[1]]
        ctx.back = tuple([dims.index(dim) for dim in range(output.ndim)])

    @staticmethod
    def vmap(info: Any, in_dims: Any, input: Tensor, dims: tuple[int, ...]) -> Any:
        """The dimensions of every example in another order."""
        return input.permute(0, *[in_example(input, dim) for dim in dims]), 0

    @staticmethod
    def backward(ctx: Any, grad: Any) -> Any:
        return Permute.of(grad, ctx.back), None


@op("t", reference=np.transpose, samples=[(MATRIX,), ([1.0, 2.0],), (2.0,)])
class T(Builtin):
    """A matrix with rows and columns exchanged; a vector as it is.

    Raises: ShapeError for more than two dimensions.

    >>> minigrad.tensor([[1.0, 2.0], [3.0, 4.0]]).t()
    tensor([[1., 3.],
            [2., 4.]])
    """

    linear = True
    returns_view = True

    @staticmethod
    def forward(input: Array) -> Array:
        if input.ndim > 2:
            raise errors.ShapeError.at(
                "t",
                f"t() expects a tensor with <= 2 dimensions, but self is {input.ndim}D",
                "use transpose(dim0, dim1), or x.T for all dimensions reversed",
            )
        return input.T

    @staticmethod
    def vmap(info: Any, in_dims: Any, input: Tensor) -> Any:
        """Rows and columns of every example exchanged."""
        T.forward(an_example(input))
        return (input.transpose(1, 2) if input.ndim == 3 else input), 0

    @staticmethod
    def backward(ctx: Any, grad: Any) -> Any:
        return T.of(grad)


def in_example(batch: Tensor, dim: int) -> int:
    """The dimension of a batch that is ``dim`` of its examples.

    Raises: DimensionError for one that is not there.
    """
    shape = batch.shape[1:]
    check_range(an_example(batch), dim)
    return dim % len(shape) + 1 if shape else 0


def an_example(batch: Tensor) -> Array:
    """Something with the shape of an example, for the checks that forward makes."""
    return np.broadcast_to(np.float64(0), batch.shape[1:])


def check_range(input: Array, *dims: int) -> None:
    """Refuse a dimension that is not there.

    Raises: DimensionError, with the range that exists.
    """
    most = max(input.ndim, 1)
    for dim in dims:
        if not isinstance(dim, (int, np.integer)):
            raise errors.ArgumentTypeError.at(
                "dim",
                f"a dimension must be int, not {type(dim).__name__}",
                "count dimensions from 0, or from -1 for the last",
            )
        if not -most <= dim < most:
            raise errors.DimensionError.at(
                "dim",
                f"Dimension out of range (expected to be in range of [{-most}, "
                f"{most - 1}], but got {dim}); the shape is {input.shape}",
                "count dimensions from 0, or from -1 for the last",
            )


def with_geometry(
    input: Tensor, size: Any, stride: Any, storage_offset: int | None = None
) -> tuple[Any, ...]:
    """``as_strided((2, 2), (1, 2))``: lengths, steps and the first element's place.

    Raises: ShapeError if that is outside of the memory.
    """
    check_is_tensor(input, "as_strided")
    root = input._whole_memory()
    start = geometry_of(input.array, root).offset
    first = start if storage_offset is None else storage_offset
    size, stride = tuple(size), tuple(stride)
    _, last = reach_of(size, stride)
    _, end = reach_of(root.shape, steps_of(root))
    if first < 0 or (0 not in size and first + last > end):
        raise errors.ShapeError.at(
            "as_strided",
            f"setStorage: sizes {list(size)}, strides {list(stride)}, storage "
            f"offset {first} are out of bounds for storage of {end + 1} elements",
            "stay within the memory of the tensor",
        )
    array = input.array
    return input, Geometry(array.shape, steps_of(array), size, stride, first - start)


@op(
    "as_strided",
    node_name="AsStridedBackward0",
    reference=lambda x, size, stride, start=0: np.lib.stride_tricks.as_strided(
        x.ravel()[start:], size, [8 * step for step in stride]
    ),
    samples=[
        (MATRIX, (2, 2), (1, 2)),
        (MATRIX, (3,), (2,), 1),
        (MATRIX, (2, 3), (0, 1)),
    ],
    arguments=with_geometry,
)
class AnyStrides(AsStrided):
    """The memory that a tensor lies in, as a view of any lengths and steps.

    Steps and ``storage_offset`` count elements; without the latter it begins where
    the tensor does.
    Raises: ShapeError if that is outside of the memory.

    >>> minigrad.arange(6).as_strided((2, 2), (3, 1))
    tensor([[0, 1],
            [3, 4]])
    """

    one_by_one = True

    @staticmethod
    def forward(input: Array, geometry: Geometry) -> Array:
        # Also what lies outside of ``input``, which has been found to be there.
        return strided(input, *geometry[2:])


name_nodes(AsStrided, "AsStridedBackward0")
