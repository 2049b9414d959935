"""13.2: a learner's own gradcheck, on rules that are known to be right or wrong."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

import minigrad
from minigrad.course.check import Array, Finding, submission
from minigrad.course.check.probes import seen
from minigrad.course.check.probes.checkers import Judged, judged
from minigrad.course.exercises.messages import Messages

say = Messages(__name__)

ANSWER = "gradcheck"
MOVED = 1e-10
"""How far an element is from where it was if it was moved at all."""


class Square(minigrad.autograd.Function):
    """x times x."""

    @staticmethod
    def forward(ctx: Any, x: Any) -> Any:
        ctx.save_for_backward(x)
        return x * x

    @staticmethod
    def backward(ctx: Any, grad_output: Any) -> Any:
        (x,) = ctx.saved_tensors
        return grad_output * 2 * x


class Steep(Square):
    """Its slope changes fast."""

    @staticmethod
    def forward(ctx: Any, x: Any) -> Any:
        ctx.save_for_backward(x)
        return 10000 * x * x

    @staticmethod
    def backward(ctx: Any, grad_output: Any) -> Any:
        (x,) = ctx.saved_tensors
        return grad_output * 20000 * x


class Total(Square):
    """One number for all of x."""

    @staticmethod
    def forward(ctx: Any, x: Any) -> Any:
        ctx.save_for_backward(x)
        return (x * x).sum()


class Centered(minigrad.autograd.Function):
    """x without its mean."""

    @staticmethod
    def forward(ctx: Any, x: Any) -> Any:
        return x - x.mean()

    @staticmethod
    def backward(ctx: Any, grad_output: Any) -> Any:
        return grad_output - grad_output.mean()


class Zeros(Centered):
    """For g = 1 everywhere this is right."""

    @staticmethod
    def backward(ctx: Any, grad_output: Any) -> Any:
        return grad_output * 0


class Ignores(Square):
    """The upstream gradient is forgotten."""

    @staticmethod
    def backward(ctx: Any, grad_output: Any) -> Any:
        (x,) = ctx.saved_tensors
        return 2 * x


class Clips(Square):
    """The upstream gradient is cut off."""

    @staticmethod
    def backward(ctx: Any, grad_output: Any) -> Any:
        (x,) = ctx.saved_tensors
        return grad_output.clamp(0, 1) * 2 * x


class Turned(Square):
    """The sign is wrong."""

    @staticmethod
    def backward(ctx: Any, grad_output: Any) -> Any:
        (x,) = ctx.saved_tensors
        return -grad_output * 2 * x


class OneWrong(Square):
    """Only the last element's gradient is wrong."""

    @staticmethod
    def backward(ctx: Any, grad_output: Any) -> Any:
        (x,) = ctx.saved_tensors
        scale = minigrad.ones(x.shape, dtype=x.dtype)
        scale[-1] = 3
        return grad_output * 2 * x * scale


RIGHT = (Square, Total, Centered, Steep)
WRONG = (Turned, OneWrong, Ignores, Zeros, Clips)


def look_at(answer: Any, random: np.random.Generator) -> list[Finding]:
    """The first right rule that is refused, or wrong one that is accepted."""
    unusable = submission.no_function(answer, ANSWER)
    return [unusable] if unusable else list(faults(answer, random))[:1]


def faults(answer: Any, random: np.random.Generator) -> Iterator[Finding]:
    """What is wrong, most telling first."""
    for function in (*RIGHT, *WRONG):
        x = np.zeros(3) if function is Steep else drawn(random, function is Centered)
        found = seen(judged, (answer,), function, x)
        if found.said and function in WRONG:  # bad luck, perhaps, but hardly twice
            found = seen(judged, (answer,), function, x)
        said = {"rule": rule_of(function), "x": x}
        if found.said is None:
            yield say("nothing", **said)
        elif moved_for_good(found, x):
            yield say("not_undone", left=found.left, **said)
        elif found.said is not (function in RIGHT):
            name = "refuses" if function in RIGHT else "accepts"
            yield say(f"{name}{why(found, x, function)}", **said)


def rule_of(function: Any) -> str:
    """What it does, as a message says it."""
    text: str = function.__doc__
    return text[0].lower() + text[1:].rstrip(".")


def why(found: Judged, x: Array, function: Any) -> str:
    """Which habit made the check say so, by what it asked."""
    moves = np.array(found.asked).reshape(len(found.asked), -1) - x.ravel()
    if function in RIGHT:
        one_sided = moves.size and not (moves.min() < -MOVED and moves.max() > MOVED)
        return ".one_sided" if one_sided else ""
    if not len(found.sent):
        return ".nothing_sent"
    if (found.sent == found.sent.flat[0]).all():
        return ".ones"
    if found.sent.min() >= 0 and found.sent.max() <= 1:
        return ".tame"
    if len(np.unique(np.nonzero(np.abs(moves) > MOVED)[1])) < x.size:
        return ".few"
    return ""


def moved_for_good(found: Judged, x: Array) -> bool:
    """Whether an element was still moved when the next one's turn came, or at the end.

    A check that moves all at once, along a direction, never moves one alone.
    """
    if np.abs(found.left - x.ravel()).max() > MOVED:
        return True
    moves = np.abs(found.asked.reshape(len(found.asked), -1) - x.ravel()) > MOVED
    counts = {int(count) for count in moves.sum(1)}
    return x.size > 2 and 1 in counts and max(counts) > 1


def drawn(random: np.random.Generator, is_matrix: bool) -> Array:
    """Numbers that are all different, of both signs, none near 0."""
    numbers = random.permutation([0.5, -0.75, 1.25, -1.5, 2.0, 1.75])
    return numbers.reshape(2, 3) if is_matrix else numbers
