"""12.4: lines of a checkpoint in a learner's order become a Function, and are run."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

import minigrad
from minigrad.course.check import Crash, Finding, first_line, questions, silence
from minigrad.course.exercises import ex12_5
from minigrad.course.exercises.messages import Messages

say = Messages(__name__)

METHODS = ("forward", "backward")


def run_lines(lines: Sequence[str]) -> Finding | None:
    """Run the lines as the methods of ``Checkpoint``; what goes wrong, or None."""
    names = {"enable_grad": minigrad.enable_grad}
    checkpoint = questions.methods_of("Checkpoint", METHODS, lines, names)
    if isinstance(checkpoint, str):
        return say("unread", error=checkpoint)
    missing = [name for name in METHODS if name not in vars(checkpoint)]
    if missing:
        return say("no_method", name=missing[0])
    random = np.random.default_rng(0)
    with minigrad.teaching(False), silence():
        for run, *given in ex12_5.runs(checkpoint.apply, random, drops=False):
            if isinstance(run, Crash):
                return say.of_crash("stopped", run, text=first_line(run))
            found = ex12_5.fault_in(run, *given)
            if found:
                return found
    return None
