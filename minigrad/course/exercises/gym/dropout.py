"""gym.Dropout: chance makes some numbers zero, and the others grow to make up."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

from minigrad.course.check import Array, Arrays, Case
from minigrad.course.exercises.gym.random_inputs import numbers, single_precision

UNLIKELY = 1e-9
"""With a chance as small as this, a result is held to be no accident."""


def reference(x: Array, p: float, *, output: Array) -> Array:
    """What forward returns, for the numbers that it kept this time."""
    return x * _kept(x, p, output) / (1 - p)


def gradients(g: Array, x: Array, p: float, *, output: Array) -> Arrays:
    """The right gradients."""
    return g * _kept(x, p, output) / (1 - p), None


def _kept(x: Array, p: float, output: Array) -> Array:
    """1 where a number was kept, read off the output; with p = 0 all of them are."""
    kept = np.ones_like(x, dtype=bool)
    if p > 0 and np.shape(output) == x.shape:
        kept = np.asarray(output) != 0
    return kept.astype(x.dtype)


def cases(random: np.random.Generator) -> list[Case]:
    """Several probabilities; zeros among the numbers where nothing is dropped."""
    zeros = numbers(random, 2, 3)
    zeros[0, 1] = zeros[1, 2] = 0.0

    def case(name: str, x: Array, p: float) -> Case:
        return Case(f"{name}, p = {p}", (x, p), numbers(random, *x.shape))

    return [
        case("twelve numbers", numbers(random, 12), 0.25),
        case("an 8 x 7 matrix", numbers(random, 8, 7), 0.5),
        case("a square matrix", numbers(random, 5, 5), 0.3),
        case("zeros among the numbers", zeros, 0.0),
        case("a matrix that is transposed in memory", numbers(random, 7, 3).T, 0.6),
        case("a 6 x 7 x 8 block", numbers(random, 6, 7, 8), 0.8),
        case("no number at all, shape (0, 3)", numbers(random, 0, 3), 0.4),
        single_precision(case("float32 numbers", numbers(random, 3, 4), 0.5)),
    ]


def unusual_result(output: Array, x: Array, p: float) -> str:
    """What is odd about the numbers that were dropped; empty if nothing is."""
    if output.shape != x.shape or p == 0 or not x.size:
        return ""
    dropped = np.asarray(output) == 0
    count = int(dropped.sum())
    if _chance(count, x.size, p) < UNLIKELY:
        said = f"{count} of {x.size} numbers were dropped, though p is {p}"
        kept = _chance(count, x.size, 1 - p) >= UNLIKELY
        return said + ", the share to be dropped, not the share to be kept" * kept
    for axis in range(x.ndim if x.ndim > 1 else 0):
        slices = np.moveaxis(dropped, axis, 0)
        if _all_alike(slices) and _chance_of_that(slices, p) < UNLIKELY:
            return f"the same numbers were dropped at every place along axis {axis}"
    return ""


def _chance(dropped: int, count: int, p: float) -> float:
    """How likely it is to drop so many, or so few, of ``count`` numbers."""
    odds = [
        math.comb(count, n) * p**n * (1 - p) ** (count - n) for n in range(count + 1)
    ]
    return min(sum(odds[: dropped + 1]), sum(odds[dropped:]))


def _all_alike(slices: Array) -> bool:
    return bool(np.all(slices == slices[:1]))


def _chance_of_that(slices: Array, p: float) -> float:
    """How likely it is that all slices are alike."""
    count = len(slices)
    return float((p**count + (1 - p) ** count) ** slices[0].size)


def wrong_gradients(
    g: Array, x: Array, p: float, *, output: Array
) -> Iterator[tuple[str, Arrays]]:
    """What each known wrong rule returns."""
    kept = _kept(x, p, output)
    for scale in (1.0, 1 - p, 1 / (1 - p) ** 2, p, 1 / p if p else np.inf):
        yield "L18", (g * kept * scale, None)
    yield "L18", (g * kept * p / (1 - p), None)
    yield "L18", (g * kept / (p or 1), None)
    yield "T02", (g * kept * (1 // (1 - p)), None)
    for size in (x, np.abs(x)):
        yield "L11", (g * (size >= p) / (1 - p), None)
    yield "C07", (g / (1 - p), None)
    yield "L11", (g * (np.asarray(output) != 0) / (1 - p), None)
    yield "L11", (g * (x > 0) / (1 - p), None)
    yield "L11", (g * (g > 0) / (1 - p), None)
    yield "L01", (g * (1 - kept) / (1 - p), None)
    yield "C05", (output * kept / (1 - p), None)
    yield "L04", (g * x * kept / (1 - p), None)
    yield "S01", (g * x, None)
    yield "S01", (g * output, None)


def wrong_results(x: Array, p: float, *, output: Array) -> Iterator[tuple[str, Array]]:
    """Wrong results of forward that have a name."""
    kept = _kept(x, p, output)
    yield "L18", x * kept
    yield "L18", x * kept * (1 - p)
    yield "L18", x * kept * (1 / p if p else np.inf)
