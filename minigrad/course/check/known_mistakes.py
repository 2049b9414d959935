"""Stories: what each known mistake would return, on every case, in numbers.

A story names a mistake only if it reproduces the gradients of all cases, those
included in which the answer happens to be right.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from minigrad.course.check.casefile import CaseFile, Stories, error_of, sum_to
from minigrad.course.check.facts import Array, Arrays, Pass, Trial, is_float
from minigrad.course.check.samples import COARSE, Sample

Told = Iterator[tuple[str, Arrays]]
Teller = Callable[[CaseFile, Trial, Pass], Told]


def of_the_exercise(case: CaseFile, trial: Trial, run: Pass) -> Told:
    """The wrong rules of the exercise, and the quantities a ratio may follow."""
    yield from case.wrong_gradients(trial, run.upstreams)
    right = case.truth(trial, run)
    for id, number in case.exercise.factors(*trial.inputs):
        yield id, tuple(None if a is None else number * a for a in right)


def of_the_upstream(case: CaseFile, trial: Trial, run: Pass) -> Told:
    """Another thing stands where the upstream gradient belongs."""
    gs = case.sent(trial, run.upstreams)
    ys = case.results(trial)
    several = len(gs) > 1

    unused = [g is None for g in run.upstreams]

    def right_for(change: Callable[[Array, Array], Any], asked: bool = False) -> Arrays:
        sent = tuple(
            g if g is None or (asked and none) else np.asarray(change(g, y), g.dtype)
            for g, y, none in zip(gs, ys, unused, strict=True)
        )
        return case.gradients(trial, sent)

    yield "C01", right_for(lambda g, y: np.ones_like(g))
    yield "C01", right_for(lambda g, y: np.ones_like(g), asked=True)
    yield "C05", right_for(lambda g, y: y, asked=True)
    for g, y in zip(gs, ys, strict=True):
        if g is not None:
            yield "C03", _handed_on(trial, g)
            yield "C05", _handed_on(trial, np.asarray(y, g.dtype))
    arrays = [g for g in gs if g is not None]
    if several and len({g.shape for g in arrays}) == 1:
        yield "C03", _handed_on(trial, np.sum(arrays, axis=0))
    yield "C05", right_for(lambda g, y: y)
    yield "C04", right_for(lambda g, y: np.full_like(g, g.mean() if g.size else 0.0))
    yield "C04", right_for(lambda g, y: np.full_like(g, g.sum()))
    for one in (0, -1):
        chosen = [None if g is None else g.flat[one] if g.size else 0.0 for g in gs]
        pairs = zip(gs, chosen, strict=True)
        alike = tuple([None if g is None else np.full_like(g, c) for g, c in pairs])
        yield "C04", case.gradients(trial, alike)
    yield "C02", right_for(lambda g, y: g * g)
    if several:
        yield from _of_several_outputs(case, trial, run)


def _handed_on(trial: Trial, value: Array) -> Arrays:
    """``value`` itself for every argument; summed for one that was copied."""
    return tuple(sum_to(value, x.shape) if is_float(x) else None for x in trial.inputs)


def _of_several_outputs(case: CaseFile, trial: Trial, run: Pass) -> Told:
    gs = case.sent(trial, run.upstreams)
    places = [i for i, g in enumerate(gs) if g is not None]
    for i in places if len(places) > 1 else ():
        left_out = tuple(
            None if g is None else np.zeros_like(g) if i == j else g
            for j, g in enumerate(gs)
        )
        yield "N01", case.gradients(trial, left_out)
        yield from _of_one_output(case, trial, run, i)
    unused = [i for i in places if run.upstreams[i] is None]
    filled = tuple(
        np.ones_like(g) if i in unused and g is not None else g
        for i, g in enumerate(gs)
    )
    yield "N07", case.gradients(trial, filled)
    if unused:
        gone = tuple(None if g is None else np.zeros_like(g) for g in gs)
        yield "N06", case.gradients(trial, gone)
    else:
        yield "N06", case.truth(trial, run)
    shapes = {g.shape for g in gs if g is not None}
    if len(places) > 1 and len(shapes) == 1:
        turned, chosen = list(gs), [gs[i] for i in places]
        for here, there in pairwise([*places, places[0]]):
            turned[here] = gs[there]
        total = np.sum([g for g in gs if g is not None], axis=0)
        alike: list[list[Array | None]] = [[g] * len(gs) for g in (*chosen, total)]
        for sent in (turned, *alike):
            yield "N04", case.gradients(trial, tuple(sent))


def _of_one_output(case: CaseFile, trial: Trial, run: Pass, i: int) -> Told:
    """What goes wrong with one output only; an unused one has no share."""
    gs = list(case.sent(trial, run.upstreams))
    g = gs[i]
    assert g is not None
    others = any(h is not None for j, h in enumerate(run.upstreams) if j != i)
    used = run.upstreams[i] is not None
    stories = (
        ("N01", np.zeros_like(g) if others else g),
        ("N07", g if used else np.ones_like(g)),
        ("C01", np.ones_like(g) if used else g),
        ("C02", g * g),
        ("L01", -g),
    )
    for id, changed in stories:
        yield id, case.gradients(trial, (*gs[:i], changed, *gs[i + 1 :]))


def of_the_inputs(case: CaseFile, trial: Trial, run: Pass) -> Told:
    """The right formula, evaluated at something else."""
    inputs = trial.inputs
    ys = [y for y in case.results(trial) if is_float(y)]
    for whole in (int, math.floor, math.ceil, round) if is_cut(case) else ():
        if cut := _with_fractions_cut(inputs, whole):
            yield "T02", _safely(case, trial, run, cut)
        else:
            yield "T02", case.truth(trial, run)
    if len(inputs) == 2 and len(ys) == 1 and not is_float(inputs[1]):
        yield from _parameters_mistaken(case, trial, run, ys[0])
    for i, x in enumerate(inputs):
        for y in ys:
            if is_float(x) and y.shape == x.shape:
                changed = (*inputs[:i], y, *inputs[i + 1 :])
                yield "L05", _safely(case, trial, run, changed)
    for i, x in enumerate(inputs):
        for j, other in enumerate(inputs):
            alike = is_float(x) and is_float(other) and x.shape == other.shape
            if i != j and alike:
                changed = (*inputs[:i], other, *inputs[i + 1 :])
                yield "S01", _safely(case, trial, run, changed)


def _parameters_mistaken(case: CaseFile, trial: Trial, run: Pass, y: Array) -> Told:
    """``setup_context(ctx, x, c)``: what is called c is the output."""
    if case.declared.own_setup_context:
        with np.errstate(all="ignore"):
            yield "A10", _safely(case, trial, run, (trial.inputs[0], y))


def is_cut(case: CaseFile) -> bool:
    """Whether what cutting leaves of some number differs from case to case.

    If it's always the same, a cut number can't be told from one that isn't used.
    """
    rows = [[_whole(v) for v in fact.case.inputs] for fact in case.facts]
    return any(len({*column} - {None}) > 1 for column in zip(*rows, strict=True))


def _whole(value: Any) -> int | None:
    return int(value) if type(value) in (int, float) else None


def _safely(case: CaseFile, trial: Trial, run: Pass, inputs: tuple[Any, ...]) -> Arrays:
    """The formula at other inputs; nothing where it has no value there."""
    try:
        return case.gradients(trial, run.upstreams, inputs)
    except (ValueError, TypeError, IndexError, ArithmeticError):
        return (None,) * len(inputs)


def _with_fractions_cut(
    inputs: tuple[Any, ...], whole: Callable[[float], int]
) -> tuple[Any, ...] | None:
    """The inputs with plain numbers cut to whole ones; None if they all were."""
    cut = tuple(float(whole(v)) if isinstance(v, float) else v for v in inputs)
    changed = any(
        a is not b and a != b
        for a, b in zip(cut, inputs, strict=True)
        if isinstance(a, float) and isinstance(b, float)
    )
    return cut if changed else None


def of_the_result(case: CaseFile, trial: Trial, run: Pass) -> Told:
    """The right gradient with one thing done to it."""
    right = case.truth(trial, run)
    yield "L01", tuple(None if a is None else -a for a in right)
    yield "C06", tuple(None if a is None else 2.0 * a for a in right)


def of_the_copies(case: CaseFile, trial: Trial, run: Pass) -> Told:
    """The mean over the copies of a broadcast input, where the sum belongs."""
    right = case.truth(trial, run)
    (y, *_) = case.results(trial)
    told: list[Array | None] = []
    for a in right:
        copied = a is not None and a.size and sum_to(y, a.shape) is not None
        told.append(a * (a.size / y.size) if copied and a is not None else a)
    yield "R04", tuple(told)


def of_one_slice(case: CaseFile, trial: Trial, run: Pass) -> Told:
    """The first, or the last, of a batch alone, or for all of it; also turned over."""
    gs = case.sent(trial, run.upstreams)
    for only in (0, -1):
        alone = []
        for g in gs:
            part = None if g is None else np.zeros_like(g)
            if part is not None and g is not None and g.ndim and len(g):
                part[only] = g[only]
            alone.append(part)
        yield "R14", case.gradients(trial, tuple(alone))
        for_all = [a if a is None or not a.ndim else len(a) * a for a in alone]
        yield "R14", case.gradients(trial, tuple(for_all))
    right = case.truth(trial, run)
    yield "L06", tuple(None if a is None else a.T for a in right)
    for axes in OVER_ALL:
        yield "R11", tuple(None if a is None else _equal_along(a, axes) for a in right)


OVER_ALL = ((0,), (1,), (2,), (0, 1), (1, 2), (0, 2), (0, 1, 2))


def _equal_along(array: Array, axes: tuple[int, ...]) -> Array:
    """The sum along some axes, in the place of every term."""
    if max(axes) >= array.ndim:
        return array
    total = array.sum(axes, keepdims=True)
    return np.asarray(np.broadcast_to(total, array.shape))


def of_the_diagonal(case: CaseFile, trial: Trial, run: Pass) -> Told:
    """Each element's own output only; for results of the input's shape."""
    gs = [g for g in case.sent(trial, run.upstreams) if g is not None]
    rest = (None,) * (len(run.upstreams) - 1)
    g = gs[0]
    told: list[Array | None] = [None] * len(trial.inputs)
    if len(gs) == 1 and run.upstreams[0] is not None and g.size <= 64:
        for i, x in enumerate(trial.inputs):
            if is_float(x) and x.shape == g.shape:
                own = np.zeros(g.shape)
                for at in np.ndindex(g.shape):
                    alone = np.zeros_like(g)
                    alone[at] = g[at]
                    slope = case.gradients(trial, (alone, *rest))[i]
                    own[at] = 0.0 if slope is None else slope[at]
                told[i] = own
    yield "L07", tuple(told)


SPECIFIC: Sequence[Teller] = (of_the_exercise,)
GENERAL: Sequence[Teller] = (
    of_the_upstream,
    of_the_inputs,
    of_the_copies,
    of_the_result,
)
COSTLY: Sequence[Teller] = (of_the_diagonal, of_one_slice)


def fitting(
    case: CaseFile, samples: Sequence[Sample], tellers: Sequence[Teller]
) -> list[str]:
    """The ids of all stories that reproduce the gradients of one slot."""
    # Wrong samples rule stories out, so they are asked first; then only what is left.
    first, *others = sorted(samples, key=lambda s: not s.is_wrong)
    left: list[str] = []
    for tell in tellers:
        keys = list(_told(case, tell, first))
        for sample in (first, *others):
            if not keys:
                break
            told = _told(case, tell, sample)
            # A story that is not told here has nothing to say.
            keys = [key for key in keys if sample.fits(_of_slot(told, key, sample))]
        left += [id for id, _ in keys]
    return list(dict.fromkeys(left))


def _of_slot(told: Stories, key: tuple[str, int], sample: Sample) -> Array | None:
    return told[key][sample.slot] if key in told else None


def _told(case: CaseFile, tell: Teller, sample: Sample) -> Stories:
    """What a teller says about this pass; worked out once for all slots."""
    key = tell.__name__, id(sample.run)
    if key not in case.told:
        found: Stories = {}
        count: dict[str, int] = {}
        for name, gradients in tell(case, sample.trial, sample.run):
            found[name, count.setdefault(name, 0)] = gradients
            count[name] += 1
        case.told[key] = found
    return case.told[key]


def ratio_of(got: Sequence[Array], right: Sequence[Array]) -> float | None:
    """The constant k with ``got == k * right`` throughout; None if there is none."""
    pairs = [(np.asarray(a, np.float64), b) for a, b in zip(got, right, strict=True)]
    finite = all([np.all(np.isfinite(a)) and np.all(np.isfinite(b)) for a, b in pairs])
    told = [(a, b) for a, b in pairs if np.any(b)]
    if not finite or not told:
        return None
    # Each by itself: beside large numbers, small ones count for nothing.
    a, b = told[0]
    k = float(np.vdot(a, b) / np.vdot(b, b))
    close = all([error_of(a, k * b) <= COARSE / 10 for a, b in pairs])
    return k if abs(k) > 1e-6 and close else None
