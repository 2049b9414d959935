"""Check an answer in the learner's own notebook, and give hints."""

from __future__ import annotations

import importlib
import importlib.util
import re
import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import takewhile
from typing import Any

from minigrad.course.check import (
    NO_ANSWER,
    SECONDS,
    SOLVED,
    CheckFailed,
    Verdict,
    examination,
)
from minigrad.course.exercises import catalogue as exercises
from minigrad.course.notebook import journal, replay
from minigrad.views import forms


def examine(
    exercise_id: str,
    answer: object = NO_ANSWER,
    *,
    seed: int = 0,
    seconds: float = SECONDS,
) -> Verdict:
    """Judge ``answer`` on cases drawn from ``seed``; shows, keeps and raises nothing.

    ``answer`` is a class or function, or, for questions, what was said to each; without
    one the exercise is not tried. One that still runs after ``seconds`` is stopped.
    """
    exercise = exercises.load(exercise_id)
    return examination.examine(exercise, answer, seed=seed, seconds=seconds)


def check(
    exercise_id: str, answer: object = NO_ANSWER, *, strict: bool | None = None
) -> Verdict:
    """Check your answer on new numbers; show the verdict, keep it, and return it.

    Without ``answer``: what was committed in the form of ``exercise(...)``.
    Raises: CheckFailed unless the exercise is solved, if ``strict``; by default where
    a notebook is executed without a person (nbclient, nbconvert, nbgrader).
    """
    verdict = judged(exercise_id, answer)
    replay.remember(verdict, answer)
    strict = is_without_a_person() if strict is None else strict
    shown = _show(verdict, answer, strict)
    if strict and verdict.state != SOLVED:
        raise CheckFailed(verdict, shown is not None)
    return verdict if shown is None else shown


def is_without_a_person() -> bool:
    """Whether what executes this notebook has nobody who could answer ``input()``.

    Every frontend says so with each cell (``allow_stdin`` of Jupyter's protocol): those
    that execute a notebook from top to bottom by themselves say no.
    """
    kernel = getattr(forms.shell(), "kernel", None)
    if kernel is None:
        return False
    content = kernel.get_parent().get("content", {})
    return content.get("allow_stdin") is False


def judged(exercise_id: str, answer: object = NO_ANSWER) -> Verdict:
    """The verdict on ``answer``, written into the journal."""
    exercise = exercises.load(exercise_id)
    asks = bool(exercise.questions or exercise.lines)
    if answer is NO_ANSWER and asks:
        kept = journal.entries(exercise.id, journal.ANSWERED)
        answer = kept[-1]["answer"] if kept else NO_ANSWER
    elif asks:
        journal.note(journal.ANSWERED, exercise.id, answer=as_kept(answer))
    verdict = examine(exercise.id, answer, seed=secrets.randbelow(10**6))
    before = journal.entries(exercise.id, journal.CHECKED)
    journal.note(
        journal.CHECKED,
        exercise.id,
        state=verdict.state,
        mistakes=list(verdict.mistakes),
        told=verdict.told,
        remarks=[remark.id for remark in verdict.remarks if remark.id],
        diagnosis=verdict.diagnosis,
        seed=verdict.seed,
        missed=[o.question.id for o in verdict.outcomes if not o.right],
    )
    return come_back(verdict, times_in_a_row(verdict, before), exercise.half_step)


STUBBORN = 3
"""How often the same mistake has to be found in a row for half a step to be shown."""


def times_in_a_row(verdict: Verdict, before: Sequence[Mapping[str, Any]]) -> int:
    """How often this diagnosis was made without another in between, this time too."""
    made = [entry.get("diagnosis") == verdict.diagnosis for entry in before]
    return 1 + sum(takewhile(bool, made[::-1])) if verdict.diagnosis else 1


def come_back(verdict: Verdict, times: int, half_step: str) -> Verdict:
    """Say less when the same mistake comes back: one question, then half a step."""
    if times == 1:
        return verdict
    first, *others = verdict.findings
    question = one_question(first.next_step, times - 2)
    return replace(
        verdict,
        findings=(first.with_hint(question), *others),
        half_step=half_step if times >= STUBBORN else "",
    )


def one_question(text: str, turn: int) -> str:
    """One question of a hint, the next one each turn; its first sentence without any.

    >>> one_question("Take x = 10. Does y grow? By how much?", 1)
    'By how much?'
    """
    sentences = re.split(r"(?<=[.?!])\s+(?=[A-Z])", " ".join(text.split()))
    asked = [sentence for sentence in sentences if sentence.endswith("?")]
    return asked[turn % len(asked)] if asked else sentences[0]


def as_kept(answer: object) -> object:
    """An answer to questions, or an order of lines, as JSON can keep it."""
    if isinstance(answer, Mapping):
        return {str(key): str(value) for key, value in answer.items()}
    if isinstance(answer, Sequence) and not isinstance(answer, str):
        return [str(value) for value in answer]
    return str(answer)


@dataclass(frozen=True, repr=False)
class ShownVerdict(Verdict):
    """A verdict that is on the screen: as a cell's last value it's not shown again."""

    cell: int = 0

    def _ipython_display_(self) -> None:
        if forms.shell().execution_count != self.cell:
            _display(self)


def _display(verdict: Verdict) -> None:
    show = importlib.import_module("IPython.display").display
    shown = {"text/plain": repr(verdict), "text/html": verdict._repr_html_()}
    show(shown, raw=True)


def _show(verdict: Verdict, answer: object, strict: bool) -> ShownVerdict | None:
    """Display the verdict; under IPython as HTML, elsewhere as text."""
    shell = forms.shell()
    if shell is None:
        if not strict or verdict.state == SOLVED:
            print(verdict)
        return None
    _display(verdict)
    if verdict.case is not None and importlib.util.find_spec("anywidget"):
        forms.display(
            forms.button(
                "Step through this case",
                "The player on your own code, with the right values below it",
                lambda: replay.replay_of(verdict, answer),
            )
        )
    return ShownVerdict(**vars(verdict), cell=shell.execution_count)


@dataclass(frozen=True)
class Hint:
    """A hint, or the reason why there is none yet."""

    text: str

    def __str__(self) -> str:
        return self.text

    __repr__ = __str__

    def _repr_markdown_(self) -> str:
        return self.text


def hint(exercise_id: str) -> Hint:
    """The next hint, more direct than the last one; try and check in between."""
    exercise = exercises.load(exercise_id)
    if not exercise.hints:
        return Hint("This exercise needs no hint: any answer counts.")
    kinds = [entry["kind"] for entry in journal.entries(exercise.id)]
    given = kinds.count(journal.HINTED)
    if given >= len(exercise.hints):
        return Hint(f"{exercise.hints[-1]} (There's no more direct hint.)")
    if given and journal.CHECKED not in kinds[last_of(kinds, journal.HINTED) :]:
        last = exercise.hints[given - 1]
        return Hint(f"{last} (For the next hint, try something and check it first.)")
    journal.note(journal.HINTED, exercise.id, number=given + 1)
    return Hint(exercise.hints[given])


def last_of(kinds: list[str], kind: str) -> int:
    """The place of the last one of its kind."""
    return len(kinds) - 1 - kinds[::-1].index(kind)
