"""08.1: five programs with a change in place, run and compared with the true slope."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import minigrad
from minigrad.course.exercises.ex03_1 import SquareByAttribute


def result_saved(h: Any) -> Any:
    """A sigmoid; then its input is changed."""
    y = h.sigmoid()
    h.mul_(2)
    return y


def input_saved(h: Any) -> Any:
    """A sine; then its input is changed."""
    y = h.sin()
    h.mul_(2)
    return y


def changed_first(h: Any) -> Any:
    """The change; then a product."""
    h.mul_(2)
    return h * h


def kept_as_attribute(h: Any) -> Any:
    """A Function that keeps an attribute; then its input is changed."""
    y = SquareByAttribute.apply(h)
    h.mul_(2)
    return y


def through_a_view(h: Any) -> Any:
    """A product; then a part of its input is changed."""
    y = h * h
    part = h[0]
    part.mul_(2)
    return y


PROGRAMS: dict[str, Callable[[Any], Any]] = {
    "a": result_saved,
    "b": input_saved,
    "c": changed_first,
    "d": kept_as_attribute,
    "e": through_a_view,
}


def truth() -> dict[str, str]:
    """How each program ends."""
    with minigrad.teaching(False):
        return {name: ending(program) for name, program in PROGRAMS.items()}


def ending(program: Callable[[Any], Any]) -> str:
    """The gradient of ``program(x * 1)`` against the slope of its values."""
    start = np.array([0.6, 1.1])

    def values(x: Any) -> Any:
        with minigrad.no_grad():
            return program(minigrad.tensor(x) * 1).numpy()

    step = 1e-6
    slopes = (values(start + step) - values(start - step)) / (2 * step)
    x = minigrad.tensor(start, requires_grad=True)
    try:
        program(x * 1).sum().backward()
    except RuntimeError:
        return "an error"
    assert x.grad is not None
    right = np.allclose(x.grad.numpy(), slopes)
    return "right" if right else "silently wrong"
