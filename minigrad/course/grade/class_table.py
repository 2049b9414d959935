"""A class with a row a student: what a gradebook wants, and an LMS reads."""

from __future__ import annotations

import csv
import dataclasses
import io
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from minigrad.course.check import NOT_TRIED
from minigrad.course.exercises import catalogue
from minigrad.course.grade import csv_files, results
from minigrad.course.grade.examiner import Result
from minigrad.course.grade.overrides import Override, Overrides
from minigrad.course.grade.pages import in_order, number
from minigrad.course.grade.roster import Member, Roster, key_of
from minigrad.course.grade.submissions import Left

CANVAS = ("Student", "ID", "SIS User ID", "SIS Login ID", "Section")
"""Before the first assignment in what Canvas exports and imports."""

MOODLE = ("email address", "id number", "username")
"""By what Moodle's import can find a student; the points are mapped to an item."""

TITLE = "minigrad"


@dataclass
class Row:
    """One student: whose folder, who that is, and what counts, override or not."""

    owner: str
    member: Member | None
    results: list[Result]
    left: list[Left]
    overrides: dict[str, Override] = field(default_factory=dict)
    late: bool = False

    @property
    def name(self) -> str:
        """The name on the roster, or that of the folder."""
        return self.member.name if self.member else self.owner

    @property
    def points(self) -> float:
        """All points together."""
        return float(sum([result.points for result in self.results]))

    @property
    def marks(self) -> list[str]:
        """What stands beside the name where there is no room for more."""
        changed = [
            e for e, one in sorted(self.overrides.items()) if one.points is not None
        ]
        return [*["late"] * self.late, *[f"{e} changed" for e in changed]]

    @property
    def comments(self) -> list[str]:
        """What the instructor says, on everything or on an exercise."""
        said = sorted(self.overrides.items())
        return [": ".join(filter(None, (e, o.comment))) for e, o in said if o.comment]


def rows_of(
    found: Sequence[Result],
    left: Sequence[Left],
    roster: Roster | None,
    overrides: Overrides,
    is_late: Callable[[Result], bool],
    place: Path,
) -> list[Row]:
    """The class: those of the roster in its order, then who else handed something in.

    ``place`` is where the overrides come from. Raises: TableError.
    """
    owners = sorted({r.student for r in found} | {student for student, _, _ in left})
    whose = roster.of(owners) if roster else {}
    members = roster.members if roster else ()
    by_member: dict[Member, list[str]] = {member: [] for member in members}
    for owner in whose:
        by_member[whose[owner]].append(owner)
    groups: list[tuple[Member | None, list[str]]] = list(by_member.items())
    groups += [(None, [owner]) for owner in owners if owner not in whose]
    rows = []
    for member, own in groups:
        first = own[0] if own else member.id if member else ""
        of_it = results.best(
            [dataclasses.replace(r, student=first) for r in found if r.student in own]
        )
        row = Row(first, member, of_it, [each for each in left if each[0] in own])
        row.late = any([is_late(result) for result in of_it])
        rows.append(row)
    override(rows, overrides, place)
    return rows


def override(rows: Sequence[Row], overrides: Overrides, place: Path) -> None:
    """Let an instructor's points count. Raises: TableError for nobody's."""
    by_key: dict[str, Row] = {}
    for row in rows:
        names = [row.owner, results.cell(row.owner)]
        names += [row.member.id, row.member.name] if row.member else []
        for name in names:
            by_key.setdefault(key_of(name), row)
    for (student, exercise), one in overrides.items():
        if key_of(student) not in by_key:
            what = f"nobody is called '{student}'"
            fix = "write the student as in results.csv, or the id of the roster"
            raise csv_files.refused(place, one.line, what, fix)
        row = by_key[key_of(student)]
        row.overrides[exercise] = one
        if one.points is None:
            continue
        judged = [r for r in row.results if r.exercise == exercise]
        result = judged[0] if judged else nothing(row.owner, exercise)
        changed = dataclasses.replace(result, points=one.points)
        others = [r for r in row.results if r.exercise != exercise]
        row.results = sorted([*others, changed], key=lambda r: r.exercise)


def nothing(student: str, exercise: str) -> Result:
    """What stands for an exercise that wasn't handed in."""
    loaded = catalogue.load(exercise)
    heading = f"{exercise} {loaded.title}"
    return Result(student, exercise, "", "", heading, NOT_TRIED, 0.0, loaded.points)


def whole_of(rows: Iterable[Row]) -> dict[str, int]:
    """The exercises that anybody handed in, with their points."""
    of = {r.exercise: r.of for row in rows for r in row.results}
    return {exercise: of[exercise] for exercise in in_order(set(of))}


def gradebook(rows: Sequence[Row]) -> str:
    """The table for people: a row a student, a column an exercise."""
    whole = whole_of(rows)
    heads = ["student", "id", "folder", "handed in", "late", "points", "of"]
    lines: list[list[object]] = [[*heads, *whole, "comments"]]
    for row in rows:
        points = {r.exercise: r.points for r in row.results}
        handed_in = "yes" if any([r.file for r in row.results]) or row.left else "no"
        identity = [row.name, row.member.id if row.member else "", row.owner]
        lines.append(
            [
                *identity,
                *(handed_in, "late" if row.late else "", row.points),
                sum(whole.values()),
                *[points.get(exercise, 0.0) for exercise in whole],
                "; ".join(row.comments),
            ]
        )
    return as_csv(lines)


def uploads(rows: Sequence[Row], roster: Roster) -> dict[str, str]:
    """What Canvas and Moodle import, where the roster has the columns they need."""
    there = {name.casefold(): name for name in roster.members[0].row}
    members = [row for row in rows if row.member]
    whole = sum(whole_of(rows).values())
    found = {}
    if all([each.casefold() in there for each in ("SIS Login ID", "Section")]):
        heads = [each for each in CANVAS if each.casefold() in there]
        possible = ["Points Possible", *[""] * (len(heads) - 1), float(whole)]
        found["canvas.csv"] = uploaded(heads, members, there, [possible])
    known = [each for each in MOODLE if each in there]
    if known:
        found["moodle.csv"] = uploaded([there[known[0]]], members, there, [])
    return found


def uploaded(
    heads: list[str],
    rows: Sequence[Row],
    there: dict[str, str],
    first: list[list[object]],
) -> str:
    """The roster's own words in these columns, and the points of everything."""
    lines: list[list[object]] = [[*heads, TITLE], *first]
    for row in rows:
        assert row.member
        own = [row.member.row[there[head.casefold()]] for head in heads]
        lines.append([*own, float(number(row.points))])
    return as_csv(lines)


def as_csv(lines: Iterable[Sequence[object]]) -> str:
    """Lines of cells, none of which is a formula to a spreadsheet."""
    text = io.StringIO()
    writer = csv.writer(text, quoting=csv.QUOTE_NONNUMERIC)
    writer.writerows([list(map(results.cell, line)) for line in lines])
    return text.getvalue()
