"""What Python and NumPy make of a tensor: a number, an array, a text."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

import numpy as np

from minigrad import errors
from minigrad.engine.grad_mode import is_grad_enabled
from minigrad.engine.interpreters import dispatched
from minigrad.engine.printing import tensor_text
from minigrad.engine.tensor_properties import TensorProperties

if TYPE_CHECKING:
    from minigrad.engine.core.tensor import Array, Tensor


class TensorConversions(TensorProperties):
    """The part of Tensor that gives its values to Python."""

    __slots__ = ()

    _requires_grad: bool

    @dispatched("read_values")
    def numpy(self) -> Array:
        """The array itself, not a copy: what is written into it is written here.

        Raises: GraphError while this tensor requires grad and grad mode is on.
        """
        if self._requires_grad and is_grad_enabled():
            raise errors.GraphError.at(
                "Tensor.numpy",
                "Can't call numpy() on Tensor that requires grad. "
                "Use tensor.detach().numpy() instead. What NumPy does with it "
                "would not be recorded",
                "write x.detach().numpy(), or compute with x itself",
            )
        return self.array

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Array:
        array = self.numpy()
        if dtype is not None and array.dtype != dtype:
            return array.astype(dtype)
        return array.copy() if copy else array

    @dispatched("read_values")
    def item(self) -> Any:
        """The one element, as a Python number.

        Raises: ShapeError for a tensor of more or fewer elements.
        """
        if self.array.size != 1:
            raise errors.ShapeError.at(
                "Tensor.item",
                f"a Tensor with {self.array.size} elements cannot be converted "
                f"to Scalar (its shape is {self.array.shape})",
                "use tolist(), or reduce it first, for example with sum()",
            )
        return self.array.item()

    def _only_number(self) -> Any:
        """The one element, for Python's own conversions.

        Raises: ArgumentValueError for a tensor of more or fewer elements.
        """
        if self.numel() != 1:
            raise errors.ArgumentValueError.at(
                "Tensor",
                "only one element tensors can be converted to Python scalars; "
                f"this one has {self.numel()} elements, shape {self.shape}",
                "use tolist(), or reduce it first, for example with sum()",
            )
        return self.item()

    def __float__(self) -> float:
        return float(self._only_number())

    def __int__(self) -> int:
        return int(self._only_number())

    def __complex__(self) -> complex:
        return complex(self._only_number())

    @dispatched("read_values")
    def __index__(self) -> int:
        """The one element of an integer tensor, for ``range`` and indices."""
        if self.array.size != 1 or self.array.dtype.kind not in "biu":
            raise errors.ArgumentTypeError.at(
                "Tensor.__index__",
                "only integer tensors of a single element can be converted to an "
                f"index, this one is {self.dtype} of shape {self.array.shape}",
                "convert it first: int(x)",
            )
        return int(self.array.item())

    @dispatched("read_values")
    def __contains__(self, element: Any) -> bool:
        """Whether an element equals ``element``, a number or a tensor."""
        if not isinstance(element, (TensorConversions, bool, int, float, complex)):
            raise errors.ShapeError.at(
                "in",
                "Tensor.__contains__ only supports Tensor or scalar, but you "
                f"passed in a {type(element)}.",
                "ask for a number: 2.0 in x",
            )
        other = element.array if isinstance(element, TensorConversions) else element
        return bool(np.any(self.array == other))

    @dispatched("read_values")
    def __bool__(self) -> bool:
        if self.array.size != 1:
            raise errors.ShapeError.at(
                "bool",
                "Boolean value of Tensor with more than one value is ambiguous "
                f"(its shape is {self.array.shape})",
                "compare one element, or ask minigrad.equal(a, b)",
            )
        return bool(self.array)

    @dispatched("read_values")
    def __format__(self, spec: str) -> str:
        """One number as Python formats it; anything larger as it prints."""
        if self.ndim == 0:
            return format(self.array.item(), spec)
        return object.__format__(self, spec)

    @dispatched("read_values")
    def __repr__(self) -> str:
        return tensor_text(cast("Tensor", self))
