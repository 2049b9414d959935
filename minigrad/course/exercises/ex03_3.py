"""03.3: a result on ctx as an attribute, which only the collector frees."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from unittest import mock

import numpy as np

import minigrad
from minigrad.course.findings import Finding
from minigrad.course.lifetimes import watch
from minigrad.engine.lint import items_of

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
    with collector_off() as collected:
        found = (
            list(wrong_numbers(answer, random))
            or list(mixed_up(answer, random))
            or list(left_behind(answer, random))
        )
        if not found and collected.called:
            hint = "Which arrow has to go, so that no collector is needed?"
            what = f"gc.collect was called {collected.call_count} times"
            found.append(
                Finding(
                    ("S07",),
                    what,
                    answer.__name__,
                    looks_like="The cycle is still made, and swept up each time, "
                    "which takes longer than the whole call.",
                    hint=hint,
                )
            )
    return found


def remarks_on(answer: Any) -> list[Finding]:
    """A copy without its history makes no cycle, and is an attribute all the same."""
    with minigrad.teaching(False):
        ctx = answer.apply(minigrad.ones(2, requires_grad=True)).grad_fn
    for id, noun, kind in KINDS:
        for name, kept in vars(ctx).items():
            if any([isinstance(value, kind) for value in items_of(kept)]):
                what = f"the cycle is gone, and {noun} is still kept as ctx.{name}"
                return [Finding((id,), what, answer.__name__)]
    return []


KINDS = (("S06", "a tensor", minigrad.Tensor), ("S08", "an array", np.ndarray))
"""What may be left on ctx without a cycle."""


@contextmanager
def collector_off() -> Iterator[Any]:
    """Nothing is collected meanwhile; says whether somebody asked for it."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        with mock.patch.object(gc, "collect", return_value=0) as collected:
            yield collected
    finally:
        if was_on:
            gc.enable()
        gc.collect()


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
    x = minigrad.tensor(random.uniform(-1, 1, 3).round(2), requires_grad=True)
    total = answer.apply(x).sum()
    other = answer.apply(x.detach().requires_grad_() * 2)
    (slope,) = minigrad.autograd.grad(total, x)
    if not np.allclose(slope.numpy(), np.exp(x.detach().numpy())):
        what = f"a call with x = {x.tolist()}, then one with {(x * 2).tolist()}: "
        what += f"backward of the first gives {slope.tolist()}"
        hint = "Which object is new in each call? What do two calls of yours share?"
        yield Finding(("S04",), what, answer.__name__, hint=hint)
    del other


def left_behind(answer: Any, random: np.random.Generator) -> Iterator[Finding]:
    """What is alive after ``del y``, without and with a backward before."""
    for runs_backward in (False, True):
        x = minigrad.tensor(random.uniform(-1, 1, 1000), requires_grad=True)
        y = answer.apply(x)
        watched = watch(result=y, node=y.grad_fn)
        if runs_backward:
            y.sum().backward()
        del y
        alive = [name for name, is_alive in watched.alive().items() if is_alive]
        if alive:
            when = "after backward and del y" if runs_backward else "after del y"
            what = f"{when}, with the collector off, {' and '.join(alive)} "
            what += "are still alive" if len(alive) > 1 else "is still alive"
            yield Finding(
                ("S07",),
                what,
                f"{answer.__name__}, what forward leaves on ctx",
                hint="Draw the arrows from y on. Where do you meet y again?",
            )
            return
