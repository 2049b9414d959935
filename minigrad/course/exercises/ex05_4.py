"""05.4: a traversal in which one character is missing."""

from __future__ import annotations

from typing import Any

import numpy as np

from minigrad.course.check import Faults, Finding
from minigrad.course.exercises import graphs
from minigrad.course.exercises.messages import Messages

say = Messages(__name__)


def look_at(answer: Any, random: np.random.Generator) -> Faults:
    """The diamond, then random graphs; a join that is not the sum, best with a name."""
    cases = [(["y", "c", "b", "a"], graphs.DIAMOND)]
    cases += [graphs.drawn(random, size) for size in (2, 6, 40)]
    wrong = []
    for order, edges in cases:
        given = list(order), {name: list(pairs) for name, pairs in edges.items()}
        found = answer(*given)
        if not isinstance(found, dict):
            yield say("no_dictionary", kind=type(found).__name__)
        if given != (order, edges):
            yield say("changed")
        wrong.append(wrong_in(found, order, edges))
        once = dict(found)
        if wrong[-1] and wrong[0] is None and answer(*given) != once:
            yield say("again", size=len(order))
    yield from sorted(filter(None, wrong), key=lambda each: not each.story)


def wrong_in(
    found: dict[str, float], order: list[str], edges: graphs.Edges
) -> Finding | None:
    """What the first nodes have whose gradient is not what arrives there, if any."""
    parts, right = graphs.addends(order, edges), graphs.gradients(order, edges)
    got = {name: float(found.get(name, 0.0)) for name in order}
    wrong = [name for name in order if not np.isclose(got[name], right[name])]
    came: dict[str, list[float]] = {name: [] for name in order}
    behind = set()
    for name, pairs in edges.items():
        for receiver, slope in pairs:
            came[receiver].append(slope)
            behind |= {receiver} if name in wrong else set()
    firsts = [name for name in wrong if name not in behind]
    if not firsts:
        return None
    at = firsts[0]
    if not parts[at]:
        return say("root", got=got[at])
    signs = [usual(parts[name], came[name]) for name in firsts]
    fitting = [
        mistake
        for mistake in signs[0]
        if np.allclose([each[mistake] for each in signs], [got[n] for n in firsts])
    ]
    total = " + ".join([f"{part:g}" for part in parts[at]]).replace("+ -", "- ")
    return say(
        f"wrong.{fitting[0]}" if len(fitting) == 1 else "wrong",
        size=len(order),
        got=got[at],
        at=at,
        arrives="arrives" if len(parts[at]) == 1 else "arrive",
        total=total,
    )


def usual(parts: list[float], slopes: list[float]) -> dict[str, float]:
    """What each usual mistake leaves at a node at which these parts arrive."""
    return {
        "last": parts[-1],
        "first": parts[0],
        "nothing": 0.0,
        "mean": sum(parts) / len(parts),
        "one_more": sum(parts) + 1.0,
        "slopes": sum(slopes),
    }
