"""Which elements of a base a view shows, and the operations that follow from it."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from minigrad.engine.builtin import Builtin
from minigrad.engine.core.tensor import Array, Tensor


class Geometry(NamedTuple):
    """Where a view lies in its base; steps and offset count elements, not bytes.

    It is enough to show the same elements of any other array of the base's shape.
    """

    base_shape: tuple[int, ...]
    base_steps: tuple[int, ...]
    shape: tuple[int, ...]
    steps: tuple[int, ...]
    offset: int

    def reach(self) -> tuple[int, int]:
        """The first and the last element used, counted from the base's first one."""
        low, high = reach_of(self.base_shape, self.base_steps)
        if 0 in self.shape:
            return low, high
        first, last = reach_of(self.shape, self.steps)
        return min(low, first + self.offset), max(high, last + self.offset)


def geometry_of(view: Array, base: Array) -> Geometry:
    """How ``view`` lies in the memory of ``base``."""
    offset = (address_of(view) - address_of(base)) // base.itemsize
    return Geometry(base.shape, steps_of(base), view.shape, steps_of(view), offset)


def address_of(array: Array) -> int:
    """Where the first element lies."""
    address: int = array.__array_interface__["data"][0]
    return address


def steps_of(array: Array) -> tuple[int, ...]:
    """How many elements to go on in memory for one step along each dimension."""
    return tuple([stride // array.itemsize for stride in array.strides])


def reach_of(shape: tuple[int, ...], steps: tuple[int, ...]) -> tuple[int, int]:
    """The first and the last element, counted from the one at index 0."""
    ends = [(length - 1) * step for length, step in zip(shape, steps, strict=True)]
    if 0 in shape:
        return 0, -1
    return sum([end for end in ends if end < 0]), sum([end for end in ends if end > 0])


def overlaps(shape: tuple[int, ...], steps: tuple[int, ...]) -> bool:
    """Whether two indices may name one element, as those of ``expand`` do."""
    reached = 0
    longer = [(abs(s), n) for s, n in zip(steps, shape, strict=True) if n > 1]
    for step, length in sorted(longer):
        if step <= reached:
            return True
        reached += step * (length - 1)
    return False


class _Memory:
    """Presents a place in an array's memory to NumPy, and keeps that array alive."""

    def __init__(self, interface: dict[str, Any], owner: Array) -> None:
        self.__array_interface__ = interface
        self.owner = owner


def strided(
    array: Array, shape: tuple[int, ...], steps: tuple[int, ...], offset: int
) -> Array:
    """The memory of ``array``, from its element ``offset`` on, in any arrangement.

    The caller knows that it ends where the memory does.
    """
    size = array.itemsize
    interface = dict(array.__array_interface__)
    address, read_only = interface["data"]
    interface["data"] = (address + offset * size, read_only)
    interface["shape"] = shape
    interface["strides"] = tuple([step * size for step in steps])
    return np.asarray(_Memory(interface, array))


def shown(array: Array, geometry: Geometry) -> Array:
    """The elements of ``array``, which has the base's shape, that the view shows.

    In the memory of ``array`` if it is arranged as the base was, else in a copy.
    """
    inside = reach_of(geometry.base_shape, geometry.base_steps) == geometry.reach()
    if not inside or steps_of(array) != geometry.base_steps:
        array = laid_out(array, geometry)
    return strided(array, *geometry[2:])


def laid_out(array: Array, geometry: Geometry) -> Array:
    """A copy of ``array`` arranged in memory as the base was."""
    low, high = geometry.reach()
    memory = np.zeros(high - low + 1, array.dtype)
    copied = strided(memory, geometry.base_shape, geometry.base_steps, -low)
    copied[...] = array
    return copied


def summed_into_base(values: Array, geometry: Geometry) -> Array:
    """Zeros of the base's shape with ``values`` added where the view shows them."""
    low, high = geometry.reach()
    memory = np.zeros(high - low + 1, values.dtype)
    _, _, shape, steps, offset = geometry
    if overlaps(shape, steps):
        places = strided(np.arange(len(memory)), shape, steps, offset - low)
        np.add.at(memory, places, values)
    else:
        strided(memory, shape, steps, offset - low)[...] = values
    if overlaps(*geometry[:2]):
        share_out(memory, geometry, low)
    return strided(memory, geometry.base_shape, geometry.base_steps, -low)


def share_out(memory: Array, geometry: Geometry, low: int) -> None:
    """Give each of the base's indices that name one element its part of the sum."""
    base = strided(np.arange(len(memory)), *geometry[:2], -low)
    counts = np.bincount(base.ravel(), minlength=len(memory))
    memory /= np.maximum(counts, 1)


class AsStrided(Builtin):
    """What a view shows of its base, in whatever order of memory.

    This is how a view gets a new history after its base was changed in place.
    """

    one_by_one = True
    linear = True
    returns_view = True

    @staticmethod
    def forward(input: Array, geometry: Geometry) -> Array:
        return shown(input, geometry)

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: Tensor) -> None:
        ctx.geometry = inputs[1]

    @staticmethod
    def backward(ctx: Any, grad: Any) -> Any:
        return SumIntoBase.of(grad, ctx.geometry), None


class SumIntoBase(Builtin):
    """Zeros of the base's shape with the elements added where the view shows them."""

    one_by_one = True
    linear = True

    @staticmethod
    def forward(input: Array, geometry: Geometry) -> Array:
        return summed_into_base(input, geometry)

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: Tensor) -> None:
        ctx.geometry = inputs[1]

    @staticmethod
    def backward(ctx: Any, grad: Any) -> Any:
        return AsStrided.of(grad, ctx.geometry), None


class ReplaceShown(Builtin):
    """A copy of ``input`` with ``part`` in the place that the view shows."""

    one_by_one = True
    operands = 2

    @staticmethod
    def forward(input: Array, part: Any, geometry: Geometry) -> Array:
        copied = laid_out(input, geometry)
        strided(copied, *geometry[2:])[...] = part
        return copied

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: Tensor) -> None:
        ctx.geometry = inputs[2]

    @staticmethod
    def backward(ctx: Any, grad: Any) -> Any:
        geometry = ctx.geometry
        return ReplaceShown.of(grad, 0, geometry), AsStrided.of(grad, geometry), None

    @staticmethod
    def jvp(ctx: Any, t_input: Any, t_part: Any, nothing: None) -> Any:
        if t_input is None:
            return SumIntoBase.of(t_part, ctx.geometry)
        return ReplaceShown.of(t_input, 0 if t_part is None else t_part, ctx.geometry)


def partly_overlap(a: Array, b: Array) -> bool:
    """Whether two arrays share some elements, but not each the same one.

    Only of arrays without gaps, as torch decides it.
    """
    same = a.nbytes == b.nbytes and address_of(a) == address_of(b)
    return not (same and a.strides == b.strides) and dense_overlap(a, b)


def dense_overlap(a: Array, b: Array) -> bool:
    """Whether two arrays without gaps share some element."""
    return is_dense(a) and is_dense(b) and np.may_share_memory(a, b)


def is_dense(array: Array) -> bool:
    """Whether the elements fill one piece of memory, in any order of dimensions."""
    wanted = 1
    longer = [
        (step, n) for step, n in zip(steps_of(array), array.shape, strict=True) if n > 1
    ]
    for step, length in sorted(longer):
        if step != wanted:
            return False
        wanted *= length
    return True
