"""Known answers to the exercises: rows in ``<exercise id>/answers.toml``.

The name of a row's table, or of its list, is its verdict: ``solved``, ``wrong``,
``crashed`` or ``not_tried``. A row says what is handed in, if not the solution itself:

- ``returns = "2 * x"``: the solution, whose backward returns this at its end,
- ``methods = "def backward(ctx, g): ..."``: the solution with these instead of its own,
- ``replace = ["old", "new"]``, or pairs of them: the solution with this in it instead,
- ``repair = ["old", "new"]``: the same, done to what a learner finds,
- ``code = "Name"``: what ``answers.py``, beside the rows, has by this name,
- ``answer = [...]``: these, where questions are asked or lines are put in order,
- ``instead = {a = "no"}``: the right ones, but for these.

``of = "Name"`` changes that one of ``answers.py``, not the solution; ``hands`` is the
expression that ``check`` is given, if it is not the one of the notebook. A list of
``returns`` or of ``code`` makes one answer of each. Rows may use all of ``answers.py``.

And a row says what has to be said of it: all ``mistakes`` (or ``remarks`` on what is
solved) in their order, and words of the message, ``says``. ``made`` is the mistake it
makes, if ``mistakes`` has only names as good; a ``name`` is for tests that ask for it.
"""

from __future__ import annotations

import ast
import linecache
import re
import textwrap
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from minigrad.course.author import build
from minigrad.course.check.exercise import Question
from minigrad.course.exercises import catalogue

FOLDER = Path(__file__).parent
NOTEBOOKS = FOLDER.parents[1] / "solutions" / "src"
STATES = {"solved", "wrong", "crashed", "not_tried"}
WAYS = {"returns", "methods", "replace", "repair", "code", "answer", "instead"}
MORE = {"of", "hands", "mistakes", "remarks", "says", "made", "name"}

USES = {"05.5": "05.3", "06.3": "06.2", "16.3": "16.2", "16.4": "16.2"}
"""Which exercise's solution that of another one needs; rows may use its answers."""

HEAD = """\
import math
import time

import numpy as np

import minigrad as mg
from minigrad import bench
from minigrad.autograd import Function
from minigrad.autograd.function import once_differentiable
from minigrad.utils import jit


"""


class RowError(ValueError):
    """A row says something that cannot be meant."""


@dataclass(frozen=True, eq=False)
class Answer:
    """One known answer: what is handed in, and what has to be said of it."""

    exercise: str
    state: str
    number: int
    row: Mapping[str, Any]

    def __post_init__(self) -> None:
        unknown = self.row.keys() - WAYS - MORE
        ways = self.row.keys() & WAYS
        if unknown or len(ways) > 1:
            raise RowError(f"{self.label}: {', '.join(sorted(unknown or ways))}")

    @property
    def label(self) -> str:
        """How tests name it."""
        words = [self.exercise, self.state, str(self.number), self.row.get("name", "")]
        return "-".join([word for word in (*words, *self.mistakes) if word])

    @property
    def mistakes(self) -> tuple[str, ...]:
        """The ids that it is told."""
        return tuple(self.row.get("mistakes", ()))

    @property
    def made(self) -> str:
        """The mistake that it makes, whatever it is told."""
        made: str = self.row.get("made", (*self.mistakes, "")[0])
        return made

    @property
    def remarks(self) -> tuple[str, ...]:
        """The ids that are mentioned though it is solved."""
        return tuple(self.row.get("remarks", ()))

    @property
    def says(self) -> list[str]:
        """Words of the message."""
        words = self.row.get("says", [])
        return [words] if isinstance(words, str) else words

    @property
    def source(self) -> str:
        """The program that makes it, as a learner would write it."""
        names = USES.get(self.exercise, ""), self.exercise
        beside = [FOLDER / name / "answers.py" for name in names if name]
        known = [file.read_text("utf8") for file in beside if file.exists()]
        own = HEAD + "\n\n".join(known)
        if {"code", "answer", "instead"} & self.row.keys():
            return own
        return f"{own}\n\n{self.edited(own)}"

    def edited(self, own: str) -> str:
        """The solution, or what else is to be changed, with the change."""
        if "repair" in self.row:
            shipped = catalogue.load(self.exercise).spec.SHIPPED
            return changed(shipped, self.row["repair"])
        text = solution_of(self.exercise).source
        if "of" in self.row:
            text = definition(own, self.row["of"])
        if "returns" in self.row:
            return with_returned(text, self.row["returns"])
        if "methods" in self.row:
            name = self.row.get("of", catalogue.load(self.exercise).answer)
            return with_methods(text, name, self.row["methods"])
        return changed(text, self.row.get("replace", []))

    @property
    def hands(self) -> str:
        """The expression that is handed to ``check``."""
        whole = solution_of(self.exercise).hands
        if "instead" in self.row:
            asked = catalogue.load(self.exercise).questions
            return repr(by_question(asked, eval(whole)) | self.row["instead"])
        if "answer" in self.row:
            return repr(self.row["answer"])
        known = self.row.get("code", self.row.get("of", whole))
        return str(self.row.get("hands", known))

    def made_anew(self) -> Any:
        """What ``check`` is given."""
        file, source = f"<{self.label}>", self.source
        # The checker reads what a learner has written, as it does in a notebook.
        lines = source.splitlines(keepends=True)
        linecache.cache[file] = (len(source), None, lines, file)
        names: dict[str, Any] = {"__name__": f"answers.{self.label}"}
        # Imports are a cell of their own: Python compiles `mg.tensor(...)` in another
        # way where the same text imports mg, and then nothing is as it was shipped.
        exec(HEAD, names)
        rest = "\n" * HEAD.count("\n") + source.removeprefix(HEAD)
        exec(compile(rest, file, "exec"), names)
        return eval(self.hands, names)


def by_question(asked: Sequence[Question], said: Any) -> dict[str, str]:
    """The answers by the ids of their questions."""
    ids = [question.id for question in asked]
    return dict(said if isinstance(said, dict) else zip(ids, said, strict=True))


@dataclass(frozen=True)
class Solution:
    """What the notebook with solutions defines for one exercise, and hands in."""

    source: str
    hands: str


@cache
def solution_of(exercise: str) -> Solution:
    """The definitions of its section, those that come last; what ``check`` is given."""
    kept: dict[str, str] = {}
    hands = ""
    for cell in section_of(exercise):
        skipped = cell.markdown or "predict" in cell.tags
        text = "" if skipped else build.code(cell, solved=True)
        for node in ast.parse("" if text.startswith("%") else text).body:
            match node:
                case ast.FunctionDef(name=name) | ast.ClassDef(name=name):
                    kept[name] = lines_of(text, node)
                case ast.Assign(targets=[ast.Name(name)]):
                    if {"exercise", "solution"} & {*cell.tags}:
                        kept[name] = lines_of(text, node)
                case ast.Expr(ast.Call(func=ast.Name("check"), args=[_, given])):
                    hands = ast.unparse(given)
    before = [solution_of(USES[exercise]).source] if exercise in USES else []
    return Solution("\n\n\n".join([*before, *kept.values(), ""]), hands)


def section_of(exercise: str) -> Iterator[build.Cell]:
    """The cells of its notebook from its heading to the next one."""
    lesson = exercise.partition(".")[0]
    (file,) = NOTEBOOKS.glob(f"{lesson}*.py")
    heading = re.compile(rf"## {exercise.removeprefix('gym.')}(?![\w.])")
    is_inside = False
    for cell in build.read_cells(file.read_text("utf8"), file.name):
        if cell.markdown and build.prose(cell).startswith("## "):
            is_inside = bool(heading.match(build.prose(cell)))
        elif is_inside:
            yield cell


def definition(text: str, name: str) -> str:
    """The lines of the class or function with this name."""
    found = [each for each in ast.parse(text).body if getattr(each, "name", "") == name]
    if not found:
        raise RowError(f"there is no {name}")
    return lines_of(text, found[-1]) + "\n"


def lines_of(text: str, node: ast.stmt) -> str:
    """The lines of a statement, its decorators included."""
    decorators = getattr(node, "decorator_list", [])
    first = min([node.lineno, *[each.lineno for each in decorators]])
    return "\n".join(text.splitlines()[first - 1 : node.end_lineno])


def changed(text: str, changes: Sequence[Any]) -> str:
    """The text with each old piece, which is there once, replaced by the new one.

    Further lines of both are indented as the line in which the old one begins.
    """
    pairs = [changes] if changes and isinstance(changes[0], str) else changes
    for pair in pairs:
        before = text.partition(pair[0].partition("\n")[0])[0].rpartition("\n")[2]
        indent = before[: len(before) - len(before.lstrip())]
        old, new = [re.sub(r"\n(?=.)", f"\n{indent}", piece) for piece in pair]
        if text.count(old) != 1:
            raise RowError(f"{text.count(old)} times in the program: {old!r}")
        text = text.replace(old, new)
    return text


def with_returned(text: str, returned: str) -> str:
    """The program whose backward ends by returning something else."""
    *_, method = [
        node
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.FunctionDef) and node.name == "backward"
    ]
    last = method.body[-1]
    if not isinstance(last, ast.Return):
        raise RowError("backward does not end with a return")
    lines = text.splitlines()
    value = f"({returned})" if "\n" in returned else returned
    lines[last.lineno - 1 : last.end_lineno] = [f"        return {value}"]
    return "\n".join([*lines, ""])


def with_methods(text: str, name: str, methods: str) -> str:
    """The program whose class of this name has these methods instead of its own."""
    old = definition(text, name)
    (owner,) = ast.parse(old).body
    assert isinstance(owner, ast.ClassDef)
    new = ast.parse(methods).body
    written = {getattr(node, "name", "") for node in new}
    parts = [old.splitlines()[0]]
    for node in owner.body:
        if getattr(node, "name", None) not in written:
            parts.append(lines_of(old, node))
    for node in new:
        static = "@staticmethod\n" if isinstance(node, ast.FunctionDef) else ""
        parts.append(textwrap.indent(static + lines_of(methods, node), "    "))
    return text.replace(old, "\n\n".join([*parts, ""]))


@cache
def answers_to(exercise: str) -> tuple[Answer, ...]:
    """The known answers to an exercise, as its file lists them."""
    file = FOLDER / exercise / "answers.toml"
    tables = tomllib.loads(file.read_text("utf8"))
    if not tables.keys() <= STATES:
        raise RowError(f"{file}: {', '.join(tables)}")
    return tuple(
        Answer(exercise, state.replace("_", " "), number, row)
        for state, listed in tables.items()
        for number, row in enumerate([one for row in listed for one in each_of(row)])
    )


def each_of(row: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """A row of several answers as a row for each."""
    listed = [way for way in ("returns", "code") if isinstance(row.get(way), list)]
    if not listed:
        yield row
    for way in listed:
        for value in row[way]:
            yield {**row, way: value}


def exercises() -> list[str]:
    """The ids of the exercises that have known answers."""
    return sorted(file.parent.name for file in FOLDER.glob("*/answers.toml"))


def named(exercise: str, name: str) -> Answer:
    """The answer with this name."""
    (found,) = [a for a in answers_to(exercise) if a.row.get("name") == name]
    return found


def right(exercise: str) -> list[Answer]:
    """The right answers."""
    return [answer for answer in answers_to(exercise) if answer.state == "solved"]
