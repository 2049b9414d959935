"""``%%step``: run a notebook cell while recording it, then show the player."""

from __future__ import annotations

import sys
from types import CodeType, TracebackType
from typing import Any


def register_if_ipython() -> None:
    """Register the magics when Python runs under IPython; IPython is never imported."""
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython is not None else None
    if shell is not None:
        register_magics(shell)


def register_magics(shell: Any) -> None:
    """Give an IPython shell the cell magic ``%%step``."""

    def step(line: str, cell: str) -> None:
        """Run the cell while recording it, and show the player.

        The rest of the first line is the recording's title.
        """
        step_cell(shell, line.strip(), cell)

    shell.register_magic_function(step, magic_kind="cell", magic_name="step")


def step_cell(shell: Any, title: str, cell: str) -> None:
    """Run ``cell`` in the shell's namespace; show the player, then raise its error."""
    from IPython.display import display

    from minigrad.views.recording import Recording

    code = _compiled(shell, cell)
    recording = Recording()
    error = _run(code, shell.user_ns, recording, title or "this cell")
    display(recording)
    if error is not None:
        raise error.with_traceback(_from_cell(error.__traceback__, code))


def _compiled(shell: Any, cell: str) -> CodeType:
    """The cell's code; its lines count from the line of the magic, as the cell shows."""
    source = "\n" + shell.transform_cell(cell)
    name = shell.compile.cache(source)
    code: CodeType = shell.compile(source, name, "exec")
    return code


def _run(
    code: CodeType, namespace: dict[str, Any], recording: Any, title: str
) -> BaseException | None:
    from minigrad.tracing import Recorder

    try:
        with Recorder(recording, title=title, watch=(code,)):
            exec(code, namespace)  # noqa: S102  the learner's own cell
    except BaseException as error:
        return error
    return None


def _from_cell(traceback: TracebackType | None, code: CodeType) -> TracebackType | None:
    """The part of a traceback that begins in the cell."""
    part = traceback
    while part is not None and part.tb_frame.f_code is not code:
        part = part.tb_next
    return part or traceback
