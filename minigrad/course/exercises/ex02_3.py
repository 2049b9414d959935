"""02.3: ``Clip``, whose bounds are plain numbers."""

from __future__ import annotations

import numpy as np

from minigrad.course.check import Case
from minigrad.course.exercises.gym.elementwise import tensors
from minigrad.course.exercises.gym.random_inputs import numbers


def cases(random: np.random.Generator) -> list[Case]:
    """Numbers on all sides of the bounds, and on the bounds themselves."""
    bounds = [(-1.0, 1.0), (-0.5, 1.25), (0.4, 1.5), (-1.5, -0.25), (-0.75, 0.75)]
    on_bounds = np.array([-1.25, 0.5, 2.0, -3.0, 0.5, 1.0])
    drawn = [
        (name, x, *bounds[i % len(bounds)])
        for i, (name, x) in enumerate(tensors(random))
    ]
    # Second, because two calls of it and the next, alive at once, never agree.
    drawn.insert(1, ("numbers on the bounds -1.25 and 2", on_bounds, -1.25, 2.0))
    drawn.append(("bounds that are whole numbers", 3 * numbers(random, 5), -2, 2))
    drawn.append(("all of them inside", numbers(random, 4), -9.0, 9.0))
    return [
        Case(name, (x, lo, hi), numbers(random, *x.shape).astype(x.dtype))
        for name, x, lo, hi in drawn
    ]
