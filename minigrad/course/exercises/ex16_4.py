"""16.4: the loss of a deep network, with half as much kept for backward."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

import minigrad
from minigrad.course.check import Array, Faults, Finding, left_behind
from minigrad.course.check.probes import seen
from minigrad.course.check.probes.training import Weighed, downhill, weighed
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
    y = random.integers(0, CLASSES, ROWS)
    weights: list[Array] = []
    for size in [WIDTH] * DEPTH + [CLASSES]:
        matrix = random.normal(size=(size, WIDTH)) * (2 / WIDTH) ** 0.5
        weights += [matrix.astype(np.float32), random.random(size, np.float32) / 10]
    run = seen(weighed, (answer,), x, y, tuple(weights), STEPS, RATE)
    exactly = minigrad.tensor(x.astype(float)), minigrad.tensor(y)
    doubles = tuple([each.astype(float) for each in weights])
    losses, gradient = downhill(loss_of, exactly, doubles, STEPS, RATE)
    layers = [minigrad.tensor(each) for each in doubles]
    pairs = list(zip(layers[::2], layers[1::2], strict=True))
    known: dict[str, Any] = {"last": float(loss_of(*exactly, pairs, last=True))}
    known["passed"] = downhill(partial(loss_of, passed=True), exactly, doubles, 1, 0)[1]
    yield judged(run, losses, gradient, known)


def loss_of(
    x: Any, y: Any, layers: list[Any], last: bool = False, passed: bool = False
) -> Any:
    """The right loss; or with a ReLU at the end, or ones that pass all back."""
    for matrix, bias in layers[:-1]:
        x = linear(x, matrix, bias)
        x = x + (x.relu() - x).detach() if passed else x.relu()
    logits = linear(x, *layers[-1])
    return cross_entropy(logits.relu() if last else logits, y)


def judged(
    run: Weighed, losses: Array, gradient: Array | None, known: dict[str, Any]
) -> Finding | None:
    """What is wrong; if nothing is, how much is kept."""
    if run.crash is not None:
        name = "crashed" if run.phase == "loss" else "double"
        return say.of_crash(name, run.crash, phase=run.phase)
    assert gradient is not None
    assert run.losses is not None

    def differs(found: Array | None, right: Array = gradient) -> bool:
        if found is None:
            return True
        return not np.abs(found - right).max() <= 0.01 * np.abs(right).max()

    def is_near(found: float, wrong: float) -> bool:
        return abs(found - wrong) <= 1e-3 * wrong

    off = np.abs(run.losses - losses) / losses[0]
    signs = {
        "loss.last": off[0] > 0.01 and is_near(run.losses[0], known["last"]),
        "loss": not off[0] <= 0.01,
        "gradient.none": run.gradient is None,
        "gradient.passed": not differs(run.gradient, known["passed"]),
        "gradient": differs(run.gradient),
        "curve": not off.max() <= 0.01,
        "double.before": differs(run.before),
        "double.second": differs(run.second),
        "kept.as_before": run.kept > 0.95 * PLAIN,
        "kept.mask" if "bool" in run.kinds else "kept": run.kept > MOST_KEPT * PLAIN,
        "peak": run.peak > MOST_AT_ONCE * PLAIN,
        "reached.already": 0 < run.plain <= MOST_KEPT * PLAIN,
        "reached": True,
    }
    wrong = [seen for name, seen in signs.items() if not name.startswith("reached")]
    shown = {"got": run.losses[0], "right": losses[0]}
    shown |= {"last": run.losses[-1], "ends": losses[-1], "steps": STEPS}
    shown |= {"slope": None if run.gradient is None else run.gradient[0, :3]}
    shown |= {"first": gradient[0, :3], "plain": PLAIN / 1e3}
    kept = {"kept": run.kept / 1e3, "share": run.kept / PLAIN, "limit": MOST_KEPT}
    peak = {"peak": run.peak / 1e3, "at_once": run.peak / PLAIN, "most": MOST_AT_ONCE}
    left = left_behind("lean_loss", run.changed) if not any(wrong) else None
    return left or say.first(signs, **shown, **kept, **peak)
