"""What a node keeps for its backward: the tensor, its version, whether it owns it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, TypeAlias

from minigrad import errors
from minigrad.engine.tensor import Tensor

if TYPE_CHECKING:
    from minigrad.engine.node import _FunctionBase


class SavedTensor:
    """One value kept by ``save_for_backward``.

    ``version`` is the tensor's version when ``apply`` ended. ``output_nr`` is None
    unless the tensor is an output of the node that keeps it: then ``tensor`` is a
    detached alias, because keeping the output itself would make a cycle of references
    (output -> grad_fn -> saved output).
    """

    __slots__ = ("output_nr", "tensor", "version")

    def __init__(self, tensor: Tensor, version: int, output_nr: int | None) -> None:
        self.tensor = tensor
        self.version = version
        self.output_nr = output_nr


Packed: TypeAlias = Tensor | SavedTensor | None
"""How a node keeps a value: a Tensor by itself was saved at version 0."""


def pack(tensor: Tensor, node: _FunctionBase) -> Packed:
    """What ``node`` keeps for ``tensor``; nothing is copied."""
    if tensor._grad_fn is node:
        return SavedTensor(tensor.detach(), tensor._version, tensor.output_nr)
    if tensor._version_counter is None:
        return tensor
    return SavedTensor(tensor, tensor._version, None)


def record_of(packed: Packed) -> SavedTensor | None:
    """The full record of a saved value."""
    return SavedTensor(packed, 0, None) if isinstance(packed, Tensor) else packed


def unpack(packed: Packed, node: _FunctionBase) -> Tensor | None:
    """The tensor as backward sees it: an output comes back as a new object.

    Raises: SavedModifiedError if it was changed in place since it was saved.
    """
    if isinstance(packed, Tensor):
        if packed._version_counter is not None and packed._version != 0:
            raise modified_error(SavedTensor(packed, 0, None), node)
        return packed
    if packed is None:
        return None
    if packed.tensor._version != packed.version:
        raise modified_error(packed, node)
    if packed.output_nr is None:
        return packed.tensor
    output = packed.tensor.detach()
    output._set_history(node, packed.output_nr)
    return output


def modified_error(
    saved: SavedTensor, node: _FunctionBase
) -> errors.SavedModifiedError:
    """The error for a saved tensor that was changed in place."""
    tensor = saved.tensor
    maker = node if saved.output_nr is not None else tensor._grad_fn
    number = tensor.output_nr if saved.output_nr is None else saved.output_nr
    origin = ""
    if maker is not None:
        origin = f", which is output {number} of {maker.operation_name()},"
    kind = f"{TYPE_NAMES.get(tensor.dtype.name, tensor.dtype.name)}Tensor"
    return errors.SavedModifiedError(
        errors.message(
            node.name(),
            "one of the variables needed for gradient computation has been "
            f"modified by an inplace operation: [{kind} {list(tensor.shape)}]"
            f"{origin} is at version {tensor._version}; expected version "
            f"{saved.version} instead",
            "change a copy (x.clone()) instead, or make the change after backward",
            "03",
        )
    )


TYPE_NAMES: Final = {
    "float32": "torch.Float",
    "float64": "torch.Double",
    "float16": "torch.Half",
    "int64": "torch.Long",
    "int32": "torch.Int",
    "bool": "torch.Bool",
}


def freed_error(node: _FunctionBase) -> errors.SavedFreedError:
    """The error for reading saved values that backward has released."""
    return errors.SavedFreedError(
        errors.message(
            node.name(),
            "Trying to backward through the graph a second time (or directly access "
            "saved tensors after they have already been freed). Saved intermediate "
            "values of the graph are freed when you call .backward() or "
            "autograd.grad(). Specify retain_graph=True if you need to backward "
            "through the graph a second time",
            "pass retain_graph=True to the first backward, or run forward again",
            "03",
        )
    )


def not_savable(node: Any, position: int, value: Any) -> errors.SavedTypeError:
    """The error for anything but a Tensor in ``ctx.save_for_backward``."""
    return errors.SavedTypeError(
        errors.message(
            f"{node.operation_name()}.forward",
            f"save_for_backward can only save variables, but argument {position} is "
            f"of type {type(value).__name__}",
            "give it Tensors one by one; put other values on ctx, for example "
            "ctx.scale = scale",
            "02",
        )
    )
