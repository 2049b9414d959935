"""More functions of one number: each a line of value, slope and samples."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from minigrad.engine._tensor_methods import TensorMethods
from minigrad.engine.builtin import Builtin
from minigrad.engine.promotion import as_floating, quietly
from minigrad.engine.tensor import Tensor
from minigrad.ops import functions
from minigrad.ops._registry import IN_PLACE, alias, composite, op

Slope = Callable[[Any], Any]

SMALL = [(0.3,), ([-0.6, 0.1, 0.4],)]
ANY = [(0.5,), ([-2.0, 0.3, 1.5],)]
POSITIVE = [(0.5,), ([0.1, 1.0, 20.0],)]
ABOVE_ONE = [(1.5,), ([1.1, 2.0, 30.0],)]


def function(
    name: str,
    compute: Callable[..., Any],
    says: str,
    *,
    of_input: Slope | None = None,
    of_output: Slope | None = None,
    samples: list[tuple[Any, ...]],
    node_name: str = "",
) -> type[Builtin]:
    """One elementwise function, registered; its slope is computed from what it saves.

    The slope is that of the input or of the output, whichever is given.
    """
    slope: Any = of_output if of_input is None else of_input

    class Function(Builtin):
        elementwise = True
        saved_names = ("result" if of_input is None else "self",)

        @staticmethod
        @quietly
        def forward(input: Any) -> Any:
            return compute(as_floating(input))

        @staticmethod
        def setup_context(ctx: Any, inputs: tuple[Any, ...], output: Tensor) -> None:
            ctx.save_for_backward(output if of_input is None else inputs[0])

        @staticmethod
        def backward(ctx: Any, grad: Any) -> Any:
            (saved,) = ctx.saved_values
            return grad * slope(saved)

        @staticmethod
        def jvp(ctx: Any, tangent: Any) -> Any:
            (saved,) = ctx.saved_values
            return tangent * slope(saved)

    Function.__name__ = Function.__qualname__ = name.capitalize()
    Function.__doc__ = f"{says}, elementwise."
    return op(
        name,
        node_name=node_name or f"{name.capitalize()}Backward0",
        reference=compute,
        samples=samples,
        in_place=True,
    )(Function)


Rsqrt = function(
    "rsqrt",
    lambda x: 1 / np.sqrt(x),
    "1 / sqrt(input)",
    of_output=lambda y: y * y * y * -0.5,
    samples=POSITIVE,
)
Expm1 = function(
    "expm1",
    np.expm1,
    "e**input - 1, exact for small input",
    of_output=lambda y: y + 1,
    samples=ANY,
)
Exp2 = function(
    "exp2",
    np.exp2,
    "2**input",
    of_output=lambda y: y * math.log(2),
    samples=ANY,
)
Log1p = function(
    "log1p",
    np.log1p,
    "log(1 + input), exact for small input",
    of_input=lambda x: 1 / (x + 1),
    samples=SMALL,
    node_name="Log1PBackward0",
)
Log2 = function(
    "log2",
    np.log2,
    "The logarithm to base 2",
    of_input=lambda x: 1 / (x * math.log(2)),
    samples=POSITIVE,
)
Log10 = function(
    "log10",
    np.log10,
    "The logarithm to base 10",
    of_input=lambda x: 1 / (x * math.log(10)),
    samples=POSITIVE,
)
Tan = function(
    "tan", np.tan, "The tangent", of_output=lambda y: y * y + 1, samples=SMALL
)
Asin = function(
    "asin",
    np.arcsin,
    "The angle whose sine is the input",
    of_input=lambda x: Rsqrt.of(1 - x * x),
    samples=SMALL,
)
Acos = function(
    "acos",
    np.arccos,
    "The angle whose cosine is the input",
    of_input=lambda x: -Rsqrt.of(1 - x * x),
    samples=SMALL,
)
Atan = function(
    "atan",
    np.arctan,
    "The angle whose tangent is the input",
    of_input=lambda x: 1 / (x * x + 1),
    samples=ANY,
)
Sinh = function(
    "sinh",
    np.sinh,
    "The hyperbolic sine",
    of_input=lambda x: functions.cosh(x) if isinstance(x, Tensor) else np.cosh(x),
    samples=ANY,
)
Cosh = function(
    "cosh",
    np.cosh,
    "The hyperbolic cosine",
    of_input=lambda x: Sinh.of(x),
    samples=ANY,
)
Asinh = function(
    "asinh",
    np.arcsinh,
    "The number whose hyperbolic sine is the input",
    of_input=lambda x: Rsqrt.of(x * x + 1),
    samples=ANY,
)
Acosh = function(
    "acosh",
    np.arccosh,
    "The number whose hyperbolic cosine is the input",
    of_input=lambda x: Rsqrt.of(x * x - 1),
    samples=ABOVE_ONE,
)
Atanh = function(
    "atanh",
    np.arctanh,
    "The number whose hyperbolic tangent is the input",
    of_input=lambda x: 1 / (1 - x * x),
    samples=SMALL,
)

for short, long in {
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


for method in (square_,):
    setattr(TensorMethods, method.__name__, method)
    IN_PLACE[method.__name__] = method
