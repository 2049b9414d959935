"""Who is in a class, and whose a folder of submissions is."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

from minigrad.course.grade import csv_files

IDS = ("id", "id number", "student id", "sis user id", "username", "email address")
NAMES = ("name", "student", "full name", "student name")
FIRST, LAST = ("first name",), ("last name", "surname")

POINTS_POSSIBLE = "points possible"
"""What stands in place of a name in the second row of what Canvas exports."""


@dataclass(frozen=True)
class Member:
    """One of a class; ``row`` is everything that the table says of them."""

    name: str
    id: str
    row: dict[str, str] = field(default_factory=dict, compare=False)
    line: int = field(default=1, compare=False)


@dataclass(frozen=True)
class Roster:
    """A class in the order of its table, and the heading of the ids there."""

    members: tuple[Member, ...]
    id_column: str
    path: Path

    def of(self, owners: Iterable[str]) -> dict[str, Member]:
        """Whose each folder is; one that is nobody's is not in it.

        A folder is called as its student's id or name; Moodle and Canvas put a number
        behind. Raises: TableError if two students could be meant.
        """
        by_key: dict[str, list[Member]] = {}
        for member in self.members:
            for key in {key_of(member.id), key_of(member.name)} - {""}:
                by_key.setdefault(key, []).append(member)
        found = {}
        for owner in owners:
            who, _, number = owner.rpartition("_")
            for part in (owner, number, who):
                meant = by_key.get(key_of(part), [])
                if len(meant) > 1:
                    ids = " and ".join([one.id for one in meant])
                    what = f"'{owner}' can be {ids}: both are called {meant[1].name}"
                    fix = f"call the folder {meant[0].id} or {meant[1].id}"
                    raise csv_files.refused(self.path, meant[1].line, what, fix)
                if meant:
                    found[owner] = meant[0]
                    break
        return found


def read(path: Path) -> Roster:
    """A class from a table with names and ids; Moodle's and Canvas' exports are such.

    Raises: TableError.
    """
    members: list[Member] = []
    lines: dict[str, int] = {}
    column = ""
    for line, row in csv_files.rows(path):
        names = list(row)
        column = column or csv_files.column(path, names, IDS)
        keys = {name.casefold() for name in names}
        if keys & set(FIRST) and keys & set(LAST):
            parts = [csv_files.column(path, names, each) for each in (FIRST, LAST)]
        else:
            parts = [csv_files.column(path, names, NAMES)]
        name = " ".join([row[part] for part in parts]).strip()
        if name.casefold() == POINTS_POSSIBLE:
            continue
        if not row[column]:
            fix = f"fill in {column}, or take the row out"
            raise csv_files.refused(path, line, f"{name or 'nobody'} has no id", fix)
        key = key_of(row[column])
        if key in lines:
            what = f"the id {row[column]} stands in line {lines[key]}, too"
            raise csv_files.refused(path, line, what, "give each student one row")
        lines[key] = line
        members.append(Member(name, row[column], row, line))
    if not members:
        what, fix = "there is no student in it", "write a row for each, below a heading"
        raise csv_files.refused(path, 1, what, fix)
    return Roster(tuple(members), column, path)


def key_of(name: str) -> str:
    """What two spellings of a name have in common.

    >>> key_of("  Ada   Lovelace") == key_of("ada lovelace")
    True
    """
    return " ".join(unicodedata.normalize("NFC", name).casefold().split())
