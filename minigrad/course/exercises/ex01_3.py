"""01.3: methods without @staticmethod, and state on the class."""

from __future__ import annotations

import inspect
from typing import Any

import numpy as np

import minigrad
from minigrad.course.check import Finding

ANSWER = "Scaled"


SHIPPED = """\
class Scaled(mg.autograd.Function):
    def forward(self, x, factor):
        Scaled.factor = factor
        return x * factor

    def backward(self, grad_output):
        return grad_output * Scaled.factor, None
"""
"""The class as the notebook ships it: not tried. A test compares the two."""


def look_at(answer: Any, random: np.random.Generator) -> list[Finding]:
    """Two calls, then backward through the first; and the decorators."""
    found = list(two_calls(answer, random))
    plain = [
        name
        for name in ("forward", "backward")
        if not isinstance(inspect.getattr_static(answer, name), staticmethod)
    ]
    if plain and not found:
        what = f"{' and '.join(plain)} without @staticmethod"
        found.append(Finding(("A08",), what, answer.__name__))
    return found


def two_calls(answer: Any, random: np.random.Generator) -> list[Finding]:
    """Each call has to use its own factor, whichever runs backward first."""
    one, two = (float(n) for n in random.permutation([2, 3, 5, 7])[:2])
    x = minigrad.tensor(random.uniform(1, 2, 3).round(2), requires_grad=True)
    attributes = set(vars(answer))
    first, second = answer.apply(x, one), answer.apply(x, two)
    if not np.allclose(first.detach().numpy(), x.detach().numpy() * one):
        what = f"forward gives {first.tolist()} for x = {x.tolist()}, factor {one:g}"
        return [Finding((), what, f"{answer.__name__}.forward")]
    upstream = minigrad.tensor(random.uniform(1, 2, 3).round(2))
    got = []
    for output in (first, second):
        (gradient,) = minigrad.autograd.grad(
            output, x, upstream, materialize_grads=True
        )
        assert gradient is not None  # zeros stand for a gradient that is missing
        got.append(gradient.numpy() / upstream.numpy())
    new = sorted(set(vars(answer)) - attributes)
    for name, factor, slopes in (("first", one, got[0]), ("second", two, got[1])):
        if not np.allclose(slopes, factor):
            story = f"The factor of the other call is used ({two:g})."
            mixed = np.allclose(slopes, two) and name == "first"
            kept = f" The class has a new attribute: {', '.join(new)}." if new else ""
            return [
                Finding(
                    ("S04",) if mixed else (),
                    f"the {name} call had factor {factor:g}, its gradient is "
                    f"{slopes[0]:.6g} times the upstream one",
                    f"{answer.__name__}.backward",
                    looks_like=story + kept if mixed else "",
                    hint="Which object is made anew for every call of apply?",
                )
            ]
    return []
