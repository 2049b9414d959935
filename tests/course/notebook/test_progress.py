"""Progress, recall, review and reset, as a learner in a workspace meets them."""

import json
from pathlib import Path

import nbformat
import pytest

from minigrad import _bootstrap, _workspace, course
from minigrad.course.exercises import catalogue
from minigrad.course.notebook import journal, spaced_repetition
from minigrad.course.notebook.progress import Progress
from minigrad.errors import ArgumentValueError


@pytest.fixture
def workspace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A real workspace; this process works in its folder of exercises 00."""
    _workspace.lay_out(_bootstrap.ROOT, tmp_path)
    monkeypatch.chdir(tmp_path / "exercises/00_start_here")
    return tmp_path


def test_progress_counts_solved_names_the_next_and_adds_minutes() -> None:
    before = course.progress()
    assert before.done == 0
    assert before.next is not None
    assert before.next.id == "00.1"
    course.check("00.1", ["a", "a", "a"])
    after = course.progress()
    assert (after.done, after.minutes_left) == (1, before.minutes_left - 4)
    assert after.next is not None
    assert after.next.id == "00.2"
    counts = f"1 of {len(after.required)} exercises solved, 0 of {len(extra(after))}"
    assert f"{counts} extra ones; next: 00.2 Fix one line" in repr(after)


def extra(progress: Progress) -> list[str]:
    return [one.exercise.id for one in progress if one.exercise.is_extra]


def test_extra_exercise_is_never_next_and_takes_no_minutes() -> None:
    before = course.progress()
    assert "01.5" in extra(before)
    course.check("01.5", None)
    assert "01.5 Two calls, one class (extra): wrong" in repr(course.progress())
    for name in catalogue.names():
        if name not in extra(before):
            journal.note(journal.CHECKED, name, state="solved")
    assert course.progress().next is None
    assert course.progress().minutes_left == 0


def test_progress_of_a_lesson_is_a_few_lines_and_the_next_step() -> None:
    course.check("00.1", ["a", "a", "a"])
    shown = course.progress("00")
    assert repr(shown).split("\n")[:6] == [
        "Lesson 00: 1 of 3 exercises solved",
        "  ✓ 00.1 Which step is next?: solved",
        "  ○ 00.2 Fix one line: not tried",
        "  ○ 00.3 Read the box: not tried",
        "Next: 00.2 Fix one line (about 5 minutes)",
        "All lessons: course.home()",
    ]
    assert "<b>Lesson 00: 1 of 3 exercises solved</b>" in shown._repr_html_()
    for name in ("00.2", "00.3"):
        journal.note(journal.CHECKED, name, state="solved")
    assert "Next: 01.1 Same or new?" in repr(course.progress("00"))


def test_when_all_are_solved_nothing_is_next() -> None:
    for name in catalogue.names():
        journal.note(journal.CHECKED, name, state="solved")
    progress = course.progress()
    assert progress.next is None
    count, more = len(progress.required), len(extra(progress))
    all_of = f"{count} of {count} exercises solved, {more} of {more} extra ones"
    assert progress.summary == f"{all_of}. All done."


def test_solved_stays_solved_after_a_later_wrong_answer() -> None:
    course.check("00.3", {"a": "(3,)", "b": "a"})
    assert course.check("00.3", {"a": "(4,)", "b": "a"}).state == "wrong"
    (standing,) = [one for one in course.progress() if one.exercise.id == "00.3"]
    assert standing.state == "solved"


def test_progress_is_a_picture_and_a_text_that_say_the_same() -> None:
    course.check("00.1", ["a", "a", "a"])
    progress = course.progress()
    assert "lesson 00  ■□□  1 of 3" in repr(progress)
    shown = progress._repr_html_()
    assert "title='00.1 Which step is next?: solved'" in shown
    assert "title='00.2 Fix one line: not tried'" in shown


def test_outside_a_workspace_progress_says_that_it_will_not_last() -> None:
    assert "outside a workspace" in repr(course.progress())


def test_progress_survives_a_restart(
    workspace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    course.check("00.1", ["a", "a", "a"])
    monkeypatch.setattr(journal, "_unkept", [])
    assert course.progress().done == 1
    assert "outside a workspace" not in repr(course.progress())


def test_foreign_words_in_the_journal_do_no_harm(workspace: Path) -> None:
    journal.note(journal.CHECKED, "00.1", state="glorious")
    journal.note(journal.CHECKED, "77.7", state="solved")
    assert course.progress().done == 0


def test_recall_asks_first_what_was_missed() -> None:
    assert course.check("00.3", {"a": "(4,)", "b": "a"}).state == "wrong"
    assert spaced_repetition.chosen("01", 3)[0].after == "00.3"
    assert all(card.lesson == "00" for card in spaced_repetition.chosen("01", 3))
    for card in spaced_repetition.cards():
        journal.note(journal.ANSWERED, card.question.id, right=card.lesson == "00")
    assert {card.lesson for card in spaced_repetition.chosen("02", 3)} == {"01"}


def test_recall_before_the_first_lesson_is_refused() -> None:
    with pytest.raises(ArgumentValueError, match="no lesson before it"):
        course.recall("00")


def test_recall_judges_and_keeps_each_answer() -> None:
    sheet = course.cards(["00.r1", "01.r1"])
    form = sheet._form()
    answers = {"00.r1": "both", "01.r1": "once for each call of apply"}
    form._handle_custom_msg({"answer": answers}, [])
    assert "1 of 2 remembered" in form.outcome
    assert ": answered" in form.outcome
    assert ": solved" not in form.outcome
    rights = {e["exercise"]: e["right"] for e in journal.entries()}
    assert rights == {"00.r1": False, "01.r1": True}
    with pytest.raises(ArgumentValueError, match=r"there's no card '00\.r9'"):
        course.cards(["00.r9"])


def test_answer_of_every_card_is_among_its_choices() -> None:
    for card in spaced_repetition.cards():
        assert card.answer in card.question.choices
        assert card.question.why
    ids = [card.question.id for card in spaced_repetition.cards()]
    assert len(set(ids)) == len(ids)


def test_review_is_a_notebook_with_what_was_missed_and_ones_own_words(
    workspace: Path,
) -> None:
    course.because("00.because", "Why?", "the slopes need them\nreally")
    path = course.review().path
    assert path.parent == workspace
    book = nbformat.read(path, as_version=4)
    nbformat.validate(book)
    text = "\n".join([cell.source for cell in book.cells])
    assert "course.cards(['0" in text
    assert "**00.because** Why?\n\n> the slopes need them\n> really" in text
    before = path.read_bytes()
    again = course.review()
    assert again.path != path
    assert repr(again) == f"Your review: {again.path.name}"
    assert f"href='../../{again.path.name}'" in again._repr_html_()
    assert path.read_bytes() == before


def test_review_asks_only_about_lessons_that_were_begun(workspace: Path) -> None:
    journal.note(journal.ANSWERED, "00.value", answer="y = 7, gradient 1")
    assert "'01.r" not in course.review().path.read_text("utf8")
    journal.note(journal.ANSWERED, "01.when", answer="after forward")
    assert "'01.r" in course.review().path.read_text("utf8")


def test_review_outside_a_workspace_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ArgumentValueError, match="is in no workspace"):
        course.review()


def source_of(path: Path, start: str) -> str:
    cells = json.loads(path.read_text("utf8"))["cells"]
    texts = [_workspace.text_of(cell) for cell in cells]
    return next(text for text in texts if text.startswith(start))


def test_reset_puts_one_exercise_back_and_keeps_the_attempt(workspace: Path) -> None:
    path = workspace / "exercises/00_start_here/00_exercises.ipynb"
    attempt = path.read_text("utf8").replace("raise NotImplementedError(", "mine(")
    path.write_text(attempt, "utf8")
    said = course.reset("00.2")
    assert "raise NotImplementedError(" in source_of(path, "class Double")
    (kept,) = (workspace / "attempts").rglob("*.ipynb")
    assert kept.read_text("utf8") == attempt
    assert kept.name in said
    assert "Reload Notebook from Disk" in said
    assert [e["kind"] for e in journal.entries("00.2")] == ["reset"]
    already = course.reset("00.2")
    assert repr(already) == already == "00.2 is in its shipped form already."


def test_reset_outside_a_workspace_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ArgumentValueError, match="lies in no workspace"):
        course.reset("00.2")
