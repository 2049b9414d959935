"""Progress survives crashes, restarts and two notebooks at once."""

import multiprocessing
import os
from pathlib import Path
from typing import Any

import pytest

from minigrad import _workspace
from minigrad.course.notebook import journal


@pytest.fixture
def workspace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A workspace whose exercises folder this process has as its current one."""
    (tmp_path / _workspace.SHIPPED).mkdir(parents=True)
    inside = tmp_path / "exercises/01_first"
    inside.mkdir(parents=True)
    monkeypatch.chdir(inside)
    monkeypatch.setattr(journal, "_unkept", [])
    return tmp_path


def kinds(**which: str) -> list[Any]:
    return [entry["kind"] for entry in journal.entries(**which)]


def test_entries_come_back_in_order_and_by_exercise(workspace: Path) -> None:
    journal.note("checked", "01.4", state="wrong", mistakes=["C01"])
    journal.note("hinted", "01.4")
    journal.note("checked", "01.3", state="solved")
    assert kinds() == ["checked", "hinted", "checked"]
    assert kinds(exercise="01.4") == ["checked", "hinted"]
    (first,) = journal.entries("01.4", "checked")
    assert (first["state"], first["mistakes"]) == ("wrong", ["C01"])
    assert (workspace / "progress.jsonl").read_text().count("\n") == 3


def test_line_cut_short_by_a_crash_costs_that_line_only(workspace: Path) -> None:
    journal.note("checked", "01.1")
    with (workspace / "progress.jsonl").open("ab") as file:
        file.write(b'{"at": "2026", "kind": "chec')
    journal.note("hinted", "01.1")
    assert kinds() == ["checked", "hinted"]


@pytest.mark.parametrize("line", ["[]", "3", '{"kind": "checked"}', "\\xff", ""])
def test_foreign_line_is_passed_over(workspace: Path, line: str) -> None:
    (workspace / "progress.jsonl").write_bytes(line.encode() + b"\n")
    journal.note("checked", "01.1")
    assert kinds() == ["checked"]


def write_many(folder: Path, name: str, barrier: Any) -> None:
    os.chdir(folder)
    barrier.wait()
    for number in range(200):
        journal.note("checked", name, number=number)


def test_two_notebooks_at_once_lose_and_mix_nothing(workspace: Path) -> None:
    context = multiprocessing.get_context("spawn")
    barrier = context.Barrier(2)
    work = [
        context.Process(target=write_many, args=(Path.cwd(), name, barrier))
        for name in ("01.1", "01.2")
    ]
    for process in work:
        process.start()
    for process in work:
        process.join(120)
    for name in ("01.1", "01.2"):
        numbers = [entry["number"] for entry in journal.entries(name)]
        assert numbers == list(range(200))


def test_outside_a_workspace_entries_last_for_the_session(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(journal, "_unkept", [])
    journal.note("checked", "01.1")
    assert kinds() == ["checked"]
    assert list(tmp_path.iterdir()) == []


def test_journal_that_cannot_be_written_is_said_and_kept(workspace: Path) -> None:
    (workspace / "progress.jsonl").mkdir()
    with pytest.warns(UserWarning, match="couldn't be written to .*progress.jsonl"):
        journal.note("checked", "01.1")
    (workspace / "progress.jsonl").rmdir()
    assert kinds() == ["checked"]
