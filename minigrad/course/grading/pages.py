"""Pages for people: one for each student, and one on the whole class."""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Sequence
from html import escape

from minigrad.course.grading.examiner import Result
from minigrad.course.verdict import with_code
from minigrad.mistakes import TABLE

STATES = ("solved", "wrong", "crashed", "by hand", "not tried")
SIGNS = {
    "solved": "✓",
    "wrong": "✗",
    "crashed": "!",
    "by hand": "…",
    "not tried": "○",
}

_STYLE = """
:root { color-scheme: light dark; --back: #fff; --text: #1a1a1a; --line: #c8c8c8;
  --solved: #00795a; --wrong: #b34a00; --crashed: #8a2b6b; --hand: #2a5db0;
  --not: #767676; }
@media (prefers-color-scheme: dark) { :root { --back: #161616; --text: #ececec;
  --line: #555; --solved: #3fc79a; --wrong: #ff9a4d; --crashed: #e58acb;
  --hand: #8ab4ff; --not: #a5a5a5; } }
body { background: var(--back); color: var(--text); font: 1rem/1.5 system-ui,
  sans-serif; max-width: 56rem; margin: 0 auto; padding: 1rem; }
table { border-collapse: collapse; width: 100%; }
th, td { border-bottom: 1px solid var(--line); padding: .3rem .5rem;
  text-align: left; vertical-align: top; overflow-wrap: anywhere; }
td.number, th.number { text-align: right; overflow-wrap: normal; }
section { border-left: .3rem solid var(--not); margin: 1.2rem 0; padding: 0 .9rem; }
section h2 { font-size: 1.1rem; margin: 0; }
dl { margin: .4rem 0; display: grid; gap: .2rem 1rem;
  grid-template-columns: minmax(5rem, max-content) minmax(0, 1fr); }
dt { opacity: .75; } dd { margin: 0; white-space: pre-line; overflow-wrap: anywhere; }
.solved { border-color: var(--solved); } .wrong { border-color: var(--wrong); }
.crashed { border-color: var(--crashed); } .hand { border-color: var(--hand); }
.bar { display: flex; height: 1.1rem; min-width: 6rem; }
.bar span { height: 100%; } .bar .solved { background: var(--solved); }
.bar .wrong { background: var(--wrong); } .bar .crashed { background: var(--crashed); }
.bar .hand { background: var(--hand); } .bar .not { background: var(--not); }
.key span { display: inline-block; width: .9rem; height: .9rem; margin: 0 .3rem 0 1rem;
  vertical-align: -.1rem; }
@media (max-width: 30rem) { dl { grid-template-columns: 1fr; } }
"""

_POLICY = "default-src 'none'; style-src 'unsafe-inline'"


def page(title: str, body: str) -> str:
    """A page on which nothing can run, whatever found its way into it."""
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{text(title)}</title><style>{_STYLE}</style></head>"
        f"<body>{body}</body></html>\n"
    )


def text(value: object) -> str:
    """A text as HTML, without the characters that turn or hide what follows."""
    shown = "".join([c if c.isprintable() or c == "\n" else "�" for c in str(value)])
    return escape(shown, quote=True)


def file_of(student: str) -> str:
    """The name of a student's page, which leads nowhere else.

    >>> file_of("../Ada L.")[:6]
    'Ada-L-'
    """
    readable = re.sub(r"[^A-Za-z0-9]+", "-", student).strip("-")[:40] or "student"
    digest = hashlib.sha256(student.encode("utf-8", "replace")).hexdigest()[:8]
    return f"{readable}-{digest}.html"


def of_student(student: str, results: Sequence[Result]) -> str:
    """All exercises of one student: outcome, points, and what to try next."""
    points = sum(r.points for r in results)
    total = sum(r.of for r in results)
    parts = [
        f"<h1>{text(student)}</h1>",
        f"<p>{number(points)} of {total} points.</p>",
    ]
    for result in results:
        rows = [(label, said) for label, said in result.rows]
        if result.note:
            rows.insert(0, ("note", result.note))
        told = "".join(
            f"<dt>{text(label)}</dt><dd>{_with_code(said)}</dd>" for label, said in rows
        )
        parts.append(
            f'<section class="{_class(result.state)}"><h2>'
            f"{SIGNS.get(result.state, '')} {text(result.heading)}: "
            f"{text(result.state)}, {number(result.points)} of {result.of}</h2>"
            + (f"<dl>{told}</dl>" if told else "")
            + "</section>"
        )
    return page(f"{student}: results", "\n".join(parts))


def _with_code(said: str) -> str:
    return with_code(
        "".join([c if c.isprintable() or c == "\n" else "�" for c in said])
    )


def of_class(results: Sequence[Result]) -> str:
    """The outcomes of each exercise, the most frequent mistakes, and the points."""
    students = sorted({r.student for r in results})
    body = [
        "<h1>The class</h1>",
        f"<p>{len(students)} students, {len(results)} answers.</p>",
        "<h2>Outcomes</h2>",
        _key(),
        _outcomes(results),
        "<h2>The most frequent mistakes</h2>",
        _mistakes(results),
        "<h2>Points</h2>",
        _points(results, students),
        _troubles(results),
    ]
    return page("The class", "\n".join(body))


def _key() -> str:
    parts = [
        f'<span class="{_class(state)}" style="background: var({_colour(state)})">'
        f"</span>{SIGNS[state]} {state}"
        for state in STATES
    ]
    return f'<p class="key">{" ".join(parts)}</p>'


def _outcomes(results: Sequence[Result]) -> str:
    rows = []
    for exercise in _in_order({r.exercise for r in results}):
        of_it = [r for r in results if r.exercise == exercise]
        count = Counter(r.state for r in of_it)
        bar = "".join(
            f'<span class="{_class(state)}" style="width: '
            f'{100 * count[state] / len(of_it):.2f}%" title="{count[state]} {state}">'
            "</span>"
            for state in STATES
            if count[state]
        )
        cells = "".join(f'<td class="number">{count[s]}</td>' for s in STATES)
        rows.append(
            f"<tr><th>{text(of_it[0].heading)}</th>"
            f'<td><div class="bar" role="img" aria-label="'
            f'{text(", ".join(f"{count[s]} {s}" for s in STATES))}">{bar}</div></td>'
            f"{cells}</tr>"
        )
    heads = "".join(
        f'<th class="number"><abbr title="{s}">{SIGNS[s]}</abbr></th>' for s in STATES
    )
    head = f"<tr><th>Exercise</th><th>Share</th>{heads}</tr>"
    return f"<table>{head}{''.join(rows)}</table>"


def _mistakes(results: Sequence[Result], most: int = 15) -> str:
    count = Counter(name for r in results for name in r.mistakes)
    if not count:
        return "<p>None that has a name.</p>"
    largest = max(count.values())
    rows = []
    for name, times in sorted(count.items(), key=lambda pair: (-pair[1], pair[0])):
        known = TABLE[name].name if name in TABLE else ""
        bar = (
            '<div class="bar"><span class="wrong" '
            f'style="width: {100 * times / largest:.2f}%"></span></div>'
        )
        rows.append(
            f"<tr><th>{text(name)} {text(known)}</th><td>{bar}</td>"
            f'<td class="number">{times}</td></tr>'
        )
    return f"<table>{''.join(rows[:most])}</table>"


def _points(results: Sequence[Result], students: Sequence[str]) -> str:
    rows = []
    for student in students:
        own = [r for r in results if r.student == student]
        points, total = sum(r.points for r in own), sum(r.of for r in own)
        share = 100 * points / total if total else 0.0
        rows.append(
            f'<tr><th><a href="students/{file_of(student)}">{text(student)}</a></th>'
            f'<td><div class="bar"><span class="solved" style="width: {share:.2f}%">'
            f"</span></div></td>"
            f'<td class="number">{number(points)} of {total}</td></tr>'
        )
    return f"<table>{''.join(rows)}</table>"


def _troubles(results: Sequence[Result]) -> str:
    found = [r for r in results if r.trouble or r.state == "by hand"]
    if not found:
        return ""
    rows = "".join(
        f"<tr><th>{text(r.student)}</th><td>{text(r.exercise)}</td>"
        f"<td>{text(r.trouble or r.note)}</td></tr>"
        for r in found
    )
    return f"<h2>To be looked at by a person</h2><table>{rows}</table>"


def _in_order(exercises: set[str]) -> list[str]:
    return sorted(exercises, key=lambda e: (e.startswith("gym."), e))


def _class(state: str) -> str:
    return state.split()[-1] if state == "by hand" else state.split()[0]


def _colour(state: str) -> str:
    return f"--{_class(state)}"


def number(points: float) -> str:
    """Points without digits that say nothing.

    >>> number(2.0), number(0.75)
    ('2', '0.75')
    """
    return f"{points:.2f}".rstrip("0").rstrip(".")
