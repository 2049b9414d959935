"""The built notebooks run in a real kernel, and say what they should."""

from __future__ import annotations

import html
import json
import threading
from pathlib import Path
from typing import Any

import nbformat
import numpy as np
import pytest
from nbformat import NotebookNode

from minigrad import _workspace
from minigrad.course.author.build import ASKED
from minigrad.utils import jit
from tests.browser.told import trace_in
from tests.notebooks.kernels import ROOT, Kernel, kernel
from tests.tracing.pictures import inconsistencies

__all__ = ["kernel"]

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
    workspace: Path, kernel: Kernel
) -> None:
    told = {}
    for folder in ("exercises", "solutions"):
        path = ROOT / folder / TEST / f"{TEST}.ipynb"
        book = kernel.run(read(path), workspace)
        told[folder] = "".join([said(c) for c in book.cells])
    assert "S04 state kept on the class" in told["solutions"]
    assert "S04" not in told["exercises"]
    assert told["exercises"].count("What does this print?") == 2


@pytest.mark.parametrize("path", SOLUTIONS, ids=lambda p: p.stem)
def test_solution_is_solved_by_every_check(
    path: Path, workspace: Path, kernel: Kernel
) -> None:
    book = kernel.run(read(path), place_of(path, workspace))
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
def test_exercises_as_shipped_are_not_tried(
    slug: str, workspace: Path, kernel: Kernel
) -> None:
    """Where nobody could answer, as in nbconvert; *Run All* has a test for each."""
    (path,) = (ROOT / "exercises" / slug).glob("*.ipynb")
    book = kernel.run(read(path), place_of(path, workspace), errors=True)
    checks = tagged(book, "check")
    assert checks
    for cell in checks:
        assert 'data-state="not tried"' in shown(cell)
        error = cell.outputs[-1]
        assert error.output_type == "error"
        assert len(error.traceback) == 1


def test_exercise_without_the_upstream_gradient_is_named_in_the_notebook(
    workspace: Path, kernel: Kernel
) -> None:
    path = ROOT / "exercises" / SLUG / "01_exercises.ipynb"
    book = read(path)
    (answer,) = [c for c in tagged(book, "exercise") if "class Mul(" in c.source]
    answer.source = FORGETS_UPSTREAM
    kernel.run(book, place_of(path, workspace), errors=True)
    (check,) = [c for c in tagged(book, "check") if '"01.4"' in c.source]
    assert check.outputs[-1].ename == "CheckFailed"
    assert 'data-state="wrong" data-mistakes="C01"' in shown(check)
    assert "upstream gradient ignored" in said(check) + shown(check)


@pytest.mark.parametrize("path", EXERCISES, ids=lambda p: p.stem)
def test_run_all_on_untouched_exercises_goes_through(
    path: Path, workspace: Path, kernel: Kernel
) -> None:
    book = kernel.run(read(path), place_of(path, workspace), asks=True)
    for cell in tagged(book, "check"):
        assert shown(cell).count('data-state="not tried"') == 1


def test_run_all_on_half_done_exercises_brings_everything_back_the_next_day(
    workspace: Path, kernel: Kernel
) -> None:
    path = ROOT / "exercises" / SLUG / "01_exercises.ipynb"
    book = read(path)
    (answer,) = [c for c in tagged(book, "exercise") if "class Mul(" in c.source]
    answer.source = FORGETS_UPSTREAM
    same = next(c for c in book.cells if c.source == 'check("01.1")')
    same.source = 'check("01.1", ["false", "true", "true", "false", "false"])'
    kernel.run(book, place_of(path, workspace), asks=True)
    kernel.close()
    same.source = 'check("01.1")'
    kernel.run(book, place_of(path, workspace), asks=True)
    assert shown(same).count('data-state="solved"') == 1
    (check,) = [c for c in tagged(book, "check") if '"01.4"' in c.source]
    assert shown(check).count('data-state="wrong" data-mistakes="C01"') == 1
    assert said(check).count("upstream gradient ignored") == 1


def test_verdict_is_shown_again_in_another_cell_and_not_in_its_own(
    tmp_path: Path, kernel: Kernel
) -> None:
    first = "from minigrad.course import check\nv = check('01.4')\nv"
    cells = [nbformat.v4.new_code_cell(source) for source in (first, "v")]
    book = kernel.run(nbformat.v4.new_notebook(cells=cells), tmp_path, asks=True)
    assert [shown(cell).count("data-state") for cell in book.cells] == [1, 1]


def test_race_of_lesson_14_goes_on_where_no_thread_can_be_started(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def refuse(thread: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(threading.Thread, "start", refuse)
    names = {"np": np, "jit": jit, "threading": threading}
    for cell in read(ROOT / "notebooks" / "14_is_it_faster.ipynb").cells:
        if "in_two_threads" in cell.source:
            exec(cell.source, names)
    assert capsys.readouterr().out.startswith("can't start new thread: no race here.")
