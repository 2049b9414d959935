"""What stands for an array while a step is recorded: to compute with, not to read."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np

if TYPE_CHECKING:
    from minigrad.nn.replaying.recording import Recording

FACTS = {"shape", "dtype", "ndim", "size", "nbytes", "itemsize", "strides", "flags"}
"""What does not depend on the values, as long as the inputs have their shapes."""

VIEWS = {"T", "mT", "real", "imag"}

READS = {"item", "tolist", "tobytes", "tofile", "dump", "dumps"}

FUNCTIONS_OF_FACTS: set[Callable[..., Any]] = {
    np.can_cast,
    np.may_share_memory,
    np.ndim,
    np.result_type,
    np.shape,
    np.shares_memory,
    np.size,
}


class Noted(np.lib.mixins.NDArrayOperatorsMixin):
    """An array whose values no Python code gets to see.

    It is not a ndarray, so NumPy asks it whenever it meets one: what computes another
    array is noted, and what would copy the values to where nobody notes any more is
    refused. Nothing can leave unnoticed.
    """

    __slots__ = ("_array", "_recording", "_slot")

    def __init__(self, recording: Recording, array: Any, slot: Any = None) -> None:
        self._recording = recording
        self._array = array
        self._slot = slot

    # What isinstance asks: built-in code takes it for an array.
    @property  # type: ignore[misc]  # that of object can be set
    def __class__(self) -> Any:
        return np.ndarray

    def __array_ufunc__(
        self, ufunc: np.ufunc, method: str, *inputs: Any, **options: Any
    ) -> Any:
        function = ufunc if method == "__call__" else getattr(ufunc, method)
        return self._recording.note(function, *inputs, **options)

    def __array_function__(
        self, function: Any, types: Any, args: Any, kwargs: Any
    ) -> Any:
        if function in FUNCTIONS_OF_FACTS:
            return function(*map(real, args), **kwargs)
        return self._recording.note(function, *args, **kwargs)

    def __getattr__(self, name: str) -> Any:
        if name in FACTS:
            return getattr(self._array, name)
        if name in VIEWS:
            return self._recording.note(getattr, self, name)
        method = getattr(type(self._array), name, None)
        if name.startswith("_") or not callable(method):
            raise AttributeError(name)
        if name in READS:
            self._refuse(f".{name}()")
        return lambda *args, **kwargs: self._recording.note(
            method, self, *args, **kwargs
        )

    def __getitem__(self, key: Any) -> Any:
        return self._recording.note(operator.getitem, self, key)

    def __setitem__(self, key: Any, value: Any) -> None:
        self._recording.note(operator.setitem, self, key, value)

    def __len__(self) -> int:
        return len(self._array)

    def __iter__(self) -> Iterator[Any]:
        return iter([self[index] for index in range(len(self))])

    def __repr__(self) -> str:
        return f"<noted {self._array.dtype} of shape {self._array.shape}>"

    def _refuse(self, how: str) -> NoReturn:
        self._recording.refuse(
            f"{how} reads a value of shape {self._array.shape} into Python; a replay "
            "would go on with the value that it had when the step was recorded",
            "return the tensor from the step, and read it outside; in place of `if`, "
            "use minigrad.where",
        )

    def __bool__(self) -> bool:
        self._refuse("if, or bool(),")

    def __float__(self) -> float:
        self._refuse("float()")

    def __int__(self) -> int:
        self._refuse("int()")

    def __complex__(self) -> complex:
        self._refuse("complex()")

    def __index__(self) -> int:
        self._refuse("an index")

    def __contains__(self, value: Any) -> bool:
        self._refuse("in")

    def __array__(self, *args: Any, **options: Any) -> Any:
        self._refuse("numpy.asarray, or another call that copies,")

    def __reduce_ex__(self, protocol: Any) -> Any:
        self._refuse("copy or pickle")


def real(value: Any) -> Any:
    """The array that ``value`` stands for, if it stands for one."""
    return value._array if type(value) is Noted else value


class Drawn(int):
    """A number that was drawn: in each replay another one is."""
