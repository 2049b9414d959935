"""10.5: a Hessian times a vector, by two backward passes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from minigrad.course.check import Array, Crash, Faults, Finding
from minigrad.course.check.probes import tried
from minigrad.course.check.probes.second_order import Product, product_of
from minigrad.course.exercises.gym.random_inputs import numbers
from minigrad.course.exercises.messages import Messages

say = Messages(__name__)

SHAPES = ((4,), (2, 3), (1,))
ENOUGH = 3
"""Backward passes: two are needed, and there is a way with three."""


@dataclass(frozen=True)
class Known:
    """Slopes and Hessian of (a . x)³ + b . x³ by their formulas."""

    a: Array
    b: Array

    def slopes(self, x: Array) -> Array:
        """The first derivatives."""
        a, b = self.a, self.b
        return np.asarray(3 * (a * x).sum() ** 2 * a + 3 * b * x**2)

    def hessian_times(self, x: Array, v: Array) -> Array:
        """The second ones times v."""
        a, b = self.a, self.b
        return np.asarray(6 * (a * x).sum() * (a * v).sum() * a + 6 * b * x * v)


def look_at(answer: Any, random: np.random.Generator) -> Faults:
    """Three shapes; then x.grad, and how many passes it took."""
    for shape in SHAPES:
        x, v, a, b = (numbers(random, *shape) for _ in range(4))
        product = tried(product_of, (answer,), a, b, x, v)
        yield fault_in(product, Known(a, b), x, v)


def fault_in(product: Product | Crash, f: Known, x: Array, v: Array) -> Finding | None:
    """What is wrong with one call of it, if anything."""
    if isinstance(product, Crash):
        return say.of_crash("crashed", product)
    got = product.result
    if got is None:
        name = "no_tensor.tuple" if product.kind == "tuple" else "no_tensor"
        return say(name, kind=product.kind)
    if got.shape != x.shape:
        return say("shape", got=got.shape, wanted=x.shape)
    right = f.hessian_times(x, v)
    if not np.allclose(got, right):
        return wrong(f, x, v, got)
    if product.grad is None or not np.all(product.grad == 1):
        now = "None" if product.grad is None else product.grad
        return say("grad", before=np.ones_like(x), now=now)
    if product.passes > ENOUGH:
        return say("many", size=x.size, passes=product.passes)
    return None


def wrong(f: Known, x: Array, v: Array, got: Array) -> Finding:
    """A result with other numbers than it should have."""
    slopes, right = f.slopes(x), f.hessian_times(x, v)
    rows = f.hessian_times(x, np.ones_like(v))
    known = {
        "wrong.adds": slopes + right,
        "wrong.rows": rows,
        "wrong.late": rows * v,
        "wrong.slopes": slopes * v,
    }
    # What was in x.grad before the call may be in it as well.
    names = [n for n, k in known.items() if np.allclose(got, k)]
    names += [n for n, k in known.items() if np.allclose(got, k + 1)]
    at = np.unravel_index(int(np.argmax(abs(got - right))), right.shape)
    place = [int(i) for i in at]
    numbers_of = {"got": float(got[at]), "right": float(right[at])}
    return say([*names, "wrong"][0], v=v, at=place, **numbers_of)
