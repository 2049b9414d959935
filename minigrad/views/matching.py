"""What belongs together in two recordings: calls, leaves, ctxs, edges, steps."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Iterator, Mapping
from difflib import SequenceMatcher
from typing import Any, Final

from minigrad.views.picture_facts import called

Json = dict[str, Any]

MOST_MATCHED: Final = 3_000  # of a side; longer ones are paired in order
BOTH, FIRST, SECOND = "b", "1", "2"
"""A step of a comparison: in both recordings, or in one while the other waits."""


def twins(one: Calls, other: Calls) -> dict[str, str]:
    """What is called so in the second recording -> what it is in the first.

    Calls are of the same operation, in the same order; a Function of a learner's may
    have another name. What they read belongs together by its place, whatever it is
    called: leaves, data, and the calls whose results nobody asks a gradient of.
    """
    found: dict[str, str] = {}
    for name, twin in pairs(one.kinds, other.kinds):
        found[twin] = name
        for slot, source in other.reads[twin].items():
            if slot in one.reads[name]:
                found.setdefault(source, one.reads[name][slot])
    edges = {(e["from"], e["slot"]): name for name, e in one.edges.items()}
    for edge in other.edges.values():
        twin = edges.get((found.get(edge["from"], ""), edge["slot"]))
        if twin is not None:
            found[edge["id"]] = twin
    # A ctx that has not become a node, as its call has stopped.
    loose = [
        {ctx: kind for ctx, kind in side.ctxs.items() if ctx not in known}
        for side, known in ((one, set(found.values())), (other, found))
    ]
    return found | {twin: name for name, twin in pairs(*loose)}


class Calls:
    """The calls of a recording: of which kind each is, and what it reads in which slot.

    A call goes by the id of its node, or of its ctx where it has none. ``ctxs`` are
    those of learners' Functions.
    """

    def __init__(self, data: Json) -> None:
        self.nodes = {node["id"]: node for node in data["graph"]["nodes"]}
        self.edges = {edge["id"]: edge for edge in data["graph"]["edges"]}
        functions = {ctx["id"]: ctx["function"] for ctx in data["ctxs"]}
        events = data["events"]
        made = [event["cid"] for event in events if event["k"] == "ctx.new"]
        own = dict.fromkeys([functions[ctx] for ctx in made])
        self.events: dict[str, Json] = {}
        self.kinds: dict[str, str] = {}
        self.reads: dict[str, dict[Hashable, str]] = defaultdict(dict)
        numbers = {name: f"Function {place}" for place, name in enumerate(own)}
        self.ctxs = {ctx: numbers[functions[ctx]] for ctx in made}
        for event in events:
            name, node = called(event), self.nodes.get(event.get("n", ""), {})
            if not name or node.get("kind") == "accumulate":
                continue
            self.events[name] = event
            kind = self.ctxs.get(event.get("cid"), node.get("label"))
            self.kinds[name] = kind or event.get("function") or event.get("op", "")
            own = {"ctx": node.get("ctx"), "key": event.get("key")}
            self.reads[name] |= {what: one for what, one in own.items() if one}
            for slot, given in enumerate(event.get("ins", ())):
                if source := source_of(given):
                    self.reads[name][slot] = source
        for edge in self.edges.values():
            leaf = self.nodes.get(edge["to"], {})
            if leaf.get("kind") == "accumulate":
                self.reads[edge["from"]]["edge", edge["slot"]] = edge["to"]


def source_of(given: Mapping[str, Any]) -> str:
    """What an argument is: a leaf or data; nothing if another call has made it."""
    return "" if given.get("n") else str(given.get("leaf") or given.get("t") or "")


def steps_of(first: Json, second: Json, names: Mapping[str, str]) -> str:
    """The steps of a comparison, a letter each; what belongs together is one step.

    Between two such steps each side's lines of code go along with the other's.
    """
    sides = first["events"], second["events"]
    ends = len(sides[0]), len(sides[1])
    found = ""
    at, over = 0, 0
    for one, other in (*pairs(story(first), story(second, names)), ends):
        while at < one or over < other:
            if at < one and sides[0][at]["lvl"] <= 1:
                move = FIRST
            elif over < other and sides[1][over]["lvl"] <= 1:
                move = SECOND
            else:
                move = FIRST if over == other else SECOND if at == one else BOTH
            found += move
            at, over = at + (move != SECOND), over + (move != FIRST)
        if (one, other) != ends:
            at, over, found = at + 1, over + 1, found + BOTH
    return found


def story(data: Json, names: Mapping[str, str] | None = None) -> dict[int, Hashable]:
    """The events of the story by their places, each told apart by what it is of."""
    found: dict[int, Hashable] = {}
    for place, event in enumerate(data["events"]):
        if event["lvl"] <= 1:
            ids = [event.get("n"), event.get("e"), event.get("cid")]
            of = [renamed(one, names) for one in ids if isinstance(one, str)]
            what = event.get("ph", {}).get("name"), event.get("slot"), event.get("err")
            found[place] = event["k"], *what, *of
    return found


def renamed(name: str, names: Mapping[str, str] | None) -> str:
    """What something of the second recording is in the first; by itself, its own."""
    return name if names is None else names.get(name, f"{name}'")


def pairs(
    first: Mapping[Any, Any], second: Mapping[Any, Any]
) -> Iterator[tuple[Any, Any]]:
    """The names of equal things, in the same order on both sides."""
    names, others = list(first), list(second)
    if max(len(names), len(others)) > MOST_MATCHED:
        both = zip(names, others, strict=False)
        yield from [(one, two) for one, two in both if first[one] == second[two]]
        return
    kinds = list(first.values()), list(second.values())
    matcher = SequenceMatcher(None, *kinds, autojunk=False)
    for a, b, size in matcher.get_matching_blocks():
        yield from zip(names[a : a + size], others[b : b + size], strict=True)
