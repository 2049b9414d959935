"""03.3: a result on ctx as an attribute, which only the collector frees."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

import minigrad
from minigrad.course.check import Faults, Finding
from minigrad.course.check.probes import lifetimes, seen
from minigrad.course.exercises.messages import Messages

say = Messages(__name__)


def look_at(answer: Any, random: np.random.Generator) -> Faults:
    """The numbers; then what is left after ``del y``, with the collector off."""
    yield from wrong_numbers(answer, random)
    yield from mixed_up(answer, random)
    yield from left_behind(answer, random)


def remarks_on(answer: Any) -> list[Finding]:
    """A copy without its history makes no cycle, and is an attribute all the same."""
    for name, kind in seen(lifetimes.kept_on_ctx, (answer,)):
        message = "kept.array" if kind == "array" else "kept.tensor"
        return [say(message, name=name, answer=answer.__name__)]
    return []


def wrong_numbers(answer: Any, random: np.random.Generator) -> Iterator[Finding]:
    """Value and gradient, as of any Function."""
    x = minigrad.tensor(random.uniform(-1, 1, 3).round(2), requires_grad=True)
    upstream = minigrad.tensor(random.uniform(1, 2, 3).round(2))
    y = answer.apply(x)
    right = np.exp(x.detach().numpy())
    said: dict[str, Any] = {"answer": answer.__name__, "x": x}
    if not np.allclose(y.detach().numpy(), right):
        yield say("value", got=y, **said)
    (slope,) = minigrad.autograd.grad(y, x, upstream, materialize_grads=True)
    assert slope is not None  # zeros stand for a gradient that is missing
    if not np.allclose(slope.numpy(), right * upstream.numpy()):
        yield say("slope", got=slope, upstream=upstream, **said)


def mixed_up(answer: Any, random: np.random.Generator) -> Iterator[Finding]:
    """Results without a name, and another call before backward."""
    x = random.uniform(-1, 1, 3).round(2)
    slope = seen(lifetimes.gradient_of_a_sum, (answer,), x, 2 * x)
    if not np.allclose(slope, np.exp(x)):
        yield say("mixed_up", answer=answer.__name__, x=x, then=2 * x, slope=slope)


def left_behind(answer: Any, random: np.random.Generator) -> Iterator[Finding]:
    """What is alive after ``del y``, without and with a backward before."""
    left = seen(lifetimes.left_behind, (answer,), random.uniform(-1, 1, 1000))
    for when, alive in (
        ("after del y", left.without),
        ("after backward and del y", left.after_backward),
    ):
        if alive:
            name = "alive.several" if len(alive) > 1 else "alive"
            things = " and ".join(alive)
            yield say(name, when=when, things=things, answer=answer.__name__)
    if left.collected:
        yield say("collected", times=left.collected, answer=answer.__name__)
