"""07.5: rounding that hands gradients on, and a test that is right for it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import minigrad
from minigrad.course.check import Finding, Part, says_todo
from minigrad.course.check.probes import opinions, seen
from minigrad.course.exercises.gym import straight_through_round

ANSWER = "Round, hands_on, why"
FEWEST_WORDS = 5
ROUNDS = 2

Asked = tuple[bool | None, bool, Finding | None]

PARTS = (
    Part(
        replace(straight_through_round.CONTRACT, name="Round"),
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
    (
        TrueSlope,
        "a backward that returns zeros",
        "which numbers does it look at, and what should they be?",
    ),
    (
        Ones,
        "a backward that returns ones, whatever arrives",
        "if ones arrive, who can tell? Which g would tell them apart?",
    ),
    (
        Window,
        "a backward that lets nothing pass where x is beyond 1",
        "is one of your numbers x below -1, or above 1?",
    ),
    (
        Clipped,
        "a backward that cuts what arrives at -1 and 1",
        "is one of your numbers g larger than 1?",
    ),
)


def look_at_rest(functions: Sequence[Any], rest: Sequence[Any]) -> list[Finding]:
    """The test accepts what is right and refuses what is wrong; the box is filled."""
    hands_on, why = rest
    if not callable(hands_on):
        what = f"hands_on is {hands_on!r:.60}, not a function"
        hint = "Hand over the function itself: hands_on, no brackets."
        return [Finding((), what, "hands_on", hint=hint)]
    return test_of_the_test(hands_on) or explanation(why)


def test_of_the_test(hands_on: Any) -> list[Finding]:
    """Give it Functions whose backward is known.

    Each is asked about twice, and all in an order that nobody can count on.
    """
    functions = [Right, Copied, *[function for function, _, _ in WRONG]] * ROUNDS
    about: dict[Any, list[Asked]] = {function: [] for function in functions}
    for place in minigrad.randperm(len(functions)).tolist():
        about[functions[place]].append(asked(hands_on, functions[place]))
    # Of several answers about one Function, one that is wrong counts.
    said, measured, raised = min(about[Right], key=is_right)
    if raised:
        return [raised]
    if said is None:
        hint = "Does every way through it end in a return?"
        return [Finding((), "hands_on returned nothing", "hands_on", hint=hint)]
    if not said:
        return [refuses_the_right_one(measured)]
    said, measured, raised = min(about[Copied], key=is_right)
    if raised:
        return [raised]
    if not said:
        what = "hands_on refuses a backward that returns a copy of what arrives"
        hint = "What is handed on: this one tensor, or its numbers?"
        return [Finding((), what, "hands_on", hint=hint)]
    for function, name, question in WRONG:
        said, measured, raised = max(about[function], key=is_right)
        if raised:
            return [raised]
        if not said:
            continue
        what = f"hands_on says True of {name}"
        hint = question[0].upper() + question[1:]
        if measured:
            tolerant = "This hides the failure by a tolerance: one wide enough for a "
            tolerant += "stand-in lets every rule pass."
            refused = (
                "gradcheck refuses every rule but the true slope: that it refuses "
            )
            refused += "one does not say which rule it is."
            return [
                Finding(
                    ("U10",),
                    what,
                    "hands_on",
                    looks_like=tolerant if function is TrueSlope else refused,
                    hint="What does Round promise of its gradient? Compare with that, "
                    "not with a slope.",
                )
            ]
        return [Finding((), what, "hands_on", hint=hint)]
    return []


def asked(hands_on: Any, function: Any) -> Asked:
    """What the test says of a Function, whether it measured slopes, what it raised."""
    try:
        opinion = seen(opinions.opinion_on, (hands_on,), function)
    except Exception as error:
        return None, False, raised_by(error)
    if opinion.shape != (1,):
        return None, False, one_for_each_element(opinion.shape)
    return opinion.said, opinion.measured, None


def is_right(one: Asked) -> bool:
    """Whether the test said that a Function keeps its promise."""
    return bool(one[0])


def one_for_each_element(shape: tuple[int, ...]) -> Finding:
    """A test that answers once for each element."""
    what = f"hands_on returned a Tensor of shape {shape}, not True or False"
    hint = "It says True or False for each element. Which method makes one of them all?"
    return Finding((), what, "hands_on", hint=hint)


def raised_by(error: Exception) -> Finding:
    """An exception out of the test."""
    if says_todo(error):
        hint = "Send a gradient g through the Function. What should come out at x?"
        what = f"Round is right; hands_on still has its {str(error)!r}"
        return Finding((), what, "hands_on", hint=hint)
    text = f"{type(error).__name__}: {error}".removesuffix(": ")
    hint = "Return True or False; raise nothing."
    if not isinstance(error, AssertionError):
        hint = "Run hands_on(Round) in a cell: at which line does it stop? "
        hint += "What type has each thing in that line?"
    if "saved_tensors" in text or "save_for_backward" in text:
        hint = "Your Round may do without its ctx; the Functions of the check do not. "
        hint += "Which call makes a ctx?"
    return Finding((), text, "hands_on", hint=hint, crashed=True)


def refuses_the_right_one(measured: bool) -> Finding:
    """A test that a right Function does not pass."""
    what = "hands_on refuses a Round whose backward hands on every gradient"
    if measured:
        return Finding(
            ("U10",),
            f"{what}: it asks gradcheck",
            "hands_on",
            looks_like="gradcheck measures the slope of the stairs, and the gradient "
            "is on purpose another one.",
            hint="Which gradient do you send, and what should come out at x?",
        )
    hint = "Print what arrives at x beside what you sent."
    return Finding((), what, "hands_on", hint=hint)


def explanation(why: Any) -> list[Finding]:
    """Whether there is one; nobody grades what it says."""
    words = why.split() if isinstance(why, str) else []
    if len(words) >= FEWEST_WORDS:
        return []
    what = "why is empty" if not words else f"why has only {len(words)} words"
    if not isinstance(why, str):
        what = f"why is a {type(why).__name__}, not a text"
    hint = (
        "What does gradcheck measure, step by step, on stairs? What does Round return?"
    )
    return [Finding((), what, "why", hint=hint)]
