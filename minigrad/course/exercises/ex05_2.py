"""05.2: lines of the traversal in a learner's order, run on random graphs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from minigrad.course.check import Finding, questions
from minigrad.course.exercises import graphs
from minigrad.course.exercises.messages import Messages

say = Messages(__name__)

HEAD = "def backward(root, edges, counts):\n"


def run_lines(lines: Sequence[str]) -> Finding | None:
    """Run the lines as ``backward``; what goes wrong, or None."""
    names: dict[str, Any] = {}
    unread = questions.defined_by(HEAD, lines, names)
    if unread:
        return say("unread", error=unread[0], line=unread[1])
    random = np.random.default_rng(5)
    tried = [(["y", "c", "b", "a"], graphs.DIAMOND)]
    tried += [graphs.drawn(random, size) for size in (2, 8, 40, 200)]
    for order, edges in tried:
        counts = graphs.counts_of(edges)
        try:
            found = names["backward"](order[0], edges, counts)
        except (NameError, KeyError) as error:
            return say("too_early", error=error)
        wrong = what_is_wrong(order, edges, found)
        if wrong:
            return wrong
    return None


def what_is_wrong(
    order: list[str], edges: graphs.Edges, found: dict[str, float]
) -> Finding | None:
    """Compare what came out with the sums over all paths."""
    right = graphs.gradients(order, edges)
    off = [name for name in order if not np.isclose(found.get(name, 0), right[name])]
    if not off:
        return None
    name = "wrong.uncounted"
    if found.get(order[0]) != 1.0:
        name = "wrong.no_start"
    elif all(found[node] == 0 for node in order[1:]):
        name = "wrong.no_loop"
    got, wanted = found.get(off[0], 0), right[off[0]]
    return say(name, size=len(order), got=got, at=off[0], wanted=wanted)
