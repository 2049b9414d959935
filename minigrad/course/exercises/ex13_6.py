"""13.6: the dot-product test, on linear Functions that are right or wrong."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

import minigrad
from minigrad.course.check import Finding, submission
from minigrad.course.check.probes import seen
from minigrad.course.check.probes.checkers import Judged, judged
from minigrad.course.exercises.messages import Messages

say = Messages(__name__)

ANSWER = "is_adjoint"
SIZE, TIMES = 5, 3


class Sums(minigrad.autograd.Function):
    """Running sums."""

    @staticmethod
    def forward(ctx: Any, x: Any) -> Any:
        return x.cumsum(0)

    @staticmethod
    def backward(ctx: Any, grad_output: Any) -> Any:
        return grad_output.flip(0).cumsum(0).flip(0)


class Forwards(Sums):
    """Running sums whose backward runs in forward's direction."""

    @staticmethod
    def backward(ctx: Any, grad_output: Any) -> Any:
        return grad_output.cumsum(0)


class Scaled(Sums):
    """Running sums whose gradient is 5 % too large."""

    @staticmethod
    def backward(ctx: Any, grad_output: Any) -> Any:
        return 1.05 * grad_output.flip(0).cumsum(0).flip(0)


class Turned(minigrad.autograd.Function):
    """A step round the ring."""

    @staticmethod
    def forward(ctx: Any, x: Any) -> Any:
        return x.roll(1, 0)

    @staticmethod
    def backward(ctx: Any, grad_output: Any) -> Any:
        return grad_output.roll(-1, 0)


class SameWay(Turned):
    """A step round the ring whose backward steps on."""

    @staticmethod
    def backward(ctx: Any, grad_output: Any) -> Any:
        return grad_output.roll(1, 0)


RIGHT = (Sums, Turned)
WRONG = (Scaled, Forwards, SameWay)


def look_at(answer: Any, random: np.random.Generator) -> list[Finding]:
    """The first of which the test says the wrong thing."""
    unusable = submission.no_function(answer, ANSWER)
    return [unusable] if unusable else list(faults(answer, random))[:1]


def faults(answer: Any, random: np.random.Generator) -> Iterator[Finding]:
    """Each Function several times, in float32, at numbers of the usual size."""
    for function in (*RIGHT, *WRONG):
        # Not normal: an answer may draw from the same seed, and these would be its v.
        numbers = random.uniform(-60, 60, (TIMES, SIZE)).astype(np.float32)
        tries = [seen(judged, (answer,), function, x) for x in numbers]
        text: str = function.__doc__ or ""
        said = {"rule": text[0].lower() + text[1:].rstrip(".")}
        if any([found.said is None for found in tries]):
            yield say("nothing", **said)
        elif function in RIGHT:
            refused = [found for found in tries if not found.said]
            if refused:
                yield say(f"refuses{why(refused[0], True)}", **said)
        elif all([found.said for found in tries]):  # once may be bad luck
            yield say(f"accepts{why(tries[0], False)}", **said)


def why(found: Judged, is_right: bool) -> str:
    """Which habit made the test say so."""
    if not len(found.sent) or not len(found.asked):
        return ".nothing_sent"
    u, v = found.asked[0], found.sent[0]
    if is_right:
        small = len(found.asked) > 1 and np.abs(found.asked - u).max() < 0.01
        return ".differences" if small else ""
    if (v == v[0]).all():
        return ".ones"
    return ".same" if np.allclose(u, v) else ""
