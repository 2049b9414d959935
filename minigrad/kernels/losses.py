"""The score of the right class of each row, and the gradient that goes back there."""

from __future__ import annotations

from typing import Any

import numpy as np

from minigrad.kernels._jit import kernel

ALL_RIGHT = -(2**62)
"""What stands in place of a class that does not exist, if there is none."""


def places(classes: Any, ignored: int, count: int) -> tuple[Any, Any]:
    """Which rows count, and a class that exists for each of all."""
    counted = (classes != ignored) & (classes >= 0) & (classes < count)
    return counted, np.where(counted, classes, 0)


def nll_in_numpy(
    rows: Any, classes: Any, weight: Any, ignored: int
) -> tuple[Any, Any, Any]:
    """The same in plain NumPy."""
    counted, safe = places(classes, ignored, rows.shape[1])
    zero = rows.dtype.type(0)
    if not rows.shape[1]:
        return np.zeros(len(rows)), np.zeros(len(rows)), np.full(1, ALL_RIGHT)
    factors = np.where(counted, weight[safe], zero)
    with np.errstate(all="ignore"):
        losses = np.where(counted, -rows[np.arange(len(rows)), safe] * factors, zero)
    wrong = classes[~counted & (classes != ignored)]
    return losses, factors, wrong[-1:] if wrong.size else np.full(1, ALL_RIGHT)


@kernel(
    nll_in_numpy,
    lambda rows, *_: (
        np.zeros(len(rows), rows.dtype),
        np.zeros(len(rows), rows.dtype),
        np.full(1, ALL_RIGHT),
    ),
)
def nll(
    rows: Any,
    classes: Any,
    weight: Any,
    ignored: int,
    losses: Any,
    factors: Any,
    wrong: Any,
) -> None:
    """Minus the score of each right class, times its weight; the weight; what is wrong.

    Rows whose class is ``ignored`` are 0.
    """
    for i in range(classes.size):
        right = classes[i]
        if 0 <= right < rows.shape[1] and right != ignored:
            factors[i] = weight[right]
            losses[i] = -rows[i, right] * weight[right]
        elif right != ignored:
            wrong[0] = right


def nll_backward_in_numpy(
    grad: Any, classes: Any, weight: Any, ignored: int, count: int
) -> Any:
    """The same in plain NumPy."""
    rows = np.zeros((len(grad), count), grad.dtype)
    counted, safe = places(classes, ignored, count)
    chosen = np.flatnonzero(counted)
    with np.errstate(all="ignore"):
        rows[chosen, safe[chosen]] = -weight[safe[chosen]] * grad[chosen]
    return rows


@kernel(
    nll_backward_in_numpy,
    lambda grad, *more: (np.zeros((len(grad), more[-1]), grad.dtype),),
)
def nll_backward(
    grad: Any, classes: Any, weight: Any, ignored: int, count: int, rows: Any
) -> None:
    """Minus the gradient of each row, times the weight, at its right class; else 0."""
    for i in range(classes.size):
        right = classes[i]
        if 0 <= right < count and right != ignored:
            rows[i, right] = -weight[right] * grad[i]
