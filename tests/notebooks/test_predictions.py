"""Each prediction of the built notebooks: hidden before Commit, answered by the run."""

from __future__ import annotations

import ast
import html
import re
from itertools import pairwise
from pathlib import Path

import nbformat
import pytest
from nbconvert import HTMLExporter
from nbformat import NotebookNode

from minigrad.course.author.build import FIRST_LINE, FOLD, unfolded
from minigrad.views.page import steps_at_first
from tests.notebooks.test_run import (
    LESSONS,
    ROOT,
    kernel_sees_this_checkout,
    place_of,
    read,
    recordings,
    run_on,
    said,
    shown,
    workspace,
)

__all__ = ["kernel_sees_this_checkout", "workspace"]

ASKING = [
    path
    for path in [*LESSONS, *sorted((ROOT / "exercises").glob("*/*.ipynb"))]
    if "course.predict(" in path.read_text("utf8")
]


def predictions(book: NotebookNode) -> list[NotebookNode]:
    return [cell for cell in book.cells if "course.predict(" in cell.source]


def call_in(cell: NotebookNode) -> ast.Call:
    last = ast.parse(cell.source).body[-1]
    assert isinstance(last, ast.Expr)
    assert isinstance(last.value, ast.Call)
    return last.value


def committed(cell: NotebookNode, choice: str) -> None:
    """Let the cell commit an answer by itself."""
    call = ast.unparse(call_in(cell))
    before = cell.source[: cell.source.rindex("course.predict(")].removesuffix("mg.")
    cell.source = f"{before}{call[:-1]}, answer={choice!r})"


@pytest.mark.parametrize("path", ASKING, ids=lambda p: f"{p.parts[-3][:3]}-{p.stem}")
def test_question_is_collapsed_and_says_nothing_in_its_first_line(path: Path) -> None:
    book = read(path)
    assert predictions(book)
    for cell in predictions(book):
        assert cell.source.startswith(f"{FIRST_LINE}\n")
        assert cell.metadata["jupyter"]["source_hidden"] is True
        assert cell.metadata["transient"]["remove_source"] is True


@pytest.mark.parametrize("path", LESSONS, ids=lambda p: p.stem)
def test_explanation_right_after_a_question_is_folded(path: Path) -> None:
    book = read(path)
    for cell, after in pairwise(book.cells):
        if cell in predictions(book) and "explain" in after.metadata.get("tags", []):
            hidden = after.metadata.get("jupyter", {}).get("source_hidden")
            assert hidden or after.source.startswith(FOLD)


@pytest.mark.parametrize("path", ASKING, ids=lambda p: f"{p.parts[-3][:3]}-{p.stem}")
def test_commit_says_right_or_not_why_and_opens_a_player_at_a_step(
    path: Path, workspace: Path
) -> None:
    book = read(path)
    asking = predictions(book)
    choices = [ast.literal_eval(call_in(cell).args[2]) for cell in asking]
    stepped = ["then" in [k.arg for k in call_in(cell).keywords] for cell in asking]
    for cell in asking:
        committed(cell, "a")
    run_on(book, place_of(path, workspace))
    rows = zip(asking, choices, stepped, strict=True)
    for cell, (first, *others), has_player in rows:
        right, *why = said(cell).strip().splitlines()[-2:]
        wrong = [f"✗ You said: {first}. The run says: {other}" for other in others]
        assert right in [f"✓ Right: {first}", *wrong], said(cell)
        assert len(why) == 1
        start = re.search(r'data-start="(\d+)"', shown(cell))
        assert bool(start) is has_player, cell.source
        assert start is None or int(start[1]) > 0, cell.source
    if path in LESSONS and path.stem[:2] >= "14":
        traces = [t for data in recordings(book) for t in data.get("traces", [data])]
        assert traces
        assert {6 <= steps_at_first(trace) <= 14 for trace in traces} == {True}


@pytest.mark.parametrize("path", ASKING, ids=lambda p: f"{p.parts[-3][:3]}-{p.stem}")
def test_nothing_is_run_or_told_before_commit(path: Path, workspace: Path) -> None:
    book = run_on(read(path), place_of(path, workspace))
    page = seen(book)
    for cell in predictions(book):
        assert [output.output_type for output in cell.outputs] == ["execute_result"]
        assert "run says" not in said(cell)
        assert "iframe" not in shown(cell)
        question, choices = map(ast.literal_eval, call_in(cell).args[1:3])
        assert [text for text in (question, *choices) if text not in page] == []


def test_folded_text_can_be_unfolded() -> None:
    (lesson,) = [path for path in LESSONS if path.stem.startswith("05_")]
    cells = nbformat.read(lesson, as_version=4).cells
    folded = [cell.source for cell in cells if cell.source.startswith(FOLD)]
    assert len(folded) == 3
    assert "details" not in unfolded(folded[0])


def seen(book: NotebookNode) -> str:
    """What a page exported from it says, without a network."""
    page, _ = HTMLExporter().from_notebook_node(book)
    bare = re.sub("<script.*?</script>|<[^>]+>", "", page, flags=re.DOTALL)
    return html.unescape(bare)


@pytest.mark.parametrize("path", ASKING, ids=lambda p: f"{p.parts[-3][:3]}-{p.stem}")
def test_exported_html_leaves_out_what_a_question_is_made_of(path: Path) -> None:
    book = read(path)
    text = seen(book)
    assert "mg.teaching()" in text
    assert FIRST_LINE not in text
    for cell in predictions(book):
        assert ast.literal_eval(call_in(cell).args[1]) not in text
