"""Check an answer in the learner's own notebook, and give hints."""

from __future__ import annotations

import importlib
import secrets
import sys
from dataclasses import dataclass

import numpy as np

import minigrad
from minigrad.course import exercise as exercises
from minigrad.course.casefile import is_todo
from minigrad.course.findings import Finding
from minigrad.course.judge import judge
from minigrad.course.limits import Deadline, silence
from minigrad.course.probes import StoppedError, observe
from minigrad.course.verdict import (
    CRASHED,
    NOT_TRIED,
    SOLVED,
    WRONG,
    CheckFailed,
    Verdict,
)

SECONDS = 5.0


def examine(
    exercise_id: str, answer: object, *, seed: int = 0, seconds: float = SECONDS
) -> Verdict:
    """Judge ``answer`` on cases drawn from ``seed``; shows and raises nothing.

    What the answer prints or warns of meanwhile is dropped. One that still runs after
    ``seconds`` is stopped, except inside one long call into compiled code, or if it
    catches BaseException over and over.
    """
    exercise = exercises.load(exercise_id)

    def verdict(
        state: str,
        findings: tuple[Finding, ...] = (),
        remarks: tuple[Finding, ...] = (),
        note: str = "",
    ) -> Verdict:
        points = exercise.points if state == SOLVED else 0
        return Verdict(
            exercise.id, exercise.title, state, findings, remarks, points, note, seed
        )

    unusable = _unusable(answer, exercise.answer)
    if unusable:
        return verdict(WRONG, (unusable,))
    assert isinstance(answer, type)
    cases = exercise.cases(np.random.default_rng(seed))
    deadline = Deadline(seconds)
    try:
        with silence(), minigrad.enable_grad(), deadline.running():
            facts = [observe(answer, case, deadline) for case in cases]
    except StoppedError as stopped:
        return verdict(CRASHED, (_never_ends(answer.__name__, stopped, seconds),))
    first = facts[0].trials[0].crash
    if first is not None and is_todo(first):
        return verdict(NOT_TRIED, note=f"forward still raises its {first.text!r}")
    judgement = judge(facts, exercise)
    if not judgement.findings:
        return verdict(SOLVED, remarks=judgement.remarks)
    crashed = any(finding.crashed for finding in judgement.findings)
    return verdict(CRASHED if crashed else WRONG, judgement.findings)


def _unusable(answer: object, name: str) -> Finding | None:
    """Why this is no answer at all, or None."""
    function = minigrad.autograd.Function
    if isinstance(answer, type) and issubclass(answer, function):
        return None
    if isinstance(answer, type):
        what = f"{answer.__name__} is a class, but not a Function"
        hint = f"Begin it with 'class {name}(mg.autograd.Function):'."
    else:
        what = f"check was given a {type(answer).__name__}, not a class"
        hint = f"Hand over the class itself: its name {name}, nothing after it."
    return Finding((), what, "the call of check", hint=hint)


def _never_ends(name: str, stopped: StoppedError, seconds: float) -> Finding:
    what = (
        f"for {stopped.case}, {stopped.phase} was still running when the"
        f" {seconds:g} seconds of this check were over"
    )
    hint = "Look for a loop that never ends, or a wait (sleep, input)."
    return Finding((), what, f"{name}.{stopped.phase}", hint=hint, crashed=True)


def check(exercise_id: str, answer: object) -> None:
    """Check your answer on new numbers and show what was found.

    Raises: CheckFailed unless the exercise is solved, so that a notebook stops there.
    """
    verdict = examine(exercise_id, answer, seed=_new_seed())
    _checked.add(verdict.exercise)
    shown = _show(verdict)
    if verdict.state != SOLVED:
        raise CheckFailed(verdict, shown)


def _new_seed() -> int:
    return secrets.randbelow(10**6)


def _show(verdict: Verdict) -> bool:
    """Display the verdict; under IPython as HTML, elsewhere as text."""
    if not _in_ipython():
        if verdict.state == SOLVED:
            print(verdict)
        return False
    importlib.import_module("IPython.display").display(verdict)
    return True


def _in_ipython() -> bool:
    """Whether an IPython session runs; never imports IPython."""
    module = sys.modules.get("IPython")
    return module is not None and module.get_ipython() is not None


@dataclass(frozen=True)
class Hint:
    """A hint, or the reason why there is none yet."""

    text: str

    def __str__(self) -> str:
        return self.text

    __repr__ = __str__

    def _repr_markdown_(self) -> str:
        return self.text


# Exercise ids checked since their last hint, and the number of hints given so far.
_checked: set[str] = set()
_given: dict[str, int] = {}


def hint(exercise_id: str) -> Hint:
    """The next hint, more direct than the last one; try and check in between."""
    exercise = exercises.load(exercise_id)
    given = _given.get(exercise.id, 0)
    if given == len(exercise.hints):
        return Hint(f"{_flat(exercise.hints[-1])} (There is no more direct hint.)")
    if given and exercise.id not in _checked:
        last = _flat(exercise.hints[given - 1])
        return Hint(f"{last} (For the next hint, try something and check it first.)")
    _given[exercise.id] = given + 1
    _checked.discard(exercise.id)
    return Hint(_flat(exercise.hints[given]))


def _flat(text: str) -> str:
    return " ".join(text.split())
