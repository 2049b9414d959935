"""Whole batches, with the dimension that counts the examples at the front."""

from __future__ import annotations

import functools
from typing import Any, NamedTuple

import numpy as np

from minigrad.engine.builtin import Builtin
from minigrad.engine.core.tensor import Array, Tensor
from minigrad.engine.promotion import KINDS, common_dtype


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
) -> list[Any]:
    """Every tensor with all examples at the front."""
    pairs = zip(values, in_dims, strict=True)
    return [
        repeated(value, size) if dim is None and isinstance(value, Tensor) else value
        for value, dim in pairs
    ]


def first_example(batch: Tensor, dim: int = 0) -> Array:
    """An array with the shape, the dtype and the steps of one slice along ``dim``."""
    whole = batch._an_example()
    if whole.shape[dim] == 0:
        return np.empty(whole.shape[:dim] + whole.shape[dim + 1 :], whole.dtype)
    place: Any = (slice(None),) * dim + (0, ...)
    example: Array = whole[place]
    return example


def lined_up(values: tuple[Any, ...], in_dims: tuple[Any, ...]) -> list[Any]:
    """Operands whose examples broadcast as one example would, and to its dtype."""
    tensors = [value for value in values if isinstance(value, Tensor)]
    pairs = list(zip(values, in_dims, strict=True))
    ranks = [rank_of(value, dim) for value, dim in pairs]
    most = max(ranks)
    deciding = [
        value.dtype.dtype
        for value, rank in zip(values, ranks, strict=True)
        if rank > 0 and isinstance(value, Tensor)
    ]
    operands = []
    for (value, dim), rank in zip(pairs, ranks, strict=True):
        operand = value
        if dim is not None:
            if rank < most:
                size, *rest = value.shape
                operand = value.reshape(size, *(1,) * (most - rank), *rest)
            if rank == 0 and deciding:
                operand = following(operand, deciding)
        elif most == 0 and len(tensors) > 1 and isinstance(value, Tensor):
            # With a batch beside it, a single number would lose its say in the dtype.
            operand = value.reshape(1)
        operands.append(operand)
    return operands


def rank_of(value: Any, dim: int | None) -> int:
    """The number of dimensions of one example; 0 for what is no tensor."""
    if not isinstance(value, Tensor):
        return 0
    return value.ndim if dim is None else value.ndim - 1


def following(tensor: Tensor, deciding: list[np.dtype[Any]]) -> Tensor:
    """A batch of single numbers, which must not decide the dtype of the result."""
    dtype = functools.reduce(common_dtype, deciding)
    earlier = KINDS.index(tensor.dtype.kind) <= KINDS.index(dtype.kind)
    return tensor.to(dtype) if earlier and tensor.dtype.kind != "b" else tensor
