"""What a recording's own records say that a player has to show.

Written from the schema alone and sharing nothing with the player's code: the tests
compare the two.
"""

from __future__ import annotations

import base64
import gzip
import json
from html.parser import HTMLParser
from typing import Any

from minigrad.views.page import sentence_of_line

Trace = dict[str, Any]

MOST_NUMBERS = 30  # an array with more cells is shown as colours only


def trace_in(output: str) -> Trace:
    """The recording inside the HTML that a cell has put out."""
    page = _Finder("iframe", "srcdoc").in_(output)
    page = _Finder("iframe", "srcdoc").in_(page) or page  # of a report card
    script = _Finder("script", "type", id="trace").in_(page)
    kind, _, text = script.partition("\n")
    digits = text.translate(str.maketrans(",./", "&<>"))
    raw = gzip.decompress(base64.b85decode(digits)) if "gzip" in kind else text
    trace: Trace = json.loads(raw)
    for one in trace.get("traces", [trace]):  # two, of a comparison
        for event in one["events"]:
            if "say" not in event:
                event["say"] = sentence_of_line(event, one["sources"])
    return trace


class _Finder(HTMLParser):
    """Finds one element: the value of an attribute, and a script's text after it."""

    def __init__(self, tag: str, attribute: str, **having: str) -> None:
        super().__init__()
        self._wanted = (tag, attribute, having)
        self._inside = False
        self._found: list[str] = []

    def in_(self, text: str) -> str:
        self.feed(text)
        return "".join(self._found)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        wanted, attribute, having = self._wanted
        given = dict(attrs)
        if tag != wanted or any(given.get(k) != v for k, v in having.items()):
            return
        self._found.append(given[attribute] or "")
        if tag == "script":
            self._inside = True
            self._found.append("\n")

    def handle_data(self, data: str) -> None:
        if self._inside:
            self._found.append(data)

    def handle_endtag(self, tag: str) -> None:
        self._inside = False


def stops(trace: Trace, level: int = 2) -> list[int]:
    """The positions at which a player of this level stands."""
    events = enumerate(trace["events"], 1)
    return [0, *(i for i, event in events if event["lvl"] <= level)]


def told(trace: Trace, position: int) -> dict[str, Any]:
    """Sentence, graph and ctx after the first ``position`` events."""
    nodes: dict[str, str] = {}
    edges: dict[str, str] = {}
    ctxs: dict[str, dict[str, Any]] = {}
    at_work = None
    ctx_of_node = {node["id"]: node["ctx"] for node in trace["graph"]["nodes"]}
    end_of_edge = {edge["id"]: edge["to"] for edge in trace["graph"]["edges"]}
    for event in trace["events"][:position]:
        edges = {e: "sent" if now == "active" else now for e, now in edges.items()}
        for change in [*[event.get("ctx")], *event.get("others", [])]:
            entries = ctxs.setdefault(change["id"], {}) if change else {}
            entries |= change["set"] if change else {}
            for key in change.get("del", []) if change else []:
                del entries[key]
        if "ctx" in event:
            at_work = event["ctx"]["id"]
        elif event["k"] == "node.enter":
            at_work = ctx_of_node[event["n"]]
        at_work = event.get("cid", at_work)
        match event["k"]:
            case "graph.node":
                nodes.setdefault(event["n"], "seen")
                for edge in event["e"]:
                    edges.setdefault(edge, "seen")
                    nodes.setdefault(end_of_edge[edge], "seen")
            case "backward.begin":
                nodes = dict.fromkeys(nodes, "seen")
                edges = dict.fromkeys(edges, "seen")
            case "node.enter":
                nodes[event["n"]] = "active"
            case "node.exit":
                nodes[event["n"]] = "done"
            case "grad":
                edges[event["e"]] = "active"
            case "grad.none":
                edges[event["e"]] = "none"
    last = trace["events"][position - 1] if position else None
    entries = ctxs.get(at_work, {}) if at_work else {}
    return {
        "say": last["say"] if last else trace["meta"]["title"],
        "nodes": nodes,
        "edges": edges,
        "ctx": name_of(trace, at_work) if at_work else "",
        "entries": {key: words(trace, ref) for key, ref in entries.items()},
        "line": line_at(trace, last),
    }


def name_of(trace: Trace, ctx: str) -> str:
    """A ctx as the panel's head names it."""
    (name,) = [c["name"] for c in trace["ctxs"] if c["id"] == ctx]
    return str(name)


def line_at(trace: Trace, event: dict[str, Any] | None) -> str | None:
    """The text of the line that runs next, where the event is one of a line."""
    if event is None or event["k"] != "line":
        return None
    tokens = trace["sources"][event["s"]]["tokens"][event["l"]]
    return "".join(text for _, text in tokens)


def words(trace: Trace, ref: dict[str, Any] | None) -> str:
    """What is to be read in the panel for a value."""
    if ref is None:
        return "None"
    if ref["t"] == "P":
        return str(ref["r"])
    if ref["t"] == "L":
        items = [words(trace, item) for item in ref["i"]]
        if any(item and item["t"] != "P" for item in ref["i"]):
            return " ".join(items)
        return f"({items[0]},)" if len(items) == 1 else f"({', '.join(items)})"
    value = trace["values"][ref["v"]]
    said = [ref["name"]] if ref.get("name") else []
    said.append(f"{value['dtype']} {shape_words(value['shape'])}")
    if ref["t"] == "S":
        stale = ref["now"] != ref["ver"]
        said.append(
            f"⚠ saved at version {ref['ver']}, now version {ref['now']}"
            if stale
            else ""
        )
        said.append("" if stale else f"saved at version {ref['ver']}")
        said.append("" if ref["out"] is None else f"output {ref['out']}")
    if ref["t"] == "T":
        said.append(f"v{ref['ver']}" if ref["ver"] else "")
        said.append("requires grad" if ref["rg"] else "")
    numbers = [x for row in value["rows"] for x in row]
    if len(numbers) <= MOST_NUMBERS:
        said += [number(x) for x in numbers]
    return " ".join(filter(None, said))


def shape_words(shape: list[int]) -> str:
    by = "\N{MULTIPLICATION SIGN}"
    return f"[{by.join(map(str, shape))}]" if shape else "scalar"


def number(x: float | None) -> str:
    """A number as JavaScript writes it, to four digits."""
    if x is None:
        return "nan"
    return str(int(x)) if x == int(x) else f"{x:.4g}"


def differences(shown: dict[str, Any], expected: dict[str, Any]) -> list[str]:
    """Where a screen differs from what was told, in words; empty if nowhere."""
    return [
        f"{key}: shown {shown.get(key)!r}, told {expected[key]!r}"
        for key in expected
        if expected[key] is not None and shown.get(key) != expected[key]
    ]
