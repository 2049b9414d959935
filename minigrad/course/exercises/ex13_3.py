"""13.3: a backward that is wrong, and right for an upstream gradient of ones."""

from __future__ import annotations

from typing import Any

import numpy as np

from minigrad.course.check import Faults
from minigrad.course.exercises.ex13_4 import tried
from minigrad.course.exercises.messages import Messages

say = Messages(__name__)


def look_at(answer: Any, random: np.random.Generator) -> Faults:
    """The weak check has to accept it everywhere, and the strong one to reject it."""
    rejected = False
    for shape in ((3,), (2, 3), (1,)):
        x = random.choice([-1.0, 1.0], shape) * random.uniform(0.5, 2, shape).round(2)
        g = random.choice([-1.0, 1.0], shape) * random.uniform(1.2, 2, shape).round(2)
        value, found = tried(answer, (x,), np.ones(shape))
        if not np.allclose(value, x * x):
            yield say("value", x=x, got=value)
        if not np.allclose(found, 2 * x, 1e-3, 1e-5):
            yield say("weak", x=x, got=found, right=2 * x)
        strong = tried(answer, (x,), g)[1]
        rejected |= not np.allclose(strong, 2 * x * g, 1e-3, 1e-5)
    if not rejected:
        yield say("strong")
