"""Paths through the course: minutes, the one that is chosen, what is next on it."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from minigrad import _workspace, course
from minigrad.course.check import SOLVED, WRONG
from minigrad.course.exercises import catalogue
from minigrad.course.notebook import journal, paths, spaced_repetition
from minigrad.errors import ArgumentValueError

ROOT = Path(__file__).resolve().parents[3]
EXERCISES = catalogue.names()


@pytest.fixture(autouse=True)
def workspace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / _workspace.SHIPPED).mkdir(parents=True)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def solve(*lessons: str) -> None:
    for name in EXERCISES:
        if name.split(".")[0] in lessons:
            journal.note(journal.CHECKED, name, state=SOLVED)


def test_paths_are_those_of_the_curriculum_and_two_that_a_function_needs() -> None:
    assert [way.numbers for way in paths.WAYS[1:]] == [
        ("01", "02", "03", "04", "08", "10", "12", "13", "17"),
        ("00", "01", "02", "03", "04", "05", "06", "13", "16"),
        ("01", "02", "09", "11", "15"),
    ]


@pytest.mark.parametrize("way", paths.WAYS, ids=lambda way: way.name)
def test_minutes_are_those_of_the_notes_for_the_lessons_that_there_are(
    way: paths.Way,
) -> None:
    minutes = {}
    for notes in sorted((ROOT / "notebooks/src").glob("*.instructor.md")):
        (said,) = re.findall(r"Minutes\.\*\* (\d+) alone", notes.read_text("utf8"))
        minutes[notes.name[:2]] = int(said)
    there = [n for n in minutes if n in way.numbers or way is paths.WAYS[0]]
    assert way.lessons == there
    assert way.minutes == sum([minutes[each] for each in there])
    assert f"about {way.minutes} minutes" in way.label


def test_lesson_appears_on_its_path_when_it_is_there(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    way = paths.Way("x", "y", ("01", "99"))
    assert way.lessons == ["01"]
    monkeypatch.setattr(paths.exercises, "names", lambda: [*EXERCISES, "99.1"])
    assert way.lessons == ["01", "99"]


def test_next_follows_the_path_and_then_the_rest() -> None:
    assert repr(course.home()).startswith("Next: 00.1 ")
    home = course.home("Transforms")
    assert repr(home).startswith("Next: 01.1 ")
    assert course.progress().next == catalogue.load("01.1")
    solve("01", "02")
    assert repr(course.home()).startswith("Next: 09.1 ")
    assert "Next: 09.1" in repr(course.progress("02"))
    solve(*paths.chosen().lessons)
    said = repr(course.home())
    assert said.startswith("Your path is done: Transforms. Next: 00.1 ")
    solve(*paths.WAYS[0].lessons)
    assert repr(course.home()).startswith("Every exercise of the lessons is solved.")


def test_recall_asks_only_what_is_on_the_path_that_was_chosen() -> None:
    def asked_about(before: str) -> set[str]:
        return {card.lesson for card in spaced_repetition.chosen(before, 999)}

    assert asked_about("13") == {f"{number:02d}" for number in range(13)}
    course.home("Teach me autograd")
    assert asked_about("13") == {"00", "01", "02", "03", "04", "05", "06"}
    journal.note(journal.CHECKED, "12.1", state=WRONG)
    assert "12" not in asked_about("14")
    course.home("Transforms")
    assert asked_about("01") == {"00"}


def test_choice_is_kept_in_the_journal_which_only_grows(workspace: Path) -> None:
    course.home("Transforms")
    first = (workspace / "progress.jsonl").read_bytes()
    assert paths.chosen().name == "Transforms"
    course.home("transforms")
    assert (workspace / "progress.jsonl").read_bytes() == first
    course.home("The whole course")
    assert (workspace / "progress.jsonl").read_bytes().startswith(first)
    assert paths.chosen() is paths.WAYS[0]


def test_path_of_another_version_in_the_journal_is_passed_over() -> None:
    journal.note(journal.PATH, "home", path="Transforms")
    journal.note(journal.PATH, "home", path="Some later path")
    journal.note(journal.PATH, "home")
    assert paths.chosen().name == "Transforms"


def test_path_that_does_not_exist_is_refused() -> None:
    with pytest.raises(ArgumentValueError, match="no path of this name") as error:
        course.home("transformers")
    assert "'Teach me autograd'" in str(error.value)
    assert journal.entries(kind=journal.PATH) == []


def test_page_has_the_lessons_of_the_path_first() -> None:
    assert "Not on your path" not in course.home().page()
    page = course.home("Transforms").page()
    on, off = page.split("Not on your path")
    assert [each in on for each in ("Lesson 09", "Lesson 11")] == [True, True]
    assert [each in off for each in ("Lesson 00", "Lesson 10", "Gym")] == [True] * 3
    assert "Your path: Transforms" in on
