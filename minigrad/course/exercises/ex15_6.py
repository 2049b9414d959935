"""15.6: the gradient of each sample by vmap, and how much faster than by a loop."""

from __future__ import annotations

from typing import Any

import numpy as np

from minigrad.course.check import (
    Array,
    Crash,
    Faults,
    Finding,
    left_behind,
    lost_digits,
)
from minigrad.course.check.probes import batches, tried
from minigrad.course.check.probes.batches import Mapped
from minigrad.course.exercises import timings
from minigrad.course.exercises.batches import same
from minigrad.course.exercises.messages import Messages, named

say = Messages(__name__)


def look_at(answer: Any, random: np.random.Generator) -> Faults:
    """The gradients first; then the time, on a clock that nothing else moves."""
    by_vmap, speedup = answer
    w, x, targets = (random.uniform(0.5, 2, shape) for shape in ((3,), (5, 3), (5,)))
    run = tried(batches.each_gradient, (by_vmap,), w, x, targets)
    errors = 2 * (x @ w - targets)[:, None]
    yield wrong_gradients(run, errors * x, errors * w, errors[:, 0])
    yield from timings.look_at(speedup, random, ("speedup", "slow", "fast"))


def wrong_gradients(
    run: Mapped | Crash, each: Array, for_x: Array, errors: Array
) -> Finding | None:
    """What is wrong with the gradients; the loss is to be called once for all."""
    if isinstance(run, Crash):
        return say.of_crash("crashed", run)
    if run.result is None:
        return say("no_tensor", kind=run.kind)
    got, mean = run.result, each.mean(0)
    if same(got, each):
        name = "loop" if run.calls else "loop.unused"
        loops = say(name, calls=run.calls) if run.calls != 1 else None
        lost = lost_digits("the result", "by_vmap", got, each)
        return loops or lost or left_behind("by_vmap", run.changed)
    known = {
        "mean": [mean, np.tile(mean, (len(each), 1))],
        "divided": [each / len(each)],
        "sum": [each.sum(0), np.tile(each.sum(0), (len(each), 1))],
        "transposed": [each.T],
        "for_x": [for_x],
        "for_target": [-errors],
        "losses": [errors**2 / 4],
    }
    name = named("gradients", known, lambda wrong: any(same(got, w) for w in wrong))
    row = 0
    if got.shape == each.shape:
        row = next(r for r in range(len(each)) if not same(got[r], each[r]))
    shown = {"row": row, "wanted": each[row], "count": len(each)}
    return say(name, got=got, shape=got.shape, **shown)
