"""04.3: three backwards that the engine refuses, each with its message."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

import minigrad
from minigrad.course.check import Faults, Finding, crash_of
from minigrad.course.exercises.messages import Messages

say = Messages(__name__)


def look_at(answer: Sequence[Any], random: np.random.Generator) -> Faults:
    """Each class once: does the engine refuse it? Then the sum in Shift."""

    def numbers(*shape: int) -> Any:
        drawn = minigrad.tensor(random.uniform(0.3, 2.0, shape).round(2))
        return drawn.requires_grad_()

    t = float(random.choice([0.25, 0.4, 0.75]))
    calls = [numbers(3), 2.5], [numbers(2, 3), numbers(3)], [numbers(3), t, numbers(3)]
    for function, given in zip(answer, calls, strict=True):
        yield refused(function, given, numbers)
    yield refused(answer[1], [numbers(2, 1), numbers(1)], numbers, "narrow")
    yield from summed_by_the_engine(answer[1])


def summed_by_the_engine(shift: Any) -> list[Finding]:
    """The numbers are right without a sum, too; that is the engine's doing."""
    shapes: list[tuple[int, ...]] = []

    def backward(ctx: Any, grad_output: Any) -> Any:
        returned = shift.backward(ctx, grad_output)
        shapes.append(tuple(returned[1].shape))
        return returned

    watched: Any = type(shift.__name__, (shift,), {"backward": staticmethod(backward)})
    with minigrad.teaching(False):
        x, by = minigrad.ones(2, 3), minigrad.ones(3, requires_grad=True)
        watched.apply(x, by).sum().backward()
    if shapes == [(3,)]:
        return []
    name = "unsummed.kept" if shapes == [(1, 3)] else "unsummed"
    return [say(name, shape=shapes[0], answer=shift.__name__)]


def refused(
    function: Any, given: Sequence[Any], numbers: Any, name: str = "refused"
) -> Finding | None:
    """What the engine says to one backward; None if it takes what comes."""
    who = function.__name__
    output = function.apply(*given)
    try:
        output.backward(numbers(*output.shape).detach())
    except (TypeError, RuntimeError, NotImplementedError) as error:
        crash = crash_of("", error)
        kind = type(error).__name__
        return say.of_crash(name, crash, kind=kind, error=error, answer=who)
    return None
