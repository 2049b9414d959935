"""Recording a ``with`` block: the story, and the lines beside it."""

from __future__ import annotations

import contextlib
import functools
import platform
import sys
import threading
from collections.abc import Callable, Iterable
from types import CodeType, FrameType, TracebackType
from typing import Any, Generic, TypeVar

from minigrad import errors
from minigrad.engine import observe
from minigrad.engine.builtin import Builtin
from minigrad.tracing.codes import ENGINE_CODES, codes_of, is_installed, is_ours
from minigrad.tracing.foreign import torch_module
from minigrad.tracing.graph_log import GraphLog
from minigrad.tracing.happenings import Happenings
from minigrad.tracing.lines import FrameLog
from minigrad.tracing.listening import Hearing, choose_backend, in_turn
from minigrad.tracing.log import EventLog
from minigrad.tracing.messages import message
from minigrad.tracing.picture import complete, mark
from minigrad.tracing.picture_story import tell_picture
from minigrad.tracing.program import MOST_BYTES, Cell, remember
from minigrad.tracing.story import Story
from minigrad.tracing.terms import RuleKeeper
from minigrad.tracing.torch_recorder.listening import TorchListener
from minigrad.tracing.trace import SCHEMA, Trace
from minigrad.tracing.values import error_text, short_repr

Kept = TypeVar("Kept", bound=Trace)


class RecordingError(errors.MinigradError, RuntimeError):
    """A recording was started while another one runs."""


class Recorder(Generic[Kept]):
    """Listens while its ``with`` block runs, and fills ``trace`` when that ends.

    ``watch`` names a function, a class or a code object whose lines are shown too, or
    several; those of the program around the block are shown anyway. With
    ``lines=False`` only the story is kept, which is quicker; with ``keep_values=True``
    what the program starts from, for ``what_if``, unless that needs more than
    ``most_bytes``, and with ``keep_rules``, by default the same, what each small rule
    was given, for the terms of a number. ``call`` is what the
    block will do, if that is one call: the function, its arguments and those by name;
    ``cell`` is the code that holds the block, if that is in no file, and the variable
    in which it finds the recording.
    Raises: RecordingError if a recording is under way already; ArgumentTypeError for
    something in ``watch`` that has no lines of its own.
    """

    def __init__(
        self,
        trace: Kept,
        *,
        title: str = "",
        watch: Any = (),
        lines: bool = True,
        keep_values: bool = False,
        most_bytes: int = MOST_BYTES,
        call: tuple[Any, ...] | None = None,
        cell: Cell | None = None,
        keep_rules: bool | None = None,
    ) -> None:
        self.trace = trace
        self._call = call
        self._cell = cell
        self._most_bytes = most_bytes if keep_values else None
        self._keep_rules = keep_values if keep_rules is None else keep_rules
        self.title = title
        self._codes = watched_codes(watch)
        self._lines = lines
        self._options = {"title": title, "watch": self._codes, "lines": lines}

    def __enter__(self) -> Kept:
        if observe.has(Hearing):
            raise RecordingError.at(
                "record",
                "a recording is under way already, and there can be only one",
                "end the first `with minigrad.record()` block before the next",
            )
        driver = learners_frame(sys._getframe(1))
        if self._most_bytes is not None:
            self.trace.program = remember(
                driver, self._call, self._cell, self._most_bytes, self._options
            )
        self._log = EventLog(self._lines)
        if driver is not None:
            self._log.names.add(driver.f_locals)
            self._log.names.add(driver.f_globals)
        self._frames = FrameLog(self._log, driver, self._codes)
        self._graph = GraphLog(self._log)
        phase_start = self._frames.phase_start
        self._story = Story(self._log, self._graph, phase_start, self._watch)
        self._happenings = Happenings(self._log, self._graph, self._story)
        self._watched: set[Any] = set()
        self._frames.phase_entered = self._story.phase_entered
        self._backend = choose_backend(self._frames, driver) if self._lines else None
        if self._backend is not None:
            self._backend.start()
            for code in (*self._codes, *ENGINE_CODES):
                self._backend.follow(code)
        self._engines: list[str] = []
        self._keeper: RuleKeeper | None = None
        self._torch = self._torch_listener()
        # Last, so that a start that failed leaves nobody listening.
        observers: list[Any] = [self._happenings, self._story]
        if self._keep_rules:
            self._keeper = RuleKeeper(self._log)
            observers.append(self._keeper)
        together = in_turn if self._backend is None else self._backend.together
        spoke = functools.partial(self._spoke, "minigrad")
        self._hearing = Hearing(observers, spoke, together, threading.get_ident())
        observe.add(self._hearing)
        return self.trace

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        observe.remove(self._hearing)
        if self._torch is not None:
            self._torch.stop()
        if self._backend is not None:
            self._backend.stop()
        driver = learners_frame(sys._getframe(1))
        if driver is not None:
            self._log.names.add(driver.f_locals)  # reads them anew on Python 3.11
        self._log.names.moment += 1
        self._log.calls.look_at_names(self._log.node_of)
        self._log.let_go()
        self.trace.is_told_by(self._teller(error))
        self._frames.let_go()
        self._story.let_go()
        self._graph.let_go()
        if self._keeper is not None:
            self.trace.rules = self._keeper.rules

    def _torch_listener(self) -> TorchListener | None:
        """Who hears torch, already listening; None if it cannot be heard."""
        torch = torch_module()
        if torch is None:
            self._torch_unheard = message("torch.late")
            return None
        try:
            spoke = functools.partial(self._spoke, "torch")
            listener = TorchListener(torch, self._happenings, spoke)
            listener.start()
        except AttributeError as error:
            self._torch_unheard = message("torch.differs", error=error)
            return None
        except BaseException:
            if self._backend is not None:
                self._backend.stop()
            raise
        return listener

    def _spoke(self, engine: str) -> None:
        """An engine has something to tell; the second one is announced."""
        if engine not in self._engines:
            self._engines.append(engine)
            if len(self._engines) == 2:
                engines = {"before": self._engines[0], "engine": engine}
                self._story.note(message("engines.change", **engines))

    def _watch(self, function: Any) -> None:
        """Show the lines of a Function that the user wrote, wherever it stands."""
        if self._backend is None or function in self._watched:
            return
        self._watched.add(function)
        if not isinstance(function, type) or issubclass(function, Builtin):
            return
        for code in codes_of(function):
            if self._torch is not None and is_installed(code.co_filename):
                continue  # what a Function of torch's has of torch itself
            self._frames.watch(code)
            self._backend.follow(code)

    def _teller(self, error: BaseException | None) -> Callable[[], dict[str, Any]]:
        """What makes the data of the facts, holding nothing of the program."""
        log, sources = self._log, self._frames.sources
        nodes_and_edges, meta = self._graph.finish, self._meta(error)

        def tell() -> dict[str, Any]:
            data = {"schema": SCHEMA, "meta": meta, "sources": sources.finish()}
            data |= log.finish(nodes_and_edges())
            mark(data, log.calls.mapped)
            complete(data)
            tell_picture(data)
            return data

        return tell

    def _meta(self, error: BaseException | None) -> dict[str, Any]:
        # Imported here because the package's front door is built on all layers.
        from minigrad import __version__

        meta: dict[str, Any] = {
            "python": platform.python_version(),
            "minigrad": __version__,
            "backend": self._backend.name if self._backend is not None else None,
            "title": self.title,
            "truncated": self._log.gap.count > 0,
            "left_out": self._log.gap.count,
            "engines": self._engines,
        }
        if error is not None:
            meta["error"] = error_text(error)
        if self._torch is not None and "torch" in self._engines:
            meta["unseen"] = self._torch.said
        elif self._torch is None and torch_module() is not None:
            meta["unseen"] = [self._torch_unheard]
        return meta


def watched_codes(watch: Any) -> list[CodeType]:
    """The code of one item or of several; each must have some."""
    several = isinstance(watch, Iterable) and not isinstance(watch, (str, type))
    codes = []
    for item in watch if several else [watch]:
        found = codes_of(item)
        if not found:
            raise errors.ArgumentTypeError.at(
                "record",
                f"watch holds {short_repr(item)}, which has no lines to show",
                "give functions of your own, or classes with a forward",
            )
        codes += found
    return codes


def learners_frame(frame: FrameType | None) -> FrameType | None:
    """The frame of the program that records; None if an installed package does."""
    while frame is not None and (
        is_ours(frame.f_code.co_filename)
        or frame.f_code.co_filename == contextlib.__file__
    ):
        frame = frame.f_back
    if frame is None or is_installed(frame.f_code.co_filename):
        return None
    return frame
