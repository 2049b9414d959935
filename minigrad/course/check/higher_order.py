"""Second derivatives and forward mode, beside the slopes of the right gradients."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from minigrad.course.check import partial_match, traits
from minigrad.course.check.casefile import (
    CaseFile,
    error_of,
    index_text,
    lacks_values,
    thrown,
    worst,
)
from minigrad.course.check.facts import (
    Array,
    Arrays,
    Crash,
    Facts,
    Second,
    Tangent,
    Trial,
    is_float,
)
from minigrad.course.check.findings import (
    FEW_DIGITS,
    UNNAMED,
    WHICH_DIGITS,
    Finding,
)
from minigrad.course.check.forward_checks import question_about, where_of
from minigrad.course.check.samples import rounding

STEP = 1e-5
CLOSE = 1e-4
"""How well central differences agree with a right second derivative."""


def second_derivatives(case: CaseFile) -> Iterator[Finding]:
    """Gradients whose own derivative is refused, lost or wrong, against the task."""
    seen = [fact for fact in case.facts if fact.second is not None]
    wanted = case.contract.second_derivative
    if wanted == "refused":
        yield from _not_refused(case, seen)
        return
    for fact in seen if wanted == "wanted" else seen[:1]:
        second = fact.second
        assert second is not None
        found = _of_one_case(case, fact, second)
        if found:
            yield found
            return


def _not_refused(case: CaseFile, seen: Sequence[Facts]) -> Iterator[Finding]:
    for fact in seen:
        second = fact.second
        if second is None or _is_refused(second) or not fact.case.inputs[0].size:
            continue
        where = f"{case.name}.backward"
        lost = _of_one_case(case, fact, second)
        if set(fact.declared.once_differentiable) - {"backward", "vjp"}:
            what = "once_differentiable is not above backward, so nothing is refused"
            yield Finding(("D08",), what, case.name)
        elif second.crash is not None and _refuses_to_record(second.crash, second):
            what = f"create_graph=True is enough to stop it: {thrown(second.crash)}"
            looks = "The first derivative is refused, too: with create_graph a program "
            looks += "may still differentiate only other parts of its result again."
            hint = "Which decorator raises only when what backward returned is "
            hint += "differentiated?"
            yield Finding(UNNAMED, what, where, looks_like=looks, hint=hint)
        elif second.crash is not None:
            what = f"a second derivative stops by itself: {thrown(second.crash)}"
            hint = "Would its caller know from this what your Function can't do?"
            yield Finding(UNNAMED, what, where, hint=hint)
        elif lost:
            yield Finding(("D02",), f"{lost.what}; nothing refused it", where)
        else:
            what = "a second derivative passes; the task asks that it is refused"
            hint = "What does the task say about a second derivative?"
            yield Finding(UNNAMED, what, where, hint=hint)
        return


def _refuses_to_record(crash: Crash, second: Second) -> bool:
    """Whether the answer itself raises once recording is on, before a second pass."""
    return not second.recorded and crash.inside and "raise " in crash.line


def _is_refused(second: Second) -> bool:
    crash = second.crash
    return crash is not None and (
        "OnceDifferentiableError" in crash.kinds or "once_differentiable" in crash.text
    )


def _of_one_case(case: CaseFile, fact: Facts, second: Second) -> Finding | None:
    where = f"{case.name}.backward"
    wanted = case.contract.second_derivative == "wanted"
    if _is_refused(second):
        if not wanted:
            return None
        return Finding(("D03",), "a second derivative was refused", where)
    if second.crash is not None:
        if not wanted:
            return None
        what = f"for {fact.case.name}, the second derivative:"
        what += f" {thrown(second.crash)}"
        hint = "Which of the things that backward works with has a graph?"
        where = where_of(case, second.crash)
        return Finding(UNNAMED, what, where, hint=hint, crashed=True)
    off = _lost(case, fact, second)
    if not off:
        return None
    what = f"the second derivative for {', '.join(off)}"
    if not all(g is None or np.all(np.isfinite(g)) for g in second.gradients):
        ids = ("L20",) if partial_match.largest(fact) >= traits.LARGE else ("L19",)
        return Finding(ids, f"for {fact.case.name}, {what} isn't finite", where)
    what += " is missing or wrong"
    ids = ("D01",) if second.recorded and _keeps_intermediates(case) else ("D02",)
    return Finding(ids, what, where)


def _lost(case: CaseFile, fact: Facts, second: Second) -> list[str]:
    """The names of the values whose second derivative is not the right one."""
    places = fact.case.differentiable
    gs = [i for i, g in enumerate(fact.case.upstreams) if g is not None]
    names = [case.argument(i) for i in places]
    names += [_upstream_name(case, i) for i in gs]
    slopes = _slopes(case, fact, second)
    off = []
    for name, got, slope in zip(names, second.gradients, slopes, strict=True):
        right = slope(STEP)
        seen = np.zeros_like(right) if got is None else got
        # Where two step sizes disagree there is a kink, and no slope.
        if error_of(seen, right) > CLOSE >= error_of(right, slope(3 * STEP)):
            off.append(name)
    return off


def _upstream_name(case: CaseFile, i: int) -> str:
    if len(case.contract.outputs) == 1:
        return "the upstream gradient"
    return f"the upstream gradient of {case.contract.outputs[i]}"


def _slopes(
    case: CaseFile, fact: Facts, second: Second
) -> Iterator[Callable[[float], Array]]:
    """The slope of the weighted right gradients by a step, for each input and each g.

    To be asked one by one, before the next.
    """
    places = fact.case.differentiable
    inputs, upstreams = list(fact.case.inputs), list(fact.case.upstreams)
    trial = next(t for t in fact.trials if t.name == "plain")
    for values, where in ((inputs, places), (upstreams, None)):
        chosen = range(len(values)) if where is None else where
        for i in chosen:
            if values[i] is None:
                continue
            kept = values[i]
            moved = np.array(kept, np.float64)
            values[i] = moved
            weighted = _Weighted(case, trial, second, places, inputs, upstreams)
            yield partial(weighted.slope, moved)
            values[i] = kept


@dataclass(frozen=True)
class _Weighted:
    """The sum of the right gradients, weighted, at values that may be moved."""

    case: CaseFile
    trial: Trial
    second: Second
    places: Sequence[int]
    inputs: list[Any]
    upstreams: list[Array | None]

    def slope(self, moved: Array, step: float) -> Array:
        """Central differences, moving one of the arrays in place and back."""
        slope = np.empty(moved.shape)
        for at in np.ndindex(moved.shape):
            middle, ends = moved[at], []
            for sign in (1, -1):
                moved[at] = middle + sign * step
                ends.append(self.value())
            moved[at] = middle
            slope[at] = (ends[0] - ends[1]) / (2 * step)
        return slope

    def value(self) -> float:
        """The weighted sum as things are."""
        found = self.case.gradients(
            self.trial, tuple(self.upstreams), tuple(self.inputs)
        )
        pairs = zip(self.second.weights, [found[i] for i in self.places], strict=True)
        return sum(float(np.sum(w * f)) for w, f in pairs if f is not None)


def _keeps_intermediates(case: CaseFile) -> bool:
    """Whether something was kept that is neither an input nor an output."""
    for _, trial in case.plain:
        known = [x for x in trial.inputs if isinstance(x, np.ndarray)]
        known += [y.value for y in trial.outputs if y.value is not None]
        if any(not s.in_graph for s in trial.saved):
            return True
        kept = [a.value for a in trial.attributes if a.kind != "ndarray"]
        for array in kept:
            if not any(np.array_equal(array, a, equal_nan=True) for a in known):
                return True
    return False


def tangents(case: CaseFile) -> Iterator[Finding]:
    """Forward mode against the right gradients, turned round."""
    if not case.contract.jvp:
        return
    for look in (_of_tangent, _of_digits):
        for fact in case.facts:
            for run in fact.tangents:
                found = look(case, fact, run)
                if found:
                    yield found
                    return


def _of_tangent(case: CaseFile, fact: Facts, run: Tangent) -> Finding | None:
    where = f"{case.name}.jvp"
    names = [
        n
        for n, t in zip(case.contract.arguments, run.tangents, strict=True)
        if t is not None
    ]
    what = f"for {fact.case.name}, with a tangent for {' and '.join(names)}"
    if run.crash is not None:
        what = f"{what}: {thrown(run.crash)}"
        ids, at = _named_crash(run), where_of(case, run.crash)
        if ids:
            return Finding(ids, what, at, crashed=True)
        words = next((words for words in OF_JVP if words in run.crash.text), "")
        looks, hint = OF_JVP.get(words, ("", question_about(run.crash.text)))
        return Finding(ids, what, at, looks, hint, crashed=True)
    if run.changed:
        what += ", an input or a tangent holds other numbers afterwards"
        looks = "jvp changed a tensor that belongs to the caller."
        hint = "Look for an in-place operation (a name that ends in _, or *=) in jvp. "
        hint += "Whose tensor does it change?"
        return Finding(("M02",), what, where, looks_like=looks, hint=hint)
    trial = next(t for t in fact.trials if t.name == "plain")
    if not _is_off(case, trial, run, run.tangents):
        return None
    what += ", the tangent of the result isn't what these contribute"
    what += _element_of(case, trial, run)
    # Does every tangent that was tried fit the arguments in turned order?
    swapped = len(run.tangents) == 2 and _can_turn(run.tangents)
    swapped = swapped and not any(
        _is_off(case, trial, each, tuple(reversed(each.tangents)))
        for each in fact.tangents
    )
    if swapped:
        return Finding(("D04",), what, where)
    return Finding(("D05",), what, where, _by_a_factor(case, trial, run))


def _of_digits(case: CaseFile, fact: Facts, run: Tangent) -> Finding | None:
    """Tangents that are right to some digits only."""
    trial = next(t for t in fact.trials if t.name == "plain")
    rights = _pushed(case, trial, run.tangents)
    for got, right in zip(run.result, rights, strict=False):
        if got is not None and error_of(got, right) > rounding(case.tolerance(trial)):
            what = f"for {fact.case.name}, the tangent of the result has some digits "
            what += f"right, and not all of {right.dtype}"
            where = f"{case.name}.jvp"
            return Finding(UNNAMED, what, where, FEW_DIGITS, WHICH_DIGITS)
    return None


OF_JVP = {
    "invalid number of forward gradients": (
        "jvp returned another number of tangents than there are results.",
        "How many results has forward? Each has one tangent, to which all the inputs "
        "contribute.",
    ),
    "different size than that": (
        "The tangent that jvp returned hasn't the shape of the result.",
        "Print the shape of what jvp returns beside that of the result. What does "
        "forward do to the shape, and what has jvp to do to the tangent?",
    ),
    "positional argument": (
        "The call of jvp failed: it's given ctx and one tangent for each argument.",
        "Count forward's arguments after ctx, then jvp's.",
    ),
}
"""What is true of a call of jvp that failed, and what to look at."""


def _by_a_factor(case: CaseFile, trial: Trial, run: Tangent) -> str:
    """Where each number of a result hangs on one number of x: the two factors."""
    given = [(i, t) for i, t in enumerate(run.tangents) if t is not None]
    if len(given) > 1 or len(case.contract.outputs) > 1 or not run.result:
        return ""
    ((i, tangent),), got = given, run.result[0]
    if got is None:
        return ""
    (right,) = _pushed(case, trial, run.tangents)
    slope = case.gradients(trial, (np.ones_like(right),))[i]
    if slope is None or not got.shape == right.shape == slope.shape:
        for times in (*range(2, 10), -1) if got.shape == right.shape else ():
            if np.allclose(got, times * right):
                return f"Here it's {times} times what it should be."
        return ""
    at = worst(got, right)
    if not np.allclose(slope * tangent, right) or not tangent[at]:
        return ""
    said = f"At {case.contract.arguments[i]} = {trial.inputs[i][at]:.4g} what your jvp"
    said += f" returns is {got[at] / tangent[at]:.4g} times the tangent"
    return f"{said}; the slope there is {slope[at]:.4g}."


def _element_of(case: CaseFile, trial: Trial, run: Tangent) -> str:
    """The worst element of a tangent, beside the right one."""
    for right, got in zip(_pushed(case, trial, run.tangents), run.result, strict=False):
        seen = np.zeros_like(right) if got is None else got
        if seen.shape == right.shape and error_of(seen, right) > CLOSE / 10:
            at = worst(seen, right)
            said = f": element {index_text(at)} is {seen[at]:z.6g}"
            return f"{said}; it should be {right[at]:z.6g}"
    return ""


def _is_off(case: CaseFile, trial: Trial, run: Tangent, tangents: Arrays) -> bool:
    """Whether an output's tangent isn't what ``tangents`` contribute to it."""
    for place, right in enumerate(_pushed(case, trial, tangents)):
        got = run.result[place] if place < len(run.result) else None
        seen = np.zeros_like(right) if got is None else got
        if error_of(seen, right) > CLOSE / 10:
            return True
    return False


def _named_crash(run: Tangent) -> tuple[str, ...]:
    crash = run.crash
    assert crash is not None
    if not crash.inside:
        return UNNAMED
    empty = lacks_values(crash) or "index out of range" in crash.text
    if "saved_tensors" in crash.line or empty:
        return ("D06",)
    if "NoneType" in crash.text:
        return ("D07",) if any(t is None for t in run.tangents) else ("D06",)
    return UNNAMED


def _can_turn(found: Arrays) -> bool:
    return len({t.shape for t in found if t is not None}) == 1


def _pushed(case: CaseFile, trial: Trial, given: Arrays) -> list[Array]:
    """The tangents of the outputs, element by element, as the gradients say."""
    ys = case.results(trial)
    found = []
    for place, y in enumerate(ys):
        tangent = np.zeros(y.shape)
        if is_float(y):
            for at in np.ndindex(y.shape):
                ones = [np.zeros_like(each) for each in ys]
                ones[place][at] = 1.0
                slopes = case.gradients(trial, tuple(ones))
                pairs = zip(slopes, given, strict=True)
                tangent[at] = sum(
                    float(np.sum(s * t))
                    for s, t in pairs
                    if s is not None and t is not None
                )
        found.append(tangent)
    return found
