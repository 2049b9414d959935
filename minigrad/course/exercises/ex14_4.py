"""14.4: a sum of two threads that loses additions in some orders."""

from __future__ import annotations

from typing import Any

import numpy as np

from minigrad.course.check import Faults, Finding
from minigrad.course.check.probes import seen
from minigrad.course.check.probes.races import TWICE, raced
from minigrad.course.exercises.messages import Messages

say = Messages(__name__)

RUNS = 100


def look_at(answer: Any, random: np.random.Generator) -> Faults:
    """Lists of several lengths, an odd one among them, each in many orders."""
    for length in (12, 7):
        numbers = random.permutation(np.arange(1.0, 40.0))[:length]
        yield fault_in(answer, numbers, int(random.integers(1 << 30)))


def fault_in(answer: Any, numbers: Any, seed: int) -> Finding | None:
    """What is wrong with the runs of one list."""
    found = seen(raced, (answer,), numbers, seed, RUNS)
    if found.kind:
        return say("no_number", kind=found.kind)
    if found.uncut >= 0:
        return say("uncut", place=found.uncut)
    totals, right = found.totals, float(numbers.sum())
    users = (found.reads + found.writes > 0).sum(0)
    both = np.flatnonzero((users > 1) & (found.writes.sum(0) > 0))
    if len(both):
        said = {"runs": RUNS, "right": right, "wrong": int((totals != right).sum())}
        said |= {"different": len(np.unique(totals)), "place": int(both[0])}
        said |= {"least": float(totals.min()), "most": float(totals.max())}
        writes = int(found.writes[:, both[0]].max())
        name = "race.rarer" if writes < len(numbers) // 2 else "race"
        return say(name, **said, writes=writes)
    assert found.left is not None
    workers = ((found.writes > 0) @ (found.left != 0)).astype(bool).sum()
    if workers < 2:
        return say("one_thread" if workers else "nothing")
    if np.array_equal(np.sort(abs(found.left[found.left != 0])), np.sort(numbers)):
        return say("stored", count=len(numbers))
    if (totals != right).any():
        return say("value", got=float(totals[0]), right=right, numbers=numbers)
    return None if found.doubled == TWICE * right else say("for_show")
