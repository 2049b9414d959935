"""The built notebooks run in a real kernel, and say what they should."""

from __future__ import annotations

import html
import json
from pathlib import Path
from typing import Any

import nbclient
import nbformat
import pytest
from nbformat import NotebookNode

from minigrad import _workspace
from minigrad.course.author.build import ASKED
from tests.browser.told import trace_in
from tests.tracing.pictures import inconsistencies

ROOT = Path(__file__).resolve().parents[2]
SLUG = "01_where_ctx_comes_from"
LESSONS = sorted((ROOT / "notebooks").glob("*.ipynb"))
TEST = "concept_test"  # a notebook without checks: it says nothing of its answers
SOLUTIONS = sorted(
    [p for p in (ROOT / "solutions").glob("*/*.ipynb") if p.stem != TEST]
)
EXERCISES = sorted((ROOT / "exercises").glob("*/*.ipynb"))
FORGETS_UPSTREAM = """\
import minigrad as mg
class Mul(mg.autograd.Function):
    @staticmethod
    def forward(ctx, x, y):
        ctx.save_for_backward(x, y)
        return x * y
    @staticmethod
    def backward(ctx, grad_output):
        x, y = ctx.saved_tensors
        return y, x
"""


@pytest.fixture(autouse=True)
def kernel_sees_this_checkout(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    monkeypatch.setenv("IPYTHONDIR", str(tmp_path / "ipython"))


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    """A workspace as ``lab`` lays it out, for this test alone."""
    _workspace.lay_out(ROOT, tmp_path / "workspace")
    return tmp_path / "workspace"


def place_of(path: Path, workspace: Path) -> Path:
    """The folder of the workspace in which a notebook of the repository is opened."""
    folder = workspace / path.parent.relative_to(ROOT)
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def read(path: Path) -> NotebookNode:
    return nbformat.read(path, as_version=4)


def run(book: NotebookNode, folder: Path) -> NotebookNode:
    """Run every cell in a fresh kernel; the file on disk stays as it is."""
    client = nbclient.NotebookClient(
        book, timeout=120, resources={"metadata": {"path": str(folder)}}
    )
    return client.execute()


def run_on(book: NotebookNode, folder: Path) -> NotebookNode:
    """Run every cell, also after one that raises."""
    client = nbclient.NotebookClient(
        book,
        timeout=120,
        allow_errors=True,
        resources={"metadata": {"path": str(folder)}},
    )
    return client.execute()


class WithAPerson(nbclient.NotebookClient):
    """A client that could answer ``input()``, as JupyterLab and Notebook 7 say."""

    async def async_start_new_kernel_client(self) -> Any:
        client = await super().async_start_new_kernel_client()
        client.allow_stdin = True
        return client


def run_all(book: NotebookNode, folder: Path) -> NotebookNode:
    """*Run All*, as in a frontend: the first cell that raises would end it."""
    client = WithAPerson(
        book, timeout=120, resources={"metadata": {"path": str(folder)}}
    )
    return client.execute()


def recordings(book: NotebookNode) -> list[Any]:
    """The recordings that cells have shown as players."""
    pages = [shown(cell) for cell in book.cells if cell.cell_type == "code"]
    return [trace_in(page) for page in pages if 'id="trace"' in html.unescape(page)]


def assert_pictures_are_told(book: NotebookNode) -> None:
    """Whatever a lesson records has a picture, which agrees with its recording."""
    for data in recordings(book):
        traces = data.get("traces", [data])  # two, of a comparison
        assert [fault for trace in traces for fault in inconsistencies(trace)] == []
        assert all(e.get("why") for t in traces for e in t["events"] if e["lvl"] == 0)


def tagged(book: NotebookNode, tag: str) -> list[NotebookNode]:
    return [c for c in book.cells if tag in c.metadata.get("tags", [])]


def asked(book: NotebookNode) -> list[NotebookNode]:
    """The cells that answer what people ask."""
    return [
        cell
        for cell in book.cells
        if any(ASKED.fullmatch(tag) for tag in cell.metadata.get("tags", []))
    ]


def said(cell: NotebookNode) -> str:
    """All plain text that a cell has shown."""
    texts = []
    for output in cell.get("outputs", []):
        if output.output_type == "stream":
            texts.append(output.text)
        elif output.output_type != "error":
            texts.append(output.data.get("text/plain", ""))
    return "\n".join(texts)


def shown(cell: NotebookNode) -> str:
    """All HTML that a cell has shown."""
    outputs = cell.get("outputs", [])
    data = [o.data for o in outputs if o.output_type != "error" and "data" in o]
    return "\n".join(d.get("text/html", "") for d in data)


def test_concept_test_asks_everything_and_tells_the_answers_to_instructors_only(
    workspace: Path,
) -> None:
    told = {}
    for folder in ("exercises", "solutions"):
        path = ROOT / folder / TEST / f"{TEST}.ipynb"
        told[folder] = "".join([said(c) for c in run(read(path), workspace).cells])
    assert "S04 state kept on the class" in told["solutions"]
    assert "S04" not in told["exercises"]
    assert told["exercises"].count("What does this print?") == 2


@pytest.mark.parametrize("path", SOLUTIONS, ids=lambda p: p.stem)
def test_solution_is_solved_by_every_check(path: Path, workspace: Path) -> None:
    book = run(read(path), place_of(path, workspace))
    checks = tagged(book, "check")
    assert checks
    for cell in checks:
        assert 'data-state="solved"' in shown(cell)
    assert not [cell.source for cell in asked(book) if not cell.outputs]
    kept = (workspace / "progress.jsonl").read_text("utf8").splitlines()
    states = [json.loads(line).get("state") for line in kept]
    assert states.count("solved") >= len(checks)
    assert_pictures_are_told(book)


@pytest.mark.parametrize("slug", [SLUG, "gym"])
def test_exercises_as_shipped_are_not_tried(slug: str, workspace: Path) -> None:
    """Where nobody could answer, as in nbconvert; *Run All* has a test for each."""
    (path,) = (ROOT / "exercises" / slug).glob("*.ipynb")
    book = run_on(read(path), place_of(path, workspace))
    checks = tagged(book, "check")
    assert checks
    for cell in checks:
        assert 'data-state="not tried"' in shown(cell)
        error = cell.outputs[-1]
        assert error.output_type == "error"
        assert len(error.traceback) == 1


def test_exercise_without_the_upstream_gradient_is_named_in_the_notebook(
    workspace: Path,
) -> None:
    path = ROOT / "exercises" / SLUG / "01_exercises.ipynb"
    book = read(path)
    (answer,) = [c for c in tagged(book, "exercise") if "class Mul(" in c.source]
    answer.source = FORGETS_UPSTREAM
    run_on(book, place_of(path, workspace))
    (check,) = [c for c in tagged(book, "check") if '"01.4"' in c.source]
    assert check.outputs[-1].ename == "CheckFailed"
    assert 'data-state="wrong" data-mistakes="C01"' in shown(check)
    assert "upstream gradient ignored" in said(check) + shown(check)


@pytest.mark.parametrize("path", EXERCISES, ids=lambda p: p.stem)
def test_run_all_on_untouched_exercises_goes_through(
    path: Path, workspace: Path
) -> None:
    book = run_all(read(path), place_of(path, workspace))
    for cell in tagged(book, "check"):
        assert shown(cell).count('data-state="not tried"') == 1


def test_run_all_on_half_done_exercises_brings_everything_back_the_next_day(
    workspace: Path,
) -> None:
    path = ROOT / "exercises" / SLUG / "01_exercises.ipynb"
    book = read(path)
    (answer,) = [c for c in tagged(book, "exercise") if "class Mul(" in c.source]
    answer.source = FORGETS_UPSTREAM
    same = next(c for c in book.cells if c.source == 'check("01.1")')
    same.source = 'check("01.1", ["false", "true", "true", "false", "false"])'
    run_all(book, place_of(path, workspace))
    same.source = 'check("01.1")'
    run_all(book, place_of(path, workspace))
    assert shown(same).count('data-state="solved"') == 1
    (check,) = [c for c in tagged(book, "check") if '"01.4"' in c.source]
    assert shown(check).count('data-state="wrong" data-mistakes="C01"') == 1
    assert said(check).count("upstream gradient ignored") == 1


def test_verdict_is_shown_again_in_another_cell_and_not_in_its_own(
    tmp_path: Path,
) -> None:
    first = "from minigrad.course import check\nv = check('01.4')\nv"
    cells = [nbformat.v4.new_code_cell(source) for source in (first, "v")]
    book = run_all(nbformat.v4.new_notebook(cells=cells), tmp_path)
    assert [shown(cell).count("data-state") for cell in book.cells] == [1, 1]


def test_lesson_01_shows_what_its_text_says(workspace: Path) -> None:
    path = ROOT / "notebooks" / f"{SLUG}.ipynb"
    book = run(read(path), place_of(path, workspace))
    text = "\n".join(said(cell) for cell in book.cells if cell.cell_type == "code")
    assert "<class 'minigrad.autograd.function.MulConstantBackward'>" in text
    assert "(True, False)" in text
    assert "tensor([200.,   1.])" in text
    assert "Double.forward: MulBackward0" in text
    players = [cell for cell in book.cells if "iframe" in shown(cell).lower()]
    assert len([c for c in players if c.source.startswith("%%step")]) == 1
    assert len(players) == 1
