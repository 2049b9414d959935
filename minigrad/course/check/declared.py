"""What can be read off an answer without running it: its decorators and its source."""

from __future__ import annotations

import ast
import inspect
import linecache
import textwrap
import types
from collections.abc import Iterator
from typing import Any

from minigrad.autograd import Function
from minigrad.course.check.facts import Declared

METHODS = ("forward", "setup_context", "backward", "vjp", "jvp", "vmap")


def declare(answer: type[Function]) -> Declared:
    """Read the class: decorators, style, and names saved against names unpacked."""
    own = methods_of(answer)
    saved, unpacked = _names_in_source(answer)
    return Declared(
        name=answer.__name__,
        not_static=tuple(
            m for m in METHODS if m in own and not isinstance(own[m], staticmethod)
        ),
        own_setup_context="setup_context" in own,
        saved_names=saved,
        unpacked_names=unpacked,
        forward_parameters=_parameters(answer.forward),
        setup_parameters=_parameters(answer.setup_context),
        once_differentiable=tuple(
            m
            for m in METHODS
            if getattr(unbound(own.get(m)), "is_once_differentiable", False)
        ),
    )


def methods_of(answer: type) -> dict[str, Any]:
    """What its author wrote, on the class or on one that it inherits from."""
    found: dict[str, Any] = {}
    for owner in answer.__mro__:
        if owner.__module__.partition(".")[0] in ("minigrad", "torch"):
            break
        found = dict(vars(owner)) | found
    return found


def unbound(method: Any) -> Any:
    """The function in a static method; anything else as it is."""
    return getattr(method, "__func__", method)


def _parameters(method: object) -> tuple[str, ...]:
    """The names in its signature; none where they are unknown."""
    code = getattr(inspect.unwrap(method), "__code__", None)  # type: ignore[arg-type]
    return code.co_varnames[: code.co_argcount] if code else ()


def _names_in_source(answer: type) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Names given to save_for_backward and names that saved_tensors is unpacked to."""
    saved: list[str] = []
    unpacked: list[str] = []
    for node in _syntax(answer):
        if isinstance(node, ast.Call) and _attribute(node.func) == "save_for_backward":
            saved = [a.id if isinstance(a, ast.Name) else "" for a in node.args]
        if isinstance(node, ast.Assign) and _attribute(node.value) == "saved_tensors":
            target = node.targets[0]
            if isinstance(target, ast.Tuple):
                unpacked = [
                    e.id if isinstance(e, ast.Name) else "" for e in target.elts
                ]
    return tuple(saved), tuple(unpacked)


def _syntax(answer: type) -> Iterator[ast.AST]:
    """Every node of the source of the class's own methods; none where it is unknown."""
    for value in methods_of(answer).values():
        code = getattr(inspect.unwrap(unbound(value)), "__code__", None)
        if code is None:
            continue
        tree = _tree(code)
        if tree is not None:
            yield from ast.walk(tree)


def _tree(code: types.CodeType) -> ast.Module | None:
    """The source of a function as a syntax tree; None where it is unknown."""
    lines = linecache.getlines(code.co_filename)[code.co_firstlineno - 1 :]
    ends = [place[1] for place in code.co_positions() if place[1] is not None]
    try:
        # Quicker than to look for the end, which stands behind the last instruction.
        count = max(ends) - code.co_firstlineno + 1
        return ast.parse(textwrap.dedent("".join(lines[:count])))
    except (SyntaxError, ValueError):
        pass
    try:
        return ast.parse(textwrap.dedent("".join(inspect.getblock(lines))))
    except (SyntaxError, IndexError):
        return None


def _attribute(node: ast.expr) -> str:
    return node.attr if isinstance(node, ast.Attribute) else ""
