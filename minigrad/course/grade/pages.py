"""Pages for people: one for each student, and one on the whole class."""

from __future__ import annotations

import hashlib
import re
import statistics
from collections import Counter
from collections.abc import Sequence
from html import escape
from pathlib import Path

from minigrad.course.check import verdict
from minigrad.course.grade.examiner import BY_HAND_STATE, NOT_GRADED, Result
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

_STYLE = Path(__file__).with_name("pages.css").read_text(encoding="utf-8")
_POLICY = "default-src 'none'; style-src 'unsafe-inline'"


def page(title: str, body: str) -> str:
    """A page on which nothing can run, whatever found its way into it."""
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{text(title)}</title><style>\n{_STYLE}</style></head>\n"
        f"<body>\n{body}\n</body></html>\n"
    )


def text(value: object) -> str:
    """A text as HTML, without the characters that turn or hide what follows."""
    return escape(visible(str(value)), quote=True)


def visible(said: str) -> str:
    r"""A text with a sign in place of each character that nobody sees.

    >>> visible("a\x1bb")
    'a�b'
    """
    return "".join([c if is_seen(c) or c == "\n" else "�" for c in said])


def file_of(student: str) -> str:
    """The name of a student's page, which leads nowhere else.

    >>> file_of("../Ada L.")[:6]
    'Ada-L-'
    """
    readable = re.sub(r"[^A-Za-z0-9]+", "-", student).strip("-")[:40] or "student"
    digest = hashlib.sha256(student.encode("utf-8", "replace")).hexdigest()[:32]
    return f"{readable}-{digest}.html"


def of_student(
    student: str, results: Sequence[Result], left: Sequence[Left] = ()
) -> str:
    """All exercises of one student: outcome, points, and what to try next."""
    files = text("; ".join(sorted({r.file for r in results})) or "nothing")
    rows = "".join(f"<dt>{text(f)}</dt><dd>{text(why)}</dd>" for _, f, why in left)
    body = [
        f"<h1><bdi>{text(student)}</bdi></h1>",
        f"<p>{_points_of(results)}.</p>",
        *[_section(result) for result in results],
        f"<section><h2>Not graded</h2><dl>{rows}</dl></section>" if rows else "",
        f'<p class="soft">Graded: {files}. Of several answers to an exercise the best'
        " one counts; more than five different files for it are not graded.</p>",
    ]
    return page(f"{student}: results", "\n".join(body))


def _section(result: Result) -> str:
    note = f"<p>{text(result.note)}</p>" if result.note else ""
    rows = "".join(
        f"<dt>{text(label)}</dt><dd>{verdict.with_code(visible(said))}</dd>"
        for label, said in result.rows
    )
    return (
        f'<section class="{_class(result.state)}"><h2>'
        f"{SIGNS.get(result.state, '')} {text(result.heading)}: "
        f"{text(result.state)}, {_points_of([result])}</h2>"
        + note
        + (f"<dl>{rows}</dl>" if rows else "")
        + "</section>"
    )


def of_class(results: Sequence[Result], left: Sequence[Left] = ()) -> str:
    """The outcomes of each exercise, the most frequent mistakes, and the points."""
    students = sorted({r.student for r in results}, key=lambda s: (s.casefold(), s))
    body = [
        "<h1>The class</h1>",
        f"<p>{count_of(len(students), 'student')},"
        f" {count_of(len({r.exercise for r in results}), 'exercise')}.</p>",
        _for_a_person(results, left),
        "<h2>Outcomes</h2>",
        _outcomes(results, len(students)),
        "<h2>The most frequent mistakes</h2>",
        _mistakes(results),
        "<h2>Points</h2>",
        _points_of_all(results, students),
    ]
    return page("The class", "\n".join(body))


def _outcomes(results: Sequence[Result], students: int) -> str:
    if not results:
        return "<p>Nothing is graded yet.</p>"
    there = {r.state for r in results}
    states = [state for state in SIGNS if state in there]
    rows, solved = [], []
    for exercise in _in_order({r.exercise for r in results}):
        of_it = [r for r in results if r.exercise == exercise]
        heading, count = of_it[0].heading, Counter(r.state for r in of_it)
        solved.append((count[verdict.SOLVED], heading))
        parts = [(s, count[s] / students, f"{count[s]} {s}") for s in states]
        cells = [_figure(str(count[s]), SIGNS[s]) for s in states]
        rows.append(_row(text(heading), _bar(parts), *cells))
    all_solved = sum(number for number, _ in solved)
    share = 100 * all_solved / len(results)
    fewest, heading = min(solved, key=lambda pair: pair[0])
    said = (
        f"Solved: {all_solved} of {count_of(len(results), 'answer')} ({share:.0f} %)."
        f" Fewest in {heading}: {fewest} of {students}. A bar is as long as the class:"
        " where it ends early, the others handed nothing in."
    )
    key = "".join(f'<li><i class="{_class(s)}"></i>{SIGNS[s]} {s}</li>' for s in states)
    heads = [f"{SIGNS[s]} {s}" for s in states]
    return _said(said) + f'<ul class="key">{key}</ul>' + _table("Exercise", heads, rows)


def _mistakes(results: Sequence[Result]) -> str:
    count = Counter(name for r in results for name in set(r.mistakes))
    if not count:
        return _said("No answer shows a mistake that has a name.")
    in_order = sorted(count.items(), key=lambda pair: (-pair[1], pair[0]))
    rows = []
    for name, times in in_order[:MOST_MISTAKES]:
        places = _in_order({r.exercise for r in results if name in r.mistakes})
        where = f'<span class="soft">in {text(", ".join(places))}</span>'
        parts = [(verdict.WRONG, times / in_order[0][1], f"{times} of them")]
        rows.append(
            _row(
                f"{text(_name_of(name))} {where}",
                _bar(parts),
                _figure(str(times), after="answers" if times > 1 else "answer"),
            )
        )
    named = sum(bool(r.mistakes) for r in results)
    first, times = in_order[0]
    said = (
        f"{count_of(named, 'answer')} with a mistake that has a name. Most often, in"
        f" {times}: {_name_of(first)}. Where the numbers fit two stories, an answer"
        " counts for both."
    )
    return _said(said) + _table("Mistake", ["answers"], rows)


def _name_of(mistake: str) -> str:
    return f"{mistake} {TABLE[mistake].name}" if mistake in TABLE else mistake


def _points_of_all(results: Sequence[Result], students: Sequence[str]) -> str:
    if not results:
        return ""
    # What an exercise is worth may have changed since the first was graded.
    whole = sum({r.exercise: r.of for r in results}.values()) or 1
    rows, sums = [], []
    for student in students:
        own = [r for r in results if r.student == student]
        points = sum(r.points for r in own)
        sums.append(points)
        parts = [(verdict.SOLVED, points / whole, f"{number(points)} points")]
        link = f'<a href="students/{file_of(student)}"><bdi>{text(student)}</bdi></a>'
        rows.append(_row(link, _bar(parts), _figure(_points(points, whole))))
    said = (
        f"Half of the class has {number(statistics.median(sums))} points or more; the"
        f" fewest are {number(min(sums))}, the most {number(max(sums))}. A full bar is"
        f" {whole} points: every exercise that anybody handed in."
    )
    return _said(said) + _table("Student", [""], rows)


def _for_a_person(results: Sequence[Result], left: Sequence[Left]) -> str:
    """What no program can say the last word on."""
    found: dict[Left, list[str]] = {each: [] for each in left}
    for result in results:
        note = result.note if result.state == BY_HAND_STATE else ""
        named = f"It names {', '.join(result.flags)}." if result.flags else ""
        for why in filter(None, (result.trouble or note, named)):
            key = result.student, result.file, why
            found.setdefault(key, []).append(result.exercise)
    if not found:
        return ""
    rows = "".join(
        f'<tr><th scope="row"><bdi>{text(student)}</bdi></th>'
        f'<td class="file">{text(file)}</td>'
        f"<td>{text(', '.join(exercises))}</td><td>{text(why)}</td></tr>"
        for (student, file, why), exercises in found.items()
    )
    heads = "".join(
        f'<th scope="col">{each}</th>'
        for each in ("Student", "File", "Exercises", "Why")
    )
    return (
        "<h2>To be looked at by a person</h2><table><thead>"
        f"<tr>{heads}</tr></thead><tbody>{rows}</tbody></table>"
    )


def _table(first: str, others: Sequence[str], rows: Sequence[str]) -> str:
    heads = "".join(f'<th class="number" scope="col">{each}</th>' for each in others)
    return (
        f'<table><thead><tr><th scope="col">{first}</th><td></td>{heads}</tr></thead>'
        f"<tbody>{''.join(rows)}</tbody></table>"
    )


def _row(name: str, *cells: str) -> str:
    return f'<tr><th scope="row">{name}</th>{"".join(cells)}</tr>\n'


def _bar(parts: Sequence[tuple[str, float, str]]) -> str:
    """A bar with a piece for each state: its share of the whole, and what it says."""
    shown = [part for part in parts if part[1]]
    pieces = "".join(
        f'<span class="{_class(state)}" style="width: {100 * share:.2f}%"'
        f' title="{text(said)}"></span>'
        for state, share, said in shown
    )
    label = text(", ".join(said for _, _, said in shown) or "none")
    return (
        f'<td class="plot"><div class="bar" role="img" aria-label="{label}">'
        f"{pieces}</div></td>"
    )


def _figure(said: str, sign: str = "", after: str = "") -> str:
    """A figure; on a narrow page, where no heading is, with a sign or a word."""
    before = f'<span class="narrow">{sign} </span>' if sign else ""
    behind = f'<span class="narrow"> {after}</span>' if after else ""
    return f'<td class="number">{before}{said}{behind}</td>'


def _said(sentence: str) -> str:
    return f"<p>{text(sentence)}</p>"


def _points_of(results: Sequence[Result]) -> str:
    return _points(sum(r.points for r in results), sum(r.of for r in results))


def _points(points: float, whole: int) -> str:
    return f"{number(points)} of {count_of(whole, 'point')}"


def _in_order(exercises: set[str]) -> list[str]:
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
