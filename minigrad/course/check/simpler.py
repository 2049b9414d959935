"""A wrong answer on simpler numbers: where it gets right, or what alone is wrong.

For wrong numbers that neither a story nor a change of the source explains.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

import numpy as np

from minigrad.course.check.casefile import error_of, index_text, worst
from minigrad.course.check.facts import Array, Case, is_float
from minigrad.course.check.samples import COARSE

ELEMENTS = 36
"""So many are sent alone."""

Look = Callable[[Case], tuple[Array | None, Array]]
"""What came in a case, and what is right."""


def of_constants(look: Look, case: Case, names: Sequence[str]) -> tuple[str, str]:
    """What makes it right once it's one number: an argument, or what is sent."""
    seen = [(words, *look(simple)) for words, simple in constants(case, names)]
    found = [w for w, got, right in seen if right.any() and not is_off(got, right)]
    if found:
        what = found[0].partition(" is ")[0]
        looks = f"In this case it's right if {', or if '.join(found)}."
        return looks, f"What does another value of {what} change, and in which line?"
    for words, got, right in seen:
        if right.any() and got is not None and got.shape == right.shape != (0,):
            at = worst(got, right)
            looks = f"In this case, if {words}, element {index_text(at)} is "
            looks += f"{got[at]:.4g}; it should be {right[at]:.4g}."
            return looks, "Which terms of your formula are left then, and which should?"
    return "", ""


def constants(case: Case, names: Sequence[str]) -> Iterator[tuple[str, Case]]:
    """The case with one thing in it the same number everywhere, and words for that."""
    for i, value in enumerate(case.inputs):
        for number in (0.0, 1.0) if is_float(value) or type(value) is float else ():
            told = np.full_like(value, number) if is_float(value) else number
            inputs = (*case.inputs[:i], told, *case.inputs[i + 1 :])
            words = f"{names[i]} is {number:g}{' everywhere' * is_float(value)}"
            yield words, replace(case, inputs=inputs)
    ones = tuple([None if g is None else np.ones_like(g) for g in case.upstreams])
    yield "grad_output is 1 everywhere", replace(case, upstream=ones)


def of_units(
    look: Look, case: Case, name: str, outputs: Sequence[str]
) -> tuple[str, str]:
    """An element of what is sent that alone brings back another number."""
    seen = [(words, *look(alone)) for words, alone in units(case, outputs)]
    wrong = [each for each in seen if is_off(*each[1:])]
    right = [words for words, got, expected in seen if not is_off(got, expected)]
    words, got, expected = (*wrong, ("", None, np.zeros(())))[0]
    if got is None or got.shape != expected.shape or not seen[1:]:
        return "", ""
    at = worst(got, expected)
    looks = f"With a gradient of 1 {words} and 0 elsewhere, element {index_text(at)} "
    looks += f"of yours for {name} is {got[at]:.4g}; it should be {expected[at]:.4g}."
    looks += f" With the 1 {right[0]} it's right." if right else ""
    return looks, f"Does this element of the result depend on {name}, and how?"


def units(case: Case, outputs: Sequence[str]) -> Iterator[tuple[str, Case]]:
    """The case with one element of its upstream gradients alone, which is 1."""
    gs = [None if g is None else np.zeros_like(g) for g in case.upstreams]
    if sum([g.size for g in gs if g is not None]) > ELEMENTS:
        return
    for place, g in enumerate(gs):
        for at in np.ndindex(g.shape) if g is not None else ():
            alone = np.array(g)
            alone[at] = 1.0
            words = f"for {outputs[place]} " if outputs[1:] else ""
            sent = (*gs[:place], alone, *gs[place + 1 :])
            words += f"at {index_text(at)}" if at else ""
            yield words.strip(), replace(case, upstream=sent)


def is_off(got: Array | None, right: Array) -> bool:
    """Whether this isn't the right array, or there is no right one."""
    is_known = bool(np.all(np.isfinite(right)))
    return not is_known or got is None or error_of(got, right) > COARSE
