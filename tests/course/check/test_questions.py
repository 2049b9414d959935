"""Answers to questions: how they are read, and what is not given away."""

from __future__ import annotations

from typing import Any

import pytest

from minigrad.course import examine
from minigrad.course.check.questions import answers_of
from minigrad.course.exercises import catalogue
from minigrad.errors import ArgumentValueError

ASKING = [name for name in catalogue.names() if catalogue.load(name).questions]


@pytest.mark.parametrize("name", ASKING)
def test_right_answer_is_found_by_running_and_is_none_of_the_wrong_ones(
    name: str,
) -> None:
    loaded = catalogue.load(name)
    truth = loaded.spec.truth()
    assert list(truth) == [question.id for question in loaded.questions]
    for question in loaded.questions:
        assert not question.choices or truth[question.id] in question.choices
        assert truth[question.id] not in question.wrong


@pytest.mark.parametrize(
    ("answer", "says"),
    [
        ({"z": "a"}, "there's no question 'z'"),
        ({"a": "true"}, "no answer to question b"),
        (["true"], "got 1 answer for 5 questions"),
        (["maybe"] * 5, "'maybe' is no answer to question a"),
        (3, "got a int"),
    ],
)
def test_answers_that_cannot_be_read_are_refused_with_the_form(
    answer: Any, says: str
) -> None:
    with pytest.raises(ArgumentValueError, match=says) as caught:
        answers_of(catalogue.load("01.1"), answer)
    assert 'check("01.1", {"a": ..., "b": ...' in str(caught.value)


@pytest.mark.parametrize("shape", ["(2, 3)", "3", "[3]", "(3)", "(4,)"])
def test_wrong_answer_in_words_is_not_told_the_right_one(shape: str) -> None:
    verdict = examine("00.3", {"a": shape, "b": "a"})
    assert verdict.state == "wrong"
    assert "(3,)" not in verdict.message


def test_nothing_answered_is_not_tried() -> None:
    assert examine("00.2").state == "not tried"
