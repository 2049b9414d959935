"""Comparisons: elementwise, to bools, without a gradient."""

from __future__ import annotations

from typing import Any

import numpy as np

from minigrad.engine.builtin import Builtin
from minigrad.engine.core.tensor import Tensor
from minigrad.engine.promotion import promoted
from minigrad.ops._registry import OPERATORS, add_method, answer

SAMPLES = [([1.0, 2.0, 3.0], [3.0, 2.0, 1.0]), ([1.0, 2.0], 1.5)]


def comparison(name: str, compare: Any, symbol: str) -> type[Builtin]:
    """One comparison, registered; the operator has its name."""

    def forward(input: Any, other: Any) -> Any:
        return compare(*promoted(input, other))

    doc = f"input {symbol} other, elementwise, as bools."
    row = {"reference": compare, "samples": SAMPLES, "operator": name}
    return answer(name, forward, doc=doc, **row)


Eq = comparison("eq", np.equal, "==")
Ne = comparison("ne", np.not_equal, "!=")


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

Lt = comparison("lt", np.less, "<")
Le = comparison("le", np.less_equal, "<=")
Gt = comparison("gt", np.greater, ">")
Ge = comparison("ge", np.greater_equal, ">=")
