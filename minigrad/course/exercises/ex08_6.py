"""08.6: a version counter on toy tensors, tried on twelve scripted histories."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from minigrad.course import handed
from minigrad.course.casefile import says_todo
from minigrad.course.findings import Finding

ANSWER = "Toy, Saved"
NAMES = ("Toy", "Saved")


@dataclass(frozen=True)
class History:
    """Lines that are run after ``t = Toy([...])``; does the last one raise?"""

    story: str
    lines: str
    raises: bool


HISTORIES = (
    History(
        "nobody changes anything, and it is read twice",
        "saved = Saved(t); saved.unpack(); saved.unpack()",
        False,
    ),
    History(
        "changed after it was saved",
        "saved = Saved(t); t.add_(1); saved.unpack()",
        True,
    ),
    History(
        "changed before it was saved",
        "t.add_(1); saved = Saved(t); saved.unpack()",
        False,
    ),
    History(
        "changed, and changed back",
        "saved = Saved(t); t.add_(1); t.add_(-1); saved.unpack()",
        True,
    ),
    History("0 is added", "saved = Saved(t); t.add_(0); saved.unpack()", True),
    History(
        "changed before and after",
        "t.add_(1); saved = Saved(t); t.add_(1); saved.unpack()",
        True,
    ),
    History(
        "a view is changed",
        "v = t.view(); saved = Saved(t); v.add_(1); saved.unpack()",
        True,
    ),
    History(
        "a view is saved",
        "saved = Saved(t.view()); t.add_(1); saved.unpack()",
        True,
    ),
    History(
        "a view of a view, made later",
        "saved = Saved(t); t.view().view().add_(1); saved.unpack()",
        True,
    ),
    History(
        "a clone is changed",
        "saved = Saved(t); t.clone().add_(1); saved.unpack()",
        False,
    ),
    History(
        "another toy is changed",
        "u = Toy([5.0]); saved = Saved(t); u.add_(1); saved.unpack()",
        False,
    ),
    History(
        "saved twice, changed in between",
        "saved = Saved(t); t.add_(1); later = Saved(t); later.unpack(); saved.unpack()",
        True,
    ),
)

RETURNS = "tells of a change by returning"

STORIES: tuple[tuple[frozenset[int], str, str], ...] = (
    (
        frozenset(range(1, 13)),
        "It complains where nothing was changed, and only there.",
        "Read the comparison in unpack aloud. When is it true?",
    ),
    (
        frozenset({1, 3, 10, 11, 12}),
        "It complains whatever has happened.",
        "Print both sides of the comparison, right after it was saved.",
    ),
    (
        frozenset({1, 3, 10, 11}),
        "The toy does not come back.",
        "What does unpack give when all is well?",
    ),
    (
        frozenset({2, 4, 5, 6, 7, 8, 9, 12}),
        "It never complains: a change is not counted, what is compared is one thing on "
        "both sides, or a difference is found and nothing raised.",
        "What is kept when it is saved: a number, or something that goes on changing? "
        "And which statement stops backward?",
    ),
    (
        frozenset({4, 5}),
        "What counts is what the numbers are, or what was added to them in all, and "
        "not how often they were changed.",
        "Which numbers does backward find after these two changes? Can it know that "
        "somebody has written there?",
    ),
    (
        frozenset({5}),
        "Only what makes a difference is counted.",
        "How would add_ know it? And how long would it take to find out?",
    ),
    (
        frozenset({6}),
        "A flag says that there was a change; a count says how many.",
        "What does the flag say when it is saved, and what after the second change?",
    ),
    (
        frozenset({7, 8, 9}),
        "A view has a count of its own, or a copy of the number.",
        "Two names for one list, two numbers. What can both hold, so that one number "
        "changes for both?",
    ),
    (
        frozenset({9}),
        "A view of a view has lost the count.",
        "What does view hand on when it is called on a view?",
    ),
    (
        frozenset({11}),
        "All toys count together: the count is on the class.",
        "How many counts are there when two toys are made?",
    ),
    (
        frozenset({10}),
        "A clone shares the count, though it has a list of its own.",
        "Whose numbers change when the clone is changed?",
    ),
    (
        frozenset({10, 11}),
        "All toys count together: the count is on the class, or in one object.",
        "How many counts are there when two toys are made?",
    ),
    (
        frozenset({12}),
        "What was noted is kept on the toy: saving again overwrites it.",
        "Two nodes save one tensor. How many versions have to be noted?",
    ),
    (
        frozenset({3, 12}),
        "It expects version 0, whatever the version was when it was saved.",
        "Which version does a tensor have that was changed before it is saved?",
    ),
    (
        frozenset({3}),
        "It expects version 0, whatever the version was when it was saved.",
        "Which version does a tensor have that was changed before it is saved?",
    ),
)
"""What it looks like when just these histories, counted from 1, end wrong."""


def look_at(answer: Any, random: np.random.Generator) -> list[Finding]:
    """Run the histories; the first that ends wrong, and what all of them look like."""
    answers, missing = handed.one_for_each(NAMES, answer, "08.6")
    if missing:
        return missing
    for given, name in zip(answers, NAMES, strict=True):
        if not isinstance(given, type):
            what = f"check was given {given!r:.60}, not the class {name}"
            hint = f"Hand over the class itself: {name}, no brackets."
            return [Finding((), what, "the call of check", hint=hint)]
    toy = answers[0]([1.0])
    if toy.view() is toy:
        what = "view() returned the toy itself; another toy on its list is asked for"
        hint = "Two names for one toy are no view. What do the two toys share?"
        return [Finding((), what, "Toy.view", hint=hint)]
    start = [float(value) for value in random.uniform(1, 3, 2).round(1)]
    found = [end_of(answers, history, start) for history in HISTORIES]
    wrong = [number for number, end in enumerate(found, start=1) if end]
    if not wrong:
        return []
    first = HISTORIES[wrong[0] - 1]
    end = found[wrong[0] - 1]
    looks_like, hint = story_of(frozenset(wrong))
    if RETURNS in end:
        looks_like = "The change is noticed, and nobody is stopped by it."
        hint = "Who reads what unpack returns? Which statement stops them?"
    if " raises " in end and "raises RuntimeError" not in end:
        looks_like, hint = "", "Run this history line by line. What is asked for?"
    return [
        Finding(
            (),
            f"{end}, in: t = Toy({start}); {first.lines}",
            f"history {wrong[0]} of {len(HISTORIES)}, {first.story}",
            looks_like=looks_like,
            hint=hint,
        )
    ]


def story_of(wrong: frozenset[int]) -> tuple[str, str]:
    """What it looks like if these end wrong, and a question about it."""
    for numbers, looks_like, hint in STORIES:
        if numbers == wrong:
            return looks_like, hint
    count = len(wrong)
    return (
        f"{count} of the {len(HISTORIES)} histories end wrong." if count > 1 else "",
        "Write down the version after each line of this history. What is compared?",
    )


def end_of(answers: Sequence[Any], history: History, start: list[float]) -> str:
    """How a history ends, if that is not as it should; else an empty string."""
    toy, saved = answers
    names: dict[str, Any] = {"Toy": toy, "Saved": saved, "t": toy(list(start))}
    *before, last = history.lines.split("; ")
    for line in before:
        error = error_of(line, names)
        if error is not None:
            return f"{line} raises {in_words(error)}"
    error = error_of(f"result = {last}", names)
    if history.raises:
        if error is None and not isinstance(names["result"], toy):
            return f"{last} {RETURNS} {names['result']!r:.40}; a RuntimeError is due"
        if error is None:
            return "nothing is raised where a RuntimeError is due"
        asked = isinstance(error, RuntimeError)
        return "" if asked else f"{last} raises {in_words(error)}, no RuntimeError"
    if error is not None:
        return f"{last} raises {in_words(error)}"
    if not isinstance(names["result"], toy):
        return f"{last} returns {names['result']!r:.40}, not the toy that was saved"
    return ""


def error_of(line: str, names: dict[str, Any]) -> Exception | None:
    """The exception of a line; what is still to do stops the check."""
    try:
        exec(line, names)
    except Exception as error:
        if says_todo(error):
            raise
        return error
    return None


def in_words(error: Exception) -> str:
    """Kind and text of an exception."""
    return f"{type(error).__name__}: {error}".removesuffix(": ")
