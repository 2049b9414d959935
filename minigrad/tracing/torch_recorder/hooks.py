"""Hearing the learner's own hooks on torch's tensors and nodes, for one backward."""

from __future__ import annotations

import contextlib
import weakref
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, Final

from minigrad.tracing.foreign import ForeignNode, is_torch_tensor
from minigrad.tracing.torch_recorder.doors import heard
from minigrad.tracing.torch_recorder.telling import TorchTelling

if TYPE_CHECKING:
    from minigrad.tracing.torch_recorder.engine import TorchTask

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
        self._registered: list[tuple[weakref.ref[Any], ForeignNode, int]] = []
        self._heard: set[int] = set()

    def registered(self, tensor: Any) -> None:
        """A hook was put on ``tensor``, which may not live until backward."""
        hooks = tensor._backward_hooks
        self._registered = [one for one in self._registered if one[0]() is not None]
        is_known = any([one[0]() is hooks for one in self._registered])
        if tensor.grad_fn is None or not hooks or is_known:
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
                self.hear(leaf._backward_hooks, "tensor", node, 0, task, until)
                arrived = leaf._post_accumulate_grad_hooks
                self.hear(arrived, "accumulated", node, 0, task, until)
        for _, tensor in self._tell.log.names.held():
            if is_torch_tensor(tensor) and tensor.requires_grad:
                self.registered(tensor)
        for reference, node, slot in self._registered:
            if node in inside:
                self.hear(reference(), "tensor", node, slot, task, until)

    def hear(
        self,
        hooks: Any,
        kind: str,
        node: ForeignNode,
        slot: int,
        task: TorchTask,
        until: contextlib.ExitStack,
    ) -> None:
        """Hear the learner's among ``hooks``, which are of one kind."""
        for key, hook in list((hooks or {}).items()):
            if is_learners(hook) and id(hook) not in self._heard:
                heard = self._hearing(hook, kind, node, slot, task)
                hooks[key] = heard
                self._heard.add(id(heard))
                until.callback(self._put_back, hooks, key, hook, heard)

    def _put_back(self, hooks: Any, key: int, hook: Any, heard: Any) -> None:
        self._heard.discard(id(heard))
        if hooks.get(key) is heard:  # else the program has taken it off
            hooks[key] = hook

    def _hearing(
        self, hook: Any, kind: str, node: ForeignNode, slot: int, task: TorchTask
    ) -> Any:
        def tell(given: Any, result: Any) -> None:
            told, came = what_is_told(kind, task, given, result)
            self._tell.happenings.hook_called(kind, node, slot, hook, told, came)

        def hear(run: Callable[[], Any], *given: Any) -> Any:
            if kind == "accumulated":
                self._tell.tell(task.leaf_ran, node)
            result = run()
            self._tell.tell(tell, given[0], result)
            return result

        return heard(hook, hear)


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
