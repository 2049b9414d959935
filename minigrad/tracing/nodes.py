"""Nodes by name, and by number: what is told of them, whichever engine made them."""

from __future__ import annotations

import weakref
from collections.abc import Callable, Container, Iterator
from typing import Any, Final, NamedTuple, TypeVar

from minigrad.engine.builtin import Builtin, BuiltinBackward
from minigrad.engine.core.node import NOT_A_TENSOR, AccumulateGrad, split_edge
from minigrad.tracing.foreign import ForeignNode
from minigrad.tracing.messages import message

T = TypeVar("T")
End = tuple[Any, ...] | None
"""What is noted of where an argument's gradient will go: the label of the node, its
tensor's name, which output, the node's id, whether it is a leaf's. The label of a
tensor that needs no gradient is None, and what is no tensor has nothing."""
UNNEEDED: Final[End] = (None, None, 0, None, False)
NOTHING: Final[dict[str, Any]] = {}
"""The attributes of most nodes."""
NO_EDGES: Final[dict[int, int]] = {}


class Kind(NamedTuple):
    """What nodes of one class have in common; ``shown`` is the rule of a user's."""

    is_leaf: bool
    is_users: bool
    is_builtin: bool
    label: str
    name: str
    function: str
    shown: dict[str, str]


class Card(weakref.ref[Any]):
    """A reference to a node, what is known of it, and how far its ctx has been shown.

    ``node`` is its id in the graph, ``ctx`` that of its ctx; None until it has one.
    ``given`` are the arguments of a call that has not joined the graph yet, ``edges``
    where its gradients will go, until its ctx is shown.
    """

    __slots__ = (
        *("ctx", "edges", "fixed", "given", "is_leaf", "is_users", "kept"),
        *("key", "kind", "label", "led", "marks", "node", "seen_at", "state"),
    )

    key: int
    kind: Kind
    is_leaf: bool
    is_users: bool
    label: str
    node: str | None
    ctx: str | None
    given: Any
    edges: list[End] | None
    led: dict[int, int]
    """The numbers of the edges that lead from it, by its arguments."""
    seen_at: int
    marks: dict[str, Any] | None
    fixed: dict[str, Any] | None
    """Of a built-in node that is as it was made: its attributes, all of them plain."""
    kept: tuple[int, ...]
    """The ids of what it has saved and not released."""
    state: Any
    """Differs when something else is on a learner's ctx; None if that isn't sure."""


class Cards(dict[int, Card]):
    """One card for each node that was met, by the node's id, as long as it lives.

    Of those whose ids are in ``held``, ``drop`` is told then.
    """

    def __init__(self, held: Container[Any], drop: Callable[[Any], None]) -> None:
        super().__init__()
        self._kinds: dict[type, Kind] = {}

        def forget(card: Card) -> None:
            del self[card.key]
            if card.node in held:
                drop(card.node)

        self._forget = forget

    def of(self, node: Any) -> Card:
        """The card of ``node``, which gets one if it has none."""
        return self.get(id(node)) or self.new(node)

    def new(self, node: Any) -> Card:
        """The card of a node that has none."""
        key, kind = id(node), self._kinds.get(type(node))
        if kind is None:
            kind = kind_of(node)
            if not isinstance(node, ForeignNode):
                self._kinds[type(node)] = kind
        card = self[key] = Card(node, self._forget)
        card.key, card.kind, card.label = key, kind, kind.label
        card.is_leaf, card.is_users = kind.is_leaf, kind.is_users
        card.node = card.ctx = card.given = card.edges = card.fixed = None
        card.marks = card.state = None
        card.seen_at, card.led, card.kept = -1, NO_EDGES, ()
        return card


def kind_of(node: Any) -> Kind:
    """What is told of nodes like this one."""
    function = getattr(node, "_forward_cls", None)
    if isinstance(node, ForeignNode):
        leaf, users = node.is_leaf, node.is_users
    else:
        leaf = isinstance(node, AccumulateGrad)
        users = function is not None and not issubclass(function, Builtin)
    return Kind(
        leaf,
        users,
        isinstance(node, BuiltinBackward),
        # torch's names have a namespace of C++.
        "AccumulateGrad" if leaf else str(node.name()).split("::")[-1],
        node.name(),
        str(node.operation_name() if function is None else function.__name__),
        {"rule": rule_of(node) if users else ""},
    )


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


def edges_text(*ends: End) -> str:
    """Where the gradients will go, by name."""
    names = []
    for label, tensor, slot, *_ in filter(None, ends):
        name = message("edge.none") if label is None else called(label, tensor)
        names.append(message("edge.output", node=name, slot=slot) if slot else name)
    return message("list.between").join(names)


def called(label: str, tensor: str | None) -> str:
    """A node in a sentence: a leaf's node by the name of its tensor."""
    if tensor is None:
        return label
    return message("node.of", node=label, tensor=tensor)
