"""Filling a tensor in place: with random numbers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from minigrad import errors
from minigrad.engine.builtin import Builtin
from minigrad.engine.core.tensor import Array, Tensor
from minigrad.engine.inplace import apply_in_place
from minigrad.engine.randomness import Generator, source
from minigrad.ops._refusals import check_kind
from minigrad.ops._registry import IN_PLACE, add_method, name_nodes
from minigrad.ops.elementwise import Fill

Draw = Callable[[tuple[int, ...]], Any]


class Normal(Builtin):
    """New values that do not depend on the old ones: the slope is 0."""

    one_by_one = True

    @staticmethod
    def forward(input: Array, draw: Draw) -> Any:
        return np.asarray(draw(input.shape)).astype(input.dtype)

    @staticmethod
    def backward(ctx: Any, grad: Any) -> Any:
        return Fill.of(grad, 0), None

    @staticmethod
    def jvp(ctx: Any, tangent: Any, *more: Any) -> Any:
        return tangent * 0


class Uniform(Normal):
    """Random numbers, even between two bounds."""


class Bernoulli(Normal):
    """Ones with a given probability, else zeros."""


class Random(Normal):
    """Random whole numbers."""


for kind in (Normal, Uniform, Bernoulli, Random):
    name_nodes(kind, f"{kind.__name__}Backward0")


def normal_(
    self: Tensor, mean: float = 0, std: float = 1, *, generator: Generator | None = None
) -> Tensor:
    """Fill with normal random numbers, in place.

    Raises: OperandError for a negative ``std``; for integers.
    """
    check_floating("normal_", self)
    if std < 0:
        raise impossible("normal_", f"normal expects std >= 0.0, but found std {std}")
    rng = source(generator)
    return apply_in_place(Normal, self, lambda shape: rng.normal(mean, std, shape))


def uniform_(
    self: Tensor, a: float = 0, b: float = 1, *, generator: Generator | None = None
) -> Tensor:
    """Fill with random numbers between ``a`` and ``b``, in place.

    Raises: OperandError unless ``a`` is at most ``b``; for integers.
    """
    check_floating("uniform_", self)
    if a > b:
        what = f"uniform_ expects to return a [from, to) range, but found from={a} > to"
        raise impossible("uniform_", f"{what}={b}")
    rng = source(generator)
    return apply_in_place(Uniform, self, lambda shape: rng.uniform(a, b, shape))


def bernoulli_(
    self: Tensor, p: float = 0.5, *, generator: Generator | None = None
) -> Tensor:
    """Fill with ones, each with probability ``p``, and zeros, in place."""
    rng = source(generator)
    return apply_in_place(Bernoulli, self, lambda shape: rng.random(shape) < p)


def random_(
    self: Tensor, low: int, high: int, *, generator: Generator | None = None
) -> Tensor:
    """Fill with random whole numbers from ``low`` up to, not with, ``high``."""
    rng = source(generator)
    return apply_in_place(Random, self, lambda shape: rng.integers(low, high, shape))


def check_floating(where: str, tensor: Tensor) -> None:
    """Refuse a dtype that cannot hold such numbers."""
    kernel, fix = f"{where}kernel_cpu", "use a floating-point tensor"
    check_kind(where, kernel, np.dtype(tensor.dtype), fix=fix)


def impossible(where: str, what: str) -> errors.OperandError:
    """The error for bounds that no number lies between."""
    return errors.OperandError.at(where, what, "exchange the two numbers")


for method in (normal_, uniform_, bernoulli_, random_):
    add_method(method.__name__, method, IN_PLACE)
