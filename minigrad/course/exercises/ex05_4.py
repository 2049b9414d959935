"""05.4: a traversal in which one character is missing."""

from __future__ import annotations

from typing import Any

import numpy as np

from minigrad.course.check import Finding, submission
from minigrad.course.exercises import graphs

ANSWER = "gradients"

SHIPPED = '''\
def gradients(order, edges):
    """What arrives at each node; order has the users first."""
    waiting = dict.fromkeys(order, 0.0)
    waiting[order[0]] = 1.0
    for node in order:
        for receiver, slope in edges[node]:
            waiting[receiver] = waiting[node] * slope
    return waiting
'''
"""The function as the notebook ships it: not tried. A test compares the two."""


def look_at(answer: Any, random: np.random.Generator) -> list[Finding]:
    """The diamond, then random graphs; the first join that is not the sum."""
    unusable = submission.no_function(answer, ANSWER)
    if unusable:
        return [unusable]
    cases = [(["y", "c", "b", "a"], graphs.DIAMOND)]
    cases += [graphs.drawn(random, size) for size in (2, 6, 40)]
    for order, edges in cases:
        given = list(order), {name: list(pairs) for name, pairs in edges.items()}
        found = answer(*given)
        if not isinstance(found, dict):
            what = f"gradients gave back a {type(found).__name__}, not a dictionary"
            return [Finding((), what, ANSWER, hint="The last line was right.")]
        if given != (order, edges):
            what = "the order or the edges are others after the call"
            return [Finding((), what, ANSWER, hint="Change `waiting`, nothing else.")]
        for name, parts in graphs.addends(order, edges).items():
            right = sum(parts) if parts else 1.0
            if not np.isclose(found.get(name, 0.0), right):
                return [wrong_at(name, float(found.get(name, 0.0)), parts, order)]
    return []


def wrong_at(name: str, got: float, parts: list[float], order: list[str]) -> Finding:
    """One node whose gradient is not what arrives there."""
    if not parts:
        what = f"the root has {got:g} in the end; it had 1"
        return Finding(
            (), what, ANSWER, hint="Which line of the loop changes the root?"
        )
    total = " + ".join([f"{part:g}" for part in parts]).replace("+ -", "- ")
    what = f"on a graph of {len(order)} nodes, {got:g} is what waits at {name} in the "
    what += f"end; {total} {'arrives' if len(parts) == 1 else 'arrive'} there"
    story, hint = "", "Go through the loop by hand, on the diamond."
    if np.isclose(got, parts[-1]):
        story = "Only what came last is kept: what was there is overwritten, or set "
        story += "back to zero, before each gradient that comes."
        hint = "A second gradient comes to a. What stands there already, and where is "
        hint += "it afterwards?"
    elif np.isclose(got, parts[0]):
        story = "Only what came first is kept."
        hint = "A second gradient comes to a. What becomes of it?"
    elif got == 0:
        story = "Nothing stays there."
        hint = "Follow the first edge of y by hand: what does the line read, and what "
        hint += "does it make of the 0.0 that waits at first?"
    elif np.isclose(got, sum(parts) / len(parts)):
        story = "The mean of the paths, where their sum is meant."
        hint = "x goes two ways to y. Does y change by the mean of both, or by both?"
    elif np.isclose(got, sum(parts) + 1.0):
        story = "One more than what arrives. Either more than the root begins with 1, "
        story += "or a slope of 1 was added where it should be a factor."
        hint = "With what does `waiting` begin, for nodes other than the root? What is "
        hint += "done with the slope?"
    return Finding((), what, ANSWER, looks_like=story, hint=hint)
