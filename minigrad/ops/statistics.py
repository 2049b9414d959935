"""Reductions beyond sum and mean: products, variances, norms, log of sums."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from minigrad import errors
from minigrad.engine.builtin import Builtin
from minigrad.engine.core.tensor import Array, Tensor
from minigrad.engine.errstate import quietly
from minigrad.engine.promotion import as_floating
from minigrad.engine.structural import Expand
from minigrad.ops._registry import op
from minigrad.ops.choose import Where, kept
from minigrad.ops.elementwise import Abs, Exp, beside, like, plain
from minigrad.ops.reduce import (
    BySlope,
    Dim,
    Mean,
    add_up,
    axes,
    check_dim,
    copies,
    in_dtype,
    kept_shape,
    numbered,
    over,
    spread,
)
from minigrad.ops.rounding import Sign
from minigrad.ops.shape import Transpose, reshaped

multiply_up: Any = np.multiply.reduce

VECTOR = [1.0, -2.0, 0.5]
MATRIX = [[1.0, 2.0, 3.0], [4.0, -5.0, 6.0]]
SAMPLES: list[tuple[Any, ...]] = [
    (VECTOR,),
    (MATRIX,),
    (MATRIX, 0),
    (MATRIX, -1, True),
    ([MATRIX], (0, 2)),
]


@op(
    "prod",
    node_name=numbered("ProdBackward"),
    reference=lambda x, dim=None, keepdim=False: np.prod(x, axis=dim, keepdims=keepdim),
    samples=[
        (VECTOR,),
        (MATRIX, 1),
        (MATRIX, 0, True),
        ([0.0, 2.0, 3.0],),
        ([[0.0, 2.0], [0.0, 3.0]], 0),
    ],
    arguments=over,
)
class Prod(BySlope):
    """The product over ``dim``, or over everything; integers and bools give int64.

    Slope: the product of the others, also where there are zeros.

    >>> minigrad.tensor([[1.0, 2.0], [3.0, 4.0]]).prod(dim=0)
    tensor([3., 8.])
    """

    dim_at = 1

    @staticmethod
    @quietly
    def forward(
        input: Array, dim: Any = None, keepdim: bool = False, dtype: Any = None
    ) -> Any:
        check_dim(input, dim)
        return multiply_up(in_dtype(input, dtype), axis=dim, keepdims=keepdim)

    @classmethod
    def slope(cls, ctx: Any) -> Any:
        input, output = ctx.saved_values
        if np.all(plain(input)):
            return spread(ctx, output) / input
        if ctx.dim is None:
            return reshaped(others(reshaped(input, (-1,))), ctx.shape)
        return Transpose.of(others(Transpose.of(input, ctx.dim, -1)), ctx.dim, -1)


def others(value: Any) -> Any:
    """For each element the product of the others along the last dimension."""
    shape = tuple(value.shape)
    rows = Expand.of(reshaped(value, (*shape[:-1], 1, shape[-1])), (*shape, shape[-1]))
    itself = beside(value, np.eye(shape[-1], dtype=bool))
    one = like(value, np.ones((), value.dtype))
    return Prod.of(Where.of(itself, one, rows), -1, False, None)


def with_correction(
    input: Tensor,
    dim: Any = None,
    unbiased: bool = True,
    keepdim: bool = False,
    *,
    correction: Any = None,
) -> tuple[Any, ...]:
    """``var(dim)``, ``var(unbiased=False)`` and ``var(dim, correction=0)`` alike."""
    if isinstance(dim, bool):
        dim, unbiased = None, dim
    if correction is None:
        correction = 1 if unbiased else 0
    return input, dim, keepdim, correction


def checked(where: str, input: Array) -> None:
    """Refuse integers, whose variance and norm would have no dtype.

    Raises: OperandError.
    """
    if input.dtype.kind not in "fc":
        raise errors.OperandError.at(
            where,
            f"{'var_mean' if where == 'var_mean' else 'std and var'} only support "
            "floating point and complex dtypes"
            if where != "norm"
            else "linalg.vector_norm: Expected a floating point or complex tensor "
            f"as input. Got {input.dtype}",
            "convert first, for example x.float()",
        )


VARIANCES: list[tuple[Any, ...]] = [(VECTOR,), (MATRIX,), (MATRIX, 0), (MATRIX, -1)]


@op(
    "var",
    reference=lambda x, dim=None: np.var(x, axis=dim, ddof=1),
    samples=VARIANCES,
    arguments=with_correction,
)
class Var(BySlope):
    """The variance: the squares of the distances from the mean, over n - correction.

    >>> minigrad.tensor([1.0, 2.0, 6.0]).var()
    tensor(7.)
    """

    dim_at = 1
    needs_output = False

    @staticmethod
    @quietly
    def forward(input: Array, dim: Dim, keepdim: bool, correction: Any) -> Any:
        checked("var", input)
        check_dim(input, dim)
        axis = axes(dim)
        kept = kept_shape(input.shape, dim)
        number = copies(input.shape, kept)
        mean = add_up(input, axis=axis, keepdims=True) / number
        distance = input - mean
        squares = add_up(distance * distance, axis=axis, keepdims=keepdim)
        return (squares / np.asarray(max(number - correction, 0))).astype(input.dtype)

    @classmethod
    def slope(cls, ctx: Any) -> Any:
        input, _ = ctx.saved_values
        number = copies(ctx.shape, ctx.kept_shape)
        mean = Mean.of(input, ctx.dim, True, None)
        freedom = number - ctx.options[0]
        distance = input - reshaped(mean, ctx.kept_shape)
        return distance * (2 / freedom if freedom else math.inf)


@op(
    "std",
    reference=lambda x, dim=None: np.std(x, axis=dim, ddof=1),
    samples=VARIANCES,
    arguments=with_correction,
)
class Std(BySlope):
    """The standard deviation: the square root of the variance. Slope at 0: 0.

    >>> minigrad.tensor([1.0, 2.0, 3.0]).std()
    tensor(1.)
    """

    dim_at = 1

    @staticmethod
    @quietly
    def forward(input: Array, dim: Dim, keepdim: bool, correction: Any) -> Any:
        checked("std", input)
        return np.sqrt(Var.forward(input, dim, keepdim, correction))

    @classmethod
    def slope(cls, ctx: Any) -> Any:
        _, output = ctx.saved_values
        deviation = spread(ctx, output)
        slope = Var.slope(ctx) / (deviation * 2)
        return kept(ctx, slope, plain(deviation) != 0)


@op(
    "var_mean",
    reference=lambda x, dim=None: (np.var(x, axis=dim, ddof=1), np.mean(x, axis=dim)),
    samples=VARIANCES,
    arguments=with_correction,
    method=False,
)
class VarMean(Builtin):
    """The variance and the mean, of one pass over the elements.

    >>> minigrad.var_mean(minigrad.tensor([1.0, 2.0, 6.0]))
    (tensor(7.), tensor(3.))
    """

    dim_at = 1
    in_rows = True
    saved_names = ("self",)

    @staticmethod
    def forward(input: Array, dim: Dim, keepdim: bool, correction: Any) -> Any:
        checked("var_mean", input)
        variance = Var.forward(input, dim, keepdim, correction)
        return np.asarray(variance), np.asarray(Mean.forward(input, dim, keepdim))

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: Any) -> None:
        Var.setup_context(ctx, inputs, output)

    @staticmethod
    def backward(ctx: Any, g_variance: Any, g_mean: Any) -> Any:
        parts = []
        if g_variance is not None:
            parts.append(spread(ctx, g_variance) * Var.slope(ctx))
        if g_mean is not None:
            number = copies(ctx.shape, ctx.kept_shape)
            parts.append(spread(ctx, g_mean) / number)
        return parts[0] if len(parts) == 1 else parts[0] + parts[1], None, None, None

    @staticmethod
    def jvp(ctx: Any, tangent: Any, *more: Any) -> Any:
        mean = Mean.of(tangent, ctx.dim, ctx.keepdim, None)
        return Var.jvp(ctx, tangent), mean


def with_order(
    input: Tensor, p: Any = "fro", dim: Any = None, keepdim: bool = False
) -> tuple[Any, ...]:
    """``norm()``, ``norm(1)``, ``norm("fro")``, ``norm(p=2, dim=0)`` alike."""
    return input, dim, keepdim, 2.0 if p in ("fro", None) else float(p)


@op(
    "norm",
    node_name="LinalgVectorNormBackward0",
    reference=lambda x, p=2, dim=None: np.sum(np.abs(x) ** p, axis=dim) ** (1 / p),
    samples=[(VECTOR,), (MATRIX, 1), (MATRIX, 2, 0), (MATRIX, 3), (MATRIX, 3, -1)],
    arguments=with_order,
)
class Norm(BySlope):
    """The p-norm of all elements, or over ``dim``: 2 and "fro" the length, 1 the sum.

    Slope at 0: 0.

    >>> minigrad.tensor([3.0, -4.0]).norm(), minigrad.tensor([3.0, -4.0]).norm(1)
    (tensor(5.), tensor(7.))
    """

    dim_at = 1

    @staticmethod
    @quietly
    def forward(input: Array, dim: Dim, keepdim: bool, p: float) -> Any:
        checked("norm", input)
        check_dim(input, dim)
        axis, sizes = axes(dim), np.abs(input)
        if p == math.inf:
            return np.max(sizes, axis=axis, keepdims=keepdim)
        if p == -math.inf:
            return np.min(sizes, axis=axis, keepdims=keepdim)
        if p == 0:
            total = add_up(sizes != 0, axis=axis, keepdims=keepdim)
            return np.asarray(total, input.dtype)
        if p == 1:
            return add_up(sizes, axis=axis, keepdims=keepdim)
        if p == 2:
            return np.sqrt(add_up(input * input, axis=axis, keepdims=keepdim))
        powers = add_up(sizes**p, axis=axis, keepdims=keepdim)
        return powers ** (1 / p)

    @classmethod
    def slope(cls, ctx: Any) -> Any:
        input, output = ctx.saved_values
        (p,) = ctx.options
        norm = spread(ctx, output)
        if p == 1:
            return Sign.of(input)
        if abs(p) == math.inf:
            same = np.abs(plain(input)) == plain(norm)
            number = add_up(same, axis=axes(ctx.dim), keepdims=True)
            return Sign.of(input) * like(input, (same / number))
        if p == 2:
            return kept(ctx, input / norm, plain(norm) != 0)
        slope = Sign.of(input) * (Abs.of(input) / norm) ** (p - 1)
        return kept(ctx, slope, (plain(norm) != 0) & ((p > 2) | (plain(input) != 0)))

    @classmethod
    def backward(cls, ctx: Any, grad: Any) -> Any:
        # How many are not 0 does not change with any of them.
        return (None,) * 4 if ctx.options == (0,) else super().backward(ctx, grad)

    @classmethod
    def jvp(cls, ctx: Any, tangent: Any, *more: Any) -> Any:
        return None if ctx.options == (0,) else super().jvp(ctx, tangent, *more)


@op(
    "logsumexp",
    reference=lambda x, dim, keepdim=False: np.log(
        np.sum(np.exp(x), axis=dim, keepdims=keepdim)
    ),
    samples=[(MATRIX, 0), (MATRIX, -1, True), (VECTOR, 0), ([MATRIX], (0, 2))],
)
class Logsumexp(BySlope):
    """log of the sum of e**input over ``dim``; never overflows. Slope: softmax.

    >>> minigrad.tensor([1000.0, 1000.0]).logsumexp(0)
    tensor(1000.6932)
    """

    dim_at = 1

    @staticmethod
    @quietly
    def forward(input: Array, dim: Any, keepdim: bool = False) -> Any:
        check_dim(input, dim)
        input, axis = as_floating(input), axes(dim)
        greatest = np.max(input, axis=axis, keepdims=True, initial=-np.inf)
        greatest = np.where(np.isfinite(greatest), greatest, 0).astype(input.dtype)
        powers = np.exp(input - greatest)
        total = np.log(add_up(powers, axis=axis, keepdims=True)) + greatest
        return total if keepdim else total.reshape(np.max(input, axis, initial=0).shape)

    @classmethod
    def slope(cls, ctx: Any) -> Any:
        input, output = ctx.saved_values
        return Exp.of(input - spread(ctx, output))
