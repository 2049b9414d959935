"""Making tensors from numbers, lists and arrays."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from minigrad import errors
from minigrad.engine import memory_order
from minigrad.engine.core.tensor import Array, Tensor
from minigrad.engine.device import check_device
from minigrad.engine.dtypes import as_dtype, check_can_require_grad, default_dtype
from minigrad.engine.grad_mode import _this_thread
from minigrad.engine.interpreters import dispatched
from minigrad.engine.observe import EVERYTHING, notify

Shape = int | tuple[int, ...] | list[int]


def tensor(
    data: Any, *, dtype: Any = None, device: Any = None, requires_grad: bool = False
) -> Tensor:
    """A new leaf with a copy of ``data``: a number, nested lists, or an array.

    Dtype: that of an array; Python floats give the default dtype, integers int64.
    Raises: ArgumentValueError for lists of unequal length; RequiresGradError if
    ``requires_grad`` is asked of integers.

    >>> tensor([0.5, 2.0], requires_grad=True)
    tensor([0.5000, 2.0000], requires_grad=True)
    """
    check_device(device)
    array = np.array(_as_array(data, as_dtype(dtype, "tensor")))
    return leaf(array, requires_grad, "tensor")


def as_tensor(data: Any, dtype: Any = None, device: Any = None) -> Tensor:
    """A tensor that shares the memory of ``data`` where that is possible.

    A Tensor is given back as it is, or converted with its graph.
    """
    check_device(device)
    dtype = as_dtype(dtype, "as_tensor")
    if isinstance(data, Tensor):
        return data if dtype is None else data.to(dtype)
    return Tensor(_as_array(data, dtype))


def from_numpy(ndarray: Array) -> Tensor:
    """A tensor on the memory of an array: writing into one changes the other."""
    if not isinstance(ndarray, np.ndarray):
        raise errors.ArgumentTypeError.at(
            "from_numpy",
            f"expected np.ndarray (got {type(ndarray).__name__})",
            "use tensor(...) for numbers and lists",
        )
    check_are_numbers(ndarray, "from_numpy")
    return Tensor(ndarray)


def zeros(
    *lengths: Any,
    size: Any = None,
    dtype: Any = None,
    device: Any = None,
    requires_grad: bool = False,
) -> Tensor:
    """A tensor of zeros: ``zeros(2, 3)`` or ``zeros((2, 3))``."""
    shape = size_of(lengths, "zeros", size)
    return _filled(shape, 0, dtype, device, requires_grad, "zeros")


def ones(
    *lengths: Any,
    size: Any = None,
    dtype: Any = None,
    device: Any = None,
    requires_grad: bool = False,
) -> Tensor:
    """A tensor of ones: ``ones(2, 3)`` or ``ones((2, 3))``."""
    shape = size_of(lengths, "ones", size)
    return _filled(shape, 1, dtype, device, requires_grad, "ones")


def empty(
    *lengths: Any,
    size: Any = None,
    dtype: Any = None,
    device: Any = None,
    requires_grad: bool = False,
) -> Tensor:
    """A tensor of whatever the memory held: write into it before you read."""
    shape = size_of(lengths, "empty", size)
    return _filled(shape, None, dtype, device, requires_grad, "empty")


def full(
    size: Shape,
    fill_value: Any,
    *,
    dtype: Any = None,
    device: Any = None,
    requires_grad: bool = False,
) -> Tensor:
    """A tensor of one value everywhere."""
    if dtype is None:
        dtype = _as_array(fill_value, None).dtype
    if isinstance(fill_value, Tensor):
        fill_value = fill_value.item()
    shape = size_of((size,), "full")
    return _filled(shape, fill_value, dtype, device, requires_grad, "full")


def eye(
    n: int,
    m: int | None = None,
    *,
    dtype: Any = None,
    device: Any = None,
    requires_grad: bool = False,
) -> Tensor:
    """A matrix with ones on its diagonal, else zeros; square unless ``m`` is given."""
    check_device(device)
    size = size_of((n, n if m is None else m), "eye")
    array = np.eye(*size, dtype=as_dtype(dtype, "eye") or default_dtype())
    return leaf(array, requires_grad, "eye")


def zeros_like(
    input: Tensor, *, dtype: Any = None, device: Any = None, requires_grad: bool = False
) -> Tensor:
    """Zeros in the shape and dtype of ``input``."""
    return _like(input, 0, dtype, device, requires_grad, "zeros_like")


def ones_like(
    input: Tensor, *, dtype: Any = None, device: Any = None, requires_grad: bool = False
) -> Tensor:
    """Ones in the shape and dtype of ``input``."""
    return _like(input, 1, dtype, device, requires_grad, "ones_like")


def empty_like(
    input: Tensor, *, dtype: Any = None, device: Any = None, requires_grad: bool = False
) -> Tensor:
    """Memory in the shape and dtype of ``input``: write before you read."""
    return _like(input, None, dtype, device, requires_grad, "empty_like")


def full_like(
    input: Tensor,
    fill_value: Any,
    *,
    dtype: Any = None,
    device: Any = None,
    requires_grad: bool = False,
) -> Tensor:
    """One value everywhere, in the shape and dtype of ``input``."""
    return _like(input, fill_value, dtype, device, requires_grad, "full_like")


def arange(
    *bounds: Any,
    start: Any = 0,
    end: Any = None,
    step: Any = 1,
    dtype: Any = None,
    device: Any = None,
    requires_grad: bool = False,
) -> Tensor:
    """``arange(end)``, ``arange(start, end)`` or ``arange(start, end, step)``.

    Raises: RangeError for a step of 0 or away from ``end``.
    """
    check_device(device)
    if len(bounds) == 1:
        end = bounds[0]
    elif bounds:
        start, end, step = (*bounds, step)[:3]
    start, end, step = (_number(value) for value in (start, end, step))
    if step == 0 or (end - start) * step < 0:
        what = "step must be nonzero"
        if step:
            what = "upper bound and lower bound inconsistent with step sign"
        raise errors.RangeError.at(
            "arange",
            f"{what}; start is {start}, end {end}, step {step}",
            "give a step that leads from start to end",
        )
    chosen = as_dtype(dtype, "arange")
    if chosen is None:
        floats = any([isinstance(value, float) for value in (start, end, step)])
        chosen = default_dtype() if floats else np.dtype("int64")
    count = max(0, math.ceil((end - start) / step))
    array = (start + step * np.arange(count, dtype=np.int64)).astype(chosen)
    return leaf(array, requires_grad, "arange")


def linspace(
    start: Any,
    end: Any,
    steps: int,
    *,
    dtype: Any = None,
    device: Any = None,
    requires_grad: bool = False,
) -> Tensor:
    """``steps`` numbers at equal distances, both ends among them.

    Raises: RangeError for a negative number of steps.

    >>> linspace(0, 1, 5)
    tensor([0.0000, 0.2500, 0.5000, 0.7500, 1.0000])
    """
    check_device(device)
    if steps < 0:
        raise errors.RangeError.at(
            "linspace",
            f"number of steps must be non-negative, not {steps}",
            "give the number of points",
        )
    chosen = as_dtype(dtype, "linspace") or default_dtype()
    array = np.linspace(_number(start), _number(end), steps).astype(chosen)
    return leaf(array, requires_grad, "linspace")


def _filled(
    shape: tuple[int, ...],
    value: Any,
    dtype: Any,
    device: Any,
    requires_grad: bool,
    where: str,
) -> Tensor:
    check_device(device)
    chosen = as_dtype(dtype, where) or default_dtype()
    return leaf(filled(np.empty(shape, chosen), value), requires_grad, where)


@dispatched("make_like")
def _like(
    input: Tensor,
    value: Any,
    dtype: Any,
    device: Any,
    requires_grad: bool,
    where: str,
) -> Tensor:
    check_is_tensor(input, where)
    check_device(device)
    array = input.array
    chosen = as_dtype(dtype, where) or array.dtype
    memory = memory_order.empty_like(array, chosen)
    return leaf(filled(memory, value), requires_grad, where)


def filled(array: Array, value: Any) -> Array:
    """``array`` with one value everywhere; with None, as the memory is."""
    if value is not None:
        array.fill(value)
    return array


def leaf(array: Any, requires_grad: bool, where: str) -> Tensor:
    """A tensor on ``array``.

    Raises: RequiresGradError if elements of its dtype cannot have a gradient.
    """
    result = Tensor(array)
    if requires_grad:
        check_can_require_grad(result.array.dtype, where)
        result._requires_grad = True
    if _this_thread.mode.observed >= EVERYTHING:
        notify("leaf_created", result)
    return result


def size_of(size: tuple[Any, ...], where: str, keyword: Any = None) -> tuple[int, ...]:
    """One tuple, whether the lengths came one by one, together, or by keyword.

    Raises: ArgumentTypeError for what is no whole number, and without any length;
    RangeError for a negative length.
    """
    if (keyword is None) == (not size):
        what = "got multiple values for argument 'size'"
        if not size:
            what = 'missing 1 required positional argument: "size"'
        fix = f"give it once, for example {where}(2, 3) or {where}(())"
        raise errors.ArgumentTypeError.at(f"{where}()", what, fix)
    size = size or (keyword,)
    if len(size) == 1 and isinstance(size[0], (tuple, list)):
        size = tuple(size[0])
    lengths = []
    for position, length in enumerate(size):
        if isinstance(length, bool) or not hasattr(length, "__index__"):
            raise errors.ArgumentTypeError.at(
                f"{where}()",
                "argument 'size' (position 1) must be tuple of ints, not "
                f"{type(length).__name__} (length {position})",
                f"give whole numbers, for example {where}(2, 3)",
            )
        lengths.append(int(length))
        if lengths[-1] < 0:
            raise errors.RangeError.at(
                where,
                f"Dimension size must be non-negative. Length {position} is {length}",
                "give lengths of 0 or more",
            )
    return tuple(lengths)


def _number(value: Any) -> Any:
    """The Python number in a Tensor or NumPy scalar; a number as it is."""
    return value.item() if hasattr(value, "item") else value


@dispatched("read_values")
def values_of(tensor: Tensor) -> Array:
    """The array of a tensor, for what takes its values to be numbers of the program."""
    return tensor.array


def _as_array(data: Any, dtype: Any) -> Array:
    if isinstance(data, Tensor):
        data = values_of(data)
    if isinstance(data, (np.ndarray, np.generic)):
        check_are_numbers(data, "tensor")
        return np.asarray(data, dtype)
    try:
        array = np.asarray(_without_tensors(data))
    except ValueError as error:
        raise errors.ArgumentValueError.at(
            "tensor",
            f"the lists do not all have the same length ({error})",
            "make every row as long as the others",
        ) from None
    if array.dtype.kind not in "biufc":
        raise errors.ArgumentTypeError.at(
            "tensor",
            f"cannot make numbers of {type(data).__name__} {data!r:.40}",
            "give a number, nested lists of numbers, or an array",
        )
    if dtype is None and array.dtype.kind == "f":
        dtype = default_dtype()
    if dtype is None and array.dtype == np.intp:
        return array.astype(np.int64, copy=False)  # in a browser NumPy's have 32 bits
    return array.astype(dtype) if dtype is not None else array


def check_are_numbers(array: Any, where: str) -> None:
    """Refuse an array of text, objects or dates.

    Raises: ArgumentTypeError.
    """
    if array.dtype.kind not in "biufc":
        raise errors.ArgumentTypeError.at(
            where,
            f"can't convert np.ndarray of type numpy.{array.dtype.type.__name__}. Only "
            "bools, integers, floating-point and complex numbers make a tensor",
            "convert it first, for example array.astype(float)",
        )


def check_is_tensor(input: Any, where: str) -> None:
    """Refuse what is no Tensor.

    Raises: ArgumentTypeError.
    """
    if not isinstance(input, Tensor):
        raise errors.ArgumentTypeError.at(
            f"{where}()",
            f"argument 'input' (position 1) must be Tensor, not {type(input).__name__}",
            "wrap it: minigrad.tensor(value)",
        )


def _without_tensors(data: Any) -> Any:
    """Nested lists in which one-element tensors have become numbers."""
    if isinstance(data, (list, tuple)):
        return [_without_tensors(item) for item in data]
    return data.tolist() if isinstance(data, Tensor) else data
