"""Which sum a number of a gradient is, and of which terms.

The player tells the same of every step (``player/asking.js``), in the same words; the
browser tests compare the two.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np

from minigrad import errors
from minigrad.tracing.messages import message
from minigrad.views.values import brief_text, number

Json = Mapping[str, Any]

MOST_TERMS: Final = 12  # written out; the rest is added up
PRECISE: Final = 2e-5  # the numbers of a recording have six digits
MOVES: Final = {
    *("grad", "grad.none", "grad.zeros", "grad.accumulate"),
    *("hook.tensor", "hook.pre"),
}


@dataclass
class Addend:
    """One gradient that arrived: from which node, and of which terms.

    A term is what arrived at one element of that node, and the slope there.
    """

    source: str
    text: str
    value: Any
    terms: list[tuple[float, float]] = field(default_factory=list)
    said: str = ""


@dataclass
class Explanation:
    """A number of a gradient, in words and in parts."""

    sentence: str
    value: Any
    addends: list[Addend]

    def __repr__(self) -> str:
        said = [f"  {one.source}: {one.said}" for one in self.addends if one.said]
        return "\n".join([self.sentence, *said])


def node_named(data: Json, what: str) -> str:
    """The id of the node with this id, label, or leaf tensor: ``x`` or ``x.grad``."""
    nodes = data["graph"]["nodes"]
    leaf = what.removesuffix(".grad")
    found: list[str] = []
    for key, name in (("id", what), ("tensor", leaf), ("label", what)):
        found = found or [node["id"] for node in nodes if node.get(key) == name]
    if len(found) == 1:
        return found[0]
    known = [f"{node['id']} ({label_of(node)})" for node in nodes]
    several = f"{what!r} is the name of {len(found)} nodes: {', '.join(found)}"
    raise errors.ArgumentValueError.at(
        "explain",
        several if found else f"no node is called {what!r}",
        f"give one of the ids: {', '.join(known[:12]) or 'there is none'}",
    )


def label_of(node: Json) -> str:
    """A node as the player calls it."""
    if not node.get("tensor"):
        return str(node["label"])
    return message("node.name", label=node["label"], tensor=node["tensor"])


class Asking:
    """What is known of the gradient of one output of a node, or of an element of it."""

    def __init__(
        self, data: Json, node: str, slot: int, element: Sequence[int] | None
    ) -> None:
        self.data = data
        self.nodes = {one["id"]: one for one in data["graph"]["nodes"]}
        self.edges: Any = {one["id"]: one for one in data["graph"]["edges"]}
        self.node, self.slot = node, slot
        self.moves = self._last_moves()
        self.arrived = [one for one in self.moves if one["k"] in ("root", "grad")]
        last = self.arrived[-1] if self.arrived else {}
        self.total: Any = last.get("total") or last.get("g")
        value = data["values"].get((self.total or {}).get("v"))
        self.place = None if value is None else place_of(value, element)
        self.called = label_of(self.nodes[node])
        if self.nodes[node].get("outputs", 1) > 1:
            self.called = message("number.output", node=self.called, slot=slot)
        if self.place is not None and element:
            self.called += str([int(at) for at in element])

    def _last_moves(self) -> list[dict[str, Any]]:
        """What has come here in the backward that ran last, of those that came here.

        One may lie inside another; an error has ended those that the next one is not
        inside of.
        """
        last: list[dict[str, Any]] = []
        running: list[list[dict[str, Any]]] = []
        turns: dict[Any, Json] = {}
        for event in self.data["events"]:
            kind = event["k"]
            if kind == "backward.begin":
                while len(running) > event.get("inside", 0):
                    last = running.pop() or last
                roots = [{"k": "root", **root} for root in event["roots"]]
                running.append([root for root in roots if self._is_here(root)])
            elif kind == "backward.end" and running:
                last = running.pop() or last
            elif kind == "node.enter":
                turns[event["n"]] = event
            elif running and kind in MOVES and self._is_here(event):
                turn = turns.get(self._sender(event), {})
                running[-1].append({**event, "turn": turn})
        return next((moves for moves in reversed(running) if moves), last)

    def _is_here(self, move: Json) -> bool:
        edge = self.edges.get(move.get("e", ""), {})
        slot = edge.get("to_slot", move.get("slot", self.slot))
        return bool(move["n"] == self.node and slot == self.slot)

    def _sender(self, move: Json) -> Any:
        return self.edges.get(move.get("e"), {}).get("from")

    def _source(self, move: Json) -> str:
        """Who sent a gradient; with the argument, if the node sent more than one."""
        sender = self._sender(move)
        if sender is None:
            return message("number.root")
        name = label_of(self.nodes[sender])
        if [self._sender(one) for one in self.moves].count(sender) < 2:
            return name
        slot = self.edges[move["e"]]["slot"]
        return message("number.argument", node=name, slot=slot)

    def explanation(self) -> Explanation:
        """All of it."""
        addends = [self._addend(move) for move in self.arrived]
        sentence = " ".join(self._sentences(addends))
        return Explanation(sentence, self._at(self.total), addends)

    def _sentences(self, addends: list[Addend]) -> Iterator[str]:
        none = [self._source(one) for one in self.moves if one["k"] == "grad.none"]
        if addends:
            yield message("number.arrived", place=self.called, sum=self._sum(addends))
        else:
            key = "number.nothing" if none else "number.none"
            yield message(key, place=self.called)
        if none:
            yield message("number.no-part", names=", ".join(none))
        for move in self.moves:
            yield from self._happened(move)

    def _sum(self, addends: list[Addend]) -> str:
        total = self._text(self.total)
        if len(addends) == 1:
            return message("number.alone", value=total, source=addends[0].source)
        parts = [
            message("number.from", value=behind(one.text, n), source=one.source)
            for n, one in enumerate(addends)
        ]
        values = [one.value for one in addends]
        exact = self.place is None or adds_up(values, self._at(self.total))
        key = "number.equals" if exact else "number.about"
        return message(key, total=total, parts=" + ".join(parts))

    def _happened(self, move: Json) -> Iterator[str]:
        """What came after the sum: a hook, or the addition to ``.grad``."""
        new: Any = move.get("new")
        if move["k"].startswith("hook.") and new is not None:
            new = new["i"][self.slot] if move["k"] == "hook.pre" else new
            yield message("number.hook", value=self._text(new))
        elif move["k"] == "grad.accumulate":
            name = self.nodes[self.node].get("tensor") or message("tensor.unnamed")
            fields = {"tensor": name, "new": self._text(new)}
            key = "number.grad.unknown"  # an older recording doesn't say what it was
            if move.get("old"):
                key, fields["old"] = "number.grad", self._text(move["old"])
            elif move["g"]["v"] == new["v"]:
                key = "number.grad.first"
            yield message(key, **fields)

    def _addend(self, move: Json) -> Addend:
        addend = Addend(self._source(move), self._text(move["g"]), self._at(move["g"]))
        edge = self.edges.get(move.get("e", ""))
        if edge is None:
            return addend
        turn = move["turn"]
        slopes = turn.get("terms", {}).get(str(edge["slot"]))
        if self.place is None:
            addend.said = message("number.choose")
        elif slopes is None:
            theirs = "torch" in self.data["meta"].get("engines", ())
            addend.said = message("number.theirs" if theirs else "number.unkept")
        elif isinstance(slopes, str):
            addend.said = message("number.reason", reason=slopes)
        else:
            values, fours = self.data["values"], zip(*[iter(slopes)] * 4, strict=True)
            given = [ref and values[ref["v"]] for ref in turn["g"]]
            addend.terms = [
                (arrived, slope)
                for element, output, other, slope in fours
                if element == self.place
                and (arrived := number_at(given[output], other))
            ]
            rows = [row for value in given if value for row in value["rows"]]
            addend.said = said_of(addend, sum(map(len, rows)) - len(addend.terms))
        return addend

    def _at(self, ref: Json | None) -> Any:
        if ref is None or self.place is None:
            return None
        return number_at(self.data["values"][ref["v"]], self.place)

    def _text(self, ref: Json) -> str:
        if self.place is not None and "v" in ref:  # else a hook has made it None
            return number(self._at(ref))
        return brief_text(self.data, ref)


def is_other_grad(event: Json) -> bool:
    """Whether an edit has put another ``.grad`` in the place of one."""
    return event["k"] == "what.if" and "n" in event and "slot" not in event


def place_of(value: Json, element: Sequence[int] | None) -> int | None:
    """Which of all numbers an element is, counted row by row; None for no element."""
    shape = value["shape"]
    if element is None:
        return 0 if math.prod(shape) == 1 else None
    try:
        place = int(np.ravel_multi_index((0, *element), (1, *shape)))
    except ValueError:
        raise errors.ArgumentValueError.at(
            "explain",
            f"there is no element {tuple(element)} in a gradient of shape "
            f"{tuple(shape)}",
            "give one index for each dimension, counted from 0",
        ) from None
    try:
        number_at(value, place)
    except IndexError:
        raise errors.ArgumentValueError.at(
            "explain",
            f"element {tuple(element)} isn't kept: of a large gradient only the first "
            "rows and columns are",
            "ask for one of the first 8 by 8, or record something smaller",
        ) from None
    return place


def number_at(value: Json, place: int) -> Any:
    """The number at such a place; a word where it's not finite."""
    row, column = divmod(place, [1, *value["shape"]][-1])
    return value["rows"][row][column]


def said_of(addend: Addend, zeros: int) -> str:
    """An addend as the sum of its terms, in words."""
    total, terms = number(addend.value), addend.terms
    if not terms:
        return message("number.all-zero", value=total, count=zeros)
    parts = [
        f"{behind(number(arrived), n)}·{behind(number(slope), 1)}"
        for n, (arrived, slope) in enumerate(terms[:MOST_TERMS])
    ]
    products = [math.prod(term) for term in terms]
    exact = adds_up(products, addend.value)
    exact = exact and all([is_short(x) for term in terms for x in term])
    key = "number.equals" if exact else "number.about"
    said = [message(key, total=total, parts=" + ".join(parts))]
    if rest := products[MOST_TERMS:]:
        value = number(float(f"{sum(rest):.6g}"))
        said.append(message("number.more", count=len(rest), value=value))
    if zeros:
        said.append(message("number.zeros", count=zeros))
    return ", ".join(said)


def behind(text: str, place: int) -> str:
    """A number behind a sign, but for the first; a negative one in brackets."""
    return f"({text})" if place and text.startswith("-") else text


def is_short(x: Any) -> bool:
    """Whether a number is shown with all of its digits."""
    return isinstance(x, (int, float)) and float(number(x)) == x


def adds_up(parts: list[Any], total: Any) -> bool:
    """Whether numbers as they are shown make their sum; else they are rounded."""
    if not all([isinstance(x, (int, float)) for x in [*parts, total]]):
        return False
    size = sum([abs(x) for x in parts])
    shown = is_short(total) and all([is_short(float(f"{x:.6g}")) for x in parts])
    return shown and abs(sum(parts) - total) <= PRECISE * size
