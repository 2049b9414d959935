"""The name that tensors with a gradient had before Tensor was one of them."""

from __future__ import annotations

from typing import Any

from minigrad import errors
from minigrad.engine.core.tensor import Tensor
from minigrad.engine.creation import tensor
from minigrad.engine.gradients import queue_callback

__all__ = ["Variable"]


class ImperativeEngine:
    """What can be asked of the engine while a backward runs."""

    queue_callback = staticmethod(queue_callback)


class _VariableMeta(type):
    """Every Tensor is a Variable."""

    def __instancecheck__(cls, instance: Any) -> bool:
        return isinstance(instance, Tensor)


class Variable(metaclass=_VariableMeta):
    """``Variable(tensor, requires_grad)``: a leaf on the memory of ``tensor``.

    Old programs write it; today a Tensor is enough.
    See: torch ``autograd.Variable``.

    >>> minigrad.autograd.Variable(minigrad.ones(2), requires_grad=True)
    tensor([1., 1.], requires_grad=True)
    """

    _execution_engine = ImperativeEngine()

    def __new__(cls, data: Tensor | None = None, requires_grad: bool = False) -> Any:
        if data is None:
            return tensor([])
        if not isinstance(data, Tensor):
            raise errors.ArgumentTypeError.at(
                "Variable",
                f"Variable data has to be a tensor, but got {type(data).__name__}",
                "write minigrad.tensor(value, requires_grad=True)",
            )
        return data.detach().requires_grad_(requires_grad)
