"""Build every notebook from its percent-format source; nothing else writes one.

notebooks/src/NN_slug.py -> notebooks/NN_slug.ipynb
notebooks/src/NN_slug.instructor.md -> solutions/NN_slug/instructor_notes.md
solutions/src/NN_slug.py -> solutions/NN_slug/NN_slug.ipynb   (solved)
                         -> exercises/NN_slug/NN_exercises.ipynb   (to be filled in)

A cell tagged ``hide-input`` is collapsed: it holds a question and how it comes out.
Explanations after it are folded, up to the next Try, Predict, Because or heading. So
nothing gives the answer away. An exercise's heading that's alone in its cell is
followed by what its text asks, ``# shipped NAME`` becomes what its text ships, and
``# gym NAME`` the cell in which the gym asks for that Function. A section without a
check ends with the one that its text asks for, and with its hints.

The result depends on the text of the source alone, byte for byte, and holds no outputs.
Text that is generated elsewhere (the op table's type stub, the table of rules) is kept
current here too.
"""

from __future__ import annotations

import argparse
import ast
import hashlib
import json
import re
import sys
import textwrap
import tomllib
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from importlib import resources
from itertools import pairwise
from pathlib import Path
from typing import Any

from minigrad.course.exercises import catalogue
from minigrad.course.notebook import concepts, faq, paths, table_file

TAGS = frozenset(
    {
        "because",
        "check",
        "exercise",
        "explain",
        "hide-input",
        "predict",
        "raises-exception",
        "recall",
        "review",
        "slide",
        "slow",
        "solution",
        "step",
        "try",
    }
)

ASKED = re.compile(r"Q\d\d")
"""A tag that says which question the cell answers; see ``faq.py``."""

_MARKER = re.compile(r"# %%(?P<markdown> \[markdown\])?(?: tags=(?P<tags>\[.*\]))?")
_OPEN = re.compile(r"(?P<indent> *)# region solution: (?P<prompt>\S.*)")
_LOOSE_OPEN = re.compile(r" *# *region\b.*")
_CLOSE = re.compile(r" *# endregion")


ROOT = Path(__file__).resolve().parents[3]


class SourceError(ValueError):
    """A notebook source breaks a rule of the build; says file, cell and line."""


@dataclass(frozen=True)
class Cell:
    """One cell of a source file; ``first`` is the line number of its first line."""

    file: str
    number: int
    first: int
    markdown: bool
    tags: tuple[str, ...]
    lines: tuple[str, ...]

    def error(self, offset: int, what: str) -> SourceError:
        """An error that points at line ``offset`` (from 0) of this cell."""
        line = self.first + offset
        return SourceError(f"{self.file}, cell {self.number}, line {line}: {what}")


def read_cells(text: str, file: str) -> list[Cell]:
    """Cut a percent-format script into its cells."""
    lines = text.splitlines()
    starts = [i for i, line in enumerate(lines) if re.match(r"# %%(\s|$)", line)]
    before = lines[: starts[0]] if starts else lines[:1]
    if not starts or any(line and not line.startswith("# ruff:") for line in before):
        raise SourceError(f"{file}, cell 0, line 1: text before the first '# %%'")
    cells, stem = [], ""
    for number, (start, end) in enumerate(
        zip(starts, [*starts[1:], len(lines)], strict=True), 1
    ):
        body = tuple("\n".join(lines[start + 1 : end]).rstrip().split("\n"))
        cell = Cell(file, number, start + 2, False, (), body)
        marker = _MARKER.fullmatch(lines[start].rstrip())
        if marker is None:
            raise cell.error(-1, f"not a cell marker: {lines[start]}")
        cell = replace(
            cell,
            markdown=marker["markdown"] is not None,
            tags=tuple(json.loads(marker["tags"] or "[]")),
        )
        for tag in cell.tags:
            if tag not in TAGS and not ASKED.fullmatch(tag):
                raise cell.error(-1, f"unknown tag {tag!r}; known: {sorted(TAGS)}")
        if heading := _HEADING.fullmatch(body[0]):
            stem = "ex{}_{}".format(*heading.groups())
        cells.append(filled(cell, stem))
    starts = [n for n, cell in enumerate(cells) if is_heading(cell)]
    sections = [cells[a:b] for a, b in pairwise([0, *starts, len(cells)])]
    whole = [cell for section in sections for cell in completed(section)]
    return [replace(cell, number=n) for n, cell in enumerate(whole, 1)]


def is_heading(cell: Cell) -> bool:
    """Whether a section begins here."""
    return cell.markdown and cell.lines[0].startswith("# ## ")


def completed(section: list[Cell]) -> list[Cell]:
    """A section; that of an exercise with its form, its check and its hints.

    A check that's written out already stays, and so does a form.
    """
    head = _HEADING.fullmatch(section[0].lines[0]) if section else None
    if not head or [cell for cell in section if "check" in cell.tags]:
        return section
    exercise = catalogue.load("{}.{}".format(*head.groups()))
    name = exercise.id
    has_form = bool(exercise.questions or exercise.lines)

    def made(text: str, *tags: str) -> Cell:
        return replace(section[-1], markdown=False, tags=tags, lines=(text,))

    if has_form and not [cell for cell in section if "exercise" in cell.tags]:
        section = [section[0], made(f'exercise("{name}")', "exercise"), *section[1:]]
    names = "" if has_form else exercise.answer
    given = f", [{names}]" if "," in names else f", {names}" if names else ""
    ending = [made(f'check("{name}"{given})', "check")]
    if exercise.hints:
        ending.append(made(f'hint("{name}")'))
    return section + ending


_HEADING = re.compile(r"# ## (\d\d)\.(\d+) .*")
_SHIPPED = re.compile(r"# shipped (\w+)(?: with (.+) for (.+))?")
_GYM = re.compile(r"# gym (\w+)")

BY_HEART = "Answer from memory, without running anything, then press *Commit*."
BY_ORDER = """Drag the lines into your program. Without a mouse, use *Add*, *Remove* (or
Enter for both), *Earlier* and *Later* (or Alt+↑ and Alt+↓)."""
"""What is said above a form, which shows the statement itself."""


def filled(cell: Cell, stem: str) -> Cell:
    """The cell, with what it leaves to the text of its exercise.

    After a heading that's alone: the statement and the minutes. In the place of
    ``# shipped NAME``: that class or function, as a learner finds it, or repaired, if
    it says ``with NEW for OLD``. In the place of ``# gym NAME``: the lines of the gym,
    where it's written.
    """
    first, *rest = cell.lines
    if cell.markdown and _HEADING.fullmatch(first) and not rest:
        text, lines = exercise_text(stem), [first]
        said = text["statement"].strip()
        if text["kind"] == "P" or "lines" in text:
            said = BY_ORDER if "lines" in text else BY_HEART
        about = "Extra: about" if text.get("extra") else "About"
        whole = f"{said} ({about} {text['minutes']} minutes.)"
        for paragraph in whole.split("\n\n"):
            wrapped = textwrap.wrap(paragraph, 86, break_on_hyphens=False)
            lines += ["#", *[f"# {line}" for line in wrapped]]
        return replace(cell, lines=tuple(lines))
    if cell.markdown:
        return cell
    if asked := _GYM.fullmatch(first):
        gym = ROOT / "solutions/src/gym.py"
        for other in read_cells(gym.read_text("utf8"), gym.name):
            if other.lines[0].startswith(f"class {asked[1]}("):
                return replace(cell, lines=other.lines)
        raise cell.error(0, f"{gym.name} has no class {asked[1]}")
    lines = []
    for offset, line in enumerate(cell.lines):
        shipped = _SHIPPED.fullmatch(line)
        lines += (
            shipped_lines(cell, offset, stem, *shipped.groups()) if shipped else [line]
        )
    return replace(cell, lines=tuple(lines))


def shipped_lines(
    cell: Cell, offset: int, stem: str, name: str, new: str | None, old: str | None
) -> list[str]:
    """The class or function with this name in the text of an exercise, or a repair."""
    source = exercise_text(stem).get("shipped", "")
    for node in ast.parse(source).body:
        if getattr(node, "name", "") == name:
            found = str(ast.get_source_segment(source, node))
            if old and found.count(old) != 1:
                raise cell.error(offset, f"{found.count(old)} times in {name}: {old}")
            return (found.replace(old, new or "") if old else found).splitlines()
    raise cell.error(offset, f"{stem}.toml ships no {name}")


def exercise_text(stem: str) -> dict[str, Any]:
    """What the text file of an exercise says."""
    file = resources.files("minigrad.course.exercises") / f"{stem}.toml"
    return tomllib.loads(file.read_text("utf8"))


def prose(cell: Cell) -> str:
    """The text of a markdown cell, without its comment signs."""
    for offset, line in enumerate(cell.lines):
        if line != "#" and not line.startswith("# "):
            raise cell.error(offset, f"markdown line without '# ': {line!r}")
    return "\n".join(line[2:] for line in cell.lines)


def code(cell: Cell, *, solved: bool) -> str:
    """The text of a code cell, its solution regions kept or turned into TODOs.

    A line ``# %%step`` or ``# %matplotlib`` becomes the magic that it names; what only
    ruff reads is left out.
    """
    out: list[str] = []
    opened = -1
    for offset, line in enumerate(cell.lines):
        start = _OPEN.fullmatch(line)
        if start:
            if opened >= 0:
                raise cell.error(offset, "a solution region inside another one")
            opened = offset
            if not solved:
                todo = json.dumps(f"TODO: {start['prompt']}", ensure_ascii=False)
                out.append(f"{start['indent']}raise NotImplementedError({todo})")
        elif _CLOSE.fullmatch(line):
            if opened < 0:
                raise cell.error(offset, "'# endregion' without a region")
            opened = -1
        elif _LOOSE_OPEN.fullmatch(line):
            raise cell.error(offset, "write '# region solution: <what to write>'")
        elif opened < 0 or solved:
            out.append(re.sub(r"^# (?=%)|  # noqa\b.*", "", line))
    if opened >= 0:
        raise cell.error(opened, "this solution region is never closed")
    text = "\n".join(out)
    try:
        ast.parse(re.sub(r"^%.*", "pass", text, flags=re.MULTILINE))
    except SyntaxError as error:
        raise cell.error((error.lineno or 1) - 1, f"not Python: {error.msg}") from None
    return text


FIRST_LINE = "# Hidden, because it knows the answer"
"""What a notebook still shows of a collapsed cell."""


def folded(text: str) -> str:
    """An explanation that is opened by hand: it gives an answer away."""
    return f"{faq.FOLD}{text}{faq.UNFOLD}"


def metadata_of(cell: Cell) -> dict[str, object]:
    """The tags, and what hides a source in JupyterLab, Notebook 7 and nbconvert."""
    found: dict[str, object] = {"tags": list(cell.tags)} if cell.tags else {}
    if "hide-input" in cell.tags:
        found["jupyter"] = {"source_hidden": True}
        found["transient"] = {"remove_source": True}
    return found


def notebook(text: str, file: str, *, solved: bool) -> str:
    """The ``.ipynb`` text of one source; ``solved=False`` is the learner's version."""
    seen: Counter[str] = Counter()
    cells: list[dict[str, object]] = []
    faq = False
    for cell in read_cells(text, file):
        source = prose(cell) if cell.markdown else code(cell, solved=solved)
        if "solution" in cell.tags and not solved:
            continue
        if "hide-input" in cell.tags:
            faq, source = True, f"{FIRST_LINE}\n{source}"
        elif {"try", "predict", "because"} & set(cell.tags) or source.startswith("## "):
            faq = False
        elif faq and cell.markdown and "explain" in cell.tags:
            source = folded(source)
        digest = hashlib.sha256(source.encode()).hexdigest()[:8]
        seen[digest] += 1
        built: dict[str, object] = {
            "cell_type": "markdown" if cell.markdown else "code",
            "id": f"{digest}-{seen[digest]}",
            "metadata": metadata_of(cell),
            "source": source.splitlines(keepends=True),
        }
        cells.append(
            built if cell.markdown else built | {"execution_count": None, "outputs": []}
        )
    kernel = {"display_name": "Python 3", "language": "python", "name": "python3"}
    book = {
        "cells": cells,
        "metadata": {"kernelspec": kernel, "language_info": {"name": "python"}},
        "nbformat": 4,
        "nbformat_minor": 5,
    }
    return json.dumps(book, indent=1, ensure_ascii=False, sort_keys=True) + "\n"


def op_stubs() -> dict[str, str]:
    """The type stubs generated from the op table, and which family has what."""
    from minigrad.ops import _stubs

    return _stubs.built_files()


MINUTES = re.compile(r"\*\*Minutes\.\*\* \d+ alone: (\d+) for the lesson")


def lesson_minutes() -> dict[str, str]:
    """The minutes of each lesson without its exercises, from the instructor's notes."""
    rows = ["lesson\tminutes"]
    for path in sorted(ROOT.glob("notebooks/src/*.instructor.md")):
        if said := MINUTES.search(path.read_text("utf8")):
            rows.append(f"{path.name[:2]}\t{said[1]}")
    return {paths.BUILT_MINUTES: "\n".join(rows) + "\n"}


GENERATORS: tuple[Callable[[], dict[str, str]], ...] = (
    op_stubs,
    table_file,
    concepts.built_page,
    lesson_minutes,
)


def exercises_of(stem: str) -> str:
    """A lesson's exercises: named apart from the lesson, for the tabs of a browser."""
    name = f"{stem[:2]}_exercises" if re.match(r"\d\d_", stem) else stem
    return f"exercises/{stem}/{name}.ipynb"


def wanted(root: Path) -> dict[str, str]:
    """Every built file the repository should hold: relative path -> exact text."""
    files: dict[str, str] = {}
    for source in sorted((root / "notebooks/src").glob("*.py")):
        text, name = source.read_text("utf8"), f"notebooks/src/{source.name}"
        files[f"notebooks/{source.stem}.ipynb"] = notebook(text, name, solved=True)
    for source in sorted((root / "notebooks/src").glob("*.instructor.md")):
        stem = source.name.removesuffix(".instructor.md")
        files[f"solutions/{stem}/instructor_notes.md"] = source.read_text("utf8")
    for source in sorted((root / "solutions/src").glob("*.py")):
        text, name = source.read_text("utf8"), f"solutions/src/{source.name}"
        solution = f"solutions/{source.stem}/{source.stem}.ipynb"
        files[solution] = notebook(text, name, solved=True)
        files[exercises_of(source.stem)] = notebook(text, name, solved=False)
    for generate in GENERATORS:
        files |= generate()
    return files


def orphans(root: Path, files: dict[str, str]) -> list[str]:
    """Notebooks in the built places that no source stands for."""
    places = (
        "notebooks/*.ipynb",
        "solutions/*/*.ipynb",
        "solutions/*/instructor_notes.md",
        "exercises/*/*.ipynb",
    )
    found = (path for place in places for path in root.glob(place))
    names = (path.relative_to(root).as_posix() for path in found)
    return sorted(name for name in names if name not in files and "/." not in name)


def main(argv: Sequence[str], root: Path | None = None) -> int:
    """Write what is stale and remove orphans, or with ``--check`` only list them."""
    parser = argparse.ArgumentParser(
        prog="python -m minigrad build",
        description="Write the notebooks from their sources, and the text that is "
        "generated: type stubs, the table of rules.",
    )
    parser.add_argument(
        "--check", action="store_true", help="change nothing; say what is stale"
    )
    check = parser.parse_args(list(argv)).check
    root = root or ROOT
    try:
        files = wanted(root)
    except SourceError as error:
        sys.stderr.write(f"{error}\n")
        return 1
    stale = [
        name
        for name, text in files.items()
        if not (root / name).is_file() or (root / name).read_bytes() != text.encode()
    ]
    extra = orphans(root, files)
    if check:
        for name in stale:
            sys.stderr.write(f"stale: {name}\n")
        for name in extra:
            sys.stderr.write(f"orphan: {name}\n")
        if stale or extra:
            sys.stderr.write("fix: python -m minigrad build\n")
        return 1 if stale or extra else 0
    for name in stale:
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_bytes(files[name].encode())
        sys.stdout.write(f"built: {name}\n")
    for name in extra:
        (root / name).unlink()
        sys.stdout.write(f"removed: {name}\n")
    return 0
