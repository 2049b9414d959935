"""What the picture of a recording needs beside its events: titles, modules, axes."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from minigrad.tracing.codes import ENGINE, STORY
from minigrad.tracing.picture_words import stop
from minigrad.tracing.titles import name_calls, told_apart

Axes = tuple[int, ...]
RESHAPES: Final = ("View", "ReshapeAlias", "UnsafeView", "Unsqueeze", "Squeeze")


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


def mark(data: Mapping[str, Any], told: Mapping[str, Axes]) -> None:
    """Write ``ax`` at each value of a call that was mapped; ``told`` is by tensors.

    vmap says of each tensor that it maps which dimensions count its examples. What a
    rule makes of such a tensor, vmap sees only when the rule returns: until then the
    dimension is followed through whatever moves it or gives it other neighbours.
    """
    axes = dict(told)
    shapes = {key: value["shape"] for key, value in data["values"].items()}
    labels = {node["id"]: node["label"] for node in data["graph"]["nodes"]}
    for event in data["events"]:
        ins, outs = event.get("ins", ()), event.get("outs", ())
        if event["k"] == "graph.node" and len(outs) == 1 and ins and ins[0].get("v"):
            before, after = (shapes[one["v"]["v"]] for one in (ins[0], outs[0]))
            mapped = axes.get(ins[0]["t"], ())
            found = mapped and follow(event, labels[event["n"]], mapped, before, after)
            if found:
                axes.setdefault(outs[0]["t"], found)
        for one in (*ins, *outs):
            if one.get("v") and one.get("t") in axes:
                one["v"]["ax"] = list(axes[one["t"]])


def follow(
    event: Mapping[str, Any],
    label: str,
    axes: Axes,
    before: Sequence[int],
    after: Sequence[int],
) -> Axes:
    """Where these dimensions are in the result of an operation that moves data only."""
    kept = event.get("ctx", {}).get("set", {})
    operation = label.removesuffix("Backward0")
    if operation == "Permute":
        back = [int(one["r"]) for one in kept["attr.back"]["i"]]
        return tuple(sorted([back[axis] for axis in axes]))
    if operation == "Transpose":
        one, other = [int(dim["r"]) % len(before) for dim in kept["attr.dims"]["i"]]
        exchanged = {one: other, other: one}
        return tuple(sorted([exchanged.get(axis, axis) for axis in axes]))
    if operation == "T":
        return tuple(sorted([len(before) - 1 - axis for axis in axes]))
    if operation in RESHAPES:
        places = [place_after(axis, before, after) for axis in axes]
        return tuple([place for place in places if place is not None])
    return ()


def place_after(axis: int, before: Sequence[int], after: Sequence[int]) -> int | None:
    """The dimension of the new shape that is this one of the old: as long, with as many
    elements before it; None if it was split or joined."""
    ahead = math.prod(before[:axis])
    for place, length in enumerate(after):
        if length == before[axis] and math.prod(after[:place]) == ahead:
            return place
    return None


def completed(data: dict[str, Any]) -> dict[str, Any]:
    """A recording of schema 1, which tells of no forward values, as one of today.

    Its calls have edges and names, and no values.
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
