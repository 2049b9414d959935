"""Try a wrong answer again with one change in its source, and say what that tells."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from minigrad.course.check import (
    backward_checks,
    forward_checks,
    gradient_checks,
    simpler,
)
from minigrad.course.check.calls import Call
from minigrad.course.check.casefile import CaseFile
from minigrad.course.check.exercise import Exercise
from minigrad.course.check.facts import Case, Facts, Trial
from minigrad.course.check.findings import Finding
from minigrad.course.check.judge import judge
from minigrad.course.check.limits import Deadline, OutOfTimeError
from minigrad.course.check.observation import StoppedError, observe
from minigrad.course.check.references import References
from minigrad.course.check.repair import Repair, repair
from minigrad.course.check.samples import samples_of
from minigrad.course.check.spy import Watch
from minigrad.course.check.trials import needed_in

ONE_CALL, WHOLE_TRIAL = 0.2, 3.0
"""Seconds for an answer with one change in it: some then run for ever."""

MODULES_SECONDS = 1.0
"""Where a module looks, most has words of its own, and a loop may run for ever."""

OTHER_NUMBERS = 4
"""Times that numbers are drawn where a module looks at few of them."""

HINT = "What should each part of this line come to? Compare it for one small case."

LEFT = "Which terms of your formula are left then, and which should be?"


def said_of(finding: Finding, found: Repair | None, ids: bool = True) -> Finding:
    """The finding with what a repair says of it; the repair itself is left out."""
    if found is None:
        return finding
    # That all is off by a factor may have any cause; that signs are wrong is seen.
    other = found.ids and not {*found.ids} & {*finding.ids}
    ratio = finding.ids == ("L02",) and found.kind not in ("", "number_factor")
    guessed = finding.is_guess and finding.ids == ("L02",) and (other or ratio)
    kept = () if guessed else finding.ids
    story = "" if guessed else finding.story
    named = kept or (found.ids if ids else ())
    # Without words of its own, its hint is what is said of any wrong number.
    is_plain = ids and finding.evidence and not (named or story or finding.crashed)
    return replace(
        finding,
        ids=named,
        where=found.where or finding.where,
        looks_like=f"{story} {found.looks_like}".strip(),
        hint=HINT if is_plain or not (finding.hint or named) else finding.hint,
    )


@dataclass(frozen=True)
class OfFunction:
    """A Function that is tried again on the same cases."""

    exercise: Exercise
    answer: Any
    cases: Sequence[Case]
    references: References
    seed: int
    deadline: Deadline = field(default_factory=lambda: Deadline(ONE_CALL))

    def explained(
        self, findings: tuple[Finding, ...], facts: Sequence[Facts]
    ) -> tuple[Finding, ...]:
        """What has no name, or only a guess for one, by what makes it right."""
        first = findings[0]
        trials = [trial for each in facts for trial in each.trials]
        crashes = [trial.crash for trial in trials]
        crashes += [run.crash for trial in trials for run in trial.passes]
        is_full = any(one and "MemoryError" in one.kinds for one in crashes)
        if is_full or (first.ids and not first.is_guess):
            return findings
        wrong = [each.case for each in facts if not self._is_right(each)]
        if not wrong:
            return findings  # what shows in other circumstances has its name
        watch = Watch(self.answer, self.deadline)

        def may_be_right() -> bool:
            self.deadline.restart(ONE_CALL)
            try:
                usual = self._called(watch, wrong[0])
            except (OutOfTimeError, MemoryError):
                return False
            seen = replace(facts[0], case=wrong[0], trials=(usual,))
            return self._is_right(seen)

        found = repair(self.answer, may_be_right, self._is_solved)
        if found and self.exercise.contract.random:
            found = replace(found, kind="")  # other draws may look right, too
        said = self.exercise.hinted(said_of(first, found))
        if not (said.story or said.crashed or self.exercise.contract.random):
            said = self._on_simpler(said, wrong[0])
        return (said, *findings[1:])

    def _on_simpler(self, finding: Finding, case: Case) -> Finding:
        """What calls with simpler numbers show of wrong ones."""
        evidence, contract = finding.evidence, self.exercise.contract
        if evidence is None:
            return finding
        is_gradient = evidence.of in contract.arguments
        names = contract.arguments if is_gradient else contract.outputs
        place, watch = names.index(evidence.of), Watch(self.answer, self.deadline)

        def look(case: Case) -> tuple[Any, Any]:
            self.deadline.restart(ONE_CALL)
            trial = self._called(watch, case)
            seen: Sequence[Any] = trial.outputs
            rights = self.references.result(case.inputs)
            if is_gradient:
                seen = [each for run in trial.passes for each in run.returned]
                rights = self.references.gradients(case.inputs, case.upstreams)
            return seen[place].value if place < len(seen) else None, rights[place]

        cases = [*simpler.constants(case, contract.arguments)]
        if is_gradient:
            cases = [*simpler.units(case, contract.outputs), *cases]
        try:
            looks = simpler.said_of(look, iter(cases))
        except (OutOfTimeError, MemoryError):
            return finding
        return replace(finding, looks_like=looks, hint=LEFT) if looks else finding

    def _is_solved(self) -> bool:
        self.deadline.restart(WHOLE_TRIAL)
        contract, random = self.exercise.contract, np.random.default_rng(self.seed + 1)
        others = self.exercise.cases(random)
        try:
            for cases, right in (
                (self.cases, self.references),
                (others, References(self.exercise)),
            ):
                facts = observe(self.answer, contract, cases, self.deadline)
                crashed = len(facts) < len(cases)
                if crashed or judge(facts, self.exercise, right).findings:
                    return False
            more = getattr(self.exercise.spec, "look_also", None)
            with self.deadline.watching():
                random = np.random.default_rng(self.seed)
                return more is None or not any(more(self.answer, random))
        except (StoppedError, OutOfTimeError, MemoryError):
            return False

    def _called(self, watch: Watch, case: Case) -> Trial:
        """One call with one backward pass, and nothing else."""
        contract, needed = self.exercise.contract, needed_in(case)
        call = Call(watch, contract, case.inputs, needed).forward()
        if "crash" not in call.facts:
            call.backward(case.upstreams)
        return call.trial("plain")

    def _is_right(self, facts: Facts) -> bool:
        """Whether the ordinary call gives the right numbers."""
        usual = facts.trials[0]
        if usual.crash or any(run.crash for run in usual.passes):
            return False
        facts = replace(facts, trials=(usual,))
        case = CaseFile((facts,), self.exercise, self.references)
        looks = (
            forward_checks.result,
            backward_checks.returned_values,
            backward_checks.missing_gradients,
        )
        return not any(self._faults(case, looks))

    def _faults(self, case: CaseFile, looks: Sequence[Any]) -> Iterator[bool]:
        for look in looks:
            yield from (True for _ in look(case))
        for place in range(len(case.contract.outputs)):
            yield from (True for _ in forward_checks.wrong_results(case, place))
        for samples in samples_of(case, "plain").values():
            yield from map(gradient_checks.is_off, samples)


@dataclass(frozen=True)
class BySpec:
    """An answer that its exercise's own module looks at again."""

    exercise: Exercise
    answer: Any
    seed: int
    deadline: Deadline = field(default_factory=lambda: Deadline(ONE_CALL))

    def explained(self, finding: Finding) -> Finding:
        """What its module has no words for, by what makes it right."""
        found = repair(self.answer, self._is_solved, lambda: True, MODULES_SECONDS)
        shipped = getattr(self.exercise.spec, "SHIPPED", "")
        if found and found.line and found.line in shipped:
            return finding  # to find this line is what the task asks for
        return said_of(finding, found, ids=False)

    def _is_solved(self) -> bool:
        look = self.exercise.spec.look_at
        try:
            for seed in range(self.seed, self.seed + OTHER_NUMBERS):
                self.deadline.restart(ONE_CALL)
                with self.deadline.watching():
                    found = look(self.answer, np.random.default_rng(seed))
                    if not all(each.is_note for each in found if each):
                        return False
        except (Exception, OutOfTimeError):
            return False
        return True
