"""By which judge, and as which exercise, a result came about."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from functools import cache
from pathlib import Path

import minigrad
from minigrad.course.exercises import catalogue

PACKAGE = Path(minigrad.__file__).parent
EXERCISES = PACKAGE / "course" / "exercises"

NO_JUDGE = (
    *("bench", "lint", "tracing", "views"),
    *("course/author", "course/doctor", "course/notebook"),
)
"""Folders that no result depends on."""


@cache
def of(exercise: str) -> str:
    """Two digests: of everything that judges, and of what this exercise says."""
    return f"{judge()} {digest(files_of(exercise))}"


@cache
def judge() -> str:
    """The digest of what all exercises have in common."""
    names = [*catalogue.names(), *catalogue.gym_names()]
    own = {file for name in names for file in files_of(name)}
    skipped = tuple([str(PACKAGE / each) for each in NO_JUDGE])
    files = [
        path
        for pattern in ("*.py", "*.toml")
        for path in PACKAGE.rglob(pattern)
        if path not in own and not str(path).startswith(skipped)
    ]
    return digest(files)


def files_of(exercise: str) -> list[Path]:
    """The module and the text of an exercise."""
    folder, _, stem = catalogue.stem_of(exercise).rpartition(".")
    places = [EXERCISES / folder / f"{stem}{ending}" for ending in (".py", ".toml")]
    return [place for place in places if place.exists()]


def digest(files: Iterable[Path]) -> str:
    """What changes whenever one of them does."""
    found = hashlib.sha256()
    for path in sorted(files):
        found.update(path.relative_to(PACKAGE).as_posix().encode() + b"\0")
        found.update(hashlib.sha256(path.read_bytes()).digest())
    return found.hexdigest()[:12]
