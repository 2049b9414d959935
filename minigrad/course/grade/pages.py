"""Pages for people: one for each student, and one on the whole class.

The markup is in ``templates``, for jinja2, which comes with Jupyter and escapes every
text that is put into it.
"""

from __future__ import annotations

import hashlib
import re
import statistics
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any

import jinja2
from markupsafe import Markup

from minigrad.course.check import verdict
from minigrad.course.exercises import catalogue
from minigrad.course.grade.examiner import BY_HAND_STATE, NOT_GRADED, Result
from minigrad.course.grade.overrides import Override
from minigrad.course.grade.submissions import Left, is_seen
from minigrad.errors import count_of
from minigrad.mistakes import TABLE

SIGNS = {
    verdict.SOLVED: verdict.SIGNS[verdict.SOLVED],
    verdict.WRONG: verdict.SIGNS[verdict.WRONG],
    verdict.CRASHED: verdict.SIGNS[verdict.CRASHED],
    BY_HAND_STATE: "…",
    NOT_GRADED: "?",
    verdict.NOT_TRIED: verdict.SIGNS[verdict.NOT_TRIED],
}
"""The outcomes, from left to right in a bar."""

MOST_MISTAKES = 15

MOST_OF_ONE = 5
"""Lines of one student on the class page: nobody fills it."""

_STYLE = Path(__file__).with_name("pages.css").read_text(encoding="utf-8")


def visible(said: str) -> str:
    r"""A text with a sign in place of each character that nobody sees.

    >>> visible("a\x1bb")
    'a�b'
    """
    return "".join([c if is_seen(c) or c == "\n" else "�" for c in said])


def _shown(value: Any) -> Any:
    """What a template writes: text without characters that turn or hide the rest."""
    return value if isinstance(value, Markup) else visible(str(value))


_TEMPLATES = jinja2.Environment(
    loader=jinja2.FileSystemLoader(Path(__file__).with_name("templates")),
    autoescape=True,
    undefined=jinja2.StrictUndefined,
    finalize=_shown,
)


def page(template: str, title: str, **texts: Any) -> str:
    """A page on which nothing can run, whatever found its way into it."""
    style = Markup(_STYLE)
    return _TEMPLATES.get_template(template).render(title=title, style=style, **texts)


def file_of(student: str) -> str:
    """The name of a student's page, which leads nowhere else.

    >>> file_of("../Ada L.")[:6]
    'Ada-L-'
    """
    readable = re.sub(r"[^A-Za-z0-9]+", "-", student).strip("-")[:40] or "student"
    digest = hashlib.sha256(student.encode("utf-8", "replace")).hexdigest()[:32]
    return f"{readable}-{digest}.html"


def of_student(
    student: str,
    results: Sequence[Result],
    left: Sequence[Left] = (),
    overrides: Mapping[str, Override] = MappingProxyType({}),
    late: bool = False,
) -> str:
    """All exercises of one student: outcome, points, and what to try next."""
    on_all = overrides.get("", Override()).comment
    shown = {result.exercise for result in results}
    comments = [
        f"{exercise}: {one.comment}"
        for exercise, one in sorted(overrides.items())
        if exercise and exercise not in shown
    ]
    return page(
        "student.html",
        f"{student}: results",
        student=student,
        points=_points_of(results),
        late=late,
        comments=[on_all, *comments] if on_all else comments,
        sections=[_section(r, overrides.get(r.exercise)) for r in results],
        left=left,
        files="; ".join(sorted({r.file for r in results if r.file})),
    )


def _section(result: Result, override: Override | None) -> dict[str, Any]:
    rows = [
        (label, Markup(verdict.with_code(visible(said)))) for label, said in result.rows
    ]
    changed = ""
    if override:
        changed = f"Your instructor: {override.comment}" if override.comment else ""
        if override.points is not None:
            changed = f"{changed or 'Your instructor'} (points changed)"
    return {
        "kind": _class(result.state),
        "sign": SIGNS.get(result.state, ""),
        "title": f"{result.heading}: {result.state}, {_points_of([result])}",
        "changed": changed,
        "note": result.note,
        "rows": rows,
    }


def of_class(
    results: Sequence[Result],
    left: Sequence[Left] = (),
    notes: Sequence[str] = (),
    marks: Mapping[str, str] = MappingProxyType({}),
    absent: Sequence[str] = (),
) -> str:
    """The outcomes of each exercise, the most frequent mistakes, and the points.

    ``marks`` are a word or two beside a student (late, changed points), ``absent``
    those who handed in nothing.
    """
    students = sorted({r.student for r in results}, key=lambda s: (s.casefold(), s))
    exercises = count_of(len({r.exercise for r in results}), "exercise")
    size = f"{count_of(len(students), 'student')}, {exercises}"
    if absent:
        size += f"; {len(absent)} more handed in nothing"
    return page(
        "class.html",
        "The class",
        size=size,
        notes=notes,
        for_a_person=_for_a_person(results, left),
        outcomes=_outcomes(results, len(students)),
        mistakes=_mistakes(results),
        points=_points_of_all(results, students, marks, absent),
    )


def _outcomes(results: Sequence[Result], students: int) -> dict[str, Any] | None:
    if not results:
        return None
    there = {r.state for r in results}
    states = [state for state in SIGNS if state in there]
    rows, solved = [], []
    for exercise in in_order({r.exercise for r in results}):
        of_it = [r for r in results if r.exercise == exercise]
        heading, count = of_it[0].heading, Counter(r.state for r in of_it)
        solved.append((count[verdict.SOLVED], heading))
        parts = [(_class(s), count[s] / students, f"{count[s]} {s}") for s in states]
        rows.append((heading, parts, [(SIGNS[s], count[s]) for s in states]))
    all_solved = sum(number for number, _ in solved)
    share = 100 * all_solved / len(results)
    fewest, heading = min(solved, key=lambda pair: pair[0])
    said = (
        f"Solved: {all_solved} of {count_of(len(results), 'answer')} ({share:.0f} %)."
        f" Fewest in {heading}: {fewest} of {students}. A bar is as long as the class:"
        " where it ends early, the others handed nothing in."
    )
    return {
        "said": said,
        "states": [(_class(s), SIGNS[s], s) for s in states],
        "heads": [f"{SIGNS[s]} {s}" for s in states],
        "rows": rows,
    }


def _mistakes(results: Sequence[Result]) -> dict[str, Any]:
    count = Counter(name for r in results for name in set(r.mistakes))
    if not count:
        return {"said": "No answer shows a mistake that the course knows.", "rows": []}
    most_often = sorted(count.items(), key=lambda pair: (-pair[1], pair[0]))
    first, most = most_often[0]
    rows = []
    for name, times in most_often[:MOST_MISTAKES]:
        places = in_order({r.exercise for r in results if name in r.mistakes})
        part = _class(verdict.WRONG), times / most, f"{times} of them"
        rows.append((_name_of(name), ", ".join(places), [part], times))
    named = sum(bool(r.mistakes) for r in results)
    said = (
        f"{count_of(named, 'answer')} with a mistake that the course knows. Most often,"
        f" in {most}: {_name_of(first).rstrip('.?')}. Where the numbers fit two"
        " stories, an answer counts for both."
    )
    return {"said": said, "rows": rows}


def _name_of(mistake: str) -> str:
    if mistake in TABLE:
        return f"{mistake} {TABLE[mistake].name}"
    return " ".join(catalogue.sentences().get(mistake, (mistake,)))


def _points_of_all(
    results: Sequence[Result],
    students: Sequence[str],
    marks: Mapping[str, str],
    absent: Sequence[str],
) -> dict[str, Any] | None:
    if not results:
        return None
    # What an exercise is worth may have changed since the first was graded.
    whole = sum({r.exercise: r.of for r in results}.values()) or 1
    rows: list[tuple[object, ...]] = []
    sums = []
    for student in students:
        points = sum(r.points for r in results if r.student == student)
        sums.append(points)
        part = _class(verdict.SOLVED), points / whole, f"{number(points)} points"
        said = _points(points, whole)
        rows.append((file_of(student), student, marks.get(student, ""), [part], said))
    for student in absent:
        rows.append(("", student, "handed in nothing", [], _points(0, whole)))
    said = (
        f"Half of those who handed something in have {number(statistics.median(sums))}"
        f" points or more; the fewest are {number(min(sums))}, the most"
        f" {number(max(sums))}. A full bar is {whole} points: every exercise that"
        " anybody handed in."
    )
    return {"said": said, "rows": rows}


def _for_a_person(
    results: Sequence[Result], left: Sequence[Left]
) -> list[tuple[str, str, str, str]]:
    """What no program can say the last word on."""
    found: dict[Left, list[str]] = {each: [] for each in left}
    for result in results:
        note = result.note if result.state == BY_HAND_STATE else ""
        named = f"In it: {', '.join(result.flags)}." if result.flags else ""
        for why in filter(None, (result.trouble or note, named)):
            key = result.student, result.file, why
            found.setdefault(key, []).append(result.exercise)
    of_one: dict[str, list[tuple[str, str, str, str]]] = {}
    for (student, file, why), exercises in found.items():
        line = student, file, ", ".join(exercises), why
        of_one.setdefault(student, []).append(line)
    lines = []
    for student, own in of_one.items():
        lines += own[:MOST_OF_ONE]
        if len(own) > MOST_OF_ONE:
            why = f"And {len(own) - MOST_OF_ONE} more; their own page has all."
            lines.append((student, "", "", why))
    return lines


def _points_of(results: Sequence[Result]) -> str:
    return _points(sum(r.points for r in results), sum(r.of for r in results))


def _points(points: float, whole: int) -> str:
    return f"{number(points)} of {count_of(whole, 'point')}"


def in_order(exercises: set[str]) -> list[str]:
    """Exercises as the course has them, the gym's last."""
    return sorted(exercises, key=lambda e: (e.startswith("gym."), e))


def _class(state: str) -> str:
    """The class of an outcome in the style sheet."""
    words = {BY_HAND_STATE: "hand", NOT_GRADED: "failed", verdict.NOT_TRIED: "not"}
    return words.get(state, state)


def number(points: float) -> str:
    """Points without digits that say nothing.

    >>> number(2.0), number(0.75), number(10.0)
    ('2', '0.75', '10')
    """
    return f"{points:.2f}".rstrip("0").rstrip(".")
