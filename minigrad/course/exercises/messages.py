"""What an exercise's program has found, in the words of its text file."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from functools import cache
from importlib import resources
from typing import Any

import numpy as np

import minigrad
from minigrad.course.check import (
    Array,
    Crash,
    Finding,
    pass_on_todo,
    question_about,
    side_effects,
    story_about,
)

WORDS = ("what", "where", "looks_like", "hint")
NOTHING: Mapping[str, Any] = {}
FLAGS = ("crashed", "values_right", "is_note")


@cache
def text_of(module: str) -> dict[str, Any]:
    """The text file beside a module, such as ``"minigrad.course.exercises.ex05_5"``."""
    package, _, stem = module.rpartition(".")
    return tomllib.loads((resources.files(package) / f"{stem}.toml").read_text("utf8"))


class Messages:
    """Findings in the words of ``[messages]`` in the text file beside a module.

    A message says ``what`` happened, ``where``, what it ``looks_like`` and a ``hint``;
    names in braces stand for values. It may have ``mistakes`` (their ids), ``crashed``,
    ``values_right`` and ``is_note``. What it does not say, the message above it says:
    ``late.join`` has the words of ``late``, and all have those of ``[messages]``.
    """

    def __init__(self, module: str) -> None:
        self._module = module

    def __call__(self, name: str, /, **values: Any) -> Finding:
        """The message with this name, with ``values`` in it."""
        return _finding(self._said(name), values, self._key(name))

    def first(self, signs: Mapping[str, Any], /, **values: Any) -> Finding | None:
        """The message with the first of these names whose sign is true; else None."""
        said = (self(name, **values) for name, sign in signs.items() if sign)
        return next(said, None)

    def of_crash(self, name: str, crash: Crash, /, **values: Any) -> Finding:
        """The words of the first of ``[messages.<name>.when]`` that fits an exception.

        Its key is what the exception says, unless it has a ``says`` of its own; it may
        have the name of a class, ``raises``, as well. ``what`` is the exception's text
        unless it's given, and ``where`` ends with the learner's line. What an untouched
        exercise raises is raised again.
        """
        pass_on_todo(crash)
        values = {"text": crash.text} | values
        said = self._said(name)
        rows = list(rows_of(said))
        fitting = [row for row in rows if is_about(row, crash)]
        story = story_about(crash.text)
        usual = {"what": "{text}", "crashed": True, "looks_like": "{story}"}
        row = fitting[0] if fitting else {}
        found = _finding(
            {**usual, **said, **row}, {**values, "story": story}, self._key(name, row)
        )
        line = f", line {crash.number}: {crash.line}" if crash.line else ""
        found = replace(found, where=found.where + line)
        return found.with_hint("" if found.hint else question_about(crash.text))

    def _key(self, name: str, row: Mapping[str, Any] = NOTHING) -> str:
        return key_of(self._module, name, row)

    def _said(self, name: str) -> dict[str, Any]:
        table = text_of(self._module)["messages"]
        said = own_words(table)
        for part in name.split("."):
            table = table[part]
            said |= own_words(table)
        return said


def named(name: str, usual: Mapping[str, Any], fits: Callable[[Any], Any]) -> str:
    """The message below ``name`` for the first usual mistake that fits; else itself.

    >>> named("ratio", {"upside_down": 0.25, "cold": 1.1}, lambda value: value == 1.1)
    'ratio.cold'
    """
    fitting = [mistake for mistake, value in usual.items() if fits(value)]
    return ".".join([name, *fitting[:1]])


def rows_of(said: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """What a message says of exceptions, each row with its place."""
    for place, (key, row) in enumerate(said.get("when", {}).items(), start=1):
        yield {"says": key, "place": place, **row}


def key_of(module: str, name: str, row: Mapping[str, Any]) -> str:
    """How a message, or its row for an exception by its place, is called elsewhere.

    >>> key_of("minigrad.course.exercises.ex05_3", "early", {})
    '05.3/early'
    """
    stem = re.sub(r"^ex(\d\d)_", r"\1.", module.rpartition(".")[2])
    return f"{stem}/{name}" + (f".{row['place']}" if row else "")


@cache
def sentences() -> dict[str, tuple[str, str]]:
    """What each message without a mistake's id looks like, and its hint, by its key.

    A value that it names is left out: it was the learner's.
    """
    found = {
        f"side_effects/{part}": (without_values(looks_like), without_values(hint))
        for part, (_, looks_like, hint) in side_effects.WORDS.items()
    }
    package = __name__.rpartition(".")[0]
    for file in resources.files(package).iterdir():
        if not file.name.endswith(".toml"):
            continue
        module = f"{package}.{file.name.removesuffix('.toml')}"
        for name, said in all_said(text_of(module).get("messages", {}), {}):
            for row in ({}, *rows_of(said)):
                each = {**said, **row}
                if each.get("looks_like") and not each.get("mistakes"):
                    texts = [without_values(each.get(k, "")) for k in WORDS[2:]]
                    found[key_of(module, name, row)] = (texts[0], texts[1])
    return found


def all_said(
    table: Mapping[str, Any], above: Mapping[str, Any], name: str = ""
) -> Iterator[tuple[str, dict[str, Any]]]:
    """Each message of a table by its name, with what those above it say."""
    said = {**above, **own_words(table)}
    if name:
        yield name, said
    for part, below in table.items():
        if isinstance(below, dict) and part != "when":
            yield from all_said(below, said, f"{name}.{part}".lstrip("."))


def without_values(text: str) -> str:
    """A message's text for somebody who doesn't see the answer.

    >>> without_values("The loss is {last:.3g}.")
    'The loss is ….'
    """
    return re.sub(r"\{[^}]*\}", "…", flat(text))


def own_words(table: Mapping[str, Any]) -> dict[str, Any]:
    """What a table says itself, without the messages below it."""
    return {k: v for k, v in table.items() if k == "when" or not isinstance(v, dict)}


def is_about(row: Mapping[str, Any], crash: Crash) -> bool:
    """Whether an exception is of this class, and all these words are in its text."""
    says = row.get("says", [])
    words = [says] if isinstance(says, str) else says
    return row.get("raises", crash.kinds[0]) in crash.kinds and all(
        [word in f"{crash.kinds[0]}: {crash.text}" for word in words]
    )


def _finding(said: Mapping[str, Any], values: Mapping[str, Any], key: str) -> Finding:
    known: dict[str, Any] = {key: said[key] for key in FLAGS if key in said}
    shown = in_digits(values)
    known |= {key: flat(said.get(key, "")).format(**shown) for key in WORDS}
    return Finding(tuple(said.get("mistakes", ())), **known, key=key)


def in_digits(values: Mapping[str, Any]) -> dict[str, Any]:
    """Values as a message shows them, with so many digits that different ones differ.

    >>> in_digits({"got": np.array([1.0, 2 / 3]), "right": np.array([1.0, 0.66667])})
    {'got': '[1, 0.6666667]', 'right': '[1, 0.66667]'}
    """
    arrays = {
        name: v.detach().numpy() if isinstance(v, minigrad.Tensor) else v
        for name, v in values.items()
        if isinstance(v, np.ndarray | minigrad.Tensor)
    }
    shown: dict[str, str] = {}
    for digits in (4, 7, 12):
        shown = {name: in_short(value, digits) for name, value in arrays.items()}
        if len({*shown.values()}) == len({v.tobytes() for v in arrays.values()}):
            break
    return {**values, **shown}


def in_short(array: Array, digits: int = 4) -> str:
    """An array as a message shows it.

    >>> in_short(np.array([1.0, 2 / 3]))
    '[1, 0.6667]'
    """
    shown: Any = {"float_kind": f"{{:.{digits}g}}".format, "bool": str}
    return np.array2string(array, separator=", ", formatter=shown)


def flat(text: str) -> str:
    """A paragraph in one line."""
    return " ".join(text.split())
