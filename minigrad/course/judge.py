"""Turn facts into findings; the facts may come from here or from another process."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

from minigrad.course import (
    backwards,
    behaviour,
    forwards,
    keeping,
    orders,
    values,
)
from minigrad.course.casefile import CaseFile
from minigrad.course.exercise import Exercise
from minigrad.course.facts import Facts, Trial
from minigrad.course.findings import Finding
from minigrad.course.references import References

Look = Callable[[CaseFile], Iterator[Finding]]

ONE_BY_ONE: Sequence[Look] = (
    forwards.crashed,
    forwards.result,
    forwards.values,
    backwards.returned_values,
    backwards.crashed,
    backwards.missing_gradients,
    backwards.changed_arguments,
    behaviour.drawn_again,
    values.gradient_values,
    behaviour.single_outputs,
    behaviour.frozen_inputs,
    behaviour.one_tensor_twice,
    behaviour.two_live_calls,
    keeping.nothing_on_ctx,
    behaviour.other_numbers,
    behaviour.second_backward,
    behaviour.expanded_upstream,
    values.precision,
    keeping.on_ctx,
    keeping.more_than_needed,
    keeping.more_bytes_than_allowed,
    behaviour.written_inputs,
    orders.second_derivatives,
    orders.tangents,
)
"""Of these the first that finds something ends the search: the rest may follow from it.

Exceptions stand before malformed values, these before wrong numbers, and numbers before
what is only seen in other circumstances.
"""

ALWAYS: Sequence[Look] = (
    keeping.on_ctx,
    keeping.numbers_saved,
    keeping.elsewhere,
    keeping.saved_twice,
    keeping.other_dtypes,
    keeping.without_staticmethod,
    forwards.marks,
    behaviour.zeros_arrive,
    behaviour.unneeded_gradients,
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
    """Name the mistakes behind ``facts``; what the exercise only remarks is apart."""
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
    if findings and findings[0].crashed and not findings[0].id:
        findings += _without_crashes(facts, exercise, references)
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
        return Judgement(tuple(_hinted(exercise, _once(findings))), ())
    return Judgement((), tuple(_once(remarks)))


def _without_crashes(
    facts: Sequence[Facts], exercise: Exercise, references: References | None
) -> list[Finding]:
    """What the cases say in which nothing was raised; only what has a name."""
    if not any(_raised(trial) for f in facts for trial in f.trials):
        return []
    rest = [
        replace(f, trials=tuple(t for t in f.trials if not _raised(t)))
        for f in facts
        if not _raised(f.trials[0])
    ]
    found = judge(rest, exercise, references).findings if rest else ()
    return [finding for finding in found if finding.id]


def _raised(trial: Trial) -> bool:
    return trial.crash is not None or any(run.crash for run in trial.passes)


_MAY_BE_REMARKS = (
    keeping.on_ctx,
    behaviour.written_inputs,
    orders.second_derivatives,
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


def _hinted(exercise: Exercise, found: Sequence[Finding]) -> Iterator[Finding]:
    """The findings with the exercise's own hints."""
    for each in found:
        yield each.with_hint(exercise.mistake_hints.get(each.id, ""))
