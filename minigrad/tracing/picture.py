"""What the picture of a recording needs beside its events: titles and modules."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from minigrad.tracing.codes import ENGINE
from minigrad.tracing.titles import name_calls, told_apart


def complete(data: dict[str, Any]) -> None:
    """Write into a recording what its picture is drawn by."""
    events, graph = data["events"], data["graph"]
    nodes = {node["id"]: node for node in graph["nodes"]}
    graph["modules"] = modules_with_nodes(graph)
    for event in events:
        for one in event.get("ins", ()):
            if one.get("n", one.get("leaf")) not in nodes:  # left out, of a long one
                one.pop("n", None), one.pop("leaf", None), one.pop("nr", None)
    name_calls(events, nodes)
    name_owners(events)
    leave_out_tangents(data)


def name_owners(events: Sequence[dict[str, Any]]) -> None:
    """Call a node by its label where its memory is told of, too."""
    labels = {
        event["n"]: event["label"] for event in events if "n" in event and "op" in event
    }
    for event in events:
        for item in event.get("mem", {"add": ()})["add"]:
            if item["key"] != "grad":
                item["of"] = labels.get(item["owner"], item["of"])


def modules_with_nodes(graph: dict[str, Any]) -> list[dict[str, Any]]:
    """The modules that made a node of the graph, or hold one that did; labelled."""
    modules = {one["id"]: one for one in graph.get("modules", ())}
    used: set[str | None] = set()
    for node in graph["nodes"]:
        module = node.get("module")
        while module is not None and module not in used:
            used.add(module)
            module = modules[module]["in"]
    shown = {name: one for name, one in modules.items() if name in used}
    titles = {name: title_of_module(one) for name, one in shown.items()}
    for name, label in told_apart(titles).items():
        shown[name]["label"] = label
    return list(shown.values())


def title_of_module(module: dict[str, Any]) -> str:
    """A module by the attribute that holds it, or by its kind if that is a number."""
    last = (module["name"] or "").rpartition(".")[2]
    return last if last and not last.isdigit() else str(module["kind"]).lower()


def leave_out_tangents(data: dict[str, Any]) -> None:
    """Mark the nodes that lead to tangents alone, and tell of none of them.

    A tangent stands beside its value; the operations that made it are in the graph
    where an input requires grad, and are steps of *everything*.
    """
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
