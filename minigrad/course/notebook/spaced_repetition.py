"""Recall: questions that come back, first of all those that were missed."""

from __future__ import annotations

import html
import json
import random
import tomllib
from collections import Counter
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from typing import Any

from minigrad import _workspace, errors
from minigrad.course.check import CRASHED, SOLVED, WRONG, Outcome, Question, Verdict
from minigrad.course.exercises import flat
from minigrad.course.notebook import journal, paths
from minigrad.course.notebook.links import link
from minigrad.course.notebook.widgets import Sheet
from minigrad.views import forms

ASKED_AT_ONCE = 3
IN_A_REVIEW = 6


@dataclass(frozen=True)
class Card:
    """A recall question; ``after`` is the exercise that teaches its answer."""

    question: Question
    answer: str
    after: str

    @property
    def lesson(self) -> str:
        """The lesson that it comes from."""
        return self.question.id.split(".")[0]


def cards() -> list[Card]:
    """All recall cards, in the order of the lessons."""
    folder = resources.files("minigrad.course.notebook.recall_cards")
    names = sorted([f.name for f in folder.iterdir() if f.name.endswith(".toml")])
    return [
        card_of(f"{name.removesuffix('.toml')}.r{place}", table)
        for name in names
        for place, table in enumerate(
            tomllib.loads((folder / name).read_text("utf8"))["cards"], 1
        )
    ]


def card_of(id: str, table: dict[str, Any]) -> Card:
    """A card as its file states it."""
    question = Question(
        id=id,
        text=flat(table["text"]),
        choices=tuple(table["choices"]),
        wrong={},
        why=flat(table["why"]),
        hint="",
    )
    return Card(question, table["answer"], table["after"])


def chosen(before: str, number: int) -> list[Card]:
    """Cards of the lessons before ``before`` on the chosen path, most missed first.

    Of all lessons before it, where none of them is on the path.

    A miss is a wrong answer to the card itself, or a check of its exercise that was
    not passed at once; a right answer to the card takes one miss back.
    """
    misses: Counter[str] = Counter()
    for entry in journal.entries(kind=journal.ANSWERED):
        if "right" in entry:
            misses[entry["exercise"]] += -1 if entry["right"] else 2
    wrong = Counter(
        [
            entry["exercise"]
            for entry in journal.entries(kind=journal.CHECKED)
            if entry.get("state") in (WRONG, CRASHED) or entry.get("missed")
        ]
    )
    earlier = [card for card in cards() if card.lesson < before]
    path = paths.chosen()
    pool = [card for card in earlier if path.leads_to(card.after)] or earlier
    # The order of equals changes from day to day, and stays within one.
    random.Random(journal.now()[:10]).shuffle(pool)
    pool.sort(key=lambda c: -(misses[c.question.id] + wrong[c.after]))
    return pool[:number]


def recall(lesson: str) -> Sheet:
    """Three questions from the lessons before ``lesson``, chosen by what was missed.

    Raises: ArgumentValueError if no lesson comes before it.
    """
    asked = chosen(lesson, ASKED_AT_ONCE)
    if not asked:
        raise errors.ArgumentValueError.at(
            f"recall({lesson!r})",
            "no lesson before it has recall cards",
            'give the number of a lesson from "01" on',
        )
    return sheet_of("Before you begin", asked)


def sheet_of(title: str, asked: list[Card]) -> Sheet:
    """Cards as a form; each answer is kept, with whether it was right."""
    lines = [title]
    for card in asked:
        letters = zip("abcdefgh", card.question.choices, strict=False)
        lines += ["", f"{card.question.id}  {card.question.text}"]
        lines += [f"   {letter}: {choice}" for letter, choice in letters]

    def form() -> Any:
        def commit(answers: dict[str, str]) -> str:
            return judged(title, asked, answers)._repr_html_()

        questions = [
            {
                "id": card.question.id,
                "text": card.question.text,
                "choices": card.question.choices,
            }
            for card in asked
        ]
        return forms.question_form(questions, commit, title=title)

    return Sheet("\n".join(lines), form)


def judged(title: str, asked: list[Card], answers: dict[str, str]) -> Verdict:
    """The outcome of a few cards; each answer goes into the journal."""
    outcomes = [
        Outcome(card.question, answers[card.question.id], card.answer) for card in asked
    ]
    for outcome in outcomes:
        journal.note(
            journal.ANSWERED,
            outcome.question.id,
            answer=outcome.said,
            right=outcome.right,
        )
    right = len([outcome for outcome in outcomes if outcome.right])
    note = f"{right} of {len(outcomes)} remembered. What you missed comes back."
    return Verdict("recall", title, SOLVED, note=note, outcomes=tuple(outcomes))


@dataclass(frozen=True)
class Review:
    """A notebook that has been written: a link that opens it."""

    path: Path

    def __repr__(self) -> str:
        return f"Your review: {self.path.name}"

    def _repr_html_(self) -> str:
        name = self.path.name
        return f"<p>Your review: {link(html.escape(name), name)}</p>"


def review() -> Review:
    """Write a ten-minute notebook: what was missed, and your own ``Because ...``.

    It's in the workspace, under the day's date; one that's already there stays.
    Raises: ArgumentValueError outside a workspace.
    """
    workspace = _workspace.around(Path.cwd())
    if workspace is None:
        raise errors.ArgumentValueError.at(
            "review",
            f"{Path.cwd()} is in no workspace, so nothing is known of what you did",
            "open the course with: python3 minigrad lab",
        )
    path = workspace / f"review {journal.now()[:10]}.ipynb"
    if path.exists():
        path = _workspace.free_name(path, "again")
    _workspace.write_whole(review_notebook(), path)
    return Review(path)


def review_notebook() -> bytes:
    """The review as a file."""
    asked = [card.question.id for card in chosen(after_what_was_begun(), IN_A_REVIEW)]
    cells = [
        markdown(
            "# Review\n\nTen minutes: questions, what you missed first; your words."
        ),
        code(f"from minigrad import course\n\ncourse.cards({asked})"),
    ]
    kept = {entry["exercise"]: entry for entry in journal.entries(kind=journal.BECAUSE)}
    if kept:
        cells.append(markdown("## What you wrote\n\nWould you still say it like that?"))
    for label, entry in kept.items():
        quoted = "\n".join([f"> {line}" for line in entry["text"].splitlines()])
        cells.append(markdown(f"**{label}** {entry['prompt']}\n\n{quoted}"))
    cells += [markdown("## Where you stand"), code("course.progress()")]
    for number, cell in enumerate(cells):
        cell["id"] = f"review-{number}"
    return text_of(cells)


def after_what_was_begun() -> str:
    """The number after the last lesson of which anything is kept; "01" at the least.

    What a learner has not met yet is not asked for.
    """
    begun = [entry["exercise"].split(".")[0] for entry in journal.entries()]
    last = max([int(lesson) for lesson in begun if lesson.isdecimal()], default=0)
    return f"{last + 1:02d}"


def text_of(cells: list[dict[str, Any]]) -> bytes:
    """A notebook of these cells, as a file."""
    kernel = {"display_name": "Python 3", "language": "python", "name": "python3"}
    about = {"metadata": {"kernelspec": kernel}, "nbformat": 4, "nbformat_minor": 5}
    text = json.dumps({"cells": cells} | about, indent=1, ensure_ascii=False)
    return f"{text}\n".encode()


def markdown(text: str) -> dict[str, Any]:
    """A cell of text."""
    return {"cell_type": "markdown", "metadata": {}, "source": text}


def code(text: str) -> dict[str, Any]:
    """A cell to be run."""
    return {
        "cell_type": "code",
        "metadata": {},
        "source": text,
        "execution_count": None,
        "outputs": [],
    }


def ask(ids: list[str]) -> Sheet:
    """The recall cards with these ids.

    Raises: ArgumentValueError for an id that no card has.
    """
    known = {card.question.id: card for card in cards()}
    for name in ids:
        if name not in known:
            raise errors.ArgumentValueError.at(
                "cards", f"there's no card {name!r}", f"use {', '.join(known)}"
            )
    return sheet_of("Do you remember?", [known[name] for name in ids])
