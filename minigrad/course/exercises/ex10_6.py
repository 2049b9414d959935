"""10.6: one training step with a gradient penalty."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

import minigrad
from minigrad.course.check import Array, Crash, Faults, left_behind
from minigrad.course.check.probes import tried
from minigrad.course.check.probes.second_order import Critic, stepped
from minigrad.course.exercises.gym.random_inputs import numbers
from minigrad.course.exercises.messages import Messages, named

say = Messages(__name__)

RATE = 0.1
SHAPES = ((4, 3), (4,), (1, 4), (1,))
"""Of the critic's weights."""

BEFORE = 2.0
"""What every parameter's .grad holds before the step."""


Loss = Callable[[Any, Any], Any]  # of the scores and the slopes


def length(slopes: Any) -> Any:
    """The length of each row."""
    return (slopes**2).sum(1).sqrt()


LOSSES: dict[str, Loss] = {
    "right": lambda s, d: s.mean() + ((length(d) - 1) ** 2).mean(),
    "detached": lambda s, d: s.mean(),
    "alone": lambda s, d: ((length(d) - 1) ** 2).mean(),
    "uphill": lambda s, d: -(s.mean() + ((length(d) - 1) ** 2).mean()),
    "mean": lambda s, d: s.mean() + ((length(d / len(s)) - 1) ** 2).mean(),
    "whole": lambda s, d: s.mean() + ((d**2).sum().sqrt() - 1) ** 2,
    "square": lambda s, d: s.mean() + (((d**2).sum(1) - 1) ** 2).mean(),
    "sum": lambda s, d: s.mean() + ((length(d) - 1) ** 2).sum(),
    "no_one": lambda s, d: s.mean() + (d**2).sum(1).mean(),
}
"""The loss that is asked for, and others that are taken for it."""


def look_at(answer: Any, random: np.random.Generator) -> Faults:
    """One step on two batches, beside the steps of all losses that are known."""
    for rows in (4, 7):
        weights = tuple([numbers(random, *shape) for shape in SHAPES])
        critic, x = Critic(weights), numbers(random, rows, 3)
        moves = {name: -RATE * g for name, g in gradients(critic, x).items()}
        moves["stale"] = moves["right"] - RATE * BEFORE
        moves["still"] = np.zeros_like(moves["right"])
        before = flat(critic, lambda p: p)
        after = tried(stepped, (answer,), weights, x, RATE, BEFORE)
        if isinstance(after, Crash):
            yield say.of_crash("crashed", after)
            return
        moved = after.parameters - before
        name = named("off", moves, partial(np.allclose, moved))
        if name != "off.right":
            ends = moved[[0, -1]], moves["right"][[0, -1]]
            times = ends[0] / ends[1]
            if name == "off" and np.allclose(moved, times[0] * moves["right"]):
                name = "off.times"
            elif name == "off":  # the last of all is in no slope
                name = "off.penalty" if np.isclose(times[1], 1) else "off.score"
            if name == "off.penalty" and np.isclose(times[0], 1):
                name = "off.some"
            (got, last), (right, whole) = ends
            said = {"got": got, "right": right, "last": last, "whole": whole}
            said["count"] = int((~np.isclose(moved, moves["right"])).sum())
            yield say(name, rows=rows, times=times[0], **said)
        yield left_behind("train_step", after.changed)


def gradients(critic: Critic, x: Array) -> dict[str, Array]:
    """The parameters' gradients under each loss, none by a second derivative."""
    found = {}
    for name, loss in LOSSES.items():
        for parameter in critic.parameters():
            parameter.grad = None
        given = minigrad.tensor(x)
        loss(critic(given), critic.slopes(given)).backward()
        found[name] = flat(critic, lambda p: p.grad)
    return found


def flat(critic: Critic, part: Callable[[Any], Any]) -> Array:
    """A part of each parameter, zeros where there is none, one after the other."""
    parts = [(p, part(p)) for p in critic.parameters()]
    tensors = [minigrad.zeros_like(p) if it is None else it for p, it in parts]
    return np.concatenate([it.detach().numpy().ravel() for it in tensors])
