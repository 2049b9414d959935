"""06.5: a mean that is divided in the wrong place, so that one bias is too fast."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np

import minigrad
from minigrad.course.check import Array, Faults, Finding
from minigrad.course.exercises.gym.random_inputs import numbers
from minigrad.course.exercises.messages import Messages

say = Messages(__name__)


RATES = {"W": 0.05, "b": 0.05}

OUTPUTS = 4


def look_at(answer: Any, random: np.random.Generator) -> Faults:
    """One training step; then each of the two Functions for itself."""
    linear, loss, rates = answer
    if rates != RATES:  # the symptom instead of the cause
        yield say("rates", rates=rates, before=RATES)
    yield from wrong_values(linear, loss, random)
    yield from wrong_step(linear, loss, random)
    yield from wrong_alone(linear, loss, random)


def wrong_values(
    linear: Any, loss: Any, random: np.random.Generator
) -> Iterator[Finding]:
    """The forwards, which were right."""
    x, W, b, target = drawn(random, 4)
    y = linear.apply(*map(minigrad.tensor, (x, W, b))).detach().numpy()
    value = loss.apply(*map(minigrad.tensor, (x @ W.T + b, target))).item()
    if y.shape != target.shape or not np.allclose(y, x @ W.T + b):
        yield say("forward", function=linear.__name__)
    right = ((x @ W.T + b - target) ** 2).sum() / len(x)
    if not np.isclose(value, right):
        yield say("forward.loss", function=loss.__name__, got=value, wanted=right)


def wrong_step(
    linear: Any, loss: Any, random: np.random.Generator
) -> Iterator[Finding]:
    """How far one training step moves W and b, beside how far it should."""
    seen: dict[int, list[float]] = {}
    for rows in (3, 5):
        x, W, b, target = drawn(random, rows)
        leaves = [minigrad.tensor(a, requires_grad=True) for a in (W, b)]
        y = linear.apply(minigrad.tensor(x), *leaves)
        loss.apply(y, minigrad.tensor(target)).backward()
        right = slopes(2 * (x @ W.T + b - target) / rows, x)
        seen[rows] = [ratio(*pair) for pair in zip(leaves, right, strict=True)]
    fits = [rows / factor if factor else 0 for rows in seen for factor in seen[rows]]
    is_one = fits[0] > 0.5 and np.allclose(fits, round(fits[0]))
    for rows, times in seen.items():
        if times != [1, 1]:
            yield from named_step(times, rows, round(fits[0]) if is_one else 0)


def named_step(times: list[float], rows: int, only: int) -> Iterator[Finding]:
    """What a step that is off looks like; it may be right for ``only`` so many rows."""
    said = [
        f"{name} {how_far(factor)}" for name, factor in zip("Wb", times, strict=True)
    ]
    known = {
        (1, rows): "bias",
        (rows, rows): "bias",
        (1 / rows, 1): "weight",
        (1 / rows, 1 / rows): "mean_twice",
        (1 / OUTPUTS, 1 / OUTPUTS): "both",
    }
    fitting = [name for factors, name in known.items() if np.allclose(times, factors)]
    name = f"step.{[*fitting, 'fixed' if only else 'other'][0]}"
    yield say(name, rows=rows, said=" and ".join(said), only=only)


def how_far(factor: float) -> str:
    """How far something moved, in words."""
    if math.isnan(factor):
        return say("moved.elsewhere").what
    return say("moved" if factor == 1 else "moved.too_far", times=factor).what


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
            yield cancelling("cancels.in_linear", linear, name, factor)
    factor = ratio(leaves[0], g @ W)
    if factor != 1:
        yield cancelling("cancels.below", linear, "x", factor)
    y = minigrad.tensor(x @ W.T + b, requires_grad=True)
    loss.apply(y, minigrad.tensor(target)).backward(minigrad.tensor(3.0))
    factor = ratio(y, 3 * 2 * (x @ W.T + b - target) / 5)
    if np.isclose(factor, 1 / 3):
        yield say("no_upstream", function=loss.__name__)
    elif factor != 1:
        yield cancelling("cancels.in_loss", loss, "y", factor)


def cancelling(message: str, function: Any, name: str, factor: float) -> Finding:
    """What is still wrong with one gradient, when the step is right."""
    size = "not" if math.isnan(factor) else f"{factor:.3g} times"
    return say(message, function=function.__name__, name=name, size=size)


def drawn(random: np.random.Generator, rows: int) -> tuple[Array, Array, Array, Array]:
    """x, W, b and the target for so many rows, of two inputs each."""
    shapes = ((rows, 2), (OUTPUTS, 2), (OUTPUTS,), (rows, OUTPUTS))
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
