"""The slope of a reference, on which every right gradient rests."""

from __future__ import annotations

import numpy as np

from minigrad.course.check.exercise import slopes


def test_slopes_are_exact_to_the_last_digits() -> None:
    x, g = np.array([[0.5, -2.0], [3.0, 1e-3]]), np.array([[1.0, 3.0], [-2.0, 0.1]])
    (slope,) = slopes(lambda a: np.exp(a) * a, (x,), g)
    assert np.allclose(slope, g * np.exp(x) * (1 + x), rtol=1e-15, atol=0)


def test_slopes_see_that_elements_mix() -> None:
    x, g = np.array([1.0, 2.0, 4.0]), np.array([1.0, -1.0, 2.0])
    (slope,) = slopes(np.cumsum, (x,), g)
    assert slope.tolist() == [2.0, 1.0, 2.0]


def test_slopes_leave_the_inputs_alone() -> None:
    x, y = np.array([1.0, 2.0]), np.array(3.0)
    slopes(lambda a, b: a * b, (x, y), np.ones(2))
    assert (x.tolist(), float(y)) == ([1.0, 2.0], 3.0)
