"""The greatest and smallest elements, and where they are."""

from __future__ import annotations

from typing import Any

import numpy as np

from minigrad import errors
from minigrad.engine.builtin import Builtin
from minigrad.engine.core.tensor import Array, Tensor
from minigrad.engine.promotion import refuse_bools
from minigrad.ops._registry import OPS, composite, op
from minigrad.ops.choose import Maximum, Minimum
from minigrad.ops.elementwise import like, plain, zeros_of
from minigrad.ops.gathering import Gather, ScatterAdd
from minigrad.ops.reduce import BySlope, Dim, axes, check_dim, kept_shape
from minigrad.ops.return_types import values_and_indices
from minigrad.ops.shape import reshaped

MATRIX = [[1.0, 5.0, 3.0], [4.0, -2.0, 6.0]]
ALL: list[tuple[Any, ...]] = [(2.0,), ([1.0, -2.0, 0.5],), (MATRIX,)]
ALONG: list[tuple[Any, ...]] = [(MATRIX, 0), (MATRIX, -1, True), (2.0, 0)]
SOME: list[tuple[Any, ...]] = [
    *ALL,
    (MATRIX, 1),
    (MATRIX, -1, True),
    ([MATRIX], (0, 2)),
]


def refuse_empty(where: str, input: Array, dim: Dim) -> None:
    """Refuse to look for the greatest of nothing.

    Raises: DimensionError for a dimension of length 0; OperandError without ``dim``.
    """
    check_dim(input, dim)
    if input.size:
        return
    dims = dim if isinstance(dim, (tuple, list)) else (dim,)
    if dim is not None and all([input.shape[one] for one in dims if one is not None]):
        return
    kind = errors.OperandError if dim is None else errors.DimensionError
    raise kind.at(
        f"{where}()",
        f"Expected reduction dim to be specified for input.numel() == 0, and of a "
        f"length other than 0; the shape is {input.shape}",
        "reduce along a dimension that has elements",
    )


class Shared(BySlope):
    """A reduction to an extreme: all elements that are equal to it share its slope."""

    counts_nan = False
    """Whether NaN counts as equal to NaN."""

    @classmethod
    def slope(cls, ctx: Any) -> Any:
        """1 over the number of equals where an element is the extreme, else 0."""
        input, output = [plain(value) for value in ctx.saved_values]
        extreme = np.reshape(output, ctx.kept_shape)
        same = np.asarray(input == extreme)
        if cls.counts_nan:
            same = same | (np.isnan(input) & np.isnan(extreme))
        number = same.sum(axis=axes(ctx.dim), keepdims=True)
        with np.errstate(invalid="ignore"):
            return like(ctx.saved_values[0], same / number)


class Chosen(Builtin):
    """An extreme along one dimension, and where it is: the first of equals."""

    dim_at = 1
    in_rows = True
    saved_names = ("indices",)

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: Any) -> None:
        ctx.shape = inputs[0].array.shape
        ctx.dim, ctx.keepdim = inputs[1:]
        ctx.save_for_backward(output[1])

    @staticmethod
    def backward(ctx: Any, grad: Any, grad_of_indices: Any = None) -> Any:
        (indices,) = ctx.saved_values
        kept = kept_shape(ctx.shape, ctx.dim)
        placed = ScatterAdd.of(
            zeros_of(grad, ctx.shape),
            ctx.dim,
            reshaped(indices, kept),
            reshaped(grad, kept),
        )
        return placed, None, None

    @staticmethod
    def jvp(ctx: Any, tangent: Any, *more: Any) -> Any:
        (indices,) = ctx.saved_values
        kept = kept_shape(ctx.shape, ctx.dim)
        chosen = Gather.of(tangent, ctx.dim, reshaped(indices, kept))
        return chosen.reshape(indices.shape), None


def along(where: str, find: Any, input: Array, dim: int, keepdim: bool) -> Any:
    """The elements that ``find`` points at, and the indices."""
    refuse_empty(where, input, dim)
    if input.ndim == 0:
        return input.copy(), np.zeros((), np.int64)
    indices = np.expand_dims(find(input, axis=dim), dim)
    values = np.take_along_axis(input, indices, dim)
    if not keepdim:
        values, indices = values.squeeze(dim), indices.squeeze(dim)
    return values, indices.astype(np.int64)


def referred(find: Any) -> Any:
    """The reference of an extreme along one dimension."""

    def reference(x: Any, dim: int, keepdim: bool = False) -> Any:
        x = np.asarray(x)
        if x.ndim == 0:
            return x, np.int64(0)
        indices = find(x, axis=dim, keepdims=True)
        values = np.take_along_axis(x, indices, dim)
        return (
            (values, indices)
            if keepdim
            else (values.squeeze(dim), indices.squeeze(dim))
        )

    return reference


Class = type[Builtin]


def extremes(name: str, find: Any, find_place: Any, says: str) -> tuple[Class, Class]:
    """The rows ``max.all``, ``max.dim``, ``amax`` and ``argmax``, or those of ``min``.

    The first two classes are returned.
    """

    class OfAll(Shared):
        counts_nan = True

        @staticmethod
        def forward(input: Array) -> Any:
            refuse_empty(name, input, None)
            return find(input)

    class Along(Chosen):
        @staticmethod
        def forward(input: Array, dim: int, keepdim: bool = False) -> Any:
            return along(name, find_place, input, dim, keepdim)

    class Over(Shared):
        dim_at = 1

        @staticmethod
        def forward(input: Array, dim: Dim = None, keepdim: bool = False) -> Any:
            refuse_empty(f"a{name}", input, None if dim == () else dim)
            return find(input, axis=axes(dim), keepdims=keepdim)

    class Position(Builtin):
        dim_at = 1
        in_rows = True

        @staticmethod
        def forward(input: Array, dim: Any = None, keepdim: bool = False) -> Any:
            refuse_bools(f"arg{name}", input)
            refuse_empty(f"arg{name}", input, dim)
            return np.asarray(find_place(input, axis=dim, keepdims=keepdim), np.int64)

    node = f"{name.capitalize()}Backward"
    op(
        f"{name}.all",
        node_name=f"{node}1",
        doc=f"The {says} element; NaN if there is one. Equals share the gradient.",
        reference=find,
        samples=ALL,
    )(OfAll)
    op(
        f"{name}.dim",
        node_name=f"{node}0",
        doc=f"The {says} elements along ``dim``, and their indices.",
        reference=referred(find_place),
        samples=ALONG,
        returns=values_and_indices(name),
    )(Along)
    op(
        f"a{name}",
        doc=f"The {says} elements over ``dim``, or over everything; equals share the "
        "slope.",
        reference=lambda x, dim=None, keepdim=False: find(x, dim, keepdims=keepdim),
        samples=SOME,
    )(Over)
    op(
        f"arg{name}",
        doc=f"Where the {says} element is: counted over everything, or along ``dim``.",
        reference=lambda x, dim=None, keepdim=False: find_place(
            x, dim, keepdims=keepdim
        ),
        samples=[*ALL, (MATRIX, 1), (MATRIX, 0, True)],
        differentiable=False,
    )(Position)
    return OfAll, Along


MaxOfAll, MaxAlong = extremes("max", np.max, np.argmax, "greatest")
MinOfAll, MinAlong = extremes("min", np.min, np.argmin, "smallest")


@composite("max")
def max(
    input: Tensor, dim: Any = None, keepdim: bool = False, *, other: Any = None
) -> Any:
    """The greatest element; along ``dim``, ``(values, indices)``.

    With another tensor in place of ``dim``: the greater of two, as ``maximum``.

    >>> minigrad.tensor([[1.0, 5.0], [4.0, 2.0]]).max(dim=1).indices
    tensor([1, 0])
    """
    if isinstance(dim, Tensor) or other is not None:
        return Maximum.apply(input, dim if other is None else other)
    if dim is None:
        return MaxOfAll.apply(input)
    return OPS["max.dim"].call(input, dim, keepdim)


@composite("min")
def min(
    input: Tensor, dim: Any = None, keepdim: bool = False, *, other: Any = None
) -> Any:
    """The smallest element; along ``dim``, ``(values, indices)``.

    With another tensor in place of ``dim``: the smaller of two, as ``minimum``.

    >>> minigrad.tensor([[1.0, 5.0], [4.0, 2.0]]).min(dim=1).values
    tensor([1., 2.])
    """
    if isinstance(dim, Tensor) or other is not None:
        return Minimum.apply(input, dim if other is None else other)
    if dim is None:
        return MinOfAll.apply(input)
    return OPS["min.dim"].call(input, dim, keepdim)
