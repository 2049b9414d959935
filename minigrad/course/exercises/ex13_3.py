"""13.3: a backward that is wrong, and right for an upstream gradient of ones."""

from __future__ import annotations

from typing import Any

import numpy as np

import minigrad
from minigrad.course.check import Array, Faults
from minigrad.course.exercises.messages import Messages

say = Messages(__name__)


def look_at(answer: Any, random: np.random.Generator) -> Faults:
    """The weak check has to accept it everywhere, and the strong one to reject it."""
    rejected = False
    for shape in ((3,), (2, 3), (1,)):
        x = random.choice([-1.0, 1.0], shape) * random.uniform(0.5, 2, shape).round(2)
        g = random.choice([-1.0, 1.0], shape) * random.uniform(1.2, 2, shape).round(2)
        value = answer.apply(minigrad.tensor(x, requires_grad=True)).detach().numpy()
        if not np.allclose(value, x * x):
            yield say("value", x=x, got=value)
        found = gradient(answer, x, np.ones(shape))
        if not np.allclose(found, 2 * x, 1e-3, 1e-5):
            yield say("weak", x=x, got=found, right=2 * x)
        rejected |= not np.allclose(gradient(answer, x, g), 2 * x * g, 1e-3, 1e-5)
    if not rejected:
        yield say("strong")


def gradient(answer: Any, x: Array, g: Array) -> Array:
    """What its backward makes of an upstream gradient."""
    leaf = minigrad.tensor(x, requires_grad=True)
    y = answer.apply(leaf)
    (found,) = minigrad.autograd.grad(
        y, leaf, minigrad.tensor(g), materialize_grads=True
    )
    assert found is not None  # zeros stand for a gradient that is missing
    return np.asarray(found.numpy())
