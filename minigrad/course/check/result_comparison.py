"""What can be said of wrong results of forward that no story predicts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from minigrad.course.check import (
    comparison,
    known_mistakes,
    other_inputs,
    partial_match,
)
from minigrad.course.check.casefile import CaseFile, error_of
from minigrad.course.check.comparison import Said
from minigrad.course.check.facts import Array, Facts, Trial
from minigrad.course.check.samples import close_to

Wrong = tuple[Facts, Trial, Array]


def of_result(case: CaseFile, place: int, off: Sequence[Wrong]) -> Said | None:
    """The first that is true of what forward returned, in all cases."""
    seen = []
    for fact, trial in case.plain:
        got = None if trial.crash else trial.outputs[place].value
        right = case.results(trial)[place]
        if got is None or got.shape != right.shape:
            return None
        seen.append((fact, trial, got, right))
    if all([not np.all(np.isfinite(got)) for _, _, got, _ in seen if got.size]):
        looks = "Your result holds nan or inf for ordinary inputs, too."
        hint = (
            "Print each step of forward for one small number: which is the first that "
        )
        return Said((), looks, f"{hint}isn't finite?")
    k = known_mistakes.ratio_of([s[2] for s in seen], [s[3] for s in seen])
    if k is not None:
        looks = f"Your result is {k:.6g} times the right one, for every input."
        if abs(k + 1) < 1e-6:
            looks = "Your result has the other sign, for every input."
        hint = "Work out the result for one small number on paper, and compare."
        return Said(comparison.of_ratio(k), looks, hint)
    close = [close_to(case.tolerance(t)) for _, t, _, _ in seen]
    pairs = [(got, right) for _, _, got, right in seen]
    if all(
        error_of(np.abs(a), np.abs(b)) <= c
        for (a, b), c in zip(pairs, close, strict=True)
    ):
        hint = "For which inputs is the right result negative, and what is yours there?"
        return Said(("L01",), "Only signs are wrong, and not all of them.", hint)
    steps = np.concatenate([(a - b).ravel() for a, b in pairs])
    size = max(1.0, float(np.abs(steps).max(initial=0.0)))
    if steps.size and np.isfinite(size) and np.ptp(steps) <= 1e-6 * size:
        looks = f"Your result is off by {steps[0]:.4g}, for every input."
        hint = "Which constant do you add, or leave out?"
        return Said((), looks, hint)
    if said := _of_another_output(case, place):
        return said
    given = [s[1].inputs[0] for s in seen]
    if all(
        a.shape == np.shape(x) and error_of(a, x) <= c
        for (a, _), x, c in zip(pairs, given, close, strict=True)
    ):
        x = case.argument(0)
        hint = "Which line of forward computes, and is it what forward returns?"
        return Said((), f"forward returned the numbers of {x} as they came.", hint)
    wrong = [fact for fact, _, _ in off]
    stopped = [fact for fact, trial in case.plain if trial.crash]
    if partial_match.follows_an_option(case, wrong + stopped):
        return Said(("R08",), "", "")
    numbers = [(trial, got) for _, trial, got, _ in seen]
    said = None if case.contract.random else _of_other_inputs(case, place, numbers)
    if said:
        return said
    some = [each for each in seen if each[3].any()]
    ratios = [comparison.ratio(a, b) for _, _, a, b in some]
    numbers_of = [trial for _, trial, _, _ in some]
    if said := comparison.of_powers(case, "result", ratios, numbers_of):
        return said
    single = all([got.size == 1 for _, _, got, _ in some])
    about = [each[0] for each in some]
    if said := comparison.of_ratios("result", ratios, about, single):
        return said
    if looks := comparison.where(case, [(t, got, right) for _, t, got, right in seen]):
        hint = "Take one such element. What should come out, on paper?"
        return Said((), looks, hint)
    return (
        comparison.nearly("result", pairs)
        or comparison.unwritten("result", pairs)
        or comparison.moved(pairs)
        or comparison.growing(case, "result", [(s[1], s[2], s[3]) for s in seen])
        or comparison.by_cases(case, case.facts, wrong)
    )


def _of_another_output(case: CaseFile, place: int) -> Said | None:
    """What belongs at the place of another output."""
    names = case.contract.outputs
    for other in range(len(names)):
        seen = [(t, t.outputs[place].value) for _, t in case.plain if not t.crash]
        right = [(got, case.results(t)[other]) for t, got in seen]
        if other != place and all(
            a is not None and error_of(a, b) < 1e-9 for a, b in right
        ):
            looks = f"What you return as {names[place]} is {names[other]}."
            hint = "In which order does the task name the outputs?"
            return Said((), looks, hint)
    return None


def _of_other_inputs(
    case: CaseFile, place: int, seen: Sequence[tuple[Trial, Array]]
) -> Said | None:
    """The right results of other inputs."""

    def right(trial: Trial, inputs: tuple[Any, ...]) -> Array:
        found = case.exercise.reference(*inputs)
        return np.asarray(found[place] if isinstance(found, tuple) else found)

    if words := other_inputs.taken_for(case, seen, right):
        looks = f"Your numbers would be right if {words}."
        hint = f"Where does forward use {words.partition(' ')[0]}, and what with?"
        return Said((), looks, hint)
    return None
