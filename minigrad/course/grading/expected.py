"""What an honest worker reports on: every call with its inputs, planned out here.

A worker is not asked what it put in; that is filled in on this side. So a report can
leave something out, but not answer another question than the one that was asked.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from minigrad.course.casefile import CaseFile, error_of
from minigrad.course.facts import (
    Arrays,
    Case,
    Contract,
    Facts,
    Pass,
    Second,
    Tangent,
    Trial,
    is_float,
)
from minigrad.course.grading.frames import FrameError
from minigrad.course.probes import EVERYTHING, THOROUGH, direction, times


@dataclass(frozen=True)
class Planned:
    """One trial as it has to be: what goes in, and what each pass begins with."""

    name: str
    inputs: tuple[Any, ...]
    needed: tuple[bool, ...]
    upstreams: tuple[Arrays, ...]


def plan(contract: Contract, cases: Sequence[Case], number: int) -> list[Planned]:
    """The trials of one case, in their order."""
    case, other = cases[number], cases[(number + 1) % len(cases)]
    g, everything = case.upstreams, needed_in(case)

    def one(name: str, *upstreams: Arrays, needed: Any = everything) -> Planned:
        return Planned(name, case.inputs, needed, upstreams)

    trials = [one("plain", g), one("double", times(2.0, g))]
    outputs = [i for i, each in enumerate(g) if each is not None]
    if len(outputs) > 1:
        for i in outputs:
            alone = tuple(h if i == j else None for j, h in enumerate(g))
            trials.append(one(f"output {i}", alone))
    if number < THOROUGH:
        ones = tuple(None if h is None else np.ones(h.shape) for h in g)
        trials += [
            one("negative", times(-1.0, g)),
            one("zero", times(0.0, g)),
            one("again", g, g),
            one("expanded", ones),
        ]
        places = case.differentiable
        for i in places if len(places) > 1 else ():
            alone_needed = tuple(i == j for j in range(len(everything)))
            trials.append(one(f"only {i}", g, needed=alone_needed))
        if _are_alike(case):
            same = (case.inputs[0],) * len(case.inputs)
            trials.append(Planned("same", same, everything, (g,)))
        rolled = tuple(np.roll(v, 1) if is_float(v) else v for v in case.inputs)
        beside = Case(case.name, rolled, times(1.25, g))
        trials += [
            one("first", g),
            Planned("second", beside.inputs, everything, (beside.upstreams,)),
        ]
    if number < EVERYTHING:
        trials += [
            one("first", g),
            Planned("second", other.inputs, needed_in(other), (other.upstreams,)),
        ]
        written = [i for i, v in enumerate(case.inputs) if isinstance(v, np.ndarray)]
        # What such a Function changes itself is not written into.
        written = written[contract.in_place :]
        trials += [one(f"written {i}", g) for i in written]
    return trials


def needed_in(case: Case) -> tuple[bool, ...]:
    """Which arguments require grad."""
    return tuple(i in case.differentiable for i in range(len(case.inputs)))


def _are_alike(case: Case) -> bool:
    arrays = [v for v in case.inputs if isinstance(v, np.ndarray)]
    alike = len({(a.shape, a.dtype) for a in arrays}) == 1
    every = len(arrays) == len(case.inputs) == len(case.differentiable)
    return len(arrays) > 1 and alike and every


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
    planned = plan(contract, cases, number)
    if fact.trials and fact.trials[0].crash is not None:
        planned = planned[:1]
    names = [trial.name for trial in fact.trials]
    if names != [each.name for each in planned]:
        raise FrameError(f"a report on {', '.join(names)!s:.200} for {case.name}")
    pairs = zip(fact.trials, planned, strict=True)
    trials = [_filled(trial, each) for trial, each in pairs]
    second = fact.second
    if second is not None:
        second = _filled_second(second, case)
    tangents = _filled_tangents(fact.tangents, contract, case)
    return replace(
        fact, case=case, trials=tuple(trials), second=second, tangents=tangents
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
    leaves = [case.inputs[i] for i in case.differentiable]
    weights = tuple(
        np.linspace(0.5, 1.5, x.size).reshape(x.shape) * (i + 1)
        for i, x in enumerate(leaves)
    )
    return replace(second, weights=weights)


def _filled_tangents(
    tangents: Sequence[Tangent], contract: Contract, case: Case
) -> tuple[Tangent, ...]:
    chosen = planned_tangents(contract, case)
    if len(tangents) not in (0, len(chosen)):
        raise FrameError(f"{len(tangents)} runs of forward mode")
    pairs = zip(tangents, chosen, strict=False)
    return tuple(replace(run, tangents=went_in) for run, went_in in pairs)


def planned_tangents(contract: Contract, case: Case) -> list[Arrays]:
    """The tangents that go in, run by run."""
    if not contract.jvp:
        return []
    full: Arrays = tuple(
        direction(value, i) if need else None
        for i, (value, need) in enumerate(
            zip(case.inputs, needed_in(case), strict=True)
        )
    )
    alone: list[Arrays] = [
        tuple(t if i == j else None for j, t in enumerate(full))
        for i in case.differentiable
    ]
    return [*alone, full, times(2.0, full)]


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
