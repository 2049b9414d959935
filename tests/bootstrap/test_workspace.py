"""Nothing that a learner did to a copy is ever lost, whatever an update brings."""

import json
import multiprocessing
from pathlib import Path

import pytest

from minigrad import _workspace
from minigrad._workspace import BESIDE, NEW, UPDATED, Laid
from tests.bootstrap.conftest import Clone

LESSON = Path("notebooks/01_first.ipynb")
UPDATE = Path("notebooks/01_first (updated).ipynb")


@pytest.fixture
def places(tmp_path: Path) -> tuple[Path, Path]:
    """A clone that ships version 1 of one lesson, and the workspace made from it."""
    root, workspace = tmp_path / "clone", tmp_path / "my work"
    ship(root, "version 1")
    assert _workspace.lay_out(root, workspace) == [Laid(LESSON, NEW)]
    return root, workspace


def ship(root: Path, text: str) -> None:
    (root / LESSON).parent.mkdir(parents=True, exist_ok=True)
    (root / LESSON).write_text(text)


def contents(workspace: Path) -> dict[str, str]:
    """Every file of the learner's: all but what the workspace keeps for itself."""
    return {
        path.relative_to(workspace).as_posix(): path.read_text()
        for path in workspace.rglob("*")
        if path.is_file() and ".minigrad" not in path.parts
    }


def test_unchanged_copy_is_updated(places: tuple[Path, Path]) -> None:
    root, workspace = places
    ship(root, "version 2")
    assert _workspace.lay_out(root, workspace) == [Laid(LESSON, UPDATED)]
    assert contents(workspace) == {LESSON.as_posix(): "version 2"}


def test_second_start_writes_nothing(places: tuple[Path, Path]) -> None:
    root, workspace = places
    before = {path: path.stat().st_mtime_ns for path in workspace.rglob("*")}
    assert _workspace.lay_out(root, workspace) == []
    assert {path: path.stat().st_mtime_ns for path in workspace.rglob("*")} == before


def test_edited_copy_stays_and_the_update_lies_beside_it_once(
    places: tuple[Path, Path],
) -> None:
    root, workspace = places
    (workspace / LESSON).write_text("mine")
    assert _workspace.lay_out(root, workspace) == []
    ship(root, "version 2")
    assert _workspace.lay_out(root, workspace) == [Laid(UPDATE, BESIDE)]
    both = {LESSON.as_posix(): "mine", UPDATE.as_posix(): "version 2"}
    assert contents(workspace) == both
    assert _workspace.lay_out(root, workspace) == []
    (workspace / UPDATE).unlink()
    assert _workspace.lay_out(root, workspace) == []


def test_untouched_update_gives_way_to_the_next_and_a_touched_one_stays(
    places: tuple[Path, Path],
) -> None:
    root, workspace = places
    (workspace / LESSON).write_text("mine")
    for version in ("version 2", "version 3"):
        ship(root, version)
        assert _workspace.lay_out(root, workspace) == [Laid(UPDATE, BESIDE)]
    (workspace / UPDATE).write_text("mine too")
    ship(root, "version 4")
    (laid,) = _workspace.lay_out(root, workspace)
    assert laid == Laid(Path("notebooks/01_first (updated 2).ipynb"), BESIDE)
    assert sorted(contents(workspace).values()) == ["mine", "mine too", "version 4"]


def test_copy_made_before_there_were_records_counts_as_edited(
    places: tuple[Path, Path],
) -> None:
    root, workspace = places
    (workspace / _workspace.SHIPPED / LESSON).unlink()
    ship(root, "version 2")
    assert _workspace.lay_out(root, workspace) == [Laid(UPDATE, BESIDE)]
    assert contents(workspace)[LESSON.as_posix()] == "version 1"


def test_deleted_copy_comes_back_and_a_renamed_one_stays(
    places: tuple[Path, Path],
) -> None:
    root, workspace = places
    (workspace / LESSON).rename(workspace / "notebooks/my notes.ipynb")
    assert _workspace.lay_out(root, workspace) == [Laid(LESSON, NEW)]
    assert len(contents(workspace)) == 2


def test_half_written_copy_is_the_learners_too(places: tuple[Path, Path]) -> None:
    root, workspace = places
    (workspace / LESSON).write_bytes(b'{"cells": [')
    ship(root, "version 2")
    _workspace.lay_out(root, workspace)
    assert (workspace / LESSON).read_bytes() == b'{"cells": ['


def test_read_only_copy_keeps_its_text_and_its_mode(
    places: tuple[Path, Path],
) -> None:
    root, workspace = places
    (workspace / LESSON).write_text("mine")
    (workspace / LESSON).chmod(0o444)
    ship(root, "version 2")
    assert _workspace.lay_out(root, workspace) == [Laid(UPDATE, BESIDE)]
    assert (workspace / LESSON).read_text() == "mine"
    assert (workspace / LESSON).stat().st_mode & 0o777 == 0o444


def test_copy_saved_while_it_is_replaced_is_not_lost(
    places: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    root, workspace = places
    ship(root, "version 2")
    right = _workspace.replace_if_still

    def saved_just_before(target: Path, expected: bytes, content: bytes) -> bool:
        target.write_text("saved at the last moment")
        return right(target, expected, content)

    monkeypatch.setattr(_workspace, "replace_if_still", saved_just_before)
    _workspace.lay_out(root, workspace)
    assert contents(workspace)[LESSON.as_posix()] == "saved at the last moment"
    assert contents(workspace)[UPDATE.as_posix()] == "version 2"


def test_interrupted_write_leaves_no_half_of_a_file(
    places: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    root, workspace = places
    ship(root, "version 2")

    def interrupted(self: Path, target: Path) -> Path:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(Path, "replace", interrupted)
        with pytest.raises(KeyboardInterrupt):
            _workspace.lay_out(root, workspace)
    assert contents(workspace) == {LESSON.as_posix(): "version 1"}
    assert _workspace.lay_out(root, workspace) == [Laid(LESSON, UPDATED)]


def start_and_wait(root: Path, workspace: Path, barrier: object) -> None:
    barrier.wait()
    _workspace.lay_out(root, workspace)


def test_two_labs_at_once_lose_nothing(places: tuple[Path, Path]) -> None:
    root, workspace = places
    names = [f"notebooks/{number:02}_more.ipynb" for number in range(30)]
    for name in names:
        (root / name).write_text(f"new {name}")
    context = multiprocessing.get_context("spawn")
    barrier = context.Barrier(2)
    work = [
        context.Process(target=start_and_wait, args=(root, workspace, barrier))
        for _ in range(2)
    ]
    for process in work:
        process.start()
    for process in work:
        process.join(60)
    assert [process.exitcode for process in work] == [0, 0]
    found = contents(workspace)
    assert {name: found[name] for name in names} == {n: f"new {n}" for n in names}
    assert not [name for name in found if "(" in name or name.endswith(".part")]


def test_folder_that_cannot_be_written_is_an_error_and_changes_nothing(
    places: tuple[Path, Path],
) -> None:
    root, workspace = places
    ship(root, "version 2")
    blocked = workspace / _workspace.SHIPPED / "notebooks/new.ipynb"
    blocked.mkdir(parents=True)
    (root / "notebooks/new.ipynb").write_text("new")
    with pytest.raises(OSError, match=r"new\.ipynb"):
        _workspace.lay_out(root, workspace)
    assert contents(workspace)[LESSON.as_posix()] in ("version 1", "version 2")


def test_lab_says_what_it_laid_beside(clone: Clone) -> None:
    ship(clone.root, "version 1")
    assert "beside" not in clone.run("lab").stdout
    (clone.root / "workspace" / LESSON).write_text("mine")
    ship(clone.root, "version 2")
    said = clone.run("lab").stdout
    assert f"New version beside yours, which stays as it is: {UPDATE}" in said
    assert "beside" not in clone.run("lab").stdout


def test_lab_says_what_it_updated(clone: Clone) -> None:
    ship(clone.root, "version 1")
    clone.run("lab")
    ship(clone.root, "version 2")
    assert f"Updated (you had not changed it): {LESSON}" in clone.run("lab").stdout


def cell(identity: str, text: str, kind: str = "markdown") -> dict[str, object]:
    return {"id": identity, "cell_type": kind, "source": text.splitlines(True)}


EXERCISES = Path("exercises/01_first/01_exercises.ipynb")


@pytest.fixture
def exercises(tmp_path: Path) -> Path:
    """A workspace with a notebook of two exercises, as shipped."""
    cells = [
        cell("a", "# Title"),
        cell("b", "## 01.1 First"),
        cell("c", "raise TODO", "code"),
        cell("d", "## 01.2 Second"),
        cell("e", "raise TODO", "code"),
        cell("f", "## Where next"),
    ]
    source = tmp_path / "clone" / EXERCISES
    source.parent.mkdir(parents=True)
    source.write_text(json.dumps({"cells": cells}))
    _workspace.lay_out(tmp_path / "clone", tmp_path / "work")
    return tmp_path / "work"


def change(workspace: Path, edits: dict[str, str | None]) -> str:
    """Give cells another text, or take them out; the whole notebook as text."""
    notebook = json.loads((workspace / EXERCISES).read_text())
    kept = []
    for each in notebook["cells"]:
        text = edits.get(each["id"], "unchanged")
        if text == "unchanged":
            kept.append(each)
        elif text is not None:
            kept.append(each | {"source": text})
    kept.append(cell("mine", "my own notes"))
    text = json.dumps({"cells": kept})
    (workspace / EXERCISES).write_text(text)
    return text


def texts(workspace: Path) -> dict[str, str]:
    notebook = json.loads((workspace / EXERCISES).read_text())
    return {each["id"]: _workspace.text_of(each) for each in notebook["cells"]}


def test_reset_of_one_exercise_keeps_all_others_and_the_old_attempt(
    exercises: Path,
) -> None:
    attempt = change(exercises, {"c": "my first", "e": "my second"})
    kept = _workspace.reset_section(exercises, EXERCISES, "01.2")
    assert kept is not None
    assert kept.read_text() == attempt
    assert kept.parent == exercises / "attempts/exercises/01_first"
    after = texts(exercises)
    assert (after["c"], after["e"]) == ("my first", "raise TODO")
    assert after["mine"] == "my own notes"


def test_reset_brings_back_a_deleted_cell_in_its_place(exercises: Path) -> None:
    change(exercises, {"e": None})
    _workspace.reset_section(exercises, EXERCISES, "01.2")
    assert list(texts(exercises)) == ["a", "b", "c", "d", "e", "f", "mine"]


def test_reset_of_an_unchanged_exercise_writes_nothing(exercises: Path) -> None:
    change(exercises, {"c": "my first"})
    before = (exercises / EXERCISES).read_text()
    assert _workspace.reset_section(exercises, EXERCISES, "01.2") is None
    assert (exercises / EXERCISES).read_text() == before
    assert not (exercises / "attempts").exists()


def test_two_resets_in_one_second_keep_both_attempts(exercises: Path) -> None:
    kept = []
    for text in ("one", "two"):
        change(exercises, {"c": text})
        kept.append(_workspace.reset_section(exercises, EXERCISES, "01.1"))
    assert len({str(path) for path in kept}) == 2
    assert all(path is not None and path.exists() for path in kept)


def test_reset_of_a_notebook_restores_the_shipped_bytes(exercises: Path) -> None:
    shipped = (exercises / EXERCISES).read_bytes()
    attempt = change(exercises, {"c": "mine"})
    kept = _workspace.reset_notebook(exercises, EXERCISES)
    assert (exercises / EXERCISES).read_bytes() == shipped
    assert kept is not None
    assert kept.read_text() == attempt
    assert _workspace.reset_notebook(exercises, EXERCISES) is None


def test_workspace_is_found_from_inside_it(exercises: Path) -> None:
    assert _workspace.around((exercises / EXERCISES).parent) == exercises
    assert _workspace.around(exercises.parent) is None


OLD = EXERCISES.with_name("01_first.ipynb")


@pytest.fixture
def earlier(exercises: Path) -> Path:
    """The same workspace as an earlier version left it: exercises had another name."""
    for folder in (exercises, exercises / _workspace.SHIPPED):
        (folder / EXERCISES).rename(folder / OLD)
    (exercises / OLD).write_text("mine")
    return exercises


def lay_out_again(workspace: Path) -> list[_workspace.Laid]:
    return _workspace.lay_out(workspace.parent / "clone", workspace)


def test_renamed_exercises_keep_what_is_in_them(earlier: Path) -> None:
    assert lay_out_again(earlier) == [_workspace.Laid(EXERCISES, _workspace.RENAMED)]
    assert (earlier / EXERCISES).read_text() == "mine"
    assert (earlier / OLD).read_bytes() == _workspace.note_to(EXERCISES.name)
    assert lay_out_again(earlier) == []


def test_file_that_has_the_new_name_already_stays_and_so_does_the_old_one(
    earlier: Path,
) -> None:
    (earlier / EXERCISES).write_text("somebody was faster")
    lay_out_again(earlier)
    assert (earlier / EXERCISES).read_text() == "somebody was faster"
    assert (earlier / OLD).read_text() == "mine"
    assert lay_out_again(earlier) == []


def test_renaming_that_was_interrupted_goes_on(earlier: Path) -> None:
    (earlier / OLD).rename(earlier / EXERCISES)
    lay_out_again(earlier)
    assert (earlier / EXERCISES).read_text() == "mine"
    assert (earlier / OLD).read_bytes() == _workspace.note_to(EXERCISES.name)
    assert not (earlier / _workspace.SHIPPED / OLD).exists()


def test_two_that_rename_at_once_lose_nothing(earlier: Path) -> None:
    record = (earlier / _workspace.SHIPPED / OLD).read_bytes()
    lay_out_again(earlier)
    _workspace.write_whole(record, earlier / _workspace.SHIPPED / OLD)
    (earlier / EXERCISES).rename(earlier / "elsewhere")
    assert not _workspace.rename(earlier, EXERCISES)
    assert (earlier / OLD).read_bytes() == _workspace.note_to(EXERCISES.name)
    assert not (earlier / EXERCISES).exists()


def test_exercises_that_were_deleted_come_back_under_the_new_name(
    earlier: Path,
) -> None:
    (earlier / OLD).unlink()
    laid = lay_out_again(earlier)
    assert laid == [_workspace.Laid(EXERCISES, _workspace.NEW)]
