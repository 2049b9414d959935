"""12.3: saved tensors on disk, and no file left behind."""

from __future__ import annotations

from typing import Any

import numpy as np

from minigrad.course.check import Array, Faults, Finding, left_behind
from minigrad.course.check.probes import packing, seen
from minigrad.course.check.probes.packing import Stored
from minigrad.course.exercises.messages import Messages

say = Messages(__name__)

COUNT, EXACTLY = 500, 1e-12
STAGES = {
    "forward": "in forward",
    "first": "in the first backward",
    "second": "in the second backward",
    "end": "at the end of the block",
}


def look_at(answer: Any, random: np.random.Generator) -> Faults:
    """Two backwards inside the block; then an exception before the first."""
    x, w = random.uniform(1, 2, COUNT), random.uniform(3, 4, COUNT)
    yield fault_in(seen(packing.stored, (answer,), x, w, False), x, w)
    raised = seen(packing.stored, (answer,), x, w, True)
    if raised.crash is not None:
        yield say("crashed", stage="after an exception", text=raised.crash.text)
    if raised.left:
        yield say("left.raised", left=raised.left)
    if raised.swallowed:
        yield say("swallowed")


def fault_in(run: Stored, x: Array, w: Array) -> Finding | None:
    """What is wrong with one run; None if nothing is."""
    if run.first is not None and np.allclose(run.first, 9 * x):
        return say("same_name")
    if run.crash is not None:
        text = f"{run.crash.kinds[0]}: {run.crash.text}"
        name = "second" if run.stage == "second" else "crashed"
        return say.of_crash(name, run.crash, stage=STAGES[run.stage], text=text)
    if run.files == 0:
        return say("nothing")
    for turn, gradient in (("first", run.first), ("second", run.second)):
        if gradient is None or not np.allclose(gradient, 3 * w, EXACTLY):
            got = None if gradient is None else gradient[:3]
            near = gradient is not None and np.allclose(gradient, 3 * w, 0.01)
            name = "gradient.rounded" if near else "gradient"
            return say(name, turn=turn, got=got, wanted=3 * w[:3])
    if run.keeps:
        return say("keeps")
    if run.size < x.nbytes:
        return say("small", size=run.size)
    left = say("left", left=run.left) if run.left else None
    return left or left_behind("on_disk", run.changed)
