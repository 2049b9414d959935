"""Sums and means."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from minigrad import errors
from minigrad.engine.builtin import Builtin
from minigrad.engine.core.tensor import Array, Tensor
from minigrad.engine.dtypes import as_dtype
from minigrad.engine.errstate import quietly
from minigrad.engine.structural import Expand
from minigrad.ops._registry import op
from minigrad.ops.shape import check_range, reshaped

Dim = int | tuple[int, ...] | list[int] | None

add_up: Any = np.add.reduce
"""The sum over an axis: ``np.sum`` without its detours."""

SAMPLES: list[tuple[Any, ...]] = [
    (2.0,),
    ([1.0, -2.0, 0.5],),
    ([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]],),
    ([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]], 0),
    ([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]], -1, True),
    ([[[1.0, 2.0], [3.0, 4.0]]], (0, 2)),
]


def numbered(name: str) -> Callable[..., str]:
    """The name of the node: 0 behind it for everything, 1 for some dimensions."""

    def node_name(input: Any, dim: Dim, *more: Any) -> str:
        return f"{name}{0 if dim is None else 1}"

    return node_name


def over(
    input: Tensor, dim: Dim = None, keepdim: bool = False, *, dtype: Any = None
) -> tuple[Any, ...]:
    """The arguments of a reduction; no dimension at all means all of them."""
    if dim is not None and dim in ((), []):
        dim = tuple(range(input.ndim))
    return input, dim, keepdim, as_dtype(dtype, "dtype")


class Reduction(Builtin):
    """A sum over some of the dimensions; keeps the shape, not the values."""

    linear = True
    in_rows = True
    dim_at = 1

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: Tensor) -> None:
        input, dim = inputs[:2]
        shape = input.array.shape
        ctx.shape = shape
        ctx.kept_shape = kept_shape(shape, dim)


@op(
    "sum",
    node_name=numbered("SumBackward"),
    reference=lambda x, dim=None, keepdim=False: np.sum(x, axis=dim, keepdims=keepdim),
    samples=SAMPLES,
    arguments=over,
)
class Sum(Reduction):
    """The sum over ``dim``, or over everything; integers and bools give int64.

    With ``dtype``, that of the elements converted to it first.

    >>> minigrad.tensor([[1.0, 2.0], [3.0, 4.0]]).sum(dim=0)
    tensor([4., 6.])
    """

    @staticmethod
    @quietly
    def forward(
        input: Array, dim: Dim = None, keepdim: bool = False, dtype: Any = None
    ) -> Any:
        check_dim(input, dim)
        input = in_dtype(input, dtype)
        return add_up(input, axis=axes(dim), keepdims=keepdim)

    @staticmethod
    def backward(ctx: Any, grad: Any) -> Any:
        return spread(ctx, grad), None, None, None


@op(
    "mean",
    node_name=numbered("MeanBackward"),
    reference=lambda x, dim=None, keepdim=False: np.mean(x, axis=dim, keepdims=keepdim),
    samples=SAMPLES,
    arguments=over,
)
class Mean(Reduction):
    """The mean over ``dim``, or over everything.

    Raises: OperandError for integers and bools.

    >>> minigrad.tensor([[1.0, 2.0], [3.0, 6.0]]).mean(dim=1, keepdim=True)
    tensor([[1.5000],
            [4.5000]])
    """

    @staticmethod
    @quietly
    def forward(
        input: Array, dim: Dim = None, keepdim: bool = False, dtype: Any = None
    ) -> Any:
        check_dim(input, dim)
        if dtype is not None:
            input = input.astype(dtype)
        if input.dtype.kind not in "fc":
            raise errors.OperandError.at(
                "mean",
                "could not infer output dtype. Input dtype must be either a "
                f"floating point or complex dtype. Got: {input.dtype}",
                "convert first: x.to(minigrad.float32).mean()",
            )
        total = add_up(input, axis=axes(dim), keepdims=keepdim)
        return total / copies(input.shape, kept_shape(input.shape, dim))

    @staticmethod
    def backward(ctx: Any, grad: Any) -> Any:
        copied = copies(ctx.shape, ctx.kept_shape)
        return spread(ctx, grad) / copied, None, None, None


class BySlope(Builtin):
    """A reduction whose tangent is the sum of its slopes times the tangents."""

    one_by_one = True
    in_rows = True
    saved_names = ("self", "result")
    needs_output = True

    @classmethod
    def setup_context(cls, ctx: Any, inputs: tuple[Any, ...], output: Tensor) -> None:
        input, *more = inputs
        ctx.dim, ctx.keepdim, *options = more or (None, False)
        ctx.options = tuple(options)
        ctx.shape = input.array.shape
        ctx.kept_shape = kept_shape(ctx.shape, ctx.dim)
        ctx.others = (None,) * len(more)
        ctx.save_for_backward(input, output if cls.needs_output else None)

    @classmethod
    def slope(cls, ctx: Any) -> Any:
        """How the output moves with each element of the input."""
        raise NotImplementedError

    @classmethod
    def backward(cls, ctx: Any, grad: Any) -> Any:
        return spread(ctx, grad) * cls.slope(ctx), *ctx.others

    @classmethod
    def jvp(cls, ctx: Any, tangent: Any, *more: Any) -> Any:
        return Sum.of(tangent * cls.slope(ctx), ctx.dim, ctx.keepdim, None)


def in_dtype(input: Array, dtype: Any) -> Array:
    """The elements as they are added up: integers and bools as int64."""
    if dtype is not None:
        return input.astype(dtype, copy=False)
    return input.astype(np.int64, copy=False) if input.dtype.kind in "biu" else input


def axes(dim: Dim) -> int | tuple[int, ...] | None:
    """``dim`` as NumPy takes it."""
    return tuple(dim) if isinstance(dim, list) else dim


def check_dim(input: Array, dim: Dim) -> None:
    """Refuse a dimension that is not there.

    Raises: DimensionError, with the range that exists.
    """
    if dim is not None:
        check_range(input, *(dim if isinstance(dim, (tuple, list)) else (dim,)))


def kept_shape(shape: tuple[int, ...], dim: Dim) -> tuple[int, ...]:
    """The shape with length 1 where it was reduced."""
    if dim is None:
        return (1,) * len(shape)
    dims = dim if isinstance(dim, (tuple, list)) else (dim,)
    reduced = {one % max(len(shape), 1) for one in dims}
    return tuple([1 if i in reduced else length for i, length in enumerate(shape)])


def spread(ctx: Any, grad: Any) -> Any:
    """A reduced value or its gradient, once for each element that went into it."""
    if grad.ndim > 0:  # a single number expands to any shape
        grad = reshaped(grad, ctx.kept_shape)
    if isinstance(grad, Tensor):
        return Expand.apply(grad, ctx.shape)
    return np.broadcast_to(grad, ctx.shape)


def copies(shape: tuple[int, ...], kept: tuple[int, ...]) -> int:
    """How many elements went into one sum."""
    number = 1
    for length, left in zip(shape, kept, strict=True):
        number *= length if left == 1 else 1
    return number
