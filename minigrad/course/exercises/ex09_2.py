"""09.2: lines in a learner's order become three methods, and are run."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import numpy as np

import minigrad
from minigrad import func
from minigrad.course.check import Finding, crash_of
from minigrad.course.exercises.messages import Messages

say = Messages(__name__)

METHODS = ("forward", "setup_context", "backward")
X = np.array([2.0, -1.5, 3.0])
N = 3


def run_lines(lines: Sequence[str]) -> Finding | None:
    """Run the lines as the methods of ``Power``; what goes wrong, or None."""
    names: dict[str, Any] = {}
    try:
        exec(compile("\n".join(lines) + "\n", "your Power", "exec"), names)
    except (SyntaxError, NameError) as error:
        text = re.sub(r" \(?on line [0-9]+\)?$", "", getattr(error, "msg", str(error)))
        return say("unread", error=text)
    methods = {name: staticmethod(names[name]) for name in METHODS}
    power: Any = type("Power", (minigrad.autograd.Function,), methods)
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
