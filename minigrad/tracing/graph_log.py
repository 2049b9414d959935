"""The graph of a recording: its nodes and edges, each when it is first met."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, Final

from minigrad.engine.grad_mode import running_task
from minigrad.tracing import asides, sentences
from minigrad.tracing.codes import PHASES
from minigrad.tracing.foreign import is_tensor, maker_of, version_of
from minigrad.tracing.log import ENGINE, STORY, Event, EventLog
from minigrad.tracing.messages import in_turn
from minigrad.tracing.nodes import Card, Named, called, inputs_first, receivers_of

MOST_OLD_NODES: Final = 2_000


class GraphLog:
    """Tells of nodes that join the graph, and of those that were there before.

    ``reruns`` counts the checkpointed parts that run once more at the moment,
    ``recorded_tasks`` are the backwards that are themselves recorded, and ``modules``
    the layers that run, each with the nodes that have joined meanwhile. ``groups`` are
    all calls of modules, ``open_groups`` those that run, one in another.
    """

    def __init__(self, log: EventLog) -> None:
        self.nodes: list[dict[str, Any]] = []
        self.edges: list[dict[str, Any]] = []
        self.reruns = 0
        self.recorded_tasks: list[int] = []
        self.other_engine_runs = False
        self.modules: list[tuple[Any, list[str], int]] = []
        self.groups: list[dict[str, Any]] = []
        self.open_groups: list[str] = []
        self.entry_of: Callable[[Any], Any] = lambda node: node
        self._log = log
        self._cards = log.cards
        self._count = 0
        self._edge_ids: dict[tuple[str, int], str] = {}
        self._labels: dict[str, str] = {}
        log.node_of, log.id_of = self._node_of, self.id_of

    def id_of(self, node: Any) -> str:
        """The id of a node, which gets one if it has none."""
        card = self._cards.of(node)
        return card.node or self.number(card)

    def known(self, node: Any) -> str | None:
        """The id of a node that was met before."""
        card = self._cards.known(node)
        return None if card is None else card.node

    def edge_of(self, node: str, slot: int) -> str | None:
        """The id of an edge; None if the graph was too large to be shown whole."""
        return self._edge_ids.get((node, slot))

    def add(
        self, node: Any, outputs: tuple[Any, ...], card: Card | None = None
    ) -> None:
        """A node has joined the graph; its receivers are shown first."""
        log, card = self._log, card or self._cards.of(node)
        led_to, ends = [], []
        for slot, receiver, receiver_slot in receivers_of(node):
            receivers_card = self._cards.of(receiver)
            if receivers_card.node is None:
                self.show_older(receiver)
            named: Named = receivers_card.label, None
            if receivers_card.is_leaf:
                named = log.named_by(receivers_card, receiver)
            led_to.append((named, id(receiver)))
            ends.append((slot, receivers_card, receiver_slot))
        name = card.node or self.number(card)
        # A learner's node takes what it saved when it has been wired.
        kept = 0
        if not card.is_users:
            kept = log.memory.look_at_node(node, name, card.label)
        moved = self._moved_handles(outputs)
        order = self._order()
        say = (joining, card, led_to, kept, order, moved)
        level = STORY
        if self.modules and not card.is_users:
            module, inside, size = self.modules[-1]
            inside.append(card.label)
            self.modules[-1] = (module, inside, size + kept)
            level = ENGINE
        phase = PHASES["link outputs"]
        event = {"k": "graph.node", "lvl": level, "say": say, "ph": phase}
        given, card.given = card.given, None
        event |= log.calls.fields(given, ends, name, outputs)
        if card.is_users:
            self._tell(node, card, event, ends, order, moved)
            return
        log.ctxs.open(node, card)
        self._tell(node, card, event, ends, order, moved)
        log.ctxs.close(node)

    def enter_module(self, module: Any) -> None:
        """The nodes that join from now on belong to this call of a module."""
        name = f"m{len(self.groups)}"
        group = {"id": name, "kind": type(module).__name__, "name": None, "in": None}
        group["name"] = self._log.names.of_module(module)
        if self.open_groups:
            group["in"] = self.open_groups[-1]
        self.groups.append(group)
        self.open_groups.append(name)

    def look_at_saved(self, node: Any) -> int:
        """The bytes that a node of the graph keeps now."""
        card, memory = self._cards.of(node), self._log.memory
        if card.node is None:
            return 0
        memory.look_at_node(node, card.node, card.label)
        return memory.bytes_of(card.node)

    def show_older(self, node: Any) -> None:
        """Show a node, and all below it, that this recording has not met yet."""
        if self.known(node) is not None:
            return
        log, unseen = self._log, [node]
        found: list[Any] = []
        while unseen and len(found) < MOST_OLD_NODES:
            current = unseen.pop()
            if self.known(current) is not None:
                continue
            self.id_of(current)
            found.append(current)
            unseen += [receiver for _, receiver, _ in receivers_of(current)]
        new = set(found)
        for current in inputs_first(
            [node], lambda one: [r for _, r, _ in receivers_of(one) if r in new]
        ):
            card, name = self._cards.of(current), self.id_of(current)
            if card.is_leaf:
                say = sentences.leaf_node(log.names.of(current.variable))
            else:
                kept = log.memory.look_at_node(current, name, card.label)
                say = sentences.older_node(card.label, kept)
            event = {"k": "graph.node", "lvl": ENGINE, "say": say}
            ends = [(i, self._cards.of(one), j) for i, one, j in receivers_of(current)]
            if not card.is_leaf:
                event |= log.calls.fields(None, ends, name, ())
            self._tell(current, card, event, ends, self._order())

    def _tell(
        self,
        node: Any,
        card: Card,
        event: Event,
        ends: Iterable[tuple[int, Card, int]],
        order: int,
        moved: Iterable[str] = (),
    ) -> None:
        """Add a node and its edges to the graph, and then tell of them in ``event``."""
        log = self._log
        name = card.node or self.number(card)
        leaf = card.is_leaf
        self._labels[name] = card.label
        self.nodes.append(
            {
                "id": name,
                "label": card.label,
                "kind": "accumulate" if leaf else "function",
                "ctx": None if leaf else log.ctxs.belongs_to(card, node, name),
                "tensor": log.names.of(node.variable) if leaf else None,
                "outputs": len(node._output_metadata),
                "order": order,
                "again": self.reruns > 0,
                **({"own": True} if card.is_users else {}),
                **({"module": self.open_groups[-1]} if self.open_groups else {}),
            }
        )
        event["n"], event["e"] = name, self._add_edges(name, ends)
        if moved:
            event["h"] = dict.fromkeys(moved, name)
            log.handles.update(event["h"])
        log.emit(event)

    def _add_edges(self, name: str, ends: Iterable[tuple[int, Card, int]]) -> list[str]:
        """Add the edges of a node to those that are shown; their ids."""
        added = []
        for slot, card, receiver_slot in ends:
            to = card.node
            if to is None:
                continue
            new = f"e{len(self.edges)}"
            self._edge_ids[name, slot] = new
            edge: dict[str, Any] = {"id": new, "from": name, "to": to}
            edge["slot"], edge["to_slot"] = slot, receiver_slot
            self.edges.append(edge)
            added.append(new)
        return added

    def number(self, card: Card) -> str:
        """The id of a node that has none yet, from now on."""
        card.node = f"n{self._count}"
        self._count += 1
        return card.node

    def _order(self) -> int:
        """1 for a node of forward, 2 for one that a recorded backward makes."""
        if self.recorded_tasks and not self.other_engine_runs and not running_task():
            self.recorded_tasks.clear()  # an error may have left one behind
        return 1 + len(self.recorded_tasks)

    def _moved_handles(self, outputs: tuple[Any, ...]) -> dict[str, str]:
        """Variables whose tensor got a node in place of another: that one's name."""
        moved = {}
        for output in outputs:
            if version_of(output) > 0:
                name = self._log.names.of(output)
                before = self._log.handles.get(name or "")
                if name is not None and before is not None:
                    moved[name] = self._labels.get(before, before)
        return moved

    def _node_of(self, tensor: Any) -> str | None:
        """The id of the node whose output ``tensor`` is."""
        node = maker_of(tensor)
        return None if node is None else self.known(self.entry_of(node))


def joining(
    card: Card,
    led_to: list[tuple[Named, int]],
    kept: int,
    order: int,
    moved: dict[str, str],
) -> str:
    """The sentence for a node that joins."""
    tell = sentences.wired if card.is_users else sentences.built_in
    return in_turn(
        tell(card.label, [(called(*named), node) for named, node in led_to]),
        sentences.kept(kept),
        asides.second_graph(order) if order > 1 else "",
        *[asides.handle_moved(name, old, card.label) for name, old in moved.items()],
    )


def without_wire(outputs: tuple[Any, ...]) -> list[int]:
    """The outputs of a recorded call through which no gradient comes back."""
    if len(outputs) < 2:
        return []
    return [
        slot
        for slot, output in enumerate(outputs)
        if not is_tensor(output) or maker_of(output) is None
    ]
