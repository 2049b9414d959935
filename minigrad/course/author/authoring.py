"""For authors: begin an exercise, and hear in plain words what it still lacks."""

from __future__ import annotations

import contextlib
import io
import re
import tomllib
import warnings
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from minigrad import errors
from minigrad.course.author import build
from minigrad.course.check import NOT_TRIED, SOLVED, Exercise
from minigrad.course.exercises import catalogue
from minigrad.course.notebook import journal
from minigrad.mistakes import TABLE

ROOT = Path(__file__).resolve().parents[3]
KINDS = {
    "P": "predict",
    "R": "put lines in order",
    "I": "investigate",
    "B": "find the bug",
    "C": "complete",
    "W": "write",
    "M": "measure",
}
HINTS = 3

TEXT = '''title = "TODO: a short title"
kind = "{kind}"
points = 2
minutes = 10
statement = """
TODO: what is asked, in three lines.
"""
hints = [
  "TODO: a question that points at the idea.",
  "TODO: what is needed, without the formula.",
  "TODO: the way to write it, without the line itself.",
]
half_step = """
TODO: half of a worked step, shown when the same mistake has come three times.
"""
'''

QUESTION = """
[[questions]]
text = "TODO: the question"
choices = ["TODO: one", "TODO: another"]
why = "TODO: why it is so"
wrong."TODO: another" = "TODO: what somebody thinks who says this"
"""

HANDED = """
# What is handed over by name: a Function, a function, or anything else.
[handed]
TODO = "Function"
"""

MESSAGES = """
[messages]
where = "{{answer}}.backward"
TODO.what = "TODO: what happened, with numbers in braces: {{got:g}}"
TODO.looks_like = "TODO: what somebody thinks who writes this; or leave it out"
TODO.hint = "TODO: a question about it"
"""

LINE = """
when_missing = "TODO: a question for somebody whose order lacks a line"

lines = '''
    TODO = 1
    TODO = 2
'''

[distractors]
b.mistake = "TODO: what this line gets wrong; one of the right program has none"
b.hint = "TODO: a question about it"
"""

TRUTH = '''"""{id}: TODO."""

from __future__ import annotations


def truth() -> dict[str, str]:
    """What is so, found out by running it."""
    return {{"a": "TODO: one"}}
'''

RUN = '''"""{id}: TODO."""

from __future__ import annotations

from collections.abc import Sequence

from minigrad.course.check import Finding
from minigrad.course.exercises.messages import Messages

say = Messages(__name__)


def run_lines(lines: Sequence[str]) -> Finding | None:
    """Run the lines; what goes wrong, or None."""
    raise NotImplementedError("TODO")
'''

LOOK = '''"""{id}: TODO."""

from __future__ import annotations

from typing import Any

import numpy as np

from minigrad.course.check import Faults
from minigrad.course.exercises.messages import Messages

say = Messages(__name__)


def look_at(answer: Any, random: np.random.Generator) -> Faults:
    """Try the answer on numbers drawn from ``random``; the first fault is told."""
    yield say("TODO", answer=answer.__name__, got=0.0)
'''


def main_new(arguments: Sequence[str]) -> int:
    """``python -m minigrad new 02.4 B``: the two files of an exercise, to be filled."""
    if len(arguments) != 2 or arguments[1] not in KINDS:
        kinds = ", ".join([f"{letter} {word}" for letter, word in KINDS.items()])
        print(f"usage: python -m minigrad new ID KIND\n  ID like 02.4; KIND: {kinds}")
        return 2
    identity, kind = arguments
    if not re.fullmatch(r"\d\d\.\d+", identity):
        print(f"new: {identity!r} is no exercise id; write it like 02.4")
        return 2
    stem = f"ex{identity.replace('.', '_')}"
    text, module = TEXT + HANDED + MESSAGES, LOOK
    if kind in "PI":
        text, module = TEXT + QUESTION, TRUTH
    elif kind == "R":
        text, module = TEXT + LINE + MESSAGES, RUN
    folder = ROOT / "minigrad/course/exercises"
    files = {
        folder / f"{stem}.toml": text.format(id=identity, kind=kind),
        folder / f"{stem}.py": module.format(id=identity),
    }
    taken = [path for path in files if path.exists()]
    if taken:
        print(
            f"new: {taken[0].relative_to(ROOT)} is there already; nothing was written"
        )
        return 1
    for path, content in files.items():
        path.write_text(content, encoding="utf-8")
        print(f"wrote {path.relative_to(ROOT)}")
    print(
        f"next: fill in every TODO, then: python -m minigrad check-exercise {identity}"
    )
    return 0


def main_check(arguments: Sequence[str]) -> int:
    """``python -m minigrad check-exercise 02.4``: a line for everything it lacks."""
    if len(arguments) != 1 or arguments[0].startswith("-"):
        print("usage: python -m minigrad check-exercise ID\n  for example: 01.4")
        return 2
    lacks = list(lacking(arguments[0]))
    for line in lacks:
        print(f"- {line}")
    if lacks:
        print(f"{arguments[0]}: {errors.count_of(len(lacks), 'thing')} to do")
        return 1
    print(f"{arguments[0]}: complete")
    return 0


def lacking(identity: str, root: Path = ROOT) -> Iterator[str]:
    """In plain words, everything that the exercise still lacks."""
    stem = f"ex{identity.replace('.', '_')}"
    folder = root / "minigrad/course/exercises"
    names = [f"{stem}.toml", f"{stem}.py"]
    texts = [(folder / n).read_text("utf8") for n in names if (folder / n).is_file()]
    whole = "".join(texts)
    # One with the numbers of another exercise, or with formulas, needs no module.
    needs_none = any([words in whole for words in ("same_as = ", "\n[right]")])
    if len(texts) < 2 and not needs_none:
        for name in names:
            if not (folder / name).is_file():
                yield f"there is no minigrad/course/exercises/{name}"
        return
    if "TODO" in whole.replace('startswith("TODO")', ""):
        yield f"{whole.count('TODO')} TODO are left in its two files"
        return
    try:
        exercise = catalogue.load(identity)
    except (KeyError, ImportError, tomllib.TOMLDecodeError) as error:
        yield f"its files cannot be read: {type(error).__name__}: {error}"
        return
    yield from lacking_words(exercise)
    yield from lacking_parts(exercise)
    yield from lacking_in_the_notebook(exercise, root)


def lacking_words(exercise: Exercise) -> Iterator[str]:
    """What its text file lacks."""
    if exercise.kind not in KINDS:
        yield f"kind {exercise.kind!r} is none of {', '.join(KINDS)}"
    if exercise.kind != "P" and len(exercise.hints) != HINTS:
        yield f"it has {len(exercise.hints)} hints; three are wanted, each more direct"
    if exercise.kind in "RBCW" and not exercise.half_step:
        yield "half_step is empty: what shall be shown when a mistake comes back?"
    if not 1 <= exercise.minutes <= 40:
        yield f"minutes = {exercise.minutes}: an exercise takes 1 to 40"
    for name in exercise.mistake_hints:
        if name not in TABLE:
            yield f"[mistakes] has id {name!r}, which minigrad/mistakes.toml has not"


def lacking_parts(exercise: Exercise) -> Iterator[str]:
    """What its module lacks, for its kind."""
    spec = exercise.spec
    if exercise.kind in "PI" and exercise.questions:
        yield from lacking_questions(exercise)
    elif exercise.kind == "R":
        if not hasattr(spec, "run_lines"):
            yield "its module has no run_lines(lines): an order is judged by running it"
        if not [line for line in exercise.lines if line.mistake]:
            yield "no line is a distractor: give one a mistake and a hint"
        if not exercise.lines:
            yield "it has no lines"
    elif not hasattr(spec, "look_at") and not exercise.parts:
        for name in ("CONTRACT", "cases", "reference"):
            if not hasattr(spec, name):
                yield f"its module has neither look_at(answer, random) nor {name}"


def lacking_questions(exercise: Exercise) -> Iterator[str]:
    """What its questions lack."""
    if not hasattr(exercise.spec, "truth"):
        yield "its module has no truth(): what is so is found out by running it"
        return
    truth = exercise.spec.truth()
    for question in exercise.questions:
        if question.id not in truth:
            yield f"truth() says nothing of question {question.id}"
        elif question.choices and truth[question.id] not in question.choices:
            yield (
                f"truth() says {truth[question.id]!r} of question {question.id}, which "
                "is none of its choices"
            )
        for said in question.wrong:
            if question.choices and said not in question.choices:
                yield f"question {question.id} names a wrong answer {said!r}: no choice"
        if not question.why:
            yield f"question {question.id} has no why"
    if not [question for question in exercise.questions if question.wrong]:
        yield "no wrong answer is named: which misconception is it about?"


def lacking_in_the_notebook(exercise: Exercise, root: Path) -> Iterator[str]:
    """What its section lacks, and whether the checks say what they should."""
    lesson = exercise.id.split(".")[0]
    sources = sorted((root / "solutions/src").glob(f"{lesson}_*.py"))
    if not sources:
        yield f"there is no solutions/src/{lesson}_*.py"
        return
    try:
        cells = build.read_cells(sources[0].read_text("utf8"), sources[0].name)
        for cell in cells:
            _ = build.prose(cell) if cell.markdown else build.code(cell, solved=True)
    except build.SourceError as error:
        yield f"its notebook cannot be read: {error}"
        return
    heading = f"## {exercise.id} {exercise.title}"
    headings = [
        cell.number
        for cell in cells
        if cell.markdown and build.prose(cell).startswith(heading)
    ]
    if not headings:
        yield f"{sources[0].name} has no section {heading!r}"
        return
    calls = [c for c in cells if "check" in c.tags and f'"{exercise.id}"' in text_of(c)]
    if not calls:
        yield f"{sources[0].name} has no cell tagged check with its check"
        return
    for solved, wanted in ((False, NOT_TRIED), (True, SOLVED)):
        state = state_after(cells, calls[0].number, solved=solved)
        if state != wanted:
            which = "the solution" if solved else "the exercise as shipped"
            yield f"{which} is {state!r}; it should be {wanted!r}"


def text_of(cell: build.Cell) -> str:
    """The text of a cell as the source has it."""
    return "\n".join(cell.lines)


def state_after(cells: Sequence[build.Cell], last: int, *, solved: bool) -> str:
    """Run the code cells up to the check with number ``last``; the state it gives."""
    names: dict[str, Any] = {"__name__": "notebook"}
    for cell in cells:
        if cell.markdown or ("solution" in cell.tags and not solved):
            continue
        code = build.code(cell, solved=solved)
        if code.startswith("%") or ("check" in cell.tags and cell.number != last):
            continue
        if cell.number > last:
            break
        try:
            with contextlib.redirect_stdout(io.StringIO()), warnings.catch_warnings():
                # A notebook goes on after a warning, whatever is on here.
                warnings.simplefilter("ignore")
                exec(compile(code, f"cell {cell.number}", "exec"), names)
        except Exception as error:
            if "raises-exception" in cell.tags:
                continue
            return f"{type(error).__name__} in cell {cell.number}: {error}"
    state: str = journal.entries(kind=journal.CHECKED)[-1]["state"]
    return state
