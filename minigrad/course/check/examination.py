"""Examine an answer to one exercise: a verdict, and nothing shown, kept or raised."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from itertools import islice
from typing import Any

import numpy as np

import minigrad
from minigrad.course.check import (
    forbidden_api,
    questions,
    repaired,
    solved_remarks,
    submission,
)
from minigrad.course.check.casefile import is_todo, says_todo, thrown
from minigrad.course.check.exercise import Exercise
from minigrad.course.check.facts import Case, Contract, Facts
from minigrad.course.check.findings import Faults, Finding
from minigrad.course.check.forward_checks import unexplained
from minigrad.course.check.judge import judge
from minigrad.course.check.limits import (
    Deadline,
    OutOfTimeError,
    as_imported,
    bounded_memory,
    own_modes,
    own_random_numbers,
    silence,
)
from minigrad.course.check.observation import StoppedError, observe
from minigrad.course.check.references import References
from minigrad.course.check.spy import crash_of
from minigrad.course.check.verdict import CRASHED, NOT_TRIED, SOLVED, WRONG, Verdict
from minigrad.kernels._jit import in_numpy

SECONDS = 5.0
MEMORY = 2 * 10**9
"""How much more memory than before an answer may take, in bytes."""

Look = Callable[[Any, Contract, Sequence[Case], Deadline], Sequence[Facts]]
"""How an answer is looked at: here, or in another process."""

NO_ANSWER: object = object()
"""Stands for an answer that was not given; None is one, and a wrong one."""


def examine(
    exercise: Exercise,
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
    if answer is NO_ANSWER:
        return verdict_of(exercise, NOT_TRIED, note="There's no answer yet.")
    if exercise.questions and exercise.kind in "PI":
        return _examine_questions(exercise, answer)
    if exercise.lines:
        return _examine_order(exercise, answer)
    if hasattr(exercise.spec, "prepare"):
        exercise.spec.prepare()  # not in the answer's time
    with as_imported.in_force(), own_random_numbers(seed):
        # To train takes longer than the rest of the checks.
        deadline = Deadline(max(seconds, getattr(exercise.spec, "SECONDS", 0.0)))
        try:
            by_spec = hasattr(exercise.spec, "look_at")
            if exercise.parts and not by_spec:
                return _examine_parts(exercise, answer, seed, deadline, look)
            if hasattr(exercise.spec, "SHIPPED"):
                untried = _as_shipped(exercise, answer, seed)
                if untried:
                    return untried
            if by_spec:
                verdict = _examine_by_spec(exercise, answer, seed, deadline)
                verdict = _crossed(exercise, answer, verdict, deadline, look)
                local = look is observe
                return _repaired(exercise, answer, verdict) if local else verdict
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
    answers, missing = submission.one_for_each(names, answer, exercise.id)
    shipped = submission.shipped_under(names, exercise.spec.SHIPPED)
    unusable = [
        submission.of_another_kind(mine, name, original)
        for mine, name, original in zip(answers, names, shipped, strict=True)
    ]
    findings = missing + [finding for finding in unusable if finding]
    if findings:
        return verdict_of(exercise, WRONG, tuple(findings[:1]), seed=seed)
    if submission.are_as_shipped(answers, shipped):
        note = "it is as it was shipped"
        return verdict_of(exercise, NOT_TRIED, note=note, seed=seed)
    return None


def _examine_by_spec(
    exercise: Exercise, answer: object, seed: int, deadline: Deadline
) -> Verdict:
    """Ask the exercise's own module, which knows what cannot be said in general."""
    if exercise.function:
        unusable = submission.no_function(answer, exercise.function)
        if unusable:
            return refused(exercise, [unusable], seed)
    if exercise.handed:
        answer, missing = submission.handed(exercise.handed, answer, exercise.id)
        if missing:
            return refused(exercise, missing, seed)
    random = np.random.default_rng(seed)
    with answers_running(deadline):
        try:
            with deadline.watching():
                found = first_of(exercise.spec.look_at(answer, random))
        except Exception as error:
            if says_todo(error):
                note = f"its line {str(error)!r} is still there"
                return verdict_of(exercise, NOT_TRIED, note=note, seed=seed)
            return refused(exercise, [_stopped_by(error, answer)], seed)
    faults = [finding for finding in found if not finding.is_note]
    if faults:
        return refused(exercise, faults, seed)
    remarks: Sequence[Finding] = ()
    if hasattr(exercise.spec, "remarks_on"):
        with answers_running(deadline), deadline.watching():
            remarks = exercise.spec.remarks_on(answer)
    note = " ".join([finding.what for finding in found])
    return verdict_of(exercise, SOLVED, remarks=tuple(remarks), note=note, seed=seed)


def _crossed(
    exercise: Exercise, answer: Any, verdict: Verdict, deadline: Deadline, look: Look
) -> Verdict:
    """What its module lets pass, in corners too, if the text says what is right.

    And what it only has numbers for: there may be a name for it.
    """
    functions = [(part, answer[n]) for n, part in enumerate(exercise.parts)]
    if hasattr(exercise.spec, "CONTRACT"):
        functions.append((exercise, answer))
    remarks, solved = verdict.remarks, verdict.state == SOLVED
    untold = bool(verdict.findings) and not verdict.findings[0].story
    for part, function in functions if solved or untold else ():
        found = _examine_function(part, function, verdict.seed, deadline, look)
        told = bool(found.findings and found.findings[0].story)
        if told or (solved and found.state != SOLVED):
            return replace(found, case=None)
        # What the module lets pass on purpose has a mistake's name.
        remarks += tuple([each for each in found.remarks if not each.ids])
    return replace(verdict, remarks=remarks) if solved else verdict


def _repaired(exercise: Exercise, answer: object, verdict: Verdict) -> Verdict:
    """The same, with what a change of the source says where nothing else is said."""
    first = (*verdict.findings, None)[0]
    if first is None or first.story or hasattr(exercise.spec, "SECONDS"):
        return verdict
    again = repaired.BySpec(exercise, answer, verdict.seed)
    with answers_running(again.deadline):
        said = again.explained(first)
    return replace(verdict, findings=(said, *verdict.findings[1:]))


def first_of(faults: Faults) -> list[Finding]:
    """The first thing that is wrong: nothing behind it is looked at."""
    return list(islice(filter(None, faults), 1))


def _stopped_by(error: Exception, answer: object) -> Finding:
    """An exception of the answer, with the learner's line."""
    crash = crash_of("", error)
    where = getattr(answer, "__name__", "your answer")
    if crash.inside:
        where += f", line {crash.number}: {crash.line}"
    is_engines = "Tensor.backward() takes" in crash.text  # and not a rule's
    told = {} if is_engines else TOLD_BY_WORDS
    ids = tuple([id for words, id in told.items() if words in crash.text])
    return unexplained(ids, crash, thrown(crash), where)


TOLD_BY_WORDS = {
    "'Tensor' and 'tuple'": "A11",
    ".backward() takes": "A13",
    "returned a gradient different than None": "A02",
    "can only save variables": "A14",
    "returned an incorrect number of gradients": "A01",
}
"""What an exception alone says of an answer."""


def refused(exercise: Exercise, found: Sequence[Finding], seed: int) -> Verdict:
    """The verdict on what a spec has found, with the exercise's own hints."""
    state = CRASHED if any(finding.crashed for finding in found) else WRONG
    hinted = [exercise.hinted(f, usual=True) for f in found]
    return verdict_of(exercise, state, tuple(hinted), seed=seed)


def _examine_function(
    exercise: Exercise, answer: object, seed: int, deadline: Deadline, look: Look
) -> Verdict:
    """Try a Function on all cases, and name the mistakes behind what is seen."""
    unusable = submission.unusable(answer, exercise.answer)
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
    forward_mode = [run.crash for run in facts[0].tangents]
    for name, crash in (
        ("forward", first),
        *[("jvp", crash) for crash in forward_mode],
    ):
        if crash is not None and is_todo(crash):
            note = f"{name} still has its {crash.text!r}"
            return verdict_of(exercise, NOT_TRIED, note=note, seed=seed)
    judgement = judge(facts, exercise, references)
    if not judgement.findings and hasattr(exercise.spec, "look_also"):
        with answers_running(deadline), deadline.watching():
            random = np.random.default_rng(seed)
            more = first_of(exercise.spec.look_also(answer, random))
        hinted = [exercise.hinted(f, usual=True) for f in more]
        judgement = replace(judgement, findings=tuple(hinted))
    if not judgement.findings:
        remarks = judgement.remarks
        if look is observe:
            asked_for = forbidden_api.of(exercise.id)
            with answers_running(deadline), deadline.watching():
                remarks += solved_remarks.remarks_on(
                    answer, exercise.contract, cases[0], asked_for
                )
        return verdict_of(exercise, SOLVED, remarks=remarks, seed=seed)
    findings = judgement.findings
    if look is observe:
        again = repaired.OfFunction(exercise, answer, cases, references, seed)
        with answers_running(again.deadline):
            findings = again.explained(findings, facts)
    crashed = any(finding.crashed for finding in findings)
    state = CRASHED if crashed else WRONG
    evidence = [f.evidence for f in findings if f.evidence]
    case = evidence[0].number if evidence else 0
    return verdict_of(exercise, state, findings, seed=seed, case=case)


def _examine_parts(
    exercise: Exercise, answer: object, seed: int, deadline: Deadline, look: Look
) -> Verdict:
    """Several Functions, one after the other; then what else was handed over."""
    parts, names = exercise.parts, exercise.answer.split(", ")
    answers, missing = submission.one_for_each(names, answer, exercise.id)
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
    if hasattr(exercise.spec, "look_at_rest"):
        with answers_running(deadline), deadline.watching():
            findings = first_of(exercise.spec.look_at_rest(functions, rest))
        if findings:
            return refused(exercise, findings, seed)
    if hasattr(exercise.spec, "remarks_on"):
        with answers_running(deadline), deadline.watching():
            remarks += tuple(exercise.spec.remarks_on(answers))
    return verdict_of(exercise, SOLVED, remarks=remarks, seed=seed)


@contextlib.contextmanager
def answers_running(deadline: Deadline) -> Iterator[None]:
    """How the code of an answer runs in this process: its memory is bounded, too."""
    with bounded_memory(MEMORY), running(deadline):
        yield


@contextlib.contextmanager
def running(deadline: Deadline) -> Iterator[None]:
    """How the code of an answer runs: in silence, in time, with grad mode on.

    Without compiled kernels: to compile one takes longer than the rest of a check.
    """
    with (
        in_numpy(),
        silence(),
        own_modes(),
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
