"""The words of the course, each with the lesson that introduces it."""

from __future__ import annotations

import html
import tomllib
from dataclasses import dataclass
from pathlib import Path

from minigrad import errors

FILE = Path(__file__).with_name("terms.toml")


@dataclass(frozen=True)
class Term:
    """A word, the lesson that explains it, and what it means.

    ``first``: the lesson that uses it first, in passing. ``pattern``: a regular
    expression that finds it in a text. ``known``: learners bring it along.
    """

    word: str
    lesson: str
    means: str
    first: str
    pattern: str
    known: bool


def read() -> list[Term]:
    """All terms, in the order of ``terms.toml``."""
    return [
        Term(
            row["word"],
            row["lesson"],
            row["means"],
            row.get("first", row["lesson"]),
            row.get("pattern", row["word"]),
            row.get("known", False),
        )
        for row in tomllib.loads(FILE.read_text("utf8"))["term"]
    ]


class Terms(list[Term]):
    """Terms that show themselves as a list, in a notebook and as text."""

    def __repr__(self) -> str:
        return "\n".join([f"{t.word} (lesson {t.lesson}): {t.means}" for t in self])

    def _repr_html_(self) -> str:
        rows = [
            f"<dt><b>{html.escape(each.word)}</b> (lesson {each.lesson})</dt>"
            f"<dd>{html.escape(each.means)}</dd>"
            for each in self
        ]
        return f"<dl style='max-width: 37em'>{''.join(rows)}</dl>"


def terms(word: str = "") -> Terms:
    """What the words of the course mean: all of them, or those that contain ``word``.

    Raises: ArgumentValueError if none does.

    >>> minigrad.course.terms("leaf")
    leaf (lesson 03): A tensor that no recorded call made; it keeps its gradient.
    """
    chosen = [each for each in read() if word.lower() in each.word.lower()]
    if not chosen:
        raise errors.ArgumentValueError.at(
            "course.terms",
            f"none of {len(read())} terms has {word!r} in it",
            "ask for a part of the word, or without any for all of them",
        )
    return Terms(chosen)
