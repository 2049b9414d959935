"""Gradients of the wrong shape: what was summed, spread or lost, told by numbers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations

import numpy as np

from minigrad.course.check.casefile import CaseFile, error_of, sum_to
from minigrad.course.check.facts import Array, is_float
from minigrad.course.check.samples import Sample


def has_wrong_shape(sample: Sample) -> bool:
    """Whether backward returned a gradient of another shape than the input's."""
    return sample.raw is not None and sample.raw.shape != sample.right.shape


def explained(case: CaseFile, samples: Sequence[Sample]) -> str:
    """The mistake behind the wrong shapes of one slot; an empty string if unclear.

    One story has to hold for every sample whose shape is wrong.
    """
    # Of no numbers at all, every sum and every copy has the same.
    wrong = [s for s in samples if has_wrong_shape(s) and s.right.size]
    common = None
    for sample in wrong:
        found = dict.fromkeys(_stories(case, sample))
        common = found if common is None else {k: None for k in common if k in found}
    first = next(iter(common or ()), "")
    right = [_copied(case, s) for s in samples if _was_summed(case, s)]
    summed = {kind for kinds in right for kind in kinds}
    if first == "R01" and summed and any(_in_part(case, s, summed) for s in wrong):
        return "R09"
    return first


def shaped_like(case: CaseFile, samples: Sequence[Sample]) -> str:
    """Whose shape the gradients of this slot have, if it is always the same's."""
    came = [s for s in samples if s.raw is not None]
    raws = [np.asarray(s.raw).shape for s in came]
    names = (*case.contract.arguments, *case.contract.outputs)
    given = [(*s.trial.inputs, *case.results(s.trial)) for s in came]
    for place, name in enumerate(names):
        if [np.shape(each[place]) for each in given] == raws:
            return name
    return ""


def _was_summed(case: CaseFile, sample: Sample) -> bool:
    """Whether this input was copied by broadcasting and its gradient summed."""
    if has_wrong_shape(sample):
        return False
    return any(
        y.shape != sample.right.shape and sum_to(y, sample.right.shape) is not None
        for y in case.results(sample.trial)
    )


def _in_part(case: CaseFile, sample: Sample, summed: set[str]) -> bool:
    """Whether some copies were summed here, or are of a kind that never is."""
    (y, *_) = case.results(sample.trial)
    is_whole = sample.raw is not None and sample.raw.shape == y.shape
    return not is_whole or bool(_copied(case, sample) - summed)


def _copied(case: CaseFile, sample: Sample) -> set[str]:
    """Along which kinds of axes this input was copied."""
    (y, *_), own = case.results(sample.trial), sample.right.shape
    behind = y.shape[y.ndim - len(own) :]
    kinds = {"new"} if y.ndim > len(own) else set()
    return kinds | ({"of length 1"} if behind != own else set())


def _stories(case: CaseFile, sample: Sample) -> Iterator[str]:
    """All that would give just this shape and these numbers."""
    raw, right = sample.raw, sample.right
    assert raw is not None
    alike = _without_ones(raw) == _without_ones(right) and raw.ndim != right.ndim
    if alike and _same(raw.reshape(right.shape), right):
        yield "R03"
    summed = sum_to(raw, right.shape)
    if summed is not None and _same(summed, right):
        yield "R01"
    if raw.size < right.size and _spreads_to(raw, right):
        yield "R07"
    for axes in _choices(right.ndim):
        if axes and _is_sum(raw, right, axes):
            yield "R11"
    yield from _of_broadcasting(case, sample)


def _of_broadcasting(case: CaseFile, sample: Sample) -> Iterator[str]:
    """Sums over some other axes than those along which the input was copied."""
    raw, right = sample.raw, sample.right
    whole = _before_summing(case, sample)
    if whole is None or raw is None:
        return
    new = whole.ndim - right.ndim
    wanted = {*range(new)} | {
        new + i for i, n in enumerate(right.shape) if n == 1 != whole.shape[new + i]
    }
    for axes in _choices(whole.ndim):
        chosen = set(axes)
        if chosen == wanted or not _is_sum(raw, whole, axes):
            continue
        if chosen < wanted:
            yield "R09" if chosen else "R01"
        else:
            yield "R11" if chosen > wanted else "R02"


def _before_summing(case: CaseFile, sample: Sample) -> Array | None:
    """The gradient for the copies of a broadcast input; None for other exercises."""
    inputs = sample.trial.inputs
    if not all(is_float(x) for x in inputs) or len(case.contract.outputs) > 1:
        return None
    (y,) = case.results(sample.trial)
    try:
        copies = tuple(np.array(np.broadcast_to(x, y.shape)) for x in inputs)
        whole = case.gradients(sample.trial, sample.run.upstreams, copies)[sample.slot]
    except (ValueError, TypeError, IndexError):
        return None
    if whole is None or whole.shape != y.shape:
        return None
    summed = sum_to(whole, sample.right.shape)
    return whole if summed is not None and _same(summed, sample.right) else None


def _choices(ndim: int) -> Iterator[tuple[int, ...]]:
    """Every selection of axes."""
    for count in range(ndim + 1):
        yield from combinations(range(ndim), count)


def _is_sum(raw: Array, whole: Array, axes: tuple[int, ...]) -> bool:
    """Whether ``raw`` is this sum, with or without the axes that were summed."""
    total = whole.sum(axis=axes, keepdims=True)
    return raw.size == total.size and (
        raw.shape in (total.shape, whole.sum(axis=axes).shape)
        and _same(raw.reshape(total.shape), total)
    )


def _spreads_to(raw: Array, right: Array) -> bool:
    """Whether the right gradient repeats these numbers along the axes that lack."""
    lacking = right.ndim - raw.ndim
    for axes in combinations(range(right.ndim), max(lacking, 0)):
        spread = np.expand_dims(raw, axes) if axes else raw
        try:
            if _same(np.broadcast_to(spread, right.shape), right):
                return True
        except ValueError:
            continue
    return False


def _without_ones(array: Array) -> tuple[int, ...]:
    return tuple(n for n in array.shape if n != 1)


def _same(a: Array, b: Array) -> bool:
    return error_of(a, b) <= (1e-4 if np.float32 in (a.dtype, b.dtype) else 1e-6)
