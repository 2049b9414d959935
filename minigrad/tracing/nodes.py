"""Nodes by name, and by number: what is told of them, whichever engine made them."""

from __future__ import annotations

import weakref
from collections.abc import Callable, Iterator
from typing import Any, TypeVar

from minigrad.engine.builtin import Builtin
from minigrad.engine.core.node import NOT_A_TENSOR, AccumulateGrad, split_edge
from minigrad.tracing.foreign import ForeignNode
from minigrad.tracing.messages import message

T = TypeVar("T")
Named = tuple[str, str | None]
"""The label of a node, and for a leaf's node what its tensor is called."""


class Card:
    """What is known of one node, and how far its ctx has been shown.

    ``node`` is its id in the graph, ``ctx`` that of its ctx; None until it has one.
    ``rule`` is the gradient rule of a user's; ``given`` are the arguments of a call
    that has not joined the graph yet.
    """

    __slots__ = (
        *("ctx", "given", "is_leaf", "is_users", "label", "marks", "node"),
        *("reference", "rule", "seen_at"),
    )

    def __init__(self, node: Any) -> None:
        self.reference = weakref.ref(node)
        self.is_leaf = is_leaf(node)
        self.is_users = is_users(node)
        self.rule = rule_of(node) if self.is_users else ""
        self.label = label_of(node)
        self.node: str | None = None
        self.ctx: str | None = None
        self.given: Any = None
        self.seen_at = -1
        self.marks: dict[str, Any] = {}


class Cards:
    """One card for each node that was met; none keeps its node alive."""

    def __init__(self) -> None:
        self._cards: dict[int, Card] = {}

    def known(self, node: Any) -> Card | None:
        """The card of ``node``, if it has one."""
        known = self._cards.get(id(node))
        return known if known is not None and known.reference() is node else None

    def ctx_with(self, name: str) -> Any:
        """The ctx whose id ``name`` is; None if it is gone."""
        found = [one.reference() for one in self._cards.values() if one.ctx == name]
        return found[0] if found else None

    def of(self, node: Any) -> Card:
        """The card of ``node``, which gets one if it has none."""
        known = self._cards.get(id(node))
        if known is None or known.reference() is not node:
            known = self._cards[id(node)] = Card(node)
        return known


def is_leaf(node: Any) -> bool:
    """Whether the graph ends at ``node``."""
    if isinstance(node, ForeignNode):
        return node.is_leaf
    return isinstance(node, AccumulateGrad)


def is_users(node: Any) -> bool:
    """Whether the node's rule was written by a user, so that its call is a step."""
    if isinstance(node, ForeignNode):
        return node.is_users
    function = getattr(node, "_forward_cls", None)
    return function is not None and not issubclass(function, Builtin)


def rule_of(node: Any) -> str:
    """The rule of a user's node as it is written: ``Cube.backward``, ``Cube.vjp``."""
    function = node._forward_cls
    for base in function.__mro__:
        if "backward" in vars(base):
            break
        if "vjp" in vars(base):
            return f"{function.__name__}.vjp"
    return f"{function.__name__}.backward"


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


def receivers_of(node: Any) -> Iterator[tuple[int, Any, int]]:
    """For each edge that leads on: its slot, the receiver, and which output of it."""
    for slot, edge in enumerate(node._edges):
        if edge is not None and edge is not NOT_A_TENSOR:
            yield slot, *split_edge(edge)


def inputs_first(roots: list[T], below: Callable[[T], list[T]]) -> list[T]:
    """The nodes at and below ``roots``, each once, after those it leads to."""
    done: dict[T, None] = {}
    unseen = list(roots)
    while unseen:
        node = unseen[-1]
        missing = [one for one in below(node) if one not in done]
        if node in done or not missing:
            done.setdefault(node)
            unseen.pop()
        else:
            unseen += missing
    return list(done)


def edges_seen(ctx: Any, named: Callable[[Any], Named]) -> tuple[Any, ...]:
    """What is noted of where gradients will go: one for each tensor argument."""
    seen: list[Any] = []
    for edge in ctx._edges:
        if edge is not NOT_A_TENSOR:
            node, slot = split_edge(edge)
            seen.append((None if node is None else named(node), slot))
    return tuple(seen)


def edges_text(*seen: tuple[Named | None, int]) -> str:
    """Where the gradients will go, by name."""
    names = []
    for named, slot in seen:
        label = message("edge.none") if named is None else called(*named)
        names.append(message("edge.output", node=label, slot=slot) if slot else label)
    return message("list.between").join(names)


def called(label: str, tensor: str | None) -> str:
    """A node in a sentence: a leaf's node by the name of its tensor."""
    if tensor is None:
        return label
    return message("node.of", node=label, tensor=tensor)
