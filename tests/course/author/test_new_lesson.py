"""``new`` lays out a lesson that builds and runs, and overwrites nothing."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from minigrad.course.author import authoring, build, new_lesson
from minigrad.course.notebook import journal, spaced_repetition
from tests.answers import rows
from tests.notebooks.test_style import cells_of, problems

KINDS = "PRIMCBW"
ASKED = ["19", "Going home, again?", KINDS]
SLUG = "19_going_home_again"


@pytest.fixture
def clone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A clone that has the places for a lesson and nothing in them."""
    monkeypatch.setattr(authoring, "ROOT", tmp_path)
    (tmp_path / "minigrad/course/exercises").mkdir(parents=True)
    return tmp_path


def files_in(root: Path) -> list[str]:
    return [p.relative_to(root).as_posix() for p in root.rglob("*") if p.is_file()]


def run(cells: list[build.Cell], *, solved: bool) -> dict[str, Any]:
    names: dict[str, Any] = {"__name__": "notebook"}
    for cell in cells:
        if not cell.markdown:
            exec(build.code(cell, solved=solved), names)
    return names


def test_lesson_is_built_as_it_was_laid_out(
    clone: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert new_lesson.main(ASKED) == 0
    built = build.wanted(clone)
    for name in (
        f"notebooks/{SLUG}.ipynb",
        f"exercises/{SLUG}/{SLUG[:2]}_exercises.ipynb",
        f"solutions/{SLUG}/{SLUG}.ipynb",
        f"solutions/{SLUG}/instructor_notes.md",
    ):
        assert name in built
    said = capsys.readouterr().out
    assert [name for name in files_in(clone) if f"wrote {name}\n" not in said] == []
    assert len(files_in(clone)) == 4 + 3 * len(KINDS)
    assert "check-exercise 19.1" in said


def test_what_is_laid_out_keeps_the_house_rules_and_runs(clone: Path) -> None:
    new_lesson.main(ASKED)
    lesson = cells_of(clone / f"notebooks/src/{SLUG}.py")
    exercises = cells_of(clone / f"solutions/src/{SLUG}.py")
    assert list(problems(lesson, lesson=True)) == []
    assert list(problems(exercises, lesson=False)) == []
    assert run(lesson, solved=True)["run_first"]().item() == 6
    assert "slide" in {tag for cell in lesson for tag in cell.tags}


def test_prediction_that_is_laid_out_has_an_outcome_and_a_step(clone: Path) -> None:
    new_lesson.main(ASKED)
    cells = cells_of(clone / f"notebooks/src/{SLUG}.py")
    (asking,) = [cell for cell in cells if "hide-input" in cell.tags][:1]
    names = run(cells[: cells.index(asking)], solved=True)
    call = build.code(asking, solved=True).replace("\n)", '\n    answer="6",\n)')
    outcome = eval(call, names)
    assert outcome.right
    assert outcome.trace.data["meta"]["start"] > 0
    assert journal.entries("19.first", journal.ANSWERED)


def test_every_exercise_says_what_it_lacks(clone: Path) -> None:
    new_lesson.main(ASKED)
    for place in range(1, len(KINDS) + 1):
        (said,) = authoring.lacking(f"19.{place}", clone)
        assert "TODO are left" in said


def test_cards_and_rows_are_read(clone: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    new_lesson.main(ASKED)
    cards = clone / "minigrad/course/notebook/recall_cards"
    monkeypatch.setattr("importlib.resources.files", lambda _: cards)
    (card,) = spaced_repetition.cards()
    assert card.answer in card.question.choices
    monkeypatch.setattr(rows, "FOLDER", clone / "tests/answers")
    assert [answer.state for answer in rows.answers_to.__wrapped__("19.1")] == [
        "solved"
    ]


@pytest.mark.parametrize(
    "mine",
    [
        "notebooks/src/19_another.py",
        "solutions/src/19_another.py",
        "minigrad/course/exercises/ex19_7.toml",
        "minigrad/course/notebook/recall_cards/19.toml",
        "tests/answers/19.2/answers.toml",
    ],
)
def test_what_is_there_stays_and_nothing_else_is_written(
    clone: Path, mine: str, capsys: pytest.CaptureFixture[str]
) -> None:
    (clone / mine).parent.mkdir(parents=True, exist_ok=True)
    (clone / mine).write_text("mine")
    assert new_lesson.main(ASKED) == 1
    assert f"{mine} is there already; nothing was written" in capsys.readouterr().out
    assert files_in(clone) == [mine]
    assert (clone / mine).read_text() == "mine"


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ([], "usage: python -m minigrad new NUMBER TITLE KINDS"),
        (["9", "A title", "P"], "usage"),
        (["19", "?", "P"], "usage"),
        (["19", "A title"], "usage"),
        (
            ["19", "A title", "PZ"],
            "no exercise is of kind 'Z'; use the letters PRIBCWM",
        ),
        (["19", "A title", ""], "no exercise; use the letters"),
    ],
)
def test_what_cannot_be_meant_is_said_and_nothing_written(
    clone: Path, arguments: list[str], says: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert new_lesson.main(arguments) == 2
    assert says in capsys.readouterr().out
    assert files_in(clone) == []


def test_help_is_no_mistake(capsys: pytest.CaptureFixture[str]) -> None:
    assert new_lesson.main(["--help"]) == 0
    assert 'new 09 "Forward without ctx" PRCBW' in capsys.readouterr().out


def test_one_exercise_is_begun_as_before(clone: Path) -> None:
    assert new_lesson.main(["19.6", "W"]) == 0
    assert len(files_in(clone)) == 2
