"""06.5: a mean that is divided in the wrong place, so that one bias is too fast."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np

import minigrad
from minigrad.course.check import Array, Finding
from minigrad.course.exercises.gym.random_inputs import numbers

ANSWER = "Linear, MeanSquare, rates"

SHIPPED = """\
class Linear(mg.autograd.Function):
    @staticmethod
    def forward(ctx, x, W, b):
        ctx.save_for_backward(x, W)
        return x @ W.T + b

    @staticmethod
    def backward(ctx, grad_output):
        x, W = ctx.saved_tensors
        n = len(x)
        return grad_output @ W, grad_output.T @ x / n, grad_output.sum(0)


class MeanSquare(mg.autograd.Function):
    @staticmethod
    def forward(ctx, y, target):
        ctx.save_for_backward(y, target)
        return ((y - target) ** 2).sum() / len(y)

    @staticmethod
    def backward(ctx, grad_output):
        y, target = ctx.saved_tensors
        return grad_output * 2 * (y - target), None


rates = {"W": 0.05, "b": 0.05}
"""
"""What the notebook ships: not tried. A test compares the two."""

RATES = {"W": 0.05, "b": 0.05}


def look_at(answer: Any, random: np.random.Generator) -> list[Finding]:
    """One training step; then each of the two Functions for itself."""
    linear, loss, rates = answer
    looks = (
        changed_rates(rates),
        wrong_values(linear, loss, random),
        wrong_step(linear, loss, random),
        wrong_alone(linear, loss, random),
    )
    return next(filter(None, (list(look) for look in looks)), [])


def changed_rates(rates: Any) -> Iterator[Finding]:
    """The symptom instead of the cause."""
    if rates != RATES:
        yield Finding(
            (),
            f"rates is {rates!r:.60}; it was {RATES}",
            "rates",
            looks_like="The learning rate is changed. It hides the mistake for batches "
            "of one size; with another the bias is too fast again, or too slow.",
            hint="Put the rates back. For batches of 4 and of 8 rows, how many times "
            "too large is b.grad? Which number of the program does that follow?",
        )


def wrong_values(
    linear: Any, loss: Any, random: np.random.Generator
) -> Iterator[Finding]:
    """The forwards, which were right."""
    x, W, b, target = drawn(random, 4)
    y = linear.apply(*map(minigrad.tensor, (x, W, b))).detach().numpy()
    value = loss.apply(*map(minigrad.tensor, (x @ W.T + b, target))).item()
    hint = "The forwards were right as they came. Compare yours with them."
    if y.shape != target.shape or not np.allclose(y, x @ W.T + b):
        what = "forward no longer gives x @ W.T + b"
        yield Finding((), what, f"{linear.__name__}.forward", hint=hint)
    right = ((x @ W.T + b - target) ** 2).sum() / len(x)
    if not np.isclose(value, right):
        what = f"the loss of 4 rows is {value:.4g}; it was {right:.4g}"
        yield Finding((), what, f"{loss.__name__}.forward", hint=hint)


def wrong_step(
    linear: Any, loss: Any, random: np.random.Generator
) -> Iterator[Finding]:
    """How far one training step moves W and b, beside how far it should."""
    for rows in (3, 5):
        x, W, b, target = drawn(random, rows)
        leaves = [minigrad.tensor(a, requires_grad=True) for a in (W, b)]
        y = linear.apply(minigrad.tensor(x), *leaves)
        loss.apply(y, minigrad.tensor(target)).backward()
        right = slopes(2 * (x @ W.T + b - target) / rows, x)
        times = [ratio(*pair) for pair in zip(leaves, right, strict=True)]
        if times != [1, 1]:
            yield from named_step(times, rows)
            return


def named_step(times: list[float], rows: int) -> Iterator[Finding]:
    """What a step that is off looks like."""
    said = [
        f"{name} {how_far(factor)}" for name, factor in zip("Wb", times, strict=True)
    ]
    what = f"after one step on {rows} rows, {' and '.join(said)}"
    stories = {
        (1, rows): ("R05", ""),
        (rows, rows): ("R05", ""),
        (1 / rows, 1): ("R04", ""),
        (1 / rows, 1 / rows): ("R06", "The mean is taken twice, in two places."),
    }
    for factors, (id, story) in stories.items():
        if np.allclose(times, factors):
            yield Finding((id,), what, "one training step", looks_like=story)
            return
    if times[0] == times[1]:
        yield Finding(("R06",), what, "one training step")
        return
    hint = "Which of the two backwards did you change, and what was it to give before?"
    yield Finding((), what, "one training step", hint=hint)


def how_far(factor: float) -> str:
    """How far something moved, in words."""
    if math.isnan(factor):
        return "moved in another direction"
    if factor == 1:
        return "moved as it should"
    return f"moved {factor:.3g} times as far as it should"


def wrong_alone(
    linear: Any, loss: Any, random: np.random.Generator
) -> Iterator[Finding]:
    """The step is right: is it because of two mistakes that cancel?"""
    x, W, b, target = drawn(random, 5)
    g = numbers(random, *target.shape)
    leaves = [minigrad.tensor(a, requires_grad=True) for a in (x, W, b)]
    linear.apply(*leaves).backward(minigrad.tensor(g))
    for name, leaf, wanted in zip("Wb", leaves[1:], slopes(g, x), strict=True):
        factor = ratio(leaf, wanted)
        if factor != 1:
            yield cancelling(f"{linear.__name__} alone", name, factor, "R04")
            return
    factor = ratio(leaves[0], g @ W)
    if factor != 1:
        yield Finding(
            (),
            step_is_right(f"{linear.__name__} alone", "x", factor),
            f"{linear.__name__}.backward, first value returned (for x)",
            looks_like="The training step does not show it: only a layer below this "
            "one would learn from it.",
            hint="Each row of x is used for one row of y. Is anything copied there, or "
            "averaged?",
        )
        return
    y = minigrad.tensor(x @ W.T + b, requires_grad=True)
    loss.apply(y, minigrad.tensor(target)).backward(minigrad.tensor(3.0))
    factor = ratio(y, 3 * 2 * (x @ W.T + b - target) / 5)
    if np.isclose(factor, 1 / 3):
        what = f"the training step is right now; but when {loss.__name__} gets an "
        what += "upstream gradient of 3, y gets the gradient that belongs to 1"
        yield Finding(("C01",), what, f"{loss.__name__} alone")
    elif factor != 1:
        yield cancelling(f"{loss.__name__} alone", "y", factor, "R05")


def cancelling(where: str, name: str, factor: float, id: str) -> Finding:
    """One of two mistakes of which the other hides it."""
    return Finding(
        (id,),
        step_is_right(where, name, factor),
        where,
        looks_like="Two mistakes that cancel each other. With another loss, such as a "
        "sum over the rows, they will not.",
    )


def step_is_right(where: str, name: str, factor: float) -> str:
    """What is still wrong with one gradient, when the step is right."""
    size = "not" if math.isnan(factor) else f"{factor:.3g} times"
    return (
        f"the training step is right now; but {where} gives {name} a gradient that is "
        f"{size} the right one, for 5 rows"
    )


def drawn(random: np.random.Generator, rows: int) -> tuple[Array, Array, Array, Array]:
    """x, W, b and the target for so many rows, of two inputs and four outputs."""
    shapes = ((rows, 2), (4, 2), (4,), (rows, 4))
    x, W, b, target = (numbers(random, *shape) for shape in shapes)
    return x, W, b, target


def slopes(g: Array, x: Array) -> list[Array]:
    """The right gradients for W and b."""
    return [g.T @ x, g.sum(0)]


def ratio(leaf: Any, right: Array) -> float:
    """How many times the right gradient arrived; NaN if it is no such number."""
    if leaf.grad is None:
        return 0.0
    factors = leaf.grad.numpy() / right
    first = float(factors.flat[0])
    if not np.allclose(factors, first):
        return math.nan
    return 1.0 if np.isclose(first, 1) else first
