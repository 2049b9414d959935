"""What can be said of wrong numbers that no story predicts: where, and in what way.

The right values are the measure: a slope is taken apart into powers of the input or of
the result, a sum into the shares of its outputs, and the cases into right and wrong.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
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
        _not_in_proportion(samples),
        _by_cases([s.fact for s in plain], [s.fact for s in wrong]),
        _by_signs(wrong),
        _moved([(s.got, s.right) for s in plain if s.got is not None]),
        _another_slope(case, wrong[0]),
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
    """Twice the upstream gradient does not give twice the gradient."""
    by_name = {(s.fact.case.name, s.trial.name): s.got for s in samples}
    for (name, trial), got in by_name.items():
        twice = by_name.get((name, "double"))
        if trial != "plain" or got is None or twice is None or not got.size:
            continue
        if got.shape == twice.shape and error_of(twice, 2 * got) > 1e-4:
            return Said(
                (),
                "Twice the upstream gradient doesn't give twice your gradient.",
                "Each term has to hold grad_output once, as a factor. Which line of "
                "backward does something else with it?",
            )
    return None


def _moved(pairs: Sequence[tuple[Array, Array]]) -> Said | None:
    """The right numbers, at other places."""
    told = [(a, b) for a, b in pairs if a.size > 1]
    if not told or not all([np.all(np.isfinite(a)) for a, _ in told]):
        return None
    if all([error_of(np.sort(a, None), np.sort(b, None)) < 1e-9 for a, b in told]):
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
    mine, right = s.got[at] / g[at], s.right[at] / g[at]
    name = case.argument(s.slot)
    return Said(
        (),
        f"The upstream gradient enters as it should. The slope itself is another one: "
        f"at {name} = {x[at]:.4g} yours is {mine:.4g}, and it should be {right:.4g}.",
        f"Move {name} by 0.001 there: how far does the result move? Which factor of "
        "your formula gives another number?",
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
    if all([not np.all(np.isfinite(got)) for _, _, got, _ in seen if got.size]):
        looks = "Your result holds nan or inf for ordinary inputs, too."
        hint = (
            "Print each step of forward for one small number: which is the first that "
        )
        return Said((), looks, f"{hint}isn't finite?")
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
    formula = _in_products(case, seen)
    if formula:
        hint = (
            "Compare it with what the task asks for: which sign, factor or number is "
        )
        hint += "another one?"
        return Said((), f"Your numbers are those of {formula}.", hint)
    wrong = [fact for fact, _, _ in off]
    if partial_match.follows_an_option(case, wrong):
        return Said(("R08",), "", "")
    return _by_cases(case.facts, wrong) or _moved(pairs)


def _in_products(
    case: CaseFile, seen: Sequence[tuple[Facts, Trial, Array, Array]]
) -> str:
    """A result as a sum of the arguments and their products; empty if it is none."""
    names = case.contract.arguments
    rows: list[Array] = []
    values: list[Array] = []
    for _, trial, got, _ in seen:
        given = [np.asarray(v) for v in trial.inputs]
        if len(given) > 2 or any([a.dtype.kind not in "fi" for a in given]):
            return ""
        try:
            wide = [np.broadcast_to(a, got.shape).ravel() for a in given]
        except ValueError:
            return ""
        if trial.inputs[0].dtype == np.float64:
            rows.append(np.array([term(wide) for term in TERMS[len(given)].values()]))
            values.append(got.ravel())
    if not rows or sum(v.size for v in values) < 3 * len(rows[0]):
        return ""
    basis, whole = np.concatenate(rows, 1).T.astype(float), np.concatenate(values)
    if not np.all(np.isfinite(whole)):
        return ""
    found, *_ = np.linalg.lstsq(basis, whole, rcond=None)
    if error_of(basis @ found, whole) > 1e-6:
        return ""
    parts = []
    for text, k in zip(TERMS[len(names)], found, strict=True):
        if abs(k) > 1e-6:
            named = text.format(*names)
            parts.append(named if abs(k - 1) < 1e-6 else f"{k:.4g} * {named}")
    return " + ".join(parts).replace("+ -1 * ", "- ").replace("+ -", "- ")


TERMS: dict[int, dict[str, Callable[[list[Array]], Array]]] = {
    1: {
        "1": lambda v: np.ones_like(v[0]),
        "{0}": lambda v: v[0],
        "{0} ** 2": lambda v: v[0] ** 2,
        "{0} ** 3": lambda v: v[0] ** 3,
        "{0} ** 4": lambda v: v[0] ** 4,
        "abs({0})": lambda v: np.abs(v[0]),
    },
    2: {
        "1": lambda v: np.ones_like(v[0], float),
        "{0}": lambda v: v[0],
        "{1}": lambda v: v[1],
        "{0} * {1}": lambda v: v[0] * v[1],
        "{0} ** 2": lambda v: v[0] ** 2,
        "{1} ** 2": lambda v: v[1] ** 2,
    },
}
"""What a result may be a sum of, by the number of arguments."""
