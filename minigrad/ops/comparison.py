"""Comparisons: elementwise, to bools, without a gradient."""

from __future__ import annotations

from typing import Any

import numpy as np

from minigrad.engine.builtin import Builtin
from minigrad.engine.core.tensor import Tensor
from minigrad.engine.promotion import promoted
from minigrad.ops._registry import OPERATORS, add_method, op

SAMPLES = [([1.0, 2.0, 3.0], [3.0, 2.0, 1.0]), ([1.0, 2.0], 1.5)]


def comparison(name: str, operator: str, compare: Any, symbol: str) -> type[Builtin]:
    """One comparison, registered."""

    class Comparison(Builtin):
        elementwise = True

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
    compare = OPERATORS[operator]

    def compared(self: Tensor, other: Any) -> Any:
        if other is None or isinstance(other, str):
            return NotImplemented
        return compare(self, other)

    add_method(operator, compared, OPERATORS, compare)


unlike_anything_else("__eq__")
unlike_anything_else("__ne__")

Lt = comparison("lt", "lt", np.less, "<")
Le = comparison("le", "le", np.less_equal, "<=")
Gt = comparison("gt", "gt", np.greater, ">")
Ge = comparison("ge", "ge", np.greater_equal, ">=")
