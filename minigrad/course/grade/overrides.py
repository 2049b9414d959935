"""What an instructor decides: comments, and points in place of the judge's."""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path

from minigrad.course.exercises import catalogue
from minigrad.course.grade import csv_files

FILE = "overrides.csv"
COLUMNS = ("student", "exercise", "points", "comment")


@dataclass(frozen=True)
class Override:
    """Points, where they are changed, what the student is told, and its line."""

    points: float | None = None
    comment: str = ""
    line: int = 1


Overrides = dict[tuple[str, str], Override]
"""By student and exercise; a comment on everything stands under no exercise."""


def read(path: Path) -> Overrides:
    """What stands in the file; nothing if there is none. Raises: TableError."""
    if not path.exists():
        return {}
    found: Overrides = {}
    known = {*catalogue.names(), *catalogue.gym_names()}
    for line, row in csv_files.rows(path):
        names = [csv_files.column(path, list(row), (each,)) for each in COLUMNS]
        student, exercise, points, comment = [row[name] for name in names]
        key = student, exercise
        if not student:
            raise csv_files.refused(path, line, "no student", "fill in whose it is")
        if key in found:
            what = f"{student} has another line for {exercise or 'no exercise'}"
            raise csv_files.refused(path, line, what, "keep one of them")
        if exercise and exercise not in known:
            what = f"there is no exercise '{exercise}'"
            fix = "write its number as in results.csv, such as 01.4, as text"
            raise csv_files.refused(path, line, what, fix)
        if not points and not comment:
            what = "neither points nor a comment"
            raise csv_files.refused(path, line, what, "fill in one, or take it out")
        found[key] = Override(points_in(path, line, exercise, points), comment, line)
    return found


def points_in(path: Path, line: int, exercise: str, text: str) -> float | None:
    """The points in a cell; None in an empty one. Raises: TableError."""
    if not text:
        return None
    if not exercise:
        what, fix = "points for no exercise", "say for which they are"
        raise csv_files.refused(path, line, what, fix)
    most = catalogue.load(exercise).points
    try:
        points = float(text.replace(",", "."))
    except ValueError:
        points = math.nan
    if not 0 <= points <= most:
        what = f"'{text}' are no points for {exercise}: it has {most}"
        raise csv_files.refused(path, line, what, f"write a number from 0 to {most}")
    return points
