"""11.5: which direction is cheaper, and a fair way to take the time."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np

import minigrad
from minigrad import func
from minigrad.course.check import Finding, submission
from minigrad.course.check.probes import seen
from minigrad.course.check.probes.clocks import Pace, Timed, timed
from minigrad.course.exercises.messages import Messages

say = Messages(__name__)

NAMES = ("choices", "seconds")
ANSWER = ", ".join(NAMES)
MODES = ("forward", "reverse")
TASKS = (
    "the Jacobian of 4 to 400",
    "the gradient of 400 to 1",
    "one direction of 400 to 400",
)

USUAL = 0.002
CALLS: tuple[tuple[float, ...], ...] = ((0.5,), (0.5, 0.09), ())
"""Seconds of the first calls, cold, unsteady and steady; the rest take ``USUAL``."""


def look_at(answer: Any, random: np.random.Generator) -> list[Finding]:
    """The function that takes times, on a clock of ours; then the three choices."""
    answers, missing = submission.one_for_each(NAMES, answer, "11.5")
    if missing:
        return missing
    choices, seconds = answers
    unusable = submission.no_function(seconds, "seconds")
    if unusable:
        return [unusable]
    for first in CALLS:
        finding = fault_in(seen(timed, (seconds,), Pace((first,), (USUAL,))))
        if finding:
            return [finding]
    return wrong_choices(choices)


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
        "cold": took[0] if calls == 1 else None,
        "once": took[1] if calls == 2 else None,
        "sum": sum(took),
        "sum.warm": sum(took[1:]),
        "mean": sum(took) / calls,
        "mean.warm": sum(took[1:]) / max(calls - 1, 1),
    }
    near = [
        name
        for name, value in names.items()
        if value is not None and abs(said - value) <= USUAL / 10
    ]
    name = f"seconds.{near[0]}" if near else "seconds"
    return say(name, said=said, usual=USUAL, first=took[0], calls=calls)


def wrong_choices(choices: Any) -> list[Finding]:
    """The first choice that the measurement doesn't agree with."""
    is_list = isinstance(choices, (list, tuple)) and len(choices) == len(TASKS)
    if not is_list or not all([choice in MODES for choice in choices]):
        return [say("choices", said=choices)]
    for task, choice, run in zip(TASKS, choices, measured(), strict=True):
        quickest = min(run, key=lambda mode: run[mode])
        if choice != quickest:
            return [
                say(
                    f"choice.{quickest}",
                    task=task,
                    choice=choice,
                    forward=run["forward"] * 1e3,
                    reverse=run["reverse"] * 1e3,
                )
            ]
    return []


def measured() -> list[dict[str, float]]:
    """The seconds of each task in either mode, the least of a few runs."""

    def tall(x: Any) -> Any:
        return minigrad.sin(minigrad.ones(400, 4) @ x)

    def loss(x: Any) -> Any:
        return (x * x).sum()

    x4, x400 = minigrad.ones(4), minigrad.ones(400)
    tasks = [
        (lambda: columns(tall, x4), lambda: rows(tall, x4)),
        (lambda: columns(loss, x400), lambda: rows(loss, x400)),
        (
            lambda: func.jvp(minigrad.sin, (x400,), (x400,)),
            lambda: rows(minigrad.sin, x400),
        ),
    ]
    return [dict(zip(MODES, map(least, pair), strict=True)) for pair in tasks]


def columns(f: Callable[[Any], Any], x: Any) -> None:
    """The Jacobian by forward passes, one for each input."""
    for direction in minigrad.eye(x.numel()):
        func.jvp(f, (x,), (direction,))


def rows(f: Callable[[Any], Any], x: Any) -> None:
    """The Jacobian by reverse passes, one for each output."""
    result, pull_back = func.vjp(f, x)
    for row in minigrad.eye(result.numel()):
        pull_back(row.reshape(result.shape))


def least(run: Callable[[], Any]) -> float:
    """The seconds of the quickest of three runs."""
    times = []
    for _ in range(3):
        start = time.perf_counter()
        run()
        times.append(time.perf_counter() - start)
    return min(times)
