"""softmax and its logarithm along rows, and what gradients they send back."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from minigrad.kernels._jit import kernel, like_the_first, shaped
from minigrad.kernels._math import exp, greater


def shifted(rows: Any) -> Any:
    """Each row less its greatest element, so that no power overflows."""
    return rows - rows.max(1, keepdims=True, initial=-np.inf)


def softmax_in_numpy(rows: Any) -> Any:
    """e**x over their sum."""
    with np.errstate(all="ignore"):
        powers = np.exp(shifted(rows))
        return powers / powers.sum(1, keepdims=True)


@kernel(softmax_in_numpy, like_the_first)
def softmax_of_rows(rows: Any, output: Any) -> None:
    """e**x over their sum, in each row; never overflows."""
    for i in range(rows.shape[0]):
        row, result = rows[i], output[i]
        if row.size == 0:
            continue
        most = row[0]
        for j in range(1, row.size):
            most = greater(most, row[j])
        for j in range(row.size):
            result[j] = exp(row[j] - most)
        total = result[0]
        for j in range(1, row.size):
            total += result[j]
        for j in range(row.size):
            result[j] = result[j] / total


def log_softmax_in_numpy(rows: Any) -> Any:
    """The logarithm of softmax."""
    with np.errstate(all="ignore"):
        less = shifted(rows)
        return less - np.log(np.exp(less).sum(1, keepdims=True))


@kernel(log_softmax_in_numpy, like_the_first)
def log_softmax_of_rows(rows: Any, output: Any) -> None:
    """The logarithm of softmax, in each row, exact also where that is nearly 0."""
    for i in range(rows.shape[0]):
        row, result = rows[i], output[i]
        if row.size == 0:
            continue
        most = row[0]
        for j in range(1, row.size):
            most = greater(most, row[j])
        total = exp(row[0] - most)
        for j in range(1, row.size):
            total += exp(row[j] - most)
        away = math.log(total)
        for j in range(row.size):
            result[j] = (row[j] - most) - away


def softmax_backward_in_numpy(grad: Any, output: Any) -> Any:
    """The gradient of the rows."""
    with np.errstate(all="ignore"):
        weighted = grad * output
        return weighted - output * weighted.sum(1, keepdims=True)


@kernel(softmax_backward_in_numpy, like_the_first)
def softmax_backward_of_rows(grad: Any, output: Any, result: Any) -> None:
    """The gradient of the rows, from those of their softmax."""
    for i in range(grad.shape[0]):
        g, y, row = grad[i], output[i], result[i]
        if g.size == 0:
            continue
        total = g[0] * y[0]
        for j in range(1, g.size):
            total += g[j] * y[j]
        for j in range(g.size):
            row[j] = g[j] * y[j] - y[j] * total


def log_softmax_backward_in_numpy(grad: Any, output: Any) -> Any:
    """The gradient of the rows."""
    with np.errstate(all="ignore"):
        return grad - np.exp(output) * grad.sum(1, keepdims=True)


@kernel(log_softmax_backward_in_numpy, like_the_first)
def log_softmax_backward_of_rows(grad: Any, output: Any, result: Any) -> None:
    """The gradient of the rows, from those of the logarithm of their softmax."""
    for i in range(grad.shape[0]):
        g, y, row = grad[i], output[i], result[i]
        if g.size == 0:
            continue
        total = g[0]
        for j in range(1, g.size):
            total += g[j]
        for j in range(g.size):
            row[j] = g[j] - exp(y[j]) * total


def along(of_rows: Any, dim: int, *arrays: Any) -> Any:
    """A kernel of rows, on the lines of arrays along any dimension."""
    first = arrays[0]
    if first.ndim == 2 and dim in (1, -1):
        return of_rows(*arrays)
    if first.ndim == 0:
        return of_rows(*[array.reshape(1, 1) for array in arrays]).reshape(())
    length = first.shape[dim]
    rows = first.size // length if length else 0, length
    if dim in (-1, first.ndim - 1):
        return shaped(of_rows(*[shaped(array, rows) for array in arrays]), first.shape)
    last = [np.moveaxis(array, dim, -1) for array in arrays]
    lines = of_rows(*[array.reshape(rows) for array in last]).reshape(last[0].shape)
    return np.ascontiguousarray(np.moveaxis(lines, -1, dim))
