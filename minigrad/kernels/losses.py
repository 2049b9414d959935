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
    if not rows.shape[1]:
        return np.zeros(len(rows), rows.dtype), np.zeros(2), np.full(1, ALL_RIGHT)
    zero, one = rows.dtype.type(0), rows.dtype.type(1)
    factors = np.where(counted, weight[safe] if weight.size else one, zero)
    with np.errstate(all="ignore"):
        losses = np.where(counted, -rows[np.arange(len(rows)), safe] * factors, zero)
        totals = np.array(
            [all_of.sum(dtype=np.float64) for all_of in (losses, factors)]
        )
    wrong = classes[~counted & (classes != ignored)]
    return losses, totals, wrong[-1:] if wrong.size else np.full(1, ALL_RIGHT)


@kernel(
    nll_in_numpy,
    lambda rows, *_: (
        np.empty(len(rows), rows.dtype),
        np.empty(2),
        np.empty(1, np.int64),
    ),
)
def nll(
    rows: Any,
    classes: Any,
    weight: Any,
    ignored: int,
    losses: Any,
    totals: Any,
    wrong: Any,
) -> None:
    """Minus the score of each right class, times its weight; totals; what is wrong.

    The totals are those of all losses and of their weights. Rows whose class is
    ``ignored`` are 0. Without elements, ``weight`` is 1 for each class.
    """
    wrong[0] = ALL_RIGHT
    total, number = 0.0, 0.0
    for i in range(classes.size):
        right = classes[i]
        losses[i] = 0
        if 0 <= right < rows.shape[1] and right != ignored:
            factor = weight[right] if weight.size else rows.dtype.type(1)
            losses[i] = -rows[i, right] * factor
            total += losses[i]
            number += factor
        elif right != ignored:
            wrong[0] = right
    totals[0], totals[1] = total, number


def nll_backward_in_numpy(
    grad: Any, classes: Any, weight: Any, ignored: int, count: int
) -> Any:
    """The same in plain NumPy."""
    rows = np.zeros((len(classes), count), grad.dtype)
    counted, safe = places(classes, ignored, count)
    chosen = np.flatnonzero(counted)
    factors = weight[safe[chosen]] if weight.size else grad.dtype.type(1)
    with np.errstate(all="ignore"):
        rows[chosen, safe[chosen]] = (
            -factors * np.broadcast_to(grad, len(classes))[chosen]
        )
    return rows


@kernel(
    nll_backward_in_numpy,
    lambda grad, classes, *more: (np.zeros((len(classes), more[-1]), grad.dtype),),
)
def nll_backward(
    grad: Any, classes: Any, weight: Any, ignored: int, count: int, rows: Any
) -> None:
    """Minus the gradient of each row, times the weight, at its right class; else 0.

    A ``grad`` of one element is that of every row; ``weight`` as in ``nll``.
    """
    each = 1 if grad.size > 1 else 0
    for i in range(classes.size):
        right = classes[i]
        if 0 <= right < count and right != ignored:
            factor = weight[right] if weight.size else grad.dtype.type(1)
            rows[i, right] = -factor * grad[i * each]
