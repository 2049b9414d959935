"""12.4: lines of a checkpoint in a learner's order become a Function, and are run."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

import minigrad
from minigrad.course.check import Finding, crash_of, questions
from minigrad.course.exercises.messages import Messages

say = Messages(__name__)

METHODS = ("forward", "backward")
X = np.array([0.5, -1.5, 2.0])
UPSTREAM = np.array([1.0, 10.0, 100.0])


def run_lines(lines: Sequence[str]) -> Finding | None:
    """Run the lines as the methods of ``Checkpoint``; what goes wrong, or None."""
    names = {"enable_grad": minigrad.enable_grad}
    checkpoint = questions.methods_of("Checkpoint", METHODS, lines, names)
    if isinstance(checkpoint, str):
        return say("unread", error=checkpoint)
    missing = [name for name in METHODS if name not in vars(checkpoint)]
    if missing:
        return say("no_method", name=missing[0])
    try:
        with minigrad.teaching(False):
            return what_is_wrong(checkpoint)
    except Exception as error:
        text = str(error).partition("\n")[0]
        return say.of_crash("stopped", crash_of("", error), error=error, text=text)


def what_is_wrong(checkpoint: Any) -> Finding | None:
    """Checkpoint a sine: on a leaf, and on the result of an operation."""
    right = np.cos(X) * UPSTREAM
    for is_leaf in (True, False):
        calls: list[int] = []

        def function(x: Any, calls: list[int] = calls) -> Any:
            calls.append(1)
            return x.sin()

        leaf = minigrad.tensor(X, requires_grad=True)
        y = checkpoint.apply(function, leaf if is_leaf else leaf * 1)
        if y is None:
            return say("no_result")
        y.backward(minigrad.tensor(UPSTREAM))
        got = leaf.grad
        if got is None or not np.allclose(got.numpy(), right):
            name = "slope"
            if got is not None and np.allclose(got.numpy(), 2 * right):
                name = "slope.twice"
            return say(name, got=got, wanted=right, x=X.tolist())
        if len(calls) != 2:
            return say("calls", calls=len(calls))
        leaf.grad = None
        y = checkpoint.apply(function, leaf * 1)
        minigrad.autograd.grad(y, leaf, minigrad.ones(3).double(), allow_unused=True)
        if leaf.grad is not None:
            return say("runs_on")
    return None
