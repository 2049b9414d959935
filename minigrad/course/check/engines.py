"""The engine that an answer was written for: minigrad, or torch where it is installed.

Both have the same names; here stands what is not the same.
"""

from __future__ import annotations

import sys
from functools import cached_property
from typing import Any

import numpy as np

import minigrad
from minigrad.autograd import Function
from minigrad.course.check import trials
from minigrad.course.check.facts import Array


class Engine:
    """minigrad itself."""

    def __init__(self, module: Any = minigrad, function: Any = Function) -> None:
        self.module = module
        self.function = function
        self.tensor_class = module.Tensor
        # Bound once: a class, and a class of classes, can answer to this name.
        self._apply = vars(function)["apply"].__func__

    def apply(self, function: Any, *arguments: Any) -> Any:
        """The engine's own ``function.apply(*arguments)``, whatever its class says."""
        return self._apply(function, *arguments)

    @cached_property
    def _handed_on(self) -> Any:
        """A Function that changes nothing and has its own rule."""
        body = {
            "forward": staticmethod(lambda ctx, x: x.clone()),
            "backward": staticmethod(lambda ctx, g: g),
        }
        return type("HandedOn", (self.function,), body)

    def result(self, leaf: Any) -> Any:
        """A tensor with the numbers of a leaf that is the result of a call."""
        return self.apply(self._handed_on, leaf)

    def expanded_ones(self, tensor: Any) -> Any:
        """One number, expanded to this shape: a gradient as a sum sends it."""
        return self.module.ones((), dtype=tensor.dtype).expand(tensor.shape)

    def is_tensor(self, value: object) -> bool:
        """Whether this is a tensor of this engine."""
        return isinstance(value, self.tensor_class)

    def kind_of(self, value: object) -> str:
        """The name of its type; a subclass of Tensor is none, whatever its name."""
        kind = type(value)
        own = self.is_tensor(value) and kind is not self.tensor_class
        return f"{kind.__name__} (a class of its own)" if own else kind.__name__

    def tensor(self, array: Array, requires_grad: bool = False) -> Any:
        """A leaf with a copy of these numbers, in the same order in memory."""
        leaf = self.module.tensor(array.copy(order="K"))
        return leaf.requires_grad_(requires_grad)

    def laid_out(self, array: Array, layout: str) -> Any:
        """A tensor with these numbers; ``layout``: how they lie in memory, if named."""
        if not layout:
            return self.tensor(array)
        return self.module.from_numpy(trials.LAYOUTS[layout](array))

    def memory(self, tensor: Any) -> Array:
        """The numbers of a tensor, not copied."""
        array: Array = tensor.array
        return array

    def saved(self, ctx: Any) -> list[Any]:
        """The tensors that save_for_backward kept, without a look at versions."""
        return [s.tensor for s in ctx._raw_saved_tensors]

    def held(self, ctx: Any) -> list[Any]:
        """The same tensors, and none once backward has released them."""
        # A tensor that nobody has changed in place stands there itself.
        kept = [
            item if self.is_tensor(item) else getattr(item, "tensor", None)
            for item in ctx._saved
        ]
        return [tensor for tensor in kept if tensor is not None]

    def materializes(self, ctx: Any, noted: bool) -> bool:
        """Whether an unused output sends zeros; ``noted``: what ctx was told."""
        return bool(ctx._materialize_grads)

    def forward_ad(self) -> Any:
        """The module of forward mode."""
        return self.module.autograd.forward_ad


class TorchEngine(Engine):
    """torch, imported by whoever wrote the Function."""

    def __init__(self) -> None:
        torch = sys.modules["torch"]
        super().__init__(torch, torch.autograd.Function)

    def tensor(self, array: Array, requires_grad: bool = False) -> Any:
        # torch.tensor would put the numbers in row order.
        leaf = self.module.from_numpy(array.copy(order="K"))
        return leaf.requires_grad_(requires_grad)

    def laid_out(self, array: Array, layout: str) -> Any:
        # No tensor of torch runs backwards through memory.
        return super().laid_out(array, "" if layout == "reversed" else layout)

    def memory(self, tensor: Any) -> Array:
        return np.asarray(tensor.detach().numpy())

    def saved(self, ctx: Any) -> list[Any]:
        return list(ctx.saved_tensors)

    def held(self, ctx: Any) -> list[Any]:
        try:
            return [tensor for tensor in ctx.saved_tensors if tensor is not None]
        except RuntimeError:  # released, or changed in place
            return []

    def materializes(self, ctx: Any, noted: bool) -> bool:
        return noted  # torch's ctx cannot be asked


MINIGRAD = Engine()


def engine_of(answer: object) -> Engine | None:
    """The engine that this Function class belongs to; None if it is no Function."""
    if not isinstance(answer, type):
        return None
    if issubclass(answer, Function):
        return MINIGRAD
    torch = sys.modules.get("torch")
    if torch is not None and issubclass(answer, torch.autograd.Function):
        return TorchEngine()
    return None
