"""Look at an answer: run it in many ways and write down facts, judging nothing."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from minigrad.autograd import Function
from minigrad.course.calls import Call, forward_mode
from minigrad.course.declared import declare
from minigrad.course.facts import (
    Array,
    Arrays,
    Case,
    Contract,
    Facts,
    Second,
    Tangent,
    Trial,
    is_float,
)
from minigrad.course.limits import Deadline, OutOfTimeError
from minigrad.course.watch import Watch, grown, same

THOROUGH = 3
"""On so many cases the Function is tried in the ways that do not ask for numbers."""

EVERYTHING = 2
"""On so many of them in all of these ways, those with the most calls included."""


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
) -> list[Facts]:
    """Run ``answer`` on each case in every way a mistake could show itself.

    ``before_forward`` is called before each forward, to draw the same numbers again.
    Raises: StoppedError if it still runs at the deadline (an hour, without one).
    """
    watch = Watch(answer, deadline or Deadline(3600.0), before_forward)
    seen_in_class = declare(answer)
    before, on_class, shared = watch.contents_of_class(), *watch.kept_elsewhere()
    found: list[Facts] = []
    changed: set[str] = set()
    for number, case in enumerate(cases):
        try:
            probe = _Probe(watch, contract, case, cases[(number + 1) % len(cases)])
            found.append(Facts(case, seen_in_class, *probe.look(number)))
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


class _Probe:
    """All the trials of one case; ``other`` is one that may be alive beside it."""

    def __init__(
        self, watch: Watch, contract: Contract, case: Case, other: Case
    ) -> None:
        self.watch, self.contract = watch, contract
        self.case, self.other = case, other
        self.all = tuple(i in case.differentiable for i in range(len(case.inputs)))

    def look(
        self, number: int
    ) -> tuple[tuple[Trial, ...], Second | None, tuple[Tangent, ...]]:
        """Run every trial; a forward that fails is tried in one way only.

        Numbers are looked at in all cases; how the Function keeps its state and what
        it makes of special upstream gradients, which do not depend on them, in the
        first few.
        """
        g = self.case.upstreams
        plain = self._trial("plain", g)
        if plain.crash is not None:
            return (plain,), None, ()
        trials = [
            plain,
            self._trial("double", times(2.0, g)),
            *self._single_outputs(),
        ]
        second = None
        if number == 0 or self.contract.second_derivative != "any":
            second = self._second()
        if number < THOROUGH:
            trials += [
                self._trial("negative", times(-1.0, g)),
                self._trial("zero", times(0.0, g)),
                self._trial("again", g, g, keep=True),
                self._call().forward().backward_of_the_sum().trial("expanded"),
                *self._frozen(),
                *self._one_tensor_twice(),
                *self._beside(self._with_other_numbers()),
            ]
        if number < EVERYTHING:
            trials += [*self._beside(self.other), *self._written()]
        return tuple(trials), second, tuple(self._tangents())

    def _call(self, inputs: tuple[Any, ...] | None = None, **options: Any) -> Call:
        needed = options.pop("needed", self.all)
        inputs = self.case.inputs if inputs is None else inputs
        return Call(self.watch, self.contract, inputs, needed, **options)

    def _trial(self, name: str, *upstreams: Arrays, keep: bool = False) -> Trial:
        """One call, and a backward pass for each of ``upstreams`` through its graph."""
        call = self._call().forward()
        for i, upstream in enumerate(upstreams):
            call.backward(upstream, keep=keep and i + 1 < len(upstreams))
        return call.trial(name)

    def _frozen(self) -> list[Trial]:
        """One input needs its gradient, the others do not."""
        places = self.case.differentiable
        if len(places) < 2:
            return []
        found = []
        for i in places:
            only = tuple(i == j for j in range(len(self.all)))
            call = self._call(needed=only).forward()
            found.append(call.backward(self.case.upstreams).trial(f"only {i}"))
        return found

    def _single_outputs(self) -> list[Trial]:
        """One output is used at a time."""
        g = self.case.upstreams
        places = [i for i, each in enumerate(g) if each is not None]
        if len(places) < 2:
            return []
        return [
            self._trial(
                f"output {i}", tuple(h if i == j else None for j, h in enumerate(g))
            )
            for i in places
        ]

    def _one_tensor_twice(self) -> list[Trial]:
        inputs = self.case.inputs
        arrays = [v for v in inputs if isinstance(v, np.ndarray)]
        if len(arrays) < 2 or len(arrays) < len(inputs):
            return []
        if len({(a.shape, a.dtype) for a in arrays}) > 1 or not all(self.all):
            return []
        call = self._call((inputs[0],) * len(inputs), same=True).forward()
        return [call.backward(self.case.upstreams).trial("same")]

    def _with_other_numbers(self) -> Case:
        """The case with other numbers in the same shapes."""
        rolled = tuple(np.roll(v, 1) if is_float(v) else v for v in self.case.inputs)
        return Case(self.case.name, rolled, times(1.25, self.case.upstreams))

    def _beside(self, other: Case) -> tuple[Trial, Trial]:
        """Two calls before the first backward: does either see the other's values?"""
        needed = tuple(i in other.differentiable for i in range(len(other.inputs)))
        first = self._call().forward()
        second = self._call(other.inputs, needed=needed).forward()
        first.backward(self.case.upstreams)
        returned = first.raw_copies()
        second.backward(other.upstreams)
        rewritten = not same(returned, first.raw_copies())
        return first.trial("first", rewritten=rewritten), second.trial("second")

    def _written(self) -> list[Trial]:
        """An input is changed in place after forward: is it noticed?"""
        places = [
            i for i, v in enumerate(self.case.inputs) if isinstance(v, np.ndarray)
        ]
        if self.contract.in_place:
            places.remove(0)
        found = []
        for i in places:
            call = self._call().forward()
            if "crash" not in call.facts:
                call.write_into(i).backward(self.case.upstreams)
            found.append(call.trial(f"written {i}"))
        return found

    def _second(self) -> Second | None:
        if self.contract.random:
            return None
        return self._call().forward().second(self.case.upstreams)

    def _tangents(self) -> list[Tangent]:
        """Each tangent alone, then twice as large, then all of them together."""
        if not self.contract.jvp:
            return []
        inputs = self.case.inputs
        full: Arrays = tuple(
            direction(value, i) if need else None
            for i, (value, need) in enumerate(zip(inputs, self.all, strict=True))
        )
        chosen = [
            tuple(t if i == j else None for j, t in enumerate(full))
            for i in self.case.differentiable
        ]
        chosen += [full, times(2.0, full)]
        return [forward_mode(self.watch, self.contract, inputs, t) for t in chosen]


def times(factor: float, arrays: Arrays) -> Arrays:
    """Every array times a number; None stays None."""
    return tuple(None if a is None else factor * a for a in arrays)


def direction(value: Array, place: int) -> Array:
    """A direction that is neither constant nor along one axis."""
    steps = np.arange(value.size, dtype=value.dtype).reshape(value.shape)
    towards: Array = np.cos(steps * (place + 1.7)) + np.asarray(0.3, value.dtype)
    return towards.astype(value.dtype)
