"""``%%step``: run a notebook cell while recording it, then show the player."""

from __future__ import annotations

import ast
import sys
from types import CodeType, TracebackType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from minigrad.views.recording import Recording

SESSION = "__minigrad_step__"  # the recording's name in the learner's namespace


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
        __tracebackhide__ = True
        step_cell(shell, line.strip(), cell)

    shell.register_magic_function(step, magic_kind="cell", magic_name="step")


def step_cell(shell: Any, title: str, cell: str) -> None:
    """Run ``cell`` in the shell's namespace; show the player, then raise its error."""
    from IPython.display import display

    __tracebackhide__ = True  # IPython leaves this frame out of a traceback
    code = _compiled(shell, cell)
    recording, error = _run(code, shell.user_ns, title or "This cell")
    display(recording)  # type: ignore[no-untyped-call]  # IPython has no types
    if error is not None:
        raise error.with_traceback(_from_cell(error.__traceback__, code))


def _compiled(shell: Any, cell: str) -> CodeType:
    """The cell inside ``with SESSION``, its lines numbered as in the notebook."""
    source = "# %%step\n" + shell.transform_cell(cell)  # its lines keep their numbers
    running = shell.execution_count - 1  # the count is that of the next cell
    name = shell.compile.cache(source, running)
    tree = ast.parse(source, name)
    if tree.body:
        with_line = ast.parse(f"with {SESSION}: pass").body[0]
        assert isinstance(with_line, ast.With)
        with_line.body = tree.body
        tree.body = [with_line]
    code: CodeType = shell.compile(tree, name, "exec")
    return code


def _run(
    code: CodeType, namespace: dict[str, Any], title: str
) -> tuple[Recording, BaseException | None]:
    from minigrad.views.recording import Recording, Session

    recording = Recording()
    namespace[SESSION] = Session(recording, title=title)
    try:
        exec(code, namespace)
    except BaseException as error:
        return recording, error
    finally:
        del namespace[SESSION]
    return recording, None


def _from_cell(traceback: TracebackType | None, code: CodeType) -> TracebackType | None:
    """The part of a traceback that begins in the cell."""
    part = traceback
    while part is not None and part.tb_frame.f_code is not code:
        part = part.tb_next
    return part or traceback
