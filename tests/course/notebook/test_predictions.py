"""Predictions: locked by Commit, judged by the run, shown at the deciding step."""

from __future__ import annotations

from typing import Any

import pytest

import minigrad as mg
from minigrad import course
from minigrad.course.notebook import journal
from minigrad.course.notebook.predictions import Ran
from minigrad.errors import ArgumentValueError
from tests.course.notebook.test_widgets import commit, form_of, kept


def double() -> float:
    x = mg.tensor(3.0, requires_grad=True)
    (x * 2).backward()
    return float(x.grad)


def value(ran: Ran) -> str:
    return f"{ran.value:g}"


def asked(then: Any = double, so: Any = value, **more: Any) -> Any:
    more = {"why": "Because 2.", "at": "x.grad was empty"} | more
    return course.predict("x.1", "What?", ["2", "3"], then=then, so=so, **more)


def test_commit_says_right_by_the_run_and_why_in_one_sentence() -> None:
    asking, _ = form_of(asked()).children
    assert (asking.outcome, asking.locked) == ("", False)
    said = commit(asking, {"": "2"})
    assert "✓ Right: 2" in said
    assert "Because 2." in said
    assert asking.locked


def test_commit_says_wrong_by_the_run() -> None:
    said = commit(form_of(asked()).children[0], {"": "3"})
    assert "✗ You said: 3. The run says: 2" in said
    assert 'data-state="wrong"' in said


def start_of(found: Any) -> int:
    start: int = found.trace.data["meta"]["start"]
    return start


def test_player_opens_at_the_deciding_step() -> None:
    found = asked(answer="2")
    (event,) = [e for e in found.trace.data["events"] if "was empty" in e["say"]]
    assert found.trace.data["events"][start_of(found) - 1] is event
    page = found._repr_mimebundle_()["text/html"]
    assert f'data-start="{start_of(found)}"' in page


def test_steps_are_found_one_behind_the_other_or_not_at_all() -> None:
    assert start_of(asked(answer="2", at=["was empty", "Its box keeps"])) == 0
    found = asked(answer="2", at=["Its box keeps", "was empty"])
    assert start_of(found) == start_of(asked(answer="2")) > 0


def test_second_commit_changes_nothing() -> None:
    asking, _ = form_of(asked()).children
    first = commit(asking, {"": "3"})
    assert commit(asking, {"": "2"}) == first
    other, _ = form_of(asked()).children
    assert commit(other, {"": "2"}) == first
    assert [entry["answer"] for entry in kept("x.1")] == ["3"]


def test_answer_comes_back_locked_with_its_outcome() -> None:
    asked(answer="3")
    asking, _ = form_of(asked()).children
    assert (asking.spec["kept"], asking.locked) == ({"": "3"}, True)
    assert "✗ You said: 3." in asking.outcome
    assert len(kept("x.1")) == 1


def test_answer_that_is_no_choice_any_more_is_asked_anew() -> None:
    journal.note(journal.ANSWERED, "x.1", answer="neither")
    asking, _ = form_of(asked()).children
    assert (asking.spec["kept"], asking.outcome, asking.locked) == ({}, "", False)


def test_nothing_runs_before_commit() -> None:
    log: list[int] = []
    asking, _ = form_of(asked(lambda: log.append(1) or 2)).children
    assert log == []
    commit(asking, {"": "2"})
    assert log == [1]


def test_error_of_the_program_may_be_what_was_asked_for() -> None:
    y = mg.tensor(3.0, requires_grad=True).exp()
    y.backward()
    found = asked(y.backward, lambda ran: "3" if ran.error else "2", answer="3")
    assert found.right


def test_program_that_cannot_run_keeps_the_answer_and_says_what_to_do() -> None:
    found = asked(lambda: eval("not_there"), answer="2")
    assert "name 'not_there' is not defined" in repr(found)
    assert "Run the cells above" in repr(found)
    assert [entry["answer"] for entry in kept("x.1")] == ["2"]


def test_program_that_was_changed_is_said() -> None:
    found = asked(lambda: 7.0, answer="2")
    assert repr(found).startswith("✗ You said: 2. The run says: 7")
    assert "none of the choices" in repr(found)
    assert "Because" not in repr(found)


def test_call_of_an_earlier_version_shows_what_it_did_and_runs_it_once() -> None:
    y = (mg.tensor(3.0, requires_grad=True) * 2).exp()
    asking, _ = form_of(asked(lambda: mg.step(y.backward), None, why="")).children
    assert "Your prediction: 3" in commit(asking, {"": "3"})
    again, _ = form_of(asked(y.backward, None, why="")).children
    assert "Your answer is kept" in again.outcome
    assert again.locked


def test_first_of_what_the_recording_says_decides() -> None:
    trace = mg.step(double)
    words = {"late": "x.grad was empty", "early": "Its box keeps"}
    assert Ran(trace=trace).first(words) == "early"
    assert Ran(trace=trace).first({"never": "no such words"}) == "none of these"


def test_prediction_in_plain_text_and_its_outcome_alone() -> None:
    assert repr(asked()) == "What?\n  a: 2\n  b: 3"
    assert repr(asked(show=True)) == "The run says: 2\nBecause 2."
    assert kept("x.1") == []


def test_choice_that_is_none_is_refused() -> None:
    with pytest.raises(ArgumentValueError, match="'c' is none of the 2 choices"):
        asked(answer="c")


def test_without_a_program_the_answer_alone_is_run_after_commit() -> None:
    ran = []

    def so(_: Ran) -> str:
        ran.append(1)
        return "3"

    asking, below = form_of(asked(then=None, so=so)).children
    assert ran == []
    assert "✗ You said: 2. The run says: 3" in commit(asking, {"": "2"})
    assert ran == [1]
    assert below.outputs == ()
