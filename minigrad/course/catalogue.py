"""Exercises as data: a spec module and a text file each, found by their id."""

from __future__ import annotations

import importlib
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import Any

import numpy as np

from minigrad import errors
from minigrad.course.facts import Array, Case


class ExerciseUnknownError(errors.MinigradError, KeyError):
    """No exercise has this id."""

    def __str__(self) -> str:
        return str(self.args[0])


@dataclass(frozen=True)
class Question:
    """One question of a prediction or an investigation.

    Without ``choices`` it is answered by a short text. ``wrong`` names what a wrong
    answer looks like; ``why`` explains the right one once an answer is there.
    """

    id: str
    text: str
    choices: tuple[str, ...]
    wrong: Mapping[str, str]
    why: str
    hint: str


@dataclass(frozen=True)
class Line:
    """One line to be put in order; a distractor says which mistake it stands for."""

    id: str
    text: str
    mistake: str
    hint: str


@dataclass(frozen=True)
class Exercise:
    """One exercise: what is asked, on what it is tried, what the right values are.

    ``kind`` is a letter of curriculum and grading: P predict, R order the lines, I
    investigate, B find the bug, C complete, W write, M measure. ``half_step`` is shown
    after the same mistake came three times. ``spec`` is the module that goes with it.
    """

    id: str
    title: str
    kind: str
    statement: str
    points: int
    minutes: int
    hints: tuple[str, ...]
    mistake_hints: Mapping[str, str]
    half_step: str
    questions: tuple[Question, ...]
    lines: tuple[Line, ...]
    spec: Any

    @property
    def answer(self) -> str:
        """The name of the class or function to be written."""
        name: str = self.spec.ANSWER
        return name

    @property
    def arguments(self) -> tuple[str, ...]:
        """The names of forward's arguments."""
        names: tuple[str, ...] = self.spec.ARGUMENTS
        return names

    @property
    def remarks(self) -> frozenset[str]:
        """The mistakes that this exercise mentions but does not refuse."""
        ids: frozenset[str] = getattr(self.spec, "REMARKS", frozenset())
        return ids

    def cases(self, random: np.random.Generator) -> list[Case]:
        """What the answer is tried on."""
        drawn: list[Case] = self.spec.cases(random)
        return drawn

    def reference(self, *inputs: Array) -> Array:
        """What forward returns; right gradients follow from it."""
        value: Array = self.spec.reference(*inputs)
        return value

    def known_wrong(self, *values: Array) -> Mapping[str, tuple[Array, ...]]:
        """What each wrong rule of this exercise would return."""
        found: Mapping[str, tuple[Array, ...]] = self.spec.known_wrong(*values)
        return found


def slopes(
    reference: Callable[..., Array], inputs: tuple[Array, ...], upstream: Array
) -> tuple[Array, ...]:
    """The gradient of ``sum(upstream * reference(*inputs))`` for every input.

    A step along the imaginary axis has no subtraction in it, so a reference built from
    analytic functions gives its slope to the last digit.
    """
    step = 1e-30
    wide = [np.array(a, dtype=np.complex128) for a in inputs]
    found = []
    for a in wide:
        slope = np.empty(a.shape)
        for index in np.ndindex(a.shape):
            a[index] += 1j * step
            slope[index] = np.sum(upstream * reference(*wide).imag) / step
            a[index] = a[index].real
        found.append(slope)
    return tuple(found)


def names() -> list[str]:
    """The ids of all exercises, in order."""
    folder = resources.files("minigrad.course.exercises")
    files = (file.name for file in folder.iterdir())
    texts = (name.removesuffix(".toml") for name in files if name.endswith(".toml"))
    return sorted(stem.removeprefix("ex").replace("_", ".") for stem in texts)


@cache
def load(exercise_id: str) -> Exercise:
    """The exercise with this id, such as ``"01.4"``.

    >>> load("01.4").answer
    'Mul'
    """
    stem = "ex" + str(exercise_id).replace(".", "_")
    file = resources.files("minigrad.course.exercises") / f"{stem}.toml"
    if not stem.isidentifier() or not file.is_file():
        what = f"no exercise {exercise_id!r}"
        fix = f"use one of {', '.join(names())}"
        raise ExerciseUnknownError(errors.message("exercise", what, fix))
    text = tomllib.loads(file.read_text("utf8"))
    return Exercise(
        id=text["id"],
        title=text["title"],
        kind=text["kind"],
        statement=text["statement"].strip(),
        points=text["points"],
        minutes=text["minutes"],
        hints=tuple([flat(hint) for hint in text.get("hints", [])]),
        mistake_hints={m["id"]: flat(m["hint"]) for m in text.get("mistakes", [])},
        half_step=text.get("half_step", "").strip(),
        questions=tuple([question_of(each) for each in text.get("questions", [])]),
        lines=tuple([line_of(each) for each in text.get("lines", [])]),
        spec=importlib.import_module(f"minigrad.course.exercises.{stem}"),
    )


def question_of(table: Mapping[str, Any]) -> Question:
    """A question as the text file states it."""
    return Question(
        id=table["id"],
        text=flat(table["text"]),
        choices=tuple(table.get("choices", [])),
        wrong={w["answer"]: flat(w["looks_like"]) for w in table.get("wrong", [])},
        why=flat(table.get("why", "")),
        hint=flat(table.get("hint", "")),
    )


def line_of(table: Mapping[str, Any]) -> Line:
    """A line as the text file states it; its indentation counts."""
    return Line(
        table["id"],
        table["text"],
        flat(table.get("mistake", "")),
        flat(table.get("hint", "")),
    )


def flat(text: str) -> str:
    """A paragraph in one line."""
    return " ".join(text.split())
