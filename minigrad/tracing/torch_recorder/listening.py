"""Hearing torch: from its own hooks, and through doors held open while recording.

Doors are opened, and shut when the recording ends: a ``TorchFunctionMode``, which hears
each call of torch from Python; ``apply`` of Functions; the function through which torch
enters its engine; blocks that set hooks on saved tensors, and checkpoints. Nodes have
hooks for the time of one backward. What goes on inside torch's C++ is not seen, and the
recording says so.
"""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Callable
from typing import Any, Final

from minigrad.tracing.foreign import version_of
from minigrad.tracing.happenings import Happenings
from minigrad.tracing.torch_recorder.calls import TorchCalls
from minigrad.tracing.torch_recorder.doors import heard, mode_class, replaced
from minigrad.tracing.torch_recorder.engine import TorchEngine
from minigrad.tracing.torch_recorder.graph import CHECKPOINT
from minigrad.tracing.torch_recorder.hooks import REGISTERS, TorchHooks, TorchSavedHooks
from minigrad.tracing.torch_recorder.telling import TorchTelling

IN_PLACE_OPERATORS: Final = (
    *("__setitem__", "__iadd__", "__isub__", "__imul__", "__itruediv__", "__ipow__"),
    *("__ifloordiv__", "__imod__", "__iand__", "__ior__", "__ixor__"),
    *("__ilshift__", "__irshift__"),
)

MAKES_DUAL: Final = ("_make_dual", "make_dual")
"""Functions whose result is told by its value, and not as theirs."""


class TorchListener:
    """Opens the doors through which torch is heard, and shuts them again."""

    def __init__(
        self, torch: Any, happenings: Happenings, spoke: Callable[[], None]
    ) -> None:
        self._tell = telling = TorchTelling(torch, happenings, spoke)
        self.said = telling.said
        self._mode = mode_class(torch)(self._hear_call)
        self._calls = TorchCalls(telling)
        self._hooks = TorchHooks(telling)
        self._saved = TorchSavedHooks(telling)
        self._engine = TorchEngine(telling, self._hooks, self._saved, self._mode)
        self._undo = contextlib.ExitStack()

    def start(self) -> None:
        """Open the doors, all or none."""
        autograd = self._tell.torch.autograd
        function, hooks = autograd.function, autograd.graph.saved_tensors_hooks
        with contextlib.ExitStack() as undo:

            def open_door(owner: Any, name: str, hear: Callable[..., Any]) -> None:
                stand_in: Any = heard(getattr(owner, name), hear)
                if isinstance(vars(owner).get(name), staticmethod):
                    stand_in = staticmethod(stand_in)
                undo.enter_context(replaced(owner, name, stand_in))

            base = function._SingleLevelFunction
            apply = classmethod(self._calls.hearing_apply(base))
            undo.enter_context(replaced(base, "apply", apply))
            ctx, engine = function.FunctionCtx, self._engine
            open_door(ctx, "set_materialize_grads", self._calls.sets_flag)
            open_door(ctx, "save_for_backward", self._calls.saves)
            open_door(autograd, "_engine_run_backward", engine.runs_backward)
            open_door(hooks, "__enter__", self._saved.enters)
            open_door(hooks, "__exit__", self._saved.leaves)
            if CHECKPOINT in sys.modules:
                checkpoint = sys.modules[CHECKPOINT].CheckpointFunction
                open_door(checkpoint, "backward", self._saved.runs_backward)
            undo.enter_context(self._mode)
            self._undo = undo.pop_all()

    def stop(self) -> None:
        """Shut the doors."""
        self._tell.is_over = True
        self._undo.close()

    def _hear_call(self, call: Callable[[], Any], function: Any, args: Any) -> Any:
        changed, before = None, 0
        if self._tell.listens():
            changed = args[0] if args and changes_in_place(function) else None
            before = version_of(changed)
        result = call()
        if not self._tell.listens():
            return result
        with self._tell.looking():
            if self._tell.torch._C._are_functorch_transforms_active():
                self._tell.say("transforms")
            else:
                if version_of(changed) > before:
                    self._tell.spoke()
                    self._tell.happenings.changed_in_place(changed)
                is_new = changed is None
                told = result if is_new else changed
                self._tell.meet_all(told, not is_new, args)
                name = getattr(function, "__name__", "")
                if name in REGISTERS:
                    self._hooks.registered(args[0])
                if name != "__get__":  # a variable is looked at, and nothing made
                    maker = None if name in MAKES_DUAL else name.strip("_")
                    self._tell.meet_tangents(result, maker)
        return result


def changes_in_place(function: Any) -> bool:
    """Whether a function of torch's may change its first argument."""
    name = getattr(function, "__name__", "")
    in_place = name.endswith("_") and not name.endswith("__")
    return in_place or name in IN_PLACE_OPERATORS
