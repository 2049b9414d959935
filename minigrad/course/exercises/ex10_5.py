"""10.5: a Hessian times a vector, by two backward passes."""

from __future__ import annotations

from typing import Any

import numpy as np

from minigrad.course.check import Array, Crash, Faults, Finding, left_behind
from minigrad.course.check.probes import tried
from minigrad.course.check.probes.second_order import Product, product_of
from minigrad.course.exercises.gym.random_inputs import numbers
from minigrad.course.exercises.messages import Messages, named

say = Messages(__name__)

SHAPES = ((4,), (2, 3), (1,))
ENOUGH = 3
"""Backward passes: two are needed, and there is a way with three."""


def look_at(answer: Any, random: np.random.Generator) -> Faults:
    """(a . x)³ + b . x³, whose derivatives are formulas, in three shapes."""
    for shape in SHAPES:
        x, v, a, b = (numbers(random, *shape) for _ in range(4))
        product = tried(product_of, (answer,), a, b, x, v)
        yield fault_in(product, x, v, a, b)


def hessian_times(v: Array, x: Array, a: Array, b: Array) -> Array:
    """The second derivatives, times v."""
    return np.asarray(6 * (a * x).sum() * (a * v).sum() * a + 6 * b * x * v)


def fault_in(
    product: Product | Crash, x: Array, v: Array, a: Array, b: Array
) -> Finding | None:
    """What is wrong with one call of it, if anything."""
    if isinstance(product, Crash):
        return say.of_crash("crashed", product)
    if product.beside:
        return say("beside")
    got, right = product.result, hessian_times(v, x, a, b)
    if got is None:
        name = "no_tensor.tuple" if product.kind == "tuple" else "no_tensor"
        return say(name, kind=product.kind)
    if got.shape != x.shape:
        return say("shape", got=got.shape, wanted=x.shape)
    if not np.allclose(got, right):
        slopes = 3 * (a * x).sum() ** 2 * a + 3 * b * x**2
        rows = hessian_times(np.ones_like(v), x, a, b)
        known = {"adds": slopes + right, "held": right, "twice": right * v}
        known |= {"rows": rows, "late": rows * v, "slopes": slopes * v}
        known["diagonal"] = 6 * ((a * x).sum() * a**2 + b * x) * v
        # What was in x.grad before the call, ones, may be in it as well.
        near = [np.allclose(got, k) or np.allclose(got, k + 1) for k in known.values()]
        name = named("wrong", dict(zip(known, near, strict=True)), bool)
        at = np.unravel_index(int(np.argmax(abs(got - right))), right.shape)
        place = [int(i) for i in at]
        return say(name, v=v, at=place, got=float(got[at]), right=float(right[at]))
    if got.dtype != x.dtype:
        return say("dtype", got=got.dtype, wanted=x.dtype)
    if product.passes > ENOUGH:
        return say("many", size=x.size, passes=product.passes)
    return left_behind("hvp", product.changed)
