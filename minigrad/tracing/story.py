"""The story: what the engine tells of apply, ctx, graph and backward, as events."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from minigrad.engine.builtin import Builtin
from minigrad.engine.core.ctx import no_setup_context
from minigrad.engine.core.node import AccumulateGrad
from minigrad.engine.core.tensor import Tensor
from minigrad.tracing.calls import Fact, value_of
from minigrad.tracing.foreign import ForeignNode, maker_of
from minigrad.tracing.graph_log import GraphLog
from minigrad.tracing.log import ENGINE, STORY, Event, EventLog, step, turn
from minigrad.tracing.messages import in_turn, joined, message
from minigrad.tracing.nodes import Card, attributes_of
from minigrad.tracing.values import Ref, bytes_text, called, seen


class Story:
    """An observer of the engine that writes what it hears into the event log.

    ``phase_start`` tells at which event the running apply entered a phase, so that
    the story of that phase stands where its first line is shown; ``watch`` is told of
    each Function whose rule is called. If the log hears lines, ``phase_entered`` will
    be called, and the line which calls a rule will be heard.
    """

    def __init__(
        self,
        log: EventLog,
        graph: GraphLog,
        phase_start: Callable[[str], int | None],
        watch: Callable[[Any], None],
    ) -> None:
        self._log = log
        self._cards = log.cards
        self._look = log.values.look
        self._graph = graph
        self._phase_start = phase_start
        self._watch = watch
        self._hears_lines = log.hears_lines
        self.marked: tuple[Any, ...] | None = None  # dirty, while apply wraps outputs
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

    def ctx_created(self, ctx: Any, function: Any, inputs: tuple[Any, ...]) -> None:
        if not joins_story(ctx, function):
            return
        log, cards = self._log, self._cards
        log.program_may_have_run()
        card = cards.get(id(ctx)) or cards.new(ctx)
        card.given = log.calls.given(inputs)
        if not card.is_users:
            return
        collected_at = None
        if self._hears_lines:
            self._watch(function)
            collected_at = self._phase_start("collect inputs")
        log.emit((inputs_collected, card.given, bool(ctx._edges)), at=collected_at)
        log.ctxs.open(ctx, card)
        log.emit((step, "ctx.new", None, "create ctx"))
        if not self._hears_lines:
            self.say_forward_runs()

    def values_saved(self, ctx: Any, tensors: tuple[Any, ...]) -> None:
        """Forward, or setup_context, calls ``save_for_backward``."""
        takes_ctx = ctx._forward_cls.setup_context is no_setup_context
        self.say_put(ctx, "forward" if takes_ctx else "setup_context")

    def say_put(self, ctx: Any, by: str) -> None:
        """The rule ``by`` has put tensors on ``ctx``."""
        at_work = self._log.ctxs.at_work
        if not at_work or at_work[-1][0] is not ctx:
            return
        self._log.ctxs.touched += 1
        self._log.emit((step, "ctx.put", None, "run forward", {"by": by}))

    def phase_entered(self, name: str) -> None:
        """The first line of a phase of the running apply or backward is next."""
        if name == "run forward" and self._log.ctxs.at_work:
            self.say_forward_runs()
        elif name == "call its backward" and self._card and self._card.is_users:
            self.say_rule_called(self._card)

    def say_forward_runs(self) -> None:
        """Forward is about to run."""
        self._log.emit((step, "phase", None, "run forward"))

    def forward_returned(self, ctx: Any, inputs: tuple[Any, ...], result: Any) -> None:
        if not ctx._is_learners:
            return
        self._log.program_may_have_run()
        self.marked = ctx.dirty_tensors or ()

    def saved_taken(self, ctx: Any, saved: tuple[Any, ...]) -> None:
        self._log.ctxs.touched += 1
        if ctx._edges:  # else ctx is let go, with all that forward left on it
            self.say_saved(ctx, saved)
        self._log.ctxs.close(ctx)

    def say_saved(self, ctx: Any, saved: tuple[Any, ...]) -> None:
        """Apply has taken what forward left on ``ctx``."""
        name_of = self._log.names.of
        to_save = [seen(one, name_of) for one in saved]
        size = self._graph.look_at_saved(ctx)
        say = saved_text, to_save, list(attributes_of(ctx)), size
        self._log.emit((step, "ctx.save", say, "take what was saved"), looked=True)

    def edges_wired(self, ctx: Any, outputs: tuple[Any, ...]) -> None:
        recorded = bool(ctx._edges) and is_maker(ctx, outputs)
        if ctx._is_learners:
            self.say_wired(ctx, outputs, recorded)
        elif recorded:
            self._graph.add(ctx, outputs)
        self.marked = None
        for output in outputs:
            base = output._base if isinstance(output, Tensor) else None
            if base is None:
                continue
            changed = maker_of(base)
            if changed is not None and self._graph.known(changed) is None:
                self._graph.add(changed, (base,))  # a view was changed in place

    def say_wired(self, ctx: Any, outputs: tuple[Any, ...], recorded: bool) -> None:
        """The call of ``ctx`` has its outputs; ``recorded``: it joins the graph."""
        card = self._cards.of(ctx)
        if not recorded and not self._log.ctxs.is_open(ctx):
            return  # its start was not heard
        log = self._log
        # Behind the changes in place that were told in this phase.
        is_first = self._hears_lines and not self.marked
        at = self._phase_start("wrap outputs") if is_first else None
        log.emit((step, "phase", None, "wrap outputs"), at=at)
        if recorded:
            self._graph.add(ctx, outputs, card)
        else:
            fields = {"function": ctx._forward_cls.__name__}
            fields |= log.calls.fields(card.given, (), "", log.calls.made(outputs))
            log.emit((step, "phase", None, "link outputs", fields))

    def say_joined(self, node: Any, outputs: tuple[Any, ...], given: list[Any]) -> None:
        """A node that was not heard being made has joined the graph.

        Of ``given``, one for each edge, those that are no tensor may be its node.
        """
        self._cards.of(node).given = self._log.calls.given(given)
        self._graph.add(node, outputs)

    def note(self, text: str) -> None:
        """Say something about the recording itself."""
        self._log.emit((step, "note", text))

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
        if inside:
            fields["inside"] = inside
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
        edge = card.led.get(slot)
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
        inside = len(self._open_tasks)
        fields = {"inside": inside} if inside else {}
        self._log.emit((step, "backward.end", say, "", fields))

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


def saved_text(to_save: list[Any], also: list[str], size: int) -> str:
    """What apply takes off ctx: ``also`` are attributes; all takes ``size`` bytes."""
    tensors = joined([*map(called, to_save)])
    attributes = joined([f"ctx.{name}" for name in also])
    return in_turn(
        message("saved.taken" if tensors else "saved.nothing", tensors=tensors),
        message("saved.also", attributes=attributes) if attributes else "",
        message("node.keeps", bytes=bytes_text(size)) if size else "",
    )


def inputs_collected(given: tuple[Fact, ...], recorded: bool) -> Event:
    """The step at which apply has its inputs; what it was given is for a sentence."""
    fields = {"given": [*map(value_of, given)], "recorded": recorded}
    return step("phase", None, "collect inputs", fields)


def is_maker(ctx: Any, outputs: tuple[Any, ...]) -> bool:
    """Whether ``ctx`` is the node of one of these outputs."""
    for output in outputs:
        if isinstance(output, Tensor):
            if output._base is None:
                if output._grad_node is ctx:
                    return True
            elif maker_of(output) is ctx:
                return True
    return False


def joins_story(ctx: Any, function: Any) -> bool:
    """Whether a call is told of: one of a built-in operation if it may join a graph.

    Of the others a recording hears only beside one that observes everything.
    """
    return bool(ctx._edges) or not issubclass(function, Builtin)


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
