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
    """Either of two calls has to use its own factor, whichever goes back first."""
    one, two = (float(n) for n in random.permutation([2, 3, 5, 7])[:2])
    x = minigrad.tensor(random.uniform(1, 2, 3).round(2), requires_grad=True)
    attributes = dict(vars(answer))
    upstream = minigrad.tensor(random.uniform(1, 2, 3).round(2))
    for order in (1, -1):
        calls = [(answer.apply(x, a), a, b) for a, b in ((one, two), (two, one))]
        new = [n for n, v in vars(answer).items() if attributes.get(n) is not v]
        for y, own, other in calls[::order]:
            (gradient,) = minigrad.autograd.grad(y, x, upstream, materialize_grads=True)
            assert gradient is not None  # zeros stand for a gradient that is missing
            if np.allclose(gradient.numpy(), other * upstream.numpy()):
                said = {"answer": answer.__name__, "factor": own, "other": other}
                yield say("mixed.kept" if new else "mixed", new=", ".join(new), **said)
