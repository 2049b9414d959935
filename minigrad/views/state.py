"""What the player shows at a position, worked out from the trace alone.

The player folds the same events in the browser; the browser tests compare the two.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from typing import Any

from minigrad.tracing.messages import message, word
from minigrad.tracing.trace import ctx_changes

Json = Mapping[str, Any]
Lit = tuple[dict[str, str], dict[str, str]]
"""What is lit: the states of nodes and of edges."""

MAX_NUMBERS = 30  # an array of more cells is shown as colours alone


def stops_of(data: Json, level: int = 2) -> list[int]:
    """The positions at which the player stops at a level: 1 story, 2 lines, 3 all."""
    events = enumerate(data["events"], 1)
    return [0, *(position for position, event in events if event["lvl"] <= level)]


def state_at(data: Json, position: int) -> dict[str, Any]:
    """The sentence, the lit nodes and edges, and the ctx after ``position`` events."""
    nodes: dict[str, str] = {}
    edges: dict[str, str] = {}
    ctxs: dict[str, dict[str, Any]] = {}
    current: str | None = None
    outer: list[Lit] = []
    for event in data["events"][:position]:
        edges = {id: "sent" if now == "active" else now for id, now in edges.items()}
        for change in ctx_changes(event):
            _change_ctx(ctxs, change)
        current = _current_ctx(data, event, current)
        _light(data, event, nodes, edges, outer)
    entries = ctxs.get(current or "")
    return {
        "position": position,
        "say": _sentence(data, position),
        "nodes": nodes,
        "edges": edges,
        "ctx": {
            "id": None if entries is None else current,
            "entries": {k: value_text(data, ref) for k, ref in (entries or {}).items()},
        },
    }


def _sentence(data: Json, position: int) -> str:
    if position:
        return str(data["events"][position - 1]["say"])
    return data["meta"].get("title") or message("player.title")


def _change_ctx(ctxs: dict[str, dict[str, Any]], change: Json) -> None:
    entries = ctxs.setdefault(change["id"], {})
    entries.update(change.get("set", {}))
    for key in change.get("del", ()):
        entries.pop(key, None)


def _current_ctx(data: Json, event: Json, before: str | None) -> str | None:
    if "cid" in event:
        return event["cid"]  # type: ignore[no-any-return]
    if event["k"] == "node.enter":
        owners = {node["id"]: node["ctx"] for node in data["graph"]["nodes"]}
        return owners.get(event["n"])
    return event["ctx"]["id"] if "ctx" in event else before


def _light(
    data: Json,
    event: Json,
    nodes: dict[str, str],
    edges: dict[str, str],
    outer: list[Lit],
) -> None:
    kind = event["k"]
    if kind == "graph.node":
        nodes.setdefault(event["n"], "seen")
        receivers = {edge["id"]: edge["to"] for edge in data["graph"]["edges"]}
        for edge in event.get("e", ()):
            edges.setdefault(edge, "seen")
            nodes.setdefault(receivers[edge], "seen")
    elif kind == "backward.begin":
        del outer[event.get("inside", 0) :]
        if event.get("inside"):
            outer.append((dict(nodes), dict(edges)))
        nodes.update(dict.fromkeys(nodes, "seen"))
        edges.update(dict.fromkeys(edges, "seen"))
    elif kind == "backward.end":
        _light_again(event, nodes, edges, outer)
    elif kind == "node.enter":
        nodes[event["n"]] = "active"
    elif kind == "node.exit":
        nodes[event["n"]] = "done"
    elif kind == "grad":
        edges[event["e"]] = "active"
    elif kind == "grad.none":
        edges[event["e"]] = "none"


def _light_again(
    event: Json, nodes: dict[str, str], edges: dict[str, str], outer: list[Lit]
) -> None:
    """After a backward inside another one: what the other one had lit."""
    inside = event.get("inside", 0)
    before = outer[inside - 1] if 0 < inside <= len(outer) else None
    del outer[max(0, inside - 1) :]
    if before is not None:
        nodes.update({**dict.fromkeys(nodes, "seen"), **before[0]})
        edges.update({**dict.fromkeys(edges, "seen"), **before[1]})


def facts_at(data: Json, position: int) -> dict[str, Any]:
    """What the player knows beside ``state_at`` after ``position`` events.

    ``memory`` as ``memory_at`` has it; ``handles``: for each variable the node whose
    output it is; ``tangents``: for each node that of its output; ``waiting``: for each
    node and output the gradients that wait there, and their ``total``; ``grads``: for
    each node of a leaf its ``.grad``; ``left``: for each node where several gradients
    meet how many have still to come; ``advice``: for each ctx what teaching mode said.
    """
    facts: dict[str, dict[str, Any]] = {
        name: {} for name in ("handles", "tangents", "grads", "left", "advice")
    }
    waiting: dict[str, dict[str, Any]] = {}
    outer: list[dict[str, dict[str, Any]]] = []
    outer_left: list[dict[str, Any]] = []
    slots = {edge["id"]: edge["to_slot"] for edge in data["graph"]["edges"]}
    memory = memory_at(data, position)
    owners = {id: one["owner"] for id, one in memory.items() if one["key"] == "grad"}
    for event in data["events"][:position]:
        for name, node in event.get("h", {}).items():
            if node is None:
                facts["handles"].pop(name, None)
            else:
                facts["handles"][name] = node
        for drop in event.get("mem", {}).get("del", ()):
            facts["grads"].pop(owners.get(drop["id"], ""), None)
        _count_down(event, facts["left"], outer_left)
        if event["k"] == "tangent" and "n" in event:
            facts["tangents"][event["n"]] = event["g"]
        elif event["k"] == "lint":
            found = facts["advice"].setdefault(event.get("cid", ""), [])
            found += [] if event["advice"] in found else [event["advice"]]
        elif event["k"] == "grad.accumulate" or is_other_grad(event):
            facts["grads"][event["n"]] = event["new"]
        else:
            _wait(event, waiting, slots, outer)
    return {"memory": memory, "waiting": waiting, **facts}


def is_other_grad(event: Json) -> bool:
    """Whether an edit has put another ``.grad`` in the place of one."""
    return event["k"] == "what.if" and "n" in event and "slot" not in event


def _wait(
    event: Json,
    waiting: dict[str, dict[str, Any]],
    slots: Mapping[str, int],
    outer: list[dict[str, dict[str, Any]]],
) -> None:
    """Lay gradients where they wait, or take them away."""
    kind = event["k"]
    inside = event.get("inside", 0)
    if kind == "backward.begin":
        del outer[inside:]
        if inside:
            outer.append(dict(waiting))
        waiting.clear()
        for root in event["roots"]:
            _add_part(waiting, root["n"], root["slot"], root["g"], root["g"])
    elif kind == "grad":
        slot = slots[event["e"]]
        _add_part(waiting, event["n"], slot, event["g"], event["total"])
    elif kind == "node.enter":
        known = waiting.get(event["n"], {})
        waiting[event["n"]] = {
            str(slot): known.get(str(slot), {"parts": [gradient], "total": gradient})
            for slot, gradient in enumerate(event["g"])
            if gradient is not None
        }
    elif kind in ("grad.zeros", "grad.absent"):
        _replace(waiting, event["n"], event["slot"], event.get("g"))
    elif kind == "what.if" and "slot" in event:
        _replace(waiting, event["n"], event["slot"], event["total"])
    elif kind == "hook.tensor" and event["new"] is not None:
        _replace(waiting, event["n"], event["slot"], event["new"])
    elif kind == "hook.pre" and event["new"] is not None:
        for slot, gradient in enumerate(event["new"]["i"]):
            _replace(waiting, event["n"], slot, gradient)
    elif kind == "node.exit":
        waiting.pop(event["n"], None)
    elif kind == "backward.end":
        if 0 < inside <= len(outer):
            waiting.clear()
            waiting.update(outer[inside - 1])
        del outer[max(0, inside - 1) :]


def _count_down(event: Json, left: dict[str, Any], outer: list[dict[str, Any]]) -> None:
    """How many gradients have still to come, where several meet."""
    inside = event.get("inside", 0)
    if event["k"] == "backward.begin":
        del outer[inside:]
        if inside:
            outer.append(dict(left))
        left.clear()
        left.update(event.get("awaits", {}))
    elif event["k"] == "backward.end":
        left.clear()
        if 0 < inside <= len(outer):
            left.update(outer[inside - 1])
        del outer[max(0, inside - 1) :]
    elif "left" in event:
        left[event["n"]] = event["left"]


def _add_part(
    waiting: dict[str, dict[str, Any]], node: str, slot: int, part: Any, total: Any
) -> None:
    place = waiting.setdefault(node, {})
    parts = place.get(str(slot), {}).get("parts", [])
    place[str(slot)] = {"parts": [*parts, part], "total": total}


def _replace(
    waiting: dict[str, dict[str, Any]], node: str, slot: int, gradient: Any
) -> None:
    place = waiting.setdefault(node, {})
    place[str(slot)] = {"parts": [gradient], "total": gradient}


def memory_at(data: Json, position: int) -> dict[str, dict[str, Any]]:
    """What nodes and leaves have kept in memory up to a position, by id.

    Each item has its ``owner`` (a node), ``key``, ``bytes``, ``buf`` (the memory: its
    bytes count once), ``at`` (the position from which it is held), and once let go,
    ``until`` and ``by``.
    """
    memory: dict[str, dict[str, Any]] = {}
    for at, event in enumerate(data["events"][:position], 1):
        change = event.get("mem", {})
        for item in change.get("add", ()):
            memory[item["id"]] = {**item, "at": at}
        for drop in change.get("del", ()):
            memory[drop["id"]] |= {"until": at, "by": drop["by"]}
    return memory


def bytes_alive(memory: Mapping[str, Json]) -> int:
    """The bytes that are held, each once however many hold them."""
    held = [item for item in memory.values() if "until" not in item]
    return sum({item["buf"]: item["bytes"] for item in held}.values())


def value_text(data: Json, ref: Json | None) -> str:
    """The words and numbers with which the player shows a value."""
    if ref is None:
        return "None"
    if ref["t"] == "P":
        return word(str(ref["r"]))
    if ref["t"] == "L":
        if all(item is None or item["t"] == "P" for item in ref["i"]):
            words = [value_text(data, item) for item in ref["i"]]
            return f"({words[0]},)" if len(words) == 1 else f"({', '.join(words)})"
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
        tangent = _brief(data["values"][ref["tan"]])
        words.append(message("tangent.beside", value=tangent))
    return words


def _brief(value: Json) -> str:
    """An array in one line."""
    numbers = [number(x) for row in value["rows"] for x in row]
    if not value["cut"] and not value["shape"]:
        return numbers[0]
    if not value["cut"] and len(value["shape"]) == 1 and len(numbers) <= 4:
        return f"[{', '.join(numbers)}]"
    times = "\u00d7"
    shape = f"[{times.join(map(str, value['shape']))}]"
    odd, size = odd_words(value), math.prod(value["shape"])
    if not size:
        return message("value.none", shape=shape)
    if value["nan"] == size:
        return message("value.all", shape=shape, value="nan")
    if value["min"] is None:
        return message("value.odd", shape=shape, odd=odd)
    least, most = number(value["min"]), number(value["max"])
    if odd:
        words = message("value.range", shape=shape, min=least, max=most)
        return message("value.and-odd", value=words, odd=odd)
    if least == most:
        return message("value.all", shape=shape, value=least)
    return message("value.range", shape=shape, min=least, max=most)


def odd_words(value: Json) -> str:
    """How many elements are no number and how many are infinite; empty without."""
    infinite = value.get("inf", 0)
    words = [message("value.nan", count=value["nan"])] if value["nan"] else []
    words += [message("value.inf", count=infinite)] if infinite else []
    if len(words) == 2:
        return message("value.and-odd", value=words[0], odd=words[1])
    return "".join(words)


def brief_text(data: Json, ref: Json | None) -> str:
    """A value in one line, as the player writes it beside an edge."""
    value = None if ref is None else data["values"].get(ref.get("v"))
    return value_text(data, ref) if value is None else _brief(value)


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


def number(x: Any) -> str:
    """A number in at most four digits, as the player writes it.

    >>> number(10.0), number(-0.125), number(0.00001), number(1234567.0), number(None)
    ('10', '-0.125', '1.00e-5', '1.23e+6', 'nan')
    """
    if x is None:
        return "nan"
    if not isinstance(x, (int, float)) or not math.isfinite(x):
        return str(x)  # inf and complex numbers are words in a recording
    size = abs(x)
    if x == int(x) and size < 1e6:
        return str(int(x))
    if size >= 1e5 or size < 1e-3:
        return re.sub(r"e([+-])0", r"e\1", f"{x:.2e}")
    return repr(float(f"{x:.4g}")).removesuffix(".0")
