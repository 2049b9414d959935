"""How a tensor prints: torch's layout, so that outputs can be compared by eye."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from minigrad import errors
from minigrad.engine.dtypes import default_dtype

if TYPE_CHECKING:
    from minigrad.engine.core.tensor import Array, Tensor

PREFIX: Final = "tensor("


class PrintOptions:
    """How numbers are written: digits, and where lines and large tensors are cut.

    ``edgeitems`` is how many elements are shown at each end of a tensor that is cut;
    ``sci_mode`` None chooses by the values.
    """

    precision: int = 4
    threshold: float = 1000
    edgeitems: int = 3
    linewidth: int = 80
    sci_mode: bool | None = None


options = PrintOptions()

PROFILES: Final = {
    "default": (4, 1000, 3, 80),
    "short": (2, 1000, 2, 80),
    "full": (4, math.inf, 3, 80),
}


def set_printoptions(
    precision: int | None = None,
    threshold: float | None = None,
    edgeitems: int | None = None,
    linewidth: int | None = None,
    profile: str | None = None,
    sci_mode: bool | None = None,
) -> None:
    """Choose how tensors print; what is left out stays, but for ``sci_mode``.

    ``profile`` is "default", "short" or "full".
    See: torch ``set_printoptions``.

    >>> minigrad.set_printoptions(precision=2)
    >>> minigrad.tensor([1 / 3])
    tensor([0.33])
    >>> minigrad.set_printoptions(profile="default")
    """
    fields = "precision", "threshold", "edgeitems", "linewidth"
    if profile is not None:
        for field, value in zip(fields, PROFILES[profile], strict=True):
            setattr(options, field, value)
    given = precision, threshold, edgeitems, linewidth
    for field, chosen in zip(fields, given, strict=True):
        if chosen is not None:
            setattr(options, field, chosen)
    options.sci_mode = sci_mode


def tensor_text(tensor: Tensor) -> str:
    """``tensor(values, dtype=..., grad_fn=<...>)``, with only what is not the usual."""
    array = tensor.array
    notes = []
    if array.size == 0 and array.ndim != 1:
        notes.append(f"size={array.shape}")
    usual = array.size > 0 and array.dtype.name in ("int64", "bool")
    if not usual and array.dtype != default_dtype():
        notes.append(f"dtype=minigrad.{array.dtype.name}")
    history = name_of_history(tensor)
    if history is not None:
        notes.append(f"grad_fn=<{history}>")
    elif tensor.requires_grad:
        notes.append("requires_grad=True")
    if tensor._tangents is not None:
        notes += [f"tangent={tangent}" for tangent in tensor._tangents.values()][:1]
    return with_notes(PREFIX + array_text(array), notes)


def name_of_history(tensor: Tensor) -> str | None:
    """The class of ``grad_fn``; ``Invalid`` for a view that could not follow."""
    try:
        node = tensor.grad_fn
    except errors.InplaceError:
        return "Invalid"
    return None if node is None else type(node).__name__


def with_notes(text: str, notes: list[str]) -> str:
    """The notes behind the values, each on a new line where it would not fit."""
    length = len(text) - text.rfind("\n") + 1
    for note in notes:
        if length + len(note) + 2 > options.linewidth:
            text += ",\n" + " " * len(PREFIX) + note
            length = len(PREFIX) + len(note)
        else:
            text += ", " + note
            length += len(note) + 2
    return text + ")"


def array_text(array: Array) -> str:
    """The values, aligned in columns and cut in the middle where there are many."""
    if array.size == 0:
        return "[]"
    cut = array.size > options.threshold
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
            write(item)
            for item in array[: options.edgeitems if cut_here(array, cut) else None]
        ]
        if cut_here(array, cut):
            parts += [" ...", *[write(item) for item in array[-options.edgeitems :]]]
        in_line = max(1, (options.linewidth - indent) // (width + 2))
        parts = [
            ", ".join(parts[start : start + in_line])
            for start in range(0, len(parts), in_line)
        ]
    else:
        rows = list(array[: options.edgeitems]) + list(array[-options.edgeitems :])
        rows = rows if cut_here(array, cut) else list(array)
        parts = [nested(row, indent + 1, cut, write, width) for row in rows]
        if cut_here(array, cut):
            parts.insert(options.edgeitems, "...")
    new_lines = "\n" * max(1, array.ndim - 1)
    return f"[{(',' + new_lines + ' ' * (indent + 1)).join(parts)}]"


def cut_here(array: Array, cut: bool) -> bool:
    """Whether the first dimension is shown by its ends only."""
    return cut and len(array) > 2 * options.edgeitems


def corners(array: Array) -> Array:
    """The elements that are shown of an array that is cut."""
    shown = [
        np.r_[0 : options.edgeitems, length - options.edgeitems : length]
        if length > 2 * options.edgeitems
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
    if options.sci_mode is not None:
        scientific = options.sci_mode

    def number(item: Any) -> str:
        if not math.isfinite(item):
            return str(float(item))
        if scientific:
            return f"{item:.{options.precision}e}"
        return f"{item:.0f}." if whole else f"{item:.{options.precision}f}"

    width = max([len(number(item)) for item in telling.flat], default=1)
    return (lambda item: number(item).rjust(width)), width


def needs_exponent(values: Array, whole: bool) -> bool:
    """Whether the values differ too much, or are too great or small, to be aligned."""
    least, most = values.min(), values.max()
    if most / least > 1000 or most > 1e8:
        return True
    return bool(not whole and least < 1e-4)
