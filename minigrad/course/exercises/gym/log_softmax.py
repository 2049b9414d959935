"""gym.LogSoftmax: the logarithm of softmax along an axis."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from minigrad.course.check import Array, Arrays
from minigrad.course.exercises.gym import softmax_rows

cases = softmax_rows.cases


def reference(x: Array, axis: int) -> Array:
    """What forward returns."""
    shifted = x - x.max(axis, keepdims=True, initial=-np.inf)
    return np.asarray(shifted - np.log(softmax_rows.total(np.exp(shifted), axis)))


def gradients(g: Array, x: Array, axis: int) -> Arrays:
    """The right gradients."""
    return g - softmax_rows.softmax(x, axis) * softmax_rows.total(g, axis), None


def wrong_gradients(g: Array, x: Array, axis: int) -> Iterator[tuple[str, Arrays]]:
    """What each known wrong rule returns."""
    for name, value in _wrong(g, x, axis):
        yield name, (value, None)


def _wrong(g: Array, x: Array, axis: int) -> Iterator[tuple[str, Array]]:
    p, y = softmax_rows.softmax(x, axis), reference(x, axis)
    g_sum = softmax_rows.total(g, axis)
    yield "L07", g - p * g
    yield "L08", g
    yield "L09", g - p
    yield "L09", g - p * softmax_rows.total(g * p, axis)
    yield "L09", g - p * g
    yield "L09", g - softmax_rows.total(g * p, axis)
    yield "L09", g - g_sum
    yield "L09", g - g_sum / x.shape[axis]
    yield "L09", g - p * x.shape[axis]
    yield "L09", g - p * g * g_sum
    yield "L08", -p * g_sum
    shifted = x - x.max(axis, keepdims=True, initial=-np.inf)
    yield "S01", g - np.exp(shifted) * g_sum
    yield "L01", g + p * g_sum
    yield "L05", g - y * g_sum
    yield "L05", g - x * g_sum
    yield "L05", p * (g - softmax_rows.total(g * p, axis))
    with np.errstate(all="ignore"):
        yield "L05", g - np.exp(x) * g_sum
        yield "L05", g - np.exp(p) * g_sum
        yield "L05", g - np.log(p) * g_sum
    for name, sums in softmax_rows.wrong_totals(g, axis):
        yield name, sums if sums is softmax_rows.RAISES else g - p * sums
    for other in (0, -1):
        yield "R08", g - softmax_rows.softmax(x, other) * softmax_rows.total(g, other)
    with np.errstate(all="ignore"):
        yield "L20", g - softmax_rows.unstable(x, axis) * g_sum


def wrong_results(x: Array, axis: int) -> Iterator[tuple[str, Array]]:
    """Wrong results of forward that have a name."""
    with np.errstate(all="ignore"):
        yield "L20", np.log(softmax_rows.unstable(x, axis))
        yield "L20", x - np.log(softmax_rows.total(np.exp(x), axis))
        yield "L20", np.log(softmax_rows.softmax(x, axis))
        yield "R08", reference(x, 0)
        yield "R08", reference(x, -1)
