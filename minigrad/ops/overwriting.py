"""Overwriting a tensor in place: with one number, with zeros, with another tensor."""

from __future__ import annotations

from typing import Any

import numpy as np

from minigrad.engine.builtin import Builtin
from minigrad.engine.core.tensor import Array, Tensor
from minigrad.engine.inplace import apply_in_place
from minigrad.engine.promotion import do_not_broadcast
from minigrad.ops import elementwise
from minigrad.ops._registry import IN_PLACE, add_method, recorded_as
from minigrad.ops.elementwise import zeros


@recorded_as(lambda _, value: f"FillBackward{3 if isinstance(value, Tensor) else 2}")
class Fill(elementwise.Fill):
    """``fill`` in place, where its nodes have other names in torch."""

    one_by_one = True
    may_overlap = True


@recorded_as("ZeroBackward0")
class Zero(elementwise.Fill):
    """``fill`` with 0, in place."""

    one_by_one = True
    may_overlap = True


@recorded_as("CopyBackwards")
class Copy(Builtin):
    """The values of ``src`` in the shape and dtype of ``input``."""

    elementwise = True
    operands = 2

    @staticmethod
    def forward(input: Array, src: Any) -> Array:
        shape = input.shape
        if np.shape(src) != shape:
            try:
                shape = np.broadcast_shapes(shape, np.shape(src))
            except ValueError:
                raise do_not_broadcast("copy_", shape, np.shape(src)) from None
        copied = np.empty(shape, input.dtype)
        copied[...] = src
        return copied

    @staticmethod
    def backward(ctx: Any, grad: Any) -> Any:
        return zeros(grad), grad

    @staticmethod
    def jvp(ctx: Any, t_input: Any, t_src: Any) -> Any:
        return elementwise.Fill.of(t_input, 0) if t_src is None else t_src


Copy._backward_cls.name = lambda node: "torch::autograd::CopyBackwards"


def copy_(self: Tensor, src: Any, non_blocking: bool = False) -> Tensor:
    """Overwrite this tensor with ``src``, stretched to its shape, in its own dtype.

    >>> minigrad.zeros(2).copy_(minigrad.tensor([1, 2]))
    tensor([1., 2.])
    """
    return apply_in_place(Copy, self, src)


def fill_(self: Tensor, value: Any) -> Tensor:
    """Set every element to ``value``.

    >>> minigrad.tensor([1.0, 2.0]).fill_(7)
    tensor([7., 7.])
    """
    return apply_in_place(Fill, self, value)


def zero_(self: Tensor) -> Tensor:
    """Set every element to 0.

    >>> weights = minigrad.ones(2, requires_grad=True)
    >>> weights.sum().backward()
    >>> weights.grad.zero_()
    tensor([0., 0.])
    """
    return apply_in_place(Zero, self, 0)


for method in (copy_, fill_, zero_):
    add_method(method.__name__, method, IN_PLACE)
