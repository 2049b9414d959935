"""One wrong element in words: which one, in which case, both values, what it met."""

from __future__ import annotations

from typing import Any

import numpy as np

from minigrad.course.check.casefile import CaseFile, index_text, worst
from minigrad.course.check.facts import Array, Facts, Trial
from minigrad.course.check.findings import Evidence
from minigrad.course.check.samples import Sample

SHORT = 6
"""An array with more numbers than this is told by its shape."""


def of_gradient(case: CaseFile, sample: Sample) -> tuple[str, Evidence]:
    """The worst element of a wrong gradient, as a sentence and as data."""
    got, right, name = sample.got, sample.right, case.argument(sample.slot)
    if not sample.is_wrong and sample.raw is not None:
        got = sample.raw  # the engine has mended its shape, or its numbers are right
    assert got is not None
    start = f"for {_case_of(sample.fact, sample.trial)}"
    if got.shape != right.shape:
        what = f"{start}, the gradient for {name} has shape {shape_text(got.shape)};"
        what += f" {name} has shape {shape_text(right.shape)}"
        return what, _evidence(case, sample, (), float("nan"), float("nan"))
    at = worst(got, right)
    mine, wanted = told_apart(got[at], right[at])
    what = f"{start}, element {index_text(at)} of the gradient for {name} is {mine};"
    what += f" it should be {wanted}"
    met = inputs_at(case, sample.trial, at, right.shape)
    met += [_upstream(case, sample, at)]
    evidence = _evidence(case, sample, at, float(got[at]), float(right[at]))
    return f"{what} ({', '.join(met)})", evidence


def of_result(
    case: CaseFile, fact: Facts, trial: Trial, place: int, right: Array
) -> tuple[str, Evidence]:
    """The worst element of what forward returned, as a sentence and as data."""
    got = trial.outputs[place].value
    assert got is not None
    at = worst(got, right)
    mine, wanted = told_apart(got[at], right[at])
    name = output_name(case, place)
    what = f"for {_case_of(fact, trial)}, element {index_text(at)} of {name} is {mine};"
    what += f" it should be {wanted}"
    met = inputs_at(case, trial, at, right.shape)
    evidence = Evidence(
        fact.case.name,
        case.contract.outputs[place],
        at,
        float(got[at]),
        float(right[at]),
        number=case.number_of(fact),
        trial=trial.name,
        values=got,
        right=right,
    )
    return f"{what} ({', '.join(met)})", evidence


def told_apart(a: float, b: float, digits: int = 6) -> tuple[str, str]:
    """Two numbers, with as many digits as tell them apart."""
    while f"{a:z.{digits}g}" == f"{b:z.{digits}g}" and digits < 17:
        digits += 1
    return f"{a:z.{digits}g}", f"{b:z.{digits}g}"


def output_name(case: CaseFile, place: int) -> str:
    """An output as a message calls it."""
    if len(case.contract.outputs) == 1:
        return "the result"
    return f"the output {case.contract.outputs[place]}"


def _evidence(
    case: CaseFile, sample: Sample, at: tuple[int, ...], got: float, right: float
) -> Evidence:
    upstream = None
    if len(sample.run.upstreams) == 1:
        upstream = element(sample.run.upstreams[0], at, sample.right.shape)
    return Evidence(
        sample.fact.case.name,
        case.argument(sample.slot),
        at,
        got,
        right,
        upstream,
        number=case.number_of(sample.fact),
        trial=sample.trial.name,
        values=sample.got,
        right=sample.right,
    )


def _case_of(fact: Facts, trial: Trial) -> str:
    """The case, and what is special about this trial of it."""
    kinds = {
        "zero": "with an upstream gradient of zeros",
        "expanded": "with the expanded upstream gradient of y.sum()",
        "first": "beside another call",
        "second": "with other numbers",
    }
    special = kinds.get(trial.name, "")
    return f"{fact.case.name}, {special}" if special else fact.case.name


def inputs_at(
    case: CaseFile, trial: Trial, at: tuple[int, ...], shape: tuple[int, ...]
) -> list[str]:
    """The arguments that meet in one element: numbers where they can be told."""
    found = []
    for i, value in enumerate(trial.inputs):
        found.append(f"{case.argument(i)} {value_text(value, at, shape)}")
    return found


def value_text(value: Any, at: tuple[int, ...], shape: tuple[int, ...]) -> str:
    """``= 2.5``, or the shape of what is too long to be quoted."""
    if not isinstance(value, np.ndarray):
        return f"= {value:.6g}" if isinstance(value, float) else f"= {value!r}"
    number = element(value, at, shape)
    if number is not None:
        return f"= {number:.6g}"
    if value.size <= SHORT:
        numbers = np.array2string(value, precision=4, separator=", ")
        return f"= {' '.join(numbers.split())}"
    return f"of shape {shape_text(value.shape)}"


def _upstream(case: CaseFile, sample: Sample, at: tuple[int, ...]) -> str:
    shape = sample.right.shape
    if len(sample.run.upstreams) == 1:
        return f"upstream gradient {_plain(sample.run.upstreams[0], at, shape)}"
    parts = []
    for name, g in zip(case.contract.outputs, sample.run.upstreams, strict=True):
        text = "None, unused" if g is None else _plain(g, at, shape)
        parts.append(f"upstream gradient of {name} {text}")
    return ", ".join(parts)


def _plain(value: Any, at: tuple[int, ...], shape: tuple[int, ...]) -> str:
    return value_text(value, at, shape).removeprefix("= ")


def element(
    value: Array | None, at: tuple[int, ...], shape: tuple[int, ...]
) -> float | None:
    """The number that belongs to an element; None if the shapes do not say so."""
    if value is None or value.shape != shape or len(at) != value.ndim:
        return None
    return float(value[at])


def about_shape(got: Array, right: Array) -> str:
    """What is true of a wrong shape, whatever the numbers."""
    lengths = enumerate(zip(got.shape, right.shape, strict=False))
    off = [(axis, *pair) for axis, pair in lengths if len({*pair}) > 1]
    if got.ndim == right.ndim and len(off) == 1:
        return "Axis {} has length {}; it should be {}.".format(*off[0])
    if got.size == right.size:
        return "It has as many numbers as it should, in another shape."
    if got.size > right.size:
        return "It has more numbers than it should."
    if got.ndim < right.ndim:
        return "It has fewer axes than it should: one was reduced, or was never made."
    return "It has fewer numbers than it should."


def shape_text(shape: tuple[int, ...]) -> str:
    """A shape as Python writes it."""
    return str(tuple(int(n) for n in shape))
