"""What version 7152676 left of a learner's work, and of a class's, opens as it was.

``before_rooms.tar.xz`` holds a workspace with lesson 05 and the exercises of 02 and 05:
checks, a hint, an edit in three notebooks and a reset; and what two students handed in,
with their results.
"""

from __future__ import annotations

import tarfile
from pathlib import Path

import pytest

from minigrad import _workspace, course
from minigrad.course.exercises import catalogue
from minigrad.course.grade import command, results
from minigrad.course.notebook import journal
from tests.notebooks.kernels import ROOT
from tests.notebooks.test_landed_workspace import files

LANDED = Path(__file__).with_name("before_rooms.tar.xz")
LESSON = "05_how_backward_finds_its_way"


@pytest.fixture
def landed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """What was left; this process works in the workspace."""
    with tarfile.open(LANDED) as archive:
        # Debian's own Python 3.11.2 has none yet.
        archive.extraction_filter = getattr(tarfile, "data_filter", None)
        archive.extractall(tmp_path)
    monkeypatch.chdir(tmp_path / "workspace" / "notebooks")
    return tmp_path


def test_edits_and_attempts_stay_as_they_are(landed: Path) -> None:
    workspace = landed / "workspace"
    before = files(workspace)
    _workspace.lay_out(ROOT, workspace)
    after = files(workspace)
    edited = [name for name, text in before.items() if b"MY NOTE" in text]
    mine = [name for name, text in before.items() if b"# mine" in text]
    attempts = [name for name in before if name.startswith("attempts/")]
    assert [len(edited), len(mine), len(attempts)] == [1, 1, 1]
    now = {
        str(_workspace.former(path.relative_to(workspace))): path
        for path in workspace.glob("exercises/*/*_exercises.ipynb")
    }
    assert {*now} & {*edited, *mine}
    for name in (*edited, *mine, *attempts, "progress.jsonl"):
        assert now.get(name, workspace / name).read_bytes() == before[name]
    assert b"waiting[node] + slope" in after[attempts[0]]


def test_progress_goes_on_under_the_same_ids(landed: Path) -> None:
    kept = journal.entries()
    assert {entry["exercise"] for entry in kept} <= {*catalogue.names()}
    states = {one.exercise.id: one.state for one in course.progress()}
    tried = {id: state for id, state in states.items() if state != "not tried"}
    assert tried == {"02.3": "solved", "05.4": "solved", "05.5": "wrong"}
    # The first hint was given; for the next one something has to be tried.
    assert "For the next hint" in str(course.hint("05.3"))


def test_a_third_time_is_counted_on_from_the_two_before(landed: Path) -> None:
    long = "def backward(root, g):\n" + "".join(
        [f"    a{i} = {i}\n" for i in range(20)]
    )
    names: dict[str, object] = {}
    exec(long, names)
    assert course.check("05.5", names["backward"]).state == "wrong"
    kept = journal.entries("05.5", journal.CHECKED)
    assert [entry["diagnosis"] for entry in kept] == ["backward"] * 3


def test_what_was_graded_is_not_graded_again(
    landed: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    out = landed / "out"
    before = (out / "results.jsonl").read_bytes(), (out / "results.csv").read_bytes()
    found = {one.student: (one.state, one.points) for one in results.read(out)}
    assert found == {"ada": ("solved", 2.0), "ben": ("wrong", 0.0)}
    monkeypatch.setattr(command, "see_that_right_answers_pass", lambda mode: None)
    monkeypatch.setattr(command, "grade_here", lambda *work: pytest.fail("graded"))
    assert command.main([str(landed / "in"), "--out", str(out)]) == 0
    assert "0 graded, 2 were graded before" in capsys.readouterr().err
    assert (
        (out / "results.jsonl").read_bytes(),
        (out / "results.csv").read_bytes(),
    ) == before
