"""13.1: what gradcheck says of right rules and of wrong ones."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import minigrad
from minigrad.autograd import gradcheck
from minigrad.course.exercises.rules import function_of

SQUARE = function_of({"forward": "x * x", "backward": "g * 2 * x"})
CUBE = function_of({"forward": "x**3", "backward": "g * x**2"})
"""Its rule has lost a factor 3."""
SWAPPED = function_of({"of": "x, w", "forward": "x * w", "backward": "(g * x, g * w)"})


def leaf(*numbers: float, dtype: Any = minigrad.float64) -> Any:
    """A tensor whose gradient is checked."""
    return minigrad.tensor(list(numbers), dtype=dtype, requires_grad=True)


def said(function: Callable[..., Any], *inputs: Any) -> str:
    """What gradcheck says of it."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # it warns of float32
        passes = gradcheck(function, inputs, raise_exception=False)
    return "passes" if passes else "fails"


def truth() -> dict[str, str]:
    """Each is checked."""
    return {
        "a": said(lambda x: x.relu(), leaf(0.0, 1.0)),
        "b": said(SQUARE.apply, leaf(0.5, 3.0, dtype=minigrad.float32)),
        "c": said(SWAPPED.apply, leaf(2.0, -3.0), leaf(2.0, -3.0)),
        "d": said(lambda x: x.abs(), leaf(0.0, 1.0)),
        "e": said(CUBE.apply, leaf(0.001, -0.002)),
        "f": said(lambda x: x * minigrad.rand(2), leaf(0.5, 3.0)),
    }
