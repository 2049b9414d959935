"""06.2: ``unbroadcast``, which adds up what any stretch has copied."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from itertools import combinations
from typing import Any

import numpy as np

import minigrad
from minigrad.course.check import Array, Crash, Faults, Finding, crash_of
from minigrad.course.exercises.gym.broadcasting import WRONG_SUMS, Shape, summed
from minigrad.course.exercises.gym.random_inputs import numbers
from minigrad.course.exercises.messages import Messages

say = Messages(__name__)

FOUR = (2, 3, 4, 5)
PAIRS: tuple[tuple[Shape, Shape], ...] = (
    ((3, 4), (4,)),
    ((2, 5), (2, 1)),
    ((3, 4), (3, 4)),
    ((5,), (5,)),
    ((3, 5), (1, 5)),
    ((4, 2), ()),
    ((7,), ()),
    ((), ()),
    ((6,), (1,)),
    ((4, 3), (1, 1)),
    ((4, 3), (1,)),
    ((1, 3), (1, 3)),
    ((1, 3), (3,)),
    ((3, 3), (3,)),
    ((3, 3), (3, 1)),
    ((2, 3, 4), (4,)),
    ((2, 3, 4), (3, 4)),
    ((2, 3, 4), (3, 1)),
    ((2, 3, 4), (1, 4)),
    ((2, 3, 4), (2, 1, 4)),
    ((2, 3, 4), (2, 1, 1)),
    ((2, 3, 4), (1, 1, 1)),
    ((2, 2, 2), (2, 1)),
    ((2, 3, 1), (3, 1)),
    (FOUR, (3, 1, 5)),
    (FOUR, (1, 4, 1)),
    (FOUR, (2, 1, 1, 5)),
    ((0, 4), (4,)),
    ((3, 0), (3, 1)),
    ((2, 0), (0,)),
)
"""Each shape of a result, with the shape of what was stretched to it."""


Rule = Callable[[Array, Shape], Array]


def all_kept(g: Array, shape: Shape) -> Array:
    """The right sums, but the axes that were new stay, with length 1."""
    return np.asarray(g.sum(copied(g.shape, shape), keepdims=True))


def copied(stretched: Shape, shape: Shape) -> tuple[int, ...]:
    """The axes along which ``shape`` was stretched, or is 1 already."""
    new = len(stretched) - len(shape)
    ones = [new + axis for axis, length in enumerate(shape) if length == 1]
    return (*range(new), *ones)


def number_of_copies(g: Array, shape: Shape) -> Array:
    """How many copies were made of each number, whatever arrived."""
    return summed(np.ones_like(g), shape)


def all_if_none(g: Array, shape: Shape) -> Array:
    """What a sum over an empty tuple of axes makes of a gradient that fits."""
    return summed(g, shape) if copied(g.shape, shape) else np.asarray(g.sum())


def flush_left(g: Array, shape: Shape) -> Array:
    """The ones counted from the left, before the new axes are gone."""
    for axis, length in enumerate(shape):
        if length == 1:
            g = g.sum(axis, keepdims=True)
    while g.ndim > len(shape):
        g = np.asarray(g.sum(0))
    return g


def without_keepdim(g: Array, shape: Shape, always: bool = True) -> Array:
    """Both loops, the second of which loses the axes while it counts them.

    Without ``always`` an axis that wasn't copied stays.
    """
    while g.ndim > len(shape):
        g = np.asarray(g.sum(0))
    for axis, length in enumerate(shape):
        if length == 1 and (always or g.shape[axis] != 1):
            g = np.asarray(g.sum(axis))
    return g


def by_size(g: Array, shape: Shape) -> Array:
    """Nothing is done where there are as many numbers as there should be."""
    return g if g.size == np.prod(shape) else summed(g, shape)


RULES: list[tuple[str, Rule]] = [
    ("C01", number_of_copies),
    ("R01", lambda g, shape: g),
    ("R11", all_if_none),
    ("R03", all_kept),
    ("R03", without_keepdim),
    ("R03", lambda g, shape: without_keepdim(g, shape, always=False)),
    ("R03", by_size),
    ("R02", flush_left),
    *WRONG_SUMS,
]
"""What each known mistake makes of a gradient."""


def look_at(answer: Any, random: np.random.Generator) -> Faults:
    """The first pair of shapes for which the numbers or the shape are not right."""
    gradients = [(numbers(random, *large), shape) for large, shape in PAIRS]
    tried = [(g, shape, attempt(answer, g, shape)) for g, shape in gradients]
    found = [(finding_of(*one), one) for one in tried]
    first, one = next((each for each in found if each[0]), (None, tried[0]))
    if first is None:
        return
    if not first.ids:
        first = replace(first, ids=name_of(tried))
    yield first if first.story else replace(first, looks_like=axes_of(*one))


Tried = tuple[Array, Shape, Any]


class Written:
    """Stands for what came back when the gradient itself was changed."""


def attempt(answer: Any, g: Array, shape: Shape) -> Any:
    """What the answer makes of ``g``; what it raised, if it did."""
    given = minigrad.tensor(g.copy())
    try:
        made = answer(given, shape)
    except (IndexError, ValueError, RuntimeError) as error:
        return crash_of("", error)
    if not np.array_equal(given.numpy(), g):
        return Written()
    return made.detach().numpy() if isinstance(made, minigrad.Tensor) else repr(made)


def finding_of(g: Array, shape: Shape, made: Any) -> Finding | None:
    """What is wrong for one pair of shapes; None if nothing is."""
    said: dict[str, Any] = {"shape": shape, "given": g.shape}
    if isinstance(made, Crash):
        # A sum over no axis at all is, in torch too, a sum over them all.
        over_all = not copied(g.shape, shape) and "for input of size 1\n" in made.text
        return say.of_crash("raised.over_all" if over_all else "raised", made, **said)
    if isinstance(made, Written):
        return say("written", **said)
    if isinstance(made, str):
        return say("no_tensor", made=made, **said)
    right = summed(g, shape)
    if made.shape != shape:
        name = "other_shape" if g.size else "other_shape.no_copy"
        if made.size == right.size > 0 and np.allclose(made.ravel(), right.ravel()):
            name = "other_shape.summed"
        return say(name, made=made.shape, **said)
    if np.allclose(made, right):
        other = made.dtype != g.dtype
        return say("dtype", made=made.dtype, dtype=g.dtype, **said) if other else None
    at = tuple(int(i) for i in np.argwhere(~np.isclose(made, right))[0])
    place = f" at {list(at)}" if at else ""
    name = "other_sum" if axes_of(g, shape, made) else "other_sum.changed"
    name = name if g.size else "other_sum.no_copy"
    return say(name, got=made[at], at=place, wanted=right[at], **said)


def axes_of(g: Array, shape: Shape, made: Any) -> str:
    """Over which axes it's a sum, or a mean, of g; empty if it isn't one."""
    every = [a for n in range(g.ndim + 1) for a in combinations(range(g.ndim), n)]
    for axes in every if g.size and is_array(made) else ():
        for kind, told in {"sum": g.sum(axes), "mean": g.mean(axes)}.items():
            if made.size == told.size and np.allclose(made.ravel(), told.ravel()):
                over = {"kind": kind, "axes": axes, "shape": shape, "given": g.shape}
                return say("over" if axes else "over.none", **over).what
    return ""


def name_of(tried: list[Tried]) -> tuple[str, ...]:
    """The mistake that gives the same as the answer, for all pairs of shapes.

    Most learners first ask whether the shapes differ at all, some do not.
    """
    seen = [(g, shape, made) for g, shape, made in tried if is_array(made)]
    if all(agrees(summed, False, *one) for one in seen):
        return ()
    for asks in (False, True):
        for name, rule in RULES:
            told = [agrees(rule, asks, *one) for one in seen]
            if all(told):
                return (name,)
    return ()


def is_array(made: Any) -> bool:
    """Whether numbers came back, of whatever shape; a mean of none is no number."""
    return isinstance(made, np.ndarray) and not np.isnan(made).any()


def agrees(rule: Rule, asks: bool, g: Array, shape: Shape, made: Array) -> bool:
    """Whether this rule gives the same; where it cannot be applied it tells nothing."""
    if asks and g.shape == shape:
        value = g
    else:
        try:
            value = np.asarray(rule(g, shape))
        except (IndexError, ValueError):
            return True
    return made.shape == value.shape and np.allclose(made, value)
