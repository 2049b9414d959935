"""What can be said of wrong numbers that no story predicts: where, and in what way.

The right values are the measure: a slope is taken apart into powers of the input or of
the result, a sum into the shares of its outputs, and the cases into right and wrong.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import permutations
from typing import Any

import numpy as np

from minigrad.course.check import (
    known_mistakes,
    other_inputs,
    traits,
    wording,
)
from minigrad.course.check.casefile import CaseFile, difference_of, error_of
from minigrad.course.check.facts import Array, Arrays, Facts, Trial, is_float
from minigrad.course.check.samples import COARSE, Sample, close_to

MANY = 20
"""In so many ways some of the cases could be wrong, or more: then it says something."""

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
        return by_use(case, samples)
    if is_zero(plain):
        hint = "Move one number of this input by a little. Does the result not move?"
        return Said((), "Your gradient is zero everywhere.", hint)
    ways = (
        _by_outputs(case, samples),
        _without_upstream(samples),
        _by_powers(case, plain),
        _of_signs(case, plain),
        None if case.contract.random else _not_in_proportion(samples),  # other draws
        _taken_for(case, plain),
        _by_elements(case, plain),
        _by_ratios(case, plain),
        growing(case, "gradient", [(s.trial, s.got, s.right) for s in plain]),
        by_cases(case, [s.fact for s in plain], [s.fact for s in wrong]),
        moved([(s.got, s.right) for s in plain if s.got is not None]),
        nearly("gradient", [(s.got, s.right) for s in plain if s.got is not None]),
        unwritten("gradient", [(s.got, s.right) for s in plain if s.got is not None]),
        _another_slope(case, wrong[0]),
        _by_rows(plain),
    )
    return next((said for said in ways if said), None)


def is_zero(samples: Sequence[Sample]) -> bool:
    """Whether nothing but zeros came back."""
    return not any([s.got is not None and s.got.any() for s in samples])


def _by_rows(plain: Sequence[Sample]) -> Said | None:
    """Rows that add up to 0, as a result that stays wants it, and do so no more."""
    pairs = [(s.got, s.right) for s in plain if s.got is not None and s.right.ndim]
    mine, theirs = (
        [np.abs(a.sum(-1)) > 1e-4 * np.abs(b).max(initial=1e-3) for a, b in arrays]
        for arrays in (pairs, [(right, right) for _, right in pairs])
    )
    if any([each.any() for each in theirs]) or not all([a.any() for a in mine]):
        return None
    looks = "In the right gradient each row adds up to 0; in yours it doesn't."
    hint = "Add one number to a whole row of the input: the result stays as it is. "
    return Said((), looks, f"{hint}Which of your terms makes the rest add up to 0?")


def _has_its_shape(sample: Sample) -> bool:
    got = sample.got
    return got is not None and got.shape == sample.right.shape


def _by_outputs(case: CaseFile, samples: Sequence[Sample]) -> Said | None:
    """The share of one output is wrong, that of another one is right."""
    alone = _used_alone(case, samples)
    bad = [name for name, each in alone.items() if any(s.is_wrong for s in each)]
    if said := by_use(case, samples):
        return said
    each_alone = itertools.chain(*alone.values())
    if len(bad) > 1 and all(map(_arrives_elsewhere, each_alone)):
        looks = "What one output alone sends back is right where it belongs, and it "
        looks += "arrives at other elements, too."
        hint = "Use one output at a time. Which elements can its gradient go to?"
        return Said((), looks, hint)
    if not bad or len(bad) == len(alone):
        return None
    wrong = " and ".join(bad)
    right = " and ".join([name for name in alone if name not in bad])
    share = alone[bad[0]]
    k = known_mistakes.ratio_of(
        [s.got for s in share if s.got is not None], [s.right for s in share]
    )
    looks = f"What comes back by way of {right} is right; by way of {wrong} it's wrong"
    hint = f"Use only the output {wrong}, and take its slope from a small step."
    if k is None:
        return Said((), f"{looks}.", hint)
    return Said(of_ratio(k), f"{looks}: {k:.4g} times the right share.", hint)


def by_use(case: CaseFile, samples: Sequence[Sample]) -> Said | None:
    """Wrong for just one choice of outputs that are used, and tried with others."""
    off = {_used(case, s) for s in samples if s.is_wrong}
    others = {_used(case, s) for s in samples} - off
    if len(off) != 1 or not others:
        return None
    (used,) = off
    if len(used) == 1:
        looks = f"It's wrong only when {used[0]} alone is used."
        hint = "Use only that one. Which lines of backward run then, and which don't?"
        return Said((), looks, hint)
    looks = "With only one output used it's right; with several of them it isn't."
    hint = "Each output has its share in the gradient. How do you put them together?"
    return Said((), looks, hint) if len(others) > 1 else None


def _used_alone(case: CaseFile, samples: Sequence[Sample]) -> dict[str, list[Sample]]:
    """The samples of one output alone; none if what is wrong has no such sample."""
    alone: dict[str, list[Sample]] = {}
    for s in samples:
        used = _used(case, s)
        if len(used) == 1:
            alone.setdefault(used[0], []).append(s)
    seen = {id(s.fact) for each in alone.values() for s in each}
    is_told = all([id(s.fact) in seen for s in samples if s.is_wrong])
    return alone if is_told else {}


def _used(case: CaseFile, sample: Sample) -> tuple[str, ...]:
    """The names of the outputs that send a gradient."""
    pairs = zip(case.contract.outputs, sample.run.upstreams, strict=True)
    return tuple([name for name, g in pairs if g is not None])


def _arrives_elsewhere(sample: Sample) -> bool:
    """Whether it is right wherever something belongs; and more where nothing does."""
    got, right = sample.got, sample.right
    if got is None or got.shape != right.shape:
        return False
    mine = np.where(right != 0, got, 0.0)
    return error_of(mine, right) <= close_to(sample.tolerance)


def of_ratio(k: float) -> tuple[str, ...]:
    return ("L01",) if abs(k + 1) < 1e-6 else ("L02",)


def _of_signs(case: CaseFile, plain: Sequence[Sample]) -> Said | None:
    """Signs are all that is wrong, and not all of them are."""
    pairs = [(s, s.got) for s in plain if s.got is not None]
    if not all(
        error_of(np.abs(got), np.abs(s.right)) <= close_to(s.tolerance)
        for s, got in pairs
    ):
        return None
    looks = "Only signs are wrong, and not all of them."
    if taken := _taken_for(case, plain):
        return replace(taken, ids=("L01",), looks_like=f"{looks} {taken.looks_like}")
    found = where(case, [(s.trial, got, s.right) for s, got in pairs], _sent_to(plain))
    hint = "Print all inputs, what arrives and yours. What have the elements with the "
    return Said(("L01",), f"{looks} {found}".rstrip(), f"{hint}wrong sign in common?")


def _without_upstream(samples: Sequence[Sample]) -> Said | None:
    """Something is left where nothing comes from above."""
    zero = [s for s in samples if s.trial.name == "zero" and _has_its_shape(s)]
    got = [s.got for s in zero if s.got is not None]
    left = [a for a in got if np.max(np.abs(a), initial=0.0) > 1e-9]
    if not left or not all([np.all(np.isfinite(a)) for a in left]):
        return None
    return Said(
        (),
        "With an upstream gradient of zeros your gradient isn't zero: a term of it has "
        "no grad_output in it.",
        "Which terms does your backward add up? Each of them needs grad_output.",
    )


def _not_in_proportion(samples: Sequence[Sample]) -> Said | None:
    """Another multiple of the upstream gradient does not give that of the gradient."""
    by_name = {(s.fact.case.name, s.trial.name): s.got for s in samples}
    times = {"double": (2, "Twice", "twice"), "negative": (-1, "Minus", "minus")}
    for (name, trial), got in by_name.items():
        for other, (k, start, end) in times.items():
            more = by_name.get((name, other))
            if trial != "plain" or got is None or more is None or not got.size:
                continue
            if got.shape != more.shape or error_of(more, k * got) <= 1e-4:
                continue
            return Said(
                (),
                f"{start} the upstream gradient doesn't give {end} your gradient.",
                "Each term has to hold grad_output once, as a factor. Which line of "
                "backward does something else with it?",
            )
    return None


NEAR = 0.01
"""Of the right value, no element is off by more, and then it's nearly right."""


def nearly(what: str, pairs: Sequence[tuple[Array, Array]]) -> Said | None:
    """Off by a small part of its value at each element, and at nearly all of them.

    Or at each that a float16 can hold.
    """
    if not pairs:
        return None
    mine, right = (
        np.concatenate([a.ravel() for a in each]) for each in zip(*pairs, strict=True)
    )
    for limits in (np.finfo(np.float64), np.finfo(np.float16)):
        use = (np.abs(right) > limits.tiny) & (np.abs(right) <= limits.max)
        if np.any(mine[right == 0]) or not use.any():
            return None
        off = np.abs(mine[use] / right[use] - 1)
        if off.max() <= NEAR and np.median(off) >= 1e-9:
            there = "everywhere" if limits.bits == 64 else "where a float16 can hold it"
            looks = f"Your {what} is nearly right {there}: it's off by {off.max():.1g} "
            looks += "of its value, or less."
            hint = "Is a constant cut off after a few digits, something approximated, "
            return Said((), looks, f"{hint}or a dtype too narrow, such as float16?")
    return None


def growing(
    case: CaseFile, what: str, seen: Sequence[tuple[Trial, Array | None, Array]]
) -> Said | None:
    """Off by more and more, the farther the first input is from 0."""
    told = [
        (np.abs(t.inputs[0]), difference_of(a, b) / np.maximum(np.abs(b), 1e-3))
        for t, a, b in seen
        if a is not None and a.shape == b.shape == np.shape(t.inputs[0])
    ]
    if len(told) < len(seen):
        return None
    far, off = (np.concatenate([*map(np.ravel, a)]) for a in zip(*told, strict=True))
    usual = [n for n in np.argsort(far) if 0 < far[n] < 10]
    far, off = far[usual], off[usual]
    if off.size < 2 * POWERS or not np.all(np.isfinite(off)) or off[-1] < COARSE:
        return None
    if 2 * np.unique(off).size < off.size:
        return None  # right and wrong, and nothing that grows between
    ranks = np.argsort(np.argsort(off))
    is_ordered = np.corrcoef(ranks, np.arange(off.size))[0, 1] > 0.9
    if not is_ordered or off[0] > off[-1] * (far[0] / far[-1]) ** 2:
        return None
    x = case.argument(0)
    looks = f"The farther {x} is from 0, the more your {what} is off: by "
    looks += f"{off[0]:.1g} of its value for {far[0]:.3g}, and by {off[-1]:.1g} for "
    looks += f"{far[-1]:.3g}."
    hint = "Is something there that's good near 0 only, as the first terms of a series?"
    return Said((), looks, hint)


def unwritten(what: str, pairs: Sequence[tuple[Array, Array]]) -> Said | None:
    """Zero wherever it's wrong, and right elsewhere, as where a loop doesn't come."""
    told = [(a, b, np.isclose(a, b, 1e-4, 1e-4)) for a, b in pairs]
    zero = not any([a[~close].any() for a, _, close in told])
    some = any([(close & (b != 0)).any() for _, b, close in told])
    if not zero or not some or all([close.all() for *_, close in told]):
        return None
    looks = f"Your {what} is 0 wherever it's wrong, and right at all other elements."
    hint = (
        "Print the indices of these elements. Are they left out, or made 0 somewhere?"
    )
    return Said((), looks, hint)


def moved(pairs: Sequence[tuple[Array, Array]]) -> Said | None:
    """The right numbers, at other places."""
    if not all([np.all(np.isfinite(a)) for a, _ in pairs]):
        return None
    if all([error_of(np.sort(a, None), np.sort(b, None)) < 1e-9 for a, b in pairs]):
        return Said(
            (),
            "All the right numbers are there, at other places.",
            "Which axis, or which index, decides where a number goes?",
        )
    return None


def _another_slope(case: CaseFile, s: Sample) -> Said | None:
    """The upstream gradient enters as it should; the slope itself is another one."""
    if len(s.run.upstreams) > 1 or s.got is None:
        return None
    (g,), x = s.run.upstreams, s.trial.inputs[s.slot]
    (y, *_) = case.results(s.trial)
    if g is None or g.shape != x.shape or y.shape != x.shape or not np.all(g):
        return None
    off = difference_of(s.got, s.right) > COARSE * max(1.0, np.abs(s.right).max())
    at = tuple(int(n) for n in np.argwhere(off)[0]) if off.any() else (0,) * x.ndim
    alone = np.zeros_like(g)
    alone[at] = g[at]
    share = case.gradients(s.trial, (alone,))[s.slot]
    if share is None or any(map(any, np.argwhere(share) - at)):
        return None  # this element meets others, so that it has no slope of its own
    mine, right = s.got[at] / g[at], s.right[at] / g[at]
    name = case.argument(s.slot)
    looks = "The upstream gradient enters as it should. The slope itself is another "
    yours, wanted = wording.told_apart(mine, right, 4)
    looks += f"one: at {name} = {x[at]:.4g} yours is {yours}, and it should be "
    hint = f"Move {name} by 0.001 there: how far does the result move? Which "
    hint += "factor of your formula gives another number?"
    return Said((), f"{looks}{wanted}.", hint)


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
    looks = f"Your numbers are those of the slope {_polynomial(name, mine)}."
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
        return Said((), "Your slope has a term too many.", hint)
    return Said((), looks, hint)


def _polynomial(name: str, factors: Array) -> str:
    """Such as ``2 * x - 1 * x ** 3``."""
    terms = [
        f"{'-' if factor < 0 else '+'} {abs(factor):.4g}"
        + f" * {name}" * (power > 0)
        + f" ** {power}" * (power > 1)
        for power, factor in enumerate(factors)
        if factor
    ]
    return " ".join(terms).removeprefix("+ ")


def by_cases(
    case: CaseFile, every: Sequence[Facts], wrong: Sequence[Facts]
) -> Said | None:
    """Right for some inputs, and wrong for others: what have those in common?"""
    bad = {id(fact) for fact in wrong}
    stopped = [f for f, t in case.plain if t.crash or any(r.crash for r in t.passes)]
    wrong = [*wrong, *[fact for fact in stopped if id(fact) not in bad]]
    bad |= {id(fact) for fact in wrong}
    good = [f for f in every if id(f) not in bad and all(_is_long(f))]
    if not good:
        return None
    names, ways = case.contract.arguments, math.comb(len(good) + len(bad), len(bad))
    told = [
        [traits.of_case(f.case, names, ways >= MANY) for f in facts]
        for facts in (wrong, good)
    ]
    if words := traits.separating(*told):
        looks = f"It's wrong where {words[0]}, and right in the others that ran."
        if len(words) > 1:
            looks += f" (Where it's wrong, {words[1]}, too.)"
        hint = "Run your Function on a case of each kind. Which line tells them apart?"
        return Said((), looks, hint)
    if stopped:
        return None  # the exception says more
    there = _called(names, wrong[0])
    looks = f"It's right for {_called(names, good[0])}, and wrong for {there}."
    hint = "What is different in the second one? Run your Function on both and compare."
    if ways < MANY:
        if len(bad) > 1 or len(good) < 4:
            return None
        looks = f"It's right in {len(good)} cases, and wrong only for {there}."
        hint = "What is different there? Run your Function on it, and on other inputs."
    return Said((), looks, hint)


def _called(names: Sequence[str], fact: Facts) -> str:
    """A case's name, with the plain numbers that it doesn't have in it."""
    pairs = zip(names, fact.case.inputs, strict=True)
    name = fact.case.name
    told = [(n, v) for n, v in pairs if isinstance(v, int | float)]
    return ", ".join([name, *[f"{n} = {v}" for n, v in told if n not in name.split()]])


def _is_long(fact: Facts) -> Iterator[bool]:
    return (v.size > 1 for v in fact.case.inputs if is_float(v))


def where(
    case: CaseFile,
    seen: Sequence[tuple[Trial, Array, Array]],
    upstreams: Arrays = (),
) -> str:
    """Which elements are wrong, by what is true of just those among all of these cases.

    An element of zero that is right may be so whatever computed it.
    """
    masks, told, given = [], [], []
    for trial, got, right in seen:
        size = max(1.0, np.abs(right).max(initial=0.0))
        off = difference_of(got, right) > 100 * case.tolerance(trial) * size
        masks.append((off, ~off))
        told.append((off, ~off & (right != 0)))
        given.append(dict(zip(case.contract.arguments, trial.inputs, strict=True)))

    def elements(number: int) -> traits.Elements:
        named, shape = given[number], seen[number][1].shape
        arrays = {n: v for n, v in named.items() if isinstance(v, np.ndarray)}
        plain = {n: v for n, v in named.items() if n not in arrays}
        yield from traits.of_elements(arrays, plain, shape)
        for g in upstreams[number : number + 1]:
            if g is not None and g.shape == shape:
                yield "the upstream gradient is negative", g < 0
                yield "the upstream gradient is positive", g > 0

    at_each = "It's wrong at each element where {}, and right at the others."
    but_zeros = "It's wrong only where {}, and right there only where 0 is right."
    for marks, said in ((masks, at_each), (told, but_zeros)):
        if words := traits.where_wrong(marks, elements):
            return said.format(words)
    for name in case.contract.arguments:
        arrays = [each[name] for each in given]
        pairs = zip(arrays, seen, strict=True)
        if not all([np.shape(a) == got.shape for a, (_, got, _) in pairs]):
            continue
        if words := traits.threshold(name, masks, arrays):
            return at_each.format(words)
    return ""


def _sent_to(plain: Sequence[Sample]) -> Arrays:
    """What arrives for the one output, a sample each; nothing for several outputs."""
    sent = [s.run.upstreams for s in plain if s.got is not None]
    return tuple([gs[0] for gs in sent if len(gs) == 1])


def _by_elements(case: CaseFile, plain: Sequence[Sample]) -> Said | None:
    """Wrong just where an argument is negative, or 0, or beyond a bound."""
    seen = [(s.trial, s.got, s.right) for s in plain if s.got is not None]
    looks = where(case, seen, _sent_to(plain))
    if not looks:
        return None
    return Said(
        (), looks, "Take one such element. What should its gradient be, on paper?"
    )


def _of_other_upstreams(case: CaseFile, plain: Sequence[Sample]) -> Said | None:
    """The right gradient for upstream gradients with nothing at one end."""
    for text, change in other_inputs.OF_TENSORS.items():
        sent = [[g if g is None else change(g) for g in s.run.upstreams] for s in plain]
        told = [
            case.gradients(s.trial, (*gs,)) for s, gs in zip(plain, sent, strict=True)
        ]
        if all(s.fits(each[s.slot]) for s, each in zip(plain, told, strict=True)):
            looks = f"Your gradient would be right if grad_output were {text}."
            return Said((), looks, "What becomes of what arrives there?")
    return None


def _by_ratios(case: CaseFile, plain: Sequence[Sample]) -> Said | None:
    """Off by a number in each case: a power of an argument, if it is one."""
    pairs = [(s, s.got) for s in plain if s.got is not None and s.right.any()]
    ratios = [ratio(got, s.right) for s, got in pairs]
    said = of_powers(case, "gradient", ratios, [s.trial for s, _ in pairs])
    return said or of_ratios("gradient", ratios, [s.fact for s, _ in pairs])


def ratio(got: Array, right: Array) -> float | None:
    """The number that one is of the other, 0 included; None if there is none."""
    return known_mistakes.ratio_of([got], [right]) if np.any(got) else 0.0


def of_powers(
    case: CaseFile,
    what: str,
    ratios: Sequence[float | None],
    trials: Sequence[Trial],
) -> Said | None:
    """In each case it is the right one times a power of a number that was given."""
    for i, name in enumerate(case.contract.arguments):
        numbers = [trial.inputs[i] for trial in trials]
        if not all([type(n) in (int, float) for n in numbers]):
            continue
        for power in (1, 2, 3) if 0 in numbers else (-3, -2, -1, 1, 2, 3):
            told = zip(numbers, ratios, strict=True)
            if len({*numbers}) > 1 and all(
                [k is not None and np.isclose(k, float(n) ** power) for n, k in told]
            ):
                times = name if power == 1 else f"{name} ** {power}"
                looks = f"Your {what} is the right one times {times}."
                hint = f"How often is {name} a factor? Try 2 and 3 for it."
                return Said((), looks, hint)
    return None


def of_ratios(
    what: str,
    ratios: Sequence[float | None],
    facts: Sequence[Facts],
    single: bool = False,
) -> Said | None:
    """In each case it is the right one times a number, which isn't the same in all.

    A ``single`` number is that of any other, so it has to be a count.
    """
    found = [(k, f) for k, f in zip(ratios, facts, strict=True) if k is not None]
    told = [(k, fact.case.name) for k, fact in found if not np.isclose(k, 1.0)]
    if len(found) < max(3, len(facts)) or len({round(k, 6) for k, _ in told}) < 2:
        return None
    counts = np.array([_counts(fact) for _, fact in found], float)
    for below, above in permutations(range(counts.shape[1]), 2):
        if np.allclose(counts[:, above] / counts[:, below], [k for k, _ in found]):
            return Said(("R06",) if below else ("R05",), "", "")
    if single:
        return None
    k, one = told[0]
    other_k, other = next(t for t in told if not np.isclose(t[0], k))
    looks = f"Your {what} is the right one times a number: {k:.4g} for {one}, and "
    hint = "Which number of each case is that: of an argument, or how many there are?"
    return Said((), f"{looks}{other_k:.4g} for {other}.", hint)


def _counts(fact: Facts) -> tuple[int, ...]:
    """1, and how many numbers, rows and columns the first input has."""
    x = next(v for v in fact.case.inputs if is_float(v))
    shape = x.shape or (1,)
    return 1, x.size, shape[0], shape[-1]


def _taken_for(case: CaseFile, plain: Sequence[Sample]) -> Said | None:
    """The right gradient for another value of a number among the arguments."""
    by_trial = {id(s.trial): s for s in plain}

    def right(trial: Trial, inputs: tuple[Any, ...]) -> Array | None:
        s = by_trial[id(trial)]
        return case.gradients(trial, s.run.upstreams, inputs)[s.slot]

    seen = [(s.trial, s.got) for s in plain if s.got is not None]
    words = "" if case.contract.random else other_inputs.taken_for(case, seen, right)
    if not words:
        return _of_other_upstreams(case, plain)
    hint = f"What in backward depends on {words.partition(' ')[0]}, and in which way?"
    return Said((), f"Your gradient would be right if {words}.", hint)
