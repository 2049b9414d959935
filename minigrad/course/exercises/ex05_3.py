"""05.3: an order with users first, on graphs that find out how it was made."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from minigrad.course.check import Array, Faults, Finding, first_line
from minigrad.course.check.probes import seen, walks
from minigrad.course.exercises import graphs
from minigrad.course.exercises.messages import Messages

say = Messages(__name__)

DEEP = 1000
"""So many calls inside each other Python allows, unless somebody raises its limit."""

TWICE = "a graph in which y sends to d twice, and to a twice"


@dataclass
class Tried:
    """A graph by the places of its nodes, users first; ``mixed`` is where each goes.

    The answer gets the nodes in another order, as theirs would be an answer.
    """

    name: str
    below: Sequence[Sequence[int]]
    mixed: Array
    numbers: Array | None = None

    def graph(self) -> walks.Graph:
        """What the answer is given, as plain data."""
        pairs = [(user, to) for user, below in enumerate(self.below) for to in below]
        edges = self.mixed[np.array(pairs)]
        letters = [""] * len(self.below)
        for place, mixed in enumerate(self.mixed):
            letters[mixed] = self.called(place)
        return walks.Graph(
            int(self.mixed[0]),
            edges[np.argsort(edges[:, 0], kind="stable")],
            len(self.below),
            "".join(letters) if len(letters) == 5 else "",
            self.numbers,
        )

    def places(self, walk: walks.Walk) -> list[int]:
        """The nodes that came back, by their places here."""
        back = np.argsort(self.mixed)
        return [int(back[mixed]) if mixed >= 0 else -1 for mixed in walk.places]

    def called(self, place: int) -> str:
        """A node in a message."""
        return "ybdca"[place] if len(self.below) == 5 else f"n{self.mixed[place]}"


def tried(random: np.random.Generator) -> list[Tried]:
    """What the answer is tried on; each finds out something of its own."""
    diamond = [[1, 2], [4], [3], [4], []]
    order, edges = graphs.drawn(random, 200)
    places = {name: place for place, name in enumerate(order)}
    many = [[places[receiver] for receiver, _ in edges[name]] for name in order]
    beside = [[2, 1, 4], [2, 4], [3], [], []]
    twice = [[2, 2, 1, 4, 4], [2, 4], [3], [], []]
    doubles = [[place + 1] * 2 for place in range(40)] + [[]]
    chain = [[place + 1] for place in range(4999)] + [[]]

    def mixed(name: str, below: list[list[int]], numbers: Array | None = None) -> Tried:
        return Tried(name, below, random.permutation(len(below)), numbers)

    return [
        mixed("a diamond with a long arm", diamond),
        mixed("a graph in which y sends to b, and both send to d and a", beside),
        mixed(TWICE, twice),
        mixed("a graph of tensors that are all 1.0", diamond, np.ones(5)),
        mixed(
            "a graph of tensors with two numbers each",
            diamond,
            np.tile([1.0, 2.0], (5, 1)),
        ),
        mixed("a random graph of 200 nodes", many),
        mixed("40 nodes with two edges to the next", doubles),
        mixed("a chain of 5000 nodes", chain),
    ]


def look_at(answer: Any, random: np.random.Generator) -> Faults:
    """The first graph of which the order is not one."""
    first, *others = tried(random)
    for graph in (first, *others):
        fault = fault_in(seen(walks.walk, (answer,), graph.graph()), graph)
        if fault and graph is not first:
            again = fault_in(seen(walks.walk, (answer,), first.graph()), first)
            yield say("again", graph=first.name, what=again.what) if again else None
        yield fault


def fault_in(walk: walks.Walk, graph: Tried) -> Finding | None:
    """What is wrong with one walk; None if nothing is."""
    if walk.crash is not None:
        text = first_line(walk.crash)
        most = walks.MOST_ASKED
        return say.of_crash(
            "crashed", walk.crash, graph=graph.name, text=text, most=most
        )
    if walk.kind != "list":
        return say("no_list", graph=graph.name, kind=walk.kind)
    fault = fault_of(graph.places(walk), graph, walk.stray)
    if fault is None and walk.deep > DEEP:
        return say("too_deep", graph=graph.name, deep=walk.deep)
    return fault


def fault_of(places: list[int], graph: Tried, stray: str) -> Finding | None:
    """The first thing that is wrong with an order."""
    if -1 in places:
        return say("stray", graph=graph.name, stray=stray)
    left = sorted(set(range(len(graph.below))) - set(places))
    if left:
        name = "missing.root" if left == [0] else "missing"
        name = "missing.equal" if graph.numbers is not None else name
        return say(name, graph=graph.name, count=len(left), of=len(graph.below))
    if len(places) > len(graph.below):
        times = Counter(places)
        twice = next(place for place in places if times[place] > 1)
        who = graph.called(twice)
        return say("several_times", graph=graph.name, node=who, times=times[twice])
    return early(places, graph)


def early(places: list[int], graph: Tried) -> Finding | None:
    """A node that stands before one that sends it a gradient."""
    when = {place: turn for turn, place in enumerate(places)}
    for user, below in enumerate(graph.below):
        for receiver in below:
            if when[receiver] < when[user]:
                name = "early.twice" if graph.name == TWICE else "early"
                name = "early.inputs_first" if places[-1] == 0 else name
                first, second = graph.called(receiver), graph.called(user)
                order = [graph.called(place) for place in places]
                shown = f": {' '.join(order)}" if len(places) == 5 else ""
                nodes = {"first": first, "second": second, "order": shown}
                return say(name, graph=graph.name, **nodes)
    return None
