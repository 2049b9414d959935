"""10.5: a Hessian times a vector, by two backward passes."""

from __future__ import annotations

from typing import Any

import numpy as np

import minigrad
from minigrad.course.check import Array, Finding, crash_of, submission
from minigrad.course.exercises.gym.random_inputs import numbers
from minigrad.course.exercises.messages import Messages

say = Messages(__name__)

ANSWER = "hvp"
SHAPES = ((4,), (2, 3), (1,))
ENOUGH = 3
"""Backward passes: two are needed, and there is a way with three."""


class Mixed:
    """(a . x)³ + b . x³, which counts the backward passes that reach its x."""

    def __init__(self, a: Array, b: Array) -> None:
        self.a, self.b, self.passes = a, b, 0

    def __call__(self, x: Any) -> Any:
        inner = x * 1
        if inner.requires_grad:
            inner.register_hook(self._count)
        a, b = minigrad.tensor(self.a), minigrad.tensor(self.b)
        return (a * inner).sum() ** 3 + (b * inner**3).sum()

    def _count(self, gradient: Any) -> None:
        self.passes += 1

    def slopes(self, x: Array) -> Array:
        """The first derivatives."""
        a, b = self.a, self.b
        return np.asarray(3 * (a * x).sum() ** 2 * a + 3 * b * x**2)

    def hessian_times(self, x: Array, v: Array) -> Array:
        """The second ones times v."""
        a, b = self.a, self.b
        return np.asarray(6 * (a * x).sum() * (a * v).sum() * a + 6 * b * x * v)


def look_at(answer: Any, random: np.random.Generator) -> list[Finding]:
    """Three shapes; then x.grad, and how many passes it took."""
    unusable = submission.no_function(answer, ANSWER)
    if unusable:
        return [unusable]
    for shape in SHAPES:
        x, v, a, b = (numbers(random, *shape) for _ in range(4))
        found = of_one(answer, Mixed(a, b), x, v)
        if found:
            return [found]
    return []


def of_one(answer: Any, f: Mixed, x: Array, v: Array) -> Finding | None:
    """What is wrong with one call of it, if anything."""
    leaf = minigrad.tensor(x, requires_grad=True)
    leaf.grad = minigrad.tensor(np.ones_like(x))
    try:
        result = answer(f, leaf, minigrad.tensor(v))
    except NotImplementedError:
        raise
    except Exception as error:
        text = str(error).partition("\n")[0]
        said = f"{type(error).__name__}: {text}"
        return say.of_crash("crashed", crash_of("", error), text=said)
    if not isinstance(result, minigrad.Tensor):
        kind = type(result).__name__
        name = "no_tensor.tuple" if kind == "tuple" else "no_tensor"
        return say(name, kind=kind)
    got = result.detach().numpy()
    if got.shape != x.shape:
        return say("shape", got=got.shape, wanted=x.shape)
    right = f.hessian_times(x, v)
    if not np.allclose(got, right):
        return wrong(f, x, v, got)
    if leaf.grad is None or not np.all(leaf.grad.detach().numpy() == 1):
        now = "None" if leaf.grad is None else leaf.grad
        return say("grad", before=np.ones_like(x), now=now)
    if f.passes > ENOUGH:
        return say("many", size=x.size, passes=f.passes)
    return None


def wrong(f: Mixed, x: Array, v: Array, got: Array) -> Finding:
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
