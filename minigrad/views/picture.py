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
from minigrad.views.graph import MAX_USES, renderers, run
from minigrad.views.values import brief_text, value_text

Json = dict[str, Any]
Spot = list[float]
"""A place: left, top, width, height."""

MOST_PARTS: Final = 2_500
LETTER, SMALL = 8.5, 7.3  # the width of a letter of 14 and of 12 points
CHIP, SLOT, CORD, BOX, TRAY = 46, 34, 30, 84, 26  # heights
GAP = 8
MOST_CELLS = 3  # of what a box keeps; the rest is counted
MOST_LETTERS = 18
WEIGHTS: Final = {"out": 20, "value": 4, "wire": 1}
_PLACES: Final = {"nodesep": "0.25", "ranksep": "0.62", "splines": "true"}


def picture_of(data: Mapping[str, Any]) -> Json | None:
    """Where everything is; None for a graph too large, or with no Graphviz at hand."""
    scene = Scene(data)
    if not scene.parts or len(scene.parts) > MOST_PARTS:
        return None
    dot = scene.dot()
    for program in renderers():
        plain = run(program, dot, "plain")
        if plain is not None:
            return scene.placed(plain)
    return None


class Scene:
    """What a recording's picture consists of, before and after it has its places.

    ``parts`` are leaves, data, cards (``op``) and results by their names, ``lines`` the
    edges of values and the wires of gradients, by the names of their ends.
    """

    def __init__(self, data: Mapping[str, Any]) -> None:
        self.data = data
        self.nodes = {node["id"]: node for node in data["graph"]["nodes"]}
        self.parts: dict[str, Json] = {}
        self.lines: dict[str, Json] = {}
        self._told = _Told(data)
        self._uses = Counter(edge["to"] for edge in data["graph"]["edges"])
        self._module = modules_of(data)
        self._edges = defaultdict(list)
        for edge in data["graph"]["edges"]:
            self._edges[edge["from"]].append(edge)
        for node in data["graph"]["nodes"]:
            if node["kind"] != "accumulate":
                self._add_function(node)
            elif self._uses[node["id"]] <= MAX_USES:
                self._add_leaf(node["id"], node)

    def _add_leaf(self, name: str, node: Json) -> None:
        """A chip, and the slot of its gradient; one that many read has many."""
        if name in self.parts or self._owner(node["id"]):
            return
        title = node.get("tensor") or ""
        ref = self._told.value_of(node["id"], 0)
        chip = self._chip(title, ref, self._told.gradient.get(node["id"]))
        slot = [chip[0], chip[1] if chip[1] > CHIP else SLOT]
        parts = {"chip": chip, "slot": slot}
        self.parts[name] = {"k": "leaf", "n": node["id"], "t": title, **parts}
        if name != node["id"]:
            self.parts[name]["again"] = True

    def _owner(self, node: str) -> Json | None:
        """The folded module whose parameter a leaf is."""
        return self._module.get(node)

    def _add_function(self, node: Json) -> None:
        group = self._module.get(node["id"])
        if group and group["exit"] != node["id"]:
            return
        name, card = node["id"], f"{node['id']}.op"
        title = group["title"] if group else self._told.title(node)
        title = _short(title, 22)
        sub = _sub(node, group)
        width = max(len(title) * LETTER, len(sub) * SMALL if sub else 0) + 24
        size = [max(64, width), 60 if sub else 46]
        part: Json = {"k": "op", "n": name, "t": title, "sub": sub, "card": size}
        if group:
            pills = [_short(_last(one["tensor"]), 10) for one in group["leaves"]]
            part |= {"leaves": [one["id"] for one in group["leaves"]], "pills": pills}
            widths = [len(pill) * SMALL + 14 for pill in pills]
            size[0] = max(size[0], sum(widths) + 6 * len(pills) + 10)
            size[1] += 26 if pills else 0
            part["inside"] = group["nodes"]
        self.parts[card] = part
        self._add_result(node)
        inside = group["nodes"] if group else [name]
        for one in inside:
            for edge in self._edges[one]:
                self._add_wires(edge, name, set(inside), card)
        for place, (title, ref) in enumerate(self._told.plain_inputs(inside)):
            source = f"{title or name}.data{'' if title else place}"
            if source not in self.parts:
                chip = self._chip(title, ref)
                self.parts[source] = {"k": "data", "t": title, "chip": chip, "v": ref["v"]}
            self._line(f"{source}>{card}", source, "v0", card, "", "value")
        for slot in range(node.get("outputs", 1)):
            self._line(f"{name}={slot}", card, "", name, f"v{slot}", "out")

    def _add_wires(self, edge: Json, name: str, inside: set[str], card: str) -> None:
        to = edge["to"]
        if to in inside or self._module.get(to, {}).get("exit") == name:
            return
        to = self._module[to]["exit"] if to in self._module else to
        node = self.nodes.get(to)
        if node is None:
            return
        if node["kind"] == "accumulate" and self._uses[to] > MAX_USES:
            to = f"{to}__{edge['id']}"
            self._add_leaf(to, node)
        below = "s" if node["kind"] == "accumulate" else "b"
        slot = edge.get("to_slot", 0)
        if name.partition("=")[0] != to:
            self._line(f"{edge['id']}>", to, f"v{slot}", card, "", "value")
            self._line(edge["id"], to, below, name, "b", "wire")

    def _add_result(self, node: Json) -> None:
        name = node["id"]
        names = self._told.names.get(name, {})
        refs = [self._told.value_of(name, slot) for slot in range(node.get("outputs", 1))]
        like = self._told.gradient.get(name)
        chips = [self._chip(names.get(i, ""), ref, like) for i, ref in enumerate(refs)]
        cells = self._told.cells(node.get("ctx"))
        shown = cells[:MOST_CELLS]
        widths = [len(text) * SMALL + 14 for _, text in shown]
        head = f"{names.get(0, '')}.grad_fn" if names.get(0) else "grad_fn"
        wide = max(sum(widths) + 6 * len(widths) + 14, len(head) * LETTER + 20)
        wide = max(wide, len(node["label"]) * SMALL + 20, 100)
        part: Json = {"k": "result", "n": name, "chips": chips, "box": [wide, BOX]}
        part["t"] = [names.get(slot, "") for slot in range(len(chips))]
        part["cells"] = [[key, w] for (key, _), w in zip(shown, widths, strict=True)]
        part["more"] = len(cells) - len(shown)
        tall = max([chip[1] for chip in chips])
        part["tray"] = [wide, tall if tall > CHIP else TRAY]
        part["plain"] = node.get("plain", [])
        self.parts[name] = part

    def _chip(self, title: str, ref: Json | None, like: Json | None = None) -> Spot:
        """The size of a chip: a number beside its name, an array below it."""
        value = self.data["values"].get((ref or like or {}).get("v"))
        room = max(len(_short(title)), 1) * LETTER + 20
        if value is None or is_short(value):
            text = 6 if value is None else max(5, len(brief_text(self.data, ref or like)))
            return [room + text * 10, CHIP]
        rows, columns = len(value["rows"]), max(map(len, value["rows"]), default=0)
        if not rows or not columns:
            return [room + 70, CHIP]
        side = side_of(rows, columns)
        shape = "\u00d7".join(map(str, value["shape"]))
        wide = max(columns * side + 16, room + len(shape) * SMALL + 8)
        return [wide, rows * side + 34]

    def _line(self, name: str, *ends: str) -> None:
        of, at, to, into, kind = ends
        self.lines[name] = {"k": kind, "of": of, "at": at, "to": to, "into": into}

    def dot(self) -> str:
        """The picture as Graphviz is asked for its places."""
        lines = ["digraph {rankdir=LR", *[f'{key}="{v}"' for key, v in _PLACES.items()]]
        lines.append('node [shape=plain,label=""] edge [dir=none]')
        short = {name: f"p{place}" for place, name in enumerate(self.parts)}
        for name, part in self.parts.items():
            lines.append(f"{short[name]} [label=<{_table(part)}>]")
        for line in self.lines.values():
            start = f"{short[line['of']]}{line['at'] and ':'}{line['at']}:e"
            end = f"{short[line['to']]}{line['into'] and ':'}{line['into']}:w"
            lines.append(f"{start}->{end} [weight={WEIGHTS[line['k']]}]")
        return "\n".join([*lines, "}"])

    def placed(self, plain: str) -> Json:
        """The parts with their spots, and the lines with their curves."""
        rows = [line.split(" ") for line in plain.splitlines()]
        wide, tall = (72 * float(one) for one in rows[0][2:4])
        names = list(self.parts)
        at: dict[str, Json] = {}
        found: dict[tuple[str, str], list[list[float]]] = defaultdict(list)
        for row in rows[1:]:
            if row[0] == "node":
                x, y = (72 * float(one) for one in row[2:4])
                name = names[int(row[1][1:])]
                at[name] = _spread(self.parts[name], x, tall - y)
            elif row[0] == "edge":
                ends = names[int(row[1][1:])], names[int(row[2][1:])]
                numbers = [72 * float(one) for one in row[4 : 4 + 2 * int(row[3])]]
                numbers[1::2] = [tall - one for one in numbers[1::2]]
                found[ends].append(numbers)
        lines = []
        for name, line in self.lines.items():
            points = found[line["of"], line["to"]].pop(0)
            left = _side(at[line["of"]], line["at"], 1)
            right = _side(at[line["to"]], line["into"], 0)
            lines.append({"id": name, **line, "d": _path(left, points, right)})
        parts = [{"id": name, **at[name]} for name in names]
        return {"size": [round(wide), round(tall)], "parts": parts, "lines": lines}


def _table(part: Json) -> str:
    """The room of a part as an HTML-like label, with a port at each end of a line."""
    if part["k"] == "op":
        rows = [("", *part["card"])]
    elif part["k"] == "result":
        chips = [(f"v{slot}", *chip) for slot, chip in enumerate(part["chips"])]
        rows = [*_between(chips), ("", 1, CORD), ("b", *part["box"])]
        rows += [("", 1, GAP), ("", *part["tray"])]
    else:
        rows = [("v0", *part["chip"])]
        rows += [("", 1, 14), ("s", *part["slot"])] if "slot" in part else []
        rows += [("", 1, GAP), ("", 1, TRAY)] if "slot" in part else []
    wide = max([row[1] for row in rows])
    cells = "".join(
        f'<TR><TD PORT="{port or "_"}" FIXEDSIZE="TRUE" WIDTH="{wide:.0f}"'
        f' HEIGHT="{tall:.0f}"></TD></TR>'
        for port, _, tall in rows
    )
    return (
        f'<TABLE BORDER="0" CELLBORDER="0" CELLSPACING="0" CELLPADDING="0">{cells}'
        "</TABLE>"
    )


def _between(chips: list[Any]) -> list[Any]:
    """Chips one below the other, with gaps."""
    rows = chips[:1]
    for chip in chips[1:]:
        rows += [("", 1, GAP), chip]
    return rows


def _spread(part: Json, x: float, y: float) -> Json:
    """A part whose sizes have become spots around its middle."""
    shown = dict(part)
    sizes: list[tuple[str, int, Spot, float]]
    if part["k"] == "op":
        sizes = [("card", 0, part["card"], 0)]
    elif part["k"] == "result":
        sizes = [("chips", i, chip, GAP) for i, chip in enumerate(part["chips"])]
        sizes[-1] = (*sizes[-1][:3], CORD)
        sizes += [("box", 0, part["box"], GAP), ("tray", 0, part["tray"], 0)]
        shown["chips"] = []
    else:
        sizes = [("chip", 0, part["chip"], 14)]
        sizes += [("slot", 0, part["slot"], GAP)] if "slot" in part else []
        sizes += [("tray", 0, [part["slot"][0], TRAY], 0)] if "slot" in part else []
    gaps = [gap for _, _, _, gap in sizes[:-1]]
    top = y - (sum([size[1] for _, _, size, _ in sizes]) + sum(gaps)) / 2
    for name, _, (wide, tall), gap in sizes:
        spot = [round(one, 1) for one in (x - wide / 2, top, wide, tall)]
        if name == "chips":
            shown["chips"].append(spot)
        else:
            shown[name] = spot
        top += tall + gap
    return shown


def _side(part: Json, port: str, right: int) -> float:
    """The x at which a line meets a part."""
    if part["k"] == "op":
        spot = part["card"]
    elif port == "b":
        spot = part["box"]
    elif port == "s":
        spot = part["slot"]
    else:
        spot = part["chips"][int(port[1:])] if "chips" in part else part["chip"]
    return round(spot[0] + right * spot[2], 1)


def _path(left: float, points: list[float], right: float) -> str:
    """A curve from the side of one part to that of another."""
    x, y, *rest = [f"{one:.1f}".removesuffix(".0") for one in points]
    start = f"M{left:g} {y}" + (f"H{x}" if abs(left - points[0]) > 1 else "")
    end = f"H{right:g}" if abs(right - points[-2]) > 1 else ""
    return f"{start}C{' '.join(rest)}{end}"


def is_short(value: Mapping[str, Any]) -> bool:
    """Whether a value is written, and not drawn."""
    shape = value["shape"]
    return not shape or (len(shape) == 1 and shape[0] <= 3 and not value["cut"])


def side_of(rows: int, columns: int) -> int:
    """The side of the squares of which an array is drawn."""
    return max(6, min(14, 84 // columns, 66 // rows))


def _short(text: str, most: int = MOST_LETTERS) -> str:
    return text if len(text) <= most else f"{text[: most - 1]}\u2026"


def _last(name: str | None) -> str:
    """What a parameter is called within its module."""
    return (name or "").rpartition(".")[2]


def _sub(node: Json, group: Json | None) -> str:
    """The small line of a card."""
    if node.get("order", 1) > 1:
        return message("drawn.order", order=node["order"])
    if node.get("again"):
        return message("drawn.again")
    if group and len(group["nodes"]) > 1:
        return message("picture.nodes", count=len(group["nodes"]))
    return group["sub"] if group else ""


def modules_of(data: Mapping[str, Any]) -> dict[str, Json]:
    """Which nodes are drawn as one card: of modules that have parameters, or nodes."""
    nodes = {node["id"]: node for node in data["graph"]["nodes"]}
    ends = defaultdict(list)
    readers = defaultdict(set)
    for edge in data["graph"]["edges"]:
        ends[edge["from"]].append(edge["to"])
        readers[edge["to"]].add(edge["from"])
    found: dict[str, Json] = {}
    inside: list[str] = []
    for event in data["events"]:
        if event["k"] == "graph.node":
            if event["lvl"] < 3:
                inside = []
            elif nodes[event["n"]]["kind"] != "accumulate":
                inside.append(event["n"])
        if event["k"] != "module":
            continue
        leaves = [to for one in inside for to in ends[one]]
        own = [
            nodes[leaf]
            for leaf in dict.fromkeys(leaves)
            if nodes[leaf]["kind"] == "accumulate" and readers[leaf] <= set(inside)
        ]
        if inside and (own or len(inside) > 1):
            names = {"title": event["cue"], "sub": "", "exit": inside[-1]}
            group = {**names, "nodes": inside, "leaves": own}
            found |= dict.fromkeys([*inside, *[leaf["id"] for leaf in own]], group)
        inside = []
    return found


class _Told:
    """What the events say of nodes: names, values, what their ctx keeps."""

    def __init__(self, data: Mapping[str, Any]) -> None:
        self.names: dict[str, dict[int, str]] = defaultdict(dict)
        self.gradient: dict[str, Json] = {}
        self._data = data
        self._joined: dict[str, Json] = {}
        self._values: dict[tuple[str, int], Json] = {}
        self._refs: dict[str, Json] = {}
        self._kept: dict[str, dict[str, Json]] = defaultdict(dict)
        self._edges = {}
        for edge in data["graph"]["edges"]:
            self._edges[edge["from"], edge["slot"]] = edge
        for event in data["events"]:
            self._take(event)
        for node in data["graph"]["nodes"]:
            if node["kind"] == "accumulate" and node.get("tensor") in self._refs:
                self._values.setdefault((node["id"], 0), self._refs[node["tensor"]])

    def _take(self, event: Json) -> None:
        for name, ref in (event.get("loc") or {}).items():
            if ref and ref["t"] == "T":
                self._refs.setdefault(name, ref)
        for change in [event.get("ctx"), *event.get("others", ())]:
            for key, ref in (change["set"] if change else {}).items():
                if ref and key.startswith(("saved.", "attr.")) and _is_kept(ref):
                    self._kept[change["id"]].setdefault(key, ref)
                if ref and ref.get("name"):
                    self._refs.setdefault(ref["name"], ref)
        for name, node in (event.get("h") or {}).items():
            self._name(name, node, event)
        if event["k"] == "graph.node":
            self._joined[event["n"]] = event
            for slot, ref in enumerate(event.get("outs") or ()):
                if ref:
                    self._values[event["n"], slot] = ref
            for slot, ref in enumerate(event.get("ins") or ()):
                edge = self._edges.get((event["n"], slot))
                if ref and edge and ref["t"] != "P":
                    self._values.setdefault((edge["to"], edge.get("to_slot", 0)), ref)
        if event["k"] == "grad" and event.get("total"):
            self.gradient.setdefault(event["n"], event["total"])
        for root in event.get("roots") or ():
            self.gradient.setdefault(root["n"], root["g"])

    def _name(self, name: str, node: str | None, event: Json) -> None:
        if node is None:
            return
        ref = (event.get("loc") or {}).get(name)
        names = self.names[node]
        if name in names.values():
            return
        slot = len(names) if ref is None or ref.get("out") is None else ref["out"]
        names.setdefault(slot, name)
        if ref:
            self._values.setdefault((node, slot), ref)

    def value_of(self, node: str, slot: int) -> Json | None:
        """What leads to the value of an output, or of a leaf."""
        return self._values.get((node, slot))

    def title(self, node: Json) -> str:
        """What people call the operation."""
        event = self._joined.get(node["id"], {})
        if event.get("op"):
            return str(event["op"])
        ctx = next((c for c in self._data["ctxs"] if c["id"] == node["ctx"]), None)
        return str(ctx["function"] if ctx else node["label"])

    def plain_inputs(self, nodes: Iterable[str]) -> list[tuple[str, Json]]:
        """The tensors that were given and need no gradient, by their names."""
        found = []
        for node in nodes:
            event = self._joined.get(node, {})
            for slot, ref in enumerate(event.get("ins") or ()):
                has_edge = (node, slot) in self._edges
                if ref and ref["t"] in "TA" and not has_edge and not ref.get("rg"):
                    found.append((ref.get("name") or "", ref))
        return found

    def cells(self, ctx: str | None) -> list[tuple[str, str]]:
        """What a ctx ever keeps: the key of each entry and what is written of it."""
        kept = self._kept.get(ctx or "", {})
        ordered = sorted(kept, key=lambda key: (not key.startswith("saved."), key))
        return [(key, _short(self._cell(key, kept[key]))) for key in ordered]

    def _cell(self, key: str, ref: Json) -> str:
        family, _, name = key.partition(".")
        title = name if family == "attr" else ref.get("name") or ""
        value = self._data["values"].get(ref.get("v"))
        if value is None:
            text = value_text(self._data, ref)
        elif is_short(value):
            text = brief_text(self._data, ref)
        else:
            text = "\u00d7".join(map(str, value["shape"]))
        return f"{title} {text}".strip()


def _is_kept(ref: Json) -> bool:
    return not (ref["t"] == "P" and ref["r"] in ("None", "freed"))
