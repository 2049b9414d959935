"""The values that a picture shows, thing by thing and step by step."""

from __future__ import annotations

from collections.abc import Container, Iterator, Mapping
from typing import Any, Final

import numpy as np

from minigrad.tracing import places
from minigrad.tracing.budget import ctx_changes
from minigrad.tracing.messages import message
from minigrad.views.matching import Calls, renamed, source_of
from minigrad.views.picture_facts import called
from minigrad.views.values import brief_text, number

Json = dict[str, Any]
Thing = tuple[str, ...]
"""What is shown (``value``, ``entry``, ``grad``), of which node, edge or ctx, and which
of several."""

ALL, OWN, NONE = "all", "own", "none"
MOST_WRITTEN: Final = 4  # numbers of a list; of a larger array one element is told


class PictureValues:
    """The things of a recording, by the names that ``names`` gives to its own.

    ``shared`` are those of its leaves and data that the other recording has too, which
    are there from the beginning. ``kept`` says of which ctxs it's told what they keep:
    of all, of learners' own, or of none.
    """

    def __init__(
        self,
        data: Json,
        calls: Calls,
        names: Mapping[str, str] | None,
        shared: Container[str],
        kept: str,
    ) -> None:
        self.data = data
        self.places: dict[Thing, tuple[str, str]] = {}
        """Where each thing is drawn: its address, and the node it hangs on."""
        self._names, self._shared, self._kept = names, shared, kept
        self._nodes, self._edges, self._calls = calls.nodes, calls.edges, calls.events
        self._own = calls.ctxs
        self._ctxs = {ctx["id"]: ctx for ctx in data["ctxs"]}
        given = [one for event in self._calls.values() for one in event.get("ins", ())]
        self._sources = {source_of(one): one for one in given[::-1] if source_of(one)}
        self._full: set[str] = set()  # leaves that have a .grad
        self._grads: dict[str, str] = {}  # what is kept as a .grad -> its leaf's node
        self._passing: dict[Thing, None] = {}

    def changes(self, position: int) -> Iterator[tuple[Thing, Json | None]]:
        """What has another value after so many events; at 0 what there is at first."""
        for (kind, of, *more), ref in self._changes(position):
            node = self._edges.get(of, {}).get("from") or of
            owner = self._ctxs.get(of, {}).get("node") or node
            thing = (kind, of and renamed(of, self._names), *more)
            which = [] if kind == "waits" else more  # one tray for all outputs
            self.places[thing] = " ".join([kind, of, *which]), owner
            yield thing, ref

    def _changes(self, position: int) -> Iterator[tuple[Thing, Json | None]]:
        if not position:
            there = [(n, one) for n, one in self._sources.items() if n in self._shared]
            yield from [(("value", n, "0"), one.get("v")) for n, one in there]
            return
        event = self.data["events"][position - 1]
        kind, node = event["k"], event.get("n", "")
        if kind == "backward.begin":
            yield from [(thing, None) for thing in self._passing]
        for change in ctx_changes(event):
            gone = dict.fromkeys(change.get("del", ()))
            for key, ref in (change["set"] | gone).items():
                if self._is_shown(change["id"], key):
                    yield ("entry", change["id"], key), ref
        if (call := called(event)) and call in self._calls:
            yield ("call", call), {"t": "P", "r": ""}
            for given in event.get("ins", ()):
                if (source := source_of(given)) and source not in self._shared:
                    yield ("value", source, "0"), given.get("v")
            for slot, out in enumerate(event.get("outs", ())):
                yield ("value", call, str(out.get("nr", slot))), out.get("v")
        for thing, ref in self._gradients(kind, node, event):
            if thing[0] != "grad":
                self._passing[thing] = None
            yield thing, ref
        for one in event.get("mem", {}).get("add", ()):
            if one["key"] == "grad":
                self._grads[one["id"]] = one["owner"]
        for one in event.get("mem", {}).get("del", ()):
            if one["id"] in self._grads:
                leaf = self._grads.pop(one["id"])
                self._full.discard(leaf)
                yield ("grad", leaf), None
        if kind == "inplace":
            for source in self._sources:
                if self._name_of(source) == event.get("name"):
                    yield ("value", source, "0"), event["t"]
        elif kind == "tangent":
            yield ("tangent", event.get("n") or event["key"]), event["g"]
        elif kind == "exception" and not event.get("unwound"):
            yield ("error", ""), {"t": "P", "r": event["err"].splitlines()[0]}

    def _gradients(
        self, kind: str, node: str, event: Json
    ) -> Iterator[tuple[Thing, Json | None]]:
        """What comes to nodes and leaves, along which edge, and times what."""
        for root in event.get("roots") or ():
            yield ("waits", root["n"], str(root["slot"])), root["g"]
        if kind == "grad":
            slope = event.get("slope")
            if slope:
                yield ("slope", event["e"]), {"t": "P", "r": slope["x"]}
            yield ("edge", event["e"]), event["g"]
            yield ("waits", node, str(event.get("slot", 0))), event.get("total")
            if event.get("fills") and node not in self._full:
                yield ("grad", node), event.get("total")  # on its way
        elif kind == "grad.none":
            yield ("edge", event["e"]), {"t": "P", "r": "None"}
        elif kind in ("grad.zeros", "grad.absent"):
            yield ("waits", node, str(event["slot"])), event.get("g")
        elif kind in ("hook.tensor", "hook.pre") and event.get("new"):
            new = event["new"]["i"] if kind == "hook.pre" else [event["new"]]
            for slot, ref in enumerate(new, event.get("slot", 0)):
                yield ("waits", node, str(slot)), ref
        elif kind == "grad.accumulate":
            self._full.add(node)
            yield ("grad", node), event["new"]
        elif kind == "what.if" and node and "slot" in event:
            yield ("waits", node, str(event["slot"])), event["total"]
        elif kind == "what.if" and node:
            yield ("grad", node), event["new"]

    def _is_shown(self, ctx: str, key: str) -> bool:
        """Whether an entry is one that both sides can have."""
        if self._kept == ALL:
            return key != "edges"
        own = ctx in self._own and key.startswith(("saved.", "attr."))
        return self._kept == OWN and own

    def content(self, ref: Json | None) -> Any:
        """All that can be seen of a value: equal for equal ones of two recordings."""
        if ref is None:
            return None
        if ref["t"] == "L":
            return [self.content(item) for item in ref["i"]]
        value = self.value(ref)
        if value is None:
            return str(ref.get("r"))
        seen = value | {"stale": ref["t"] == "S" and ref["now"] != ref["ver"]}
        for end in ("min", "max"):
            seen[end] = value[end] and f"{value[end]:.6g}"
        if value["cut"] and self._kept == ALL:
            seen["rest"] = ref["v"]
        return seen

    def value(self, ref: Json) -> Json | None:
        """What is shown of an array."""
        found: Json | None = self.data["values"].get(ref.get("v"))
        return found

    def text(self, ref: Json) -> str:
        """A value in one line; of a saved tensor that has changed since, this too."""
        text = brief_text(self.data, ref)
        if ref["t"] != "S" or ref["now"] == ref["ver"]:
            return text
        stale = message("box.stale", saved=ref["ver"], now=ref["now"])
        return message("value.and-odd", value=text, odd=stale)

    def name(self, thing: Thing) -> str:
        """What is meant by a thing of this recording, in words."""
        kind, of, *more = [*self.places[thing][0].split(" "), ""]
        if kind in ("value", "grad"):
            name = self._name_of(of, more[0])
            return message("grad.name", tensor=name) if kind == "grad" else name
        if kind in ("edge", "slope"):
            edge = self._edges[of]
            ends = {"node": self._call(edge["from"]), "to": self._name_of(edge["to"])}
            key = "compare.slope" if kind == "slope" else "compare.gradient"
            return message(key, **ends)
        if kind == "entry":
            ctx, what = self._ctxs[of], places.called("entry", more[0])
            node = self._call(ctx["node"], ctx["function"])
            return message("what-if.of", what=what, node=node)
        if kind in ("call", "error"):
            return self._call(of)
        key = "compare.waits" if kind == "waits" else "compare.tangent"
        return message(key, node=self._name_of(of))

    def _call(self, name: str | None, otherwise: str = "") -> str:
        """What people write for a call."""
        event = self._calls.get(name or "", {})
        label = event.get("label") or event.get("op") or otherwise
        return str(label or self._nodes.get(name or "", {}).get("label", ""))

    def _name_of(self, name: str, output: str = "0") -> str:
        """The variable that holds a value, else the call that made it."""
        node = self._nodes.get(name, {})
        given = self._sources.get(name)
        if given is not None or node.get("kind") == "accumulate":
            held = node.get("tensor") or (given or {}).get("name")
            return str(held or message("tensor.leaf"))
        if name not in self._calls and f"call-{name}" in self._calls:
            name = f"call-{name}"  # a tensor that only a tangent tells of
        outs = self._calls.get(name, {}).get("outs", ())
        names = {str(one.get("nr", 0)): one.get("name") for one in outs}
        return str(names.get(output or "0") or self._call(name))


def apart(values: list[Json | None], texts: list[str]) -> tuple[str, list[str]]:
    """The first element in which two arrays differ, and what it is in each.

    A number, a short list or what has two shapes is told as a whole.
    """
    first, second = values
    if first is None or second is None or first["shape"] != second["shape"]:
        return "", texts
    shape = first["shape"]
    is_short = len(shape) < 2 and np.prod(shape) <= MOST_WRITTEN
    if is_short and texts[0] != texts[1]:
        return "", texts
    for row, line in enumerate(zip(first["rows"], second["rows"], strict=True)):
        for column, pair in enumerate(zip(*line, strict=True)):
            if pair[0] != pair[1]:
                written = [number(one) for one in pair]
                if written[0] == written[1]:
                    written = [str(one) for one in pair]  # all six digits
                lead = np.unravel_index(row, shape[:-1]) if len(shape) > 1 else ()
                place = [*map(int, lead), column][: len(shape)]
                return str(place) if place else "", written
    return "", texts
