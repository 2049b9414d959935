"""Every exercise is tried where mistakes hide, or says beside its contract why not."""

from __future__ import annotations

import re
from collections.abc import Iterator

import numpy as np
import pytest

from minigrad.course.check import crossing
from minigrad.course.check.crossing import DIMENSIONS, Crossing
from minigrad.course.check.exercise import Exercise
from minigrad.course.exercises import catalogue

ASKED = [
    name
    for name in (*catalogue.names(), *catalogue.gym_names())
    if catalogue.load(name).kind in "WCB"
]


def functions() -> Iterator[tuple[str, Exercise]]:
    """Each Function that an exercise asks for, and what has no Function, by name."""
    for name in ASKED:
        exercise = catalogue.load(name)
        for part in exercise.parts:
            yield f"{name} {part.contract.name}", part
        if not exercise.parts:
            yield name, exercise


FUNCTIONS = dict(functions())


def marks_of(exercise: Exercise, seed: int = 0) -> dict[str, str]:
    """By dimension: x crossed, o a gap with a reason, ! without, . nothing to cross."""
    said = exercise.crossing
    if not hasattr(exercise.spec, "CONTRACT"):
        whole = "o" if said.gaps.get("everything") else "!"
        return dict.fromkeys(DIMENSIONS, whole)
    cases = exercise.cases(np.random.default_rng(seed))
    crossed = crossing.crossed(said, exercise.contract, cases)
    asked = said.asked(exercise.contract)

    def mark(each: str) -> str:
        if each in crossed:
            return "x"
        return "o" if said.gaps.get(each) else "!" if each in asked else "."

    return {each: mark(each) for each in DIMENSIONS}


def table() -> str:
    """A row an exercise, a column a dimension; the reasons below."""
    width = max(map(len, FUNCTIONS))
    lines = [f"{i:2} {each}" for i, each in enumerate(DIMENSIONS)]
    lines.append(" " * width + "".join(f"{i:3}" for i in range(len(DIMENSIONS))))
    reasons = []
    for name, exercise in FUNCTIONS.items():
        marks = marks_of(exercise).values()
        lines.append(f"{name:{width}}" + "".join(f"{mark:>3}" for mark in marks))
        reasons += [
            f"{name}, {gap}: {why}" for gap, why in exercise.crossing.gaps.items()
        ]
    return "\n".join([*lines, "", *reasons])


@pytest.mark.parametrize("name", FUNCTIONS)
def test_exercise_crosses_every_dimension_or_says_why_not(name: str) -> None:
    for seed in range(3):
        marks = marks_of(FUNCTIONS[name], seed)
        without = [each for each, mark in marks.items() if mark == "!"]
        assert without == [], table()


@pytest.mark.parametrize("name", FUNCTIONS)
def test_no_reason_is_given_for_what_is_crossed(name: str) -> None:
    exercise = FUNCTIONS[name]
    marks = marks_of(exercise)
    gaps = exercise.crossing.gaps.keys() - {"everything"}
    assert {*gaps} == {each for each in gaps if marks[each] == "o"}


def test_table_is_printed(capsys: pytest.CaptureFixture[str]) -> None:
    with capsys.disabled():
        print(f"\n{table()}")
    assert table().count("x") > 20 * len(FUNCTIONS) / 4


def test_gap_without_a_reason_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    exercise = FUNCTIONS["gym.Dropout"]
    assert marks_of(exercise)["0 axes"] == "o"
    monkeypatch.setattr(
        exercise.spec, "CROSSING", exercise.crossing.but({"0 axes": ""})
    )
    assert marks_of(exercise)["0 axes"] == "!"


def test_corner_that_is_not_made_is_missed(monkeypatch: pytest.MonkeyPatch) -> None:
    exercise = FUNCTIONS["gym.Square"]
    assert "!" not in marks_of(exercise).values()
    monkeypatch.setattr(crossing, "CORNERS", ())
    missed = {each for each, mark in marks_of(exercise).items() if mark == "!"}
    assert missed == {"large x", "tiny x", "near ties", "4 axes", "huge g"}


@pytest.mark.parametrize("name", ["gym.MulConstant", "gym.LayerNorm", "gym.Conv1d"])
def test_corners_are_drawn_anew_and_made_again_from_the_seed(name: str) -> None:
    def drawn(seed: int) -> list[bytes]:
        cases = FUNCTIONS[name].cases(np.random.default_rng(seed))
        return [
            c.inputs[0].tobytes() for c in cases if c.is_corner and c.inputs[0].size
        ]

    assert drawn(1) == drawn(1)
    assert not {*drawn(1)} & {*drawn(2)}


def test_what_says_nothing_of_its_arguments_has_no_corners() -> None:
    contract, random = FUNCTIONS["gym.Exp"].contract, np.random.default_rng(0)
    assert crossing.cases(Crossing(), contract, abs, random) == []


EVERY_SHAPE = re.compile(r"any\s+shape|no\s+axis|stretched")
"""How a statement asks for tensors without an axis, or without a number."""


@pytest.mark.parametrize("name", [*catalogue.names(), *catalogue.gym_names()])
def test_every_shape_is_asked_for_where_the_statement_does(name: str) -> None:
    exercise = catalogue.load(name)
    if exercise.every_shape or hasattr(exercise.spec, "CONTRACT"):
        assert exercise.every_shape == bool(EVERY_SHAPE.search(exercise.statement))
