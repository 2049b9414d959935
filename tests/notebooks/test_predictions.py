"""Each prediction of the built notebooks: hidden before Commit, answered by the run."""

from __future__ import annotations

import ast
import html
import re
from collections.abc import Callable
from functools import cache
from itertools import pairwise
from pathlib import Path

import nbformat
import pytest
from nbconvert import HTMLExporter
from nbformat import NotebookNode
from nbformat.v4 import new_code_cell, new_notebook, new_output

from minigrad import _workspace
from minigrad.course.author.build import FIRST_LINE
from minigrad.course.notebook.faq import FOLD, unfolded
from minigrad.views.page import steps_at_first
from tests.notebooks.kernels import ROOT, Kernel, kernel
from tests.notebooks.test_run import (
    LESSONS,
    SLUG,
    asked,
    assert_pictures_are_told,
    place_of,
    read,
    recordings,
    said,
    shown,
)

__all__ = ["kernel"]

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


Run = Callable[[Path], NotebookNode]
Both = Callable[[Path], list[NotebookNode]]


@pytest.fixture(scope="module")
def both(tmp_path_factory: pytest.TempPathFactory, kernel: Kernel) -> Both:
    """What a notebook shows as built, and what its questions answer at its end."""

    @cache
    def ran(path: Path) -> list[NotebookNode]:
        workspace = tmp_path_factory.mktemp("asked") / "workspace"
        _workspace.lay_out(ROOT, workspace)
        book, answers = read(path), predictions(read(path))
        for cell in answers:
            committed(cell, "a")
        count = len(book.cells)
        book.cells += answers
        kernel.run(book, place_of(path, workspace), errors=True)
        as_built = new_notebook(cells=book.cells[:count], metadata=book.metadata)
        return [as_built, new_notebook(cells=book.cells[count:])]

    return ran


@pytest.fixture(scope="module")
def as_built(both: Both) -> Run:
    """What a notebook shows whose questions nobody has answered."""
    return lambda path: both(path)[0]


@pytest.fixture(scope="module")
def answered(both: Both) -> Run:
    """The questions of a notebook, all answered with the first choice."""
    return lambda path: both(path)[1]


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
    path: Path, as_built: Run, answered: Run
) -> None:
    asking = answered(path).cells
    choices = [ast.literal_eval(call_in(cell).args[2]) for cell in asking]
    stepped = ["then" in [k.arg for k in call_in(cell).keywords] for cell in asking]
    rows = zip(asking, choices, stepped, strict=True)
    for cell, (first, *others), has_player in rows:
        right, *why = said(cell).strip().splitlines()[-2:]
        wrong = [f"✗ You said: {first}. The run says: {other}" for other in others]
        assert right in [f"✓ Right: {first}", *wrong], said(cell)
        assert len(why) == 1
        start = re.search(r'data-start="(\d+)"', shown(cell))
        assert bool(start) is has_player, cell.source
        assert start is None or int(start[1]) > 0, cell.source
    if path in LESSONS and path.stem[:2] >= "10":
        shown_here = recordings(as_built(path)) + recordings(answered(path))
        traces = [t for data in shown_here for t in data.get("traces", [data])]
        assert traces
        counts = [steps_at_first(trace) for trace in traces]
        assert [n for n in counts if not 6 <= n <= 14] == [], counts


@pytest.mark.parametrize("path", ASKING, ids=lambda p: f"{p.parts[-3][:3]}-{p.stem}")
def test_nothing_is_run_or_told_before_commit(path: Path, as_built: Run) -> None:
    book = as_built(path)
    page = seen(new_notebook(cells=predictions(book)))
    for cell in predictions(book):
        assert [output.output_type for output in cell.outputs] == ["execute_result"]
        assert "run says" not in said(cell)
        assert "iframe" not in shown(cell)
        question, choices = map(ast.literal_eval, call_in(cell).args[1:3])
        assert [text for text in (question, *choices) if text not in page] == []


@pytest.mark.parametrize("path", LESSONS, ids=lambda p: p.stem)
def test_lesson_runs_from_top_to_bottom(path: Path, as_built: Run) -> None:
    book = as_built(path)
    code = [cell for cell in book.cells if cell.cell_type == "code"]
    assert code
    assert all(cell.execution_count for cell in code)
    assert failing(code) == []
    assert not [cell.source for cell in asked(book) if not cell.outputs]
    assert_pictures_are_told(book)


def test_lesson_01_shows_what_its_text_says(as_built: Run) -> None:
    book = as_built(ROOT / "notebooks" / f"{SLUG}.ipynb")
    text = "\n".join(said(cell) for cell in book.cells if cell.cell_type == "code")
    assert "<class 'minigrad.autograd.function.MulConstantBackward'>" in text
    assert "(True, False)" in text
    assert "tensor([200.,   1.])" in text
    assert "Double.forward: MulBackward0" in text
    players = [cell for cell in book.cells if "iframe" in shown(cell).lower()]
    assert len([c for c in players if c.source.startswith("%%step")]) == 1
    assert len(players) == 1


def failing(cells: list[NotebookNode]) -> list[str]:
    """The cells that raise, though they are not meant to."""
    return [
        cell.source
        for cell in cells
        if "raises-exception" not in cell.metadata.get("tags", [])
        and any(output.output_type == "error" for output in cell.outputs)
    ]


def test_cell_that_fails_is_found(tmp_path: Path, kernel: Kernel) -> None:
    book = new_notebook(cells=[new_code_cell("1 / 0"), new_code_cell("1 / 1")])
    assert failing(kernel.run(book, tmp_path, errors=True).cells) == ["1 / 0"]


@pytest.mark.parametrize("path", LESSONS, ids=lambda p: p.stem)
def test_no_output_tells_an_outcome_before_commit(
    path: Path, as_built: Run, answered: Run
) -> None:
    book = as_built(path)
    asking = zip(predictions(book), answered(path).cells, strict=True)
    assert [early for pair in asking for early in told_early(book, *pair)] == []


def told_early(
    book: NotebookNode, asking: NotebookNode, answered: NotebookNode
) -> list[tuple[str, str]]:
    """What says how a prediction ends: in its section above it, or asking why below.

    The question why isn't folded, so it may not even have a part of the outcome. What
    shows several of the choices tells none.
    """
    label, _, choices = map(ast.literal_eval, call_in(asking).args[:3])
    first, why = said(answered).strip().splitlines()[-2:]
    is_so = first.partition("The run says: ")[2] or first.removeprefix("✓ Right: ")
    others = [choice for choice in choices if choice != is_so]
    place = book.cells.index(asking)
    heads = [n for n, c in enumerate(book.cells[:place]) if c.source.startswith("## ")]
    above = [said(c) for c in book.cells[max(heads, default=0) : place]]
    below = [said(c) for c in book.cells[place:] if "course.because(" in c.source]
    told = [page for page in (*above, *below) if has(why, page)]
    told += [
        page
        for page in (*above, *below)
        if has(is_so, page) and not any(has(other, page) for other in others)
    ]
    parts = own_parts(is_so, choices)
    told += [page for page in below if any(has(part, page) for part in parts)]
    return [(label, page) for page in told]


def own_parts(is_so: str, choices: list[str]) -> list[str]:
    """The parts of an outcome that not all choices have."""
    parts = re.split(r", (?:then |and later )?| and ", is_so)
    return [part for part in parts if not all(has(part, one) for one in choices)]


def has(text: str, page: str) -> bool:
    """Whether a page has this text, and not as a part of a word or a number."""
    found = re.search(
        rf"(?<![\w.]){re.escape(text)}(?!\w|\.\d)", " ".join(page.split())
    )
    return found is not None


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


@pytest.mark.parametrize(
    ("prompt", "tells"),
    [("Why is it True?", True), ("A ctx sees it. Why?", True), ("Why so?", False)],
)
def test_question_why_that_tells_an_outcome_is_found(prompt: str, tells: bool) -> None:
    source = 'course.predict("x.a", "What?", ["True, 1", "False, 1"], run)'
    asking, answered, because = (new_code_cell(source) for _ in range(3))
    because.source = 'course.because("x.because", ...)'
    for cell, text in (
        (asking, "What?\n  a: True, 1\n  b: False, 1"),
        (answered, "✓ Right: True, 1\nA ctx sees it."),
        (because, f"{prompt}\n  Because ..."),
    ):
        cell.outputs = [new_output("execute_result", {"text/plain": text})]
    book = new_notebook(cells=[asking, because])
    assert bool(told_early(book, asking, answered)) is tells
