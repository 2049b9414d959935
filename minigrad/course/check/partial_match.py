"""Mistakes that are told by where an answer is right and where it is wrong."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence

import numpy as np

from minigrad.course.check.casefile import CaseFile, difference_of
from minigrad.course.check.facts import Array, Crash, Facts, is_float
from minigrad.course.check.samples import COARSE, Sample
from minigrad.course.check.shape_mistakes import has_wrong_shape
from minigrad.course.check.traits import LARGE

OPTIONS = ("axis", "dim", "keepdim", "keepdims", "padding")


def named(
    case: CaseFile, samples: Sequence[Sample], crashed: Sequence[Facts] = ()
) -> str:
    """The mistake that shows in these cases only; an empty string if there is none.

    ``crashed``: the cases in which backward raised.
    """
    off = [s for s in samples if s.is_wrong]
    if off and not crashed:
        if special := _not_a_number(off):
            ordinary = [s for s in samples if s.right.size and not s.is_wrong]
            return special if ordinary else ""
        if all(_at_kinks(case, s) for s in off):
            return "L10"
        if all(_follows_memory(case, s) for s in off) or _is_turned_only(samples):
            return "T04"
    wrong = [s.fact for s in samples if s.is_wrong or has_wrong_shape(s)]
    wrong += crashed
    # An option that is ignored does not fit somewhere: numbers alone prove nothing.
    refused = crashed or any(s.arrived is None or has_wrong_shape(s) for s in off)
    return "R08" if refused and follows_an_option(case, wrong) else ""


def _is_turned_only(samples: Sequence[Sample]) -> bool:
    """Whether all is wrong that lies transposed in memory, and nothing else."""
    told = [s for s in samples if s.right.any()]
    wrong = [s.fact for s in told if s.is_wrong]
    return are_the_turned(wrong, [s.fact for s in told])


def are_the_turned(wrong: Sequence[Facts], every: Sequence[Facts]) -> bool:
    """Whether just those cases are wrong that have an input transposed in memory.

    There has to be a case with as many axes that lies in order, and is right.
    """
    bad = {id(fact) for fact in wrong}
    turned = {id(fact) for fact in every if has_other_order(fact)}
    others = {_axes_of(fact) for fact in every if id(fact) not in turned}
    alike = all(_axes_of(fact) in others for fact in wrong)
    return bool(bad) and bad == turned and alike


def _axes_of(fact: Facts) -> tuple[tuple[int, bool], ...]:
    """How many axes each input has, and whether these are all as long."""
    floats = [x for x in fact.case.inputs if is_float(x)]
    return tuple([(x.ndim, len({*x.shape}) == 1) for x in floats])


def is_about_memory(crash: Crash) -> bool:
    """Whether an exception says that numbers lie in another order than was assumed."""
    words = ("contiguous", "stride", "view size", "order in memory")
    return any(word in crash.text for word in words)


def _follows_memory(case: CaseFile, sample: Sample) -> bool:
    """Whether the numbers are those of an input read, or written, in memory's order."""
    if not has_other_order(sample.fact):
        return False
    inputs = sample.fact.case.inputs
    turned = [in_memory(x) if is_float(x) else x for x in inputs]
    told = [in_memory(sample.right, like=x) for x in inputs if is_float(x)]
    places = [i for i, x in enumerate(inputs) if turned[i] is not x]
    for chosen in [places, *[[i] for i in places]]:
        read = tuple(turned[i] if i in chosen else x for i, x in enumerate(inputs))
        found = case.gradients(sample.trial, sample.run.upstreams, read)[sample.slot]
        told += [found] if found is not None else []
    return any(a is not None and sample.fits(a) for a in told)


def in_memory(array: Array, like: Array | None = None) -> Array:
    """The same numbers, in the order in which they (or those of ``like``) lie."""
    other = array if like is None else like
    if other.flags.c_contiguous or other.shape != array.shape:
        return array
    return array.ravel(order="F").reshape(array.shape)


def has_other_order(fact: Facts) -> bool:
    """Whether an input of this case lies transposed in memory."""
    return any(
        is_float(x) and x.size > 1 and not x.flags.c_contiguous
        for x in fact.case.inputs
    )


def _not_a_number(off: Sequence[Sample]) -> str:
    """NaN or infinity where a number should be, and nothing else wrong."""
    for s in off:
        got = s.got
        if (
            got is None
            or got.shape != s.right.shape
            or not np.all(np.isfinite(s.right))
        ):
            return ""
        finite = np.isfinite(got)
        rest = difference_of(got[finite], s.right[finite])
        if np.any(rest > COARSE * max(1.0, float(np.max(np.abs(s.right), initial=0)))):
            return ""
    large = [largest(s.fact) >= LARGE for s in off]
    if all(large):
        return "L20"
    met = [(s.trial.inputs[s.slot], *_sent(s)) for s in off]
    is_special = are_special(zip([s.got for s in off], met, strict=True))
    return "L19" if is_special and not any(large) else ""


def are_special(seen: Iterable[tuple[Array | None, tuple[Array, ...]]]) -> bool:
    """Whether what isn't finite met few values of something: 0, or a bound."""
    values: dict[int, set[float]] = {}
    for got, met in seen:
        for i, array in enumerate(met):
            if got is not None and array.shape == got.shape:
                values.setdefault(i, set()).update(array[~np.isfinite(got)].tolist())
    return not values or min(map(len, values.values())) < 3


def largest(fact: Facts) -> float:
    """The size of the largest number among the inputs that is finite."""
    sizes = [np.abs(x[np.isfinite(x)]) for x in fact.case.inputs if is_float(x)]
    return max([float(np.max(each, initial=0)) for each in sizes])


def _at_kinks(case: CaseFile, sample: Sample) -> bool:
    """Whether the slope jumps at every element that is wrong."""
    got, right = sample.got, sample.right
    if got is None or got.shape != right.shape or case.contract.random:
        return False
    off = difference_of(got, right) > COARSE * max(1.0, float(np.max(np.abs(right))))
    return all(_jumps(case, sample, tuple(at)) for at in np.argwhere(off))


def _jumps(case: CaseFile, sample: Sample, at: tuple[int, ...]) -> bool:
    """Whether the slopes to the left and to the right of this element differ."""
    wide = [np.array(x, float) if is_float(x) else x for x in sample.trial.inputs]
    # Shorter than the distance of two numbers that are only nearly a tie.
    step = 1e-10 * max(1.0, abs(float(wide[sample.slot][at])))
    values = []
    for moved in (-step, 0.0, step):
        inputs = [np.array(x) if is_float(x) else x for x in wide]
        inputs[sample.slot][at] += moved
        values.append(_weighed(case, sample, tuple(inputs)))
    left, right = (values[1] - values[0]) / step, (values[2] - values[1]) / step
    scale = max(float(np.max(np.abs(g), initial=0)) for g in _sent(sample))
    # Where forward itself jumps, neither of the two is a slope.
    return 0.05 * scale < abs(right - left) < 100 * scale


def _weighed(case: CaseFile, sample: Sample, inputs: tuple[object, ...]) -> float:
    found = case.exercise.reference(*inputs)
    ys = found if isinstance(found, tuple) else (found,)
    pairs = zip(ys, sample.run.upstreams, strict=True)
    return float(
        sum(np.sum(y * g) for y, g in pairs if y is not None and g is not None)
    )


def _sent(sample: Sample) -> list[Array]:
    return [g for g in sample.run.upstreams if g is not None]


def follows_an_option(case: CaseFile, wrong: list[Facts]) -> bool:
    """Whether right and wrong cases differ in one option, and just in that."""
    bad = {id(f) for f in wrong}
    for i, name in enumerate(case.contract.arguments):
        values = [f.case.inputs[i] for f in case.facts]
        options = name in OPTIONS or all(isinstance(v, bool) for v in values)
        if not options and not all(_is_index(v) for v in values):
            continue
        for reading in _readings(case, i):
            seen = [(reading(f), id(f) in bad) for f in case.facts if _is_long(f)]
            told_right = {value for value, is_bad in seen if not is_bad}
            told_wrong = {value for value, is_bad in seen if is_bad}
            if told_right and told_wrong and not told_right & told_wrong:
                return True
    return False


def _is_index(value: object) -> bool:
    return isinstance(value, np.ndarray) and not is_float(value)


def _is_long(fact: Facts) -> bool:
    """Whether a wrong axis could be told from the right one."""
    return all(x.size > 1 for x in fact.case.inputs if is_float(x))


def _readings(case: CaseFile, i: int) -> Iterator[Callable[[Facts], object]]:
    """The ways to read an option: as it is, its sign, counted from the end.

    Of an array of indices, how many axes it has.
    """
    if _is_index(case.facts[0].case.inputs[i]):
        yield lambda fact: fact.case.inputs[i].ndim
        return
    ndims = {
        id(f): next(x.ndim for x in f.case.inputs if is_float(x)) for f in case.facts
    }

    def as_given(fact: Facts) -> object:
        return fact.case.inputs[i]

    def negative(fact: Facts) -> object:
        return fact.case.inputs[i] < 0

    def from_the_front(fact: Facts) -> object:
        return fact.case.inputs[i] % ndims[id(fact)]

    def is_last(fact: Facts) -> object:
        return fact.case.inputs[i] % ndims[id(fact)] == ndims[id(fact)] - 1

    yield as_given
    if not isinstance(case.facts[0].case.inputs[i], bool):
        yield from (negative, from_the_front, is_last)
