"""An answer in which threads share numbers: run in orders that are drawn."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from numbers import Real
from typing import Any

import numpy as np

from minigrad.course.check.facts import Array

MOST_STEPS, TWICE = 10_000, 2.0


class TooManyStepsError(Exception):
    """A thread never ended."""


@dataclass(frozen=True)
class Raced:
    """Runs of one answer: their ``totals``, and what the threads did in the last one.

    ``reads`` and ``writes`` have a row for each thread and a column for each place.
    ``uncut`` is a place that a thread has read and then written without a yield between
    them, though others use it too; -1 if there is none. ``kind`` is said of a result
    that is no number, or of threads that are no generators. ``left`` is what they left
    in the places, and ``doubled`` the total of a run that returned twice that.
    """

    totals: Array
    reads: Array
    writes: Array
    uncut: int = -1
    kind: str = ""
    left: Array | None = None
    doubled: float = 0.0


class Places:
    """A fixed count of numbers that notice who reads and writes them."""

    def __init__(self, threads: int, places: int) -> None:
        self.numbers = [0.0] * places
        self.reads = np.zeros((threads, places), int)
        self.writes = np.zeros((threads, places), int)
        self.now: int | None = None
        self.seen: set[int] = set()
        self.uncut: set[int] = set()

    def __len__(self) -> int:
        return len(self.numbers)

    def __getitem__(self, place: Any) -> Any:
        value = self.numbers[place]
        self.seen |= self._counted(self.reads, place)
        return value

    def __setitem__(self, place: Any, value: Any) -> None:
        if isinstance(place, slice) and len(self.numbers[place]) != len(value):
            raise ValueError(f"{len(value)} numbers for other places: {place}")
        self.numbers[place] = value
        self.uncut |= self._counted(self.writes, place) & self.seen

    def _counted(self, counts: Array, place: Any) -> set[int]:
        if self.now is None:
            return set()
        counts[self.now, place] += 1
        return {*np.atleast_1d(np.arange(len(self))[place]).tolist()}


class Runner:
    """``run`` of the exercise: it makes the numbers and the threads, and runs these."""

    def __init__(self, random: np.random.Generator, share: float = 1.0) -> None:
        self.random, self.share = random, share
        self.shared = Places(0, 1)
        self.kind = ""

    def __call__(
        self, work: Callable[..., Iterator[Any]], threads: int, places: int
    ) -> list[float]:
        """Each yield of a thread lets any thread go on."""
        self.shared = shared = Places(threads, places)
        going = [(k, work(shared, k)) for k in range(threads)]
        strange = [each for _, each in going if not hasattr(each, "__next__")]
        if strange:
            self.kind = f"work returned a {type(strange[0]).__name__}, not a thread"
            return shared.numbers
        steps = 0
        while going:
            chosen = int(self.random.integers(len(going)))
            shared.now, thread = going[chosen]
            shared.seen.clear()
            try:
                next(thread)
            except StopIteration:
                del going[chosen]
            shared.now = None
            steps += 1
            if steps > MOST_STEPS:
                raise TooManyStepsError("a thread goes on and on")
        for each in shared.numbers:
            if not isinstance(each, Real):
                self.kind = f"there's a {type(each).__name__} in a shared place"
        if self.kind:
            self.shared = Places(threads, places)
        return [self.share * each for each in self.shared.numbers]


def raced(answer: Callable[..., Any], numbers: Array, seed: int, runs: int) -> Raced:
    """Run the answer so many times, each time in another order."""
    random = np.random.default_rng(seed)
    totals: list[float] = []
    for share in [TWICE, *[1.0] * runs]:
        runner = Runner(random, share)
        said = answer(numbers.tolist(), runner)
        shared, kind = runner.shared, runner.kind
        if not kind and (isinstance(said, bool) or not isinstance(said, int | float)):
            kind = f"parallel_sum returned a {type(said).__name__}"
        totals.append(0.0 if kind else float(said))
        if kind:
            break
    used = ((shared.reads + shared.writes) > 0).sum(0)
    uncut = [place for place in sorted(shared.uncut) if used[place] > 1]
    return Raced(
        np.array(totals[1:]),
        shared.reads,
        shared.writes,
        (uncut or [-1])[0],
        kind,
        np.array(shared.numbers),
        totals[0],
    )
