"""05.4: a traversal in which one character is missing."""

from __future__ import annotations

from typing import Any

import numpy as np

from minigrad.course.check import Faults, Finding
from minigrad.course.exercises import graphs
from minigrad.course.exercises.messages import Messages, named

say = Messages(__name__)


def look_at(answer: Any, random: np.random.Generator) -> Faults:
    """The diamond, then random graphs; the first join that is not the sum."""
    cases = [(["y", "c", "b", "a"], graphs.DIAMOND)]
    cases += [graphs.drawn(random, size) for size in (2, 6, 40)]
    for order, edges in cases:
        given = list(order), {name: list(pairs) for name, pairs in edges.items()}
        found = answer(*given)
        if not isinstance(found, dict):
            yield say("no_dictionary", kind=type(found).__name__)
        if given != (order, edges):
            yield say("changed")
        for name, parts in graphs.addends(order, edges).items():
            right = sum(parts) if parts else 1.0
            if not np.isclose(found.get(name, 0.0), right):
                slopes = [
                    s for pairs in edges.values() for to, s in pairs if to == name
                ]
                got = float(found.get(name, 0.0))
                yield wrong_at(name, got, parts, slopes, order)


def wrong_at(
    at: str, got: float, parts: list[float], slopes: list[float], order: list[str]
) -> Finding:
    """One node whose gradient is not what arrives there."""
    if not parts:
        return say("root", got=got)
    total = " + ".join([f"{part:g}" for part in parts]).replace("+ -", "- ")
    arrives = "arrives" if len(parts) == 1 else "arrive"
    usual = {
        "last": parts[-1],
        "first": parts[0],
        "nothing": 0.0,
        "mean": sum(parts) / len(parts),
        "one_more": sum(parts) + 1.0,
        "slopes": sum(slopes),
    }
    name = named("wrong", usual, lambda number: np.isclose(got, number))
    said = {"size": len(order), "got": got, "at": at, "arrives": arrives}
    return say(name, total=total, **said)
