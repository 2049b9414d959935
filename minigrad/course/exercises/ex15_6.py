"""15.6: the gradient of each sample by vmap, and how much faster than by a loop."""

from __future__ import annotations

from typing import Any

import numpy as np

from minigrad.course.check import Array, Crash, Finding, pass_on_todo, submission
from minigrad.course.check.probes import batches, seen, tried
from minigrad.course.check.probes.batches import Mapped
from minigrad.course.check.probes.clocks import Pace, Timed, timed
from minigrad.course.exercises.batches import same
from minigrad.course.exercises.messages import Messages

say = Messages(__name__)

NAMES = ("by_vmap", "speedup")
ANSWER = ", ".join(NAMES)
SLOW, FAST, COLD = 0.012, 0.002, 0.9
"""Seconds of a call on the check's clock; the first call of each takes COLD more."""
PACE = Pace(((SLOW + COLD,), (FAST + COLD,)), (SLOW, FAST), hit=(7, 8, 9))
LEAST_TURNS = 6


def look_at(answer: Any, random: np.random.Generator) -> list[Finding]:
    """The gradients first; then the time, on a clock that nothing else moves."""
    answers, missing = submission.one_for_each(NAMES, answer, "15.6")
    for given, name in zip(answers, NAMES, strict=True):
        missing += [f for f in [submission.no_function(given, name)] if f]
    if missing:
        return missing[:1]
    by_vmap, speedup = answers
    w, x, targets = (random.uniform(0.5, 2, shape) for shape in ((3,), (5, 3), (5,)))
    run = seen(batches.each_gradient, (by_vmap,), w, x, targets)
    each = 2 * (x @ w - targets)[:, None] * x
    found = wrong_gradients(run, each)
    if found is None:
        found = fault_in(tried(timed, (speedup,), PACE))
    return [found] if found else []


def wrong_gradients(run: Mapped, each: Array) -> Finding | None:
    """What is wrong with the gradients; the loss is to be called once for all."""
    if run.crash is not None:
        pass_on_todo(run.crash)
        return say.of_crash("crashed", run.crash, text=run.crash.text)
    if run.result is None:
        return say("no_tensor", kind=run.kind)
    count = len(each)
    shown = {"got": run.result, "shape": run.result.shape, "wanted": each[0]}
    shown["count"] = count
    known = {
        "mean": [each.mean(0), each / count, np.tile(each.mean(0), (count, 1))],
        "sum": [each.sum(0), np.tile(each.sum(0), (count, 1))],
        "transposed": [each.T],
    }
    if not same(run.result, each):
        names = [
            n for n, wrong in known.items() if any(same(run.result, w) for w in wrong)
        ]
        return say(f"gradients.{names[0]}" if names else "gradients", **shown)
    return say("loop", calls=run.calls) if run.calls != 1 else None


def fault_in(raced: Timed | Crash) -> Finding | None:
    """What is wrong with the ratio, or with the way in which it was measured."""
    if isinstance(raced, Crash):
        return say.of_crash("raced", raced)
    said, slow, fast = raced.number, raced.calls(0), raced.calls(1)
    if said is None:
        return say("no_number", kind=raced.kind)
    if not (slow and fast):
        return say("uncalled", slow=slow, fast=fast)
    right = SLOW / FAST
    known = {
        "upside_down": FAST / SLOW,
        "difference": SLOW - FAST,
        "cold": (SLOW + COLD) / (FAST + COLD),
    }
    near = [name for name, value in known.items() if abs(said / value - 1) < 0.05]
    if near:
        return say(f"ratio.{near[0]}", said=said, right=right)
    changes = int((np.diff(raced.who) != 0).sum())
    if changes < LEAST_TURNS:
        return say("turns", changes=changes, slow=slow, said=said)
    if abs(said / right - 1) > 0.05:
        return say("ratio", said=said, right=right)
    return None
