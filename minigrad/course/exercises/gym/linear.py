"""gym.Linear: x @ W.T + b, without the gradients that nobody needs."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from minigrad.course.check import Array, Arrays, Case, Contract
from minigrad.course.exercises.gym.random_inputs import numbers, single_precision
from minigrad.course.exercises.gym.softmax_rows import RAISES

CONTRACT = Contract(name="Linear", arguments=("x", "W", "b"), skips_unneeded=True)


def reference(x: Array, W: Array, b: Array) -> Array:
    """What forward returns."""
    return np.asarray(x @ W.T + b)


def gradients(g: Array, x: Array, W: Array, b: Array) -> Arrays:
    """The right gradients."""
    return g @ W, g.T @ x, g.sum(0)


def cases(random: np.random.Generator) -> list[Case]:
    """Batches of several sizes; one where all three sizes are the same."""
    batch, inputs, outputs = (int(n) for n in random.permutation([2, 3, 4, 5])[:3])

    def case(batch: int, inputs: int, outputs: int, more: str = "") -> Case:
        x, W = numbers(random, batch, inputs), numbers(random, outputs, inputs)
        name = f"batch {batch}, {inputs} inputs, {outputs} outputs{more}"
        g = numbers(random, batch, outputs)
        return Case(name, (x, W, numbers(random, outputs)), g)

    turned = case(4, 3, 2, ", both matrices transposed in memory")
    x, W, b = turned.inputs
    turned_inputs = np.asfortranarray(x), np.asfortranarray(W), b
    return [
        case(2, 3, 1),
        case(1, 2, 3),
        case(batch, inputs, outputs),
        case(3, 3, 3),
        Case(turned.name, turned_inputs, turned.upstream),
        single_precision(case(3, 2, 4, ", float32")),
    ]


def wrong_gradients(
    g: Array, x: Array, W: Array, b: Array
) -> Iterator[tuple[str, Arrays]]:
    """What each known wrong rule returns."""
    for_x, for_w, for_b = gradients(g, x, W, b)
    assert for_x is not None
    assert for_w is not None
    assert for_b is not None
    for name, value in (*_products(g, W), ("L06", for_x.T)):
        yield name, (value, None, None)
    for name, value in (*_products(g, x), ("L06", for_w.T)):
        yield name, (None, value, None)
    for (_, own_x), (_, own_w) in zip(_products(g, x), _products(g, W), strict=True):
        yield "L04", (own_x, own_w, None)
    count = len(g)
    for name, bias in (
        ("R01", g),
        ("R04", for_b / count),
        ("R14", g[0]),
        ("R14", g[-1]),
        ("R02", g.sum(1)),
        ("R11", np.full_like(for_b, g.sum())),
        ("R11", np.asarray(g.sum())),
        ("L05", (g * b).sum(0)),
        ("C01", np.ones_like(for_b)),
    ):
        yield name, (None, None, bias)
    yield "R04", (None, for_w / count, None)
    yield "R04", (for_x / count, None, None)
    for row in (0, -1):
        yield "R14", (None, np.outer(g[row], x[row]), None)
    yield "L06", (None, for_w.T.reshape(W.shape), None)
    yield "L06", (for_x.T.reshape(x.shape), None, None)
    yield "L04", (None, W * for_b[:, None], None)
    yield "L04", (x * g.sum(1)[:, None], None, None)
    yield "R12", (None, np.outer(g.sum(0), x.sum(0)), None)


def _products(g: Array, other: Array) -> Iterator[tuple[str, Array]]:
    """Products of g and another matrix, transposed or not, in either order."""
    for first, second in ((g, other), (other, g)):
        for left in (first, first.T):
            for right in (second, second.T):
                fits = left.shape[1] == right.shape[0]
                yield "L06", left @ right if fits else RAISES
