"""Several tensors in one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from minigrad import errors
from minigrad.engine import promotion
from minigrad.engine.builtin import Builtin
from minigrad.engine.core.tensor import Array, Tensor
from minigrad.engine.examples import all_batched, with_zeros
from minigrad.engine.operands import must_be_tensor
from minigrad.ops._registry import alias, composite, op
from minigrad.ops.elementwise import zeros_of
from minigrad.ops.shape import check_range, in_example, reshaped

A = [[1.0, 2.0], [3.0, 4.0]]
B = [[5.0, 6.0]]


def listed(where: str, tensors: Any) -> tuple[Tensor, ...]:
    """The tensors, if they are a list or tuple of some.

    Raises: ArgumentTypeError; ArgumentValueError for none.
    """
    if not isinstance(tensors, (tuple, list)):
        raise must_be_tuple(where, tensors)
    for position, value in enumerate(tensors):
        if not isinstance(value, Tensor):
            raise must_be_tensor(where, f"tensors[{position}]", 1, value)
    if not tensors:
        kind = errors.ArgumentValueError if where == "cat" else errors.ShapeError
        raise kind.at(
            where,
            "expected a non-empty list of Tensors"
            if where == "cat"
            else "stack expects a non-empty TensorList",
            "give at least one tensor",
        )
    return tuple(tensors)


def must_be_tuple(where: str, value: Any) -> errors.ArgumentTypeError:
    """The error for tensors that are given one by one."""
    return errors.ArgumentTypeError.at(
        f"{where}()",
        "argument 'tensors' (position 1) must be tuple of Tensors, not "
        f"{type(value).__name__}",
        f"put them into a list: {where}([a, b])",
    )


def common(arrays: Sequence[Array]) -> list[Array]:
    """All arrays in the dtype that holds them all."""
    dtype = promotion.result_type_of(arrays)
    return [array.astype(dtype, copy=False) for array in arrays]


def piece(value: Any, dim: int, start: int, stop: int) -> Any:
    """The part of ``value`` from ``start`` to ``stop`` along ``dim``."""
    if isinstance(value, Tensor):
        return value.narrow(dim, start, stop - start)
    return value[(*[slice(None)] * (dim % value.ndim), slice(start, stop))]


def cat_arguments(tensors: Any, dim: int = 0) -> tuple[Any, ...]:
    """The tensors one by one, and the dimension behind them."""
    return *listed("cat", tensors), dim


class Joined(Builtin):
    """An operation on any number of tensors; its last argument is the dimension."""

    in_rows = True
    one_by_one = True
    operands = 2  # more than one: any of the tensors may be without a gradient
    numbers_have_edges = False


@op(
    "cat",
    reference=lambda arrays, dim=0: np.concatenate(arrays, dim),
    samples=[((A, B), 0), ((A, A, A), 1), (([1.0], [2.0, 3.0]), -1), ((A, B),)],
    arguments=cat_arguments,
    method=False,
)
class Cat(Joined):
    """The tensors one behind the other along ``dim``, which is there already.

    Raises: ShapeError if they differ in another dimension.

    >>> minigrad.cat([minigrad.ones(2), minigrad.zeros(1)])
    tensor([1., 1., 0.])
    """

    @staticmethod
    def vmap(info: Any, in_dims: Any, *arguments: Any) -> Any:
        """Those of every example, one behind the other."""
        *tensors, dim = all_batched(info.batch_size, in_dims, arguments)
        if any([tensor.ndim == 1 or tensor.shape[1:] == (0,) for tensor in tensors]):
            return NotImplemented
        return Cat.apply(*tensors, in_example(tensors[0], dim)), 0

    @staticmethod
    def forward(*arguments: Any) -> Any:
        *arrays, dim = arguments
        check_joinable(arrays, dim)
        return np.concatenate(common(behind(arrays)), dim)

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: Tensor) -> None:
        *tensors, ctx.dim = inputs
        ctx.shapes = [tensor.array.shape for tensor in tensors]

    @staticmethod
    def backward(ctx: Any, grad: Any) -> Any:
        gradients: list[Any] = []
        start = 0
        for number, shape in enumerate(ctx.shapes):
            if shape == (0,):
                gradients.append(zeros_of(grad, shape))
                continue
            stop = start + shape[ctx.dim]
            needed = ctx.needs_input_grad[number]
            gradients.append(piece(grad, ctx.dim, start, stop) if needed else None)
            start = stop
        return *gradients, None

    @staticmethod
    def jvp(ctx: Any, *tangents: Any) -> Any:
        *each, _ = tangents
        given = next(tangent for tangent in each if tangent is not None)
        parts = [
            Tensor(np.zeros(shape, given.dtype)) if tangent is None else tangent
            for tangent, shape in zip(each, ctx.shapes, strict=True)
        ]
        return Cat.apply(*parts, ctx.dim)


def behind(arrays: list[Array]) -> list[Array]:
    """The arrays that count: an empty vector joins anything, as in torch."""
    if any([array.ndim != 1 for array in arrays]):
        return [array for array in arrays if array.shape != (0,)]
    return arrays


def check_joinable(arrays: list[Array], dim: int) -> None:
    """Refuse arrays that do not fit one behind the other.

    Raises: ShapeError; DimensionError.
    """
    for position, array in enumerate(arrays):
        if array.ndim == 0:
            raise errors.ShapeError.at(
                "cat",
                f"zero-dimensional tensor (at position {position}) cannot be "
                "concatenated",
                "use stack, or reshape it to one dimension: x.reshape(1)",
            )
    first, *others = behind(arrays)
    check_range(first, dim)
    dim %= first.ndim
    for number, other in enumerate(others, 1):
        if other.ndim != first.ndim:
            raise errors.ShapeError.at(
                "cat",
                "Tensors must have same number of dimensions: got "
                f"{first.ndim} and {other.ndim}",
                "add the missing dimension with reshape",
            )
        for place, (a, b) in enumerate(zip(first.shape, other.shape, strict=True)):
            if place != dim and a != b:
                raise errors.ShapeError.at(
                    "cat",
                    f"Sizes of tensors must match except in dimension {dim}. "
                    f"Expected size {a} but got size {b} for tensor number "
                    f"{number} in the list.",
                    "join along the dimension in which they differ",
                )


alias("concat", "cat")
alias("concatenate", "cat")


def stack_arguments(tensors: Any, dim: int = 0) -> tuple[Any, ...]:
    """The tensors one by one, and the dimension behind them."""
    return *listed("stack", tensors), dim


@op(
    "stack",
    reference=lambda arrays, dim=0: np.stack(arrays, dim),
    samples=[((A, A), 0), ((A, A), -1), ((2.0, 3.0),)],
    arguments=stack_arguments,
    method=False,
)
class Stack(Joined):
    """Tensors of one shape side by side along a new dimension ``dim``.

    Raises: ShapeError if the shapes differ.

    >>> minigrad.stack([minigrad.ones(2), minigrad.zeros(2)])
    tensor([[1., 1.],
            [0., 0.]])
    """

    @staticmethod
    def vmap(info: Any, in_dims: Any, *arguments: Any) -> Any:
        """Those of every example, side by side."""
        *tensors, dim = all_batched(info.batch_size, in_dims, arguments)
        rank = tensors[0].ndim
        check_range(np.empty((0,) * rank), dim)
        return Stack.apply(*tensors, dim % rank + 1), 0

    @staticmethod
    def forward(*arguments: Any) -> Any:
        *arrays, dim = arguments
        for entry, array in enumerate(arrays):
            if array.shape != arrays[0].shape:
                raise errors.ShapeError.at(
                    "stack",
                    "stack expects each tensor to be equal size, but got "
                    f"{list(arrays[0].shape)} at entry 0 and {list(array.shape)} "
                    f"at entry {entry}",
                    "give all the same shape, or use cat",
                )
        check_range(np.empty((0, *arrays[0].shape)), dim)
        return np.stack(common(arrays), dim)

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: Tensor) -> None:
        *tensors, dim = inputs
        ctx.shape = tensors[0].array.shape
        ctx.dim = dim % (len(ctx.shape) + 1)

    @staticmethod
    def backward(ctx: Any, grad: Any) -> Any:
        needs = ctx.needs_input_grad[:-1]
        gradients = [
            reshaped(piece(grad, ctx.dim, i, i + 1), ctx.shape) if needed else None
            for i, needed in enumerate(needs)
        ]
        return *gradients, None

    @staticmethod
    def jvp(ctx: Any, *tangents: Any) -> Any:
        *each, _ = tangents
        return Stack.apply(*with_zeros(tuple(each)), ctx.dim)


@composite(
    "hstack",
    reference=np.hstack,
    samples=[((A, A),), (([1.0], [2.0, 3.0]),)],
    method=False,
)
def hstack(tensors: Any) -> Any:
    """Side by side: along the second dimension, vectors along their only one."""
    tensors = [x.reshape(1) if x.ndim == 0 else x for x in listed("cat", tensors)]
    return Cat.apply(*tensors, 0 if tensors[0].ndim == 1 else 1)


@composite(
    "vstack",
    reference=np.vstack,
    samples=[((A, B),), (([1.0, 2.0], [2.0, 3.0]),)],
    method=False,
)
def vstack(tensors: Any) -> Any:
    """One below the other: along the first dimension, vectors as rows."""
    rows = [x.reshape(1, -1) if x.ndim < 2 else x for x in listed("cat", tensors)]
    return Cat.apply(*rows, 0)
