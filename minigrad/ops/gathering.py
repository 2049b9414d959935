"""Reading and adding at indices that stand in a tensor."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from minigrad import errors
from minigrad.engine.builtin import Builtin
from minigrad.engine.core.tensor import Array, Tensor
from minigrad.engine.structural import total
from minigrad.ops._refusals import check_array
from minigrad.ops._registry import op
from minigrad.ops.elementwise import beside, plain, zeros_of
from minigrad.ops.shape import check_range, in_example

MATRIX = [[1.0, 5.0, 3.0], [4.0, -2.0, 6.0]]
INDEX = np.array([1, 0, 1])
TABLE = np.array([[0, 0], [2, 1]])


def check_index(where: str, input: Array, dim: int, index: Any) -> None:
    """Refuse an index that is no tensor of whole numbers, or points beyond the end.

    Raises: ArgumentTypeError; DimensionError; IndexRangeError.
    """
    check_range(input, dim)
    check_array(where, "index", 3, index)
    if index.dtype.kind not in "iu":
        raise errors.OperandError.at(
            f"{where}()",
            f"Expected dtype int64 for index, not {index.dtype}",
            "use a tensor of whole numbers, for example index.long()",
        )
    length = input.shape[dim] if input.ndim else 1
    if index.size and not (index.min() >= 0 and index.max() < length):
        wrong = index.max() if index.min() >= 0 else index.min()
        raise errors.OperandError.at(
            f"{where}()",
            f"index {wrong} is out of bounds for dimension {dim} with size "
            f"{length}: index out of range",
            f"use indices from 0 to {length - 1}",
        )


def places(shape: tuple[int, ...], dim: int, index: Array) -> tuple[Any, ...]:
    """NumPy's index for: along ``dim`` as ``index`` says, else in the same place."""
    grid = list(np.ogrid[tuple([slice(length) for length in index.shape])])
    grid[dim] = index
    return tuple(grid)


def whole(array: Array) -> Array:
    """At least one dimension, so that a single number can be indexed too."""
    return array.reshape(1) if array.ndim == 0 else array


class Pointed(Builtin):
    """An operation at the places along ``dim`` that ``index``, argument 2, names."""

    without_edges = (2,)
    saved_names: ClassVar[tuple[str, ...]] = ("index",)

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: Tensor) -> None:
        ctx.shape, ctx.dim = inputs[0].array.shape, inputs[1]
        ctx.save_for_backward(inputs[2])


@op(
    "gather",
    reference=lambda x, dim, index: np.take_along_axis(
        np.asarray(x)[: index.shape[0]] if dim else np.asarray(x)[:, : index.shape[1]],
        index,
        dim,
    ),
    samples=[
        (MATRIX, 1, TABLE),
        (MATRIX, 0, np.array([[1, 0, 1]])),
        (MATRIX, -1, TABLE),
    ],
)
class Gather(Pointed):
    """Along ``dim`` the elements that ``index`` points at, in the shape of ``index``.

    >>> x = minigrad.tensor([[1.0, 2.0], [3.0, 4.0]])
    >>> x.gather(1, minigrad.tensor([[0], [1]]))
    tensor([[1.],
            [4.]])
    """

    dim_at = 1
    saved_names = ("index", "self")

    @staticmethod
    def forward(input: Array, dim: int, index: Array) -> Any:
        check_index("gather", input, dim, index)
        found = whole(input)[places(input.shape, dim, whole(index))]
        return found.reshape(index.shape)

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: Tensor) -> None:
        ctx.shape, ctx.dim = inputs[0].array.shape, inputs[1]
        ctx.save_for_backward(inputs[2], inputs[0])

    @staticmethod
    def backward(ctx: Any, grad: Any) -> Any:
        index, _ = ctx.saved_values
        zeros = zeros_of(grad, ctx.shape)
        return ScatterAdd.of(zeros, ctx.dim, index, grad), None, None

    @staticmethod
    def jvp(ctx: Any, tangent: Any, *more: Any) -> Any:
        index, _ = ctx.saved_values
        return Gather.of(tangent, ctx.dim, index)


def scattered(x: Any, dim: int, index: Array, src: Any, add: bool = True) -> Array:
    """One element after the other, as the definition says."""
    result = np.array(x, np.float64)
    for place in np.ndindex(index.shape):
        target = list(place)
        target[dim] = index[place]
        value = np.asarray(src)[place] if np.ndim(src) else src
        result[tuple(target)] = value + (result[tuple(target)] if add else 0)
    return result


SOURCE = [[0.5, 7.0], [-1.0, 2.0]]


@op(
    "scatter_add",
    reference=scattered,
    samples=[(MATRIX, 1, TABLE, SOURCE), (MATRIX, -1, TABLE, SOURCE)],
    in_place=True,
)
class ScatterAdd(Pointed):
    """``src`` added to the input where ``index`` points along ``dim``.

    >>> x, src = minigrad.zeros(3), minigrad.ones(2)
    >>> x.scatter_add(0, minigrad.tensor([2, 2]), src)
    tensor([0., 0., 2.])
    """

    dim_at = 1
    operands = 4
    numbers_have_edges = False

    @staticmethod
    def forward(input: Array, dim: int, index: Array, src: Array) -> Any:
        check_index("scatter_add", input, dim, index)
        result = input.copy()
        part = whole(src)[tuple([slice(length) for length in whole(index).shape])]
        np.add.at(whole(result), places(input.shape, dim, whole(index)), part)
        return result

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: Tensor) -> None:
        ctx.shape, ctx.dim = inputs[0].array.shape, inputs[1]
        ctx.save_for_backward(inputs[2] if ctx.needs_input_grad[3] else None)

    @staticmethod
    def backward(ctx: Any, grad: Any) -> Any:
        (index,) = ctx.saved_values
        into_src = Gather.of(grad, ctx.dim, index) if ctx.needs_input_grad[3] else None
        return grad, None, None, into_src

    @staticmethod
    def jvp(ctx: Any, input_t: Any, dim: Any, index: Any, src_t: Any) -> Any:
        if src_t is None:
            return input_t
        (index,) = ctx.saved_values
        start = zeros_of(src_t, ctx.shape)
        return total(input_t, ScatterAdd.of(start, ctx.dim, index, src_t))


@op(
    "scatter",
    node_name=lambda input, dim, index, src: (
        f"ScatterBackward{0 if isinstance(src, Tensor) else 1}"
    ),
    reference=lambda x, dim, index, src: scattered(x, dim, index, src, add=False),
    samples=[
        (MATRIX, 1, np.array([[0, 1], [2, 1]]), SOURCE),
        (MATRIX, 0, np.array([[1, 0, 1]]), 3),
    ],
    in_place=True,
)
class Scatter(Pointed):
    """The input with ``src``, a tensor or a number, where ``index`` points.

    >>> minigrad.zeros(3).scatter(0, minigrad.tensor([2]), 7.0)
    tensor([0., 0., 7.])
    """

    dim_at = 1
    operands = 4
    numbers_have_edges = False

    @staticmethod
    def forward(input: Array, dim: int, index: Array, src: Any) -> Any:
        check_index("scatter", input, dim, index)
        result = input.copy()
        part = src
        if isinstance(src, np.ndarray):
            part = whole(src)[tuple([slice(length) for length in whole(index).shape])]
        whole(result)[places(input.shape, dim, whole(index))] = part
        return result

    @staticmethod
    def backward(ctx: Any, grad: Any) -> Any:
        (index,) = ctx.saved_values
        needs = ctx.needs_input_grad
        return (
            Scatter.of(grad, ctx.dim, index, 0) if needs[0] else None,
            None,
            None,
            Gather.of(grad, ctx.dim, index) if needs[3] else None,
        )

    @staticmethod
    def jvp(ctx: Any, input_t: Any, dim: Any, index: Any, src_t: Any) -> Any:
        (index,) = ctx.saved_values
        given = input_t if input_t is not None else src_t
        start = zeros_of(given, ctx.shape)
        if input_t is not None:
            start = input_t
        return Scatter.of(start, ctx.dim, index, 0 if src_t is None else src_t)


@op(
    "index_select",
    reference=lambda x, dim, index: np.take(x, index, dim),
    samples=[(MATRIX, 1, INDEX), (MATRIX, 0, INDEX), (MATRIX, -1, np.array([2]))],
)
class IndexSelect(Pointed):
    """The rows (along ``dim``) that ``index``, a vector, names.

    >>> minigrad.tensor([10.0, 20.0, 30.0]).index_select(0, minigrad.tensor([2, 0]))
    tensor([30., 10.])
    """

    one_by_one = True

    @staticmethod
    def vmap(info: Any, in_dims: Any, input: Tensor, dim: int, index: Any) -> Any:
        """The same rows of every example."""
        if in_dims[2] is not None or input.ndim == 1:
            return NotImplemented
        return IndexSelect.apply(input, in_example(input, dim), index), 0

    @staticmethod
    def forward(input: Array, dim: int, index: Array) -> Any:
        check_index("index_select", input, dim, index)
        taken = np.take(whole(input), whole(index), dim)
        return taken.reshape(()) if input.ndim == 0 else taken

    @staticmethod
    def backward(ctx: Any, grad: Any) -> Any:
        (index,) = ctx.saved_values
        zeros = zeros_of(grad, ctx.shape)
        return IndexAdd.of(zeros, ctx.dim, index, grad, 1), None, None

    @staticmethod
    def jvp(ctx: Any, tangent: Any, *more: Any) -> Any:
        (index,) = ctx.saved_values
        return IndexSelect.of(tangent, ctx.dim, index)


def index_added(x: Any, dim: int, index: Array, source: Any, alpha: int = 1) -> Array:
    """One row after the other, as the definition says."""
    result = np.moveaxis(np.array(x, np.float64), dim, 0)
    for number, place in enumerate(index):
        result[place] += np.moveaxis(np.asarray(source), dim, 0)[number] * alpha
    return np.moveaxis(result, 0, dim)


ROWS = [[1.0, 2.0, 3.0], [4.0, 5.0, 6.0], [7.0, 8.0, 9.0]]


def with_alpha(
    input: Tensor, dim: int, index: Tensor, source: Tensor, *, alpha: Any = 1
) -> tuple[Any, ...]:
    """``alpha`` is given by its name only."""
    return input, dim, index, source, alpha


@op(
    "index_add",
    reference=index_added,
    samples=[
        (MATRIX, 0, INDEX, ROWS),
        ([[1.0, 2.0, 3.0]], 1, np.array([0, 0]), [[1.0, 2.0]]),
    ],
    arguments=with_alpha,
    in_place=True,
)
class IndexAdd(Pointed):
    """The rows of ``source`` added to the rows that ``index`` names, along ``dim``.

    >>> x = minigrad.zeros(3)
    >>> x.index_add_(0, minigrad.tensor([0, 2, 0]), minigrad.tensor([1.0, 2.0, 3.0]))
    tensor([4., 0., 2.])
    """

    one_by_one = True
    operands = 4
    numbers_have_edges = False
    saved_names = ("index", "source")

    @staticmethod
    def forward(
        input: Array, dim: int, index: Array, source: Array, alpha: Any = 1
    ) -> Any:
        check_index("index_add", input, dim, index)
        check_array("index_add", "source", 4, source)
        lengths = whole(source).shape[dim] if source.ndim else 1
        if whole(index).size != lengths:
            raise errors.OperandError.at(
                "index_add_()",
                f"Number of indices ({whole(index).size}) should be equal to "
                f"source.size(dim): ({lengths}), for dim: {dim}",
                "give one index for each row of source",
            )
        result = input.copy()
        rows = np.moveaxis(whole(result), dim, 0)
        added_rows = np.moveaxis(whole(source), dim, 0)
        np.add.at(rows, whole(index), added_rows if alpha == 1 else added_rows * alpha)
        return result

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: Tensor) -> None:
        ctx.shape = inputs[0].array.shape
        ctx.dim, ctx.alpha = inputs[1], inputs[4]
        needs_source = ctx.needs_input_grad[3]
        ctx.save_for_backward(*(inputs[2:4] if needs_source else (None, None)))

    @staticmethod
    def backward(ctx: Any, grad: Any) -> Any:
        index, _ = ctx.saved_values
        into_source = None
        if ctx.needs_input_grad[3]:
            into_source = IndexSelect.of(grad, ctx.dim, index) * ctx.alpha
        return grad, None, None, into_source, None

    @staticmethod
    def jvp(ctx: Any, input_t: Any, dim: Any, index: Any, source_t: Any, a: Any) -> Any:
        if source_t is None:
            return input_t
        index, _ = ctx.saved_values
        start = zeros_of(source_t, ctx.shape)
        part = IndexAdd.of(start, ctx.dim, index, source_t, ctx.alpha)
        return total(input_t, part)


@op(
    "masked_select",
    reference=lambda x, mask: np.broadcast_to(x, np.broadcast(x, mask).shape)[
        np.broadcast_to(mask, np.broadcast(x, mask).shape)
    ],
    samples=[(MATRIX, np.array([True, False, True]))],
)
class MaskedSelect(Builtin):
    """The elements where ``mask`` is true, in one dimension.

    >>> x = minigrad.tensor([1.0, -2.0, 3.0])
    >>> x.masked_select(x > 0)
    tensor([1., 3.])
    """

    one_by_one = True
    without_edges = (1,)
    saved_names = ("mask", "self")

    @staticmethod
    def forward(input: Array, mask: Array) -> Any:
        if not isinstance(mask, (np.ndarray, np.generic)) or mask.dtype.kind != "b":
            raise errors.OperandError.at(
                "masked_select",
                "expected BoolTensor for mask",
                "compare first: x.masked_select(x > 0)",
            )
        both = np.broadcast_arrays(input, mask)
        return both[0][both[1]]

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: Tensor) -> None:
        ctx.shape = np.broadcast_shapes(inputs[0].array.shape, inputs[1].array.shape)
        ctx.save_for_backward(*inputs[::-1])

    @staticmethod
    def backward(ctx: Any, grad: Any) -> Any:
        index = chosen_places(ctx)
        size = int(np.prod(ctx.shape))
        placed = IndexAdd.of(zeros_of(grad, (size,)), 0, beside(grad, index), grad, 1)
        return placed.reshape(ctx.shape), None

    @staticmethod
    def jvp(ctx: Any, tangent: Any, mask: Any) -> Any:
        index = chosen_places(ctx)
        stretched = tangent.expand(ctx.shape).reshape(-1)
        return IndexSelect.of(stretched, 0, beside(tangent, index))


def chosen_places(ctx: Any) -> Array:
    """Where the mask is true, counted over everything."""
    mask, _ = [plain(value) for value in ctx.saved_values]
    return np.flatnonzero(np.broadcast_to(mask, ctx.shape))
