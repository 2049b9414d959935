"""A wrong answer on simpler numbers: where it's still wrong, and where it gets right.

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
"""So many of what is sent are sent alone."""

Look = Callable[[Case], tuple[Array | None, Array]]
"""What came in a case, and what is right."""


def said_of(look: Look, simpler: Iterator[tuple[str, Case]]) -> str:
    """The first that is still wrong, and those that are right and not all zeros."""
    seen = [(words, *look(case)) for words, case in simpler]
    told = [(w, a, b) for w, a, b in seen if b.any() and np.all(np.isfinite(b))]
    found = [(w, a, b) for w, a, b in told if a is not None and a.shape == b.shape]
    right = [w for w, got, wanted in found if error_of(got, wanted) <= COARSE]
    looks = ""
    for words, got, wanted in found:
        if words not in right:
            at = worst(got, wanted)
            looks = f"If {words}, element {index_text(at)} of yours is {got[at]:.4g}; "
            looks += f"it should be {wanted[at]:.4g}. "
            break
    return looks + (f"If {', or if '.join(right[:2])}, it's right." if right else "")


def units(case: Case, outputs: Sequence[str]) -> Iterator[tuple[str, Case]]:
    """The case with one element of its upstream gradients alone, which is 1."""
    gs = [None if g is None else np.zeros_like(g) for g in case.upstreams]
    count = sum([g.size for g in gs if g is not None])
    for place, g in enumerate(gs if 1 < count <= ELEMENTS else ()):
        for at in np.ndindex(g.shape) if g is not None else ():
            alone = np.array(g)
            alone[at] = 1.0
            words = f" for {outputs[place]}" * (len(outputs) > 1)
            words = f"1 arrives{words}{f' at {index_text(at)}' if at else ''} alone"
            yield words, replace(case, upstream=(*gs[:place], alone, *gs[place + 1 :]))


def constants(case: Case, names: Sequence[str]) -> Iterator[tuple[str, Case]]:
    """The case with one thing in it the same number everywhere."""
    for i, value in enumerate(case.inputs):
        for number in (0.0, 1.0) if is_float(value) or type(value) is float else ():
            told = np.full_like(value, number) if is_float(value) else number
            inputs = (*case.inputs[:i], told, *case.inputs[i + 1 :])
            words = f"{names[i]} is {number:g}{' everywhere' * is_float(value)}"
            yield words, replace(case, inputs=inputs)
    ones = tuple([None if g is None else np.ones_like(g) for g in case.upstreams])
    yield "1 arrives everywhere", replace(case, upstream=ones)
