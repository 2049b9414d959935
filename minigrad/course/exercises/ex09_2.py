"""09.2: lines in a learner's order become three methods, and are run."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

import minigrad
from minigrad import func
from minigrad.course.check import Finding, crash_of, questions
from minigrad.course.exercises.messages import Messages

say = Messages(__name__)

METHODS = ("forward", "setup_context", "backward")
X = np.array([2.0, -1.5, 3.0])
N = 3


def run_lines(lines: Sequence[str]) -> Finding | None:
    """Run the lines as the methods of ``Power``; what goes wrong, or None."""
    power = questions.methods_of("Power", METHODS, lines, {})
    if isinstance(power, str):
        return say("unread", error=power)
    x = minigrad.tensor(X, requires_grad=True)
    try:
        result = power.apply(x, N)
        result.sum().backward()
        transformed = func.grad(lambda x: power.apply(x, N).sum())(x.detach())
    except Exception as error:
        text = str(error).partition("\n")[0]
        return say.of_crash("stopped", crash_of("", error), error=error, text=text)
    right = N * X ** (N - 1)
    wrong = [g for g in (x.grad, transformed) if g is None or not np.allclose(g, right)]
    return say("slope", x=X.tolist(), n=N, gradient=wrong[0]) if wrong else None
