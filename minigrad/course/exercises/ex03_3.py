"""03.3: a result on ctx as an attribute, which only the collector frees."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

import minigrad
from minigrad.course.check import Finding
from minigrad.course.check.probes import lifetimes, seen

ANSWER = "Exp"

SHIPPED = """\
class Exp(mg.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.result = x.exp()
        return ctx.result

    @staticmethod
    def backward(ctx, grad_output):
        return grad_output * ctx.result
"""
"""The class as the notebook ships it: not tried. A test compares the two."""


def look_at(answer: Any, random: np.random.Generator) -> list[Finding]:
    """The numbers; then what is left after ``del y``, with the collector off."""
    return (
        list(wrong_numbers(answer, random))
        or list(mixed_up(answer, random))
        or list(left_behind(answer, random))
    )


def remarks_on(answer: Any) -> list[Finding]:
    """A copy without its history makes no cycle, and is an attribute all the same."""
    for name, kind in seen(lifetimes.kept_on_ctx, (answer,)):
        id, noun = KINDS[kind]
        what = f"the cycle is gone, and {noun} is still kept as ctx.{name}"
        return [Finding((id,), what, answer.__name__)]
    return []


KINDS = {"tensor": ("S06", "a tensor"), "array": ("S08", "an array")}
"""What may be left on ctx without a cycle."""


def wrong_numbers(answer: Any, random: np.random.Generator) -> Iterator[Finding]:
    """Value and gradient, as of any Function."""
    x = minigrad.tensor(random.uniform(-1, 1, 3).round(2), requires_grad=True)
    upstream = minigrad.tensor(random.uniform(1, 2, 3).round(2))
    y = answer.apply(x)
    right = np.exp(x.detach().numpy())
    if not np.allclose(y.detach().numpy(), right):
        what = f"forward gives {y.tolist()} for x = {x.tolist()}"
        yield Finding((), what, f"{answer.__name__}.forward")
        return
    (slope,) = minigrad.autograd.grad(y, x, upstream, materialize_grads=True)
    assert slope is not None  # zeros stand for a gradient that is missing
    if not np.allclose(slope.numpy(), right * upstream.numpy()):
        what = f"the gradient is {slope.tolist()} for x = {x.tolist()}, grad_output = "
        what += f"{upstream.tolist()}"
        hint = "Where the result is y, e to the power x grows y times as fast as x."
        yield Finding((), what, f"{answer.__name__}.backward", hint=hint)


def mixed_up(answer: Any, random: np.random.Generator) -> Iterator[Finding]:
    """Results without a name, and another call before backward."""
    x = random.uniform(-1, 1, 3).round(2)
    slope = seen(lifetimes.gradient_of_a_sum, (answer,), x, 2 * x)
    if not np.allclose(slope, np.exp(x)):
        what = f"a call with x = {x.tolist()}, then one with {(2 * x).tolist()}: "
        what += f"backward of the first gives {slope.tolist()}"
        hint = "Which object is new in each call? What do two calls of yours share?"
        yield Finding(("S04",), what, answer.__name__, hint=hint)


def left_behind(answer: Any, random: np.random.Generator) -> Iterator[Finding]:
    """What is alive after ``del y``, without and with a backward before."""
    left = seen(lifetimes.left_behind, (answer,), random.uniform(-1, 1, 1000))
    for when, alive in (
        ("after del y", left.without),
        ("after backward and del y", left.after_backward),
    ):
        if alive:
            what = f"{when}, with the collector off, {' and '.join(alive)} "
            what += "are still alive" if len(alive) > 1 else "is still alive"
            yield Finding(
                ("S07",),
                what,
                f"{answer.__name__}, what forward leaves on ctx",
                hint="Draw the arrows from y on. Where do you meet y again?",
            )
            return
    if left.collected:
        yield Finding(
            ("S07",),
            f"gc.collect was called {left.collected} times",
            answer.__name__,
            looks_like="The cycle is still made, and swept up each time, which takes "
            "longer than the whole call.",
            hint="Which arrow has to go, so that no collector is needed?",
        )
