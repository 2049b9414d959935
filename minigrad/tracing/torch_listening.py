"""Hearing torch: from its own hooks, and through doors held open while recording.

Three doors are opened, and shut when the recording ends: a ``TorchFunctionMode``, which
hears each call of torch from Python; ``apply`` of Functions; and the function through
which torch enters its engine. Nodes have hooks for the time of one backward. What goes
on inside torch's C++ is not seen, and the recording says so.
"""

from __future__ import annotations

import contextlib
import functools
import threading
from collections.abc import Callable, Iterable, Iterator
from typing import Any, Final

from minigrad.tracing.foreign import unheard, version_of
from minigrad.tracing.graph_log import GraphLog
from minigrad.tracing.happenings import Happenings
from minigrad.tracing.log import EventLog
from minigrad.tracing.story import Story
from minigrad.tracing.torch_backward import TorchTask
from minigrad.tracing.torch_doors import (
    mode_class,
    next_call_heard,
    put_first,
    replaced,
    tensors_in,
)
from minigrad.tracing.torch_graph import (
    TorchGraph,
    TorchNode,
    is_torchs,
    outputs_of,
    raw_saved,
)
from minigrad.tracing.values import error_text

UNSEEN: Final = {
    "apply": (
        "This is torch's own apply, deep in its C++. Seen are the inputs, ctx, forward "
        "and the result. Just when the output is wrapped and wired is not seen; it is "
        "told when apply has returned."
    ),
    "setup": "torch has made ctx already, but lets nobody see it before setup_context.",
    "backward": (
        "This is torch's own engine, deep in its C++. Hooks on its nodes tell what "
        "arrives at each and what leaves it. What waits at a node, and when saved "
        "tensors go, is not seen; it follows from that. Of your own hooks, only the "
        "lines are seen, and nobody counts the bytes."
    ),
    "engine": "This torch enters its engine by an unknown door: backward is not heard.",
    "transforms": "What torch does inside its function transforms is not heard.",
}
"""What torch does not let us see; each is said where it first matters."""

IN_PLACE_OPERATORS: Final = (
    *("__setitem__", "__iadd__", "__isub__", "__imul__", "__itruediv__", "__ipow__"),
    *("__ifloordiv__", "__imod__", "__iand__", "__ior__", "__ixor__"),
    *("__ilshift__", "__irshift__"),
)


class TorchListener:
    """Tells the story what torch does in this thread, between start and stop."""

    def __init__(
        self,
        torch: Any,
        story: Story,
        happenings: Happenings,
        graph: GraphLog,
        log: EventLog,
        spoke: Callable[[], None],
    ) -> None:
        self.failure: str | None = None
        self.said: list[str] = []
        self._torch = torch
        self._story = story
        self._happenings = happenings
        self._told = graph
        self._log = log
        self._spoke = spoke
        self._graph = TorchGraph(torch, log.values)
        graph.entry_of = self._entry_of
        self._thread = threading.get_ident()
        self._calls: list[TorchNode] = []
        self._tasks: list[TorchTask] = []
        self._undo = contextlib.ExitStack()

    def __len__(self) -> int:
        """How many nodes of torch's were met."""
        return len(self._graph)

    def start(self) -> None:
        """Open the doors, all or none."""
        function = self._torch.autograd.function
        autograd = self._torch.autograd
        self._mode = mode_class(self._torch)(self._hear_call)
        with contextlib.ExitStack() as undo:
            base = function._SingleLevelFunction
            apply = classmethod(self._hearing_apply(base))
            undo.enter_context(replaced(base, "apply", apply))
            flag = self._hearing_flag(function.FunctionCtx.set_materialize_grads)
            undo.enter_context(
                replaced(function.FunctionCtx, "set_materialize_grads", flag)
            )
            if hasattr(autograd, "_engine_run_backward"):
                run = self._hearing_backward(autograd._engine_run_backward)
                undo.enter_context(replaced(autograd, "_engine_run_backward", run))
            else:
                self.said.append(UNSEEN["engine"])
            undo.enter_context(self._mode)
            self._undo = undo.pop_all()

    def stop(self) -> None:
        """Shut the doors."""
        self._undo.close()

    # The doors: each passes on what it was called with, whatever is told about it.

    def _hear_call(self, call: Callable[[], Any], function: Any, args: Any) -> Any:
        changed, before = None, 0
        if self._listens():
            changed = args[0] if args and changes_in_place(function) else None
            before = version_of(changed)
        result = call()
        if not self._listens():
            return result
        with self._looking():
            if self._torch._C._are_functorch_transforms_active():
                self._say("transforms")
            else:
                if version_of(changed) > before:
                    self._spoke()
                    self._happenings.changed_in_place(changed)
                self._meet_all(result if changed is None else changed)
        return result

    def _hearing_apply(self, base: Any) -> Callable[..., Any]:
        function = self._torch.autograd.Function

        def apply(cls: Any, *args: Any, **kwargs: Any) -> Any:
            above: Any = super(base, cls)
            run = functools.partial(above.apply, *args, **kwargs)
            if not issubclass(cls, function) or is_torchs(cls) or not self._listens():
                return run()
            return self._apply(cls, args, run)

        return apply

    def _hearing_flag(self, original: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(original)
        def set_materialize_grads(ctx: Any, value: Any) -> Any:
            if self._listens() and self._calls:
                self._calls[-1].flags["materialize_grads"] = value
            return original(ctx, value)

        return set_materialize_grads

    def _hearing_backward(self, original: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(original)
        def _engine_run_backward(*args: Any, **kwargs: Any) -> Any:
            inside = self._torch._C._are_functorch_transforms_active()
            if inside or not self._listens():
                return original(*args, **kwargs)
            return self._backward(args, functools.partial(original, *args, **kwargs))

        return _engine_run_backward

    # A call of a learner's Function.

    def _apply(self, cls: Any, args: tuple[Any, ...], run: Callable[[], Any]) -> Any:
        with contextlib.ExitStack() as open_now:
            node = None
            with self._looking():
                node = self._call_begins(cls, args, open_now)
            try:
                result = run()
            except BaseException:
                if node is not None:
                    self._log.ctxs.close(node)
                raise
        if node is not None:
            with self._looking():
                self._call_ends(node, result)
            node.lets_go()
        return result

    def _call_begins(
        self, cls: Any, args: tuple[Any, ...], open_now: contextlib.ExitStack
    ) -> TorchNode:
        self._say("apply")
        needs = [isinstance(a, self._torch.Tensor) and a.requires_grad for a in args]
        edges: tuple[Any, ...] = ()
        if self._torch.is_grad_enabled() and any(needs):
            self._meet_all(args)
            edges = tuple([self._graph.edge_of(value) for value in args])
        node = TorchNode(f"{cls.__name__}Backward", edges, cls)
        node.needs_input_grad = tuple(needs)
        self._story.ctx_created(node, cls, args)
        self._calls.append(node)
        open_now.callback(self._calls.remove, node)
        self._hear_rules(cls, node, open_now)
        return node

    def _hear_rules(
        self, cls: Any, node: TorchNode, open_now: contextlib.ExitStack
    ) -> None:
        """Hear when forward and setup_context of this call begin and end."""
        takes_ctx = cls.setup_context is self._torch.autograd.Function.setup_context

        def begins(*args: Any) -> None:
            with self._looking():
                if takes_ctx:
                    node.holds_ctx(args[0])
                else:
                    self._say("setup")
                self._story.say_forward_runs(node)

        def keeps(ctx: Any, *args: Any) -> None:
            with self._looking():
                node.holds_ctx(ctx)
                node.reads_marks()
                self._story.say_saved(node)

        ends = keeps if takes_ctx else nothing
        open_now.enter_context(next_call_heard(cls, "forward", begins, ends))
        if not takes_ctx:
            open_now.enter_context(
                next_call_heard(cls, "setup_context", nothing, keeps)
            )

    def _call_ends(self, node: TorchNode, result: Any) -> None:
        outputs = result if isinstance(result, tuple) else (result,)
        ctx = node.ctx()
        recorded = ctx is not None and any(
            [tensor.grad_fn is ctx for tensor in tensors_in(self._torch, outputs)]
        )
        told = node.to_save or ()
        dirty = node.flags.get("dirty", ())
        node.forgets_marks()
        for tensor in dirty:
            self._happenings.changed_in_place(tensor)
        if recorded:
            node._output_metadata = outputs_of(self._torch, ctx)
            self._graph.add(ctx, node)
            slots = dict(enumerate(raw_saved(ctx)))
            for number, tensor in enumerate(told):
                self._graph.keep(node, str(number), slots.get(number), tensor)
        self._story.say_wired(node, outputs, recorded)

    # A backward.

    def _backward(self, args: tuple[Any, ...], run: Callable[[], Any]) -> Any:
        task = None
        before = len(self._log.ctxs.at_work)
        with contextlib.ExitStack() as hooks:
            with self._looking():
                task = self._begin(hooks, *args)
            # Set aside while it passes on the call of backward: rules are heard too.
            hooks.enter_context(self._mode)
            try:
                result = run()
            except BaseException:
                self._log.ctxs.close_down_to(before)
                raise
            finally:
                self._told.other_engine_runs = len(self._tasks) > 1
        if task is not None:
            with self._looking():
                self._tell_captured(task, args, result)
                self._story.backward_finished(task)
        return result

    def _tell_captured(
        self, task: TorchTask, args: tuple[Any, ...], result: Any
    ) -> None:
        """What ``grad`` gives back; torch lets nobody see when it laid that aside."""
        asked = args[4] if result else ()
        for one, gradient in zip(asked, result or (), strict=True):
            node, slot = self._place_of(one)
            if node is not None and gradient is not None:
                entry, told = self._graph.find(node), task.shown(gradient)
                self._happenings.gradient_captured(entry, slot, told)

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
        self._say("backward")
        roots, nodes = [], []
        for output, gradient in zip(outputs, gradients, strict=True):
            node, slot = self._place_of(output)
            if node is not None:
                self._meet(node)
                nodes.append(node)
                roots.append((self._graph.find(node), slot, gradient))
        wanted = [self._place_of(one)[0] for one in inputs or ()]
        targets = [self._graph.find(node) for node in wanted if node is not None]
        keeps, records = bool(retain_graph), bool(create_graph)
        depth = len(self._tasks)
        task = TorchTask(self._story, roots, keeps, records, targets, depth)
        self._told.other_engine_runs = True
        for node in all_below(nodes):
            self._hook(node, task, hooks)
        self._tasks.append(task)
        hooks.callback(self._tasks.remove, task)
        self._story.backward_started(task)
        return task

    def _place_of(self, output: Any) -> tuple[Any, int]:
        """The node of which something is an output, and which; None without one."""
        if not isinstance(output, self._torch.Tensor):
            return output.node, output.output_nr  # a GradientEdge
        if not output.requires_grad:
            return None, 0
        if output.grad_fn is None:
            return self._torch.autograd.graph.get_gradient_edge(output).node, 0
        return output.grad_fn, output.output_nr

    def _hook(self, node: Any, task: TorchTask, hooks: contextlib.ExitStack) -> None:
        """Hear ``node`` run; a backward inside a backward hears its own nodes."""
        entry = self._graph.find(node)

        def before(arrived: Any) -> None:
            if self._listens() and self._tasks[-1] is task:
                with self._looking():
                    self._meet_all(arrived)
                    task.before(entry, arrived)

        def at_once(returned: Any, received: Any) -> None:
            if self._listens() and self._tasks[-1] is task:
                with self._looking():
                    self._meet_all(returned)
                    task.returned(entry, returned)

        def after(returned: Any, received: Any) -> None:
            if self._listens() and self._tasks[-1] is task:
                with self._looking():
                    if entry.is_leaf:
                        self._meet_all(getattr(entry.variable, "grad", None))
                        task.leaf_ran(entry, received[0])
                    else:
                        self._meet_all(returned)
                        task.ran(entry, returned)

        hooks.callback(node.register_prehook(before).remove)
        if entry.is_users:
            handle = node.register_hook(at_once)
            put_first(handle)
            hooks.callback(handle.remove)
        hooks.callback(node.register_hook(after).remove)

    # What is told.

    def _entry_of(self, node: Any) -> Any:
        """The story's node for one of torch's; any other is itself."""
        if not isinstance(node, self._torch.autograd.graph.Node):
            return node
        with self._looking():
            return self._graph.known(node) or node

    def _meet_all(self, result: Any) -> None:
        for tensor in tensors_in(self._torch, result):
            if tensor.requires_grad and tensor.grad_fn is not None:
                self._meet(tensor.grad_fn)

    def _meet(self, root: Any) -> None:
        """Tell of the nodes at and below ``root`` that the recording has seen made."""
        unmet = self._graph.unmet(root)
        self._graph.find(root)
        for node in unmet:
            if self._graph.is_new(node):
                self._spoke()
                self._story.say_joined(self._graph.find(node))

    def _say(self, about: str) -> None:
        """Say once what cannot be seen."""
        self._spoke()
        if UNSEEN[about] not in self.said:
            self.said.append(UNSEEN[about])
            self._story.note(UNSEEN[about])

    def _listens(self) -> bool:
        return self.failure is None and threading.get_ident() == self._thread

    @contextlib.contextmanager
    def _looking(self) -> Iterator[None]:
        """Look and tell; where that fails, the program goes on, and torch unheard."""
        try:
            with unheard():
                yield
        except Exception as error:
            self.failure = error_text(error)
            self._story.note(
                f"The recorder stumbled over something of torch's ({self.failure}). "
                "From here on torch is not heard."
            )


def all_below(roots: list[Any]) -> Iterable[Any]:
    """The nodes at and below ``roots``, each once."""
    met: dict[Any, None] = dict.fromkeys(roots)
    unseen = list(met)
    while unseen:
        for node, _ in unseen.pop().next_functions:
            if node is not None and node not in met:
                met[node] = None
                unseen.append(node)
    return met


def changes_in_place(function: Any) -> bool:
    """Whether a function of torch's may change its first argument."""
    name = getattr(function, "__name__", "")
    in_place = name.endswith("_") and not name.endswith("__")
    return in_place or name in IN_PLACE_OPERATORS


def nothing(*args: Any) -> None:
    """What is told where there is nothing to tell."""
