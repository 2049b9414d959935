"""Functions of one number, applied to every element."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np

from minigrad import errors
from minigrad.engine.builtin import Builtin
from minigrad.engine.core.tensor import Array, Tensor
from minigrad.engine.errstate import quietly
from minigrad.engine.promotion import as_floating, refuse_bools
from minigrad.engine.structural import total
from minigrad.kernels import elementwise as kernels
from minigrad.ops._registry import op


class ByParts(Builtin):
    """An operation whose gradients and tangent are the same parts, sent or added up."""

    @staticmethod
    def parts(ctx: Any, *moved: Any) -> Any:
        """Each of what arrives at the arguments, if it is there, times the slope."""
        raise NotImplementedError

    @classmethod
    def backward(cls, ctx: Any, grad: Any) -> Any:
        needs: tuple[bool, ...] = ctx.needs_input_grad
        moved = (grad,) * len(needs)
        if not all(needs):
            moved = tuple([grad if need else None for need in needs])
        return tuple(cls.parts(ctx, *moved))

    @classmethod
    def jvp(cls, ctx: Any, *tangents: Any) -> Any:
        return functools.reduce(total, cls.parts(ctx, *tangents))


def product_rule(apply: Any, factors: Any, tangents: Any, *options: Any) -> Any:
    """The tangent of what is linear in each of its factors: a term for each of them."""
    moved = None
    for place, tangent in enumerate(tangents):
        if tangent is not None:
            changed = [*factors[:place], tangent, *factors[place + 1 :]]
            moved = total(moved, apply(*changed, *options))
    return moved


class SavesInput(Builtin):
    """An elementwise operation whose slope is computed from its input."""

    elementwise = True
    saves: ClassVar[str] = "input"
    saved_names = ("self",)

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: Tensor) -> None:
        ctx.save_for_backward(inputs[0])


class SavesOutput(Builtin):
    """An elementwise operation whose slope is computed from its output."""

    elementwise = True
    saves: ClassVar[str] = "output"
    saved_names = ("result",)

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: Tensor) -> None:
        ctx.save_for_backward(output)


Rule = Callable[[Any, Any], Any]
"""From the incoming gradient and what was saved to the gradient that goes on."""

SMALL = [(0.3,), ([-0.6, 0.1, 0.4],)]
ANY = [(0.5,), ([-2.0, 0.3, 1.5],)]
WITH_ZERO = [(0.5,), ([-3.0, 0.0, 2.0],)]
POSITIVE = [(0.5,), ([0.1, 1.0, 20.0],)]
ABOVE_ONE = [(1.5,), ([1.1, 2.0, 30.0],)]


def function(
    base: type[SavesInput | SavesOutput],
    name: str,
    compute: Callable[..., Any],
    says: str,
    samples: list[tuple[Any, ...]],
    rule: Rule,
    *,
    node_name: str = "",
    reference: Callable[..., Any] | None = None,
) -> type[Builtin]:
    """A function of one number, registered: what it computes, and its rule.

    The rule is that of backward and of jvp; the class has it as ``rule``.
    """

    @quietly
    def forward(input: Array) -> Any:
        return compute(as_floating(input))

    def backward(ctx: Any, grad: Any) -> Any:
        (saved,) = ctx.saved_values
        return rule(grad, saved)

    rules: dict[str, Any] = {"forward": forward, "backward": backward}
    rules |= {"jvp": backward, "rule": rule}
    members: dict[str, Any] = {key: staticmethod(rules[key]) for key in rules}
    kind = type(name.capitalize(), (base,), members | {"__module__": rule.__module__})
    register = op(
        name,
        doc=f"{says}, elementwise. Saves: the {base.saves}.",
        node_name=node_name,
        reference=reference or compute,
        samples=samples,
        in_place=True,
    )
    return register(kind)


of_input = functools.partial(function, SavesInput)
of_output = functools.partial(function, SavesOutput)


Exp = of_output("exp", np.exp, "e**input", WITH_ZERO, lambda g, y: g * y)
Log = of_input("log", np.log, "The natural logarithm", POSITIVE, lambda g, x: g / x)
Sqrt = of_output("sqrt", np.sqrt, "The square root", POSITIVE, lambda g, y: g / (y * 2))
Reciprocal = of_output(
    "reciprocal", np.reciprocal, "1 / input", ANY, lambda g, y: -g * (y * y)
)
Sin = of_input("sin", np.sin, "The sine", WITH_ZERO, lambda g, x: g * Cos.of(x))
Cos: type[Builtin] = of_input(
    "cos", np.cos, "The cosine", WITH_ZERO, lambda g, x: -g * Sin.of(x)
)


@op(
    "abs",
    reference=np.abs,
    samples=[(-2.0,), ([-1.5, 0.5, 3.0],)],
    operator="abs",
    in_place=True,
)
class Abs(SavesInput):
    """The absolute value, elementwise. Slope: the sign, 0 at 0.

    >>> minigrad.tensor([-2.0, 3.0]).abs()
    tensor([2., 3.])
    """

    tangent_names_operands = True

    @staticmethod
    def forward(input: Array) -> Any:
        refuse_bools("abs", input)
        return np.abs(input)

    @staticmethod
    def backward(ctx: Any, grad: Any) -> Any:
        (input,) = ctx.saved_values
        return grad * SlopeOfAbs.of(input)

    jvp = backward


@op("tanh", reference=np.tanh, samples=[(0.5,), ([-20.0, 0.0, 1.5],)], in_place=True)
class Tanh(SavesOutput):
    """The hyperbolic tangent, elementwise. Saves: the output. Slope: 1 - output**2.

    >>> minigrad.tensor([0.0, 1.0]).tanh()
    tensor([0.0000, 0.7616])
    """

    ufunc = np.tanh

    @staticmethod
    def forward(input: Array) -> Any:
        return np.tanh(as_floating(input))

    @staticmethod
    def backward(ctx: Any, grad: Any) -> Any:
        (output,) = ctx.saved_values
        return grad - grad * output * output

    jvp = backward


@op(
    "sigmoid",
    reference=lambda x: np.exp(-np.logaddexp(0.0, -np.asarray(x))),
    samples=[(0.0,), ([-800.0, -1.5, 0.5, 800.0],)],
    in_place=True,
)
class Sigmoid(SavesOutput):
    """1 / (1 + e**-input), elementwise; never overflows. Saves: the output.

    >>> minigrad.tensor([-800.0, 0.0]).sigmoid()
    tensor([0.0000, 0.5000])
    """

    @staticmethod
    def forward(input: Array) -> Any:
        return kernels.sigmoid(as_floating(input))

    @staticmethod
    def backward(ctx: Any, grad: Any) -> Any:
        (output,) = ctx.saved_values
        return grad * output * (1 - output)

    jvp = backward


@op(
    "softplus",
    reference=lambda x: np.logaddexp(0.0, x),
    samples=[(0.0,), ([-800.0, -1.5, 900.0],)],
)
class Softplus(SavesInput):
    """log(1 + e**input), elementwise: a smooth max(input, 0). Slope: sigmoid(input).

    >>> minigrad.tensor([0.0, 900.0]).softplus()
    tensor([6.9315e-01, 9.0000e+02])
    """

    @staticmethod
    def forward(input: Array) -> Any:
        return kernels.softplus(as_floating(input))

    @staticmethod
    def backward(ctx: Any, grad: Any) -> Any:
        # The input is saved, not the slope: the slope can then be differentiated too.
        (input,) = ctx.saved_values
        return grad * Sigmoid.of(input)

    jvp = backward


@op(
    "relu",
    reference=lambda x: np.maximum(x, 0.0),
    samples=[(0.5,), ([-1.0, 2.0, -0.5],)],
    in_place=True,
)
class Relu(SavesOutput):
    """max(input, 0), elementwise. Slope: 1 where the output is positive, 0 at 0.

    >>> minigrad.tensor([-1.0, 2.0]).relu()
    tensor([0., 2.])
    """

    tangent_names_operands = True
    ufunc = kernels.relu

    @staticmethod
    def forward(input: Array) -> Any:
        refuse_bools("relu", input)
        return kernels.relu(input)

    @staticmethod
    def backward(ctx: Any, grad: Any) -> Any:
        (output,) = ctx.saved_values
        return WherePositive.of(grad, output)

    jvp = backward


class SlopeOfAbs(Builtin):
    """-1, 0 or 1. Its slope is 0, which is a gradient, while None would be none."""

    elementwise = True

    @staticmethod
    def forward(input: Array) -> Any:
        # torch has 0 where NumPy has NaN.
        return np.nan_to_num(np.sign(input))

    @staticmethod
    def backward(ctx: Any, grad: Any) -> Any:
        return zeros(grad)

    @staticmethod
    def jvp(ctx: Any, tangent: Any) -> Any:
        return zeros(tangent)


class WherePositive(Builtin):
    """grad where output is positive, else 0. Slope in output: 0."""

    elementwise = True
    operands = 2

    @staticmethod
    def forward(grad: Array, output: Array) -> Any:
        # As torch: NaN lets the gradient pass, and 0 stops an infinite one.
        return kernels.where_positive(grad, output)

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: Tensor) -> None:
        ctx.save_for_backward(inputs[1])

    @staticmethod
    def backward(ctx: Any, grad: Any) -> Any:
        (output,) = ctx.saved_values
        return WherePositive.of(grad, output), zeros(output)

    @staticmethod
    def jvp(ctx: Any, t_grad: Any, t_output: Any) -> Any:
        (output,) = ctx.saved_values
        if t_grad is None:
            return zeros(t_output)
        return WherePositive.of(t_grad, output)


@op(
    "fill",
    node_name=lambda _, value: f"FillBackward{int(isinstance(value, Tensor))}",
    reference=np.full_like,
    samples=[(2.0, 0.5), ([1.0, -2.0], 3)],
)
class Fill(Builtin):
    """``value`` in place of every element. Slope: 0, for nothing of the input is left.

    Raises: ShapeError if ``value`` is a tensor that has dimensions.

    >>> minigrad.fill(minigrad.tensor([1.0, 2.0]), 7)
    tensor([7., 7.])
    """

    one_by_one = True
    operands = 2
    numbers_have_edges = False

    @staticmethod
    def forward(input: Array, value: Any) -> Any:
        if np.ndim(value):
            raise errors.ShapeError.at(
                "fill",
                "fill only supports 0-dimension value tensor but got tensor with "
                f"{errors.count_of(np.ndim(value), 'dimension')}",
                "give one number",
            )
        return np.full_like(input, value)

    @staticmethod
    def backward(ctx: Any, grad: Any) -> Any:
        # Not grad * 0, which would be nan where the gradient is infinite.
        return zeros(grad), grad

    @staticmethod
    def jvp(ctx: Any, t_input: Any, t_value: Any) -> Any:
        return Fill.of(t_input, 0) if t_value is None else t_value


def zeros(like: Any) -> Any:
    """A slope that is 0 everywhere, outside any graph: an array or a Tensor."""
    return Fill.of(like.detach() if isinstance(like, Tensor) else like, 0)


def plain(value: Any) -> Any:
    """The array of a Tensor: for the parts of a rule that have no slope."""
    return value.array if isinstance(value, Tensor) else value


def zeros_of(value: Any, shape: tuple[int, ...] = ()) -> Any:
    """Zeros as ``value`` is: an array, or a Tensor of its dtype."""
    zeros = np.zeros(shape, value.dtype)
    return Tensor(zeros) if isinstance(value, Tensor) else zeros


def beside(value: Any, array: Any) -> Any:
    """A mask or an index as ``value`` is: an array, or a Tensor beside a Tensor."""
    return Tensor(np.asarray(array)) if isinstance(value, Tensor) else array


def like(value: Any, array: Any) -> Any:
    """``array`` as ``value`` is: an array, or a constant Tensor of its dtype."""
    if not isinstance(value, Tensor):
        return array
    return Tensor(np.asarray(array, value.dtype))
