"""16.4: the loss of a deep network, with half as much kept for backward."""

from __future__ import annotations

from typing import Any

import numpy as np

import minigrad
from minigrad.course.check import Array, Faults, Finding
from minigrad.course.check.probes import seen
from minigrad.course.check.probes.training import Weighed, weighed
from minigrad.course.exercises.messages import Messages
from minigrad.nn.functional import cross_entropy, linear

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

    def differs(gradient: Array | None) -> bool:
        if gradient is None:
            return True
        return bool(np.abs(gradient - right).max() > 0.02 * np.abs(right).max())

    off = None if run.losses is None else np.abs(run.losses - losses) / losses[0]
    if run.losses is None or off is None or off[0] > 0.01:
        got = None if run.losses is None else f"{run.losses[0]:.4g}"
        return say("loss", got=got, right=losses[0])
    if differs(run.gradient):
        first = None if run.gradient is None else run.gradient[0, :3]
        return say("gradient", first=first, right=right[0, :3])
    if off.max() > 0.01:
        return say("curve", got=run.losses[-1], right=losses[-1], steps=STEPS)
    if differs(run.before):
        return say("double", text="another gradient", phase="two graphs at a time")
    if differs(run.second):
        return say("double", text="another gradient", phase="backward a second time")
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
    flat = [minigrad.tensor(w.astype(float), requires_grad=True) for w in weights]
    pairs = list(zip(flat[::2], flat[1::2], strict=True))
    optimizer, target = minigrad.optim.SGD(flat, RATE), minigrad.tensor(y.astype(int))
    losses, gradients = [], []
    for _ in range(STEPS):
        hidden = minigrad.tensor(x.astype(float))
        for matrix, bias in pairs[:-1]:
            hidden = linear(hidden, matrix, bias).relu()
        loss = cross_entropy(linear(hidden, *pairs[-1]), target)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        assert flat[0].grad is not None
        gradients.append(flat[0].grad.numpy())
        losses.append(loss.item())
    return np.array(losses), gradients[0]
