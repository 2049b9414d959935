"""More functions of one number: each a row of value, samples and rule."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from minigrad.engine.builtin import Builtin
from minigrad.engine.core.tensor import Array, Tensor
from minigrad.engine.errstate import quietly
from minigrad.engine.promotion import as_floating, promoted
from minigrad.kernels import elementwise
from minigrad.ops._refusals import check_array
from minigrad.ops._registry import IN_PLACE, add_method, alias, composite, op
from minigrad.ops.arithmetic import keep_operands, operands
from minigrad.ops.elementwise import (
    ABOVE_ONE,
    ANY,
    POSITIVE,
    SMALL,
    ByParts,
    Exp,
    like,
    of_input,
    of_output,
    plain,
)

LOG_2, LOG_10 = math.log(2), math.log(10)
ERROR_SLOPE = 2 / math.sqrt(math.pi)


Rsqrt = of_output(
    "rsqrt",
    lambda x: 1 / np.sqrt(x),
    "1 / sqrt(input)",
    POSITIVE,
    lambda g, y: g * (y * y * y * -0.5),
)
Expm1 = of_output(
    "expm1",
    np.expm1,
    "e**input - 1, exact for small input",
    ANY,
    lambda g, y: g * (y + 1),
)
Exp2 = of_output("exp2", np.exp2, "2**input", ANY, lambda g, y: g * (y * LOG_2))
Log1p = of_input(
    "log1p",
    np.log1p,
    "log(1 + input), exact for small input",
    SMALL,
    lambda g, x: g / (x + 1),
    node_name="Log1PBackward0",
)
Log2 = of_input(
    "log2", np.log2, "The logarithm to base 2", POSITIVE, lambda g, x: g / (x * LOG_2)
)
Log10 = of_input(
    "log10",
    np.log10,
    "The logarithm to base 10",
    POSITIVE,
    lambda g, x: g / (x * LOG_10),
)
Tan = of_output("tan", np.tan, "The tangent", SMALL, lambda g, y: g * (y * y + 1))
Asin = of_input(
    "asin",
    np.arcsin,
    "The angle whose sine is the input",
    SMALL,
    lambda g, x: g * Rsqrt.of(1 - x * x),
)
Acos = of_input(
    "acos",
    np.arccos,
    "The angle whose cosine is the input",
    SMALL,
    lambda g, x: -g * Rsqrt.of(1 - x * x),
)
Atan = of_input(
    "atan",
    np.arctan,
    "The angle whose tangent is the input",
    ANY,
    lambda g, x: g / (x * x + 1),
)
Sinh = of_input(
    "sinh", np.sinh, "The hyperbolic sine", ANY, lambda g, x: g * Cosh.of(x)
)
Cosh: type[Builtin] = of_input(
    "cosh", np.cosh, "The hyperbolic cosine", ANY, lambda g, x: g * Sinh.of(x)
)
Asinh = of_input(
    "asinh",
    np.arcsinh,
    "The number whose hyperbolic sine is the input",
    ANY,
    lambda g, x: g * Rsqrt.of(x * x + 1),
)
Acosh = of_input(
    "acosh",
    np.arccosh,
    "The number whose hyperbolic cosine is the input",
    ABOVE_ONE,
    lambda g, x: g * Rsqrt.of(x * x - 1),
)
Atanh = of_input(
    "atanh",
    np.arctanh,
    "The number whose hyperbolic tangent is the input",
    SMALL,
    lambda g, x: g / (1 - x * x),
)
Erf = of_input(
    "erf",
    elementwise.erf,
    "The error function",
    ANY,
    lambda g, x: g * Exp.of(-(x * x)) * ERROR_SLOPE,
    reference=np.vectorize(math.erf),
)
Erfc = of_input(
    "erfc",
    elementwise.erfc,
    "1 - erf(input), exact also where that is small",
    ANY,
    lambda g, x: g * Exp.of(-(x * x)) * -ERROR_SLOPE,
    reference=np.vectorize(math.erfc),
)


@op(
    "atan2",
    reference=np.arctan2,
    samples=[([1.0, -2.0, 0.5], [0.5, -1.0, 2.0]), ([[1.0], [2.0]], [0.5, -3.0])],
    in_place=True,
)
class Atan2(ByParts):
    """The angle of the point (other, input), from -pi to pi; at (0, 0) it has slope 0.

    >>> minigrad.atan2(minigrad.tensor([1.0, -1.0]), minigrad.tensor([1.0, -1.0]))
    tensor([ 0.7854, -2.3562])
    """

    elementwise = True
    operands = 2
    saved_names = ("other", "self")

    @staticmethod
    @quietly
    def forward(input: Array, other: Array) -> Any:
        check_array("atan2", "other", 2, other)
        a, b = promoted(input, other)
        return np.arctan2(as_floating(a), as_floating(b))

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: Tensor) -> None:
        keep_operands(ctx, inputs)

    @staticmethod
    def parts(ctx: Any, *moved: Any) -> Any:
        y, x = operands(ctx)
        squares = x * x + y * y
        squares = squares + like(squares, plain(squares) == 0)
        by_y, by_x = moved
        return (
            None if by_y is None else by_y * (x / squares),
            None if by_x is None else by_x * (-y / squares),
        )


for short, long in {
    "arctan2": "atan2",
    "arcsin": "asin",
    "arccos": "acos",
    "arctan": "atan",
    "arcsinh": "asinh",
    "arccosh": "acosh",
    "arctanh": "atanh",
    "absolute": "abs",
    "negative": "neg",
    "multiply": "mul",
    "subtract": "sub",
    "divide": "div",
    "true_divide": "div",
}.items():
    alias(short, long)


@composite("square", reference=np.square, samples=ANY)
def square(input: Tensor) -> Tensor:
    """input ** 2, elementwise.

    >>> minigrad.tensor([1.0, -3.0]).square()
    tensor([1., 9.])
    """
    return input**2


def square_(self: Tensor) -> Tensor:
    """input ** 2, written into this tensor's own memory."""
    result: Tensor = self.pow_(2)
    return result


add_method("square_", square_, IN_PLACE)
