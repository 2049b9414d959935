"""Slides of a lesson, from its own cells: the instructor has no second source.

A markdown cell tagged ``slide`` begins a slide, and the tagged cells behind it join it.
What a cell shows after a prediction, and each explanation, waits for one more key; a
player gets a slide of its own. The instructor's notes are the first slide's notes
(key S). One HTML file, which asks the network for nothing.
"""

from __future__ import annotations

import argparse
import ast
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from copy import deepcopy
from pathlib import Path
from string import ascii_lowercase as LETTERS
from typing import TYPE_CHECKING
from unittest import mock

from minigrad import _workspace, errors
from minigrad.course.author import build

if TYPE_CHECKING:
    from nbformat import NotebookNode

ROOT = Path(__file__).resolve().parents[4]
HERE = Path(__file__).resolve().parent
REVEAL = HERE / "vendored/reveal.js-5.2.1"
SECONDS = 120
"""How long one cell of a lesson may take."""
FIGURE = 14
"""How many lines a figure with its sentence takes."""
LINES = 22
"""How many lines fit on a slide; what is more goes to a slide below it."""


def main(argv: Sequence[str]) -> int:
    """``python -m minigrad slides 05``: run the lesson and write its slides."""
    parser = argparse.ArgumentParser(
        prog="python -m minigrad slides",
        description="Write the slides of a lesson: one HTML file that works offline.",
        epilog="In the slides: arrow keys to move, S for the notes, ? for all keys.",
    )
    parser.add_argument("lesson", help="its number, such as 05")
    parser.add_argument("--out", type=Path, help="default: NN_name.slides.html, here")
    parser.add_argument("--theme", choices=("light", "dark"), default="light")
    chosen = parser.parse_args(list(argv))
    try:
        lesson = lesson_file(chosen.lesson)
    except errors.ArgumentValueError as error:
        sys.stderr.write(f"{error}\n")
        return 2
    out = chosen.out or Path(f"{lesson.stem}.slides.html")
    print(f"Running {lesson.name}, some seconds.", flush=True)
    page = slides(lesson, theme=chosen.theme)
    _workspace.write_whole(page.encode(), out)
    print(f"Wrote {out}. Open it in a browser; ? there shows the keys.")
    return 0


def lesson_file(number: str) -> Path:
    """The built notebook of a lesson.

    Raises: ArgumentValueError if there is none of that number.
    """
    lessons = sorted(
        (_workspace.shipped(ROOT) / "notebooks").glob("[0-9][0-9]_*.ipynb")
    )
    for path in lessons:
        if path.stem[:2] == number:
            return path
    raise errors.ArgumentValueError(
        errors.message(
            "slides",
            f"there is no lesson {number!r}",
            f"name one of {', '.join(path.stem[:2] for path in lessons)}",
        )
    )


def slides(lesson: Path, *, theme: str = "light") -> str:
    """The page with the slides of a built lesson, which runs for it.

    Raises: nbclient's CellExecutionError if a cell fails that is not meant to.
    """
    import nbformat
    from nbconvert.exporters import SlidesExporter

    book = nbformat.read(lesson, as_version=4)
    for cell in book.cells:
        cell.source = build.unfolded(cell.source)
    book.cells = [each for cell in book.cells for each in question_and_outcome(cell)]
    ran = run(book)
    ran.cells = list(cells_of_slides(ran, notes_for(lesson)))
    exporter = SlidesExporter(
        template_name="minigrad_slides",
        extra_template_basedirs=[str(HERE / "template")],
        theme=theme,
    )
    files = {
        "reveal_js": REVEAL / "reveal.js",
        "reveal_css": REVEAL / "reveal.css",
        "notes_js": REVEAL / "notes.js",
        "css": HERE / "slides.css",
    }
    texts: dict[str, str] = {k: path.read_text("utf8") for k, path in files.items()}
    texts["title"] = book.cells[0].source.splitlines()[0].lstrip("# ")
    page, _ = exporter.from_notebook_node(ran, {"slides": texts})
    return str(page)


def notes_for(lesson: Path) -> str:
    """The instructor's notes, which are in the clone; a wheel has none."""
    notes = ROOT / f"solutions/{lesson.stem}/instructor_notes.md"
    if notes.is_file():
        return notes.read_text("utf8")
    print("Without the instructor's notes: they are in the clone, in solutions.")
    return "The instructor's notes are in the clone, in solutions."


def run(book: NotebookNode) -> NotebookNode:
    """The notebook with its outputs, run in a workspace that is gone afterwards."""
    from nbclient import NotebookClient

    with tempfile.TemporaryDirectory() as folder:
        _workspace.lay_out(ROOT, Path(folder))
        resources = {"metadata": {"path": str(Path(folder) / "notebooks")}}
        client = NotebookClient(book, timeout=SECONDS, resources=resources)
        with mock.patch.dict(os.environ, {"MINIGRAD_HOME": folder}):
            # What the kernel says about itself is not for who makes the slides.
            return client.execute(stderr=subprocess.DEVNULL)


def cells_of_slides(book: NotebookNode, notes: str) -> Iterator[NotebookNode]:
    """The cells tagged ``slide``, each marked with its part in the slides."""
    from nbformat.v4 import new_markdown_cell

    begun, lines = False, 0
    for cell in book.cells:
        tags = cell.metadata.get("tags", [])
        if "slide" not in tags:
            continue
        for part in parts(cell, tags):
            kind, height = part_in_slides(part, tags), lines_of(part)
            if kind != "slide" and lines + height > LINES:
                kind = "subslide"
            lines = height if kind in ("slide", "subslide") else lines + height
            part.metadata["slideshow"] = {"slide_type": kind}
            yield part
        if not begun:
            begun = True
            spoken = new_markdown_cell(notes)
            spoken.metadata["slideshow"] = {"slide_type": "notes"}
            yield spoken


def question_and_outcome(cell: NotebookNode) -> list[NotebookNode]:
    """A cell that asks for a prediction as text, and what it is about as code.

    A wall has no widgets to click, and nobody there commits an answer.
    """
    from nbformat.v4 import new_code_cell, new_markdown_cell

    if "course.predict(" not in cell.source:
        return [cell]
    *before, last = ast.parse(cell.source).body
    assert isinstance(last, ast.Expr)  # the question, with nothing behind it
    assert isinstance(last.value, ast.Call)
    seen = deepcopy(cell.metadata)
    for name in ("jupyter", "transient"):
        seen.pop(name, None)
    question = new_markdown_cell(as_text(last.value), metadata=seen)
    runs = [[ast.unparse(each) for each in before], outcome(last.value)]
    first, then = [
        [new_code_cell("\n".join(lines), metadata=deepcopy(cell.metadata))]
        for lines in runs
    ]
    return [*(first if before else []), question, *(then if runs[1] else [])]


def as_text(question: ast.Call) -> str:
    """The question of a prediction with its choices, a, b, c."""
    _, asks, choices = map(ast.literal_eval, question.args[:3])
    lines = [f"{x}. {each}" for x, each in zip(LETTERS, choices, strict=False)]
    return "\n\n".join([f"**Predict.** {asks}", *lines])


def outcome(question: ast.Call) -> list[str]:
    """The code that shows how a prediction comes out; none if it has no ``then``."""
    if any(each.arg == "so" for each in question.keywords):
        return [ast.unparse(question).removesuffix(")") + ", show=True)"]
    return [
        ast.unparse(each.value.body)
        if isinstance(each.value, ast.Lambda)
        else f"{ast.unparse(each.value)}()"
        for each in question.keywords
        if each.arg == "then"
    ]


def part_in_slides(cell: NotebookNode, tags: Sequence[str]) -> str:
    """Whether a cell begins a slide, waits for a key, or is there at once."""
    shows = cell.get("outputs") and not cell.source
    joins = {"explain", "predict", "recall"} & set(tags)
    if has_player(cell) or (cell.cell_type == "markdown" and not joins):
        return "slide"
    return "fragment" if shows or "explain" in tags else "-"


def lines_of(cell: NotebookNode) -> int:
    """About how many lines of a slide a cell fills; a player, all."""
    if has_player(cell):
        return LINES
    texts = [cell.source]
    for output in cell.get("outputs", []):
        data = output.get("data", {})
        figures = data.get("text/html", "").count("<figure")
        texts += [
            "\n" * FIGURE * figures or output.get("text", data.get("text/plain", ""))
        ]
        texts += output.get("traceback", [])
    if cell.cell_type == "markdown":
        return sum([lines_of_block(each) for each in cell.source.split("\n\n")])
    return len("\n".join(texts).splitlines()) + 1


def lines_of_block(text: str) -> int:
    """The same of a paragraph or a table, with the space below it."""
    rows = text.count("\n|")
    return len(text) // 75 + 2 if not rows else rows + rows // 4 + 2


def parts(cell: NotebookNode, tags: Sequence[str]) -> Iterator[NotebookNode]:
    """The cell, or its source and its outputs apart.

    They are apart if the outputs have to wait, or if both don't fit on a slide. A
    player fills a slide: what is shown besides comes after it.
    """
    waits = {"step", "predict"} & set(tags) or lines_of(cell) > LINES
    if not cell.get("outputs") or not waits:
        yield cell
        return
    outputs, cell.outputs = cell.outputs, []
    yield cell
    for players, kind in ((True, "player"), (False, "shown")):
        shown = deepcopy(cell)
        shown.source, shown.id = "", f"{cell.id}-{kind}"
        shown.metadata["transient"] = {"remove_source": True}
        shown.outputs = [each for each in outputs if is_player(each) is players]
        if shown.outputs:
            yield shown


def has_player(cell: NotebookNode) -> bool:
    """Whether a player is among what a cell shows."""
    return any(is_player(output) for output in cell.get("outputs", []))


def is_player(output: NotebookNode) -> bool:
    """Whether it is a page in a frame, as players are."""
    return "<iframe" in output.get("data", {}).get("text/html", "")
