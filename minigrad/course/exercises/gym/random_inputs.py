"""Random numbers that the exercises of the gym are tried on."""

from __future__ import annotations

from typing import Any

import numpy as np

from minigrad.course.check import Array, Case


def numbers(random: np.random.Generator, *shape: int) -> Array:
    """Numbers of both signs, away from zero, short enough to be quoted."""
    size: Array = random.uniform(0.3, 2.5, shape) * random.choice([-1.0, 1.0], shape)
    return np.asarray(size.round(2))


def distinct(random: np.random.Generator, *shape: int) -> Array:
    """Numbers as above of which no two are equal, nor close to each other."""
    count = int(np.prod(shape))
    steps = random.permutation(np.arange(1, count + 1)) - count // 2 - 0.5
    return np.asarray((steps * 0.22 + 0.05).round(2).reshape(shape))


def sizes(random: np.random.Generator, count: int) -> tuple[int, ...]:
    """Different lengths for the axes of an input."""
    return tuple(int(n) for n in random.permutation([2, 3, 4, 5])[:count])


def single_precision(case: Case) -> Case:
    """The same case in float32."""

    def cast(value: Any) -> Any:
        if isinstance(value, np.ndarray) and value.dtype == np.float64:
            return value.astype(np.float32)
        return value

    g = case.upstream
    upstream = tuple(map(cast, g)) if isinstance(g, tuple) else cast(g)
    return Case(case.name, tuple(map(cast, case.inputs)), upstream)
