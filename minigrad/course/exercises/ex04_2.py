"""04.2: ``Linear``, which computes only the gradients that are asked for."""

from __future__ import annotations

from typing import Any

import numpy as np

from minigrad import errors
from minigrad.course.check import Faults
from minigrad.course.check.probes import seen
from minigrad.course.check.probes.work import work_of
from minigrad.course.exercises.messages import Messages

say = Messages(__name__)

PRODUCTS = ("matmul", "mm", "bmm", "mv", "dot", "addmm", "einsum")
NAMES = ("x", "W", "b")
SHAPES = ((2, 3), (4, 3), (4,))


def look_also(answer: Any, random: np.random.Generator) -> Faults:
    """Count the matrix products of backward, for each single input that needs one."""
    for name in NAMES:
        inputs = tuple([random.normal(size=shape) for shape in SHAPES])
        needed = tuple([other == name for other in NAMES])
        count = len(seen(work_of, (answer,), inputs, needed, -1, PRODUCTS).backward)
        enough = 0 if name == "b" else 1
        if count > enough:
            made = errors.count_of(count, "matrix product")
            who = answer.__name__
            yield say("too_many", name=name, made=made, needed=enough, answer=who)
