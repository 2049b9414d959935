"""A wrong answer on simpler numbers: where it gets right, or what alone is wrong.

For wrong numbers that neither a story nor a change of the source explains.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from minigrad.course.check.casefile import error_of, index_text, worst
from minigrad.course.check.facts import Array, Case, is_float
from minigrad.course.check.findings import Finding
from minigrad.course.check.references import References
from minigrad.course.check.samples import COARSE

CASES, ELEMENTS = 3, 36
"""So many cases are made simpler, and so many elements sent alone."""

Told = tuple[str, str]


@dataclass(frozen=True)
class Simpler:
    """``answer`` gives what an answer returns: its results, or its gradients.

    Of these one ``place`` is wrong.
    """

    names: Sequence[str]
    references: References
    place: int
    is_gradient: bool
    answer: Callable[[Case], Sequence[Array | None]]

    def explained(self, finding: Finding, wrong: Sequence[Case]) -> Finding:
        """The finding with what simpler numbers show, if they show something."""
        cases = [case for case in wrong if not case.is_bare][:CASES]
        told = self.of_units(cases[0]) if cases and self.is_gradient else None
        told = told or (self.of_constants(cases) if cases else None)
        if told is None:
            return finding
        return replace(finding, looks_like=told[0], hint=told[1])

    def of_constants(self, cases: Sequence[Case]) -> Told | None:
        """An argument, or what is sent, that is one number makes it right."""
        numbers = [
            n
            for n in range(len(self.names))
            if any([type(case.inputs[n]) is float for case in cases])
        ]
        every = [dict(constants(case, self.names, numbers)) for case in cases]
        found = []
        for words in every[0]:
            told = [self.seen(simple[words]) for simple in every]
            is_told = any([right.any() for _, right in told])
            if is_told and not any([is_off(*each) for each in told]):
                found.append(words)
        if not found:
            return None
        looks = f"It's right if {', or if '.join(found)}."
        what = found[0].partition(" is ")[0]
        return looks, f"What does another value of {what} change, and in which line?"

    def of_units(self, case: Case) -> Told | None:
        """One element of what is sent alone brings back another number."""
        seen = [(at, *self.seen(alone)) for at, alone in units(case)]
        wrong = [each for each in seen if is_off(*each[1:])]
        right = [at for at, got, right in seen if not is_off(got, right)]
        if not wrong or not right:
            return None
        at, got, expected = wrong[0]
        looks = f"With grad_output 1 at {index_text(at)} and 0 elsewhere"
        if got is None or got.shape != expected.shape:
            return None
        where = worst(got, expected)
        name = self.names[self.place]
        looks += f", element {index_text(where)} of the gradient for {name} is "
        looks += f"{got[where]:.4g}; it should be {expected[where]:.4g}."
        looks += f" With the 1 at {index_text(right[0])} it's right."
        return looks, f"Does this element of the result depend on {name}, and how?"

    def seen(self, case: Case) -> tuple[Array | None, Array]:
        """What came, and what is right."""
        if self.is_gradient:
            rights = self.references.gradients(case.inputs, case.upstreams)
        else:
            rights = self.references.result(case.inputs)
        right = rights[self.place]
        assert right is not None  # something is wrong with it
        return self.answer(case)[self.place], right


def is_off(got: Array | None, right: Array) -> bool:
    """Whether this isn't the right array, or there is no right one."""
    finite = bool(np.all(np.isfinite(right)))
    return not finite or got is None or error_of(got, right) > COARSE


def constants(
    case: Case, names: Sequence[str], numbers: Sequence[int]
) -> Iterator[tuple[str, Case]]:
    """The case with one thing in it the same number everywhere, and words for that.

    ``numbers`` are the places of plain numbers.
    """
    for i, value in enumerate(case.inputs):
        for number in (0.0, 1.0):
            told = number if i in numbers else None
            words = f"{names[i]} is {number:g}"
            if is_float(value):
                told, words = np.full_like(value, number), f"{words} everywhere"
            if told is not None:
                inputs = (*case.inputs[:i], told, *case.inputs[i + 1 :])
                yield words, replace(case, inputs=inputs)
    ones = tuple([None if g is None else np.ones_like(g) for g in case.upstreams])
    yield "grad_output is 1 everywhere", replace(case, upstream=ones)


def units(case: Case) -> Iterator[tuple[tuple[int, ...], Case]]:
    """The case with one element of its upstream gradient alone, which is 1."""
    g = case.upstreams[0]
    if len(case.upstreams) == 1 and g is not None and g.size <= ELEMENTS:
        for at in np.ndindex(g.shape):
            alone = np.zeros_like(g)
            alone[at] = 1.0
            yield at, replace(case, upstream=alone)
