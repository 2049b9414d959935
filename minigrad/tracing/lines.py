"""The lines that run: the user's own, and those of apply and backward."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable
from types import CodeType, FrameType, ModuleType
from typing import Any, Final

from minigrad.engine.backward import GraphTask
from minigrad.engine.function import Function
from minigrad.tracing import sentences
from minigrad.tracing.foreign import is_tensor
from minigrad.tracing.listening import instruction_of
from minigrad.tracing.log import ENGINE, LINES, STORY, EventLog
from minigrad.tracing.marks import mark_of
from minigrad.tracing.sources import SourceStore, is_ours, is_users, phases_of
from minigrad.tracing.values import error_text, plain
from minigrad.utils._region import StopRecomputation

APPLY_PHASES: Final = (
    "collect inputs",
    "create ctx",
    "run forward",
    "take what was saved",
    "wrap outputs",
    "wire edges",
)
BACKWARD_PHASES: Final = (
    "pick the newest ready node",
    "call its backward",
    "check what it returned",
    "add into the receivers",
    "release",
)
UNSHOWN: Final = ("cls", "self", "ctx")
"""Local names that are left out: ctx has a pane of its own."""
GRADIENT_RULES: Final = ("backward", "vjp")
"""The story itself tells that these are called, as forward is, and what they return."""
RULES: Final = ("forward", "setup_context", *GRADIENT_RULES, "jvp")
ENDS_ITERATION: Final = (
    *("FOR_ITER", "END_FOR", "POP_ITER"),
    *("SEND", "END_SEND", "END_ASYNC_FOR", "CLEANUP_THROW"),
)
"""Instructions that take the end of an iterator or of an awaitable as a value."""
APPLY_CODE: Final[CodeType] = vars(Function)["apply"].__func__.__code__
ENGINE_CODES: Final = {
    APPLY_CODE: ("apply", APPLY_PHASES),
    GraphTask.run.__code__: ("backward", BACKWARD_PHASES),
}


class OpenFrame:
    """A watched frame that has not returned yet."""

    def __init__(self, frame: FrameType, source: int, role: str) -> None:
        self.frame = frame
        self.source = source
        self.role = role
        self.line = 0
        self.phase: str | None = None
        self.phase_starts: dict[str, int] = {}
        self.marks: dict[str, Any] = {}
        self.ctxs_before = 0
        self.names: Any = None
        self.handles: set[str] = set()


class FrameLog:
    """Hears lines, and writes them into the event log."""

    def __init__(
        self, log: EventLog, driver: FrameType | None, codes: Iterable[CodeType]
    ) -> None:
        self.sources = SourceStore()
        self._log = log
        self._driver = driver
        self._opening_line = None if driver is None else driver.f_lineno
        self._file = "" if driver is None else driver.f_code.co_filename
        self._users = set(codes)
        self._wanted: dict[CodeType, bool] = {}
        self._says: dict[tuple[int, int], str] = {}
        self._local_names: dict[CodeType, list[str]] = {}
        self._frames: list[OpenFrame] = []
        self._suspended: dict[FrameType, OpenFrame] = {}
        self._phases: dict[int, dict[int, str]] = {}
        self._error: BaseException | None = None
        self.phase_entered: Callable[[str], None] = lambda name: None

    def let_go(self) -> None:
        """Hold no frame of the program any more."""
        self._driver = self._error = None
        self._frames.clear()
        self._suspended.clear()

    def watch(self, code: CodeType) -> None:
        """Count ``code`` among the user's own."""
        self._wanted[code] = True
        self._users.add(code)

    def wants(self, code: CodeType, frame: FrameType) -> bool:
        """Whether the lines of ``code`` are shown."""
        wanted = self._wanted.get(code)
        if wanted is None:
            wanted = self._wanted[code] = self._wants(code)
        return wanted

    def _wants(self, code: CodeType) -> bool:
        if code in ENGINE_CODES or code in self._users:
            return True
        name = code.co_filename
        if code.co_name.startswith("<") and code.co_name != "<module>":
            return False
        return (name == self._file or is_users(name)) and not is_ours(name)

    def on_call(self, frame: FrameType) -> None:
        """A watched function begins."""
        opened = self._open(frame)
        title = self.sources.sources[opened.source]["name"]
        told = frame.f_code.co_name in ("forward", *GRADIENT_RULES)
        level = ENGINE if opened.role == "engine" or told else LINES
        self._step("call", level, sentences.entered(title), opened)

    def on_line(self, frame: FrameType, line: int) -> None:
        """A line is about to run."""
        opened = self._find(frame)
        if opened is None:
            opened = self._open(frame)
        offset = self._offset(frame, line)
        if frame is self._driver and line == self._opening_line:
            return
        if opened.line == offset and self._last_is(opened, "line"):
            return
        opened.line = offset
        before = opened.phase
        opened.phase = self._phase_at(opened, offset)
        say = self._says.get((opened.source, offset))
        if say is None:
            source = self.sources.sources[opened.source]
            text = self.sources.text(opened.source, offset)
            say = sentences.line_next(source["name"], source["first"] + offset, text)
            self._says[opened.source, offset] = say
        self._step("line", ENGINE if opened.role == "engine" else LINES, say, opened)
        if opened.phase is not None and opened.phase != before:
            opened.phase_starts[opened.phase] = len(self._log.events)
            self.phase_entered(opened.phase)

    def on_return(self, frame: FrameType, value: Any) -> None:
        """A watched function ends."""
        opened = self._find(frame)
        if opened is None or frame is self._driver:
            return
        title = self.sources.sources[opened.source]["name"]
        told = title == "your cell" or frame.f_code.co_name in GRADIENT_RULES
        level = ENGINE if opened.role == "engine" or told else LINES
        shown = self._log.values.ref(value) or plain("None")
        self._step("return", level, sentences.left(title, value), opened, val=shown)
        self._close(opened)

    def on_suspend(self, frame: FrameType) -> None:
        """A watched generator or coroutine pauses: no step, and it may go on later."""
        opened = self._find(frame)
        if opened is None:
            return
        self._frames.remove(opened)
        self._suspended[frame] = opened
        self._set_place()

    def on_exception(self, frame: FrameType, error: BaseException) -> None:
        """A line of a watched function raised, or let an exception through."""
        opened = self._find(frame)
        if opened is None or error is self._error or is_no_failure(frame, error):
            return
        self._error = error
        opened.line = self._offset(frame, frame.f_lineno)
        source = self.sources.sources[opened.source]
        number = source["first"] + opened.line
        say = sentences.failed(source["name"], number, error)
        self._step("exception", STORY, say, opened, err=error_text(error))

    def on_unwind(self, frame: FrameType, error: BaseException | None) -> None:
        """A watched function is left by an exception."""
        opened = self._find(frame)
        if opened is None or frame is self._driver:
            return
        if isinstance(error, GeneratorExit):
            self._close(opened)
            return
        title = self.sources.sources[opened.source]["name"]
        say = f"The exception leaves {title}."
        self._step("return", ENGINE, say, opened, val=plain("no value"), unwound=True)
        self._log.ctxs.close_down_to(opened.ctxs_before)
        self._close(opened)

    def phase_start(self, code: CodeType, phase: str) -> int | None:
        """Where the open call of ``code`` entered ``phase``: an index of events."""
        for opened in reversed(self._frames):
            if opened.frame.f_code is code:
                return opened.phase_starts.get(phase)
        return None

    def _open(self, frame: FrameType) -> OpenFrame:
        code = frame.f_code
        role = "engine" if code in ENGINE_CODES else "user"
        names = None
        if code.co_name == "<module>" or frame is self._driver:
            role = "driver"
            self._log.names.add(frame.f_globals, code, first=True)
        elif role == "user" and code.co_name not in RULES:
            names = frame.f_locals
            self._log.names.add(names, code)
        opened = OpenFrame(frame, self.sources.add(code, role), role)
        opened.line = self.sources.head(opened.source)
        opened.ctxs_before = len(self._log.ctxs.at_work)
        opened.names = names
        self._frames.append(opened)
        return opened

    def _close(self, opened: OpenFrame) -> None:
        while self._frames:
            closed = self._frames.pop()
            if closed.names is not None:
                self._log.names.forget(closed.names)
            if closed is opened:
                break
        self._set_place()

    def _find(self, frame: FrameType) -> OpenFrame | None:
        """The entry of ``frame``; one that was suspended has gone on."""
        if frame in self._suspended:
            self._frames.append(self._suspended.pop(frame))
        for opened in reversed(self._frames):
            if opened.frame is frame:
                return opened
        return None

    def _offset(self, frame: FrameType, line: int) -> int:
        first = frame.f_code.co_firstlineno
        return line - (1 if frame.f_code.co_name == "<module>" else first)

    def _last_is(self, opened: OpenFrame, kind: str) -> bool:
        events = self._log.events
        return bool(
            events and events[-1]["k"] == kind and events[-1].get("s") == opened.source
        )

    def _phase_at(self, opened: OpenFrame, offset: int) -> str | None:
        if opened.role != "engine":
            return None
        if opened.source not in self._phases:
            names = ENGINE_CODES[opened.frame.f_code][1]
            lines = self.sources.lines[opened.source]
            self._phases[opened.source] = phases_of(lines, names)
        return self._phases[opened.source].get(offset)

    def _step(
        self, kind: str, level: int, say: str, opened: OpenFrame, **fields: Any
    ) -> None:
        """Emit one event of a frame, with the local variables that changed."""
        self._set_place(opened)
        if opened.role != "engine":
            self._log.program_ran(is_line=True)
        changed = self._changed_locals(opened)
        if changed:
            fields["loc"] = changed
        moved = self._moved_handles(opened, changed)
        if moved:
            fields["h"] = moved
        phase = None
        if opened.phase is not None:
            phase = (ENGINE_CODES[opened.frame.f_code][0], opened.phase)
        self._log.emit(kind, level, say, phase=phase, **fields)

    def _moved_handles(
        self, opened: OpenFrame, changed: Iterable[str]
    ) -> dict[str, str | None]:
        """The variables that lead to another node than at the last step."""
        if opened.role == "engine" or opened.frame.f_code.co_name in RULES:
            return {}
        local = opened.frame.f_locals
        now = {name: self._node_of(local[name]) for name in changed}
        now |= {name: None for name in opened.handles if name not in local}
        handles = self._log.handles
        moved = {n: node for n, node in now.items() if handles.get(n) != node}
        for name, node in moved.items():
            if node is None:
                handles.pop(name, None)
                opened.handles.discard(name)
            else:
                handles[name] = node
                opened.handles.add(name)
        return moved

    def _node_of(self, value: Any) -> str | None:
        return self._log.node_of(value) if is_tensor(value) else None

    def _set_place(self, opened: OpenFrame | None = None) -> None:
        opened = opened or (self._frames[-1] if self._frames else None)
        self._log.place = (
            {} if opened is None else {"s": opened.source, "l": opened.line}
        )
        self._log.depth = len(self._frames)

    def _changed_locals(self, opened: OpenFrame) -> dict[str, Any]:
        changed: dict[str, Any] = {}
        local = opened.frame.f_locals
        for name in self._names_in(opened.frame.f_code):
            if name not in local:
                continue
            value = local[name]
            if not is_shown(value):
                continue
            mark = mark_of(value)
            if opened.marks.get(name) == mark:
                continue
            opened.marks[name] = mark
            changed[name] = self._log.values.ref(value, name) or plain("None")
        return changed

    def _names_in(self, code: CodeType) -> list[str]:
        """The variables of a function that are shown."""
        if code not in self._local_names:
            names = (*code.co_varnames, *code.co_cellvars)
            if code.co_name == "<module>":
                names = code.co_names
            self._local_names[code] = [
                name
                for name in names
                if name not in UNSHOWN and not name.startswith("__")
            ]
        return self._local_names[code]


def is_shown(value: Any) -> bool:
    """Whether a local variable tells the reader something."""
    return not callable(value) and not issubclass(type(value), ModuleType)


def is_no_failure(frame: FrameType, error: BaseException) -> bool:
    """Whether an exception only ends a loop, an ``await``, a generator, a rerun."""
    if isinstance(error, (StopIteration, StopAsyncIteration)):
        return instruction_of(frame) in ENDS_ITERATION
    return isinstance(error, (GeneratorExit, StopRecomputation))


def codes_of(item: Any) -> list[CodeType]:
    """The code objects of a function, a method, a class's rules, or a code object."""
    if isinstance(item, CodeType):
        return [item]
    if isinstance(item, type):
        found = [getattr(item, name, None) for name in RULES]
        return [code for one in found for code in codes_of(one)]
    function = getattr(item, "__func__", item)
    function = inspect.unwrap(function) if callable(function) else function
    code = getattr(function, "__code__", None)
    return (
        [code] if isinstance(code, CodeType) and not is_ours(code.co_filename) else []
    )
