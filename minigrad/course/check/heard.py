"""What runs meanwhile, in this thread, with nothing replaced.

Operations tell the engine's observers, other functions Python's profiler.
"""

from __future__ import annotations

import contextlib
import inspect
import os
import sys
import threading
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

import minigrad
from minigrad.engine import observe
from minigrad.engine.builtin import Builtin

PACKAGE = str(Path(minigrad.__file__).parent) + os.sep

Note = Callable[[str, FrameType, Any], None]
"""Is given the name of a function, its frame, and what it returned."""


class _Listener:
    """An observer that notes each operation of a thread, with its inputs."""

    observes = observe.EVERYTHING
    keeps = False
    comes_last = False

    def __init__(self) -> None:
        self.ran: list[tuple[type[Any], tuple[Any, ...]]] = []
        self.thread = threading.get_ident()

    def ctx_created(self, ctx: Any, function: type[Any], inputs: Any) -> None:
        """An operation is about to run."""
        if threading.get_ident() == self.thread and issubclass(function, Builtin):
            shapes = [getattr(value, "shape", value) for value in inputs]
            self.ran.append((function, tuple(shapes)))


@contextlib.contextmanager
def operations() -> Iterator[list[tuple[type[Any], tuple[Any, ...]]]]:
    """The operations that run meanwhile: each with the shapes of its tensors."""
    listener = _Listener()
    observe.add(listener)
    try:
        yield listener.ran
    finally:
        observe.remove(listener)


@contextlib.contextmanager
def calls_of(functions: Iterable[tuple[str, Any]], note: Note) -> Iterator[None]:
    """Tell ``note`` of each call of these functions that an answer makes itself."""
    found: dict[CodeType, list[tuple[str, Any]]] = {}
    wrappers: set[CodeType] = set()
    compiled: dict[int, str] = {}
    for name, function in functions:
        inner = inspect.unwrap(function)
        if inspect.isbuiltin(function):
            compiled[id(function)] = name
        if inspect.isfunction(inner):
            found.setdefault(inner.__code__, []).append((name, inner))
        if inspect.isfunction(function) and function is not inner:
            wrappers.add(function.__code__)

    def is_asked_for(frame: FrameType | None) -> bool:
        while frame is not None and frame.f_code in wrappers:
            frame = frame.f_back
        return frame is not None and not frame.f_code.co_filename.startswith(PACKAGE)

    def hear(frame: FrameType, event: str, value: Any) -> None:
        if event == "return":
            for name, function in found.get(frame.f_code, ()):
                if _is_made_by(frame, function) and is_asked_for(frame.f_back):
                    note(name, frame, value)
        elif event == "c_call" and id(value) in compiled and is_asked_for(frame):
            note(compiled[id(value)], frame, None)

    before = sys.getprofile()
    sys.setprofile(hear)
    try:
        yield
    finally:
        put_back(before)


def put_back(profiler: Any) -> None:
    """Make this the profile function again; one in C, as %prun's, only C could."""
    sys.setprofile(profiler if callable(profiler) else None)


def _is_made_by(frame: FrameType, function: Any) -> bool:
    """Whether it is this function that runs, and not another one of the same text."""
    cells = zip(function.__code__.co_freevars, function.__closure__ or (), strict=True)
    return all([frame.f_locals.get(name) is cell.cell_contents for name, cell in cells])
