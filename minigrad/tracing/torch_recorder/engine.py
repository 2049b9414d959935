"""Hearing torch's engine: the door by which it is entered, and hooks on its nodes."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from typing import Any

from minigrad.tracing.nodes import inputs_first
from minigrad.tracing.torch_recorder.backward import TorchTask
from minigrad.tracing.torch_recorder.graph import below
from minigrad.tracing.torch_recorder.hooks import TorchHooks
from minigrad.tracing.torch_recorder.saved import TorchSavedHooks
from minigrad.tracing.torch_recorder.telling import TorchTelling


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
                self._tell.log.ctxs.close_down_to(before)
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
