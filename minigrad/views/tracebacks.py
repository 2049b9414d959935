"""In teaching mode, a notebook's traceback shows the learner's lines, not ours."""

from __future__ import annotations

import itertools
import sys
from collections.abc import Iterator
from pathlib import Path
from types import TracebackType
from typing import Any, Final

from minigrad import errors
from minigrad.lint import is_teaching

PACKAGE: Final = str(Path(errors.__file__).resolve().parent)
LEFT_OUT: Final = "\n({count} in minigrad left out: %tb shows all)"


def shorten_tracebacks(shell: Any) -> None:
    """Let an IPython shell leave our lines out while teaching mode is on.

    A handler that somebody else has put there stays.
    """
    if not shell.custom_exceptions:
        shell.set_custom_exc((Exception,), show)


def show(
    shell: Any,
    kind: type[BaseException],
    error: BaseException,
    traceback: TracebackType,
    tb_offset: int | None = None,
) -> None:
    """Show an exception of a cell; the whole of it remains for ``%tb``."""
    whole = list(parts(traceback))
    left_out = [part for part in whole if is_ours(part)]
    shows_itself = hasattr(error, "_render_traceback_")
    # Anything else that is raised in our lines is a fault of ours, and wants them all.
    is_learners = isinstance(error, errors.MinigradError) or not is_ours(whole[-1])
    if shows_itself or not (is_teaching() and left_out and is_learners):
        shell.showtraceback((kind, error, traceback), tb_offset=tb_offset)
        return
    sys.last_type, sys.last_value, sys.last_traceback = kind, error, traceback
    # IPython makes a line of a cell with %%step.
    magics = [part.tb_frame.f_code.co_name == "run_cell_magic" for part in whole[1:]]
    hidden = [*left_out, *itertools.compress(whole, magics)]
    text = shell.InteractiveTB.structured_traceback(
        kind, error, without(traceback, hidden), tb_offset=tb_offset
    )
    text = [errors.in_words(line) for line in text]
    count = errors.count_of(len(left_out), "call")
    shell._showtraceback(kind, error, [*text, LEFT_OUT.format(count=count)])


def parts(traceback: TracebackType | None) -> Iterator[TracebackType]:
    """A traceback call by call, the outermost first."""
    while traceback is not None:
        yield traceback
        traceback = traceback.tb_next


def is_ours(part: TracebackType) -> bool:
    """Whether a call is one of minigrad's own."""
    return part.tb_frame.f_code.co_filename.startswith(PACKAGE)


def without(
    traceback: TracebackType, left_out: list[TracebackType]
) -> TracebackType | None:
    """The same traceback without some of its calls; it itself stays as it is."""
    shorter = None
    for part in reversed(list(parts(traceback))):
        if part not in left_out:
            shorter = TracebackType(
                shorter, part.tb_frame, part.tb_lasti, part.tb_lineno
            )
    return shorter
