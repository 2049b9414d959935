"""05.3: an order with users first, on graphs that find out how it was made."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

import minigrad
from minigrad.course import graphs, handed
from minigrad.course.casefile import says_todo
from minigrad.course.findings import Finding

ANSWER = "toposort"
MOST_ASKED = 20
"""For each node: whoever asks more often follows each path anew."""

TWICE = "a graph in which y sends to d twice, and to a twice"


class AskedTooOftenError(Exception):
    """``receivers`` was called far more often than there are nodes."""


class Thing:
    """A node with a name, and nothing else."""

    def __init__(self, name: str) -> None:
        self.name = name

    def __repr__(self) -> str:
        return self.name


@dataclass
class Graph:
    """Nodes in an order with users first, and for each the places of its receivers."""

    name: str
    nodes: Sequence[Any]
    below: Sequence[Sequence[int]]
    asked: int = 0

    def __post_init__(self) -> None:
        self.place = {id(node): place for place, node in enumerate(self.nodes)}

    def receivers(self, node: Any) -> list[Any]:
        """What an answer may ask. Raises: AskedTooOftenError."""
        self.asked += 1
        if self.asked > MOST_ASKED * len(self.nodes):
            raise AskedTooOftenError
        return [self.nodes[place] for place in self.below[self.place[id(node)]]]

    def called(self, place: int) -> str:
        """A node in a message."""
        return "ybdca"[place] if len(self.nodes) == 5 else f"node {place}"


def tried(random: np.random.Generator) -> list[Graph]:
    """What the answer is tried on; each finds out something of its own."""
    diamond = [[1, 2], [4], [3], [4], []]
    letters = [Thing(letter) for letter in "ybdca"]
    ones = [minigrad.tensor(1.0) for _ in range(5)]
    pairs = [minigrad.tensor([1.0, 2.0]) for _ in range(5)]
    order, edges = graphs.drawn(random, 200)
    places = {name: place for place, name in enumerate(order)}
    many = [[places[receiver] for receiver, _ in edges[name]] for name in order]
    twice = [[2, 2, 1, 4, 4], [2, 4], [3], [], []]
    doubles = [[place + 1] * 2 for place in range(40)] + [[]]
    chain = [[place + 1] for place in range(4999)] + [[]]
    return [
        Graph("a diamond with a long arm", letters, diamond),
        Graph(TWICE, [Thing(letter) for letter in "ybdca"], twice),
        Graph("a graph of tensors that are all 1.0", ones, diamond),
        Graph("a graph of tensors with two numbers each", pairs, diamond),
        Graph("a random graph of 200 nodes", [Thing(name) for name in order], many),
        Graph("40 nodes with two edges to the next", things(41), doubles),
        Graph("a chain of 5000 nodes", things(5000), chain),
    ]


def things(count: int) -> list[Thing]:
    """Nodes by number."""
    return [Thing(f"n{number}") for number in range(count)]


def look_at(answer: Any, random: np.random.Generator) -> list[Finding]:
    """The first graph of which the order is not one."""
    unusable = handed.no_function(answer, ANSWER)
    if unusable:
        return [unusable]
    for graph in tried(random):
        found = look_at_one(answer, graph)
        if found is not None:
            return [found]
    return []


def look_at_one(answer: Callable[..., Any], graph: Graph) -> Finding | None:
    """What is wrong on one graph; None if nothing is."""
    try:
        order = answer(graph.nodes[0], graph.receivers)
    except Exception as error:
        if says_todo(error):
            raise
        return crashed(graph, error)
    if not isinstance(order, (list, tuple)):
        what = f"for {graph.name}, toposort gave back a {type(order).__name__}"
        return Finding((), what, ANSWER, hint="What does the last line return?")
    return fault_of(order, graph)


def crashed(graph: Graph, error: Exception) -> Finding:
    """An exception, and what it comes from."""
    text = f"{type(error).__name__}: {error}".rstrip(": ").splitlines()[0]
    story = hint = ""
    if isinstance(error, RecursionError):
        story = "toposort calls itself for each node, and Python stops after some "
        story += "thousand calls inside each other."
        hint = "Which list could hold what the open calls have still to do?"
    elif isinstance(error, AskedTooOftenError):
        text = f"receivers was called more than {MOST_ASKED} times for each node"
        story = "Every path is followed anew: with n joins one after the other that "
        story += "is 2 to the power n times."
        hint = "You come to a node for the second time. What has to be done there?"
    elif isinstance(error, RuntimeError) and "ambiguous" in text:
        story = "`in` on a list asks with ==, and == of two tensors compares numbers."
        hint = "Which question is meant: equal numbers, or the same object?"
    what = f"for {graph.name}: {text}"
    return Finding((), what, ANSWER, looks_like=story, hint=hint, crashed=True)


def fault_of(order: Sequence[Any], graph: Graph) -> Finding | None:
    """The first thing that is wrong with an order."""
    places = [graph.place.get(id(node), -1) for node in order]
    head = f"for {graph.name}, "
    if -1 in places:
        what = f"{head}the list holds {order[places.index(-1)]!r:.40}, which is no node"
        return Finding((), what, ANSWER, hint="Put the nodes themselves on the list.")
    if len(set(places)) < len(graph.nodes):
        return missing(head, places, graph)
    if len(places) > len(graph.nodes):
        twice = next(place for place in places if places.count(place) > 1)
        what = f"{head}{graph.called(twice)} is there {places.count(twice)} times"
        story = "A node was put down at each visit."
        hint = "By which question do you find out that a node is on the list already?"
        return Finding((), what, ANSWER, looks_like=story, hint=hint)
    return early(head, places, graph)


def missing(head: str, places: list[int], graph: Graph) -> Finding:
    """Some nodes are not on the list."""
    left = sorted(set(range(len(graph.nodes))) - set(places))
    what = f"{head}{len(left)} of {len(graph.nodes)} nodes are missing"
    story, hint = "", "Begin with the root: which nodes are on the list at which time?"
    if left == [0]:
        what, story = f"{head}the root is missing", "Only what lies below is put down."
        hint = "Who puts the root on the list?"
    elif isinstance(graph.nodes[0], minigrad.Tensor):
        story = "Two tensors with equal numbers are taken for one and the same."
        hint = "`in` on a list asks with ==. Which question is meant here?"
    return Finding((), what, ANSWER, looks_like=story, hint=hint)


def early(head: str, places: list[int], graph: Graph) -> Finding | None:
    """A node that stands before one that sends it a gradient."""
    when = {place: turn for turn, place in enumerate(places)}
    for user, below in enumerate(graph.below):
        for receiver in below:
            if when[receiver] < when[user]:
                return too_early(head, places, user, receiver, graph)
    return None


def too_early(
    head: str, places: list[int], user: int, receiver: int, graph: Graph
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
