"""The backward half of the story: nodes that are visited, gradients that travel."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from minigrad.engine.core.node import AccumulateGrad
from minigrad.engine.core.tensor import Tensor
from minigrad.tracing.foreign import ForeignNode
from minigrad.tracing.graph_log import GraphLog
from minigrad.tracing.log import ENGINE, STORY, Event, EventLog, step, turn
from minigrad.tracing.messages import message
from minigrad.tracing.nodes import Card
from minigrad.tracing.values import Ref


class BackwardStory:
    """Writes into the event log what the engine tells while it goes backward.

    ``watch`` is told of each Function whose rule is called. If the log hears lines, the
    one which calls a rule will be heard.
    """

    def __init__(
        self, log: EventLog, graph: GraphLog, watch: Callable[[Any], None]
    ) -> None:
        self._log = log
        self._cards = log.cards
        self._look = log.values.look
        self._graph = graph
        self._watch = watch
        self._hears_lines = log.hears_lines
        self._picked: Any = None
        self._card: Any = None
        self._old: dict[int, Any] = {}
        self._told_as_returned: set[int] = set()
        self._running: dict[int, tuple[Any, Card]] = {}
        self._open_tasks: list[tuple[int, int]] = []
        self._joins: set[str | None] = set()

    def let_go(self) -> None:
        """Hold no node of the program any more."""
        self._picked = self._card = None
        self._running.clear()

    def backward_started(self, task: Any) -> None:
        self._log.program_may_have_run()
        if task.create_graph:
            self._graph.recorded_tasks.append(id(task))
        while self._open_tasks and self._open_tasks[-1][1] >= task.depth:
            self._fails()
            self._open_tasks.pop()
        inside = len(self._open_tasks)
        self._open_tasks.append((id(task), task.depth))
        for node, _, _ in task.roots:
            self._graph.show_older(node)
        fields: Event = {"create_graph": task.create_graph}
        fields["roots"] = [
            {"n": self._graph.id_of(node), "slot": slot, "g": self._look(gradient)}
            for node, slot, gradient in task.roots
        ]
        # Where several gradients have to come, and how many.
        fields["awaits"] = awaits = {
            name: count
            for node, count in task.dependencies.items()
            if count > 1 and task.visits(node) and (name := self._graph.known(node))
        }
        self._joins.update(awaits)
        fields |= inside_of(inside)
        self._log.emit((step, "backward.begin", None, "", fields))

    def node_picked(self, task: Any, node: Any, gradients: list[Any]) -> None:
        if len(self._open_tasks) > 1:
            self._end_those_inside(task)
        self._leave(task)
        log, card = self._log, self._cards.get(id(node)) or self._cards.new(node)
        self._running[id(task)] = node, card
        if card.is_leaf:
            self._old[id(node)] = self._look(node.variable.grad)
        else:
            log.ctxs.open(node, card)
        if card.is_users:
            self._told_as_returned.discard(id(node))
            if self._hears_lines:
                self._watch(node._forward_cls)
        name = card.node or self._graph.number(card)
        level, given = ENGINE if card.is_leaf else STORY, (*map(self._look, gradients),)
        log.emit((turn, "node.enter", "pick the next ready node", level, name, given))
        if len(gradients) > 1:
            self._say_unused_outputs(node, gradients)
        self._picked, self._card = node, card
        if card.is_users and (not self._hears_lines or isinstance(node, ForeignNode)):
            self.say_rule_called(card)

    def say_rule_called(self, card: Card) -> None:
        """The rule of a user's node, whose card is given, is about to run."""
        say = message, "rule.called", card.kind.shown
        self._log.emit((step, "phase", say, "call its backward"))

    def _say_unused_outputs(self, node: Any, gradients: list[Any]) -> None:
        """Nothing arrived for some outputs: backward is given zeros, or None."""
        materialize = getattr(node, "_materialize_grads", False)
        for slot, gradient in enumerate(gradients):
            if gradient is not None:
                continue
            metadata = node._output_metadata[slot]
            zeros = materialize and metadata is not None
            fields = {"n": self._graph.id_of(node), "slot": slot}
            if zeros:
                shape, dtype = metadata
                empty = np.zeros(shape, dtype if dtype.kind in "fc" else np.float32)
                fields["g"] = self._log.values.ref(empty)
            kind = "grad.zeros" if zeros else "grad.absent"
            self._log.emit((step, kind, None, "", fields))

    def node_returned(self, task: Any, node: Any, gradients: Sequence[Any]) -> None:
        card = self._card if node is self._picked else self._cards.of(node)
        if not card.kind.is_builtin:
            self._log.program_may_have_run()
        if len(self._open_tasks) > 1:
            self._end_those_inside(task)
        if card.is_users:
            self.say_returned(node, gradients)

    def say_returned(self, node: Any, gradients: Sequence[Any]) -> None:
        """What a rule has returned, before hooks change it: told once."""
        if not self._cards.of(node).is_users or id(node) in self._told_as_returned:
            return
        self._told_as_returned.add(id(node))
        fields = {"returned": [*map(self._look, gradients)]}
        self._log.emit((step, "phase", None, "check what it returned", fields))

    def gradient_sent(
        self,
        task: Any,
        node: Any,
        slot: int,
        receiver: Any,
        receiver_slot: int,
        gradient: Any,
        total: Any,
    ) -> None:
        card = self._card if node is self._picked else self._cards.of(node)
        edge = self._graph.edge_from(card, slot)
        if edge is None:
            return  # the graph was too large to be shown whole
        end = self._cards.get(id(receiver)) or self._cards.new(receiver)
        left = task.dependencies[receiver] - 1 if end.node in self._joins else None
        ref = self._look(gradient)
        added = ref if total is gradient else self._look(total)
        place = edge, end.node, receiver_slot
        self._log.emit((gradient_goes, *place, ref, added, left))

    def gradient_accumulated(
        self, leaf: Tensor, first: bool, gradient: Any, new: Tensor
    ) -> None:
        node: Any = leaf._accumulate_node() if leaf._accumulate_node else None
        name = self._log.names.of(leaf) or message("tensor.leaf")
        memory = self._log.memory
        memory.look_at_grad(leaf, self._graph.id_of(node), f"{name}.grad")
        self.say_accumulated(node, first, gradient, new)

    def say_accumulated(self, node: Any, first: bool, gradient: Any, new: Any) -> None:
        """The ``.grad`` of the leaf whose node is ``node`` is now ``new``."""
        ref, now = self._look(gradient), self._look(new)
        old = self._old.pop(id(node), None)
        fields = {"n": self._graph.id_of(node), "g": ref, "new": now}
        fields["old"] = None if first else old
        self._log.emit((step, "grad.accumulate", None, "call its backward", fields))

    def node_released(self, node: Any, dropped: tuple[Any, ...]) -> None:
        card = self._card if node is self._picked else self._cards.of(node)
        if card.is_leaf:
            return
        log, owner = self._log, card.node or self._graph.number(card)
        log.ctxs.touched += 1
        card.seen_at = -1
        log.memory.released(node, card)
        level = STORY if card.is_users else ENGINE
        log.emit((turn, "ctx.free", "release", level, owner), looked=True)

    def backward_finished(self, task: Any) -> None:
        self._end_those_inside(task)
        self._leave(task)
        tasks = self._graph.recorded_tasks
        tasks[:] = [one for one in tasks if one != id(task)]
        is_inside = len(self._open_tasks) > 1
        self._end(message("backward.over.inside" if is_inside else "backward.over"))

    def _end_those_inside(self, task: Any) -> None:
        """``task`` goes on: what it had called and an error has ended is over."""
        if any([known == id(task) for known, _ in self._open_tasks]):
            while self._open_tasks[-1][0] != id(task):
                self._fails()
                self._end(message("backward.failed.inside"))

    def _fails(self) -> None:
        """An error has ended the task that began last: no node of it is at work."""
        node, _ = self._running.pop(self._open_tasks[-1][0], (None, None))
        self._log.ctxs.close(node)

    def _end(self, say: str) -> None:
        if self._open_tasks:
            self._open_tasks.pop()
        inside = inside_of(len(self._open_tasks))
        self._log.emit((step, "backward.end", say, "", inside))

    def _leave(self, task: Any) -> None:
        """Say that the node that ran last in ``task`` is done."""
        node, card = self._running.pop(id(task), (None, None))
        if card is None:
            return
        log, name = self._log, card.node or self._graph.number(card)
        log.emit((turn, "node.exit", "", ENGINE, name))
        if not card.is_leaf:
            log.ctxs.close(node)

    def adds_to_grad(self, tensor: Any) -> bool:
        """Whether backward adds to a ``.grad`` just now, which is ``tensor``."""
        picked = self._picked
        return isinstance(tensor, Tensor) and (
            isinstance(picked, AccumulateGrad) and picked.variable._grad is tensor
        )


def inside_of(count: int) -> dict[str, Any]:
    """The field of a backward that runs inside ``count`` others."""
    return {"inside": count} if count else {}


def gradient_goes(
    edge: int, name: str, slot: int, gradient: Ref, total: Ref, left: int | None
) -> Event:
    """The event of a gradient that was sent along an edge."""
    fields = {"e": f"e{edge}", "n": name, "slot": slot, "g": gradient}
    fields["total"] = total
    if left is not None:
        fields["left"] = left
    kind = "grad.none" if gradient is None else "grad"
    return step(kind, None, "add into the receivers", fields)
