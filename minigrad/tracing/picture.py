"""What the picture of a recording needs beside its events: titles and modules."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from minigrad.tracing.tangent_graph import leave_out_tangents
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
