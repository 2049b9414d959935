"""Each known answer is judged as its row says; the tests are made from the rows."""

from __future__ import annotations

import re

import pytest

from minigrad.course import examine
from minigrad.course.check import repaired
from minigrad.course.exercises import catalogue
from minigrad.mistakes import TABLE
from tests.answers import rows

SEEDS = 0, 7
"""A row has one or the other: verdicts may not hang on the drawn numbers."""
PATIENCE = 60.0
"""Seconds for one answer: the machine may be busy with other things."""

LONG = re.compile(r"\d\.\d{13}|\d{5,}\.\d{6}")
"""A number with what a computer adds to its end, such as 2.5600000000000005."""

EVERY = [answer for name in rows.exercises() for answer in rows.answers_to(name)]


@pytest.mark.parametrize("answer", EVERY, ids=lambda answer: answer.label)
def test_answer_is_judged_as_its_row_says(
    answer: rows.Answer, monkeypatch: pytest.MonkeyPatch
) -> None:
    # The rows are about what modules say themselves.
    monkeypatch.setattr(repaired, "MODULES_SECONDS", 0.0)
    full = catalogue.load(answer.exercise).points
    seed = SEEDS[answer.number % 2]
    handed = answer.made_anew()
    verdict = examine(answer.exercise, handed, seed=seed, seconds=PATIENCE)
    assert verdict.state == answer.state, verdict.message
    assert verdict.mistakes == answer.mistakes, verdict.message
    assert tuple(each.id for each in verdict.remarks) == answer.remarks
    assert verdict.points == (full if verdict.state == "solved" else 0)
    said = " ".join(verdict.message.split())
    assert [words for words in answer.says if words not in said] == [], said
    assert not LONG.search(said), said


def test_every_exercise_has_known_answers() -> None:
    assert {*rows.exercises()} == {*catalogue.names(), *catalogue.gym_names()}


@pytest.mark.parametrize("name", catalogue.gym_names())
def test_practice_function_has_right_answers_and_wrong_ones(name: str) -> None:
    assert len(rows.right(name)) >= 3
    assert len(rows.answers_to(name)) - len(rows.right(name)) >= 8


def named_in(exercise: str) -> set[str]:
    """The mistakes that some known answer to it is told, or makes."""
    answers = rows.answers_to(exercise)
    return {id for a in answers for id in (*a.mistakes, *a.remarks, a.made)} - {""}


def unsaid(exercise: str) -> set[str]:
    """The mistakes that it has a hint for, which no known answer to it is told first.

    Of names that fit as well, only the first one's hint is said.
    """
    answers = rows.answers_to(exercise)
    told = {id for a in answers for id in (*a.mistakes[:1], *a.remarks)}
    return {*catalogue.load(exercise).mistake_hints} - told


@pytest.mark.parametrize("exercise", rows.exercises())
def test_every_hint_for_a_mistake_has_an_answer_that_is_told_it(exercise: str) -> None:
    assert unsaid(exercise) == set()


def test_hint_that_no_answer_is_told_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    every = rows.answers_to("gym.Square")
    rest = tuple(answer for answer in every if answer.mistakes[:1] != ("C03",))
    assert rest != every
    monkeypatch.setattr(rows, "answers_to", {"gym.Square": rest}.__getitem__)
    assert "C03" in unsaid("gym.Square")


def test_mistakes_of_rows_are_in_the_table() -> None:
    assert set().union(*map(named_in, rows.exercises())) <= TABLE.keys()


def test_every_mistake_that_mul_can_show_has_a_wrong_answer() -> None:
    can_show = """
        C01 C02 C03 C04 C05 C06 L01 L02 L04 L05 A01 A03 A04 A05 A06 A09 A11 A12 A13
        A14 A15 A16 A17 S01 S02 S04 S05 S10 M01 M02 M05 T01 A08 S06 S08 T03 D02
    """
    assert named_in("01.4") == set(re.findall(r"\w+", can_show))


def test_few_answers_are_told_another_name_than_that_of_their_mistake() -> None:
    wrong = [answer for answer in EVERY if answer.mistakes]
    assert len(wrong) > 1000
    others = [answer.label for answer in wrong if answer.made not in answer.mistakes]
    assert len(others) <= 12, others


def answer(**row: object) -> rows.Answer:
    return rows.Answer("gym.Square", "wrong", 0, row)


@pytest.mark.parametrize(
    ("row", "says"),
    [
        ({"replace": ["return x * y", "return x"]}, "0 times in the program"),
        ({"replace": ["x", "y"]}, r"\d\d times in the program: 'x'"),
        ({"returns": "x", "code": "InTwoSteps"}, "code, returns"),
        ({"mistake": "C01"}, "mistake"),
        ({"of": "Nothing", "returns": "x"}, "no Nothing"),
    ],
)
def test_row_that_cannot_be_meant_is_refused(row: dict[str, object], says: str) -> None:
    with pytest.raises(rows.RowError, match=says):
        answer(**row).made_anew()


def test_ways_to_say_one_answer_give_the_same() -> None:
    old, new = "return 2 * x * grad_output", "return x * grad_output"
    method = f"def backward(ctx, grad_output):\n    (x,) = ctx.saved_tensors\n    {new}"
    ways = {"returns": "x * grad_output"}, {"replace": [old, new]}, {"methods": method}
    for row in ways:
        verdict = examine("gym.Square", answer(**row).made_anew(), seed=0)
        assert (verdict.state, verdict.mistakes) == ("wrong", ("L02",))
        assert verdict.evidence[0].got * 2 == pytest.approx(
            verdict.evidence[0].expected
        )
