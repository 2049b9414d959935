"""Hearing hooks on torch's saved tensors, and the checkpoints that are made of them."""

from __future__ import annotations

import weakref
from collections.abc import Callable
from typing import Any, Final

from minigrad.tracing.torch_recorder.doors import heard
from minigrad.tracing.torch_recorder.graph import CHECKPOINT
from minigrad.tracing.torch_recorder.telling import TorchTelling

RERUN: Final = "_recomputation_hook"
"""The hooks that are in force while a checkpointed part runs once more."""


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
