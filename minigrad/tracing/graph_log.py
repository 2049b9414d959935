"""The graph of a recording: its nodes and edges, each when it is first met."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final

from minigrad.engine.grad_mode import running_task
from minigrad.tracing.calls import Fact
from minigrad.tracing.codes import PHASES
from minigrad.tracing.foreign import maker_of
from minigrad.tracing.log import ENGINE, STORY, Event, EventLog
from minigrad.tracing.nodes import Card, End, inputs_first, receivers_of

MOST_OLD_NODES: Final = 2_000
FACTS: Final = ("ctx", "tensor", "outputs", "order", "again")
"""What is noted of a node beside its id, its class and its module."""


class GraphLog:
    """Tells of nodes that join the graph, and of those that were there before.

    ``reruns`` counts the checkpointed parts that run once more at the moment,
    ``recorded_tasks`` are the backwards that are themselves recorded, and ``modules``
    the layers that run: how many nodes have joined meanwhile. ``groups`` are
    all calls of modules, ``open_groups`` those that run, one in another.
    """

    def __init__(self, log: EventLog) -> None:
        self.nodes: list[tuple[Any, ...]] = []
        """Of each node its id, its class, its FACTS and its module."""
        self.edges: list[tuple[str, int, tuple[Any, ...]]] = []
        """From which node and argument each leads, and where to."""
        self.reruns = 0
        self.recorded_tasks: list[int] = []
        self.other_engine_runs = False
        self.modules: list[int] = []
        self.groups: list[dict[str, Any]] = []
        self.open_groups: list[str] = []
        self.entry_of: Callable[[Any], Any] | None = None
        self._log = log
        self._cards = log.cards
        self._count = 0
        # Bound once: making a method anew for each event takes its time.
        self._joined = self.joined
        log.node_of, log.id_of = self._node_of, self.id_of

    def id_of(self, node: Any) -> str:
        """The id of a node, which gets one if it has none."""
        card = self._cards.of(node)
        return card.node or self.number(card)

    def known(self, node: Any) -> str | None:
        """The id of a node that was met before."""
        card = self._cards.get(id(node))
        return None if card is None else card.node

    def add(
        self, node: Any, outputs: tuple[Any, ...], card: Card | None = None
    ) -> None:
        """A node has joined the graph; its receivers are shown first."""
        log, cards = self._log, self._cards
        card = card or cards.get(id(node)) or cards.new(node)
        ends = log.ctxs.ends_of(node, self.show_older)
        name = card.node or self.number(card)
        card.edges = None if card.is_users else ends
        # With something let go to tell, the step of that shows this ctx first, as it is
        # at work.
        made = None if log.memory.gone else log.ctxs.made(card, node)
        # A learner's node takes what it saved when it has been wired.
        if made is not None:
            if made[1]:
                log.memory.hold(name, name, card.label, made[1])
        elif not card.is_users:
            log.memory.look_at_node(node, card)
        order = self._order() if self.recorded_tasks else 1
        level = STORY
        if self.modules and not card.is_users:
            self.modules[-1] += 1
            level = ENGINE
        given, card.given = card.given, None
        call = ends, given, log.calls.made(outputs)
        if card.is_users or made is not None:
            changes = None if made is None else made[0]
            self._emit(node, card, level, call, order, changes)
            return
        log.ctxs.open(node, card)
        self._emit(node, card, level, call, order)
        log.ctxs.close(node)

    def let_go(self) -> None:
        """Hold nothing of the program any more."""
        self.modules.clear()
        self.entry_of = None

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
        memory.look_at_node(node, card)
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
            card = self._cards.of(current)
            if not card.is_leaf:
                log.memory.look_at_node(current, card)
            call = log.ctxs.ends_of(current), None, None
            self._emit(current, card, ENGINE, call, self._order())

    def _emit(
        self,
        node: Any,
        card: Card,
        level: int,
        call: tuple[Any, ...],
        order: int,
        changes: Any = None,
    ) -> None:
        """Note that a node has joined."""
        log, name, ctx, tensor = self._log, card.node or self.number(card), None, None
        if card.is_leaf:
            tensor = log.names.of(node.variable)
        else:
            ctx = card.ctx or log.ctxs.id_of(card)
        module = self.open_groups[-1] if self.open_groups else None
        outputs, again = len(node._output_metadata), self.reruns > 0
        shown = name, card.kind, ctx, tensor, outputs, order, again, module
        self.nodes.append(shown)
        edges, led = self.edges, {}
        for slot, end in enumerate(call[0]):
            if end is not None and end[3] is not None:
                led[slot] = len(edges)
                edges.append((name, slot, end))
        card.led = led
        told = self._joined, shown, led, *call, level
        log.emit(told, cid=None if changes is None else ctx, changes=changes)

    def joined(
        self,
        node: tuple[Any, ...],
        led: dict[int, int],
        ends: list[End],
        given: Sequence[Fact] | None,
        made: Sequence[Fact] | None,
        level: int,
    ) -> Event:
        """The event of a node that joins.

        Without ``made`` it was there before the recording.
        """
        name, _, ctx, *_ = node
        event: Event = {"k": "graph.node", "lvl": level}
        if made is not None:
            event["ph"] = PHASES["link outputs"]
        if ctx is not None:
            event |= self._log.calls.fields(given, ends, name, made or ())
        event["n"], event["e"] = name, [f"e{number}" for number in led.values()]
        return event

    def finish(self) -> dict[str, Any]:
        """The graph as data."""
        edges = []
        for number, (sender, slot, end) in enumerate(self.edges):
            _, _, to_slot, to, _ = end
            edge = {"id": f"e{number}", "from": sender, "to": to, "slot": slot}
            edges.append(edge | {"to_slot": to_slot})
        nodes = []
        for name, kind, *facts, module in self.nodes:
            place = "accumulate" if kind.is_leaf else "function"
            node = {"id": name, "label": kind.label, "kind": place}
            node |= zip(FACTS, facts, strict=True)
            if kind.is_users:
                node["own"] = True
            if module is not None:
                node["module"] = module
            nodes.append(node)
        return {"nodes": nodes, "edges": edges, "modules": self.groups}

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

    def _node_of(self, tensor: Any) -> str | None:
        """The id of the node whose output ``tensor`` is."""
        node = maker_of(tensor)
        if node is not None and self.entry_of is not None:
            node = self.entry_of(node)
        return None if node is None else self.known(node)
