"""What an honest worker reports on: every call with its inputs, planned out here.

A worker is not asked what it put in; that is filled in on this side. So a report can
leave something out, but not answer another question than the one that was asked.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from minigrad.course.check import (
    Case,
    CaseFile,
    Contract,
    Facts,
    Pass,
    Planned,
    Second,
    Tangent,
    Trial,
    error_of,
    trials,
)
from minigrad.course.grade.frames import FrameError


def completed(
    facts: Sequence[Facts], contract: Contract, cases: Sequence[Case]
) -> list[Facts]:
    """The facts of a worker with all that it was not asked for. Raises: FrameError."""
    if not facts or len(facts) > len(cases):
        raise FrameError(f"a report on {len(facts)} of {len(cases)} cases")
    return [
        _completed(fact, contract, cases, number) for number, fact in enumerate(facts)
    ]


def _completed(
    fact: Facts, contract: Contract, cases: Sequence[Case], number: int
) -> Facts:
    case = cases[number]
    planned = trials.plan(contract, cases, number)
    if fact.trials and fact.trials[0].crash is not None:
        planned = planned[:1]
    names = [trial.name for trial in fact.trials]
    if names != [each.name for each in planned]:
        raise FrameError(f"a report on {', '.join(names)!s:.200} for {case.name}")
    pairs = zip(fact.trials, planned, strict=True)
    filled = [_filled(trial, each) for trial, each in pairs]
    second = fact.second
    if second is not None:
        second = _filled_second(second, case)
    tangents = _filled_tangents(fact.tangents, contract, case)
    return replace(
        fact, case=case, trials=tuple(filled), second=second, tangents=tangents
    )


def _filled(trial: Trial, planned: Planned) -> Trial:
    if len(trial.passes) > len(planned.upstreams):
        raise FrameError(f"{len(trial.passes)} backward passes of {trial.name}")
    passes = [
        replace(run, upstreams=upstreams)
        for run, upstreams in zip(trial.passes, planned.upstreams, strict=False)
    ]
    return replace(
        trial, inputs=planned.inputs, needed=planned.needed, passes=tuple(passes)
    )


def _filled_second(second: Second, case: Case) -> Second:
    shapes = [case.inputs[i].shape for i in case.differentiable]
    return replace(second, weights=trials.weights(shapes))


def _filled_tangents(
    tangents: Sequence[Tangent], contract: Contract, case: Case
) -> tuple[Tangent, ...]:
    chosen = trials.tangents(contract, case)
    if len(tangents) not in (0, len(chosen)):
        raise FrameError(f"{len(tangents)} runs of forward mode")
    pairs = zip(tangents, chosen, strict=False)
    return tuple(replace(run, tangents=went_in) for run, went_in in pairs)


COMPARED = ("plain", "double", "negative", "zero", "again", "expanded", "first")
"""The trials that are looked at once more before anything is called solved."""


def unproven(
    case: CaseFile, cases: Sequence[Case], names: Sequence[str] = COMPARED
) -> str:
    """What is lacking in a report that nothing is wrong with; empty if nothing is.

    A finding is made from what is there. Here it is asked whether all is there, and
    whether the numbers are the right ones, whoever may have written them.
    """
    if len(case.facts) != len(cases):
        return f"{len(case.facts)} of {len(cases)} cases"
    for fact in case.facts:
        random = case.contract.random
        if case.contract.jvp and not fact.tangents:
            return f"forward mode, for {fact.case.name}"
        if (
            case.contract.second_derivative == "wanted"
            and fact.second is None
            and not random
        ):
            return f"the second derivative, for {fact.case.name}"
        for trial in fact.trials:
            if trial.name in names:
                lacking = _lacking(case, trial)
                if lacking:
                    return f"{lacking}, for {fact.case.name} ({trial.name})"
    return ""


def _lacking(case: CaseFile, trial: Trial) -> str:
    results = case.results(trial)
    limit = max(1e3 * case.tolerance(trial), 1e-7)
    if trial.crash is not None or len(trial.outputs) != len(results):
        return "the result"
    for output, right in zip(trial.outputs, results, strict=True):
        if output.value is None or not _close(output.value, right, limit):
            return "the result"
    if not trial.passes or (trial.name == "again" and len(trial.passes) < 2):
        return "the gradients"
    for run in trial.passes:
        if not _right(case, trial, run, limit):
            return "the gradients"
    return ""


def _right(case: CaseFile, trial: Trial, run: Pass, limit: float) -> bool:
    if run.crash is not None:
        return False
    truth = case.truth(trial, run)
    if len(run.gradients) != len(truth):
        return False
    for i, right in enumerate(truth):
        got = run.gradients[i]
        if right is None or not trial.needed[i]:
            continue
        if got is None or not _close(got, right, limit):
            return False
    return True


def _close(got: Any, right: Any, limit: float) -> bool:
    return got.shape == right.shape and error_of(got, right) <= limit


def numbers_are_right(case: CaseFile, cases: Sequence[Case]) -> bool:
    """Whether values and gradients are right in every case, whatever else is not."""
    return not unproven(case, cases, ("plain",))
