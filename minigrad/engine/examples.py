"""Whole batches, with the dimension that counts the examples at the front."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from minigrad.engine.builtin import Builtin
from minigrad.engine.core.tensor import Array, Tensor


class VmapInfo(NamedTuple):
    """What a ``vmap`` staticmethod is told: how many examples, and how random."""

    batch_size: int
    randomness: str


class Unbind(Builtin):
    """The slices along the first dimension, one by one."""

    linear = True
    returns_view = True

    @staticmethod
    def forward(input: Any) -> Any:
        return tuple([input[i] for i in range(len(input))])

    @staticmethod
    def backward(ctx: Any, *grads: Any) -> Any:
        return Stack.of(*with_zeros(grads))

    @staticmethod
    def vmap(info: VmapInfo, in_dims: Any, input: Tensor) -> Any:
        """Slices of every example."""
        return Unbind.apply(input.transpose(0, 1)), 0


class Stack(Builtin):
    """Tensors of one shape along a new first dimension."""

    @staticmethod
    def forward(*inputs: Any) -> Any:
        return np.stack(inputs)

    @staticmethod
    def backward(ctx: Any, grad: Any) -> Any:
        return Unbind.of(grad)

    @staticmethod
    def jvp(ctx: Any, *tangents: Any) -> Any:
        return Stack.apply(*with_zeros(tangents))

    @staticmethod
    def vmap(info: VmapInfo, in_dims: Any, *inputs: Tensor) -> Any:
        """A stack for every example."""
        return Stack.apply(*all_batched(info.batch_size, in_dims, inputs)), 1


def with_zeros(values: tuple[Any, ...]) -> list[Any]:
    """Zeros in place of None, as the others are; there is at least one other."""
    some = next(value for value in values if value is not None)
    zeros = np.zeros(some.shape, some.dtype)
    zero = Tensor(zeros) if isinstance(some, Tensor) else zeros
    return [zero if value is None else value for value in values]


def moved(tensor: Tensor, source: int, target: int) -> Tensor:
    """``tensor`` with one dimension in another place, the others in their order."""
    if source == target:
        return tensor
    order = [dim for dim in range(tensor.ndim) if dim != source]
    order.insert(target, source)
    return tensor.permute(*order)


def repeated(tensor: Tensor, size: int) -> Tensor:
    """The same example ``size`` times, along a new first dimension."""
    return tensor.expand(size, *tensor.shape)


def all_batched(
    size: int, in_dims: tuple[Any, ...], values: tuple[Any, ...]
) -> list[Tensor]:
    """Every tensor with all examples at the front."""
    pairs = zip(values, in_dims, strict=True)
    return [repeated(value, size) if dim is None else value for value, dim in pairs]


def first_example(batch: Tensor, dim: int = 0) -> Array:
    """An array with the shape, the dtype and the steps of one slice along ``dim``."""
    whole = batch._an_example()
    if whole.shape[dim] == 0:
        return np.empty(whole.shape[:dim] + whole.shape[dim + 1 :], whole.dtype)
    place: Any = (slice(None),) * dim + (0, ...)
    example: Array = whole[place]
    return example
