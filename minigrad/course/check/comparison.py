"""What can be said of wrong numbers that no story predicts: where, and in what way.

The right values are the measure: a slope is taken apart into powers of the input or of
the result, a sum into the shares of its outputs, and the cases into right and wrong.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from minigrad.course.check import known_mistakes, partial_match
from minigrad.course.check.casefile import CaseFile, difference_of, error_of
from minigrad.course.check.facts import Array, Facts, Trial, is_float
from minigrad.course.check.samples import COARSE, Sample, close_to

POWERS = 4
"""Powers from 0 on, into which a slope is taken apart."""


@dataclass(frozen=True)
class Said:
    """A name, if there is one, and words of its own."""

    ids: tuple[str, ...]
    looks_like: str
    hint: str


def of_gradient(case: CaseFile, samples: Sequence[Sample]) -> Said | None:
    """The first that is true of the gradients of one slot, without a story."""
    plain = [s for s in samples if s.trial.name == "plain" and _has_its_shape(s)]
    wrong = [s for s in plain if s.is_wrong]
    if not wrong:
        return None
    ways = (
        _by_outputs(case, samples),
        _without_upstream(samples),
        _by_powers(case, plain),
        _by_cases([s.fact for s in plain], [s.fact for s in wrong]),
        _by_signs(wrong),
    )
    return next((said for said in ways if said), None)


def _has_its_shape(sample: Sample) -> bool:
    got = sample.got
    return got is not None and got.shape == sample.right.shape


def _by_outputs(case: CaseFile, samples: Sequence[Sample]) -> Said | None:
    """The share of one output is wrong, that of another one is right."""
    alone: dict[str, list[Sample]] = {}
    for s in samples:
        if s.trial.name.startswith("output "):
            alone.setdefault(s.trial.name, []).append(s)
    bad = [name for name, each in alone.items() if any(s.is_wrong for s in each)]
    if not bad or len(bad) == len(alone):
        return None
    names = case.contract.outputs
    wrong = " and ".join(names[int(each.split()[1])] for each in bad)
    right = " and ".join(names[int(n.split()[1])] for n in alone if n not in bad)
    share = alone[bad[0]]
    k = known_mistakes.ratio_of(
        [s.got for s in share if s.got is not None], [s.right for s in share]
    )
    looks = f"What comes back by way of {right} is right; by way of {wrong} it's wrong"
    hint = f"Use only the output {wrong}, and take its slope from a small step."
    if k is None:
        return Said((), f"{looks}.", hint)
    return Said(_of_ratio(k), f"{looks}: {k:.4g} times the right share.", hint)


def _of_ratio(k: float) -> tuple[str, ...]:
    return ("L01",) if abs(k + 1) < 1e-6 else ("L02",)


def _without_upstream(samples: Sequence[Sample]) -> Said | None:
    """Something is left where nothing comes from above."""
    zero = [s for s in samples if s.trial.name == "zero" and _has_its_shape(s)]
    left = [
        s
        for s in zero
        if s.got is not None and np.nanmax(np.abs(s.got), initial=0) > 1e-9
    ]
    if not left:
        return None
    return Said(
        (),
        "With an upstream gradient of zeros your gradient isn't zero: a term of it has "
        "no grad_output in it.",
        "Which terms does your backward add up? Each of them needs grad_output.",
    )


def _by_powers(case: CaseFile, plain: Sequence[Sample]) -> Said | None:
    """Slopes element by element, as a sum of powers of the input or of the result."""
    if len(case.contract.outputs) > 1:
        return None
    xs, ys, mine, theirs = [], [], [], []
    for s in plain:
        (g,), (y, *_) = s.run.upstreams, case.results(s.trial)
        x, got = s.trial.inputs[s.slot], s.got
        if g is None or got is None or g.shape != x.shape or y.shape != x.shape:
            return None
        if s.tolerance > 1e-6 or s.fact.case.is_corner:
            continue
        use = (g != 0) & (np.abs(x) < 20) & np.isfinite(got)
        xs.append(np.asarray(x)[use])
        ys.append(np.asarray(y)[use])
        mine.append((got[use] / g[use]).ravel())
        theirs.append((s.right[use] / g[use]).ravel())
    if not xs:
        return None
    in_result, in_x = (
        [
            _coefficients(
                np.concatenate([*map(np.ravel, base)]), np.concatenate(slopes)
            )
            for slopes in (mine, theirs)
        ]
        for base in (ys, xs)
    )
    for name, (told, right) in (("the result", in_result), ("x", in_x)):
        if told is not None and right is not None:
            return _of_coefficients(name, told, right)
    for told, right in ((in_result[0], in_x[1]), (in_x[0], in_result[1])):
        if told is not None and right is not None and np.allclose(told, right):
            return Said(("L05",), "", "")
    return None


def _coefficients(base: Array, values: Array) -> Array | None:
    """Of the powers that make up ``values``; None if they do not."""
    if len({*base.round(9).tolist()}) <= POWERS:
        return None
    powers = np.vander(base, POWERS, increasing=True)
    found, *_ = np.linalg.lstsq(powers, values, rcond=None)
    if error_of(powers @ found, values) > 1e-6:
        return None
    return np.asarray(np.where(np.abs(found) < 1e-6, 0.0, found))


def _of_coefficients(name: str, mine: Array, right: Array) -> Said | None:
    """Which term of a slope is another one."""
    off = np.abs(mine - right) > 1e-5
    if not off.any():
        return None
    looks = "The numbers are those of a slope with one term that isn't right."
    hint = f"Take the slope at two points with a small step. Which power of {name} is "
    hint += "in each of your terms, with which factor and sign?"
    if np.allclose(np.abs(mine), np.abs(right), atol=1e-5):
        return Said(("L01",), "A term of your slope has the other sign.", hint)
    if np.allclose(np.sort(mine), np.sort(right), atol=1e-5):
        looks = f"A term of your slope has {name} in a power too high or too low."
        return Said(("L03",), looks, hint)
    if np.count_nonzero(off) == 1:
        at = int(np.argmax(off))
        if right[at] != 0 != mine[at]:
            looks = "A term of your slope has another constant factor."
            return Said(("L02",), looks, hint)
        if mine[at] == 0:
            return Said((), "A term of the slope is missing.", hint)
    return Said((), looks, hint)


def _by_cases(every: Sequence[Facts], wrong: Sequence[Facts]) -> Said | None:
    """Right for some inputs, and wrong for others."""
    bad = {id(fact) for fact in wrong}
    good = [f for f in every if id(f) not in bad and all(_is_long(f))]
    if not good:
        return None
    return Said(
        (),
        f"It's right for {good[0].case.name}, and wrong for {wrong[0].case.name}.",
        "What is different in the second one? Run your Function on both, and compare.",
    )


def _is_long(fact: Facts) -> Iterator[bool]:
    return (v.size > 1 for v in fact.case.inputs if is_float(v))


def _by_signs(wrong: Sequence[Sample]) -> Said | None:
    """Right for inputs of one sign, wrong for the others."""
    ways = {"positive": np.greater, "negative": np.less}
    for name, compare in ways.items():
        fits = []
        for s in wrong:
            x, got = s.trial.inputs[s.slot], s.got
            if got is None:
                return None
            off = difference_of(got, s.right) > COARSE * max(1.0, np.abs(s.right).max())
            fits.append(not np.any(off & compare(x, 0)) and np.any(off))
        if fits and all(fits):
            other = "negative" if name == "positive" else "positive"
            looks = f"It's right where the input is {name}, and wrong where it isn't."
            hint = f"How steep is the function where the input is {other}, or 0?"
            return Said((), looks, hint)
    return None


Wrong = tuple[Facts, Trial, Array]


def of_result(case: CaseFile, place: int, off: Sequence[Wrong]) -> Said | None:
    """The same of what forward returned."""
    seen = []
    for fact, trial in case.plain:
        got = None if trial.crash else trial.outputs[place].value
        right = case.results(trial)[place]
        if got is None or got.shape != right.shape or case.contract.random:
            return None
        seen.append((fact, trial, got, right))
    k = known_mistakes.ratio_of([s[2] for s in seen], [s[3] for s in seen])
    if k is not None:
        looks = f"Your result is {k:.4g} times the right one, for every input."
        if abs(k + 1) < 1e-6:
            looks = "Your result has the other sign, for every input."
        hint = "Work out the result for one small number on paper, and compare."
        return Said(_of_ratio(k), looks, hint)
    close = max(close_to(case.tolerance(t)) for _, t, _, _ in seen)
    pairs = [(got, right) for _, _, got, right in seen]
    if all(error_of(np.abs(a), np.abs(b)) <= close for a, b in pairs):
        hint = "For which inputs is the right result negative, and what is yours there?"
        return Said(("L01",), "Only signs are wrong, and not all of them.", hint)
    steps = np.concatenate([(a - b).ravel() for a, b in pairs])
    if steps.size and np.ptp(steps) <= 1e-6 * max(1.0, float(np.abs(steps).max())):
        looks = f"Your result is off by {steps[0]:.4g}, for every input."
        hint = "Which constant do you add, or leave out?"
        return Said(("L02",), looks, hint)
    given = [s[1].inputs[0] for s in seen]
    if all(
        a.shape == np.shape(x) and error_of(a, x) <= close
        for (a, _), x in zip(pairs, given, strict=True)
    ):
        x = case.argument(0)
        hint = "Which line of forward computes, and is it what forward returns?"
        return Said((), f"forward returned the numbers of {x} as they came.", hint)
    wrong = [fact for fact, _, _ in off]
    if partial_match.follows_an_option(case, wrong):
        return Said(("R08",), "", "")
    return _by_cases(case.facts, wrong)
