"""No module of the engine is built on itself, by whatever way round."""

import ast
from collections.abc import Iterator
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

import minigrad

PACKAGE = Path(minigrad.__file__).parent
PREFIX = "minigrad.engine"

Graph = dict[str, set[str]]


def modules() -> dict[str, str]:
    """The sources of the engine's modules by name."""
    found = {}
    for path in sorted((PACKAGE / "engine").rglob("*.py")):
        name = ".".join(path.relative_to(PACKAGE.parent).with_suffix("").parts)
        found[name.removesuffix(".__init__")] = path.read_text(encoding="utf-8")
    return found


def is_for_types(node: ast.AST) -> bool:
    return isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test)


def imports_in(tree: ast.AST, inside: bool = False) -> Iterator[tuple[str, bool]]:
    """Each name that is imported when the code runs; whether inside a function."""
    for node in ast.iter_child_nodes(tree):
        if is_for_types(node):
            continue
        if isinstance(node, ast.ImportFrom) and node.module:
            for alias in node.names:
                yield f"{node.module}.{alias.name}", inside
        elif isinstance(node, ast.Import):
            for alias in node.names:
                yield alias.name, inside
        yield from imports_in(node, inside or isinstance(node, ast.FunctionDef))


def module_of(name: str, known: set[str]) -> str:
    """The module that an imported name is in, or is."""
    while name and name not in known:
        name = name.rpartition(".")[0]
    return name


def graph_of(sources: dict[str, str]) -> Graph:
    """For each module those that it imports, anywhere."""
    known = set(sources)
    graph: Graph = {}
    for name, source in sources.items():
        found = {module_of(one, known) for one, _ in imports_in(ast.parse(source))}
        graph[name] = found - {"", name, PREFIX}
    return graph


def test_engine_has_no_circle() -> None:
    graph = graph_of(modules())
    order = list(TopologicalSorter(graph).static_order())
    assert len(order) == len(graph) > 30


def test_circle_is_found() -> None:
    a, b = f"{PREFIX}.a", f"{PREFIX}.b"
    sources = {a: f"from {b} import f", b: f"def g():\n    from {a} import h"}
    with pytest.raises(CycleError):
        list(TopologicalSorter(graph_of(sources)).static_order())
    for_types = f"from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    import {a}"
    assert graph_of({a: "", b: for_types}) == {a: set(), b: set()}


def test_import_inside_a_function_hides_no_module_of_the_engine() -> None:
    hidden = {
        (name, module_of(one, set(modules())))
        for name, source in modules().items()
        for one, inside in imports_in(ast.parse(source))
        if inside and one.startswith(PREFIX)
    }
    assert hidden == set()
