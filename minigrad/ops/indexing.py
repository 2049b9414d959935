"""Reading and writing by index: ``x[...]`` as torch takes it apart.

Integers, slices, None and dots make views, one operation each; tensors, lists and
masks of bools pick single elements, all at once, into a new tensor.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from minigrad import errors
from minigrad.engine.builtin import Builtin
from minigrad.engine.core.tensor import Array, Tensor
from minigrad.engine.creation import as_tensor
from minigrad.engine.inplace import apply_in_place, cannot_write, share_memory
from minigrad.engine.interpreters import dispatched
from minigrad.engine.memory_order import (
    aligned,
    copy_in_order,
    in_rows,
    lying_in,
    widest_first,
)
from minigrad.engine.strides import dense_overlap
from minigrad.engine.structural import Expand
from minigrad.ops._registry import OPERATORS, add_method, op, recorded_as
from minigrad.ops.overwriting import Copy, Fill
from minigrad.ops.parts import WHOLE, Alias, Key, Select, Slice, Unsqueeze, as_index, at
from minigrad.ops.shape import MATRIX, View

Picks = list[Tensor | None]
"""For each dimension the elements that are picked from it; None for all of them."""

MOST_INDICES = 32


@recorded_as("IndexBackward0")
class Index(Builtin):
    """The elements that tensors of indices or a mask pick, in a new tensor."""

    without_edges = tuple(range(1, MOST_INDICES))
    one_by_one = True

    @staticmethod
    def vmap(info: Any, in_dims: Any, input: Tensor, *picks: Any) -> Any:
        """The same elements of every example."""
        several = any([dim is not None for dim in in_dims[1:]])
        if several or any([pick is None for pick in picks]):
            return NotImplemented
        return Index.apply(input, None, *picks), 0

    @staticmethod
    def forward(input: Array, *picks: Any) -> Array:
        key = numpy_key(input, picks)
        return picked_in_order(input, key, input[key])

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: Tensor) -> None:
        ctx.shape = inputs[0].shape
        ctx.save_for_backward(*inputs[1:])

    @staticmethod
    def backward(ctx: Any, grad: Any) -> Any:
        picks = ctx.saved_values
        return AddedAt.of(grad, ctx.shape, *picks), *(None,) * len(picks)

    @staticmethod
    def jvp(ctx: Any, tangent: Any, *others: Any) -> Any:
        return Index.of(tangent, *ctx.saved_values)


class AddedAt(Builtin):
    """Zeros of ``shape`` with each element of ``input`` added where it was picked."""

    one_by_one = True
    without_edges = tuple(range(2, MOST_INDICES))

    @staticmethod
    def forward(input: Array, shape: tuple[int, ...], *picks: Any) -> Array:
        whole = np.zeros(shape, input.dtype)
        np.add.at(whole, numpy_key(whole, picks), input)
        return whole

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: Tensor) -> None:
        ctx.shape = inputs[1]
        ctx.save_for_backward(*inputs[2:])

    @staticmethod
    def backward(ctx: Any, grad: Any) -> Any:
        picks = ctx.saved_values
        return Index.of(grad, *picks), None, *(None,) * len(picks)

    @staticmethod
    def jvp(ctx: Any, tangent: Any, *others: Any) -> Any:
        return AddedAt.of(tangent, ctx.shape, *ctx.saved_values)


def with_picks(
    input: Tensor, indices: Any, values: Any, accumulate: bool = False
) -> tuple[Any, ...]:
    """``x.index_put((rows, columns), values)``."""
    picks = [None if one is None else as_pick(one) for one in indices]
    return input, values, accumulate, *picks


@op(
    "index_put",
    reference=lambda x, indices, values, accumulate=False: put(
        np.asarray(x), np.asarray(values), accumulate, *map(np.array, indices)
    ),
    samples=[
        (MATRIX, (np.array([0, 1, 0]), np.array([2, 0, 1])), [5.0, 6.0, 7.0]),
        (MATRIX, (np.array([0, 0]),), [5.0, 6.0, 7.0], True),
        (MATRIX, (np.array([1]),), 5.0),
    ],
    arguments=with_picks,
    in_place=True,
)
class IndexPut(Builtin):
    """A copy with ``values`` where the indices are, or added there (``accumulate``).

    Shape: ``values`` stretches to the shape of what the indices pick.
    Raises: IndexingError; ShapeError for values of another shape or dtype.

    >>> x = minigrad.zeros(3)
    >>> x.index_put_((minigrad.tensor([0, 2]),), minigrad.tensor([5.0, 6.0]))
    tensor([5., 0., 6.])
    """

    one_by_one = True
    operands = 2
    without_edges = tuple(range(3, MOST_INDICES))

    @staticmethod
    def forward(input: Array, values: Any, accumulate: bool, *picks: Any) -> Array:
        return put(input, values, accumulate, *picks)

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: Tensor) -> None:
        ctx.shape, ctx.accumulate = inputs[0].shape, inputs[2]
        ctx.save_for_backward(*inputs[3:])

    @staticmethod
    def backward(ctx: Any, grad: Any) -> Any:
        picks = ctx.saved_values
        rest = grad if ctx.accumulate else IndexPut.of(grad, 0, False, *picks)
        return rest, Index.of(grad, *picks), *(None,) * (len(picks) + 1)

    @staticmethod
    def jvp(ctx: Any, t_input: Any, t_values: Any, *others: Any) -> Any:
        picks = ctx.saved_values
        if t_input is None:
            t_input = Tensor(np.zeros(ctx.shape, t_values.dtype))
        values = 0 if t_values is None else t_values
        return IndexPut.of(t_input, values, ctx.accumulate, *picks)


def put(input: Array, values: Any, accumulate: bool, *picks: Any) -> Array:
    """A copy of ``input`` with ``values`` written, or added, where the picks are."""
    written = copy_in_order(input, input.dtype)
    key = numpy_key(input, picks)
    dtype = getattr(values, "dtype", input.dtype)
    if dtype != input.dtype:
        raise errors.OperandError.at(
            "index_put",
            "Index put requires the source and destination dtypes match, got "
            f"{input.dtype} for the destination and {dtype} for the source.",
            "convert the values first, for example values.to(x.dtype)",
        )
    try:
        if accumulate:
            np.add.at(written, key, values)
        else:
            written[key] = values
    except ValueError:
        raise errors.ShapeError.at(
            "index_put",
            f"shape mismatch: value tensor of shape {list(np.shape(values))} cannot be "
            f"broadcast to indexing result of shape {list(input[key].shape)}",
            "give one value, or one for each element that is written",
        ) from None
    return written


def getitem(self: Tensor, index: Any) -> Tensor:
    """``x[index]``: a view for integers, slices, None and dots; else a new tensor.

    Raises: IndexingError; ArgumentValueError for a step that is not positive.

    >>> x = minigrad.tensor([[1.0, 2.0], [3.0, 4.0]])
    >>> x[0], x[:, 1], x[x > 2]
    (tensor([1., 2.]), tensor([2., 4.]), tensor([3., 4.]))
    """
    if type(index) is int:
        return select(self, 0, index, 0)
    if type(index) is slice:
        part: Tensor = Slice.apply(self, key_of_slice(self, 0, index))
        return part
    found, picks = take_apart(self, index)
    result: Tensor
    if picks:
        check_picks(picks)
        result = Index.apply(found, *picks)
    elif found is self:
        result = Alias.apply(self, ())
    else:
        result = found
    return result


@dispatched("check_picks")
def check_picks(picks: Picks) -> None:
    """Whether each pick will do; under vmap, not each does."""


def setitem(self: Tensor, index: Any, value: Any) -> None:
    """``x[index] = value``: a change in place of a view, or of single elements.

    Raises: IndexingError; ShapeError; InplaceError as every change in place.
    """
    source = as_source(self, value)
    if index is False:
        return
    found, picks = take_apart(self, index)
    if picks:
        values = without_leading_ones(source)
        check_apart(found, source)
        apply_in_place(IndexPut, found, values, False, *picks)
    elif found.shape == source.shape:
        apply_in_place(Copy, found, source)
    elif source.ndim == 0:
        apply_in_place(Fill, found, source)
    else:
        shape = tuple(source.shape)
        while shape and shape[0] == 1:
            shape = shape[1:]
        stretched = View.apply(source, shape)
        if shape != tuple(found.shape):
            stretched = Expand.apply(stretched, tuple(found.shape))
        apply_in_place(Copy, found, stretched)


def check_apart(tensor: Tensor, source: Tensor) -> None:
    """Refuse to write single elements of a tensor from its own memory.

    Raises: InplaceError.
    """
    if share_memory(tensor, source) and dense_overlap(tensor.array, source.array):
        raise cannot_write(
            "index_put_",
            "unsupported operation: some elements of the input tensor and the "
            "written-to tensor refer to a single memory location. Please clone() the "
            "tensor before performing the operation.",
        )


def as_source(tensor: Tensor, value: Any) -> Tensor:
    """What is written by index, as a Tensor.

    Raises: ArgumentTypeError for anything but a Tensor or a number.
    """
    if isinstance(value, Tensor):
        return value
    if not isinstance(value, (bool, int, float, np.number, np.bool_)):
        raise errors.ArgumentTypeError.at(
            "Tensor.__setitem__",
            f"can't assign a {type(value).__name__} to a tensor of {tensor.dtype}",
            "give a number or a Tensor",
        )
    return Tensor(np.asarray(value).astype(tensor.dtype))


def without_leading_ones(source: Tensor) -> Tensor:
    """``source`` without the dimensions of length 1 that it begins with."""
    shape = tuple(source.shape)
    while shape and shape[0] == 1:
        shape = shape[1:]
    if shape == tuple(source.shape):
        return source
    view: Tensor = View.apply(source, shape)
    return view


def take_apart(tensor: Tensor, index: Any) -> tuple[Tensor, Picks]:
    """The view that ``index`` asks for, and what is still to be picked from it."""
    items = as_items(index)
    taken = sum([dimensions_of(item) for item in items])
    if taken > tensor.ndim:
        raise errors.IndexingError.at(
            "Tensor",
            f"too many indices for tensor of dimension {tensor.ndim}: {taken}",
            "give at most one index for each dimension",
        )
    found, dim = tensor, 0
    picks: Picks = []
    for position, item in enumerate(items):
        if item is None:
            found, dim = Unsqueeze.apply(found, at(dim, None)), dim + 1
        elif item is Ellipsis:
            dim += tensor.ndim - taken
        elif isinstance(item, slice):
            found, dim = slice_unless_whole(found, dim, item), dim + 1
        elif isinstance(item, int) and not isinstance(item, bool):
            found = select(found, dim, item, position)
        else:
            if isinstance(item, bool):
                found = Unsqueeze.apply(found, at(dim, None))
                item = Tensor(np.zeros(int(item), np.int64))
            picks += [None] * (dim - len(picks))
            picks.append(item)
            dim += 1
    return found, picks


def as_items(index: Any) -> list[Any]:
    """The parts of an index: int, bool, slice, None, dots, or a Tensor of indices."""
    if isinstance(index, list) and is_tuple_like(index):
        warnings.warn(
            errors.message(
                "Tensor",
                "Using a non-tuple sequence for multidimensional indexing is "
                "deprecated and will be changed",
                "use x[tuple(seq)] instead of x[seq]",
            ),
            UserWarning,
            stacklevel=4,
        )
        index = tuple(index)
    return [as_item(one) for one in (index if isinstance(index, tuple) else (index,))]


def is_tuple_like(index: list[Any]) -> bool:
    """Whether a list stands for a tuple: it holds more than numbers."""
    more = (Tensor, list, tuple, slice, np.ndarray)
    return len(index) < MOST_INDICES and any(
        [isinstance(one, more) or one is None or one is Ellipsis for one in index]
    )


def as_item(item: Any) -> Any:
    """One part of an index, in the one form that each kind has.

    Raises: IndexingError, ArgumentTypeError.
    """
    if type(item) is int or isinstance(item, slice):
        return item
    if item is None or item is Ellipsis or isinstance(item, bool):
        return item
    if isinstance(item, (int, np.integer)):
        return int(item)
    if isinstance(item, range):
        item = list(item)
    if isinstance(item, str):
        raise errors.ArgumentTypeError.at(
            "Tensor",
            f"new(): invalid data type 'str': {item!r} is no index",
            "use whole numbers, slices, or tensors of them",
        )
    if not isinstance(item, (Tensor, np.ndarray, list, tuple)):
        name = f"{type(item).__module__}.{type(item).__name__}"
        raise errors.IndexingError.at(
            "Tensor",
            "only integers, slices (`:`), ellipsis (`...`), None and long or byte "
            f"Variables are valid indices (got {name.removeprefix('builtins.')})",
            "convert it: an index is a whole number",
        )
    pick = as_pick(item)
    return number_in(pick) if pick.ndim == 0 else pick


@dispatched("number_in")
def number_in(pick: Tensor) -> Any:
    """The number in an index of dimension 0."""
    number = pick.array[()]
    return bool(number) if pick.dtype.kind == "b" else int(number)


def as_pick(item: Any) -> Tensor:
    """A Tensor of integers or bools from what stands for one.

    Raises: IndexingError for other dtypes.
    """
    if not isinstance(item, Tensor):
        array = np.asarray(item)
        item = as_tensor(array.astype(np.int64) if array.size == 0 else array)
    if item.dtype.name == "uint8":
        warnings.warn(
            errors.message(
                "Tensor",
                "indexing with dtype torch.uint8 is now deprecated, please use a dtype "
                "torch.bool instead",
                "convert it: index.to(minigrad.bool)",
            ),
            UserWarning,
            stacklevel=6,
        )
        item = Tensor(item.array.astype(np.bool_))
    if item.dtype.kind not in "bi":
        raise errors.IndexingError.at(
            "Tensor",
            "tensors used as indices must be long, int, byte or bool tensors, this "
            f"one is {item.dtype}",
            "convert it: index.to(minigrad.int64)",
        )
    pick: Tensor = item
    return pick


def dimensions_of(item: Any) -> int:
    """How many dimensions one part of an index uses up."""
    if type(item) is int or isinstance(item, slice):
        return 1
    if isinstance(item, Tensor):
        return item.ndim if item.dtype.kind == "b" else 1
    return 0 if item is None or item is Ellipsis or isinstance(item, bool) else 1


def select(tensor: Tensor, dim: int, index: int, position: int) -> Tensor:
    """The part at ``index``; ``position`` is that in the brackets, for messages."""
    if tensor.ndim == 0:
        raise errors.IndexingError.at(
            "Tensor",
            "invalid index of a 0-dim tensor. Use `tensor.item()` in Python or "
            "`tensor.item<T>()` in C++ to convert a 0-dim tensor to a number",
            "write x.item()",
        )
    length = tensor.shape[dim]
    if not -length <= index < length:
        raise out_of_bounds(index, position, length)
    part: Tensor = Select.apply(tensor, at(dim, index))
    return part


def out_of_bounds(index: Any, dim: int, length: int) -> errors.IndexingError:
    """The error for an element that is not there."""
    fix = f"use an index from {-length} to {length - 1}"
    return errors.IndexingError.at(
        "Tensor",
        f"index {index} is out of bounds for dimension {dim} with size {length}",
        fix if length else "there is no element in this dimension",
    )


def slice_unless_whole(tensor: Tensor, dim: int, part: slice) -> Tensor:
    """The slice of a dimension; the tensor itself if that is all of it."""
    if part.start is part.stop is part.step is None and tensor.ndim:
        return tensor
    key = key_of_slice(tensor, dim, part)
    if key[dim] == slice(0, tensor.shape[dim], 1):
        return tensor
    sliced: Tensor = Slice.apply(tensor, key)
    return sliced


def key_of_slice(tensor: Tensor, dim: int, part: slice) -> Key:
    """The slice with its ends counted from the front.

    Raises: ArgumentValueError for a step that is not positive; IndexingError for a
    tensor without dimensions.
    """
    ends = [
        None if end is None else as_index(end, "Tensor")
        for end in (part.start, part.stop, part.step)
    ]
    if ends[2] is not None and ends[2] <= 0:
        what = "slice step cannot be zero" if ends[2] == 0 else "step must be greater"
        raise errors.ArgumentValueError.at(
            "Tensor",
            what if ends[2] == 0 else f"{what} than zero, not {ends[2]}",
            "take the elements forwards; x.flip(dim) turns them round",
        )
    if tensor.ndim == 0:
        raise errors.IndexingError.at(
            "Tensor",
            "slice() cannot be applied to a 0-dim tensor.",
            "use the number as it is: x.item()",
        )
    start, stop, step = slice(*ends).indices(tensor.shape[dim])
    return at(dim, slice(start, max(start, stop), step))


def numpy_key(array: Array, picks: tuple[Any, ...]) -> tuple[Any, ...]:
    """What NumPy takes for the picks, once they are known to fit.

    Raises: IndexingError.
    """
    key: list[Any] = []
    for position, pick in enumerate(picks):
        dim = len(key)
        if pick is None:
            key.append(WHOLE)
        elif pick.dtype.kind == "b":
            check_mask(array, pick, dim, position)
            key += pick.nonzero()
        else:
            check_bounds(array, pick, dim)
            key.append(pick)
    shapes = [pick.shape for pick in key if pick is not WHOLE]
    try:
        np.broadcast_shapes(*shapes)
    except ValueError:
        raise errors.IndexingError.at(
            "Tensor",
            "shape mismatch: indexing tensors could not be broadcast together with "
            f"shapes {', '.join([str(list(shape)) for shape in shapes])}",
            "give index tensors of one shape, one for each dimension",
        ) from None
    return tuple(key)


def picked_in_order(input: Array, key: tuple[Any, ...], picked: Array) -> Array:
    """What was picked, in the order in memory that the other dimensions had."""
    arrays = [pick for pick in key if pick is not WHOLE]
    if all([x.ndim < 2 or x.flags.c_contiguous for x in (input, *arrays)]):
        rows: Array = in_rows(picked)
        return rows
    indexed = [dim for dim, pick in enumerate(key) if pick is not WHOLE]
    together = indexed[-1] - indexed[0] < len(indexed)
    first = indexed[0] if together else 0
    others = [step for dim, step in enumerate(input.strides) if dim not in indexed]
    before, after = others[:first], others[first:]
    shape = picked.shape[first : picked.ndim - len(after)]
    operands = [(*before, *[0] * len(shape), *after)]
    for pick in arrays:
        steps = aligned(shape, pick.shape, pick.strides)
        operands.append((*[0] * first, *steps, *[0] * len(after)))
    return lying_in(picked, widest_first(picked.shape, operands))


def check_mask(array: Array, mask: Array, dim: int, position: int) -> None:
    """Refuse a mask that has not the shape of what it masks."""
    if mask.shape != array.shape[dim : dim + mask.ndim]:
        raise errors.IndexingError.at(
            "Tensor",
            f"The shape of the mask {list(mask.shape)} at index {position} does "
            f"not match the shape of the indexed tensor {list(array.shape)} at "
            f"index {position}",
            "give one True or False for each element, or for each row",
        )


def check_bounds(array: Array, pick: Array, dim: int) -> None:
    """Refuse elements that are not there."""
    length = array.shape[dim]
    if pick.size and (pick.max() >= length or pick.min() < -length):
        wrong = pick[(pick >= length) | (pick < -length)]
        raise out_of_bounds(int(wrong.ravel()[0]), dim, length)


for name, method in (("__getitem__", getitem), ("__setitem__", setitem)):
    add_method(name, method, OPERATORS)
