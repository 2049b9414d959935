"""The nodes that only tangents are made by: the picture does without them.

In forward mode a value's tangent is computed by operations, too, and these join the
graph where an input requires grad. The picture shows a tangent beside its value; the
operations that made it are steps of *everything*, and no parts of the picture.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from typing import Any

from minigrad.tracing.codes import ENGINE


def leave_out_tangents(data: dict[str, Any]) -> None:
    """Mark the nodes that lead to tangents alone, and tell of none of them."""
    hidden = only_for_tangents(data)
    for node in data["graph"]["nodes"]:
        if node["id"] in hidden:
            node["tangent"] = True
    for event in data["events"]:
        if event["k"] == "graph.node" and event["n"] in hidden:
            event["lvl"] = ENGINE


def only_for_tangents(data: Mapping[str, Any]) -> set[str]:
    """The ids of these nodes: of what is made of a tangent later, none."""
    graph, given = data["graph"], [e for e in data["events"] if e["k"] == "tangent"]
    below: dict[str, list[str]] = defaultdict(list)
    for edge in graph["edges"]:
        below[edge["from"]].append(edge["to"])
    makers = reached([event["gn"] for event in given if "gn" in event], below)
    others = [node["id"] for node in graph["nodes"] if node["id"] not in makers]
    values = [event["n"] for event in given if "n" in event]
    return makers - reached([*others, *values], below)


def reached(start: Iterable[str], below: Mapping[str, Iterable[str]]) -> set[str]:
    """These nodes, and all that gradients would go on to from them."""
    found: set[str] = set()
    left = list(start)
    while left:
        node = left.pop()
        if node not in found:
            found.add(node)
            left += below.get(node, ())
    return found
