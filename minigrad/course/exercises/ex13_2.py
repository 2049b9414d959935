"""13.2: a learner's own gradcheck, on rules that are known to be right or wrong."""

from __future__ import annotations

from typing import Any

import numpy as np

from minigrad.course.check import Array, Faults, left_behind
from minigrad.course.check.probes.checkers import Judged
from minigrad.course.exercises.messages import Messages
from minigrad.course.exercises.rules import Rule, asked, function_of, rules_of

say = Messages(__name__)

MOVED = 1e-10
"""How far an element is from where it was if it was moved at all."""

WIDE, NARROW = 1e-5, 1e-7
"""Farther than it should be moved, and less far."""

TIMES = 2
"""A wrong rule is asked about so often; the text has another number of some."""

RULES = rules_of(__name__)
TWINS_TIMES = 4
TWINS = {
    ".no_g": function_of({"forward": "x * x", "backward": "2 * x"}),
    ".twice": function_of({"forward": "x * x", "backward": "g * 4 * x"}),
}
"""Wrong rules that are right where what's measured is off by the same factor."""


def look_at(answer: Any, random: np.random.Generator) -> Faults:
    """A right rule that is refused, or a wrong one that is accepted."""
    for rule in RULES:
        x = np.zeros(3) if "at_zero" in rule.row else drawn(random, rule)
        times = 1 if rule.right else rule.row.get("times", TIMES)
        found = asked(answer, rule, [x] * times, luck=1)
        said = {"rule": rule.does, "x": x}
        if found.said is None:
            yield say("nothing", **said)
        elif (moved := moved_for_good(found, x)) is not None:
            at, by = moved
            number = x.ravel()[at]
            yield say("not_undone", at=at, number=number, by=f"{by:.1g}", **said)
        elif "x.grad" in found.changed:
            yield left_behind("gradcheck", ("x.grad",))
        elif found.said is not rule.right:
            if rule.right:
                name = f"refuses{why_refused(answer, found, x, rule)}"
            else:
                name = f"accepts{why_accepted(found, x)}"
            yield say(name, **said)
        yield left_behind("gradcheck", found.changed)
    if (far := np.abs(moves_of(found, x)).max(initial=0.0)) < NARROW:
        yield say("refuses.narrow", moved=far, rule="", x="")


def moves_of(found: Judged, x: Array) -> Array:
    """How far each element was moved, in a row for each call of f."""
    return np.asarray(found.asked.reshape(-1, x.size) - x.ravel())


def why_refused(answer: Any, found: Judged, x: Array, rule: Rule) -> str:
    """Which habit made the check refuse a right rule, by what it asks and accepts."""
    moves, numbers = moves_of(found, x), [3 + np.arange(6.0)] * TWINS_TIMES
    signs = {
        ".still": not moves.any(),
        ".one_sided": moves.size and not (moves.min() < -MOVED and moves.max() > MOVED),
        ".wide": np.abs(moves).max(initial=0.0) > WIDE,
        ".at_zero": "at_zero" in rule.row,
        ".near": rule.does == "off by less than is allowed",
    }
    named = [name for name, sign in signs.items() if sign] or [
        name
        for name, twin in TWINS.items()
        if asked(answer, Rule(twin, "", False, {}), numbers, TWINS_TIMES - 1).said
    ]
    return (*named, "")[0]


def why_accepted(found: Judged, x: Array) -> str:
    """Which habit made the check accept a wrong rule, by what it asked."""
    moves = moves_of(found, x)
    if not len(found.sent):
        return ".nothing_sent"
    if x.size == 1:
        return ".compared" if np.abs(moves).max(initial=0.0) > MOVED else ""
    if (found.sent == found.sent.flat[0]).all():
        return ".ones"
    if found.sent.min() >= 0 and found.sent.max() <= 1:
        return ".tame"
    if len(np.unique(np.nonzero(np.abs(moves) > MOVED)[1])) < x.size:
        return ".few"
    return ".together" if ((np.abs(moves) > MOVED).sum(1) > 1).any() else ".compared"


def moved_for_good(found: Judged, x: Array) -> tuple[int, float] | None:
    """The element still moved when another one's turn came, or at the end; how far.

    A check that moves all at once, along a direction, never moves one alone.
    """
    moves = moves_of(found, x)
    counts = [int(count) for count in (np.abs(moves) > MOVED).sum(1)]
    left = found.left - x.ravel()
    if np.abs(left).max() <= MOVED:
        if x.size <= 2 or 1 not in counts or max(counts) < 2:
            return None
        left = moves[next(i for i, count in enumerate(counts) if count > 1)]
    at = int(np.flatnonzero(np.abs(left) > MOVED)[0])
    return at, float(left[at])


def drawn(random: np.random.Generator, rule: Rule) -> Array:
    """Numbers that are all different, of both signs, none near 0; or one of them."""
    numbers = random.permutation([0.5, -0.75, 1.25, -1.5, 2.0, 1.75])
    if "times" in rule.row:
        return numbers[:1]
    return numbers.reshape(2, 3) if "matrix" in rule.row else numbers
