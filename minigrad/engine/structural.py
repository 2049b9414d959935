"""The operations that the engine itself needs to move gradients about."""

from __future__ import annotations

from typing import Any, TypeVar

import numpy as np

from minigrad import errors
from minigrad.engine.builtin import Builtin
from minigrad.engine.core.tensor import Array, Tensor
from minigrad.engine.memory_order import copy_in_order
from minigrad.engine.promotion import promoted

Kind = TypeVar("Kind", Array, Tensor)


class Add(Builtin):
    """input + other, elementwise, stretched to a common shape.

    >>> minigrad.tensor([1.0, 2.0]) + 10
    tensor([11., 12.])
    """

    elementwise = True
    ufunc = np.add
    operands = 2

    @staticmethod
    def forward(input: Any, other: Any) -> Any:
        a, b = promoted(input, other)
        return np.add(a, b)

    @staticmethod
    def backward(ctx: Any, grad: Any) -> Any:
        return grad, grad

    @staticmethod
    def jvp(ctx: Any, t_input: Any, t_other: Any) -> Any:
        return total(t_input, t_other)


def total(a: Any, b: Any) -> Any:
    """The sum of what two operands contribute; None is nothing."""
    if a is None or b is None:
        return b if a is None else a
    return a + b


class Expand(Builtin):
    """The elements repeated along new dimensions and dimensions of length 1.

    Shape: ``size`` counts from the last dimension; -1 keeps a length. No memory is
    taken for the copies.

    >>> minigrad.tensor([[1.0], [2.0]]).expand(2, 3)
    tensor([[1., 1., 1.],
            [2., 2., 2.]])
    """

    linear = True
    returns_view = True

    @staticmethod
    def forward(input: Array, size: tuple[int, ...]) -> Array:
        new = len(size) - input.ndim
        kept = list(size)
        if -1 in kept and new >= 0:
            kept[new:] = [
                own if length == -1 else length
                for own, length in zip(input.shape, kept[new:], strict=True)
            ]
        try:
            return np.broadcast_to(input, kept)
        except ValueError:
            raise errors.ShapeError.at(
                "expand",
                f"{cannot_expand(input.shape, kept)}. Target sizes: {kept}. "
                f"Tensor sizes: {list(input.shape)}",
                "only dimensions of length 1 can be expanded; new ones come first",
            ) from None

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: Tensor) -> None:
        ctx.shape = inputs[0].shape

    @staticmethod
    def vmap(info: Any, in_dims: Any, input: Tensor, size: tuple[int, ...]) -> Any:
        """Every example expanded."""
        new = (1,) * (len(size) - (input.ndim - 1))
        aligned = input.reshape(info.batch_size, *new, *input.shape[1:])
        return aligned.expand(-1, *size), 0

    @staticmethod
    def backward(ctx: Any, grad: Any) -> Any:
        return sum_to(grad, ctx.shape), None


def sum_to(array: Kind, shape: tuple[int, ...]) -> Kind:
    """``array`` summed over the dimensions in which ``shape`` is shorter.

    It may be a Tensor: then the sum is recorded.
    """
    if isinstance(array, Tensor):
        recorded: Tensor = SumTo.apply(array, shape)
        return recorded
    new = array.ndim - len(shape)
    if new:
        array = np.add.reduce(array, axis=tuple(range(new)))
    if array.shape == shape:
        return array
    stretched = tuple(
        [i for i, length in enumerate(shape) if length == 1 != array.shape[i]]
    )
    return np.add.reduce(array, axis=stretched, keepdims=True) if stretched else array


class SumTo(Builtin):
    """The sum over the copies that broadcasting made, back to ``shape``."""

    linear = True
    in_rows = True

    forward = staticmethod(sum_to)

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: Tensor) -> None:
        ctx.shape = inputs[0].shape

    @staticmethod
    def vmap(info: Any, in_dims: Any, input: Tensor, shape: tuple[int, ...]) -> Any:
        """Every example summed."""
        size = info.batch_size
        summed = (size, *(1,) * (input.ndim - 1 - len(shape)), *shape)
        return SumTo.apply(input, summed).reshape(size, *shape), 0

    @staticmethod
    def backward(ctx: Any, grad: Any) -> Any:
        return Expand.of(grad, ctx.shape), None


class ToCopy(Builtin):
    """The same values in another dtype; the tensor itself if it has that dtype.

    Without a dtype nothing changes; a name of the device is checked. ``copy`` asks for
    memory of its own in any case.

    >>> minigrad.tensor([1.5, 2.5]).to(minigrad.int64)
    tensor([1, 2])
    """

    linear = True
    elementwise = True

    @classmethod
    def apply(cls, input: Any, dtype: Any, *copy: bool) -> Any:
        """Nothing is done, and nothing recorded, for the dtype that is there."""
        if input.dtype == dtype and not copy:
            return input
        return super().apply(input, dtype, *copy)

    @staticmethod
    def forward(input: Array, dtype: Any, copy: bool = False) -> Array:
        return copy_in_order(input, dtype)

    @staticmethod
    def backward(ctx: Any, grad: Any) -> Any:
        # The traversal casts a gradient to the dtype of what it is the gradient of.
        return grad, None


class Clone(Builtin):
    """A copy in memory of its own, with the elements in the same order.

    >>> minigrad.tensor([1.0, 2.0]).clone()
    tensor([1., 2.])
    """

    linear = True
    elementwise = True

    @staticmethod
    def forward(input: Array) -> Array:
        return copy_in_order(input, input.dtype)

    @staticmethod
    def backward(ctx: Any, grad: Any) -> Any:
        return grad


class CloneInRows(Clone):
    """A copy in which row lies after row, whatever the order was."""

    in_rows = True

    @staticmethod
    def forward(input: Array) -> Array:
        return input.copy()


CloneInRows.__name__ = "Clone"
CloneInRows._backward_cls.__name__ = CloneInRows._backward_cls.__qualname__ = (
    "CloneBackward0"
)


class CopyInLayout(Builtin):
    """A copy whose elements lie in memory in the order of a tensor of ``strides``."""

    one_by_one = True
    linear = True

    @staticmethod
    def forward(input: Array, strides: tuple[int, ...]) -> Array:
        return copy_in_order(input, input.dtype, strides)

    @staticmethod
    def backward(ctx: Any, grad: Any) -> Any:
        return grad, None


class Replace(Builtin):
    """``other`` in the shape and dtype of ``input``, of which nothing is left."""

    one_by_one = True
    operands = 2

    @staticmethod
    def forward(input: Array, other: Any) -> Array:
        replaced = np.empty_like(input)
        replaced[...] = other
        return replaced

    @staticmethod
    def backward(ctx: Any, grad: Any) -> Any:
        return None, grad

    @staticmethod
    def jvp(ctx: Any, t_input: Any, t_other: Any) -> Any:
        return Tensor(np.zeros_like(t_input.array)) if t_other is None else t_other


class WithZeros(Builtin):
    """``input`` as it is; the others get a gradient of zeros."""

    one_by_one = True
    operands = 2

    @staticmethod
    def forward(input: Array, *others: Array) -> Array:
        return input.copy()

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: Tensor) -> None:
        ctx.kinds = [(value.shape, value.dtype) for value in inputs[1:]]

    @staticmethod
    def backward(ctx: Any, grad: Any) -> Any:
        zeros = [np.zeros(shape, dtype) for shape, dtype in ctx.kinds]
        if isinstance(grad, Tensor):
            return grad, *[Tensor(array) for array in zeros]
        return grad, *zeros

    @staticmethod
    def jvp(ctx: Any, t_input: Any, *t_others: Any) -> Any:
        return t_input


class MakeDual(Builtin):
    """Another tensor on the same memory, to hang a tangent on."""

    linear = True
    returns_view = True

    @staticmethod
    def vmap(info: Any, in_dims: Any, input: Tensor) -> Any:
        """That of all examples."""
        return MakeDual.apply(input), 0

    @staticmethod
    def forward(input: Array) -> Array:
        return input

    @staticmethod
    def backward(ctx: Any, grad: Any) -> Any:
        return grad


MakeDual._backward_cls.__name__ = MakeDual._backward_cls.__qualname__ = "ViewBackward0"


def cannot_expand(shape: tuple[int, ...], target: list[int]) -> str:
    """Why a tensor of ``shape`` does not stretch to ``target``."""
    new = len(target) - len(shape)
    if new < 0:
        return (
            f"the number of sizes provided ({len(target)}) must be greater or equal to "
            f"the number of dimensions in the tensor ({len(shape)})"
        )
    if -1 in target:
        return (
            "The expanded size of the tensor (-1) isn't allowed in a leading, "
            f"non-existing dimension {target.index(-1)}"
        )
    wrong = [i for i in range(len(shape)) if shape[i] not in (1, target[new + i])][-1]
    return (
        f"The expanded size of the tensor ({target[new + wrong]}) must match the "
        f"existing size ({shape[wrong]}) at non-singleton dimension {new + wrong}"
    )


Tensor._sum_to = staticmethod(sum_to)
Tensor._to_dtype = staticmethod(ToCopy.of)
