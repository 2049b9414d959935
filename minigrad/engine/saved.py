"""What a node keeps for its backward: the tensor, its version, whether it owns it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

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

    def __init__(self, tensor: Tensor, node: _FunctionBase) -> None:
        counter = tensor._version_counter
        self.version = 0 if counter is None else counter.value
        if tensor._grad_fn is node:
            self.tensor = tensor.detach()
            self.output_nr: int | None = tensor.output_nr
        else:
            self.tensor = tensor
            self.output_nr = None

    def unpack(self, node: _FunctionBase) -> Tensor:
        """The tensor as backward sees it: an output comes back as a new object.

        Raises: SavedModifiedError if it was changed in place since it was saved.
        """
        tensor = self.tensor
        counter = tensor._version_counter
        if counter is not None and counter.value != self.version:
            raise self._modified(node)
        if self.output_nr is None:
            return tensor
        output = tensor.detach()
        output._requires_grad = True
        output._set_history(node, self.output_nr)
        return output

    def _modified(self, node: _FunctionBase) -> errors.SavedModifiedError:
        tensor = self.tensor
        maker = node if self.output_nr is not None else tensor._grad_fn
        number = tensor.output_nr if self.output_nr is None else self.output_nr
        origin = "" if maker is None else f", which is output {number} of "
        origin += "" if maker is None else f"{maker.operation_name()},"
        kind = f"{TYPE_NAMES.get(tensor.dtype.name, tensor.dtype.name)}Tensor"
        return errors.SavedModifiedError(
            errors.message(
                node.name(),
                "one of the variables needed for gradient computation has been "
                f"modified by an inplace operation: [{kind} {list(tensor.shape)}]"
                f"{origin} is at version {tensor._version}; expected version "
                f"{self.version} instead",
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
