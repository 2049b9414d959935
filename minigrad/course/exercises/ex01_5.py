"""01.5: one class that mixes two calls up, and one that does not."""

from __future__ import annotations

from typing import Any

import numpy as np

import minigrad
from minigrad.course.check import Faults
from minigrad.course.exercises.messages import Messages

say = Messages(__name__)


def look_at(answer: Any, random: np.random.Generator) -> Faults:
    """Run two calls of each, and backward through the first one."""
    pair = list(answer) if isinstance(answer, (list, tuple)) else [answer]
    functions = [
        each
        for each in pair
        if isinstance(each, type) and issubclass(each, minigrad.autograd.Function)
    ]
    if len(pair) != 2 or len(functions) != 2:
        yield say("not_two", count=len(functions))
    leaky, clean = functions
    one, two = (float(n) for n in random.permutation([2.25, 3.75, 5.5, 7])[:2])
    said: dict[str, Any] = {"one": one, "two": two}
    for each in functions:
        alone = slope_of_the_first(each, [one])
        if not np.isclose(alone, one):
            yield say("wrong_alone", answer=each.__name__, got=alone, **said)
    mixed = slope_of_the_first(leaky, [one, two])
    if np.isclose(mixed, one):
        yield say("not_mixed", answer=leaky.__name__, got=mixed, **said)
    before = set(vars(clean))
    kept_apart = slope_of_the_first(clean, [one, two])
    new = sorted(set(vars(clean)) - before)
    said |= {"answer": clean.__name__, "new": ", ".join(new)}
    if new:
        yield say("mixed.on_class", **said)
    if not np.isclose(kept_apart, one):
        yield say("mixed", got=kept_apart, **said)


def slope_of_the_first(function: Any, factors: list[float]) -> float:
    """The gradient through the first of several calls made one after another."""
    x = minigrad.tensor(1.0, requires_grad=True)
    outputs = [function.apply(x, factor) for factor in factors]
    (gradient,) = minigrad.autograd.grad(outputs[0], x)
    return np.nan if gradient is None else gradient.item()
