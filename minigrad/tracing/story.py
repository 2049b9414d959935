"""The story: what the engine says of ctx, graph and gradients, as events."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from minigrad.engine.builtin import Builtin
from minigrad.engine.grad_mode import running_task
from minigrad.engine.node import NOT_A_TENSOR, AccumulateGrad, split_edge
from minigrad.engine.tensor import Tensor
from minigrad.tracing import asides, sentences
from minigrad.tracing.foreign import ForeignNode, is_tensor, maker_of, version_of
from minigrad.tracing.happenings import Happenings
from minigrad.tracing.log import ENGINE, STORY, EventLog
from minigrad.tracing.nodes import Identities, attributes_of, is_leaf, label_of
from minigrad.tracing.values import Ref

MOST_OLD_NODES = 2_000
PhaseStart = Callable[[str], int | None]


class Story(Happenings):
    """An observer of the engine that writes what it hears into the event log.

    ``phase_start`` tells at which event the running apply entered a phase, so that
    the story of that phase stands where its first line is shown; ``hears_lines`` says
    that ``phase_entered`` will be called.
    """

    def __init__(
        self,
        log: EventLog,
        phase_start: PhaseStart,
        watch: Callable[[Any], None],
        hears_lines: bool,
    ) -> None:
        super().__init__(log)
        self.nodes: list[dict[str, Any]] = []
        self.edges: list[dict[str, Any]] = []
        self._phase_start = phase_start
        self._watch = watch
        self._hears_lines = hears_lines
        self._picked: Any = None
        self._node_ids = Identities("n")
        self._edge_ids: dict[tuple[str, int], str] = {}
        self._running: dict[int, Any] = {}
        self._recorded_tasks: list[int] = []
        self._open_tasks: list[tuple[int, int]] = []
        self._labels: dict[str, str] = {}
        self.other_engine_runs = False
        self.entry_of: Callable[[Any], Any] = lambda node: node
        self._modules: list[tuple[Any, list[str], int]] = []
        log.node_of = self._node_of

    def let_go(self) -> None:
        """Hold no node of the program any more."""
        self._picked = None
        self._running.clear()
        self._modules.clear()

    def ctx_created(self, ctx: Any, function: Any, inputs: tuple[Any, ...]) -> None:
        self._log.program_ran()
        self._start_making(ctx, function)
        if issubclass(function, Builtin):
            return
        self._watch(function)
        log = self._log
        recording = bool(ctx._edges)
        log.emit(
            "phase",
            STORY,
            sentences.collected(inputs, recording, log.names.of),
            phase=("apply", "collect inputs"),
            at=self._phase_start("collect inputs"),
        )
        log.ctxs.open(ctx)
        log.emit(
            "ctx.new",
            STORY,
            sentences.ctx_created(ctx.name()),
            phase=("apply", "create ctx"),
            cue=f"ctx: {ctx.name()}",
        )

    def phase_entered(self, name: str) -> None:
        """The first line of a phase of the running apply or backward is next."""
        if name == "run forward" and self._log.ctxs.at_work:
            self.say_forward_runs(self._log.ctxs.at_work[-1])
        elif name == "call its backward" and is_users(self._picked):
            self._say_rule_called(self._picked)

    def say_forward_runs(self, ctx: Any) -> None:
        """Forward is about to run."""
        name = ctx._forward_cls.__name__
        self._log.emit(
            "phase",
            STORY,
            sentences.forward_runs(name),
            phase=("apply", "run forward"),
            cue=f"{name}.forward",
        )

    def _say_rule_called(self, node: Any) -> None:
        name = node._forward_cls.__name__
        self._log.emit(
            "phase",
            STORY,
            sentences.rule_called(name),
            phase=("backward", "call its backward"),
            cue=f"{name}.backward",
        )

    def saved_taken(self, ctx: Any, result: Any) -> None:
        self._log.program_ran()
        if not self._hears_lines:
            self.say_forward_runs(ctx)
        self.say_saved(ctx)

    def say_saved(self, ctx: Any) -> None:
        """Forward has returned: what it left on ``ctx``."""
        to_save = ctx.to_save or ()
        attributes = [f"ctx.{attribute}" for attribute in attributes_of(ctx)]
        self._log.emit(
            "ctx.save",
            STORY,
            sentences.saved(to_save, attributes, self._log.names.of),
            phase=("apply", "take what was saved"),
            cue="saved[0]" if to_save else "",
        )

    def edges_wired(self, ctx: Any, outputs: tuple[Any, ...]) -> None:
        self._log.program_ran()
        self._stop_making(ctx)
        recorded = any([isinstance(o, Tensor) and maker_of(o) is ctx for o in outputs])
        self.say_wired(ctx, outputs, recorded)
        for output in outputs:
            base = output._base if isinstance(output, Tensor) else None
            changed = None if base is None else maker_of(base)
            if changed is not None and self._known(changed) is None:
                self._add_node(changed, (base,))  # a view was changed in place

    def say_wired(self, ctx: Any, outputs: tuple[Any, ...], recorded: bool) -> None:
        """The call of ``ctx`` has its outputs; ``recorded``: it joins the graph."""
        if not is_users(ctx):
            if recorded:
                self._add_node(ctx, outputs)
            return
        log = self._log
        log.emit(
            "phase",
            STORY,
            sentences.wrapped(outputs, recorded)
            + (asides.no_wire(without_wire(ctx, outputs)) if recorded else ""),
            phase=("apply", "wrap outputs"),
            at=self._phase_start("wrap outputs"),
            cue="output",
        )
        if recorded:
            self._add_node(ctx, outputs)
        else:
            log.emit(
                "phase",
                STORY,
                sentences.not_wired(),
                phase=("apply", "wire edges"),
            )
        log.ctxs.close(ctx)

    def say_joined(self, node: Any) -> None:
        """A node that was not heard being made has joined the graph."""
        self._add_node(node, ())

    def backward_started(self, task: Any) -> None:
        self._log.program_ran()
        if task.create_graph:
            self._recorded_tasks.append(id(task))
        while self._open_tasks and self._open_tasks[-1][1] >= task.depth:
            self._open_tasks.pop()  # an error has ended it
        inside = len(self._open_tasks)
        self._open_tasks.append((id(task), task.depth))
        for node, _, _ in task.roots:
            self._show_older(node)
        names = [label_of(node) for node, _, _ in task.roots]
        gradients = [gradient for _, _, gradient in task.roots]
        self._log.emit(
            "backward.begin",
            STORY,
            sentences.backward_begins(names, gradients, task.create_graph),
            create_graph=task.create_graph,
            retain=task.retain_graph,
            roots=[
                {"n": self._id(node), "slot": slot, "g": self._ref(gradient)}
                for node, slot, gradient in task.roots
            ],
            **inside_of(inside),
        )

    def node_picked(self, task: Any, node: Any, gradients: list[Any]) -> None:
        self._end_those_inside(task)
        self._leave(task)
        self._running[id(task)] = node
        log = self._log
        if not is_leaf(node):
            log.ctxs.open(node)
            self._watch(getattr(node, "_forward_cls", Builtin))
        log.emit(
            "node.enter",
            ENGINE if is_leaf(node) else STORY,
            sentences.picked(label_of(node), gradients),
            phase=("backward", "pick the newest ready node"),
            n=self._id(node),
            g=[self._ref(gradient) for gradient in gradients],
            cue=label_of(node),
        )
        self.say_unused_outputs(node, gradients)
        self._picked = node
        unheard = not self._hears_lines or isinstance(node, ForeignNode)
        if is_users(node) and unheard:
            self._say_rule_called(node)

    def node_returned(self, task: Any, node: Any, gradients: tuple[Any, ...]) -> None:
        self._log.program_ran()
        self._end_those_inside(task)
        if self._told_as_returned != id(node):
            self._say_returned(node, gradients)
        self._told_as_returned = None

    def _say_returned(self, node: Any, gradients: tuple[Any, ...]) -> None:
        if is_users(node):
            self._log.emit(
                "phase",
                STORY,
                sentences.returned(node._forward_cls.__name__, gradients),
                phase=("backward", "check what it returned"),
                returned=[self._ref(gradient) for gradient in gradients],
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
        edge = self._edge_ids.get((self._id(node), slot))
        if edge is None and not self._log.left_out:
            return  # the graph was too large to be shown whole
        self._log.emit(
            "grad.none" if gradient is None else "grad",
            STORY,
            sentences.sent(self._log.called(receiver), gradient, total),
            phase=("backward", "add into the receivers"),
            e=edge,
            n=self._id(receiver),
            slot=receiver_slot,
            g=self._ref(gradient),
            total=self._ref(total),
            cue=self._log.called(receiver),
        )

    def gradient_accumulated(
        self, leaf: Tensor, first: bool, gradient: Any, new: Tensor
    ) -> None:
        node: Any = leaf._living_accumulate_node()
        name = self._log.names.of(leaf) or "the leaf"
        self._log.memory.look_at_grad(leaf, self._id(node), f"{name}.grad")
        self.say_accumulated(node, leaf, first, gradient, new)

    def say_accumulated(
        self, node: Any, leaf: Any, first: bool, gradient: Any, new: Any
    ) -> None:
        """The ``.grad`` of ``leaf``, whose node is ``node``, is now ``new``."""
        name = self._log.names.of(leaf) or "the leaf"
        self._log.emit(
            "grad.accumulate",
            STORY,
            sentences.accumulated(name, gradient, new, first),
            phase=("backward", "call its backward"),
            n=self._id(node),
            g=self._ref(gradient),
            new=self._ref(new),
            cue=f"{name}.grad",
        )

    def node_released(self, node: Any, dropped: tuple[Any, ...]) -> None:
        if is_leaf(node):
            return
        memory, owner = self._log.memory, self._id(node)
        size = memory.bytes_of(owner, "saved")
        memory.look_at_node(node, owner, label_of(node))
        memory.release(owner)
        self._log.emit(
            "ctx.free",
            STORY if is_users(node) else ENGINE,
            sentences.released(label_of(node), len(dropped), size),
            phase=("backward", "release"),
            n=self._id(node),
        )

    def note(self, text: str) -> None:
        """Say something about the recording itself."""
        self._log.emit("note", STORY, text)

    def backward_finished(self, task: Any) -> None:
        self._end_those_inside(task)
        self._leave(task)
        self._recorded_tasks = [one for one in self._recorded_tasks if one != id(task)]
        self._end(sentences.backward_ends(len(self._open_tasks) > 1))

    def _end_those_inside(self, task: Any) -> None:
        """``task`` goes on: what it had called and an error has ended is over."""
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
        say = f"The traversal leaves {label_of(node)}."
        self._log.emit("node.exit", ENGINE, say, n=self._id(node))
        self._log.ctxs.close(node)

    def _add_node(self, node: Any, outputs: tuple[Any, ...]) -> None:
        """A node has joined the graph; its receivers are shown first."""
        for edge in node._edges:
            receiver, _ = split_edge(edge)
            if edge is not None and edge is not NOT_A_TENSOR:
                self._show_older(receiver)
        users = is_users(node)
        receivers = [
            self._log.called(split_edge(edge)[0])
            for edge in node._edges
            if edge is not None and edge is not NOT_A_TENSOR
        ]
        say = (sentences.wired if users else sentences.built_in)(
            label_of(node), receivers
        )
        kept = self._log.memory.look_at_node(node, self._id(node), label_of(node))
        say += sentences.kept(kept)
        if self._order() > 1:
            say += asides.second_graph(self._order())
        moved = self._moved_handles(node, outputs)
        for name, old in moved.items():
            say += asides.handle_moved(name, old, label_of(node))
        if not users:
            self._log.ctxs.open(node)
        plain = without_wire(node, outputs)
        level = STORY
        if self._modules and not users:
            _, inside, size = self._modules[-1]
            inside.append(label_of(node))
            self._modules[-1] = (self._modules[-1][0], inside, size + kept)
            level = ENGINE
        self._emit_node(node, level, say, ("apply", "wire edges"), moved, plain)
        if not users:
            self._log.ctxs.close(node)

    def module_entered(self, module: Any) -> None:
        """A layer of minigrad.nn runs: its nodes are one step of the story."""
        self._log.program_ran()
        self._modules.append((module, [], 0))

    def module_left(self, module: Any, result: Any) -> None:
        """The layer has returned, or an exception has left it."""
        self._log.program_ran()
        _, inside, size = self._modules.pop()
        if not inside:
            return
        name = self._log.names.of_module(module)
        self._log.emit(
            "module",
            STORY,
            asides.module(type(module).__name__, name, inside, size, result),
            cue=name or type(module).__name__,
        )

    def _order(self) -> int:
        """1 for a node of forward, 2 for one that a recorded backward makes."""
        if running_task() is None and not self.other_engine_runs:
            self._recorded_tasks.clear()  # an error may have left one behind
        return 1 + len(self._recorded_tasks)

    def _moved_handles(self, node: Any, outputs: tuple[Any, ...]) -> dict[str, str]:
        """Variables whose tensor got ``node`` in place of another: that one's name."""
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
        return None if node is None else self._node_ids.get(self.entry_of(node))

    def _show_older(self, node: Any) -> None:
        """Show a node, and all below it, that this recording has not met yet."""
        unseen = [] if self._node_ids.get(node) is not None else [node]
        found: list[Any] = []
        while unseen and len(found) < MOST_OLD_NODES:
            current = unseen.pop()
            if self._node_ids.get(current) is not None:
                continue
            self._node_ids.add(current)
            found.append(current)
            for edge in current._edges:
                if edge is not None and edge is not NOT_A_TENSOR:
                    unseen.append(split_edge(edge)[0])
        for current in reversed(found):
            if is_leaf(current):
                name = self._log.names.of(current.variable) or "without a name"
                say = sentences.leaf_node(name)
            else:
                memory, owner = self._log.memory, self._id(current)
                kept = memory.look_at_node(current, owner, label_of(current))
                say = sentences.older_node(label_of(current)) + sentences.kept(kept)
            self._emit_node(current, ENGINE, say, None)

    def _emit_node(
        self,
        node: Any,
        level: int,
        say: str,
        phase: tuple[str, str] | None,
        moved: Iterable[str] = (),
        plain: Sequence[int] = (),
    ) -> None:
        if self._log.left_out:
            self._log.emit("graph.node", level, say)
            return  # a node that no step shows would stay faint for ever
        name = self._id(node)
        leaf = is_leaf(node)
        cid = None
        if not leaf:
            cid = self._log.ctxs.belongs_to(node, name)
        self._labels[name] = label_of(node)
        self.nodes.append(
            {
                "id": name,
                "label": label_of(node),
                "kind": "accumulate" if leaf else "function",
                "ctx": cid,
                "tensor": self._log.names.of(node.variable) if leaf else None,
                "outputs": len(node._output_metadata),
                "plain": list(plain),
                "order": self._order(),
                "again": self._reruns > 0,
            }
        )
        added = []
        for slot, edge in enumerate(node._edges):
            receiver, receiver_slot = split_edge(edge)
            if edge is None or edge is NOT_A_TENSOR:
                continue
            if self._node_ids.get(receiver) is None:
                continue
            new = f"e{len(self.edges)}"
            self._edge_ids[name, slot] = new
            self.edges.append(
                {
                    "id": new,
                    "from": name,
                    "to": self._id(receiver),
                    "slot": slot,
                    "to_slot": receiver_slot,
                }
            )
            added.append(new)
        fields: dict[str, Any] = {}
        if moved:
            fields["h"] = dict.fromkeys(moved, name)
            self._log.handles.update(fields["h"])
        self._log.emit("graph.node", level, say, phase=phase, n=name, e=added, **fields)

    def _id(self, node: Any) -> str:
        return self._node_ids.get(node) or self._node_ids.add(node)

    def _known(self, node: Any) -> str | None:
        return self._node_ids.get(node)

    def _adds_to_grad(self, tensor: Any) -> bool:
        picked = self._picked
        return isinstance(tensor, Tensor) and (
            isinstance(picked, AccumulateGrad) and picked.variable._grad is tensor
        )

    def _ref(self, value: Any) -> Ref:
        return None if value is None else self._log.values.ref(value)


def inside_of(count: int) -> dict[str, Any]:
    """The field of a backward that runs inside ``count`` others."""
    return {"inside": count} if count else {}


def without_wire(node: Any, outputs: tuple[Any, ...]) -> list[int]:
    """The outputs of a recorded call through which no gradient comes back."""
    return [
        slot
        for slot, output in enumerate(outputs)
        if len(outputs) > 1 and not (is_tensor(output) and maker_of(output) is not None)
    ]


def is_users(node: Any) -> bool:
    """Whether the node's rule was written by a user, so that its call is a step."""
    if isinstance(node, ForeignNode):
        return node.is_users
    function = getattr(node, "_forward_cls", None)
    return function is not None and not issubclass(function, Builtin)
