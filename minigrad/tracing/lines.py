"""The lines that run: the user's own, and those of apply and backward."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable
from types import CodeType, FrameType, ModuleType
from typing import Any, Final

from minigrad.kernels._jit import jit
from minigrad.tracing.codes import (
    APPLY_CODE,
    ENGINE_CODES,
    Reach,
    ShownCode,
    SourceStore,
    is_ours,
    is_users,
)
from minigrad.tracing.foreign import is_tensor
from minigrad.tracing.listening import instruction_of
from minigrad.tracing.log import ENGINE, STORY, EventLog
from minigrad.tracing.messages import message
from minigrad.tracing.values import ATOMS, error_text, mark_of, plain
from minigrad.utils._region import StopRecomputation

ENDS_ITERATION: Final = (
    *("FOR_ITER", "END_FOR", "POP_ITER"),
    *("SEND", "END_SEND", "END_ASYNC_FOR", "CLEANUP_THROW"),
)
"""Instructions that take the end of an iterator or of an awaitable as a value."""


KERNEL_CODE: Final = jit.__call__.__code__
"""Where a kernel of the user's begins: compiled, it has no lines to be heard."""


class OpenFrame:
    """A watched frame that has not returned yet."""

    def __init__(self, frame: FrameType, code: ShownCode, ctxs_before: int) -> None:
        self.frame = frame
        self.code = code
        self.line = code.head
        self.reach = code.stop(code.head).reach
        self.phase: dict[str, str] | None = None
        self.phase_starts: dict[str, int] = {}
        self.marks: dict[str, Any] = {}
        self.ctxs_before = ctxs_before
        self.names: Any = None


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
        # By id, which is quicker than the hash of a code object.
        self._wanted = {
            id(code): (code, True) for code in (*codes, *ENGINE_CODES, KERNEL_CODE)
        }
        self._codes: dict[int, ShownCode] = {}
        self._kinds: dict[type, bool] = {}
        self._frames: list[OpenFrame] = []
        self._suspended: dict[FrameType, OpenFrame] = {}
        self._error: BaseException | None = None
        self.phase_entered: Callable[[str], None] = lambda name: None

    def let_go(self) -> None:
        """Hold no frame of the program any more."""
        self._driver = self._error = None
        self._frames.clear()
        self._suspended.clear()

    def watch(self, code: CodeType) -> None:
        """Count ``code`` among the user's own."""
        self._wanted[id(code)] = code, True

    def wants(self, code: CodeType) -> bool:
        """Whether the lines of ``code`` are shown."""
        known = self._wanted.get(id(code))
        if known is None:
            name, file = code.co_name, code.co_filename
            is_named = not name.startswith("<") or name == "<module>"
            is_theirs = file == self._file or is_users(file)
            wanted = is_named and is_theirs and not is_ours(file)
            known = self._wanted[id(code)] = code, wanted
        return known[1]

    def hides(self, frame: FrameType) -> bool:
        """Whether it is one step of the story: apply of a built-in, or a kernel."""
        if frame.f_code is KERNEL_CODE:
            kernel = frame.f_locals["self"]
            begins = frame.f_lineno == KERNEL_CODE.co_firstlineno
            if begins and kernel.is_compiled and self._frames:
                noted = {"function": kernel.py_func.__name__}
                say = message, "function.compiled", noted
                self._step("call", STORY, self._frames[-1], say=say)
            return True
        return frame.f_code is APPLY_CODE and frame.f_locals["cls"]._on_arrays

    def on_call(self, frame: FrameType) -> None:
        """A watched function begins."""
        opened = self._open(frame)
        code = opened.code
        told = code.is_gradient_rule or frame.f_code.co_name == "forward"
        level = ENGINE if told else code.level
        self._step("call", level, opened)

    def on_line(self, frame: FrameType, line: int) -> None:
        """A line is about to run."""
        frames = self._frames
        if frames and frames[-1].frame is frame:
            opened = frames[-1]
        else:
            known = self._find(frame)
            if known is None and self.hides(frame):
                return
            opened = known or self._open(frame)
        code = opened.code
        offset = line - code.before_first
        if frame is self._driver and line == self._opening_line:
            return
        if opened.line == offset:
            last = self._log.events[-1] if self._log.events else {"k": ""}
            if last["k"] == "line" and last.get("s") == code.source:
                return
        opened.line = offset
        event, phase, reach = code.stops.get(offset) or code.stop(offset)
        before, opened.phase = opened.phase, phase
        reach_of_done, opened.reach = opened.reach, reach
        self._put(event.copy(), opened, reach_of_done)
        if phase is not before and phase is not None:
            opened.phase_starts[phase["name"]] = self._log.count
            self.phase_entered(phase["name"])

    def on_return(self, frame: FrameType, value: Any) -> None:
        """A watched function ends."""
        opened = self._find(frame)
        if opened is None or frame is self._driver:
            return
        code = opened.code
        told = code.title == "your cell" or code.is_gradient_rule
        level = ENGINE if told else code.level
        val = self._log.values.look(value) or plain("None")
        self._step("return", level, opened, opened.reach, val=val)
        self._close(opened)

    def on_suspend(self, frame: FrameType, value: Any) -> None:
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
        opened.line = frame.f_lineno - opened.code.before_first
        opened.reach = opened.code.stop(opened.line).reach
        self._step("exception", STORY, opened, err=error_text(error))

    def on_unwind(self, frame: FrameType, error: BaseException | None) -> None:
        """A watched function is left by an exception."""
        opened = self._find(frame)
        if opened is None or frame is self._driver:
            return
        if isinstance(error, GeneratorExit):
            self._close(opened)
            return
        self._step("return", ENGINE, opened, val=plain("no value"), unwound=True)
        del self._log.ctxs.at_work[opened.ctxs_before :]
        self._close(opened)

    def phase_start(self, phase: str) -> int | None:
        """Where the apply that runs entered ``phase``: an index of events."""
        for opened in reversed(self._frames):
            if opened.frame.f_code is APPLY_CODE:
                return opened.phase_starts.get(phase)
        return None

    def _open(self, frame: FrameType) -> OpenFrame:
        code = frame.f_code
        known = self._codes.get(id(code))
        if known is None:
            role = "engine" if code in ENGINE_CODES else "user"
            if code.co_name == "<module>" or frame is self._driver:
                role = "driver"
            known = self._codes[id(code)] = ShownCode(code, role, self.sources)
        opened = OpenFrame(frame, known, len(self._log.ctxs.at_work))
        if known.role == "driver":
            self._log.names.add(frame.f_globals, first=True)
        elif known.role == "user" and not known.is_rule:
            opened.names = frame.f_locals
            self._log.names.add(opened.names)
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
        if self._suspended and frame in self._suspended:
            self._frames.append(self._suspended.pop(frame))
        for opened in reversed(self._frames):
            if opened.frame is frame:
                return opened
        return None

    def _step(
        self,
        kind: str,
        level: int,
        opened: OpenFrame,
        reach: Reach | None = None,
        **fields: Any,
    ) -> None:
        """Emit one event of a frame; without ``reach`` all variables are looked at."""
        event = {"k": kind, "lvl": level, **fields}
        if opened.phase is not None:
            event["ph"] = opened.phase
        self._put(event, opened, reach or opened.code.reach)

    def _put(self, event: dict[str, Any], opened: OpenFrame, reach: Reach) -> None:
        """Emit an event, with the local variables that the line before has changed."""
        log, code = self._log, opened.code
        log.opened = opened
        log.depth = len(self._frames)
        if not code.is_engine:
            log.ctxs.ran += 1
            log.ctxs.touched += 1
            log.names.moment += 1
        names, bound, runs = reach
        if runs:
            log.ctxs.touched += 1
        if names:
            local = opened.frame.f_locals
            changed = self._changed_locals(opened, local, names, bound)
            if changed:
                if not changed.keys() <= bound:
                    # What was handed on has changed: others may lead to the same.
                    changed |= self._changed_locals(opened, local, code.names, bound)
                    changed = {n: changed[n] for n in code.names if n in changed}
                event["loc"] = changed
            if not code.is_engine and not code.is_rule:
                for name in changed:
                    value: Any = local.get(name)
                    if is_tensor(value):
                        node = log.node_of(value)
                        log.calls.name_output(node, value.output_nr, name)
        log.emit(event)
        if not code.is_engine:
            log.names.moment += 1  # the line that comes next may bind them anew

    def _set_place(self) -> None:
        self._log.opened = self._frames[-1] if self._frames else None
        self._log.depth = len(self._frames)

    def _changed_locals(
        self, opened: OpenFrame, local: Any, names: Iterable[str], bound: Container[str]
    ) -> dict[str, Any]:
        changed: dict[str, Any] = {}
        marks = opened.marks
        kinds, values = self._kinds, self._log.values
        for name in names:
            if name not in local:
                if marks.pop(name, None) is not None:
                    changed[name] = None  # it was deleted
                continue
            value = local[name]
            kind = type(value)
            if kind in ATOMS:
                if name in marks and name not in bound:
                    continue  # nobody else can have changed it
            elif not (kinds.get(kind) or self._is_shown(value)):
                continue
            mark = mark_of(value)
            if marks.get(name) != mark:
                marks[name] = mark
                changed[name] = values.ref(value, name)
        return changed

    def _is_shown(self, value: Any) -> bool:
        """Whether a local variable tells the reader something."""
        kind = type(value)
        if kind not in self._kinds:
            shown = not callable(value) and not issubclass(kind, ModuleType)
            self._kinds[kind] = shown
        return self._kinds[kind]


def is_no_failure(frame: FrameType, error: BaseException) -> bool:
    """Whether an exception only ends a loop, an ``await``, a generator, a rerun."""
    if isinstance(error, (StopIteration, StopAsyncIteration)):
        return instruction_of(frame) in ENDS_ITERATION
    stops = isinstance(error, (GeneratorExit, StopRecomputation))
    return stops or type(error).__name__ == "_StopRecomputationError"  # torch's
