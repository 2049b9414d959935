"""Check an answer in the learner's own notebook, and give hints."""

from __future__ import annotations

import contextlib
import importlib
import importlib.util
import re
import secrets
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

import minigrad
from minigrad.course import afterwards, handed, journal, questions, replay
from minigrad.course import catalogue as exercises
from minigrad.course.casefile import is_todo, says_todo, thrown
from minigrad.course.catalogue import Exercise
from minigrad.course.facts import Case, Contract, Facts
from minigrad.course.findings import Finding
from minigrad.course.forwards import question_about
from minigrad.course.grading import blanks
from minigrad.course.judge import judge
from minigrad.course.limits import (
    Deadline,
    OutOfTimeError,
    as_imported,
    bounded_memory,
    own_random_numbers,
    silence,
)
from minigrad.course.probes import StoppedError, observe
from minigrad.course.references import References
from minigrad.course.verdict import (
    CRASHED,
    NOT_TRIED,
    SOLVED,
    WRONG,
    CheckFailed,
    Verdict,
)
from minigrad.course.watch import crash_of
from minigrad.kernels._jit import in_numpy

SECONDS = 5.0
MEMORY = 2 * 10**9
"""How much more memory than before an answer may take, in bytes."""

Look = Callable[[Any, Contract, Sequence[Case], Deadline], Sequence[Facts]]
"""How an answer is looked at: here, or in another process."""

NO_ANSWER: object = object()
"""Stands for an answer that was not given; None is one, and a wrong one."""


def examine(
    exercise_id: str,
    answer: object = NO_ANSWER,
    *,
    seed: int = 0,
    seconds: float = SECONDS,
    look: Look = observe,
) -> Verdict:
    """Judge ``answer`` on cases drawn from ``seed``; shows, keeps and raises nothing.

    ``answer`` is a class or function, or, for questions, what was said to each; without
    one the exercise is not tried. What an answer prints or warns of meanwhile is
    dropped. One that still runs after ``seconds`` is stopped, except inside one long
    call into compiled code, or if it catches BaseException over and over.
    """
    exercise = exercises.load(exercise_id)
    if answer is NO_ANSWER:
        return verdict_of(exercise, NOT_TRIED, note="There is no answer yet.")
    if exercise.questions and exercise.kind in "PI":
        return _examine_questions(exercise, answer)
    if exercise.lines:
        return _examine_order(exercise, answer)
    with as_imported.in_force(), own_random_numbers(seed):
        deadline = Deadline(seconds)
        try:
            if exercise.parts:
                return _examine_parts(exercise, answer, seed, deadline, look)
            if hasattr(exercise.spec, "SHIPPED"):
                untried = _as_shipped(exercise, answer, seed)
                if untried:
                    return untried
            if hasattr(exercise.spec, "look_at"):
                return _examine_by_spec(exercise, answer, seed, deadline)
            return _examine_function(exercise, answer, seed, deadline, look)
        except OutOfTimeError:
            finding = _never_ends("your answer", _place_of(answer, exercise), seconds)
            return verdict_of(exercise, CRASHED, (finding,), seed=seed)


def verdict_of(
    exercise: Exercise, state: str, findings: tuple[Finding, ...] = (), **rest: Any
) -> Verdict:
    """A verdict on this exercise; full points if it is solved, else none."""
    points = exercise.points if state == SOLVED else 0
    return Verdict(
        exercise.id, exercise.heading, state, findings, points=points, **rest
    )


def _examine_questions(exercise: Exercise, answer: object) -> Verdict:
    """A prediction counts for being made; an investigation has to be right."""
    found = questions.outcomes(exercise, questions.answers_of(exercise, answer))
    if exercise.kind == "P":
        right = len([outcome for outcome in found if outcome.right])
        note = f"{right} of {len(found)} as you said. Every prediction counts."
        return verdict_of(exercise, SOLVED, note=note, outcomes=found)
    wrong = tuple(questions.mistakes(found))
    if wrong:
        return verdict_of(exercise, WRONG, wrong)
    return verdict_of(exercise, SOLVED, outcomes=found)


def _examine_order(exercise: Exercise, answer: object) -> Verdict:
    if isinstance(answer, str):
        answer = answer.replace(",", " ").split()
    if not isinstance(answer, Sequence):
        finding = Finding(
            (),
            f"check was given a {type(answer).__name__}, not a list",
            "the call of check",
            hint="Hand over the ids of the lines in their order, such as ['c', 'a'].",
        )
        return verdict_of(exercise, WRONG, (finding,))
    misplaced = questions.misplaced_lines(exercise, [str(name) for name in answer])
    if misplaced is not None:
        return verdict_of(exercise, WRONG, (misplaced,))
    return verdict_of(exercise, SOLVED)


def _as_shipped(exercise: Exercise, answer: object, seed: int) -> Verdict | None:
    """For what is to be repaired: is it of the kind, and changed at all?"""
    names = exercise.answer.split(", ")
    answers, missing = handed.one_for_each(names, answer, exercise.id)
    shipped = handed.shipped_under(names, exercise.spec.SHIPPED)
    unusable = [
        handed.of_another_kind(mine, name, original)
        for mine, name, original in zip(answers, names, shipped, strict=True)
    ]
    findings = missing + [finding for finding in unusable if finding]
    if findings:
        return verdict_of(exercise, WRONG, tuple(findings[:1]), seed=seed)
    if handed.are_as_shipped(answers, shipped):
        note = "it is as it was shipped"
        return verdict_of(exercise, NOT_TRIED, note=note, seed=seed)
    return None


def _examine_by_spec(
    exercise: Exercise, answer: object, seed: int, deadline: Deadline
) -> Verdict:
    """Ask the exercise's own module, which knows what cannot be said in general."""
    random = np.random.default_rng(seed)
    with answers_running(deadline):
        try:
            with deadline.watching():
                found = exercise.spec.look_at(answer, random)
        except Exception as error:
            if says_todo(error):
                note = f"its line {str(error)!r} is still there"
                return verdict_of(exercise, NOT_TRIED, note=note, seed=seed)
            return refused(exercise, [_stopped_by(error, answer)], seed)
    if found:
        return refused(exercise, found, seed)
    remarks: Sequence[Finding] = ()
    if hasattr(exercise.spec, "remarks_on"):
        with answers_running(deadline), deadline.watching():
            remarks = exercise.spec.remarks_on(answer)
    return verdict_of(exercise, SOLVED, remarks=tuple(remarks), seed=seed)


def _stopped_by(error: Exception, answer: object) -> Finding:
    """An exception of the answer, with the learner's line."""
    crash = crash_of("", error)
    where = getattr(answer, "__name__", "your answer")
    if crash.inside:
        where += f", line {crash.number}: {crash.line}"
    is_tuple = "'Tensor' and 'tuple'" in crash.text
    hint = question_about(crash.text)
    return Finding(
        ("A11",) if is_tuple else (),
        thrown(crash),
        where,
        hint="" if is_tuple else hint,
        crashed=True,
    )


def refused(exercise: Exercise, found: Sequence[Finding], seed: int) -> Verdict:
    """The verdict on what a spec has found, with the exercise's own hints."""
    state = CRASHED if any(finding.crashed for finding in found) else WRONG
    hinted = [f.with_hint(exercise.mistake_hints.get(f.id, "")) for f in found]
    return verdict_of(exercise, state, tuple(hinted), seed=seed)


def _examine_function(
    exercise: Exercise, answer: object, seed: int, deadline: Deadline, look: Look
) -> Verdict:
    """Try a Function on all cases, and name the mistakes behind what is seen."""
    unusable = handed.unusable(answer, exercise.answer)
    if unusable:
        return verdict_of(exercise, WRONG, (unusable,), seed=seed)
    assert isinstance(answer, type)
    cases = exercise.cases(np.random.default_rng(seed))
    references = References(exercise, cases)
    try:
        with answers_running(deadline):
            facts = look(answer, exercise.contract, cases, deadline)
    except StoppedError as stopped:
        who = f"for {stopped.case}, {stopped.phase}"
        where = f"{answer.__name__}.{stopped.phase}"
        finding = _never_ends(who, where, deadline.seconds)
        return verdict_of(exercise, CRASHED, (finding,), seed=seed)
    first = facts[0].trials[0].crash
    if first is not None and is_todo(first):
        note = f"forward still has its {first.text!r}"
        return verdict_of(exercise, NOT_TRIED, note=note, seed=seed)
    judgement = judge(facts, exercise, references)
    if not judgement.findings and hasattr(exercise.spec, "look_also"):
        with answers_running(deadline), deadline.watching():
            more = exercise.spec.look_also(answer, np.random.default_rng(seed))
        hinted = [f.with_hint(exercise.mistake_hints.get(f.id, "")) for f in more]
        judgement = replace(judgement, findings=tuple(hinted))
    if not judgement.findings:
        remarks = judgement.remarks
        if look is observe:
            asked_for = blanks.of(exercise.id)
            with answers_running(deadline), deadline.watching():
                remarks += afterwards.remarks_on(
                    answer, exercise.contract, cases[0], asked_for
                )
        return verdict_of(exercise, SOLVED, remarks=remarks, seed=seed)
    crashed = any(finding.crashed for finding in judgement.findings)
    state = CRASHED if crashed else WRONG
    evidence = [f.evidence for f in judgement.findings if f.evidence]
    case = evidence[0].number if evidence else 0
    return verdict_of(exercise, state, judgement.findings, seed=seed, case=case)


def _examine_parts(
    exercise: Exercise, answer: object, seed: int, deadline: Deadline, look: Look
) -> Verdict:
    """Several Functions, one after the other; then what else was handed over."""
    parts, names = exercise.parts, exercise.answer.split(", ")
    answers, missing = handed.one_for_each(names, answer, exercise.id)
    if missing:
        return verdict_of(exercise, WRONG, tuple(missing), seed=seed)
    functions, rest = answers[: len(parts)], answers[len(parts) :]
    remarks: tuple[Finding, ...] = ()
    for part, function in zip(parts, functions, strict=True):
        verdict = _examine_function(part, function, seed, deadline, look)
        if verdict.state != SOLVED:
            # The player steps through a case of one Function; this is one of several.
            return replace(verdict, case=None)
        remarks += verdict.remarks
    with answers_running(deadline), deadline.watching():
        findings = exercise.spec.look_at_rest(functions, rest)
    if findings:
        return refused(exercise, findings, seed)
    return verdict_of(exercise, SOLVED, remarks=remarks, seed=seed)


@contextlib.contextmanager
def answers_running(deadline: Deadline) -> Iterator[None]:
    """How the code of an answer runs: in silence, bounded, with grad mode on.

    Without compiled kernels: to compile one takes longer than the rest of a check.
    """
    with (
        in_numpy(),
        silence(),
        bounded_memory(MEMORY),
        minigrad.enable_grad(),
        minigrad.teaching(False),
        deadline.running(),
    ):
        yield


def _place_of(answer: object, exercise: Exercise) -> str:
    """The name of what was handed over; of several things all of them."""
    return getattr(answer, "__name__", exercise.answer)


def _never_ends(who: str, where: str, seconds: float) -> Finding:
    what = (
        f"{who} was still running when the {seconds:g} seconds of this check were over"
    )
    hint = "Look for a loop that never ends, or a wait (sleep, input)."
    return Finding((), what, where, hint=hint, crashed=True)


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
    if not _in_ipython():
        return False
    kernel = getattr(sys.modules["IPython"].get_ipython(), "kernel", None)
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
    verdict = examine(exercise.id, answer, seed=_new_seed())
    before = journal.entries(exercise.id, journal.CHECKED)
    journal.note(
        journal.CHECKED,
        exercise.id,
        state=verdict.state,
        mistakes=list(verdict.mistakes),
        diagnosis=verdict.diagnosis,
        seed=verdict.seed,
        missed=[o.question.id for o in verdict.outcomes if not o.right],
    )
    return come_back(verdict, times_in_a_row(verdict, before), exercise.half_step)


STUBBORN = 3
"""How often the same mistake has to be found in a row for half a step to be shown."""


def times_in_a_row(verdict: Verdict, before: Sequence[Mapping[str, Any]]) -> int:
    """How often this diagnosis was made without another in between, this time too."""
    times = 1
    for entry in reversed(before):
        if not verdict.diagnosis or entry.get("diagnosis") != verdict.diagnosis:
            break
        times += 1
    return times


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


def _new_seed() -> int:
    return secrets.randbelow(10**6)


@dataclass(frozen=True, repr=False)
class ShownVerdict(Verdict):
    """A verdict that is on the screen: as a cell's last value it's not shown again."""

    cell: int = 0

    def _ipython_display_(self) -> None:
        if sys.modules["IPython"].get_ipython().execution_count != self.cell:
            _display(self)


def _display(verdict: Verdict) -> None:
    show = importlib.import_module("IPython.display").display
    shown = {"text/plain": repr(verdict), "text/html": verdict._repr_html_()}
    show(shown, raw=True)


def _show(verdict: Verdict, answer: object, strict: bool) -> ShownVerdict | None:
    """Display the verdict; under IPython as HTML, elsewhere as text."""
    if not _in_ipython():
        if not strict or verdict.state == SOLVED:
            print(verdict)
        return None
    _display(verdict)
    if verdict.case is not None and importlib.util.find_spec("anywidget"):
        from minigrad.views import forms

        forms.display(
            forms.button(
                "Step through this case",
                "The player on your own code, with the right values beside it",
                lambda: replay.replay_of(verdict, answer),
            )
        )
    cell = sys.modules["IPython"].get_ipython().execution_count
    return ShownVerdict(**vars(verdict), cell=cell)


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


def hint(exercise_id: str) -> Hint:
    """The next hint, more direct than the last one; try and check in between."""
    exercise = exercises.load(exercise_id)
    if not exercise.hints:
        return Hint("This exercise needs no hint: any answer counts.")
    kinds = [entry["kind"] for entry in journal.entries(exercise.id)]
    given = kinds.count(journal.HINTED)
    if given >= len(exercise.hints):
        return Hint(f"{exercise.hints[-1]} (There is no more direct hint.)")
    if given and journal.CHECKED not in kinds[last_of(kinds, journal.HINTED) :]:
        last = exercise.hints[given - 1]
        return Hint(f"{last} (For the next hint, try something and check it first.)")
    journal.note(journal.HINTED, exercise.id, number=given + 1)
    return Hint(exercise.hints[given])


def last_of(kinds: list[str], kind: str) -> int:
    """The place of the last one of its kind."""
    return len(kinds) - 1 - kinds[::-1].index(kind)
