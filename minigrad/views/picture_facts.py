"""What the events of a recording say of the calls that its picture shows."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from minigrad.tracing.budget import ctx_changes
from minigrad.tracing.messages import message
from minigrad.views.values import brief_text

Json = dict[str, Any]

MOST_LETTERS: Final = 18
MOST_AT_AN_EDGE: Final = 16
MOST_OF_A_SUM: Final = 16  # letters; a longer one is shown as its total


def called(event: Mapping[str, Any]) -> str:
    """The call that an event tells of: it has joined the graph, or never will."""
    if event["k"] == "graph.node":
        return str(event["n"])
    return str(event.get("call") or event["cid"]) if "ins" in event else ""


def is_short(value: Mapping[str, Any]) -> bool:
    """Whether a value is written, and not drawn."""
    shape = value["shape"]
    return not shape or (len(shape) == 1 and shape[0] <= 3 and not value["cut"])


def shape_words(shape: Sequence[int], mapped: Sequence[int] = ()) -> str:
    """A shape; the lengths that count the examples of a vmap stand in brackets."""
    lengths = [f"[{n}]" if axis in mapped else str(n) for axis, n in enumerate(shape)]
    return "\u00d7".join(lengths)


def written(data: Mapping[str, Any], ref: Json) -> str:
    """What is written of a value: itself, or its shape."""
    value = data["values"].get(ref.get("v"))
    if value is None or is_short(value):
        return brief_text(data, ref)
    return shape_words(value["shape"])


def shortened(text: str, most: int = MOST_LETTERS) -> str:
    """The beginning of a long text."""
    return text if len(text) <= most else f"{text[: most - 1]}\u2026"


class Facts:
    """What the events say of nodes.

    ``names`` and ``values`` are of outputs, by node and number, ``without_wire`` those
    to which no gradient comes; ``gradients`` the first that came to a node, ``grads``
    what a leaf's ``.grad`` is at last.
    """

    def __init__(self, data: Mapping[str, Any]) -> None:
        self.names: dict[str, dict[int, str]] = defaultdict(dict)
        self.values: dict[tuple[str, int], Json] = {}
        self.without_wire: dict[str, set[int]] = defaultdict(set)
        self.sums: dict[str, int] = defaultdict(int)
        self.labels: dict[str, list[int]] = defaultdict(lambda: [0, 0])
        """How many letters stand at an edge: of its slope and of its gradient."""
        self._arrived: dict[str, list[Json]] = defaultdict(list)
        self.gradients: dict[str, Json] = {}
        self.grads: dict[str, Json] = {}
        self.tangents: dict[str, Json] = {}
        """Of tensors that are no node's, by their keys."""
        self._data = data
        self._calls: dict[str, Json] = {}
        self._functions = {ctx["id"]: ctx["function"] for ctx in data.get("ctxs", ())}
        self._users: set[str | None] = set()
        self._kept: dict[str, dict[str, Json]] = defaultdict(dict)
        self._read: dict[str, set[int]] = defaultdict(set)
        for edge in data["graph"]["edges"]:
            self._read[edge["to"]].add(edge.get("to_slot", 0))
        for event in data["events"]:
            self._take(event)

    def _take(self, event: Json) -> None:
        kind = event["k"]
        if call := called(event):
            self._calls[call] = event
        for out in event.get("outs", ()):
            if out.get("v"):
                self.values[call, out["nr"]] = out["v"]
            if out.get("name"):
                self.names[call][out["nr"]] = out["name"]
            if not out.get("needs", True):
                self.without_wire[call].add(out["nr"])
        for given in event.get("ins", ()) if kind == "graph.node" else ():
            if given.get("leaf") and given.get("v"):
                self.values.setdefault((given["leaf"], 0), given["v"])
        for change in ctx_changes(event):
            for key, ref in change["set"].items():
                if ref and key.startswith(("saved.", "attr.")) and _is_kept(ref):
                    self._kept[change["id"]].setdefault(key, ref)
        if kind == "ctx.new":
            self._users.add(event["cid"])
        elif kind == "grad" and event.get("total"):
            self._label(self.labels[event["e"]], event.get("slope"), event["g"])
            self.gradients.setdefault(event["n"], event["total"])
            self._arrived[event["n"]].append(event["g"])
            self._sum_up(event["n"], self._arrived[event["n"]], event["total"])
        elif kind == "grad.accumulate":
            self.grads[event["n"]] = event["new"]
            if event.get("old"):
                self._sum_up(event["n"], [event["old"], event["g"]], event["new"])
        elif kind == "backward.begin":
            self._arrived.clear()
        if "key" in event:
            self.tangents[event["key"]] = event["g"]
        for root in event.get("roots") or ():
            self.gradients.setdefault(root["n"], root["g"])

    def _label(self, letters: list[int], slope: Json | None, ref: Json) -> None:
        if slope:
            key = "wire.slope.of" if "of" in slope else "wire.slope"
            text = message(key, number=slope["x"], name=slope.get("of"))
            letters[0] = max(letters[0], min(len(text), MOST_AT_AN_EDGE))
        value = self._data["values"].get(ref.get("v"))
        if value is None or is_short(value):
            text = shortened(brief_text(self._data, ref), MOST_AT_AN_EDGE)
            letters[1] = max(letters[1], len(text))

    def _sum_up(self, node: str, parts: list[Json], total: Json) -> None:
        """How many letters the sum of several gradients has, if it is not too long."""
        if len(parts) > 1:
            texts = [brief_text(self._data, one) for one in (*parts, total)]
            letters = sum(map(len, texts)) + 3 * len(parts)
            if letters <= MOST_OF_A_SUM:
                self.sums[node] = max(self.sums[node], letters)

    def unrecorded(self) -> dict[str, Json]:
        """Calls that have joined no graph: learners' by their ctxs, others by names."""
        calls = self._calls.items()
        return {name: event for name, event in calls if event["k"] != "graph.node"}

    def outputs(self, node: Json) -> int:
        """How many outputs are shown: of a built-in not those that nobody has."""
        count: int = node.get("outputs", 1)
        if not self.is_users(node):
            held = [*self.names[node["id"]], *self._read[node["id"]], 0]
            count = min(count, max(held) + 1)
        return count

    def title(self, node: Json) -> str:
        """What people call the operation."""
        call = self._calls.get(node["id"], {})
        function = self._functions.get(node["ctx"], node["label"])
        return str(call.get("op") or function)

    def is_users(self, node: Json) -> bool:
        """Whether a learner's own apply has made a node."""
        return node.get("ctx") in self._users

    def inputs(self, name: str) -> Iterable[tuple[int, Json]]:
        """The tensors that were given to a node or an unrecorded call, by places."""
        given = enumerate(self._calls.get(name, {}).get("ins", ()))
        return [one for one in given if one[1].get("v")]

    def cells(self, ctx: str | None) -> list[tuple[str, str]]:
        """What a ctx ever keeps: the key of each entry and what is written of it."""
        kept = self._kept.get(ctx or "", {})
        shown = [k for k in kept if k.startswith("saved.") or ctx in self._users]
        if "attr.numbers" in kept and ctx not in self._users:
            shown.append("attr.numbers")
        ordered = sorted(shown, key=lambda key: (not key.startswith("saved."), key))
        return [(key, shortened(self._cell(key, kept[key]))) for key in ordered]

    def _cell(self, key: str, ref: Json) -> str:
        if key == "attr.numbers" and ref["t"] == "L":
            numbers = [one for one in ref["i"] if one and _is_kept(one)]
            return ", ".join(brief_text(self._data, one) for one in numbers)
        family, _, name = key.partition(".")
        title = name if family == "attr" else ref.get("name") or ""
        return f"{title} {written(self._data, ref)}".strip()


def _is_kept(ref: Json) -> bool:
    return not (ref["t"] == "P" and ref["r"] in ("None", "freed"))
