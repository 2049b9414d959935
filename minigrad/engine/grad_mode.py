"""What is switched on in each thread: recording, and whether observers are told."""

from __future__ import annotations

import functools
import inspect
import itertools
import math
import threading
import warnings
from collections.abc import Callable, Generator
from contextlib import AbstractContextManager
from types import TracebackType
from typing import TYPE_CHECKING, Any, Final, Self
from weakref import WeakSet

from minigrad import errors

if TYPE_CHECKING:
    from minigrad.engine.core.backward import GraphTask
    from minigrad.engine.core.node import _FunctionBase
    from minigrad.engine.core.tensor import Tensor
    from minigrad.engine.interpreters import Interpreter
    from minigrad.engine.saved_hooks import HooksInForce


class _Mode:
    """What is switched on in one thread, and the counter that numbers its nodes."""

    __slots__ = (
        "__weakref__",
        "before_change",
        "forward_limit",
        "grad_enabled",
        "inference_enabled",
        "interpreters",
        "next_sequence_nr",
        "observed",
        "rules_see_tensors",
        "saved_tensors_hooks",
        "saved_tensors_hooks_refused",
        "stops",
        "task",
    )

    observed: int  # which calls observers are told of: NOBODY's (0) or more
    before_change: Callable[[Tensor], None] | None
    saved_tensors_hooks: HooksInForce | None
    saved_tensors_hooks_refused: str | None
    stops: bool  # backward gives up, because a thread that waits for it was told to
    task: GraphTask | None  # the innermost backward that is running

    def __init__(self, observed: int) -> None:
        self.observed = observed
        self.grad_enabled = True
        self.before_change = None
        self.inference_enabled = False
        self.saved_tensors_hooks = None
        self.saved_tensors_hooks_refused = None
        self.next_sequence_nr = itertools.count().__next__
        self.rules_see_tensors = False
        self.forward_limit = EVERY_LEVEL
        self.stops = False
        self.task = None
        self.interpreters: tuple[Interpreter, ...] = ()


EVERY_LEVEL: Final = math.inf
NO_LEVEL: Final = 0


class _Modes:
    """The modes of all threads, for what is the same in all of them.

    ``observed`` is what each of them says: false while there is no observer.
    """

    __slots__ = ("_known", "_lock", "observed")

    def __init__(self) -> None:
        self.observed = 0
        self._known: WeakSet[_Mode] = WeakSet()
        self._lock = threading.RLock()

    def new(self) -> _Mode:
        """The mode of a thread that has none yet."""
        with self._lock:
            mode = _Mode(self.observed)
            self._known.add(mode)
            return mode

    def set_observed(self, observed: int) -> None:
        """Set the flag of every thread, also of those that start later."""
        with self._lock:
            self.observed = observed
            for mode in self._known:
                mode.observed = observed


modes: Final = _Modes()


class _ThisThread(threading.local):
    """One ``_Mode`` for each thread, looked up once for several questions."""

    def __init__(self) -> None:
        self.mode = modes.new()


_this_thread = _ThisThread()


def this_mode() -> _Mode:
    """What is switched on in this thread."""
    return _this_thread.mode


def is_grad_enabled() -> bool:
    """Whether this thread records operations."""
    return _this_thread.mode.grad_enabled


def is_recording() -> bool:
    """Whether built-in operations make nodes: in inference mode they never do."""
    mode = _this_thread.mode
    return mode.grad_enabled and not mode.inference_enabled


def is_inference_mode_enabled() -> bool:
    """Whether this thread is inside ``inference_mode``."""
    return _this_thread.mode.inference_enabled


def running_task() -> GraphTask | None:
    """The backward that this thread is running, the innermost one; or None."""
    return _this_thread.mode.task


def node_that_runs() -> _FunctionBase | None:
    """The node that a backward of this thread has come to; None outside of backward."""
    task = _this_thread.mode.task
    return None if task is None else task.running


def next_sequence_nr() -> int:
    """A number greater than that of every node this thread has made."""
    return _this_thread.mode.next_sequence_nr()


def forward_limit() -> float:
    """This thread computes tangents at the levels whose number is below this."""
    return _this_thread.mode.forward_limit


class with_forward_limit:
    """For the ``with`` block, compute tangents only at the levels below ``limit``."""

    __slots__ = ("_limit", "_mode", "_previous")

    def __init__(self, limit: float) -> None:
        self._limit = limit
        self._mode = _this_thread.mode

    def __enter__(self) -> None:
        self._previous = self._mode.forward_limit
        self._mode.forward_limit = self._limit

    def __exit__(self, *error: object) -> None:
        self._mode.forward_limit = self._previous


class _GradMode:
    """Sets grad mode inside a ``with`` block, or around every call of a function."""

    __slots__ = ("_mode", "_previous")

    _enabled: bool
    _previous: bool
    _mode: _Mode

    def __enter__(self) -> Self:
        self._mode = mode = _this_thread.mode
        self._previous = mode.grad_enabled
        mode.grad_enabled = self._enabled
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._mode.grad_enabled = self._previous

    def __call__(self, function: Callable[..., Any]) -> Callable[..., Any]:
        enabled = self._enabled
        return in_mode(lambda: _with_grad_mode(enabled), function)


class _FixedGradMode(_GradMode):
    """A mode that needs no argument, so that ``@no_grad`` works without brackets."""

    def __new__(cls, function: Callable[..., Any] | None = None) -> Any:
        mode = super().__new__(cls)
        return mode if function is None else mode(function)


def unrecorded(function: Callable[..., Any], *args: Any) -> Any:
    """``function(*args)``; neither nodes nor tangents are made meanwhile."""
    mode = _this_thread.mode
    before = mode.grad_enabled, mode.forward_limit
    # No `with`: Ctrl-C can come between the end of a block and its __exit__.
    try:
        mode.grad_enabled, mode.forward_limit = False, NO_LEVEL
        return function(*args)
    finally:
        mode.grad_enabled, mode.forward_limit = before


class no_grad(_FixedGradMode):
    """Record nothing: for the ``with`` block or the decorated function.

    See: torch ``no_grad``.
    """

    _enabled = False


class enable_grad(_FixedGradMode):
    """Record again inside a ``no_grad`` block.

    See: torch ``enable_grad``.
    """

    _enabled = True


class _with_grad_mode(_GradMode):
    """Sets a mode that is only known at run time, on entering and not before."""

    __slots__ = ("_enabled",)

    def __init__(self, enabled: bool) -> None:
        self._enabled = enabled


def in_mode(
    make_mode: Callable[[], AbstractContextManager[Any]], function: Callable[..., Any]
) -> Callable[..., Any]:
    """``function``, every call of which runs in a mode of its own."""
    if inspect.isclass(function):
        warnings.warn(
            errors.message(
                function.__name__,
                "Decorating classes is deprecated and will be disabled in future "
                "versions. Only __init__ runs in the mode, and the name now stands "
                "for a function",
                "decorate the methods, one by one",
            ),
            FutureWarning,
            stacklevel=3,
        )
    if inspect.isgeneratorfunction(function):
        return _generator_in_mode(make_mode, function)

    @functools.wraps(function)
    def in_this_mode(*args: Any, **kwargs: Any) -> Any:
        with make_mode():
            return function(*args, **kwargs)

    return in_this_mode


def _generator_in_mode(
    make_mode: Callable[[], AbstractContextManager[Any]], function: Callable[..., Any]
) -> Callable[..., Any]:
    """A generator function whose body runs in a mode that its caller does not see."""

    @functools.wraps(function)
    def in_this_mode(*args: Any, **kwargs: Any) -> Generator[Any, Any, Any]:
        generator = function(*args, **kwargs)
        resume, sent = generator.send, None
        while True:
            try:
                with make_mode():
                    value = resume(sent)
            except StopIteration as stop:
                return stop.value
            try:
                sent = yield value
            except GeneratorExit:
                with make_mode():
                    generator.close()
                raise
            except BaseException as error:
                resume, sent = generator.throw, error
            else:
                resume = generator.send

    return in_this_mode


class set_grad_enabled(_GradMode):
    """Set grad mode at once; as a ``with`` block or a decorator, for its time only.

    See: torch ``set_grad_enabled``.
    """

    __slots__ = ("_enabled",)

    def __init__(self, mode: bool) -> None:
        if mode is not True and mode is not False:
            raise errors.ArgumentTypeError.at(
                "set_grad_enabled",
                "argument 'enabled' (position 1) must be bool, not "
                f"{type(mode).__name__}",
                "give True or False",
            )
        self._enabled = mode
        self._mode = _this_thread.mode
        self._previous = self._mode.grad_enabled
        self._mode.grad_enabled = self._enabled

    def __enter__(self) -> Self:
        self._mode.grad_enabled = self._enabled
        return self

    def __call__(self, function: Callable[..., Any]) -> Callable[..., Any]:
        self._mode.grad_enabled = self._previous
        return super().__call__(function)
