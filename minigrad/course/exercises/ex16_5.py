"""16.5: one kernel instead of a loop, and a fair way to say how much faster it is."""

from __future__ import annotations

from typing import Any

import numpy as np

from minigrad.course.check import Crash, Faults, Finding, left_behind
from minigrad.course.check.probes import seen, tried
from minigrad.course.check.probes.training import by_rows, gathered
from minigrad.course.exercises import timings
from minigrad.course.exercises.messages import Messages, named
from minigrad.errors import count_of

say = Messages(__name__)

SECONDS = 20.0
TWICE, LARGE = 2.0, 1e8
ROWS, WIDTH, PICKED = 27, 8, 1000


def look_at(answer: Any, random: np.random.Generator) -> Faults:
    """The same numbers; then the way they are timed; then whether it was worth it."""
    fast, speedup = answer
    cases = ((5, 3, 8), (4, 2, 1), (ROWS, WIDTH, 200), (3, 2, 0), (ROWS, WIDTH, PICKED))
    for rows, width, picked in cases:
        yield other_numbers(fast, random, rows, width, picked)
    yield other_numbers(fast, random, ROWS, WIDTH, PICKED, LARGE)
    yield from timings.look_at(speedup, random, ("speedup", "first", "second"))
    g = random.normal(size=(PICKED, WIDTH)).astype(np.float32)
    idx = random.integers(0, ROWS, PICKED)
    run = seen(gathered, (fast,), g, idx, ROWS, 15)
    if run.ratio < TWICE:  # a kernel wins by far more than that
        yield say("slow", ratio=run.ratio)


def other_numbers(
    fast: Any,
    random: np.random.Generator,
    rows: int,
    width: int,
    picked: int,
    large: float = 1.0,
) -> Finding | None:
    """What differs from the loop; None if nothing does."""
    g = random.normal(size=(picked, width)).astype(np.float32)
    idx = random.integers(0, max(rows - 1, 1), picked)
    g[idx == rows // 2] *= large
    run = tried(gathered, (fast,), g, idx, rows, 0)
    if isinstance(run, Crash):
        return say.of_crash("crashed", run, rows=count_of(picked, "row"))
    if run.value is None:
        return say("no_array", kind=run.kind)
    if run.changed:
        return left_behind("fast", run.changed)
    right = by_rows(g.astype(float), idx, rows)
    if run.value.shape != right.shape:
        return say("shape", got=run.value.shape, right=right.shape)
    if np.allclose(run.value, right, rtol=1e-4, atol=1e-4):
        return None
    last, first = np.zeros_like(right), np.zeros_like(right)
    last[idx], first[idx[::-1]] = g, g[::-1]
    counts = np.bincount(idx, minlength=rows)[:, None]
    known = {"last": last, "first": first, "mean": right / np.maximum(counts, 1)}
    value = run.value
    name = named("numbers", known, lambda each: np.allclose(value, each, 1e-4))
    off = ~np.isclose(value, right, 1e-4, 1e-4).all(1)
    most = int(counts[~off].max(initial=0))
    if name == "numbers":
        signs = {
            "digits": large > 1,
            "near": np.allclose(value, right, 0.01, 0.01),
            "often": 0 < most < counts[off].min(),
            "one": off.sum() == 1,
        }
        name = named("numbers", signs, bool)
    worst = int((np.abs(run.value - right) / (1 + np.abs(right))).max(1).argmax())
    times = count_of(int((idx == worst).sum()), "time")
    shown = {"row": worst, "times": times, "most": count_of(most, "time")}
    return say(name, got=run.value[worst], right=right[worst], **shown)
