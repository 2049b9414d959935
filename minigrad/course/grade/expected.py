"""What an honest worker reports on: every call with its inputs, planned out here.

A worker is not asked what it put in; that is filled in on this side. So a report can
leave something out, but not answer another question than the one that was asked.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

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
    tangents = _filled_tangents(fact.tangents, contract, case)
    return replace(
        fact, case=case, trials=tuple(filled), second=None, tangents=tangents
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


def derived(
    facts: Sequence[Facts], seconds: Sequence[Second | None], cases: Sequence[Case]
) -> list[Facts]:
    """The facts with the second derivatives, seen where the engine has rules.

    Raises: FrameError.
    """
    if len(seconds) != len(cases):
        raise FrameError(f"a report on {len(seconds)} of {len(cases)} derivatives")
    return [
        replace(fact, second=second and _filled_second(second, case))
        for fact, second, case in zip(facts, seconds, cases, strict=False)
    ]


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
    lacking = _lacking_numbers(case, cases, names)
    for fact in case.facts:
        if fact.raised_bare and not case.exercise.every_shape:
            continue
        is_asked_for = case.contract.second_derivative == "wanted"
        is_asked_for = is_asked_for and not fact.case.is_corner
        if is_asked_for and fact.second is None and not case.contract.random:
            lacking = lacking or f"the second derivative, for {fact.case.name}"
    return lacking


def _lacking_numbers(
    case: CaseFile, cases: Sequence[Case], names: Sequence[str]
) -> str:
    """The same without second derivatives."""
    if len(case.facts) != len(cases):
        return f"{len(case.facts)} of {len(cases)} cases"
    for fact in case.facts:
        if fact.raised_bare and not case.exercise.every_shape:
            continue
        if case.contract.jvp and not fact.tangents:
            return f"forward mode, for {fact.case.name}"
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
    if not len(run.gradients) == len(truth) <= len(run.returned):
        return False
    for i, right in enumerate(truth):
        got, returned = run.gradients[i], run.returned[i].value
        if right is None or not trial.needed[i]:
            continue
        if got is None or not _close(got, right, limit):
            return False
        # What is made right on the way, by a hook or an edge, is no rule.
        if returned is None or not _is_like(returned, right, limit):
            return False
    return True


def changed_on_the_way(trial: Trial) -> bool:
    """Whether what arrived, of the usual shape, is not what backward had returned."""
    return trial.name == "plain" and any(
        got is not None
        and back.value is not None
        and got.shape == back.value.shape
        and not np.allclose(got, back.value, 1e-3, 1e-6, equal_nan=True)
        for run in trial.passes
        for got, back in zip(run.gradients, run.returned, strict=False)
    )


def _is_like(returned: Any, right: Any, limit: float) -> bool:
    """Whether the engine need not do more than to sum it down to the right shape."""
    extra = returned.ndim - right.ndim
    if extra < 0:
        return False
    lengths = zip(returned.shape[extra:], right.shape, strict=True)
    axes = [extra + i for i, (a, b) in enumerate(lengths) if a != b and b == 1]
    total = returned.sum((*range(extra), *axes)).reshape(-1)
    return total.size == right.size and _close(total.reshape(right.shape), right, limit)


def _close(got: Any, right: Any, limit: float) -> bool:
    return got.shape == right.shape and error_of(got, right) <= limit


def numbers_are_right(case: CaseFile, cases: Sequence[Case]) -> bool:
    """Whether values and gradients are right in every case, whatever else is not."""
    return not _lacking_numbers(case, cases, ("plain",))
