"""Several programs timed in turns, so that a busy machine is unfair to all alike."""

from __future__ import annotations

import gc
import statistics
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class Measured:
    """CPU seconds of one program, in every round, for one unit of its work."""

    rounds: tuple[float, ...]

    @property
    def median(self) -> float:
        """The time of a typical round."""
        return statistics.median(self.rounds)

    def ratio_to(self, other: Measured) -> tuple[float, float, float]:
        """How many times the time of ``other``: lower quartile, median, upper.

        Round by round, because the two ran next to each other in each of them.
        """
        pairs = zip(self.rounds, other.rounds, strict=True)
        ratios = sorted(mine / theirs for mine, theirs in pairs)
        if len(ratios) < 2:
            return (ratios[0],) * 3
        low, middle, high = statistics.quantiles(ratios, n=4)
        return low, middle, high


def interleaved(
    programs: Mapping[str, Callable[[], object]],
    units: int = 1,
    seconds: float = 1.0,
    rounds: int = 15,
) -> dict[str, Measured]:
    """Run each program once a round, in turns, and measure this thread's CPU time.

    A program is repeated inside a round until a round of all takes about
    ``seconds / rounds``. The collector is off while the clock runs.
    """
    gc.collect()
    # What is there already would be looked through again before each round.
    gc.freeze()
    try:
        first = {name: timed(program, 1) for name, program in programs.items()}
        share = seconds / rounds / len(programs)
        repeats = {name: max(1, int(share / max(t, 1e-7))) for name, t in first.items()}
        found: dict[str, list[float]] = {name: [] for name in programs}
        for _ in range(rounds):
            for name, program in programs.items():
                took = timed(program, repeats[name])
                found[name].append(took / repeats[name] / units)
    finally:
        gc.unfreeze()
    return {name: Measured(tuple(times)) for name, times in found.items()}


def timed(program: Callable[[], object], repeats: int) -> float:
    """CPU seconds of this thread for ``repeats`` runs."""
    gc.collect()
    gc.disable()
    try:
        started = time.thread_time()
        for _ in range(repeats):
            program()
        return time.thread_time() - started
    finally:
        gc.enable()
