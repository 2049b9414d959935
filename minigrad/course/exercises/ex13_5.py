"""13.5: two programs of the clinic: a stale value and a dead branch."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

import minigrad
from minigrad.course.check import Array, Faults, Finding
from minigrad.course.check.probes import seen
from minigrad.course.check.probes.checkers import sloped
from minigrad.course.exercises.gym.random_inputs import numbers
from minigrad.course.exercises.messages import Messages, named

say = Messages(__name__)

FOUND_BY = (4, 1)
"""The first question of the card that says no, for each program as it is shipped."""


def look_at(answer: Sequence[Any], random: np.random.Generator) -> Faults:
    """Swish in two calls, the function with its branch, and the card."""
    swish, residual, found_by = answer
    x = numbers(random, 3)
    yield from look_at_swish(swish, x)
    yield from look_at_residual(residual, x)
    yield from look_at_card(found_by)


def look_at_swish(swish: Any, x: Array) -> Iterator[Finding]:
    """Two calls; then backward through the first one first, or through the last one."""
    said: dict[str, Any] = {"x": x, "then": -2 * x}
    before, given = set(vars(swish)), (x, -2 * x)
    for order in ((0,), (0, 1), (1, 0)):
        leaves = [minigrad.tensor(each, requires_grad=True) for each in given]
        results = [swish.apply(leaves[number]).sum() for number in sorted(order)]
        for number in order:
            s = 1 / (1 + np.exp(-given[number]))
            right = s * (1 + given[number] * (1 - s))
            (found,) = minigrad.autograd.grad(
                results[number], leaves[number], materialize_grads=True
            )
            if found is None or not np.allclose(found.numpy(), right):
                new = set(vars(swish)) - before
                said |= {"kept": ", ".join([f"Swish.{each}" for each in sorted(new)])}
                name = "swish.mixed.kept" if new else "swish.mixed"
                name = name if len(order) > 1 else "swish.slope"
                yield say(name, got=found, right=right, **said)


def look_at_residual(residual: Any, x: Array) -> Iterator[Finding]:
    """Both branches have to bring a gradient."""
    found = seen(sloped, (residual,), (x,), np.ones(3))
    (slope,) = found.arrived
    said = {"x": x, "got": slope, "right": 1 + np.cos(x)}
    if not np.allclose(found.value, x + np.sin(x)):
        known = {"sine": np.sin(x), "input": x, "minus": x - np.sin(x)}
        name = named("residual.value", known, lambda it: np.allclose(found.value, it))
        yield say(name, value=found.value, **said)
    elif slope is None:
        yield say("residual.none", **said)
    elif np.allclose(slope, np.ones(3)):
        code = getattr(residual, "__code__", None)
        is_cut = code is not None and "forward" not in code.co_names
        yield say("residual.cut" if is_cut else "residual.dead", **said)
    elif not np.allclose(slope, 1 + np.cos(x)):
        is_lost = np.allclose(slope, np.cos(x))
        yield say("residual.lost" if is_lost else "residual.slope", **said)
    elif "SineBackward" not in found.nodes:
        yield say("residual.without", nodes=", ".join(found.nodes), **said)


def look_at_card(found_by: Any) -> Iterator[Finding]:
    """Two numbers of questions."""
    said = list(found_by) if isinstance(found_by, (list, tuple)) else []
    if len(said) != 2 or not set(said) <= set(range(6)):
        yield say("card.unread", said=found_by)
    for name, number, right in zip(("swish", "residual"), said, FOUND_BY, strict=True):
        if number == 0:
            yield say("card.empty")
        elif number != right:
            yield say(f"card.{name}", number=number)
