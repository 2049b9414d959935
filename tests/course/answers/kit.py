"""Note known answers, and see what the checker says of them."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from minigrad.course import examine
from minigrad.course.catalogue import gym_names, stem_of

RIGHT = ""
UNNAMED = "no name"

PATIENCE = 60.0
"""Seconds for one answer: the machine may be busy with other things."""


@dataclass(frozen=True)
class Answer:
    """One class, the mistake it makes if it is wrong, and equally right names."""

    function: Any
    mistake: str = RIGHT
    as_good: tuple[str, ...] = ()

    @property
    def label(self) -> str:
        """How a report names it."""
        return f"{self.function.__qualname__} ({self.mistake or 'right'})"


@dataclass(frozen=True)
class Outcome:
    """What the checker said of one answer with one seed."""

    exercise: str
    answer: Answer
    seed: int
    state: str
    mistakes: tuple[str, ...]
    message: str

    @property
    def accepted(self) -> bool:
        """Whether it was taken for right."""
        return self.state == "solved"

    @property
    def is_right_decision(self) -> bool:
        """Whether right answers pass and wrong ones do not."""
        return self.accepted == (self.answer.mistake == RIGHT)

    @property
    def first(self) -> bool:
        """Whether the mistake, or a name as good, is named first."""
        return (*self.mistakes, UNNAMED)[0] in self._names

    @property
    def present(self) -> bool:
        """Whether the mistake, or a name as good, is named at all."""
        return any(name in (self.mistakes or (UNNAMED,)) for name in self._names)

    @property
    def _names(self) -> tuple[str, ...]:
        return (self.answer.mistake, *self.answer.as_good)


def right() -> Callable[[Any], Any]:
    """Note a right answer."""
    return lambda function: _note(function, Answer(function))


def wrong(mistake: str = UNNAMED, *as_good: str) -> Callable[[Any], Any]:
    """Note a wrong answer: its mistake, and names that nothing can tell from it."""
    return lambda function: _note(function, Answer(function, mistake, as_good))


def _note(function: Any, answer: Answer) -> Any:
    function._known_answer = answer
    return function


def answers_in(module: Any) -> list[Answer]:
    """The answers noted in a module, in the order of its text."""
    return [
        value._known_answer
        for value in vars(module).values()
        if isinstance(value, type) and "_known_answer" in vars(value)
    ]


def answers_to(exercise_id: str, folder: str = "answers") -> list[Answer]:
    """The known answers to an exercise of the gym."""
    name = stem_of(exercise_id).removeprefix("gym.")
    if not (Path(__file__).parents[1] / folder / f"{name}.py").exists():
        return []
    return answers_in(importlib.import_module(f"tests.course.{folder}.{name}"))


def outcomes(
    exercise_id: str, answers: list[Answer], seeds: range
) -> Iterator[Outcome]:
    """What the checker says of each answer with each seed."""
    for answer in answers:
        for seed in seeds:
            verdict = examine(exercise_id, answer.function, seed=seed, seconds=PATIENCE)
            yield Outcome(
                exercise_id,
                answer,
                seed,
                verdict.state,
                verdict.mistakes,
                verdict.message,
            )


def exercises(only: str = "") -> list[str]:
    """The exercises of the gym whose id holds ``only``."""
    return [name for name in gym_names() if only.lower() in stem_of(name)]


def check_known_answers(exercise_id: str, seeds: range) -> None:
    """Right answers are solved, wrong ones refused and named, 95 % of them at once."""
    answers = answers_to(exercise_id)
    rights = [a for a in answers if a.mistake == RIGHT]
    assert len(rights) >= 3
    assert len(answers) - len(rights) >= 8
    found = list(outcomes(exercise_id, answers, seeds))
    assert [o.answer.label for o in found if not o.is_right_decision] == []
    wrongs = [o for o in found if o.answer.mistake]
    assert [f"{o.answer.label}: {o.mistakes}" for o in wrongs if not o.present] == []
    assert sum(o.first for o in wrongs) >= 0.95 * len(wrongs)
