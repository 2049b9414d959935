"""08.4: two legal ways to write what the leaf rule refuses."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

import minigrad
from minigrad import errors
from minigrad.course.check import Finding, submission

ANSWER = "shrink, halved"
NAMES = ("shrink", "halved")

Look = Callable[[Callable[..., Any], np.random.Generator], Iterator[Finding]]


def look_at(answer: Any, random: np.random.Generator) -> list[Finding]:
    """First the weight that changes, then the half of it; the first thing wrong."""
    answers, missing = submission.one_for_each(NAMES, answer, "08.4")
    if missing:
        return missing
    looks: list[Look] = [look_at_shrink, look_at_halved]
    for function, name, look in zip(answers, NAMES, looks, strict=True):
        found = not_callable(function, name) or list(look(function, random))
        if found:
            return found[:1]
    return []


def not_callable(function: Any, name: str) -> list[Finding]:
    """A finding for what was handed over in the place of a function."""
    if callable(function):
        return []
    what = f"check was given {function!r:.60}, not the function {name}"
    hint = f"Hand over the function itself: {name}, no brackets."
    return [Finding((), what, "the call of check", hint=hint)]


def look_at_shrink(
    shrink: Callable[..., Any], random: np.random.Generator
) -> Iterator[Finding]:
    """The weight itself changes, stays a leaf that learns, and the change counts."""
    w, before = weight(random)
    result = (w * w).sum()
    returned, stopped = tried(shrink, w)
    if stopped:
        yield stopped
    elif not np.allclose(w.detach().numpy(), before / 2):
        what = f"w was {before.tolist()}, and is {w.tolist()} after shrink(w)"
        hint = "Which object does the caller hold, and which one did you change?"
        if np.allclose(w.detach().numpy(), before):
            hint += " A name inside of a function can mean another one."
            if returned is not None:
                hint += " And nobody takes what shrink returns."
        yield Finding((), what, "shrink", hint=hint)
    elif not (w.is_leaf and w.requires_grad):
        state = "is no leaf any more" if not w.is_leaf else "requires no grad any more"
        what = f"after shrink(w), w {state}"
        hint = "Will the next backward still fill w.grad?"
        yield Finding((), what, "shrink", hint=hint)
    else:
        yield from not_noticed(result, w, before)


def not_noticed(result: Any, w: Any, before: Any) -> Iterator[Finding]:
    """A result that was made before has to notice that its weight has changed."""
    try:
        result.backward()
    except errors.SavedModifiedError:
        return
    slope = None if w.grad is None else w.grad.tolist()
    yield Finding(
        (),
        f"(w * w).sum() was made before shrink(w), and its gradient afterwards is "
        f"{slope}; it should be {(2 * before).tolist()}, or an error",
        "shrink",
        looks_like="The `.data` trick, or an array on the memory of w: the numbers "
        "change, and no version counts it.",
        hint="Print w._version before and after. Which way of changing w is counted, "
        "and still not recorded?",
    )


def look_at_halved(
    halved: Callable[..., Any], random: np.random.Generator
) -> Iterator[Finding]:
    """A half with a history, and a weight as it was."""
    w, before = weight(random)
    upstream = minigrad.tensor(random.uniform(1, 2, 3).round(2))
    half, stopped = tried(halved, w)
    if stopped:
        yield stopped
    elif not isinstance(half, minigrad.Tensor):
        what = f"halved(w) returned a {type(half).__name__}, not a Tensor"
        yield Finding((), what, "halved", hint="Is there a `return`?")
    elif not np.allclose(w.detach().numpy(), before):
        what = f"w was {before.tolist()}, and is {w.tolist()} after halved(w)"
        hint = "Whose memory did you write into? What would have one of its own?"
        yield Finding((), what, "halved", hint=hint)
    elif not np.allclose(half.detach().numpy(), before / 2):
        what = f"for w = {before.tolist()}, halved(w) is {half.tolist()}"
        yield Finding((), what, "halved", hint="Compute one element by hand.")
    else:
        yield from wrong_slope(half, w, upstream)


def wrong_slope(half: Any, w: Any, upstream: Any) -> Iterator[Finding]:
    """The gradient that reaches the weight."""
    slope = None
    if half.requires_grad:
        (slope,) = minigrad.autograd.grad(half, w, upstream, allow_unused=True)
    if slope is None:
        end, looks_like = half.grad_fn, "detach, `.data` or no_grad: the change was "
        looks_like += "not recorded."
        if end is not None or half.requires_grad:
            end = end.name() if end is not None else "None"
            looks_like = "Its way back ends at another leaf, which was made of numbers."
        yield Finding(
            (),
            f"halved(w) has the right numbers, and no way back to w: its grad_fn is "
            f"{end}",
            "halved",
            looks_like=looks_like,
            hint="Which copy of w keeps its history?",
        )
    elif not np.allclose(slope.numpy(), upstream.numpy() / 2):
        what = f"for a grad_output of {upstream.tolist()}, the gradient of w is "
        what += f"{slope.tolist()}"
        hint = "If w grows by 1, by how much does its half grow?"
        yield Finding((), what, "halved", hint=hint)


def tried(function: Callable[..., Any], w: Any) -> tuple[Any, Finding | None]:
    """What ``function(w)`` returns; a finding if the engine refuses the change."""
    try:
        return function(w), None
    except errors.InplaceError as error:
        return None, Finding(
            (),
            f"{type(error).__name__}: {str(error).splitlines()[0]}",
            getattr(function, "__name__", "your function"),
            looks_like="The leaf rule: a leaf that requires grad is changed while "
            "changes are recorded.",
            hint="Is this change a step of the computation? If not, in which block is "
            "nothing recorded? If so, what could be changed in the place of w?",
            crashed=True,
        )


def weight(random: np.random.Generator) -> tuple[Any, Any]:
    """A leaf that requires grad, and a copy of its numbers."""
    numbers = random.uniform(1, 3, 3).round(2)
    return minigrad.tensor(numbers, requires_grad=True), numbers.copy()
