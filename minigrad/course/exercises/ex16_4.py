"""16.4: the loss of a deep network, with half as much kept for backward."""

from __future__ import annotations

from typing import Any

import numpy as np

from minigrad.course.check import Array, Faults, Finding
from minigrad.course.check.probes import seen
from minigrad.course.check.probes.training import Weighed, weighed
from minigrad.course.exercises.messages import Messages

say = Messages(__name__)

SECONDS = 20.0
ROWS, WIDTH, DEPTH, CLASSES = 384, 64, 6, 10
PLAIN = 2 * DEPTH * ROWS * WIDTH * 4
"""Bytes that are kept where each layer saves its input, and each ReLU its own."""

MOST_KEPT, MOST_AT_ONCE = 0.6, 0.9
"""Shares of it that may be alive after forward, and at any time in backward."""

STEPS, RATE = 6, 0.1


def look_at(answer: Any, random: np.random.Generator) -> Faults:
    """A network with six hidden layers, on a batch of 384."""
    x = random.normal(size=(ROWS, WIDTH)).astype(np.float32)
    y = random.integers(0, CLASSES, ROWS).astype(np.uint8)
    weights = drawn(random)
    run = seen(weighed, (answer,), x, y, weights, STEPS, RATE)
    yield fault_in(run, x, y, weights) or reached(run)


def drawn(random: np.random.Generator) -> tuple[Array, ...]:
    """A matrix and a bias for each layer."""
    sizes = [WIDTH] * DEPTH + [CLASSES]
    made = []
    for size in sizes:
        matrix = random.normal(size=(size, WIDTH)) * (2 / WIDTH) ** 0.5
        made += [matrix.astype(np.float32), np.zeros(size, np.float32)]
    return tuple(made)


def fault_in(
    run: Weighed, x: Array, y: Array, weights: tuple[Array, ...]
) -> Finding | None:
    """What is wrong; None if nothing is."""
    if run.crash is not None:
        name = "crashed" if run.phase == "loss" else "double"
        return say.of_crash(name, run.crash, phase=run.phase)
    losses, right = curve(x, y, weights)
    size = np.abs(right).max()
    if run.losses is None or abs(run.losses[0] - losses[0]) > 0.01 * losses[0]:
        first = None if run.losses is None else f"{run.losses[0]:.4g}"
        return say("loss", got=first, right=losses[0])
    if run.gradient is None:
        return say("gradient", first=None, right=right[0, :3])
    if np.abs(run.gradient - right).max() > 0.02 * size:
        return say("gradient", first=run.gradient[0, :3], right=right[0, :3])
    if np.abs(run.losses - losses).max() > 0.01 * losses[0]:
        return say("curve", got=run.losses[-1], right=losses[-1], steps=STEPS)
    for used, phase in (
        (run.before, "two graphs at a time"),
        (run.second, "backward a second time"),
    ):
        if used is None or np.abs(used - right).max() > 0.02 * size:
            return say("double", text="another gradient", phase=phase)
    if run.kept > MOST_KEPT * PLAIN:
        return say("kept", **weights_of(run))
    if run.peak > MOST_AT_ONCE * PLAIN:
        return say("peak", **weights_of(run))
    return None


def weights_of(run: Weighed) -> dict[str, float]:
    """What was weighed, in kB and as shares of what is kept without saving."""
    kept = {"kept": run.kept / 1e3, "share": run.kept / PLAIN, "limit": MOST_KEPT}
    peak = {"peak": run.peak / 1e3, "at_once": run.peak / PLAIN, "most": MOST_AT_ONCE}
    return kept | peak | {"plain": PLAIN / 1e3}


def reached(run: Weighed) -> Finding:
    """What a right answer keeps; and whether ``loss_of`` kept no more."""
    is_lean_already = 0 < run.plain <= MOST_KEPT * PLAIN
    name = "reached.already" if is_lean_already else "reached"
    return say(name, **weights_of(run))


def curve(x: Array, y: Array, weights: tuple[Array, ...]) -> tuple[Array, Array]:
    """The right losses of a few steps, and the first gradient of the first matrix."""
    own = [w.astype(float) for w in weights]
    losses, first = [], None
    for _ in range(STEPS):
        loss, gradients = loss_and_gradients(x, y, own)
        losses.append(loss)
        first = gradients[0] if first is None else first
        own = [w - RATE * g for w, g in zip(own, gradients, strict=True)]
    assert first is not None
    return np.array(losses), first


def loss_and_gradients(
    x: Array, y: Array, weights: list[Array]
) -> tuple[float, list[Array]]:
    """Forward and backward in NumPy."""
    inputs = [x.astype(float)]
    pairs = list(zip(weights[::2], weights[1::2], strict=True))
    for matrix, bias in pairs[:-1]:
        inputs.append(np.maximum(inputs[-1] @ matrix.T + bias, 0))
    logits = inputs[-1] @ pairs[-1][0].T + pairs[-1][1]
    shifted = logits - logits.max(1, keepdims=True)
    logs = shifted - np.log(np.exp(shifted).sum(1, keepdims=True))
    rows = np.arange(len(y))
    g = np.exp(logs)
    g[rows, y] -= 1
    g /= len(y)
    found: list[Array] = []
    for (matrix, _), before in zip(pairs[::-1], inputs[::-1], strict=True):
        found = [g.T @ before, g.sum(0), *found]
        g = (g @ matrix) * (before > 0)
    return float(-logs[rows, y].mean()), found
