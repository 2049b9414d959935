"""00.2: one missing line in a forward."""

from __future__ import annotations

from typing import Any

import numpy as np

import minigrad
from minigrad.course.check import Finding

ANSWER = "Double"


def look_at(answer: Any, random: np.random.Generator) -> list[Finding]:
    """Compare what comes out with twice what went in."""
    if not (
        isinstance(answer, type) and issubclass(answer, minigrad.autograd.Function)
    ):
        what = f"check was given a {type(answer).__name__}, not the class Double"
        return [
            Finding((), what, "the call of check", hint="Write Double, no brackets.")
        ]
    numbers = random.uniform(1, 9, 3).round(1)
    result = answer.apply(minigrad.tensor(numbers))
    where = f"{answer.__name__}.forward"
    if result is None:
        return [
            Finding(
                (),
                "forward gave back None",
                where,
                looks_like="The value may be worked out, but it is not returned.",
                hint="What is the first word of a line that gives a value back?",
            )
        ]
    if not isinstance(result, minigrad.Tensor):
        what = f"forward gave back a {type(result).__name__}, not a Tensor"
        return [Finding((), what, where, hint="Compute with x itself.")]
    if result.shape != numbers.shape or not np.allclose(result.numpy(), 2 * numbers):
        what = f"for x = {numbers.tolist()} it gave {result.tolist()}"
        return [
            Finding(
                (),
                what,
                where,
                looks_like=looks_like(numbers, result.numpy()),
                hint="Take the first number. What should come out for it?",
            )
        ]
    return []


def looks_like(numbers: Any, got: Any) -> str:
    """The story behind a wrong value, if it is one of the usual ones."""
    stories = {
        "That is x itself, unchanged.": numbers,
        "That is x plus 2, not twice x.": numbers + 2,
        "That is x times x, not twice x.": numbers**2,
        "That is half of x.": numbers / 2,
    }
    for story, values in stories.items():
        if got.shape == values.shape and np.allclose(got, values):
            return story
    return ""
