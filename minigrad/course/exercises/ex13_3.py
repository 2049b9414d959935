"""13.3: a backward that is wrong, and right for an upstream gradient of ones."""

from __future__ import annotations

from typing import Any

import numpy as np

from minigrad.course.check import Faults, left_behind
from minigrad.course.check.probes import checkers, seen
from minigrad.course.exercises.messages import Messages

say = Messages(__name__)


def look_at(answer: Any, random: np.random.Generator) -> Faults:
    """The weak check has to accept it everywhere, and the strong one to reject it."""
    for shape in ((3,), (2, 3), (1,), ()):
        x, sizes = random.uniform(0.5, 2, shape), random.uniform(1.2, 2, shape)
        x = np.asarray(random.choice([-1.0, 1.0], shape) * x.round(2))
        # Of both signs and in no order: what sorts them isn't right by luck.
        sizes = np.roll(np.sort(sizes, None), 1).reshape(shape)
        g = np.asarray(np.resize([1, -1], shape) * sizes)
        if x.ndim == 2:
            x[0, 0] = 0
        weak, strong = [
            seen(checkers.sloped, (answer,), (x,), sent) for sent in (np.ones(shape), g)
        ]
        if not np.allclose(weak.value, x * x):
            yield say("value", x=x, got=weak.value)
        if not np.array_equal(weak.given[0], x):
            yield left_behind("Fooled.backward", ("x.numbers",))
        if weak.arrived[0] is None:
            yield say("none", x=x)
        if not np.allclose(weak.slopes, 2 * x, 1e-3, 1e-5):
            yield say("weak", x=x, got=weak.slopes[0], right=2 * x)
        # Of one number, the mean and the like are the number itself.
        if x.size > 1 and np.allclose(strong.slopes, 2 * x * g, 1e-3, 1e-5):
            yield say("strong", shape=shape)
