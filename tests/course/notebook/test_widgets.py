"""Exercises and boxes: as text, as forms, and what they keep."""

from typing import Any
from unittest import mock

import pytest

from minigrad import course
from minigrad.course.notebook import journal


def form_of(sheet: Any) -> Any:
    """The form that a notebook would show."""
    return sheet._form()


def commit(form: Any, answer: Any) -> str:
    """Send what the page sends; the HTML that the form shows afterwards."""
    form._handle_custom_msg({"answer": answer}, [])
    outcome: str = form.outcome
    return outcome


def kept(exercise: str, kind: str = journal.ANSWERED) -> list[Any]:
    return journal.entries(exercise, kind)


def test_questions_are_text_with_the_words_that_answer_them() -> None:
    text = repr(course.exercise("00.1"))
    assert text.startswith("00.1 Which step is next? (about 4 minutes)")
    assert "\n   b: a box called ctx is made\n" in text
    assert 'check("00.1", {"a": "...", "b": "...", "c": "..."})' in text


def test_lines_are_text_with_their_indentation() -> None:
    text = repr(course.exercise("01.2"))
    assert "\n  c      with no_grad():\n" in text
    assert "\n  h          output = cls.forward(ctx, *inputs)\n" in text


def test_exercise_without_a_form_is_its_statement() -> None:
    bundle = course.exercise("01.4")._repr_mimebundle_()
    assert set(bundle) == {"text/plain", "text/html"}
    assert "`Mul`" in bundle["text/plain"]


def test_notebook_is_given_the_form_and_the_text() -> None:
    bundle = course.exercise("00.1")._repr_mimebundle_()
    assert "application/vnd.jupyter.widget-view+json" in bundle
    assert bundle["text/plain"] == repr(course.exercise("00.1"))


def test_committed_answers_are_judged_kept_and_found_by_check(
    capsys: pytest.CaptureFixture[str],
) -> None:
    form = form_of(course.exercise("00.1"))
    assert form.outcome == ""
    choices = {"a": "forward runs", "b": "backward runs", "c": "backward"}
    assert 'data-state="solved"' in commit(form, choices)
    (entry,) = kept("00.1")
    assert entry["answer"] == choices
    course.check("00.1")
    assert "1 of 3 as you said" in capsys.readouterr().out


def test_form_comes_back_with_what_was_answered_and_keeps_it_once() -> None:
    choices = {"a": "forward runs", "b": "backward runs", "c": "backward"}
    commit(form_of(course.exercise("00.1")), choices)
    again = form_of(course.exercise("00.1"))
    assert again.spec["kept"] == choices
    assert 'data-state="solved"' in again.outcome
    assert len(kept("00.1")) == 1


def test_prediction_of_an_exercise_locks_and_an_investigation_does_not() -> None:
    choices = {"a": "forward runs", "b": "backward runs", "c": "backward"}
    form = form_of(course.exercise("00.1"))
    commit(form, choices)
    commit(form, {**choices, "c": "none of them"})
    again = form_of(course.exercise("00.1"))
    assert (form.locked, again.locked, len(kept("00.1"))) == (True, True, 1)
    form = form_of(course.exercise("00.3"))
    commit(form, {"a": "(4,)", "b": "the ctx of this call"})
    commit(form, {"a": "(3,)", "b": "the ctx of this call"})
    assert (form.locked, len(kept("00.3"))) == (False, 2)


@pytest.mark.parametrize("kept", [{"a": "forward runs"}, {"z": "a"}, ["a"], "a", 3])
def test_answers_to_questions_that_an_update_changed_are_left_out(kept: Any) -> None:
    journal.note(journal.ANSWERED, "00.1", answer=kept)
    form = form_of(course.exercise("00.1"))
    assert (form.spec["kept"], form.outcome) == ({}, "")


def test_order_is_judged_and_comes_back() -> None:
    form = form_of(course.exercise("01.2"))
    assert 'data-state="wrong"' in commit(form, ["f", "m"])
    right = list("fmbkchajl")
    assert 'data-state="solved"' in commit(form, right)
    again = form_of(course.exercise("01.2"))
    assert again.spec["kept"] == right
    assert 'data-state="solved"' in again.outcome


def test_because_is_kept_and_comes_back() -> None:
    form = form_of(course.because("x.2", "Why?"))
    assert form.spec["kept"] == ""
    assert "Kept" in commit(form, "it must")
    assert form_of(course.because("x.2", "Why?")).spec["kept"] == "it must"
    course.because("x.2", "Why?", "it really must")
    assert [e["text"] for e in kept("x.2", journal.BECAUSE)] == [
        "it must",
        "it really must",
    ]


def test_form_gives_the_page_a_sign_of_life_and_takes_it_for_no_answer() -> None:
    form = form_of(course.because("x.3", "Why?"))
    with mock.patch.object(form, "send") as sent:
        form._handle_custom_msg({"ping": True}, [])
    sent.assert_called_once_with({"pong": True})
    assert (form.outcome, kept("x.3", journal.BECAUSE)) == ("", [])


def test_two_forms_on_one_page_have_names_of_their_own() -> None:
    keys = {form_of(course.exercise("00.1")).spec["key"] for _ in range(2)}
    assert len(keys) == 2
