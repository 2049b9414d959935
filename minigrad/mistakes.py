"""The one table of named mistakes; check, lint, judge and diagnose speak from it.

The table itself is ``mistakes.toml``, beside this file, and is read when it is first
asked for something.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from importlib import resources
from typing import Any

from minigrad import errors


class MistakeTableError(errors.MinigradError, ValueError):
    """The table of mistakes, or an exercise's part of it, is not as it should be."""


@dataclass(frozen=True)
class Entry:
    """One named mistake: its name, what gives it away, one next step, its concept.

    ``lesson`` teaches it; an empty string as long as none does.
    """

    name: str
    looks_like: str
    hint: str
    concept: str
    lesson: str = ""


WANTED = ("name", "looks_like", "hint", "concept")


class Table(Mapping[str, Entry]):
    """The entries by their ids, in the order of the file.

    >>> TABLE["C01"].name
    'upstream gradient ignored'
    """

    def __getitem__(self, id: str) -> Entry:
        return self._entries[id]

    def __iter__(self) -> Iterator[str]:
        return iter(self._entries)

    def __len__(self) -> int:
        return len(self._entries)

    @cached_property
    def _entries(self) -> dict[str, Entry]:
        file = resources.files("minigrad") / "mistakes.toml"
        return entries_of(
            tomllib.loads(file.read_text("utf8")), "minigrad/mistakes.toml"
        )


def entries_of(tables: Mapping[str, Any], file: str) -> dict[str, Entry]:
    """The entries of a table that was read from ``file``.

    Raises: MistakeTableError for an entry that lacks something or has too much.
    """
    found = {}
    for id, table in tables.items():
        fields = {*WANTED, "lesson"}
        if not isinstance(table, dict) or not {*WANTED} <= set(table) <= fields:
            names = ", ".join(table) if isinstance(table, dict) else "no fields"
            what = f"the entry [{id}] has {names}"
            fix = f"give it {', '.join(WANTED)}, and lesson if there is one"
            raise MistakeTableError(errors.message(file, what, fix))
        found[id] = Entry(
            **{name: " ".join(text.split()) for name, text in table.items()}
        )
    return found


TABLE = Table()
