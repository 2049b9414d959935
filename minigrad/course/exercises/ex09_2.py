"""09.2: lines in a learner's order become three methods, and are run."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import numpy as np

import minigrad
from minigrad import func
from minigrad.course.check import Finding

METHODS = ("forward", "setup_context", "backward")
WHERE = "your Power"
WHEN_MISSING = (
    "Three lines begin a method. Go through the methods one by one: what has each to "
    "read first, and what does it hand on?"
)
X = np.array([2.0, -1.5, 3.0])
N = 3


def run_lines(lines: Sequence[str]) -> Finding | None:
    """Run the lines as the methods of ``Power``; what goes wrong, or None."""
    names: dict[str, Any] = {}
    try:
        exec(compile("\n".join(lines) + "\n", WHERE, "exec"), names)
    except (SyntaxError, NameError) as error:
        text = re.sub(r" \(?on line [0-9]+\)?$", "", getattr(error, "msg", str(error)))
        return Finding(
            (),
            f"Python cannot read it: {text}",
            WHERE,
            looks_like="An indented line stands under no method, or a method is empty.",
            hint="Which three lines begin a method? Which lines belong under each?",
        )
    methods = {name: staticmethod(names[name]) for name in METHODS}
    power: Any = type("Power", (minigrad.autograd.Function,), methods)
    x = minigrad.tensor(X, requires_grad=True)
    try:
        result = power.apply(x, N)
        result.sum().backward()
        transformed = func.grad(lambda x: power.apply(x, N).sum())(x.detach())
    except Exception as error:
        return stopped(error)
    right = N * X ** (N - 1)
    wrong = [g for g in (x.grad, transformed) if g is None or not np.allclose(g, right)]
    if not wrong:
        return None
    what = f"for x = {X.tolist()} and n = {N} the gradient is {wrong[0]}"
    hint = "Which line of backward is reached, and what has it read by then?"
    return Finding((), what, WHERE, hint=hint)


STORIES = {
    "'ctx' is not": (
        "A line fills ctx where there is none: this forward takes no ctx.",
        "Which of the three methods are given ctx?",
    ),
    "not enough values": (
        "backward finds nothing saved: save_for_backward has to be called before apply "
        "is over.",
        "Which method runs while apply still does, and has ctx?",
    ),
    "cannot access local": (
        "A line reads a name before the line of its method that makes it.",
        "Which line of this method makes that name?",
    ),
    "name '": (
        "A method knows its parameters and what its own lines make, nothing else.",
        "Which line would bring that name into this method? Or where can it wait?",
    ),
    "has no attribute 'n'": (
        "backward asks ctx for n, and nothing has put it there.",
        "In which method does ctx.n have to be set, to be there in backward?",
    ),
}


def stopped(error: Exception) -> Finding:
    """An exception, and what it comes from."""
    text = str(error).partition("\n")[0]
    told = [story for words, story in STORIES.items() if words in text]
    story, hint = told[0] if told else ("", "Which line does the message speak of?")
    what = f"{type(error).__name__}: {text}"
    return Finding((), what, f"{WHERE}, while it runs", looks_like=story, hint=hint)
