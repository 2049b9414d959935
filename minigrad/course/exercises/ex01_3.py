"""01.3: methods without @staticmethod, and state on the class."""

from __future__ import annotations

import inspect
from typing import Any

import numpy as np

import minigrad
from minigrad.course.check import Faults, Finding
from minigrad.course.exercises.messages import Messages

say = Messages(__name__)


def look_at(answer: Any, random: np.random.Generator) -> Faults:
    """Two calls, then backward through the first; and the decorators."""
    yield from two_calls(answer, random)
    plain = [
        name
        for name in ("forward", "backward")
        if not isinstance(inspect.getattr_static(answer, name), staticmethod)
    ]
    if plain:
        yield say("plain", methods=" and ".join(plain), answer=answer.__name__)


def remarks_on(answer: Any) -> list[Finding]:
    """A ctx that still has the name of something else."""
    named = [
        name
        for name in ("forward", "backward")
        if "self" in inspect.signature(getattr(answer, name)).parameters
    ]
    methods = " and ".join(named)
    return [say("named", methods=methods, answer=answer.__name__)] if named else []


def two_calls(answer: Any, random: np.random.Generator) -> Faults:
    """Each call has to use its own factor, whichever runs backward first."""
    one, two = (float(n) for n in random.permutation([2, 3, 5, 7])[:2])
    x = minigrad.tensor(random.uniform(1, 2, 3).round(2), requires_grad=True)
    said: dict[str, Any] = {"answer": answer.__name__}
    attributes = set(vars(answer))
    first, second = answer.apply(x, one), answer.apply(x, two)
    if not np.allclose(first.detach().numpy(), x.detach().numpy() * one):
        yield say("value", got=first, x=x, factor=one, **said)
    upstream = minigrad.tensor(random.uniform(1, 2, 3).round(2))
    got = []
    for output in (first, second):
        (gradient,) = minigrad.autograd.grad(
            output, x, upstream, materialize_grads=True
        )
        assert gradient is not None  # zeros stand for a gradient that is missing
        got.append(gradient.numpy() / upstream.numpy())
    new = sorted(set(vars(answer)) - attributes)
    for call, factor, slopes in (("first", one, got[0]), ("second", two, got[1])):
        if not np.allclose(slopes, factor):
            name = "slope"
            if np.allclose(slopes, two) and call == "first":
                name = "slope.mixed.kept" if new else "slope.mixed"
            said |= {"call": call, "factor": factor, "slope": slopes[0]}
            yield say(name, other=two, new=", ".join(new), **said)
