"""A workspace of an earlier version opens after the update, with all that was done.

``landed.tar.xz`` was made by version c811cb9: lessons 00 and 05 and the exercises 00
and 01 laid out; then predictions, checks, a hint, a reset, an edit in 05 and in 01.
"""

from __future__ import annotations

import tarfile
from pathlib import Path

import pytest

from minigrad import _workspace, course
from minigrad.course.exercises import catalogue
from minigrad.course.notebook import journal
from tests.notebooks.kernels import ROOT, Kernel, kernel
from tests.notebooks.test_run import read, said

__all__ = ["kernel"]

LANDED = Path(__file__).with_name("landed.tar.xz")
START = Path("notebooks/00_start_here.ipynb")
UNTOUCHED = Path("exercises/00_start_here/00_exercises.ipynb")
EDITED = Path("notebooks/05_how_backward_finds_its_way.ipynb")
CTX = "01_where_ctx_comes_from"
SOLVED = Path(f"exercises/{CTX}/01_exercises.ipynb")
RENAMED = {str(_workspace.former(path)): str(path) for path in (UNTOUCHED, SOLVED)}
"""Exercises had the names of their lessons then."""


@pytest.fixture
def landed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The workspace as it was left; this process works in it."""
    with tarfile.open(LANDED) as archive:
        # Debian's own Python 3.11.2 has none yet.
        archive.extraction_filter = getattr(tarfile, "data_filter", None)
        archive.extractall(tmp_path)
    monkeypatch.chdir(tmp_path / "notebooks")
    return tmp_path


def files(folder: Path) -> dict[str, bytes]:
    found = [path for path in folder.rglob("*") if path.is_file()]
    own = [path for path in found if ".minigrad" not in path.parts]
    return {str(path.relative_to(folder)): path.read_bytes() for path in own}


def test_update_leaves_what_was_edited_tried_and_kept(landed: Path) -> None:
    before = files(landed)
    laid = {one.path: one.why for one in _workspace.lay_out(ROOT, landed)}
    after = files(landed)
    now = {name: RENAMED.get(name, name) for name in before}
    changed = [now[name] for name in before if after[now[name]] != before[name]]
    assert sorted(changed) == [str(UNTOUCHED), str(START)]
    assert laid[START] == _workspace.UPDATED
    for path in (EDITED, SOLVED):
        beside = path.with_name(f"{path.stem} (updated).ipynb")
        assert laid[beside] == _workspace.BESIDE
        assert after[str(beside)] == (ROOT / path).read_bytes()
    assert [name for name in after if name.startswith("attempts/")]


def test_exercises_get_a_name_of_their_own_and_a_note_stays_at_the_old_one(
    landed: Path,
) -> None:
    before = files(landed)
    told = [(one.path, one.why) for one in _workspace.lay_out(ROOT, landed)]
    assert (SOLVED, _workspace.RENAMED) in told
    assert (UNTOUCHED, _workspace.RENAMED) in told
    for old, new in RENAMED.items():
        link = Path(new).name
        assert f"[{link}]({link})" in (landed / old).read_text("utf8")
        assert not (landed / _workspace.SHIPPED / old).exists()
        assert (landed / _workspace.SHIPPED / new).is_file()
    assert (landed / SOLVED).read_bytes() == before[str(_workspace.former(SOLVED))]
    whole = files(landed)
    assert _workspace.lay_out(ROOT, landed) == []
    assert files(landed) == whole


def test_exercise_with_its_new_name_is_reset_and_its_attempt_kept(
    landed: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _workspace.lay_out(ROOT, landed)
    mine = (landed / SOLVED).read_bytes()
    monkeypatch.chdir(landed / SOLVED.parent)
    said = repr(course.reset("01.4"))
    (kept,) = (landed / "attempts" / SOLVED.parent).glob("01_exercises *.ipynb")
    assert kept.read_bytes() == mine
    assert kept.name in said


def test_progress_and_ids_survive(landed: Path) -> None:
    ids = {entry["exercise"] for entry in journal.entries(kind=journal.CHECKED)}
    assert ids == {"00.1", "00.3", "01.1", "01.4"} & set(catalogue.names())
    solved = [one.exercise.id for one in course.progress() if one.state == "solved"]
    assert solved == ["00.1", "01.1", "01.4"]


def test_predictions_come_back_locked_and_now_with_an_outcome(
    landed: Path, kernel: Kernel
) -> None:
    _workspace.lay_out(ROOT, landed)
    book = read(landed / START)
    (cell,) = [cell for cell in book.cells if '"00.value"' in cell.source]
    cell.source = cell.source.removesuffix(")") + 'answer="b")'
    kernel.run(book, landed / "notebooks")
    assert "✗ You said: y = 10, gradient 2. The run says: y = 10, gradient 5" in said(
        cell
    )
    kept = journal.entries("00.value", journal.ANSWERED)
    assert [entry["answer"] for entry in kept] == ["y = 10, gradient 2"]


def test_lesson_that_was_edited_still_runs(landed: Path, kernel: Kernel) -> None:
    book = kernel.run(read(landed / EDITED), landed / "notebooks")
    assert "MY NOTE" in "".join(cell.source for cell in book.cells)
    (join,) = [cell for cell in book.cells if '"05.join"' in cell.source]
    assert not [output for output in join.outputs if output.output_type == "error"]
