"""An answer that takes the time of a call: on a clock that only the calls move."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any
from unittest import mock

CLOCKS = ("perf_counter", "time", "process_time")


@dataclass(frozen=True)
class Timed:
    """What the answer said of the seconds of a call, and how often it called.

    ``kind`` is said of what is no number.
    """

    said: float
    calls: int
    kind: str = ""


class Clock:
    """It stands still, but for what it is told."""

    def __init__(self) -> None:
        self.now = 1000.0

    def read(self) -> float:
        """Seconds."""
        return self.now

    def read_ns(self) -> int:
        """Nanoseconds."""
        return round(self.now * 1e9)


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
