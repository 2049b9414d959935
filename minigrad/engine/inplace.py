"""Changing a tensor in place, and moving its history along."""

from __future__ import annotations

from typing import Any

from minigrad import errors
from minigrad.engine.builtin import Builtin, not_an_array
from minigrad.engine.grad_mode import is_recording
from minigrad.engine.outputs import refuse_view
from minigrad.engine.promotion import KINDS
from minigrad.engine.tensor import Tensor


def apply_in_place(operation: type[Builtin], tensor: Tensor, *args: Any) -> Tensor:
    """Overwrite ``tensor`` with the operation's result; its version goes up by one.

    If it is recorded, the same object gets the new node as its ``grad_fn``, and the
    former one becomes that node's input.
    Raises: InplaceError for a leaf that requires grad, and for views, while recording;
    ShapeError if the result has another shape.
    """
    recording = is_recording() and any(
        [isinstance(x, Tensor) and x._requires_grad for x in (tensor, *args)]
    )
    if not recording:
        arrays = [
            x.array if isinstance(x, Tensor) else not_an_array(operation, x, i)
            for i, x in enumerate((tensor, *args))
        ]
        overwrite(tensor, operation.forward(*arrays), operation)
        return tensor

    check_in_place(tensor, operation)
    # The rule may need the old value, so it is computed from a copy of the tensor.
    before = Tensor(tensor.array.copy())
    if tensor._requires_grad and tensor._grad_fn is not None:
        before._set_history(tensor._grad_fn, tensor.output_nr)
    result = operation.apply(before, *args)
    overwrite(tensor, result.array, operation)
    if result._grad_fn is not None:
        tensor._set_history(result._grad_fn, result.output_nr)
    return tensor


def check_in_place(tensor: Tensor, operation: type[Builtin]) -> None:
    """Refuse a change that no graph can describe."""
    where = f"{operation.__name__.lower()}_"
    if tensor._requires_grad and tensor._grad_fn is None:
        raise errors.InplaceError(
            errors.message(
                where,
                "a leaf Variable that requires grad is being used in an in-place "
                "operation. Its gradient would be that of a value that is gone",
                "change it inside no_grad(), or work on a copy: x.clone()",
                "08",
            )
        )
    refuse_view(tensor, where)


def overwrite(tensor: Tensor, values: Any, operation: type[Builtin]) -> None:
    """Write ``values`` into the tensor's memory and count the change."""
    if values.shape != tensor.shape:
        raise errors.ShapeError(
            errors.message(
                f"{operation.__name__.lower()}_",
                f"output with shape {list(tensor.shape)} doesn't match the broadcast "
                f"shape {list(values.shape)}",
                "use the form that returns a new tensor",
            )
        )
    if KINDS.index(values.dtype.kind) > KINDS.index(tensor.dtype.kind):
        raise errors.ShapeError(
            errors.message(
                f"{operation.__name__.lower()}_",
                f"result type {values.dtype} can't be cast to the desired output type "
                f"{tensor.dtype}",
                "use the form that returns a new tensor",
            )
        )
    if not tensor.array.flags.writeable:
        raise read_only(tensor, operation)
    tensor._prepare_change()
    tensor.array[...] = values
    tensor._bump_version()


def read_only(tensor: Tensor, operation: type[Builtin]) -> errors.InplaceError:
    """The error for memory that cannot be written, most often that of ``expand``."""
    steps = zip(tensor.shape, tensor.array.strides, strict=True)
    if any([length > 1 and step == 0 for length, step in steps]):
        what = (
            "unsupported operation: more than one element of the written-to tensor "
            "refers to a single memory location. Please clone() the tensor before "
            "performing the operation."
        )
    else:
        what = "the memory of this tensor is read-only"
    return errors.InplaceError(
        errors.message(
            f"{operation.__name__.lower()}_",
            what,
            "change a copy, x.clone(), or use the form that returns a new tensor",
        )
    )
