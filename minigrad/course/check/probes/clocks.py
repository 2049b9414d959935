"""An answer that takes the time of programs: on a clock that only they move."""

from __future__ import annotations

import contextlib
import inspect
import math
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any
from unittest import mock

import numpy as np

from minigrad.course.check.facts import Array

CLOCKS = ("perf_counter", "time", "process_time")

MOST_SLOWED, MOST_TOLD = 100, 10_000
"""So many calls make the machine busier; so many are told of."""


@dataclass(frozen=True)
class Pace:
    """Seconds of calls of each program: its ``first`` ones, and the ``usual`` rest.

    Usual calls with the numbers ``hit``, counted over all programs, take ``times`` as
    long; and every call takes ``slower`` times as long as the one before. No two take
    the same time: each is off by a part of ``uneven``, which depends on the ``phase``.
    """

    first: tuple[tuple[float, ...], ...]
    usual: tuple[float, ...]
    hit: tuple[int, ...] = ()
    times: float = 10.0
    slower: float = 1.0
    uneven: float = 0.0
    phase: float = 0.0

    def seconds(self, place: int, number: int, before: int) -> float:
        """Of a program's call with this number, after so many calls of any."""
        busier = self.slower ** min(before, MOST_SLOWED)
        drawn = math.sin(13.0 * before + self.phase) * 43758.5 % 2 - 1
        busier *= 1 + self.uneven * drawn
        if number < len(self.first[place]):
            return self.first[place][number] * busier
        return self.usual[place] * busier * (self.times if before in self.hit else 1.0)


@dataclass(frozen=True)
class Timed:
    """What the answer said, in numbers if it can be, and the calls it made.

    ``who`` has the place of a program for each call, and ``took`` its seconds;
    ``looks`` counts the looks at a clock.
    """

    said: Array
    kind: str
    who: Array
    took: Array
    looks: int

    @property
    def number(self) -> float | None:
        """What was said, if it is one number."""
        return self.said.item() if self.said.shape == () else None

    def calls(self, place: int) -> int:
        """How often a program was called."""
        return int((self.who == place).sum())


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
def in_place_of_time(clock: Clock, answer: Callable[..., Any]) -> Iterator[None]:
    """Who looks at a clock meanwhile looks at this one, also by a name of its own."""
    reads: dict[str, Any] = dict.fromkeys(CLOCKS, clock.read)
    reads |= {f"{name}_ns": clock.read_ns for name in CLOCKS}
    names = getattr(inspect.unwrap(answer), "__globals__", {})
    clocks = [(getattr(time, name), read) for name, read in reads.items()]
    own = {
        key: (was, read)
        for key, was in names.items()
        for one, read in clocks
        if was is one
    }
    with mock.patch.multiple(time, **reads):
        names.update({key: read for key, (_, read) in own.items()})
        try:
            yield
        finally:
            names.update({key: was for key, (was, _) in own.items()})


def timed(answer: Callable[..., Any], pace: Pace) -> Timed:
    """Hand the answer programs that take so long; each returns 1.0."""
    clock = Clock()
    who: list[int] = []
    took: list[float] = []

    def program(place: int) -> Callable[[], float]:
        def run() -> float:
            took.append(pace.seconds(place, who.count(place), len(who)))
            who.append(place)
            clock.now += took[-1]
            return 1.0

        return run

    with in_place_of_time(clock, answer):
        said = answer(*[program(place) for place in range(len(pace.usual))])
    calls = np.array(who[:MOST_TOLD], int), np.array(took[:MOST_TOLD])
    return Timed(numbers_in(said), type(said).__name__, *calls, clock.looks)


def numbers_in(said: Any) -> Array:
    """A number or a row of numbers as an array; empty for anything else."""
    is_one = isinstance(said, (int, float)) and not isinstance(said, bool)
    if is_one or isinstance(said, (list, tuple, np.ndarray)):
        with contextlib.suppress(TypeError, ValueError):
            return np.array(said, float)
    return np.zeros(0)
