"""The seam for interpreters: who takes over a call before it is run.

Forward mode, vmap and the other function transforms are interpreters. A call asks the
one on top of this thread's stack, and that one alone: it does its own part, and makes
the call again one place further down, `below` itself. At the bottom the call is run,
and what runs it knows of no interpreter.

So it is with operations: ``Function.apply``, and ``apply_in_place``. Any other function
that a transform treats in its own way is ``dispatched``: the innermost interpreter that
has a method of that name handles the call.
"""

from __future__ import annotations

import functools
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Final, TypeVar, cast

from minigrad.engine.grad_mode import _this_thread

if TYPE_CHECKING:
    from minigrad.engine.core.function import Function

Called = TypeVar("Called", bound=Callable[..., Any])
Opened = TypeVar("Opened", bound="Interpreter")


class Interpreter:
    """One level of interpretation, which leaves every call as it is.

    A method that handles a dispatched function gets that function and its arguments.
    """

    is_open = True
    kind = ""
    is_lowest = False
    """Whether it lies below the levels of forward mode as well."""

    def apply(self, function: type[Function], inputs: tuple[Any, ...]) -> Any:
        """A Function on ``inputs``: what ``function.apply`` shall return."""
        return self.below(function.apply, *inputs)

    def apply_in_place(
        self, call: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> Any:
        """An operation that overwrites a tensor, ``args[1]``."""
        return self.below(call, *args, **kwargs)

    def get_kind(
        self, call: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> str:
        """What it is: "level", "vmap", "grad" or "jvp"."""
        return self.kind

    def sees_gradients(self) -> bool:
        """Whether a backward carries Tensors, so that its rules come to this level."""
        return True

    def below(self, call: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        """``call(*args)``, seen by the interpreters under this one."""
        raise NotImplementedError


active: dict[Interpreter, int] = {}
"""How often each is open, in all threads: while empty, no call looks further."""

everywhere: tuple[Interpreter, ...] = ()
"""Those that are under the stacks of all threads, the outermost first."""

_changing: Final = threading.RLock()


def top() -> Interpreter | None:
    """Who is to be asked first in this thread, if anybody is."""
    mode = _this_thread.mode
    if mode.interpreters:
        return mode.interpreters[-1]
    limit = mode.forward_limit
    for interpreter in reversed(everywhere):
        if interpreter.number < limit:  # type: ignore[attr-defined]  # a ForwardLevel
            return interpreter
    return None


def kinds() -> set[str]:
    """What is open in any thread: "level", "vmap", "grad", "jvp"; for observers."""
    return {interpreter.kind for interpreter in active}


def handler_of(name: str) -> Callable[..., Any] | None:
    """The method ``name`` of the innermost interpreter of this thread that has one."""
    mode = _this_thread.mode
    limit = mode.forward_limit
    levels = [one for one in everywhere if one.number < limit]  # type: ignore[attr-defined]
    for interpreter in reversed((*levels, *mode.interpreters)):
        handler: Callable[..., Any] | None = getattr(interpreter, name, None)
        if handler is not None:
            return handler
    return None


def put_everywhere(make: Callable[[], Opened]) -> Opened:
    """Make an interpreter and open it under the stacks of all threads.

    In one step: levels count themselves when they are made, and have to lie in that
    order, whatever other threads open meanwhile.
    """
    global everywhere
    with _changing:
        interpreter = make()
        active[interpreter] = 1
        everywhere += (interpreter,)
        return interpreter


def take_away(interpreter: Interpreter) -> None:
    """Close one that was put everywhere."""
    global everywhere
    with _changing:
        everywhere = tuple([one for one in everywhere if one is not interpreter])
        active.pop(interpreter, None)
    interpreter.is_open = False


def opened_here() -> tuple[Interpreter, ...]:
    """The stack of this thread alone, the innermost last."""
    return _this_thread.mode.interpreters


@contextmanager
def opened(interpreter: Interpreter) -> Iterator[None]:
    """``interpreter`` on top of this thread's stack, for a ``with`` block.

    It may be opened again, also while it's open: it closes with the last block.
    """
    mode = _this_thread.mode
    outer = mode.interpreters
    try:
        with _changing:
            active[interpreter] = active.get(interpreter, 0) + 1
            interpreter.is_open = True
        mode.interpreters = (*outer, interpreter)
        yield
    finally:
        mode.interpreters = outer
        with _changing:
            left = active.get(interpreter, 1) - 1
            interpreter.is_open = left > 0
            if left:
                active[interpreter] = left
            else:
                active.pop(interpreter, None)


@contextmanager
def stack_of(stack: tuple[Interpreter, ...]) -> Iterator[None]:
    """Another stack of this thread, for a ``with`` block."""
    mode = _this_thread.mode
    before = mode.interpreters
    try:
        mode.interpreters = stack
        yield
    finally:
        mode.interpreters = before


def with_stack(
    stack: tuple[Interpreter, ...], call: Callable[..., Any], *args: Any, **kwargs: Any
) -> Any:
    """``call(*args)`` with another stack of this thread."""
    mode = _this_thread.mode
    before = mode.interpreters
    try:
        mode.interpreters = stack
        return call(*args, **kwargs)
    finally:
        mode.interpreters = before


def dispatched(name: str) -> Callable[[Called], Called]:
    """Let the innermost interpreter with a method ``name`` handle the calls."""

    def decorate(call: Called) -> Called:
        @functools.wraps(call)
        def dispatch(*args: Any, **kwargs: Any) -> Any:
            if active and (handler := handler_of(name)) is not None:
                return handler(dispatch, args, kwargs)
            return call(*args, **kwargs)

        return cast("Called", dispatch)

    return decorate


def undispatched(call: Callable[..., Any]) -> Callable[..., Any]:
    """A dispatched function without its dispatch."""
    plain: Callable[..., Any] = call.__wrapped__  # type: ignore[attr-defined]
    return plain


@dispatched("get_kind")
def current_kind() -> str:
    """What the innermost interpreter of this thread says it is; nothing without one."""
    return ""


@dispatched("one_by_one")
def one_by_one(
    call: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]
) -> Any:
    """A function that was told NoStorageError: vmap calls it for each example in turn.

    Raises: the error that is being handled, if no vmap is open.
    """
    raise
