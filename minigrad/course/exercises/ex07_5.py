"""07.5: rounding that hands gradients on, and a test that is right for it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import minigrad
from minigrad.course.check import Contract, Finding, Part, crash_of, says_todo, thrown
from minigrad.course.check.probes import opinions, seen
from minigrad.course.exercises.gym import straight_through_round
from minigrad.course.exercises.messages import Messages

say = Messages(__name__)

ANSWER = "Round, hands_on, why"
FEWEST_WORDS = 5
ROUNDS = 2

Asked = tuple[bool | None, bool, Finding | None]

PARTS = (
    Part(
        Contract(name="Round", arguments=("x",)),
        straight_through_round.reference,
        straight_through_round.cases,
        straight_through_round.gradients,
        straight_through_round.wrong_gradients,
        straight_through_round.wrong_results,
    ),
)


class Right(minigrad.autograd.Function):
    """What a test of the promise has to accept."""

    @staticmethod
    def forward(ctx: Any, x: Any) -> Any:
        ctx.save_for_backward(x)
        return x.round()

    @staticmethod
    def backward(ctx: Any, grad_output: Any) -> Any:
        return grad_output


class Copied(Right):
    """backward hands on the same numbers in another tensor."""

    @staticmethod
    def backward(ctx: Any, grad_output: Any) -> Any:
        return grad_output.clone()


class TrueSlope(Right):
    """backward tells the truth: nothing passes."""

    @staticmethod
    def backward(ctx: Any, grad_output: Any) -> Any:
        return grad_output * 0


class Ones(Right):
    """backward forgets what arrives."""

    @staticmethod
    def backward(ctx: Any, grad_output: Any) -> Any:
        return grad_output * 0 + 1


class Window(Right):
    """backward lets nothing pass for an x beyond -1 and 1."""

    @staticmethod
    def backward(ctx: Any, grad_output: Any) -> Any:
        (x,) = ctx.saved_tensors
        return grad_output * (x.abs() <= 1)


class Clipped(Right):
    """backward cuts large gradients, and negative ones."""

    @staticmethod
    def backward(ctx: Any, grad_output: Any) -> Any:
        return grad_output.clamp(-1, 1)


WRONG = (
    (TrueSlope, "zeros"),
    (Ones, "ones"),
    (Window, "window"),
    (Clipped, "clipped"),
)
"""What a test of the promise has to refuse, and the message if it does not."""


def look_at_rest(functions: Sequence[Any], rest: Sequence[Any]) -> list[Finding]:
    """The test accepts what is right and refuses what is wrong; the box is filled."""
    hands_on, why = rest
    if not callable(hands_on):
        return [say("no_function", given=hands_on)]
    return test_of_the_test(hands_on) or explanation(why)


def test_of_the_test(hands_on: Any) -> list[Finding]:
    """Give it Functions whose backward is known.

    Each is asked about twice, and all in an order that nobody can count on.
    """
    functions = [Right, Copied, *[function for function, _ in WRONG]] * ROUNDS
    about: dict[Any, list[Asked]] = {function: [] for function in functions}
    for place in minigrad.randperm(len(functions)).tolist():
        about[functions[place]].append(asked(hands_on, functions[place]))
    # Of several answers about one Function, one that is wrong counts.
    said, measured, raised = min(about[Right], key=is_right)
    if raised:
        return [raised]
    if said is None:
        return [say("nothing")]
    if not said:
        return [say("refuses.by_slope" if measured else "refuses")]
    said, measured, raised = min(about[Copied], key=is_right)
    if raised:
        return [raised]
    if not said:
        return [say("refuses_a_copy")]
    for function, name in WRONG:
        said, measured, raised = max(about[function], key=is_right)
        if raised:
            return [raised]
        if said:
            return [say(f"accepts.{name}{'.by_slope' if measured else ''}")]
    return []


def asked(hands_on: Any, function: Any) -> Asked:
    """What the test says of a Function, whether it measured slopes, what it raised."""
    try:
        opinion = seen(opinions.opinion_on, (hands_on,), function)
    except Exception as error:
        return None, False, raised_by(error)
    if opinion.shape != (1,):
        return None, False, say("several", shape=opinion.shape)
    return opinion.said, opinion.measured, None


def is_right(one: Asked) -> bool:
    """Whether the test said that a Function keeps its promise."""
    return bool(one[0])


def raised_by(error: Exception) -> Finding:
    """An exception out of the test."""
    if says_todo(error):
        return say("todo", todo=str(error))
    crash = crash_of("", error)
    return say.of_crash("raised", crash, text=thrown(crash).removesuffix(": "))


def explanation(why: Any) -> list[Finding]:
    """Whether there is one; nobody grades what it says."""
    if not isinstance(why, str):
        return [say("why.no_text", kind=type(why).__name__)]
    words = len(why.split())
    if words >= FEWEST_WORDS:
        return []
    return [say("why.short" if words else "why", words=words)]
