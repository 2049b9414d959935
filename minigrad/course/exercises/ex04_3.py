"""04.3: three backwards that the engine refuses, each with its message."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

import minigrad
from minigrad.course.check import Finding, crash_of
from minigrad.course.exercises.messages import Messages

say = Messages(__name__)

ANSWER = "Scale, Shift, Mix"


Given = list[Any]
Slopes = Callable[[Any, Given], list[Any]]


def look_at(answer: Sequence[Any], random: np.random.Generator) -> list[Finding]:
    """Each class once; the first that is not right. Then the sum in Shift."""

    def numbers(*shape: int) -> Any:
        drawn = minigrad.tensor(random.uniform(0.3, 2.0, shape).round(2))
        return drawn.requires_grad_()

    t = float(random.choice([0.25, 0.4, 0.75]))
    calls: list[tuple[Given, Slopes]] = [
        ([numbers(3), 2.5], lambda g, _: [g * 2.5, None]),
        ([numbers(2, 3), numbers(3)], lambda g, _: [g, g.sum(0)]),
        ([numbers(3), t, numbers(3)], lambda g, _: [g * (1 - t), None, g * t]),
    ]
    for function, (given, right) in zip(answer, calls, strict=True):
        finding = look_at_one(function, given, right, numbers)
        if finding is not None:
            return [finding]
    return summed_by_the_engine(answer[1])


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
    return [say("unsummed", shape=shapes[0], answer=shift.__name__)]


def look_at_one(function: Any, given: Given, right: Slopes, numbers: Any) -> Any:
    """What is wrong with one class; None if nothing is."""
    who = function.__name__
    output = function.apply(*given)
    upstream = numbers(*output.shape).detach()
    try:
        output.backward(upstream)
    except (TypeError, RuntimeError, NotImplementedError) as error:
        crash = crash_of("", error)
        kind = type(error).__name__
        return say.of_crash("refused", crash, kind=kind, error=error, answer=who)
    for place, (value, wanted) in enumerate(
        zip(given, right(upstream, given), strict=True), start=1
    ):
        if wanted is None:
            continue
        if value.grad is None:
            return say("none", place=place, answer=who)
        if not np.allclose(value.grad.numpy(), wanted.numpy()):
            return say("slope", place=place, got=value.grad, wanted=wanted, answer=who)
    return None
