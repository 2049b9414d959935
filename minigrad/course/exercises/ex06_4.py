"""06.4: ``Sum`` and ``Expand`` along an axis, each of which is the other's backward."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

import minigrad
from minigrad.course.check import (
    Array,
    Arrays,
    Case,
    Contract,
    Crossing,
    Faults,
    Finding,
    Part,
)
from minigrad.course.exercises.gym.random_inputs import numbers, sizes
from minigrad.course.exercises.gym.softmax_rows import RAISES
from minigrad.course.exercises.messages import Messages

say = Messages(__name__)


def summed(x: Array, axis: int) -> Array:
    """What Sum.forward returns."""
    return np.asarray(x.sum(axis))


def expanded(x: Array, axis: int, n: int) -> Array:
    """What Expand.forward returns."""
    return np.repeat(np.expand_dims(x, axis), n, axis)


def gradients_of_sum(g: Array, x: Array, axis: int) -> Arrays:
    """The right gradients of Sum."""
    return expanded(g, axis, x.shape[axis]), None


def gradients_of_expand(g: Array, x: Array, axis: int, n: int) -> Arrays:
    """The right gradients of Expand."""
    return summed(g, axis), None, None


def cases_of_sum(random: np.random.Generator) -> list[Case]:
    """Each axis of a vector and of matrices, counted from either end."""
    rows, columns = sizes(random, 2)
    shapes = [((2, 3), 1), ((4,), 0), ((rows, columns), 0), ((3, 3), 1), ((2, 4), -2)]
    return [
        Case(f"x of shape {shape}, axis {axis}", (x, axis), g)
        for shape, axis in shapes
        for x in [numbers(random, *shape)]
        for g in [numbers(random, *summed(x, axis).shape)]
    ]


def cases_of_expand(random: np.random.Generator) -> list[Case]:
    """A new axis at each place of a number, a vector and a matrix."""
    rows, columns = sizes(random, 2)
    shapes: list[tuple[tuple[int, ...], int, int]] = [
        ((3,), 1, 2),
        ((), 0, 4),
        ((3,), 0, 3),
        ((3,), -1, 3),
        ((rows, columns), 1, 2),
        ((2, 2), 0, 2),
        ((3,), 1, 1),
    ]
    return [
        Case(f"x of shape {shape}, axis {axis}, n {n}", (x, axis, n), g)
        for shape, axis, n in shapes
        for x in [numbers(random, *shape)]
        for g in [numbers(random, *expanded(x, axis, n).shape)]
    ]


def wrong_in_sum(g: Array, x: Array, axis: int) -> Iterator[tuple[str, Arrays]]:
    """What each known wrong backward of Sum returns."""
    right = expanded(g, axis, x.shape[axis])
    for name, value in [
        ("R07", g),
        *[("R07", spread(g, place, x.shape)) for place in (0, -1)],
        ("R07", spread_if_it_fits(g, x.shape)),
        ("R07", expanded(g, g.ndim - axis % x.ndim, x.shape[axis])),
        ("R06", right / x.shape[axis]),
        ("R06", right / x.size),
        ("L05", right * x),
        ("C01", np.ones_like(x)),
    ]:
        yield name, (value, None)


def wrong_in_expand(
    g: Array, x: Array, axis: int, n: int
) -> Iterator[tuple[str, Arrays]]:
    """What each known wrong backward of Expand returns."""
    first, last = g.take(0, axis), g.take(-1, axis)
    counted_on_x = axis if axis >= 0 else axis + x.ndim  # the result has one axis more
    for name, value in [
        ("R01", g),
        ("R04", g.mean(axis)),
        ("R03", g.sum(axis, keepdims=True)),
        ("R02", g.sum(0)),
        ("R02", g.sum(-1)),
        ("R08", g.sum(counted_on_x)),
        ("R11", np.asarray(g.sum())),
        ("R11", np.full(x.shape, g.sum())),
        *[("R14", k * one) for k in (1, n) for one in (first, last)],
        ("L05", g.sum(axis) * x),
        ("C01", np.full(x.shape, float(n))),
        ("C01", np.ones_like(x)),
    ]:
        yield name, (value, None, None)


def spread(g: Array, axis: int, shape: tuple[int, ...]) -> Array:
    """``g`` with a new axis at this place, stretched to ``shape``."""
    return spread_if_it_fits(np.expand_dims(g, axis), shape)


def spread_if_it_fits(g: Array, shape: tuple[int, ...]) -> Array:
    """``g`` stretched to ``shape``, where NumPy can."""
    try:
        return np.broadcast_to(g, shape)
    except ValueError:
        return RAISES


AFTERWARDS = "the adjoint test goes along each axis of (2, 3, 1, 4)"

PARTS = (
    Part(
        Contract("Expand", ("x", "axis", "n")),
        expanded,
        cases_of_expand,
        gradients_of_expand,
        wrong_in_expand,
        CROSSING=Crossing(
            {"x": "...", "axis": "axis of x", "n": {"usual": 3, "large": 6}},
            {"4 axes": AFTERWARDS},
        ),
    ),
    Part(
        Contract("Sum", ("x", "axis")),
        summed,
        cases_of_sum,
        gradients_of_sum,
        wrong_in_sum,
        CROSSING=Crossing(
            {"x": "...", "axis": "axis of x"},
            {
                "0 axes": "an axis has to be there to add up along",
                "4 axes": AFTERWARDS,
                "transposed g": "its g has one axis, and more of them only afterwards",
            },
        ),
    ),
)
"""Expand first: a Sum whose backward calls it could not be right before."""

SHAPES: tuple[tuple[int, ...], ...] = ((3,), (4, 2, 3), (2, 3, 1, 4))


def look_at_rest(functions: Sequence[Any], rest: Sequence[Any]) -> Faults:
    """The adjoint test, with each axis of shapes that no case above has."""
    random = np.random.default_rng(0)
    for shape in SHAPES:
        for axis in range(-len(shape), len(shape)):
            for function, given, more in (
                (functions[0], without(shape, axis), (axis, shape[axis])),
                (functions[1], shape, (axis,)),
            ):
                yield adjoint_test(function, numbers(random, *given), more, random)


def without(shape: tuple[int, ...], axis: int) -> tuple[int, ...]:
    """``shape`` without one axis."""
    left = list(shape)
    del left[axis]
    return tuple(left)


def adjoint_test(
    function: Any, x: Array, more: tuple[int, ...], random: np.random.Generator
) -> Finding | None:
    """Both products of the adjoint test for one call; None if they are the same."""
    named = zip(("axis", "n"), more, strict=False)
    called = ", ".join([f"{name} {value}" for name, value in named])
    call = f"{function.__name__} of shape {x.shape}, {called}"
    leaf = minigrad.tensor(x, requires_grad=True)
    try:
        result = function.apply(leaf, *more)
        y = numbers(random, *result.shape)
        (back,) = minigrad.autograd.grad(
            result, leaf, minigrad.tensor(y), materialize_grads=True
        )
    except Exception as error:
        return say("raised", kind=type(error).__name__, error=error, call=call)
    assert back is not None  # zeros stand for a gradient that is missing
    forth = float((result.detach().numpy() * y).sum())
    home = float((x * back.numpy()).sum())
    if np.isclose(forth, home):
        return None
    who = function.__name__
    return say("adjoint", function=who, forth=forth, home=home, call=call)
