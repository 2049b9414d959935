"""While a rule of an answer runs, the engine differentiates nothing for it."""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Callable, Set
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

from minigrad import course
from minigrad.autograd import forward_ad
from minigrad.course.check import calls
from minigrad.course.check.probes import batches
from minigrad.course.grade import rules
from minigrad.engine.builtin import BuiltinBackward
from minigrad.engine.core.backward import GraphTask, run_here
from minigrad.engine.core.ctx import BackwardCFunction
from minigrad.engine.core.node import _FunctionBase
from minigrad.func import forward as func_forward
from minigrad.transforms import forward_ad_builtins, forward_ad_interpreter


class Guard:
    """Whether the engine is guarded, and what runs now.

    ``inside`` counts the Functions of an answer that are running, ``running`` the
    traversals. Only the judge's own calls come from the main thread, from outside of
    every Function, from no cell, and from those places that are ``asking``. ``home``
    is the process of the worker.
    """

    def __init__(self) -> None:
        self.on = False
        self.home = os.getpid()
        self.inside = 0
        self.running = 0
        asking: list[Any] = [calls.Call.second, batches.gradients_of]
        self.asking: set[CodeType] = {each.__code__ for each in asking}
        self._install()

    def _install(self) -> None:
        node: Any = BackwardCFunction
        node._run_backward = self._entering(node._run_backward)
        node.apply = self._entering(node.apply)
        node._edges = self._from_no_cell(node._edges)
        base: Any = _FunctionBase
        base._run_backward = self._outside(base._run_backward)
        builtin: Any = BuiltinBackward
        # Whoever calls such a rule by hand needs what its node has saved.
        builtin.saved_values = property(self._outside(builtin.saved_values.fget))
        # A level can be made by hand; a tangent cannot get anywhere without these.
        levels: Any = forward_ad_builtins
        levels.builtin_tangents = self._outside(levels.builtin_tangents)
        task: Any = GraphTask
        task.run = self._judge_only(self._counted("running", task.run))
        enter = self._judge_only(forward_ad_interpreter.enter_level)
        modules: tuple[Any, ...] = (forward_ad_interpreter, forward_ad, func_forward)
        for module in modules:
            module.enter_level = enter

    def _watches(self) -> bool:
        """Whether it is on; in a process that an answer has made it always is.

        One that was made while the notebook ran could differentiate later.
        """
        return self.on or os.getpid() != self.home

    def _entering(self, run: Callable[..., Any]) -> Callable[..., Any]:
        """``run`` runs code of an answer."""
        return self._counted("inside", run)

    def _outside(self, run: Callable[..., Any]) -> Callable[..., Any]:
        """``run`` is a rule of the engine, and not for rules of an answer."""

        def guarded(*arguments: Any, **options: Any) -> Any:
            if self._watches() and (self.inside or is_from_an_answer()):
                raise refused()
            return run(*arguments, **options)

        return guarded

    def _judge_only(self, run: Callable[..., Any]) -> Callable[..., Any]:
        """``run`` begins a derivative, which no code of an answer may do now."""

        def guarded(*arguments: Any, **options: Any) -> Any:
            within = self.inside or self.running or is_from_an_answer()
            if self._watches() and (within or not is_from(self.asking)):
                raise refused()
            return run(*arguments, **options)

        return guarded

    def _from_no_cell(self, slot: Any) -> property:
        """Where a node sends its gradients, which an answer may read and not change."""

        def change(node: Any, edges: Any) -> None:
            if self._watches() and sys._getframe(1).f_code.co_filename.startswith("<"):
                raise refused()
            slot.__set__(node, edges)

        return property(slot.__get__, change)

    def _counted(self, name: str, run: Callable[..., Any]) -> Callable[..., Any]:
        """While ``run`` runs, the number of that name is one more."""

        def counted(*arguments: Any, **options: Any) -> Any:
            setattr(self, name, getattr(self, name) + 1)
            try:
                return run(*arguments, **options)
            finally:
                setattr(self, name, getattr(self, name) - 1)

        return counted


def is_from_an_answer() -> bool:
    """Whether code of a cell has called this, or a thread that it has started."""
    if threading.current_thread() is not threading.main_thread():
        return True
    frame = sys._getframe(1)
    while frame.f_back is not None:
        # Cells, and what they compile, have no file; nor has the first frame of all.
        if frame.f_code.co_filename.startswith("<"):
            return True
        frame = frame.f_back
    return False


_COURSE = str(Path(course.__file__).parent)


def is_from(asking: Set[CodeType]) -> bool:
    """Whether one of the judge's questions is what has called the engine.

    What an answer borrows from the engine has no frame of its own. Then whoever has
    called it is somebody else: who iterates a list, or a traversal that has ended.
    """
    frame: FrameType | None = sys._getframe(1)
    traversals = 0
    while frame is not None:
        code = frame.f_code
        if code.co_filename.startswith(_COURSE) and code.co_filename != __file__:
            return code in asking and traversals <= 1
        traversals += code is run_here.__code__
        frame = frame.f_back
    return False


def refused() -> RuntimeError:
    """What an answer is told that asks for a derivative."""
    return RuntimeError(rules.REFUSED)
