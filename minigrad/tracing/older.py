"""Recordings of schema 1, which tell of no forward values: what they lack is added."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from minigrad.tracing.codes import STORY
from minigrad.tracing.picture import complete
from minigrad.tracing.picture_words import stop


def completed(data: dict[str, Any]) -> dict[str, Any]:
    """The recording as one of today; its calls have edges and names, and no values.

    Its picture stops at each step of the story, and says what that said.
    """
    graph = data["graph"]
    nodes = {node["id"]: node for node in graph["nodes"]}
    edges = {edge["id"]: edge for edge in graph["edges"]}
    names: dict[str, str] = {}
    for event in data["events"]:
        for name, node in event.get("h", {}).items():
            names.setdefault(node, name)
    for node in graph["nodes"]:
        if node["label"].endswith("Backward"):
            node["own"] = True
    for event in data["events"]:
        node = nodes.get(event.get("n", ""))
        if event["k"] == "graph.node" and node and node["kind"] != "accumulate":
            by_slot = {edges[edge]["slot"]: edges[edge] for edge in event["e"]}
            slots = range(max(by_slot, default=-1) + 1)
            event["ins"] = [argument(by_slot.get(n), nodes, names) for n in slots]
            out = {"name": names.get(node["id"]), "v": None, "needs": True, "nr": 0}
            event["outs"] = [out] if node.get("outputs", 1) == 1 else []
        if event["lvl"] <= STORY:
            stop(event, event["say"])
    graph["modules"] = []
    complete(data)
    return data


def argument(
    edge: Mapping[str, Any] | None, nodes: Mapping[str, Any], names: Mapping[str, str]
) -> dict[str, Any]:
    """What is known of an argument: where its gradient goes."""
    if edge is None:
        return {"text": ""}
    to = nodes[edge["to"]]
    is_leaf = to["kind"] == "accumulate"
    name = to.get("tensor") if is_leaf else names.get(edge["to"])
    found = {"name": name, "v": None, "needs": True}
    found["leaf" if is_leaf else "n"] = edge["to"]
    return found | ({"nr": edge["to_slot"]} if edge["to_slot"] else {})
