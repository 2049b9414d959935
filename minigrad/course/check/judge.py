"""Turn facts into findings; the facts may come from here or from another process."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

from minigrad.course.check import (
    backward_checks,
    forward_checks,
    gradient_checks,
    higher_order,
    robustness_checks,
    saved_checks,
)
from minigrad.course.check.casefile import CaseFile
from minigrad.course.check.exercise import Exercise
from minigrad.course.check.facts import Facts, Trial
from minigrad.course.check.findings import Finding
from minigrad.course.check.references import References

Look = Callable[[CaseFile], Iterator[Finding]]

ONE_BY_ONE: Sequence[Look] = (
    forward_checks.crashed,
    forward_checks.result,
    forward_checks.values,
    backward_checks.returned_values,
    backward_checks.crashed,
    backward_checks.missing_gradients,
    backward_checks.changed_arguments,
    robustness_checks.drawn_again,
    gradient_checks.gradient_values,
    robustness_checks.single_outputs,
    robustness_checks.frozen_inputs,
    robustness_checks.one_tensor_twice,
    robustness_checks.two_live_calls,
    saved_checks.nothing_on_ctx,
    robustness_checks.other_numbers,
    robustness_checks.second_backward,
    robustness_checks.upstreams_in_memory,
    robustness_checks.needless_work,
    robustness_checks.spared_work,
    gradient_checks.precision,
    saved_checks.on_ctx,
    saved_checks.more_than_needed,
    saved_checks.more_bytes_than_allowed,
    robustness_checks.drawn_alike,
    robustness_checks.left_changed,
    robustness_checks.written_inputs,
    higher_order.second_derivatives,
    higher_order.tangents,
)
"""Of these the first that finds something ends the search: the rest may follow from it.

Exceptions stand before malformed values, these before wrong numbers, and numbers before
what is only seen in other circumstances.
"""

ALWAYS: Sequence[Look] = (
    saved_checks.on_ctx,
    saved_checks.numbers_saved,
    saved_checks.elsewhere,
    saved_checks.saved_twice,
    saved_checks.other_dtypes,
    saved_checks.without_staticmethod,
    forward_checks.style,
    forward_checks.marks,
    robustness_checks.zeros_arrive,
    robustness_checks.unneeded_gradients,
)
"""What follows from nothing else, and is said beside the first finding."""


@dataclass(frozen=True)
class Judgement:
    """Why an answer is refused, and what is to be said about it even if it is right."""

    findings: tuple[Finding, ...]
    remarks: tuple[Finding, ...]


def judge(
    facts: Sequence[Facts], exercise: Exercise, references: References | None = None
) -> Judgement:
    """Name the mistakes behind ``facts``; what the exercise only remarks is apart.

    The corner cases are looked at once nothing is wrong with the ordinary ones. Where
    not every shape is asked for, an exception in bare cases is a remark.
    """
    judgement = _ordinary_before_corners(facts, exercise, references)
    told = [fact for fact in facts if not fact.raised_bare]
    raised = judgement.findings and judgement.findings[0].crashed
    if not raised or exercise.every_shape or len(told) in (0, len(facts)):
        return judgement
    rest = _ordinary_before_corners(told, exercise, references)
    if rest.findings:
        return rest
    said = replace(judgement.findings[0], ids=(), looks_like=BARE, crashed=False)
    return replace(rest, remarks=(*rest.remarks, said))


BARE = (
    "The task doesn't mention such a tensor, so your answer counts. Can you make it "
    "work for one, too?"
)


def _ordinary_before_corners(
    facts: Sequence[Facts], exercise: Exercise, references: References | None
) -> Judgement:
    """What is wrong with the ordinary cases; if nothing is, with all of them."""
    ordinary = [fact for fact in facts if not fact.case.is_corner]
    judgement = _judge(ordinary, exercise, references)
    if judgement.findings or len(ordinary) == len(facts):
        return judgement
    return _judge(facts, exercise, references)


def _judge(
    facts: Sequence[Facts], exercise: Exercise, references: References | None
) -> Judgement:
    case = CaseFile(facts, exercise, references)
    remarked = case.remarks
    findings: list[Finding] = []
    remarks: list[Finding] = []
    for look in ONE_BY_ONE:
        found = list(look(case))
        allowed = look in _MAY_BE_REMARKS
        for each in found:
            (remarks if allowed and each.id in remarked else findings).append(each)
        if findings:
            break
    if findings and findings[0].crashed:
        findings = _ordinary_first(findings, facts, exercise, references)
    first = findings[0] if findings else None
    # An exception without a name may be less than what the other cases show.
    stopped = first is not None and (
        bool(first.crashed and first.id) or first.id == "A17"
    )
    if not stopped:
        for look in ALWAYS:
            for each in look(case):
                if each.id == "A07" and first is not None and first.id == "A06":
                    continue  # the flags are not ignored: they are read elsewhere
                (remarks if each.id in remarked else findings).append(each)
    if findings:
        return Judgement(tuple(map(exercise.hinted, _once(findings))), ())
    return Judgement((), tuple(map(exercise.hinted, _once(remarks))))


def _ordinary_first(
    crashes: list[Finding],
    facts: Sequence[Facts],
    exercise: Exercise,
    references: References | None,
) -> list[Finding]:
    """An exception, behind what is wrong in the cases in which nothing was raised."""
    crash = crashes[0]
    if crash.evidence or _raised(facts[0].trials[0]):
        return crashes
    rest = [
        replace(f, trials=tuple(t for t in f.trials if not _raised(t)))
        for f in facts
        if not _raised(f.trials[0])
    ]
    if rest == list(facts):
        return crashes
    found = list(_judge(rest, exercise, references).findings)
    if not found or (found[0].id and crash.id not in ("", found[0].id)):
        return [*found, *crashes]
    if found[0].what == crash.what:
        return [*found, *crashes[1:]]
    if found[0].crashed and not found[0].ids:
        return crashes
    # One mistake may well be behind both.
    told = found[0] if found[0].story else crash
    first = replace(
        found[0],
        looks_like=told.looks_like,
        hint=told.hint,
        # What is unstable, or special, is right in ordinary cases.
        ids=found[0].ids or tuple([i for i in crash.ids if i not in ("L19", "L20")]),
        what=f"{found[0].what}. And {crash.what}",
        where=f"{found[0].where}, and {crash.where}",
        crashed=True,
    )
    return [first, *found[1:], *crashes[1:]]


def _raised(trial: Trial) -> bool:
    return trial.crash is not None or any(run.crash for run in trial.passes)


_MAY_BE_REMARKS = (
    saved_checks.on_ctx,
    robustness_checks.written_inputs,
    higher_order.second_derivatives,
)
"""The rest of what is looked for one by one is refused by every exercise."""


def _once(found: Sequence[Finding]) -> list[Finding]:
    """Each mistake once, where two ways of looking have seen it."""
    seen: set[str] = set()
    kept = []
    for each in found:
        if each.id and each.id in seen:
            continue
        seen.update(each.ids)
        kept.append(each)
    return kept
