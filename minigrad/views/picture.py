"""The picture of a computation: its chips, cards, boxes and wires, each in its place.

Values go from left to right above, gradients back below: so every result is a chip with
the box that will be its ``grad_fn`` under it, and every leaf a chip with its ``.grad``.
Graphviz finds the places; the page draws, and no step moves anything.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from typing import Any, Final

from minigrad.tracing.messages import message
from minigrad.tracing.titles import BINDS, TIGHT, operation_of
from minigrad.views import graph
from minigrad.views.picture_facts import (
    Facts,
    is_short,
    shape_words,
    shortened,
    written,
)
from minigrad.views.picture_modules import groups_of
from minigrad.views.picture_places import Places
from minigrad.views.picture_sizes import CHIP, OUT, SLOT, TRAY, Spot
from minigrad.views.values import brief_text

Json = dict[str, Any]

LETTER, SMALL, VALUE, LONG, LABEL = 8.5, 7.9, 10.5, 9.1, 8.1
"""The width of a letter of 14, 13, 17, 15, and 13 bold points."""
MANY_LETTERS: Final = 6  # of a value; one with more is written smaller
LEAST_SLOT: Final = 108  # wide: ".grad" and "None", apart from each other
BOX: Final = 80  # high, with one row of cells
CELLS: Final = 36  # one more
MOST_ROWS: Final = 3  # of cells; the rest is counted


def pictures_of(data: Mapping[str, Any]) -> list[Json]:
    """The picture with modules as cards, and that with all open, or only one."""
    groups = groups_of(data)
    scenes = [Scene(data, one) for one in ([groups] if groups else []) + [{}]]
    return [
        Places(one.parts, one.lines, one.upper()).found() for one in scenes if one.parts
    ]


class Scene:
    """What a recording's picture consists of, before and after it has its places.

    ``parts`` are leaves, data, cards (``op``) and results by their names, ``lines`` the
    edges of values and the wires of gradients. A part of ``groups`` is a module that is
    shown as one card.
    """

    def __init__(self, data: Mapping[str, Any], groups: Mapping[str, Json]) -> None:
        self.data = data
        self.parts: dict[str, Json] = {}
        self.lines: dict[str, Json] = {}
        self._groups = groups
        self._nodes = {node["id"]: node for node in data["graph"]["nodes"]}
        self._told = Facts(data)
        unrecorded = self._told.unrecorded()
        self._unrecorded = {
            out["t"]: (ctx, slot)
            for ctx, call in unrecorded.items()
            for slot, out in enumerate(call["outs"])
            if out.get("t")
        }
        nodes = self._nodes.values()
        self._builtin = {operation_of(n["label"]) for n in nodes if "own" not in n}
        self._uses = Counter(edge["to"] for edge in data["graph"]["edges"])
        self._edges = defaultdict(list)
        for edge in data["graph"]["edges"]:
            self._edges[edge["from"]].append(edge)
        for name, node in self._nodes.items():
            group = groups.get(name, {"nodes": [name], "exit": name})
            if node.get("tangent") or group["exit"] != name:
                continue
            if node["kind"] != "accumulate":
                self._add_call(group, node)
            elif self._uses[name] <= graph.MAX_USES:
                self._add_leaf(name, node)
        for ctx, call in unrecorded.items():
            self._add_unrecorded(ctx, call)
        for name, line in self.lines.items():
            value = self.lines.get(f"{name}>", line)  # whose gradient a wire carries
            of = self.parts[value["of"]]
            ref = of["v"][int(value["at"][1:])] if of["k"] == "call" else of["v"]
            if ref and ref.get("ax"):  # it holds the examples of a vmap
                line["mapped"] = True

    def upper(self) -> set[str]:
        """The parts of graphs that a backward has made, and what is read there alone.

        They stand above the graph that this backward went through.
        """
        nodes = self._nodes.items()
        found = {name for name, node in nodes if node.get("order", 1) > 1}
        found &= set(self.parts)
        readers = defaultdict(set)
        for line in self.lines.values():  # in the order of the calls
            readers[line["of"]].add(line["to"])
            if line["of"] in found:
                found.add(line["to"])
        for name, part in self.parts.items():
            if part["k"] != "call" and readers[name] and readers[name] <= found:
                found.add(name)
        return found

    def _add_leaf(self, name: str, node: Json) -> None:
        """A chip, and the slot of its gradient; one that many read has many."""
        title = node.get("tensor") or ""
        ref = self._told.values.get((node["id"], 0))
        chip = self._chip(title, ref, self._told.gradients.get(node["id"]))
        grad = brief_text(self.data, self._told.grads.get(node["id"]))
        is_long = len(grad) > MANY_LETTERS
        # Beside ".grad", and with an arrow before it while it is coming.
        room = len(grad) * LONG + (16 if is_long else 80) if chip[1] == CHIP else 0
        chip[0] = max(chip[0], LEAST_SLOT, room, self._room_of_sum(node["id"]))
        slot = [chip[0], chip[1] if is_long or chip[1] > CHIP else SLOT]
        part = {"k": "leaf", "n": node["id"], "t": title, "v": ref, "chip": chip}
        self.parts[name] = part | {"slot": slot, "tray": [chip[0], TRAY]}

    def _add_call(self, group: Json, node: Json) -> None:
        """A call, or a module with all of its calls: its card, and what came out."""
        name, sub, many = node["id"], "", len(group["nodes"])
        if node.get("order", 1) > 1:
            sub = message("drawn.order", order=node["order"])
        elif node.get("again"):
            sub = message("drawn.again")
        elif many > 1:
            sub = message("picture.nodes", count=many)
        part = _card(group.get("title") or self._told.title(node), sub)
        part["n"], size = name, part["card"]
        if group.get("leaves"):
            paths = [(one["tensor"] or "").split(".") for one in group["leaves"]]
            pills = [shortened(path[-1], 9) for path in paths]
            part["leaves"] = [one["id"] for one in group["leaves"]]
            part["pills"] = [[pill, len(pill) * SMALL + 14] for pill in pills]
            size[0] = max(size[0], *[wide + 14 for _, wide in part["pills"]])
            size[1] += 24 * len(pills)
        if "title" in group:
            part["inside"] = group["nodes"]
        size[1] += 16 if part["sub"] else 0
        self.parts[name] = part | self._result(node, size[0])
        inside = {*group["nodes"], *part.get("leaves", ())}
        for one in group["nodes"]:
            for edge in self._edges[one]:
                if edge["to"] not in inside:
                    self._add_wire(edge, name)
            for slot, given in self._told.inputs(one):
                if not given.get("n") and not given.get("leaf"):
                    self._add_data(f"{one}<{slot}", given, name)

    def _add_data(self, line: str, given: Json, name: str) -> None:
        """What is given to a call and has no node: data, or of an unrecorded call."""
        source = f"{given['name'] or name}.data{given['t']}"
        made = self._unrecorded.get(given["t"], (source, 0))
        if source == made[0] and source not in self.parts:
            title = given["name"] or ""
            chip = self._chip(title, given["v"])
            data = {"k": "data", "t": title, "v": given["v"], "chip": chip}
            if room := self._room_of_tangent([given]):
                chip[0] = max(chip[0], room)
                tray = [chip[0], chip[1] if chip[1] > CHIP else TRAY]
                data |= {"tray": tray, "keys": [given["t"]]}
            self.parts[source] = data
        self._line(line, "value", made[0], f"v{made[1]}", name)

    def _add_unrecorded(self, ctx: str, call: Json) -> None:
        """A call that nothing asks a gradient of: it has no box, or loses it again."""
        node = {"id": ctx, "ctx": ctx, "label": "", "outputs": len(call["outs"])}
        part = _card(call["op"], "") | {"n": None, "ctx": ctx}
        part |= self._result(node, part["card"][0])
        part["keys"] = [out["t"] for out in call["outs"] if "t" in out]
        part["tray"][0] = max(part["tray"][0], self._room_of_tangent(call["outs"]))
        part["box"] = [part["tray"][0], 0 if "call" in call else part["box"][1]]
        self.parts[ctx] = part
        for slot, given in self._told.inputs(ctx):
            of = given.get("n") or given.get("leaf") or ""
            of = self._groups.get(of, {"exit": of})["exit"]
            if not of:
                self._add_data(f"{ctx}<{slot}", given, ctx)
            elif of in self.parts:
                self._line(f"{ctx}<{slot}", "value", of, f"v{given.get('nr', 0)}", ctx)

    def _add_wire(self, edge: Json, name: str) -> None:
        """A gradient's way back, and the value's way there."""
        to, slot = edge["to"], edge.get("to_slot", 0)
        to = self._groups.get(to, {"exit": to})["exit"]
        node = self._nodes.get(to)
        if node is None or to == name:
            return
        is_leaf = node["kind"] == "accumulate"
        if is_leaf and self._uses[to] > graph.MAX_USES:
            to = f"{to}__{edge['id']}"
            self._add_leaf(to, node)
        self._line(f"{edge['id']}>", "value", to, f"v{slot}", name)
        self._line(edge["id"], "wire", to, "s" if is_leaf else "b", name)
        letters = [one for one in self._told.labels.get(edge["id"], ()) if one]
        room = sum([one * LABEL + 26 for one in letters])
        self.lines[edge["id"]]["room"] = room

    def _result(self, node: Json, card: float) -> Json:
        """What comes out of a card that is so wide, and the box below it."""
        name = node["id"]
        outs = range(self._told.outputs(node))
        names = [self._told.names[name].get(slot, "") for slot in outs]
        refs = [self._told.values.get((name, slot)) for slot in outs]
        like = self._told.gradients.get(name)
        chips = [self._chip(*one, like) for one in zip(names, refs, strict=True)]
        head = f"{shortened(names[0], 12)}.grad_fn" if names[0] else "grad_fn"
        head = f"ctx = {head}" if self._told.is_users(node) else head
        label = node["label"]
        if "own" in node and operation_of(label) in self._builtin:
            label = message("drawn.yours", label=label)  # a built-in one is there, too
        label = shortened(label, 24)
        wide = max(len(head) * LETTER + 20, len(label) * SMALL + 14, 92)
        wide = max(wide, self._room_of_sum(name))
        above = card + OUT + max([chip[0] for chip in chips])
        cells = self._told.cells(node.get("ctx"))
        rows, left_out = _in_rows(cells, max(wide, above) - 18)
        wide = max([wide, *[_width(row) + 18 for row in rows]])
        part: Json = {"t": names, "v": refs, "head": head, "label": label}
        part["plain"] = [slot for slot in outs if slot in self._told.without_wire[name]]
        box = [wide, BOX + CELLS * max(0, len(rows) - 1)]
        part |= {"chips": chips, "box": box, "cells": [], "more": left_out}
        for place, row in enumerate(rows):
            at = (wide - _width(row)) / 2
            for key, text, size in row:
                part["cells"].append([key, text, round(at, 1), CELLS * place, size])
                at += size + 6
        tall = max([chip[1] for chip in chips])
        part["tray"] = [wide, tall if tall > CHIP else TRAY]
        return part

    def _room_of_sum(self, node: str) -> float:
        """How wide it is where gradients meet: "2 + 3 = 5"."""
        return self._told.sums[node] * LETTER + 14

    def _room_of_tangent(self, values: Iterable[Json]) -> float:
        """How wide it is where the tangents of values stand that have no node."""
        refs = [self._told.tangents.get(one.get("t", "")) for one in values]
        texts = [shortened(written(self.data, ref)) for ref in refs if ref is not None]
        words = [message("tangent.beside", value=text) for text in texts]
        return max([len(text) * LETTER + 14 for text in words], default=0.0)

    def _chip(self, title: str, ref: Json | None, like: Json | None = None) -> Spot:
        """The size of a chip: a number beside its name, an array below it."""
        value = self.data["values"].get((ref or like or {}).get("v"))
        room = len(shortened(title)) * LETTER + (16 if title else 4)
        if value is None or is_short(value):
            text = "" if value is None else brief_text(self.data, ref or like)
            count = max(3, len(text))
            letter = LONG if count > MANY_LETTERS else VALUE
            return [max(56, room + count * letter + 14), CHIP]
        rows, columns = len(value["rows"]), max(map(len, value["rows"]), default=0)
        side = max(6, min(14, 84 // max(columns, 1), 66 // max(rows, 1)))
        shape = shape_words(value["shape"], (ref or {}).get("ax", ()))
        wide = max(columns * side + 16, room + len(shape) * SMALL + 12)
        return [wide, max(rows * side, 14) + 34]

    def _line(self, name: str, kind: str, of: str, at: str, to: str) -> None:
        self.lines[name] = {"k": kind, "of": of, "at": at, "to": to}


Cell = tuple[str, str, float]
"""An entry of a ctx: its key, what is written of it, its width."""


def _in_rows(cells: list[tuple[str, str]], wide: float) -> tuple[list[list[Cell]], int]:
    """Cells in rows that are not too wide, and how many have no room."""
    rows: list[list[Cell]] = []
    for place, (key, text) in enumerate(cells):
        cell = key, text, round(max(26, len(text) * SMALL + 14), 1)
        if rows and _width([*rows[-1], cell]) <= wide:
            rows[-1].append(cell)
        elif len(rows) == MOST_ROWS:
            return rows, len(cells) - place
        else:
            rows.append([cell])
    return rows, 0


def _width(row: list[Cell]) -> float:
    return sum([size for _, _, size in row]) + 6 * (len(row) - 1)


def _card(title: str, sub: str) -> Json:
    """A call's name, the small line below it, and how large its card is."""
    lines = _lines(shortened(title, 22))
    wide = max(max(map(len, lines)) * LETTER, len(sub) * SMALL, 42) + 16
    return {"k": "call", "name": lines, "sub": sub, "card": [wide, 46]}


def _lines(title: str) -> list[str]:
    """A long title in two lines, cut at a gap: in a formula, where it binds least.

    >>> _lines("p + x * 2.0"), _lines("p += x * 2.0"), _lines("log_softmax")
    (['p', '+ x * 2.0'], ['p', '+= x * 2.0'], ['log_', 'softmax'])
    """

    def how_tight(place: int) -> tuple[int, int, float]:
        depth = title.count("(", 0, place) - title.count(")", 0, place)
        sign = title[place + 1 :].partition(" ")[0]
        binds = 0 if sign.endswith("=") else BINDS.get(sign, TIGHT)
        return depth, binds, abs(place - len(title) / 2)

    gaps = [place for place, letter in enumerate(title) if letter in " _"]
    if len(title) < 9 or not gaps:
        return [title]
    at = min(gaps, key=how_tight)
    return [title[: at + 1].strip(), title[at + 1 :]]
