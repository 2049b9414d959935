"""gym.Max: the largest element of every row; elements that are equal share."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from minigrad.course.check import Array, Arrays, Case
from minigrad.course.exercises.gym.random_inputs import (
    distinct,
    numbers,
    single_precision,
    sizes,
)


def reference(x: Array) -> Array:
    """What forward returns."""
    return np.asarray(x.max(-1))


def gradients(g: Array, x: Array) -> Arrays:
    """The right gradients: winners of a row share what arrives for it."""
    wins = _wins(x)
    return (_spread(g) * wins / wins.sum(-1, keepdims=True),)


def _wins(x: Array) -> Array:
    return np.asarray((x == x.max(-1, keepdims=True)).astype(x.dtype))


def _spread(g: Array) -> Array:
    """The upstream gradient with the axis put back that forward took away."""
    return np.asarray(g)[..., None]


def cases(random: np.random.Generator) -> list[Case]:
    """One, two and three axes; ties of two, of three and of a whole row."""
    rows, columns, depth = sizes(random, 3)
    tied = distinct(random, 4, 4)
    tied[0, [0, 2]] = tied[0].max() + 1
    tied[1, [1, 2, 3]] = tied[1].max() + 1
    tied[2] = tied[2, 0]
    return [
        Case("four numbers", (distinct(random, 4),), numbers(random)),
        Case(
            f"a {rows} x {columns} matrix",
            (distinct(random, rows, columns),),
            numbers(random, rows),
        ),
        Case("a square matrix", (distinct(random, 3, 3),), numbers(random, 3)),
        Case("rows with ties", (tied,), numbers(random, 4)),
        Case(
            "a matrix that is transposed in memory",
            (distinct(random, 5, 3).T,),
            numbers(random, 3),
        ),
        Case(
            "a block with three axes",
            (distinct(random, 2, depth, 3),),
            numbers(random, 2, depth),
        ),
        Case("one column", (distinct(random, 3, 1),), numbers(random, 3)),
        Case(
            "all numbers negative",
            (-10.0 + distinct(random, 2, 3),),
            numbers(random, 2),
        ),
        single_precision(
            Case("float32 numbers", (distinct(random, 3, 4),), numbers(random, 3))
        ),
    ]


def wrong_gradients(g: Array, x: Array) -> Iterator[tuple[str, Arrays]]:
    """What each known wrong rule returns."""
    wide, wins = _spread(g), _wins(x)
    shares = wins.sum(-1, keepdims=True)
    positions = np.arange(x.shape[-1])
    first = positions == x.argmax(-1)[..., None]
    last = positions == x.shape[-1] - 1 - x[..., ::-1].argmax(-1)[..., None]
    yield "C03", (wide * np.ones_like(x),)
    for one in (first, last):
        yield "L10", (wide * one,)
    yield "L10", (wide * wins,)
    yield "L10", (wide * wins * np.where(shares > 1, 0.5, 1.0),)
    yield "L10", (wide * wins * (shares == 1),)
    yield "C07", (wide * wins / shares * x,)
    highest = (x == x.max()).astype(x.dtype)
    yield "L11", (wide * highest,)
    with np.errstate(all="ignore"):
        yield "L11", (wide * (highest / highest.sum(-1, keepdims=True)),)
    yield "L11", (wide * highest / highest.sum(),)
    yield "L11", (wide * (x > 0),)
    yield "R06", (wide * wins / wins.sum(),)
    yield "R02", (wide * wins / np.maximum(wins.sum(0), 1),)
    yield "R06", (wide * wins / x.shape[-1],)
    yield "R07", (np.asarray(g),)
    for told in _along_the_wrong_axis(np.asarray(g), x):
        yield "R07", (told,)
    outer = np.zeros_like(x)
    outer[..., x.argmax(-1).ravel()] = wide
    yield "R13", (outer,)
    columns = wins.reshape(-1, x.shape[-1]).any(0)
    yield "R13", (wide * columns,)
    yield "R13", (wide * columns / shares,)
    for chosen in (np.zeros_like(x), wide * wins / shares):
        flat = chosen.reshape(-1, x.shape[-1])
        for place, column in zip(*np.nonzero(wins.reshape(flat.shape)), strict=True):
            flat[:, column] = (wide / shares).ravel()[place]
        yield "R13", (flat.reshape(x.shape),)


def _along_the_wrong_axis(g: Array, x: Array) -> Iterator[Array | None]:
    """The axis is not put back, so that rows meet columns; None if they do not fit."""
    wins, wide = _wins(x), _spread(g)
    counts = wins.sum(-1)
    if x.ndim > 2 or (x.ndim == 2 and x.shape[-1] not in (1, len(x))):
        yield from (None,) * 4
        return
    yield g * wins / counts[..., None]
    yield g * wins
    yield wide * wins / counts
    mask = x == x.max(-1)
    yield wide * mask / np.maximum(mask.sum(-1, keepdims=True), 1)
