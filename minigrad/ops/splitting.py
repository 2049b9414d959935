"""One tensor as several views: its rows, or pieces along a dimension."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from minigrad import errors
from minigrad.engine.builtin import Builtin
from minigrad.engine.core.tensor import Array, Tensor
from minigrad.engine.creation import check_is_tensor
from minigrad.ops._registry import OPERATORS, add_method, composite, recorded_as
from minigrad.ops.parts import WHOLE, Key, Part, at, dimension
from minigrad.ops.shape import MATRIX


class Parts(Builtin):
    """Several parts of a tensor at once, all with the same node."""

    linear = True
    returns_view = True

    @staticmethod
    def forward(input: Array, keys: tuple[Key, ...]) -> tuple[Array, ...]:
        return tuple([input[(*key, ...)] for key in keys])

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: Any) -> None:
        ctx.layout = inputs[0].shape, inputs[1]

    @classmethod
    def vmap(cls, info: Any, in_dims: Any, input: Tensor, keys: tuple[Key, ...]) -> Any:
        """The parts of every example, in their memory."""
        return cls.apply(input, tuple([(WHOLE, *key) for key in keys])), 0

    @staticmethod
    def backward(ctx: Any, *grads: Any) -> Any:
        shape, keys = ctx.layout
        arrived = [i for i, grad in enumerate(grads) if grad is not None]
        chosen = tuple([keys[i] for i in arrived])
        return Assembled.of((shape, chosen), *[grads[i] for i in arrived]), None


class Assembled(Builtin):
    """Zeros of a shape with each of ``parts`` in its place; the places are apart."""

    one_by_one = True
    operands = 2
    numbers_have_edges = False

    @staticmethod
    def forward(layout: tuple[tuple[int, ...], tuple[Key, ...]], *parts: Array) -> Any:
        shape, keys = layout
        whole = np.zeros(shape, parts[0].dtype)
        for key, part in zip(keys, parts, strict=True):
            whole[(*key, ...)] = part
        return whole

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: Tensor) -> None:
        ctx.layout = inputs[0]

    @staticmethod
    def backward(ctx: Any, grad: Any) -> Any:
        return None, *[Part.of(grad, key) for key in ctx.layout[1]]

    @staticmethod
    def jvp(ctx: Any, t_layout: None, *t_parts: Any) -> Any:
        shape, keys = ctx.layout
        here = [i for i, tangent in enumerate(t_parts) if tangent is not None]
        chosen = tuple([keys[i] for i in here])
        return Assembled.of((shape, chosen), *[t_parts[i] for i in here])


@recorded_as("UnbindBackward0")
class Unbind(Parts):
    """The rows of a tensor."""


@recorded_as("SplitBackward0")
class Split(Parts):
    """Pieces of one length; the last may be shorter."""


@recorded_as("SplitWithSizesBackward0")
class SplitWithSizes(Parts):
    """Pieces of given lengths."""


@composite(
    "unbind",
    reference=lambda x, dim=0: tuple(np.moveaxis(np.asarray(x), dim, 0)),
    samples=[(MATRIX,), (MATRIX, 1), ([1.0, 2.0],)],
)
def unbind(input: Tensor, dim: int = 0) -> tuple[Tensor, ...]:
    """The parts along a dimension, each a view without it.

    They cannot be changed in place while operations are recorded.
    Raises: DimensionError.

    >>> minigrad.tensor([[1.0, 2.0], [3.0, 4.0]]).unbind(1)
    (tensor([1., 3.]), tensor([2., 4.]))
    """
    check_is_tensor(input, "unbind")
    if input.ndim == 0:
        raise errors.DimensionError.at(
            "unbind",
            f"Dimension specified as {dim} but tensor has no dimensions",
            "use the number as it is: x.item()",
        )
    dim = dimension(input, dim)
    keys = tuple([at(dim, i) for i in range(input.shape[dim])])
    parts: tuple[Tensor, ...] = Unbind.apply(input, keys) if keys else ()
    return parts


def ends_of(x: Any, size: Any, dim: int) -> Any:
    """Where NumPy has to cut."""
    if isinstance(size, tuple):
        return np.cumsum(size)[:-1]
    return range(size, np.shape(x)[dim], size)


@composite(
    "split",
    reference=lambda x, size, dim=0: tuple(np.split(x, ends_of(x, size, dim), dim)),
    samples=[(MATRIX, 1), (MATRIX, 2, 1), (MATRIX, (1, 2), -1)],
)
def split(input: Tensor, split_size_or_sections: Any, dim: int = 0) -> Any:
    """Pieces along a dimension, as views: of one length, or of the lengths listed.

    Raises: DimensionError; ShapeError for lengths that do not fit.

    >>> minigrad.arange(5).split(2)
    (tensor([0, 1]), tensor([2, 3]), tensor([4]))
    """
    check_is_tensor(input, "split")
    dim = dimension(input, dim)
    if input.ndim == 0:
        raise no_pieces("split", "split expects at least a 1-dimensional tensor")
    if isinstance(split_size_or_sections, (tuple, list)):
        return split_with_sizes(input, split_size_or_sections, dim)
    size, length = split_size_or_sections, input.shape[dim]
    if size < 0:
        raise no_pieces(
            "split",
            f"split expects split_size be non-negative, but got split_size={size}",
        )
    if size == 0 and length:
        raise no_pieces(
            "split",
            "split_size can only be 0 if dimension size is 0, but got dimension size "
            f"of {length}",
        )
    lengths = [min(size, length - start) for start in range(0, length, size or 1)]
    return Split.apply(input, keys_of(lengths or [0], dim))


@composite(
    "split_with_sizes",
    reference=lambda x, sizes, dim=0: tuple(np.split(x, ends_of(x, sizes, dim), dim)),
    samples=[(MATRIX, (1, 1)), (MATRIX, (1, 2), -1), (MATRIX, (0, 3), 1)],
)
def split_with_sizes(input: Tensor, split_sizes: Any, dim: int = 0) -> Any:
    """Pieces of the lengths listed, along a dimension, as views.

    Raises: DimensionError; ShapeError for lengths that do not add up to it.

    >>> minigrad.arange(5).split_with_sizes([2, 3])
    (tensor([0, 1]), tensor([2, 3, 4]))
    """
    check_is_tensor(input, "split_with_sizes")
    if not isinstance(split_sizes, (tuple, list)):
        raise errors.ArgumentTypeError.at(
            "split_with_sizes()",
            "argument 'split_sizes' (position 1) must be tuple of ints, not "
            f"{type(split_sizes).__name__}",
            "list the lengths, or call split for pieces of one length",
        )
    dim = dimension(input, dim)
    sizes = [int(size) for size in split_sizes]
    check_sizes(input, sizes, dim)
    return SplitWithSizes.apply(input, keys_of(sizes, dim))


@composite(
    "chunk",
    reference=lambda x, chunks, dim=0: tuple(np.array_split(x, chunks, dim)),
    samples=[(MATRIX, 2), (MATRIX, 2, 1), (MATRIX, 3, -1)],
)
def chunk(input: Tensor, chunks: int, dim: int = 0) -> Any:
    """At most ``chunks`` pieces along a dimension, as views: all but the last equal.

    >>> minigrad.arange(5).chunk(2)
    (tensor([0, 1, 2]), tensor([3, 4]))
    """
    check_is_tensor(input, "chunk")
    if chunks <= 0:
        raise no_pieces(
            "chunk", f"chunk expects `chunks` to be greater than 0, got: {chunks}"
        )
    length = input.shape[dimension(input, dim)] if input.ndim else 0
    return split(input, -(-length // chunks), dim)


def keys_of(lengths: list[int], dim: int) -> tuple[Key, ...]:
    """The keys of neighbouring pieces."""
    ends = np.cumsum(lengths).tolist()
    pairs = zip(ends, lengths, strict=True)
    return tuple([at(dim, slice(end - length, end)) for end, length in pairs])


def check_sizes(input: Tensor, sizes: list[int], dim: int) -> None:
    """Refuse lengths that do not add up to the dimension."""
    if any([size < 0 for size in sizes]):
        raise no_pieces(
            "split",
            "split_with_sizes expects split_sizes have only non-negative entries, but "
            f"got split_sizes={sizes}",
        )
    if sum(sizes) != input.shape[dim]:
        raise no_pieces(
            "split",
            "split_with_sizes expects split_sizes to sum exactly to "
            f"{input.shape[dim]} (input tensor's size at dimension {dim}), but got "
            f"split_sizes={sizes}",
        )


def no_pieces(where: str, what: str) -> errors.ShapeError:
    """The error for lengths that do not divide a dimension."""
    return errors.ShapeError.at(
        where, what, "give lengths that add up to the dimension"
    )


def iterate(self: Tensor) -> Iterator[Tensor]:
    """One row after the other, as views.

    Raises: ArgumentTypeError for a tensor without dimensions.
    """
    if self.ndim == 0:
        raise errors.ArgumentTypeError.at(
            "Tensor", "iteration over a 0-d tensor", "use its number: x.item()"
        )
    return iter(unbind(self))


add_method("__iter__", iterate, OPERATORS)
