"""12.3: saved tensors on disk, and no file left behind."""

from __future__ import annotations

from typing import Any

import numpy as np

from minigrad.course.check import Array, Faults, Finding, left_behind
from minigrad.course.check.probes import packing, seen
from minigrad.course.check.probes.packing import FACTORS, Stored
from minigrad.course.exercises.messages import Messages
from minigrad.errors import count_of

say = Messages(__name__)

SHAPES = (500,), (), (20, 3, 50)
EXACTLY, SUM = 1e-12, sum(FACTORS)
STAGES = {
    "forward": "in forward",
    "first": "in the first backward",
    "second": "in the second backward",
    "end": "at the end of the block",
}


def look_at(answer: Any, random: np.random.Generator) -> Faults:
    """Two backwards inside the block; then an exception before the first."""
    for shape in SHAPES:
        x, w = random.uniform(1, 2, shape), random.uniform(-4, -3, shape)
        yield fault_in(seen(packing.stored, (answer,), x, w, False), x, w)
    given: tuple[Array, ...] = np.ones(3, np.float32), np.arange(3), np.arange(3) > 0
    for was, back in zip(given, seen(packing.kept, (answer,), given), strict=True):
        if was.dtype != back.dtype or not np.array_equal(was, back):
            yield say("dtype", was=was, back=back, kind=was.dtype, other=back.dtype)
    raised = seen(packing.stored, (answer,), x, w, True)
    if raised.crash is not None:
        yield say("crashed", stage="after an exception", text=raised.crash.text)
    if raised.left:
        yield say("left.raised", left=raised.left)
    if raised.swallowed:
        yield say("swallowed")


def is_replaced(run: Stored, x: Array, w: Array) -> bool:
    """Whether files are missing, and others were read in their place.

    Both gradients are then sums of what was saved, and not the right ones times a
    number.
    """
    if run.first is None or run.files > len(FACTORS) or not x.ndim:
        return False
    saved, found = np.array([x.ravel(), w.ravel()]), run.first.reshape(2, -1)
    counts = np.linalg.lstsq(saved.T, found.T)[0].T.round(6)
    is_sum = np.allclose(counts @ saved, found) and not (counts % 1).any()
    return bool(is_sum and counts[0, 1] != counts[1, 0])


def fault_in(run: Stored, x: Array, w: Array) -> Finding | None:
    """What is wrong with one run; None if nothing is."""
    if is_replaced(run, x, w):
        return say(
            "same_name", saved=len(FACTORS) + 1, files=count_of(run.files, "file")
        )
    if run.crash is not None:
        text = f"{run.crash.kinds[0]}: {run.crash.text}"
        name = "second" if run.stage == "second" else "crashed"
        return say.of_crash(name, run.crash, stage=STAGES[run.stage], text=text)
    if run.files == 0:
        return say("nothing", shape=x.shape)
    for turn, found in (("first", run.first), ("second", run.second)):
        assert found is not None
        for name, got, right in zip("xw", found, SUM * np.array([w, x]), strict=True):
            if not np.allclose(got, right, EXACTLY):
                near = np.allclose(got, right, 0.01)
                kind = "gradient.rounded" if near else "gradient"
                return say(
                    kind, turn=turn, of=name, got=got.flat[:3], wanted=right.flat[:3]
                )
    if run.keeps:
        return say("keeps")
    if run.size < x.nbytes:
        return say("small", size=run.size, saved=len(FACTORS) + 1, count=x.size)
    left = say("left", left=run.left) if run.left else None
    return left or left_behind("on_disk", run.changed)
