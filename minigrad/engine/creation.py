"""Making tensors from numbers, lists and arrays."""

from __future__ import annotations

from typing import Any

import numpy as np

from minigrad import errors
from minigrad.engine.tensor import Array, Tensor, check_can_require_grad

Shape = int | tuple[int, ...] | list[int]

_default_dtype = np.dtype("float32")
_generator = np.random.default_rng(0)


def get_default_dtype() -> np.dtype[Any]:
    """The dtype of tensors made from Python floats."""
    return _default_dtype


def set_default_dtype(dtype: Any) -> None:
    """Choose the dtype of tensors made from Python floats: float32 or float64.

    Raises: ArgumentTypeError for anything but a floating-point dtype.
    """
    global _default_dtype
    chosen = np.dtype(dtype)
    if chosen.kind != "f":
        raise errors.ArgumentTypeError(
            errors.message(
                "set_default_dtype",
                f"only floating-point types are supported as the default type, not "
                f"{chosen}",
                "use minigrad.float32 or minigrad.float64",
            )
        )
    _default_dtype = chosen


def tensor(data: Any, *, dtype: Any = None, requires_grad: bool = False) -> Tensor:
    """A new leaf with a copy of ``data``: a number, nested lists, or an array.

    Dtype: that of an array; Python floats give the default dtype, integers int64.
    Raises: ArgumentValueError for lists of unequal length; RequiresGradError if
    ``requires_grad`` is asked of integers.

    >>> tensor([0.5, 2.0], requires_grad=True)
    tensor([0.5000, 2.0000], requires_grad=True)
    """
    return _leaf(np.array(_as_array(data, dtype)), requires_grad, "tensor")


def as_tensor(data: Any, dtype: Any = None) -> Tensor:
    """A tensor that shares the memory of ``data`` where that is possible."""
    if isinstance(data, Tensor) and (dtype is None or data.dtype == dtype):
        return data
    return Tensor(_as_array(data, dtype))


def from_numpy(array: Array) -> Tensor:
    """A tensor on the memory of ``array``: writing into one changes the other."""
    if not isinstance(array, np.ndarray):
        raise errors.ArgumentTypeError(
            errors.message(
                "from_numpy",
                f"expected np.ndarray (got {type(array).__name__})",
                "use tensor(...) for numbers and lists",
            )
        )
    check_are_numbers(array, "from_numpy")
    return Tensor(array)


def zeros(*size: Any, dtype: Any = None, requires_grad: bool = False) -> Tensor:
    """A tensor of zeros: ``zeros(2, 3)`` or ``zeros((2, 3))``."""
    return _filled(size, 0, dtype, requires_grad, "zeros")


def ones(*size: Any, dtype: Any = None, requires_grad: bool = False) -> Tensor:
    """A tensor of ones: ``ones(2, 3)`` or ``ones((2, 3))``."""
    return _filled(size, 1, dtype, requires_grad, "ones")


def full(
    size: Shape, fill_value: Any, *, dtype: Any = None, requires_grad: bool = False
) -> Tensor:
    """A tensor of one value everywhere."""
    if dtype is None:
        dtype = _as_array(fill_value, None).dtype
    return _filled((size,), fill_value, dtype, requires_grad, "full")


def zeros_like(input: Tensor, *, dtype: Any = None) -> Tensor:
    """Zeros in the shape and dtype of ``input``."""
    check_is_tensor(input, "zeros_like")
    return Tensor(np.zeros(input.shape, input.dtype if dtype is None else dtype))


def ones_like(input: Tensor, *, dtype: Any = None) -> Tensor:
    """Ones in the shape and dtype of ``input``."""
    check_is_tensor(input, "ones_like")
    return Tensor(np.ones(input.shape, input.dtype if dtype is None else dtype))


def arange(*bounds: Any, dtype: Any = None, requires_grad: bool = False) -> Tensor:
    """``arange(end)``, ``arange(start, end)`` or ``arange(start, end, step)``."""
    array = np.arange(*bounds)
    if dtype is None and array.dtype.kind == "f":
        dtype = _default_dtype
    return _leaf(array.astype(dtype or array.dtype), requires_grad, "arange")


def manual_seed(seed: int) -> None:
    """Start the random numbers of ``rand`` and ``randn`` from ``seed``."""
    global _generator
    _generator = np.random.default_rng(seed)


def rand(*size: Any, dtype: Any = None, requires_grad: bool = False) -> Tensor:
    """Random numbers, even between 0 and 1."""
    array = _generator.random(_size(size)).astype(dtype or _default_dtype)
    return _leaf(array, requires_grad, "rand")


def randn(*size: Any, dtype: Any = None, requires_grad: bool = False) -> Tensor:
    """Random numbers, normal with mean 0 and standard deviation 1."""
    array = _generator.standard_normal(_size(size)).astype(dtype or _default_dtype)
    return _leaf(array, requires_grad, "randn")


def _filled(
    size: tuple[Any, ...], value: Any, dtype: Any, requires_grad: bool, where: str
) -> Tensor:
    array = np.full(_size(size), value, dtype or _default_dtype)
    return _leaf(array, requires_grad, where)


def _leaf(array: Any, requires_grad: bool, where: str) -> Tensor:
    result = Tensor(array)
    if requires_grad:
        check_can_require_grad(result.dtype, where)
        result._requires_grad = True
    return result


def _size(size: tuple[Any, ...]) -> tuple[int, ...]:
    """One tuple, whether the lengths came one by one or together."""
    if len(size) == 1 and isinstance(size[0], (tuple, list)):
        return tuple(size[0])
    return size


def _as_array(data: Any, dtype: Any) -> Array:
    if isinstance(data, Tensor):
        data = data.array
    if isinstance(data, (np.ndarray, np.generic)):
        check_are_numbers(data, "tensor")
        return np.asarray(data, dtype)
    try:
        array = np.asarray(_without_tensors(data))
    except ValueError as error:
        raise errors.ArgumentValueError(
            errors.message(
                "tensor",
                f"the lists do not all have the same length ({error})",
                "make every row as long as the others",
            )
        ) from None
    if array.dtype.kind not in "biufc":
        raise errors.ArgumentTypeError(
            errors.message(
                "tensor",
                f"cannot make numbers of {type(data).__name__} {data!r:.40}",
                "give a number, nested lists of numbers, or an array",
            )
        )
    if dtype is None and array.dtype.kind == "f":
        dtype = _default_dtype
    return array.astype(dtype) if dtype is not None else array


def check_are_numbers(array: Any, where: str) -> None:
    """Refuse an array of text, objects or dates.

    Raises: ArgumentTypeError.
    """
    if array.dtype.kind not in "biufc":
        raise errors.ArgumentTypeError(
            errors.message(
                where,
                f"can't convert np.ndarray of type numpy.{array.dtype.type.__name__}. "
                "Only bools, integers, floating-point and complex numbers make a "
                "tensor",
                "convert it first, for example array.astype(float)",
            )
        )


def check_is_tensor(input: Any, where: str) -> None:
    """Refuse what is no Tensor.

    Raises: ArgumentTypeError.
    """
    if not isinstance(input, Tensor):
        raise errors.ArgumentTypeError(
            errors.message(
                f"{where}()",
                "argument 'input' (position 1) must be Tensor, not "
                f"{type(input).__name__}",
                "wrap it: minigrad.tensor(value)",
            )
        )


def _without_tensors(data: Any) -> Any:
    """Nested lists in which one-element tensors have become numbers."""
    if isinstance(data, (list, tuple)):
        return [_without_tensors(item) for item in data]
    return data.tolist() if isinstance(data, Tensor) else data
