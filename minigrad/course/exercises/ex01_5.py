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
        for factor in (two, one):
            result, slope = by_the_first(each, [factor], random)
            if not np.allclose([result, slope], factor):
                seen = {"factor": factor, "result": result, "slope": slope}
                yield say("wrong_alone", answer=each.__name__, **seen)
    before = kept_on(leaky)
    _, mixed = by_the_first(leaky, [one, two], random)
    if np.isclose(mixed, one):
        yield say("not_mixed", answer=leaky.__name__, got=mixed, **said)
    if kept_on(leaky) == before:
        yield say("elsewhere", answer=leaky.__name__)
    before = kept_on(clean)
    _, kept_apart = by_the_first(clean, [two, one], random)
    new = sorted([name for name, _ in kept_on(clean) - before])
    said |= {"answer": clean.__name__, "new": ", ".join(new)}
    if new:
        yield say("mixed.on_class", **said)
    if not np.isclose(kept_apart, two):
        yield say("mixed", got=kept_apart, **said)


def kept_on(function: Any) -> set[tuple[str, str]]:
    """The attributes of a Function's class, of those below it and of its nodes'."""
    kinds = [vars(kind).items() for kind in (*function.__mro__, function._backward_cls)]
    return {(n, f"{v} {getattr(v, '__dict__', v)}") for kind in kinds for n, v in kind}


def by_the_first(
    function: Any, factors: list[float], random: np.random.Generator
) -> tuple[float, float]:
    """What the first of several calls multiplies by, in forward and in backward."""
    x, g = (minigrad.tensor(random.uniform(1, 2, (2, 3)).round(2)) for _ in range(2))
    outputs = [function.apply(x.requires_grad_(), factor) for factor in factors]
    (gradient,) = minigrad.autograd.grad(outputs[0], x, g)
    if gradient is None:
        return factors[0], np.nan
    pairs = (outputs[0].detach().numpy(), x.detach().numpy()), (gradient.numpy(), g)
    ratios = [np.ravel(got / np.asarray(by)) for got, by in pairs]
    first, slope = [float(r[np.abs(r - factors[0]).argmax()]) for r in ratios]
    return first, slope
