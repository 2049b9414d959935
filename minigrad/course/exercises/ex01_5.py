"""01.5: one class that mixes two calls up, and one that does not."""

from __future__ import annotations

from typing import Any

import numpy as np

import minigrad
from minigrad.course.check import Finding

ANSWER = "Leaky, Clean"


def look_at(answer: Any, random: np.random.Generator) -> list[Finding]:
    """Run two calls of each, and backward through the first one."""
    pair = list(answer) if isinstance(answer, (list, tuple)) else [answer]
    functions = [
        each
        for each in pair
        if isinstance(each, type) and issubclass(each, minigrad.autograd.Function)
    ]
    if len(pair) != 2 or len(functions) != 2:
        what = f"check was given {len(functions)} Function classes, not two"
        hint = 'Hand over both, in this order: check("01.5", [Leaky, Clean])'
        return [Finding((), what, "the call of check", hint=hint)]
    leaky, clean = functions
    one, two = (float(n) for n in random.permutation([2, 3, 5, 7])[:2])
    alone = slope_of_the_first(leaky, [one])
    if not np.isclose(alone, one):
        what = f"with one call and factor {one:g}, the gradient is {alone:g}"
        return [Finding((), what, leaky.__name__, hint="Even Leaky is right alone.")]
    mixed = slope_of_the_first(leaky, [one, two])
    if np.isclose(mixed, one):
        return [
            Finding(
                (),
                f"two calls of {leaky.__name__}, with {one:g} and {two:g}: the first "
                f"gives {mixed:g}, so nothing was mixed up",
                leaky.__name__,
                looks_like="tests only one call",
                hint="Where does Leaky keep its factor, and who else can write there?",
            )
        ]
    before = set(vars(clean))
    kept_apart = slope_of_the_first(clean, [one, two])
    new = sorted(set(vars(clean)) - before)
    if not np.isclose(kept_apart, one) or new:
        what = f"two calls of {clean.__name__}: the first gives {kept_apart:g}"
        if new:
            what = f"{clean.__name__} wrote on the class: {', '.join(new)}"
        return [
            Finding(
                ("S04",),
                what,
                clean.__name__,
                hint="Which object is made anew for every call of apply?",
            )
        ]
    return []


def slope_of_the_first(function: Any, factors: list[float]) -> float:
    """The gradient through the first of several calls made one after another."""
    x = minigrad.tensor(1.0, requires_grad=True)
    outputs = [function.apply(x, factor) for factor in factors]
    (gradient,) = minigrad.autograd.grad(outputs[0], x)
    return np.nan if gradient is None else gradient.item()
