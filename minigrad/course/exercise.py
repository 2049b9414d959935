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
class Exercise:
    """One exercise: what is asked, on what it is tried, what the right values are.

    ``reference`` computes forward on arrays; right gradients follow from it.
    ``known_wrong`` says what each wrong rule of this exercise would return.
    ``remarks`` are mistakes this exercise mentions but does not refuse.
    """

    id: str
    title: str
    statement: str
    points: int
    minutes: int
    hints: tuple[str, ...]
    mistake_hints: Mapping[str, str]
    answer: str
    arguments: tuple[str, ...]
    remarks: frozenset[str]
    cases: Callable[[np.random.Generator], list[Case]]
    reference: Callable[..., Array]
    known_wrong: Callable[..., Mapping[str, tuple[Array, ...]]]


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
    spec: Any = importlib.import_module(f"minigrad.course.exercises.{stem}")
    return Exercise(
        id=text["id"],
        title=text["title"],
        statement=text["statement"].strip(),
        points=text["points"],
        minutes=text["minutes"],
        hints=tuple(hint.strip() for hint in text["hints"]),
        mistake_hints={m["id"]: m["hint"].strip() for m in text["mistakes"]},
        answer=spec.ANSWER,
        arguments=spec.ARGUMENTS,
        remarks=spec.REMARKS,
        cases=spec.cases,
        reference=spec.reference,
        known_wrong=spec.known_wrong,
    )
