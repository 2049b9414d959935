"""An answer that walks through a graph and gives its nodes back in some order."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass
from types import FrameType
from typing import Any

import numpy as np

import minigrad
from minigrad.course.check.facts import Array, Crash
from minigrad.course.check.spy import crash_of

MOST_ASKED = 20
"""For each node: whoever asks more often follows each path anew."""

MOST_GIVEN_BACK = 20_000


@dataclass(frozen=True)
class Graph:
    """A graph as plain data: ``edges`` has a row for each, from a place to a place.

    Nodes have these ``letters``, or a number; or they are tensors, if there are rows of
    ``numbers``. Which place comes before which says nothing.
    """

    root: int
    edges: Array
    size: int
    letters: str = ""
    numbers: Array | None = None


@dataclass(frozen=True)
class Walk:
    """The places of the nodes that came back, -1 for what is none, which is ``stray``.

    ``kind`` is what they came in. ``deep``: so many calls lay inside each other when
    the answer asked for the receivers of a node that has none.
    """

    places: Array
    kind: str = "list"
    stray: str = ""
    deep: int = 0
    crash: Crash | None = None


class AskedTooOftenError(Exception):
    """``receivers`` was called far more often than there are nodes."""


class Thing:
    """A node with a name, and nothing else."""

    def __init__(self, name: str) -> None:
        self.name = name

    def __repr__(self) -> str:
        return self.name


def walk(answer: Callable[..., Any], graph: Graph) -> Walk:
    """Have the answer walk through the graph."""
    nodes = nodes_of(graph)
    place = {id(node): number for number, node in enumerate(nodes)}
    below: list[list[Any]] = [[] for _ in nodes]
    for user, receiver in graph.edges.tolist():
        below[user].append(nodes[receiver])
    asked, deepest, here, limit = 0, 0, depth(), sys.getrecursionlimit()

    def receivers(node: Any) -> list[Any]:
        nonlocal asked, deepest
        asked += 1
        if asked > MOST_ASKED * len(nodes):
            raise AskedTooOftenError
        found = below[place[id(node)]]
        if not found:
            deepest = max(deepest, depth() - here)
        return list(found)

    try:
        order = answer(nodes[graph.root], receivers)
    except Exception as error:
        return Walk(np.zeros(0, int), crash=crash_of("toposort", error))
    finally:
        sys.setrecursionlimit(limit)
    if not isinstance(order, list):
        return Walk(np.zeros(0, int), type(order).__name__)
    came = [place.get(id(node), -1) for node in order[:MOST_GIVEN_BACK]]
    stray = f"{order[came.index(-1)]!r:.40}" if -1 in came else ""
    return Walk(np.array(came, int), stray=stray, deep=deepest)


def nodes_of(graph: Graph) -> list[Any]:
    """The nodes, alive."""
    if graph.numbers is not None:
        return [minigrad.tensor(row) for row in graph.numbers]
    names = graph.letters or [f"n{number}" for number in range(graph.size)]
    return [Thing(name) for name in names]


def depth() -> int:
    """How many calls lie inside each other at this moment."""
    frame: FrameType | None = sys._getframe(1)
    count = 0
    while frame is not None:
        frame, count = frame.f_back, count + 1
    return count
