"""Wrong numbers: which element shows them, and which story explains them all."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from minigrad.course.casefile import (
    CaseFile,
    error_of,
    index_text,
    tolerance,
    worst,
)
from minigrad.course.catalogue import slopes
from minigrad.course.facts import Array, Facts, Trial
from minigrad.course.findings import UNNAMED, Evidence, Finding


def forward_values(case: CaseFile) -> Iterator[Finding]:
    """The result of forward, against the reference."""
    for fact, trial in case.trials("plain", "same"):
        expected = np.asarray(case.exercise.reference(*trial.inputs))
        assert trial.output is not None
        where = f"{case.name}.forward"
        if trial.output.shape != expected.shape:
            what = (
                f"for {fact.case.name}, forward returned shape "
                f"{tuple(trial.output.shape)}; it should have shape "
                f"{tuple(expected.shape)}"
            )
            yield Finding(UNNAMED, what, where, hint="Print the shape of each step.")
            return
        error = error_of(trial.output, expected)
        if error <= tolerance(expected):
            continue
        at = worst(trial.output, expected)
        digits = 6 if error > 1e-5 else 12
        what = (
            f"for {fact.case.name}, element {index_text(at)} of the result is"
            f" {trial.output[at]:.{digits}g}; it should be {expected[at]:.{digits}g}"
        )
        inputs = ", ".join(
            f"{case.argument(i)} = {a[at]:.6g}" for i, a in enumerate(trial.inputs)
        )
        evidence = Evidence(
            fact.case.name, "result", at, float(trial.output[at]), float(expected[at])
        )
        ids = ("T01",) if error <= 1e-5 else UNNAMED
        hint = "" if ids else "Compute this one element by hand and compare."
        yield Finding(ids, f"{what} ({inputs})", where, hint=hint, evidence=evidence)
        return


@dataclass
class _Sample:
    """One gradient of one slot beside the right one and all that explains it."""

    fact: Facts
    trial: Trial
    upstream: Array
    got: Array
    right: Array
    wrong: Mapping[str, Sequence[Array]] = field(default_factory=dict)

    @property
    def error(self) -> float:
        return error_of(self.got, self.right)

    @property
    def tolerance(self) -> float:
        return tolerance(self.trial.inputs[0])


def gradient_values(case: CaseFile) -> Iterator[Finding]:
    """Wrong numbers, slot by slot, each with the first story that fits everywhere."""
    stories: dict[int, tuple[str, ...]] = {}
    samples = _samples(case)
    for i, slot in samples.items():
        if any(s.error > max(s.tolerance, 1e-5) for s in slot):
            stories[i] = _story(slot)
    if stories and all(stories.get(i) == ("L04",) for i in samples):
        stories = dict.fromkeys(stories, _exchanged(case))
    for ids in dict.fromkeys(stories.values()):
        slots = [i for i in stories if stories[i] == ids]
        yield _gradient_finding(case, ids, slots, samples)


def _gradient_finding(
    case: CaseFile,
    ids: tuple[str, ...],
    slots: list[int],
    samples: dict[int, list[_Sample]],
) -> Finding:
    i = slots[0]
    sample = next(s for s in samples[i] if s.error > max(s.tolerance, 1e-5))
    if ids in (("L04",), ("L05",)):
        ids = _what_was_kept(case, i, ids[0])
    at = worst(sample.got, sample.right)
    got, right, upstream = sample.got[at], sample.right[at], sample.upstream[at]
    inputs = ", ".join(
        f"{case.argument(j)} = {a[at]:.6g}" for j, a in enumerate(sample.trial.inputs)
    )
    what = (
        f"for {sample.fact.case.name}, element {index_text(at)} of the gradient for"
        f" {case.argument(i)} is {got:.6g}; it should be {right:.6g}"
        f" ({inputs}, upstream gradient {upstream:.6g})"
    )
    evidence = Evidence(
        sample.fact.case.name,
        case.argument(i),
        at,
        float(got),
        float(right),
        float(upstream),
    )
    where = " and ".join(case.slot(j) for j in slots)
    if len(slots) == len(samples) > 1:
        where = f"{case.name}.backward, every value it returns"
    looks_like = ""
    if ids == ("L02",):
        k = _ratio(samples[i])
        looks_like = f"Your gradient is {k:.4g} times the right one, for every input."
    if ids == ("A03", "L04"):
        looks_like = (
            "Each value you return is the right one for the other input: either they"
            " are in each other's places, or each formula uses its own input."
        )
    hint = "" if ids else "Work this one element out by hand, then print each factor."
    return Finding(
        ids, what, where, looks_like=looks_like, hint=hint, evidence=evidence
    )


def _samples(case: CaseFile) -> dict[int, list[_Sample]]:
    samples: dict[int, list[_Sample]] = {}
    for fact, trial, run in case.passes("plain", "double", "zero"):
        right = case.truth(trial, run.upstream)
        wrong = _wrong_rules(case, trial, run.upstream)
        for i, got in enumerate(run.gradients):
            if got is not None:
                mine = {name: [w[i] for w in rules] for name, rules in wrong.items()}
                sample = _Sample(fact, trial, run.upstream, got, right[i], mine)
                samples.setdefault(i, []).append(sample)
    return samples


def _wrong_rules(
    case: CaseFile, trial: Trial, g: Array
) -> dict[str, list[tuple[Array, ...]]]:
    """What each wrong rule returns; special stories stand before constant factors."""
    output = np.asarray(case.exercise.reference(*trial.inputs))
    every = range(len(trial.inputs))
    right = case.truth(trial, g)
    rules = {
        "C03": [tuple(g for _ in every)],
        "C04": [
            case.truth(trial, np.full_like(g, g.mean() if g.size else 0.0)),
            case.truth(trial, np.full_like(g, g.sum())),
        ],
        "C05": [case.truth(trial, output), tuple(output for _ in every)],
    }
    for name, values in case.exercise.known_wrong(g, *trial.inputs).items():
        rules.setdefault(name, []).append(values)
    rules["L01"] = [tuple(-a for a in right)]
    rules["C06"] = [tuple(2.0 * a for a in right)]
    return rules


def _story(samples: list[_Sample]) -> tuple[str, ...]:
    """The one story that predicts the gradient of a slot in all samples."""
    for name in samples[0].wrong:
        for variant in range(len(samples[0].wrong[name])):
            if all(
                error_of(s.got, s.wrong[name][variant]) <= max(s.tolerance, 1e-5)
                for s in samples
            ):
                return (name,)
    if _scales(samples, 1.0):
        return ("C01",)
    if _scales(samples, 4.0):
        return ("C02",)
    return ("L02",) if _ratio(samples) is not None else UNNAMED


def _scales(samples: list[_Sample], factor: float) -> bool:
    """Whether twice the upstream gradient gives ``factor`` times the gradient."""
    by_name = {(s.fact.case.name, s.trial.name): s.got for s in samples}
    return any(np.any(got) for got in by_name.values()) and all(
        error_of(by_name[name, "double"], factor * got) <= 1e-5
        for (name, trial), got in by_name.items()
        if trial == "plain"
    )


def _ratio(samples: list[_Sample]) -> float | None:
    """The constant k with ``got == k * right`` in all samples."""
    got = np.concatenate([s.got.ravel() for s in samples])
    right = np.concatenate([s.right.ravel() for s in samples])
    k = float(got @ right / (right @ right))
    return k if error_of(got, k * right) <= 1e-5 and abs(k) > 1e-6 else None


def _exchanged(case: CaseFile) -> tuple[str, ...]:
    saved, unpacked = case.declared.saved_names, case.declared.unpacked_names
    if saved != unpacked and sorted(saved) == sorted(unpacked):
        return ("S02",)
    return ("A03", "L04")


def _what_was_kept(case: CaseFile, i: int, name: str) -> tuple[str, ...]:
    """Wrong formula for what was kept, or the wrong thing kept for the formula?"""
    _, trial = next(case.trials("plain"))
    kept = [*trial.saved, *(a.value for a in trial.attributes)]

    def is_kept(array: Array) -> bool:
        return any(np.array_equal(array, a) for a in kept)

    others = [a for j, a in enumerate(trial.inputs) if j != i]
    if kept and not all(is_kept(a) for a in others):
        return ("S01", name)
    if name == "L05" and trial.output is not None and is_kept(trial.output):
        return ("L05", "S01")
    return (name,)


def precision(case: CaseFile) -> Iterator[Finding]:
    """Gradients that are right to a few digits only."""
    for i, slot in _samples(case).items():
        for s in slot:
            if s.error > s.tolerance:
                at = worst(s.got, s.right)
                what = (
                    f"for {s.fact.case.name}, element {index_text(at)} of the gradient"
                    f" for {case.argument(i)} is {s.got[at]:.12g};"
                    f" it should be {s.right[at]:.12g}"
                )
                yield Finding(("T01",), what, case.slot(i))
                return


def second_derivatives(case: CaseFile) -> Iterator[Finding]:
    """Gradients whose own derivative is lost or wrong, with nothing said about it."""
    fact = case.facts[0]
    if fact.second is None:
        return
    inputs, g, weights = fact.case.inputs, fact.case.upstream, fact.second.weights

    def weighted(*values: Array) -> float:
        firsts = slopes(case.exercise.reference, values[:-1], values[-1])
        return float(sum(np.sum(w * f) for w, f in zip(weights, firsts, strict=True)))

    names = [*case.exercise.arguments, "the upstream gradient"]
    rights = _differences(weighted, (*inputs, g))
    off = [
        name
        for name, got, right in zip(names, fact.second.gradients, rights, strict=True)
        if error_of(np.zeros_like(right) if got is None else got, right) > 1e-4
    ]
    if off:
        lost = ", ".join(off)
        what = f"the derivative of your gradients for {lost} is missing or wrong"
        yield Finding(("D02",), what, f"{case.name}.backward")


def _differences(
    function: Callable[..., float], values: tuple[Array, ...]
) -> Iterator[Array]:
    """The slope of ``function`` for every value, by central differences."""
    step = 1e-5
    moved = [np.array(v, np.float64) for v in values]
    for array in moved:
        slope = np.empty(array.shape)
        for index in np.ndindex(array.shape):
            middle = array[index]
            ends = []
            for sign in (1, -1):
                array[index] = middle + sign * step
                ends.append(function(*moved))
            array[index] = middle
            slope[index] = (ends[0] - ends[1]) / (2 * step)
        yield slope
