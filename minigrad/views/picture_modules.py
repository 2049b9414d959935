"""Which modules a picture shows as one card each."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from typing import Any, Final

Json = dict[str, Any]

MOST_CARDS: Final = 10
"""That come of modules which are opened by themselves."""


def groups_of(data: Mapping[str, Any]) -> dict[str, Json]:
    """The modules that are shown as one card each, by each of their nodes and leaves.

    The outermost that has others inside is opened as long as few cards come of it. A
    leaf belongs to it if nothing else reads it; a node alone is no module.
    """
    graph = data["graph"]
    modules = {one["id"]: one for one in graph.get("modules", ())}
    functions = [node for node in graph["nodes"] if node["kind"] != "accumulate"]
    within = {node["id"]: _chain(modules, node.get("module")) for node in functions}
    holding = {one["in"] for one in modules.values()}
    opened: set[str] = set()
    while True:
        tops = {name: _first(chain, opened) for name, chain in within.items()}
        shown = Counter(top or name for name, top in tops.items())
        best = next(iter([one for one in shown if one in holding]), "")
        inside = [name for name, top in tops.items() if top == best]
        inner = {_first(within[one], {*opened, best}) or one for one in inside}
        if not best or len(shown) - 1 + len(inner) > MOST_CARDS:
            break
        opened.add(best)
    members = defaultdict(list)
    for name, top in tops.items():
        if top:
            members[top].append(name)
    nodes = {node["id"]: node for node in graph["nodes"]}
    ends, readers = defaultdict(list), defaultdict(set)
    for edge in graph["edges"]:
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


def _chain(modules: Mapping[str, Json], innermost: str | None) -> list[str]:
    """The calls of modules around a node, the outermost first."""
    chain: list[str] = []
    while innermost is not None:
        chain.insert(0, innermost)
        innermost = modules[innermost]["in"]
    return chain


def _first(chain: Iterable[str], opened: set[str]) -> str | None:
    return next((one for one in chain if one not in opened), None)
