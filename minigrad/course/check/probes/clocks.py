"""An answer that takes the time of calls: on a clock that only the calls move."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any
from unittest import mock

import numpy as np

from minigrad.course.check.facts import Array

CLOCKS = ("perf_counter", "time", "process_time")

MOST_SLOWED, MOST_TOLD = 100, 10_000
"""So many calls make the machine busier; so many are told of."""


@dataclass(frozen=True)
class Timed:
    """What the answer said of the seconds of a call, and how often it called.

    ``kind`` is said of what is no number.
    """

    said: float
    calls: int
    kind: str = ""


@dataclass(frozen=True)
class Pace:
    """Seconds of calls: the ``first`` of each of two programs, and ``usual`` ones.

    The calls with the numbers ``hit`` take ``times`` as long, and every call takes
    ``slower`` times as long as the one before: the machine gets busier.
    """

    first: tuple[float, float]
    usual: tuple[float, float]
    hit: tuple[int, ...] = ()
    times: float = 20.0
    slower: float = 1.002


@dataclass(frozen=True)
class Compared:
    """What the answer said of two programs, and the calls it made.

    ``who`` has a 0 or 1 for each call and ``took`` its seconds; ``looks`` counts the
    looks at a clock. ``kind`` is said of what is no row of numbers.
    """

    said: Array
    who: Array
    took: Array
    looks: int
    kind: str = ""


class Clock:
    """It stands still, but for what it is told."""

    def __init__(self) -> None:
        self.now = 1000.0
        self.looks = 0

    def read(self) -> float:
        """Seconds."""
        self.looks += 1
        return self.now

    def read_ns(self) -> int:
        """Nanoseconds."""
        return round(self.read() * 1e9)


@contextlib.contextmanager
def in_place_of_time(clock: Clock) -> Iterator[None]:
    """Who looks at a clock meanwhile looks at this one."""
    with contextlib.ExitStack() as stack:
        for name in CLOCKS:
            stack.enter_context(mock.patch.object(time, name, clock.read))
            stack.enter_context(mock.patch.object(time, f"{name}_ns", clock.read_ns))
        yield


def time_calls(
    answer: Callable[..., Any], costs: Sequence[float], usual: float
) -> Timed:
    """What the answer says of calls that take so many seconds, then ``usual``."""
    clock, calls = Clock(), [0]

    def run() -> None:
        clock.now += costs[calls[0]] if calls[0] < len(costs) else usual
        calls[0] += 1

    with in_place_of_time(clock):
        said = answer(run)
    if isinstance(said, bool) or not isinstance(said, (int, float)):
        return Timed(0.0, calls[0], type(said).__name__)
    return Timed(float(said), calls[0])


def compare_calls(answer: Callable[..., Any], pace: Pace) -> Compared:
    """What the answer says of two programs that take so long; both return 1.0."""
    clock = Clock()
    who: list[int] = []
    took: list[float] = []

    def program(place: int) -> Callable[[], float]:
        def run() -> float:
            base = pace.usual[place] if place in who else pace.first[place]
            hit = pace.times if len(who) in pace.hit else 1.0
            took.append(base * hit * pace.slower ** min(len(who), MOST_SLOWED))
            who.append(place)
            clock.now += took[-1]
            return 1.0

        return run

    with in_place_of_time(clock):
        said = answer(program(0), program(1))
    numbers, kind = np.zeros(0), ""
    try:
        numbers = np.array(said, float)
    except (TypeError, ValueError):
        kind = type(said).__name__
    kept = slice(0, MOST_TOLD)
    return Compared(
        numbers, np.array(who[kept], int), np.array(took[kept]), clock.looks, kind
    )


def time_two(
    answer: Callable[..., Any], costs: Sequence[Sequence[float]], usual: Sequence[float]
) -> Timed:
    """What the answer says of two functions, each with costs and a usual one.

    ``calls`` are those of the one that was called less.
    """
    clock, calls = Clock(), [0, 0]

    def run(place: int) -> Callable[[], None]:
        def call() -> None:
            own, number = costs[place], calls[place]
            clock.now += own[number] if number < len(own) else usual[place]
            calls[place] += 1

        return call

    with in_place_of_time(clock):
        said = answer(run(0), run(1))
    if isinstance(said, bool) or not isinstance(said, (int, float)):
        return Timed(0.0, min(calls), type(said).__name__)
    return Timed(float(said), min(calls))
