"""Nodes by name, and by number: what is told of them, whichever engine made them."""

from __future__ import annotations

import weakref
from collections.abc import Callable
from typing import Any

from minigrad.engine.node import NOT_A_TENSOR, AccumulateGrad, split_edge
from minigrad.tracing.foreign import ForeignNode


class Identities:
    """Numbers objects in the order they are met, without keeping them alive."""

    def __init__(self, prefix: str) -> None:
        self._prefix = prefix
        self._known: dict[int, tuple[weakref.ref[Any], str]] = {}
        self._count = 0

    def get(self, item: Any) -> str | None:
        """The id of ``item``, if it has one."""
        entry = self._known.get(id(item))
        return entry[1] if entry is not None and entry[0]() is item else None

    def item(self, name: str) -> Any:
        """Whose id ``name`` is; None if it is gone."""
        found = [one() for one, known in self._known.values() if known == name]
        return found[0] if found else None

    def add(self, item: Any) -> str:
        """A new id for ``item``."""
        name = f"{self._prefix}{self._count}"
        self._count += 1
        self._known[id(item)] = (weakref.ref(item), name)
        return name


def is_leaf(node: Any) -> bool:
    """Whether the graph ends at ``node``."""
    if isinstance(node, ForeignNode):
        return node.is_leaf
    return isinstance(node, AccumulateGrad)


def attributes_of(ctx: Any) -> dict[str, Any]:
    """What forward put on ``ctx`` by name."""
    if isinstance(ctx, ForeignNode):
        return ctx.attributes()
    return getattr(ctx, "__dict__", {})


def function_of(ctx: Any) -> str:
    """The name of what was run forward."""
    function = getattr(ctx, "_forward_cls", None)
    return str(ctx.operation_name() if function is None else function.__name__)


def label_of(node: Any) -> str:
    """The name of a node without torch's C++ namespace."""
    return "AccumulateGrad" if is_leaf(node) else str(node.name()).split("::")[-1]


def edges_text(ctx: Any, called: Callable[[Any], str]) -> str:
    """Where the gradients will go, by name, one for each tensor argument."""
    names = []
    for edge in ctx._edges:
        if edge is NOT_A_TENSOR:
            continue
        node, slot = split_edge(edge)
        label = "none" if node is None else called(node)
        names.append(f"{label} output {slot}" if slot else label)
    return ", ".join(names)
