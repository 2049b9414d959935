"""Parts of a tensor as views: rows, slices, dimensions added and taken away."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np

from minigrad import errors
from minigrad.engine.builtin import Builtin
from minigrad.engine.core.tensor import Array, Tensor
from minigrad.engine.creation import check_is_tensor
from minigrad.engine.strides import AsStrided, Geometry, steps_of
from minigrad.ops._registry import composite, op, recorded_as
from minigrad.ops.shape import MATRIX, Permute, check_range, reshape

Key = tuple[Any, ...]

WHOLE = slice(None)


class Part(Builtin):
    """``input[key]``: the base of the operations that only differ in their names.

    ``key`` has an integer, a slice or None for the first dimensions, in their order.
    """

    linear = True
    returns_view = True

    @staticmethod
    def forward(input: Array, key: Key, *kind: int) -> Array:
        # The dots keep NumPy from making a scalar, which is a copy.
        part: Array = input[(*key, ...)]
        return part

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: Tensor) -> None:
        ctx.shape, ctx.key = inputs[0].shape, inputs[1]

    @classmethod
    def vmap(cls, info: Any, in_dims: Any, input: Tensor, key: Key, *rest: Any) -> Any:
        """The part of every example, in their memory."""
        return cls.apply(input, (WHOLE, *key), *rest), 0

    @staticmethod
    def backward(ctx: Any, grad: Any) -> Any:
        return Placed.of(grad, ctx.shape, ctx.key), None


class Placed(Builtin):
    """Zeros of ``shape`` with ``input`` as their part ``key``."""

    one_by_one = True
    linear = True

    @staticmethod
    def forward(input: Array, shape: tuple[int, ...], key: Key) -> Array:
        whole = np.zeros(shape, input.dtype)
        whole[(*key, ...)] = input
        return whole

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: Tensor) -> None:
        ctx.key = inputs[2]

    @staticmethod
    def backward(ctx: Any, grad: Any) -> Any:
        return Part.of(grad, ctx.key), None, None


def dimension(array: Any, dim: Any, more: int = 0) -> int:
    """``dim`` counted from the front; ``more``: one new dimension may be meant.

    Raises: DimensionError, ArgumentTypeError.
    """
    if more:
        array = np.broadcast_to(0, (1, *array.shape))
    check_range(array, dim)
    return int(dim % max(array.ndim, 1))


def at(dim: int, item: Any) -> Key:
    """The key of ``item`` in dimension ``dim``, all of the dimensions before it."""
    return (*(WHOLE,) * dim, item)


def as_index(value: Any, where: str) -> int:
    """A whole number, which may be a tensor's one element.

    Raises: ArgumentTypeError.
    """
    if isinstance(value, Tensor) and value.array.ndim == 0:
        value = value.array[()]
    try:
        return operator.index(value)
    except TypeError:
        raise errors.ArgumentTypeError.at(
            where,
            "slice indices must be integers or None or have an __index__ method: "
            f"an index must be int, not {type(value).__name__}",
            "count elements from 0, or from -1 for the last",
        ) from None


def key_of_select(input: Tensor, dim: int, index: int) -> tuple[Any, ...]:
    """``x.select(0, 1)``: the dimension and the index."""
    check_is_tensor(input, "select")
    if input.ndim == 0:
        raise errors.IndexingError.at(
            "select",
            "select() cannot be applied to a 0-dim tensor.",
            "use the number as it is: x.item()",
        )
    dim = dimension(input, dim)
    number = as_index(index, "select")
    length = input.shape[dim]
    if not -length <= number < length:
        raise errors.IndexingError.at(
            "select",
            f"select(): index {number} out of range for tensor of size "
            f"{list(input.shape)} at dimension {dim}",
            f"use an index from {-length} to {length - 1}",
        )
    return input, at(dim, number)


@op(
    "select",
    reference=lambda x, dim, index: np.take(x, index, dim),
    samples=[(MATRIX, 0, 1), (MATRIX, -1, -2), ([1.0, 2.0], 0, 0)],
    arguments=key_of_select,
)
class Select(Part):
    """The elements at one index of a dimension: a view without that dimension.

    Raises: DimensionError, IndexingError.

    >>> minigrad.tensor([[1.0, 2.0], [3.0, 4.0]]).select(1, 0)
    tensor([1., 3.])
    """


def key_of_narrow(input: Tensor, dim: int, start: int, length: int) -> tuple[Any, ...]:
    """``x.narrow(0, 1, 2)``: two elements from the second one on."""
    check_is_tensor(input, "narrow")
    if input.ndim == 0:
        raise narrow_error("narrow() cannot be applied to a 0-dim tensor.")
    dim = dimension(input, dim)
    size = input.shape[dim]
    first = as_index(start, "narrow")
    if length < 0:
        raise narrow_error("narrow(): length must be non-negative")
    if not -size <= first <= size:
        raise errors.DimensionError.at(
            "narrow",
            "start out of range (expected to be in range of "
            f"[{-size}, {size}], but got {first})",
            "count elements from 0, or from -1 for the last",
        )
    first = first + size if first < 0 else first
    if first + length > size:
        raise narrow_error(
            f"start ({first}) + length ({length}) exceeds dimension size ({size})"
        )
    return input, at(dim, slice(first, first + length))


def narrow_error(what: str) -> errors.ShapeError:
    """The error for a part that is not there."""
    return errors.ShapeError.at("narrow", what, "stay within the dimension")


@op(
    "narrow",
    reference=lambda x, dim, start, length: np.take(
        x, range(start, start + length), dim
    ),
    samples=[(MATRIX, 0, 1, 1), (MATRIX, -1, 1, 2), (MATRIX, 1, 0, 0)],
    arguments=key_of_narrow,
)
class Slice(Part):
    """Some elements of a dimension, one after the other: a view.

    Raises: DimensionError; ShapeError for elements that are not there.

    >>> minigrad.arange(5).narrow(0, 1, 3)
    tensor([1, 2, 3])
    """


@recorded_as("AliasBackward0")
class Alias(Part):
    """All elements as another tensor on the same memory: ``x[...]``."""


def key_of_unsqueeze(input: Tensor, dim: int) -> tuple[Any, ...]:
    """``x.unsqueeze(0)``: the place of the new dimension."""
    check_is_tensor(input, "unsqueeze")
    return input, at(dimension(input, dim, more=1), None)


@op(
    "unsqueeze",
    reference=np.expand_dims,
    samples=[(MATRIX, 0), (MATRIX, -1), (2.0, 0)],
    arguments=key_of_unsqueeze,
)
class Unsqueeze(Part):
    """A view with one more dimension, of length 1, at place ``dim``.

    Raises: DimensionError.

    >>> minigrad.tensor([1.0, 2.0]).unsqueeze(1).shape
    minigrad.Size([2, 1])
    """

    @staticmethod
    def backward(ctx: Any, grad: Any) -> Any:
        dropped = tuple([0 if item is None else item for item in ctx.key])
        return Squeeze.of(grad, dropped, 1), None


def key_of_squeeze(input: Tensor, dim: Any = None) -> tuple[Any, ...]:
    """``x.squeeze()``, ``x.squeeze(0)``, ``x.squeeze((0, 2))``."""
    check_is_tensor(input, "squeeze")
    if dim is None:
        chosen = list(range(input.ndim))
    else:
        dims = dim if isinstance(dim, (tuple, list)) else (dim,)
        chosen = [dimension(input, one) for one in dims]
    lengths = enumerate(input.shape)
    key = [0 if n == 1 and place in chosen else WHOLE for place, n in lengths]
    kind = 0 if dim is None else 2 if isinstance(dim, (tuple, list)) else 1
    return input, tuple(key), kind


@op(
    "squeeze",
    node_name=lambda input, key, kind: f"SqueezeBackward{kind}",
    reference=lambda x, dim=None: np.squeeze(x, dim),
    samples=[([[[1.0], [2.0]]],), ([[1.0, 2.0]], 0), ([[[1.0], [2.0]]], (0, -1))],
    arguments=key_of_squeeze,
)
class Squeeze(Part):
    """A view without the dimensions of length 1, or those of them that are named.

    Raises: DimensionError.

    >>> minigrad.ones(1, 2, 1).squeeze().shape
    minigrad.Size([2])
    """

    @staticmethod
    def backward(ctx: Any, grad: Any) -> Any:
        restored = tuple([None if item == 0 else item for item in ctx.key])
        return Unsqueeze.of(grad, restored), None, None


def geometry_of_diagonal(
    input: Tensor, offset: int = 0, dim1: int = 0, dim2: int = 1
) -> tuple[Any, ...]:
    """``x.diagonal(1)``: where its elements lie."""
    check_is_tensor(input, "diagonal")
    array = input.array
    first, second = dimension(array, dim1), dimension(array, dim2)
    if first == second:
        raise errors.ShapeError.at(
            "diagonal",
            f"diagonal dimensions cannot be identical {dim1}, {dim2}",
            "name two dimensions",
        )
    shown = np.diagonal(array, offset, first, second)
    start = max(-offset, 0), max(offset, 0)
    steps = steps_of(array)
    place = steps[first] * start[0] + steps[second] * start[1] if shown.size else 0
    return input, Geometry(array.shape, steps, shown.shape, steps_of(shown), place)


@op(
    "diagonal",
    reference=np.diagonal,
    samples=[(MATRIX,), (MATRIX, 1), (MATRIX, -1, 0, 1), ([MATRIX], 0, 1, 2)],
    arguments=geometry_of_diagonal,
)
class Diagonal(AsStrided):
    """The elements whose two indices are equal, or ``offset`` apart: a view.

    Raises: DimensionError; ShapeError for one dimension named twice.

    >>> minigrad.tensor([[1.0, 2.0], [3.0, 4.0]]).diagonal()
    tensor([1., 4.])
    """

    one_by_one = True


@composite(
    "movedim",
    reference=np.moveaxis,
    samples=[([MATRIX], 0, 2), ([MATRIX], (0, 1), (2, 0))],
)
def movedim(input: Tensor, source: Any, destination: Any) -> Tensor:
    """Dimensions at other places, the others in their order.

    >>> minigrad.ones(2, 3, 4).movedim(0, 2).shape
    minigrad.Size([3, 4, 2])
    """
    check_is_tensor(input, "movedim")
    sources = source if isinstance(source, (tuple, list)) else (source,)
    targets = destination if isinstance(destination, (tuple, list)) else (destination,)
    order: list[Any] = [None] * input.ndim
    moved = [dimension(input, one) for one in sources]
    for one, place in zip(moved, targets, strict=True):
        order[dimension(input, place)] = one
    rest = iter([one for one in range(input.ndim) if one not in moved])
    filled = tuple([next(rest) if one is None else one for one in order])
    result: Tensor = Permute.apply(input, filled)
    return result


@composite(
    "flatten",
    reference=lambda x, start=0, end=-1: x.reshape(
        *x.shape[:start], -1, *x.shape[end:][1:]
    ),
    samples=[(MATRIX,), ([MATRIX], 1), ([MATRIX], 0, 1), (2.0,)],
)
def flatten(input: Tensor, start_dim: int = 0, end_dim: int = -1) -> Tensor:
    """Several dimensions as one, in a view if that can be.

    Raises: DimensionError; ShapeError if ``start_dim`` comes after ``end_dim``.

    >>> minigrad.ones(2, 3, 4).flatten(1).shape
    minigrad.Size([2, 12])
    """
    check_is_tensor(input, "flatten")
    if input.ndim == 0:
        return reshape(input, 1)
    first = dimension(input, start_dim)
    last = dimension(input, end_dim)
    if first > last:
        raise errors.ShapeError.at(
            "flatten",
            "flatten() has invalid args: start_dim cannot come after end_dim",
            "give the dimensions from left to right",
        )
    if first == last:
        return input
    shape = input.shape
    return reshape(input, *shape[:first], -1, *shape[last + 1 :])


@composite(
    "unflatten",
    reference=lambda x, dim, sizes: x.reshape(*x.shape[:dim], *sizes),
    samples=[(MATRIX, 1, (3, 1)), (MATRIX, 1, (1, -1))],
)
def unflatten(input: Tensor, dim: int, sizes: tuple[int, ...]) -> Tensor:
    """One dimension as several.

    >>> minigrad.ones(2, 6).unflatten(1, (2, 3)).shape
    minigrad.Size([2, 2, 3])
    """
    check_is_tensor(input, "unflatten")
    place = dimension(input, dim)
    return reshape(input, *input.shape[:place], *sizes, *input.shape[place + 1 :])
