"""Changing a tensor in place, and moving its history along."""

from __future__ import annotations

import functools
import re
import weakref
from typing import Any

from minigrad import errors
from minigrad.engine.builtin import Builtin, create_builtin_ctx
from minigrad.engine.core.saved import share_tangents
from minigrad.engine.core.tensor import Array, Tensor
from minigrad.engine.grad_mode import is_recording
from minigrad.engine.interpreters import dispatched
from minigrad.engine.observe import notify
from minigrad.engine.operands import check_operand
from minigrad.engine.promotion import KINDS
from minigrad.engine.strides import geometry_of, partly_overlap, strided
from minigrad.engine.tensor_memory import VersionCounter
from minigrad.engine.views import check_in_place, rebase_history


@dispatched("apply_in_place")
def apply_in_place(operation: type[Builtin], tensor: Tensor, *args: Any) -> Tensor:
    """Overwrite ``tensor`` with the operation's result; its version goes up by one.

    If it is recorded, the same object gets the new node as its ``grad_fn``, and the
    former one becomes that node's input; of a view, the base gets a new history too.
    Raises: InplaceError for a leaf that requires grad, and its views, while recording,
    and for memory that cannot be written; ShapeError if the result has another shape.
    """
    where = name_in_place(operation)
    inputs = (tensor, *args)
    recording = is_recording() and any(
        [isinstance(x, Tensor) and x._requires_grad for x in inputs]
    )
    if recording:
        check_in_place(tensor, where)
    arrays = [
        x.array if isinstance(x, Tensor) else check_operand(operation, x, i)
        for i, x in enumerate(inputs)
    ]
    memory = writable(tensor, where, operation.may_overlap)
    if not operation.may_overlap:
        check_overlap(tensor, args, where)
    values = operation.forward(*arrays)
    check_fits(tensor, values, where)
    tensor._prepare_change()
    if recording:
        record_change(operation, tensor, args, memory, values)
    else:
        memory[...] = values
        tensor._bump_version()
    return tensor


@functools.cache
def name_in_place(operation: type[Builtin]) -> str:
    """``index_put_`` for IndexPut: what users call."""
    return re.sub(r"(?<=[a-z])(?=[A-Z])", "_", operation.__name__).lower() + "_"


def record_change(
    operation: type[Builtin],
    tensor: Tensor,
    args: tuple[Any, ...],
    memory: Array,
    values: Any,
) -> None:
    """Write ``values``, and make the operation's node the history of ``tensor``.

    The rule may save the inputs as they were before, and the output as it is now.
    """
    inputs = (tensor, *args)
    ctx = create_builtin_ctx(operation, inputs, operation._input_edges(inputs))
    saves = operation.setup_context is not Builtin.setup_context
    before = old_value(tensor) if saves else tensor
    others = [as_before(value, tensor) for value in args]
    memory[...] = values
    tensor._bump_version()

    if tensor.dtype.kind in "fc":
        ctx._output_metadata = ((tensor.shape, memory.dtype),)
        rebase_history(tensor, ctx)
        output = tensor
        if tensor._base is not None:
            # The history of a view is that of its base; the rule's output is an alias.
            output = tensor.detach()
            output._set_history(ctx, 0)
            ctx._view_history = weakref.ref(tensor.grad_fn)
        operation.setup_context(ctx, (before, *others), output)
    for other, value in zip(others, args, strict=True):
        if other is not value:
            other._share_version(tensor)
    notify("edges_wired", ctx, (tensor,))


def old_value(tensor: Tensor) -> Tensor:
    """A copy of a tensor that is about to change, with its history until now."""
    before = Tensor(tensor.array.copy())
    node = tensor.grad_fn
    if node is not None:
        before._set_history(node, tensor.output_nr)
    share_tangents(tensor, before)
    return before


def as_before(value: Any, tensor: Tensor) -> Any:
    """An operand as it is before ``tensor`` changes.

    One in the same memory, as in ``x.mul_(x)``, is to be saved with the version it has
    now; once it shares the count of changes again, backward notices the change.
    """
    if not isinstance(value, Tensor) or not share_memory(value, tensor):
        return value
    alias = Tensor(value.array, value._requires_grad)
    node = value.grad_fn
    if node is not None:
        alias._set_history(node, value.output_nr)
    alias._version_counter = VersionCounter()
    alias._version_counter.value = value._version
    share_tangents(value, alias)
    return alias


def share_memory(a: Tensor, b: Tensor) -> bool:
    """Whether changes of the two are counted together."""
    counter = a._version_counter
    return a is b or (counter is not None and counter is b._version_counter)


def check_fits(tensor: Tensor, values: Any, where: str) -> None:
    """Refuse a result that the tensor's memory cannot hold.

    Raises: ShapeError for another shape, or a dtype of a later kind.
    """
    if values.shape != tensor.shape:
        raise errors.ShapeError.at(
            where,
            f"output with shape {list(tensor.shape)} doesn't match the broadcast "
            f"shape {list(values.shape)}",
            "use the form that returns a new tensor",
        )
    if KINDS.index(values.dtype.kind) > KINDS.index(tensor.dtype.kind):
        raise errors.ShapeError.at(
            where,
            f"result type {values.dtype} can't be cast to the desired output type "
            f"{tensor.dtype.name}",
            "use the form that returns a new tensor",
        )


def check_overlap(tensor: Tensor, args: tuple[Any, ...], where: str) -> None:
    """Refuse operands that lie in the memory that is written, but shifted.

    Raises: InplaceError.
    """
    for value in args:
        if (
            isinstance(value, Tensor)
            and value is not tensor
            and share_memory(value, tensor)
            and partly_overlap(tensor.array, value.array)
        ):
            raise cannot_write(
                where,
                "unsupported operation: some elements of the input tensor and the "
                "written-to tensor refer to a single memory location. Please clone() "
                "the tensor before performing the operation.",
            )


def writable(tensor: Tensor, where: str, may_overlap: bool = False) -> Array:
    """The tensor's memory, to write into.

    Raises: InplaceError for memory that cannot be written, and where several elements
    are one, as after ``expand``, unless they ``may_overlap``.
    """
    array = tensor.array
    if not may_overlap and 0 in array.strides and array.size:
        steps = zip(array.shape, array.strides, strict=True)
        if any([length > 1 and step == 0 for length, step in steps]):
            raise cannot_write(
                where,
                "unsupported operation: more than one element of the written-to "
                "tensor refers to a single memory location. Please clone() the tensor "
                "before performing the operation.",
            )
    if array.flags.writeable:
        return array
    base = tensor._base
    if base is None or not base.array.flags.writeable:
        raise cannot_write(where, "the memory of this tensor is read-only")
    # NumPy refuses writes through what broadcasting gave, even into one row of it.
    return strided(base.array, *geometry_of(array, base.array)[2:])


def cannot_write(where: str, what: str) -> errors.InplaceError:
    """The error for memory that must stay as it is."""
    return errors.InplaceError.at(
        where,
        what,
        "change a copy, x.clone(), or use the form that returns a new tensor",
    )
