"""Exercises and ``Because ...`` boxes as a notebook shows them."""

from __future__ import annotations

import html
from collections.abc import Callable, Mapping
from typing import Any

from minigrad import errors
from minigrad.course.check import Exercise, answers_of, with_code
from minigrad.course.exercises import catalogue as exercises
from minigrad.course.exercises import flat
from minigrad.course.notebook import checking, journal
from minigrad.views import forms


class Sheet:
    """Something to be answered: a form where widgets work, else plain text."""

    def __init__(self, plain: str, form: Callable[[], Any] | None) -> None:
        self._plain, self._form = plain, form

    def __repr__(self) -> str:
        return self._plain

    def _repr_mimebundle_(self, **_: Any) -> dict[str, Any]:
        if self._form is None:
            head, *paragraphs = self._plain.split("\n\n")
            text = "".join(f"<p>{with_code(flat(part))}</p>" for part in paragraphs)
            page = f"<b>{html.escape(head)}</b>{text}"
            page = f"<div style='max-width: 37em'>{page}</div>"
            return {"text/plain": self._plain, "text/html": page}
        if checking.is_without_a_person():
            return {"text/plain": self._plain}  # a page of it needs no network then
        return forms.bundle_of(self._form(), self._plain)


def exercise(exercise_id: str) -> Sheet:
    """The exercise with this id; questions and lines to be ordered as a form."""
    asked = exercises.load(exercise_id)
    if asked.lines:
        return Sheet(plain_text(asked), lambda: order_form(asked))
    if asked.questions:
        return Sheet(plain_text(asked), lambda: question_form(asked))
    return Sheet(plain_text(asked), None)


def plain_text(asked: Exercise) -> str:
    """The whole exercise as text, with the words that answer it."""
    extra = "extra: " if asked.is_extra else ""
    lines = [f"{asked.heading} ({extra}about {asked.minutes} minutes)"]
    lines += ["", asked.statement]
    for question in asked.questions:
        lines += ["", f"{question.id}. {question.text}"]
        lines += [f"   {line}" for line in question.program.splitlines()]
        lines += [
            f"   {a}: {c}" for a, c in zip("abcdefgh", question.choices, strict=False)
        ]
    if asked.lines:
        lines += ["", *[f"{line.id:>3}  {line.text}" for line in asked.lines]]
        lines += ["", f'answer with: check("{asked.id}", ["...", "..."])']
    elif asked.questions:
        keys = ", ".join([f'"{question.id}": "..."' for question in asked.questions])
        lines += ["", f'answer with: check("{asked.id}", {{{keys}}})']
    return "\n".join(lines)


def last_answer(exercise_id: str) -> Any:
    """What was committed last; None before the first time."""
    kept = journal.entries(exercise_id, journal.ANSWERED)
    return kept[-1]["answer"] if kept else None


def question_form(asked: Exercise) -> Any:
    """The questions as a form that comes back with what was answered.

    A prediction is made once; what is investigated may be answered again.
    """
    questions = [
        {"id": q.id, "text": q.text, "program": q.program, "choices": q.choices}
        for q in asked.questions
    ]
    kept = last_answer(asked.id)
    if not is_usable(asked, kept):
        kept = {}
    return forms.question_form(
        questions,
        lambda said: verdict_on(asked, said),
        title=asked.heading,
        text=exercises.flat(asked.statement),
        kept=kept,
        outcome=shown(asked, kept),
        locks=asked.kind == "P",
    )


def is_usable(asked: Exercise, kept: Any) -> bool:
    """Whether a kept answer still fits the questions, which an update may change."""
    if not isinstance(kept, Mapping):
        return False
    try:
        answers_of(asked, kept)
    except errors.ArgumentValueError:
        return False
    return True


def order_form(asked: Exercise) -> Any:
    """The lines as a form that comes back with the order that was committed."""
    kept = last_answer(asked.id)
    kept = kept if isinstance(kept, list) else []
    return forms.form(
        lambda said: verdict_on(asked, said),
        shown(asked, kept),
        kind="order",
        title=asked.heading,
        text=exercises.flat(asked.statement),
        lines=[{"id": line.id, "text": line.text} for line in asked.lines],
        kept=kept,
        about="Run your program and see",
    )


def verdict_on(asked: Exercise, answer: Any) -> str:
    """What is said to an answer that was just committed, as HTML; both are kept."""
    return checking.judged(asked.id, answer)._repr_html_()


def shown(asked: Exercise, kept: Any) -> str:
    """What was said to an answer that is there already; nothing is kept anew."""
    return checking.examine(asked.id, kept)._repr_html_() if kept else ""


def because(label: str, prompt: str, text: str = "") -> Sheet:
    """A box for an explanation in one's own words; kept, never graded.

    ``text`` keeps one without the form.
    """
    if text:
        journal.note(journal.BECAUSE, label, prompt=prompt, text=text)

    def form() -> Any:
        kept = journal.entries(label, journal.BECAUSE)

        def keep(said: str) -> str:
            journal.note(journal.BECAUSE, label, prompt=prompt, text=said)
            return "<div>Kept. It comes back in course.review().</div>"

        return forms.form(
            keep,
            kind="because",
            text=prompt,
            kept=kept[-1]["text"] if kept else "",
            press="Keep",
            about="Keep these words; they come back in the review",
        )

    return Sheet(f"{prompt}\n  Because ...", form)
