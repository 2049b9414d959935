"""11.5: which direction is cheaper, and a fair way to take the time."""

from __future__ import annotations

import math
from itertools import combinations
from timeit import repeat
from typing import Any

import numpy as np

from minigrad import func, ones, sin
from minigrad.course.check import Faults, Finding
from minigrad.course.check.probes import seen
from minigrad.course.check.probes.clocks import Pace, Timed, timed
from minigrad.course.exercises.ex11_1 import columns, rows
from minigrad.course.exercises.messages import Messages, named

say = Messages(__name__)

MODES = ("forward", "reverse")
TASKS = (
    "the Jacobian of 4 to 400",
    "the gradient of 400 to 1",
    "one direction of 400 to 400",
)

USUAL = 0.00207
CALLS: tuple[tuple[float, ...], ...] = ((0.5,), (0.5, 0.09), ())
"""Seconds of the first calls, cold, unsteady and steady; the rest take ``USUAL``."""

MOST, SLOW, UNITS = 50, 10.7, (1e3, 1e6, 1e9)
"""Calls of which each is slow once, and how slow; what a second may be taken for."""


def look_at(answer: Any, random: np.random.Generator) -> Faults:
    """The function that takes times, on a clock of ours; then the three choices."""
    choices, seconds = answer
    for first in CALLS:
        yield fault_in(seen(timed, (seconds,), Pace((first,), (USUAL,))))
    calls = seen(timed, (seconds,), Pace((CALLS[0],), (USUAL,))).calls(0)
    for slow in range(calls)[:-MOST:-1]:
        yield fault_in(
            seen(timed, (seconds,), Pace((CALLS[0],), (USUAL,), (slow,), SLOW))
        )
    yield from wrong_choices(choices)


def fault_in(found: Timed) -> Finding | None:
    """What is wrong with how long a call is said to take."""
    said, calls, took = found.number, found.calls(0), found.took
    if said is None:
        return say("no_number", kind=found.kind)
    if calls == 0:
        return say("uncalled")
    if abs(said - USUAL) <= USUAL / 10:
        return None
    names = {
        "no_clock": 0.0,
        "cold": took[0] if calls == 1 else math.inf,
        "once": took[1] if calls == 2 else math.inf,
        "slow": min(took, key=lambda one: abs(one - said)) if calls > 1 else math.inf,
        "mean": sum(took) / calls,
        "mean.warm": sum(took[1:]) / max(calls - 1, 1),
    }
    name = named("seconds", names, lambda value: abs(said - value) <= USUAL / 10)
    before = np.cumsum([0.0, *took])
    sums = [b - a for a, b in combinations(before, 2)]
    if name == "seconds" and any([math.isclose(said, each) for each in sums]):
        name = "seconds.sum"
    if name == "seconds" and any([abs(said / k - USUAL) < USUAL / 10 for k in UNITS]):
        name = "seconds.unit"
    return say(name, said=said, usual=USUAL, first=took[0], calls=calls)


def wrong_choices(choices: Any) -> Faults:
    """The first choice that the measurement doesn't agree with."""
    is_list = isinstance(choices, (list, tuple)) and len(choices) == len(TASKS)
    if not is_list or not all([choice in MODES for choice in choices]):
        yield say("choices", said=choices)
    for task, choice, run in zip(TASKS, choices, measured(), strict=True):
        quickest = min(run, key=lambda mode: run[mode])
        if choice != quickest:
            times = {mode: seconds * 1e3 for mode, seconds in run.items()}
            yield say(f"choice.{quickest}", task=task, choice=choice, **times)


def measured() -> list[dict[str, float]]:
    """The seconds of each task in either mode, the least of a few runs."""

    def tall(x: Any) -> Any:
        return sin(ones(400, 4) @ x)

    def loss(x: Any) -> Any:
        return (x * x).sum()

    x4, x400 = ones(4), ones(400)
    tasks = [
        (lambda: columns(tall, x4), lambda: rows(tall, x4)),
        (lambda: columns(loss, x400), lambda: rows(loss, x400)),
        (lambda: func.jvp(sin, (x400,), (x400,)), lambda: rows(sin, x400)),
    ]
    return [
        {
            mode: min(repeat(run, number=1, repeat=3))
            for mode, run in zip(MODES, pair, strict=True)
        }
        for pair in tasks
    ]
