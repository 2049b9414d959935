"""Asking a number of a gradient: which sum it is, and of which terms.

The player works out the same in the browser (``player/numbers.js``), with the same
words; the browser tests compare the two.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from minigrad import errors
from minigrad.tracing.messages import message
from minigrad.views import values

Json = Mapping[str, Any]

MOST_TERMS: Final = 12  # written out; the rest is added up
PRECISE: Final = 2e-5  # the numbers of a recording have six digits


@dataclass
class Term:
    """What arrived at one element of the node that sent it, times the slope there."""

    arrived: float
    slope: float
    place: str

    @property
    def value(self) -> float:
        """The term itself."""
        return self.arrived * self.slope


@dataclass
class Addend:
    """One gradient that arrived: from which node, at which step, of which terms."""

    source: str
    step: int
    text: str
    value: Any = None
    node: str | None = None
    edge: str | None = None
    terms: list[Term] = field(default_factory=list)
    said: str = ""


@dataclass
class Explanation:
    """A number of a gradient, in words and in parts."""

    sentence: str
    value: Any = None
    addends: list[Addend] = field(default_factory=list)
    awaited: list[str] = field(default_factory=list)

    def __str__(self) -> str:
        said = [f"  {one.source}: {one.said}" for one in self.addends if one.said]
        return "\n".join([self.sentence, *said])

    __repr__ = __str__


def explain(
    data: Json, what: str, element: Sequence[int] | None, output: int, step: int | None
) -> Explanation:
    """The number that ``what`` names, after ``step`` events."""
    position = len(data["events"]) if step is None else step
    return Asking(data, node_named(data, what), output, position).explain(element)


def node_named(data: Json, what: str) -> str:
    """The id of the node with this id, label, or leaf tensor: ``x`` or ``x.grad``."""
    nodes = data["graph"]["nodes"]
    leaf = what.removesuffix(".grad")
    by_id = [node["id"] for node in nodes if node["id"] == what]
    by_leaf = [node["id"] for node in nodes if node.get("tensor") == leaf]
    by_label = [node["id"] for node in nodes if node["label"] == what]
    found = by_id or by_leaf or by_label
    if len(found) == 1:
        return str(found[0])
    known = [f"{node['id']} ({label_of(node)})" for node in nodes]
    several = f"{what!r} is the name of {len(found)} nodes: {', '.join(found)}"
    raise errors.ArgumentValueError(
        errors.message(
            "explain",
            several if found else f"no node is called {what!r}",
            f"give one of the ids: {', '.join(known[:12]) or 'there is none'}",
        )
    )


def label_of(node: Json) -> str:
    """A node as the player calls it."""
    if not node.get("tensor"):
        return str(node["label"])
    return message("node.name", label=node["label"], tensor=node["tensor"])


@dataclass
class Episode:
    """One run of backward: what arrived where, in order."""

    begin: int
    end: float = math.inf
    moves: list[dict[str, Any]] = field(default_factory=list)


def episodes_of(events: Sequence[Json]) -> list[Episode]:
    """All runs of backward in a recording; one may lie inside another."""
    found: list[Episode] = []
    running: list[Episode] = []
    for at, event in enumerate(events, 1):
        kind = event["k"]
        if kind == "backward.begin":
            inside = event.get("inside", 0)
            for failed in running[inside:]:
                failed.end = at
            roots = [{"at": at, "k": "root", **root} for root in event["roots"]]
            running[inside:] = [Episode(at, moves=roots)]
            found.append(running[-1])
        elif kind == "backward.end" and running:
            running.pop().end = at
        elif running and "n" in event and kind in MOVES:
            running[-1].moves.append({**event, "at": at})
    return found


MOVES: Final = {
    *("grad", "grad.none", "grad.zeros", "grad.accumulate"),
    *("hook.tensor", "hook.pre"),
}


class Asking:
    """What is known of the gradient of one output of a node at a position."""

    def __init__(self, data: Json, node: str, slot: int, position: int) -> None:
        self.data = data
        self.nodes = {one["id"]: one for one in data["graph"]["nodes"]}
        self.edges = {one["id"]: one for one in data["graph"]["edges"]}
        self.node, self.slot, self.position = node, slot, position
        self.moves = self._moves_here()
        past = [move for move in self.moves if move["at"] <= position]
        self.arrived = [m for m in past if m["k"] in ("root", "grad")]
        self.none = [m for m in past if m["k"] == "grad.none"]
        self.others = [m for m in past if m["k"] not in ("root", "grad", "grad.none")]
        self.awaited = [m for m in self.moves if m["at"] > position and m.get("e")]

    def _moves_here(self) -> list[dict[str, Any]]:
        """What concerns this output in the backward that runs, or that ran last."""
        began = [
            (episode, [move for move in episode.moves if self._is_here(move)])
            for episode in episodes_of(self.data["events"])
            if episode.begin <= self.position
        ]
        began = [(episode, moves) for episode, moves in began if moves]
        running = [one for one in began if one[0].end > self.position]
        if running or not began:
            return running[-1][1] if running else []
        return max(began, key=lambda one: one[0].end)[1]

    def _is_here(self, move: Json) -> bool:
        if move["n"] != self.node:
            return False
        if "e" in move and move["e"] in self.edges:
            return bool(self.edges[move["e"]]["to_slot"] == self.slot)
        return bool(move.get("slot", self.slot) == self.slot)

    @property
    def place(self) -> str:
        """The node, and the output of it if it has several."""
        node = self.nodes[self.node]
        if node.get("outputs", 1) < 2:
            return label_of(node)
        return message("number.output", node=label_of(node), slot=self.slot)

    @property
    def total(self) -> Any:
        """What the gradients that arrived are together."""
        last = self.arrived[-1] if self.arrived else {}
        return last.get("total") or last.get("g")

    def explain(self, element: Sequence[int] | None = None) -> Explanation:
        """All of it, of the whole gradient or of one element."""
        value = self.data["values"].get((self.total or {}).get("v"))
        cell = None if value is None else cell_of(value, element)
        where = "" if cell is None or element is None else index_of(value or {}, cell)
        said = self._sentence(cell, f"{self.place}{where}")
        addends = [self._addend(move, cell) for move in self.arrived]
        awaited = [self._source(move) for move in self.awaited]
        number = None if cell is None else self._at(self.total, cell)
        return Explanation(" ".join(said), number, addends, awaited)

    def _sentence(self, cell: tuple[int, int] | None, place: str) -> Iterator[str]:
        awaited = ", ".join([self._source(move) for move in self.awaited])
        if not self.moves or not (self.arrived or self.none or self.awaited):
            yield message("number.none", place=place)
            return
        if self.arrived:
            key = "number.until-now" if awaited else "number.arrived"
            yield message(key, place=place, sum=self._sum(cell))
        else:
            yield message("number.nothing", place=place)
        if awaited:
            yield message("number.awaited", names=awaited)
        if self.none:
            names = ", ".join([self._source(move) for move in self.none])
            yield message("number.no-part", names=names)
        for move in self.others:
            yield from self._happened(move, cell)

    def _sum(self, cell: tuple[int, int] | None) -> str:
        total = self._text(self.total, cell)
        sources = [self._source(move) for move in self.arrived]
        if len(self.arrived) == 1:
            return message("number.alone", value=total, source=sources[0])
        texts = [self._text(move["g"], cell) for move in self.arrived]
        parts = [
            message("number.from", value=as_addend(text, place), source=source)
            for place, (text, source) in enumerate(zip(texts, sources, strict=True))
        ]
        about = cell is not None and not adds_up(
            [self._at(move["g"], cell) for move in self.arrived],
            self._at(self.total, cell),
        )
        key = "number.about" if about else "number.equals"
        return message(key, total=total, parts=" + ".join(parts))

    def _happened(self, move: Json, cell: tuple[int, int] | None) -> Iterator[str]:
        """What came after the sum: a hook, or the addition to ``.grad``."""
        if move["k"].startswith("hook."):
            new = move["new"]
            if move["k"] == "hook.pre" and new is not None:
                new = new["i"][self.slot]
            if new is not None:
                yield message("number.hook", value=self._text(new, cell))
        elif move["k"] == "grad.accumulate":
            name = self.nodes[self.node].get("tensor")
            tensor = name or message("tensor.unnamed")
            old = grad_before(self.data["events"][: move["at"] - 1], self.node)
            new = self._text(move["new"], cell)
            if old is not None:
                before = self._text(old, cell)
                yield message("number.grad", tensor=tensor, old=before, new=new)
            elif move["g"]["v"] == move["new"]["v"]:
                yield message("number.grad.first", tensor=tensor, new=new)
            else:
                yield message("number.grad.unknown", tensor=tensor, new=new)

    def _source(self, move: Json) -> str:
        """Who sent a gradient; with the argument, if the node sent more than one."""
        sender = self._from(move)
        if sender is None:
            return message("number.root")
        name = label_of(self.nodes[sender])
        if len([m for m in self.moves if self._from(m) == sender]) < 2:
            return name
        slot = self.edges[move["e"]]["slot"]
        return message("number.argument", node=name, slot=slot)

    def _from(self, move: Json) -> str | None:
        edge = self.edges.get(move.get("e") or "")
        return None if edge is None else str(edge["from"])

    def _addend(self, move: Json, cell: tuple[int, int] | None) -> Addend:
        edge = self.edges.get(move.get("e") or "")
        addend = Addend(
            self._source(move),
            move["at"],
            self._text(move["g"], cell),
            None if cell is None else self._at(move["g"], cell),
            self._from(move),
            None if edge is None else edge["id"],
        )
        if edge is not None:
            self._add_terms(addend, edge, move, cell)
        return addend

    def _add_terms(
        self, addend: Addend, edge: Json, move: Json, cell: tuple[int, int] | None
    ) -> None:
        """The terms of an addend, and how they are said."""
        events = self.data["events"][: move["at"]]
        turns = (e for e in reversed(events) if e["k"] == "node.enter")
        turn: Json = next((e for e in turns if e["n"] == edge["from"]), {})
        slopes = turn.get("terms", {}).get(str(edge["slot"]))
        if cell is None:
            addend.said = message("number.choose")
        elif slopes is None:
            theirs = "torch" in self.data["meta"].get("engines", ())
            addend.said = message("number.theirs" if theirs else "number.unkept")
        elif isinstance(slopes, str):
            addend.said = message("number.reason", reason=slopes)
        else:
            count = self._count_of(turn)
            addend.terms = list(self._terms(turn, slopes, move["g"], cell))
            addend.said = said_of(addend, count - len(addend.terms))

    def _terms(
        self, turn: Json, slopes: list[Any], ref: Json, cell: tuple[int, int]
    ) -> Iterator[Term]:
        columns = self.data["values"][ref["v"]]["shape"][-1:] or [1]
        asked = cell[0] * columns[0] + cell[1]
        for at in range(0, len(slopes), 4):
            element, output, other, slope = slopes[at : at + 4]
            if element != asked:
                continue
            value = self.data["values"][turn["g"][output]["v"]]
            width = (value["shape"][-1:] or [1])[0]
            place = other // width, other % width
            arrived = value["rows"][place[0]][place[1]]
            if arrived == 0:
                continue
            label = index_of(value, place)
            if len(turn["g"]) > 1:
                label = message("number.of-output", slot=output, place=label).rstrip()
            yield Term(arrived, slope, label)

    def _count_of(self, turn: Json) -> int:
        """How many numbers arrived at a node: so many terms there can be."""
        values = [self.data["values"][one["v"]] for one in turn["g"] if one is not None]
        return sum([len(row) for value in values for row in value["rows"]])

    def _at(self, ref: Json, cell: tuple[int, int]) -> Any:
        return self.data["values"][ref["v"]]["rows"][cell[0]][cell[1]]

    def _text(self, ref: Json, cell: tuple[int, int] | None) -> str:
        if cell is not None:
            return values.number(self._at(ref, cell))
        return values.brief_text(self.data, ref)


def grad_before(events: Sequence[Json], node: str) -> Any:
    """The ``.grad`` that the leaf of ``node`` has after some events."""
    grad, held = None, set()
    for event in events:
        change = event.get("mem", {})
        for item in change.get("add", ()):
            if item["owner"] == node and item["key"] == "grad":
                held.add(item["id"])
        if not held.isdisjoint([drop["id"] for drop in change.get("del", ())]):
            grad = None
        is_new = event["k"] == "grad.accumulate" or is_other_grad(event)
        if is_new and event["n"] == node:
            grad = event["new"]
    return grad


def is_other_grad(event: Json) -> bool:
    """Whether an edit has put another ``.grad`` in the place of one."""
    return event["k"] == "what.if" and "n" in event and "slot" not in event


def cell_of(value: Json, element: Sequence[int] | None) -> tuple[int, int] | None:
    """The row and the column in which an element is shown; None for no element."""
    shape = value["shape"]
    if element is None:
        one = [len(row) for row in value["rows"]] == [1] and not value["cut"]
        return (0, 0) if one else None
    if len(element) != len(shape) or not all(
        [0 <= at < length for at, length in zip(element, shape, strict=True)]
    ):
        raise errors.ArgumentValueError(
            errors.message(
                "explain",
                f"there is no element {tuple(element)} in a gradient of shape "
                f"{tuple(shape)}",
                "give one index for each dimension, counted from 0",
            )
        )
    row = 0
    for at, length in zip(element[:-1], shape[:-1], strict=True):
        row = row * length + at
    column = element[-1] if element else 0
    if row >= len(value["rows"]) or column >= len(value["rows"][row]):
        raise errors.ArgumentValueError(
            errors.message(
                "explain",
                f"element {tuple(element)} isn't kept: of a large gradient only the "
                "first rows and columns are",
                "ask for one of the first 8 by 8, or record something smaller",
            )
        )
    return row, column


def index_of(value: Json, cell: tuple[int, int]) -> str:
    """The index of an element, in brackets; nothing for a scalar."""
    *leading, _ = shape = value["shape"] or [1]
    if not value["shape"]:
        return ""
    row, index = cell[0], []
    for length in reversed(leading):
        index.append(row % length)
        row //= length
    return f"[{', '.join(map(str, [*reversed(index), cell[1]]))}]" if shape else ""


def said_of(addend: Addend, zeros: int) -> str:
    """An addend as the sum of its terms, in words."""
    total, terms = values.number(addend.value), addend.terms
    if not terms:
        return message("number.all-zero", value=total, count=zeros)
    shown, rest = terms[:MOST_TERMS], terms[MOST_TERMS:]
    parts = [product(term, place) for place, term in enumerate(shown)]
    factors = [x for term in terms for x in (term.arrived, term.slope)]
    exact = adds_up([term.value for term in terms], addend.value)
    key = "equals" if exact and all(map(is_short, factors)) else "about"
    said = [message(f"number.{key}", total=total, parts=" + ".join(parts))]
    if rest:
        value = values.number(float(f"{sum([term.value for term in rest]):.6g}"))
        said.append(message("number.more", count=len(rest), value=value))
    if zeros:
        said.append(message("number.zeros", count=zeros))
    return ", ".join(said)


def product(term: Term, place: int) -> str:
    """A term as two factors; one that is negative in brackets, but for the first."""
    slope = as_addend(values.number(term.slope), 1)
    return f"{as_addend(values.number(term.arrived), place)}·{slope}"


def as_addend(text: str, place: int) -> str:
    """A number behind a sign; a negative one in brackets."""
    return f"({text})" if place and text.startswith("-") else text


def is_short(x: Any) -> bool:
    """Whether a number is shown with all of its digits."""
    return isinstance(x, (int, float)) and float(values.number(x)) == x


def adds_up(parts: list[Any], total: Any) -> bool:
    """Whether numbers as they are shown make their sum; else they are rounded."""
    if not all([isinstance(x, (int, float)) for x in [*parts, total]]):
        return False
    size = sum([abs(x) for x in parts])
    shown = is_short(total) and all([is_short(float(f"{x:.6g}")) for x in parts])
    return shown and abs(sum(parts) - total) <= PRECISE * size
