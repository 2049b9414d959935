"""Comparisons: elementwise, to bools, without a gradient."""

from __future__ import annotations

from typing import Any

import numpy as np

from minigrad.engine._tensor_methods import TensorMethods
from minigrad.engine.builtin import Builtin, must_be_tensor
from minigrad.engine.promotion import promoted
from minigrad.engine.tensor import Tensor
from minigrad.ops._registry import op

SAMPLES = [([1.0, 2.0, 3.0], [3.0, 2.0, 1.0]), ([1.0, 2.0], 1.5)]


def comparison(name: str, operator: str, compare: Any, symbol: str) -> type[Builtin]:
    """One comparison, registered."""

    class Comparison(Builtin):
        @staticmethod
        def forward(input: Any, other: Any) -> Any:
            return compare(*promoted(input, other))

    Comparison.__name__ = Comparison.__qualname__ = name.capitalize()
    Comparison.__doc__ = f"input {symbol} other, elementwise, as bools."
    return op(
        name,
        node_name=f"{name.capitalize()}Backward0",
        reference=compare,
        samples=SAMPLES,
        operator=operator,
        differentiable=False,
    )(Comparison)


Eq = comparison("eq", "eq", np.equal, "==")
Ne = comparison("ne", "ne", np.not_equal, "!=")


def unlike_anything_else(operator: str) -> None:
    """Let ``x == None`` and ``x == "text"`` be False, as for any two objects."""
    compare = getattr(TensorMethods, operator)

    def compared(self: Tensor, other: Any) -> Any:
        if other is None or isinstance(other, str):
            return NotImplemented
        return compare(self, other)

    setattr(TensorMethods, operator, compared)


unlike_anything_else("__eq__")
unlike_anything_else("__ne__")

Lt = comparison("lt", "lt", np.less, "<")
Le = comparison("le", "le", np.less_equal, "<=")
Gt = comparison("gt", "gt", np.greater, ">")
Ge = comparison("ge", "ge", np.greater_equal, ">=")


def check_tensors(where: str, input: Any, other: Any) -> None:
    """Refuse what is no Tensor.

    Raises: ArgumentTypeError.
    """
    for position, name, value in ((1, "input", input), (2, "other", other)):
        if not isinstance(value, Tensor):
            raise must_be_tensor(where, name, position, value)


def equal(input: Tensor, other: Tensor) -> bool:
    """Whether two tensors have the same shape and elements.

    >>> minigrad.equal(minigrad.tensor([1, 2]), minigrad.tensor([1, 2]))
    True
    """
    check_tensors("equal", input, other)
    return np.array_equal(input.array, other.array)


def allclose(
    input: Tensor,
    other: Tensor,
    rtol: float = 1e-05,
    atol: float = 1e-08,
    equal_nan: bool = False,
) -> bool:
    """Whether all elements differ by at most ``atol + rtol * abs(other)``.

    >>> minigrad.allclose(minigrad.tensor([1.0]), minigrad.tensor([1.0 + 1e-7]))
    True
    """
    check_tensors("allclose", input, other)
    return bool(np.allclose(input.array, other.array, rtol, atol, equal_nan))
