"""The name that tensors with a gradient had before Tensor was one of them."""

from __future__ import annotations

from typing import Any

from minigrad.engine.tensor import Tensor

__all__ = ["Variable"]


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

    def __new__(cls, data: Tensor, requires_grad: bool = False) -> Any:
        return data.detach().requires_grad_(requires_grad)
