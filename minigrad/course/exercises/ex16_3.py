"""16.3: a training loop that reaches its target, with the learner's own Functions."""

from __future__ import annotations

from typing import Any

import numpy as np

from minigrad.course.check import Array, Crash, Faults, Finding
from minigrad.course.check.probes import tried
from minigrad.course.check.probes.training import Trained, trained
from minigrad.course.exercises.messages import Messages
from minigrad.nn import data

say = Messages(__name__)

SECONDS = 40.0

STEPS = {"digits": 300, "names": 500}
TARGETS = {"digits": 0.25, "names": 2.3}
"""Losses on what was held out, as a mean of three seeds. 20 runs of the solution had:
digits 0.103 on average, at most 0.144 (standard deviation 0.021); names 2.207, at most
2.256 (0.027)."""

RUNS = 3
HELD_OUT = {"digits": 360, "names": 2000}
CLASSES = {"digits": 10, "names": 27}


def look_at(answer: Any, random: np.random.Generator) -> Faults:
    """Train three times, each on other data, and look at what wasn't seen."""
    track, train = answer
    if track not in STEPS:
        yield say("track", said=track)
    x, y = digits() if track == "digits" else names()
    ends, noted = [], np.zeros(0)
    for seed in random.integers(0, 10**6, RUNS).tolist():
        places = random.permutation(len(x))
        out, rest = np.split(places, [HELD_OUT[track]])
        run = tried(trained, (train,), x[rest], y[rest], x[out], STEPS[track], seed)
        if isinstance(run, Crash):
            yield say.of_crash("crashed", run)
            return
        yield fault_in(run, track)
        assert run.logits is not None  # or that would have been a fault
        loss = cross_entropy(run.logits, y[out])
        yield sum_of(run, track, loss)
        noted = run.noted
        ends.append((loss_of(noted[-50:]), loss))
    yield from too_high(np.array(ends), noted[0], track)


def fault_in(run: Trained, track: str) -> Finding | None:
    """What is wrong with a run, whatever it has reached; None if nothing is."""
    steps, classes = STEPS[track], CLASSES[track]
    if run.others:
        return say("others", node=run.others[0])
    if run.stale:
        return say("stale", backward=run.stale)
    if run.looked_at and run.pairs < 0.9 * run.looked_at:
        return say("pairs", pairs=run.pairs, rows=run.looked_at)
    if len(run.noted) != steps:
        return say("count", count=len(run.noted), steps=steps)
    if run.backwards != steps:
        return say("backwards", backwards=run.backwards, steps=steps)
    if not np.isfinite(run.noted).all():
        step = int(np.flatnonzero(~np.isfinite(run.noted))[0]) + 1
        return say("lost", step=step)
    if run.kind:
        return say("kind", kind=run.kind)
    shape = (HELD_OUT[track], classes)
    if run.logits is None or run.logits.shape != shape:
        got = None if run.logits is None else run.logits.shape
        return say("shape", got=got, wanted=shape)
    return None


def sum_of(run: Trained, track: str, loss: float) -> Finding | None:
    """Whether the losses are sums: at first, and beside the mean of what's held out."""
    first, last, batch = run.noted[0], loss_of(run.noted[-50:]), run.batch
    is_sum = batch > 7 and 0.7 < first / batch / np.log(CLASSES[track]) < 1.4
    if is_sum and last > loss * batch / 4:
        return say("sum", first=first, batch=batch, mean=first / batch)
    return None


def too_high(ends: Array, first: float, track: str) -> Faults:
    """What the losses look like, if the held-out ones are above the target."""
    seen_loss, loss = ends.mean(0)
    target = TARGETS[track]
    if loss <= target:
        return
    nothing = float(np.log(CLASSES[track]))
    shown = {"loss": loss, "target": target, "steps": STEPS[track], "track": track}
    shown |= {"first": first, "last": seen_loss, "nothing": nothing}
    if first > 1.5 * nothing:
        yield say("target.confident", **shown)
    if seen_loss > 0.97 * first:
        yield say("target.still", **shown)
    if seen_loss <= target and loss > seen_loss * 1.2:
        yield say("target.unseen", **shown)
    yield say("target", **shown)


def loss_of(noted: Array) -> float:
    """The mean of the last losses that were noted."""
    return float(np.mean(noted))


def cross_entropy(logits: Array, y: Array) -> float:
    """The mean loss; of logits that aren't finite, infinite."""
    shifted = logits.astype(float) - logits.max(1, keepdims=True)
    logs = shifted - np.log(np.exp(shifted).sum(1, keepdims=True))
    loss = -logs[np.arange(len(y)), y].mean()
    return float(loss) if np.isfinite(loss) else float("inf")


def digits() -> tuple[Array, Array]:
    """Rows of 64 pixels, and which digit each is."""
    images, labels = data.digits()
    return images.numpy().reshape(-1, 64), labels.numpy().astype(np.uint8)


def names() -> tuple[Array, Array]:
    """Three letters as numbers, and the one that follows; 0 is before and after."""
    rows = []
    for name in data.names():
        letters = [0, 0, 0, *[ord(letter) - 96 for letter in name], 0]
        rows += [letters[i : i + 4] for i in range(len(name) + 1)]
    table = np.array(rows, np.uint8)
    return table[:, :3], table[:, 3]
