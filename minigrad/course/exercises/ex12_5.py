"""12.5: a checkpoint that runs a function with dropout twice, and alike."""

from __future__ import annotations

from typing import Any

import numpy as np

from minigrad.course.check import Array, Crash, Faults, Finding
from minigrad.course.check.probes import checkpoints, tried
from minigrad.course.check.probes.checkpoints import LAYERS, Checkpointed
from minigrad.course.exercises.messages import Messages

say = Messages(__name__)

COUNT = 12


def look_at(answer: Any, random: np.random.Generator) -> Faults:
    """Checkpoint some layers with dropout, on a product and on a leaf."""
    for leaf in (False, True):
        x, w, g = (random.uniform(0.5, 1.5, COUNT) for _ in range(3))
        run = tried(checkpoints.checkpointed, (answer,), x, w, g, leaf)
        yield fault_in(run, x, w, g)


def fault_in(run: Checkpointed | Crash, x: Array, w: Array, g: Array) -> Finding | None:
    """What is wrong with one run; None if nothing is."""
    if isinstance(run, Crash):
        return say.of_crash("crashed", run)
    if run.masks is None or run.forward != 1:
        return say("forward", calls=run.forward)
    if run.result is None or not np.allclose(run.result, result(x, w, run.masks[0])):
        return say("result")
    if run.calls != 2:
        name = "calls.kept" if run.calls == 1 else "calls"
        return say(name, calls=run.calls, alive=run.alive, layers=LAYERS)
    if run.alive:
        return say("alive", alive=run.alive, layers=LAYERS)
    if not np.array_equal(run.masks[0], run.masks[1]):
        masks = [mask[:6].astype(int) for mask in run.masks]
        return say("masks", first=masks[0], second=masks[1])
    wanted = gradients(x, w, g, run.masks[0])
    return wrong_gradient(run, wanted) or (None if run.goes_on else say("goes_on"))


def wrong_gradient(run: Checkpointed, wanted: tuple[Array, Array]) -> Finding | None:
    """The first gradient that isn't right."""
    for name, got, right in (
        ("x", run.grad_x, wanted[0]),
        ("the weight that the function uses", run.grad_w, wanted[1]),
    ):
        if got is not None and np.allclose(got, right):
            continue
        kind = "gradient" if got is not None else "gradient.none"
        if got is not None and np.allclose(got, 2 * right):
            kind = "gradient.twice"
        if name != "x":
            kind = "gradient.weight"
        shown = None if got is None else got[:3]
        return say(kind, name=name, got=shown, wanted=right[:3])
    return say("above", above=run.above) if run.above > 1 else None


def result(x: Array, w: Array, mask: Array) -> Array:
    """What the function returns."""
    for _ in range(LAYERS):
        x = np.tanh(x * w)
    return x * mask


def gradients(x: Array, w: Array, g: Array, mask: Array) -> tuple[Array, Array]:
    """The gradients for x and for the weight."""
    inputs = [x]
    for _ in range(LAYERS):
        inputs.append(np.tanh(inputs[-1] * w))
    gradient, of_w = g * mask, np.zeros_like(w)
    for before, after in zip(inputs[-2::-1], inputs[:0:-1], strict=True):
        slope = gradient * (1 - after**2)
        of_w += slope * before
        gradient = slope * w
    return gradient, of_w
