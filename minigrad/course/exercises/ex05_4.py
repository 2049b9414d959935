"""05.4: a traversal in which one character is missing."""

from __future__ import annotations

from typing import Any

import numpy as np

from minigrad.course.check import Faults, traits
from minigrad.course.exercises import graphs
from minigrad.course.exercises.messages import Messages

say = Messages(__name__)


def look_at(answer: Any, random: np.random.Generator) -> Faults:
    """The diamond, then random graphs; a name has to fit all that is wrong."""
    cases = [(["y", "c", "b", "a"], graphs.DIAMOND)]
    cases += [graphs.drawn(random, size) for size in (2, 6, 40)]
    order, edges = cases[-1]
    cases += [(order, {n: [(to, 2 * s) for to, s in edges[n]] for n in edges})]
    calls: list[Call] = []
    for order, edges in cases:
        given = list(order), {name: list(pairs) for name, pairs in edges.items()}
        found = answer(*given)
        if not isinstance(found, dict):
            yield say("no_dictionary", kind=type(found).__name__)
        if given != (order, edges):
            yield say("changed")
        call, once = Call(found, order, edges), dict(found)
        if calls and call.got == calls[-1].got and not calls[-1].firsts:
            yield say("old")
        if call.firsts and calls and not calls[0].firsts and answer(*given) != once:
            yield say("again", size=len(order))
        calls.append(call)
    yield from wrong_in([call for call in calls if call.firsts], calls)


class Call:
    """One call: what came back, and the first nodes at which it isn't right."""

    def __init__(
        self, found: dict[str, float], order: list[str], edges: graphs.Edges
    ) -> None:
        self.parts = graphs.addends(order, edges)
        right = graphs.gradients(order, edges)
        self.got = {name: float(found.get(name, 0.0)) for name in order}
        self.lacking = {*order} - found.keys()
        close = {n for n in found if n in right and np.isclose(found[n], right[n])}
        wrong = [n for n in order if n not in close]
        # Of each node the edges that lead there: where from, and with which slope.
        self.came: dict[str, list[tuple[str, float]]] = {name: [] for name in order}
        for name in order:
            for receiver, slope in edges[name]:
                self.came[receiver].append((name, slope))
        behind = {n for n in order if {user for user, _ in self.came[n]} & {*wrong}}
        self.firsts = [name for name in wrong if name not in behind]
        self.rights = {*order} - behind - {*wrong}

    def traits(self, name: str) -> dict[traits.Trait, bool]:
        """What may be special about a node."""
        parts, users = self.parts[name], [user for user, _ in self.came[name]]
        return {
            ("two edges lead there from one node", ""): len({*users}) < len(users),
            ("a negative number arrives", ""): min(parts, default=0) < 0,
            ("fractions arrive", ""): any([part % 1 for part in parts]),
            ("several numbers arrive", "one number arrives"): len(parts) > 1,
        }


def wrong_in(wrong: list[Call], calls: list[Call]) -> Faults:
    """The first node that is wrong, and what it has in common with the others."""
    firsts = [(call, name) for call in wrong for name in call.firsts]
    for call, at in firsts:
        if at in call.lacking:
            yield say("lacking", at=at)
        if not call.parts[at]:
            yield say("root", got=call.got[at])
        signs = [usual(c.parts[n], [s for _, s in c.came[n]]) for c, n in firsts]
        got = [c.got[n] for c, n in firsts]
        fitting = [m for m in signs[0] if np.allclose([each[m] for each in signs], got)]
        name = f"wrong.{fitting[0]}" if len(fitting) == 1 else "wrong"
        bad = [each.traits(n) for each, n in firsts]
        good = [each.traits(n) for each in calls for n in each.rights]
        words = [w for w in traits.separating(bad, good) if w]
        total = " + ".join([f"{part:g}" for part in call.parts[at]])
        yield say(
            "wrong.common" if name == "wrong" and words else name,
            size=len(call.got),
            got=call.got[at],
            at=at,
            arrives="arrives" if len(call.parts[at]) == 1 else "arrive",
            total=total.replace("+ -", "- "),
            words=(*words, "")[0],
        )


def usual(parts: list[float], slopes: list[float]) -> dict[str, float]:
    """What each usual mistake leaves at a node at which these parts arrive."""
    return {
        "last": parts[-1],
        "first": parts[0],
        "nothing": 0.0,
        "mean": sum(parts) / len(parts),
        "slopes": sum(slopes),
        "joined": sum([part / s + s for part, s in zip(parts, slopes, strict=True)]),
    }
