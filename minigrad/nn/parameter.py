"""The tensors of a model that training changes."""

from __future__ import annotations

from typing import Any

from minigrad import errors
from minigrad.engine.core.tensor import Tensor
from minigrad.engine.creation import empty


class Parameter(Tensor):
    """A tensor that a module lists among its parameters when it becomes an attribute.

    A leaf on the memory of ``data``, also under ``no_grad``. What is computed from it
    are plain tensors.
    Raises: ModuleAttributeError unless ``data`` is a tensor.
    See: torch ``nn.Parameter``.

    >>> minigrad.nn.Parameter(minigrad.tensor([1.0, 2.0]))
    Parameter containing:
    tensor([1., 2.], requires_grad=True)
    """

    __slots__ = ()

    def __init__(self, data: Tensor | None = None, requires_grad: bool = True) -> None:
        if data is None:
            data = empty(0)
        if not isinstance(data, Tensor):
            raise errors.ModuleAttributeError.at(
                "nn.Parameter",
                f"'{type(data).__name__}' object has no attribute 'detach': it is "
                "no tensor",
                "wrap it: nn.Parameter(minigrad.tensor(value))",
            )
        super().__init__(data.array)
        self._share_version(data)
        self._remember_memory(data)
        if requires_grad:
            self.requires_grad = True

    def __copy__(self) -> Parameter:
        """Another parameter on the same memory."""
        return type(self)(self.data, self.requires_grad)

    def __deepcopy__(self, memo: dict[int, Any]) -> Parameter:
        """A parameter with a copy of the values, and without ``.grad``."""
        copied = type(self)(Tensor(self.array.copy()), self.requires_grad)
        memo[id(self)] = copied
        return copied

    def __reduce_ex__(self, protocol: Any) -> Any:
        return unpickled_parameter, (self.data, self.requires_grad)

    def __repr__(self) -> str:
        return f"Parameter containing:\n{super().__repr__()}"


def unpickled_parameter(data: Tensor, requires_grad: bool) -> Parameter:
    """The parameter that pickle stored as these two."""
    return Parameter(data, requires_grad)
