"""A program in, its recording out: what the playground runs in the browser's Python.

The page gives Pyodide this very file, and the pages about ctx are made with it, too.
"""

from __future__ import annotations

import ast
import builtins
import contextlib
import io
import json
import linecache
import traceback
from dataclasses import dataclass

import minigrad
from minigrad.views import page
from minigrad.views.magics import run_session, session_code
from minigrad.views.recording import Recording

FILE = "<playground>"
VALUES = (2.0, 3.0, 5.0, 7.0)


@dataclass
class Played:
    """What came of a program: it as it ran, its recording, and what it said."""

    program: str
    recording: Recording | None = None
    printed: str = ""
    error: str = ""


def play(source: str, title: str = "playground") -> Played:
    """Run a program, or an expression, and record it."""
    found, printed = Played(source), io.StringIO()
    try:
        found.program = source = as_program(source)
        linecache.cache[FILE] = (len(source), None, source.splitlines(True), FILE)
        code = session_code(source, FILE)
        with contextlib.redirect_stdout(printed):
            recording, error = run_session(code, {"__name__": "__main__"}, title)
        if recording.data["events"]:
            found.recording = recording
        if error is not None:
            found.error = told(error)
    except Exception as error:  # a SyntaxError, or a program that can't be recorded
        found.error = told(error)
    found.printed = printed.getvalue()
    return found


def play_as_json(source: str) -> str:
    """The same for the page, with what its player reads."""
    played = play(source)
    trace = played.recording and page.played(played.recording._pictured())
    said = {"program": played.program, "printed": played.printed, "error": played.error}
    return json.dumps({**said, "trace": trace})


def told(error: BaseException) -> str:
    """An error in the words of Python's last lines, with the line of the program."""
    text = "".join(traceback.format_exception_only(error)).rstrip()
    lines = [f for f in traceback.extract_tb(error.__traceback__) if f.filename == FILE]
    return f"line {lines[-1].lineno}: {text}" if lines else text


def as_program(source: str) -> str:
    """A program for an expression with names in it: each becomes a leaf.

    >>> print(as_program("exp(x) * w"))
    import minigrad as mg
    <BLANKLINE>
    x = mg.tensor(2.0, requires_grad=True)
    w = mg.tensor(3.0, requires_grad=True)
    y = mg.exp(x) * w
    y.sum().backward()
    """
    match ast.parse(source).body:
        case [ast.Expr(value=expression)]:
            names = list(dict.fromkeys(free_names(expression)))
        case _:
            return source
    if not names:
        return source
    leaves = [
        f"{name} = mg.tensor({VALUES[i % len(VALUES)]}, requires_grad=True)"
        for i, name in enumerate(names)
    ]
    result = "y" if "y" not in names else "result"
    said = ast.unparse(OfMinigrad().visit(expression))
    lines = ["import minigrad as mg", "", *leaves, f"{result} = {said}"]
    return "\n".join([*lines, f"{result}.sum().backward()"])


def free_names(expression: ast.expr) -> list[str]:
    """The names that nothing else gives a value, in the order they're read."""
    loads = [node for node in ast.walk(expression) if isinstance(node, ast.Name)]
    loads.sort(key=lambda name: (name.lineno, name.col_offset))
    return [
        name.id
        for name in loads
        if not is_function(name.id) and name.id not in ("mg", "minigrad", "torch")
    ]


def is_function(name: str) -> bool:
    """Whether it's a function of minigrad's or of Python's."""
    return callable(getattr(minigrad, name, None)) or hasattr(builtins, name)


class OfMinigrad(ast.NodeTransformer):
    """Writes ``mg.`` before the functions of minigrad."""

    def visit_Name(self, node: ast.Name) -> ast.expr:
        if not callable(getattr(minigrad, node.id, None)):
            return node
        return ast.parse(f"mg.{node.id}", mode="eval").body
