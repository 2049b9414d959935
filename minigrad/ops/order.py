"""Sums along the way, and elements in order."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from minigrad import errors
from minigrad.engine.builtin import Builtin
from minigrad.engine.core.tensor import Array, Tensor
from minigrad.engine.dtypes import as_dtype
from minigrad.engine.examples import first_example
from minigrad.engine.interpreters import dispatched
from minigrad.engine.memory_order import copy_in_order, ordered_by
from minigrad.ops._registry import composite, op
from minigrad.ops.elementwise import zeros_of
from minigrad.ops.gathering import Gather, ScatterAdd
from minigrad.ops.reduce import in_dtype
from minigrad.ops.return_types import values_and_indices
from minigrad.ops.shape import check_range

MATRIX = [[1.0, 5.0, 3.0], [4.0, -2.0, 6.0]]
SAMPLES: list[tuple[Any, ...]] = [(MATRIX,), (MATRIX, 0), ([3.0, 1.0, 2.0], -1, True)]


def along(input: Tensor, dim: int, *, dtype: Any = None) -> tuple[Any, ...]:
    """``cumsum(dim)`` and ``cumsum(dim, dtype=...)``."""
    return input, dim, as_dtype(dtype, "cumsum")


@op(
    "cumsum",
    reference=lambda x, dim: np.cumsum(x, dim) if np.ndim(x) else np.asarray(x),
    samples=[(MATRIX, 0), (MATRIX, -1), (2.0, 0)],
    arguments=along,
    in_place=True,
)
class Cumsum(Builtin):
    """At each place along ``dim`` the sum until there; integers and bools give int64.

    >>> minigrad.tensor([1.0, 2.0, 3.0]).cumsum(0)
    tensor([1., 3., 6.])
    """

    dim_at = 1
    linear = True
    in_rows = True

    @staticmethod
    def forward(input: Array, dim: int, dtype: Any = None) -> Any:
        check_range(input, dim)
        input = in_dtype(input, dtype)
        return np.add.accumulate(input, axis=dim) if input.ndim else input.copy()

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: Tensor) -> None:
        ctx.dim = inputs[1]

    @staticmethod
    def backward(ctx: Any, grad: Any) -> Any:
        if grad.ndim == 0:
            return grad, None, None
        turned = Cumsum.of(Flip.of(grad, (ctx.dim,)), ctx.dim, None)
        return Flip.of(turned, (ctx.dim,)), None, None


def with_dims(input: Tensor, *dims: Any) -> tuple[Any, ...]:
    """``flip(0, 1)`` and ``flip((0, 1))`` alike."""
    if len(dims) == 1 and isinstance(dims[0], (tuple, list)):
        return input, tuple(dims[0])
    return input, dims


@op(
    "flip",
    reference=lambda x, *dims: np.flip(x, dims),
    samples=[(MATRIX, 0), (MATRIX, 0, -1)],
    arguments=with_dims,
)
class Flip(Builtin):
    """The elements in reverse order along the dimensions; a copy.

    >>> minigrad.tensor([1.0, 2.0, 3.0]).flip(0)
    tensor([3., 2., 1.])
    """

    dim_at = 1
    linear = True

    @staticmethod
    def forward(input: Array, dims: tuple[int, ...]) -> Any:
        check_range(input, *dims)
        if len({dim % max(input.ndim, 1) for dim in dims}) < len(dims):
            raise errors.OperandError.at(
                "flip",
                f"a dim appears multiple times in the list of dims {list(dims)}",
                "name each dimension once",
            )
        flipped = np.flip(input, dims if input.ndim else ())
        return copy_in_order(flipped, input.dtype, input.strides)

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: Tensor) -> None:
        ctx.dims = inputs[1]

    @staticmethod
    def backward(ctx: Any, grad: Any) -> Any:
        return Flip.of(grad, ctx.dims), None


def order(input: Array, dim: int, descending: bool) -> Array:
    """The indices that sort along ``dim``, equals in their old order, NaN greatest."""
    check_range(input, dim)
    if input.ndim == 0:
        return np.zeros((), np.int64)
    if not descending:
        return np.argsort(input, dim, kind="stable")
    # The other way round twice, so that equals stay in their order.
    backwards = np.argsort(np.flip(input, dim), dim, kind="stable")
    forwards: Array = input.shape[dim] - 1 - np.flip(backwards, dim)
    return forwards


def taken(input: Array, indices: Array, dim: int) -> Array:
    """The elements at ``indices`` along ``dim``."""
    return np.take_along_axis(input, indices, dim) if input.ndim else input.copy()


class Ordered(Builtin):
    """Some elements along one dimension in order, and where they were."""

    one_by_one = True
    saved_names = ("indices",)

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: Any) -> None:
        ctx.shape = inputs[0].array.shape
        ctx.number_of_arguments = len(inputs)
        ctx.dim = inputs[1] if len(inputs) < 5 else inputs[2]
        ctx.save_for_backward(output[1])

    @staticmethod
    def backward(ctx: Any, grad: Any, grad_of_indices: Any = None) -> Any:
        (indices,) = ctx.saved_values
        placed = ScatterAdd.of(zeros_of(grad, ctx.shape), ctx.dim, indices, grad)
        return placed, *[None] * (ctx.number_of_arguments - 1)

    @staticmethod
    def jvp(ctx: Any, tangent: Any, *more: Any) -> Any:
        (indices,) = ctx.saved_values
        return Gather.of(tangent, ctx.dim, indices), None


def sort_arguments(
    input: Tensor,
    dim: int = -1,
    descending: bool = False,
    *,
    stable: bool | None = None,
) -> tuple[Any, ...]:
    """Equals keep their order in any case; asking for it changes the node's name."""
    return input, dim, descending, stable


def sort_reference(x: Any, dim: int = -1, descending: bool = False) -> Any:
    """Both outputs, from NumPy."""
    x = np.asarray(x)
    indices = np.argsort(-x if descending else x, dim, kind="stable")
    return np.take_along_axis(x, indices, dim), indices


@op(
    "sort",
    node_name=lambda input, dim, descending, stable: (
        f"SortBackward{0 if stable is None else 1}"
    ),
    reference=sort_reference,
    samples=SAMPLES,
    arguments=sort_arguments,
    returns=values_and_indices("sort"),
)
class Sort(Ordered):
    """The elements along ``dim`` in order, and their indices; equals keep theirs.

    >>> minigrad.tensor([3.0, 1.0, 2.0]).sort().indices
    tensor([1, 2, 0])
    """

    dim_at = 1

    @classmethod
    def _in_memory_order(cls, result: Any, arrays: list[Any]) -> Any:
        input = arrays[0]
        return tuple([ordered_by(part, [input], input.dtype) for part in result])

    @staticmethod
    def forward(input: Array, dim: int, descending: bool, stable: Any) -> Any:
        indices = order(input, dim, descending)
        return taken(input, indices, dim), indices


@composite(
    "argsort",
    reference=lambda x, dim=-1, descending=False: sort_reference(x, dim, descending)[1],
    samples=SAMPLES,
    differentiable=False,
)
@dispatched("from_values")
def argsort(
    input: Tensor, dim: int = -1, descending: bool = False, *, stable: bool = False
) -> Tensor:
    """The indices that put the elements along ``dim`` in order.

    >>> minigrad.tensor([3.0, 1.0, 2.0]).argsort()
    tensor([1, 2, 0])
    """
    return Tensor(order(input.array, dim, descending))


def topk_reference(x: Any, k: int, dim: int = -1, largest: bool = True) -> Any:
    """Both outputs, from NumPy."""
    values, indices = sort_reference(x, dim, largest)
    first = tuple([slice(None)] * (dim % np.ndim(x)) + [slice(k)])
    return values[first], indices[first]


@op(
    "topk",
    reference=topk_reference,
    samples=[(MATRIX, 2), (MATRIX, 1, 0), (MATRIX, 2, -1, False)],
    returns=values_and_indices("topk"),
)
class Topk(Ordered):
    """The ``k`` greatest (or smallest) elements along ``dim``, and their indices.

    They are ``sorted`` in any case.

    >>> minigrad.tensor([3.0, 1.0, 2.0]).topk(2).values
    tensor([3., 2.])
    """

    dim_at = 2

    @staticmethod
    def forward(
        input: Array, k: int, dim: int = -1, largest: bool = True, sorted: bool = True
    ) -> Any:
        indices = order(input, dim, largest)
        length = input.shape[dim] if input.ndim else 1
        if not 0 <= k <= length:
            raise errors.OperandError.at(
                "topk",
                f"selected index k out of range: {k} of {length} elements",
                "ask for no more than there are",
            )
        if input.ndim:
            indices = np.take(indices, np.arange(k), dim)
        return taken(input, indices, dim), indices


def triangle(name: str, keep: Callable[..., Any], says: str) -> type[Builtin]:
    """``tril`` or ``triu``, registered."""

    class Triangle(Builtin):
        linear = True
        in_rows = True

        @classmethod
        def vmap(cls, info: Any, in_dims: Any, input: Tensor, diagonal: int) -> Any:
            """The triangle of every example."""
            cls.forward(first_example(input), diagonal)
            return cls.apply(input, diagonal), 0

        @staticmethod
        def forward(input: Array, diagonal: int = 0) -> Any:
            if input.ndim < 2:
                raise errors.ShapeError.at(
                    name,
                    f"{name}: input tensor must have at least 2 dimensions; this "
                    f"has {input.ndim}",
                    "give a matrix, or a stack of them",
                )
            return keep(input, diagonal)

        @staticmethod
        def setup_context(ctx: Any, inputs: tuple[Any, ...], output: Tensor) -> None:
            ctx.diagonal = inputs[1]

        @staticmethod
        def backward(ctx: Any, grad: Any) -> Any:
            return Triangle.of(grad, ctx.diagonal), None

    return op(
        name,
        doc=f"The part of each matrix {says} a diagonal, zeros elsewhere.",
        reference=keep,
        samples=[(MATRIX,), (MATRIX, 1), ([MATRIX], -1)],
        in_place=True,
    )(Triangle)


triangle("tril", np.tril, "on and below")
triangle("triu", np.triu, "on and above")
