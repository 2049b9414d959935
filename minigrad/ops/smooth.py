"""More functions of one number: each a line of value, slope and samples."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from minigrad.engine.builtin import Builtin
from minigrad.engine.core.tensor import Array, Tensor
from minigrad.engine.core.validate import must_be_tensor
from minigrad.engine.errstate import quietly
from minigrad.engine.promotion import as_floating, promoted
from minigrad.kernels import elementwise
from minigrad.ops import functions
from minigrad.ops._registry import IN_PLACE, add_method, alias, composite, op
from minigrad.ops.arithmetic import keep_operands, operands
from minigrad.ops.elementwise import (
    ByParts,
    Exp,
    SavesInput,
    SavesOutput,
    computed,
    like,
    plain,
)

Slope = Callable[[Any], Any]

SMALL = [(0.3,), ([-0.6, 0.1, 0.4],)]
ANY = [(0.5,), ([-2.0, 0.3, 1.5],)]
POSITIVE = [(0.5,), ([0.1, 1.0, 20.0],)]
ABOVE_ONE = [(1.5,), ([1.1, 2.0, 30.0],)]


def function(
    name: str,
    compute: Callable[..., Any],
    says: str,
    samples: list[tuple[Any, ...]],
    *,
    of_input: Slope | None = None,
    of_output: Slope | None = None,
    node_name: str = "",
    reference: Callable[..., Any] | None = None,
) -> type[Builtin]:
    """One elementwise function, registered; its slope is computed from what it saves.

    The slope is that of the input or of the output, whichever is given.
    """
    slope: Any = of_output if of_input is None else of_input

    def backward(ctx: Any, grad: Any) -> Any:
        (saved,) = ctx.saved_values
        return grad * slope(saved)

    base: type[Builtin] = SavesOutput if of_input is None else SavesInput
    members = {"backward": staticmethod(backward), "__module__": __name__}
    register = computed(
        compute, samples, reference, doc=f"{says}, elementwise.", node_name=node_name
    )
    return register(type(name.capitalize(), (base,), members))


Rsqrt = function(
    "rsqrt",
    lambda x: 1 / np.sqrt(x),
    "1 / sqrt(input)",
    POSITIVE,
    of_output=lambda y: y * y * y * -0.5,
)
Expm1 = function(
    "expm1",
    np.expm1,
    "e**input - 1, exact for small input",
    ANY,
    of_output=lambda y: y + 1,
)
Exp2 = function("exp2", np.exp2, "2**input", ANY, of_output=lambda y: y * math.log(2))
Log1p = function(
    "log1p",
    np.log1p,
    "log(1 + input), exact for small input",
    SMALL,
    of_input=lambda x: 1 / (x + 1),
    node_name="Log1PBackward0",
)
Log2 = function(
    "log2",
    np.log2,
    "The logarithm to base 2",
    POSITIVE,
    of_input=lambda x: 1 / (x * math.log(2)),
)
Log10 = function(
    "log10",
    np.log10,
    "The logarithm to base 10",
    POSITIVE,
    of_input=lambda x: 1 / (x * math.log(10)),
)
Tan = function("tan", np.tan, "The tangent", SMALL, of_output=lambda y: y * y + 1)
Asin = function(
    "asin",
    np.arcsin,
    "The angle whose sine is the input",
    SMALL,
    of_input=lambda x: Rsqrt.of(1 - x * x),
)
Acos = function(
    "acos",
    np.arccos,
    "The angle whose cosine is the input",
    SMALL,
    of_input=lambda x: -Rsqrt.of(1 - x * x),
)
Atan = function(
    "atan",
    np.arctan,
    "The angle whose tangent is the input",
    ANY,
    of_input=lambda x: 1 / (x * x + 1),
)
Sinh = function(
    "sinh",
    np.sinh,
    "The hyperbolic sine",
    ANY,
    of_input=lambda x: functions.cosh(x) if isinstance(x, Tensor) else np.cosh(x),
)
Cosh = function(
    "cosh", np.cosh, "The hyperbolic cosine", ANY, of_input=lambda x: Sinh.of(x)
)
Asinh = function(
    "asinh",
    np.arcsinh,
    "The number whose hyperbolic sine is the input",
    ANY,
    of_input=lambda x: Rsqrt.of(x * x + 1),
)
Acosh = function(
    "acosh",
    np.arccosh,
    "The number whose hyperbolic cosine is the input",
    ABOVE_ONE,
    of_input=lambda x: Rsqrt.of(x * x - 1),
)
Atanh = function(
    "atanh",
    np.arctanh,
    "The number whose hyperbolic tangent is the input",
    SMALL,
    of_input=lambda x: 1 / (1 - x * x),
)

ERROR_SLOPE = 2 / math.sqrt(math.pi)

Erf = function(
    "erf",
    elementwise.erf,
    "The error function",
    ANY,
    of_input=lambda x: Exp.of(-(x * x)) * ERROR_SLOPE,
    reference=np.vectorize(math.erf),
)
Erfc = function(
    "erfc",
    elementwise.erfc,
    "1 - erf(input), exact also where that is small",
    ANY,
    of_input=lambda x: Exp.of(-(x * x)) * -ERROR_SLOPE,
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
        if not isinstance(other, (np.ndarray, np.generic)):
            raise must_be_tensor("atan2", "other", 2, other)
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
