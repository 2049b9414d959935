"""The graph of a trace as DOT text, and DOT text as SVG."""

from __future__ import annotations

import html
import os
import pathlib
import shutil
import subprocess
import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any

from minigrad.tracing.messages import message

MAX_USES = 6  # a leaf used more often stalls every Graphviz: one alias per use instead
TIME_OUT = 20.0
MOST_DOT = 300_000  # characters, about 2,500 nodes; more would take many seconds

MOST_DRAWINGS = 20  # a slider goes back and forth between the same graphs

_GRAPH = {"rankdir": "TB", "bgcolor": "white", "nodesep": "0.3", "ranksep": "0.55"}
_NODE = {
    "shape": "box",
    "style": "rounded",
    "height": "0.34",
    "margin": "0.12,0.06",
    "fontname": "Courier",
    "fontsize": "11",
}
_EDGE = {"fontname": "Courier", "fontsize": "9", "arrowsize": "0.7"}


def dot_of(data: Mapping[str, Any]) -> str:
    """The DOT text of a trace's graph: newest nodes at the top, leaves at the bottom.

    A leaf that many read stands once at each.
    """
    import graphviz

    nodes, edges = data["graph"]["nodes"], data["graph"]["edges"]
    drawing = graphviz.Digraph(
        "autograd", graph_attr=_GRAPH, node_attr=_NODE, edge_attr=_EDGE
    )
    uses = Counter(edge["to"] for edge in edges)
    by_id = {node["id"]: node for node in nodes}
    leaves = {name for name in by_id if by_id[name]["kind"] == "accumulate"}
    aliased = {name for name in leaves if uses[name] > MAX_USES}
    several = {name for name in by_id if by_id[name].get("outputs", 1) > 1}
    for name, node in by_id.items():
        if name not in aliased:
            shape = {"shape": "plain"} if name in several else {}
            drawing.node(name, _label(node), **shape)
    for upper, lower in _above(nodes, edges):
        drawing.edge(upper, lower, style="invis")
    for edge in edges:
        head = edge["to"]
        if head in aliased:
            head = f"{edge['to']}__{edge['id']}"
            drawing.node(head, _label(by_id[edge["to"]]), style="rounded,dashed")
        elif head in several:
            head = f"{head}:o{edge.get('to_slot', 0)}:n"
        # What leads on to functions is drawn straight, and leaves stand beside it.
        weight = {} if edge["to"] in leaves else {"weight": "2"}
        drawing.edge(edge["from"], head, **weight)
    return str(drawing.source)


def svg_of(dot: str) -> tuple[str, str] | None:
    """The SVG of a DOT text and the renderer that drew it; None if none could.

    Renderers are tried in order: ``$MINIGRAD_DOT``, ``graphviz-pure``, ``dot``. One
    that fails or takes longer than ``TIME_OUT`` seconds is passed over. A graph that is
    too large is not tried.
    """
    if len(dot) > MOST_DOT:
        return None
    for program in renderers():
        svg = run(program, dot, "svg")
        _, start, rest = (svg or "").partition("<svg")
        if start:
            return start + rest, program.stem
    return None


def renderers() -> list[pathlib.Path]:
    """The Graphviz programs at hand, the preferred one first.

    On PATH, or beside the running Python: in a venv that is not activated.
    """
    path = os.environ.get("PATH", os.defpath)
    places = os.pathsep.join([path, str(pathlib.Path(sys.executable).parent)])
    names = os.environ.get("MINIGRAD_DOT"), "graphviz-pure", "dot"
    found = [shutil.which(name, path=places) for name in names if name]
    return [pathlib.Path(program) for program in found if program]


@lru_cache(MOST_DRAWINGS)
def run(program: pathlib.Path, dot: str, form: str) -> str | None:
    """What Graphviz makes of a DOT text; None if it fails or takes too long."""
    command = [str(program), "-Kdot", f"-T{form}"]
    try:
        done = subprocess.run(
            command,
            input=dot.encode(),
            capture_output=True,
            timeout=TIME_OUT,
            check=True,
        )
    except (OSError, subprocess.SubprocessError):
        return None
    return done.stdout.decode(errors="replace")


def _label(node: Mapping[str, Any]) -> str:
    """The name of a node, below it its tensor, above it its outputs if several."""
    import graphviz

    lines = [node["label"], *([node["tensor"]] if node.get("tensor") else [])]
    if node.get("again"):
        lines.append(message("drawn.again"))
    if node.get("order", 1) > 1:
        lines.append(message("drawn.order", order=node["order"]))
    lines = ["".join([c if c.isprintable() else " " for c in one]) for one in lines]
    lines = [line if len(line) <= 40 else f"{line[:37]}..." for line in lines]
    outputs = node.get("outputs", 1)
    if outputs <= 1:
        plain: str = graphviz.nohtml("\\n".join(map(graphviz.escape, lines)))
        return plain
    cells = "".join(
        f'<TD PORT="o{slot}">{html.escape(message("drawn.slot", slot=slot))}</TD>'
        for slot in range(outputs)
    )
    rows = "".join(
        f'<TR><TD COLSPAN="{outputs}">{html.escape(line)}</TD></TR>' for line in lines
    )
    return (
        '<<TABLE BORDER="1" STYLE="ROUNDED" CELLBORDER="0" CELLSPACING="0" '
        f'CELLPADDING="4"><TR>{cells}</TR><HR/>{rows}</TABLE>>'
    )


def _above(
    nodes: Sequence[Mapping[str, Any]], edges: Sequence[Mapping[str, Any]]
) -> list[tuple[str, str]]:
    """Pairs that keep a graph made by a backward above the graph it went through.

    Only an older node comes below, as with edges: so no ring can arise.
    """
    order = {node["id"]: node.get("order", 1) for node in nodes}
    functions = {node["id"] for node in nodes if node["kind"] == "function"}
    ends = [(edge["from"], edge["to"]) for edge in edges]
    tops = functions - {to for of, to in ends if order[of] == order[to]}
    lowest = {*order} - {of for of, to in ends if order[to] > 1}
    pairs: list[tuple[str, str]] = []
    older: list[str] = []
    for name in order:
        if order[name] > 1 and name in lowest:
            below = [one for one in older if order[one] < order[name]]
            pairs += [(name, lower) for lower in below[-1:]]
        if name in tops:
            older.append(name)
    return pairs
