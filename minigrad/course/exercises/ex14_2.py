"""14.2: the ratio of two programs, measured so that it can be believed."""

from __future__ import annotations

from typing import Any

import numpy as np

from minigrad.course.check import Faults
from minigrad.course.exercises import timings


def look_at(answer: Any, random: np.random.Generator) -> Faults:
    """The median, the lowest and the highest ratio of rounds."""
    names = "compare", "one", "other"
    yield from timings.look_at(answer, random, names, "three numbers")
