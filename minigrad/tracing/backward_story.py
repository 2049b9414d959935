"""The backward half of the story: nodes that are visited, gradients that travel."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from minigrad.engine.node import AccumulateGrad
from minigrad.engine.tensor import Tensor
from minigrad.tracing import asides, sentences
from minigrad.tracing.foreign import ForeignNode
from minigrad.tracing.graph_log import GraphLog
from minigrad.tracing.log import ENGINE, STORY, EventLog
from minigrad.tracing.messages import message


class BackwardStory:
    """Writes into the event log what the engine tells while it goes backward.

    ``watch`` is told of each Function whose rule is called; ``hears_lines`` says that
    the line which calls a rule will be heard.
    """

    def __init__(
        self,
        log: EventLog,
        graph: GraphLog,
        watch: Callable[[Any], None],
        hears_lines: bool,
    ) -> None:
        self._log = log
        self._cards = log.cards
        self._look = log.values.look
        self._graph = graph
        self._watch = watch
        self._hears_lines = hears_lines
        self._picked: Any = None
        self._told_as_returned: int | None = None
        self._running: dict[int, Any] = {}
        self._open_tasks: list[tuple[int, int]] = []
        self._joins: set[str] = set()

    def let_go(self) -> None:
        """Hold no node of the program any more."""
        self._picked = None
        self._running.clear()

    def backward_started(self, task: Any) -> None:
        self._log.program_may_have_run()
        if task.create_graph:
            self._graph.recorded_tasks.append(id(task))
        while self._open_tasks and self._open_tasks[-1][1] >= task.depth:
            self._open_tasks.pop()  # an error has ended it
        inside = len(self._open_tasks)
        self._open_tasks.append((id(task), task.depth))
        for node, _, _ in task.roots:
            self._graph.show_older(node)
        names = [self._cards.of(node).label for node, _, _ in task.roots]
        shown = [self._look(gradient) for _, _, gradient in task.roots]
        roots = [
            {"n": self._graph.id_of(node), "slot": slot, "g": ref}
            for (node, slot, _), (ref, _) in zip(task.roots, shown, strict=True)
        ]
        told = [one for _, one in shown]
        awaits, awaiting = self._awaited(task)
        self._log.emit(
            "backward.begin",
            STORY,
            (sentences.backward_begins, names, told, task.create_graph, awaiting),
            create_graph=task.create_graph,
            retain=task.retain_graph,
            roots=roots,
            awaits=awaits,
            **inside_of(inside),
        )

    def _awaited(self, task: Any) -> tuple[dict[str, int], list[tuple[str, int]]]:
        """Where several gradients have to come, and how many: by id, and by name."""
        awaits: dict[str, int] = {}
        awaiting = []
        for node, count in task.dependencies.items():
            name = self._graph.known(node) if count > 1 and task.visits(node) else None
            if name is not None:
                awaits[name] = count
                awaiting.append((self._log.called(node), count))
        self._joins.update(awaits)
        return awaits, awaiting

    def node_picked(self, task: Any, node: Any, gradients: list[Any]) -> None:
        self._end_those_inside(task)
        self._leave(task)
        self._running[id(task)] = node
        log, card = self._log, self._cards.of(node)
        if not card.is_leaf:
            log.ctxs.open(node, card)
            if card.is_users:
                self._watch(node._forward_cls)
        shown = [self._look(gradient) for gradient in gradients]
        log.emit(
            "node.enter",
            ENGINE if card.is_leaf else STORY,
            (sentences.picked, card.label, [told for _, told in shown]),
            phase=("backward", "pick the newest ready node"),
            n=card.node or self._graph.number(card),
            g=[ref for ref, _ in shown],
            cue=card.label,
        )
        if len(gradients) > 1:
            self._say_unused_outputs(node, gradients)
        self._picked = node
        unheard = not self._hears_lines or isinstance(node, ForeignNode)
        if card.is_users and unheard:
            self.say_rule_called(node)

    def say_rule_called(self, node: Any) -> None:
        """The backward of a user's node is about to run."""
        name = node._forward_cls.__name__
        self._log.emit(
            "phase",
            STORY,
            (sentences.rule_called, name),
            phase=("backward", "call its backward"),
            cue=f"{name}.backward",
        )

    def _say_unused_outputs(self, node: Any, gradients: list[Any]) -> None:
        """Nothing arrived for some outputs: backward is given zeros, or None."""
        materialize = getattr(node, "_materialize_grads", False)
        for slot, gradient in enumerate(gradients):
            if gradient is not None:
                continue
            metadata = node._output_metadata[slot]
            zeros = materialize and metadata is not None
            fields: dict[str, Any] = {}
            if zeros:
                shape, dtype = metadata
                empty = np.zeros(shape, dtype if dtype.kind in "fc" else np.float32)
                fields["g"] = self._log.values.ref(empty)
            label = self._cards.of(node).label
            self._log.emit(
                "grad.zeros" if zeros else "grad.absent",
                STORY,
                asides.unused(label, slot, zeros and metadata[0]),
                n=self._graph.id_of(node),
                slot=slot,
                cue=message("cue.unused", slot=slot),
                **fields,
            )

    def node_returned(self, task: Any, node: Any, gradients: tuple[Any, ...]) -> None:
        self._log.program_may_have_run()
        self._end_those_inside(task)
        if self._told_as_returned != id(node):
            self.say_returned(node, gradients)
        self._told_as_returned = None

    def say_returned(self, node: Any, gradients: tuple[Any, ...]) -> None:
        """What a rule has returned, before hooks change it."""
        self._told_as_returned = id(node)
        if not self._cards.of(node).is_users:
            return
        shown = [self._look(gradient) for gradient in gradients]
        name, told = node._forward_cls.__name__, [one for _, one in shown]
        self._log.emit(
            "phase",
            STORY,
            (sentences.returned, name, told),
            phase=("backward", "check what it returned"),
            returned=[ref for ref, _ in shown],
        )

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
        card = self._cards.of(node)
        edge = self._graph.edge_of(card.node or self._graph.number(card), slot)
        if edge is None:
            return  # the graph was too large to be shown whole
        card = self._cards.of(receiver)
        called = self._log.called(receiver) if card.is_leaf else card.label
        ref, told = self._look(gradient)
        new, sum_told = self._look(total)
        is_sum = total is not gradient
        name = card.node or self._graph.number(card)
        left = task.dependencies[receiver] - 1 if name in self._joins else None
        self._log.emit(
            "grad.none" if gradient is None else "grad",
            STORY,
            (sentences.sent, called, told, sum_told if is_sum else None, left),
            phase=("backward", "add into the receivers"),
            e=edge,
            n=name,
            slot=receiver_slot,
            g=ref,
            total=new,
            cue=called,
            **({} if left is None else {"left": left}),
        )

    def gradient_accumulated(
        self, leaf: Tensor, first: bool, gradient: Any, new: Tensor
    ) -> None:
        node: Any = leaf._accumulate_node() if leaf._accumulate_node else None
        name = self._log.names.of(leaf) or message("tensor.leaf")
        memory = self._log.memory
        memory.look_at_grad(leaf, self._graph.id_of(node), f"{name}.grad")
        self.say_accumulated(node, leaf, first, gradient, new)

    def say_accumulated(
        self, node: Any, leaf: Any, first: bool, gradient: Any, new: Any
    ) -> None:
        """The ``.grad`` of ``leaf``, whose node is ``node``, is now ``new``."""
        name = self._log.names.of(leaf) or message("tensor.leaf")
        ref, told = self._look(gradient)
        now, now_told = self._look(new)
        self._log.emit(
            "grad.accumulate",
            STORY,
            (sentences.accumulated, name, told, now_told, first),
            phase=("backward", "call its backward"),
            n=self._graph.id_of(node),
            g=ref,
            new=now,
            cue=f"{name}.grad",
        )

    def node_released(self, node: Any, dropped: tuple[Any, ...]) -> None:
        card = self._cards.of(node)
        if card.is_leaf:
            return
        self._log.ctxs.touched += 1
        memory, owner = self._log.memory, card.node or self._graph.number(card)
        size = memory.bytes_of(owner, "saved")
        memory.look_at_node(node, owner, card.label)
        memory.release(owner)
        self._log.emit(
            "ctx.free",
            STORY if card.is_users else ENGINE,
            (sentences.released, card.label, len(dropped), size),
            phase=("backward", "release"),
            n=owner,
        )

    def backward_finished(self, task: Any) -> None:
        self._end_those_inside(task)
        self._leave(task)
        tasks = self._graph.recorded_tasks
        tasks[:] = [one for one in tasks if one != id(task)]
        self._end(sentences.backward_ends(len(self._open_tasks) > 1))

    def _end_those_inside(self, task: Any) -> None:
        """``task`` goes on: what it had called and an error has ended is over."""
        if len(self._open_tasks) < 2:
            return
        if any([known == id(task) for known, _ in self._open_tasks]):
            while self._open_tasks[-1][0] != id(task):
                self._running.pop(self._open_tasks[-1][0], None)
                self._end(asides.backward_failed())

    def _end(self, say: str) -> None:
        if self._open_tasks:
            self._open_tasks.pop()
        inside = inside_of(len(self._open_tasks))
        self._log.emit("backward.end", STORY, say, **inside)

    def _leave(self, task: Any) -> None:
        """Say that the node that ran last in ``task`` is done."""
        node = self._running.pop(id(task), None)
        if node is None:
            return
        card = self._cards.of(node)
        say = (sentences.traversal_leaves, card.label)
        name = card.node or self._graph.number(card)
        self._log.emit("node.exit", ENGINE, say, n=name)
        self._log.ctxs.close(node)

    def adds_to_grad(self, tensor: Any) -> bool:
        """Whether backward adds to a ``.grad`` just now, which is ``tensor``."""
        picked = self._picked
        return isinstance(tensor, Tensor) and (
            isinstance(picked, AccumulateGrad) and picked.variable._grad is tensor
        )


def inside_of(count: int) -> dict[str, Any]:
    """The field of a backward that runs inside ``count`` others."""
    return {"inside": count} if count else {}
