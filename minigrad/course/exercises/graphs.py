"""Graphs as plain data, for exercises that send gradients through them.

``edges[node]`` lists pairs of a receiver and a slope: what is sent there is the
gradient of the node times the slope.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

Edges = dict[str, list[tuple[str, float]]]

DIAMOND: Edges = {
    "a": [],
    "b": [("a", 3.0)],
    "c": [("a", 2.0)],
    "y": [("b", 1.0), ("c", 1.0)],
}
"""The one of lesson 05: 5 = 2 + 3 arrives at a."""


def drawn(random: np.random.Generator, size: int) -> tuple[list[str], Edges]:
    """A graph in which all is reached from the first node, and an order of its nodes.

    The order has users first; the mapping's own order says nothing. Two edges may lead
    from one node to another.
    """
    order = [f"n{number}" for number in range(size)]
    random.shuffle(order)
    edges: Edges = {name: [] for name in sorted(order)}
    for place in range(1, size):
        for _ in range(random.integers(1, 4)):
            user = order[random.integers(max(0, place - 12), place)]
            slope = float(random.choice([-1.5, -1.0, 0.5, 1.0, 1.5, 2.0]))
            edges[user].append((order[place], slope))
    return order, edges


def counts_of(edges: Mapping[str, Sequence[tuple[str, float]]]) -> dict[str, int]:
    """How many edges lead to each node."""
    counts = dict.fromkeys(edges, 0)
    for pairs in edges.values():
        for receiver, _ in pairs:
            counts[receiver] += 1
    return counts


def gradients(order: Sequence[str], edges: Edges) -> dict[str, float]:
    """What arrives at each node, if 1 arrives at the first; ``order`` is users first.

    >>> gradients(["y", "c", "b", "a"], DIAMOND)["a"]
    5.0
    """
    return {
        name: sum(parts) if parts else 1.0
        for name, parts in addends(order, edges).items()
    }


def addends(order: Sequence[str], edges: Edges) -> dict[str, list[float]]:
    """The gradients that arrive at each node, in the order in which they come.

    >>> addends(["y", "c", "b", "a"], DIAMOND)["a"]
    [2.0, 3.0]
    """
    arrived: dict[str, list[float]] = {name: [] for name in order}
    for name in order:
        gradient = sum(arrived[name]) if arrived[name] else 1.0
        for receiver, slope in edges[name]:
            arrived[receiver].append(gradient * slope)
    return arrived
