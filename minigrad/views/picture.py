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
from minigrad.views import graph
from minigrad.views.values import brief_text, value_text

Json = dict[str, Any]
Spot = list[float]
"""A place: left, top, width, height."""

MOST_PARTS: Final = 2_500
MOST_WIRED: Final = 100  # parts; of a picture with more, values alone say the places
NEAR, FAR = 0.28, 2.8  # inches between the columns, at least and at most
SHAPE: Final = 2.3  # of a pane: its width by its height
TABLE: Final = '<TABLE BORDER="0" CELLBORDER="0" CELLSPACING="0" CELLPADDING="0">'
LETTER, SMALL, GRAD = 8.5, 7.9, 9.1  # the width of a letter of 14, 13, 15 points
CHIP, SLOT, CORD, BOX, TRAY = 46, 34, 28, 80, 26  # heights
GAP = 8
LEAST_SLOT = 96  # wide: ".grad None"
OUT = 20  # from a card to what comes out of it
WIDEST = 150  # of the cells in a box; the rest is counted
MOST_CARDS = 10  # that come of modules that are opened by themselves
MOST_LETTERS = 18
WEIGHTS: Final = {"value": 4, "wire": 1}


def pictures_of(data: Mapping[str, Any]) -> list[Json]:
    """The picture with modules as cards, and that with all open; one without modules.

    None where the graph is too large, or no Graphviz is at hand.
    """
    groups = groups_of(data)
    found = [placed(Scene(data, one)) for one in ([groups] if groups else []) + [{}]]
    return [one for one in found if one is not None]


def placed(scene: Scene) -> Json | None:
    """A scene with everything in its place, as Graphviz finds it.

    A small one that would leave the sides of its pane empty has wider gaps: there is
    more room for what stands at its wires.
    """
    if not scene.parts or len(scene.parts) > MOST_PARTS:
        return None
    for program in graph.renderers():
        plain = graph.run(program, scene.dot(NEAR), "plain")
        if plain is None:
            continue
        wide, tall = (float(one) for one in plain.split(maxsplit=4)[2:4])
        gaps = scene.depth() - 1
        more = (SHAPE * tall - wide) / gaps if gaps else 0
        if more > 0.1:
            plain = (
                graph.run(program, scene.dot(min(NEAR + more, FAR)), "plain") or plain
            )
        return scene.placed(plain)
    return None


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
        self._ends = Counter[tuple[str, str]]()
        self._nodes = {node["id"]: node for node in data["graph"]["nodes"]}
        self._told = Told(data)
        self._uses = Counter(edge["to"] for edge in data["graph"]["edges"])
        self._edges = defaultdict(list)
        for edge in data["graph"]["edges"]:
            self._edges[edge["from"]].append(edge)
        for node in data["graph"]["nodes"]:
            if node.get("tangent"):
                continue
            if node["id"] in groups:
                self._add_call(groups[node["id"]], node)
            elif node["kind"] != "accumulate":
                self._add_call({"nodes": [node["id"]], "exit": node["id"]}, node)
            elif self._uses[node["id"]] <= graph.MAX_USES:
                self._add_leaf(node["id"], node)

    def _add_leaf(self, name: str, node: Json) -> None:
        """A chip, and the slot of its gradient; one that many read has many."""
        title = node.get("tensor") or ""
        ref = self._told.values.get((node["id"], 0))
        chip = self._chip(title, ref, self._told.gradients.get(node["id"]))
        grad = brief_text(self.data, self._told.grads.get(node["id"]))
        room = len(grad) * GRAD + 62 if chip[1] == CHIP else 0
        chip[0] = max(chip[0], LEAST_SLOT, room)
        slot = [chip[0], chip[1] if chip[1] > CHIP else SLOT]
        part = {"k": "leaf", "n": node["id"], "t": title, "v": ref, "chip": chip}
        self.parts[name] = part | {"slot": slot}

    def _add_call(self, group: Json, node: Json) -> None:
        """A call, or a module with all of its calls: its card, and what came out."""
        if group["exit"] != node["id"]:
            return
        name = node["id"]
        part = self._result(node) | {"k": "call", "n": name}
        title = _lines(_short(group.get("title") or self._told.title(node), 22))
        sub = _sub(node, group)
        wide = max(map(len, title)) * LETTER
        size = [max(58, wide + 16, len(sub) * SMALL + 16), 46]
        part |= {"name": title, "sub": sub, "card": size}
        if group.get("leaves"):
            pills = [_short(_last(one["tensor"]), 9) for one in group["leaves"]]
            part["leaves"] = [one["id"] for one in group["leaves"]]
            part["pills"] = [[pill, len(pill) * SMALL + 14] for pill in pills]
            size[0] = max(size[0], *[wide + 14 for _, wide in part["pills"]])
            size[1] += 24 * len(pills)
        if "title" in group:
            part["inside"] = group["nodes"]
        size[1] += 16 if sub else 0
        self.parts[name] = part
        inside = {*group["nodes"], *part.get("leaves", ())}
        for one in group["nodes"]:
            for edge in self._edges[one]:
                if edge["to"] not in inside:
                    self._add_wire(edge, name)
            for slot, given in self._told.plain_inputs(one):
                source = f"{given['name'] or name}.data{given['t']}"
                if source not in self.parts:
                    chip = self._chip(given["name"] or "", given["v"])
                    data = {"k": "data", "t": given["name"] or "", "v": given["v"]}
                    self.parts[source] = data | {"chip": chip}
                self._line(f"{one}<{slot}", "value", source, "v0", name)

    def _add_wire(self, edge: Json, name: str) -> None:
        """A gradient's way back, and the value's way there."""
        to, slot = edge["to"], edge.get("to_slot", 0)
        group = self._groups.get(to)
        if group:
            to = group["exit"]
        node = self._nodes.get(to)
        if node is None or to == name:
            return
        is_leaf = node["kind"] == "accumulate"
        if is_leaf and self._uses[to] > graph.MAX_USES:
            to = f"{to}__{edge['id']}"
            self._add_leaf(to, node)
        self._line(f"{edge['id']}>", "value", to, f"v{slot}", name)
        self._line(edge["id"], "wire", to, "s" if is_leaf else "b", name)

    def _result(self, node: Json) -> Json:
        name = node["id"]
        outs = range(self._told.outputs(node))
        names = [self._told.names[name].get(slot, "") for slot in outs]
        refs = [self._told.values.get((name, slot)) for slot in outs]
        like = self._told.gradients.get(name)
        chips = [self._chip(*one, like) for one in zip(names, refs, strict=True)]
        cells = self._told.cells(node.get("ctx"))
        widths = [max(26, len(text) * SMALL + 14) for _, text in cells]
        shown = 1
        while shown < len(cells) and sum(widths[: shown + 1]) < WIDEST:
            shown += 1
        head = f"{_short(names[0], 12)}.grad_fn" if names[0] else "grad_fn"
        head = f"ctx = {head}" if self._told.is_users(node) else head
        wide = max(sum(widths[:shown]) + 6 * shown + 12, len(head) * LETTER + 20, 92)
        label = _short(node["label"], 24)
        wide = max(wide, len(label) * SMALL + 14)
        part: Json = {"t": names, "v": refs, "head": head}
        part |= {"label": label, "chips": chips, "box": [wide, BOX]}
        kept = [(key, text) for key, text in cells[:shown]]
        part["cells"] = [
            [key, text, round(size, 1)]
            for (key, text), size in zip(kept, widths, strict=False)
        ]
        part["more"] = max(0, len(cells) - shown)
        tall = max([chip[1] for chip in chips])
        part["tray"] = [wide, tall if tall > CHIP else TRAY]
        return part

    def _chip(self, title: str, ref: Json | None, like: Json | None = None) -> Spot:
        """The size of a chip: a number beside its name, an array below it."""
        value = self.data["values"].get((ref or like or {}).get("v"))
        room = len(_short(title)) * LETTER + (16 if title else 4)
        if value is None or is_short(value):
            text = (
                3 if value is None else max(3, len(brief_text(self.data, ref or like)))
            )
            return [max(56, room + text * 10.5 + 14), CHIP]
        rows, columns = len(value["rows"]), max(map(len, value["rows"]), default=0)
        side = side_of(max(rows, 1), max(columns, 1))
        shape = "\u00d7".join(map(str, value["shape"]))
        wide = max(columns * side + 16, room + len(shape) * SMALL + 12)
        return [wide, max(rows * side, 14) + 34]

    def _line(self, name: str, kind: str, of: str, at: str, to: str) -> None:
        count = self._ends[to, kind]
        self._ends[to, kind] += 1
        line = {"k": kind, "of": of, "at": at, "to": to}
        self.lines[name] = line | {"into": f"{'i' if kind == 'value' else 'b'}{count}"}

    def depth(self) -> int:
        """How many parts stand beside each other along the longest way."""
        depths: dict[str, int] = defaultdict(lambda: 1)
        for line in self.lines.values():  # in the order of the calls
            depths[line["to"]] = max(depths[line["to"]], depths[line["of"]] + 1)
        return max(depths.values(), default=1)

    def dot(self, apart: float) -> str:
        """The picture as Graphviz is asked for its places, columns so far apart."""
        lines = [f"digraph {{rankdir=LR nodesep=0.25 ranksep={apart} splines=true"]
        lines.append('node [shape=plain,label=""] edge [dir=none]')
        short = {name: f"p{place}" for place, name in enumerate(self.parts)}
        for name, part in self.parts.items():
            ends = [max(1, self._ends[name, kind]) for kind in WEIGHTS]
            lines.append(f"{short[name]} [label=<{_table(part, *ends)}>]")
        is_large = len(self.parts) > MOST_WIRED
        for line in self.lines.values():
            if is_large and line["k"] == "wire":
                continue
            at = line["at"]
            if at == "b":  # its middle
                at = f"b{max(0, self._ends[line['of'], 'wire'] - 1) // 2}"
            start, end = f"{short[line['of']]}:{at}:e", short[line["to"]]
            end = f"{end}:{line['into']}:w"
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
            left = _side(at[line["of"]], line["at"], 1)
            count = self._ends[line["to"], line["k"]]
            right = _side(at[line["to"]], line["into"], 0, count)
            curves = found[line["of"], line["to"]]
            kept = {key: line[key] for key in ("k", "of", "to")}
            points = curves.pop(0) if curves else []
            lines.append({"id": name, **kept, "d": _path(left, points, right)})
        parts = [{"id": name, **at[name]} for name in names]
        return {"size": [round(wide), round(tall)], "parts": parts, "lines": lines}


def _table(part: Json, values: int, wires: int) -> str:
    """The room of a part as an HTML-like label, with a port at each end of a line.

    Values come to its card at the left, one below the other, and leave at its chips;
    wires come to its box.
    """
    if part["k"] != "call":
        rows = [("v0", part["chip"][1])]
        if "slot" in part:
            rows += [("", 14), ("s", part["slot"][1]), ("", GAP), ("", TRAY)]
        return _column(part["chip"][0], rows)
    wide, high = _room(part)
    above, tall = _heights(part["chips"], high)
    chips = [(f"v{slot}", chip[1]) for slot, chip in enumerate(part["chips"])]
    outs = [chips[0], *[row for chip in chips[1:] for row in (("", GAP), chip)]]
    outs = [("", above), *outs, ("", high - above - tall)]
    ins = [(f"i{place}", part["card"][1] / values) for place in range(values)]
    edge = (high - part["card"][1]) / 2
    left = _column(wide / 2, [("", edge), *ins, ("", edge)])
    halves = f"<TD>{left}</TD><TD>{_column(wide / 2, outs)}</TD>"
    box = [(f"b{place}", BOX / wires) for place in range(wires)]
    below = _column(wide, [("", CORD), *box, ("", GAP), ("", part["tray"][1])])
    return f'{TABLE}<TR>{halves}</TR><TR><TD COLSPAN="2">{below}</TD></TR></TABLE>'


def _column(wide: float, rows: list[tuple[str, float]]) -> str:
    """Cells one below the other."""
    cells = "".join(
        f'<TR><TD PORT="{port or "_"}" FIXEDSIZE="TRUE" WIDTH="{wide:.0f}"'
        f' HEIGHT="{tall:.0f}"></TD></TR>'
        for port, tall in rows
        if tall >= 0.5
    )
    return f"{TABLE}{cells}</TABLE>"


def _room(part: Json) -> tuple[float, float]:
    """How wide a call is, and how high the half of it above its box."""
    chips = part["chips"]
    wide = part["card"][0] + OUT + max([chip[0] for chip in chips])
    return max(wide, part["box"][0]), max(part["card"][1], _heights(chips, 0)[1])


def _heights(chips: list[Spot], high: float) -> tuple[float, float]:
    """How much is above chips that stand one below the other, and how high they are."""
    tall = sum([chip[1] for chip in chips]) + GAP * (len(chips) - 1)
    return (high - tall) / 2, tall


def _spread(part: Json, x: float, y: float) -> Json:
    """A part whose sizes have become spots around its middle."""
    shown = dict(part)
    if part["k"] != "call":
        wide, tall = part["chip"]
        slot = part.get("slot")
        high = tall + (14 + slot[1] + GAP + TRAY if slot else 0)
        left, top = x - wide / 2, y - high / 2
        shown["chip"] = _spot(left, top, wide, tall)
        if slot:
            shown["slot"] = _spot(left, top + tall + 14, *slot)
            shown["tray"] = _spot(left, top + high - TRAY, wide, TRAY)
        return shown
    wide, high = _room(part)
    tall = high + CORD + BOX + GAP + part["tray"][1]
    left, top, right = x - wide / 2, y - tall / 2, x + wide / 2
    above, _ = _heights(part["chips"], high)
    shown["card"] = _spot(left, top + (high - part["card"][1]) / 2, *part["card"])
    shown["chips"] = []
    widest = max([chip[0] for chip in part["chips"]])
    at = top + above
    for chip in part["chips"]:
        shown["chips"].append(_spot(right - (widest + chip[0]) / 2, at, *chip))
        at += chip[1] + GAP
    box = right - part["box"][0]
    shown["box"] = _spot(box, top + high + CORD, *part["box"])
    shown["tray"] = _spot(box, top + high + CORD + BOX + GAP, *part["tray"])
    return shown


def _spot(*numbers: float) -> Spot:
    return [round(one, 1) for one in numbers]


def _side(part: Json, port: str, right: int, of: int = 1) -> tuple[float, float]:
    """Where a line meets a part, of so many."""
    kind, number = port[0], int(port[1:] or 0)
    if kind in "sb":
        spot = part["slot" if kind == "s" else "box"]
    elif kind == "i":
        spot = part["card"]
    else:
        spot = part["chips"][number] if "chips" in part else part["chip"]
    share = 0.5 if right else (number + 0.5) / of
    return round(spot[0] + right * spot[2], 1), round(spot[1] + share * spot[3], 1)


def _path(
    left: tuple[float, float], points: list[float], right: tuple[float, float]
) -> str:
    """A curve from the side of one part to that of another."""
    start = f"M{left[0]:g} {left[1]:g}"
    if not points:
        by = max(30, (right[0] - left[0]) / 2)
        middle = f"{left[0] + by:g} {left[1]:g} {right[0] - by:g} {right[1]:g}"
        return f"{start}C{middle} {right[0]:g} {right[1]:g}"
    x, y, *rest = [f"{one:.1f}".removesuffix(".0") for one in points]
    start += f"L{x} {y}" if abs(left[0] - points[0]) > 1 else ""
    end = f"L{right[0]:g} {right[1]:g}" if abs(right[0] - points[-2]) > 1 else ""
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


def _lines(title: str) -> list[str]:
    """A long title in two lines, cut where it has a gap."""
    gaps = [place for place, letter in enumerate(title) if letter in " _"]
    if len(title) < 9 or not gaps:
        return [title]
    at = min(gaps, key=lambda place: abs(place - len(title) / 2))
    return [title[: at + 1].strip(), title[at + 1 :]]


def _last(name: str | None) -> str:
    """What a parameter is called within its module."""
    return (name or "").rpartition(".")[2]


def _sub(node: Json, group: Json) -> str:
    """The small line of a card."""
    if node.get("order", 1) > 1:
        return message("drawn.order", order=node["order"])
    if node.get("again"):
        return message("drawn.again")
    many = len(group["nodes"])
    return message("picture.nodes", count=many) if many > 1 else ""


def groups_of(data: Mapping[str, Any]) -> dict[str, Json]:
    """The modules that are shown as one card each, by each of their nodes and leaves.

    The outermost that has others inside is opened as long as few cards come of it.
    """
    graph = data["graph"]
    modules = {one["id"]: one for one in graph.get("modules", ())}
    functions = [node for node in graph["nodes"] if node["kind"] != "accumulate"]
    within = {node["id"]: _chain(modules, node.get("module")) for node in functions}
    opened: set[str] = set()
    while True:
        tops = {name: _first(chain, opened) for name, chain in within.items()}
        shown = Counter(top or name for name, top in tops.items())
        best = next(
            iter([one for one in shown if one in modules and _holds(modules, one)]), ""
        )
        inner = {
            _first(within[n], {*opened, best}) or n
            for n, t in tops.items()
            if t == best
        }
        if not best or len(shown) - 1 + len(inner) > MOST_CARDS:
            break
        opened.add(best)
    members = defaultdict(list)
    for name, top in tops.items():
        if top:
            members[top].append(name)
    return _with_leaves(data, modules, members)


def _chain(modules: Mapping[str, Json], innermost: str | None) -> list[str]:
    """The calls of modules around a node, the outermost first."""
    chain: list[str] = []
    while innermost is not None:
        chain.insert(0, innermost)
        innermost = modules[innermost]["in"]
    return chain


def _first(chain: Iterable[str], opened: set[str]) -> str | None:
    return next((one for one in chain if one not in opened), None)


def _holds(modules: Mapping[str, Json], name: str) -> bool:
    return any(one["in"] == name for one in modules.values())


def _with_leaves(
    data: Mapping[str, Any],
    modules: Mapping[str, Json],
    members: Mapping[str, list[str]],
) -> dict[str, Json]:
    """Groups with the leaves that nothing else reads; one of a node alone is none."""
    nodes = {node["id"]: node for node in data["graph"]["nodes"]}
    ends, readers = defaultdict(list), defaultdict(set)
    for edge in data["graph"]["edges"]:
        ends[edge["from"]].append(edge["to"])
        readers[edge["to"]].add(edge["from"])
    found: dict[str, Json] = {}
    for module, inside in members.items():
        read = dict.fromkeys([to for one in inside for to in ends[one]])
        own = [nodes[to] for to in read if nodes[to]["kind"] == "accumulate"]
        own = [leaf for leaf in own if readers[leaf["id"]] <= set(inside)]
        if own or len(inside) > 1:
            group = {"title": modules[module]["label"], "nodes": inside, "leaves": own}
            group["exit"] = inside[-1]
            found |= dict.fromkeys([*inside, *[leaf["id"] for leaf in own]], group)
    return found


class Told:
    """What the events say of nodes.

    ``names`` and ``values`` are of outputs, by node and number; ``gradients`` the first
    that came to a node, ``grads`` what a leaf's ``.grad`` is at last.
    """

    def __init__(self, data: Mapping[str, Any]) -> None:
        self.names: dict[str, dict[int, str]] = defaultdict(dict)
        self.values: dict[tuple[str, int], Json] = {}
        self.gradients: dict[str, Json] = {}
        self.grads: dict[str, Json] = {}
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
        for change in [event.get("ctx"), *event.get("others", ())]:
            for key, ref in (change["set"] if change else {}).items():
                if ref and key.startswith(("saved.", "attr.")) and _is_kept(ref):
                    self._kept[change["id"]].setdefault(key, ref)
        for name, node in (event.get("h") or {}).items():
            self._name(name, node, (event.get("loc") or {}).get(name))
        if kind == "ctx.new":
            self._users.add(event["cid"])
        elif kind == "graph.node":
            self._join(event)
        elif kind == "grad" and event.get("total"):
            self.gradients.setdefault(event["n"], event["total"])
        elif kind == "grad.accumulate":
            self.grads[event["n"]] = event["new"]
        for root in event.get("roots") or ():
            self.gradients.setdefault(root["n"], root["g"])

    def _join(self, event: Json) -> None:
        self._calls[event["n"]] = event
        for out in event.get("outs", ()):
            if out.get("v"):
                self.values[event["n"], out["nr"]] = out["v"]
            if out.get("name"):
                self.names[event["n"]][out["nr"]] = out["name"]
        for given in event.get("ins", ()):
            if given.get("leaf") and given.get("v"):
                self.values.setdefault((given["leaf"], 0), given["v"])

    def _name(self, name: str, node: str | None, ref: Json | None) -> None:
        """Of a recording that does not say what calls gave back."""
        names = self.names[node or ""]
        if name not in names.values() and "outs" not in self._calls.get(node or "", {}):
            slot = len(names)
            names[slot] = name
            if ref:
                self.values.setdefault((node or "", slot), ref)

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

    def plain_inputs(self, node: str) -> Iterable[tuple[int, Json]]:
        """The tensors that were given and have no node: data, by their places."""
        for slot, given in enumerate(self._calls.get(node, {}).get("ins", ())):
            if given.get("v") and not given.get("n") and not given.get("leaf"):
                yield slot, given

    def cells(self, ctx: str | None) -> list[tuple[str, str]]:
        """What a ctx ever keeps: the key of each entry and what is written of it."""
        kept = self._kept.get(ctx or "", {})
        shown = [k for k in kept if k.startswith("saved.") or ctx in self._users]
        if "attr.numbers" in kept and ctx not in self._users:
            shown.append("attr.numbers")
        ordered = sorted(shown, key=lambda key: (not key.startswith("saved."), key))
        return [(key, _short(self._cell(key, kept[key]))) for key in ordered]

    def _cell(self, key: str, ref: Json) -> str:
        if key == "attr.numbers" and ref["t"] == "L":
            numbers = [one for one in ref["i"] if one and _is_kept(one)]
            return ", ".join(value_text(self._data, one) for one in numbers)
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
