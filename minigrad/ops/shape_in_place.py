"""Another shape or order of dimensions for the tensor itself: ``transpose_`` etc.

Only what the tensor shows of its memory changes, and no element. So a view is given the
new node itself, and the history of its base stays as it is.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from minigrad.engine.builtin import Builtin, create_builtin_ctx
from minigrad.engine.core.saved import keep_tangent
from minigrad.engine.core.tensor import Tensor
from minigrad.engine.grad_mode import is_recording
from minigrad.engine.inplace import name_in_place
from minigrad.engine.interpreters import dispatched
from minigrad.engine.observe import notify
from minigrad.engine.views import check_in_place
from minigrad.ops import parts, shape
from minigrad.ops._registry import (
    IN_PLACE,
    OPS,
    add_method,
    bound_arguments,
    recorded_as,
)

Node = str | Callable[..., str]


def rearrange(operation: type[Builtin], tensor: Tensor, *values: Any) -> Tensor:
    """Let ``tensor`` show its memory as the result of ``operation`` would.

    Raises: InplaceError where a change in place is refused while recording.
    """
    inputs = (tensor, *values)
    recording = is_recording() and tensor._requires_grad
    if recording:
        check_in_place(tensor, name_in_place(operation))
    array = operation.forward(tensor.array, *values)
    tensor._prepare_change()
    tangents = tangents_of_result(operation, tensor, values)
    if recording:
        ctx = create_builtin_ctx(operation, inputs, operation._input_edges(inputs))
        operation.setup_context(ctx, inputs, tensor)
        ctx._output_metadata = ((array.shape, array.dtype),)

    if tensor._base is None:
        tensor._memory = tensor._whole_memory()
    tensor.array = array
    tensor._bump_version()
    tensor._update_accumulate_node()
    for level, tangent in tangents:
        keep_tangent(tensor, tangent, level)

    if recording:
        # Hooks and retain_grad stay with the history until now, and with its shape.
        tensor._grad_fn, tensor.output_nr = ctx, 0
        tensor._history_version = tensor._version
        notify("edges_wired", ctx, (tensor,))
    return tensor


def tangents_of_result(
    operation: type[Builtin], tensor: Tensor, values: tuple[Any, ...]
) -> list[tuple[Any, Tensor]]:
    """The tangents of a tensor as they lie after the operation, which is linear."""
    return [
        (level, level.below(operation.apply, tangent, *values))
        for level, tangent in (tensor._tangents or {}).items()
    ]


@dispatched("change_shape")
def change_shape(
    tensor: Tensor,
    call: Callable[..., Any],
    operation: type[Builtin],
    arguments: Callable[..., tuple[Any, ...]],
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
) -> Tensor:
    """Let ``tensor`` be what ``call`` makes of it; ``operation`` does so in place."""
    return rearrange(operation, *arguments(tensor, *args, **kwargs))


def add(name: str, kind: type[Builtin], arguments: Any, node: Node, *more: str) -> None:
    """Make the method ``<name>_``, and others of the same meaning.

    Its nodes have another name in torch than those of ``kind``, which makes a view.
    """
    call = OPS[name].call
    operation = recorded_as(node)(type(kind.__name__, (kind,), {}))

    def in_place(self: Tensor, *args: Any, **kwargs: Any) -> Tensor:
        return change_shape(self, call, operation, arguments, args, kwargs)

    in_place.__name__ = in_place.__qualname__ = f"{name}_"
    in_place.__doc__ = f"``{name}`` of this tensor itself, whose memory stays."
    for spelled in (name, *more):
        add_method(f"{spelled}_", in_place, IN_PLACE, call)


pair = bound_arguments(shape.Transpose)
add("transpose", shape.Transpose, pair, "TransposeBackward1", "swapaxes", "swapdims")
add("t", shape.T, bound_arguments(shape.T), "TBackward1")
add(
    "squeeze",
    parts.Squeeze,
    parts.key_of_squeeze,
    lambda input, key, kind: f"SqueezeBackward{kind + 3}",
)
add("unsqueeze", parts.Unsqueeze, parts.key_of_unsqueeze, "UnsqueezeBackward1")
add("as_strided", shape.AnyStrides, shape.with_geometry, "AsStridedBackward1")
