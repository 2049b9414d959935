"""No module of the package is built on itself, by whatever way round."""

import ast
from collections import Counter
from collections.abc import Iterator
from functools import cache
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

import minigrad

PACKAGE = Path(minigrad.__file__).parent
PREFIX = "minigrad"

Graph = dict[str, set[str]]

LATE = {
    "autograd": 8,  # what few programs ask for
    "bench": 1,  # drawing
    "course": 5,  # what only an author or a doctor needs
    "nn": 1,  # hooks of modules
    "tracing": 2,  # what is asked of a recording afterwards
    "views": 5,  # magics
}
"""How many names a package imports inside functions, so that importing is quick."""


@cache
def modules() -> dict[str, str]:
    """The sources of the package's modules by name."""
    found = {}
    for path in sorted(PACKAGE.rglob("*.py")):
        name = ".".join(path.relative_to(PACKAGE.parent).with_suffix("").parts)
        found[name.removesuffix(".__init__")] = path.read_text(encoding="utf-8")
    return found


def is_for_types(node: ast.AST) -> bool:
    return isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test)


def imports_in(tree: ast.AST, inside: bool = False) -> Iterator[tuple[str, bool]]:
    """Each name that is imported when the code runs; whether inside a function."""
    functions = (ast.FunctionDef, ast.AsyncFunctionDef)
    for node in ast.iter_child_nodes(tree):
        if is_for_types(node):
            continue
        if isinstance(node, ast.ImportFrom) and node.module:
            for alias in node.names:
                yield f"{node.module}.{alias.name}", inside
        elif isinstance(node, ast.Import):
            for alias in node.names:
                yield alias.name, inside
        yield from imports_in(node, inside or isinstance(node, functions))


@cache
def imports_of(source: str) -> tuple[tuple[str, bool], ...]:
    return tuple(imports_in(ast.parse(source)))


def module_of(name: str, known: set[str]) -> str:
    """The module that an imported name is in, or is."""
    while name and name not in known:
        name = name.rpartition(".")[0]
    return name


def graph_of(sources: dict[str, str]) -> Graph:
    """For each module those that it imports, anywhere.

    The front door is left out: it loads what it names on first use.
    """
    known = set(sources)
    graph: Graph = {}
    for name, source in sources.items():
        found = {module_of(one, known) for one, _ in imports_of(source)}
        graph[name] = found - {"", name, PREFIX}
    graph.pop(PREFIX, None)
    return graph


def late_imports(sources: dict[str, str]) -> Counter[str]:
    """For each package inside minigrad how often its functions import from minigrad."""
    return Counter(
        name.split(".")[1]
        for name, source in sources.items()
        for one, inside in imports_of(source)
        if inside and one.startswith(f"{PREFIX}.") and "." in name
    )


def test_package_has_no_circle() -> None:
    graph = graph_of(modules())
    order = list(TopologicalSorter(graph).static_order())
    assert len(order) == len(graph) > 300


def test_circle_is_found() -> None:
    a, b = f"{PREFIX}.a", f"{PREFIX}.b"
    sources = {a: f"from {b} import f", b: f"def g():\n    from {a} import h"}
    with pytest.raises(CycleError):
        list(TopologicalSorter(graph_of(sources)).static_order())
    for_types = f"from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    import {a}"
    assert graph_of({a: "", b: for_types}) == {a: set(), b: set()}


def test_few_imports_are_inside_functions_and_none_in_the_engine() -> None:
    found = late_imports(modules())
    more = {name: n for name, n in found.items() if n > LATE.get(name, 0)}
    assert more == {}


def test_import_inside_a_function_is_counted() -> None:
    source = f"from {PREFIX}.a import x\ndef g():\n    from {PREFIX}.a import h"
    assert late_imports({f"{PREFIX}.ops.b": source}) == {"ops": 1}
