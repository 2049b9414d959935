"""Hearing the learner's own hooks: on torch's tensors and nodes, for one backward; and
on saved tensors, with the checkpoints that are made of them."""

from __future__ import annotations

import contextlib
import weakref
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, Final

from minigrad.tracing.foreign import ForeignNode, is_torch_tensor
from minigrad.tracing.torch_recorder.doors import heard
from minigrad.tracing.torch_recorder.graph import CHECKPOINT
from minigrad.tracing.torch_recorder.telling import TorchTelling

if TYPE_CHECKING:
    from minigrad.tracing.torch_recorder.engine import TorchTask

REGISTERS: Final = ("register_hook", "register_post_accumulate_grad_hook")
RERUN: Final = "_recomputation_hook"
"""The hooks that are in force while a checkpointed part runs once more."""
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


class TorchSavedHooks:
    """Puts hooks that tell in the place of those that a ``with`` block sets.

    They stay on what was saved, for as long as torch has that: after the recording they
    only pass on.
    """

    def __init__(self, telling: TorchTelling) -> None:
        self._tell = telling
        self._reruns: list[int] = []

    def enters(self, run: Callable[[], Any], hooks: Any) -> Any:
        """``__enter__`` of torch's ``saved_tensors_hooks`` is called."""
        if not self._tell.listens():
            return run()
        if is_rerun(hooks):
            self.rerun_begins()
            return run()
        pack, unpack = hooks.pack_hook, hooks.unpack_hook
        try:
            hooks.pack_hook = told(self._tell, pack, TorchTelling.packed)
            hooks.unpack_hook = told(self._tell, unpack, TorchTelling.unpacked)
            return run()
        finally:
            hooks.pack_hook, hooks.unpack_hook = pack, unpack

    def leaves(self, run: Callable[[], Any], hooks: Any, kind: Any, *_: Any) -> Any:
        """``__exit__`` of the same is called, with an error of this kind or None."""
        result = run()
        if is_rerun(hooks):
            stops = getattr(kind, "__name__", "") == "_StopRecomputationError"
            self.rerun_ends(failed=kind is not None and not stops)
        return result

    def runs_backward(self, run: Callable[[], Any], *_: Any) -> Any:
        """``backward`` of a checkpoint that is reentrant: it runs forward again.

        The part has run when it calls backward in its turn.
        """
        open_before = len(self._reruns)
        if self._tell.listens():
            self.rerun_begins()
        failed = True
        try:
            result = run()
            failed = False
        finally:
            if len(self._reruns) > open_before:
                self.rerun_ends(failed)
        return result

    def backward_begins(self, depth: int) -> None:
        """A backward inside ``depth`` others: of a checkpoint, the part has run."""
        if self._reruns and self._reruns[-1] == depth:
            self.rerun_ends(failed=False)

    def rerun_begins(self) -> None:
        """A checkpointed part runs once more."""
        with self._tell.looking():
            self._reruns.append(len(self._tell.tasks))
            self._tell.spoke()
            self._tell.happenings.recomputation_started()

    def rerun_ends(self, failed: bool) -> None:
        """It has run."""
        if self._reruns and self._tell.listens():
            with self._tell.looking():
                self._reruns.pop()
                self._tell.happenings.recomputation_finished(failed)


def is_rerun(hooks: Any) -> bool:
    """Whether these hooks are in force while a checkpointed part runs once more."""
    kind = type(hooks)
    return kind.__name__ == RERUN and kind.__module__ == CHECKPOINT


def told(
    telling: TorchTelling, hook: Callable[..., Any], tell: Callable[..., None]
) -> Any:
    """``hook``, told of as long as ``telling`` listens; that is not kept alive."""
    tells = weakref.ref(telling)

    def hear(run: Callable[[], Any], given: Any) -> Any:
        result = run()
        telling = tells()
        if telling is not None:
            telling.tell(tell, telling, hook, given, result)
        return result

    return heard(hook, hear)
