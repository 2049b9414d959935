"""The four operations, powers and the sign."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np

from minigrad.engine.builtin import Builtin
from minigrad.engine.core.tensor import Tensor
from minigrad.engine.errstate import quietly
from minigrad.engine.memory_order import in_rows
from minigrad.engine.promotion import as_floating, promoted, refuse_bools
from minigrad.engine.structural import Add, total
from minigrad.ops import functions
from minigrad.ops._registry import op, recorded_as
from minigrad.ops.elementwise import ByParts, Log, like, plain, product_rule

PAIRS = [
    (1.5, -2.0),
    ([1.0, -2.0, 0.5], [3.0, 0.25, -4.0]),
    ([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]], [0.5, -1.0, 2.0]),
    ([[1.0], [2.0]], [[3.0, 4.0, 5.0]]),
]


@recorded_as("AddBackward0")
class AddScaled(Builtin):
    """input + alpha * other."""

    elementwise = True
    operands = 2

    @staticmethod
    def forward(input: Any, other: Any, alpha: Any) -> Any:
        return Add.forward(input, Mul.forward(other, alpha))

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: Tensor) -> None:
        ctx.alpha = inputs[2]

    @staticmethod
    def backward(ctx: Any, grad: Any) -> Any:
        return grad, grad * ctx.alpha if ctx.needs_input_grad[1] else None, None

    @staticmethod
    def jvp(ctx: Any, t_input: Any, t_other: Any, t_alpha: Any) -> Any:
        return total(t_input, None if t_other is None else t_other * ctx.alpha)


@recorded_as("SubBackward0")
class SubScaled(AddScaled):
    """input - alpha * other."""


AddScaled.__name__, SubScaled.__name__ = "Add", "Sub"


def add_keywords(input: Any, other: Any, *, alpha: Any = 1) -> Any:
    """``add(x, y, alpha=2)``: a factor for what is added."""
    return (Add, (input, other)) if alpha == 1 else (AddScaled, (input, other, alpha))


def sub_keywords(input: Any, other: Any, *, alpha: Any = 1) -> Any:
    """``sub(x, y, alpha=2)``: a factor for what is subtracted."""
    return (Sub, (input, other)) if alpha == 1 else (SubScaled, (input, other, -alpha))


op(
    "add",
    node_name="AddBackward0",
    reference=np.add,
    samples=PAIRS,
    operator="add",
    in_place=True,
    keywords=add_keywords,
)(Add)


@op(
    "sub",
    reference=np.subtract,
    samples=PAIRS,
    operator="sub",
    keywords=sub_keywords,
    reflected=lambda self, other: functions.rsub(self, other),
    in_place=True,
)
class Sub(Builtin):
    """input - other, elementwise, stretched to a common shape.

    >>> minigrad.tensor([1.0, 2.0]) - 10
    tensor([-9., -8.])
    """

    elementwise = True
    ufunc = np.subtract
    operands = 2

    @staticmethod
    def forward(input: Any, other: Any) -> Any:
        for operand in (input, other):
            if isinstance(operand, np.ndarray):
                refuse_bools("sub: Subtraction, the `-` operator,", operand)
            elif isinstance(operand, bool):
                refuse_bools("sub: Subtraction of a bool", np.asarray(operand))
        return np.subtract(*promoted(input, other))

    @staticmethod
    def backward(ctx: Any, grad: Any) -> Any:
        return grad, -grad

    @staticmethod
    def jvp(ctx: Any, t_input: Any, t_other: Any) -> Any:
        return total(t_input, None if t_other is None else -t_other)


@op(
    "rsub",
    node_name=lambda input, other: f"RsubBackward{0 + (not isinstance(other, Tensor))}",
    reference=lambda x, y: np.subtract(y, x),
    samples=[*PAIRS, ([1.0, -2.0], 3)],
)
class Rsub(Builtin):
    """other - input: what ``3 - x`` calls.

    >>> 10 - minigrad.tensor([1.0, 2.0])
    tensor([9., 8.])
    """

    elementwise = True

    @staticmethod
    def forward(input: Any, other: Any) -> Any:
        return Sub.forward(other, input)

    @staticmethod
    def backward(ctx: Any, grad: Any) -> Any:
        return -grad, grad if ctx.needs_input_grad[1] else None

    @staticmethod
    def jvp(ctx: Any, t_input: Any, t_other: Any) -> Any:
        return total(None if t_input is None else -t_input, t_other)


@op("mul", reference=np.multiply, samples=PAIRS, operator="mul", in_place=True)
class Mul(Builtin):
    """input * other, elementwise, stretched to a common shape.

    Saves: each operand that the other's slope is; a Python number stays on ctx.

    >>> minigrad.tensor([1.0, 2.0]) * 10
    tensor([10., 20.])
    """

    tangent_names_operands = True

    elementwise = True
    ufunc = np.multiply
    operands = 2
    saved_names = ("other", "self")

    @staticmethod
    def forward(input: Any, other: Any) -> Any:
        a, b = promoted(input, other)
        return np.multiply(a, b)

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: Tensor) -> None:
        needs_input, needs_other = ctx.needs_input_grad
        keep_operands(ctx, inputs, (needs_other, needs_input))

    @staticmethod
    def backward(ctx: Any, grad: Any) -> Any:
        # Each was kept only if the other needs a gradient.
        input, other = operands(ctx)
        return (
            None if other is None else grad * other,
            None if input is None else grad * input,
        )

    @staticmethod
    def jvp(ctx: Any, *tangents: Any) -> Any:
        return product_rule(operator.mul, operands(ctx), tangents)


@op(
    "div",
    reference=np.true_divide,
    samples=PAIRS,
    operator="truediv",
    reflected=lambda self, other: functions.reciprocal(self) * other,
    in_place=True,
)
class Div(ByParts):
    """input / other, elementwise; integers give the default dtype.

    Saves: other, and input if other needs a gradient. Slope: 1 / other, and
    -input / other**2.

    >>> minigrad.tensor([1, 2]) / 4
    tensor([0.2500, 0.5000])
    """

    tangent_names_operands = True

    elementwise = True
    operands = 2
    saved_names = ("other", "self")

    @staticmethod
    @quietly
    def forward(input: Any, other: Any) -> Any:
        a, b = promoted(input, other)
        array = a if isinstance(a, np.ndarray) else b
        if array.dtype.kind not in "fc":
            a, b = as_floating(np.asarray(a)), as_floating(np.asarray(b))
        return np.true_divide(a, b)

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: Tensor) -> None:
        keep_operands(ctx, inputs, (ctx.needs_input_grad[1], True))

    @staticmethod
    def parts(ctx: Any, *moved: Any) -> Any:
        input, other = operands(ctx)
        first, second = moved
        return (
            None if first is None else first / other,
            None if second is None else -second * input / (other * other),
        )


@op(
    "neg",
    reference=np.negative,
    samples=[(2.0,), ([1.0, -2.0],)],
    operator="neg",
    in_place=True,
)
class Neg(Builtin):
    """-input, elementwise.

    >>> -minigrad.tensor([1.0, -2.0])
    tensor([-1.,  2.])
    """

    elementwise = True

    @staticmethod
    def forward(input: Any) -> Any:
        refuse_bools("neg: Negation, the `-` operator,", input)
        return np.negative(input)

    @staticmethod
    def backward(ctx: Any, grad: Any) -> Any:
        return -grad

    jvp = backward


def power_name(input: Any, exponent: Any) -> str:
    """The name of the node: a number is on the right, nowhere, or on the left."""
    if not isinstance(exponent, Tensor):
        return "PowBackward0"
    return "PowBackward1" if isinstance(input, Tensor) else "PowBackward2"


@op(
    "pow",
    node_name=power_name,
    reference=np.power,
    samples=[
        ([0.5, 2.0, 3.0], 3),
        ([-1.0, 2.0], 2),
        ([0.0, 2.0], 0),
        ([0.5, 2.0], -1.5),
        ([0.5, 2.0], [3.0, -1.0]),
        (2.0, [1.0, -1.0]),
    ],
    operator="pow",
    in_place=True,
)
class Pow(ByParts):
    """input ** exponent, elementwise; each may be a Tensor or a number.

    Saves: both, and the output if the exponent is a Tensor. Slope: exponent *
    input**(exponent - 1), which is 0 for exponent 0 also where the input is 0; for the
    exponent, log(input) * output.

    >>> minigrad.tensor([1.0, 2.0]) ** 3
    tensor([1., 8.])
    """

    elementwise = True
    operands = 2
    saved_names = ("exponent", "self", "result")
    numbers_have_edges = False

    @classmethod
    def _in_memory_order(cls, result: Any, arrays: list[Any]) -> Any:
        if isinstance(arrays[0], np.ndarray):
            return super()._in_memory_order(result, arrays)
        return in_rows(result)

    @staticmethod
    @quietly
    def forward(input: Any, exponent: Any) -> Any:
        a, b = promoted(input, exponent)
        refuse_bools("pow", a if isinstance(a, np.ndarray) else b)
        return np.power(a, b)

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: Tensor) -> None:
        result = output if isinstance(inputs[1], Tensor) else None
        keep_operands(ctx, inputs, (True, True), result)

    @staticmethod
    def parts(ctx: Any, *moved: Any) -> Any:
        input, exponent, result = operands(ctx)
        first, second = moved
        return (
            None if first is None else power_slope(first, input, exponent),
            None if second is None else exponent_slope(second, input, exponent, result),
        )


def power_slope(grad: Any, input: Any, exponent: Any) -> Any:
    """grad * exponent * input**(exponent - 1), and 0 for 0**0."""
    if isinstance(exponent, (int, float)):
        return grad * exponent * input ** (exponent - 1) if exponent else grad * 0
    both_zero = (plain(exponent) == 0) & (plain(input) == 0)
    return grad * exponent * input ** (exponent - 1 + like(exponent, both_zero))


def exponent_slope(grad: Any, input: Any, exponent: Any, result: Any) -> Any:
    """grad * result * log(input), and 0 where a power of 0 is not infinite."""
    at_zero = (plain(input) == 0) & (plain(exponent) >= 0)
    moved = like(exponent, at_zero.astype(exponent.dtype)) + input
    return grad * result * Log.of(moved)


def keep_operands(
    ctx: Any,
    inputs: tuple[Any, ...],
    used: tuple[bool, bool] = (True, True),
    *more: Tensor | None,
) -> None:
    """Save the operands that a slope uses, and more; leave Python numbers on ctx.

    The second operand is saved first, as torch does: hooks see the order.
    """
    first, second = inputs
    if not isinstance(first, Tensor):
        ctx.numbers, first = (first, None), None
    elif not isinstance(second, Tensor):
        ctx.numbers, second = (None, second), None
    uses_first, uses_second = used
    ctx.save_for_backward(
        second if uses_second else None, first if uses_first else None, *more
    )


def operands(ctx: Any) -> tuple[Any, ...]:
    """The two operands, as Tensors, arrays or numbers, and what else was kept."""
    saved = ctx.saved_values
    numbers = ctx.numbers
    if numbers is None and len(saved) == 2:
        return tuple(saved[::-1])
    second, first = saved[:2]
    if numbers is not None:
        first = numbers[0] if first is None else first
        second = numbers[1] if second is None else second
    return (first, second, *saved[2:])
