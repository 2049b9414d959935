"""gym.Power: a tensor to a fixed power."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

from minigrad.course.check import Array, Arrays, Case
from minigrad.course.exercises.gym.elementwise import tensors
from minigrad.course.exercises.gym.random_inputs import numbers


def reference(x: Array, n: float) -> Array:
    """What forward returns."""
    return np.asarray(x**n)


def gradients(g: Array, x: Array, n: float) -> Arrays:
    """The right gradients; a constant (n = 0) has the slope 0, at x = 0 as well."""
    return (np.zeros_like(x) if n == 0 else g * n * x ** (n - 1)), None


def cases(random: np.random.Generator) -> list[Case]:
    """Powers of every kind; positive numbers where the power is no integer."""
    powers = [3, -1, -2, 2, 3, 4, 2]
    drawn: list[tuple[str, Array, float]] = [
        (name, x, n) for (name, x), n in zip(tensors(random), powers, strict=True)
    ]
    drawn += [
        ("the power 2.5", abs(numbers(random, 4)), 2.5),
        ("a root, the power 0.5", abs(numbers(random, 2, 3)), 0.5),
        ("the power 0, with zeros among the numbers", np.array([0.0, 1.5, -0.0]), 0),
        ("the power 1, with a zero among the numbers", np.array([0.0, -2.5, 1.0]), 1),
        ("the power 2, with a zero among the numbers", np.array([0.0, 1.5, 2.0]), 2),
    ]
    return [
        Case(name, (x, n), numbers(random, *x.shape).astype(x.dtype))
        for name, x, n in drawn
    ]


def wrong_gradients(g: Array, x: Array, n: float) -> Iterator[tuple[str, Arrays]]:
    """What each known wrong rule returns."""
    none = np.zeros_like(x)
    with np.errstate(all="ignore"):
        y = x**n
        lowered = none if n == 0 else x ** (n - 1)
        # 0 ** -1 is infinite, and 0 times that is no number.
        rules = [("L19", n * np.power(x, float(n - 1))), ("L19", n * y / x)]
        rules.append(("L19", none if n == 0 else n * y / x))
        for slope in (n * y, n * y * x, n * np.power(x, float(n - 2)), (n + 1) * y):
            rules += [("L03", slope), ("L03", none if n == 0 else slope)]
        rules += [("L03", n * x), ("L03", np.full_like(x, n))]
        rules += [("L02", factor * lowered) for factor in (1, n - 1, n + 1)]
        rules += [("L02", np.power(x, float(n - 1))), ("L02", y)]
        rules += [("L01", abs(n) * lowered), ("R08", 2 * x), ("R08", 3 * x * x)]
        for whole in (int, math.floor, math.ceil, round):
            rules.append(("T02", whole(n) * lowered))
            exponent = float(whole(n) - 1)
            rules.append(("T02", none if n == 0 else n * np.power(x, exponent)))
            lower = float(whole(n - 1))
            rules.append(("T02", none if n == 0 else n * np.power(x, lower)))
        found = [(name, (g * slope, None)) for name, slope in rules]
    yield from found


def factors(x: Array, n: float) -> Iterator[tuple[str, float]]:
    """What a constant ratio of wrong to right could follow."""
    yield "L02", n


def wrong_results(x: Array, n: float) -> Iterator[tuple[str, Array]]:
    """What forward returns when it goes wrong in a known way."""
    with np.errstate(all="ignore"):
        cut = np.power(x, float(int(n)))
    yield "T02", cut
