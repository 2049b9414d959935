"""gym.Softmax: numbers that are positive and add up to 1 along an axis."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from minigrad.course.check import Array, Arrays
from minigrad.course.exercises.gym import softmax_rows

cases = softmax_rows.cases


def reference(x: Array, axis: int) -> Array:
    """What forward returns."""
    return softmax_rows.softmax(x, axis)


def gradients(g: Array, x: Array, axis: int) -> Arrays:
    """The right gradients."""
    return _coupled(g, softmax_rows.softmax(x, axis), axis), None


def _coupled(g: Array, y: Array, axis: int) -> Array:
    return np.asarray(y * (g - softmax_rows.total(g * y, axis)))


def wrong_gradients(g: Array, x: Array, axis: int) -> Iterator[tuple[str, Arrays]]:
    """What each known wrong rule returns."""
    for name, value in _wrong(g, x, axis):
        yield name, (value, None)


def _wrong(g: Array, x: Array, axis: int) -> Iterator[tuple[str, Array]]:
    y = softmax_rows.softmax(x, axis)
    coupling = softmax_rows.total(g * y, axis)
    yield "L07", y * (1 - y) * g
    yield "C07", g - coupling
    yield "L08", g - coupling
    yield "L08", y * g
    yield "L08", y * (g - softmax_rows.total(g, axis))
    yield "L08", y * (g - softmax_rows.total(g, axis) / x.shape[axis])
    yield "L08", y * g - softmax_rows.total(g * y, axis)
    yield "L08", g - y * softmax_rows.total(g, axis)
    yield "L08", -y * coupling
    yield "L01", y * (g + coupling)
    yield "L05", _coupled(g, x, axis)
    with np.errstate(all="ignore"):
        yield "L05", _coupled(g, np.exp(x), axis)
        yield "L05", _coupled(g, np.log(y), axis)
    yield "L05", x * (g - coupling)
    yield "R12", y * (g - softmax_rows.total(g, axis) * y)
    through_log = g * y
    yield "C07", through_log - y * softmax_rows.total(through_log * y, axis)
    powers = np.exp(x - x.max(axis, keepdims=True, initial=-np.inf))
    yield "S01", _coupled(g, powers, axis)
    for name, sums in softmax_rows.wrong_totals(g * y, axis):
        yield name, sums if sums is softmax_rows.RAISES else y * (g - sums)
    for other in (0, -1):
        again = softmax_rows.softmax(x, other)
        yield "R08", _coupled(g, again, other)
    with np.errstate(all="ignore"):
        yield "L20", _coupled(g, softmax_rows.unstable(x, axis), axis)


def wrong_results(x: Array, axis: int) -> Iterator[tuple[str, Array]]:
    """Wrong results of forward that have a name."""
    yield "L20", softmax_rows.unstable(x, axis)
    yield "R08", softmax_rows.softmax(x, 0)
    yield "R08", softmax_rows.softmax(x, -1)
