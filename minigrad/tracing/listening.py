"""Hearing the engine, and which line runs.

Lines are heard through sys.monitoring from Python 3.12 on, through sys.settrace before.
"""

from __future__ import annotations

import dis
import inspect
import sys
import threading
from collections.abc import Callable
from types import CodeType, FrameType
from typing import TYPE_CHECKING, Any, Final

from minigrad.engine.observe import RECORDED

if TYPE_CHECKING:
    from minigrad.tracing.lines import FrameLog

monitoring: Final[Any] = getattr(sys, "monitoring", None)
"""From Python 3.12 on."""
RETURNS: Final = {"RETURN_VALUE", "RETURN_CONST"}
SUSPENDS: Final = {"YIELD_VALUE", "RESUME"}
"""Where a suspended frame stands: at its yield, or (from 3.12 on) at what follows."""
CAN_SUSPEND: Final = (
    inspect.CO_GENERATOR | inspect.CO_COROUTINE | inspect.CO_ASYNC_GENERATOR
)
TOOLS: Final = (3, 4, 2, 1)
"""Tool numbers of sys.monitoring, those that no kind of tool is promised first."""
Tell = Callable[..., None]
Together = Callable[[list[Tell]], Tell]
"""Makes one call of several."""


def in_turn(listening: list[Tell]) -> Tell:
    """One call for several, in their order."""

    def tell_all(*facts: Any) -> None:
        for tell in listening:
            tell(*facts)

    return tell_all if len(listening) > 1 else listening[0]


class Hearing(threading.local):
    """Passes on what one ``thread`` tells; other threads speak into the void.

    An observer that lacks the method of a moment does not listen to it; those that
    need to hear of built-in operations that join no graph say so. ``spoke`` is called
    once, before the first thing is passed on; ``together`` makes one call of those of
    the observers, and may keep the tracing of lines away from them.
    """

    def __init__(
        self,
        observers: list[Any],
        spoke: Callable[[], None],
        together: Together,
        thread: int,
    ) -> None:
        self._observers = observers
        self._together = together
        self._spoke: Callable[[], None] | None = spoke
        self._is_heard = threading.get_ident() == thread

    @property
    def observes(self) -> int:
        """Which calls are asked for: those that join a graph, if none says more."""
        return max([getattr(one, "observes", RECORDED) for one in self._observers])

    def hears_first(self, observer: Any) -> None:
        """Pass on to ``observer`` before the others; to be said before anything is."""
        self._observers.insert(0, observer)

    def __getattr__(self, moment: str) -> Tell | None:
        """The method that passes this moment on, made when it first comes.

        None if nobody listens to it.
        """
        if not self._is_heard:
            return None
        heard = [getattr(one, moment, None) for one in self._observers]
        listening = [tell for tell in heard if tell is not None]
        if listening and self._spoke is not None:
            spoke, self._spoke = self._spoke, None
            spoke()
        tell = self._together(listening) if listening else None
        setattr(self, moment, tell)
        return tell


class SettraceBackend:
    """Lines heard through ``sys.settrace``, the only way before Python 3.12."""

    name = "settrace"

    def __init__(self, listener: FrameLog, driver: FrameType | None) -> None:
        self._listener = listener
        self._driver = driver
        self._listening = False
        self._raised: tuple[FrameType, BaseException] | None = None
        self._uninteresting: dict[int, CodeType] = {}  # by id: quicker than its hash
        # Bound once: making a method anew for each event takes its time.
        self._trace = self._global
        self._trace_lines = self._local
        self._on_line = listener.on_line

    def start(self) -> None:
        """Listen, from the next line of the driver on."""
        self._listening = True
        self._before = sys.gettrace()
        if self._driver is not None:
            self._driver_before = self._driver.f_trace
            self._driver.f_trace = self._trace_lines
        sys.settrace(self._trace)

    def stop(self) -> None:
        """Put back what was listening before."""
        self._listening = False
        sys.settrace(self._before)
        if self._driver is not None:
            self._driver.f_trace = self._driver_before

    def follow(self, code: CodeType) -> None:
        """Ask about frames of ``code``, which may have been of no interest before."""
        self._uninteresting.pop(id(code), None)

    def together(self, listening: list[Tell]) -> Tell:
        """One call for several; the calls which they make themselves are not traced."""
        ours, tell = self._trace, in_turn(listening)

        def tell_all(*facts: Any) -> None:
            is_traced = sys.gettrace() is ours  # else it is the program's own, or none
            if is_traced:
                sys.settrace(None)
            try:
                tell(*facts)
            finally:
                if is_traced:
                    sys.settrace(ours)

        return tell_all

    def _global(self, frame: FrameType, event: str, argument: Any) -> Any:
        code = frame.f_code
        if id(code) in self._uninteresting:
            return None
        if not self._listener.wants(code):
            self._uninteresting[id(code)] = code
            return None
        if is_resumed(frame):
            return None  # it has its trace function already
        if self._listener.hides(frame):
            return None
        self._raised = None
        self._listener.on_call(frame)
        return self._trace_lines

    def _local(self, frame: FrameType, event: str, argument: Any) -> Any:
        if not self._listening:
            return None  # a generator of the recording goes on after it
        if event == "line":
            self._raised = None
            self._on_line(frame, frame.f_lineno)
            return self._trace_lines
        raised, self._raised = self._raised, None
        if event == "exception":
            self._raised = (frame, argument[1])
            self._listener.on_exception(frame, argument[1])
        elif event == "return" and raised is not None and raised[0] is frame:
            self._listener.on_unwind(frame, raised[1])
        elif event == "return" and instruction_of(frame) in SUSPENDS:
            self._listener.on_suspend(frame, argument)
        elif event == "return" and instruction_of(frame) in RETURNS:
            self._listener.on_return(frame, argument)
        elif event == "return":
            self._listener.on_unwind(frame, None)
        return self._trace_lines


def instruction_of(frame: FrameType) -> str:
    """The name of the instruction at which a frame stands."""
    return dis.opname[frame.f_code.co_code[frame.f_lasti]]


def is_resumed(frame: FrameType) -> bool:
    """Whether a "call" of settrace is a generator or coroutine that goes on."""
    code = frame.f_code
    if not code.co_flags & CAN_SUSPEND:
        return False
    # Only at the start does a frame stand at a RESUME whose argument is 0.
    at_resume = instruction_of(frame) == "RESUME"
    return not at_resume or bool(code.co_code[frame.f_lasti + 1] & 3)


class MonitoringBackend:
    """Lines heard through ``sys.monitoring``: unwatched code keeps its speed."""

    name = "monitoring"

    def __init__(self, listener: FrameLog, driver: FrameType | None) -> None:
        self._listener = listener
        self._driver = driver
        self._thread = threading.get_ident()
        self._followed: dict[int, CodeType] = {}  # by id: quicker than its hash

    def start(self) -> None:
        """Listen, from the next line of the driver on."""
        events = monitoring.events
        self._tool = free_tools()[0]
        monitoring.use_tool_id(self._tool, "minigrad")
        self._callbacks = {
            events.PY_START: self._start,
            events.LINE: self._heard(self._listener.on_line),
            events.PY_RETURN: self._heard(self._listener.on_return),
            events.PY_YIELD: self._heard(self._listener.on_suspend),
            events.RAISE: self._heard(self._listener.on_exception),
            events.PY_UNWIND: self._heard(self._listener.on_unwind),
        }
        for event, callback in self._callbacks.items():
            monitoring.register_callback(self._tool, event, callback)
        monitoring.set_events(
            self._tool, events.PY_START | events.RAISE | events.PY_UNWIND
        )
        monitoring.restart_events()
        if self._driver is not None:
            self.follow(self._driver.f_code)

    def stop(self) -> None:
        """Give the tool number back."""
        monitoring.set_events(self._tool, 0)
        for code in self._followed.values():
            monitoring.set_local_events(self._tool, code, 0)
        for event in self._callbacks:
            monitoring.register_callback(self._tool, event, None)
        monitoring.free_tool_id(self._tool)

    def follow(self, code: CodeType) -> None:
        """Hear the lines and the return of ``code``."""
        if id(code) in self._followed:
            return
        events = monitoring.events
        self._followed[id(code)] = code
        monitoring.set_local_events(
            self._tool, code, events.LINE | events.PY_RETURN | events.PY_YIELD
        )
        # PY_START of this code may have been switched off before it was wanted.
        monitoring.restart_events()

    together = staticmethod(in_turn)  # unwatched code has its full speed anyway

    def _start(self, code: CodeType, offset: int) -> Any:
        if threading.get_ident() != self._thread:
            return None
        frame = sys._getframe(1)
        if not self._listener.wants(code):
            return monitoring.DISABLE
        self.follow(code)
        if not self._listener.hides(frame):
            self._listener.on_call(frame)
        return None

    def _heard(self, tell: Callable[[FrameType, Any], None]) -> Callable[..., None]:
        """What tells of an event in code that is followed, with its last fact."""

        def callback(code: CodeType, *facts: Any) -> None:
            if id(code) in self._followed and threading.get_ident() == self._thread:
                tell(sys._getframe(1), facts[-1])

        return callback


def free_tools() -> list[int]:
    """The tool numbers of sys.monitoring that nobody uses; none before Python 3.12."""
    if monitoring is None:
        return []
    return [tool for tool in TOOLS if monitoring.get_tool(tool) is None]


def choose_backend(
    listener: FrameLog, driver: FrameType | None
) -> SettraceBackend | MonitoringBackend:
    """The better of the two that can be had now."""
    if free_tools():
        return MonitoringBackend(listener, driver)
    return SettraceBackend(listener, driver)
