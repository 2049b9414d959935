"""05.3: an order with users first, on graphs that find out how it was made."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from minigrad.course.check import Array, Crash, Finding, pass_on_todo, submission
from minigrad.course.check.probes import seen, walks
from minigrad.course.exercises import graphs

ANSWER = "toposort"
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
    twice = [[2, 2, 1, 4, 4], [2, 4], [3], [], []]
    doubles = [[place + 1] * 2 for place in range(40)] + [[]]
    chain = [[place + 1] for place in range(4999)] + [[]]

    def mixed(name: str, below: list[list[int]], numbers: Array | None = None) -> Tried:
        return Tried(name, below, random.permutation(len(below)), numbers)

    return [
        mixed("a diamond with a long arm", diamond),
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


def look_at(answer: Any, random: np.random.Generator) -> list[Finding]:
    """The first graph of which the order is not one."""
    unusable = submission.no_function(answer, ANSWER)
    if unusable:
        return [unusable]
    for graph in tried(random):
        found = fault_in(seen(walks.walk, (answer,), graph.graph()), graph)
        if found is not None:
            return [found]
    return []


def fault_in(walk: walks.Walk, graph: Tried) -> Finding | None:
    """What is wrong with one walk; None if nothing is."""
    if walk.crash is not None:
        return crashed(graph, walk.crash)
    if walk.kind != "list":
        what = f"for {graph.name}, toposort gave back a {walk.kind}"
        return Finding((), what, ANSWER, hint="What does the last line return?")
    return fault_of(graph.places(walk), graph, walk.stray) or too_deep(walk, graph)


def too_deep(walk: walks.Walk, graph: Tried) -> Finding | None:
    """A right order, with calls inside each other as far as the graph is deep."""
    if walk.deep <= DEEP:
        return None
    what = f"for {graph.name} the order is right, and {walk.deep} calls lay inside "
    what += "each other to make it"
    story = "toposort calls itself for each node, and Python's limit was raised "
    story += "(sys.setrecursionlimit). The next graph is deeper than any limit."
    hint = "Which list could hold what the open calls have still to do?"
    return Finding((), what, ANSWER, looks_like=story, hint=hint, values_right=True)


def crashed(graph: Tried, crash: Crash) -> Finding:
    """An exception, and what it comes from."""
    pass_on_todo(crash)
    text = f"{crash.kinds[0]}: {crash.text}".rstrip(": ").splitlines()[0]
    story = hint = ""
    if "RecursionError" in crash.kinds:
        story = "toposort calls itself for each node, and Python stops after some "
        story += "thousand calls inside each other."
        hint = "Which list could hold what the open calls have still to do?"
    elif "AskedTooOftenError" in crash.kinds:
        text = f"receivers was called more than {walks.MOST_ASKED} times for each node"
        story = "Every path is followed anew: with n joins one after the other that "
        story += "is 2 to the power n times."
        hint = "You come to a node for the second time. What has to be done there?"
    elif "RuntimeError" in crash.kinds and "ambiguous" in text:
        story = "`in` on a list asks with ==, and == of two tensors compares numbers."
        hint = "Which question is meant: equal numbers, or the same object?"
    what = f"for {graph.name}: {text}"
    return Finding((), what, ANSWER, looks_like=story, hint=hint, crashed=True)


def fault_of(places: list[int], graph: Tried, stray: str) -> Finding | None:
    """The first thing that is wrong with an order."""
    head = f"for {graph.name}, "
    if -1 in places:
        what = f"{head}the list holds {stray}, which is no node"
        return Finding((), what, ANSWER, hint="Put the nodes themselves on the list.")
    if len(set(places)) < len(graph.below):
        return missing(head, places, graph)
    if len(places) > len(graph.below):
        times = Counter(places)
        twice = next(place for place in places if times[place] > 1)
        what = f"{head}{graph.called(twice)} is there {times[twice]} times"
        story = "A node was put down at each visit."
        hint = "By which question do you find out that a node is on the list already?"
        return Finding((), what, ANSWER, looks_like=story, hint=hint)
    return early(head, places, graph)


def missing(head: str, places: list[int], graph: Tried) -> Finding:
    """Some nodes are not on the list."""
    left = sorted(set(range(len(graph.below))) - set(places))
    what = f"{head}{len(left)} of {len(graph.below)} nodes are missing"
    story, hint = "", "Begin with the root: which nodes are on the list at which time?"
    if left == [0]:
        what, story = f"{head}the root is missing", "Only what lies below is put down."
        hint = "Who puts the root on the list?"
    elif graph.numbers is not None:
        story = "Two tensors with equal numbers are taken for one and the same."
        hint = "`in` on a list asks with ==. Which question is meant here?"
    return Finding((), what, ANSWER, looks_like=story, hint=hint)


def early(head: str, places: list[int], graph: Tried) -> Finding | None:
    """A node that stands before one that sends it a gradient."""
    when = {place: turn for turn, place in enumerate(places)}
    for user, below in enumerate(graph.below):
        for receiver in below:
            if when[receiver] < when[user]:
                return too_early(head, places, user, receiver, graph)
    return None


def too_early(
    head: str, places: list[int], user: int, receiver: int, graph: Tried
) -> Finding:
    """Why a node stands too early."""
    first, second = graph.called(receiver), graph.called(user)
    what = f"{head}{first} comes before {second}, which sends it a gradient"
    if len(places) == 5:
        what += f": {' '.join([graph.called(place) for place in places])}"
    story = "Depth first, or level by level: a join has its turn when only one of its "
    story += "users had."
    hint = "When may a node be put down: when it is met first, or when all its users"
    hint += " stand there? Which of the two can you know, going through the graph?"
    if graph.name == TWICE:
        story = "On the diamond it is right. Here two edges lead from one node to "
        story += "another: they may be counted as one, and counted down as two."
        hint = "How many gradients does d wait for? How far do you count for it, and "
        hint += "how often do you count down?"
    if places[-1] == 0:
        story = "Inputs first: this is the order of forward."
        hint = "Your list is nearly right. From which end should it be read?"
    return Finding((), what, ANSWER, looks_like=story, hint=hint)
