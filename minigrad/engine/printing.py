"""How a tensor prints: torch's layout, so that outputs can be compared by eye."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from minigrad.engine.creation import get_default_dtype

if TYPE_CHECKING:
    from minigrad.engine.tensor import Array, Tensor

DECIMALS: Final = 4
LINE_WIDTH: Final = 80
EDGE: Final = 3
"""How many elements are shown at each end of a tensor that is cut."""

CUT_ABOVE: Final = 1000
PREFIX: Final = "tensor("


def tensor_text(tensor: Tensor) -> str:
    """``tensor(values, dtype=..., grad_fn=<...>)``, with only what is not the usual."""
    array = tensor.array
    notes = []
    if array.size == 0 and array.ndim != 1:
        notes.append(f"size={array.shape}")
    usual = array.size > 0 and array.dtype.name in ("int64", "bool")
    if not usual and array.dtype != get_default_dtype():
        notes.append(f"dtype=minigrad.{array.dtype.name}")
    if tensor.grad_fn is not None:
        notes.append(f"grad_fn=<{type(tensor.grad_fn).__name__}>")
    elif tensor.requires_grad:
        notes.append("requires_grad=True")
    return with_notes(PREFIX + array_text(array), notes)


def with_notes(text: str, notes: list[str]) -> str:
    """The notes behind the values, each on a new line where it would not fit."""
    length = len(text) - text.rfind("\n") + 1
    for note in notes:
        if length + len(note) + 2 > LINE_WIDTH:
            text += ",\n" + " " * len(PREFIX) + note
            length = len(PREFIX) + len(note)
        else:
            text += ", " + note
            length += len(note) + 2
    return text + ")"


def array_text(array: Array) -> str:
    """The values, aligned in columns and cut in the middle above 1000 elements."""
    if array.size == 0:
        return "[]"
    cut = array.size > CUT_ABOVE
    write, width = element_writer(corners(array) if cut else array)
    return nested(array, len(PREFIX), cut, write, width)


def nested(
    array: Array, indent: int, cut: bool, write: Callable[[Any], str], width: int
) -> str:
    """One pair of brackets for each dimension; ``indent`` is where the first stands."""
    if array.ndim == 0:
        return write(array.item())
    if array.ndim == 1:
        parts = [
            write(item) for item in array[: EDGE if cut_here(array, cut) else None]
        ]
        if cut_here(array, cut):
            parts += [" ...", *[write(item) for item in array[-EDGE:]]]
        in_line = max(1, (LINE_WIDTH - indent) // (width + 2))
        parts = [
            ", ".join(parts[start : start + in_line])
            for start in range(0, len(parts), in_line)
        ]
    else:
        rows = list(array[:EDGE]) + list(array[-EDGE:])
        rows = rows if cut_here(array, cut) else list(array)
        parts = [nested(row, indent + 1, cut, write, width) for row in rows]
        if cut_here(array, cut):
            parts.insert(EDGE, "...")
    new_lines = "\n" * max(1, array.ndim - 1)
    return f"[{(',' + new_lines + ' ' * (indent + 1)).join(parts)}]"


def cut_here(array: Array, cut: bool) -> bool:
    """Whether the first dimension is shown by its ends only."""
    return cut and len(array) > 2 * EDGE


def corners(array: Array) -> Array:
    """The elements that are shown of an array that is cut."""
    shown = [
        np.r_[0:EDGE, length - EDGE : length]
        if length > 2 * EDGE
        else np.arange(length)
        for length in array.shape
    ]
    chosen: Array = array[np.ix_(*shown)]
    return chosen


def element_writer(array: Array) -> tuple[Callable[[Any], str], int]:
    """How one element is written, and how wide the widest of ``array`` is.

    Zero, infinity and NaN do not decide about the width, as in torch.
    """
    if array.dtype.kind != "f":
        width = max([len(str(item)) for item in array.flat])
        return (lambda item: str(item).rjust(width)), width

    telling = array[np.isfinite(array) & (array != 0)].astype(np.float64)
    whole = bool(np.all(telling == np.ceil(telling)))
    scientific = telling.size > 0 and needs_exponent(np.abs(telling), whole)

    def number(item: Any) -> str:
        if not math.isfinite(item):
            return str(float(item))
        if scientific:
            return f"{item:.{DECIMALS}e}"
        return f"{item:.0f}." if whole else f"{item:.{DECIMALS}f}"

    width = max([len(number(item)) for item in telling.flat], default=1)
    return (lambda item: number(item).rjust(width)), width


def needs_exponent(values: Array, whole: bool) -> bool:
    """Whether the values differ too much, or are too great or small, to be aligned."""
    least, most = values.min(), values.max()
    if most / least > 1000 or most > 1e8:
        return True
    return bool(not whole and least < 1e-4)
