"""What the picture of a recording needs beside its events: titles, modules, stops."""

from __future__ import annotations

from typing import Any

from minigrad.tracing.titles import titled, told_apart

Event = dict[str, Any]


def complete(data: dict[str, Any]) -> None:
    """Write into a recording what its picture is drawn and told by."""
    events, graph = data["events"], data["graph"]
    graph["modules"] = modules_with_nodes(graph)
    name_calls(events, graph)


def name_calls(events: list[Event], graph: dict[str, Any]) -> None:
    """Give each call its ``op``, and each node a ``label`` that no other has."""
    kinds = {node["id"]: node for node in graph["nodes"]}
    titles = {}
    for event in events:
        if "ins" not in event:
            continue
        node = kinds.get(event.get("n", ""))
        name = node["label"] if node else f"{event['function']}Backward"
        event["op"] = titled(name, event["ins"], event["outs"])
        if node:
            titles[node["id"]] = event["op"]
    labels = told_apart(titles)
    for event in events:
        if "ins" in event:
            event["label"] = labels.get(event.get("n", ""), event["op"])


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
