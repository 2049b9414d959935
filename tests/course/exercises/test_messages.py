"""The words of findings: each is said by its program, which knows what it names."""

from __future__ import annotations

import ast
import string
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from minigrad.course.check import Crash
from minigrad.course.exercises import messages
from minigrad.course.exercises.messages import WORDS, Messages, text_of

FOLDER = Path(messages.__file__).parent
PACKAGE = "minigrad.course.exercises"
SPEAKING = [
    path.stem
    for path in sorted(FOLDER.glob("ex*.py"))
    if "Messages(__name__)" in path.read_text("utf8")
]


def words_of(stem: str) -> set[str]:
    """The texts in a program, by their parts, and the names of keyword arguments.

    And what it gets by itself: what its rules do, their names, an exception's text.
    """
    rules = text_of(f"{PACKAGE}.{stem}").get("rules", [])
    found = {row[key] for row in rules for key in ("does", "name") if key in row}
    for node in ast.walk(ast.parse((FOLDER / f"{stem}.py").read_text("utf8"))):
        match node:
            case ast.Constant(value=str(text)):
                found |= {text, *text.split(".")}
            case ast.keyword(arg=str(name)):
                found.add(name)
            case ast.Attribute(attr="of_crash"):
                found.add("text")
    return found


def messages_in(table: Mapping[str, Any], above: str = "") -> Iterator[tuple[str, str]]:
    """The names of all messages of a text file, and all that each of them may say."""
    for name, said in table.items():
        if isinstance(said, dict) and name != "when":
            rows = [said, *said.get("when", {}).values()]
            words = [str(row.get(key, "")) for row in rows for key in WORDS]
            yield above + name, " ".join(words)
            yield from messages_in(said, f"{above}{name}.")


def unknown_in(stem: str, *programs: str) -> list[tuple[str, str]]:
    """Messages, each with a word that none of these programs has."""
    table, known = text_of(f"{PACKAGE}.{stem}")["messages"], words_of(stem)
    known = known.union(*map(words_of, programs))
    unknown = []
    for name, text in messages_in(table):
        fields = [field for _, field, _, _ in string.Formatter().parse(text) if field]
        named = {*name.split("."), *[field.partition(".")[0] for field in fields]}
        unknown += [(name, word) for word in named - known]
    return unknown


@pytest.mark.parametrize("stem", SPEAKING)
def test_each_message_is_said_and_its_values_are_known(stem: str) -> None:
    assert len(SPEAKING) > 20
    assert unknown_in(stem) == []


def test_messages_that_exercises_share_are_said_by_some_of_them() -> None:
    assert unknown_in("batches", "ex15_2", "ex15_3", "ex15_4") == []
    assert unknown_in("timings", "ex14_2", "ex15_6", "ex16_5") == []
    assert ("result.negative", "negative") in unknown_in("batches", "ex15_2", "ex15_4")


TABLE = {
    "messages": {
        "where": "{who}.backward",
        "late": {
            "what": "it came {times:g} times",
            "mistakes": ["A01"],
            "join": {"hint": "When?\n", "values_right": True},
        },
        "crashed": {
            "hint": "Read it.",
            "when": {
                "2": {
                    "raises": "RuntimeError",
                    "says": ["two", "one"],
                    "hint": "Both?",
                },
                "ValueError: one": {"hint": "Only one?"},
            },
        },
    }
}


@pytest.fixture
def speak(monkeypatch: pytest.MonkeyPatch) -> Messages:
    def table(module: str) -> Mapping[str, Any]:
        return TABLE

    monkeypatch.setattr(messages, "text_of", table)
    return Messages("a module")


def test_message_has_the_words_of_those_above_it(speak: Messages) -> None:
    found = speak("late.join", who="Scale", times=2.0)
    assert (found.what, found.where) == ("it came 2 times", "Scale.backward")
    assert (found.ids, found.hint, found.values_right) == (("A01",), "When?", True)
    assert speak("late", who="Scale", times=2.0).hint == ""
    assert not speak("late", who="Scale", times=2.0).crashed


def test_value_that_a_message_names_has_to_be_given(speak: Messages) -> None:
    with pytest.raises(KeyError, match="times"):
        speak("late", who="Scale")


@pytest.mark.parametrize(
    ("kinds", "text", "hint"),
    [
        (("LookupError", "RuntimeError"), "one and two", "Both?"),
        (("RuntimeError",), "one", "Read it."),
        (("ValueError",), "one and two", "Only one?"),
    ],
)
def test_exception_is_told_by_its_class_and_its_words(
    speak: Messages, kinds: tuple[str, ...], text: str, hint: str
) -> None:
    crash = Crash("", kinds, text, inside=True)
    found = speak.of_crash("crashed", crash, who="Scale", text=text)
    assert (found.what, found.hint, found.crashed) == (text, hint, True)
