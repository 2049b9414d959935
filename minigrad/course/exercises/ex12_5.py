"""12.5: a checkpoint that runs a function with dropout twice, and alike."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

import minigrad
from minigrad.course.check import (
    Array,
    Crash,
    Faults,
    Finding,
    left_behind,
    lost_digits,
)
from minigrad.course.check.probes import checkpoints, tried
from minigrad.course.check.probes.checkpoints import LAYERS, Checkpointed
from minigrad.course.exercises.messages import Messages

say = Messages(__name__)

COUNT = 12


def look_at(answer: Any, random: np.random.Generator) -> Faults:
    """Checkpoint some layers with dropout, on a product and on a leaf."""
    for run, *given in runs(answer, random):
        if isinstance(run, Crash):
            yield say.of_crash("crashed", run)
        else:
            yield fault_in(run, *given)


def runs(
    answer: Any, random: np.random.Generator, drops: bool = True
) -> Iterator[tuple[Any, Array, Array, Array]]:
    """What the answer did with the layers, and x, the weight and the gradient sent."""
    for leaf in (False, True):
        x, w, g = (random.uniform(0.5, 1.5, COUNT) for _ in range(3))
        g *= np.where(np.arange(COUNT) % 2, 1, -1)
        given = x, w, g, leaf, drops
        yield tried(checkpoints.checkpointed, (answer,), *given), x, w, g


def fault_in(run: Checkpointed, x: Array, w: Array, g: Array) -> Finding | None:
    """What is wrong with one run; None if nothing is."""
    if run.masks is None or run.forward != 1:
        return say("forward", calls=run.forward)
    result, *wanted = without_checkpoint(x, w, g, run.masks[0])
    if run.result is None or not np.allclose(run.result, result):
        return say("result")
    if run.mixed:
        return say("mixed")
    if run.calls != 2:
        name = "calls.kept" if run.calls == 1 else "calls"
        return say(name, calls=run.calls, alive=run.alive, layers=LAYERS)
    if run.alive:
        return say("alive", alive=run.alive, layers=LAYERS)
    if not np.array_equal(run.masks[0], run.masks[1]):
        masks = [mask[:6].astype(int) for mask in run.masks]
        return say("masks", first=masks[0], second=masks[1])
    signs = {"goes_on": not run.goes_on, "drew": not run.drew, "seeded": run.seeded}
    rest = say.first(signs) or left_behind("checkpoint", run.changed)
    ones = without_checkpoint(x, w, np.ones_like(g), run.masks[0])[1:]
    lost = lost_digits("the result", "checkpoint", run.result, result)
    return lost or wrong_gradient(run, wanted, ones) or rest


def wrong_gradient(
    run: Checkpointed, wanted: Sequence[Array], ones: Sequence[Array]
) -> Finding | None:
    """The first gradient that isn't right; ``ones``: what is, if ones were sent."""
    for name, got, right, of_ones in (
        ("x", run.grad_x, wanted[0], ones[0]),
        ("the weight that the function uses", run.grad_w, wanted[1], ones[1]),
    ):
        if got is not None and np.allclose(got, right):
            what = f"the gradient for {name}"
            if lost := lost_digits(what, "checkpoint", got, right):
                return lost
            continue
        kind = "gradient" if got is not None else "gradient.none"
        if got is not None and np.allclose(got, of_ones):
            kind = "gradient.ones"
        elif got is not None and np.allclose(got, 2 * right):
            kind = "gradient.twice" if run.above != 1 else "gradient.double"
        elif name != "x" and (got is None or not got.any()):
            kind = "gradient.weight"
        shown = None if got is None else got[:3]
        return say(kind, name=name, got=shown, wanted=right[:3])
    return say("above", above=run.above) if run.above > 1 else None


def without_checkpoint(
    x: Array, w: Array, g: Array, mask: Array
) -> tuple[Array, Array, Array]:
    """What the layers return, and the gradients for x and for the weight."""
    start, weight = [minigrad.tensor(each, requires_grad=True) for each in (x, w)]
    y = start
    for _ in range(LAYERS):
        y = (y * weight).tanh()
    y = y * minigrad.tensor(mask)
    slopes = minigrad.autograd.grad(y, (start, weight), minigrad.tensor(g))
    result, of_x, of_w = [each.detach().numpy() for each in (y, *slopes)]
    return result, of_x, of_w
