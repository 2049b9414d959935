"""Look at an answer: run it in many ways and write down facts, judging nothing."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from minigrad.autograd import Function
from minigrad.course.check import trials
from minigrad.course.check.calls import Call, forward_mode
from minigrad.course.check.declared import declare
from minigrad.course.check.facts import Case, Contract, Facts, Second, Tangent, Trial
from minigrad.course.check.limits import Deadline, OutOfTimeError
from minigrad.course.check.spy import Watch, grown, same
from minigrad.course.check.trials import Planned


class StoppedError(Exception):
    """The time was up while the answer ran; says on which case, and in which phase."""

    def __init__(self, case: str, phase: str) -> None:
        super().__init__(case, phase)
        self.case, self.phase = case, phase


def observe(
    answer: type[Function],
    contract: Contract,
    cases: Sequence[Case],
    deadline: Deadline | None = None,
    before_forward: Callable[[], None] | None = None,
    *,
    derived: bool = True,
) -> list[Facts]:
    """Run ``answer`` on each case in every way a mistake could show itself.

    ``before_forward`` is called before each forward, to draw the same numbers again.
    Unless its gradients are to be ``derived`` once more, the engine has to know no rule
    of an operation.
    Raises: StoppedError if it still runs at the deadline (an hour, without one).
    """
    watch = Watch(answer, deadline or Deadline(3600.0), before_forward)
    seen_in_class = declare(answer)
    before, on_class, shared = watch.contents_of_class(), *watch.kept_elsewhere()
    found: list[Facts] = []
    changed: set[str] = set()
    for number, case in enumerate(cases):
        try:
            probe = _Probe(watch, contract, cases, number)
            found.append(Facts(case, seen_in_class, *probe.look(derived)))
        except OutOfTimeError:
            raise StoppedError(case.name, watch.phase) from None
        # After the last case it may hold what an earlier check has left there.
        now = watch.contents_of_class()
        changed |= {n for n, value in now.items() if before.get(n) != value}
        if found[0].trials[0].crash is not None:
            break
    on_class_now, shared_now = watch.kept_elsewhere()
    declared = replace(
        seen_in_class,
        state_on_class=tuple(sorted(changed)),
        tensors_on_class=grown(on_class, on_class_now),
        tensors_shared=grown(shared, shared_now),
    )
    return [replace(facts, declared=declared) for facts in found]


def derive(
    answer: type[Function],
    contract: Contract,
    cases: Sequence[Case],
    deadline: Deadline,
) -> list[Second | None]:
    """The derivative of the gradients, for each case. Raises: StoppedError."""
    watch = Watch(answer, deadline)
    found: list[Second | None] = []
    for number, case in enumerate(cases):
        try:
            found.append(_Probe(watch, contract, cases, number).second())
        except OutOfTimeError:
            raise StoppedError(case.name, watch.phase) from None
    return found


class _Probe:
    """All the trials of one case."""

    def __init__(
        self, watch: Watch, contract: Contract, cases: Sequence[Case], number: int
    ) -> None:
        self.watch, self.contract, self.number = watch, contract, number
        self.case = cases[number]
        self.planned = trials.plan(contract, cases, number)

    def look(
        self, derived: bool
    ) -> tuple[tuple[Trial, ...], Second | None, tuple[Tangent, ...]]:
        """Run every trial; a forward that fails is tried in one way only."""
        first, *planned = self.planned
        plain = self._trial(first)
        if plain.crash is not None:
            return (plain,), None, ()
        found = [plain]
        rest = iter(planned)
        for each in rest:
            if each.name in (trials.FIRST, f"{trials.SHARED} 0"):
                found += self._beside(each, next(rest))
            else:
                found.append(self._trial(each))
        second = self.second() if derived else None
        return tuple(found), second, tuple(self._tangents())

    def _call(self, planned: Planned, tensors: Sequence[Any] = ()) -> Call:
        same = planned.name == trials.SAME
        call = Call(
            self.watch, self.contract, planned.inputs, planned.needed, same, tensors
        )
        return call.forward()

    def _trial(self, planned: Planned) -> Trial:
        """One call, and a backward pass for each upstream gradient."""
        call = self._call(planned)
        kind, _, place = planned.name.partition(" ")
        if kind == trials.EXPANDED:
            return call.backward_of_the_sum().trial(planned.name)
        if kind == trials.WRITTEN and "crash" not in call.facts:
            call.write_into(int(place))
        for left, upstream in enumerate(planned.upstreams, 1 - len(planned.upstreams)):
            layout = kind if kind in trials.LAYOUTS else ""
            call.backward(upstream, keep=left < 0, layout=layout)
        return call.trial(planned.name)

    def _beside(self, one: Planned, other: Planned) -> tuple[Trial, Trial]:
        """Two calls before the first backward."""
        first = self._call(one)
        is_shared = one.name.startswith(trials.SHARED)
        second = self._call(other, first.leaves if is_shared else ())
        first.backward(*one.upstreams)
        returned = first.raw_copies()
        second.backward(*other.upstreams)
        rewritten = not same(returned, first.raw_copies())
        return first.trial(one.name, rewritten=rewritten), second.trial(other.name)

    def second(self) -> Second | None:
        """The derivative of the gradients, if the contract has something to say."""
        unasked = self.number > 0 and self.contract.second_derivative == "any"
        if unasked or self.contract.random or self.case.is_corner:
            return None
        return self._call(self.planned[0]).second(self.case.upstreams)

    def _tangents(self) -> list[Tangent]:
        return [
            forward_mode(self.watch, self.contract, self.case.inputs, tangents)
            for tangents in trials.tangents(self.contract, self.case)
        ]
