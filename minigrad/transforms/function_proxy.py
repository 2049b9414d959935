"""What stands for a Function in one apply, for an interpreter that takes part in it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from minigrad.engine.core.function import Function


class FunctionProxy:
    """A Function whose methods are run by ``run``, and what forward left on its ctx.

    ``apply`` forgets most of that when it ends; a level of forward mode needs it then.
    """

    ctx: Any = None
    result: Any = None
    saved_for_forward: tuple[Any, ...] | None = None
    dirty: tuple[Any, ...] = ()
    non_differentiable: tuple[Any, ...] = ()

    def __init__(
        self, function: type[Function], run: Callable[..., Any] | None = None
    ) -> None:
        self.function = function
        self.takes_ctx = function.setup_context is Function.setup_context
        self.run = run

    def __getattr__(self, name: str) -> Any:
        return getattr(self.function, name)

    def apply(self, *inputs: Any) -> Any:
        """What the Function's own apply returns."""
        return Function.apply.__func__(self, *inputs)  # type: ignore[attr-defined]

    @property
    def forward(self) -> Any:
        """The learner's forward."""
        return Method(self._forward, self.function.forward)

    @property
    def setup_context(self) -> Any:
        """The learner's setup_context, or what says that there is none."""
        return self.function.setup_context if self.takes_ctx else self._setup_context

    def _forward(self, *args: Any) -> Any:
        self.result = self._call(self.function.forward, *args)
        if self.takes_ctx:
            self._note(args[0])
        return self.result

    def _setup_context(self, ctx: Any, inputs: tuple[Any, ...], output: Any) -> Any:
        self._call(self.function.setup_context, ctx, inputs, output)
        self._note(ctx)

    def _call(self, method: Callable[..., Any], *args: Any) -> Any:
        return method(*args) if self.run is None else self.run(method, *args)

    def _note(self, ctx: Any) -> None:
        self.ctx = ctx
        self.saved_for_forward = ctx.saved_for_forward
        self.dirty = ctx.dirty_tensors or ()
        self.non_differentiable = ctx.non_differentiable or ()


class Method:
    """A method with something around it; its parameters are the learner's."""

    def __init__(self, call: Callable[..., Any], learners: Callable[..., Any]) -> None:
        self.__wrapped__ = learners
        self.__code__ = getattr(learners, "__code__", None)
        self._call = call

    def __call__(self, *args: Any) -> Any:
        return self._call(*args)
