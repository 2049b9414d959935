"""08.6: a version counter on toy tensors, tried on twelve histories and some more."""

from __future__ import annotations

from typing import Any

import numpy as np

from minigrad.course.check import (
    Array,
    Crash,
    Finding,
    pass_on_todo,
    submission,
    thrown,
)
from minigrad.course.check.probes import histories, seen
from minigrad.course.check.probes.histories import Ending
from minigrad.course.exercises.toy_histories import History, drawn

ANSWER = "Toy, Saved"
NAMES = ("Toy", "Saved")


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
        added=1.0,
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


DRAWN = 24
"""So many more are made up; it may be known how the told ones end."""


def look_at(answer: Any, random: np.random.Generator) -> list[Finding]:
    """Run the histories; the first that ends wrong, and what all of them look like."""
    answers, missing = submission.one_for_each(NAMES, answer, "08.6")
    if missing:
        return missing
    for given, name in zip(answers, NAMES, strict=True):
        if not isinstance(given, type):
            what = f"check was given {given!r:.60}, not the class {name}"
            hint = f"Hand over the class itself: {name}, no brackets."
            return [Finding((), what, "the call of check", hint=hint)]
    start = tuple(random.uniform(1, 3, 2).round(1).tolist())
    more = [drawn(random, start, number % 2 == 0) for number in range(DRAWN)]
    told = [*HISTORIES, *more]
    begin = f"t = Toy({list(start)})"
    lines = [(begin, *history.lines.split("; ")) for history in told]
    endings = seen(histories.tell, tuple(answers), ((begin, "t.view() is t"), *lines))
    view, *endings = endings
    if view.crash is not None:
        return [broken(view.crash)]
    if view.shown == "True":
        what = "view() returned the toy itself; another toy on its list is asked for"
        hint = "Two names for one toy are no view. What do the two toys share?"
        return [Finding((), what, "Toy.view", hint=hint)]
    found = [
        end_of(history, ending, start)
        for history, ending in zip(told, endings, strict=True)
    ]
    wrong = [number for number, end in enumerate(found, start=1) if end]
    return [ends_wrong(wrong, found, told, begin)] if wrong else []


def ends_wrong(
    wrong: list[int], found: list[str], told: list[History], begin: str
) -> Finding:
    """The first history that ends wrong, counted from 1, and what all look like."""
    first, end = told[wrong[0] - 1], found[wrong[0] - 1]
    count = len(HISTORIES)
    where = f"history {wrong[0]} of {count}, {first.story}"
    looks_like, hint = story_of(frozenset([n for n in wrong if n <= count]))
    if wrong[0] > count:
        where = first.story
        looks_like = f"The {count} histories end right, and a longer one does not."
    if RETURNS in end:
        looks_like = "The change is noticed, and nobody is stopped by it."
        hint = "Who reads what unpack returns? Which statement stops them?"
    if " raises " in end and "raises RuntimeError" not in end:
        looks_like, hint = "", "Run this history line by line. What is asked for?"
    what = f"{end}, in: {begin}; {first.lines}"
    return Finding((), what, where, looks_like=looks_like, hint=hint)


def broken(crash: Crash) -> Finding:
    """Not even a toy and its view can be made."""
    pass_on_todo(crash)
    where = f"Toy, line {crash.number}: {crash.line}" if crash.inside else "Toy"
    hint = "Read the last line of the exception, then print what it names."
    return Finding((), thrown(crash), where, hint=hint, crashed=True)


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


def end_of(history: History, ending: Ending, start: tuple[float, ...]) -> str:
    """How a history ends, if that is not as it should; else an empty string."""
    lines = history.lines.split("; ")
    last, crash = lines[-1], ending.crash
    pass_on_todo(crash)
    if crash is not None:
        # The first line of all makes the toy.
        at = min(ending.ran - 1, len(lines) - 1)
        stopped = history.raises and at == len(lines) - 1
        if stopped and "RuntimeError" in crash.kinds:
            return ""
        end = f"{lines[at]} raises {in_words(crash)}"
        return f"{end}, no RuntimeError" if stopped else end
    if history.raises and not ending.is_toy:
        return f"{last} {RETURNS} {ending.shown}; a RuntimeError is due"
    if history.raises:
        return "nothing is raised where a RuntimeError is due"
    if not ending.is_toy:
        return f"{last} returns {ending.shown}, not the toy that was saved"
    wanted = np.array(history.values or start) + history.added
    if ending.values is not None and not same(ending.values, wanted):
        has = f"{last} returns a toy with {ending.values.tolist()}"
        return f"{has}; the one that was saved has {wanted.tolist()}"
    return ""


def same(values: Array, wanted: Array) -> bool:
    """Whether these are the numbers of the toy that was saved."""
    return values.shape == wanted.shape and np.allclose(values, wanted)


def in_words(crash: Crash) -> str:
    """Kind and text of an exception."""
    return thrown(crash).removesuffix(": ")
