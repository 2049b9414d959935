"""13.6: the dot-product test, on linear Functions that are right or wrong."""

from __future__ import annotations

from typing import Any

import numpy as np

from minigrad.course.check import Faults, left_behind
from minigrad.course.check.probes.checkers import Judged
from minigrad.course.exercises.messages import Messages
from minigrad.course.exercises.rules import asked, rules_of

say = Messages(__name__)

SIZE = 5
RIGHT, WRONG, LUCK = 3, 16, 4
"""Tries of a right Function and of a wrong one, and how many of these may look right.

Both sums come out small by accident four in a hundred times.
"""

NOTHING = np.zeros(SIZE, np.float32)
"""An x at which every rule looks right, for those who take it for u."""

RULES = rules_of(__name__)


def look_at(answer: Any, random: np.random.Generator) -> Faults:
    """Each Function several times, at numbers of the usual size."""
    for rule in RULES:
        # Not normal: an answer may draw from the same seed, and these would be its v.
        dtype = np.float64 if "double" in rule.row else np.float32
        numbers = random.uniform(-60, 60, (WRONG, SIZE)).astype(dtype)
        times = rule.row.get("times", RIGHT) if rule.right else WRONG
        found = asked(answer, rule, numbers[:times], LUCK)
        if found.said is None:
            yield say("nothing", rule=rule.does)
        elif found.said is not rule.right:
            name = "refuses" if rule.right else "accepts"
            yield say(f"{name}{why(found, rule.right)}", rule=rule.does)
        if found.asked.dtype != numbers.dtype:
            yield say("dtype", dtype=found.asked.dtype, own=numbers.dtype)
        written = "x.numbers" in found.changed
        yield left_behind("is_adjoint", ("x.numbers",) if written else ())
        if not rule.right and asked(answer, rule, [NOTHING] * WRONG, LUCK).said:
            yield say("accepts.x", rule=rule.does)


def why(found: Judged, is_right: bool) -> str:
    """Which habit made the test say so."""
    if not len(found.sent) or not len(found.asked):
        return ".nothing_sent"
    u, v = found.asked[0], found.sent[0]
    if is_right:
        small = len(found.asked) > 1 and np.abs(found.asked - u).max() < 0.01
        return ".differences" if small else ""
    if (v == v[0]).all():
        return ".ones"
    return ".same" if np.allclose(u, v) else ""
