"""13.4: two programs of the clinic: a shape and a sign."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

import minigrad
from minigrad.course.check import Array, Faults, Finding, crash_of, thrown
from minigrad.course.check.probes import opinions, seen
from minigrad.course.exercises.gym.random_inputs import numbers
from minigrad.course.exercises.messages import Messages, named

say = Messages(__name__)


class Doubled(minigrad.autograd.Function):
    """A product whose rule is wrong for its first factor."""

    @staticmethod
    def forward(ctx: Any, x: Any, w: Any) -> Any:
        ctx.save_for_backward(x, w)
        return (x * w).sum()

    @staticmethod
    def backward(ctx: Any, grad_output: Any) -> Any:
        x, w = ctx.saved_tensors
        return 2 * grad_output * w, grad_output * x


def look_at(answer: Sequence[Any], random: np.random.Generator) -> Faults:
    """The test first, which nobody was to touch; then each Function."""
    linear, gap, passes = answer
    if seen(opinions.opinion_on, (passes,), Doubled, (2, 3), (2, 3)).said is not False:
        yield say("test")
    yield from look_at_linear(linear, random)
    yield from look_at_gap(gap, random)


def look_at_linear(linear: Any, random: np.random.Generator) -> Iterator[Finding]:
    """A batch whose sizes are all different, then one where they are all the same."""
    for batch, inputs, outputs in ((4, 3, 2), (3, 3, 3)):
        x, w = numbers(random, batch, inputs), numbers(random, outputs, inputs)
        g = numbers(random, batch, outputs)
        shapes = {"x": x.shape, "W": w.shape, "g": g.shape}
        try:
            value, of_x, of_w = tried(linear, (x, w), g)
        except RuntimeError as error:
            yield say("crashed", error=told(error), **shapes)
            return
        if not np.allclose(value, x @ w.T):
            yield say("linear.value", **shapes)
        if not np.allclose(of_x, g @ w):
            yield say("linear.x", **shapes)
        if not np.allclose(of_w, g.T @ x):
            reshaped = np.allclose(of_w.ravel(), (x.T @ g).ravel())
            name = "linear.reshaped" if reshaped and outputs != inputs else "linear.w"
            yield say(name, **shapes)


def look_at_gap(gap: Any, random: np.random.Generator) -> Iterator[Finding]:
    """Prediction and target are both inputs; the upstream gradient is not 1."""
    made, wanted = numbers(random, 2, 3), numbers(random, 2, 3)
    g, loss = np.asarray(-1.5), ((made - wanted) ** 2).mean()
    try:
        value, *found = tried(gap, (made, wanted), g)
    except RuntimeError as error:
        yield say("crashed", error=told(error), x="", W="", g="")
        return
    if not np.allclose(value, loss):
        turned = np.allclose(value, -loss)
        yield say("gap.value.turned" if turned else "gap.value", got=value)
    right = g * 2 * (made - wanted) / made.size
    times = float((found[0] / right).flat[0])
    usual = {
        "both": (-right, right),
        "target": (right, right),
        "made": (-right, -right),
        "factor": (abs(times) * right, -abs(times) * right),
    }
    if not np.allclose(found, (right, -right)):
        name = named("gap", usual, lambda pair: np.allclose(found, pair))
        yield say(name, right=right, made=found[0], wanted=found[1], times=times)


def tried(function: Any, inputs: tuple[Array, ...], g: Array) -> list[Array]:
    """Value and gradients; zeros stand for a missing gradient."""
    leaves = [minigrad.tensor(each, requires_grad=True) for each in inputs]
    y = function.apply(*leaves)
    found = minigrad.autograd.grad(
        y, leaves, minigrad.tensor(g), materialize_grads=True
    )
    return [each.detach().numpy() for each in (y, *found) if each is not None]


def told(error: Exception) -> str:
    """An exception as its last line names it."""
    return thrown(crash_of("", error)).removesuffix(": ")
