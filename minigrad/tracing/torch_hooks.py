"""Hearing the learner's own hooks on torch's tensors and nodes, for one backward."""

from __future__ import annotations

import contextlib
import functools
import weakref
from collections.abc import Callable, Iterable, Iterator
from typing import Any, Final

from minigrad.tracing.torch_backward import TorchTask
from minigrad.tracing.torch_graph import TorchNode
from minigrad.tracing.torch_telling import TorchTelling

REGISTERS: Final = ("register_hook", "register_post_accumulate_grad_hook")
NOT_THEIRS: Final = ("torch", "minigrad")
"""The packages whose own hooks are no steps."""


class TorchHooks:
    """Puts a hook that tells in the place of each of the learner's.

    torch keeps hooks in dictionaries. That of a node is had from its handle, those of a
    tensor from the tensor: a leaf, one that a variable holds, or one whose hook was
    registered while recording; of that the dictionary is remembered.
    """

    def __init__(self, telling: TorchTelling) -> None:
        self._tell = telling
        self._registered: list[tuple[weakref.ref[Any], TorchNode, int]] = []
        self._heard: set[int] = set()

    def registered(self, tensor: Any) -> None:
        """A hook was put on ``tensor``, which may not live until backward."""
        hooks = tensor._backward_hooks
        self._registered = [one for one in self._registered if one[0]() is not None]
        is_known = any([one[0]() is hooks for one in self._registered])
        if tensor.grad_fn is None or hooks is None or is_known:
            return
        node = self._tell.graph.find(tensor.grad_fn)
        self._registered.append((weakref.ref(hooks), node, tensor.output_nr))

    def hear_tensors(
        self, nodes: Iterable[Any], task: TorchTask, until: contextlib.ExitStack
    ) -> None:
        """Hear the hooks of all tensors that ``nodes`` made or stand for."""
        inside = {self._tell.graph.find(node) for node in nodes}
        for node in inside:
            leaf = node.variable
            if leaf is not None:
                self._hear(leaf._backward_hooks, "tensor", node, 0, task, until)
                arrived = leaf._post_accumulate_grad_hooks
                self._hear(arrived, "accumulated", node, 0, task, until)
        for tensor in self._tell.named_tensors():
            if tensor.requires_grad and tensor._backward_hooks:
                self.registered(tensor)
        for reference, node, slot in self._registered:
            if node in inside:
                self._hear(reference(), "tensor", node, slot, task, until)

    def hear_node(
        self,
        kind: str,
        handle: Any,
        node: TorchNode,
        task: TorchTask,
        until: contextlib.ExitStack,
    ) -> None:
        """Hear the hooks beside that of ``handle``: those of one kind on its node."""
        self._hear(handle.hooks_dict_ref(), kind, node, 0, task, until)

    def _hear(
        self,
        hooks: Any,
        kind: str,
        node: TorchNode,
        slot: int,
        task: TorchTask,
        until: contextlib.ExitStack,
    ) -> None:
        for key, hook in list((hooks or {}).items()):
            if is_learners(hook) and id(hook) not in self._heard:
                heard = self._hearing(hook, kind, node, slot, task)
                until.enter_context(self._in_its_place(hooks, key, hook, heard))

    @contextlib.contextmanager
    def _in_its_place(
        self, hooks: Any, key: int, hook: Any, heard: Any
    ) -> Iterator[None]:
        hooks[key] = heard
        self._heard.add(id(heard))
        try:
            yield
        finally:
            self._heard.discard(id(heard))
            if hooks.get(key) is heard:  # else the program has taken it off
                hooks[key] = hook

    def _hearing(
        self, hook: Any, kind: str, node: TorchNode, slot: int, task: TorchTask
    ) -> Callable[..., Any]:
        @functools.wraps(hook, updated=())
        def heard(*given: Any) -> Any:
            if kind == "accumulated" and self._tell.listens():
                with self._tell.looking():
                    self._tell.meet_all(node.variable.grad)
                    task.leaf_ran(node)
            result = hook(*given)
            if self._tell.listens():
                with self._tell.looking():
                    told, came = what_is_told(kind, task, given[0], result)
                    self._tell.happenings.hook_called(
                        kind, node, slot, hook, told, came
                    )
            return result

        return heard


def what_is_told(
    kind: str, task: TorchTask, given: Any, result: Any
) -> tuple[Any, Any]:
    """What went into a hook and what came out, as the story tells them."""
    if kind == "accumulated":
        return given, None  # torch lets it change .grad itself
    if kind == "tensor":
        return task.shown(given), task.shown(result)
    told = tuple([task.shown(one) for one in given])
    if result is None:
        return told, None
    several = result if isinstance(result, tuple | list) else (result,)
    return told, tuple([task.shown(one) for one in several])


def is_learners(hook: Any) -> bool:
    """Whether a hook is neither torch's own nor one of a recording."""
    module = getattr(hook, "__module__", None) or type(hook).__module__
    return str(module).partition(".")[0] not in NOT_THEIRS
