"""Exercises as data: a spec module and a text file each, found by their id."""

from __future__ import annotations

import importlib
import importlib.util
import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cache
from importlib import resources
from string import ascii_lowercase
from types import SimpleNamespace
from typing import Any

from minigrad import errors
from minigrad.course.check import (
    Contract,
    Exercise,
    Line,
    Question,
    crossing,
)
from minigrad.mistakes import TABLE


class ExerciseUnknownError(errors.MinigradError, KeyError):
    """No exercise has this id."""

    def __str__(self) -> str:
        return str(self.args[0])


def names() -> list[str]:
    """The ids of the lessons' exercises, in order."""
    folder = resources.files("minigrad.course.exercises")
    found = [re.fullmatch(r"ex(\w+)\.toml", file.name) for file in folder.iterdir()]
    return sorted([text[1].replace("_", ".") for text in found if text])


def gym_names() -> list[str]:
    """The ids of the practice Functions of the gym, such as ``"gym.Power"``."""
    folder = resources.files("minigrad.course.exercises.gym")
    files = sorted(folder.iterdir(), key=lambda file: file.name)
    texts = [file for file in files if file.name.endswith(".toml")]
    tables = [tomllib.loads(text.read_text("utf8")) for text in texts]
    return [t["id"] for t in sorted(tables, key=lambda t: (t["points"], t["id"]))]


def stem_of(exercise_id: str) -> str:
    """The module of an exercise, below ``minigrad.course.exercises``.

    >>> stem_of("01.4"), stem_of("gym.MulConstant")
    ('ex01_4', 'gym.mul_constant')
    """
    area, _, name = exercise_id.partition(".")
    if area != "gym":
        return "ex" + exercise_id.replace(".", "_")
    return "gym." + re.sub("(?<=[a-z])(?=[A-Z][a-z])", "_", name).lower()


@cache
def load(exercise_id: str) -> Exercise:
    """The exercise with this id, such as ``"01.4"`` or ``"gym.Power"``.

    >>> load("01.4").answer
    'Mul'
    """
    stem = stem_of(str(exercise_id))
    parts = stem.split(".")
    file = resources.files("minigrad.course.exercises").joinpath(
        *parts[:-1], f"{parts[-1]}.toml"
    )
    if not all(part.isidentifier() for part in parts) or not file.is_file():
        what = f"no exercise {exercise_id!r}"
        fix = f"use one of {', '.join([*names(), *gym_names()])}"
        raise ExerciseUnknownError(errors.message("exercise", what, fix))
    text = tomllib.loads(file.read_text("utf8"))
    spec = spec_of(stem, text)
    questions, shared = text.get("questions", []), text.get("choices", [])
    lines, distractors = text.get("lines", ""), text.get("distractors", {})
    return Exercise(
        id=text.get("id", exercise_id),
        title=text["title"],
        kind=text["kind"],
        statement=text["statement"].strip(),
        points=text["points"],
        minutes=text["minutes"],
        is_extra=text.get("extra", False),
        every_shape=text.get("every_shape", False),
        hints=tuple([flat(hint) for hint in text.get("hints", [])]),
        mistake_hints={id: flat(it) for id, it in text.get("mistakes", {}).items()},
        half_step=flowing(text.get("half_step", "")),
        questions=tuple([question_of(*each, shared) for each in lettered(questions)]),
        lines=tuple([line_of(*each, distractors) for each in lettered(lines)]),
        spec=spec,
    )


def spec_of(stem: str, text: Mapping[str, Any]) -> SimpleNamespace:
    """What the module of an exercise defines, and what its text says for a program.

    ``same_as`` names the exercise whose numbers these are: its reference, gradients,
    cases and wrong rules, and its hints where parts are asked for; ``contract`` then
    says only what is another one. Each of several ``parts`` has the rest of the text.
    """
    found: dict[str, Any] = {}
    if "same_as" in text:
        same = load(text["same_as"])
        found |= vars(same.spec) | {"HINTS": same.mistake_hints}
    module, own = f"{__package__}.{stem}", dict[str, Any]()
    if stem and importlib.util.find_spec(module):
        own = vars(importlib.import_module(module))
    found |= own
    if "contract" in text:
        found["CONTRACT"] = contract_of(text["contract"], found.get("CONTRACT"))
    if "parts" in text:
        shared = {key: value for key, value in text.items() if key != "parts"}
        found["PARTS"] = tuple([spec_of("", shared | each) for each in text["parts"]])
    elif "right" in text or "cases" in text:
        by_formula = importlib.import_module(f"{__package__}.by_formula")
        stated = by_formula.spec_of(text, found["CONTRACT"], f"{stem}.toml")
        found |= {name: it for name, it in stated.items() if name not in own}
    if "crossing" in text:
        before = found.get("CROSSING", crossing.NOTHING_SAID)
        found["CROSSING"] = before.but(**text["crossing"])
    if "remarks" in text:
        found["REMARKS"] = frozenset(text["remarks"])
    if "look_at" in found:  # the module says what is refused, beside wrong numbers
        for each in found.get("PARTS", ()):
            each.REMARKS = frozenset(TABLE)
        found["REMARKS"] = frozenset(TABLE)
    for key in ("answer", "function", "handed", "shipped", "when_missing"):
        if key in text:
            found[key.upper()] = text[key]
    return SimpleNamespace(**found)


def contract_of(table: Mapping[str, Any], before: Contract | None) -> Contract:
    """What a Function is asked to keep to, beside what it was asked before."""
    asked: dict[str, Any] = {
        key: tuple(value) if isinstance(value, list) else value
        for key, value in table.items()
    }
    return replace(before, **asked) if before else Contract(**asked)


def lettered(things: str | Sequence[Any]) -> list[tuple[str, Any]]:
    """Each question, or line of a text, with its letter."""
    each = things.splitlines() if isinstance(things, str) else things
    return list(zip(ascii_lowercase[: len(each)], each, strict=True))


def question_of(
    letter: str, table: Mapping[str, Any], shared: Sequence[str]
) -> Question:
    """A question as the text file states it; ``shared`` choices if it has none."""
    return Question(
        id=letter,
        text=flat(table["text"]),
        choices=tuple(table.get("choices", shared)),
        wrong={answer: flat(it) for answer, it in table.get("wrong", {}).items()},
        why=flat(table.get("why", "")),
        hint=flat(table.get("hint", "")),
        program=table.get("program", "").strip(),
    )


def line_of(letter: str, line: str, distractors: Mapping[str, Any]) -> Line:
    """A line, whose indentation counts, with what is said of a distractor."""
    said = distractors.get(letter, {"mistake": "", "hint": ""})
    return Line(letter, line, flat(said["mistake"]), flat(said["hint"]))


def sentences() -> dict[str, tuple[str, str]]:
    """What an answer looks like that only its exercise knows, and its hint, by a key.

    Where submissions run there is no module of messages to be imported.
    """
    messages = importlib.import_module(f"{__package__}.messages")
    found: dict[str, tuple[str, str]] = messages.sentences()
    return found


def flat(text: str) -> str:
    """A paragraph in one line."""
    return " ".join(text.split())


def flowing(text: str) -> str:
    """Each paragraph in one line; one with an indented line keeps its lines."""
    paragraphs = re.split(r"\n\s*\n", text.strip("\n").rstrip())
    return "\n".join([p if "\n " in f"\n{p}" else flat(p) for p in paragraphs])
