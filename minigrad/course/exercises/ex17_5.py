"""17.5: a Function of one's own, with the ten questions answered before the check."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from minigrad.course.check import Crash, Faults, Finding, ten_questions
from minigrad.course.check.probes import tried
from minigrad.course.check.probes.reviews import Reviewed, reviewed
from minigrad.course.exercises.messages import Messages

say = Messages(__name__)

WORDS = ("yes", "no", "-")
ALWAYS = (1, 2, 3, 5)
"""Questions that apply to every Function."""


def look_at(answer: Any, random: np.random.Generator) -> Faults:
    """The review first: without it only the inputs are made."""
    mine, example, review = answer
    example()  # as shipped, it says that there's something to do
    is_list = isinstance(review, (list, tuple))
    said = [str(each).lower() for each in review] if is_list else []
    if len(said) != len(ten_questions.questions()):
        yield say("review.unread", said=review)
    for number, word in enumerate(said, 1):
        if word not in WORDS:
            yield say("review.open", number=number, word=word, text=text_of(number))
        if word == "-" and number in ALWAYS:
            yield say("review.applies", number=number, text=text_of(number))
    found = tried(reviewed, (mine, example))
    if isinstance(found, Crash):
        yield say.of_crash("crashed", found, error=found.text.splitlines()[0])
        return
    yield from in_the_runs(found, said)
    for number, word in enumerate(said, 1):
        if word == "no":
            yield say("review.no", number=number, text=text_of(number))


def in_the_runs(found: Reviewed, said: Sequence[str]) -> Iterator[Finding]:
    """A no of the ten, beside what the review says; then the three checks."""
    rows = zip(found.says, found.because, found.mistakes, said, strict=True)
    for number, (says, because, mistakes, word) in enumerate(rows, 1):
        if says == ten_questions.NO:
            key = "no.unseen" if word == "yes" else "no.known"
            about = {"number": number, "text": text_of(number), "because": because}
            yield replace(say(key, **about), ids=mistakes)
    if found.gradcheck:
        yield say("gradcheck", error=found.gradcheck, mine="gradcheck")
    if found.gradgradcheck and not found.refused:
        yield say("gradcheck.twice", error=found.gradgradcheck, mine="gradgradcheck")
    if found.lint:
        yield say("lint", warning=found.lint)


def text_of(number: int) -> str:
    """A question by its number."""
    return ten_questions.questions()[number - 1].question
