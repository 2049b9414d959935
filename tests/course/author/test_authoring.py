"""What is said to somebody who writes an exercise."""

import shutil
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from minigrad.course.author import authoring
from minigrad.course.check import NOT_TRIED, SOLVED
from minigrad.course.check.exercise import Line
from minigrad.course.exercises import catalogue

ROOT = authoring.ROOT


@pytest.mark.parametrize("name", catalogue.names())
def test_every_exercise_of_the_course_is_complete(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    # tests/notebooks/test_run.py runs them all, as shipped and solved, in a kernel.
    states = {True: SOLVED, False: NOT_TRIED}
    monkeypatch.setattr(authoring, "state_after", lambda *_, solved: states[solved])
    assert list(authoring.lacking(name)) == []


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A clone that has the places for exercises and nothing in them."""
    monkeypatch.setattr(authoring, "ROOT", tmp_path)
    place = tmp_path / "minigrad/course/exercises"
    place.mkdir(parents=True)
    return place


@pytest.mark.parametrize("kind", list(authoring.KINDS))
def test_new_writes_two_files_that_want_filling(
    folder: Path, kind: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert authoring.main_new(["02.4", kind]) == 0
    assert sorted([path.name for path in folder.iterdir()]) == [
        "ex02_4.py",
        "ex02_4.toml",
    ]
    assert "check-exercise 02.4" in capsys.readouterr().out
    (said,) = authoring.lacking("02.4", folder.parents[2])
    assert "TODO are left" in said
    compile((folder / "ex02_4.py").read_text(), "ex02_4.py", "exec")


def test_new_never_overwrites(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "ex02_4.py").write_text("mine")
    assert authoring.main_new(["02.4", "W"]) == 1
    assert "is there already; nothing was written" in capsys.readouterr().out
    assert [path.name for path in folder.iterdir()] == ["ex02_4.py"]
    assert (folder / "ex02_4.py").read_text() == "mine"


@pytest.mark.parametrize("arguments", [[], ["02.4"], ["02.4", "Z"], ["two", "W"]])
def test_new_says_how_it_is_called(
    folder: Path, arguments: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert authoring.main_new(arguments) == 2
    assert "02.4" in capsys.readouterr().out
    assert list(folder.iterdir()) == []


def test_files_that_are_missing_are_named() -> None:
    said = list(authoring.lacking("99.1"))
    assert said[0] == "there is no minigrad/course/exercises/ex99_1.toml"


@pytest.mark.parametrize(
    ("name", "change", "says"),
    [
        ("01.4", {"hints": ("one",)}, "it has 1 hints; three are wanted"),
        ("01.4", {"half_step": ""}, "half_step is empty"),
        ("01.4", {"minutes": 90}, "minutes = 90"),
        ("01.4", {"kind": "Z"}, "kind 'Z' is none of"),
        ("01.4", {"mistake_hints": {"Q99": "?"}}, "has id 'Q99'"),
        ("01.4", {"spec": SimpleNamespace(ANSWER="Mul")}, "nor CONTRACT"),
        ("01.1", {"spec": SimpleNamespace()}, "its module has no truth()"),
        (
            "01.1",
            {"spec": SimpleNamespace(truth=lambda: {"a": "perhaps"})},
            "truth() says 'perhaps' of question a, which is none of its choices",
        ),
        (
            "01.1",
            {"spec": SimpleNamespace(truth=dict)},
            "truth() says nothing of question a",
        ),
        ("01.2", {"spec": SimpleNamespace()}, "no run_lines(lines)"),
        ("01.2", {"lines": (Line("a", "pass", "", ""),)}, "no line is a distractor"),
        ("01.4", {"title": "Another"}, "has no section '## 01.4 Another'"),
    ],
)
def test_what_is_lacking_is_said_in_words(
    name: str, change: dict[str, Any], says: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    changed = replace(catalogue.load(name), **change)
    monkeypatch.setattr(catalogue, "load", lambda identity: changed)
    assert [line for line in authoring.lacking(name) if says in line]


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (("return x * 2\n", "return x * 3\n"), "the solution is 'wrong'"),
        (("# region solution: return twice x, in one line\n", ""), "cannot be read"),
        (('check("00.2", Double)', "Double"), "no cell tagged check"),
        (("class Double", "class Twice"), "NameError in cell"),
    ],
)
def test_notebook_whose_checks_say_the_wrong_thing_is_found(
    change: tuple[str, str], says: str, tmp_path: Path
) -> None:
    for part in ("minigrad/course/exercises", "solutions/src"):
        shutil.copytree(ROOT / part, tmp_path / part)
    source = tmp_path / "solutions/src/00_start_here.py"
    text = source.read_text("utf8")
    assert change[0] in text
    source.write_text(text.replace(*change), "utf8")
    assert says in "\n".join(authoring.lacking("00.2", tmp_path))


def test_shipped_exercise_that_is_solved_already_is_found(tmp_path: Path) -> None:
    for part in ("minigrad/course/exercises", "solutions/src"):
        shutil.copytree(ROOT / part, tmp_path / part)
    source = tmp_path / "solutions/src/00_start_here.py"
    lines = source.read_text("utf8").splitlines(keepends=True)
    fences = ("        # region", "        # endregion")
    source.write_text("".join([n for n in lines if not n.startswith(fences)]), "utf8")
    said = "\n".join(authoring.lacking("00.2", tmp_path))
    assert "the exercise as shipped is 'solved'; it should be 'not tried'" in said


def test_commands_say_what_is_left_and_end_accordingly(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert authoring.main_check(["00.1"]) == 0
    assert capsys.readouterr().out == "00.1: complete\n"
    assert authoring.main_check(["99.1"]) == 1
    assert "99.1: 2 things to do" in capsys.readouterr().out
    assert authoring.main_check([]) == authoring.main_check(["--help"]) == 2
