"""Functions that stand between the layers of a network, elementwise."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np

from minigrad import errors, kernels
from minigrad.engine.core.tensor import Array, Tensor
from minigrad.engine.errstate import quietly
from minigrad.kernels._math import DENSITY, HALVES
from minigrad.ops._refusals import check_kind
from minigrad.ops._registry import op
from minigrad.ops.choose import Where
from minigrad.ops.elementwise import (
    Exp,
    SavesInput,
    Sigmoid,
    Tanh,
    like,
    plain,
    zeros_of,
)
from minigrad.ops.smooth import Erf

SAMPLES: list[tuple[Any, ...]] = [(0.5,), ([[-3.0, -0.6], [0.2, 4.0]],)]

TANH_SCALE = math.sqrt(2 / math.pi)
CUBIC = 0.044715
"""The two numbers of the approximation of the distribution function by a tanh."""


def chosen(condition: Array, first: Any, second: Any) -> Any:
    """``first`` where the array ``condition`` is true, else ``second``: both alike."""
    if isinstance(first, Tensor):
        return Where.apply(Tensor(np.asarray(condition)), first, second)
    return np.where(condition, first, second)


class Activation(SavesInput):
    """An activation, which adds the ``slope`` at its input; options come behind it."""

    slope: ClassVar[Callable[..., Any]]
    """How the output moves with the input."""

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: Tensor) -> None:
        ctx.options = inputs[1:]
        ctx.save_for_backward(inputs[0])

    @classmethod
    def backward(cls, ctx: Any, grad: Any) -> Any:
        (x,) = ctx.saved_values
        return grad * cls.slope(x, *ctx.options), *[None for _ in ctx.options]

    @classmethod
    def jvp(cls, ctx: Any, tangent: Any, *more: Any) -> Any:
        (x,) = ctx.saved_values
        return tangent * cls.slope(x, *ctx.options)


def reference_gelu(x: Any, approximate: str = "none") -> Any:
    """By Python's own functions, one number after the other."""

    def one(x: float) -> float:
        if approximate == "tanh":
            return x / 2 * (1 + math.tanh(TANH_SCALE * (x + CUBIC * x**3)))
        return x * math.erfc(-x * HALVES) / 2

    return np.vectorize(one, otypes=[float])(x)


@op(
    "gelu",
    reference=reference_gelu,
    samples=[*SAMPLES, ([-3.0, 0.5, 2.0], "tanh")],
    public=False,
)
class Gelu(Activation):
    """The input times the probability that a normal number is smaller.

    With ``approximate="tanh"`` that probability is computed from a tanh.
    """

    @staticmethod
    @quietly
    def forward(input: Array, approximate: str = "none") -> Any:
        if approximate not in ("none", "tanh"):
            raise errors.OperandError.at(
                "gelu",
                "approximate argument must be either none or tanh.",
                "write approximate='tanh', or leave it out",
            )
        check_kind("gelu", "GeluKernelImpl", input.dtype)
        if approximate == "tanh":
            return input * (np.tanh(bent(input)) + 1) * 0.5
        return kernels.activations.gelu(input)

    @classmethod
    def backward(cls, ctx: Any, grad: Any) -> Any:
        if isinstance(grad, Tensor) or ctx.options[0] != "none":
            return super().backward(ctx, grad)
        return kernels.activations.gelu_backward(grad, ctx.saved_values[0]), None

    @staticmethod
    def slope(x: Any, *options: Any) -> Any:
        """The probability, and what it gains times the input."""
        if options[0] == "none":
            below = (Erf.of(x * HALVES) + 1) * 0.5
            return below + x * Exp.of(x * x * -0.5) * DENSITY
        t = Tanh.of(bent(x))
        bends = (x * x * (3 * CUBIC) + 1) * TANH_SCALE
        return (t + 1) * 0.5 + x * (1 - t * t) * bends * 0.5


def bent(x: Any) -> Any:
    """What the approximation takes the tanh of."""
    return (x + x * x * x * CUBIC) * TANH_SCALE


@op(
    "silu",
    reference=lambda x: np.asarray(x) * np.exp(-np.logaddexp(0.0, -np.asarray(x))),
    samples=SAMPLES,
    public=False,
)
class Silu(Activation):
    """The input times its sigmoid: a relu without the corner."""

    @staticmethod
    @quietly
    def forward(input: Array) -> Any:
        check_kind("silu", "silu_cpu", input.dtype)
        return input * kernels.elementwise.sigmoid(input)

    @staticmethod
    def slope(x: Any, *options: Any) -> Any:
        """Of the product."""
        s = Sigmoid.of(x)
        return s * (x * (1 - s) + 1)


@op(
    "leaky_relu",
    reference=lambda x, slope=0.01: np.where(
        np.greater(x, 0), x, np.multiply(x, slope)
    ),
    samples=[*SAMPLES, ([-3.0, 0.5, 2.0], 1)],
    public=False,
)
class LeakyRelu(Activation):
    """The input; where it is negative, times ``negative_slope``."""

    tangent_names_operands = True

    @staticmethod
    @quietly
    def forward(input: Array, negative_slope: float = 0.01) -> Any:
        check_kind("leaky_relu", "leaky_relu_cpu", input.dtype)
        return np.where(input > 0, input, input * negative_slope)

    @staticmethod
    def slope(x: Any, *options: Any) -> Any:
        """1, or the slope below 0: a constant on either side."""
        array = plain(x)
        steps = np.where(array > 0, array.dtype.type(1), array.dtype.type(options[0]))
        return like(x, steps)


@op(
    "elu",
    reference=lambda x, alpha=1.0: np.where(
        np.greater(x, 0), x, alpha * np.expm1(np.minimum(x, 0))
    ),
    samples=[*SAMPLES, ([-3.0, 0.5, 2.0], 2)],
    public=False,
)
class Elu(Activation):
    """The input; where it is negative, ``alpha * (e**input - 1)``."""

    @staticmethod
    @quietly
    def forward(input: Array, alpha: float = 1.0) -> Any:
        check_kind("elu", "elu_cpu", input.dtype)
        return np.where(input > 0, input, np.expm1(np.minimum(input, 0)) * alpha)

    @staticmethod
    def slope(x: Any, *options: Any) -> Any:
        """1, or ``alpha`` times the exponential."""
        above = np.asarray(plain(x) > 0)
        curve = Exp.of(chosen(above, zeros_of(x), x)) * options[0]
        return chosen(above, like(x, np.ones((), x.dtype)), curve)
