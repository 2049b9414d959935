"""``%%step``: run a notebook cell while recording it, then show the player."""

from __future__ import annotations

import ast
import inspect
import keyword
import traceback
from collections.abc import Callable, Mapping
from types import CodeType
from typing import TYPE_CHECKING, Any

from minigrad import errors
from minigrad.tracing.messages import message
from minigrad.views.page import LEVELS
from minigrad.views.tracebacks import parts, shorten_tracebacks

if TYPE_CHECKING:
    from minigrad.views.recording import Recording

SESSION = "__minigrad_step__"  # the recording's name in the learner's namespace


def register_magics(shell: Any) -> None:
    """Give an IPython shell the cell magic ``%%step``, and short tracebacks."""

    def step(line: str, cell: str) -> None:
        """Run the cell while recording it, and show the player.

            %%step
            %%step A title for the recording
            %%step --as trace
            %%step --as trace A title for the recording
            %%step --level phases
            %%step --memory

        With ``--as trace`` the variable ``trace`` is the recording afterwards: ask
        ``trace.explain("x.grad")`` or ``trace.what_if(step, saved={0: 5.0})``;
        ``trace.save_html(path)`` keeps it.
        With ``--memory`` the strip of the memory that is kept alive is open at once.
        """
        __tracebackhide__ = True  # IPython leaves this frame out of a traceback
        step_cell(shell, cell, *options_of(line))

    shell.register_magic_function(step, magic_kind="cell", magic_name="step")
    shorten_tracebacks(shell)


class CellError(errors.MinigradError):
    """A cell that cannot be run under ``%%step``; IPython shows its text alone."""

    def _render_traceback_(self) -> list[str]:
        return str(self).split("\n")


def options_of(line: str) -> tuple[dict[str, str], str]:
    """What stands behind ``%%step``: options with their values, and the title.

    Raises: CellError for a wrong name or level, and for another option.
    """
    found = {"--as": "", "--level": "", "--memory": ""}
    words = line.split()
    while words and words[0].startswith("--"):
        option = words.pop(0)
        value = "open" if option == "--memory" else words.pop(0) if words else ""
        if option not in found:
            what = f"there is no option {option}"
        elif option == "--level" and value not in LEVELS:
            what = f"there is no level {value!r}; use one of {', '.join(LEVELS)}"
        elif not value.isidentifier() or keyword.iskeyword(value):
            what = f"{value!r} isn't a name for a variable"
        else:
            found[option] = value
            continue
        fix = "write %%step --as trace or --level phases or --memory, and a title"
        raise CellError.at("%%step", what, fix)
    return found, " ".join(words)


def step_cell(shell: Any, cell: str, options: Mapping[str, str], title: str) -> None:
    """Run ``cell`` in the shell's namespace; show the player, then raise its error.

    The recording is the variable ``--as`` there afterwards, if there is one; the player
    opens at ``--level``, and with the strip of memory for ``--memory``.
    """
    from IPython.display import display

    __tracebackhide__ = True
    running = shell.execution_count - 1  # the count is that of the next cell
    try:
        source = "# %%step\n" + shell.transform_cell(cell)  # lines keep their numbers
        code = session_code(source, shell.compile.cache(source, running), shell.compile)
    except SyntaxError as mistake:
        # IPython would show the frames of this module with a SyntaxError.
        text = "".join(traceback.format_exception_only(mistake)).rstrip()
        raise CellError(text) from None
    title = title or message("notebook.cell")
    recording, error = run_session(
        code, shell.user_ns, title, keeps=bool(options["--as"])
    )
    if options["--as"]:
        shell.user_ns[options["--as"]] = recording
    if options["--level"]:
        recording.at_level(options["--level"])
    if options["--memory"]:
        recording.with_memory()
    if error is None or len(recording):
        display(recording)  # type: ignore[no-untyped-call]  # IPython has no types
    if error is not None:
        whole = error.__traceback__
        own = [part for part in parts(whole) if part.tb_frame.f_code is code]
        raise error.with_traceback(own[0] if own else whole)


def session_code(
    source: str, name: str, compiles: Callable[..., CodeType] = compile
) -> CodeType:
    """A program as ``run_session`` takes it: all of it inside ``with SESSION``.

    Raises: SyntaxError; CellError for an await outside a function.
    """
    tree = ast.parse(source, name)
    flags = ast.PyCF_ALLOW_TOP_LEVEL_AWAIT  # which only a notebook's own run allows
    awaiting = compile(tree, name, "exec", flags, dont_inherit=True).co_flags
    if awaiting & inspect.CO_COROUTINE:
        raise CellError.at(
            "%%step",
            "the cell has an await outside a function, so it can't be recorded",
            "await in an earlier cell, and record what you do with the result",
        )
    # Imports from __future__ must come first.
    modules = [getattr(statement, "module", "") for statement in tree.body]
    ends = [at for at, module in enumerate(modules, 1) if module == "__future__"]
    end = max(ends, default=0)
    if tree.body[end:]:
        with_line = ast.parse(f"with {SESSION}: pass").body[0]
        assert isinstance(with_line, ast.With)
        with_line.body = tree.body[end:]
        tree.body[end:] = [with_line]
    return compiles(tree, name, "exec")


def run_session(
    code: CodeType, namespace: dict[str, Any], title: str, keeps: bool = False
) -> tuple[Recording, BaseException | None]:
    """Run such a program, and record it; the error that stopped it, if one did."""
    from minigrad.tracing import Recorder
    from minigrad.views.recording import Recording, keeping

    recording = Recording()
    around = namespace.get(SESSION)  # that of a cell which runs this one
    namespace[SESSION] = Recorder(
        recording,
        title=title,
        **keeping(keeps or None) | {"keep_rules": True},
        cell=(code, SESSION),
    )
    try:
        exec(code, namespace)
    except BaseException as error:
        return recording, error
    finally:
        namespace.pop(SESSION, None)
        if around is not None:
            namespace[SESSION] = around
    return recording, None
