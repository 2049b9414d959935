"""In which order the elements of a result lie in memory: torch's rule.

NumPy's differs where operands lie in different orders, or were expanded.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from minigrad.engine.core.tensor import Array

Strides = tuple[int, ...]


def ordered_by(result: Any, operands: list[Array], dtype: Any) -> Any:
    """``result``, with its elements in the order that its operands lie in.

    They are cast to ``dtype`` first, and a cast leaves no gaps and no copies.
    """
    if result.ndim < 2:
        return result
    shape = result.shape
    strides = [aligned(shape, x.shape, strides_in(x, dtype)) for x in operands]
    return lying_in(result, widest_first(result.shape, strides))


def in_rows(result: Any) -> Any:
    """``result``, or each of several, with row after row in memory."""
    if type(result) is tuple:
        return tuple([in_rows(part) for part in result])
    return result if result.flags.c_contiguous else result.copy()


def lying_in(array: Array, order: list[int]) -> Array:
    """``array``, copied if its dimensions do not follow one another in ``order``."""
    if array.transpose(order).flags.c_contiguous:
        return array
    copy = empty_in(order, array.shape, array.dtype)
    copy[...] = array
    return copy


def copy_in_order(array: Array, dtype: Any, strides: Strides | None = None) -> Array:
    """A copy without gaps, in the order in memory of ``array``, or of ``strides``."""
    if strides is None and array.flags.c_contiguous:
        return array.astype(dtype)
    order = widest_first(array.shape, [strides or array.strides])
    copy = empty_in(order, array.shape, dtype)
    copy[...] = array
    return copy


def empty_like(array: Array, dtype: Any) -> Array:
    """Memory in the shape and the order of ``array``."""
    if array.flags.c_contiguous:
        return np.empty(array.shape, dtype)
    return empty_in(widest_first(array.shape, [array.strides]), array.shape, dtype)


def empty_in(order: list[int], shape: tuple[int, ...], dtype: Any) -> Array:
    """Memory without gaps for ``shape``, the first dimension in ``order`` outermost."""
    memory = np.empty([shape[dim] for dim in order], dtype)
    return memory.transpose(np.argsort(order))


def strides_in(array: Array, dtype: Any) -> Strides:
    """The strides of ``array`` once it has been cast to ``dtype``."""
    if array.dtype == dtype or array.ndim == 0:
        return array.strides
    return empty_like(array, dtype).strides


def aligned(
    shape: tuple[int, ...], lengths: tuple[int, ...], strides: Strides
) -> Strides:
    """The strides of an operand that is stretched to ``shape``: 0 where it repeats."""
    new = len(shape) - len(lengths)
    steps = zip(lengths, shape[new:], strides, strict=True)
    kept = [step if length == whole else 0 for length, whole, step in steps]
    return (0,) * new + tuple(kept)


def widest_first(shape: tuple[int, ...], operands: list[Strides]) -> list[int]:
    """The dimensions from the one with the longest step to that with the shortest.

    The first operand that can tell two dimensions apart decides. A step of 0, as after
    ``expand``, tells nothing, as in torch.
    """
    order = list(range(len(shape)))[::-1]  # the innermost first, until the end
    for place in range(1, len(order)):
        moving = place
        for other in range(place - 1, -1, -1):
            inner, outer = order[other], order[moving]
            verdict = belongs_outside(inner, outer, shape, operands)
            if verdict:
                order[other], order[moving] = outer, inner
                moving = other
            elif verdict is False:
                break
    return order[::-1]


def belongs_outside(
    inner: int, outer: int, shape: tuple[int, ...], operands: list[Strides]
) -> bool | None:
    """Whether ``inner`` has the longer step after all; None if nothing tells."""
    for strides in operands:
        step, next_step = abs(strides[inner]), abs(strides[outer])
        if step == 0 or next_step == 0:
            continue
        if step != next_step:
            return step > next_step
        if shape[inner] > shape[outer]:
            return True
    return None
