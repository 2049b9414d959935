"""00.2: one missing line in a forward."""

from __future__ import annotations

from typing import Any

import numpy as np

import minigrad
from minigrad.course.check import Faults
from minigrad.course.exercises.messages import Messages, named

say = Messages(__name__)


def look_at(answer: Any, random: np.random.Generator) -> Faults:
    """Compare what comes out with twice what went in."""
    function = minigrad.autograd.Function
    if not (isinstance(answer, type) and issubclass(answer, function)):
        yield say("no_class", where="the call of check", kind=type(answer).__name__)
    numbers = random.uniform(1, 9, 3).round(1)
    result = answer.apply(minigrad.tensor(numbers))
    where = f"{answer.__name__}.forward"
    if result is None:
        yield say("nothing", where=where)
    if not isinstance(result, minigrad.Tensor):
        yield say("no_tensor", where=where, kind=type(result).__name__)
    if result.shape == numbers.shape and np.allclose(result.numpy(), 2 * numbers):
        return
    usual = {
        "x": numbers,
        "plus": numbers + 2,
        "square": numbers**2,
        "half": numbers / 2,
    }

    def fits(values: Any) -> bool:
        return result.shape == values.shape and np.allclose(result.numpy(), values)

    name = named("other", usual, fits)
    yield say(name, where=where, x=numbers, got=result)
