"""How a tensor prints: torch's layout, so that outputs can be compared by eye."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from minigrad.engine.creation import get_default_dtype

if TYPE_CHECKING:
    from minigrad.engine.tensor import Array, Tensor

DECIMALS = 4


def tensor_text(tensor: Tensor) -> str:
    """``tensor(values, dtype=..., grad_fn=<...>)``, with only what is not the usual."""
    parts = [array_text(tensor.array, indent="tensor(")]
    kind = tensor.dtype
    usual = kind.name in ("int64", "bool") or kind == get_default_dtype()
    if not usual or tensor.numel() == 0:
        parts.append(f"dtype=minigrad.{kind.name}")
    if tensor.numel() == 0 and tensor.ndim != 1:
        parts.insert(1, f"size={tensor.shape}")
    if tensor.grad_fn is not None:
        parts.append(f"grad_fn=<{type(tensor.grad_fn).__name__}>")
    elif tensor.requires_grad:
        parts.append("requires_grad=True")
    return f"tensor({', '.join(parts)})"


def array_text(array: Array, indent: str = "") -> str:
    """The values, aligned in columns and cut in the middle above 1000 elements."""
    element = element_formatter(array)
    return np.array2string(
        array,
        separator=", ",
        prefix=indent,
        threshold=1000,
        edgeitems=3,
        max_line_width=80,
        formatter={"all": element},
    )


def element_formatter(array: Array) -> Any:
    """How one element is written, as wide as the widest."""
    if array.dtype.kind not in "f":
        width = max((len(str(item)) for item in sample(array)), default=0)
        width = width if array.ndim else 0
        return lambda item: str(item).rjust(width)
    values = sample(array)
    finite = np.abs(values[np.isfinite(values) & (values != 0)]).astype(np.float64)
    whole = bool(np.all(finite == np.ceil(finite)))
    span = (finite.min(), finite.max()) if finite.size else (1.0, 1.0)
    scientific = span[1] / span[0] > 1000 or span[1] > 1e8
    scientific = scientific or (not whole and span[0] < 1e-4)

    def number_text(item: Any) -> str:
        if not np.isfinite(item):
            return str(item)
        if scientific:
            return f"{item:.{DECIMALS}e}"
        return f"{item:.0f}." if whole else f"{item:.{DECIMALS}f}"

    width = max((len(number_text(item)) for item in values), default=0)
    width = width if array.ndim else 0
    return lambda item: number_text(item).rjust(width)


def sample(array: Array) -> Array:
    """The elements that will be printed, or all of a small array."""
    flat = array.reshape(-1)
    if flat.size <= 1000:
        return flat
    edges = [
        np.r_[0 : min(3, n), max(n - 3, 3) : n] if n > 6 else np.arange(n)
        for n in array.shape
    ]
    corners: Array = array[np.ix_(*edges)]
    return corners.reshape(-1)
