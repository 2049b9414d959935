"""Run code nobody has vetted: for a bounded time, and with nothing shown."""

from __future__ import annotations

import contextlib
import importlib
import io
import math
import operator
import signal
import sys
import threading
import time
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from types import CodeType, ModuleType
from typing import Any

import numpy as np

import minigrad
from minigrad.engine import randomness
from minigrad.engine.grad_mode import this_mode
from minigrad.ops import load_all
from minigrad.tracing.listening import free_tools

_TICK = 0.1

MODES = ("grad_enabled", "inference_enabled", "saved_tensors_hooks")


class OutOfTimeError(BaseException):
    """The time is used up; no ``except Exception`` of the answer keeps it."""


def has_alarm() -> bool:
    """Whether code that runs here can be interrupted, wherever it is."""
    return _HAS_ALARM and threading.current_thread() is threading.main_thread()


class Deadline:
    """A time limit for the stretches of code that run inside ``watching()``.

    In the main thread of a POSIX system, where notebooks run their cells, an alarm
    interrupts Python code and waiting calls such as ``time.sleep``. It does not stop
    one long call into compiled code before it returns, nor a loop that catches
    ``BaseException`` and goes on. In other threads, on Windows and in the browser there
    is no alarm: from Python 3.12 on, code is stopped where it loops or calls, before
    that the time is looked at between two stretches only.
    """

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        self._end = time.monotonic() + seconds
        self._watching = False

    def restart(self, seconds: float) -> None:
        """Give what runs next its own time."""
        self._end = time.monotonic() + seconds

    @contextlib.contextmanager
    def watching(self) -> Iterator[None]:
        """Let this stretch be stopped. Raises: OutOfTimeError."""
        if self._is_over():
            raise OutOfTimeError
        self._watching = True
        try:
            yield
        finally:
            self._watching = False

    @contextlib.contextmanager
    def running(self) -> Iterator[None]:
        """Keep the clock; afterwards every signal and timer is as it was before."""
        way: contextlib.AbstractContextManager[None] = contextlib.nullcontext()
        if has_alarm():
            way = self._by_alarm()
        elif free_tools():
            way = self._by_tracing()
        with way:
            yield

    def _is_over(self) -> bool:
        return time.monotonic() >= self._end

    @contextlib.contextmanager
    def _by_alarm(self) -> Iterator[None]:
        def tick(*_: object) -> None:
            if self._watching and self._is_over():
                raise OutOfTimeError

        began = time.monotonic()
        handler = signal.signal(signal.SIGALRM, tick)
        # It ticks on, since an answer may swallow the first exception.
        delay, interval = signal.setitimer(signal.ITIMER_REAL, _TICK, _TICK)
        try:
            yield
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
            signal.signal(signal.SIGALRM, handler or signal.SIG_DFL)
            if delay:
                left = max(delay - (time.monotonic() - began), 1e-3)
                signal.setitimer(signal.ITIMER_REAL, left, interval)

    @contextlib.contextmanager
    def _by_tracing(self) -> Iterator[None]:
        monitoring: Any = sys.monitoring  # type: ignore[attr-defined]  # from 3.12 on
        thread, again = threading.get_ident(), self._end

        def look(code: CodeType, *_: object) -> Any:
            nonlocal again
            if code.co_filename.startswith(_WHAT_ENDS):
                return monitoring.DISABLE  # it has its full speed
            if self._watching and threading.get_ident() == thread:
                now = time.monotonic()
                if now >= max(again, self._end):
                    again = now + _TICK  # what it passes on its way out runs
                    raise OutOfTimeError
            return None

        tool = free_tools()[0]
        events = monitoring.events
        heard = [events.PY_START, events.JUMP, events.BRANCH]
        monitoring.use_tool_id(tool, "minigrad's time limit")
        for event in heard:
            monitoring.register_callback(tool, event, look)
        monitoring.set_events(tool, sum(heard))
        try:
            yield
        finally:
            monitoring.set_events(tool, 0)
            for event in heard:
                monitoring.register_callback(tool, event, None)
            monitoring.free_tool_id(tool)


# A browser's Python has the name, and no clock behind it.
_HAS_ALARM = hasattr(signal, "setitimer") and sys.platform != "emscripten"
# Our own code, and what closes our blocks: stopped there, it would leave them open.
_WHAT_ENDS = (
    str(Path(minigrad.__file__).parent),
    contextlib.contextmanager.__code__.co_filename,
)


class _Nowhere(io.TextIOBase):
    """A stream that takes everything and keeps nothing."""

    def writable(self) -> bool:
        return True

    def write(self, text: str, /) -> int:
        return len(text)


@contextlib.contextmanager
def silence() -> Iterator[None]:
    """Drop what is printed, to stdout or stderr, and what is warned of."""
    with (
        contextlib.redirect_stdout(_Nowhere()),
        contextlib.redirect_stderr(_Nowhere()),
        warnings.catch_warnings(),
    ):
        warnings.simplefilter("ignore")
        yield


_objects_of = np.fromiter


class _AsImported:
    """What stood in the modules that a check computes with, before any answer ran.

    Of a class, those that it inherits from count as well.
    """

    def __init__(self, *places: ModuleType | type) -> None:
        self._kept = []
        for place in places:
            line = place.__mro__[:-1] if isinstance(place, type) else (place,)
            for each in line:
                own = vars(each)
                shadows = set(dir(each)) - set(own) if isinstance(each, type) else set()
                values = tuple(own.values())
                addresses = _objects_of(values, object, len(values)).tobytes()
                self._kept.append((each, tuple(own), values, addresses, shadows))

    def restore(self) -> list[tuple[Any, str, Any]]:
        """Put back what was replaced since; returns what stood there."""
        replaced = []
        for place, names, values, addresses, shadows in self._kept:
            now = vars(place)
            size = len(now)
            # In one stride, because it is asked after every call of an answer: the
            # same bytes are the same objects in the same order.
            if _objects_of(now.values(), object, size).tobytes() == addresses:
                continue
            if all(map(operator.is_, now.values(), values)) and (
                size == len(names) or (size > len(names) and not shadows)
            ):
                continue
            for name, value in zip(names, values, strict=True):
                if now.get(name, _MISSING) is not value:
                    replaced.append((place, name, now.get(name, _MISSING)))
                    setattr(place, name, value)
            for name in shadows & set(now):
                replaced.append((place, name, now[name]))
                delattr(place, name)
        return replaced

    @contextlib.contextmanager
    def in_force(self) -> Iterator[None]:
        """Compute with the originals; afterwards stands what stood there before."""
        replaced = self.restore()
        try:
            yield
        finally:
            self.restore()
            for place, name, value in replaced:
                if value is _MISSING:
                    delattr(place, name)
                else:
                    setattr(place, name, value)


_MISSING = object()

load_all()  # a method that comes later is no one's doing
# Names that change of themselves, and are no one's doing, are not in here.
as_imported = _AsImported(np, np.linalg, np.random, math, minigrad.Tensor)


@contextlib.contextmanager
def own_random_numbers(seed: int) -> Iterator[None]:
    """Draw from ``seed`` within; the learner's own random numbers go on afterwards."""
    state = randomness.get_rng_state()
    numpys = np.random.get_state()
    randomness.manual_seed(seed)
    np.random.seed(seed % 2**32)
    try:
        yield
    finally:
        randomness.default_generator.set_state(state)
        np.random.set_state(numpys)


@contextlib.contextmanager
def own_modes() -> Iterator[None]:
    """Record within, without hooks on what is saved; what is switched is put back."""
    mode, dtype = this_mode(), minigrad.get_default_dtype()
    before = {name: getattr(mode, name) for name in MODES}
    mode.grad_enabled, mode.saved_tensors_hooks = True, None
    try:
        yield
    finally:
        for name, value in before.items():
            setattr(mode, name, value)
        minigrad.set_default_dtype(dtype)


@contextlib.contextmanager
def bounded_memory(extra: int) -> Iterator[None]:
    """Let the process grow by ``extra`` bytes at most; beyond it, MemoryError.

    On Linux only: elsewhere nothing bounds it.
    """
    set_limit = _memory_limit()
    if set_limit is None:
        yield
        return
    undo = set_limit(extra)
    try:
        yield
    finally:
        undo()


def _memory_limit() -> Callable[[int], Callable[[], None]] | None:
    pages = Path("/proc/self/statm")
    if not pages.exists():
        return None
    resource: Any = importlib.import_module("resource")

    def set_limit(extra: int) -> Callable[[], None]:
        kind = resource.RLIMIT_AS
        before = soft, hard = resource.getrlimit(kind)
        size = int(pages.read_text().split()[0]) * resource.getpagesize() + extra
        if hard != resource.RLIM_INFINITY:
            size = min(size, hard)
        if soft == resource.RLIM_INFINITY or size < soft:
            resource.setrlimit(kind, (size, hard))
        return lambda: resource.setrlimit(kind, before)

    return set_limit
