"""Slides of a lesson, from its own cells: the instructor has no second source.

The tagged cells become parts; the page (``deck.js``) measures them, and makes slides
of them. What a cell shows after a prediction, and each explanation, waits for one more
key. Questions, and the votes of the instructor's notes, can open a vote of the room.
The notes are with every slide (key S). One HTML file, which asks the network for
nothing.
"""

from __future__ import annotations

import argparse
import ast
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from copy import deepcopy
from pathlib import Path
from string import ascii_lowercase as LETTERS
from typing import TYPE_CHECKING, Any
from unittest import mock

from minigrad import _workspace, errors
from minigrad.course.notebook import faq

if TYPE_CHECKING:
    from nbformat import NotebookNode

ROOT = Path(__file__).resolve().parents[4]
HERE = Path(__file__).resolve().parent
REVEAL = HERE / "vendored/reveal.js-5.2.1"
SECONDS = 120
"""How long one cell of a lesson may take."""
BEFORE = "## What to remember"
"""The votes of the notes come before this heading."""
VOTE = re.compile(r"\*\*Vote (\d)\.\*\* (.+?) Expected: ([a-h])\b")
RULE = "-" * 75
"""What a traceback begins with."""
WORKSHOP = re.compile(r"(\d+) in a workshop")


def main(argv: Sequence[str]) -> int:
    """``python -m minigrad slides 05 06``: run the lessons and write their slides."""
    parser = argparse.ArgumentParser(
        prog="python -m minigrad slides",
        description="Write slides: of each lesson one HTML file that works offline.",
        epilog="In the slides: arrow keys to move, Space and PageDown to step, S for "
        "the notes, ? for all keys. A room that serves them opens their votes: "
        "python -m minigrad room --slides 05",
    )
    parser.add_argument(
        "lessons", nargs="+", metavar="LESSON", help="its number, such as 05"
    )
    parser.add_argument(
        "--out", type=Path, help="of one lesson; default: NN_name.slides.html, here"
    )
    parser.add_argument("--theme", choices=("light", "dark"), default="light")
    chosen = parser.parse_args(list(argv))
    if chosen.out and len(chosen.lessons) > 1:
        parser.error("--out is for one lesson; several land here, each in its own file")
    try:
        lessons = [lesson_file(number) for number in chosen.lessons]
    except errors.ArgumentValueError as error:
        sys.stderr.write(f"{error}\n")
        return 2
    for lesson in lessons:
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
    raise errors.ArgumentValueError.at(
        "slides",
        f"there is no lesson {number!r}",
        f"name one of {', '.join(path.stem[:2] for path in lessons)}",
    )


def slides(lesson: Path, *, theme: str = "light") -> str:
    """The page with the slides of a built lesson, which runs for it.

    Raises: nbclient's CellExecutionError if a cell fails that is not meant to.
    """
    import nbformat

    book = nbformat.read(lesson, as_version=4)
    for cell in book.cells:
        # Two blank lines between functions are one on a wall.
        cell.source = re.sub(r"\n{3,}", "\n\n", faq.unfolded(cell.source))
    book.cells = [each for cell in book.cells for each in question_and_outcome(cell)]
    return page_of(run(book), notes_for(lesson), lesson.stem[:2], theme)


def page_of(
    ran: NotebookNode, notes: str, number: str = "", theme: str = "light"
) -> str:
    """The page with the slides of a notebook that has been run."""
    from nbconvert.exporters import HTMLExporter

    title = ran.cells[0].source.splitlines()[0].lstrip("# ")
    ran.cells = cells_of_slides(ran, notes, number)
    exporter = HTMLExporter(
        template_name="minigrad_slides",
        extra_template_basedirs=[str(HERE / "template")],
        theme=theme,
    )
    files = {
        "reveal_js": REVEAL / "reveal.js",
        "reveal_css": REVEAL / "reveal.css",
        "notes_js": REVEAL / "notes.js",
        "css": HERE / "slides.css",
        "deck_js": HERE / "deck.js",
    }
    texts: dict[str, str] = {k: path.read_text("utf8") for k, path in files.items()}
    minutes = WORKSHOP.search(notes)
    texts |= {"title": title, "minutes": minutes[1] if minutes else "0"}
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


def cells_of_slides(book: NotebookNode, notes: str, number: str) -> list[NotebookNode]:
    """The cells tagged ``slide`` in parts, the votes of the notes, and the notes."""
    found: list[NotebookNode] = []
    for cell in book.cells:
        tags = cell.metadata.get("tags", [])
        if "slide" not in tags:
            continue
        if cell.source.startswith(BEFORE):
            found += votes(notes, number)
        if cell.metadata.get("transient") and not cell.outputs:
            continue  # nothing of it is shown
        keep_last_bar(cell)
        for output in cell.get("outputs", []):
            if output.output_type == "error":  # the red box is rule enough
                output.traceback = [x for x in output.traceback if RULE not in x]
        for part in list(parts(cell, tags)):
            part.metadata.setdefault("part", kind_of(part, tags))
            found.append(part)
    for at, part in enumerate(found):
        part.metadata["number"] = at
    return [*found, text_part(re.sub(r"^# .*\n", "", notes), "notes")]


def keep_last_bar(cell: NotebookNode) -> None:
    """Of a progress bar, which is drawn over itself, the last state stays."""
    outputs = cell.get("outputs", [])
    bars = [output for output in outputs if "\r" in output.get("text", "")]
    for bar in bars[:-1]:
        outputs.remove(bar)
    for bar in bars[-1:]:
        bar.text = bar.text.rstrip().rpartition("\r")[2] + "\n"


def text_part(source: str, kind: str, vote: str = "") -> NotebookNode:
    """A part of text; ``vote`` is the name under which a room may ask it."""
    from nbformat.v4 import new_markdown_cell

    more = {"vote": vote} if vote else {}
    cell: NotebookNode = new_markdown_cell(source, metadata={"part": kind, **more})
    return cell


def votes(notes: str, number: str) -> Iterator[NotebookNode]:
    """The votes of the notes, each with what is expected, which waits for a key."""
    for name, asks, choices, right in asked_in(notes, number):
        yield text_part(f"## Vote {name[-1]}", "head")
        yield text_part(as_text(asks, choices), "asks", name)
        yield text_part(f"It's **{right}**.", "waits")


def asked_in(notes: str, number: str) -> Iterator[tuple[str, str, list[str], str]]:
    """The name of each vote in the notes, its question, choices, and what is expected.

    A vote is a question with its choices, (a), (b), ..., and "Expected: b".
    """
    for which, text, right in VOTE.findall(" ".join(notes.split())):
        asks, *rest = re.split(r" \([a-h]\) ", f" {text}")
        choices = [each.rstrip(" .,") for each in rest]
        yield f"{number}.v{which}", asks.strip(), choices, right


def question_and_outcome(cell: NotebookNode) -> list[NotebookNode]:
    """A cell that asks for a prediction as text, and what it is about as code.

    A wall has no widgets to click, and nobody there commits an answer.
    """
    from nbformat.v4 import new_code_cell

    if "course.predict(" not in cell.source:
        return [cell]
    before, call, (label, asks, choices) = prediction_in(cell.source)
    question = text_part(as_text(asks, choices), "asks", label)
    question.metadata["tags"] = cell.metadata.get("tags", [])
    runs = [[ast.unparse(each) for each in before], outcome(call)]
    first, then = [
        [new_code_cell("\n".join(lines), metadata=deepcopy(cell.metadata))]
        for lines in runs
    ]
    return [*(first if before else []), question, *(then if runs[1] else [])]


def prediction_in(source: str) -> tuple[list[ast.stmt], ast.Call, list[Any]]:
    """What runs before a prediction, its call, and its label, question and choices."""
    *before, last = ast.parse(source).body
    assert isinstance(last, ast.Expr)  # the question, with nothing behind it
    assert isinstance(last.value, ast.Call)
    return before, last.value, list(map(ast.literal_eval, last.value.args[:3]))


def as_text(asks: str, choices: Sequence[str]) -> str:
    """A question with its choices, a, b, c."""
    lines = [f"{x}. {each}" for x, each in zip(LETTERS, choices, strict=False)]
    return "\n\n".join([f"**{asks}**", *lines])


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


def kind_of(cell: NotebookNode, tags: Sequence[str]) -> str:
    """What the page does with a part: begin a slide, let it wait for a key, or not."""
    shows = cell.get("outputs") and not cell.source
    joins = {"explain", "predict", "recall"} & set(tags)
    if any(is_player(output) for output in cell.get("outputs", [])):
        return "player waits" if "predict" in tags else "player"
    if cell.cell_type == "markdown" and not joins:
        return "head"
    return "waits" if shows or "explain" in tags else cell.cell_type


def parts(cell: NotebookNode, tags: Sequence[str]) -> Iterator[NotebookNode]:
    """The cell, or its source and its outputs apart, where the outputs have to wait.

    A player fills a slide: what is shown besides comes after it.
    """
    if not cell.get("outputs") or not {"step", "predict"} & set(tags):
        yield cell
        return
    outputs, cell.outputs = cell.outputs, []
    if not cell.metadata.get("transient"):  # else its source isn't shown
        yield cell
    for players, kind in ((True, "player"), (False, "shown")):
        shown = deepcopy(cell)
        shown.source, shown.id = "", f"{cell.id}-{kind}"
        shown.metadata["transient"] = {"remove_source": True}
        shown.outputs = [each for each in outputs if is_player(each) is players]
        if shown.outputs:
            yield shown


def is_player(output: NotebookNode) -> bool:
    """Whether it is a page in a frame, as players are."""
    return "<iframe" in output.get("data", {}).get("text/html", "")
