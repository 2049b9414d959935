"""What a tensor says of itself without computing: shape, dtype, device, memory."""

from __future__ import annotations

import math
import operator
from typing import TYPE_CHECKING, Any, SupportsIndex, cast, overload

import numpy as np

from minigrad import errors
from minigrad.engine.device import CPU
from minigrad.engine.device import device as Device
from minigrad.engine.dtypes import TENSOR_TYPES, DType, known_dtype
from minigrad.engine.interpreters import dispatched

if TYPE_CHECKING:
    from minigrad.engine.core.tensor import Array, Tensor


class Size(tuple[int, ...]):
    """A shape: a tuple of lengths that prints as torch's does.

    >>> minigrad.ones(2, 3).shape
    minigrad.Size([2, 3])
    >>> minigrad.ones(2, 3).shape == (2, 3)
    True
    """

    __slots__ = ()

    def numel(self) -> int:
        """The number of elements of a tensor of this shape."""
        return math.prod(self)

    @overload
    def __getitem__(self, index: SupportsIndex) -> int: ...
    @overload
    def __getitem__(self, index: slice) -> Size: ...
    def __getitem__(self, index: Any) -> Any:
        item = tuple.__getitem__(self, index)
        return Size(item) if isinstance(index, slice) else item

    def __add__(self, other: Any) -> Any:
        if not isinstance(other, tuple):
            return NotImplemented
        return Size((*self, *other))

    def __radd__(self, other: Any) -> Any:
        if not isinstance(other, tuple):
            return NotImplemented
        return Size((*other, *self))

    def __mul__(self, times: SupportsIndex) -> Size:
        return Size(tuple.__mul__(self, times))

    __rmul__ = __mul__

    def __repr__(self) -> str:
        return f"minigrad.Size({list(self)})"


class TensorProperties:
    """Base of Tensor: the questions that its array answers."""

    __slots__ = ()

    array: Array

    @property
    def shape(self) -> Size:
        """The length along each dimension."""
        return Size(self.array.shape)

    @property
    def dtype(self) -> DType:
        """The type of the elements."""
        return known_dtype(self.array.dtype)

    @property
    def device(self) -> Device:
        """Where the elements lie: always the processor's memory."""
        return CPU

    ndim: int = property(  # type: ignore[assignment]  # nothing of Python's runs
        operator.attrgetter("array.ndim"), doc="The number of dimensions."
    )

    def dim(self) -> int:
        """The number of dimensions."""
        return self.array.ndim

    ndimension = dim

    def numel(self) -> int:
        """The number of elements."""
        return self.array.size

    nelement = numel

    @property
    def T(self) -> Tensor:
        """The dimensions in reverse order: rows and columns of a matrix exchanged."""
        tensor = cast("Tensor", self)
        return tensor.permute(*range(self.ndim - 1, -1, -1))

    @property
    def mT(self) -> Tensor:
        """Each matrix with rows and columns exchanged.

        Raises: ShapeError for fewer than two dimensions.
        """
        if self.ndim < 2:
            raise errors.ShapeError.at(
                "Tensor.mT",
                "tensor.mT is only supported on matrices or batches of matrices. "
                f"Got {self.ndim}-D tensor.",
                "use x.T, or x.reshape(-1, 1) for a column",
            )
        return cast("Tensor", self).transpose(-2, -1)

    H = mT

    def __len__(self) -> int:
        return _length(self.array)

    def size(self, dim: int | None = None) -> Any:
        """The shape, or the length along ``dim``.

        Raises: DimensionError for a dimension that is not there.
        """
        if dim is None:
            return self.shape
        return self.array.shape[_existing(self.array, dim)]

    def stride(self, dim: int | None = None) -> Any:
        """How many elements to go on in memory for one step along each dimension."""
        steps = tuple([step // self.array.itemsize for step in self.array.strides])
        return steps if dim is None else steps[_existing(self.array, dim)]

    def storage_offset(self) -> int:
        """How many elements of the memory lie before the first of this tensor."""
        whole: Any = self.array
        while whole.base is not None:
            # What as_strided made names the array whose memory it lies in.
            base = getattr(whole.base, "owner", whole.base)
            if not isinstance(base, np.ndarray):
                break
            whole = base
        first = whole.__array_interface__["data"][0]
        return int(self.data_ptr() - first) // self.array.itemsize

    def data_ptr(self) -> int:
        """The address of the first element."""
        return int(self.array.__array_interface__["data"][0])

    def element_size(self) -> int:
        """The number of bytes of one element."""
        return self.array.itemsize

    @property
    def itemsize(self) -> int:
        """The number of bytes of one element."""
        return self.array.itemsize

    @property
    def nbytes(self) -> int:
        """The number of bytes of all elements."""
        return self.array.nbytes

    def is_contiguous(self) -> bool:
        """Whether the elements lie in memory row after row, without gaps."""
        return bool(self.array.flags.c_contiguous)

    def is_floating_point(self) -> bool:
        """Whether the elements are floating-point numbers."""
        return bool(self.array.dtype.kind == "f")

    def is_complex(self) -> bool:
        """Whether the elements are complex numbers."""
        return bool(self.array.dtype.kind == "c")

    def is_signed(self) -> bool:
        """Whether the dtype has negative numbers."""
        return self.array.dtype.kind in "ifc"

    def is_same_size(self, other: Tensor) -> bool:
        """Whether ``other`` has the same shape."""
        return bool(self.array.shape == other.array.shape)

    def get_device(self) -> int:
        """The number of the device: -1 for the processor."""
        return -1

    is_cpu = property(lambda self: True, doc="Whether it is in the processor's memory.")
    is_cuda = property(lambda self: False, doc="Whether it is on a graphics card.")
    is_sparse = property(lambda self: False, doc="Whether zeros are left out.")

    @dispatched("read_values")
    def tolist(self) -> Any:
        """The elements as nested lists of Python numbers."""
        return self.array.tolist()

    def _type_name(self) -> str:
        """torch's name for a tensor of this dtype, as ``type()`` gives it."""
        name = self.array.dtype.name
        return f"torch.{TENSOR_TYPES.get(name, name + 'Tensor')}"


def _length(array: Array) -> int:
    if array.ndim == 0:
        raise errors.ArgumentTypeError.at(
            "len", "len() of a 0-d tensor", "use numel() for its one element"
        )
    return len(array)


def _existing(array: Array, dim: int) -> int:
    """``dim``, if it is there.

    Raises: DimensionError, with the range that exists.
    """
    if not -array.ndim <= dim < array.ndim:
        most = max(array.ndim, 1)
        raise errors.DimensionError.at(
            "dim",
            f"Dimension out of range (expected to be in range of [{-most}, "
            f"{most - 1}], but got {dim}); the shape is {array.shape}",
            "count dimensions from 0, or from -1 for the last",
        )
    return dim
