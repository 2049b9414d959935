"""Steps: functions whose slope is 0 wherever they have one; and remainders."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from minigrad import errors
from minigrad.engine.builtin import Builtin
from minigrad.engine.core.tensor import Tensor
from minigrad.engine.errstate import quietly
from minigrad.engine.promotion import promoted, refuse_bools
from minigrad.ops._registry import alias, composite, op
from minigrad.ops.arithmetic import keep_operands, operands
from minigrad.ops.elementwise import ByParts, Fill, like, plain

SAMPLES: list[tuple[Any, ...]] = [(1.7,), ([-1.2, 0.3, 2.6],)]


class Step(Builtin):
    """An operation whose slope is 0 at every place where it has one."""

    elementwise = True

    @staticmethod
    def backward(ctx: Any, grad: Any) -> Any:
        # Not grad * 0, which would be nan where the gradient is infinite.
        return Fill.of(grad, 0)

    @staticmethod
    def jvp(ctx: Any, tangent: Any, *more: Any) -> Any:
        return tangent * 0


def step(name: str, compute: Callable[[Any], Any], says: str) -> type[Builtin]:
    """One step function, registered; integers stay as they are."""

    class Function(Step):
        @staticmethod
        def forward(input: Any) -> Any:
            refuse_bools(name, input)
            return input.copy() if input.dtype.kind in "iu" else compute(input)

    doc = f"{says}, elementwise. Slope: 0."
    row = op(name, doc=doc, reference=compute, samples=SAMPLES, in_place=True)
    return row(Function)


Floor = step("floor", np.floor, "The whole number below")
Ceil = step("ceil", np.ceil, "The whole number above")
Trunc = step("trunc", np.trunc, "The whole number towards 0")
alias("fix", "trunc")


@op("sign", reference=np.sign, samples=SAMPLES, in_place=True)
class Sign(Step):
    """-1, 0 or 1, elementwise. Slope: 0.

    >>> minigrad.tensor([-2.0, 0.0, 3.0]).sign()
    tensor([-1.,  0.,  1.])
    """

    @staticmethod
    def forward(input: Any) -> Any:
        if input.dtype.kind == "b":
            return input.copy()
        # torch has 0 where NumPy has NaN.
        return np.where(np.isnan(input), 0, np.sign(input)).astype(input.dtype)


def round_name(input: Any, decimals: int) -> str:
    """The name of the node: another one if decimals are asked for."""
    return f"RoundBackward{1 if isinstance(decimals, int) and decimals else 0}"


@op(
    "round",
    node_name=round_name,
    reference=lambda x, decimals=0: np.round(x, decimals),
    samples=[*SAMPLES, ([0.123, 4.567], 1)],
    in_place=True,
)
class Round(Step):
    """The nearest whole number, the even one between two, elementwise. Slope: 0.

    >>> minigrad.tensor([0.5, 1.5, 2.4]).round()
    tensor([0., 2., 2.])
    """

    @staticmethod
    def forward(input: Any, decimals: int = 0) -> Any:
        refuse_bools("round", input)
        return np.round(input, decimals)

    @staticmethod
    def backward(ctx: Any, grad: Any) -> Any:
        return Fill.of(grad, 0), None


@op("frac", reference=lambda x: x - np.trunc(x), samples=SAMPLES, in_place=True)
class Frac(Builtin):
    """What is behind the point, with the sign of the input. Slope: 1.

    >>> minigrad.tensor([1.5, -0.25]).frac()
    tensor([ 0.5000, -0.2500])
    """

    elementwise = True

    @staticmethod
    @quietly
    def forward(input: Any) -> Any:
        return input - np.trunc(input)

    @staticmethod
    def backward(ctx: Any, grad: Any) -> Any:
        return grad

    jvp = backward


PAIRS = [([5.5, -5.5, 1.0], 2.0), ([5.5, -5.5, 1.0], [2.0, 3.0, -0.7]), ([5.5], 3)]


def remainder(
    name: str, compute: Any, quotient: Any, doc: str, operator: str | None = None
) -> type[Builtin]:
    """The rest of a division, registered; ``quotient`` is the whole number taken."""

    class Remaining(ByParts):
        elementwise = True
        tangent_names_operands = True
        operands = 2
        numbers_have_edges = False
        saved_names = ("other", "self")

        @staticmethod
        @quietly
        def forward(input: Any, other: Any) -> Any:
            a, b = promoted(input, other)
            refuse_zero(name, a, b)
            return compute(a, b)

        @staticmethod
        def setup_context(ctx: Any, inputs: tuple[Any, ...], output: Tensor) -> None:
            needs_other = ctx.needs_input_grad[1]
            keep_operands(ctx, inputs, (needs_other, needs_other))

        @staticmethod
        def parts(ctx: Any, *moved: Any) -> Any:
            first, second = moved
            if second is None:
                return first, None
            # The result moves with the divisor by minus the whole number.
            input, other = [plain(value) for value in operands(ctx)]
            return first, second * like(second, -quotient(input, other))

    return op(
        name,
        doc=doc,
        node_name=lambda input, other: (
            f"{name.capitalize()}Backward{1 if isinstance(other, Tensor) else 0}"
        ),
        reference=compute,
        samples=PAIRS,
        operator=operator,
        in_place=True,
    )(Remaining)


Remainder = remainder(
    "remainder",
    np.remainder,
    np.floor_divide,
    """What is left of input / other, with the sign of ``other``: Python's %.

    >>> minigrad.tensor([5.0, -5.0]) % 3
    tensor([2., 1.])
    """,
    operator="mod",
)
Fmod = remainder(
    "fmod",
    np.fmod,
    lambda a, b: np.trunc(a / b),
    """What is left of input / other, with the sign of ``input``: C's %.

    >>> minigrad.tensor([5.0, -5.0]).fmod(3)
    tensor([ 2., -2.])
    """,
)


@op(
    "floor_divide",
    node_name="NotImplemented",
    reference=np.floor_divide,
    samples=PAIRS,
    operator="floordiv",
    in_place=True,
    differentiable=False,
)
class FloorDivide(Builtin):
    """The whole number below input / other: Python's //. It has no derivative.

    >>> minigrad.tensor([7.0, -7.0]) // 2
    tensor([ 3., -4.])
    """

    elementwise = True
    operands = 2
    numbers_have_edges = False

    @staticmethod
    @quietly
    def forward(input: Any, other: Any) -> Any:
        a, b = promoted(input, other)
        refuse_zero("floor_divide", a, b)
        return np.floor_divide(a, b)

    @staticmethod
    def backward(ctx: Any, grad: Any) -> Any:
        raise errors.DerivativeMissingError.at(
            "floor_divide",
            "derivative for aten::floor_divide is not implemented",
            "divide outside the graph, x.detach() // y, or use x / y",
        )


def refuse_zero(where: str, a: Any, b: Any) -> None:
    """Refuse an integer division by 0, and bools.

    Raises: OperandError.
    """
    refuse_bools(where, np.empty(0, np.result_type(a, b)))
    integers = np.result_type(a, b).kind in "iu"
    if integers and not np.all(b):
        raise errors.OperandError.at(
            where, "ZeroDivisionError: a divisor is 0", "keep 0 out of the divisors"
        )


@composite("positive", reference=np.positive, samples=SAMPLES)
def positive(input: Tensor) -> Tensor:
    """The tensor itself."""
    return input
