"""Hearing torch's engine: the door by which it is entered, and hooks on its nodes.

One backward is a task, which is told as minigrad's engine tells one.
"""

from __future__ import annotations

import contextlib
from collections import Counter
from collections.abc import Callable, Iterable
from typing import Any

from minigrad.engine.core.node import NOT_A_TENSOR
from minigrad.tracing.foreign import ForeignNode, seen_torch
from minigrad.tracing.nodes import inputs_first, receivers_of
from minigrad.tracing.torch_recorder.graph import below
from minigrad.tracing.torch_recorder.hooks import TorchHooks, TorchSavedHooks
from minigrad.tracing.torch_recorder.telling import TorchTelling
from minigrad.tracing.values import safely

Root = tuple[ForeignNode, int, Any]


class TorchTask:
    """A call of torch's engine: what the story asks of one, and tells by.

    torch adds up what arrives at a node where nobody sees it. The same sums are made
    here, in the same order; what really arrived is told when the node's turn comes.
    """

    def __init__(
        self,
        telling: TorchTelling,
        roots: list[Root],
        retain_graph: bool,
        create_graph: bool,
        targets: list[ForeignNode],
    ) -> None:
        self.depth = len(telling.tasks)  # how many backwards this one is inside of
        self.retain_graph = retain_graph
        self.create_graph = create_graph
        self.roots = [(n, slot, self.shown(g)) for n, slot, g in roots]
        self._tell = telling
        self._story = telling.story
        order = inputs_first([node for node, _, _ in roots], leads_to)
        self._arrive = Counter((node, slot) for node, slot, _ in roots)
        self.dependencies: Counter[ForeignNode] = Counter()
        for node in order:
            self._arrive.update([(to, slot) for _, to, slot in receivers_of(node)])
            self.dependencies.update(leads_to(node))
        self._needed = on_a_path(order, targets) if targets else None
        self._waiting: dict[tuple[ForeignNode, int], Any] = {}
        self._had_no_grad = False
        self._for_leaf: Any = None  # what has arrived, and is not told as added yet
        for node, slot, gradient in self.roots:
            self._add(node, slot, gradient)

    def shown(self, gradient: Any) -> Any:
        """A gradient as minigrad tells it: a Tensor only if it has a graph."""
        if gradient is None or self.create_graph:
            return gradient
        return safely(lambda: seen_torch(gradient).array, gradient)

    def before(self, node: ForeignNode, gradients: Iterable[Any]) -> None:
        """A node is about to run, with what has arrived."""
        self._tell.meet_all(gradients)
        told = [self.shown(gradient) for gradient in gradients]
        if node.is_leaf:
            self._had_no_grad = node.variable is None or node.variable.grad is None
            self._for_leaf = told[0]
        self._story.node_picked(self, node, told)

    def returned(self, node: ForeignNode, returned: Iterable[Any]) -> None:
        """A node's rule has returned."""
        self._tell.meet_all(returned)
        self._story.node_returned(self, node, self._by_slot(node, returned))

    def ran(self, node: ForeignNode, returned: Iterable[Any]) -> None:
        """A node has run, and all hooks after it."""
        if node.is_leaf:
            self.leaf_ran(node)
            return
        self._tell.meet_all(returned)
        gradients = self._by_slot(node, returned)
        for slot, to, output in receivers_of(node):
            if self.visits(to):
                gradient = gradients[slot]
                total = self._add(to, output, gradient)
                self._story.gradient_sent(self, node, slot, to, output, gradient, total)
                self.dependencies[to] -= 1
        if not self.retain_graph:
            node.freed = True
            self._story.node_released(node, tuple(node.saved))

    def leaf_ran(self, node: ForeignNode) -> None:
        """A leaf's ``.grad`` is up to date; told once."""
        leaf = node.variable
        self._tell.meet_all(getattr(leaf, "grad", None))
        gradient, self._for_leaf = self._for_leaf, None
        if gradient is None or leaf is None:
            return
        self._story.say_accumulated(node, self._had_no_grad, gradient, leaf.grad)

    def _by_slot(self, node: ForeignNode, returned: Iterable[Any]) -> tuple[Any, ...]:
        """One gradient for each argument; torch leaves out those of no tensor."""
        values = iter(returned)
        gradients: list[Any] = []
        for edge in node._edges:
            value = None if edge is NOT_A_TENSOR else next(values, None)
            gradients.append(None if edge is None else self.shown(value))
        return tuple(gradients)

    def visits(self, node: ForeignNode) -> bool:
        """Whether gradients arrive at ``node`` in this call."""
        return self._needed is None or node in self._needed

    def _add(self, node: ForeignNode, slot: int, gradient: Any) -> Any:
        """What waits at an output of ``node`` now that ``gradient`` has come.

        Only where more than one arrives is there anything to remember.
        """
        place = node, slot
        if self._arrive[place] < 2:
            return gradient
        if gradient is None:
            return self._waiting.get(place)
        plain = seen_torch(gradient).array if self.create_graph else gradient
        before = self._waiting.get(place)
        self._waiting[place] = plain.copy() if before is None else before + plain
        return gradient if before is None else self._waiting[place]


def leads_to(node: ForeignNode) -> list[ForeignNode]:
    """Where the gradients of ``node`` go, one for each edge."""
    return [receiver for _, receiver, _ in receivers_of(node)]


def on_a_path(order: list[ForeignNode], targets: list[ForeignNode]) -> set[ForeignNode]:
    """The nodes that a wanted gradient passes; ``order`` is inputs first."""
    found = set(targets)
    for node in order:
        if not found.isdisjoint(leads_to(node)):
            found.add(node)
    return found


class TorchEngine:
    """Hears each backward; ``mode`` is set aside while torch passes on the call."""

    def __init__(
        self,
        telling: TorchTelling,
        hooks: TorchHooks,
        saved: TorchSavedHooks,
        mode: Any,
    ) -> None:
        self._tell = telling
        self._hooks = hooks
        self._saved = saved
        self._mode = mode

    def runs_backward(self, run: Callable[[], Any], *args: Any) -> Any:
        """The function is called through which torch enters its engine."""
        inside = self._tell.torch._C._are_functorch_transforms_active()
        if inside or not self._tell.listens():
            return run()
        task = None
        before = len(self._tell.log.ctxs.at_work)
        with contextlib.ExitStack() as hooks:
            with self._tell.looking():
                task = self._begin(hooks, *args)
            # Set aside while it passes on the call of backward: rules are heard too.
            hooks.enter_context(self._mode)
            try:
                result = run()
            except BaseException:
                del self._tell.log.ctxs.at_work[before:]
                raise
            finally:
                self._tell.told.other_engine_runs = len(self._tell.tasks) > 1
        if task is not None:
            with self._tell.looking():
                self._tell_captured(task, args, result)
                self._tell.story.backward_finished(task)
        return result

    def _tell_captured(
        self, task: TorchTask, args: tuple[Any, ...], result: Any
    ) -> None:
        """What ``grad`` gives back; torch lets nobody see when it laid that aside."""
        asked = args[4] if result else ()
        for one, gradient in zip(asked, result or (), strict=True):
            node, slot = self._tell.place_of(one)
            if node is not None and gradient is not None:
                entry, told = self._tell.graph.find(node), task.shown(gradient)
                self._tell.happenings.gradient_captured(entry, slot, told)

    def _begin(
        self,
        hooks: contextlib.ExitStack,
        outputs: Any,
        gradients: Any,
        retain_graph: Any,
        create_graph: Any,
        inputs: Any = (),
        *_: Any,
    ) -> TorchTask:
        tell = self._tell
        self._saved.backward_begins(len(tell.tasks))
        tell.say("backward")
        roots, nodes = [], []
        for output, gradient in zip(outputs, gradients, strict=True):
            node, slot = tell.place_of(output)
            if node is not None:
                tell.meet(node)
                nodes.append(node)
                roots.append((tell.graph.find(node), slot, gradient))
        wanted = [tell.place_of(one)[0] for one in inputs or ()]
        targets = [tell.graph.find(node) for node in wanted if node is not None]
        task = TorchTask(tell, roots, bool(retain_graph), bool(create_graph), targets)
        tell.told.other_engine_runs = True
        met = inputs_first(nodes, below)
        for node in met:
            self._hook(node, task, hooks)
        self._hooks.hear_tensors(met, task, hooks)
        tell.tasks.append(task)
        hooks.callback(tell.tasks.remove, task)
        tell.story.backward_started(task)
        return task

    def _hook(self, node: Any, task: TorchTask, hooks: contextlib.ExitStack) -> None:
        """Hear ``node`` run; a backward inside a backward hears its own nodes."""
        entry = self._tell.graph.find(node)

        def heard(tell: Callable[[Any, Any], None]) -> Callable[..., None]:
            def hook(gradients: Any, *_: Any) -> None:
                if self._tell.tasks[-1:] == [task]:
                    self._tell.tell(tell, entry, gradients)

            return hook

        first = node.register_prehook(heard(task.before))
        hooks.callback(first.remove)
        self._hooks.hear(first.hooks_dict_ref(), "pre", entry, 0, task, hooks)
        if entry.is_users:
            handle = node.register_hook(heard(task.returned))
            put_first(handle)
            hooks.callback(handle.remove)
        last = node.register_hook(heard(task.ran))
        hooks.callback(last.remove)
        self._hooks.hear(last.hooks_dict_ref(), "post", entry, 0, task, hooks)


def put_first(handle: Any) -> None:
    """Let the hook of ``handle`` be called before those that were there."""
    hooks = handle.hooks_dict_ref()
    # torch goes by the order of insertion, whatever an OrderedDict is told.
    others = [(key, hook) for key, hook in hooks.items() if key != handle.id]
    for key, hook in others:
        del hooks[key]
        hooks[key] = hook
