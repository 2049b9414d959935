"""The dtypes under torch's names; each stands for one of NumPy's."""

from __future__ import annotations

from typing import Any

import numpy as np

from minigrad import errors


class dtype:
    """The type of a tensor's elements: torch's name for one of NumPy's dtypes.

    It equals NumPy's, and NumPy takes it wherever it takes its own.
    See: torch ``dtype``.

    >>> minigrad.tensor(1.0).dtype
    minigrad.float32
    >>> minigrad.float32 == np.float32, np.zeros(2, minigrad.float32).dtype
    (True, dtype('float32'))
    """

    __slots__ = ("dtype", "itemsize", "kind", "name")

    def __init__(self, dtype: np.dtype[Any]) -> None:
        self.dtype = dtype  # where NumPy looks for its own
        self.itemsize = dtype.itemsize
        self.kind = dtype.kind
        self.name = dtype.name

    @property
    def is_floating_point(self) -> bool:
        """Whether these are floating-point numbers."""
        return self.kind == "f"

    @property
    def is_complex(self) -> bool:
        """Whether these are complex numbers."""
        return self.kind == "c"

    @property
    def is_signed(self) -> bool:
        """Whether there are negative numbers among them."""
        return self.kind in "ifc"

    def __eq__(self, other: object) -> bool:
        if type(other) is DType:
            return self is other or self.dtype == other.dtype
        if isinstance(other, np.dtype) or is_scalar_type(other):
            return self.dtype == other
        return NotImplemented

    def __hash__(self) -> int:
        return hash(self.dtype)

    def __reduce__(self) -> Any:
        return unpickled_dtype, (self.name,)

    def __repr__(self) -> str:
        return f"minigrad.{self.name}"


def is_scalar_type(value: object) -> bool:
    """Whether this is a class such as ``np.float32``."""
    return isinstance(value, type) and issubclass(value, np.generic)


class _Known(dict[np.dtype[Any], dtype]):
    """The dtype that stands for each of NumPy's: always the same one."""

    def __missing__(self, numpy_dtype: np.dtype[Any]) -> dtype:
        made = self[numpy_dtype] = dtype(numpy_dtype)
        return made


known_dtype = _Known().__getitem__


def unpickled_dtype(name: str) -> dtype:
    """The dtype that pickle stored by its name."""
    return known_dtype(np.dtype(name))


DTYPES: dict[str, dtype] = {
    name: known_dtype(np.dtype(name))
    for name in (
        "bool",
        "uint8",
        "int8",
        "int16",
        "int32",
        "int64",
        "float16",
        "float32",
        "float64",
    )
}

ALIASES = {
    "half": "float16",
    "float": "float32",
    "double": "float64",
    "short": "int16",
    "int": "int32",
    "long": "int64",
}
"""torch's second names; as methods they convert: ``x.double()``."""

TENSOR_TYPES = {
    "float16": "HalfTensor",
    "float32": "FloatTensor",
    "float64": "DoubleTensor",
    "uint8": "ByteTensor",
    "int8": "CharTensor",
    "int16": "ShortTensor",
    "int32": "IntTensor",
    "int64": "LongTensor",
    "bool": "BoolTensor",
}
"""What ``x.type()`` calls a tensor of each dtype, behind ``torch.``."""


class finfo:
    """The limits of a floating-point dtype; without one, of the default dtype.

    Raises: ArgumentTypeError for another dtype.
    See: torch ``finfo``.

    >>> minigrad.finfo(minigrad.float32).eps
    1.1920928955078125e-07
    """

    def __init__(self, type: Any = None) -> None:
        dtype = get_default_dtype() if type is None else np.dtype(type)
        if dtype.kind != "f":
            raise wrong_kind("finfo", "floating point", "iinfo")
        limits = np.finfo(dtype)
        self.dtype = dtype.name
        self.bits = limits.bits
        self.eps = float(limits.eps)
        self.max = float(limits.max)
        self.min = float(limits.min)
        self.tiny = self.smallest_normal = float(limits.tiny)
        self.resolution = float(limits.resolution)

    def __repr__(self) -> str:
        return (
            f"finfo(resolution={self.resolution:g}, min={self.min:g}, "
            f"max={self.max:g}, eps={self.eps:g}, "
            f"smallest_normal={self.smallest_normal:g}, tiny={self.tiny:g}, "
            f"dtype={self.dtype})"
        )


class iinfo:
    """The limits of an integer dtype.

    Raises: ArgumentTypeError for another dtype.
    See: torch ``iinfo``.

    >>> minigrad.iinfo(minigrad.int8).max
    127
    """

    def __init__(self, type: Any) -> None:
        dtype = np.dtype(type)
        if dtype.kind not in "iu":
            raise wrong_kind("iinfo", "integer", "finfo")
        limits = np.iinfo(dtype)
        self.dtype = dtype.name
        self.bits = limits.bits
        self.max = int(limits.max)
        self.min = int(limits.min)

    def __repr__(self) -> str:
        return f"iinfo(min={self.min:g}, max={self.max:g}, dtype={self.dtype})"


def wrong_kind(where: str, kind: str, other: str) -> errors.ArgumentTypeError:
    """The error for a dtype that has no such limits."""
    return errors.ArgumentTypeError.at(
        f"minigrad.{where}",
        f"{where}() requires a dtype of {kind} input type",
        f"use minigrad.{other}",
    )


DType = dtype
"""Its name where ``dtype`` is an argument."""


def as_dtype(dtype: Any, where: str) -> np.dtype[Any] | None:
    """A dtype as NumPy knows it; None stays None, and float is float64 as in torch.

    Raises: ArgumentTypeError for text, and for what tensors cannot hold.
    """
    if dtype is None or type(dtype) in NUMPY_DTYPES:
        known: np.dtype[Any] | None = dtype
        return known
    if type(dtype) is DType:
        return dtype.dtype
    chosen: np.dtype[Any] | None = None
    if not isinstance(dtype, str):
        try:
            chosen = np.dtype(dtype)
        except TypeError:
            chosen = None
    if chosen is None or chosen.name not in DTYPES:
        raise errors.ArgumentTypeError.at(
            f"{where}()",
            "argument 'dtype' must be a dtype such as minigrad.float32, not "
            f"{dtype!r:.40}",
            f"use one of {', '.join(DTYPES)}, each written minigrad.<name>",
        )
    return chosen


NUMPY_DTYPES = frozenset(type(known.dtype) for known in DTYPES.values())


def can_cast(from_: Any, to: Any) -> bool:
    """Whether a result of dtype ``from_`` may be written into a tensor of ``to``.

    It may go to a wider or narrower dtype, but not back from floats to integers, or
    from anything else to bool.
    See: torch ``can_cast``.
    """
    source, target = np.dtype(from_), np.dtype(to)
    order = "b", "ui", "f", "c"
    ranks = [
        next(i for i, kinds in enumerate(order) if dtype.kind in kinds)
        for dtype in (source, target)
    ]
    return ranks[0] <= ranks[1]


_default_dtype = np.dtype("float32")


def get_default_dtype() -> DType:
    """The dtype of tensors made from Python floats."""
    return known_dtype(_default_dtype)


def default_dtype() -> np.dtype[Any]:
    """The same as NumPy knows it."""
    return _default_dtype


def set_default_dtype(dtype: Any) -> None:
    """Choose the dtype of tensors made from Python floats: float32 or float64.

    Raises: ArgumentTypeError for anything but a floating-point dtype.
    """
    global _default_dtype
    chosen = np.dtype(dtype)
    if chosen.kind != "f":
        raise errors.ArgumentTypeError.at(
            "set_default_dtype",
            f"only floating-point types are supported as the default type, not "
            f"{chosen}",
            "use minigrad.float32 or minigrad.float64",
        )
    _default_dtype = chosen


def check_can_require_grad(dtype: np.dtype[Any], where: str) -> None:
    """Refuse a gradient for elements that cannot change by a little.

    Raises: RequiresGradError unless ``dtype`` is floating point. Complex numbers are
    refused too, unlike in torch: no rule here conjugates, so theirs would be wrong.
    """
    if dtype.kind == "c":
        raise errors.RequiresGradError.at(
            where,
            f"this version of minigrad has no gradients of {dtype} numbers",
            "keep the real and the imaginary part in two tensors",
        )
    if dtype.kind != "f":
        raise errors.RequiresGradError.at(
            where,
            "only Tensors of floating point and complex dtype can require "
            f"gradients, this one is {dtype}",
            "make it floating point, for example tensor(3.0) or x.to(float32)",
        )
