"""What backward leaves at a tensor: ``.grad``, and what it may be."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any, Final, cast

import numpy as np

from minigrad import errors
from minigrad.engine.dtypes import TENSOR_TYPES, DType, as_dtype, known_dtype
from minigrad.engine.grad_mode import modes
from minigrad.engine.hooks import retain_grad
from minigrad.engine.observe import notify

if TYPE_CHECKING:
    from minigrad.engine.core.node import AccumulateGrad, _FunctionBase
    from minigrad.engine.core.tensor import Array, Tensor


class SameAsTensor:
    """Stands for "whatever the tensor's own dtype is"."""


SAME: Final = SameAsTensor()


class TensorGrad:
    """The part of Tensor that is about its gradient."""

    __slots__ = ()

    # On the class until a tensor sets its own: few tensors have any of them.
    _grad: Tensor | None = None
    _grad_dtype: np.dtype[Any] | SameAsTensor | None = SAME
    _retains_grad = False

    array: Array
    _grad_node: _FunctionBase | None
    _requires_grad: bool

    @property
    def grad(self) -> Tensor | None:
        """What backward has added up for this leaf; None before the first time."""
        if (
            self._grad is None
            and self._grad_node is not None
            and not self._retains_grad
        ):
            warnings.warn(
                errors.message(
                    "Tensor.grad",
                    "The .grad attribute of a Tensor that is not a leaf Tensor is "
                    f"being accessed. This one was made by {self._grad_node.name()}; "
                    "backward() fills the .grad of leaves only",
                    "call retain_grad() on it before backward(), or ask for it with "
                    "minigrad.autograd.grad(output, tensor)",
                    "05",
                ),
                UserWarning,
                stacklevel=2,
            )
        return self._grad

    @grad.setter
    def grad(self, value: Tensor | None) -> None:
        tensor: Any = self  # a cast would be a call each time
        if value is not None:
            check_assigned(tensor, value)
        if modes.observed:
            notify("grad_assigned", tensor, value)
        tensor._grad = value

    @grad.deleter
    def grad(self) -> None:
        cast("Tensor", self).grad = None

    @property
    def grad_dtype(self) -> DType | None:
        """The dtype of ``.grad``: the tensor's own unless set; None allows any.

        Raises: GraphError for a tensor that is no leaf.
        See: torch ``Tensor.grad_dtype``.

        >>> x = minigrad.tensor(2.0, dtype=minigrad.float64, requires_grad=True)
        >>> x.grad_dtype = minigrad.float32
        >>> (x * 3).backward()
        >>> x.grad.dtype
        minigrad.float32
        """
        self._check_is_leaf("accessed")
        wanted = self._wanted_dtype()
        return wanted and known_dtype(wanted)

    @grad_dtype.setter
    def grad_dtype(self, value: Any) -> None:
        self._check_is_leaf("set")
        tensor = cast("Tensor", self)
        if value is not None and not isinstance(value, DType | np.dtype):
            raise errors.GradientKindError.at(
                "Tensor.grad_dtype",
                "grad_dtype must be a torch.dtype or None, but got "
                f"{type(value).__name__}",
                "give a dtype, such as minigrad.float32, or None for any",
            )
        value = as_dtype(value, "grad_dtype")
        grad = tensor._grad
        if grad is not None and value is not None and grad.dtype != value:
            raise errors.GradientKindError.at(
                "Tensor.grad_dtype",
                f"Cannot set grad_dtype to '{kind_of(value)}' because there is "
                f"already a gradient with dtype '{c_name_of(grad.array.dtype)}'",
                "set .grad to None first",
            )
        tensor._grad_dtype = value
        tensor._update_accumulate_node()

    def _wanted_dtype(self) -> np.dtype[Any] | None:
        """``grad_dtype`` as NumPy knows it."""
        wanted = self._grad_dtype
        return self.array.dtype if isinstance(wanted, SameAsTensor) else wanted

    def _check_is_leaf(self, done: str) -> None:
        if cast("Tensor", self).grad_fn is not None:
            raise errors.GraphError.at(
                "Tensor.grad_dtype",
                f"grad_dtype can only be {done} on leaf tensors.",
                "use the leaf that it was computed from",
            )

    def _update_accumulate_node(self) -> None:
        """The leaf's shape or dtype is another now: gradients have to fit that."""
        leaf = cast("Tensor", self)
        node = leaf._living_accumulate_node()
        if node is not None:
            node._output_metadata = ((leaf.array.shape, leaf._wanted_dtype()),)

    def _living_accumulate_node(self) -> AccumulateGrad | None:
        """The leaf's AccumulateGrad node, if a graph uses it."""
        tensor: Any = self
        reference = tensor._accumulate_node
        return None if reference is None else reference()

    def retain_grad(self) -> None:
        """Let backward fill ``.grad`` of this tensor too, though it is no leaf.

        Raises: RequiresGradError for a tensor that does not require grad.
        See: torch ``Tensor.retain_grad``.

        >>> x = minigrad.tensor(2.0, requires_grad=True)
        >>> h = x * 3
        >>> h.retain_grad()
        >>> (h * 5).backward()
        >>> h.grad
        tensor(5.)
        """
        if not self._requires_grad:
            raise errors.RequiresGradError.at(
                "Tensor.retain_grad",
                "can't retain_grad on Tensor that has requires_grad=False",
                "create it, or an input of it, with requires_grad=True",
                "04",
            )
        tensor = cast("Tensor", self)
        if tensor.grad_fn is not None:
            retain_grad(tensor)

    @property
    def retains_grad(self) -> bool:
        """Whether this is no leaf and its ``.grad`` is filled all the same."""
        return self._retains_grad and self._grad_node is not None


def check_assigned(tensor: Tensor, value: Any) -> None:
    """Refuse what cannot be the ``.grad`` of ``tensor``.

    Raises: ArgumentTypeError, GraphError, GradientShapeError, GradientKindError.
    """
    if not isinstance(value, TensorGrad):
        raise errors.ArgumentTypeError.at(
            "Tensor.grad",
            "assigned grad expected to be a Tensor or None but got grad of type "
            f"{type(value).__name__}",
            "assign a Tensor of the same shape and dtype, or None",
        )
    if value is tensor:
        raise errors.GraphError.at(
            "Tensor.grad",
            "can't assign Variable as its own grad",
            "assign another tensor, or None",
        )
    shape, wanted_shape = value.array.shape, tensor.array.shape
    if shape != wanted_shape:
        raise errors.GradientShapeError.at(
            "Tensor.grad",
            f"attempting to assign a gradient of size '{list(shape)}' to a tensor "
            f"of size '{list(wanted_shape)}'",
            "assign a gradient of the tensor's own shape",
        )
    dtype = value.array.dtype
    wanted = tensor._wanted_dtype() if tensor.is_leaf else tensor.array.dtype
    if wanted is not None and dtype != wanted:
        raise errors.GradientKindError.at(
            "Tensor.grad",
            f"attempting to assign a gradient with dtype '{c_name_of(dtype)}' to a "
            f"tensor with grad_dtype '{kind_of(wanted)}'",
            "assign a gradient of that dtype, or set grad_dtype before",
        )


def kind_of(dtype: np.dtype[Any]) -> str:
    """torch's name for a kind of elements in messages."""
    return TENSOR_TYPES.get(dtype.name, dtype.name).removesuffix("Tensor")


def c_name_of(dtype: np.dtype[Any]) -> str:
    """C's name for the type of the elements, which torch shows as well."""
    return {"float32": "float", "float64": "double"}.get(dtype.name, dtype.name)
