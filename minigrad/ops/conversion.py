"""To another dtype, and new tensors in the dtype of one that is there."""

from __future__ import annotations

from typing import Any

import numpy as np

from minigrad import errors
from minigrad.engine import creation
from minigrad.engine.core.tensor import Tensor
from minigrad.engine.device import check_device, device
from minigrad.engine.dtypes import ALIASES, DTYPES, TENSOR_TYPES, DType, as_dtype
from minigrad.engine.interpreters import dispatched
from minigrad.engine.structural import CloneInRows, ToCopy
from minigrad.engine.tensor_properties import Size
from minigrad.ops._registry import op, publish
from minigrad.ops.parts import Alias


def with_dtype(
    input: Tensor,
    *what: Any,
    dtype: Any = None,
    device: Any = None,
    non_blocking: bool = False,
    copy: bool = False,
    memory_format: Any = None,
) -> tuple[Any, ...]:
    """``to(dtype)``, ``to("cpu")``, ``to("cpu", dtype)`` and ``to(tensor)`` alike."""
    for value in what:
        if isinstance(value, Tensor):
            dtype = value.dtype
        elif isinstance(value, bool):
            copy = value
        elif is_device(value):
            check_device(value)
        else:
            dtype = as_dtype(value, "to")
    check_device(device)
    chosen = as_dtype(dtype, "to")
    wanted = input.dtype if chosen is None else chosen
    return (input, wanted, True) if copy else (input, wanted)


def is_device(value: Any) -> bool:
    """Whether ``to`` means a place by it: text, or a device."""
    return isinstance(value, (str, device))


op(
    "to",
    node_name="ToCopyBackward0",
    reference=lambda x, dtype: np.asarray(x, dtype),
    samples=[([1.5, -2.0], np.dtype("float64"))],
    arguments=with_dtype,
)(ToCopy)


def add_conversion(name: str, dtype_name: str) -> None:
    """The method that converts to one dtype, such as ``x.double()``."""

    dtype = np.dtype(dtype_name)

    def convert(self: Tensor) -> Any:
        return ToCopy.apply(self, dtype)

    convert.__name__ = convert.__qualname__ = name
    convert.__doc__ = f"The same values as {dtype}; the tensor itself if it is that."
    convert.__annotations__ = {"return": "Tensor"}
    publish(name, convert, function=False)


for method, dtype_name in (ALIASES | {"bool": "bool", "char": "int8"}).items():
    add_conversion(method, dtype_name)
add_conversion("byte", "uint8")


def change_type(self: Tensor, dtype: Any = None) -> Any:
    """The name of this kind of tensor; with ``dtype``, the tensor converted to it.

    >>> minigrad.ones(2).type()
    'torch.FloatTensor'
    """
    if dtype is None:
        return self._type_name()
    if isinstance(dtype, str):
        kind = dtype.rpartition(".")[2]
        names = [name for name, text in TENSOR_TYPES.items() if text == kind]
        if not names:
            raise errors.ArgumentValueError.at(
                "Tensor.type", f"invalid type: '{dtype}'", "give a dtype"
            )
        dtype = DTYPES[names[0]]
    return ToCopy.apply(self, as_dtype(dtype, "type"))


def type_as(self: Tensor, other: Tensor) -> Any:
    """The same values in the dtype of ``other``."""
    return ToCopy.apply(self, other.dtype)


def cpu(self: Tensor) -> Tensor:
    """The tensor itself: it is in the processor's memory already."""
    return self


def cuda(self: Tensor, device: Any = "cuda") -> Tensor:
    """Always an error: there is no such device.

    Raises: DeviceMissingError.
    """
    check_device("cuda" if device is None else device)
    return self


def contiguous(self: Tensor) -> Any:
    """The tensor itself if its elements lie row after row in memory, else a copy."""
    return self if self.is_contiguous() else CloneInRows.apply(self)


def new_tensor(
    self: Tensor, data: Any, *, dtype: Any = None, requires_grad: bool = False
) -> Tensor:
    """A leaf with a copy of ``data``, in the dtype of this tensor."""
    dtype = dtype or self.dtype
    return creation.tensor(data, dtype=dtype, requires_grad=requires_grad)


@dispatched("one_for_each")
def one_for_each(made: Tensor, pattern: Tensor) -> Tensor:
    """A new tensor; under vmap, one for each example of ``pattern``."""
    return made


def legacy_tensor(dtype: Any, args: tuple[Any, ...]) -> Tensor:
    """What torch's oldest constructors make: by lengths, of a sequence, of a Tensor.

    Raises: ArgumentTypeError for a number in the place of a sequence.
    """
    given = args[0] if len(args) == 1 else Size(args)
    if type(given) is int:
        given = Size((given,))
    if isinstance(given, Size):
        return creation.empty(given or (0,), dtype=dtype)
    if isinstance(given, Tensor):
        if given.dtype != dtype:
            raise errors.ArgumentTypeError.at(
                "new()",
                f"expected a Tensor of dtype {dtype} (got one of {given.dtype})",
                "convert it: x.to(dtype)",
            )
        alias: Tensor = Alias.apply(given, ())
        return alias
    if not hasattr(given, "__len__") or isinstance(given, str):
        raise errors.ArgumentTypeError.at(
            "new()",
            f"data must be a sequence (got {type(given).__name__})",
            "write minigrad.tensor(value) for one number",
        )
    return creation.tensor(given).to(dtype)


class TensorType(type):
    """The type of ``LongTensor`` and its like: calls make tensors of one dtype."""

    dtype: DType

    def __call__(cls, *args: Any) -> Tensor:
        return legacy_tensor(cls.dtype, args)

    def __instancecheck__(cls, value: Any) -> bool:
        return isinstance(value, Tensor) and value.dtype == cls.dtype


def tensor_type(dtype: str) -> TensorType:
    """torch's old constructor of tensors of one dtype, which isinstance takes too."""
    body = {"dtype": DTYPES[dtype], "__module__": "minigrad"}
    return TensorType(TENSOR_TYPES[dtype], (), body)


BoolTensor = tensor_type("bool")
DoubleTensor = tensor_type("float64")
FloatTensor = tensor_type("float32")
LongTensor = tensor_type("int64")


def new(self: Tensor, *args: Any) -> Tensor:
    """A tensor of this dtype: by lengths, of a sequence, or of the memory of another.

    >>> minigrad.tensor([1.5]).new([1, 2])
    tensor([1., 2.])
    """
    return legacy_tensor(self.dtype, args)


def new_full(
    self: Tensor,
    size: Any,
    fill_value: Any,
    *,
    dtype: Any = None,
    requires_grad: bool = False,
) -> Tensor:
    """One value everywhere, in the dtype of this tensor."""
    dtype = dtype or self.dtype
    made = creation.full(size, fill_value, dtype=dtype, requires_grad=requires_grad)
    return one_for_each(made, self)


def add_new(name: str, make: Any) -> None:
    """The method that makes a tensor of a size in this tensor's dtype."""

    def new(
        self: Tensor,
        *size: Any,
        dtype: Any = None,
        device: Any = None,
        requires_grad: bool = False,
    ) -> Tensor:
        dtype = dtype or self.dtype
        result: Tensor = make(
            *size, dtype=dtype, device=device, requires_grad=requires_grad
        )
        return one_for_each(result, self)

    new.__name__ = new.__qualname__ = name
    new.__doc__ = f"As ``{make.__name__}``, in the dtype of this tensor."
    publish(name, new, function=False)


for make in (creation.zeros, creation.ones, creation.empty):
    add_new(f"new_{make.__name__}", make)
for spelled in (type_as, cpu, cuda, contiguous, new, new_tensor, new_full):
    publish(spelled.__name__, spelled, function=False)
publish("type", change_type, function=False)
