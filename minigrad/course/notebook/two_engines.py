"""One program in minigrad and in torch: live where torch is installed, else recorded.

A program takes the engine as its argument: ``def program(torch): ...``.
"""

from __future__ import annotations

import importlib
import importlib.util
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import minigrad
from minigrad import errors
from minigrad.tracing.codes import lines_of
from minigrad.views.comparing import Comparison, compare
from minigrad.views.recording import Recording, load_trace, step

RECORDINGS: Final = Path(__file__).parent / "torch_recordings"
"""What torch 2.13 did with the programs of lesson 17, to be shown where it isn't."""

Program = Callable[[Any], Any]


def has_torch() -> bool:
    """Whether torch can be imported here."""
    return importlib.util.find_spec("torch") is not None


def side_by_side(program: Program) -> Comparison:
    """Run a program in both engines: one player, in which what differs is coloured.

    Raises: ArgumentValueError where torch isn't installed and no recording fits.
    """
    ours = step(program, minigrad).at_level("picture")
    theirs = in_torch(program)()
    _, _, engine = theirs.data["meta"]["title"].partition(" in ")
    return compare(ours, theirs, titles=("minigrad", engine))


def in_torch(program: Program) -> Callable[[], Recording]:
    """What records a program in torch once it's called: for the ``then`` of predict."""

    def recording() -> Recording:
        return live(program) if has_torch() else recorded(program)

    recording.is_recording = True  # type: ignore[attr-defined]  # predict asks for it
    return recording


def live(program: Program) -> Recording:
    """The recording of a program that runs in torch now."""
    torch = importlib.import_module("torch")
    trace = step(program, torch)
    version = str(torch.__version__).partition("+")[0]
    trace.data["meta"]["title"] = f"{program.__name__} in PyTorch {version}"
    return trace


def recorded(program: Program) -> Recording:
    """The recording that comes with the course, of a program as the lesson has it."""
    name = program.__name__
    file = RECORDINGS / f"{name}.json"
    trace = load_trace(file) if file.is_file() else None
    if trace is None or source_in(trace) != lines_of(program.__code__):
        what = f"PyTorch isn't installed, and no recording has this {name}"
        fix = "install torch, or run the program as the lesson has it"
        raise errors.ArgumentValueError.at("side_by_side", what, fix)
    trace.data["meta"]["title"] += " (recorded)"
    return trace


def source_in(trace: Recording) -> list[str]:
    """The lines of the program that a recording shows first."""
    lines = trace.data["sources"][0]["tokens"]
    return ["".join([text for _, text in line]) for line in lines]
