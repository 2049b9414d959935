"""Programs timed in turns, so that a busy machine is unfair to all of them alike.

A ratio compares two ways to compute the same. So programs are run, and what they return
is compared, before a clock runs; and only what took turns has a ratio.
"""

from __future__ import annotations

import gc
import statistics
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from minigrad import errors

Program = Callable[[], Any]
Same = Callable[[Any, Any], bool]

WARM_UP = 2
"""Runs of each program before a clock runs: compilers and caches are done then."""


class DifferentResultsError(errors.MinigradError, ValueError):
    """Programs that were to be timed side by side computed different results."""


class NotComparedError(errors.MinigradError, ValueError):
    """A ratio was asked for of programs of which nobody knows whether they agree."""


class Ratio(NamedTuple):
    """Our time over theirs, round by round."""

    median: float
    min: float
    max: float

    def __str__(self) -> str:
        return f"{self.median:.2f} ({self.min:.2f}-{self.max:.2f})"


@dataclass(frozen=True)
class Measured:
    """Seconds of one program, in every round, for one unit of its work.

    >>> found = interleaved({"list": lambda: sum([1, 2]), "tuple": lambda: sum((1, 2))})
    >>> len(found["list"].rounds)
    15
    >>> found["list"].ratio_to(found["list"])
    Ratio(median=1.0, min=1.0, max=1.0)
    """

    rounds: tuple[float, ...]
    turns: object = field(default_factory=object, compare=False, repr=False)
    """The same object for all programs that took turns, and so were compared."""

    @property
    def median(self) -> float:
        """The time of a typical round."""
        return statistics.median(self.rounds)

    def ratio_to(self, other: Measured) -> Ratio:
        """How many times the time of ``other``.

        Round by round, because the two ran next to each other in each of them.

        Raises: NotComparedError if they did not.
        """
        if self.turns is not other.turns:
            raise NotComparedError(
                errors.message(
                    "Measured.ratio_to",
                    "the two were not timed in turns; nobody compared their results",
                    "give both programs to the same call of minigrad.bench.interleaved",
                )
            )
        pairs = zip(self.rounds, other.rounds, strict=True)
        ratios = [mine / max(theirs, 1e-9) for mine, theirs in pairs]
        return Ratio(statistics.median(ratios), min(ratios), max(ratios))


def agree(one: Any, other: Any, rtol: float = 1e-3, atol: float = 1e-5) -> bool:
    """Whether two results are the same, up to the last places of float32.

    Numbers, arrays, tensors of any library, and lists of them. ``atol`` is for an array
    whose largest element is 1: long sums are wrong in as many places as others.

    >>> agree([1.0, [2.0, 3.0]], [1.0, [2.0, 3.000001]])
    True
    >>> agree(1.0, 1.01), agree(np.ones(2), np.ones((2, 1)))
    (False, False)
    """
    mine, theirs = arrays_in(one), arrays_in(other)
    return len(mine) == len(theirs) and all(
        [
            a.shape == b.shape
            and np.allclose(a, b, rtol, atol * largest(b), equal_nan=True)
            for a, b in zip(mine, theirs, strict=True)
        ]
    )


def largest(array: Any) -> Any:
    """The absolute value of the largest element, or 1 if all are less."""
    return np.max(np.abs(array[np.isfinite(array)]), initial=1.0)


def arrays_in(result: Any) -> list[Any]:
    """The arrays of a result in a row; None counts as nothing."""
    if result is None:
        return []
    if isinstance(result, list | tuple):
        return [array for one in result for array in arrays_in(one)]
    return [np.asarray(result.detach() if hasattr(result, "detach") else result)]


def see_that_all_agree(results: Mapping[str, Any], same: Same = agree) -> None:
    """Refuse results of which two differ, or that say nothing.

    Raises: DifferentResultsError, NotComparedError.

    >>> see_that_all_agree({"sum": sum([1, 2]), "product": 1 * 2})
    Traceback (most recent call last):
        ...
    minigrad.bench.harness.DifferentResultsError: sum and product: computed different...
      fix: let both compute the same...
    """
    (first, expected), *others = results.items()
    for name, result in others:
        both = f"{first} and {name}"
        if not arrays_in(result) or not arrays_in(expected):
            fix = "let each program return what it computed"
            what = "return nothing that could be compared"
            raise NotComparedError(errors.message(both, what, fix))
        if not same(expected, result):
            fix = "let both compute the same, from the same numbers, before timing them"
            what = "computed different results, so their times have no ratio"
            raise DifferentResultsError(errors.message(both, what, fix))


def interleaved(
    programs: Mapping[str, Program],
    units: int = 1,
    seconds: float = 1.0,
    rounds: int = 15,
    same: Same = agree,
) -> dict[str, Measured]:
    """Compare what the programs return, then run each once a round, in turns.

    A program is repeated inside a round until a round of all takes about
    ``seconds / rounds``. The collector is off while the clock runs. ``units`` is how
    much work a run does: the time of one unit is returned.

    Raises: DifferentResultsError if the results differ by the measure ``same``.

    >>> numbers = np.arange(1000.0)
    >>> found = interleaved(
    ...     {"loop": lambda: sum(numbers), "NumPy": lambda: numbers.sum()}, seconds=0.01
    ... )
    >>> found["NumPy"].ratio_to(found["loop"]).median < 1
    True
    """
    for _ in range(WARM_UP):
        see_that_all_agree({name: run() for name, run in programs.items()}, same)
    gc.collect()
    was_frozen = gc.get_freeze_count()
    gc.freeze()  # what is there already is not looked through before each round
    try:
        share = seconds / rounds / len(programs)
        repeats = {name: repeats_in(share, run) for name, run in programs.items()}
        found: dict[str, list[float]] = {name: [] for name in programs}
        for _ in range(rounds):
            for name, run in programs.items():
                took = timed(run, repeats[name])
                found[name].append(took / repeats[name] / units)
    finally:
        if not was_frozen:  # by somebody else, who wants it so
            gc.unfreeze()
    turns = object()
    return {name: Measured(tuple(times), turns) for name, times in found.items()}


def repeats_in(seconds: float, program: Program) -> int:
    """About how many runs take so long, also by a clock that ticks every 16 ms."""
    repeats = 1
    while (took := timed(program, repeats)) < seconds / 2 and repeats < seconds * 1e7:
        repeats *= 2
    return max(1, int(repeats * seconds / took)) if took else repeats


def timed(program: Program, repeats: int) -> float:
    """CPU seconds of all threads for ``repeats`` runs, with the collector off.

    >>> timed(lambda: sum(range(1000)), repeats=10) > 0
    True
    """
    gc.collect()
    gc.disable()
    try:
        started = time.process_time()
        for _ in range(repeats):
            program()
        return time.process_time() - started
    finally:
        gc.enable()
