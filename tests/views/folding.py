"""What the player shows at a position, worked out from the trace alone.

The player folds the same events in the browser; the browser tests compare the two.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from minigrad.tracing.budget import ctx_changes
from minigrad.tracing.messages import message
from minigrad.views.numbers import is_other_grad
from minigrad.views.values import brief_text, number, odd_words

Json = Mapping[str, Any]
MAX_NUMBERS = 30  # an array of more cells is shown as colours alone


def stops_of(data: Json, level: int = 2) -> list[int]:
    """The positions at which the player stops at a level: 1 story, 2 lines, 3 all."""
    events = enumerate(data["events"], 1)
    return [0, *(position for position, event in events if event["lvl"] <= level)]


def state_at(data: Json, position: int) -> dict[str, Any]:
    """The sentence, the lit nodes and edges, and the ctx after ``position`` events."""
    known = known_at(data, position)
    ctx = known.ctx if known.ctx in known.ctxs else None
    entries = known.ctxs.get(ctx or "", {})
    return {
        "position": position,
        "say": _sentence(data, position),
        "nodes": known.nodes,
        "edges": known.edges,
        "ctx": {
            "id": ctx,
            "entries": {k: value_text(data, ref) for k, ref in entries.items()},
        },
    }


def _sentence(data: Json, position: int) -> str:
    if position:
        return str(data["events"][position - 1]["say"])
    return data["meta"].get("title") or message("player.title")


def facts_at(data: Json, position: int) -> dict[str, Any]:
    """What the player knows beside ``state_at`` after ``position`` events.

    ``memory`` as ``memory_at`` has it; ``handles``: for each variable the node whose
    output it is; ``tangents``: for each node that of its output; ``waiting``: for each
    node and output what has come there, and its ``total``; ``grads``: for
    each node of a leaf its ``.grad``; ``left``: for each node where several gradients
    meet how many have still to come; ``advice``: for each ctx what teaching mode said.
    """
    known = known_at(data, position)
    return {
        "memory": known.memory,
        "waiting": known.waiting,
        "handles": known.handles,
        "tangents": known.tangents,
        "grads": known.grads,
        "left": known.left,
        "advice": known.advice,
    }


def memory_at(data: Json, position: int) -> dict[str, dict[str, Any]]:
    """What nodes and leaves have kept in memory up to a position, by id.

    Each item has its ``owner`` (a node), ``key``, ``bytes``, ``buf`` (the memory: its
    bytes count once), ``at`` (the position from which it is held), and once let go,
    ``until`` and ``by``.
    """
    return known_at(data, position).memory


def known_at(data: Json, position: int) -> Known:
    """All that the player knows after ``position`` events."""
    known = Known(data["graph"])
    for at, event in enumerate(data["events"][:position], 1):
        known.take(at, event)
    return known


class Known:
    """What the player knows; it takes the events of a recording one by one."""

    def __init__(self, graph: Json) -> None:
        self._graph_edges = {edge["id"]: edge for edge in graph["edges"]}
        self._ctx_of = {node["id"]: node["ctx"] for node in graph["nodes"]}
        self.nodes: dict[str, str] = {}
        self.edges: dict[str, str] = {}
        self.ctxs: dict[str, dict[str, Any]] = {}
        self.ctx: str | None = None
        self.memory: dict[str, dict[str, Any]] = {}
        self.handles: dict[str, str] = {}
        self.tangents: dict[str, Any] = {}
        self.waiting: dict[str, dict[str, Any]] = {}
        self.grads: dict[str, Any] = {}
        self.left: dict[str, int] = {}
        self.advice: dict[str, list[Any]] = {}
        self._outer: list[tuple[dict[str, Any], ...]] = []
        """What was known when a backward inside another one began."""

    def take(self, at: int, event: Json) -> None:
        """Go on by one event, which is number ``at``."""
        self.edges = {e: "sent" if s == "active" else s for e, s in self.edges.items()}
        self._take_ctx(event)
        self._take_memory(at, event)
        if event["k"] == "graph.node":
            names = [out["name"] for out in event.get("outs", ()) if out.get("name")]
            self.handles |= dict.fromkeys(names, event["n"])
        if event["k"] == "backward.begin":
            self._begin(event)
        elif event["k"] == "backward.end":
            self._end(event.get("inside", 0))
        elif event["k"] == "tangent":
            self.tangents[event.get("n", event.get("key"))] = event["g"]
        elif event["k"] == "lint":
            found = self.advice.setdefault(event.get("cid", ""), [])
            found += [] if event["advice"] in found else [event["advice"]]
        elif "n" in event:
            self._take_node(event["k"], event["n"], event)
            self._take_gradient(event["k"], event["n"], event)

    def _take_ctx(self, event: Json) -> None:
        for change in ctx_changes(event):
            entries = self.ctxs.setdefault(change["id"], {})
            entries.update(change.get("set", {}))
            for key in change.get("del", ()):
                entries.pop(key, None)
        if "cid" in event:
            self.ctx = event["cid"]
        elif event["k"] == "node.enter":
            self.ctx = self._ctx_of.get(event["n"])
        elif "ctx" in event:
            self.ctx = event["ctx"]["id"]

    def _take_memory(self, at: int, event: Json) -> None:
        change = event.get("mem", {})
        for item in change.get("add", ()):
            self.memory[item["id"]] = {**item, "at": at}
        for drop in change.get("del", ()):
            item = self.memory[drop["id"]]
            item |= {"until": at, "by": drop["by"]}
            if item["key"] == "grad":
                self.grads.pop(item["owner"], None)

    def _begin(self, event: Json) -> None:
        """A backward starts; one inside another sets aside what that one has lit."""
        inside = event.get("inside", 0)
        del self._outer[inside:]
        if inside:
            known = self.nodes, self.edges, self.waiting, self.left
            self._outer.append(tuple([dict(one) for one in known]))
        self.nodes = dict.fromkeys(self.nodes, "seen")
        self.edges = dict.fromkeys(self.edges, "seen")
        self.waiting = {}
        for root in event["roots"]:
            self._add_part(root["n"], root["slot"], root["g"], root["g"])
            self.waiting[root["n"]][str(root["slot"])]["root"] = True
        self.left = dict(event.get("awaits", {}))

    def _end(self, inside: int) -> None:
        """A backward ends; after one inside another all is as that one had it."""
        self.left = {}
        if 0 < inside <= len(self._outer):
            nodes, edges, self.waiting, self.left = self._outer[inside - 1]
            self.nodes = {**dict.fromkeys(self.nodes, "seen"), **nodes}
            self.edges = {**dict.fromkeys(self.edges, "seen"), **edges}
        del self._outer[max(0, inside - 1) :]

    def _take_node(self, kind: str, node: str, event: Json) -> None:
        """Light nodes and edges."""
        if kind == "graph.node":
            self.nodes.setdefault(node, "seen")
            for edge in event.get("e", ()):
                self.edges.setdefault(edge, "seen")
                self.nodes.setdefault(self._graph_edges[edge]["to"], "seen")
        elif kind in ("node.enter", "node.exit"):
            self.nodes[node] = "active" if kind == "node.enter" else "done"
        elif kind in ("grad", "grad.none"):
            self.edges[event["e"]] = "active" if kind == "grad" else "none"

    def _take_gradient(self, kind: str, node: str, event: Json) -> None:
        """Lay gradients where they wait, or take them away."""
        self.left |= {node: event["left"]} if "left" in event else {}
        if kind == "grad.accumulate" or is_other_grad(event):
            self.grads[node] = event["new"]
        elif kind == "grad":
            slot = self._graph_edges[event["e"]]["to_slot"]
            self._add_part(node, slot, event["g"], event["total"])
        elif kind == "node.enter":
            known = self.waiting.get(node, {})
            self.waiting[node] = {
                str(slot): known.get(str(slot)) or alone(gradient)
                for slot, gradient in enumerate(event["g"])
                if gradient is not None
            }
        elif kind in ("grad.zeros", "grad.absent"):
            self._replace(node, event["slot"], event.get("g"))
        elif kind == "what.if":
            self._replace(node, event["slot"], event["total"])
        elif kind == "hook.tensor" and event["new"] is not None:
            self._replace(node, event["slot"], event["new"])
        elif kind == "hook.pre" and event["new"] is not None:
            for slot, gradient in enumerate(event["new"]["i"]):
                self._replace(node, slot, gradient)

    def _add_part(self, node: str, slot: int, part: Any, total: Any) -> None:
        place = self.waiting.setdefault(node, {})
        parts = place.get(str(slot), {}).get("parts", [])
        place[str(slot)] = {"parts": [*parts, part], "total": total}

    def _replace(self, node: str, slot: int, gradient: Any) -> None:
        self.waiting.setdefault(node, {})[str(slot)] = alone(gradient)


def alone(gradient: Any) -> dict[str, Any]:
    """What waits where one gradient is all that has come."""
    return {"parts": [gradient], "total": gradient}


def bytes_alive(memory: Mapping[str, Json]) -> int:
    """The bytes that are held, each once however many hold them."""
    held = [item for item in memory.values() if "until" not in item]
    return sum({item["buf"]: item["bytes"] for item in held}.values())


def value_text(data: Json, ref: Json | None) -> str:
    """The words and numbers with which the player shows a value."""
    if ref is None or ref["t"] == "P":
        return brief_text(data, ref)
    if ref["t"] == "L":
        if all(item is None or item["t"] == "P" for item in ref["i"]):
            return brief_text(data, ref)
        return " ".join(value_text(data, item) for item in ref["i"])
    return " ".join([*_about(data, ref), *_cells(data["values"].get(ref["v"]))])


def _about(data: Json, ref: Json) -> list[str]:
    value = data["values"].get(ref["v"])
    words = [ref["name"]] if ref.get("name") else []
    if value is not None:
        shape = "\u00d7".join(map(str, value["shape"]))
        scalar = message("value.scalar")
        words.append(f"{value['dtype']} {f'[{shape}]' if shape else scalar}")
    if ref["t"] == "S":
        same = ref["now"] == ref["ver"]
        key = "value.saved" if same else "value.saved.stale"
        words.append(message(key, saved=ref["ver"], now=ref["now"]))
        if ref.get("out") is not None:
            words.append(message("value.output", number=ref["out"]))
    if ref["t"] == "T":
        version = message("value.version", version=ref["ver"])
        words += [version] if ref["ver"] > 0 else []
        words += [message("value.requires-grad")] if ref["rg"] else []
    if ref.get("tan"):
        tangent = brief_text(data, {"t": "A", "v": ref["tan"]})
        words.append(message("tangent.beside", value=tangent))
    return words


def _cells(value: Json | None) -> list[str]:
    if value is None:
        return []
    numbers = [number(x) for row in value["rows"] for x in row]
    words = numbers if len(numbers) <= MAX_NUMBERS else []
    if value["cut"]:
        ends = {"min": number(value["min"]), "max": number(value["max"])}
        words.append(message("value.part", **ends))
    odd = odd_words(value)
    return [*words, odd] if odd else words
