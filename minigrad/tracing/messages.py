"""The words of the player: all that a person reads there, in one table of texts.

``messages.toml`` has them in English. ``MINIGRAD_LANGUAGE=de`` is for the table
``messages.de.toml`` beside it; it may also name a file. What is missing there is said
in English, and ``python -m minigrad.tracing.translation de`` lists it.
"""

from __future__ import annotations

import os
import string
import tomllib
from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path
from typing import Any, Final

from minigrad import errors

ENGLISH: Final = Path(__file__).with_name("messages.toml")
NO_FIELDS: Final[Mapping[str, Any]] = {}

Table = dict[str, dict[str, str]]


def message(key: str, noted: Mapping[str, Any] = NO_FIELDS, /, **fields: Any) -> str:
    """A text of the table, its fields filled in; of two, for 1, that which ends in one.

    >>> message("node.older", node="MulBackward0")
    'MulBackward0 was already in the graph.'
    >>> message("steps", count=2), message("steps", count=1)
    ('2 steps', '1 step')
    """
    fields |= noted
    if fields.get("count") == 1 and f"{key}.one" in in_use.texts:
        key = f"{key}.one"
    return in_use.texts[key].format_map(fields)


def word(text: str) -> str:
    """What a recording calls something by a fixed word, in the language of today."""
    return in_use.table["words"].get(text, text)


def joined(parts: list[str]) -> str:
    """A list in words: ``a``, ``a and b``, ``a, b and c``."""
    if len(parts) < 2:
        return "".join(parts)
    most = message("list.between").join(parts[:-1])
    return message("list.last", most=most, last=parts[-1])


def in_turn(*sentences: str) -> str:
    """Sentences one after the other; empty ones are left out."""
    return message("sentences.between").join([one for one in sentences if one])


class Language:
    """The texts that are in use, by their keys."""

    def __init__(self, table: Table) -> None:
        self.table = table
        self.texts = {**table["page"], **table["steps"]}
        self.code = table["language"]["code"]


def use(language: str) -> None:
    """Speak another language: ``de``, or the path of a table of messages.

    Raises: FileNotFoundError if there is no table.
    """
    global in_use
    in_use = Language(whole(language))


def whole(language: str) -> Table:
    """The table of a language, with the English for what it lacks."""
    english, other = read(ENGLISH), read(file_of(language))
    unfit = set(faults(english, other))
    return {
        name: texts
        | {
            key: text
            for key, text in other.get(name, {}).items()
            if (name, key) not in unfit
        }
        for name, texts in english.items()
    }


def file_of(language: str) -> Path:
    """Where the table of a language stands."""
    if language in ("", "en"):
        return ENGLISH
    is_file = language.endswith(".toml")
    path = Path(language) if is_file else ENGLISH.with_name(f"messages.{language}.toml")
    if not path.is_file():
        raise FileNotFoundError(
            errors.message(
                "MINIGRAD_LANGUAGE",
                f"there is no table of messages {os.fspath(path)!r}",
                "translate a copy of messages.toml, or leave the language unset",
            )
        )
    return path


@cache
def read(path: Path) -> Table:
    """A table of messages as it is written."""
    return tomllib.loads(path.read_text(encoding="utf-8"))


def faults(english: Table, other: Table) -> Iterable[tuple[str, str]]:
    """The section and key of each text of ``other`` that cannot stand for a text."""
    for name, texts in other.items():
        for key, text in texts.items():
            known = english.get(name, {}).get(key)
            if known is None or not fields_of(text) <= fields_of(known):
                yield name, key


def fields_of(text: str) -> set[str]:
    """The names of the fields in a text; one that no text can have for a lone brace."""
    try:
        return {name for _, name, _, _ in string.Formatter().parse(text) if name}
    except ValueError:
        return {"{"}


in_use = Language(whole(os.environ.get("MINIGRAD_LANGUAGE", "")))
